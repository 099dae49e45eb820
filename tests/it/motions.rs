//! Real motions onto real characters: what the whole stack makes of them, beside copying rotations alone and beside a peer.
//!
//! Needs `GHOSTLIGHT_SAMPLES`. The peer is three.js; `tests/peers/motions.sh` runs all of it and leaves the table. What the
//! columns are is said in `measure`. Where environment variables name folders:
//!
//! - `GHOSTLIGHT_WRITE_MAPS`: what the peer has to know of each pair is written there;
//! - `GHOSTLIGHT_PEER_MOTIONS`: what the peer made of them is read there;
//! - `GHOSTLIGHT_SHEETS`: a sheet of source beside target for each motion is drawn there.

mod body;
mod measure;
mod peer;

use std::path::{Path, PathBuf};

use hub::{FrameBody, FrameData, Transform};
use retarget::{
    HumanBone, Rig,
    asset::{BasePoses, Retarget, RetargetAsset},
    characterise::BoneMap,
    solve::Op,
};
use tests::{
    samples,
    sheet::{self, Column, Figure},
};
use viewer::{
    cast,
    file_source::{self, FileOptions},
    rigs,
};

use body::{Body, Pose, above, contacts, house_pose, place, toes};
use measure::{Measured, Touch, measure, touches};

/// Files in `bvh`.
const MOTIONS: [&str; 10] = [
    "walk01",
    "cmu_12_01_walk",
    "AV_8Walk_Meredith_HVHA_Rep1",
    "mixamo_names_freebvh",
    "xsens_names_YXZ_crlf",
    "mocapbank_crlf",
    "fair1_dab",
    "rokoko_jesse_dance",
    "makehuman_zombieWalk1",
    "bandai_dataset-1_dash_normal_001",
];
/// Files in `characters`, and our own.
const CHARACTERS: [&str; 5] = [
    cast::BUILTIN,
    "makehuman_mixamo_arkit52.glb",
    "rpm_brunette-t.glb",
    "VrmaInspector_Example_vrm1.vrm",
    "Godette_vrm0.vrm",
];
/// Where our own lies, for the peer.
const BUILTIN_FILE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../retarget/characters/builtin/character.glb"
);
/// Frames of a motion that are looked at.
const MAX_FRAMES: usize = 1200;

/// What is wanted: metres of skate per second of contact, and metres below the floor.
const GOAL: (f32, f32) = (0.033, 0.005);
/// What was measured and no more.
const BOUND: (f32, f32) = (0.07, 0.012);

/// Poses on a sheet.
const SHEET_POSES: usize = 8;

/// A motion read whole: poses of its rig and the time between two.
struct Motion {
    name: &'static str,
    file: PathBuf,
    rig: Rig,
    poses: Vec<Vec<Transform>>,
    dt_secs: f32,
    /// The frame in which the performer stands, where the rest pose is no body.
    stance: Option<Vec<Transform>>,
}

struct Character {
    name: &'static str,
    file: PathBuf,
    rig: Rig,
    /// Node of each bone of the rig.
    nodes: Vec<usize>,
    /// What its file says of its bones.
    said: BoneMap,
}

/// A motion on a character.
struct Pair<'a> {
    motion: &'a Motion,
    character: &'a Character,
    built: Retarget,
    source: Vec<Pose>,
}

impl Motion {
    fn read(folder: &Path, name: &'static str) -> Self {
        let file = folder.join("bvh").join(format!("{name}.bvh"));
        let clip = file_source::open(&FileOptions::new(&file)).unwrap().clip;
        let rig = Rig::of_skeleton(clip.statics().skeleton().unwrap()).unwrap();
        let mut frame = FrameData::default();
        let mut pose = |index| {
            clip.frame(index, &mut frame);
            match &frame.body {
                FrameBody::Animation(bones) => bones.clone(),
                _ => Vec::new(),
            }
        };
        let stance = rigs::inspect(&file, &BoneMap::default())
            .unwrap()
            .base_frame;
        Self {
            name,
            rig,
            poses: (0..clip.num_frames().min(MAX_FRAMES))
                .map(&mut pose)
                .collect(),
            dt_secs: (clip.at_nanos(1) - clip.at_nanos(0)) as f32 * 1e-9,
            stance: stance.map(pose),
            file,
        }
    }
}

