use serde_json::{Value, json};

use super::*;
use crate::vrm::tests::{character, read, v1};

/// A face with two targets at node 15 and the given expressions.
fn rig(expressions: &Value) -> (ExpressionRig, Vrm) {
    let mut document = v1(&[json!({"mesh": 0})]);
    document["accessors"] = json!([{"componentType": 5126, "count": 0, "type": "VEC3"}]);
    document["meshes"] =
        json!([{"primitives": [{"attributes": {"POSITION": 0}, "targets": [{}, {}]}]}]);
    document["materials"] = json!([{}, {}]);
    document["extensions"]["VRMC_vrm"]["expressions"] = expressions.clone();
    let vrm = read(&document);
    (ExpressionRig::build(&vrm, &character(&document)), vrm)
}

/// Values after evaluation, by name, for inputs by name.
#[track_caller]
fn check(expressions: &Value, inputs: &[(&str, f32)], want: &[(&str, f32)]) {
    let (mut rig, vrm) = rig(expressions);
    let mut values = vec![0.0; rig.len()];
    for (name, value) in inputs {
        values[vrm.expression(name).unwrap()] = *value;
    }
    rig.evaluate(&values, &mut [vec![0.0; 2]], &mut Vec::new());
    for (name, value) in want {
        let have = rig.values()[vrm.expression(name).unwrap()];
        assert!((have - value).abs() < 1e-6, "{name}: {have}, want {value}");
    }
}

fn preset(happy: &Value, blink_is_binary: bool) -> Value {
    json!({"preset": {
        "happy": happy, "blink": {"isBinary": blink_is_binary}, "blinkLeft": {}, "aa": {}, "lookUp": {},
        "sad": {"overrideBlink": "blend"},
    }})
}

#[test]
fn inputs_are_clamped_and_binary_ones_are_on_above_a_half() {
    let plain = preset(&json!({}), false);
    check(
        &plain,
        &[("happy", 1.5), ("aa", -1.0)],
        &[("happy", 1.0), ("aa", 0.0)],
    );
    check(&plain, &[("happy", f32::NAN)], &[("happy", 0.0)]);
    let binary = preset(&json!({"isBinary": true}), false);
    for (input, want) in [(0.0, 0.0), (0.5, 0.0), (0.501, 1.0), (1.0, 1.0)] {
        check(&binary, &[("happy", input)], &[("happy", want)]);
    }
}

#[test]
fn block_takes_away_and_blend_takes_away_as_much_as_it_is() {
    let block = preset(&json!({"overrideBlink": "block"}), false);
    let inputs = |happy| {
        [
            ("happy", happy),
            ("blink", 0.8),
            ("blinkLeft", 0.6),
            ("aa", 0.4),
        ]
    };
    check(
        &block,
        &inputs(0.01),
        &[("blink", 0.0), ("blinkLeft", 0.0), ("aa", 0.4)],
    );
    check(&block, &inputs(0.0), &[("blink", 0.8), ("blinkLeft", 0.6)]);
    let blend = preset(&json!({"overrideBlink": "blend"}), false);
    check(
        &blend,
        &inputs(0.25),
        &[("blink", 0.6), ("blinkLeft", 0.45), ("happy", 0.25)],
    );
    // Two add up, to at most all.
    let both = |sad| [("happy", 0.25), ("sad", sad), ("blink", 0.8)];
    check(&blend, &both(0.5), &[("blink", 0.2)]);
    check(&blend, &both(0.9), &[("blink", 0.0)]);
    let mouth = preset(
        &json!({"overrideMouth": "block", "overrideLookAt": "blend"}),
        false,
    );
    let inputs = [("happy", 0.5), ("aa", 1.0), ("lookUp", 1.0), ("blink", 1.0)];
    check(
        &mouth,
        &inputs,
        &[("aa", 0.0), ("lookUp", 0.5), ("blink", 1.0)],
    );
}

