//! The byte form: what is written is read back, for every role; strange bytes are an error, never a panic.

use glam::{Quat, Vec3};
use hub::{
    Blend, CameraFrame, CameraStatic, DropFrame, FrameBody, FrameData, FrameMeta, FrameRate,
    LightFrame, LightStatic, LightUnit, Property, QualifiedFrameTime, Skeleton, SourceTime,
    StaticBody, StaticData, Tracking, Transform, wire,
};
use proptest::prelude::*;

fn transform() -> impl Strategy<Value = Transform> {
    (
        prop::array::uniform3(-100.0f32..100.0),
        prop::array::uniform4(-1.0f32..1.0),
    )
        .prop_filter("a real rotation", |(_, q)| {
            (0.3..3.0).contains(&q.iter().map(|v| v * v).sum::<f32>())
        })
        .prop_map(|(t, q)| Transform::new(Vec3::from_array(t), Quat::from_array(q)))
}

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Zäé日本語 _.-]{1,20}"
}

fn properties() -> impl Strategy<Value = Vec<Property>> {
    prop::collection::btree_set(name(), 0..40).prop_flat_map(|names| {
        let n = names.len();
        prop::collection::vec(any::<(bool, bool)>(), n).prop_map(move |flags| {
            names
                .iter()
                .zip(flags)
                .map(|(name, (step, measured))| Property {
                    name: name.clone(),
                    blend: if step { Blend::Step } else { Blend::Linear },
                    measured,
                })
                .collect()
        })
    })
}

/// Static data and a frame that fits it.
fn subject() -> impl Strategy<Value = (StaticData, FrameData)> {
    let skeleton = prop::collection::vec((name(), any::<u32>(), transform(), transform()), 1..80)
        .prop_map(|bones| {
            let skeleton = Skeleton {
                bone_names: bones.iter().map(|b| b.0.clone()).collect(),
                parents: (0u32..)
                    .zip(&bones)
                    .map(|(i, b)| (i > 0).then(|| b.1 % i))
                    .collect(),
                rest: bones.iter().map(|b| b.2).collect(),
            };
            let frame = bones.iter().map(|b| b.3).collect();
            (StaticBody::Animation(skeleton), FrameBody::Animation(frame))
        });
    let values = || prop::array::uniform7(prop::option::of(-1e3f32..1e3));
    let camera = (
        transform(),
        values(),
        prop::option::of(prop::array::uniform2(1.0f32..100.0)),
    )
        .prop_map(|(t, v, sensor_mm)| {
            let lens = [v[0], v[1], v[2], v[3], v[4]];
            (
                StaticBody::Camera(CameraStatic { sensor_mm }),
                FrameBody::Camera(CameraFrame::from_lens(t, lens)),
            )
        });
    let light = (transform(), values(), 0..4usize).prop_map(|(t, v, unit)| {
        let unit = [
            LightUnit::Unitless,
            LightUnit::Candela,
            LightUnit::Lumen,
            LightUnit::Lux,
        ][unit];
        (
            StaticBody::Light(LightStatic { unit }),
            FrameBody::Light(LightFrame::from_emission(t, v)),
        )
    });
    let body = prop_oneof![
        Just((StaticBody::Basic, FrameBody::Basic)),
        skeleton,
        transform().prop_map(|t| (StaticBody::Transform, FrameBody::Transform(t))),
        camera,
        light,
    ];
    (body, properties()).prop_flat_map(|((statics, frame), properties)| {
        let n = properties.len();
        prop::collection::vec(-1e6f32..1e6, n).prop_map(move |values| {
            (
                StaticData {
                    body: statics.clone(),
                    properties: properties.clone(),
                },
                FrameData {
                    body: frame.clone(),
                    properties: values,
                },
            )
        })
    })
}

fn meta() -> impl Strategy<Value = FrameMeta> {
    let timecode =
        (0i64..10_000_000, 0.0f32..0.999, 0..3usize).prop_map(|(frame, sub_frame, r)| {
            QualifiedFrameTime {
                frame,
                sub_frame,
                rate: [
                    FrameRate::FPS_60,
                    FrameRate::FPS_29_97,
                    FrameRate::FPS_23_976,
                ][r],
                drop: if r == 1 {
                    DropFrame::Drop
                } else {
                    DropFrame::NonDrop
                },
            }
        });
    (
        prop::option::of(timecode),
        prop::option::of(any::<i64>()),
        prop::option::of(any::<u64>()),
        any::<bool>(),
        prop::collection::vec((name(), name()), 0..4),
    )
        .prop_map(|(timecode, source, sequence, lost, extra)| FrameMeta {
            timecode,
            source_time: source.map(SourceTime::from_nanos),
            sequence,
            tracking: if lost {
                Tracking::Lost
            } else {
                Tracking::Tracked
            },
            extra,
            ..FrameMeta::default()
        })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back((statics, frame) in subject(), meta in meta(), tail: [u8; 3]) {
        let mut encoder = wire::Encoder::default();
        let mut bytes = Vec::new();
        encoder.static_data(&statics, &mut bytes);
        // A later minor version may append.
        bytes.extend(tail);
        prop_assert_eq!(wire::read_static(&bytes).expect("our own bytes"), statics);

        bytes.clear();
        encoder.frame(&meta, Some(&frame), &mut bytes);
        bytes.extend(tail);
        let (mut read_meta, mut read_frame) = (FrameMeta::default(), FrameData::default());
        let has_data = wire::read_frame(&bytes, &mut read_meta, &mut read_frame).expect("our own bytes");
        prop_assert!(has_data);
        prop_assert_eq!(&read_meta, &meta);
        prop_assert_eq!(read_frame, frame);

        bytes.clear();
        encoder.frame(&meta, None, &mut bytes);
        let mut nothing = FrameData::default();
        prop_assert!(!wire::read_frame(&bytes, &mut read_meta, &mut nothing).expect("our own bytes"));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = wire::read_static(&bytes);
        let _ = wire::read_frame(&bytes, &mut FrameMeta::default(), &mut FrameData::default());
    }
}

#[test]
fn golden_bytes_follow_the_documented_layout() {
    // Assembled by hand from the table in the module's docs: a basic subject with one step curve "ab".
    let bytes = [0, 0, 0, 0, 0, 4, 2, b'a', b'b', 1];
    let read = wire::read_static(&bytes).expect("a valid record");
    let mut expected = StaticData::basic(&["ab"]);
    expected.properties[0].blend = Blend::Step;
    assert_eq!(read, expected);
    // No timecode, no source time, sequence 5, values, basic, no transforms, mask 0, no role values, 1.0, no extra.
    let bytes = [0, 0, 1, 5, 2, 0, 0, 0, 0, 4, 0, 0, 0x80, 0x3f, 0];
    let (mut meta, mut data) = (FrameMeta::default(), FrameData::default());
    assert_eq!(wire::read_frame(&bytes, &mut meta, &mut data), Ok(true));
    assert_eq!(meta.sequence, Some(5));
    assert_eq!(data, FrameData::basic(vec![1.0]));
}
