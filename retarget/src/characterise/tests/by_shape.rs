//! Skeletons whose names say nothing.

use super::*;

/// Names that say nothing, each once, in an order that has nothing to do with the body.
fn nameless(typed: &Typed) -> Typed {
    let n = typed.names.len();
    // 37 and the number of bones have no common divisor in any of the skeletons here.
    assert!(!n.is_multiple_of(37));
    Typed {
        names: (0..n)
            .map(|i| format!("bone_{:02}", (i * 37 + 11) % n))
            .collect(),
        ..typed.clone()
    }
}

#[test]
fn a_mixamo_skeleton_without_names_is_the_same_body() {
    let typed = mixamo();
    let (named, found) = (typed.characterised(), nameless(&typed).characterised());
    assert_eq!(found.bones, named.bones, "{}", said(&found));
    assert_eq!(found.chains, named.chains);
    assert_eq!(found.turn, named.turn);
    assert_eq!(found.carrier, named.carrier);
    // It says that it guessed, and is less sure.
    let is_told = |r: &Reason| matches!(r, Reason::Guessed { bones } if bones.len() > 40);
    assert!(found.reasons.iter().any(is_told), "{}", said(&found));
    assert!(found.reasons.contains(&Reason::NoConvention));
    assert!(
        found.score < named.score && found.score > 0.7,
        "{}",
        found.score
    );
}

#[test]
fn bodies_without_names_have_the_same_limbs() {
    let cases: [(&str, &[Spelling]); 15] = [
        (skeletons::VRM, &[Prefix("left", "right")]),
        (skeletons::UNITY, &[Prefix("Left", "Right")]),
        (skeletons::VROID, &[Inside("_L_", "_R_")]),
        (skeletons::UNREAL, &[Suffix("_l", "_r")]),
        (skeletons::MOCOPI, &[Prefix("l_", "r_")]),
        (skeletons::ROKOKO, &[Prefix("left", "right")]),
        (skeletons::NEURON, &[Prefix("Left", "Right")]),
        (skeletons::MOTIVE, &[Inside("_L", "_R")]),
        (skeletons::CMU, &[Prefix("Left", "Right"), Letter('L', 'R')]),
        (skeletons::BIOVISION, &[Prefix("Left", "Right")]),
        (skeletons::SMPL, &[Prefix("left", "right")]),
        (skeletons::RIGIFY, &[Inside(".L", ".R")]),
        (skeletons::CC, &[Inside("_L_", "_R_")]),
        (skeletons::CHINESE, &[Inside("左", "右")]),
        (skeletons::BANDAI, &[Suffix("_L", "_R")]),
    ];
    for (text, spellings) in cases {
        let typed = skeleton(text, spellings);
        let rig = typed.rig();
        let (named, found) = (typed.characterised(), nameless(&typed).characterised());
        // Fingers, eyes and jaw need a name, unless there are five fingers.
        let body = &HumanBone::ALL[..HumanBone::LeftThumbMetacarpal.index()];
        for human in body.iter().copied() {
            if [HumanBone::LeftEye, HumanBone::RightEye, HumanBone::Jaw].contains(&human) {
                continue;
            }
            assert_eq!(
                found.bone(human).map(|b| &rig.names()[b]),
                named.bone(human).map(|b| &rig.names()[b]),
                "{human} in {}",
                said(&found)
            );
        }
    }
}

#[test]
fn the_order_of_the_bones_changes_nothing() {
    let typed = mixamo();
    let rig = typed.rig();
    let expected = typed.characterised();
    let n = typed.names.len();
    for seed in 1..20_usize {
        // Of the bones whose parent is placed already, a different one each time.
        let mut order: Vec<usize> = Vec::new();
        let mut state = seed;
        while order.len() < n {
            let open: Vec<usize> = (0..n)
                .filter(|b| !order.contains(b))
                .filter(|b| rig.parent(*b).is_none_or(|p| order.contains(&p)))
                .collect();
            state = state.wrapping_mul(25_214_903_917).wrapping_add(11) % (1 << 40);
            order.push(open[(state >> 8) % open.len()]);
        }
        let place = |bone: usize| order.iter().position(|o| *o == bone).unwrap() as u32;
        let shuffled = Typed {
            names: order.iter().map(|b| typed.names[*b].clone()).collect(),
            parents: order.iter().map(|b| rig.parent(*b).map(place)).collect(),
            at: order.iter().map(|b| typed.at[*b]).collect(),
        };
        for shuffled in [shuffled.clone(), nameless_like(&shuffled, &order)] {
            let found = shuffled.characterised();
            let back = |bone: u32| order[bone as usize] as u32;
            assert_eq!(
                found.bones.map(|b| b.map(back)),
                expected.bones,
                "{}",
                said(&found)
            );
            let chains: Vec<Chain> = found
                .chains
                .iter()
                .map(|c| Chain {
                    kind: c.kind,
                    bones: c.bones.iter().map(|b| back(*b)).collect(),
                })
                .collect();
            assert_eq!(chains, expected.chains);
        }
    }
}

/// Names that say nothing and go with the bone, not with its place in the list.
fn nameless_like(shuffled: &Typed, order: &[usize]) -> Typed {
    Typed {
        names: order
            .iter()
            .map(|b| format!("n{}", (b * 37 + 11) % order.len()))
            .collect(),
        ..shuffled.clone()
    }
}

#[test]
fn what_is_no_person_scores_low_and_says_what_is_missing() {
    let line = "
a 0 0 0
 b 0 10 0
  c 0 20 0
";
    let found = skeleton(line, &[]).characterised();
    assert!(found.score < 0.2, "{}", found.score);
    assert!(!found.rest_is_body);
    assert_eq!(found.turn, Quat::IDENTITY);
    assert!(found.chains.is_empty() && found.bones.iter().all(Option::is_none));
    let missing = found
        .reasons
        .iter()
        .any(|r| matches!(r, Reason::Missing { bones } if bones.contains(&HumanBone::LeftHand)));
    assert!(missing, "{}", said(&found));
}

#[test]
fn an_upper_body_alone_is_mapped() {
    let typed = mixamo().without(|n| n.contains("UpLeg"));
    let (rig, found) = (typed.rig(), typed.characterised());
    assert_eq!(
        name(&rig, &found, HumanBone::LeftHand),
        "mixamorig:LeftHand"
    );
    assert_eq!(name(&rig, &found, HumanBone::Hips), "mixamorig:Hips");
    assert!(found.rest_is_body, "{}", said(&found));
    assert!(
        math::angle_between(found.turn, Quat::IDENTITY) < 1e-6,
        "{}",
        said(&found)
    );
    assert!((0.4..0.8).contains(&found.score), "{}", found.score);
}
