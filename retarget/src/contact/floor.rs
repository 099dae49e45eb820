//! Soles kept out of the floor.
//!
//! A sole is two points under the foot, heel and ball, and the tip of the toes. What is below the floor is brought up: first
//! the whole foot until its heel is on it, then its ball by turning the foot about the ankle, then the whole foot again by
//! what that left. A foot that is only too low is lifted and keeps its angle; one whose toes poke through is flattened.

use glam::{Quat, Vec3};
use hub::Transform;

use crate::math::unit;

/// Most the foot is turned to bring its ball up, radians.
const MAX_PITCH_RAD: f32 = 0.7;
/// Most the toes are bent up, radians.
const MAX_TOES_RAD: f32 = 1.2;
/// How far the heel reaches behind the ankle, and the toes before the ball, as shares of what is between ankle and ball.
const HEEL_SHARE: f32 = 0.3;
const TOES_SHARE: f32 = 0.5;
/// Ankle to ball, in heights of the ankle, where a rig has no toes.
const FOOT_PER_ANKLE: f32 = 1.8;

/// The underside of a foot of the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sole {
    /// Under and behind the ankle, in the frame of the foot bone, metres.
    pub heel: Vec3,
    /// Under the toe joint, in the frame of the foot bone, metres.
    pub ball: Vec3,
    /// Under the tip of the toes, in the frame of the toe bone, metres; `None` without one.
    pub tip: Option<Vec3>,
    /// Height of the ankle joint over the floor in the retarget pose, metres.
    pub ankle_m: f32,
    /// Height of the toe joint over the floor in the retarget pose, metres: half the thickness of the toes.
    pub toe_m: f32,
}

/// A foot out of the floor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FloorFix {
    /// Where the ankle goes, and the rotation of the foot bone, model space.
    pub foot: Transform,
    /// How far it was lifted, metres.
    pub lift_m: f32,
    /// How far it was turned, toes up, radians.
    pub pitch_rad: f32,
}

impl Sole {
    /// The sole of a foot from the retarget pose, in which it stands on a floor at `floor_m`. Bones by `model_from_local`,
    /// house frame.
    pub fn of_pose(foot: &Transform, toe: Option<&Transform>, floor_m: f32) -> Self {
        let ankle = foot.translation;
        let ankle_m = ankle.y - floor_m;
        let to_ball = toe.map_or(Vec3::Z * (FOOT_PER_ANKLE * ankle_m.abs()), |toe| {
            toe.translation - ankle
        });
        let to_ball = Vec3::new(to_ball.x, 0.0, to_ball.z);
        let on_floor = |offset: Vec3| Vec3::new(ankle.x + offset.x, floor_m, ankle.z + offset.z);
        let in_foot = |point: Vec3| foot.rotation.conjugate() * (point - ankle);
        Self {
            heel: in_foot(on_floor(to_ball * -HEEL_SHARE)),
            ball: in_foot(on_floor(to_ball)),
            tip: toe.map(|toe| {
                let point = on_floor(to_ball * (1.0 + TOES_SHARE));
                toe.rotation.conjugate() * (point - toe.translation)
            }),
            ankle_m,
            toe_m: toe.map_or(0.0, |toe| toe.translation.y - floor_m),
        }
    }

    /// Heights of heel and ball of a foot over the floor, metres.
    pub fn heights(&self, foot: &Transform, floor_m: f32) -> [f32; 2] {
        [self.heel, self.ball].map(|p| (foot.translation + foot.rotation * p).y - floor_m)
    }

