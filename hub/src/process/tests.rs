//! Chains: stage files, order, what is refused, and what changes live.

use glam::{Quat, Vec3};
use serde::Deserialize;

use super::*;
use crate::{
    FrameBody, FrameData, FrameMeta, Property, Refusal, Role, Skeleton, StaticBody, StaticData,
    Transform, WorldTime, client,
};

const TAKEN: Processed = Processed::Taken {
    replaced: 0,
    jumps: 0,
};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stage {
    #[serde(default)]
    subject: Vec<Subject>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Subject {
    #[expect(dead_code, reason = "a stage file has it")]
    name: String,
    #[serde(default)]
    process: Vec<Step>,
}

fn steps(toml: &str) -> Vec<Step> {
    #[derive(Deserialize)]
    struct Table {
        step: Vec<Step>,
    }
    toml::from_str::<Table>(toml).unwrap().step
}

fn chain(toml: &str) -> Chain {
    Chain::new(&steps(toml)).unwrap()
}

fn meta(millis: i64) -> FrameMeta {
    FrameMeta {
        arrival: WorldTime::from_nanos(millis * 1_000_000),
        ..FrameMeta::default()
    }
}

/// The curves that come out of these values, 10 ms after each other.
fn curve(chain: &mut Chain, from: i64, values: &[f32]) -> Vec<f32> {
    let mut out = FrameData::default();
    (from..)
        .zip(values)
        .map(|(n, value)| {
            let frame = FrameData::basic(vec![*value]);
            assert_eq!(chain.frame(&meta(n * 10), &frame, &mut out), TAKEN);
            out.properties[0]
        })
        .collect()
}

fn body(rest: Vec<Transform>) -> StaticData {
    StaticData {
        body: StaticBody::Animation(Skeleton {
            bone_names: ["腰", "左腕", "右腕"].map(str::to_owned).to_vec(),
            parents: vec![None, Some(0), Some(0)],
            rest,
        }),
        properties: vec![Property::linear("JawLeft"), Property::linear("JawRight")],
    }
}

fn body_frame() -> FrameData {
    FrameData {
        body: FrameBody::Animation(vec![Transform::IDENTITY; 3]),
        properties: vec![0.25, 0.5],
    }
}

#[test]
fn every_kind_is_on_by_default_and_comes_back_as_written() {
    let steps = steps(
        r#"
        step = [
            { kind = "axes", x = "-x", y = "+y", z = "z", metres_per_unit = 0.01 },
            { kind = "offset", bones = ["Hips"], translation_m = [0, 1.5, 0], side = "local" },
            { kind = "invert", rotation = ["x"], curves = ["EyeOpen*"], curve_mode = "one_minus" },
            { kind = "rename", bones = { Hips = "pelvis" }, curve_case = "camel", of = "bones" },
            { kind = "gain", gain = 2, deadband = 0.02, max = 1 },
            { kind = "one_euro", min_cutoff_hz = 1 },
            { kind = "outlier", max_speed_m_per_sec = 20 },
            { kind = "mirror", curves = "sideways", enabled = false },
        ]
        "#,
    );
    let kinds: Vec<_> = steps.iter().map(Step::kind).collect();
    assert_eq!(
        kinds,
        [
            "axes", "offset", "invert", "rename", "gain", "one_euro", "outlier", "mirror"
        ]
    );
    let on: Vec<_> = steps.iter().map(Step::is_enabled).collect();
    assert_eq!(on, [true, true, true, true, true, true, true, false]);
    assert_eq!(
        steps[4],
        Step::Gain(Gain {
            gain: 2.0,
            deadband: 0.02,
            max: Some(1.0),
            ..Gain::default()
        })
    );
    for step in &steps {
        let text = toml::to_string(step).unwrap();
        assert_eq!(toml::from_str::<Step>(&text).unwrap(), *step, "{text}");
    }
}

#[test]
fn unknown_keys_and_kinds_are_refused_by_name() {
    for (toml, word) in [
        (r#"kind = "gain""#, None),
        ("kind = \"gain\"\ngian = 2.0", Some("gian")),
        ("kind = \"mirror\"\nbones = [\"a\"]", Some("bones")),
        (r#"kind = "blur""#, Some("blur")),
        ("gain = 2.0", Some("kind")),
        ("kind = \"axes\"\nx = \"w\"", Some("`w`")),
        ("kind = \"offset\"\ntranslation_m = [1.0]", Some("length")),
    ] {
        let found = toml::from_str::<Step>(toml);
        match word {
            None => assert!(found.is_ok(), "{toml}"),
            Some(word) => {
                let text = found.unwrap_err().to_string();
                assert!(text.contains(word), "{toml}: {text}");
            }
        }
    }
}

#[test]
fn every_example_of_the_manual_can_be_used() {
    let page = include_str!("../../../docs/processing.md");
    let mut kinds = std::collections::BTreeSet::new();
    let mut fences = page.split("```");
    while let (Some(_), Some(fenced)) = (fences.next(), fences.next()) {
        let Some(toml) = fenced.strip_prefix("toml\n") else {
            continue;
        };
        let stage = toml::from_str::<Stage>(toml).unwrap_or_else(|e| panic!("{toml}\n{e}"));
        for subject in stage.subject {
            kinds.extend(subject.process.iter().map(Step::kind));
            Chain::new(&subject.process).unwrap();
        }
    }
    assert_eq!(kinds.len(), 8, "{kinds:?}");
}

#[test]
fn every_fault_of_every_step_is_told_at_once() {
    let faults = Chain::new(&steps(
        r#"step = [
            { kind = "gain", gain = nan, deadband = 2.0 },
            { kind = "one_euro" },
            { kind = "axes", enabled = false },
        ]"#,
    ))
    .unwrap_err();
    let places: Vec<_> = faults.iter().map(|f| (f.step, f.kind)).collect();
    assert_eq!(places, [(0, "gain"), (0, "gain"), (2, "axes")]);
    assert_eq!(
        faults[1].to_string(),
        "step 1 (gain): `deadband` is 2, not within 0 to 0.99"
    );
    let many = vec![Step::Gain(Gain::default()); MAX_STEPS + 2];
    assert_eq!(Chain::new(&many).unwrap_err().len(), 1);
}

#[test]
fn steps_are_applied_in_order_and_later_ones_see_new_names() {
    let data = StaticData::basic(&["jawOpen"]);
    for (toml, expected) in [
        (
            r#"step = [
                { kind = "gain", gain = 2.0 },
                { kind = "gain", max = 0.5 },
            ]"#,
            0.5,
        ),
        (
            r#"step = [
                { kind = "gain", max = 0.5 },
                { kind = "gain", gain = 2.0 },
            ]"#,
            1.0,
        ),
        (
            r#"step = [
                { kind = "rename", curves = { jawOpen = "mund" } },
                { kind = "gain", curves = ["mund"], gain = 0.5 },
                { kind = "gain", curves = ["jawOpen"], gain = 100.0 },
            ]"#,
            0.5,
        ),
    ] {
        let mut chain = chain(toml);
        chain.statics(&data);
        assert_eq!(curve(&mut chain, 0, &[1.0]), [expected], "{toml}");
    }
}

