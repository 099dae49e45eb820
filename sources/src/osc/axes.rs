//! Axes of programs that send poses → the house frame.
//!
//! | [`Axes`] | handed | forward | up | left | unit |
//! |---|---|---|---|---|---|
//! | `house` | right | +Z | +Y | +X | metre |
//! | `unity` | left | +Z | +Y | −X | metre |
//! | `unreal` | left | +X | +Z | −Y | centimetre |
//! | `blender` | right | −Y | +Z | +X | metre |
//!
//! A point p becomes M p, with M from the table. A rotation R becomes M R M⁻¹: about the axis det(M)·M a by
//! the same angle, so the vector part v of a quaternion becomes det(M)·M v, and w stays.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

/// Whose axes positions and rotations are in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Axes {
    /// Ours: right-handed, +Y up, forward is +Z; metres.
    #[default]
    House,
    /// Unity's: left-handed, +Y up, forward is +Z; metres.
    Unity,
    /// Unreal's: left-handed, +Z up, forward is +X; centimetres. Angles are those of a rotator: roll about X
    /// (+ tilts to the right), pitch about Y (+ looks up), yaw about Z (+ to the right).
    Unreal,
    /// Blender's: right-handed, +Z up, a figure faces −Y; metres.
    Blender,
}

/// How three angles make a rotation: matrices from left to right, so the last letter turns first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum EulerOrder {
    /// X · Y · Z.
    Xyz,
    /// X · Z · Y.
    Xzy,
    /// Y · X · Z: Unity's angles.
    #[default]
    Yxz,
    /// Y · Z · X.
    Yzx,
    /// Z · X · Y.
    Zxy,
    /// Z · Y · X: Unreal's rotators, and what Blender calls XYZ.
    Zyx,
}

impl Axes {
    /// Metres of its usual unit.
    pub(super) fn metres_per_unit(self) -> f32 {
        match self {
            Self::Unreal => 0.01,
            Self::House | Self::Unity | Self::Blender => 1.0,
        }
    }

    /// A point in the house frame, in the unit it came in.
    pub(super) fn point(self, [x, y, z]: [f32; 3]) -> Vec3 {
        match self {
            Self::House => Vec3::new(x, y, z),
            Self::Unity => Vec3::new(-x, y, z),
            Self::Unreal => Vec3::new(-y, z, x),
            Self::Blender => Vec3::new(x, z, -y),
        }
    }

    /// A rotation x, y, z, w in the house frame, not yet judged.
    pub(super) fn quaternion(self, [x, y, z, w]: [f32; 4]) -> Quat {
        let vector = self.point([x, y, z]);
        let vector = match self {
            // Left-handed: det(M) is −1.
            Self::Unity | Self::Unreal => -vector,
            Self::House | Self::Blender => vector,
        };
        Quat::from_xyzw(vector.x, vector.y, vector.z, w)
    }

