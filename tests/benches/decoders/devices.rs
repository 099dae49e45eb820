//! A second or more of each device, laid out by hand from the tables of the protocols.

use std::io::Write as _;

use hub::{DropFrame, FrameRate, Timecode, WorldTime, arkit};
use sources::{
    Decoder, artnet, axisneuron, facecap,
    freed::{self, CameraMessage},
    ifacialmocap, json, livelinkface,
    ltc::{EncodeOptions, LtcDecoder, LtcEncoder},
    mocopi,
    mtc::{MtcDecoder, quarter_frames},
    native::{NativeDecoder, NativeSender},
    natnet, openseeface, osc, psn, rokoko,
    synthetic::Performer,
    vmc, vtubestudio, xsens,
};
use tests::corpus::{self, osc_bundle, osc_message, osc_text};

/// Datagrams of a pass.
pub(crate) const PACKETS: usize = if cfg!(debug_assertions) { 10 } else { 1000 };

/// What a device sends, and who reads it.
pub(crate) struct Device {
    pub(crate) name: &'static str,
    pub(crate) decoder: fn() -> Box<dyn Decoder>,
    /// What comes before the first frame.
    pub(crate) before: Vec<Vec<u8>>,
    /// Frames, each another one.
    pub(crate) packets: Vec<Vec<u8>>,
}

/// 0 to 1, another one for each frame and value.
fn wave(frame: usize, value: usize) -> f32 {
    0.5 + 0.5 * ((frame * 3 + value * 7) as f32 * 0.11).sin()
}

fn all(packet: impl FnMut(usize) -> Vec<u8>) -> Vec<Vec<u8>> {
    (0..PACKETS).map(packet).collect()
}

fn le(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|v| v.to_le_bytes()).collect()
}

/// Place and unit rotation about +Y.
fn pose(frame: usize, bone: usize) -> [f32; 7] {
    let half = wave(frame, bone) * 0.5;
    [
        0.0,
        0.1,
        wave(frame, bone + 1),
        0.0,
        half.sin(),
        0.0,
        half.cos(),
    ]
}

macro_rules! decoder {
    ($room:ident::$decoder:ident) => {
        || Box::new($room::$decoder::new($room::Options::default()))
    };
}

fn device(
    name: &'static str,
    decoder: fn() -> Box<dyn Decoder>,
    before: Vec<Vec<u8>>,
    packets: Vec<Vec<u8>>,
) -> Device {
    Device {
        name,
        decoder,
        before,
        packets,
    }
}

fn osc_by(mapping: &str) -> Box<dyn Decoder> {
    let options = serde_json::from_str(mapping).expect("a mapping");
    Box::new(osc::OscDecoder::new(&options))
}

