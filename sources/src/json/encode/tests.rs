use glam::{Quat, Vec3};
use hub::{CameraStatic, FrameRate, LightStatic, Skeleton};
use serde_json::{Value, json};

use super::*;

const SCHEMA: &str = include_str!("../../../../docs/output-json.schema.json");

fn name() -> SubjectName {
    SubjectName::new("演員 \"A\\B\"").unwrap()
}

fn head() -> FrameHead {
    FrameHead {
        generation: 3,
        time: WorldTime::from_nanos(12_500_000_000),
        timecode: Some(QualifiedFrameTime {
            sub_frame: 0.5,
            ..QualifiedFrameTime::whole(1_095_835, FrameRate::FPS_60)
        }),
        tracking: Tracking::Tracked,
        quality: Quality::Blended {
            from: 1,
            to: 2,
            weight: 0.5,
        },
    }
}

/// Reads a message, and holds it against the schema: its kind is known, all that is required is there, and
/// nothing is there that the schema does not name.
fn read(line: &str) -> Value {
    let message: Value = serde_json::from_str(line).unwrap();
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let kind = message["type"].as_str().unwrap();
    let definition = &schema["$defs"][kind];
    assert_eq!(definition["properties"]["type"]["const"], kind, "{line}");
    for required in definition["required"].as_array().unwrap() {
        let field = required.as_str().unwrap();
        assert!(message.get(field).is_some(), "{field} is missing: {line}");
    }
    for field in message.as_object().unwrap().keys() {
        assert!(
            definition["properties"].get(field).is_some(),
            "{field} is not in the schema: {line}"
        );
    }
    assert!(!line.contains('\n'));
    message
}

fn transform(x: f32) -> Transform {
    let rotation = Quat::from_xyzw(0.5, -0.5, 0.5, 0.5);
    Transform::new(Vec3::new(x, 2.0, -0.125), rotation)
}

fn frame(data: Option<&FrameData>) -> Value {
    let mut out = "what was there before".to_owned();
    write_frame(&mut out, &name(), &head(), data);
    read(&out)
}

fn statics(data: &StaticData) -> Value {
    let mut out = String::new();
    write_static(&mut out, &name(), 3, data);
    read(&out)
}

#[test]
fn hello_and_removed_say_who() {
    let mut out = String::new();
    write_hello(&mut out, "ghostlight", "0.1.0");
    let expected =
        json!({"type": "hello", "schema": 1, "program": "ghostlight", "version": "0.1.0"});
    assert_eq!(read(&out), expected);
    write_removed(&mut out, &name());
    let expected = json!({"type": "removed", "subject": "演員 \"A\\B\""});
    assert_eq!(read(&out), expected);
}

#[test]
fn a_body_is_told_with_its_hierarchy_and_seven_numbers_a_bone() {
    let data = StaticData {
        body: StaticBody::Animation(Skeleton {
            bone_names: vec!["Hips".into(), "背骨".into()],
            parents: vec![None, Some(0)],
            rest: vec![Transform::IDENTITY, transform(1.0)],
        }),
        properties: vec![hub::Property::linear("JawOpen")],
    };
    assert_eq!(
        statics(&data),
        json!({
            "type": "static", "subject": "演員 \"A\\B\"", "generation": 3, "role": "animation",
            "curves": ["JawOpen"], "bones": ["Hips", "背骨"], "parents": [null, 0],
            "rest": [0, 0, 0, 0, 0, 0, 1, 1, 2, -0.125, 0.5, -0.5, 0.5, 0.5],
        })
    );
    let data = FrameData {
        body: FrameBody::Animation(vec![transform(0.0), transform(4.0)]),
        properties: vec![0.75],
    };
    assert_eq!(
        frame(Some(&data)),
        json!({
            "type": "frame", "subject": "演員 \"A\\B\"", "generation": 3, "time": 12.5,
            "timecode": "05:04:23:55.500", "rate": [60, 1],
            "tracking": "tracked", "quality": "blended", "curves": [0.75],
            "bones": [0, 2, -0.125, 0.5, -0.5, 0.5, 0.5, 4, 2, -0.125, 0.5, -0.5, 0.5, 0.5],
        })
    );
}

#[test]
fn each_role_has_its_values_and_only_those_that_are_measured() {
    let of = |body| FrameData {
        body,
        properties: Vec::new(),
    };
    let pose = json!([1, 2, -0.125, 0.5, -0.5, 0.5, 0.5]);
    let prop = frame(Some(&of(FrameBody::Transform(transform(1.0)))));
    assert_eq!(prop["transform"], pose);

    let camera = frame(Some(&of(FrameBody::Camera(CameraFrame {
        transform: transform(1.0),
        focal_length_mm: Some(35.0),
        focus_distance_m: Some(2.5),
        ..CameraFrame::default()
    }))));
    assert_eq!(camera["transform"], pose);
    let lens = json!({"focal_length_mm": 35, "focus_distance_m": 2.5});
    assert_eq!(camera["camera"], lens);
    let sensor = statics(&StaticData {
        body: StaticBody::Camera(CameraStatic {
            sensor_mm: Some([36.0, 24.0]),
        }),
        properties: Vec::new(),
    });
    assert_eq!(sensor["sensor_mm"], json!([36, 24]));

    let light = frame(Some(&of(FrameBody::Light(LightFrame {
        transform: transform(1.0),
        color: Some([0.25, 0.5, 1.0]),
        ..LightFrame::default()
    }))));
    assert_eq!(
        light["light"],
        json!({"red": 0.25, "green": 0.5, "blue": 1})
    );
    let unit = statics(&StaticData {
        body: StaticBody::Light(LightStatic {
            unit: LightUnit::Lumen,
        }),
        properties: Vec::new(),
    });
    assert_eq!(unit["intensity_unit"], "lumen");
}

#[test]
fn a_frame_without_values_says_that_tracking_is_lost() {
    let mut out = String::new();
    let lost = FrameHead {
        tracking: Tracking::Lost,
        timecode: None,
        quality: Quality::Exact { frame: 0 },
        ..head()
    };
    write_frame(&mut out, &name(), &lost, None);
    let message = read(&out);
    assert_eq!(message["tracking"], "lost");
    assert!(message.get("curves").is_none() && message.get("timecode").is_none());
}

#[test]
fn every_number_reads_back_as_the_same_f32_and_none_is_infinite() {
    let values = [
        0.1,
        -0.0,
        f32::MIN_POSITIVE,
        f32::MAX,
        f32::from_bits(1),
        1.0 / 3.0,
    ];
    let message = frame(Some(&FrameData::basic(values.to_vec())));
    let read = message["curves"].as_array().unwrap();
    for (value, read) in values.iter().zip(read) {
        assert_eq!(read.as_f64().unwrap() as f32, *value);
    }
    let bad = vec![f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
    let message = frame(Some(&FrameData::basic(bad)));
    assert_eq!(message["curves"], json!([0, 0, 0]));
}

#[test]
fn text_from_anywhere_is_escaped() {
    let mut out = String::new();
    write_hello(&mut out, "a\"\\\n\u{1}\u{85}é", "");
    assert_eq!(read(&out)["program"], "a\"\\\n\u{1}\u{85}é");
    assert!(out.contains(r#""a\"\\\u000a\u0001\u0085é""#));
}
