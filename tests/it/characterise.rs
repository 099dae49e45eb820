//! Skeletons of collected BVH files: who is who, with what certainty, and which way they face.

use glam::Vec3;
use hub::{FrameBody, FrameData, Transform};
use retarget::{
    HumanBone, Rig,
    characterise::{BoneMap, Characterisation, characterise, characterise_posed},
};
use sources::bvh::{Bvh, CENTIMETRES};
use tests::samples;

/// With fewer joints a file is no person.
const LEAST_JOINTS: usize = 15;

/// What has to be found in every file.
const SOUGHT: [HumanBone; 14] = [
    HumanBone::Hips,
    HumanBone::Head,
    HumanBone::LeftUpperArm,
    HumanBone::LeftLowerArm,
    HumanBone::LeftHand,
    HumanBone::RightUpperArm,
    HumanBone::RightLowerArm,
    HumanBone::RightHand,
    HumanBone::LeftUpperLeg,
    HumanBone::LeftLowerLeg,
    HumanBone::LeftFoot,
    HumanBone::RightUpperLeg,
    HumanBone::RightLowerLeg,
    HumanBone::RightFoot,
];

/// Files whose zero pose is no standing body.
const NO_BODY_AT_REST: [&str; 3] = ["Geno_stance", "bandai", "rokoko"];

/// `model_from_local` of the first row.
fn first_frame(rig: &Rig, bvh: &Bvh) -> Vec<Transform> {
    let mut frame = FrameData::basic(Vec::new());
    assert!(bvh.frame(0, CENTIMETRES, &mut frame));
    let FrameBody::Animation(locals) = &frame.body else {
        panic!("a BVH frame moves bones");
    };
    let mut globals = Vec::new();
    rig.globals(locals, &mut globals);
    globals
}

/// Where a bone lies in the house frame.
fn place(found: &Characterisation, globals: &[Transform], human: HumanBone) -> Vec3 {
    found.turn * globals[found.bone(human).unwrap()].translation
}

#[test]
#[ignore = "needs the sample files"]
fn people_of_sample_files_are_recognised() {
    let folder = samples::folder()
        .expect("the folder of samples")
        .join("bvh");
    let mut people = 0;
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "bvh"))
        .collect();
    paths.sort();
    for path in paths {
        let file = path.file_stem().unwrap().to_string_lossy().into_owned();
        let bvh = Bvh::read(&std::fs::read(&path).unwrap()).unwrap();
        let data = bvh.static_data(CENTIMETRES);
        let rig = Rig::of_skeleton(data.skeleton().unwrap()).unwrap();
        let at_rest = characterise(&rig, &BoneMap::default());
        if rig.len() < LEAST_JOINTS {
            println!("{file:40} {:.2} no person", at_rest.score);
            assert!(at_rest.score < 0.5, "{file}");
            continue;
        }
        people += 1;
        let (found, globals) = if at_rest.rest_is_body {
            (at_rest, rig.rest_global().to_vec())
        } else {
            let globals = first_frame(&rig, &bvh);
            (
                characterise_posed(&rig, &globals, &BoneMap::default()),
                globals,
            )
        };
        println!(
            "{file:40} {:.2} rest is body: {}",
            found.score, found.rest_is_body
        );
        for reason in &found.reasons {
            println!("    {reason}");
        }
        for human in HumanBone::ALL.iter().copied() {
            if let Some(bone) = found.bone(human) {
                println!("    {human:24} {}", rig.names()[bone]);
            }
        }
        let is_known_no_body = NO_BODY_AT_REST.iter().any(|known| file.starts_with(known));
        assert_eq!(found.rest_is_body, !is_known_no_body, "{file}");
        for human in SOUGHT {
            assert!(found.bone(human).is_some(), "{file}: no {human}");
        }
        let across = |left: HumanBone| {
            place(&found, &globals, left).x - place(&found, &globals, left.mirrored()).x
        };
        for left in [HumanBone::LeftUpperArm, HumanBone::LeftUpperLeg] {
            let apart = across(left);
            assert!(apart > 0.0, "{file}: {left} lies {apart} from the right");
            let name = &rig.names()[found.bone(left).unwrap()];
            let is_left = name.to_lowercase().contains("left")
                || name.starts_with("l_")
                || [".L", "_L", " L "].iter().any(|side| name.contains(side));
            assert!(is_left, "{file}: {left} is {name}");
        }
        let rise = place(&found, &globals, HumanBone::Head).y
            - place(&found, &globals, HumanBone::LeftFoot).y;
        assert!(rise > 0.0, "{file}: the head lies {rise} above the foot");
        assert!(found.score > 0.85, "{file}: {}", found.score);
    }
    assert!(people > 0, "no sample of a person");
}