    /// Brings a foot, by `model_from_local`, out of a floor at `floor_m`. One that is not in it comes back as it is.
    pub fn fix(&self, foot: &Transform, floor_m: f32) -> FloorFix {
        let mut fixed = FloorFix {
            foot: *foot,
            lift_m: 0.0,
            pitch_rad: 0.0,
        };
        let [heel, ball] = self.heights(foot, floor_m);
        // Written so that NaN, too, leaves it alone.
        if heel.min(ball).min(0.0) >= 0.0 {
            return fixed;
        }
        let with_heel_up = ball + (-heel).max(0.0);
        if with_heel_up < 0.0 {
            let (turn, pitch) = raise(foot.rotation * self.ball, -with_heel_up, MAX_PITCH_RAD);
            fixed.foot.rotation = unit(turn * foot.rotation);
            fixed.pitch_rad = pitch;
        }
        let [heel, ball] = self.heights(&fixed.foot, floor_m);
        fixed.lift_m = (-heel.min(ball)).max(0.0);
        fixed.foot.translation.y += fixed.lift_m;
        fixed
    }

    /// The turn, `new = turn * old` for its rotation in model space, that bends a toe bone up until its tip is out of a floor
    /// at `floor_m`.
    pub fn bend_toes(&self, toe: &Transform, floor_m: f32) -> Quat {
        let Some(tip) = self.tip else {
            return Quat::IDENTITY;
        };
        let to_tip = toe.rotation * tip;
        let below = floor_m - (toe.translation + to_tip).y;
        if below.max(0.0) > 0.0 {
            raise(to_tip, below, MAX_TOES_RAD).0
        } else {
            Quat::IDENTITY
        }
    }
}

