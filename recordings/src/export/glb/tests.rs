use characters::glb;
use glam::Mat4;
use serde_json::json;

use super::{
    read_back::{Animation, read_animation, split},
    *,
};

const FACE: usize = 2;
const HEAD: usize = 1;

/// A triangle with two morph targets at node 2, a skinned one at node 3, a matrix at node 1.
fn tiny() -> Character {
    let corners = [[0.0_f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]];
    let lifts = [[0.0_f32, 0.0, 1.0]; 3];
    let mut bin: Vec<u8> = Vec::new();
    for number in corners.iter().chain(&lifts).flatten() {
        bin.extend(number.to_le_bytes());
    }
    // Skin: joint 0 and weight 1 for every corner, then the inverse bind matrices.
    let joints_at = bin.len();
    bin.extend([0_u8; 12]);
    let weights_at = bin.len();
    for number in [[1.0_f32, 0.0, 0.0, 0.0]; 3].iter().flatten() {
        bin.extend(number.to_le_bytes());
    }
    let bind_at = bin.len();
    for number in [Mat4::IDENTITY.to_cols_array(); 2].iter().flatten() {
        bin.extend(number.to_le_bytes());
    }
    let matrix = Mat4::from_translation(Vec3::Y).to_cols_array();
    let num_bytes = bin.len();
    let document = json!({
        "asset": {"version": "2.0", "copyright": "CC0 1.0", "extras": {"license": "CC0-1.0"}},
        "scene": 0,
        "scenes": [{"nodes": [0, 2, 3]}],
        "nodes": [
            {"name": "Neck", "children": [1]},
            {"name": "Head", "matrix": matrix},
            {"name": "Face", "mesh": 0},
            {"name": "Body", "mesh": 1, "skin": 0}
        ],
        "meshes": [
            {
                "primitives": [{
                    "attributes": {"POSITION": 0},
                    "targets": [{"POSITION": 1}, {"POSITION": 1}]
                }],
                "weights": [0, 0],
                "extras": {"targetNames": ["jawOpen", "eyeBlinkRight"]}
            },
            {"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3}}]}
        ],
        "skins": [{"joints": [0, 1], "inverseBindMatrices": 4}],
        "animations": [{
            "name": "old",
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "rotation"}}],
            "samplers": [{"input": 5, "output": 3}]
        }],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3",
             "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "count": 3, "type": "VEC3",
             "min": [0, 0, 1], "max": [0, 0, 1]},
            {"bufferView": 2, "componentType": 5121, "count": 3, "type": "VEC4"},
            {"bufferView": 3, "componentType": 5126, "count": 3, "type": "VEC4"},
            {"bufferView": 4, "componentType": 5126, "count": 2, "type": "MAT4"},
            {"bufferView": 1, "componentType": 5126, "count": 1, "type": "SCALAR",
             "min": [0], "max": [0]}
        ],
        "bufferViews": [
            {"buffer": 0, "byteLength": 36},
            {"buffer": 0, "byteOffset": 36, "byteLength": 36},
            {"buffer": 0, "byteOffset": joints_at, "byteLength": 12},
            {"buffer": 0, "byteOffset": weights_at, "byteLength": 48},
            {"buffer": 0, "byteOffset": bind_at, "byteLength": 128}
        ],
        "buffers": [{"byteLength": num_bytes}]
    });
    let json = serde_json::to_vec(&document).unwrap();
    let file = glb::write(&json, &bin).unwrap();
    Character::from_glb(&file).unwrap()
}

/// Three frames: the jaw opens, the head turns and rises.
fn tracks() -> GlbTracks<'static> {
    GlbTracks {
        name: "slate_1",
        times_secs: &[0.0, 0.016_7, 0.033_4],
        morphs: vec![MorphTrack {
            node: FACE,
            num_targets: 2,
            weights: vec![0.0, 0.1, 0.5, 0.2, 1.5, -0.3],
        }],
        joints: vec![JointTrack {
            node: HEAD,
            rotations: [0.0, 0.2, 0.4].map(Quat::from_rotation_y).to_vec(),
            translations: Some(vec![Vec3::Y, Vec3::Y * 1.5, Vec3::Y * 2.0]),
        }],
        extras: json!({"slate": "slate", "take": 1, "startTimecode": "13:13:00:00"}),
    }
}

fn write(tracks: &GlbTracks<'_>) -> Animation {
    let file = write_glb(&tiny(), tracks).unwrap();
    Character::from_glb(&file).expect("what is written is a character");
    read_animation(&file)
}