pub(crate) fn devices() -> Vec<Device> {
    let (native_before, native) = native();
    let mut mocopi = corpus::mocopi();
    let skeleton = mocopi.remove(0);
    let mut facemotion = corpus::ifacialmocap();
    let natnet_info = corpus::natnet().remove(0);
    let lz4 = rokoko().iter().map(|text| packed(text)).collect();
    vec![
        device(
            "livelinkface",
            decoder!(livelinkface::LiveLinkFaceDecoder),
            vec![],
            live_link_face(),
        ),
        device(
            "native, 52 bones",
            || Box::new(NativeDecoder::new()),
            native_before,
            native,
        ),
        device(
            "ifacialmocap text",
            decoder!(ifacialmocap::IFacialMocapDecoder),
            vec![],
            face_text(),
        ),
        device(
            "ifacialmocap v3",
            decoder!(ifacialmocap::IFacialMocapDecoder),
            vec![facemotion.swap_remove(2)],
            face_motion(),
        ),
        device(
            "vtubestudio",
            decoder!(vtubestudio::VTubeStudioDecoder),
            vec![],
            vtube_studio(),
        ),
        device(
            "openseeface",
            decoder!(openseeface::OpenSeeFaceDecoder),
            vec![],
            open_see_face(),
        ),
        device(
            "facecap",
            decoder!(facecap::FaceCapDecoder),
            vec![],
            face_cap(),
        ),
        device("vmc", decoder!(vmc::VmcDecoder), vec![], vmc()),
        // Without any rule every address would be a curve.
        device(
            "osc, one rule",
            || osc_by(r#"{"curve":[{"address":"/VMC/Ext/T","curve":"T"}]}"#),
            vec![],
            vmc(),
        ),
        device(
            "osc, 52 curves",
            || osc_by(r#"{"curve":[{"address":"/face/*","curve":"*"}]}"#),
            vec![],
            osc_face(),
        ),
        device(
            "json, 52 curves",
            || {
                let options = r#"{"curve":[{"field":"/face/*","curve":"*"}]}"#;
                let options = serde_json::from_str(options).expect("a mapping");
                Box::new(json::JsonDecoder::new(&options))
            },
            vec![],
            json_face(),
        ),
        device(
            "mocopi",
            decoder!(mocopi::MocopiDecoder),
            vec![skeleton],
            mocopi_frames(&mocopi[0]),
        ),
        device(
            "rokoko json",
            decoder!(rokoko::RokokoDecoder),
            vec![],
            rokoko(),
        ),
        device("rokoko lz4", decoder!(rokoko::RokokoDecoder), vec![], lz4),
        device("xsens", decoder!(xsens::XsensDecoder), vec![], xsens()),
        device(
            "axisneuron",
            decoder!(axisneuron::AxisNeuronDecoder),
            vec![],
            axis_neuron(),
        ),
        device(
            "natnet, 8 bodies",
            decoder!(natnet::NatNetDecoder),
            vec![natnet_info],
            natnet(),
        ),
        device("freed", decoder!(freed::FreedDecoder), vec![], freed()),
        device(
            "psn, 8 trackers",
            decoder!(psn::PsnDecoder),
            vec![psn_names()],
            psn(),
        ),
    ]
}

fn live_link_face() -> Vec<Vec<u8>> {
    all(|i| {
        let curves: [[u8; 4]; arkit::NUM_CURVES] =
            std::array::from_fn(|c| (wave(i, c) * 0.9).to_be_bytes());
        let mut bytes = vec![6, 0, 0, 0, 36];
        bytes.extend(b"00000000-0000-4000-8000-000000000001");
        bytes.extend([0, 0, 0, 13]);
        bytes.extend(b"Sample_iPhone");
        bytes.extend((i as i32).to_be_bytes());
        bytes.extend(0.25f32.to_be_bytes());
        bytes.extend(60i32.to_be_bytes());
        bytes.extend(1i32.to_be_bytes());
        bytes.push(61);
        bytes.extend(curves.as_flattened());
        bytes
    })
}

/// Our own wire has no other encoder. The body alone: one datagram holds a frame when it is small enough, so datagrams
/// are counted and not bodies.
fn native() -> (Vec<Vec<u8>>, Vec<Vec<u8>>) {
    let performer = Performer::new(1);
    let name = hub::SubjectName::new("body").expect("a short name");
    let mut sender = NativeSender::new(1, "bench");
    let now = WorldTime::default();
    let (mut before, mut frames) = (Vec::new(), Vec::new());
    sender.static_data(&name, &performer.body_static(), now, |d| {
        before.push(d.to_vec());
    });
    let mut bones = Vec::new();
    for i in 0..PACKETS {
        performer.body(i as f64 / 100.0, &mut bones);
        let frame = hub::FrameData {
            body: hub::FrameBody::Animation(bones.clone()),
            properties: Vec::new(),
        };
        let meta = hub::FrameMeta {
            source_time: Some(hub::SourceTime::from_nanos(i as i64 * 10_000_000)),
            ..hub::FrameMeta::default()
        };
        sender.frame(&name, &meta, Some(&frame), now, |d| frames.push(d.to_vec()));
    }
    frames.truncate(PACKETS);
    (before, frames)
}

/// As iFacialMocap writes it: `jawOpen-12|eyeBlink_L-7|…`.
fn face_text() -> Vec<Vec<u8>> {
    let name_of = |c: usize| {
        let (first, rest) = arkit::CURVES[c].split_at(1);
        let name = first.to_ascii_lowercase() + rest;
        for (side, letter) in [("Left", "_L"), ("Right", "_R")] {
            // The jaw and the mouth as a whole have no sides of their own.
            if let Some(stem) = name.strip_suffix(side)
                && !matches!(stem, "jaw" | "mouth")
            {
                return format!("{stem}{letter}");
            }
        }
        name
    };
    let names: Vec<String> = (0..52).map(name_of).collect();
    all(|i| {
        let weight =
            |(c, name): (usize, &String)| format!("{name}-{}|", (wave(i, c) * 100.0) as u32);
        let weights: Vec<String> = names.iter().enumerate().map(weight).collect();
        let rest =
            "=head#-21.5,-6.04,-6.6,-0.03,-0.1,-0.65|rightEye#6.0,2.4,0.25|leftEye#6.0,-1.6,-0.17|";
        (weights.concat() + rest).into_bytes()
    })
}

/// For the schema of `corpus::ifacialmocap`: two names, sixteen-bit percent.
fn face_motion() -> Vec<Vec<u8>> {
    all(|i| {
        let mut payload = vec![12, 0, 45, 0];
        payload.extend(le(&[
            -5.5,
            10.0,
            1.5,
            0.0,
            0.0,
            -0.4,
            3.0,
            4.0,
            0.0,
            3.0,
            4.0,
            wave(i, 0),
        ]));
        let mut b = b"FMV3".to_vec();
        b.extend([4, 1, 40, 0]);
        b.extend(7u64.to_le_bytes());
        for word in [1, i as u32 + 1, 0, payload.len() as u32] {
            b.extend(word.to_le_bytes());
        }
        b.extend([0, 0, 1, 0]);
        b.extend((payload.len() as u32).to_le_bytes());
        b.extend(payload);
        b
    })
}

fn vtube_studio() -> Vec<Vec<u8>> {
    all(|i| {
        let shape = |c: usize| format!(r#"{{"k":"{}","v":{}}}"#, arkit::CURVES[c], wave(i, c));
        let shapes: Vec<String> = (0..52).map(shape).collect();
        format!(
            r#"{{"Timestamp":{},"Hotkey":-1,"FaceFound":true,"Rotation":{{"x":-11.09,"y":9.42,"z":3.16}},"Position":{{"x":0.46,"y":1.31,"z":4.73}},"EyeLeft":{{"x":3.55,"y":9.08,"z":0.51}},"EyeRight":{{"x":3.45,"y":12.89,"z":0.71}},"BlendShapes":[{}]}}"#,
            1_664_817_520_000u64 + 16 * i as u64,
            shapes.join(",")
        )
        .into_bytes()
    })
}

fn open_see_face() -> Vec<Vec<u8>> {
    let one = corpus::openseeface().remove(0);
    all(|i| {
        let mut face = one.clone();
        face[..8].copy_from_slice(&(12.5 + i as f64 / 60.0).to_le_bytes());
        face
    })
}

fn face_cap() -> Vec<Vec<u8>> {
    all(|i| {
        let weight = |c: i32| {
            let value = wave(i, c as usize);
            osc_message("/W", ",if", &[c.to_be_bytes(), value.to_be_bytes()])
        };
        let f = f32::to_be_bytes;
        let mut messages = vec![
            osc_message("/HR", ",fff", &[f(10.0), f(30.0), f(0.0)]),
            osc_message("/ELR", ",ff", &[f(5.0), f(6.0)]),
            osc_message("/ERR", ",ff", &[f(5.0), f(6.0)]),
        ];
        messages.extend((0..52).map(weight));
        osc_bundle(&messages)
    })
}

/// A message that begins with a name.
fn named(address: &str, name: &str, values: &[f32]) -> Vec<u8> {
    let tags = format!(",s{}", "f".repeat(values.len()));
    let mut bytes = [osc_text(address), osc_text(&tags), osc_text(name)].concat();
    bytes.extend(values.iter().flat_map(|v| v.to_be_bytes()));
    bytes
}

fn vmc() -> Vec<Vec<u8>> {
    let trunk = "Hips Spine Chest UpperChest Neck Head LeftEye RightEye Jaw";
    let mut bones: Vec<String> = trunk.split(' ').map(str::to_owned).collect();
    for side in ["Left", "Right"] {
        let limbs = "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot Toes";
        bones.extend(limbs.split(' ').map(|part| format!("{side}{part}")));
        for finger in ["Thumb", "Index", "Middle", "Ring", "Little"] {
            let joints = ["Proximal", "Intermediate", "Distal"];
            bones.extend(joints.map(|joint| format!("{side}{finger}{joint}")));
        }
    }
    all(|i| {
        let secs = (i as f32 / 100.0).to_be_bytes();
        let mut messages = vec![
            osc_message("/VMC/Ext/OK", ",i", &[1i32.to_be_bytes()]),
            osc_message("/VMC/Ext/T", ",f", &[secs]),
        ];
        let bone = |(b, name): (usize, &String)| named("/VMC/Ext/Bone/Pos", name, &pose(i, b));
        messages.extend(bones.iter().enumerate().map(bone));
        let value = |c: usize| named("/VMC/Ext/Blend/Val", arkit::CURVES[c], &[wave(i, c)]);
        messages.extend((0..52).map(value));
        messages.push(osc_message("/VMC/Ext/Blend/Apply", ",", &[]));
        osc_bundle(&messages)
    })
}

fn osc_face() -> Vec<Vec<u8>> {
    all(|i| {
        let curve = |c: usize| {
            let address = format!("/face/{}", arkit::CURVES[c]);
            osc_message(&address, ",f", &[wave(i, c).to_be_bytes()])
        };
        osc_bundle(&(0..52).map(curve).collect::<Vec<_>>())
    })
}

fn json_face() -> Vec<Vec<u8>> {
    all(|i| {
        let member = |c: usize| format!(r#""{}":{}"#, arkit::CURVES[c], wave(i, c));
        let members: Vec<String> = (0..52).map(member).collect();
        format!(r#"{{"face":{{{}}}}}"#, members.join(",")).into_bytes()
    })
}

/// The frame of the corpus with another number and time each.
fn mocopi_frames(one: &[u8]) -> Vec<Vec<u8>> {
    let after = |tag: &[u8]| {
        let at = one
            .windows(4)
            .position(|w| w == tag)
            .expect("the box is there");
        at + 4
    };
    let (number, time) = (after(b"fnum"), after(b"time"));
    all(|i| {
        let mut frame = one.to_vec();
        frame[number..number + 4].copy_from_slice(&(i as u32 + 1).to_le_bytes());
        frame[time..time + 4].copy_from_slice(&(i as f32 / 50.0).to_le_bytes());
        frame
    })
}

fn rokoko() -> Vec<Vec<u8>> {
    let mut joints: Vec<String> = "hip spine chest neck head"
        .split(' ')
        .map(str::to_owned)
        .collect();
    for side in ["left", "right"] {
        let limbs = "Shoulder UpperArm LowerArm Hand UpLeg Leg Foot Toe";
        joints.extend(limbs.split(' ').map(|part| format!("{side}{part}")));
        for finger in ["Thumb", "Index", "Middle", "Ring", "Little"] {
            let parts = ["Proximal", "Medial", "Distal", "Tip"];
            joints.extend(parts.map(|part| format!("{side}{finger}{part}")));
        }
    }
    all(|i| {
        let joint = |(j, name): (usize, &String)| {
            let [x, y, z, qx, qy, qz, qw] = pose(i, j);
            format!(
                r#""{name}":{{"position":{{"x":{x},"y":{y},"z":{z}}},"rotation":{{"x":{qx},"y":{qy},"z":{qz},"w":{qw}}}}}"#
            )
        };
        let body: Vec<String> = joints.iter().enumerate().map(joint).collect();
        let shape = |c: usize| {
            let (first, rest) = arkit::CURVES[c].split_at(1);
            let value = wave(i, c) * 100.0;
            format!(r#""{}{rest}":{value}"#, first.to_ascii_lowercase())
        };
        let face: Vec<String> = (0..52).map(shape).collect();
        format!(
            r#"{{"version":"3,0","fps":60,"scene":{{"timestamp":{},"actors":[{{"name":"A","meta":{{"hasGloves":true,"hasBody":true,"hasFace":true}},"dimensions":{{"totalHeight":1.8,"hipHeight":1.0}},"body":{{{}}},"face":{{"faceId":"f",{}}}}}],"characters":[],"props":[]}}}}"#,
            i as f64 / 100.0,
            body.join(","),
            face.join(",")
        )
        .into_bytes()
    })
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder
        .write_all(text)
        .expect("a Vec takes any number of bytes");
    encoder.finish().expect("a Vec takes any number of bytes")
}

fn xsens() -> Vec<Vec<u8>> {
    all(|i| {
        let mut b = b"MXTP02".to_vec();
        b.extend((i as u32).to_be_bytes());
        b.extend([0x80, 23]);
        b.extend((i as u32 * 10).to_be_bytes());
        b.extend([0, 23, 0, 0, 0, 0]);
        b.extend((23u16 * 32).to_be_bytes());
        for id in 1..=23u32 {
            b.extend(id.to_be_bytes());
            let half = wave(i, id as usize) * 0.5;
            for v in [0.1, 0.2, id as f32 * 0.05, half.cos(), half.sin(), 0.0, 0.0] {
                b.extend(v.to_be_bytes());
            }
        }
        b
    })
}

fn axis_neuron() -> Vec<Vec<u8>> {
    let one = corpus::axis_neuron().remove(0);
    all(|i| {
        let mut frame = one.clone();
        frame[46..50].copy_from_slice(&(i as u32).to_le_bytes());
        frame
    })
}

/// NatNet 3.0 as `corpus::natnet` says of its server: eight rigid bodies and nothing else.
fn natnet() -> Vec<Vec<u8>> {
    all(|i| {
        let mut frame = Vec::new();
        for word in [i as u32, 0, 0, 8] {
            frame.extend(word.to_le_bytes());
        }
        for body in 0..8u32 {
            frame.extend((body + 1).to_le_bytes());
            frame.extend(le(&pose(i, body as usize)));
            frame.extend(0.001f32.to_le_bytes());
            frame.extend([1, 0]);
        }
        // Skeletons, labelled markers, force plates, devices: none. Timecode and its sub-frame.
        frame.extend([0; 24]);
        frame.extend((i as f64 / 100.0).to_le_bytes());
        // Three clocks, parameters, the end.
        frame.extend([0; 24 + 2 + 4]);
        let mut b = 7u16.to_le_bytes().to_vec();
        b.extend((frame.len() as u16).to_le_bytes());
        b.extend(frame);
        b
    })
}

fn freed() -> Vec<Vec<u8>> {
    all(|i| {
        let message = CameraMessage {
            camera: 1,
            angles: [i as i32 * 100, -2000, 3],
            position: [64, 640, i as i32],
            zoom: 500,
            focus: 900,
            spare: 0,
        };
        message.to_bytes().to_vec()
    })
}

fn chunk(id: u16, has_chunks: bool, bytes: &[u8]) -> Vec<u8> {
    let size = bytes.len() as u32 | u32::from(has_chunks) << 15;
    let mut b = (u32::from(id) | size << 16).to_le_bytes().to_vec();
    b.extend(bytes);
    b
}

fn psn_header(micros: u64, frame: u8) -> Vec<u8> {
    let mut header = micros.to_le_bytes().to_vec();
    header.extend([2, 3, frame, 1]);
    chunk(0, false, &header)
}

fn psn_names() -> Vec<u8> {
    let name = |id: u16| {
        chunk(
            id,
            true,
            &chunk(0, false, format!("Tracker{id}").as_bytes()),
        )
    };
    let names: Vec<u8> = (0..8).flat_map(name).collect();
    chunk(
        0x6756,
        true,
        &[psn_header(1, 0), chunk(2, true, &names)].concat(),
    )
}

fn psn() -> Vec<Vec<u8>> {
    all(|i| {
        let tracker = |id: u16| {
            let at = pose(i, usize::from(id));
            let parts = [
                chunk(0, false, &le(&at[..3])),
                chunk(2, false, &le(&[0.0, wave(i, 1), 0.0])),
                chunk(3, false, &le(&[1.0])),
            ];
            chunk(id, true, &parts.concat())
        };
        let trackers: Vec<u8> = (0..8).flat_map(tracker).collect();
        let header = psn_header(1_000_000 + i as u64 * 10_000, i as u8);
        chunk(0x6755, true, &[header, chunk(1, true, &trackers)].concat())
    })
}

/// Name, what is counted, how many of them a pass has, and the pass.
type Pass = (&'static str, &'static str, usize, Box<dyn FnMut()>);

/// Timecode, which is no subject: labels, and for LTC samples.
pub(crate) fn timecodes() -> Vec<Pass> {
    let label = |frame: usize| {
        Timecode::from_frame(frame as i64, FrameRate::FPS_25, DropFrame::NonDrop)
            .expect("non-drop labels exist at every rate")
    };
    let pieces: Vec<[u8; 2]> = (0..PACKETS)
        .flat_map(|i| quarter_frames(&label(2 * i)).expect("25 has quarter frames"))
        .collect();
    let mut sound = Vec::new();
    let mut encoder = LtcEncoder::new(48_000, FrameRate::FPS_25, EncodeOptions::default())
        .expect("48 kHz will do");
    for i in 0..PACKETS.min(250) {
        encoder.frame(&label(i), 0, &mut sound);
    }
    let packets: Vec<[u8; artnet::LEN]> = (0..PACKETS)
        .map(|i| {
            let label = label(i).fields().map(|field| field as u8);
            artnet::ArtTimeCode { label, kind: 1 }.to_bytes()
        })
        .collect();
    let samples = sound.len();
    vec![
        (
            "mtc",
            "labels",
            PACKETS,
            Box::new(move || {
                let mut decoder = MtcDecoder::new(None);
                let mut readings = 0;
                for (i, piece) in pieces.iter().enumerate() {
                    let now = WorldTime::from_nanos(i as i64 * 10_000_000);
                    decoder.push(piece, now, &mut |_| readings += 1);
                }
                assert!(readings > 0);
            }),
        ),
        (
            "ltc",
            "samples",
            samples,
            Box::new(move || {
                let mut decoder = LtcDecoder::new(48_000, None).expect("48 kHz will do");
                let mut frames = 0;
                decoder.push(&sound, &mut |_| frames += 1);
                assert!(frames > 0);
            }),
        ),
        (
            "art-net",
            "packets",
            PACKETS,
            Box::new(move || {
                let from = std::net::SocketAddr::from(([10, 0, 0, 1], 6454));
                let mut decoder = artnet::ArtNetTimecodeDecoder::new(None);
                for (i, packet) in packets.iter().enumerate() {
                    let now = WorldTime::from_nanos(i as i64 * 40_000_000);
                    let reading = decoder.handle_datagram(now, from, packet);
                    assert!(reading.is_ok_and(|r| r.is_some()));
                }
            }),
        ),
    ]
}