#[test]
fn a_chain_of_nothing_changes_nothing() {
    let mut chain = chain("step = []");
    let data = body(Vec::new());
    assert_eq!(*chain.statics(&data), data);
    let mut frame = body_frame();
    // Not quite of unit length: the client's business.
    frame.transforms_mut()[1].rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 1.1);
    let mut out = FrameData::default();
    assert_eq!(chain.frame(&meta(0), &frame, &mut out), TAKEN);
    assert_eq!(out, frame);
}

#[test]
fn frames_that_do_not_fit_pass_nothing() {
    let mut chain = chain(
        r#"step = [{ kind = "mirror" }, { kind = "one_euro" }, { kind = "offset", translation_m = [1, 0, 0] }]"#,
    );
    let mut out = FrameData::default();
    let refused = |p| match p {
        Processed::Refused(refusal) => refusal,
        Processed::Taken { .. } => panic!("taken"),
    };
    assert_eq!(
        refused(chain.frame(&meta(0), &body_frame(), &mut out)),
        Refusal::NoStatic
    );
    chain.statics(&body(Vec::new()));
    assert_eq!(
        refused(chain.frame(&meta(0), &FrameData::basic(vec![0.0; 2]), &mut out)),
        Refusal::WrongRole {
            want: Role::Animation,
            have: Role::Basic
        }
    );
    let mut short = body_frame();
    short.properties.pop();
    let mut long = body_frame();
    if let FrameBody::Animation(bones) = &mut long.body {
        bones.push(Transform::IDENTITY);
    }
    let mut bad = body_frame();
    bad.properties[1] = f32::NAN;
    let mut flat = body_frame();
    flat.transforms_mut()[2].rotation = Quat::from_xyzw(0.0, 0.0, 0.0, 0.0);
    for (frame, index) in [(short, 2), (long, 2), (bad, 3), (flat, 4)] {
        let refusal = refused(chain.frame(&meta(1), &frame, &mut out));
        assert_eq!(refusal.index(), index, "{refusal}");
    }
    assert_eq!(chain.frame(&meta(2), &body_frame(), &mut out), TAKEN);
    let counts = chain.counts();
    assert_eq!((counts.frames, counts.refused), (1, 6));
}

