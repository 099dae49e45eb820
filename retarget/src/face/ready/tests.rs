use std::collections::BTreeMap;

use super::*;
use crate::face::map::CurveMap;

/// The curves of the target set that are not 0 when these of the source set are on.
fn mapped(source: SetId, target: SetId, on: &[(&str, f32)]) -> BTreeMap<String, f32> {
    let asset = ready_map(source, target).unwrap();
    evaluated(&asset, on)
}

fn evaluated(asset: &MapAsset, on: &[(&str, f32)]) -> BTreeMap<String, f32> {
    let (from, to) = (
        CurveSet::known(asset.source.unwrap()),
        CurveSet::known(asset.target.unwrap()),
    );
    let sources: Vec<&str> = from.names().collect();
    let targets: Vec<&str> = to.names().collect();
    let map = CurveMap::build(asset, &sources, &targets).unwrap();
    let mut values = vec![0.0; sources.len()];
    for (name, value) in on {
        values[from.index_of(name).unwrap()] = *value;
    }
    let mut out = vec![7.0; targets.len()];
    map.evaluate(&values, &mut out);
    let named = targets.iter().zip(out);
    named
        .filter(|(_, value)| value.abs() > 1e-4)
        .map(|(name, value)| ((*name).to_owned(), value))
        .collect()
}

/// Just these curves, within 0.002.
#[track_caller]
fn check(have: &BTreeMap<String, f32>, want: &[(&str, f32)]) {
    let names: Vec<&str> = have.keys().map(String::as_str).collect();
    let mut wanted: Vec<&str> = want.iter().map(|(name, _)| *name).collect();
    wanted.sort_unstable();
    assert_eq!(names, wanted, "{have:?}");
    for (name, value) in want {
        assert!((have[*name] - value).abs() < 2e-3, "{name}: {have:?}");
    }
}

#[test]
fn every_ready_map_binds_whole_and_survives_its_own_file() {
    let twins = SetId::ALL.map(|id| (id, id));
    let by_phone = [
        (SetId::LiveLinkFace, SetId::Arkit),
        (SetId::LiveLinkFace, SetId::Vrm1),
        (SetId::LiveLinkFace, SetId::Metahuman),
    ];
    for (source, target) in READY_PAIRS.into_iter().chain(twins).chain(by_phone) {
        let asset = ready_map(source, target).unwrap();
        let (from, to) = (CurveSet::known(source), CurveSet::known(target));
        let sources: Vec<&str> = from.names().collect();
        let targets: Vec<&str> = to.names().collect();
        let map = CurveMap::build(&asset, &sources, &targets)
            .unwrap_or_else(|faults| panic!("{source:?} {target:?}: {faults:#?}"));
        assert!(
            map.unbound().absent_sources.is_empty(),
            "{source:?} {target:?}"
        );
        assert!(
            map.unbound().absent_targets.is_empty(),
            "{source:?} {target:?}"
        );
        let text = asset.to_toml().unwrap();
        assert_eq!(MapAsset::from_toml(&text).unwrap(), asset, "{text}");
    }
    assert_eq!(ready_map(SetId::Vrm0, SetId::Metahuman), None);
}

#[test]
fn a_map_to_the_same_set_changes_nothing_within_range() {
    let on = [("JawOpen", 0.4), ("HeadYaw", -0.7), ("MouthClose", 1.0)];
    check(&mapped(SetId::LiveLinkFace, SetId::LiveLinkFace, &on), &on);
}

#[test]
fn what_arkit_curves_cannot_say_is_listed() {
    let names = CurveSet::known(SetId::Arkit);
    let names: Vec<&str> = names.names().collect();
    let sounds = CurveSet::known(SetId::Visemes15);
    let sounds: Vec<&str> = sounds.names().collect();
    let asset = ready_map(SetId::Arkit, SetId::Visemes15).unwrap();
    let map = CurveMap::build(&asset, &names, &sounds).unwrap();
    let mute = [
        "viseme_sil",
        "viseme_DD",
        "viseme_kk",
        "viseme_nn",
        "viseme_RR",
    ];
    assert_eq!(map.unbound().targets, mute);
}

