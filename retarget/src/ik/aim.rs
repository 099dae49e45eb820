//! A look or an aim shared among the bones of a chain, such as spine, neck and head.
//!
//! From the root to the tip each bone takes its share of what is still missing, measured from where the tip is by then; the
//! tip comes last and makes up for the rest. All turns are by the shortest arc, so none rolls the head.

use glam::{Quat, Vec3};
use hub::Transform;
use serde::{Deserialize, Serialize};

use super::{smooth, soften};
use crate::math::{arc, exp, log, unit};

/// How a chain looks at a point.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Aim {
    /// What points at the target, in the frame of the chain's last bone, any length: +Z for a head in the house frame.
    pub forward: Vec3,
    /// Where the eyes are in that frame, metres: the point that looks.
    pub origin: Vec3,
    /// Targets this near to where the chain looks anyway move nothing; beyond, the look stops at the border. Radians.
    pub dead_zone_rad: f32,
    /// Most that the whole chain turns, radians; slowed over the last fifth.
    pub max_rad: f32,
    /// From this angle to the target on the chain gives up gradually, and has by half a turn, where the short way round
    /// would change sides. Radians.
    pub give_up_rad: f32,
}

impl Default for Aim {
    fn default() -> Self {
        Self {
            forward: Vec3::Z,
            origin: Vec3::ZERO,
            dead_zone_rad: 0.0,
            max_rad: 100.0f32.to_radians(),
            give_up_rad: 120.0f32.to_radians(),
        }
    }
}

/// A bone's part in an aim.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AimShare {
    /// Part of the turn, relative to the others; not negative.
    pub share: f32,
    /// Most it turns, radians. What it leaves goes to the bones after it.
    pub max_rad: f32,
}

impl Aim {
    /// Turns a chain, root to tip, given by `model_from_local`, so that the tip looks at `target`, in model space.
    /// `weight` 0 turns nothing, 1 all the way. Answers the angle left to the target, radians; 0 for nothing to look at.
    ///
    /// `shares` are as many as `chain`; the shorter one counts.
    pub fn solve(
        &self,
        chain: &mut [Transform],
        shares: &[AimShare],
        target: Vec3,
        weight: f32,
    ) -> f32 {
        let num_bones = chain.len().min(shares.len());
        let Some(missing) = self.missing(&chain[..num_bones], target) else {
            return 0.0;
        };
        let angle = missing.length();
        let wanted = self.wanted(angle) * weight.clamp(0.0, 1.0);
        // NaN is no weight.
        if wanted.max(0.0) <= 0.0 {
            return angle;
        }
        // What is left over on purpose at each step: dead zone, limit, weight.
        let keep = angle - wanted;
        let mut open: f32 = shares[..num_bones].iter().map(|s| s.share.max(0.0)).sum();
        for (bone, part) in shares[..num_bones].iter().enumerate() {
            let share = part.share.max(0.0);
            if share <= 0.0 || open <= 0.0 {
                continue;
            }
            let Some(missing) = self.missing(&chain[..num_bones], target) else {
                break;
            };
            let angle = missing.length();
            let now = ((angle - keep).max(0.0) * (share / open)).min(part.max_rad.max(0.0));
            open -= share;
            if angle > 0.0 && now > 0.0 {
                turn_from(&mut chain[bone..num_bones], exp(missing * (now / angle)));
            }
        }
        self.missing(&chain[..num_bones], target)
            .map_or(0.0, Vec3::length)
    }

    /// The rotation vector, model space, that would make the tip look at the target.
    fn missing(&self, chain: &[Transform], target: Vec3) -> Option<Vec3> {
        let tip = chain.last()?;
        let forward = (tip.rotation * self.forward).try_normalize()?;
        let eye = tip.translation + tip.rotation * self.origin;
        let way = (target - eye).try_normalize()?;
        Some(log(arc(forward, way, Vec3::Y)))
    }

    /// How far to turn for a target at an angle.
    fn wanted(&self, angle: f32) -> f32 {
        let beyond = (angle - self.dead_zone_rad.max(0.0)).max(0.0);
        let interest = if angle > self.give_up_rad {
            1.0 - smooth(angle, self.give_up_rad.min(3.0), std::f32::consts::PI)
        } else {
            1.0
        };
        soften(beyond, self.max_rad.max(0.0), 0.8) * interest
    }
}

