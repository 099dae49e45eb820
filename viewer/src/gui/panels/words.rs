//! Numbers as an operator reads them.

/// `3.2 GB`, `15 MB`: powers of ten, as disks are sold.
pub(super) fn bytes(n: u64) -> String {
    let n = n as f64;
    for (unit, of) in [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)] {
        if n >= of {
            let value = n / of;
            return if value < 10.0 {
                format!("{value:.1} {unit}")
            } else {
                format!("{value:.0} {unit}")
            };
        }
    }
    format!("{n:.0} B")
}

/// `0:07`, `12:34`, `1:02:03`.
pub(super) fn clock(secs: f64) -> String {
    let whole = if secs.is_finite() {
        secs.max(0.0) as u64
    } else {
        0
    };
    let (h, m, s) = (whole / 3600, whole / 60 % 60, whole % 60);
    if h > 0 {
        format!("{h}:{m:02}:{s:02}")
    } else {
        format!("{m}:{s:02}")
    }
}

/// `40 min`, `3 h 20 min`, `more than a day`.
pub(super) fn span(secs: f64) -> String {
    let minutes = (secs / 60.0).floor().clamp(0.0, 1e9) as u64;
    match minutes {
        0..60 => format!("{minutes} min"),
        60..1440 => format!("{} h {} min", minutes / 60, minutes % 60),
        _ => "more than a day".to_owned(),
    }
}

/// `1 frame`, `2 frames`.
pub(super) fn counted(n: u64, one: &str) -> String {
    if n == 1 {
        format!("1 {one}")
    } else {
        format!("{n} {one}s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_right_at_their_borders() {
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1000), "1.0 kB");
        assert_eq!(bytes(15_400_000), "15 MB");
        assert_eq!(bytes(3_200_000_000), "3.2 GB");
        assert_eq!(clock(7.9), "0:07");
        assert_eq!(clock(3723.0), "1:02:03");
        assert_eq!(clock(f64::NAN), "0:00");
        assert_eq!(span(3599.0), "59 min");
        assert_eq!(span(12_000.0), "3 h 20 min");
        assert_eq!(counted(1, "frame"), "1 frame");
        assert_eq!(counted(0, "frame"), "0 frames");
    }
}
