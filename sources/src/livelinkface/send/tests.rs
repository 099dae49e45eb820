use hub::{FrameMeta, Property, SubjectKey, Tracking, WorldTime};

use super::*;
use crate::{
    Decoder as _, Sink,
    livelinkface::{LiveLinkFaceDecoder, Options},
};

fn name(text: &str) -> SubjectName {
    SubjectName::new(text).unwrap()
}

fn at_60(frame: i64, sub_frame: f32) -> QualifiedFrameTime {
    QualifiedFrameTime {
        sub_frame,
        ..QualifiedFrameTime::whole(frame, FrameRate::FPS_60)
    }
}

fn sent(
    sender: &mut FaceSender,
    statics: &StaticData,
    values: Option<&[f32]>,
    time: QualifiedFrameTime,
) -> Option<Vec<u8>> {
    let data = values.map(|v| FrameData::basic(v.to_vec()));
    let mut bytes = None;
    let was_sent = sender.frame(&name("ab"), statics, data.as_ref(), time, |d| {
        bytes = Some(d.to_vec());
    });
    assert_eq!(was_sent, bytes.is_some());
    bytes
}

fn curves(statics: &StaticData, values: &[f32]) -> [f32; NUM_CURVES] {
    let bytes = sent(
        &mut FaceSender::new("x"),
        statics,
        Some(values),
        at_60(0, 0.0),
    );
    Packet::parse(&bytes.unwrap()).unwrap().values().unwrap()
}

#[test]
fn a_packet_is_what_the_layout_of_the_app_says() {
    let mut sender = FaceSender::new("ab");
    let statics = StaticData::basic(&["jawOpen", "eyeBlink_L", "HeadPitch", "my own"]);
    let values = [0.5, 1.0, -0.25, 9.0];
    // Assembled from the fact sheet: frame 1095835 = 0x0010b89b, sub-frame 0.5, rate 60/1.
    let mut head = vec![6, 0, 0, 0, 0x24];
    head.extend(sender.device_id().as_bytes());
    head.extend([0, 0, 0, 2, b'a', b'b']);
    head.extend([0x00, 0x10, 0xb8, 0x9b, 0x3f, 0, 0, 0]);
    head.extend([0, 0, 0, 60, 0, 0, 0, 1]);
    let mut face = head.clone();
    face.push(61);
    let mut floats = [0u8; 244];
    floats[..4].copy_from_slice(&[0x3f, 0x80, 0, 0]);
    floats[17 * 4..18 * 4].copy_from_slice(&[0x3f, 0, 0, 0]);
    floats[53 * 4..54 * 4].copy_from_slice(&[0xbe, 0x80, 0, 0]);
    face.extend(floats);
    assert_eq!((face.len(), head.len()), (306 + 2, 61 + 2));

    let time = at_60(1_095_835, 0.5);
    assert_eq!(
        sent(&mut sender, &statics, Some(&values), time),
        Some(face.clone())
    );
    assert_eq!(sent(&mut sender, &statics, None, time), Some(head));
    assert_eq!(sent(&mut sender, &statics, Some(&values), time), Some(face));
}

#[test]
fn each_curve_is_found_under_every_usual_spelling() {
    for (index, known) in arkit::CURVES.iter().enumerate() {
        let mut camel = (*known).to_owned();
        camel[..1].make_ascii_lowercase();
        let mut snake = String::new();
        for c in camel.chars() {
            if c.is_ascii_uppercase() {
                snake.push('_');
            }
            snake.push(c.to_ascii_lowercase());
        }
        let mut spellings = vec![(*known).to_owned(), known.to_uppercase(), snake];
        for (word, letter) in [("Left", "L"), ("Right", "R")] {
            if let Some(base) = camel.strip_suffix(word) {
                spellings.extend([
                    format!("{base}_{letter}"),
                    format!("{base}{letter}"),
                    format!("{base}_{}", letter.to_lowercase()),
                    format!("{base}_{}", word.to_lowercase()),
                ]);
            }
        }
        spellings.push(camel);
        for spelling in spellings {
            let found = curves(&StaticData::basic(&[&spelling]), &[0.75]);
            let mut expected = [0.0; NUM_CURVES];
            expected[index] = 0.75;
            assert_eq!(found, expected, "{spelling}");
        }
    }
}

#[test]
fn left_stays_left_and_right_stays_right() {
    let statics = StaticData::basic(&["mouthSmile_R", "mouthSmile_L", "browDownR", "eyeYaw_L"]);
    let found = curves(&statics, &[0.1, 0.2, 0.3, 0.4]);
    // Places of the wire format.
    assert_eq!([found[24], found[23]], [0.1, 0.2]);
    assert_eq!([found[41], found[42]], [0.0, 0.3]);
    assert_eq!([found[55], found[58]], [0.4, 0.0]);
}