impl Character {
    fn read(folder: &Path, name: &'static str) -> Self {
        let is_own = name == cast::BUILTIN;
        let file = folder.join("characters").join(name);
        let figure = cast::figure(if is_own { Path::new(name) } else { &file }).unwrap();
        Self {
            name,
            rig: figure.rig().clone(),
            nodes: figure.nodes().to_vec(),
            said: figure.said().clone(),
            file: if is_own { BUILTIN_FILE.into() } else { file },
        }
    }

    /// Its name without the extension.
    fn short(&self) -> &'static str {
        self.name.split('.').next().unwrap_or(self.name)
    }
}

impl<'a> Pair<'a> {
    fn new(motion: &'a Motion, character: &'a Character) -> Self {
        let built = build(motion, character, false);
        let mut globals = Vec::new();
        let poses = motion.poses.iter().map(|pose| {
            motion.rig.globals(pose, &mut globals);
            house_pose(&built.source, &globals)
        });
        let source = poses.collect();
        Self {
            motion,
            character,
            built,
            source,
        }
    }

    fn name(&self) -> String {
        format!("{} onto {}", self.motion.name, self.character.name)
    }

    /// Name of its files.
    fn file_name(&self) -> String {
        format!("{}__{}", self.motion.name, self.character.short())
    }

    fn source_body(&self) -> Body {
        Body::new(&self.built.source, &self.built.source_pose)
    }

    fn target_body(&self) -> Body {
        Body::new(&self.built.target, &self.built.target_pose)
    }

    /// Bones that both have.
    fn common(&self) -> Vec<HumanBone> {
        let both = |human: &&HumanBone| {
            self.built.source.bone(**human).is_some() && self.built.target.bone(**human).is_some()
        };
        HumanBone::ALL.iter().filter(both).copied().collect()
    }
}

fn build(motion: &Motion, character: &Character, is_copy: bool) -> Retarget {
    let mut asset = RetargetAsset::default();
    asset.target.bones = character.said.clone();
    if is_copy {
        for step in &mut asset.steps {
            step.enabled = matches!(step.op, Op::Fk(_) | Op::Travel(_));
        }
    }
    let bases = BasePoses {
        source: motion.stance.as_deref(),
        target: None,
    };
    match asset.build(&motion.rig, &character.rig, bases) {
        Ok(built) => built,
        Err(faults) => panic!("{} onto {}: {faults}", motion.name, character.name),
    }
}

/// The target's poses, house frame.
fn play(built: &mut Retarget, motion: &Motion, target: &Rig) -> Vec<Pose> {
    let (mut out, mut globals) = (Vec::new(), Vec::new());
    let mut frames = Vec::with_capacity(motion.poses.len());
    for (index, pose) in motion.poses.iter().enumerate() {
        built.retargeter.evaluate(pose, motion.dt_secs, &mut out);
        assert!(out.iter().all(Transform::is_rigid), "frame {index}");
        target.globals(&out, &mut globals);
        frames.push(house_pose(&built.target, &globals));
    }
    frames
}

/// A folder that the environment names.
fn folder_of(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .filter(|folder| !folder.is_empty())
        .map(PathBuf::from)
}

fn samples_read() -> (Vec<Motion>, Vec<Character>) {
    let folder = samples::folder().expect("GHOSTLIGHT_SAMPLES names the folder");
    (
        MOTIONS
            .into_iter()
            .map(|name| Motion::read(&folder, name))
            .collect(),
        CHARACTERS
            .into_iter()
            .map(|name| Character::read(&folder, name))
            .collect(),
    )
}

/// The numbers of a pair: of the source itself, rotations and travel alone, the peer, the whole stack.
struct Row {
    source: Measured,
    copy: Measured,
    peer: Option<Measured>,
    stack: Measured,
}

impl Row {
    fn of(pair: &mut Pair<'_>, peers: Option<&Path>) -> Self {
        let (motion, character) = (pair.motion, pair.character);
        let planted = contacts(&pair.source, motion.dt_secs);
        let common = pair.common();
        let (source, target) = (pair.source_body(), pair.target_body());
        let near: Vec<Touch> = touches(&source, &target, &pair.source);
        let ratio = pair.built.retargeter.ratio();
        let of = |body: &Body, frames: &[Pose], near: &[Touch]| {
            let mut measured = measure(body, frames, motion.dt_secs, &planted, &common);
            measured.add_touches(body, frames, near, ratio);
            measured
        };
        let copied = play(&mut build(motion, character, true), motion, &character.rig);
        let peer = peers.map(|folder| {
            let frames = peer::read(folder, &pair.file_name(), pair.built.target.turn);
            assert_eq!(
                frames.len(),
                motion.poses.len(),
                "{}: the peer's",
                pair.name()
            );
            of(&target, &frames, &near)
        });
        let played = play(&mut pair.built, motion, &character.rig);
        Self {
            source: of(&source, &pair.source, &[]),
            copy: of(&target, &copied, &near),
            peer,
            stack: of(&target, &played, &near),
        }
    }