#[test]
fn a_number_that_overflows_on_the_way_is_refused() {
    let mut chain = chain(r#"step = [{ kind = "gain", gain = 1000.0 }]"#);
    chain.statics(&StaticData::basic(&["a"]));
    let mut out = FrameData::default();
    let frame = FrameData::basic(vec![f32::MAX]);
    let done = chain.frame(&meta(0), &frame, &mut out);
    assert_eq!(done, Processed::Refused(Refusal::NonFinite { at: 0 }));
}

#[test]
fn with_a_guard_a_bad_number_takes_the_value_of_the_frame_before() {
    let mut chain = chain(r#"step = [{ kind = "one_euro" }, { kind = "outlier" }]"#);
    chain.statics(&body(Vec::new()));
    let mut out = FrameData::default();
    let mut bad = body_frame();
    bad.properties[0] = f32::NAN;
    bad.transforms_mut()[1].translation.x = f32::INFINITY;
    // Nothing to take it from yet.
    let first = chain.frame(&meta(0), &bad, &mut out);
    assert!(matches!(
        first,
        Processed::Refused(Refusal::NonFinite { .. })
    ));
    assert_eq!(chain.frame(&meta(10), &body_frame(), &mut out), TAKEN);
    for n in 2..200 {
        assert_eq!(
            chain.frame(&meta(n * 10), &bad, &mut out),
            Processed::Taken {
                replaced: 2,
                jumps: 0
            }
        );
        assert_eq!(out.properties, body_frame().properties);
        assert_eq!(out.transforms()[1].translation, Vec3::ZERO);
    }
    assert_eq!(chain.counts().replaced, 2 * 198);
}

#[test]
fn names_that_clash_leave_the_step_out_and_are_told() {
    let mut chain = chain(
        r#"step = [
            { kind = "rename", curves = { a = "b" } },
            { kind = "gain", gain = 2.0 },
        ]"#,
    );
    let data = StaticData::basic(&["a", "b"]);
    assert_eq!(*chain.statics(&data), data);
    assert_eq!(chain.faults().len(), 1);
    assert_eq!(
        chain.faults()[0].to_string(),
        "step 1 (rename): curve \"a\" and curve \"b\" would both be called \"b\""
    );
    let mut out = FrameData::default();
    let frame = FrameData::basic(vec![0.25, 0.5]);
    assert_eq!(chain.frame(&meta(0), &frame, &mut out), TAKEN);
    assert_eq!(out.properties, [0.5, 1.0]);
    // Another subject's names do not clash.
    let names = |data: &StaticData| data.properties[0].name.clone();
    assert_eq!(names(chain.statics(&StaticData::basic(&["a"]))), "b");
    assert!(chain.faults().is_empty());
}

#[test]
fn a_step_switched_on_and_off_keeps_what_the_others_remember() {
    let toml = r#"step = [
        { kind = "one_euro", min_cutoff_hz = 1.0, beta = 0.0 },
        { kind = "gain", gain = 2.0, enabled = false },
    ]"#;
    let data = StaticData::basic(&["a"]);
    let mut plain = chain(toml);
    let mut switched = chain(toml);
    for chain in [&mut plain, &mut switched] {
        chain.statics(&data);
    }
    let values = [0.0, 1.0, 1.0];
    assert_eq!(
        curve(&mut plain, 0, &values),
        curve(&mut switched, 0, &values)
    );
    assert!(switched.set_enabled(1, true));
    let expected = curve(&mut plain, 3, &[1.0])[0];
    assert!(expected < 0.9);
    assert_eq!(curve(&mut switched, 3, &[1.0]), [2.0 * expected]);
    assert!(switched.set_enabled(1, false));
    assert_eq!(
        curve(&mut switched, 4, &[1.0]),
        curve(&mut plain, 4, &[1.0])
    );
    // The filter itself, off and on: from then on it begins anew.
    switched.set_enabled(0, false);
    assert_eq!(curve(&mut switched, 5, &[0.25]), [0.25]);
    switched.set_enabled(0, true);
    assert_eq!(curve(&mut switched, 6, &[0.5]), [0.5]);
    assert!(curve(&mut switched, 7, &[1.0])[0] < 0.9);
    assert!(!switched.set_enabled(2, true));
    let on: Vec<_> = switched.steps().map(Step::is_enabled).collect();
    assert_eq!(on, [true, false]);
}

