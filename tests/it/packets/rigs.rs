//! NatNet, FreeD, PosiStageNet.

use glam::{EulerRot, Quat, Vec3};
use hub::{FrameBody, Tracking};
use sources::{
    freed::{self, CameraMessage},
    natnet, psn,
};

use super::{Seen, assert_near, decode, sample};

fn samples(names: &[&str]) -> Option<Vec<Vec<u8>>> {
    names.iter().map(|name| sample(name)).collect()
}

fn optitrack() -> natnet::NatNetDecoder {
    natnet::NatNetDecoder::new(natnet::Options::default())
}

fn assert_body(
    seen: &Seen,
    at: usize,
    name: &str,
    number: u64,
    position: [f32; 3],
    turn: [f32; 4],
) {
    let frame = &seen.frames[at];
    assert_eq!(frame.key.name.as_str(), name);
    assert_eq!(frame.meta.sequence, Some(number));
    assert_eq!(frame.meta.tracking, Tracking::Tracked);
    let body = frame.data.as_ref().unwrap().transforms()[0];
    let off = (body.translation - Vec3::from_array(position)).length();
    assert!(off < 1e-5, "{name} at {}", body.translation);
    let alike = body.rotation.dot(Quat::from_array(turn)).abs();
    assert!(alike > 0.999_99, "{name} turned {}", body.rotation);
}

#[test]
fn natnet_3_of_motive_2_1() {
    let Some(messages) = samples(&[
        "natnet/serverinfo_packet_v3.bin",
        "natnet/modeldef_packet_v3.bin",
        "natnet/mocapframe_packet_v3.bin",
        "natnet/mocapframe_packet_occluded_v3.bin",
        "natnet/connect_packet_v3.bin",
        "natnet/discovery_packet_v3.bin",
        "natnet/echorequest_packet_v3.bin",
        "natnet/echoresponse_packet_v3.bin",
        "natnet/requestmodeldef_packet_v3.bin",
    ]) else {
        return;
    };
    let seen = decode(&mut optitrack(), &messages);
    assert_eq!(seen.frames.len(), 2);
    assert_body(
        &seen,
        0,
        "RaceQuad",
        162_734,
        [0.17445, 1.44713, -0.73430],
        [-0.05459, 0.50995, 0.04370, -0.85736],
    );
    let time = seen.frames[0].meta.source_time.unwrap();
    assert!((time.as_secs_f64() - 1356.1167).abs() < 1e-4);
    // Of another session: its body was never defined here.
    assert_body(
        &seen,
        1,
        "RigidBody 7",
        269_007,
        [-0.154_131, 0.282_945, 0.470_664],
        [-0.000_334, -0.000_148, 0.005_249, -0.999_986],
    );
}

#[test]
fn natnet_2_5_2_7_and_2_9() {
    for (motive, id, frames) in [
        (
            "1.5.0",
            1,
            [
                (
                    92_881,
                    [-0.263_158, 0.039_127, 1.123_518],
                    [0.000_298, -0.001_479, 0.001_605, 0.999_998],
                ),
                (
                    92_882,
                    [-0.263_163, 0.039_135, 1.123_54],
                    [0.000_254, -0.001_673, 0.001_638, 0.999_997],
                ),
            ],
        ),
        (
            "1.7.2",
            1,
            [
                (
                    411_213,
                    [0.006_020, 0.095_808, -1.407_597],
                    [-0.000_206, -0.000_234, 0.000_056, 1.0],
                ),
                (
                    411_214,
                    [0.006_020, 0.095_807, -1.407_59],
                    [-0.000_034, -0.000_092, 0.000_016, 1.0],
                ),
            ],
        ),
        (
            "1.9.0",
            2,
            [
                (
                    11_823_217,
                    [0.245_339, 0.016_960, 0.220_160],
                    [0.001_915, -0.016_067, -0.000_287, -0.999_869],
                ),
                (
                    11_823_218,
                    [0.245_347, 0.016_954, 0.220_149],
                    [0.001_904, -0.016_032, -0.000_243, -0.999_870],
                ),
            ],
        ),
    ] {
        let names: [String; 3] =
            std::array::from_fn(|i| format!("natnet/frame-motive-{motive}-00{i}.bin"));
        let Some(messages) = samples(&names.each_ref().map(String::as_str)) else {
            return;
        };
        let seen = decode(&mut optitrack(), &messages);
        assert_eq!(seen.frames.len(), 2, "{motive}");
        for (at, (number, position, turn)) in frames.into_iter().enumerate() {
            let name = format!("RigidBody {id}");
            assert_body(&seen, at, &name, number, position, turn);
        }
    }
}

