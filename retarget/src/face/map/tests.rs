use super::*;
use crate::face::sets::{Region, SetId};

fn asset(text: &str) -> MapAsset {
    MapAsset::from_toml(text).unwrap_or_else(|e| panic!("{text}\n{e}"))
}

fn run(asset: &MapAsset, sources: &[(&str, f32)], targets: &[&str]) -> Vec<f32> {
    let names: Vec<&str> = sources.iter().map(|(name, _)| *name).collect();
    let values: Vec<f32> = sources.iter().map(|(_, value)| *value).collect();
    let map = CurveMap::build(asset, &names, targets).unwrap();
    // Old values must not shine through.
    let mut out = vec![9.0; targets.len()];
    map.evaluate(&values, &mut out);
    out
}

#[track_caller]
fn near(have: &[f32], want: &[f32]) {
    assert_eq!(have.len(), want.len());
    for (h, w) in have.iter().zip(want) {
        assert!((h - w).abs() < 1e-5, "{have:?} is not {want:?}");
    }
}

#[test]
fn a_curve_is_the_sum_of_its_terms_through_gain_offset_and_ramp() {
    let asset = asset(
        r#"
        name = "sum"
        [[curve]]
        target = "out"
        clamp = [-1.0, 2.0]
        sum = [
            { from = "a", gain = 2.0, offset = -0.1 },
            { from = "b", ramp = [[0.0, 0.0], [0.5, 1.0], [1.0, 0.5]] },
        ]
        "#,
    );
    // 2 · 0.3 − 0.1 = 0.5; the ramp at 0.75 is 0.75.
    near(&run(&asset, &[("a", 0.3), ("b", 0.75)], &["out"]), &[1.25]);
    near(&run(&asset, &[("a", 9.0), ("b", 0.5)], &["out"]), &[2.0]);
    near(&run(&asset, &[("a", -9.0), ("b", 0.5)], &["out"]), &[-1.0]);
    near(
        &run(&asset, &[("a", f32::NAN), ("b", f32::INFINITY)], &["out"]),
        &[0.4],
    );
}

#[test]
fn terms_are_joined_as_told() {
    for (mix, want) in [("sum", 0.9), ("max", 0.5), ("overlap", 0.6)] {
        let asset = asset(&format!(
            "name = \"mix\"\n[[curve]]\ntarget = \"out\"\nmix = \"{mix}\"\n\
             sum = [{{ from = \"a\" }}, {{ from = \"b\" }}]"
        ));
        near(&run(&asset, &[("a", 0.5), ("b", 0.4)], &["out"]), &[want]);
    }
}

#[test]
fn between_two_knots_one_shape_fades_into_the_next() {
    let asset = asset(
        r#"
        name = "in-between"
        [[inbetween]]
        from = "jawOpen"
        knots = [{ at = 0.25, target = "ajar" }, { at = 0.5, target = "half" }, { at = 1.0, target = "wide" }]
        "#,
    );
    let at = |x| run(&asset, &[("jawOpen", x)], &["ajar", "half", "wide"]);
    near(&at(0.0), &[0.0, 0.0, 0.0]);
    near(&at(0.125), &[0.5, 0.0, 0.0]);
    near(&at(0.25), &[1.0, 0.0, 0.0]);
    near(&at(0.375), &[0.5, 0.5, 0.0]);
    near(&at(0.5), &[0.0, 1.0, 0.0]);
    near(&at(0.75), &[0.0, 0.5, 0.5]);
    near(&at(1.2), &[0.0, 0.0, 1.0]);
}

#[test]
fn correctives_come_on_when_all_inputs_are() {
    let asset = asset(
        r#"
        name = "correctives"
        [direct]
        a = "a"
        [[combination]]
        target = "product"
        op = "product"
        inputs = [{ from = "a" }, { from = "b" }]
        [[combination]]
        target = "least"
        op = "min"
        inputs = [{ from = "a" }, { from = "b", gain = 2.0 }]
        [[combination]]
        target = "lacks one"
        op = "product"
        inputs = [{ from = "a" }, { from = "c", offset = 1.0 }]
        "#,
    );
    let names = ["a", "product", "least", "lacks one"];
    let mut faults = CurveMap::build(&asset, &["a", "b"], &names).unwrap_err();
    assert_eq!(faults.len(), 1, "{faults:?}");
    assert!(faults.remove(0).starts_with("c is no source curve"));
    let sources = [("a", 0.7), ("b", 0.7), ("c", 0.0)];
    near(&run(&asset, &sources, &names), &[0.7, 0.49, 0.7, 0.7]);
}

