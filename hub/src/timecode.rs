//! Frame rates as exact ratios, SMPTE timecode with drop-frame, and frame times.
//!
//! Arithmetic is in integers throughout; only [`QualifiedFrameTime::sub_frame`] is a float.
//! Sources: SMPTE ST 12-1 for labels and dropping; known values checked with an independent program.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use crate::{error::TimecodeError, time::NANOS_PER_SEC};

/// Frames per second as an exact ratio, 1 to 1000 per second.
///
/// 29.97 is 30000/1001, never 2997/100: [`FromStr`] turns the customary decimals into the exact ratio.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "(u32, u32)", into = "(u32, u32)")]
pub struct FrameRate {
    num: u32,
    den: u32,
}

impl FrameRate {
    /// 24000/1001.
    pub const FPS_23_976: Self = Self::known(24000, 1001);
    /// 24.
    pub const FPS_24: Self = Self::known(24, 1);
    /// 25.
    pub const FPS_25: Self = Self::known(25, 1);
    /// 30000/1001.
    pub const FPS_29_97: Self = Self::known(30000, 1001);
    /// 30.
    pub const FPS_30: Self = Self::known(30, 1);
    /// 48000/1001.
    pub const FPS_47_952: Self = Self::known(48000, 1001);
    /// 48.
    pub const FPS_48: Self = Self::known(48, 1);
    /// 50.
    pub const FPS_50: Self = Self::known(50, 1);
    /// 60000/1001.
    pub const FPS_59_94: Self = Self::known(60000, 1001);
    /// 60.
    pub const FPS_60: Self = Self::known(60, 1);
    /// 90.
    pub const FPS_90: Self = Self::known(90, 1);
    /// 100.
    pub const FPS_100: Self = Self::known(100, 1);
    /// 120000/1001.
    pub const FPS_119_88: Self = Self::known(120_000, 1001);
    /// 120.
    pub const FPS_120: Self = Self::known(120, 1);

    const fn known(num: u32, den: u32) -> Self {
        Self { num, den }
    }

    /// `num / den` frames per second, reduced.
    ///
    /// # Errors
    /// Zero, or outside 1..=1000 per second, or a numerator above 1,000,000.
    pub fn new(num: u32, den: u32) -> Result<Self, TimecodeError> {
        let bad = TimecodeError::BadRate { num, den };
        if num == 0 || den == 0 || num > 1_000_000 || num < den {
            return Err(bad);
        }
        if u64::from(num) > u64::from(den) * 1000 {
            return Err(bad);
        }
        let divisor = gcd(num, den);
        Ok(Self {
            num: num / divisor,
            den: den / divisor,
        })
    }

    /// Numerator of the reduced ratio.
    pub fn num(self) -> u32 {
        self.num
    }

    /// Denominator of the reduced ratio.
    pub fn den(self) -> u32 {
        self.den
    }

    /// Frames per second as a float, for display and filters.
    pub fn hertz(self) -> f64 {
        f64::from(self.num) / f64::from(self.den)
    }

    /// Frames that a timecode second counts: 30 for 29.97, 24 for 23.976.
    pub fn nominal(self) -> u32 {
        self.num.div_ceil(self.den)
    }

    /// Length of a frame in nanoseconds, rounded up.
    pub fn frame_nanos(self) -> i64 {
        self.nanos_of(1)
    }

    /// Whether drop-frame counting exists at this rate: only 30000/1001 and 60000/1001.
    pub fn has_drop_frame(self) -> bool {
        self == Self::FPS_29_97 || self == Self::FPS_59_94
    }

    /// Start of frame `frame` in nanoseconds after frame 0, rounded up to a whole nanosecond, so that
    /// [`Self::frame_at`] is its exact inverse. Saturates.
    pub fn nanos_of(self, frame: i64) -> i64 {
        let numerator = i128::from(frame) * i128::from(self.den) * i128::from(NANOS_PER_SEC);
        clamp_i64(-(-numerator).div_euclid(i128::from(self.num)))
    }

    /// Index of the frame that is on at `nanos` after frame 0 (rounded towards the past).
    pub fn frame_at(self, nanos: i64) -> i64 {
        let numerator = i128::from(nanos) * i128::from(self.num);
        clamp_i64(numerator.div_euclid(i128::from(self.den) * i128::from(NANOS_PER_SEC)))
    }