/// Turns the first bone of a chain about its own joint, and the others with it.
fn turn_from(chain: &mut [Transform], by: Quat) {
    let Some(pivot) = chain.first().map(|bone| bone.translation) else {
        return;
    };
    for bone in chain {
        bone.translation = pivot + by * (bone.translation - pivot);
        bone.rotation = unit(by * bone.rotation);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chest, neck and head, 20 cm apart, looking ahead.
    fn chain() -> [Transform; 3] {
        [1.2, 1.4, 1.6].map(|y| Transform::new(Vec3::new(0.0, y, 0.0), Quat::IDENTITY))
    }

    const SHARES: [AimShare; 3] = [
        AimShare {
            share: 0.2,
            max_rad: 0.5,
        },
        AimShare {
            share: 0.3,
            max_rad: 1.0,
        },
        AimShare {
            share: 0.5,
            max_rad: 1.2,
        },
    ];

    fn angle_to(tip: &Transform, target: Vec3) -> f32 {
        let (a, b) = (tip.rotation * Vec3::Z, target - tip.translation);
        a.cross(b).length().atan2(a.dot(b))
    }

    #[test]
    fn the_head_looks_at_the_target_and_all_take_their_share() {
        let mut bones = chain();
        // 45° to the left at the height of the eyes: a turn about the axis on which all of them stand.
        let target = Vec3::new(2.0, 1.6, 2.0);
        let left = Aim::default().solve(&mut bones, &SHARES, target, 1.0);
        assert!(left < 1e-3 && angle_to(&bones[2], target) < 1e-3);
        let yaw = |bone: &Transform| {
            let f = bone.rotation * Vec3::Z;
            f.x.atan2(f.z).to_degrees()
        };
        assert!((yaw(&bones[0]) - 9.0).abs() < 0.01, "{}", yaw(&bones[0]));
        assert!((yaw(&bones[1]) - 22.5).abs() < 0.01, "{}", yaw(&bones[1]));
        assert!((yaw(&bones[2]) - 45.0).abs() < 0.01, "{}", yaw(&bones[2]));
    }

    #[test]
    fn looking_down_carries_the_bones_and_still_meets_the_target() {
        let mut bones = chain();
        let target = Vec3::new(0.3, 0.9, 0.8);
        let left = Aim::default().solve(&mut bones, &SHARES, target, 1.0);
        assert!(left < 1e-3, "{left}");
        assert!((bones[1].translation.distance(bones[2].translation) - 0.2).abs() < 1e-5);
        // The head leans forward with the neck.
        assert!(bones[2].translation.z > 0.02);
    }

    #[test]
    fn a_target_within_the_dead_zone_moves_nothing_and_its_border_is_no_step() {
        let aim = Aim {
            dead_zone_rad: 0.2,
            ..Aim::default()
        };
        let at = |angle: f32| Vec3::new(angle.sin() * 3.0, 1.6, angle.cos() * 3.0);
        let mut bones = chain();
        aim.solve(&mut bones, &SHARES, at(0.19), 1.0);
        assert_eq!(bones, chain());
        let left = aim.solve(&mut bones, &SHARES, at(0.5), 1.0);
        assert!((left - 0.2).abs() < 1e-3, "{left}");
    }

    #[test]
    fn weight_is_a_share_of_the_turn_and_limits_hold() {
        let target = Vec3::new(2.0, 1.6, 2.0);
        let mut bones = chain();
        let left = Aim::default().solve(&mut bones, &SHARES, target, 0.5);
        assert!((left - 22.5f32.to_radians()).abs() < 1e-3, "{left}");
        let mut bones = chain();
        let stiff = SHARES.map(|s| AimShare { max_rad: 0.1, ..s });
        let left = Aim::default().solve(&mut bones, &stiff, target, 1.0);
        assert!((left - (45.0f32.to_radians() - 0.3)).abs() < 1e-3, "{left}");
    }

    #[test]
    fn a_target_that_passes_behind_makes_no_jump() {
        let mut last: Option<Quat> = None;
        for degrees in 0..=360 {
            let angle = (degrees as f32).to_radians();
            let target = Vec3::new(angle.sin() * 3.0, 1.7, angle.cos() * 3.0);
            let mut bones = chain();
            Aim::default().solve(&mut bones, &SHARES, target, 1.0);
            if let Some(last) = last {
                let step = crate::math::angle_between(last, bones[2].rotation);
                assert!(step < 6.0f32.to_radians(), "{degrees}: {step}");
            }
            last = Some(bones[2].rotation);
        }
    }

    #[test]
    fn nothing_to_look_at_turns_nothing() {
        let mut bones = chain();
        let aim = Aim::default();
        for target in [bones[2].translation, Vec3::splat(f32::NAN)] {
            assert_eq!(aim.solve(&mut bones, &SHARES, target, 1.0), 0.0);
        }
        aim.solve(&mut bones, &SHARES, Vec3::X, f32::NAN);
        assert_eq!(bones, chain());
        assert_eq!(aim.solve(&mut [], &[], Vec3::X, 1.0), 0.0);
    }
}
