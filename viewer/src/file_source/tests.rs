use std::{fmt::Write as _, fs};

use glam::{Quat, Vec3};
use hub::{StaticData, Transform};
use serde_json::{Value, json};

use super::*;

/// Two poses of a body whose left arm is out to the side and then up, 100 frames per second.
const BODY: &str = "HIERARCHY\nROOT Hips\n{\nOFFSET 0 90 0\n\
    CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\
    JOINT LeftArm\n{\nOFFSET 20 50 0\nCHANNELS 3 Zrotation Xrotation Yrotation\n\
    End Site\n{\nOFFSET 60 0 0\n}\n}\n\
    JOINT Foot\n{\nOFFSET 0 -90 0\nCHANNELS 0\n}\n}\n\
    MOTION\nFrames: 2\nFrame Time: 0.01\n\
    0 90 0 0 0 0 0 0 0\n0 90 0 0 0 0 90 0 0\n";

/// What a sink was told.
enum Told {
    Static(StaticData),
    Frame(FrameMeta, FrameData),
    Removed,
}

#[derive(Default)]
struct Recorded {
    told: Vec<Told>,
    keys: Vec<SubjectKey>,
    /// Set once so many frames have come.
    stop_at: Option<usize>,
}

impl Recorded {
    fn frames(&self) -> impl Iterator<Item = (&FrameMeta, &FrameData)> {
        self.told.iter().filter_map(|t| match t {
            Told::Frame(meta, data) => Some((meta, data)),
            _ => None,
        })
    }
}

impl Sink for Recorded {
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, _: WorldTime) {
        self.keys.push(key.clone());
        self.told.push(Told::Static(data.clone()));
    }

    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        self.keys.push(key.clone());
        self.told
            .push(Told::Frame(meta.clone(), data.unwrap().clone()));
    }

    fn removed(&mut self, key: &SubjectKey, _: WorldTime) {
        self.keys.push(key.clone());
        self.told.push(Told::Removed);
    }
}

/// Plays into a record.
fn play(options: &FileOptions, stop_at: Option<usize>) -> (Recorded, Played) {
    let opened = open(options).unwrap();
    let clock = HubClock::new();
    let stop = AtomicBool::new(false);
    let mut recorded = Recorded {
        stop_at,
        ..Recorded::default()
    };
    let mut deliver = |give: &mut dyn FnMut(WorldTime, &mut dyn Sink)| {
        give(clock.now(), &mut recorded);
        let frames = recorded.frames().count();
        if recorded.stop_at.is_some_and(|n| frames >= n) {
            stop.store(true, Ordering::Release);
        }
    };
    let played = run(&*opened.clip, options, clock, &stop, &mut deliver);
    (recorded, played)
}

fn options(text: &str) -> Result<FileOptions, String> {
    toml::from_str(text).map_err(|e| e.to_string())
}

/// A hand a metre to the left of an arm that turns a quarter about Z in one second: the document, whose buffer is at
/// `uri` or else in the GLB, and the buffer.
fn arm(uri: Option<&str>) -> (Value, Vec<u8>) {
    let half = std::f32::consts::FRAC_1_SQRT_2;
    let floats = [0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, half, half];
    let bin: Vec<u8> = floats.iter().flat_map(|v: &f32| v.to_le_bytes()).collect();
    let mut buffer = json!({"byteLength": bin.len()});
    if let Some(uri) = uri {
        buffer["uri"] = json!(uri);
    }
    let document = json!({
        "asset": {"version": "2.0"},
        "nodes": [
            {"name": "LeftArm", "translation": [0, 1, 1], "children": [1]},
            {"name": "LeftHand", "translation": [1, 0, 0]}
        ],
        "skins": [{"joints": [0, 1]}],
        "buffers": [buffer],
        "bufferViews": [
            {"buffer": 0, "byteLength": 8}, {"buffer": 0, "byteOffset": 8, "byteLength": 32}
        ],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 2, "type": "SCALAR", "max": [1.0]},
            {"bufferView": 1, "componentType": 5126, "count": 2, "type": "VEC4"}
        ],
        "animations": [{
            "name": "Raise",
            "samplers": [{"input": 0, "output": 1}],
            "channels": [{"sampler": 0, "target": {"node": 0, "path": "rotation"}}]
        }]
    });
    (document, bin)
}

