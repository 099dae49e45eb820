//! In by one protocol, through a running hub, out by another: what comes out is what went in.
//!
//! VMC is written and read here with `rosc` and the specification's words, not with our own encoder and decoder. The
//! same is done with python-osc, and with the program as a process, by `tests/peers/vmc_out_peer.py`.

use std::{
    collections::BTreeMap,
    net::{SocketAddr, UdpSocket},
    time::Duration,
};

use glam::Quat;
use hub::{FrameRate, QualifiedFrameTime, arkit};
use rosc::{OscBundle, OscMessage, OscPacket, OscTime, OscType};
use tests::rig;
use viewer::{live::Live, stage::Stage};

/// Frames looked at.
const FRAMES: usize = 20;
/// Frames sent while waiting for them, ten milliseconds apart.
const MAX_SENT: usize = 1000;
const NEAR: f32 = 1e-5;

/// Unity's 55 HumanBodyBones.
fn bones() -> Vec<String> {
    let trunk = "Hips Spine Chest UpperChest Neck Head LeftEye RightEye Jaw";
    let mut names: Vec<String> = trunk.split(' ').map(str::to_owned).collect();
    for side in ["Left", "Right"] {
        let limbs = "Shoulder UpperArm LowerArm Hand UpperLeg LowerLeg Foot Toes";
        names.extend(limbs.split(' ').map(|part| format!("{side}{part}")));
        for finger in ["Thumb", "Index", "Middle", "Ring", "Little"] {
            let joints = ["Proximal", "Intermediate", "Distal"];
            names.extend(joints.map(|joint| format!("{side}{finger}{joint}")));
        }
    }
    names
}

/// What one frame says: seven numbers a bone, one an expression.
#[derive(Debug, Default)]
struct Said {
    bones: BTreeMap<String, [f32; 7]>,
    expressions: BTreeMap<String, f32>,
    is_applied: bool,
}

/// A frame that is another one for each number; its number stands in `JawOpen`.
fn performed(number: usize) -> Said {
    let wave = |i: usize, axis: usize| ((i * 7 + axis * 3 + number) as f32 * 0.37).sin();
    let pose = |i: usize| {
        let axis_angle = glam::Vec3::new(wave(i, 1), wave(i, 2), wave(i, 3));
        let [qx, qy, qz, qw] = Quat::from_scaled_axis(axis_angle).to_array();
        [wave(i, 4), wave(i, 5), wave(i, 6), qx, qy, qz, qw]
    };
    let names = bones();
    assert_eq!(names.len(), 55);
    let names = names.into_iter().chain(["root".to_owned()]);
    let value = |i: usize| 0.5 + 0.5 * wave(i, 7);
    let faces = arkit::CURVES[..arkit::NUM_FACE_CURVES].iter().enumerate();
    let mut said = Said {
        bones: names.enumerate().map(|(i, name)| (name, pose(i))).collect(),
        expressions: faces
            .map(|(i, name)| ((*name).to_owned(), value(i)))
            .collect(),
        is_applied: true,
    };
    said.expressions
        .insert("JawOpen".to_owned(), number as f32 / MAX_SENT as f32);
    said
}

fn message(addr: &str, args: Vec<OscType>) -> OscPacket {
    OscPacket::Message(OscMessage {
        addr: addr.to_owned(),
        args,
    })
}

fn named(name: &str, numbers: &[f32]) -> Vec<OscType> {
    let numbers = numbers.iter().copied().map(OscType::Float);
    [OscType::String(name.to_owned())]
        .into_iter()
        .chain(numbers)
        .collect()
}

/// One bundle with everything, as a performer sends it.
fn bundle(said: &Said, secs: f32) -> Vec<u8> {
    let mut content = vec![
        message("/VMC/Ext/OK", vec![OscType::Int(1)]),
        message("/VMC/Ext/T", vec![OscType::Float(secs)]),
    ];
    for (name, pose) in &said.bones {
        let place = if name == "root" { "Root" } else { "Bone" };
        content.push(message(&format!("/VMC/Ext/{place}/Pos"), named(name, pose)));
    }
    for (name, value) in &said.expressions {
        content.push(message("/VMC/Ext/Blend/Val", named(name, &[*value])));
    }
    content.push(message("/VMC/Ext/Blend/Apply", Vec::new()));
    let timetag = OscTime {
        seconds: 0,
        fractional: 1,
    };
    rosc::encoder::encode(&OscPacket::Bundle(OscBundle { timetag, content })).unwrap()
}

fn float(arg: &OscType) -> f32 {
    match arg {
        OscType::Float(value) => *value,
        other => panic!("expected a float, found {other:?}"),
    }
}

fn listen(packet: OscPacket, said: &mut Said) {
    match packet {
        OscPacket::Bundle(bundle) => {
            for packet in bundle.content {
                listen(packet, said);
            }
        }
        OscPacket::Message(OscMessage { addr, args }) => match (addr.as_str(), args.as_slice()) {
            ("/VMC/Ext/Root/Pos" | "/VMC/Ext/Bone/Pos", [OscType::String(name), numbers @ ..]) => {
                let numbers: Vec<f32> = numbers.iter().map(float).collect();
                let pose = <[f32; 7]>::try_from(numbers).unwrap();
                said.bones.insert(name.clone(), pose);
            }
            ("/VMC/Ext/Blend/Val", [OscType::String(name), value]) => {
                said.expressions.insert(name.clone(), float(value));
            }
            ("/VMC/Ext/Blend/Apply", []) => said.is_applied = true,
            ("/VMC/Ext/OK" | "/VMC/Ext/T", [_]) => {}
            other => panic!("no message of a performer: {other:?}"),
        },
    }
}