#[test]
fn a_corrective_whose_input_is_not_sent_stays_off() {
    let asset = asset(
        r#"
        name = "tongue"
        source = "arkit"
        [[combination]]
        target = "out"
        op = "product"
        inputs = [{ from = "jawOpen" }, { from = "tongueOut", offset = 1.0 }]
        "#,
    );
    let map = CurveMap::build(&asset, &["jawOpen"], &["out"]).unwrap();
    assert_eq!(map.unbound().absent_sources, ["tongueOut"]);
    assert_eq!(map.unbound().targets, ["out"]);
    assert_eq!(map.unbound().sources, ["jawOpen"]);
    near(&run(&asset, &[("jawOpen", 1.0)], &["out"]), &[0.0]);
}

#[test]
fn each_rule_of_conflict_does_what_it_says() {
    for (rule, amount, value, by, want) in [
        (ConflictRule::Limit, 1.0, 0.8, 0.3, 0.3),
        (ConflictRule::Limit, 2.0, 0.8, 0.3, 0.6),
        (ConflictRule::Limit, 1.0, 0.2, 0.3, 0.2),
        (ConflictRule::Reduce, 1.0, 0.8, 0.25, 0.6),
        (ConflictRule::Reduce, 2.0, 0.8, 0.75, 0.0),
        (ConflictRule::Subtract, 0.5, 0.8, 0.4, 0.6),
        (ConflictRule::Subtract, 1.0, 0.2, 0.4, 0.0),
        (ConflictRule::Ratio, 1.0, 0.3, 0.4, 0.75),
        (ConflictRule::Ratio, 1.0, 0.5, 0.4, 1.0),
        (ConflictRule::Ratio, 1.0, 0.01, 0.0, 0.2),
        (ConflictRule::Block, 1.0, 0.8, 0.01, 0.0),
        (ConflictRule::Block, 1.0, 0.8, 0.0, 0.8),
        (ConflictRule::Budget, 1.0, 0.8, 2.0, 0.4),
        (ConflictRule::Budget, 1.0, 0.8, 0.9, 0.8),
    ] {
        let have = conflict_value(rule, value, by, amount);
        assert!(
            (have - want).abs() < 1e-6,
            "{rule:?} {amount} {value} {by}: {have}"
        );
    }
}

// Defect 57: mouthClose without jawOpen crosses the lips.
#[test]
fn the_mouth_closes_no_further_than_the_jaw_opened() {
    let asset = asset(
        r#"
        name = "lips"
        source = "arkit"
        target = "arkit"
        [direct]
        mouthClose = "mouthClose"
        jawOpen = "jawOpen"
        [[conflict]]
        rule = "limit"
        curves = ["mouthClose"]
        by = ["jawOpen"]
        "#,
    );
    for (close, open, want) in [(0.9, 0.0, 0.0), (0.9, 0.3, 0.3), (0.2, 0.3, 0.2)] {
        let have = run(
            &asset,
            &[("jawOpen", open), ("mouthClose", close)],
            &["mouthClose", "jawOpen"],
        );
        near(&have, &[want, open]);
    }
}

// Defect 56: emotion, blink and viseme add up; VRM 1.0's overrides take them apart.
#[test]
fn an_emotion_overrides_blink_and_mouth_so_that_lids_close_once() {
    let asset = asset(
        r#"
        name = "overrides"
        [direct]
        happy = "joy"
        blink = "eyes"
        aa = "mouth"
        [[conflict]]
        on = "target"
        rule = "reduce"
        curves = ["blink"]
        by = ["happy"]
        [[conflict]]
        on = "target"
        rule = "block"
        curves = ["aa"]
        by = ["happy"]
        "#,
    );
    let targets = ["happy", "blink", "aa"];
    let on = run(
        &asset,
        &[("joy", 0.75), ("eyes", 1.0), ("mouth", 0.6)],
        &targets,
    );
    near(&on, &[0.75, 0.25, 0.0]);
    // The shape of `happy` closes the lids by its weight: together they close them once.
    assert!(on[0] + on[1] <= 1.0 + 1e-6);
    let off = run(
        &asset,
        &[("joy", 0.0), ("eyes", 1.0), ("mouth", 0.6)],
        &targets,
    );
    near(&off, &[0.0, 1.0, 0.6]);
}