// The frames are those from which the VRM add-on for Blender builds the presets.
#[test]
fn vowels_of_both_vrms_come_from_the_frames_they_are_built_of() {
    let wide = |amount| [("mouthStretchLeft", amount), ("mouthStretchRight", amount)];
    for (frame, vrm1, vrm0) in [
        (vec![("jawOpen", 0.5)], "aa", "A"),
        ([&[("jawOpen", 0.2)][..], &wide(0.2)].concat(), "ih", "I"),
        (vec![("jawOpen", 0.2), ("mouthPucker", 0.2)], "ou", "U"),
        ([&[("jawOpen", 0.3)][..], &wide(0.3)].concat(), "ee", "E"),
        (vec![("jawOpen", 0.3), ("mouthPucker", 0.3)], "oh", "O"),
    ] {
        check(&mapped(SetId::Arkit, SetId::Vrm1, &frame), &[(vrm1, 1.0)]);
        check(&mapped(SetId::Arkit, SetId::Vrm0, &frame), &[(vrm0, 1.0)]);
        check(&mapped(SetId::Vrm1, SetId::Arkit, &[(vrm1, 1.0)]), &frame);
        check(&mapped(SetId::Vrm0, SetId::Arkit, &[(vrm0, 1.0)]), &frame);
    }
}

#[test]
fn a_wink_and_a_look_keep_their_side() {
    check(
        &mapped(SetId::Arkit, SetId::Vrm0, &[("eyeBlinkLeft", 0.8)]),
        &[("Blink_L", 0.8)],
    );
    // Both eyes to the performer's left: the left one out, the right one in.
    let look = [("eyeLookOutLeft", 0.6), ("eyeLookInRight", 0.4)];
    check(
        &mapped(SetId::Arkit, SetId::Vrm1, &look),
        &[("lookLeft", 0.5)],
    );
    check(
        &mapped(SetId::Vrm1, SetId::Arkit, &[("lookLeft", 0.5)]),
        &[("eyeLookOutLeft", 0.5), ("eyeLookInRight", 0.5)],
    );
    check(
        &mapped(SetId::Arkit, SetId::Metahuman, &look),
        &[
            ("CTRL_expressions_eyeLookLeftL", 0.6),
            ("CTRL_expressions_eyeLookLeftR", 0.4),
        ],
    );
}