    /// A cell: source, FK, peer, stack.
    fn cell(&self, text: impl Fn(&Measured) -> Option<String>) -> String {
        let ways = [
            Some(&self.source),
            Some(&self.copy),
            self.peer.as_ref(),
            Some(&self.stack),
        ];
        ways.map(|way| way.and_then(&text).unwrap_or_else(|| "–".to_owned()))
            .join(" / ")
    }

    /// What of the goal is missed.
    fn missed(&self) -> String {
        let stack = &self.stack;
        let all = [
            ("skate", stack.skate_per_sec() > GOAL.0),
            ("floor", stack.below_max_m > GOAL.1),
            ("knees", stack.flips > 0),
        ];
        let missed: Vec<&str> = all
            .iter()
            .filter(|(_, is)| *is)
            .map(|(what, _)| *what)
            .collect();
        if missed.is_empty() {
            "met".to_owned()
        } else {
            missed.join(", ")
        }
    }

    fn print(&self, pair: &Pair<'_>) {
        let number =
            |value: f32, scale: f32, digits: usize| Some(format!("{:.digits$}", value * scale));
        println!(
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} |",
            pair.motion.name,
            pair.character.short(),
            self.cell(|m| number(m.skate_per_sec(), 1.0, 3)),
            self.cell(|m| number(m.below_mean_m, 1e3, 1)),
            self.cell(|m| number(m.below_max_m, 1e3, 0)),
            self.cell(|m| number(m.beyond_limits, 1e2, 1)),
            self.cell(|m| m.hands_m().and_then(|metres| number(metres, 1e3, 0))),
            self.cell(|m| Some(m.flips.to_string())),
            self.cell(|m| number(m.turn_acceleration, 1.0, 0)),
            self.missed(),
        );
    }
}

/// What does not hold yet, by name, so that nothing joins it unseen and nothing leaves it untold. In the dash, feet that are
/// found to stand slide at 0.3 m/s in the source already.
const SHORTFALLS: &[&str] = &[
    "mixamo_names_freebvh onto builtin: goes too deep",
    "xsens_names_YXZ_crlf onto Godette_vrm0.vrm: slides more than FK",
    "bandai_dataset-1_dash_normal_001 onto builtin: slides too far",
    "bandai_dataset-1_dash_normal_001 onto builtin: slides more than FK",
    "bandai_dataset-1_dash_normal_001 onto builtin: goes too deep",
    "bandai_dataset-1_dash_normal_001 onto makehuman_mixamo_arkit52.glb: slides too far",
    "bandai_dataset-1_dash_normal_001 onto makehuman_mixamo_arkit52.glb: slides more than FK",
    "bandai_dataset-1_dash_normal_001 onto makehuman_mixamo_arkit52.glb: goes too deep",
    "bandai_dataset-1_dash_normal_001 onto rpm_brunette-t.glb: slides too far",
    "bandai_dataset-1_dash_normal_001 onto rpm_brunette-t.glb: slides more than FK",
    "bandai_dataset-1_dash_normal_001 onto rpm_brunette-t.glb: goes too deep",
    "bandai_dataset-1_dash_normal_001 onto VrmaInspector_Example_vrm1.vrm: slides too far",
    "bandai_dataset-1_dash_normal_001 onto VrmaInspector_Example_vrm1.vrm: slides more than FK",
    "bandai_dataset-1_dash_normal_001 onto Godette_vrm0.vrm: slides too far",
    "bandai_dataset-1_dash_normal_001 onto Godette_vrm0.vrm: goes too deep",
];