fn heard(datagram: &[u8]) -> Said {
    let mut said = Said::default();
    let (rest, packet) = rosc::decoder::decode_udp(datagram).unwrap();
    assert!(rest.is_empty());
    listen(packet, &mut said);
    said
}

/// A hub with one source and a VMC output to a socket of ours; both work as they do in `serve`.
struct Rig {
    live: Live,
    to: SocketAddr,
    phone: UdpSocket,
    avatar: UdpSocket,
}

impl Rig {
    fn new(kind: &str) -> Self {
        let avatar = UdpSocket::bind("127.0.0.1:0").unwrap();
        let wait = Duration::from_millis(10);
        avatar.set_read_timeout(Some(wait)).unwrap();
        let text = format!(
            "[[source]]\nkind = \"{kind}\"\nlisten = \"127.0.0.1:0\"\n\
             [[output]]\nkind = \"vmc\"\nmode = \"pass\"\nmax_rate = 1000\nto = [\"{}\"]\n",
            avatar.local_addr().unwrap()
        );
        let live = Live::start(&Stage::parse(&text).unwrap()).unwrap();
        Self {
            to: live.listening()[0].addr,
            live,
            phone: UdpSocket::bind("127.0.0.1:0").unwrap(),
            avatar,
        }
    }

    /// Sends frames until enough have come out. The first ones may come before the output has seen the subject.
    fn run(&mut self, frame: impl Fn(usize) -> Vec<u8>) -> Vec<Said> {
        let mut buffer = vec![0; 65_536];
        let mut all = Vec::new();
        for number in 0..MAX_SENT {
            self.phone.send_to(&frame(number), self.to).unwrap();
            // The wait of the socket is what paces the sender.
            while let Ok(len) = self.avatar.recv(&mut buffer) {
                all.push(heard(&buffer[..len]));
            }
            if all.len() >= FRAMES {
                break;
            }
        }
        assert!(all.len() >= FRAMES, "only {} frames came out", all.len());
        self.live.stop();
        all
    }
}

/// The largest difference between two poses; a rotation and its negative are one.
fn apart(a: &[f32; 7], b: &[f32; 7]) -> f32 {
    let dot: f32 = a[3..].iter().zip(&b[3..]).map(|(a, b)| a * b).sum();
    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
    let turned = |i: usize| if i < 3 { b[i] } else { sign * b[i] };
    (0..7).map(|i| (a[i] - turned(i)).abs()).fold(0.0, f32::max)
}

#[test]
fn a_body_and_a_face_come_back_by_vmc_as_they_were() {
    let all = Rig::new("vmc").run(|number| bundle(&performed(number), number as f32 / 100.0));
    let mut last = None;
    for said in &all {
        let number = (said.expressions["JawOpen"] * MAX_SENT as f32).round() as usize;
        let expected = performed(number);
        assert!(said.is_applied);
        let names = |said: &Said| -> Vec<String> { said.bones.keys().cloned().collect() };
        assert_eq!(names(said), names(&expected));
        for (name, pose) in &expected.bones {
            let off = apart(pose, &said.bones[name]);
            assert!(off <= NEAR, "{name} of frame {number}: off by {off}");
        }
        assert_eq!(said.expressions.len(), 52);
        for (name, value) in &expected.expressions {
            let off = (value - said.expressions[name]).abs();
            assert!(off <= NEAR, "{name} of frame {number}: off by {off}");
        }
        assert!(last < Some(number), "{last:?} and then {number}");
        last = Some(number);
    }
}

#[test]
fn a_phone_goes_out_by_vmc_under_the_names_of_perfect_sync() {
    // Yaw, pitch and roll of the head are the curves from 52 on; + is to the right, down, and to the right.
    const YAW: f32 = 0.3;
    let weight = |i: usize| i as f32 / 64.0;
    let all = Rig::new("livelinkface").run(|number| {
        let time = QualifiedFrameTime::whole(number as i64 + 1000, FrameRate::FPS_100);
        let mut bytes = rig::datagram("演員", time, 0.0);
        // The curves end the datagram, big-endian.
        let first = bytes.len() - 4 * arkit::NUM_CURVES;
        for (i, curve) in bytes[first..].chunks_exact_mut(4).enumerate() {
            let value = match i {
                0..52 => weight(i),
                52 => YAW,
                _ => 0.0,
            };
            curve.copy_from_slice(&value.to_be_bytes());
        }
        bytes
    });
    for said in &all {
        assert!(said.is_applied);
        assert_eq!(said.expressions.len(), 52);
        for (i, name) in arkit::CURVES[..52].iter().enumerate() {
            let found = said.expressions[*name];
            assert!((found - weight(i)).abs() <= 1e-6, "{name}: {found}");
        }
        // Neck and head together turn as far as the phone says: to the performer's right, in Unity a positive turn
        // about +Y.
        let names: Vec<&str> = said.bones.keys().map(String::as_str).collect();
        assert_eq!(names, ["Head", "Neck"]);
        let turn = |bone: &str| {
            let [_, _, _, x, y, z, w] = said.bones[bone];
            Quat::from_xyzw(x, y, z, w)
        };
        let whole = turn("Neck") * turn("Head");
        let expected = Quat::from_xyzw(0.0, (YAW / 2.0).sin(), 0.0, (YAW / 2.0).cos());
        assert!(whole.dot(expected).abs() > 0.999_999, "{whole}");
        // The head turns by no less than the neck.
        let (neck, head) = (turn("Neck").y, turn("Head").y);
        assert!(neck > 0.0 && head >= neck, "{neck} {head}");
    }
}
