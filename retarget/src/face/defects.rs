//! What users of other tools have reported of faces, where no other test says it already.

use glam::Vec3;

use super::*;
use crate::{FaceJoints, FaceRig, Side};

/// Lids of two eyes 6 cm apart, ten points each, and how far a morph moves them, metres.
fn lids(left: f32, right: f32) -> Vec<(Vec3, Vec3)> {
    let mut points = Vec::new();
    for (side, by) in [(1.0f32, left), (-1.0, right)] {
        for place in 0..10 {
            let at = Vec3::new(side * (0.02 + 0.002 * place as f32), 1.6, 0.08);
            points.push((at, Vec3::NEG_Y * by));
        }
    }
    points
}

#[test]
fn a_wink_that_closes_both_eyes_is_told() {
    // VMagicMirror 624: a clip named Blink_L that closes both.
    assert_eq!(moved_sides(lids(0.01, 0.01)), [0.5, 0.5]);
    let fault = side_fault("Blink_L", moved_sides(lids(0.01, 0.01))).unwrap();
    assert_eq!((fault.says, fault.other_share), (Side::Left, 0.5));
    let text = fault.to_string();
    assert!(text.contains("Blink_L") && text.contains("50 %") && text.contains("right"));
    // One that is named for the other eye.
    let fault = side_fault("eyeBlinkRight", moved_sides(lids(0.01, 0.0))).unwrap();
    assert_eq!((fault.says, fault.other_share), (Side::Right, 1.0));
    // A tenth of it beyond the nose is skin that hangs together.
    assert_eq!(side_fault("Blink_L", moved_sides(lids(0.01, 0.001))), None);
    // Both lids are what a blink without a side is for, and a jaw moves all of a mouth to a side.
    for name in ["Blink", "jawLeft", "mouthRight", "まばたき"] {
        assert_eq!(side_fault(name, [0.5, 0.5]), None, "{name}");
    }
    // What moves nothing, or nonsense, says nothing.
    assert_eq!(moved_sides(lids(0.0, 0.0)), [0.0, 0.0]);
    let broken = [(Vec3::NAN, Vec3::ONE), (Vec3::ONE, Vec3::splat(f32::NAN))];
    assert_eq!(moved_sides(broken), [0.0, 0.0]);
}

#[test]
fn a_nod_is_no_shake() {
    // Face_Landmark_Link 8: yaw and pitch swapped on the way. Places as on the wire: yaw, pitch, roll after 52 curves.
    let rig = FaceRig::build(&hub::arkit::CURVES, &[]);
    let bones = FaceBones::build(&ready_bones(EyeDrive::Rotations), &hub::arkit::CURVES).unwrap();
    let (neck, head) = (
        bones.index_of("neck").unwrap(),
        bones.index_of("head").unwrap(),
    );
    let (sin, cos) = 0.3f32.sin_cos();
    for (place, ahead, up) in [
        // To the subject's right, which is −X.
        (52, Vec3::new(-sin, 0.0, cos), Vec3::Y),
        // Down.
        (53, Vec3::new(0.0, -sin, cos), Vec3::new(0.0, cos, sin)),
        // To the left shoulder.
        (54, Vec3::Z, Vec3::new(sin, cos, 0.0)),
    ] {
        let mut values = [0.0; 61];
        values[place] = 0.3;
        let mut joints = FaceJoints::default();
        rig.evaluate(&values, &mut [], &mut joints);
        let mut out = vec![hub::Transform::IDENTITY; bones.names().len()];
        bones.evaluate(&values, 1.0, &mut out);
        for turn in [
            joints.neck * joints.head,
            out[neck].rotation * out[head].rotation,
        ] {
            assert!((turn * Vec3::Z).abs_diff_eq(ahead, 1e-5), "{place}");
            assert!((turn * Vec3::Y).abs_diff_eq(up, 1e-5), "{place}");
        }
    }
}
