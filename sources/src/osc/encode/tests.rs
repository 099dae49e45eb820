use glam::{Quat, Vec3};
use hub::{CameraFrame, CameraStatic, LightStatic, Property, Skeleton, StaticBody};
use rosc::{OscPacket, OscTime, OscType, decoder};

use super::*;

fn name(text: &str) -> SubjectName {
    SubjectName::new(text).unwrap()
}

/// What is sent, read by another program: the messages of each datagram.
fn read(datagrams: &[Vec<u8>]) -> Vec<Vec<(String, Vec<OscType>)>> {
    let messages = |datagram: &Vec<u8>| {
        let (rest, packet) = decoder::decode_udp(datagram).unwrap();
        assert!(rest.is_empty());
        let OscPacket::Bundle(bundle) = packet else {
            panic!("a bundle")
        };
        assert_eq!(bundle.timetag, OscTime::from((0, 1)));
        let message = |packet| match packet {
            OscPacket::Message(message) => (message.addr, message.args),
            OscPacket::Bundle(_) => panic!("no bundle within"),
        };
        bundle.content.into_iter().map(message).collect()
    };
    datagrams.iter().map(messages).collect()
}

fn sent(
    encoder: &mut OscEncoder,
    subject: &str,
    of: &(StaticData, FrameData),
    limit: Option<usize>,
) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    let (statics, frame) = of;
    encoder.frame(
        &name(subject),
        statics,
        frame,
        Tracking::Tracked,
        limit,
        |d| {
            out.push(d.to_vec());
        },
    );
    out
}

fn floats(values: &[f32]) -> Vec<OscType> {
    values.iter().map(|v| OscType::Float(*v)).collect()
}

fn body() -> (StaticData, FrameData) {
    let statics = StaticData {
        body: StaticBody::Animation(Skeleton {
            bone_names: vec!["Hips".into(), "Left Arm".into(), "Hips".into()],
            parents: vec![None, Some(0), Some(0)],
            rest: Vec::new(),
        }),
        properties: vec![
            Property::linear("JawOpen"),
            Property {
                measured: false,
                ..Property::linear("TongueOut")
            },
        ],
    };
    let arm = Transform::new(
        Vec3::new(0.5, -1.0, 2.0),
        Quat::from_xyzw(0.5, -0.5, 0.5, 0.5),
    );
    let frame = FrameData {
        body: FrameBody::Animation(vec![Transform::IDENTITY, arm, arm]),
        properties: vec![1.25, 0.5],
    };
    (statics, frame)
}

#[test]
fn a_message_is_laid_out_as_the_specification_says() {
    let of = (StaticData::basic(&["a"]), FrameData::basic(vec![0.5]));
    let prefix = OscPrefix::new("").unwrap();
    let mut expected = b"#bundle\0\0\0\0\0\0\0\0\x01".to_vec();
    // /S/tracking is 11 characters and one NUL; the tags fill four bytes.
    expected.extend(b"\0\0\0\x14/S/tracking\0,i\0\0\0\0\0\x01");
    // /S/curve/a is 10 characters and two NUL; 0.5 is 3f000000.
    expected.extend(b"\0\0\0\x14/S/curve/a\0\0,f\0\0\x3f\0\0\0");
    assert_eq!(
        sent(&mut OscEncoder::new(prefix), "S", &of, None),
        [expected]
    );
}

#[test]
fn a_body_with_a_face_has_an_address_for_each_bone_and_measured_curve() {
    let mut encoder = OscEncoder::new(OscPrefix::default());
    let read = read(&sent(&mut encoder, "演員", &body(), None));
    // UTF-8 of the two characters: E6 BC 94, E5 93 A1.
    let subject = "/ghostlight/%E6%BC%94%E5%93%A1";
    let expected = [
        (format!("{subject}/tracking"), vec![OscType::Int(1)]),
        (
            format!("{subject}/bone/Hips"),
            floats(&[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]),
        ),
        (
            format!("{subject}/bone/Left%20Arm"),
            floats(&[0.5, -1.0, 2.0, 0.5, -0.5, 0.5, 0.5]),
        ),
        (format!("{subject}/curve/JawOpen"), floats(&[1.25])),
    ];
    assert_eq!(read, [expected]);
}

#[test]
fn bundles_keep_to_the_limit_and_lose_nothing() {
    let names: Vec<String> = (0..700).map(|i| format!("curve {i}")).collect();
    let values: Vec<f32> = (0..700u16).map(f32::from).collect();
    let of = (StaticData::basic(&names), FrameData::basic(values));
    let mut encoder = OscEncoder::new(OscPrefix::default());
    for limit in [None, Some(1400), Some(10)] {
        let datagrams = sent(&mut encoder, "S", &of, limit);
        let read = read(&datagrams);
        for (datagram, messages) in datagrams.iter().zip(&read) {
            assert!(messages.len() <= 512);
            assert!(limit.is_none_or(|l| datagram.len() <= l || messages.len() == 1));
        }
        let values: Vec<_> = read.concat().into_iter().skip(1).map(|m| m.1).collect();
        assert_eq!(values.len(), 700);
        for (i, value) in (0..700u16).zip(values) {
            assert_eq!(value, floats(&[f32::from(i)]));
        }
    }
}