fn hand(clip: &dyn Clip, frame: usize) -> Vec3 {
    let mut out = FrameData::default();
    clip.frame(frame, &mut out);
    assert_eq!(out.check(clip.statics()), Ok(()));
    let [arm, hand] = out.transforms() else {
        panic!("two bones");
    };
    Transform::mul(arm, hand).translation
}

#[test]
fn the_table_is_read_and_unknown_words_are_not() {
    let full = options(
        "path = \"動き.glb\"\nsubject = \"山田\"\nloop = false\nloop_gap_secs = 1.5\nspeed = 2\n\
         start_secs = 3.25\nscale = 0.01\nyaw_degrees = -90\nanimation = \"Walk\"\nrate = \"29.97\"\n\
         timecode = \"none\"\n",
    );
    let want = FileOptions {
        path: "動き.glb".into(),
        subject: Some(SubjectName::new("山田").unwrap()),
        looping: false,
        loop_gap_secs: 1.5,
        speed: 2.0,
        start_secs: 3.25,
        scale: Scale::MetresPerUnit(0.01),
        yaw_degrees: -90.0,
        animation: Some(AnimationName::Name("Walk".to_owned())),
        rate: Some(FrameRate::FPS_29_97),
        timecode: TimecodeOut::None,
    };
    assert_eq!(full, Ok(want));
    assert_eq!(
        options("path = \"a.bvh\"\nscale = \"auto\""),
        Ok(FileOptions::new("a.bvh"))
    );
    let index = options("path = \"a.glb\"\nanimation = 2").unwrap();
    assert_eq!(index.animation, Some(AnimationName::Index(2)));
    for (bad, word) in [
        ("", "path"),
        ("path = \"a\"\nspead = 1", "spead"),
        ("path = \"a\"\nscale = \"feet\"", "metres per unit"),
        ("path = \"a\"\nanimation = -1", "index from 0"),
        ("path = \"a\"\nrate = \"fast\"", "line 2"),
        ("path = \"a\"\nsubject = \"\"", "line 2"),
        ("path = \"a\"\ntimecode = \"mine\"", "mine"),
    ] {
        let message = options(bad).unwrap_err();
        assert!(message.contains(word), "{bad}: {message}");
    }
}

#[test]
fn a_bvh_plays_to_its_end_at_its_pace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("歩き.BVH");
    fs::write(&path, BODY).unwrap();
    let once = FileOptions {
        looping: false,
        ..FileOptions::new(&path)
    };
    let opened = open(&once).unwrap();
    assert_eq!(
        opened.notes,
        ["歩き: 140.0 units tall, taken as centimetres: 1.40 m"]
    );
    let (recorded, played) = play(&once, None);
    assert!(
        matches!(recorded.told.first(), Some(Told::Static(data)) if data == opened.clip.statics())
    );
    assert!(matches!(recorded.told.last(), Some(Told::Removed)));
    let key = &recorded.keys[0];
    assert_eq!(key.source.as_str(), "file/歩き.BVH");
    assert_eq!(key.name.as_str(), "歩き");
    assert!(recorded.keys.iter().all(|k| k == key));
    assert_eq!((played.frames, played.skipped), (2, 0));
    let frames: Vec<_> = recorded.frames().collect();
    let times: Vec<_> = frames
        .iter()
        .map(|(meta, _)| (meta.source_time.unwrap().as_nanos(), meta.sequence.unwrap()))
        .collect();
    assert_eq!(times, [(0, 0), (10_000_000, 1)]);
    // Never before its time.
    assert!(frames[1].0.arrival.as_nanos() >= 10_000_000);
    assert_eq!(frames[1].0.timecode, None);
    // The arm goes up.
    let up = frames[1].1.transforms()[1].rotation * Vec3::X;
    assert!(up.abs_diff_eq(Vec3::Y, 1e-6), "{up}");
}

