//! Live Link Face CSV, as the app writes it and as importers expect it.
//!
//! 63 columns: timecode, count, 61 curves, with the file's own order of left and right for jaw and mouth.
//! Comma, LF, ten decimals, no quotes. `HH:MM:SS:FF.sss`, where `.sss` is the fraction of a frame.

use std::io::{self, Write};

use hub::{StaticData, arkit};

use crate::bake::Rows;

/// The file's order of curves: as [`arkit::CURVES`], but right before left for jaw and mouth.
pub fn columns() -> [&'static str; arkit::NUM_CURVES] {
    let mut columns = arkit::CURVES;
    for (a, b) in [("JawLeft", "JawRight"), ("MouthLeft", "MouthRight")] {
        if let (Some(a), Some(b)) = (arkit::index_of(a), arkit::index_of(b)) {
            columns.swap(a, b);
        }
    }
    columns
}

/// Whether a subject has enough of the curves for this format: at least the jaw.
pub fn fits(statics: &StaticData) -> bool {
    statics
        .properties
        .iter()
        .any(|p| p.name.eq_ignore_ascii_case("JawOpen"))
}

/// Writes rows; curves the subject does not have are 0.
///
/// # Errors
/// When `out` fails.
pub fn write(rows: &Rows, out: impl Write) -> io::Result<()> {
    let columns = columns();
    let indices = columns.map(|c| {
        rows.statics
            .properties
            .iter()
            .position(|p| p.name.eq_ignore_ascii_case(c))
    });
    let mut out = io::BufWriter::new(out);
    write!(out, "Timecode,BlendshapeCount")?;
    for name in columns {
        write!(out, ",{name}")?;
    }
    writeln!(out)?;
    for row in &rows.rows {
        let [h, m, s, f] = row.timecode.label().fields();
        // Three digits of a frame, never rounded up into the next one.
        let thousandths = (row.timecode.sub_frame * 1000.0).round().clamp(0.0, 999.0) as u32;
        write!(
            out,
            "{h:02}:{m:02}:{s:02}:{f:02}.{thousandths:03},{}",
            arkit::NUM_CURVES
        )?;
        for index in indices {
            let value = index.and_then(|i| row.data.properties.get(i)).copied();
            write!(out, ",{:.10}", value.unwrap_or(0.0))?;
        }
        writeln!(out)?;
    }
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_is_the_apps() {
        let c = columns();
        let at = |n: &str| c.iter().position(|x| *x == n).unwrap();
        // From a file of the app: JawForward, JawRight, JawLeft, JawOpen; MouthPucker, MouthRight, MouthLeft, MouthSmileLeft.
        assert_eq!(&c[14..18], ["JawForward", "JawRight", "JawLeft", "JawOpen"]);
        assert_eq!(at("MouthRight") + 1, at("MouthLeft"));
        assert_eq!(at("MouthPucker") + 1, at("MouthRight"));
        assert_eq!(c[60], "RightEyeRoll");
    }
}
