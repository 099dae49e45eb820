//! Which source moves which part of the face: exclusive, so that two sources do not halve each other.

use super::{map::tame, sets::Region};

/// Share of a second source in each curve, by region. 0 is the first source alone, 1 the second alone; in between is
/// for fading from one to the other.
#[derive(Clone, Debug, Default)]
pub struct CurveMask {
    regions: Vec<Region>,
    shares: [f32; Region::COUNT],
}

impl CurveMask {
    /// The first source alone, everywhere.
    pub fn new(names: &[&str]) -> Self {
        Self {
            regions: names.iter().map(|name| Region::of(name)).collect(),
            shares: [0.0; Region::COUNT],
        }
    }

    /// Gives these regions to the second source, the others to the first.
    pub fn give(&mut self, regions: &[Region]) {
        for region in Region::ALL {
            let is_given = regions.contains(&region);
            self.set_share(region, if is_given { 1.0 } else { 0.0 });
        }
    }

    /// Share of the second source in a region. Out of range is brought into it.
    pub fn set_share(&mut self, region: Region, share: f32) {
        if let Some(slot) = self.shares.get_mut(region.index()) {
            *slot = tame(share).clamp(0.0, 1.0);
        }
    }

    /// Lays the second source over the first, in place. Does not allocate.
    ///
    /// - `first`: one value per name;
    /// - `second`: likewise; what is missing leaves the first.
    pub fn apply(&self, first: &mut [f32], second: &[f32]) {
        for ((value, over), region) in first.iter_mut().zip(second).zip(&self.regions) {
            let share = self.shares.get(region.index()).copied().unwrap_or(0.0);
            let (from, to) = (tame(*value), tame(*over));
            *value = if share >= 1.0 {
                to
            } else {
                from + (to - from) * share
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 4] = ["browInnerUp", "jawOpen", "mouthFunnel", "eyeBlinkLeft"];

    // Defect 62: the hybrid always blends, mouth from sound and the rest from the phone cannot be had.
    #[test]
    fn the_mouth_comes_from_sound_alone_and_the_rest_from_the_phone_alone() {
        let mut mask = CurveMask::new(&NAMES);
        mask.give(&[Region::Jaw, Region::Mouth, Region::Tongue]);
        let mut face = [0.9, 0.8, 0.7, 0.6];
        mask.apply(&mut face, &[0.1, 0.2, 0.3, 0.4]);
        assert_eq!(face, [0.9, 0.2, 0.3, 0.6]);
    }

    // Defect 68: upper and lower face from two sources come out at half strength.
    #[test]
    fn two_halves_of_a_face_are_each_at_full_strength() {
        let mut mask = CurveMask::new(&NAMES);
        mask.give(&[Region::Jaw, Region::Mouth]);
        let mut face = [1.0, 0.0, 0.0, 1.0];
        mask.apply(&mut face, &[0.0, 1.0, 1.0, 0.0]);
        assert_eq!(face, [1.0; 4]);
        mask.set_share(Region::Jaw, 0.25);
        let mut face = [0.0; 4];
        mask.apply(&mut face, &[1.0; 4]);
        assert_eq!(face, [0.0, 0.25, 1.0, 0.0]);
        mask.apply(&mut face, &[f32::NAN]);
        assert_eq!(face, [0.0, 0.25, 1.0, 0.0]);
    }
}