#[test]
fn a_binary_one_holds_back_by_what_it_shows_and_is_held_back_as_a_whole() {
    // The specification's own figure: below a half the blink is as if there were no happy.
    for how in ["block", "blend"] {
        let binary = preset(&json!({"isBinary": true, "overrideBlink": how}), false);
        check(
            &binary,
            &[("happy", 0.4), ("blink", 0.7)],
            &[("blink", 0.7)],
        );
        check(
            &binary,
            &[("happy", 0.6), ("blink", 0.7)],
            &[("blink", 0.0)],
        );
    }
    let blend = preset(&json!({"overrideBlink": "blend"}), true);
    check(
        &blend,
        &[("happy", 0.01), ("blink", 1.0)],
        &[("blink", 0.0)],
    );
    check(&blend, &[("happy", 0.0), ("blink", 1.0)], &[("blink", 1.0)]);
}

#[test]
fn a_group_does_not_hold_back_itself_and_custom_ones_hold_back_others() {
    let expressions = json!({
        "preset": {"blink": {"overrideBlink": "block", "overrideLookAt": "block"}, "lookUp": {}},
        "custom": {"笑": {"overrideBlink": "blend"}},
    });
    let inputs = [("blink", 1.0), ("lookUp", 1.0), ("笑", 0.25)];
    check(
        &expressions,
        &inputs,
        &[("blink", 0.75), ("lookUp", 0.0), ("笑", 0.25)],
    );
}

#[test]
fn weights_are_added_and_clamped_and_others_are_left() {
    let (mut rig, _) = rig(&json!({"preset": {
        "happy": {"morphTargetBinds": [{"node": 15, "index": 0, "weight": 0.5}]},
        "angry": {"morphTargetBinds": [{"node": 15, "index": 0, "weight": 1.0}]},
    }}));
    let mut weights = [vec![0.125, 7.0]];
    let mut changes = Vec::new();
    rig.evaluate(&[0.5, 0.25], &mut weights, &mut changes);
    assert_eq!(weights[0], [0.125 + 0.25 + 0.25, 7.0]);
    rig.evaluate(&[1.0, 1.0], &mut weights, &mut changes);
    assert_eq!(weights[0], [1.0, 7.0]);
    // Of another shape than the character: nothing happens.
    rig.evaluate(&[1.0], &mut [], &mut changes);
}

#[test]
fn materials_move_from_their_base_by_the_sum_of_differences() {
    let (mut rig, _) = rig(&json!({"preset": {
        "happy": {
            "materialColorBinds": [{"material": 1, "type": "color", "targetValue": [1, 0, 0, 1]}],
            "textureTransformBinds": [{"material": 0, "scale": [2, 1], "offset": [0.5, 0]}],
        },
        "angry": {
            "materialColorBinds": [{"material": 1, "type": "color", "targetValue": [0, 0, 1, 0]}],
        },
    }}));
    let mut changes = Vec::new();
    rig.evaluate(&[0.5, 0.25], &mut [vec![0.0; 2]], &mut changes);
    assert_eq!(changes.len(), 2);
    assert_eq!((changes[0].material, changes[1].material), (1, 0));
    // base + (A − base) * 0.5 + (B − base) * 0.25
    let color = changes[0].change.color([0.2, 0.4, 0.8, 1.0]).unwrap();
    let want = [
        0.2 + (1.0 - 0.2) * 0.5 + (0.0 - 0.2) * 0.25,
        0.4 + (0.0 - 0.4) * 0.5 + (0.0 - 0.4) * 0.25,
        0.8 + (0.0 - 0.8) * 0.5 + (1.0 - 0.8) * 0.25,
        1.0 - 0.25_f32,
    ];
    for (have, want) in color.iter().zip(want) {
        assert!((have - want).abs() < 1e-6, "{color:?}");
    }
    let (scale, offset) = changes[1].change.texture(Vec2::ONE, Vec2::ZERO).unwrap();
    assert!(scale.abs_diff_eq(Vec2::new(1.5, 1.0), 1e-6));
    assert!(offset.abs_diff_eq(Vec2::new(0.25, 0.0), 1e-6));
    assert_eq!(changes[1].change.color([0.0; 4]), None);

    // With no expression all is as in the file.
    rig.evaluate(&[], &mut [], &mut changes);
    assert_eq!(changes.len(), 2);
    let base = [0.2, 0.4, 0.8, 1.0];
    assert_eq!(changes[0].change.color(base), Some(base));
}
