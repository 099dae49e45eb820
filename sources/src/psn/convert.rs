//! Their axes and clock → ours. The reasoning stands in the room's own page, [`super`].

use glam::{Quat, Vec3};
use hub::SourceTime;
use serde::{Deserialize, Serialize};

/// What the operator may tell about a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Turn rotations the other way: for servers whose rotation vectors follow the right-hand rule.
    pub invert_rotation: bool,
}

/// A position of theirs in metres: depth away from the audience becomes −Z.
pub(super) fn translation([x, y, z]: [f32; 3]) -> Vec3 {
    Vec3::new(x, y, -z)
}

/// A rotation vector of theirs as a rotation of ours.
pub(super) fn rotation([x, y, z]: [f32; 3], options: Options) -> Quat {
    // M·R(v)·M with M = diag(1, 1, −1) turns as far, about det(M)·M·v.
    let vector = Vec3::new(-x, -y, z);
    Quat::from_scaled_axis(if options.invert_rotation {
        -vector
    } else {
        vector
    })
}

/// Microseconds that the hub takes as a source time: 36 years.
const MAX_MICROS: u64 = (1 << 60) / 1000;
/// Unix time of 2020-01-01T00:00:00Z.
const UNIX_MICROS_2020: u64 = 1_577_836_800_000_000;

/// The header's timestamp as source time. Some servers send Unix time instead of the time since their start: it is
/// counted from 2020, to stay within the hub's bounds. `None` for 0, from servers without a clock, and beyond.
pub(super) fn source_time(micros: u64) -> Option<SourceTime> {
    let micros = micros.checked_sub(UNIX_MICROS_2020).unwrap_or(micros);
    (1..=MAX_MICROS)
        .contains(&micros)
        .then(|| SourceTime::from_nanos(micros as i64 * 1000))
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_PI_2;

    use super::*;

    /// Rodrigues' formula in their own coordinates, written out.
    fn turned(axis_angle: [f32; 3], v: [f32; 3]) -> [f32; 3] {
        let angle = axis_angle.iter().map(|c| c * c).sum::<f32>().sqrt();
        let k = axis_angle.map(|c| c / angle);
        let (s, c) = angle.sin_cos();
        let dot = k[0] * v[0] + k[1] * v[1] + k[2] * v[2];
        let cross = [
            k[1] * v[2] - k[2] * v[1],
            k[2] * v[0] - k[0] * v[2],
            k[0] * v[1] - k[1] * v[0],
        ];
        std::array::from_fn(|i| v[i] * c + cross[i] * s + k[i] * dot * (1.0 - c))
    }

    #[test]
    fn turning_then_mirroring_is_mirroring_then_turning() {
        for axis_angle in [
            [0.3, 0.0, 0.0],
            [0.0, -1.2, 0.0],
            [0.0, 0.0, 2.0],
            [1.0, -2.0, 0.5],
        ] {
            for v in [
                [1.0, 0.0, 0.0],
                [0.0, 1.0, 0.0],
                [0.0, 0.0, 1.0],
                [1.0, 2.0, 3.0],
            ] {
                let want = translation(turned(axis_angle, v));
                let found = rotation(axis_angle, Options::default()) * translation(v);
                assert!((want - found).length() < 1e-5, "{axis_angle:?} {v:?}");
            }
        }
        assert_eq!(rotation([0.0; 3], Options::default()), Quat::IDENTITY);
    }

    #[test]
    fn known_poses_stand_where_they_should() {
        // Stage right as the audience sees it, up, and upstage.
        assert_eq!(translation([1.5, 2.0, 3.0]), Vec3::new(1.5, 2.0, -3.0));
        // A quarter turn about up takes their depth to their right: ours −Z to +X.
        let quarter = rotation([0.0, FRAC_PI_2, 0.0], Options::default());
        assert!((quarter * Vec3::NEG_Z - Vec3::X).length() < 1e-6);
        let inverted = Options {
            invert_rotation: true,
        };
        let quarter = rotation([0.0, FRAC_PI_2, 0.0], inverted);
        assert!((quarter * Vec3::NEG_Z + Vec3::X).length() < 1e-6);
    }

    #[test]
    fn timestamps_stay_within_what_the_hub_takes() {
        let nanos = |micros| source_time(micros).map(SourceTime::as_nanos);
        assert_eq!(nanos(1_234_567), Some(1_234_567_000));
        assert_eq!(nanos(UNIX_MICROS_2020 + 5), Some(5000));
        for none in [0, MAX_MICROS + 1, u64::MAX] {
            assert_eq!(nanos(none), None);
        }
    }
}