#[test]
fn arkits_own_spelling_goes_first_and_what_is_not_measured_is_zero() {
    let mut statics = StaticData::basic(&["eyeBlink_L", "EyeBlinkLeft", "JawOpen"]);
    statics.properties[2] = Property {
        measured: false,
        ..Property::linear("JawOpen")
    };
    let found = curves(&statics, &[0.25, 0.5, 1.0]);
    assert_eq!((found[0], found[17]), (0.5, 0.0));
}

#[test]
fn values_are_clamped_here_and_a_bad_number_leaves_the_last() {
    let statics = StaticData::basic(&["JawOpen", "MouthClose", "HeadYaw", "HeadRoll"]);
    let mut sender = FaceSender::new("x");
    for (values, expected) in [
        ([1.5, -0.5, 4.0, -4.0], [1.0, 0.0, PI, -PI]),
        ([0.5, f32::NAN, f32::INFINITY, 0.25], [0.5, 0.0, PI, 0.25]),
    ] {
        let bytes = sent(&mut sender, &statics, Some(&values), at_60(0, 0.0)).unwrap();
        let found = Packet::parse(&bytes).unwrap().values().unwrap();
        assert_eq!([found[17], found[18], found[52], found[54]], expected);
    }
}

#[test]
fn what_has_no_face_curve_or_does_not_fit_sends_nothing() {
    let mut sender = FaceSender::new("x");
    let prop = StaticData::basic(&["throttle", "Left", "r", ""]);
    assert!(!FaceSender::fits(&prop));
    assert_eq!(
        sent(&mut sender, &prop, Some(&[0.0; 4]), at_60(0, 0.0)),
        None
    );
    let face = StaticData::basic(&["JawOpen"]);
    assert!(FaceSender::fits(&face));
    assert_eq!(
        sent(&mut sender, &face, Some(&[0.0; 2]), at_60(0, 0.0)),
        None
    );
}

#[test]
fn a_device_id_has_the_apps_form_and_depends_on_the_subject_alone() {
    let id = |of: &str| FaceSender::new(of).device_id().to_owned();
    assert_eq!(id("演員"), id("演員"));
    assert_ne!(id("演員"), id("山田"));
    let id = id("演員");
    assert_eq!(id.len(), 36);
    let marks: Vec<usize> = id.match_indices('-').map(|(at, _)| at).collect();
    assert_eq!(marks, [8, 13, 18, 23]);
    assert_eq!(&id[14..15], "8");
    assert!("89AB".contains(&id[19..20]));
}

/// Name, time, tracking and first value of each frame.
#[derive(Default)]
struct Seen(Vec<(String, QualifiedFrameTime, Tracking, Option<f32>)>);

impl Sink for Seen {
    fn static_data(&mut self, _: &SubjectKey, _: &StaticData, _: WorldTime) {}

    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        let first = data.map(|d| d.properties[0]);
        let time = meta.timecode.unwrap();
        self.0
            .push((key.name.to_string(), time, meta.tracking, first));
    }

    fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
}

#[test]
fn our_own_receiver_takes_every_rate_and_name() {
    let long = "é".repeat(128);
    let statics = StaticData::basic(&["EyeBlinkLeft"]);
    let day = 24 * 3600 * 60;
    for (subject, time, expected) in [
        ("演員", at_60(day + 5, 0.25), at_60(5, 0.25)),
        (long.as_str(), at_60(day - 1, f32::NAN), at_60(day - 1, 0.0)),
        (
            "山田",
            QualifiedFrameTime::whole(1798, FrameRate::FPS_29_97),
            QualifiedFrameTime::whole(1798, FrameRate::FPS_29_97),
        ),
        // 1000 a second: frame 500 is half a second.
        (
            "fast",
            QualifiedFrameTime::whole(500, FrameRate::new(1000, 1).unwrap()),
            at_60(30, 0.0),
        ),
    ] {
        let mut seen = Seen::default();
        let mut decoder = LiveLinkFaceDecoder::new(Options::default());
        let mut sender = FaceSender::new(subject);
        for data in [Some(FrameData::basic(vec![0.5])), None] {
            let mut bytes = Vec::new();
            sender.frame(&name(subject), &statics, data.as_ref(), time, |d| {
                bytes.extend_from_slice(d);
            });
            let from = "10.0.0.2:5000".parse().unwrap();
            decoder
                .handle_datagram(WorldTime::default(), from, &bytes, &mut seen)
                .unwrap();
        }
        let of = |tracking, first| (subject.to_owned(), expected, tracking, first);
        let expected = [of(Tracking::Tracked, Some(0.5)), of(Tracking::Lost, None)];
        assert_eq!(seen.0, expected);
    }
}