    /// Frames from label 00:00:00:00 until it comes again.
    pub fn frames_per_day(self, drop: DropFrame) -> i64 {
        let nominal = i64::from(self.nominal());
        match self.dropped_per_minute(drop) {
            0 => nominal * 86_400,
            // 1296 minutes of a day drop labels: all but each tenth.
            d => nominal * 86_400 - d * 1296,
        }
    }

    fn dropped_per_minute(self, drop: DropFrame) -> i64 {
        match drop {
            DropFrame::NonDrop => 0,
            DropFrame::Drop => i64::from(self.nominal()) / 15,
        }
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

fn clamp_i64(v: i128) -> i64 {
    v.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64
}

impl TryFrom<(u32, u32)> for FrameRate {
    type Error = TimecodeError;

    fn try_from((num, den): (u32, u32)) -> Result<Self, TimecodeError> {
        Self::new(num, den)
    }
}

impl From<FrameRate> for (u32, u32) {
    fn from(rate: FrameRate) -> Self {
        (rate.num, rate.den)
    }
}

/// `60`, `30000/1001`, or a customary decimal such as `29.97` or `23.976`.
impl FromStr for FrameRate {
    type Err = TimecodeError;

    fn from_str(text: &str) -> Result<Self, TimecodeError> {
        let text = text.trim();
        if let Some((num, den)) = text.split_once('/') {
            let parse = |t: &str| t.trim().parse().map_err(|_cause| TimecodeError::RateSyntax);
            return Self::new(parse(num)?, parse(den)?);
        }
        if let Ok(whole) = text.parse() {
            return Self::new(whole, 1);
        }
        let value: f64 = text.parse().map_err(|_cause| TimecodeError::RateSyntax)?;
        if !(1.0..=1000.0).contains(&value) {
            return Err(TimecodeError::RateSyntax);
        }
        // 23.98, 23.976, 29.97, 59.94, 119.88: a nominal rate slowed by 1000/1001.
        let nominal = value.ceil() as u32;
        if (value - f64::from(nominal) * 1000.0 / 1001.0).abs() < 0.005 {
            return Self::new(nominal * 1000, 1001);
        }
        Self::new((value * 1000.0).round() as u32, 1000)
    }
}

impl fmt::Display for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.den == 1 {
            write!(f, "{}", self.num)
        } else {
            write!(f, "{}/{}", self.num, self.den)
        }
    }
}

impl fmt::Debug for FrameRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Whether labels are dropped so that timecode follows the wall clock. Never inferred from the rate:
/// 29.97 non-drop is in real use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DropFrame {
    /// Every label is used (written with `:`).
    #[default]
    NonDrop,
    /// Labels 00 and 01 (00 to 03 at 59.94) are skipped at each minute that 10 does not divide (written with `;`).
    Drop,
}

/// A valid label: hours, minutes, seconds, frames at a rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Timecode {
    hours: u32,
    minutes: u32,
    seconds: u32,
    frames: u32,
    rate: FrameRate,
    drop: DropFrame,
}

impl Timecode {
    /// The label with these fields.
    ///
    /// # Errors
    /// A field out of range, drop-frame at a rate that has none, or a dropped label.
    pub fn new(
        [hours, minutes, seconds, frames]: [u32; 4],
        rate: FrameRate,
        drop: DropFrame,
    ) -> Result<Self, TimecodeError> {
        check_drop(rate, drop)?;
        for (what, have, limit) in [
            ("hours", hours, 24),
            ("minutes", minutes, 60),
            ("seconds", seconds, 60),
            ("frames", frames, rate.nominal()),
        ] {
            if have >= limit {
                return Err(TimecodeError::OutOfRange { what, have, limit });
            }
        }
        let dropped = rate.dropped_per_minute(drop) as u32;
        if seconds == 0 && frames < dropped && minutes % 10 != 0 {
            return Err(TimecodeError::Dropped { minutes, frames });
        }
        Ok(Self {
            hours,
            minutes,
            seconds,
            frames,
            rate,
            drop,
        })
    }