#[test]
fn a_loop_goes_on_until_it_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("face.csv");
    let mut text = "Timecode,BlendShapeCount,JawOpen\n".to_owned();
    for i in 0..3 {
        writeln!(text, "10:00:00:3{i}.0,61,0.{i}").unwrap();
    }
    fs::write(&path, text).unwrap();
    let table = FileOptions {
        subject: Some(SubjectName::new("代役").unwrap()),
        speed: 10.0,
        ..FileOptions::new(&path)
    };
    let opened = open(&table).unwrap();
    assert!(
        opened.notes[0].contains("60 of the 61 curves"),
        "{:?}",
        opened.notes
    );
    let (recorded, played) = play(&table, Some(7));
    assert!(played.frames >= 7);
    assert!(matches!(recorded.told.last(), Some(Told::Removed)));
    assert_eq!(recorded.keys[0].name.as_str(), "代役");
    let mut before = None;
    for (meta, data) in recorded.frames() {
        let sequence = meta.sequence.unwrap();
        // Rounds of three rows, each with its own timecode and value.
        let row = sequence % 3;
        let label = meta.timecode.unwrap().to_string();
        assert_eq!(label, format!("10:00:00:3{row}.000"));
        let jaw = hub::arkit::index_of("JawOpen").unwrap();
        assert_eq!(
            data.properties[jaw],
            format!("0.{row}").parse::<f32>().unwrap()
        );
        let now = (sequence, meta.source_time.unwrap());
        assert!(before.is_none_or(|b| b < now), "{before:?} {now:?}");
        before = Some(now);
    }
    let silent = FileOptions {
        timecode: TimecodeOut::None,
        ..table
    };
    let (recorded, _) = play(&silent, Some(1));
    assert!(recorded.frames().all(|(meta, _)| meta.timecode.is_none()));
}

#[test]
fn a_glb_raises_its_left_hand_and_is_scaled_and_turned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arm.glb");
    let (document, bin) = arm(None);
    let json = serde_json::to_vec(&document).unwrap();
    fs::write(&path, characters::glb::write(&json, &bin).unwrap()).unwrap();

    let opened = open(&FileOptions::new(&path)).unwrap();
    let clip = &*opened.clip;
    // One key per second is too few: 24 are taken, first and last included.
    assert_eq!((clip.num_frames(), clip.at_nanos(24)), (25, NANOS_PER_SEC));
    assert_eq!(clip.duration_nanos(), 1_041_666_667);
    let near = |found: Vec3, want: Vec3| assert!(found.abs_diff_eq(want, 1e-5), "{found} {want}");
    near(hand(clip, 0), Vec3::new(1.0, 1.0, 1.0));
    let eighth = std::f32::consts::FRAC_1_SQRT_2;
    near(hand(clip, 12), Vec3::new(eighth, 1.0 + eighth, 1.0));
    near(hand(clip, 24), Vec3::new(0.0, 2.0, 1.0));
    near(hand(clip, 99), Vec3::new(0.0, 2.0, 1.0));

    let placed = FileOptions {
        scale: Scale::MetresPerUnit(2.0),
        yaw_degrees: 90.0,
        rate: Some(FrameRate::FPS_60),
        ..FileOptions::new(&path)
    };
    let opened = open(&placed).unwrap();
    assert_eq!(opened.clip.num_frames(), 61);
    // What was before it, +Z, is now at +X; its left, +X, is −Z.
    near(hand(&*opened.clip, 0), Vec3::new(2.0, 2.0, -2.0));
    let rest = &opened.clip.statics().skeleton().unwrap().rest;
    near(rest[0].translation, Vec3::new(2.0, 2.0, 0.0));
    assert!((rest[0].rotation * Vec3::Z).abs_diff_eq(Vec3::X, 1e-6));
    assert_eq!(rest[1].rotation, Quat::IDENTITY);
}