#[test]
#[ignore = "needs the sample files"]
fn motions_on_characters_in_a_table() {
    let (motions, characters) = samples_read();
    let peers = folder_of("GHOSTLIGHT_PEER_MOTIONS");
    // The harness has begun a line.
    println!(
        "\nIn each cell: source / FK / three.js / stack.\n\n\
         | motion | character | skate m/s | below, mean mm | below, max mm | beyond limits % | hands mm | flips | turns rad/s² | goal |\n\
         |---|---|---|---|---|---|---|---|---|---|"
    );
    let mut faults = Vec::new();
    let mut pairs = 0;
    for motion in &motions {
        for character in &characters {
            let mut pair = Pair::new(motion, character);
            let row = Row::of(&mut pair, peers.as_deref());
            row.print(&pair);
            pairs += 1;
            let (plain, stack) = (&row.copy, &row.stack);
            let wrong = [
                ("slides too far", stack.skate_per_sec() >= BOUND.0),
                (
                    "slides more than FK",
                    stack.skate_per_sec() > plain.skate_per_sec(),
                ),
                ("goes too deep", stack.below_max_m >= BOUND.1),
                ("knees bend backwards", stack.flips != 0),
            ];
            let wrong = wrong.iter().filter(|(_, is)| *is);
            faults.extend(wrong.map(|(what, _)| format!("{}: {what}", pair.name())));
        }
    }
    assert_eq!(pairs, MOTIONS.len() * CHARACTERS.len());
    assert_eq!(faults, SHORTFALLS);
}

#[test]
#[ignore = "needs the sample files"]
fn maps_for_a_peer() {
    let Some(out) = folder_of("GHOSTLIGHT_WRITE_MAPS") else {
        println!("GHOSTLIGHT_WRITE_MAPS names no folder: nothing is written");
        return;
    };
    let (motions, characters) = samples_read();
    for motion in &motions {
        for character in &characters {
            let pair = Pair::new(motion, character);
            let map = peer::map(&pair);
            // Without these a peer could do nothing.
            let bones = map["bones"].as_array().unwrap();
            assert!(bones.len() >= 14, "{}: {} bones", pair.name(), bones.len());
            assert_eq!(bones[0]["bone"], "hips", "{}", pair.name());
            std::fs::write(
                out.join(format!("{}.map.json", pair.file_name())),
                map.to_string(),
            )
            .unwrap();
        }
    }
}

/// What is drawn of a body: a line from each bone to the next above, its planted feet.
fn figure(pose: &Pose, planted: [bool; 2]) -> Figure {
    let line = |human: &HumanBone| {
        let from = place(pose, above(pose, *human)?)?;
        Some([from.to_array(), place(pose, *human)?.to_array()])
    };
    let feet = toes(pose);
    Figure {
        lines: HumanBone::ALL.iter().filter_map(line).collect(),
        contacts: [0, 1]
            .into_iter()
            .filter(|foot| planted[*foot])
            .map(|foot| feet[foot].to_array())
            .collect(),
        centre: place(pose, HumanBone::Hips).unwrap_or_default().to_array(),
    }
}

#[test]
#[ignore = "needs the sample files"]
fn sheets_of_source_beside_target() {
    let Some(out) = folder_of("GHOSTLIGHT_SHEETS") else {
        println!("GHOSTLIGHT_SHEETS names no folder: nothing is drawn");
        return;
    };
    std::fs::create_dir_all(&out).unwrap();
    let (motions, characters) = samples_read();
    // Each character in its turn.
    for (motion, character) in motions.iter().zip(characters.iter().cycle()) {
        let mut pair = Pair::new(motion, character);
        let planted = contacts(&pair.source, motion.dt_secs);
        let played = play(&mut pair.built, motion, &character.rig);
        let last = played.len().saturating_sub(1);
        let columns: Vec<Column> = (0..SHEET_POSES)
            .map(|pose| {
                let at = pose * last / (SHEET_POSES - 1);
                let feet = at
                    .checked_sub(1)
                    .map_or([false; 2], |before| planted[before]);
                Column {
                    label: format!("{:.2} s", at as f32 * motion.dt_secs),
                    source: figure(&pair.source[at], feet),
                    target: figure(&played[at], feet),
                }
            })
            .collect();
        let svg = sheet::svg(&pair.name(), &columns);
        assert!(
            columns
                .iter()
                .all(|c| c.source.lines.len() > 10 && c.target.lines.len() > 10)
        );
        std::fs::write(out.join(format!("{}.svg", pair.file_name())), svg).unwrap();
    }
}
