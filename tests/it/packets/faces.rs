//! Live Link Face, iFacialMocap, VTube Studio, OpenSeeFace.

use std::process::Command;

use hub::{FrameRate, Tracking};
use sources::{
    Decoder as _, Reject, ifacialmocap,
    livelinkface::{self, CsvTake, LiveLinkFaceDecoder},
    openseeface, vtubestudio,
};

use super::{assert_near, decode, feed, peer, protocols, sample, text};

const PHONE: &str = "Sample_iPhone";

fn phone() -> LiveLinkFaceDecoder {
    LiveLinkFaceDecoder::new(livelinkface::Options::default())
}

#[test]
fn live_link_face_packets_of_a_phone() {
    let (Some(face), Some(no_face)) = (
        sample("livelinkface/packet_face_319.bin"),
        sample("livelinkface/packet_noface_74.bin"),
    ) else {
        return;
    };
    let seen = decode(&mut phone(), &[face]);
    let time = seen.last(PHONE).meta.timecode.unwrap();
    assert_eq!((time.frame, time.rate), (1_095_835, FrameRate::FPS_60));
    assert_near("sub-frame", time.sub_frame, 0.345_303, 1e-6);
    assert_eq!(seen.last(PHONE).meta.tracking, Tracking::Tracked);
    assert_eq!(seen.data(PHONE).properties.len(), 61);
    for (curve, expected) in [
        ("EyeBlinkLeft", 0.24443),
        ("JawOpen", 0.10871),
        ("HeadPitch", 0.22125),
    ] {
        assert_near(curve, seen.curve(PHONE, curve), expected, 5e-6);
    }
    let seen = decode(&mut phone(), &[no_face]);
    let last = seen.last(PHONE);
    assert_eq!(last.meta.tracking, Tracking::Lost);
    assert!(last.data.is_none());
    assert_eq!(last.meta.timecode.unwrap().frame, 1_096_394);
}

#[test]
fn live_link_face_stream_of_a_phone() {
    let (Some(stream), Some(index)) = (
        sample("livelinkface/udp_v6_excerpt.bin"),
        text("livelinkface/udp_v6_excerpt.index.txt"),
    ) else {
        return;
    };
    let rows: Vec<Vec<&str>> = index
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let number = |row: &[&str], at: usize| row[at].parse::<usize>().unwrap();
    let datagrams: Vec<Vec<u8>> = rows
        .iter()
        .map(|row| {
            let from = number(row, 0);
            stream[from..from + number(row, 1)].to_vec()
        })
        .collect();
    let seen = decode(&mut phone(), &datagrams);
    assert_eq!((seen.frames.len(), rows.len()), (39, 39));
    for (frame, row) in seen.frames.iter().zip(&rows) {
        let time = frame.meta.timecode.unwrap();
        assert_eq!(time.frame, number(row, 2) as i64);
        assert_near("sub-frame", time.sub_frame, row[3].parse().unwrap(), 1e-7);
        assert_eq!(time.rate, FrameRate::FPS_60);
        assert_eq!(frame.data.is_some(), row[6] == "1");
    }
    let faces = seen.frames.iter().filter(|f| f.data.is_some()).count();
    assert_eq!(faces, 32);
}

/// Unpacked by `gzip`, since nothing else here needs such a library.
#[test]
fn live_link_face_packets_of_an_imitator() {
    let Some(root) = protocols() else {
        return;
    };
    let packed = root.join("livelinkface/llv_dao.gesichter");
    let mut gzip = Command::new("gzip");
    gzip.arg("-dc").stdin(std::fs::File::open(packed).unwrap());
    let out = gzip.output().expect("gzip is on every system that tests");
    assert!(out.status.success());
    let (head, mut rest) = out.stdout.split_at(5);
    assert_eq!(head, [6, 0, 0, 0, 180]);
    let mut datagrams = Vec::new();
    while let Some((len, after)) = rest.split_first_chunk::<4>() {
        let (datagram, after) = after.split_at(u32::from_be_bytes(*len) as usize);
        assert_eq!(datagram.len(), 320);
        datagrams.push(datagram.to_vec());
        rest = after;
    }
    let seen = decode(&mut phone(), &datagrams);
    assert_eq!(seen.frames.len(), 180);
    let time = |at: usize| seen.frames[at].meta.timecode.unwrap();
    let (first, last) = (time(0), time(179));
    assert_eq!((first.frame, last.frame), (5_375_735, 5_375_921));
    assert_eq!(first.rate, FrameRate::FPS_60);
    assert_eq!(seen.frames[0].key.name.as_str(), "LLV Default Device");
}

