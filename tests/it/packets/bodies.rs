//! VMC, mocopi, Rokoko, Xsens.

use glam::{Quat, Vec3};
use hub::{Tracking, Transform};
use sources::{mocopi, rokoko, vmc, xsens};

use super::{assert_near, decode, sample};

fn assert_pose(what: &str, found: &Transform, position: Vec3, rotation: Quat) {
    let off = (found.translation - position).length();
    // A rotation and its negative are one.
    let turned = 1.0 - found.rotation.dot(rotation).abs();
    assert!(
        off < 1e-5 && turned < 1e-6,
        "{what}: expected {position} {rotation}, found {found:?}"
    );
}

#[test]
fn vmc_assembled_bundle() {
    let Some(bytes) = sample("vmc/assembled_bundle.bin") else {
        return;
    };
    assert_eq!(bytes.len(), 292);
    let mut decoder = vmc::VmcDecoder::new(vmc::Options::default());
    let seen = decode(&mut decoder, &[bytes]);
    assert_eq!(decoder.ignored(), 0);
    let name = "VMC";
    let quarter = Quat::from_rotation_y(-std::f32::consts::FRAC_PI_2);
    let hips = seen.bone(name, "Hips");
    // A quarter turn about Unity's +Y goes to the figure's right; in our frame that is a negative one.
    assert_pose("Hips", &hips, Vec3::new(0.0, 0.95, 0.0), quarter);
    let root = seen.bone(name, "root");
    assert_pose("root", &root, Vec3::ZERO, Quat::IDENTITY);
    assert_near("Joy", seen.curve(name, "Joy"), 0.25, 0.0);
    let meta = &seen.last(name).meta;
    assert_eq!(meta.source_time.unwrap().as_nanos(), 12_500_000_000);
    assert_eq!(meta.tracking, Tracking::Tracked);
}

#[test]
fn mocopi_skeleton_and_frame() {
    let (Some(skdf), Some(fram)) = (
        sample("mocopi/sample_skdf.bin"),
        sample("mocopi/sample_fram.bin"),
    ) else {
        return;
    };
    let options = mocopi::Options::default();
    let seen = decode(&mut mocopi::MocopiDecoder::new(options), &[skdf, fram]);
    let name = "mocopi";
    let skeleton = seen.statics(name).skeleton().unwrap();
    assert_eq!(skeleton.num_bones(), 27);
    let root = Vec3::new(0.0, 0.9329, 0.0);
    assert!((skeleton.rest[0].translation - root).length() < 5e-5);
    assert!((seen.bone(name, "root").translation - root).length() < 5e-5);
    let meta = &seen.last(name).meta;
    assert_eq!(meta.sequence, Some(1));
    // Unix time 1703810998.551, counted from the start of 2020.
    let secs = meta.source_time.unwrap().as_secs_f64();
    assert!((secs - (1_703_810_998.551 - 1_577_836_800.0)).abs() < 1e-3);
}

#[test]
fn rokoko_assembled_text_and_the_same_in_lz4() {
    for file in ["assembled_v3_partial.json", "assembled_v3_partial.json.lz4"] {
        let Some(bytes) = sample(&format!("rokoko/{file}")) else {
            return;
        };
        let mut decoder = rokoko::RokokoDecoder::new(rokoko::Options::default());
        let seen = decode(&mut decoder, &[bytes]);
        let hip = seen.bone("Actor A", "hip");
        // Studio's x points to the performer's right.
        let position = Vec3::new(-0.01, 0.95, -0.2);
        assert_pose(file, &hip, position, Quat::IDENTITY);
        let face = "Actor A face";
        assert_near(file, seen.curve(face, "jawOpen"), 0.42, 1e-6);
        assert_near(file, seen.curve(face, "eyeBlinkLeft"), 1.0, 1e-6);
        let time = seen.last("Actor A").meta.source_time.unwrap();
        assert_eq!(time.as_nanos(), 12_340_000_000);
    }
}

#[test]
fn xsens_assembled_quaternions() {
    let Some(bytes) = sample("xsens/assembled_mxtp02.bin") else {
        return;
    };
    assert_eq!(bytes.len(), 760);
    let mut decoder = xsens::XsensDecoder::new(xsens::Options::default());
    let seen = decode(&mut decoder, &[bytes]);
    let name = "Xsens 0";
    let skeleton = seen.statics(name).skeleton().unwrap();
    assert_eq!(skeleton.num_bones(), 23);
    let bones = seen.data(name).transforms();
    // Theirs is +Z up: the pelvis at (0, 0, 0.95), the segment above it at (0, 0, 1.01) of the room.
    assert_pose(
        "pelvis",
        &bones[0],
        Vec3::new(0.0, 0.95, 0.0),
        Quat::IDENTITY,
    );
    assert_pose(
        "above",
        &bones[1],
        Vec3::new(0.0, 0.06, 0.0),
        Quat::IDENTITY,
    );
    for bone in bones {
        assert!(bone.rotation.dot(Quat::IDENTITY).abs() > 0.999_999);
    }
    let meta = &seen.last(name).meta;
    assert_eq!(meta.sequence, Some(1000));
    assert_eq!(meta.source_time.unwrap().as_nanos(), 16_667_000_000);
}