    /// The label of a frame counted from 00:00:00:00, modulo 24 hours of labels.
    ///
    /// # Errors
    /// Drop-frame at a rate that has none.
    pub fn from_frame(frame: i64, rate: FrameRate, drop: DropFrame) -> Result<Self, TimecodeError> {
        check_drop(rate, drop)?;
        let nominal = i64::from(rate.nominal());
        let dropped = rate.dropped_per_minute(drop);
        let mut label = frame.rem_euclid(rate.frames_per_day(drop));
        if dropped > 0 {
            // SMPTE ST 12-1: put back the labels skipped before this frame.
            let minute = nominal * 60 - dropped;
            let ten_minutes = minute * 10 + dropped;
            let (tens, rest) = (label / ten_minutes, label % ten_minutes);
            label += dropped * 9 * tens;
            if rest >= dropped {
                label += dropped * ((rest - dropped) / minute);
            }
        }
        let seconds = label / nominal;
        Ok(Self {
            hours: (seconds / 3600) as u32,
            minutes: (seconds / 60 % 60) as u32,
            seconds: (seconds % 60) as u32,
            frames: (label % nominal) as u32,
            rate,
            drop,
        })
    }

    /// Frames since 00:00:00:00.
    pub fn frame(&self) -> i64 {
        let total_minutes = i64::from(self.hours * 60 + self.minutes);
        let label = (total_minutes * 60 + i64::from(self.seconds)) * i64::from(self.rate.nominal())
            + i64::from(self.frames);
        label - self.rate.dropped_per_minute(self.drop) * (total_minutes - total_minutes / 10)
    }

    /// Hours, minutes, seconds, frames.
    pub fn fields(&self) -> [u32; 4] {
        [self.hours, self.minutes, self.seconds, self.frames]
    }

    /// Rate the frames are counted at.
    pub fn rate(&self) -> FrameRate {
        self.rate
    }

    /// Whether labels are dropped.
    pub fn drop(&self) -> DropFrame {
        self.drop
    }

    /// Reads `HH:MM:SS:FF`, or `HH:MM:SS;FF` (also `.FF`) as drop-frame.
    ///
    /// # Errors
    /// Not of that form, or no valid label at that rate.
    pub fn parse(text: &str, rate: FrameRate) -> Result<Self, TimecodeError> {
        let text = text.trim();
        let at = text.rfind([':', ';', '.']).ok_or(TimecodeError::Syntax)?;
        let drop = match text.as_bytes()[at] {
            b':' => DropFrame::NonDrop,
            _ => DropFrame::Drop,
        };
        let mut fields = [0; 4];
        let mut parts = text[..at].split(':').chain([&text[at + 1..]]);
        for field in &mut fields {
            let part = parts.next().ok_or(TimecodeError::Syntax)?;
            if part.is_empty() || part.len() > 3 || !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(TimecodeError::Syntax);
            }
            *field = part.parse().map_err(|_cause| TimecodeError::Syntax)?;
        }
        if parts.next().is_some() {
            return Err(TimecodeError::Syntax);
        }
        Self::new(fields, rate, drop)
    }
}

fn check_drop(rate: FrameRate, drop: DropFrame) -> Result<(), TimecodeError> {
    if drop == DropFrame::Drop && !rate.has_drop_frame() {
        return Err(TimecodeError::NoDropAtRate {
            num: rate.num,
            den: rate.den,
        });
    }
    Ok(())
}

impl fmt::Display for Timecode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = match self.drop {
            DropFrame::NonDrop => ':',
            DropFrame::Drop => ';',
        };
        let digits = if self.rate.nominal() > 100 { 3 } else { 2 };
        write!(
            f,
            "{:02}:{:02}:{:02}{mark}{:0digits$}",
            self.hours, self.minutes, self.seconds, self.frames
        )
    }
}

/// A frame count since 00:00:00:00 with a fraction, at a rate: what timecode-aware sources send.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct QualifiedFrameTime {
    /// Frames since label 00:00:00:00.
    pub frame: i64,
    /// Fraction of a frame, 0 ≤ x < 1.
    pub sub_frame: f32,
    /// Rate the frames are counted at.
    pub rate: FrameRate,
    /// How labels are written; `NonDrop` when the source does not tell.
    pub drop: DropFrame,
}

impl QualifiedFrameTime {
    /// A whole frame.
    pub fn whole(frame: i64, rate: FrameRate) -> Self {
        Self {
            frame,
            sub_frame: 0.0,
            rate,
            drop: DropFrame::NonDrop,
        }
    }

    /// Nanoseconds since label 00:00:00:00.
    pub fn as_nanos(&self) -> i64 {
        let part = f64::from(self.sub_frame) * f64::from(self.rate.den) / f64::from(self.rate.num);
        self.rate
            .nanos_of(self.frame)
            .saturating_add((part * NANOS_PER_SEC as f64).round() as i64)
    }

