//! A body in motion by VRM's bones, in the house frame.

use glam::Vec3;
use hub::Transform;
use retarget::{HumanBone, characterise::Characterisation, pose::RetargetPose};

/// Where the bones of a person are, by [`HumanBone::index`]: house frame, metres.
pub(super) type Pose = [Option<Transform>; HumanBone::COUNT];

/// A body as it stands in its retarget pose, on a floor at 0.
pub(super) struct Body {
    pub(super) rest: Pose,
    pub(super) hip_height_m: f32,
}

impl Body {
    pub(super) fn new(bones: &Characterisation, pose: &RetargetPose) -> Self {
        Self {
            rest: pose_of(bones, &pose.globals),
            hip_height_m: pose.hip_height(bones).unwrap_or(1.0),
        }
    }

    pub(super) fn has(&self, human: HumanBone) -> bool {
        self.rest[human.index()].is_some()
    }
}

fn pose_of(bones: &Characterisation, globals: &[Transform]) -> Pose {
    let mut pose = [None; HumanBone::COUNT];
    for human in HumanBone::ALL {
        pose[human.index()] = bones
            .bone(*human)
            .and_then(|bone| globals.get(bone))
            .copied();
    }
    pose
}

/// The pose that `model_from_local` of the rig's bones are.
pub(super) fn house_pose(bones: &Characterisation, globals: &[Transform]) -> Pose {
    pose_of(bones, globals).map(|bone| {
        bone.map(|t| Transform::new(bones.turn * t.translation, bones.turn * t.rotation))
    })
}

/// Where a bone is.
pub(super) fn place(pose: &Pose, human: HumanBone) -> Option<Vec3> {
    Some(pose[human.index()]?.translation)
}

/// The next bone above that the body has.
pub(super) fn above(pose: &Pose, human: HumanBone) -> Option<HumanBone> {
    let mut at = human;
    while at != HumanBone::Hips {
        at = at.parent();
        if pose[at.index()].is_some() {
            return Some(at);
        }
    }
    None
}

/// Left and right toes, or feet where there are none.
pub(super) fn toes(pose: &Pose) -> [Vec3; 2] {
    [
        (HumanBone::LeftToes, HumanBone::LeftFoot),
        (HumanBone::RightToes, HumanBone::RightFoot),
    ]
    .map(|(toes, foot)| {
        place(pose, toes)
            .or_else(|| place(pose, foot))
            .expect("a body that walks has feet")
    })
}

/// The lowest percentile of each foot's height, metres.
pub(super) fn lowest(frames: &[Pose]) -> [f32; 2] {
    [0, 1].map(|foot| {
        let mut heights: Vec<f32> = frames.iter().map(|pose| toes(pose)[foot].y).collect();
        heights.sort_by(f32::total_cmp);
        heights[heights.len() / 100]
    })
}

/// Which feet are planted: within 5 cm of their lowest percentile and slower than 0.3 m/s. The first is of frame 1.
pub(super) fn contacts(frames: &[Pose], dt_secs: f32) -> Vec<[bool; 2]> {
    let floor = lowest(frames);
    frames
        .windows(2)
        .map(|pair| {
            let (a, b) = (toes(&pair[0]), toes(&pair[1]));
            [0, 1].map(|foot| {
                let speed = (b[foot] - a[foot]).length() / dt_secs;
                speed < 0.3 && b[foot].y - floor[foot] < 0.05
            })
        })
        .collect()
}
