//! Which curves are taken, parts that appear and change, and recipes that cannot be.

use super::*;
use crate::Property;

fn curves(list: &[(&str, bool)]) -> StaticData {
    StaticData {
        body: StaticBody::Basic,
        properties: list
            .iter()
            .map(|(name, measured)| Property {
                measured: *measured,
                ..Property::linear(*name)
            })
            .collect(),
    }
}

/// Parts that each send one value on all their curves: the first 0.1, the second 0.2 and so on.
fn faces(parts: &[(PartSpec, StaticData)]) -> Sim {
    let specs = parts.iter().map(|p| p.0.clone()).collect();
    let mut sim = Sim::new(&merged(specs));
    for (at, (spec, statics)) in parts.iter().enumerate() {
        let value = (at + 1) as f32 / 10.0;
        let values = vec![value; statics.properties.len()];
        sim.feed(spec.subject.as_str(), statics, move |_| {
            FrameData::basic(values.clone())
        });
    }
    sim
}

fn masked(subject: &str, wanted: &[&str], unwanted: &[&str]) -> PartSpec {
    let owned = |list: &[&str]| list.iter().map(|p| (*p).to_owned()).collect();
    PartSpec {
        curves: Some(owned(wanted)),
        except: owned(unwanted),
        ..part(subject)
    }
}