#[test]
fn other_numbers_of_a_filter_go_on_from_where_it_is() {
    let data = StaticData::basic(&["a"]);
    let mut chain = chain(r#"step = [{ kind = "one_euro", min_cutoff_hz = 1.0, beta = 0.0 }]"#);
    chain.statics(&data);
    let before = curve(&mut chain, 0, &[0.0, 1.0])[1];
    let slower = steps(
        r#"step = [
            { kind = "gain", offset = 0.0 },
            { kind = "one_euro", min_cutoff_hz = 0.1, beta = 0.0 },
        ]"#,
    );
    chain.replace(&slower).unwrap();
    let after = curve(&mut chain, 2, &[1.0])[0];
    // α = r / (1 + r) with r = 2π · 0.1 Hz · 0.01 s.
    let ratio = std::f32::consts::TAU * 0.001;
    let expected = before + ratio / (1.0 + ratio) * (1.0 - before);
    assert!((after - expected).abs() < 1e-6, "{after} {expected}");
    // A chain that is refused changes nothing.
    let bad = steps(r#"step = [{ kind = "gain", gain = inf }]"#);
    assert!(chain.replace(&bad).is_err());
    assert_eq!(chain.steps().count(), 2);
    assert_eq!(chain.counts().frames, 3);
}

#[test]
fn the_client_begins_a_generation_only_when_what_comes_out_is_other() {
    let rest = vec![
        Transform::IDENTITY,
        Transform::new(Vec3::X, Quat::IDENTITY),
        Transform::new(Vec3::NEG_X, Quat::IDENTITY),
    ];
    let data = body(rest);
    let mut chain = chain(
        r#"step = [
            { kind = "mirror", enabled = false },
            { kind = "offset", translation_m = [0, 0, 1], enabled = false },
            { kind = "rename", bones = { "腰" = "Hips" }, enabled = false },
        ]"#,
    );
    let mut client = client::Client::default();
    let key = crate::SubjectKey::new(
        crate::SourceId::new("test").unwrap(),
        crate::SubjectName::new("演員").unwrap(),
    );
    let now = WorldTime::default();
    client.push_static(&key, chain.statics(&data), now).unwrap();
    for (step, outcome) in [
        (0, client::StaticOutcome::Unchanged),
        (1, client::StaticOutcome::Unchanged),
        (2, client::StaticOutcome::Changed),
    ] {
        chain.set_enabled(step, true);
        let processed = chain.processed().unwrap();
        assert_eq!(client.push_static(&key, processed, now), Ok(outcome));
    }
    let mut out = FrameData::default();
    assert_eq!(chain.frame(&meta(0), &body_frame(), &mut out), TAKEN);
    let pushed = client.push_frame(&key, &meta(0), Some(&out));
    assert_eq!(pushed, client::PushOutcome::Taken { reordered: false });
    // JawLeft and JawRight have changed places, and the root stands a metre ahead.
    assert_eq!(out.properties, [0.5, 0.25]);
    assert_eq!(out.transforms()[0].translation, Vec3::Z);
}

#[test]
fn static_data_that_contradicts_itself_comes_out_as_it_went_in() {
    let mut chain = chain(r#"step = [{ kind = "mirror" }, { kind = "axes", preset = "unity" }]"#);
    let mut data = body(vec![Transform::IDENTITY]);
    if let StaticBody::Animation(skeleton) = &mut data.body {
        skeleton.parents = vec![Some(7)];
    }
    assert_eq!(*chain.statics(&data), data);
    // Whatever comes with it, nothing panics.
    let mut out = FrameData::default();
    chain.frame(&meta(0), &body_frame(), &mut out);
}
