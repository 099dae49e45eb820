//! What is done to the curves of a face between calibration and map.

pub(super) mod asymmetry;
pub(super) mod conflicts;
pub(super) mod gaze;
pub(super) mod idle;
pub(super) mod lids;
pub(super) mod lips;
pub(super) mod loss;
pub(super) mod smooth;

use super::{
    map::tame,
    names::{Lookup, other_side},
};

/// The curves of both eyes, left first. What a source does not send is `None`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EyePlaces {
    pub(super) blink: Option<usize>,
    pub(super) squint: Option<usize>,
    pub(super) wide: Option<usize>,
    pub(super) look_in: Option<usize>,
    pub(super) look_out: Option<usize>,
    pub(super) look_up: Option<usize>,
    pub(super) look_down: Option<usize>,
    pub(super) yaw: Option<usize>,
    pub(super) pitch: Option<usize>,
}

impl EyePlaces {
    pub(super) fn both(names: &Lookup) -> [Self; 2] {
        ["Left", "Right"].map(|side| {
            let eye = |what: &str| names.find(&format!("Eye{what}{side}"));
            Self {
                blink: eye("Blink"),
                squint: eye("Squint"),
                wide: eye("Wide"),
                look_in: eye("LookIn"),
                look_out: eye("LookOut"),
                look_up: eye("LookUp"),
                look_down: eye("LookDown"),
                yaw: names.find(&format!("{side}EyeYaw")),
                pitch: names.find(&format!("{side}EyePitch")),
            }
        })
    }
}

/// The value at that place; 0 where there is none.
pub(super) fn value_at(curves: &[f32], at: Option<usize>) -> f32 {
    at.and_then(|at| curves.get(at)).copied().map_or(0.0, tame)
}

/// Writes it if there is such a place.
pub(super) fn put_at(curves: &mut [f32], at: Option<usize>, value: f32) {
    if let Some(slot) = at.and_then(|at| curves.get_mut(at)) {
        *slot = value;
    }
}

/// Left and right curves of one kind, each pair once: the one whose name comes first, and its counterpart.
pub(super) fn pairs(names: &[&str], lookup: &Lookup) -> Vec<(usize, usize)> {
    let mut out = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let other = other_side(name);
        if other != *name
            && let Some(partner) = lookup.find(&other)
            && at < partner
        {
            out.push((at, partner));
        }
    }
    out
}

/// 0 up to `from`, 1 from `to`, without a break in speed between.
pub(super) fn smoothstep(from: f32, to: f32, x: f32) -> f32 {
    let share = ((x - from) / (to - from).max(1e-6)).clamp(0.0, 1.0);
    share * share * (3.0 - 2.0 * share)
}

/// A finite number within a range; the least one for what is no number.
pub(super) fn within(value: f32, low: f32, high: f32) -> f32 {
    if value.is_nan() {
        low
    } else {
        value.clamp(low, high)
    }
}

/// Number `index` of an endless table of random numbers, 0 included to 1 excluded: the finaliser of SplitMix64
/// (Steele, Lea, Flood: *Fast Splittable Pseudorandom Number Generators*, 2014) on seed and index.
pub(super) fn dice(seed: u64, index: i64) -> f32 {
    let mix = |seed: u64| {
        let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    };
    (mix(mix(seed) ^ mix(index as u64)) >> 40) as f32 / (1_u32 << 24) as f32
}