/// Turns `arm` in its vertical plane so that its end rises by `by`, or by as much as it can; with the angle.
fn raise(arm: Vec3, by: f32, max_rad: f32) -> (Quat, f32) {
    let length = arm.length();
    let flat = Vec3::new(arm.x, 0.0, arm.z);
    let Some(forward) = flat.try_normalize() else {
        return (Quat::IDENTITY, 0.0);
    };
    if length <= 0.0 || !by.is_finite() {
        return (Quat::IDENTITY, 0.0);
    }
    let was = (arm.y / length).clamp(-1.0, 1.0).asin();
    let is = ((arm.y + by) / length).clamp(-1.0, 1.0).asin();
    let angle = (is - was).clamp(0.0, max_rad);
    // A turn about +X takes +Z down; from forward to up it is about forward × up.
    (Quat::from_axis_angle(forward.cross(Vec3::Y), angle), angle)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Ankle 8 cm and ball 2 cm over the floor, 15 cm apart. The bones' own axes are turned, as those of rigs are.
    fn pose() -> (Transform, Transform) {
        let odd = Quat::from_rotation_z(0.7) * Quat::from_rotation_x(1.1);
        (
            Transform::new(Vec3::new(0.1, 0.08, 0.0), odd),
            Transform::new(Vec3::new(0.1, 0.02, 0.15), odd * odd),
        )
    }

    fn sole() -> Sole {
        let (foot, toe) = pose();
        Sole::of_pose(&foot, Some(&toe), 0.0)
    }

    /// The foot of the retarget pose, moved and turned in model space.
    fn foot(by: Vec3, turn: Quat) -> Transform {
        let (foot, _) = pose();
        Transform::new(foot.translation + by, turn * foot.rotation)
    }

    #[test]
    fn a_sole_is_where_the_retarget_pose_stands() {
        let sole = sole();
        assert!((sole.ankle_m - 0.08).abs() < 1e-6 && (sole.toe_m - 0.02).abs() < 1e-6);
        let (foot, toe) = pose();
        let heel = foot.translation + foot.rotation * sole.heel;
        assert!(heel.distance(Vec3::new(0.1, 0.0, -0.045)) < 1e-6, "{heel}");
        let ball = foot.translation + foot.rotation * sole.ball;
        assert!(ball.distance(Vec3::new(0.1, 0.0, 0.15)) < 1e-6, "{ball}");
        let tip = toe.translation + toe.rotation * sole.tip.unwrap();
        assert!(tip.distance(Vec3::new(0.1, 0.0, 0.225)) < 1e-6, "{tip}");
        let bare = Sole::of_pose(&foot, None, 0.0);
        let ball = foot.translation + foot.rotation * bare.ball;
        assert!(ball.distance(Vec3::new(0.1, 0.0, 0.144)) < 1e-6, "{ball}");
    }

    #[test]
    fn a_foot_that_is_too_low_is_lifted_and_keeps_its_angle() {
        let low = foot(Vec3::new(0.0, -0.03, 0.0), Quat::IDENTITY);
        let fixed = sole().fix(&low, 0.0);
        assert!((fixed.lift_m - 0.03).abs() < 1e-6 && fixed.pitch_rad < 1e-5);
        assert!((fixed.foot.translation.y - 0.08).abs() < 1e-6);
        // Over a floor that is lower it is not.
        let same = sole().fix(&low, -0.04);
        assert_eq!(same.foot, low);
        assert_eq!((same.lift_m, same.pitch_rad), (0.0, 0.0));
    }

    #[test]
    fn toes_that_poke_through_are_turned_up() {
        // Toes down by 20° with the ankle where it is: the ball goes through.
        let poked = foot(
            Vec3::new(0.0, 0.02, 0.0),
            Quat::from_rotation_x(20.0f32.to_radians()),
        );
        let [heel, ball] = sole().heights(&poked, 0.0);
        assert!(heel > 0.0 && ball < -0.02, "{heel} {ball}");
        let fixed = sole().fix(&poked, 0.0);
        let [heel, ball] = sole().heights(&fixed.foot, 0.0);
        assert!(ball.abs() < 1e-5 && heel > -1e-5, "{heel} {ball}");
        assert!(fixed.pitch_rad > 0.1 && fixed.lift_m < 1e-5);
        assert!(fixed.foot.translation.distance(poked.translation) < 1e-5);
        // It was turned back, about the same axis.
        let left = fixed.foot.rotation * foot(Vec3::ZERO, Quat::IDENTITY).rotation.conjugate();
        assert!(left.y.abs() < 1e-5 && left.z.abs() < 1e-5 && left.x > 0.0);
    }

    #[test]
    fn toes_bend_up_where_the_ball_is_on_the_floor() {
        let (_, toe) = pose();
        // Heel up by 30° about the ball: the toes point into the floor.
        let down = Transform::new(
            toe.translation,
            Quat::from_rotation_x(30.0f32.to_radians()) * toe.rotation,
        );
        let tip = sole().tip.unwrap();
        assert!((down.translation + down.rotation * tip).y < -0.02);
        let turn = sole().bend_toes(&down, 0.0);
        let at = down.translation + turn * down.rotation * tip;
        assert!(at.y.abs() < 1e-5, "{at}");
        assert_eq!(sole().bend_toes(&toe, -0.01), Quat::IDENTITY);
    }

    #[test]
    fn what_is_not_finite_comes_back() {
        let nan = foot(Vec3::splat(f32::NAN), Quat::IDENTITY);
        let fixed = sole().fix(&nan, 0.0);
        assert_eq!((fixed.lift_m, fixed.pitch_rad), (0.0, 0.0));
    }

    proptest! {
        #[test]
        fn no_foot_is_left_in_the_floor_and_none_is_lifted_for_nothing(
            y in -0.3f32..0.3,
            turn in prop::array::uniform3(-1.0f32..1.0),
            floor in -0.1f32..0.1,
        ) {
            let foot = foot(Vec3::new(0.0, y, 0.0), Quat::from_scaled_axis(Vec3::from_array(turn)));
            let [heel, ball] = sole().heights(&foot, floor);
            let fixed = sole().fix(&foot, floor);
            let [new_heel, new_ball] = sole().heights(&fixed.foot, floor);
            prop_assert!(new_heel > -1e-5 && new_ball > -1e-5, "{new_heel} {new_ball}");
            prop_assert!(fixed.foot.is_rigid());
            if heel.min(ball) > 0.0 {
                prop_assert_eq!(fixed.foot, foot);
            } else {
                prop_assert!(new_heel.min(new_ball) < 1e-5);
            }
            // Turning brings the heel, 9 cm from the ankle, down by a chord of 6.3 cm at most.
            prop_assert!(fixed.lift_m <= (-heel.min(ball)).max(0.0) + 0.064);
        }
    }
}