#[test]
fn live_link_face_takes_of_the_app() {
    let Some(root) = protocols() else {
        return;
    };
    for (name, rows, first, last, curves) in [
        (
            "take_v1.4.2/MySlate_24_first120_last5.csv",
            125,
            "11:25:20:22.440",
            "11:25:47:32.038",
            [
                ("EyeBlinkLeft", 0.000_000_774_8),
                ("JawRight", 0.0),
                ("JawLeft", 0.022_219_795_7),
                ("JawOpen", 0.170_113_891_4),
                ("HeadPitch", -0.044_523_056_6),
            ],
        ),
        (
            "take_2022_first60.csv",
            60,
            "13:13:04:31.652",
            "13:13:06:29.636",
            [
                ("EyeBlinkLeft", 0.123_647_011_8),
                ("JawRight", 0.018_503_606_3),
                ("JawLeft", 0.0),
                ("JawOpen", 0.019_058_169_8),
                ("HeadPitch", 0.0),
            ],
        ),
    ] {
        let file = std::fs::File::open(root.join("livelinkface").join(name)).unwrap();
        let take = CsvTake::read(file, None).unwrap();
        assert_eq!((take.rows.len(), take.rate), (rows, FrameRate::FPS_60));
        assert!(take.missing.is_empty() && take.unknown.is_empty(), "{name}");
        for (row, label) in [(&take.rows[0], first), (&take.rows[rows - 1], last)] {
            let (whole, thousandths) = label.split_once('.').unwrap();
            assert_eq!(row.time.label().to_string(), whole);
            let expected = thousandths.parse::<f64>().unwrap() / 1000.0;
            assert_near(label, row.time.sub_frame, expected, 1e-6);
        }
        for (curve, expected) in curves {
            let at = hub::arkit::index_of(curve).unwrap();
            assert_near(curve, take.rows[0].values[at], expected, 1e-9);
        }
    }
}

fn facial() -> ifacialmocap::IFacialMocapDecoder {
    ifacialmocap::IFacialMocapDecoder::new(ifacialmocap::Options::default())
}

/// Degrees to radians, in f64: what the texts say, turned into our unit.
fn rad(degrees: f64) -> f64 {
    degrees.to_radians()
}

const IFACIAL: &str = "iFacialMocap";

#[test]
fn ifacialmocap_texts_of_the_vendor() {
    let Some(official) = sample("ifacialmocap/v1_official_example.txt") else {
        return;
    };
    let seen = decode(&mut facial(), &[official]);
    for (curve, expected) in [
        ("MouthUpperUpLeft", 0.11),
        ("EyeBlinkRight", 0.07),
        ("JawOpen", 0.12),
        ("MouthFrownRight", 0.13),
        ("MouthFrownLeft", 0.06),
        ("MouthLeft", 0.01),
        ("JawLeft", 0.0),
        // x looks down; y and z run the other way round than ours.
        ("HeadPitch", rad(-21.488_958)),
        ("HeadYaw", rad(6.038_993)),
        ("HeadRoll", rad(6.601_973_5)),
        ("HeadX", -0.030_653_415),
        ("HeadY", -0.102_870_84),
        ("HeadZ", -0.658_407_2),
        ("RightEyePitch", rad(6.029_749_4)),
        ("RightEyeYaw", rad(-2.440_301_7)),
        ("RightEyeRoll", rad(-0.256_494_46)),
        ("LeftEyePitch", rad(6.034_903)),
        ("LeftEyeYaw", rad(1.666_028_4)),
        ("LeftEyeRoll", rad(0.175_205_53)),
    ] {
        assert_near(curve, seen.curve(IFACIAL, curve), expected, 1e-6);
    }
    assert_eq!(seen.statics(IFACIAL).properties.len(), 64);
}