// Defect 58: an avatar with only A I U E O Blink stays dead.
#[test]
fn an_avatar_with_vowels_and_blink_alone_is_alive() {
    let names = CurveSet::known(SetId::Arkit);
    let names: Vec<&str> = names.names().collect();
    let asset = ready_map(SetId::Arkit, SetId::Vrm0).unwrap();
    let targets = ["A", "I", "U", "E", "O", "Blink"];
    let map = CurveMap::build(&asset, &names, &targets).unwrap();
    assert!(map.unbound().targets.is_empty(), "{:?}", map.unbound());
    let mut values = [0.0; 52];
    values[0] = 1.0; // eyeBlinkLeft
    values[7] = 1.0; // eyeBlinkRight
    values[17] = 0.5; // jawOpen
    let mut out = [0.0; 6];
    map.evaluate(&values, &mut out);
    assert_eq!(out, [1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
}

// The frames are the hand-tuned recipe of the fact sheet, per side where it is per side.
#[test]
fn visemes_come_from_the_frames_of_the_recipe() {
    let frames: [(&str, &[(&str, f32)]); 10] = [
        (
            "viseme_PP",
            &[
                ("mouthPress", 0.55),
                ("mouthClose", 0.35),
                ("mouthRollUpper", 0.2),
                ("mouthRollLower", 0.2),
            ],
        ),
        (
            "viseme_FF",
            &[
                ("mouthRollLower", 0.55),
                ("mouthUpperUp", 0.25),
                ("jawOpen", 0.06),
            ],
        ),
        (
            "viseme_TH",
            &[
                ("jawOpen", 0.12),
                ("mouthLowerDown", 0.15),
                ("mouthUpperUp", 0.1),
                ("tongueOut", 0.35),
            ],
        ),
        (
            "viseme_CH",
            &[
                ("mouthFunnel", 0.45),
                ("mouthPucker", 0.25),
                ("jawOpen", 0.15),
                ("mouthShrugUpper", 0.1),
            ],
        ),
        (
            "viseme_SS",
            &[
                ("mouthStretch", 0.35),
                ("mouthSmile", 0.2),
                ("jawOpen", 0.08),
                ("mouthUpperUp", 0.1),
            ],
        ),
        (
            "viseme_aa",
            &[
                ("jawOpen", 0.65),
                ("mouthLowerDown", 0.3),
                ("mouthUpperUp", 0.15),
            ],
        ),
        (
            "viseme_E",
            &[
                ("jawOpen", 0.3),
                ("mouthStretch", 0.4),
                ("mouthSmile", 0.25),
                ("mouthLowerDown", 0.15),
            ],
        ),
        (
            "viseme_I",
            &[
                ("jawOpen", 0.2),
                ("mouthStretch", 0.45),
                ("mouthSmile", 0.2),
            ],
        ),
        (
            "viseme_O",
            &[
                ("jawOpen", 0.4),
                ("mouthFunnel", 0.75),
                ("mouthPucker", 0.15),
            ],
        ),
        (
            "viseme_U",
            &[
                ("jawOpen", 0.15),
                ("mouthPucker", 0.8),
                ("mouthFunnel", 0.45),
            ],
        ),
    ];
    let arkit = CurveSet::known(SetId::Arkit);
    for (viseme, recipe) in frames {
        let mut frame: Vec<(String, f32)> = Vec::new();
        for (name, value) in recipe {
            if arkit.index_of(name).is_some() {
                frame.push(((*name).to_owned(), *value));
            } else {
                frame.push((format!("{name}Left"), *value));
                frame.push((format!("{name}Right"), *value));
            }
        }
        let frame: Vec<(&str, f32)> = frame.iter().map(|(n, v)| (n.as_str(), *v)).collect();
        let have = mapped(SetId::Arkit, SetId::Visemes15, &frame);
        assert!(have[viseme] > 0.9, "{viseme}: {have:?}");
        assert!(have.values().sum::<f32>() < 1.001, "{viseme}: {have:?}");
        // And back: the recipe itself.
        check(
            &mapped(SetId::Visemes15, SetId::Arkit, &[(viseme, 1.0)]),
            &frame,
        );
    }
    let half = mapped(SetId::Visemes15, SetId::Arkit, &[("aa", 0.5), ("oh", 0.5)]);
    // The kit's overlap: the greater, and a quarter of the lesser.
    assert!(
        (half["jawOpen"] - (0.325 + 0.25 * 0.2)).abs() < 1e-4,
        "{half:?}"
    );
}

#[test]
fn each_arkit_curve_comes_back_from_unreals_controls() {
    let arkit = CurveSet::known(SetId::Arkit);
    for name in arkit.names() {
        let mut on = vec![(name, 0.6)];
        if name == "mouthClose" {
            on.push(("jawOpen", 0.7));
        }
        let there = mapped(SetId::Arkit, SetId::Metahuman, &on);
        let there: Vec<(&str, f32)> = there.iter().map(|(n, v)| (n.as_str(), *v)).collect();
        check(&mapped(SetId::Metahuman, SetId::Arkit, &there), &on);
    }
}

#[test]
fn lips_together_are_closing_over_opening() {
    let on = [("mouthClose", 0.3), ("jawOpen", 0.4)];
    let have = mapped(SetId::Arkit, SetId::Metahuman, &on);
    for quarter in ["UL", "UR", "DL", "DR"] {
        let name = format!("CTRL_expressions_mouthLipsTogether{quarter}");
        assert!((have[&name] - 0.75).abs() < 1e-4, "{have:?}");
    }
    let shut = mapped(SetId::Arkit, SetId::Metahuman, &[("mouthClose", 0.5)]);
    assert!(shut.is_empty(), "{shut:?}");
}

#[test]
fn a_map_read_in_the_mirror_swaps_sides_and_twice_is_itself() {
    for (source, target) in READY_PAIRS {
        let asset = ready_map(source, target).unwrap();
        let mirrored = asset.mirrored();
        assert_eq!(mirrored.mirrored(), asset, "{source:?} {target:?}");
    }
    let asset = ready_map(SetId::LiveLinkFace, SetId::LiveLinkFace).unwrap();
    let mirrored = asset.mirrored();
    assert_eq!(mirrored.mirrored(), asset);
    let on = [
        ("EyeBlinkLeft", 0.5),
        ("EyeLookInLeft", 0.25),
        ("JawRight", 0.75),
        ("JawOpen", 0.3),
        ("HeadYaw", 0.2),
        ("HeadPitch", 0.1),
        ("LeftEyeYaw", 0.4),
    ];
    let want = [
        ("EyeBlinkRight", 0.5),
        ("EyeLookInRight", 0.25),
        ("JawLeft", 0.75),
        ("JawOpen", 0.3),
        ("HeadYaw", -0.2),
        ("HeadPitch", 0.1),
        ("RightEyeYaw", -0.4),
    ];
    check(&evaluated(&mirrored, &on), &want);
    let mut sideways = asset;
    sideways.mirror = crate::face::map::MirrorMap::Sideways;
    let want = on.map(|(name, value)| match name {
        "JawRight" => ("JawLeft", value),
        other => (other, value),
    });
    check(&evaluated(&sideways, &on), &want);
}