#[test]
fn freed_camera_heads() {
    for (file, camera, [pan, tilt, roll], [x, y, z], [zoom, focus]) in [
        (
            "freed/ptz_a.bin",
            0,
            [-65.0573_f64, 0.5620, 0.0],
            [0.0_f64, 0.0, 0.0],
            [16_384, 5377],
        ),
        (
            "freed/ptz_b.bin",
            0,
            [67.1941, -0.1595, 0.0],
            [0.0, 0.0, 0.0],
            [10_438, 5049],
        ),
        (
            "freed/assembled.bin",
            1,
            [-65.0625, 12.5, -0.25],
            [1000.5, -2500.25, 1600.0],
            [2048, 1024],
        ),
    ] {
        let Some(bytes) = sample(file) else {
            return;
        };
        // The message by itself: degrees, millimetres, counts.
        let message = CameraMessage::parse(&bytes, false).unwrap();
        assert_eq!(
            (message.camera, message.zoom, message.focus),
            (camera, zoom, focus)
        );
        for (found, expected) in message.angles_deg().into_iter().zip([pan, tilt, roll]) {
            assert!((found - expected).abs() < 5e-5, "{file}: {found}");
        }
        assert_eq!(message.position_mm(), [x, y, z]);
        // And in the house frame: their +Y is our −Z; pan + is to the right, a negative turn about +Y.
        let options = freed::Options::default();
        let seen = decode(&mut freed::FreedDecoder::new(options), &[bytes]);
        let name = format!("Camera {camera}");
        let FrameBody::Camera(frame) = seen.data(&name).body else {
            panic!("{file}: not a camera");
        };
        let (yaw, pitch, tip) = frame.transform.rotation.to_euler(EulerRot::YXZ);
        assert_near(file, yaw, -pan.to_radians(), 1e-5);
        assert_near(file, pitch, tilt.to_radians(), 1e-5);
        assert_near(file, tip, -roll.to_radians(), 1e-5);
        let [found_x, found_y, found_z] = frame.transform.translation.to_array();
        assert_near(file, found_x, x / 1000.0, 1e-6);
        assert_near(file, found_y, z / 1000.0, 1e-6);
        assert_near(file, found_z, -y / 1000.0, 1e-6);
        let full = f64::from((1u32 << 24) - 1);
        assert_near(
            file,
            seen.curve(&name, "zoom"),
            f64::from(zoom) / full,
            1e-7,
        );
        assert_near(
            file,
            seen.curve(&name, "focus"),
            f64::from(focus) / full,
            1e-7,
        );
    }
}

#[test]
fn psn_assembled_tracker() {
    let Some(messages) = samples(&["psn/assembled_info.bin", "psn/assembled_data.bin"]) else {
        return;
    };
    let mut decoder = psn::PsnDecoder::new(psn::Options::default());
    let seen = decode(&mut decoder, &messages);
    assert_eq!(seen.frames.len(), 1);
    let got = seen.last("Cam A");
    assert_eq!(got.key.source.as_str(), "psn/10.0.0.7/1");
    let at = seen.data("Cam A").transforms()[0];
    // Depth away from the audience is our −Z, and a mirror turns a turn about +Y round.
    let off = (at.translation - Vec3::new(1.5, 2.0, 3.25)).length();
    assert!(off < 1e-6, "{}", at.translation);
    let quarter = Quat::from_rotation_y(-std::f32::consts::FRAC_PI_2);
    assert!(
        at.rotation.dot(quarter).abs() > 0.999_999,
        "{}",
        at.rotation
    );
    assert_eq!(got.meta.tracking, Tracking::Tracked);
    // The header's microseconds.
    assert_eq!(got.meta.source_time.unwrap().as_nanos(), 1_234_567_000);
}