    /// The rotation that angles about x, y and z make, in degrees, in the house frame.
    pub(super) fn euler(self, degrees: [f32; 3], order: EulerOrder) -> Quat {
        let [x, y, z] = degrees.map(f32::to_radians);
        let (x, y) = match self {
            // Roll and pitch of a rotator turn against the sense of the other axes' angles.
            Self::Unreal => (-x, -y),
            Self::House | Self::Unity | Self::Blender => (x, y),
        };
        let x = Quat::from_rotation_x(x);
        let y = Quat::from_rotation_y(y);
        let z = Quat::from_rotation_z(z);
        let turned = match order {
            EulerOrder::Xyz => x * y * z,
            EulerOrder::Xzy => x * z * y,
            EulerOrder::Yxz => y * x * z,
            EulerOrder::Yzx => y * z * x,
            EulerOrder::Zxy => z * x * y,
            EulerOrder::Zyx => z * y * x,
        };
        self.quaternion(turned.to_array())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: f32 = std::f32::consts::FRAC_1_SQRT_2;
    const LEFT: Vec3 = Vec3::X;
    const UP: Vec3 = Vec3::Y;
    const FORWARD: Vec3 = Vec3::Z;

    fn check(found: Vec3, expected: Vec3) {
        assert!(
            (found - expected).length() < 1e-6,
            "{found} is not {expected}"
        );
    }

    #[test]
    fn forward_up_and_left_stay_so() {
        for (axes, forward, up, left) in [
            (
                Axes::House,
                [0.0, 0.0, 1.0],
                [0.0, 1.0, 0.0],
                [1.0, 0.0, 0.0],
            ),
            (
                Axes::Unity,
                [0.0, 0.0, 1.0],
                [0.0, 1.0, 0.0],
                [-1.0, 0.0, 0.0],
            ),
            (
                Axes::Unreal,
                [1.0, 0.0, 0.0],
                [0.0, 0.0, 1.0],
                [0.0, -1.0, 0.0],
            ),
            (
                Axes::Blender,
                [0.0, -1.0, 0.0],
                [0.0, 0.0, 1.0],
                [1.0, 0.0, 0.0],
            ),
        ] {
            assert_eq!(axes.point(forward), FORWARD, "{axes:?}");
            assert_eq!(axes.point(up), UP, "{axes:?}");
            assert_eq!(axes.point(left), LEFT, "{axes:?}");
        }
    }

    /// A quarter turn to the figure's left, in each program's own numbers. By the formula of the quaternion a
    /// turn by + about an axis takes the next axis to the one after: about Y, Z to X; about Z, X to Y.
    #[test]
    fn a_turn_to_the_left_is_one() {
        for (axes, quaternion) in [
            (Axes::House, [0.0, S, 0.0, S]),
            // +Z to −X.
            (Axes::Unity, [0.0, -S, 0.0, S]),
            // +X to −Y.
            (Axes::Unreal, [0.0, 0.0, -S, S]),
            // −Y to +X.
            (Axes::Blender, [0.0, 0.0, S, S]),
        ] {
            let turned = axes.quaternion(quaternion);
            check(turned * FORWARD, LEFT);
            check(turned * UP, UP);
        }
    }

    #[test]
    fn a_nod_down_is_one() {
        for (axes, quaternion) in [
            // About X, Y to Z and Z to −Y.
            (Axes::House, [S, 0.0, 0.0, S]),
            (Axes::Unity, [S, 0.0, 0.0, S]),
            // About Y, X to −Z.
            (Axes::Unreal, [0.0, S, 0.0, S]),
            // About X, −Y to −Z.
            (Axes::Blender, [S, 0.0, 0.0, S]),
        ] {
            let turned = axes.quaternion(quaternion);
            check(turned * FORWARD, -UP);
            check(turned * LEFT, LEFT);
        }
    }

    #[test]
    fn angles_turn_as_their_program_says() {
        let quarter = |axes: Axes, degrees| axes.euler(degrees, EulerOrder::Zyx);
        // Unity: + about Y to the right, + about X down.
        check(quarter(Axes::Unity, [0.0, 90.0, 0.0]) * FORWARD, -LEFT);
        check(quarter(Axes::Unity, [90.0, 0.0, 0.0]) * FORWARD, -UP);
        // A rotator: yaw + to the right, pitch + up, roll + tilts to the right: the left side rises.
        check(quarter(Axes::Unreal, [0.0, 0.0, 90.0]) * FORWARD, -LEFT);
        check(quarter(Axes::Unreal, [0.0, 90.0, 0.0]) * FORWARD, UP);
        check(quarter(Axes::Unreal, [90.0, 0.0, 0.0]) * LEFT, UP);
        // Blender: + about Z to the left.
        check(quarter(Axes::Blender, [0.0, 0.0, 90.0]) * FORWARD, LEFT);
    }

    #[test]
    fn the_last_letter_turns_first() {
        // Z first: the left goes up. Then X: up goes forward. Y, first of the letters, takes forward to left.
        let turned = Axes::House.euler([90.0, 90.0, 90.0], EulerOrder::Yxz);
        check(turned * LEFT, LEFT);
        // X first: left stays. Then Y: left goes to the back. Z leaves that alone.
        let turned = Axes::House.euler([90.0, 90.0, 90.0], EulerOrder::Zyx);
        check(turned * LEFT, -FORWARD);
    }

    #[test]
    fn the_words_of_the_stage_file_are_those_of_the_table() {
        for (text, axes) in [("\"unity\"", Axes::Unity), ("\"house\"", Axes::House)] {
            assert_eq!(serde_json::from_str::<Axes>(text).unwrap(), axes);
        }
        let order: EulerOrder = serde_json::from_str("\"ZXY\"").unwrap();
        assert_eq!(order, EulerOrder::Zxy);
        assert!(serde_json::from_str::<EulerOrder>("\"XYX\"").is_err());
    }
}