#[test]
fn ifacialmocap_text_with_a_shape_of_its_own() {
    let Some(custom) = sample("ifacialmocap/v1_custom_shape_example.txt") else {
        return;
    };
    let seen = decode(&mut facial(), &[custom]);
    for (curve, expected) in [
        ("EyeLookInRight", 0.54),
        ("EyeLookOutLeft", 0.44),
        ("EyeWideLeft", 0.26),
        ("MouthRight", 0.02),
        ("hapihapi", 0.0),
        ("HeadPitch", rad(-1.670_409_1)),
        ("HeadYaw", rad(7.303_246_5)),
        ("RightEyeYaw", rad(-19.067_966)),
        ("LeftEyeYaw", rad(-15.616_646)),
    ] {
        assert_near(curve, seen.curve(IFACIAL, curve), expected, 1e-6);
    }
}

#[test]
fn facemotion3d_text_of_the_vendor() {
    let Some(other) = sample("ifacialmocap/facemotion3d_other_example.txt") else {
        return;
    };
    let seen = decode(&mut facial(), &[other]);
    for (curve, expected) in [
        ("BrowInnerUp", 0.19),
        ("EyeBlinkLeft", 0.29),
        ("NoseSneerRight", 0.25),
        ("NoseSneerLeft", 0.28),
        ("JawOpen", 0.04),
        ("FM_SAD", 0.0),
        ("FM_browUpLeft", 0.0),
        ("HeadPitch", rad(-22.167_973)),
        ("HeadYaw", rad(-0.454_024_08)),
        ("HeadRoll", rad(4.879_829_4)),
        ("HeadZ", -0.455_622_73),
        ("RightEyePitch", rad(12.759_762)),
        ("LeftEyePitch", rad(12.862_795)),
    ] {
        assert_near(curve, seen.curve(IFACIAL, curve), expected, 1e-6);
    }
}

fn bytes_of(hex: &str) -> Vec<u8> {
    assert!(hex.len().is_multiple_of(2));
    let byte = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
    (0..hex.len()).step_by(2).map(byte).collect()
}

#[test]
fn face_motion_v3_vectors_of_the_vendor() {
    let Some(vectors) = text("ifacialmocap/fmv3_rev5_vectors.json") else {
        return;
    };
    let vectors: serde_json::Value = serde_json::from_str(&vectors).unwrap();
    let vector = |name: &str| bytes_of(vectors[name].as_str().unwrap());
    let frame = vector("ASSEMBLED_frame_for_that_schema_hex");
    let answer = vector("schema_initial_ifacialmocap_hex");
    // It answers the HELLO of somebody else: without having asked with that number, we must not take it.
    let (seen, rejects) = feed(&mut facial(), &[answer.clone(), frame.clone()]);
    assert!(seen.frames.is_empty());
    assert!(matches!(rejects[0], Reject::OutOfRange { .. }));
    // A phone that begins by itself has 0 there: eight bytes after the header of 40.
    let mut unasked = answer;
    unasked[40..48].fill(0);
    let seen = decode(&mut facial(), &[unasked, frame]);
    for (curve, expected) in [
        ("EyeBlinkLeft", 0.12),
        ("EyeBlinkRight", 0.08),
        ("JawOpen", 0.45),
        ("HeadPitch", rad(-5.5)),
        ("HeadYaw", rad(-10.25)),
        ("HeadRoll", rad(-1.5)),
        ("HeadX", 0.01),
        ("HeadY", -0.02),
        ("HeadZ", -0.45),
        ("RightEyePitch", rad(3.0)),
        ("RightEyeYaw", rad(-4.0)),
        ("LeftEyePitch", rad(3.0)),
        ("LeftEyeYaw", rad(4.0)),
    ] {
        assert_near(curve, seen.curve(IFACIAL, curve), expected, 1e-6);
    }
    assert_eq!(seen.last(IFACIAL).meta.sequence, Some(1));
    // What goes the other way, and what only keeps a session alive, says nothing of a face.
    let all = vectors.as_object().unwrap();
    let others: Vec<Vec<u8>> = all
        .iter()
        .filter(|(name, _)| name.ends_with("_hex"))
        .filter(|(name, _)| !name.contains("schema_initial") && !name.contains("frame"))
        .map(|(_, hex)| bytes_of(hex.as_str().unwrap()))
        .collect();
    assert_eq!(others.len(), 7);
    assert!(feed(&mut facial(), &others).0.frames.is_empty());
}

