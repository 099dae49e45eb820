//! Calibration: a performer's rest and range, so that a resting face is 0 and a full one is 1.
//!
//! ```text
//! weights   y = clamp((x − neutral) / (full − neutral), 0, 1)      angles   y = x − neutral
//! ```
//!
//! - **Neutral** is the mean of the middle half of one second or more of rest: blinks and twitches do not count. If
//!   more than lids and eyes moved, the capture is refused and says which curves.
//! - **Full** is what the performer reaches in a range of motion: of the frames in which the curve is on, 95 in 100
//!   stay below. A curve that was not performed keeps its range, and so does one that the source does not measure.
//! - **Lids and looks** lose little to the neutral: eyes that never close again are worse than eyes a bit small.
//!
//! Frames are pushed one by one, live or from a take.

use hub::{MAX_NAME_BYTES, MAX_PROPERTIES};
use serde::{Deserialize, Serialize};

use super::{
    map::tame,
    names::{Lookup, curve_key},
    sets::{Region, is_angle},
};

/// Shortest rest that tells a neutral, seconds.
const LEAST_SECS: f64 = 1.0;
/// Fewest frames that tell anything.
const LEAST_FRAMES: u32 = 20;
/// A resting curve stays within this from its 10th to its 90th percentile; weight or radians.
const STEADY: f32 = 0.1;
/// Above neutral by this a curve is on.
const ACTIVE: f32 = 0.05;
/// A curve that did not get this far above its neutral was not performed.
const PERFORMED: f32 = 0.25;
/// The least range that a profile may tell: less would blow noise up.
const LEAST_RANGE: f32 = 0.15;
/// Most neutral that is taken from lids and looks.
const MOST_LID_NEUTRAL: f32 = 0.15;
/// Most neutral of any other weight.
const MOST_NEUTRAL: f32 = 0.5;
/// Most neutral of an angle, radians either way.
const MOST_ANGLE_RAD: f32 = 0.6;
/// Lids that are shut reach this at least, so that a squint is no blink.
const LEAST_LID_FULL: f32 = 0.5;
const NUM_BINS: usize = 1024;

/// How often values came, in bins.
#[derive(Clone, Debug)]
struct Tally {
    low: f32,
    high: f32,
    counts: Vec<u32>,
    sums: Vec<f64>,
}

impl Tally {
    fn new(low: f32, high: f32) -> Self {
        Self {
            low,
            high,
            counts: vec![0; NUM_BINS],
            sums: vec![0.0; NUM_BINS],
        }
    }

    fn push(&mut self, value: f32) {
        let value = tame(value).clamp(self.low, self.high);
        let share = (value - self.low) / (self.high - self.low);
        let at = ((share * NUM_BINS as f32) as usize).min(NUM_BINS - 1);
        if let (Some(count), Some(sum)) = (self.counts.get_mut(at), self.sums.get_mut(at)) {
            *count = count.saturating_add(1);
            *sum += f64::from(value);
        }
    }

    /// Bins at or above this value.
    fn above(&self, least: f32) -> impl Iterator<Item = (u32, f64)> {
        let width = (self.high - self.low) / NUM_BINS as f32;
        let first = ((least - self.low) / width).ceil().max(0.0) as usize;
        let bins = self.counts.iter().zip(&self.sums).skip(first);
        bins.map(|(count, sum)| (*count, *sum))
    }

    fn count_above(&self, least: f32) -> u64 {
        self.above(least).map(|(count, _)| u64::from(count)).sum()
    }

    /// Of the values from `least` on, that below which this share lies: the mean of its bin.
    fn quantile_above(&self, least: f32, share: f64) -> Option<f32> {
        let wanted = share * self.count_above(least) as f64;
        let mut seen = 0.0;
        let mut last = None;
        for (count, sum) in self.above(least).filter(|(count, _)| *count > 0) {
            seen += f64::from(count);
            last = Some((sum / f64::from(count)) as f32);
            if seen >= wanted {
                break;
            }
        }
        last
    }

    fn quantile(&self, share: f64) -> Option<f32> {
        self.quantile_above(self.low, share)
    }

    /// Mean of the bins that the middle half of the values lies in.
    fn middle_mean(&self) -> Option<f32> {
        let total = self.count_above(self.low) as f64;
        let (from, to) = (0.25 * total, 0.75 * total);
        let (mut seen, mut num, mut sum) = (0.0, 0.0, 0.0);
        for (count, of_bin) in self.above(self.low) {
            let count = f64::from(count);
            if count > 0.0 && seen + count > from && seen < to {
                num += count;
                sum += of_bin;
            }
            seen += count;
        }
        (num > 0.0).then(|| (sum / num) as f32)
    }
}

/// Frames of a rest or of a range of motion, summed up: its size does not grow with the frames.
#[derive(Clone, Debug)]
pub struct Capture {
    names: Vec<String>,
    is_measured: Vec<bool>,
    tallies: Vec<Tally>,
    secs: f64,
    num_frames: u32,
}

