//! VRM files of other people's programs: samples/characters of the folder in `GHOSTLIGHT_SAMPLES`.
//!
//! What is expected is what the README there states of each file, and what its document says in plain words.

use std::fs;

use characters::{
    Character, Constraints, ExpressionRig, LookAt, MaterialChange, Pose, PropertyChange, Springs,
    vrm::{
        AvatarPermission, ColorKind, CommercialUsage, LookAtType, Modification, Vrm, VrmVersion,
    },
};
use glam::{Vec2, Vec3};
use hub::Transform;
use tests::{counting::count, samples};

fn open(name: &str) -> (Character, Vrm) {
    let folder = samples::folder().expect("GHOSTLIGHT_SAMPLES names the folder");
    let bytes = fs::read(folder.join("characters").join(name)).unwrap();
    let character = Character::from_glb(&bytes).unwrap();
    let vrm = character.vrm().unwrap().unwrap();
    (character, vrm)
}

#[test]
#[ignore = "needs the sample files"]
fn every_sample_is_read_with_the_bones_and_expressions_its_readme_states() {
    for (name, version, bones, expressions) in [
        ("Godette_vrm0.vrm", VrmVersion::V0, 45, 17),
        ("UniVRM_EmissionMigration_vrm0.vrm", VrmVersion::V0, 52, 17),
        ("debug_robot_vrm1.vrm", VrmVersion::V1, 53, 18),
        (
            "VRM1_expressions_isBinary_Overrides.vrm",
            VrmVersion::V1,
            22,
            2,
        ),
        ("VRM1_mtoon_UV_Animation_Test.vrm", VrmVersion::V1, 53, 0),
        ("VrmaInspector_Example_vrm1.vrm", VrmVersion::V1, 53, 18),
        ("vrmaddon_basic_armature_vrm1.vrm", VrmVersion::V1, 53, 18),
        ("vrmaddon_expression_migration.vrm", VrmVersion::V1, 15, 24),
    ] {
        let (_, vrm) = open(name);
        assert_eq!(vrm.version, version, "{name}");
        assert_eq!(vrm.humanoid.len(), bones, "{name}: {:?}", vrm.notes);
        assert_eq!(
            vrm.expressions.len(),
            expressions,
            "{name}: {:?}",
            vrm.notes
        );
        assert!(!vrm.meta.lines().is_empty(), "{name}");
    }
}

#[test]
#[ignore = "needs the sample files"]
fn godette_sways_in_three_groups_and_looks_by_expressions() {
    let (character, vrm) = open("Godette_vrm0.vrm");
    // Roots of its three groups, of which each begins a chain.
    let roots = [22, 16, 20, 18, 58, 14, 12, 10];
    let firsts: Vec<usize> = vrm.springs.iter().map(|s| s.joints[0].node).collect();
    for root in roots {
        assert!(firsts.contains(&root), "{root} in {firsts:?}");
    }
    assert_eq!(vrm.collider_groups.len(), 2);
    assert_eq!(vrm.colliders.len(), 4);
    let look_at = vrm.look_at.unwrap();
    assert_eq!(look_at.kind, LookAtType::Expression);
    // z of the file, the other way.
    assert!(
        look_at
            .offset_from_head
            .abs_diff_eq(Vec3::new(0.0, 0.146, -0.122), 1e-6)
    );
    assert_eq!(vrm.meta.license_name, "CC_BY");
    assert_eq!(vrm.meta.name, "Low-Poly Godette");
    assert_eq!(vrm.meta.avatar_permission, AvatarPermission::Everyone);
    assert_eq!(vrm.meta.commercial_usage, CommercialUsage::PersonalProfit);
    // It faces −Z in the file: its left hand is at −X there, at +X when turned.
    let pose = Pose::rest(&character);
    let mut globals = Vec::new();
    pose.globals(&character, &mut globals);
    let hand = globals[vrm.bone("leftHand").unwrap()].w_axis.truncate();
    assert!(hand.x < -0.1);
    assert!((vrm.facing_turn() * hand).x > 0.1);
    // `A` moves target 5 of its first mesh all the way.
    let aa = &vrm.expressions[vrm.expression("aa").unwrap()];
    assert_eq!((aa.morphs[0].target, aa.morphs[0].weight), (5, 1.0));
}