    /// The frame time at `nanos` after label 00:00:00:00, not wrapped.
    pub fn from_nanos(nanos: i64, rate: FrameRate, drop: DropFrame) -> Self {
        let frame = rate.frame_at(nanos);
        let rest = (nanos - rate.nanos_of(frame)) as f64 / NANOS_PER_SEC as f64;
        // f32 rounding must not reach the next frame.
        let sub_frame = ((rest * rate.hertz()) as f32).clamp(0.0, 0.999_999);
        Self {
            frame,
            sub_frame,
            rate,
            drop,
        }
    }

    /// The label, without the sub-frame. Falls back to non-drop where drop does not exist.
    pub fn label(&self) -> Timecode {
        Timecode::from_frame(self.frame, self.rate, self.drop)
            .or_else(|_| Timecode::from_frame(self.frame, self.rate, DropFrame::NonDrop))
            .expect("non-drop labels exist at every rate")
    }

    /// Nanoseconds until the labels repeat: 24 hours of them.
    pub fn day_nanos(&self) -> i64 {
        self.rate.nanos_of(self.rate.frames_per_day(self.drop))
    }
}

impl fmt::Display for QualifiedFrameTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Cut, not rounded: .9999 must not show the next frame's label.
        let thousandths = (self.sub_frame * 1000.0).clamp(0.0, 999.0) as u32;
        write!(f, "{}.{thousandths:03}", self.label())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use DropFrame::{Drop, NonDrop};

    const ALL: [(FrameRate, DropFrame); 11] = [
        (FrameRate::FPS_23_976, NonDrop),
        (FrameRate::FPS_24, NonDrop),
        (FrameRate::FPS_25, NonDrop),
        (FrameRate::FPS_29_97, Drop),
        (FrameRate::FPS_29_97, NonDrop),
        (FrameRate::FPS_30, NonDrop),
        (FrameRate::FPS_50, NonDrop),
        (FrameRate::FPS_59_94, Drop),
        (FrameRate::FPS_59_94, NonDrop),
        (FrameRate::FPS_60, NonDrop),
        (FrameRate::FPS_120, NonDrop),
    ];

    /// The next label by the rules as a clerk would apply them, one step at a time.
    fn clerk_next(mut l: [u32; 4], nominal: u32, dropped: u32) -> [u32; 4] {
        l[3] += 1;
        if l[3] == nominal {
            l[3] = 0;
            l[2] += 1;
            if l[2] == 60 {
                l[2] = 0;
                l[1] += 1;
                if l[1] == 60 {
                    l[1] = 0;
                    l[0] = (l[0] + 1) % 24;
                }
                if !l[1].is_multiple_of(10) {
                    l[3] = dropped;
                }
            }
        }
        l
    }

    #[test]
    fn every_label_of_a_day_round_trips_and_follows_the_one_before() {
        for (rate, drop) in ALL {
            let dropped = match (drop, rate) {
                (NonDrop, _) => 0,
                (Drop, FrameRate::FPS_59_94) => 4,
                (Drop, _) => 2,
            };
            let day = rate.frames_per_day(drop);
            let mut label = [0; 4];
            for frame in 0..day {
                let tc = Timecode::from_frame(frame, rate, drop).unwrap();
                assert_eq!(tc.fields(), label, "{rate} {drop:?} frame {frame}");
                assert_eq!(tc.frame(), frame, "{rate} {drop:?}");
                assert_eq!(Timecode::new(label, rate, drop), Ok(tc));
                label = clerk_next(label, rate.nominal(), dropped);
            }
            assert_eq!(label, [0; 4], "{rate} {drop:?}: a day is whole");
            let wrapped = Timecode::from_frame(day + 5, rate, drop).unwrap();
            assert_eq!(wrapped.frame(), 5);
            assert_eq!(
                Timecode::from_frame(-1, rate, drop).unwrap().frame(),
                day - 1
            );
        }
    }

    #[test]
    fn frames_and_nanoseconds_are_exact_inverses_over_a_day() {
        for (rate, drop) in ALL {
            let mut before = i64::MIN;
            for frame in 0..=rate.frames_per_day(drop) {
                let nanos = rate.nanos_of(frame);
                assert!(nanos > before);
                assert_eq!(rate.frame_at(nanos), frame);
                assert_eq!(rate.frame_at(nanos - 1), frame - 1);
                before = nanos;
            }
        }
        // A clean hour at 23.976 lasts 3603.6 s.
        assert_eq!(FrameRate::FPS_23_976.nanos_of(86_400), 3_603_600_000_000);
    }

    #[test]
    fn known_drop_frame_values_hold() {
        // From a table made with an independent program (PyPI timecode 1.5.1).
        for (text, rate, frame) in [
            ("00:00:59;29", FrameRate::FPS_29_97, 1799),
            ("00:01:00;02", FrameRate::FPS_29_97, 1800),
            ("00:09:59;29", FrameRate::FPS_29_97, 17981),
            ("00:10:00;00", FrameRate::FPS_29_97, 17982),
            ("01:00:00;00", FrameRate::FPS_29_97, 107_892),
            ("23:59:59;29", FrameRate::FPS_29_97, 2_589_407),
            ("00:00:59;59", FrameRate::FPS_59_94, 3599),
            ("00:01:00;04", FrameRate::FPS_59_94, 3600),
            ("00:10:00;00", FrameRate::FPS_59_94, 35_964),
            ("01:00:00;00", FrameRate::FPS_59_94, 215_784),
            ("23:59:59;59", FrameRate::FPS_59_94, 5_178_815),
        ] {
            let tc = Timecode::parse(text, rate).unwrap();
            assert_eq!(tc.frame(), frame, "{text}");
            assert_eq!(tc.to_string(), text);
        }
        // 24 h of drop-frame at 29.97 are 86.4 ms short of a day.
        assert_eq!(
            FrameRate::FPS_29_97.nanos_of(2_589_408),
            86_400 * NANOS_PER_SEC - 86_400_000
        );
    }

    #[test]
    fn labels_that_do_not_exist_are_refused() {
        let check = |text, rate| Timecode::parse(text, rate).unwrap_err();
        assert!(matches!(
            check("00:01:00;00", FrameRate::FPS_29_97),
            TimecodeError::Dropped { .. }
        ));
        assert!(matches!(
            check("00:01:00;03", FrameRate::FPS_59_94),
            TimecodeError::Dropped { .. }
        ));
        assert!(matches!(
            check("00:00:00;00", FrameRate::FPS_30),
            TimecodeError::NoDropAtRate { .. }
        ));
        assert!(matches!(
            check("24:00:00:00", FrameRate::FPS_25),
            TimecodeError::OutOfRange { what: "hours", .. }
        ));
        assert!(matches!(
            check("00:00:00:24", FrameRate::FPS_23_976),
            TimecodeError::OutOfRange { what: "frames", .. }
        ));
        for text in ["", "1:2:3", "a:b:c:d", "00:00:00:00:00", "-1:00:00:00"] {
            assert_eq!(check(text, FrameRate::FPS_25), TimecodeError::Syntax);
        }
    }

    #[test]
    fn customary_decimals_mean_the_exact_ratio() {
        for (text, rate) in [
            ("23.976", FrameRate::FPS_23_976),
            ("23.98", FrameRate::FPS_23_976),
            ("29.97", FrameRate::FPS_29_97),
            ("59.94", FrameRate::FPS_59_94),
            ("119.88", FrameRate::FPS_119_88),
            ("60", FrameRate::FPS_60),
            ("60000/1001", FrameRate::FPS_59_94),
            ("120/2", FrameRate::FPS_60),
        ] {
            assert_eq!(text.parse(), Ok(rate), "{text}");
        }
        assert_eq!("12.5".parse::<FrameRate>().unwrap().to_string(), "25/2");
        for text in ["0", "0/1", "1/0", "1001", "nan", "1e9", "x"] {
            assert!(text.parse::<FrameRate>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_frame_time_survives_nanoseconds_to_the_thousandth() {
        for (rate, drop) in ALL {
            for frame in [0, 1, 1_095_835, rate.frames_per_day(drop) - 1] {
                for sub_frame in [0.0, 0.345_303, 0.5, 0.999] {
                    let time = QualifiedFrameTime {
                        frame,
                        sub_frame,
                        rate,
                        drop,
                    };
                    let back = QualifiedFrameTime::from_nanos(time.as_nanos(), rate, drop);
                    assert_eq!(back.frame, frame);
                    assert!((back.sub_frame - sub_frame).abs() < 1e-5);
                }
            }
        }
    }

    #[test]
    fn a_capture_of_the_phone_app_reads_as_its_fact_sheet_says() {
        let time = QualifiedFrameTime {
            frame: 1_095_835,
            sub_frame: 0.345_303,
            rate: FrameRate::FPS_60,
            drop: NonDrop,
        };
        assert_eq!(time.to_string(), "05:04:23:55.345");
    }
}