impl Capture {
    /// Begins one. Curves beyond the first [`MAX_PROPERTIES`] are left out.
    ///
    /// `is_measured`: false for curves that the source announces and cannot measure; what is missing counts as true.
    pub fn new(names: &[&str], is_measured: &[bool]) -> Self {
        let names: Vec<String> = names
            .iter()
            .take(MAX_PROPERTIES)
            .map(|name| (*name).to_owned())
            .collect();
        let tally = |name: &String| {
            if is_angle(name) {
                Tally::new(-2.0, 2.0)
            } else {
                Tally::new(-0.5, 1.5)
            }
        };
        Self {
            tallies: names.iter().map(tally).collect(),
            is_measured: (0..names.len())
                .map(|at| is_measured.get(at).copied().unwrap_or(true))
                .collect(),
            names,
            secs: 0.0,
            num_frames: 0,
        }
    }

    /// Adds a frame: one value per name, and the seconds since the frame before. A frame that is short or has
    /// something that is no number is left out.
    pub fn push(&mut self, curves: &[f32], dt_secs: f32) {
        let Some(curves) = curves.get(..self.tallies.len()) else {
            return;
        };
        if !(curves.iter().all(|value| value.is_finite()) && dt_secs.is_finite()) {
            return;
        }
        for (tally, value) in self.tallies.iter_mut().zip(curves) {
            tally.push(*value);
        }
        self.secs += f64::from(dt_secs.max(0.0));
        self.num_frames = self.num_frames.saturating_add(1);
    }

    /// Seconds so far.
    pub fn secs(&self) -> f64 {
        self.secs
    }

    /// Frames so far.
    pub fn num_frames(&self) -> u32 {
        self.num_frames
    }

    /// Curves that moved too much for a rest; lids and eyes may move.
    pub fn unsteady(&self) -> Vec<&str> {
        let curves = self.names.iter().zip(&self.is_measured).zip(&self.tallies);
        let moved = curves.filter(|((name, is_measured), tally)| {
            let region = Region::of(name);
            let may_move = matches!(region, Region::Lids | Region::Gaze);
            let spread = tally.quantile(0.9).zip(tally.quantile(0.1));
            **is_measured && !may_move && spread.is_some_and(|(high, low)| high - low > STEADY)
        });
        moved.map(|((name, _), _)| name.as_str()).collect()
    }
}

/// Whom and what a profile is of. All text is the caller's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileLabels {
    /// The performer.
    pub performer: String,
    /// The character it is for; empty for any.
    pub character: String,
    /// The source it was captured from.
    pub source: String,
    /// The date, as the caller writes it.
    pub made: String,
}

/// Rest and range of one curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileCurve {
    /// Its name, in any spelling.
    pub name: String,
    /// Its value at rest; radians for an angle.
    pub neutral: f32,
    /// Its value when full; `None` leaves 1. Not for angles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full: Option<f32>,
}

/// Rest and range of a performer, for one source and character.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// Of the form of this file: 1.
    pub version: u32,
    /// The performer.
    pub performer: String,
    /// The character it is for; empty for any.
    #[serde(default)]
    pub character: String,
    /// The source it was captured from.
    #[serde(default)]
    pub source: String,
    /// The date, as the caller wrote it.
    #[serde(default)]
    pub made: String,
    /// Curves that are not told stay as they are.
    #[serde(default, rename = "curve")]
    pub curves: Vec<ProfileCurve>,
}

impl Profile {
    /// The form of the file that is written and read.
    pub const VERSION: u32 = 1;