#[test]
#[ignore = "needs the sample files"]
fn overrides_of_the_specifications_sample_do_what_its_name_says() {
    let (character, vrm) = open("VRM1_expressions_isBinary_Overrides.vrm");
    assert_eq!(
        vrm.meta.modification,
        Modification::AllowedWithRedistribution
    );
    assert_eq!(vrm.meta.commercial_usage, CommercialUsage::Corporation);
    let (happy, blink) = (vrm.expression("happy"), vrm.expression("blink"));
    let (happy, blink) = (happy.unwrap(), blink.unwrap());
    let mut rig = ExpressionRig::build(&vrm, &character);
    let mut inputs = [0.0; 2];
    let mut weights = Pose::rest(&character).weights;
    let mut changes = Vec::new();
    for (input, want_happy, want_blink) in [(0.4, 0.0, 0.7), (0.6, 1.0, 0.0)] {
        inputs[happy] = input;
        inputs[blink] = 0.7;
        rig.evaluate(&inputs, &mut weights, &mut changes);
        assert_eq!(rig.values()[happy], want_happy);
        assert_eq!(rig.values()[blink], want_blink);
    }
    // Happy moves material 0 to the last of eight columns.
    let of_first = |change: &&MaterialChange| change.material == 0;
    let change = changes.iter().find(of_first).unwrap();
    let placed = change.change.texture(Vec2::ONE, Vec2::ZERO);
    assert_eq!(placed, Some((Vec2::splat(0.125), Vec2::new(0.875, 0.0))));
}

#[test]
#[ignore = "needs the sample files"]
fn custom_expressions_of_the_addons_sample_bind_colours_and_morphs() {
    let (character, vrm) = open("vrmaddon_expression_migration.vrm");
    let mut rig = ExpressionRig::build(&vrm, &character);
    let mut inputs = vec![0.0; rig.len()];
    // Blue light, whole, and target 1 twice over.
    inputs[vrm.expression("sad").unwrap()] = 1.0;
    inputs[vrm.expression("custom_e").unwrap()] = 0.25;
    let mut weights = Pose::rest(&character).weights;
    let mut changes = Vec::new();
    rig.evaluate(&inputs, &mut weights, &mut changes);
    assert!(
        weights.iter().any(|list| list.get(1) == Some(&0.5)),
        "{weights:?}"
    );
    let emission = changes.iter().find(|c| {
        matches!(
            c.change,
            PropertyChange::Color {
                kind: ColorKind::Emission,
                ..
            }
        )
    });
    let color = emission.unwrap().change.color([0.5; 4]).unwrap();
    assert_eq!(color, [0.0, 0.0, 1.0, 1.0]);
}

#[test]
#[ignore = "needs the sample files"]
fn a_second_of_godette_allocates_nothing_and_stays_finite() {
    let (character, vrm) = open("Godette_vrm0.vrm");
    let mut rig = ExpressionRig::build(&vrm, &character);
    let look_at = LookAt::build(&vrm, &character).unwrap();
    let constraints = Constraints::build(&vrm, &character);
    let mut springs = Springs::build(&vrm, &character);
    assert!(!springs.is_empty());
    let mut pose = Pose::rest(&character);
    let rest = pose.clone();
    let mut inputs = vec![0.0; rig.len()];
    let mut changes = Vec::new();
    let mut play = |frames: std::ops::Range<usize>| {
        for frame in frames {
            let phase = frame as f32 / 20.0;
            for (weights, rest) in pose.weights.iter_mut().zip(&rest.weights) {
                weights.copy_from_slice(rest);
            }
            look_at.set_expressions(phase.sin(), phase.cos(), &mut inputs);
            look_at.turn_eyes(phase.sin(), phase.cos(), &mut pose.locals);
            rig.evaluate(&inputs, &mut pose.weights, &mut changes);
            constraints.evaluate(&mut pose.locals);
            let place = Vec3::new(0.3 * phase.sin(), 0.0, 0.0);
            let world = Transform::new(place, vrm.facing_turn());
            springs.update(1.0 / 144.0, &world, Vec3::ZERO, &mut pose.locals);
        }
    };
    play(0..144);
    let ((), allocations, _) = count(|| play(144..432));
    assert_eq!(allocations, 0);
    assert!(pose.locals.iter().all(Transform::is_rigid));
    assert_eq!(springs.num_recovered(), 0);
    let has_moved = vrm.springs.iter().any(|spring| {
        let node = spring.joints[0].node;
        !pose.locals[node]
            .rotation
            .abs_diff_eq(rest.locals[node].rotation, 1e-3)
    });
    assert!(has_moved);
}