// Defect 61: "no blink" mutes Blink but not Blink_L and Blink_R.
#[test]
fn one_mute_is_for_all_lids() {
    let asset = asset(
        r#"
        name = "lids"
        mute = ["lids"]
        [direct]
        Blink = "eyeBlinkLeft"
        Blink_L = "eyeBlinkLeft"
        Blink_R = "eyeBlinkRight"
        A = "jawOpen"
        "#,
    );
    let sources = ["eyeBlinkLeft", "eyeBlinkRight", "jawOpen"];
    let targets = ["Blink", "Blink_L", "Blink_R", "A"];
    let mut map = CurveMap::build(&asset, &sources, &targets).unwrap();
    let mut out = [0.0; 4];
    map.evaluate(&[1.0, 1.0, 0.5], &mut out);
    near(&out, &[0.0, 0.0, 0.0, 0.5]);
    map.set_region_weight(Region::Lids, 0.5);
    map.evaluate(&[1.0, 0.5, 0.5], &mut out);
    near(&out, &[0.5, 0.5, 0.25, 0.5]);
    map.set_region_weight(Region::Lids, f32::NAN);
    map.evaluate(&[1.0, 0.5, 0.5], &mut out);
    near(&out, &[0.0, 0.0, 0.0, 0.5]);
}

// Defect 63: a target that expects 0 to 100 hardly moves.
#[test]
fn a_character_of_percent_gets_percent() {
    let asset = asset("name = \"percent\"\ntarget_scale = 100.0\n[direct]\nA = \"jawOpen\"");
    near(&run(&asset, &[("jawOpen", 0.5)], &["A"]), &[50.0]);
    near(&run(&asset, &[("jawOpen", 3.0)], &["A"]), &[100.0]);
}

// Defect 67: a source that sends `_neutral` first shifts all curves by one when bound by place.
#[test]
fn curves_bind_by_name_whatever_stands_before_them() {
    let asset = asset(
        r#"
        name = "by name"
        source = "arkit"
        target = "arkit"
        [direct]
        browDownLeft = "browDownLeft"
        jawOpen = "jawOpen"
        tongueOut = "tongueOut"
        "#,
    );
    let names = ["_neutral", "browDownLeft", "jawOpen"];
    let targets = ["jawOpen", "browDownLeft", "tongueOut"];
    let map = CurveMap::build(&asset, &names, &targets).unwrap();
    let mut out = [0.0; 3];
    map.evaluate(&[0.9, 0.1, 0.2], &mut out);
    near(&out, &[0.2, 0.1, 0.0]);
    assert_eq!(map.unbound().sources, ["_neutral"]);
    assert_eq!(map.unbound().targets, ["tongueOut"]);
    assert_eq!(map.unbound().absent_sources, ["tongueOut"]);
}

#[test]
fn every_spelling_binds_and_curves_of_one_name_all_follow() {
    let asset = asset("name = \"spelling\"\n[direct]\neyeBlinkLeft = \"EyeBlinkLeft\"");
    let targets = ["body.eyeBlink_L", "jaw", "lashes.EYEBLINK.L"];
    let have = run(&asset, &[("eyeBlink_left", 0.3)], &targets);
    near(&have, &[0.3, 0.0, 0.3]);
    let two = run(
        &asset,
        &[("EyeBlinkLeft", 0.3), ("eyeBlink_L", 0.9)],
        &targets,
    );
    near(&two, &[0.3, 0.0, 0.3]);
}

#[test]
fn binary_curves_switch_at_the_half() {
    let asset =
        asset("name = \"b\"\n[[curve]]\ntarget = \"out\"\nbinary = true\nsum = [{ from = \"a\" }]");
    near(&run(&asset, &[("a", 0.5)], &["out"]), &[0.0]);
    near(&run(&asset, &[("a", 0.51)], &["out"]), &[1.0]);
}

