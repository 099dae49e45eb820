//! Their numbers → ours: bone names, rest, clocks. The axes are the house frame already.

use glam::{Quat, Vec3};
use hub::{Skeleton, SourceTime, StaticData, Transform};
use serde::{Deserialize, Serialize};

use super::packet::{Bone, Motion};

/// What the operator may tell about a sender.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Name of the subject, since the packets carry none; `mocopi` when absent or empty.
    pub subject: Option<String>,
}

/// Bones of a mocopi skeleton.
pub const NUM_BONES: usize = 27;

/// Their names, by bone id (Sony's technical page; the app's BVH export uses the same).
pub const BONE_NAMES: [&str; NUM_BONES] = [
    "root",
    "torso_1",
    "torso_2",
    "torso_3",
    "torso_4",
    "torso_5",
    "torso_6",
    "torso_7",
    "neck_1",
    "neck_2",
    "head",
    "l_shoulder",
    "l_up_arm",
    "l_low_arm",
    "l_hand",
    "r_shoulder",
    "r_up_arm",
    "r_low_arm",
    "r_hand",
    "l_up_leg",
    "l_low_leg",
    "l_foot",
    "l_toes",
    "r_up_leg",
    "r_low_leg",
    "r_foot",
    "r_toes",
];

/// The parent of each of the 27 bones, by bone id: the one before it, except that both shoulders hang on
/// `torso_7`, both legs on `root`, and `root` on nothing (as every `skdf` seen says).
pub fn parent_of(id: u16) -> Option<u16> {
    match id {
        11 | 15 => Some(7),
        19 | 23 => Some(0),
        _ => id.checked_sub(1),
    }
}

/// Unix time of the zero of our source time for `uttm`: 2020-01-01T00:00:00Z. The hub takes source times up to
/// 36 years from zero, and Unix time in nanoseconds is beyond.
pub const UNIX_SECS_OF_ZERO: f64 = 1_577_836_800.0;

/// Latest `uttm` believed, in seconds after [`UNIX_SECS_OF_ZERO`]: the year 2051.
const MAX_UNIX_SECS: f64 = 1.0e9;
/// Latest `time` believed: a year of seconds.
const MAX_TIME_SECS: f32 = 3.2e7;

/// `uttm` as source time; `None` from a clock that was never set.
pub(super) fn unix_time(motion: &Motion) -> Option<SourceTime> {
    let secs = motion.unix_secs? - UNIX_SECS_OF_ZERO;
    (0.0..=MAX_UNIX_SECS)
        .contains(&secs)
        .then(|| SourceTime::from_secs_f64(secs))
}

/// `time` as source time. An integer in its place, as older readers had it, is a subnormal f32: no time.
pub(super) fn short_time(motion: &Motion) -> Option<SourceTime> {
    let secs = motion.time_secs;
    let is_time = secs == 0.0 || (secs.is_normal() && (0.0..=MAX_TIME_SECS).contains(&secs));
    is_time.then(|| SourceTime::from_secs_f64(f64::from(secs)))
}

/// The local transform; `None` when the rotation is none (squared length outside 0.25..=4).
pub(super) fn transform(bone: &Bone) -> Option<Transform> {
    let rotation = Quat::from_array(bone.rotation);
    let length_squared = rotation.length_squared();
    (0.25..=4.0).contains(&length_squared).then(|| {
        Transform::new(
            Vec3::from_array(bone.translation),
            rotation * length_squared.sqrt().recip(),
        )
    })
}

/// The skeleton of `bones`, which stand parents before children; without rest when `with_rest` is false.
pub(super) fn static_data(bones: &[Bone], with_rest: bool) -> StaticData {
    let place = |id: u16| bones.iter().position(|b| b.id == id).map(|p| p as u32);
    let name = |id: u16| {
        let known = BONE_NAMES.get(usize::from(id));
        known.map_or_else(|| format!("bone_{id}"), |name| (*name).to_owned())
    };
    StaticData::animation(Skeleton {
        bone_names: bones.iter().map(|b| name(b.id)).collect(),
        parents: bones.iter().map(|b| b.parent.and_then(place)).collect(),
        rest: if with_rest {
            let rest = |b: &Bone| transform(b).unwrap_or_default();
            bones.iter().map(rest).collect()
        } else {
            Vec::new()
        },
    })
}

/// The bones of the table above, before any `skdf`.
pub(super) fn default_bones() -> Vec<Bone> {
    (0..NUM_BONES as u16)
        .map(|id| Bone {
            id,
            parent: parent_of(id),
            rotation: [0.0, 0.0, 0.0, 1.0],
            translation: [0.0; 3],
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn motion(time_secs: f32, unix_secs: Option<f64>) -> Motion {
        Motion {
            time_secs,
            unix_secs,
            ..Motion::default()
        }
    }

    #[test]
    fn times_are_believed_within_reason() {
        let unix = |secs| unix_time(&motion(0.0, secs));
        assert_eq!(
            unix(Some(UNIX_SECS_OF_ZERO + 2.5)),
            Some(SourceTime::from_nanos(2_500_000_000))
        );
        for bad in [
            None,
            Some(0.0),
            Some(f64::NAN),
            Some(f64::INFINITY),
            Some(1e18),
        ] {
            assert_eq!(unix(bad), None, "{bad:?}");
        }
        let short = |secs| short_time(&motion(secs, None));
        assert_eq!(short(0.5), Some(SourceTime::from_nanos(500_000_000)));
        assert_eq!(short(0.0), Some(SourceTime::from_nanos(0)));
        for bad in [f32::NAN, f32::INFINITY, -1.0, 1e9, f32::from_bits(17_000)] {
            assert_eq!(short(bad), None, "{bad}");
        }
    }

    #[test]
    fn the_table_is_a_tree_of_known_joints() {
        let data = static_data(&default_bones(), false);
        assert_eq!(data.validate(), Ok(()));
        let skeleton = data.skeleton().unwrap();
        let parent = |name: &str| {
            let at = BONE_NAMES.iter().position(|n| *n == name).unwrap();
            skeleton.parents[at].map(|p| BONE_NAMES[p as usize])
        };
        assert_eq!(parent("root"), None);
        assert_eq!(parent("torso_1"), Some("root"));
        assert_eq!(parent("neck_1"), Some("torso_7"));
        assert_eq!(parent("l_shoulder"), Some("torso_7"));
        assert_eq!(parent("r_shoulder"), Some("torso_7"));
        assert_eq!(parent("r_hand"), Some("r_low_arm"));
        assert_eq!(parent("l_up_leg"), Some("root"));
        assert_eq!(parent("r_up_leg"), Some("root"));
        assert_eq!(parent("r_toes"), Some("r_foot"));
        assert!(skeleton.rest.is_empty());
    }
}
