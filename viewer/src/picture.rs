//! What pictures of a character need to know of it: where its face is, what darkens the floor.

use drive::Double;
use glam::{Mat4, Quat, Vec3};
use hub::CameraFrame;
use render::{Camera, Placement, shading::Occluder};
use retarget::HumanBone;

/// Angle from the upper to the lower edge of a camera that does not tell its own.
const USUAL_FOV_RAD: f32 = 0.5;
/// Width over height of one that does not tell it.
const USUAL_ASPECT: f32 = 16.0 / 9.0;
/// What darkens the floor: ends, radius in metres, strength.
const LIMBS: [(HumanBone, HumanBone, f32, f32); 7] = [
    (HumanBone::LeftFoot, HumanBone::LeftToes, 0.06, 0.9),
    (HumanBone::RightFoot, HumanBone::RightToes, 0.06, 0.9),
    (HumanBone::LeftLowerLeg, HumanBone::LeftFoot, 0.07, 0.8),
    (HumanBone::RightLowerLeg, HumanBone::RightFoot, 0.07, 0.8),
    (HumanBone::LeftUpperLeg, HumanBone::LeftLowerLeg, 0.09, 0.7),
    (
        HumanBone::RightUpperLeg,
        HumanBone::RightLowerLeg,
        0.09,
        0.7,
    ),
    (HumanBone::Hips, HumanBone::Spine, 0.17, 0.7),
];

/// `world_from_local` of a bone of a person, in the last frame.
pub fn bone(double: &Double, human: HumanBone) -> Option<Mat4> {
    let figure = double.figure();
    let node = figure.nodes().get(figure.bones().bone(human)?)?;
    let place = double.place();
    let world = Mat4::from_rotation_translation(place.rotation, place.translation);
    Some(world * *double.globals().get(*node)?)
}

fn at(double: &Double, human: HumanBone) -> Option<Vec3> {
    bone(double, human).map(|m| m.w_axis.truncate())
}

/// Where the joints of the rig are, in the last frame, in the rig's order.
pub fn joints(double: &Double) -> Vec<Vec3> {
    let place = double.place();
    let world = Mat4::from_rotation_translation(place.rotation, place.translation);
    double
        .figure()
        .nodes()
        .iter()
        .filter_map(|node| double.globals().get(*node))
        .map(|global| world.transform_point3(global.w_axis.truncate()))
        .collect()
}

/// The middle of the face: between the eyes and the chin; a guess above the head's joint where there are no eyes.
pub fn face_center(double: &Double) -> Vec3 {
    let eyes = at(double, HumanBone::LeftEye)
        .zip(at(double, HumanBone::RightEye))
        .map(|(l, r)| (l + r) * 0.5);
    let head = at(double, HumanBone::Head);
    match (eyes, head) {
        (Some(eyes), _) => eyes - Vec3::Y * 0.03,
        (None, Some(head)) => head + Vec3::new(0.0, 0.08, 0.05),
        (None, None) => Vec3::new(0.0, 1.5, 0.0),
    }
}

/// Capsules over the floor by which it darkens.
pub fn occluders<'a>(doubles: impl Iterator<Item = &'a Double>) -> Vec<Occluder> {
    let mut all = Vec::new();
    for double in doubles {
        for (from, to, radius, strength) in LIMBS {
            if let Some(from) = at(double, from) {
                let to = at(double, to).unwrap_or(from + Vec3::new(0.0, 0.0, 0.1));
                all.push(Occluder {
                    from,
                    to,
                    radius,
                    strength,
                });
            }
        }
    }
    all.truncate(render::shading::MAX_OCCLUDERS);
    all
}

/// A camera of a subject, standing in `place`.
pub fn camera_of(frame: &CameraFrame, place: Placement) -> Camera {
    let aspect = frame
        .aspect_ratio
        .filter(|a| *a > 0.1)
        .unwrap_or(USUAL_ASPECT);
    let fov = frame.field_of_view_rad.map_or(USUAL_FOV_RAD, |across| {
        // Told from side to side.
        2.0 * ((across.clamp(0.01, 3.0) * 0.5).tan() / aspect).atan()
    });
    let rotation: Quat = place.rotation * frame.transform.rotation;
    Camera {
        world_from_camera: Placement {
            position: place.position + place.rotation * frame.transform.translation,
            rotation,
        },
        vertical_fov_rad: fov.clamp(0.02, 3.0),
        ..Camera::default()
    }
}