#[test]
fn a_gltf_finds_its_data_in_its_folder_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("scene");
    fs::create_dir(&inside).unwrap();
    let path = inside.join("arm.gltf");
    let (_, bin) = arm(None);
    fs::write(inside.join("腕 1.bin"), &bin).unwrap();
    fs::write(folder.path().join("secret.bin"), &bin).unwrap();
    let attempt = |uri: &str| {
        let (document, _) = arm(Some(uri));
        fs::write(&path, serde_json::to_vec(&document).unwrap()).unwrap();
        open(&FileOptions::new(&path)).map_err(|e| format!("{e:#}"))
    };
    for good in ["腕 1.bin", "%E8%85%95%201.bin", "./腕%201.bin"] {
        let opened = attempt(good).unwrap_or_else(|e| panic!("{good}: {e}"));
        assert_eq!(opened.clip.num_frames(), 25, "{good}");
    }
    let absolute = folder.path().join("secret.bin");
    for bad in [
        "../secret.bin",
        "%2E%2e/secret.bin",
        absolute.to_str().unwrap(),
        "https://example.com/secret.bin",
        "none.bin",
        "%zz.bin",
        "",
    ] {
        let Err(message) = attempt(bad) else {
            panic!("{bad} was read");
        };
        assert!(message.contains("/buffers/0/uri"), "{bad}: {message}");
    }
}

#[test]
fn what_cannot_be_played_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, content: &str, words: &[&str]| {
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        let Err(error) = open(&FileOptions::new(&path)) else {
            panic!("{name} was opened");
        };
        let message = format!("{error:#}");
        for word in words.iter().chain(&[name]) {
            assert!(message.contains(word), "{message}");
        }
    };
    check("walk.fbx", "", &["bvh, csv, glb, gltf"]);
    check("walk", "", &["extension"]);
    check("walk.bvh", "HIERARCHY\nROOT\n", &["line 2"]);
    check("walk.csv", "a,b\n1,2\n", &["Timecode"]);
    check("walk.glb", "no", &["neither GLB nor"]);
    check(
        "walk.gltf",
        "{\"asset\":{\"version\":\"2.0\"}}",
        &["no animations"],
    );
    let gone = FileOptions::new(folder.path().join("gone.bvh"));
    assert!(open(&gone).is_err());
}

/// All frames finite, of the right shape, with unit rotations.
fn play_through(clip: &dyn Clip, what: &str) {
    assert_eq!(clip.statics().validate(), Ok(()), "{what}");
    let mut out = FrameData::default();
    let mut before = -1;
    for i in 0..clip.num_frames() {
        clip.frame(i, &mut out);
        assert_eq!(out.check(clip.statics()), Ok(()), "{what}, frame {i}");
        for bone in out.transforms() {
            let squared = bone.rotation.length_squared();
            assert!((squared - 1.0).abs() < 1e-4, "{what}, frame {i}: {squared}");
        }
        assert!(clip.at_nanos(i) > before, "{what}, frame {i}");
        before = clip.at_nanos(i);
    }
    assert!(clip.duration_nanos() > before, "{what}");
}

#[test]
#[ignore = "needs the sample files"]
fn every_sample_plays_through() {
    let samples = std::env::var_os("GHOSTLIGHT_SAMPLES").expect("the folder of samples");
    let samples = PathBuf::from(samples);
    let (mut bvhs, mut animations) = (0, 0);
    for folder in ["bvh", "characters"] {
        for entry in fs::read_dir(samples.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let what = path.display().to_string();
            let extension = path.extension().unwrap_or_default().to_string_lossy();
            if extension == "bvh" {
                let opened = open(&FileOptions::new(&path)).unwrap();
                play_through(&*opened.clip, &what);
                bvhs += 1;
            }
            if !["glb", "gltf", "vrm", "vrma"].contains(&&*extension) {
                continue;
            }
            let all = Animation::list(&fs::read(&path).unwrap()).unwrap();
            for index in 0..all.len() {
                let chosen = FileOptions {
                    animation: Some(AnimationName::Index(index)),
                    ..FileOptions::new(&path)
                };
                match open(&chosen) {
                    Ok(opened) => {
                        play_through(&*opened.clip, &what);
                        animations += 1;
                    }
                    // Known to be so, and said.
                    Err(e) => assert!(
                        format!("{e:#}").contains("EXT_meshopt_compression"),
                        "{e:#}"
                    ),
                }
            }
            // Keys at 24 per second over 0.7083 s, as a reading of its own by another program has them.
            if what.ends_with("Fox.glb") {
                let walk = FileOptions {
                    animation: Some(AnimationName::Name("Walk".to_owned())),
                    ..FileOptions::new(&path)
                };
                assert_eq!(open(&walk).unwrap().clip.num_frames(), 18);
            }
        }
    }
    assert!(bvhs > 0 && animations > 0, "{bvhs} {animations}");
}
