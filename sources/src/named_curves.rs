//! Curves of one subject whose names the operator wrote, and those that come with the data: bounded, and
//! announced together with the frame that brings them.

use std::{borrow::Cow, collections::HashMap};

use hub::{
    FrameBody, FrameData, FrameMeta, MAX_NAME_BYTES, Property, StaticData, SubjectKey, Transform,
    WorldTime,
};

use crate::Sink;

/// Most names learned from the data of one subject; more are left out.
pub(crate) const MAX_LEARNED: usize = 512;
/// Static data is announced again that often, for whoever came later.
const ANNOUNCE_NANOS: i64 = 1_000_000_000;

/// Names and values of one subject, side by side.
pub(crate) struct NamedCurves {
    statics: StaticData,
    data: FrameData,
    by_name: HashMap<Box<str>, usize>,
    num_fixed: usize,
    is_changed: bool,
    announced: Option<WorldTime>,
}

impl NamedCurves {
    /// With the names that are known beforehand, each at 0, and a body that fits.
    pub(crate) fn new(statics: StaticData, body: FrameBody) -> Self {
        let num_fixed = statics.properties.len();
        let names = statics.properties.iter().enumerate();
        Self {
            by_name: names.map(|(i, p)| (p.name.as_str().into(), i)).collect(),
            data: FrameData {
                body,
                properties: vec![0.0; num_fixed],
            },
            statics,
            num_fixed,
            is_changed: false,
            announced: None,
        }
    }

    /// Place of the curve of that name, which is added at 0 if there is room; `None` if it cannot be a name.
    pub(crate) fn slot(&mut self, name: &str) -> Option<usize> {
        if let Some(slot) = self.by_name.get(name) {
            return Some(*slot);
        }
        let slot = self.statics.properties.len();
        if slot >= self.num_fixed + MAX_LEARNED || !is_name(name) {
            return None;
        }
        self.by_name.insert(name.into(), slot);
        self.statics.properties.push(Property::linear(name));
        self.data.properties.push(0.0);
        self.is_changed = true;
        Some(slot)
    }

    /// Sets a curve.
    pub(crate) fn set(&mut self, slot: usize, value: f32) {
        if let Some(kept) = self.data.properties.get_mut(slot) {
            *kept = value;
        }
    }

    /// A transform of the body, to change.
    pub(crate) fn transform_mut(&mut self, index: usize) -> Option<&mut Transform> {
        self.data.transforms_mut().get_mut(index)
    }

    /// Gives a frame, and before it the static data if it is new or was not told for a second.
    pub(crate) fn give(&mut self, key: &SubjectKey, meta: &FrameMeta, sink: &mut dyn Sink) {
        let now = meta.arrival;
        let is_due = self.announced.is_none_or(|t| now - t >= ANNOUNCE_NANOS);
        if std::mem::take(&mut self.is_changed) || is_due {
            self.announced = Some(now);
            sink.static_data(key, &self.statics, now);
        }
        sink.frame(key, meta, Some(&self.data));
    }
}

/// Whether the hub takes it as the name of a curve or bone.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=MAX_NAME_BYTES).contains(&text.len()) && !text.chars().any(char::is_control)
}

/// The curve that a pattern such as `*` or `left_*` makes of what a star matched.
pub(crate) fn named<'a>(pattern: &str, matched: &'a str) -> Cow<'a, str> {
    if pattern == "*" {
        Cow::Borrowed(matched)
    } else {
        Cow::Owned(pattern.replacen('*', matched, 1))
    }
}

/// `value · gain + offset`; `None` when that is no finite number.
pub(crate) fn scaled(value: f64, gain: f32, offset: f32) -> Option<f32> {
    let scaled = (value * f64::from(gain) + f64::from(offset)) as f32;
    scaled.is_finite().then_some(scaled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_learned_once_and_bounded() {
        let mut curves = NamedCurves::new(StaticData::basic(&["JawOpen"]), FrameBody::Basic);
        assert_eq!(curves.slot("JawOpen"), Some(0));
        assert_eq!(curves.slot("下巴"), Some(1));
        assert_eq!(curves.slot("下巴"), Some(1));
        let long = "x".repeat(257);
        for bad in ["", "a\u{7}", long.as_str()] {
            assert_eq!(curves.slot(bad), None);
        }
        for i in 0..2 * MAX_LEARNED {
            curves.slot(&format!("c{i}"));
        }
        assert_eq!(curves.statics.properties.len(), 1 + MAX_LEARNED);
        curves.statics.validate().unwrap();
        curves.data.check(&curves.statics).unwrap();
    }

    #[test]
    fn a_pattern_holds_what_the_star_matched() {
        assert_eq!(named("*", "jaw"), "jaw");
        assert_eq!(named("left_*", "jaw"), "left_jaw");
    }

    #[test]
    fn only_finite_numbers_come_through() {
        assert_eq!(scaled(0.5, 2.0, -0.25), Some(0.75));
        for bad in [f64::NAN, f64::INFINITY, 1e300] {
            assert_eq!(scaled(bad, 1.0, 0.0), None);
        }
    }
}