/// Writing the changed tracks fails with this text.
#[track_caller]
fn check_refused(change: impl FnOnce(&mut GlbTracks<'static>), want: &str) {
    let mut tracks = tracks();
    change(&mut tracks);
    let error = write_glb(&tiny(), &tracks).unwrap_err().to_string();
    assert_eq!(error, want);
}

#[test]
fn what_is_written_is_read_back_in_range() {
    let animation = write(&tracks());
    assert_eq!(animation.name, "slate_1");
    let weights = animation.channel(FACE, "weights");
    assert_eq!(weights.times_secs, tracks().times_secs);
    assert_eq!(weights.values, [0.0_f32, 0.1, 0.5, 0.2, 1.0, 0.0]);
    let rotation = animation.channel(HEAD, "rotation");
    for (at, want) in tracks().joints[0].rotations.iter().enumerate() {
        let have = Quat::from_array(rotation.key(at).try_into().unwrap());
        assert!(have.abs_diff_eq(*want, 1e-6), "{have} is not {want}");
    }
    let translation = animation.channel(HEAD, "translation");
    assert_eq!(translation.key(2), [0.0_f32, 2.0, 0.0]);
    assert!(animation.channels.iter().all(|c| c.input == weights.input));
}

#[test]
fn the_takes_facts_stand_beside_those_of_the_character() {
    let file = write_glb(&tiny(), &tracks()).unwrap();
    let (document, _) = split(&file);
    let asset = &document["asset"];
    assert_eq!(asset["copyright"], "CC0 1.0");
    assert_eq!(asset["extras"]["license"], "CC0-1.0");
    assert_eq!(asset["extras"]["startTimecode"], "13:13:00:00");
    assert!(
        asset["generator"]
            .as_str()
            .unwrap()
            .starts_with("Ghostlight ")
    );
    assert_eq!(read_animation(&file).extras, tracks().extras);

    let bare = GlbTracks {
        extras: Value::Null,
        ..tracks()
    };
    assert_eq!(write(&bare).extras, Value::Null);
}

#[test]
fn a_matrix_node_that_moves_is_given_as_its_parts() {
    let file = write_glb(&tiny(), &tracks()).unwrap();
    let (document, _) = split(&file);
    let head = &document["nodes"][HEAD];
    assert!(head.get("matrix").is_none());
    assert_eq!(head["translation"], json!([0.0, 1.0, 0.0]));
    assert_eq!(head["scale"], json!([1.0, 1.0, 1.0]));
}

#[test]
fn nothing_of_the_character_moves() {
    let (character, file) = (tiny(), write_glb(&tiny(), &tracks()).unwrap());
    let (document, bin) = split(&file);
    assert!(bin.starts_with(&character.bin));
    for key in ["accessors", "bufferViews"] {
        let before = character.document[key].as_array().unwrap();
        assert!(document[key].as_array().unwrap().starts_with(before));
    }
    assert_eq!(document["meshes"], character.document["meshes"]);
    // Writing onto what was written replaces the animation.
    let again = write_glb(&Character::from_glb(&file).unwrap(), &tracks()).unwrap();
    assert_eq!(read_animation(&again).channels.len(), 3);
}

#[test]
fn a_take_of_one_frame_is_valid() {
    let one = GlbTracks {
        times_secs: &[0.0],
        morphs: vec![MorphTrack {
            node: FACE,
            num_targets: 2,
            weights: vec![0.25, 0.75],
        }],
        joints: vec![JointTrack {
            node: HEAD,
            rotations: vec![Quat::from_rotation_x(0.1)],
            translations: None,
        }],
        ..tracks()
    };
    let animation = write(&one);
    assert_eq!(animation.channels.len(), 2);
    assert_eq!(animation.channel(FACE, "weights").key(0), [0.25_f32, 0.75]);
}

#[test]
fn quaternions_of_flipping_sign_and_length_become_continuous_units() {
    let mut flipping = tracks();
    let angles = [3.0, 3.1, 3.2];
    flipping.joints[0].rotations = angles.map(Quat::from_rotation_y).to_vec();
    flipping.joints[0].rotations[0] = -flipping.joints[0].rotations[0];
    flipping.joints[0].rotations[1] *= 1.3;
    flipping.joints[0].rotations[2] = -flipping.joints[0].rotations[2];
    // Length and sign are asserted while reading back.
    let animation = write(&flipping);
    for (at, angle) in angles.into_iter().enumerate() {
        let have = animation.channel(HEAD, "rotation").key(at);
        let have = Quat::from_array(have.try_into().unwrap());
        let want = Quat::from_rotation_y(angle);
        assert!(have.dot(want).abs() > 1.0 - 1e-6, "{have} is not {want}");
    }
}

#[test]
fn a_track_that_stands_still_is_two_keys() {
    let mut still = tracks();
    still.joints[0].rotations = vec![Quat::from_rotation_z(0.3); 3];
    let animation = write(&still);
    let rotation = animation.channel(HEAD, "rotation");
    assert_eq!(rotation.times_secs, [0.0_f32, 0.033_4]);
    assert_eq!(rotation.key(0), rotation.key(1));
    assert_eq!(animation.channel(HEAD, "translation").times_secs.len(), 3);
}

#[test]
fn numbers_that_are_none_are_refused_with_track_and_frame() {
    check_refused(
        |t| t.morphs[0].weights[3] = f32::NAN,
        "weights of node 2 (Face): value 1 of frame 1 is not finite",
    );
    check_refused(
        |t| t.joints[0].rotations[2].z = f32::INFINITY,
        "rotation of node 1 (Head): value 2 of frame 2 is not finite",
    );
    check_refused(
        |t| t.joints[0].translations.as_mut().unwrap()[0].x = f32::NAN,
        "translation of node 1 (Head): value 0 of frame 0 is not finite",
    );
    check_refused(
        |t| t.joints[0].rotations[1] = Quat::from_array([0.0; 4]),
        "rotation of node 1 (Head): rotation of frame 1 has length 0",
    );
}

#[test]
fn lengths_that_do_not_match_are_refused() {
    check_refused(
        |t| t.morphs[0].weights.truncate(5),
        "weights of node 2 (Face): 5 values for 3 frames of 2",
    );
    check_refused(
        |t| t.joints[0].rotations.truncate(2),
        "rotation of node 1 (Head): 8 values for 3 frames of 4",
    );
    check_refused(
        |t| t.morphs[0].num_targets = 3,
        "weights of node 2 (Face): 3 morph targets given, the character's mesh has 2 there",
    );
    check_refused(
        |t| t.morphs[0].node = HEAD,
        "weights of node 1 (Head): 2 morph targets given, the character's mesh has 0 there",
    );
}

#[test]
fn times_and_targets_that_no_player_takes_are_refused() {
    check_refused(
        |t| t.times_secs = &[0.0, 0.1, 0.1],
        "time 0.1 s of frame 2 is not 0 for the first, later for each next",
    );
    check_refused(
        |t| t.times_secs = &[0.5, 1.0, 1.5],
        "time 0.5 s of frame 0 is not 0 for the first, later for each next",
    );
    check_refused(
        |t| t.times_secs = &[0.0, f32::NAN, 1.0],
        "time NaN s of frame 1 is not 0 for the first, later for each next",
    );
    check_refused(
        |t| t.times_secs = &[],
        "the take has 0 frames and 2 tracks, at least one of each is needed",
    );
    check_refused(
        |t| t.joints[0].node = 3,
        "rotation of node 3 (Body): the node shows a skinned mesh, only its joints move it",
    );
    check_refused(
        |t| t.joints[0].node = 4,
        "node 4 is not among the 4 of the character",
    );
    check_refused(
        |t| t.joints.push(t.joints[0].clone()),
        "rotation of node 1 (Head): given twice",
    );
    check_refused(|t| t.extras = json!([1]), "the extras are no object");
}

#[test]
fn the_builtin_character_takes_an_animation() {
    let character = Character::builtin();
    let face = &character.morph_meshes[0];
    let num_targets = face.names.len();
    let head = character.node_named("Head").unwrap();
    let times_secs: Vec<f32> = (0..60).map(|frame| frame as f32 / 60.0).collect();
    let weight = |at: usize| (at % 97) as f32 / 97.0;
    let written = GlbTracks {
        name: "builtin",
        times_secs: &times_secs,
        morphs: vec![MorphTrack {
            node: face.node,
            num_targets,
            weights: (0..60 * num_targets).map(weight).collect(),
        }],
        joints: vec![JointTrack {
            node: head,
            rotations: times_secs
                .iter()
                .copied()
                .map(Quat::from_rotation_y)
                .collect(),
            translations: None,
        }],
        extras: Value::Null,
    };
    let file = write_glb(character, &written).unwrap();
    let animation = read_animation(&file);
    assert_eq!(
        animation.channel(face.node, "weights").values,
        written.morphs[0].weights
    );
    let read = Character::from_glb(&file).unwrap();
    assert_eq!(read.nodes, character.nodes);
    assert_eq!(read.morph_meshes, character.morph_meshes);
}