#[test]
fn vtube_studio_frame_and_request() {
    let (Some(frame), Some(request)) = (
        sample("vtubestudio/frame_example.json"),
        text("vtubestudio/request.json"),
    ) else {
        return;
    };
    let mut decoder = vtubestudio::VTubeStudioDecoder::new(vtubestudio::Options {
        phone: Some(peer()),
        port: Some(11125),
        ..vtubestudio::Options::default()
    });
    let seen = decode(&mut decoder, &[frame]);
    let name = "VTubeStudio";
    for (curve, expected) in [
        ("EyeBlinkRight", 0.002_937_057_288_363_576),
        ("EyeBlinkLeft", 0.002_938_013_989_478_349_7),
        ("JawOpen", 0.103_551_261_126_995_09),
        ("JawLeft", 0.031_765_408_813_953_4),
        ("JawRight", 0.0),
        ("EyeLookInRight", 0.367_872_655_391_693_1),
        ("TongueOut", 5.019_730_117_683_53e-11),
        ("HeadPitch", rad(-11.091_268_539)),
        ("HeadYaw", rad(-9.422_998_428)),
        ("HeadRoll", rad(-3.164_631_128)),
        ("LeftEyePitch", rad(3.552_047_491)),
        ("LeftEyeYaw", rad(-9.085_052_490)),
        ("RightEyePitch", rad(3.459_942_580)),
        ("RightEyeYaw", rad(-12.894_958_496)),
    ] {
        assert_near(curve, seen.curve(name, curve), expected, 1e-6);
    }
    assert_eq!(seen.last(name).meta.tracking, Tracking::Tracked);
    // We ask with the words of the vendor's request.
    let mut asked = Vec::new();
    decoder.transmit(hub::WorldTime::from_nanos(20_000_000), &mut |to, bytes| {
        assert_eq!(to, peer());
        asked.push(serde_json::from_slice::<serde_json::Value>(bytes).unwrap());
    });
    let theirs: serde_json::Value = serde_json::from_str(&request).unwrap();
    let ours = asked.first().expect("the phone is asked at once");
    let words = |v: &serde_json::Value| -> Vec<String> {
        let mut words: Vec<String> = v.as_object().unwrap().keys().cloned().collect();
        words.sort();
        words
    };
    assert_eq!(words(ours), words(&theirs));
    for same in ["messageType", "ports"] {
        assert_eq!(ours[same], theirs[same]);
    }
}

#[test]
fn openseeface_assembled_face() {
    let Some(bytes) = sample("openseeface/assembled_one_face.bin") else {
        return;
    };
    let options = openseeface::Options::default();
    let seen = decode(&mut openseeface::OpenSeeFaceDecoder::new(options), &[bytes]);
    let name = "OpenSeeFace 0";
    for (curve, expected) in [
        ("EyeOpenRight", 0.95),
        ("EyeOpenLeft", 0.90),
        // Euler (179, −2, 91): pitch −(179 + 180), one degree after whole turns.
        ("HeadPitch", rad(1.0)),
        ("HeadYaw", rad(2.0)),
        ("HeadRoll", rad(1.0)),
        ("HeadXUnscaled", -0.2),
        ("HeadYUnscaled", 0.1),
        ("HeadZUnscaled", -5.0),
    ] {
        assert_near(curve, seen.curve(name, curve), expected, 1e-5);
    }
    assert_eq!(seen.last(name).meta.tracking, Tracking::Tracked);
    // Its clock, 12.5 s, is counted from the first frame.
    assert_eq!(seen.last(name).meta.source_time.unwrap().as_nanos(), 0);
}