#[test]
fn all_faults_are_told_at_once_with_the_nearest_name() {
    let asset = asset(
        r#"
        version = 2
        name = "faults"
        source = "arkit"
        target = "vrm1"
        target_scale = 0.0
        [direct]
        blinkLeft = "eyeBlnkLeft"
        blnk = "jawOpen"
        [[curve]]
        target = "blink_l"
        clamp = [1.0, 0.0]
        sum = [{ from = "jawOpen", gain = 1e9 }]
        [[curve]]
        target = "aa"
        sum = [{ from = "jawOpen", ramp = [[0.5, 0.0], [0.5, 1.0]] }]
        [[inbetween]]
        from = "jawOpen"
        knots = []
        [[combination]]
        target = "oh"
        op = "min"
        inputs = [{ from = "jawOpen" }]
        [[conflict]]
        rule = "budget"
        curves = ["jawOpen"]
        by = ["jawOpen"]
        "#,
    );
    let numbers = CurveMap::build(&asset, &[], &[]).unwrap_err();
    for part in [
        "version 2",
        "target_scale 0",
        "curve blink_l: clamp 1 to 0",
        "gain of jawOpen",
        "curve aa: the points",
        "in-between of jawOpen: 0 knots",
        "combination of oh: 1 inputs",
        "conflict 1: a budget",
    ] {
        assert!(
            numbers.iter().any(|f| f.contains(part)),
            "{part}: {numbers:#?}"
        );
    }
    assert_eq!(numbers.len(), 8, "{numbers:#?}");
    let mut named = MapAsset::empty("names");
    named.source = Some(SetId::Arkit);
    named.target = Some(SetId::Vrm1);
    named
        .direct
        .insert("blinkLeft".to_owned(), "eyeBlnkLeft".to_owned());
    named.direct.insert("blnk".to_owned(), "jawOpen".to_owned());
    named
        .curves
        .push(CurveAsset::new("Blink_L", vec![Term::of("jawOpen")]));
    let names = CurveMap::build(&named, &[], &["blinkLeft"]).unwrap_err();
    for part in [
        "eyeBlnkLeft is no source curve of arkit; the nearest is eyeBlinkLeft",
        "blnk is no target curve of vrm1; the nearest is blink",
        "Blink_L is told twice",
    ] {
        assert!(names.iter().any(|f| f.contains(part)), "{part}: {names:#?}");
    }
    assert_eq!(names.len(), 3, "{names:#?}");
}

#[test]
fn an_unknown_key_is_refused() {
    for text in [
        "name = \"x\"\nflavour = 1",
        "name = \"x\"\n[[curve]]\ntarget = \"a\"\ngian = 2.0",
        "name = \"x\"\n[[conflict]]\nrule = \"crush\"\ncurves = []",
    ] {
        assert!(MapAsset::from_toml(text).is_err(), "{text}");
    }
}

#[test]
fn short_and_long_slices_do_no_harm() {
    let asset = asset("name = \"s\"\n[direct]\nx = \"a\"\ny = \"b\"");
    let map = CurveMap::build(&asset, &["a", "b"], &["x", "y"]).unwrap();
    let mut out = [5.0; 3];
    map.evaluate(&[0.5], &mut out);
    assert_eq!(out, [0.5, 0.0, 0.0]);
    map.evaluate(&[0.5; 9], &mut out[..1]);
    map.evaluate(&[], &mut []);
    assert_eq!(out[0], 0.5);
}

mod properties {
    use proptest::prelude::*;

    use crate::face::{
        map::CurveMap,
        ready::{READY_PAIRS, ready_map},
        sets::CurveSet,
    };

    proptest! {
        /// Whatever the source sends, what comes out is a number within 0..=1: that is the clamp of all curves of
        /// the ready maps.
        #[test]
        fn every_finite_frame_gives_weights_within_the_clamp(
            pair in 0..READY_PAIRS.len(),
            values in prop::collection::vec(prop_oneof![-2.0_f32..2.0, proptest::num::f32::ANY], 80),
        ) {
            let (source, target) = READY_PAIRS[pair];
            let asset = ready_map(source, target).unwrap();
            let (from, to) = (CurveSet::known(source), CurveSet::known(target));
            let sources: Vec<&str> = from.names().collect();
            let targets: Vec<&str> = to.names().collect();
            let map = CurveMap::build(&asset, &sources, &targets).unwrap();
            let mut out = vec![f32::NAN; targets.len()];
            map.evaluate(&values, &mut out);
            for (name, value) in targets.iter().zip(&out) {
                prop_assert!((0.0..=1.0).contains(value), "{name} {value}");
            }
        }
    }
}