#[test]
fn a_new_name_or_new_static_data_makes_new_messages() {
    let mut encoder = OscEncoder::new(OscPrefix::new("/a/b").unwrap());
    let of = |curve: &str| (StaticData::basic(&[curve]), FrameData::basic(vec![1.0]));
    for (subject, curve, expected) in [
        ("x", "c", "/a/b/x/curve/c"),
        ("y", "c", "/a/b/y/curve/c"),
        ("y", "d/%", "/a/b/y/curve/d%2F%25"),
    ] {
        let read = read(&sent(&mut encoder, subject, &of(curve), None));
        assert_eq!(read[0][1].0, expected);
    }
}

#[test]
fn a_camera_tells_what_it_measures_and_a_light_likewise() {
    let transform = Transform::new(Vec3::new(1.0, 2.0, 3.0), Quat::IDENTITY);
    let camera = StaticData {
        body: StaticBody::Camera(CameraStatic::default()),
        properties: Vec::new(),
    };
    let frame = |focal_length_mm| FrameData {
        body: FrameBody::Camera(CameraFrame {
            transform,
            focal_length_mm,
            ..CameraFrame::default()
        }),
        properties: Vec::new(),
    };
    let mut encoder = OscEncoder::new(OscPrefix::default());
    for (focal, expected) in [(Some(35.0), 3), (None, 2), (Some(50.0), 3)] {
        let of = (camera.clone(), frame(focal));
        let read = read(&sent(&mut encoder, "C", &of, None)).concat();
        assert_eq!(read.len(), expected);
        let pose = floats(&[1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0]);
        assert_eq!(read[1], ("/ghostlight/C/transform".to_owned(), pose));
        if let Some(focal) = focal {
            let address = "/ghostlight/C/camera/focal_length_mm".to_owned();
            assert_eq!(read[2], (address, floats(&[focal])));
        }
    }
    let light = StaticData {
        body: StaticBody::Light(LightStatic::default()),
        properties: Vec::new(),
    };
    let light_frame = hub::LightFrame {
        transform,
        color: Some([0.25, 0.5, 1.0]),
        cone_rad: Some([0.125, 0.75]),
        ..hub::LightFrame::default()
    };
    let of = FrameData {
        body: FrameBody::Light(light_frame),
        properties: Vec::new(),
    };
    let read = read(&sent(&mut encoder, "L", &(light, of), None)).concat();
    let last = ["red", "green", "blue", "inner_cone_rad", "outer_cone_rad"]
        .map(|field| format!("/ghostlight/L/light/{field}"));
    let found: Vec<_> = read[2..].iter().map(|(address, _)| address).collect();
    assert_eq!(found, last.iter().collect::<Vec<_>>());
    assert_eq!(read[6].1, floats(&[0.75]));
}

#[test]
fn a_bad_number_leaves_the_last_and_what_does_not_fit_sends_nothing() {
    let mut encoder = OscEncoder::new(OscPrefix::default());
    let statics = StaticData::basic(&["a"]);
    for (value, expected) in [(0.5, 0.5), (f32::NAN, 0.5), (-3.0, -3.0)] {
        let of = (statics.clone(), FrameData::basic(vec![value]));
        let read = read(&sent(&mut encoder, "S", &of, None));
        assert_eq!(read[0][1].1, floats(&[expected]));
    }
    let of = (statics, FrameData::basic(vec![0.0; 2]));
    assert!(sent(&mut encoder, "S", &of, None).is_empty());
}

#[test]
fn prefixes_that_no_address_has_are_refused() {
    for good in ["", "/a", "/stage/left", "/x_1.2"] {
        assert_eq!(OscPrefix::new(good).unwrap().as_str(), good);
    }
    for (bad, why) in [
        ("a", PrefixFault::Slash),
        ("/", PrefixFault::Slash),
        ("/a/", PrefixFault::Slash),
        ("/a b", PrefixFault::Character),
        ("/a*", PrefixFault::Character),
        ("/é", PrefixFault::Character),
    ] {
        assert_eq!(OscPrefix::new(bad), Err(why), "{bad}");
    }
    let long = format!("/{}", "a".repeat(64));
    let why = PrefixFault::TooLong {
        limit: 64,
        have: 65,
    };
    assert_eq!(OscPrefix::new(&long), Err(why));
}