fn check_curves(sim: &mut Sim, expected: &[(&str, f32)]) {
    let frame = sim.settled();
    let names: Vec<_> = frame.statics.properties.iter().map(|p| &p.name).collect();
    let found: Vec<_> = names
        .iter()
        .map(|n| (n.as_str(), curve(frame, n)))
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn a_face_at_half_open_is_at_half_open_in_the_whole() {
    let mut sim = Sim::new(&merged(vec![part("Suit"), part("演員")]));
    sim.feed("Suit", &ramp_body(), walk);
    sim.feed("演員", &ramp_face(), |_| FrameData::basic(vec![0.5]));
    let frame = sim.settled();
    assert_eq!(curve(frame, "JawOpen"), 0.5);
    assert_eq!(frame.statics.num_transforms(), 1);
}

#[test]
fn the_first_part_has_a_curve_unless_another_measures_it() {
    let mut sim = faces(&[
        (
            part("A"),
            curves(&[("JawOpen", true), ("TongueOut", false)]),
        ),
        (
            part("B"),
            curves(&[("jawopen", true), ("tongueOut", true), ("CheekPuff", false)]),
        ),
    ]);
    check_curves(
        &mut sim,
        &[("JawOpen", 0.1), ("TongueOut", 0.2), ("CheekPuff", 0.2)],
    );
    let measured: Vec<_> = sim
        .out
        .statics
        .properties
        .iter()
        .map(|p| p.measured)
        .collect();
    assert_eq!(measured, [true, true, false]);
}

#[test]
fn masks_are_exclusive_and_each_curve_has_full_weight() {
    // Forum case: brows from one, mouth from another; averaging would show both at half intensity.
    let all = [
        ("BrowInnerUp", true),
        ("JawOpen", true),
        ("MouthClose", true),
    ];
    let mut sim = faces(&[
        (part("Phone"), curves(&all)),
        (
            masked("Lips", &["mouth*", "jaw*"], &["*close"]),
            curves(&all),
        ),
    ]);
    check_curves(
        &mut sim,
        &[("BrowInnerUp", 0.1), ("JawOpen", 0.2), ("MouthClose", 0.1)],
    );
    assert!(sim.hero.faults().is_empty(), "{:?}", sim.hero.faults());

    let mut sim = faces(&[
        (masked("Phone", &[], &[]), curves(&all)),
        (part("Lips"), curves(&all[1..])),
    ]);
    check_curves(&mut sim, &[("JawOpen", 0.2), ("MouthClose", 0.2)]);
}

#[test]
fn a_claimed_curve_that_is_not_measured_is_taken_from_a_part_that_does_and_told() {
    let mut sim = faces(&[
        (
            masked("Webcam", &["*"], &[]),
            curves(&[("CheekPuff", false)]),
        ),
        (part("Phone"), curves(&[("CheekPuff", true)])),
    ]);
    check_curves(&mut sim, &[("CheekPuff", 0.2)]);
    assert!(sim.hero.notes()[0].contains("CheekPuff"));
}

#[test]
fn two_curves_of_one_part_that_differ_in_case_stay_two() {
    let mut sim = faces(&[
        (part("A"), curves(&[("a", true)])),
        (part("B"), curves(&[("A", true), ("a", true)])),
    ]);
    check_curves(&mut sim, &[("a", 0.1), ("A", 0.2)]);
}

#[test]
fn all_faults_are_told_at_once_with_the_nearest_names() {
    let attach = |to: &str, bone: &str| AttachSpec {
        bone: Some(bone.to_owned()),
        ..AttachSpec::new(to)
    };
    let glove = |subject: &str, to: &str, bone: &str| PartSpec {
        attach: Some(attach(to, bone)),
        ..part(subject)
    };
    let suit = masked("Suit", &["jaww*"], &[]);
    let spec = merged(vec![
        suit,
        glove("Left", "LeftHnad", "Wrist"),
        glove("Right", "RightHand", "Wrst"),
    ]);
    let mut sim = Sim::new(&spec);
    let still = |count| move |_: f64| pose(vec![Transform::IDENTITY; count]);
    let rows = ["Hips", "LeftHand", "RightHand"]
        .map(|n| (n, (n != "Hips").then_some(0), Transform::IDENTITY));
    sim.feed("Suit", &skeleton(&rows), still(3));
    let rows = [("Wrist", None, Transform::IDENTITY)];
    sim.feed("Left", &skeleton(&rows), still(1));
    sim.feed("Right", &skeleton(&rows), still(1));
    // The body goes on without what is faulty.
    assert_eq!(sim.settled().statics.num_transforms(), 3);
    let faults = sim.hero.faults();
    assert_eq!(faults.len(), 3, "{faults:#?}");
    for (words, fault) in [
        (["jaww*", "Suit", "Hero"], &faults[0]),
        (["LeftHnad", "\"LeftHand\"", "Left"], &faults[2]),
        (["Wrst", "\"Wrist\"", "Right"], &faults[1]),
    ] {
        assert!(words.iter().all(|w| fault.contains(w)), "{words:?} {fault}");
    }
}

#[test]
fn static_data_follows_the_parts_and_nothing_else() {
    let optional = PartSpec {
        required: false,
        ..part("Phone")
    };
    let mut sim = Sim::new(&merged(vec![part("Suit"), optional]));
    sim.feed("Suit", &ramp_body(), walk);
    sim.run(0.5, |_, state, frame| {
        assert_eq!(state.answer, Answer::Frame);
        assert!(frame.statics.properties.is_empty());
    });
    // Appears.
    sim.feed("Phone", &ramp_face(), |_| FrameData::basic(vec![0.5]));
    let mut changes = 0;
    sim.run(1.0, |_, state, _| changes += u32::from(state.changed));
    assert_eq!((changes, curve(&sim.out, "JawOpen")), (1, 0.5));
    // Equal static data again changes nothing; other static data does.
    let (key, now) = (sim.feeds[1].key.clone(), sim.now());
    sim.client.push_static(&key, &ramp_face(), now).unwrap();
    sim.run(1.5, |_, state, _| assert!(!state.changed));
    let (now, two) = (sim.now(), StaticData::basic(&["TongueOut", "JawOpen"]));
    sim.client.push_static(&key, &two, now).unwrap();
    sim.feeds[1].make = Box::new(|_| FrameData::basic(vec![0.1, 0.4]));
    sim.run(2.0, |_, state, frame| {
        // By name, never by the place it had before.
        let jaw = curve(frame, "JawOpen");
        assert!(jaw <= 0.5, "{jaw}");
        assert_eq!(frame.statics.properties.len(), 2, "{state:?}");
    });
    assert_eq!(curve(&sim.out, "JawOpen"), 0.4);
    // Switched off is gone.
    assert!(sim.client.disable(&key));
    sim.run(2.2, |_, state, frame| {
        assert_eq!(state.state, SubjectState::Connected);
        assert!(frame.statics.properties.is_empty());
    });
}

#[test]
fn an_optional_part_that_begins_late_eases_in() {
    let optional = PartSpec {
        required: false,
        ..part("Phone")
    };
    let mut sim = Sim::new(&merged(vec![part("Suit"), optional]));
    sim.feed("Suit", &ramp_body(), walk);
    // It announces itself at once and sends from 1 s on.
    sim.feed("Phone", &ramp_face(), |_| FrameData::basic(vec![1.0]))
        .mute = 0.0..1.0;
    let (mut before, mut largest) = (0.0, 0.0f32);
    sim.run(2.0, |_, _, frame| {
        let jaw = curve(frame, "JawOpen");
        largest = largest.max((jaw - before).abs());
        before = jaw;
    });
    assert_eq!(before, 1.0);
    assert!(largest <= 0.1 + 1e-4, "{largest}");
}

#[test]
fn without_a_required_part_there_is_no_answer() {
    let mut sim = Sim::new(&merged(vec![part("Suit"), part("Phone")]));
    sim.feed("Suit", &ramp_body(), walk);
    sim.run(0.3, |_, state, _| {
        assert_eq!(
            (state.answer, state.state),
            (Answer::Waiting, SubjectState::Disconnected)
        );
    });
    sim.feed("Phone", &ramp_face(), |_| FrameData::basic(vec![0.5]));
    sim.settled();
    let key = sim.feeds[1].key.clone();
    sim.feeds.truncate(1);
    sim.client.remove(&key);
    sim.run(1.2, |_, state, _| assert_eq!(state.answer, Answer::Waiting));
}

#[test]
fn the_phone_that_takes_over_a_name_fades_in() {
    let mut sim = Sim::new(&merged(vec![part("Phone")]));
    sim.feed("Phone", &ramp_face(), |_| FrameData::basic(vec![1.0]));
    sim.run(0.5, |_, _, _| {});
    let other = SubjectKey::new(SourceId::new("test/other").unwrap(), name("Phone"));
    let now = sim.now();
    sim.client.push_static(&other, &ramp_face(), now).unwrap();
    let meta = FrameMeta {
        arrival: now,
        ..FrameMeta::default()
    };
    let zero = FrameData::basic(vec![0.0]);
    sim.client.push_frame(&other, &meta, Some(&zero));
    assert!(sim.client.enable(&other));
    let mut before = 1.0;
    sim.run(0.85, |_, state, frame| {
        assert!(!state.changed);
        let jaw = curve(frame, "JawOpen");
        assert!(
            (0.0..=0.1 + 1e-4).contains(&(before - jaw)),
            "{before} {jaw}"
        );
        before = jaw;
    });
    assert_eq!(before, 0.0);
}

#[test]
fn it_never_takes_its_own_output() {
    // A suit by the name of the whole would be taken; what the whole pushed is not.
    let mut sim = Sim::new(&merged(vec![part("Suit")]));
    let mut own = Part::new(name("Hero"), true, None, OnStall::Hold);
    sim.feed("Suit", &ramp_body(), walk);
    sim.settled();
    let (key, now) = (sim.hero.key(), sim.now());
    sim.client.push_static(&key, &sim.out.statics, now).unwrap();
    assert!(!own.look(&sim.client, sim.hero.source(), now));
    assert_eq!(own.seen, None);
    // Another virtual subject may take it.
    let other = SourceId::new("virtual/Other").unwrap();
    assert!(own.look(&sim.client, &other, now));
    assert!(own.seen.is_some());
}

fn of(subject: &str, parts: &[&str]) -> VirtualSpec {
    VirtualSpec {
        parts: parts.iter().map(|p| part(p)).collect(),
        ..VirtualSpec::new(name(subject))
    }
}

#[test]
fn circles_are_refused_by_name_and_the_rest_is_ordered() {
    let specs = [
        of("全", &["Body", "Face"]),
        of("Body", &["Suit", "Hands"]),
        of("Hands", &["Left", "Right"]),
    ];
    assert_eq!(check_cycles(&specs), Ok(vec![2, 1, 0]));
    assert_eq!(check_cycles(&[]), Ok(vec![]));

    let prop = VirtualSpec {
        translate: Some(TranslateSpec::RootToTransform { subject: name("A") }),
        ..VirtualSpec::new(name("C"))
    };
    let specs = [
        of("A", &["Suit", "B"]),
        of("B", &["C"]),
        prop,
        of("D", &["A"]),
    ];
    let faults = check_cycles(&specs).unwrap_err();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(
        faults[0].ends_with("\"A\" of \"B\" of \"C\" of \"A\""),
        "{faults:?}"
    );

    let faults = check_cycles(&[of("A", &["x"]), of("A", &["y"])]).unwrap_err();
    assert!(faults[0].contains("two virtual subjects are named \"A\""));
}

#[test]
fn recipes_that_cannot_be_are_refused_with_every_reason() {
    let mut spec = of("Hero", &["Suit", "Hero"]);
    spec.translate = Some(TranslateSpec::CameraToTransform {
        subject: name("Cam"),
    });
    spec.parts[0].attach = Some(AttachSpec {
        offset_m: [f32::NAN, 0.0, 0.0],
        offset_deg: [0.0, 400.0, 0.0],
        ..AttachSpec::new("")
    });
    spec.parts[1].except = vec![String::new()];
    let faults = Virtual::new(&spec).unwrap_err();
    assert_eq!(faults.len(), 6, "{faults:#?}");
    assert!(
        faults
            .iter()
            .all(|f| f.starts_with("virtual subject \"Hero\": "))
    );
    assert!(Virtual::new(&of("Hero", &[])).is_err());
    assert!(Virtual::new(&of("Hero", &["x"; MAX_PARTS + 1])).is_err());
    assert!(Virtual::new(&of(&"n".repeat(249), &["x"])).is_err());
    assert!(Virtual::new(&of(&"n".repeat(248), &["x"])).is_ok());
}

#[test]
fn several_hours_of_silence_between_two_ticks_are_survived() {
    let mut sim = Sim::new(&merged(vec![part("Suit")]));
    sim.feed("Suit", &ramp_body(), walk);
    sim.settled();
    let later = sim.now() + 5 * 3600 * NANOS_PER_SEC;
    let state = sim.hero.evaluate(&sim.client, later, &mut sim.out);
    assert_eq!(state.answer, Answer::Frame);
    assert_eq!(state.state, SubjectState::Disconnected);
    assert_eq!(sim.out.data.check(&sim.out.statics), Ok(()));
}

#[derive(Debug, serde::Deserialize)]
struct Stage {
    #[serde(rename = "virtual")]
    all: Vec<VirtualSpec>,
}

#[test]
fn the_operators_page_reads_as_it_says() {
    let text = r#"
        [[virtual]]
        name = "山田"
        align = "timecode"
        [[virtual.parts]]
        subject = "Suit"
        [[virtual.parts]]
        subject = "Gloves"
        required = false
        attach = { bone = "LeftHand", to = "hand_l", joint = "part", offset_deg = [0.0, 90.0, 0.0] }
        [[virtual.parts]]
        subject = "Phone"
        on_stall = "freeze_all"
        curves = ["mouth*"]
        except = ["*Left"]

        [[virtual]]
        name = "Head"
        translate = { bone_to_transform = { subject = "Suit", bone = "Head" } }
    "#;
    let stage: Stage = toml::from_str(text).unwrap();
    let glove = PartSpec {
        required: false,
        attach: Some(AttachSpec {
            bone: Some("LeftHand".to_owned()),
            joint: Joint::Part,
            offset_deg: [0.0, 90.0, 0.0],
            ..AttachSpec::new("hand_l")
        }),
        ..part("Gloves")
    };
    let phone = PartSpec {
        on_stall: Some(OnStall::FreezeAll),
        ..masked("Phone", &["mouth*"], &["*Left"])
    };
    let whole = VirtualSpec {
        align: Align::Timecode,
        parts: vec![part("Suit"), glove, phone],
        ..VirtualSpec::new(name("山田"))
    };
    let head = VirtualSpec {
        translate: Some(TranslateSpec::BoneToTransform {
            subject: name("Suit"),
            bone: "Head".to_owned(),
            space: Space::Global,
        }),
        ..VirtualSpec::new(name("Head"))
    };
    assert_eq!(stage.all, [whole, head]);
    for wrong in [
        "[[virtual]]\nname = 'x'\ncolour = 1",
        "[[virtual]]\nname = ''",
        "[[virtual]]\nname = 'x'\nparts = [{ subject = 'y', attached = {} }]",
        "[[virtual]]\nname = 'x'\nparts = [{ subject = 'y', attach = { bone = 'z' } }]",
        "[[virtual]]\nname = 'x'\ntranslate = { bone_to_transform = { subject = 'y', b = 'z' } }",
    ] {
        assert!(toml::from_str::<Stage>(wrong).is_err(), "{wrong}");
    }
}
