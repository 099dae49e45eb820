//! Repair of asymmetry: small differences of left and right are taken out, winks and smirks stay.
//!
//! Phones tie left and right of lids, brows and nose unless a wink is large, so differences are data: off by default.

use serde::{Deserialize, Serialize};

use crate::face::{
    map::tame,
    names::Lookup,
    sets::{Region, is_angle},
};

use super::{pairs, smoothstep, within};

/// Which differences are taken out, and how far.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AsymmetrySettings {
    /// 0 leaves all differences, 1 takes small ones out whole. Default 0.
    pub strength: f32,
    /// A difference up to this is small. Default 0.1.
    pub small: f32,
    /// From this on it is meant, and stays. Default 0.3.
    pub meant: f32,
    /// Where. Default lids, brows, cheeks.
    pub regions: Vec<Region>,
}

impl Default for AsymmetrySettings {
    fn default() -> Self {
        Self {
            strength: 0.0,
            small: 0.1,
            meant: 0.3,
            regions: vec![Region::Lids, Region::Brows, Region::Cheeks],
        }
    }
}

/// Takes small differences of left and right out of a face.
#[derive(Clone, Debug)]
pub struct Asymmetry {
    strength: f32,
    small: f32,
    meant: f32,
    pairs: Vec<(usize, usize)>,
}

impl Asymmetry {
    /// Binds by name. Numbers out of range are brought into it.
    pub fn new(settings: &AsymmetrySettings, names: &[&str]) -> Self {
        let small = within(settings.small, 0.0, 1.0);
        let mut found = pairs(names, &Lookup::new(names));
        found.retain(|(at, _)| {
            names
                .get(*at)
                .is_some_and(|name| settings.regions.contains(&Region::of(name)) && !is_angle(name))
        });
        Self {
            strength: within(settings.strength, 0.0, 1.0),
            small,
            meant: within(settings.meant, small, 2.0),
            pairs: found,
        }
    }

    /// Repairs a frame in place. Does not allocate.
    pub fn apply(&self, curves: &mut [f32]) {
        if self.strength <= 0.0 {
            return;
        }
        for (left, right) in &self.pairs {
            let (Some(a), Some(b)) = (curves.get(*left).copied(), curves.get(*right).copied())
            else {
                continue;
            };
            let (a, b) = (tame(a), tame(b));
            let share = self.strength * (1.0 - smoothstep(self.small, self.meant, (a - b).abs()));
            let half = 0.5 * (b - a) * share;
            if let Some(slot) = curves.get_mut(*left) {
                *slot = a + half;
            }
            if let Some(slot) = curves.get_mut(*right) {
                *slot = b - half;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_go_and_winks_stay() {
        let names = [
            "eyeBlinkLeft",
            "eyeBlinkRight",
            "mouthSmileLeft",
            "mouthSmileRight",
        ];
        let settings = AsymmetrySettings {
            strength: 1.0,
            ..AsymmetrySettings::default()
        };
        let repair = Asymmetry::new(&settings, &names);
        let mut tired = [0.3, 0.2, 0.5, 0.4];
        repair.apply(&mut tired);
        assert!(
            (tired[0] - 0.25).abs() < 1e-6 && (tired[1] - 0.25).abs() < 1e-6,
            "{tired:?}"
        );
        assert_eq!(tired[2..], [0.5, 0.4]);
        let mut wink = [1.0, 0.1, 0.0, 0.0];
        repair.apply(&mut wink);
        assert_eq!(wink, [1.0, 0.1, 0.0, 0.0]);
        let mut off = [0.3, 0.2, 0.5, 0.4];
        Asymmetry::new(&AsymmetrySettings::default(), &names).apply(&mut off);
        assert_eq!(off, [0.3, 0.2, 0.5, 0.4]);
    }
}