    /// Rest from one capture and, if there is one, range from another.
    ///
    /// # Errors
    /// A capture that is too short, a rest that was none (with the curves that moved).
    pub fn capture(
        labels: ProfileLabels,
        rest: &Capture,
        range: Option<&Capture>,
    ) -> Result<Self, Vec<String>> {
        let mut faults = Vec::new();
        for (what, capture) in [("rest", Some(rest)), ("range", range)] {
            if let Some(capture) = capture
                && (capture.secs < LEAST_SECS || capture.num_frames < LEAST_FRAMES)
            {
                let (secs, frames) = (capture.secs, capture.num_frames);
                faults.push(format!(
                    "the {what} is {secs:.2} s of {frames} frames, less than {LEAST_SECS} s or {LEAST_FRAMES} frames"
                ));
            }
        }
        let unsteady = rest.unsteady();
        if !unsteady.is_empty() {
            faults.push(format!("no rest, these moved: {}", unsteady.join(", ")));
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        let in_range = range.map(|range| {
            let names: Vec<&str> = range.names.iter().map(String::as_str).collect();
            (Lookup::new(&names), range)
        });
        let mut curves = Vec::new();
        for ((name, is_measured), tally) in
            rest.names.iter().zip(&rest.is_measured).zip(&rest.tallies)
        {
            let Some(neutral) = tally.middle_mean().filter(|_| *is_measured) else {
                continue;
            };
            let neutral = bounded_neutral(name, neutral);
            let full = in_range.as_ref().and_then(|(lookup, range)| {
                let at = lookup.find(name)?;
                if is_angle(name) || !*range.is_measured.get(at)? {
                    return None;
                }
                full_of(name, neutral, range.tallies.get(at)?)
            });
            curves.push(ProfileCurve {
                name: name.clone(),
                neutral,
                full,
            });
        }
        Ok(Self {
            version: Self::VERSION,
            performer: labels.performer,
            character: labels.character,
            source: labels.source,
            made: labels.made,
            curves,
        })
    }

    /// Reads a profile's file. What it says is checked by [`Calibration::build`].
    ///
    /// # Errors
    /// Text that is no TOML, keys that are not known, with their line.
    pub fn from_toml(text: &str) -> Result<Self, toml::de::Error> {
        toml::from_str(text)
    }

    /// The profile's file.
    ///
    /// # Errors
    /// None for a profile that was captured or read.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

fn bounded_neutral(name: &str, neutral: f32) -> f32 {
    if is_angle(name) {
        return neutral.clamp(-MOST_ANGLE_RAD, MOST_ANGLE_RAD);
    }
    let most = match Region::of(name) {
        Region::Lids | Region::Gaze => MOST_LID_NEUTRAL,
        _ => MOST_NEUTRAL,
    };
    neutral.clamp(-MOST_NEUTRAL, most)
}

/// What is full, if the curve was performed.
fn full_of(name: &str, neutral: f32, tally: &Tally) -> Option<f32> {
    let active = neutral + ACTIVE;
    if tally.count_above(active) < u64::from(LEAST_FRAMES) / 2 {
        return None;
    }
    let full = tally.quantile_above(active, 0.95)?;
    let least = match Region::of(name) {
        Region::Lids => LEAST_LID_FULL,
        _ => neutral + PERFORMED,
    };
    match Region::of(name) {
        // Weak lids are brought to the bound rather than left.
        Region::Lids if full - neutral >= PERFORMED => Some(full.max(least)),
        _ if full >= least => Some(full),
        _ => None,
    }
}

#[derive(Clone, Copy, Debug)]
struct Rule {
    at: usize,
    neutral: f32,
    /// One over the range; `None` for an angle.
    gain: Option<f32>,
}

/// A profile bound to the curves of a source. Built once, applied each frame.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    rules: Vec<Rule>,
    absent: Vec<String>,
}

impl Calibration {
    /// Binds by name, in any spelling. Curves of the profile that are not there are [listed](Self::absent).
    ///
    /// # Errors
    /// All that is wrong at once: numbers out of range, a range below 0.15, curves told twice.
    pub fn build(profile: &Profile, names: &[&str]) -> Result<Self, Vec<String>> {
        let mut faults = Vec::new();
        if profile.version != Profile::VERSION {
            let (have, want) = (profile.version, Profile::VERSION);
            faults.push(format!("version {have} is not {want}"));
        }
        if profile.curves.len() > MAX_PROPERTIES {
            let have = profile.curves.len();
            return Err(vec![format!(
                "{have} curves are more than {MAX_PROPERTIES}"
            )]);
        }
        let lookup = Lookup::new(names);
        let mut out = Self::default();
        let mut keys: Vec<String> = Vec::new();
        for curve in &profile.curves {
            let name = &curve.name;
            if name.is_empty() || name.len() > MAX_NAME_BYTES {
                faults.push(format!("a name of {} bytes", name.len()));
                continue;
            }
            let key = curve_key(name);
            if keys.contains(&key) {
                faults.push(format!("{name} is told twice"));
            }
            keys.push(key);
            let (neutral, is_angle) = (curve.neutral, is_angle(name));
            let is_fit = |value: f32| value.is_finite() && value.abs() <= 2.0;
            if !is_fit(neutral) || curve.full.is_some_and(|full| !is_fit(full)) {
                faults.push(format!("{name}: a number that is not within ±2"));
                continue;
            }
            let gain = if is_angle {
                if curve.full.is_some() {
                    faults.push(format!("{name} is an angle and has no full value"));
                }
                None
            } else {
                let range = curve.full.unwrap_or(1.0) - neutral;
                if range < LEAST_RANGE {
                    faults.push(format!(
                        "{name}: a range of {range} is less than {LEAST_RANGE}"
                    ));
                    continue;
                }
                Some(range.recip())
            };
            match lookup.find(name) {
                Some(at) => out.rules.push(Rule { at, neutral, gain }),
                None => out.absent.push(name.clone()),
            }
        }
        if faults.is_empty() {
            Ok(out)
        } else {
            Err(faults)
        }
    }

    /// Curves of the profile that the source does not send.
    pub fn absent(&self) -> &[String] {
        &self.absent
    }

    /// Calibrates a frame in place. Weights come within 0..=1; curves that are not told stay. Does not allocate.
    pub fn apply(&self, curves: &mut [f32]) {
        for rule in &self.rules {
            if let Some(value) = curves.get_mut(rule.at) {
                let above = tame(*value) - rule.neutral;
                *value = rule
                    .gain
                    .map_or(above, |gain| (above * gain).clamp(0.0, 1.0));
            }
        }
    }
}

#[cfg(test)]
mod tests;
