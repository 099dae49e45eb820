//! From a hub that runs to [`Facts`]: the only place here that looks at it.

use std::{
    collections::{HashMap, hash_map::DefaultHasher},
    hash::Hasher as _,
    net::UdpSocket,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use characters::Character;
use hub::{
    FrameBody, FrameData, FrameMeta, StaticData, SubjectKey, Transform, WorldTime,
    arkit::CURVES,
    client::{At, Evaluated, SubjectView},
    master::MasterState,
    virtuals::nearest,
};
use retarget::{FaceRig, Rig};
use sources::Protocol;

use super::{
    Binding, Facts, OutputFacts, SkeletonFacts, SourceFacts, SourceFault, Started, SubjectFacts,
    Unstarted, asked_phone,
};
use crate::{
    adapters::Ranked,
    live::{Listening, Live, Observer, Shared},
    outputs::Patterns,
    stage::{OutputTable, SourceTable, Stage},
};

/// Most subjects whose values are compared; as many as a hub keeps.
const MAX_WATCHED: usize = 4096;
/// Curves that nothing shows by themselves: roll of the eyes.
const NEVER_SHOWN: [&str; 2] = [CURVES[57], CURVES[60]];

/// Watches whether the values of subjects change.
#[derive(Clone, Default)]
pub(crate) struct Motion {
    seen: Arc<Mutex<HashMap<SubjectKey, Seen>>>,
}

/// What was seen of one subject's frames.
#[derive(Clone, Copy, Default)]
struct Seen {
    frames: u64,
    /// Of the values of the first frame.
    print: u64,
    moves: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Counters are whole between any two statements.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Motion {
    /// What the hub calls with each frame.
    pub(crate) fn observer(&self) -> Observer {
        let seen = Arc::clone(&self.seen);
        Box::new(
            move |key: &SubjectKey, _: &FrameMeta, data: Option<&FrameData>| {
                if let Some(data) = data {
                    see(&mut lock(&seen), key, data);
                }
            },
        )
    }

    fn of(&self, key: &SubjectKey) -> Seen {
        lock(&self.seen).get(key).copied().unwrap_or_default()
    }
}

fn see(all: &mut HashMap<SubjectKey, Seen>, key: &SubjectKey, data: &FrameData) {
    if let Some(seen) = all.get_mut(key) {
        seen.frames = seen.frames.saturating_add(1);
        // What has moved once need not be compared again.
        seen.moves = seen.moves || seen.print != print(data);
    } else if all.len() < MAX_WATCHED {
        let first = Seen {
            frames: 1,
            print: print(data),
            moves: false,
        };
        all.insert(key.clone(), first);
    }
}

/// The same for the same values; another for others, but for one in 2⁶⁴.
fn print(data: &FrameData) -> u64 {
    let mut hasher = DefaultHasher::new();
    let mut put = |v: f32| hasher.write_u32(v.to_bits());
    for Transform {
        translation,
        rotation,
        scale,
    } in data.transforms()
    {
        translation.to_array().into_iter().for_each(&mut put);
        rotation.to_array().into_iter().for_each(&mut put);
        scale.to_array().into_iter().for_each(&mut put);
    }
    match &data.body {
        FrameBody::Camera(camera) => camera.lens().into_iter().flatten().for_each(&mut put),
        FrameBody::Light(light) => light.emission().into_iter().flatten().for_each(&mut put),
        FrameBody::Basic | FrameBody::Animation(_) | FrameBody::Transform(_) => {}
    }
    data.properties.iter().copied().for_each(put);
    hasher.finish()
}

/// What the operator asks the doctor.
pub(crate) struct Asked<'a> {
    /// The whole stage, what cannot start included.
    pub(crate) stage: &'a Stage,
    /// Nobody named a source.
    pub(crate) are_sources_usual: bool,
    /// The subject that is to move.
    pub(crate) wanted: Option<&'a str>,
    /// The character that is to move: itself, or why it cannot be read.
    pub(crate) character: Option<&'a Result<Character, String>>,
    /// This computer's addresses, the best first.
    pub(crate) adapters: &'a [Ranked],
    /// Hubs that run on this computer and said so.
    pub(crate) hubs_here: Vec<String>,
    /// For how long was listened.
    pub(crate) listened_secs: f64,
}

/// Everything that the rules go by, of a hub that was started for the doctor.
pub(crate) fn gather(started: &Started, motion: &Motion, asked: Asked<'_>) -> Facts {
    let running = Running {
        live: &started.live,
        stage: &started.stage,
        faults: &started.faults,
        unstarted: &started.unstarted,
    };
    look(&running, motion, asked)
}

/// A hub and what of its stage does not run.
pub(super) struct Running<'a> {
    pub(super) live: &'a Live,
    /// The part of the stage that runs.
    pub(super) stage: &'a Stage,
    /// One per source of the whole stage: why it does not run.
    pub(super) faults: &'a [Option<SourceFault>],
    /// What else does not run.
    pub(super) unstarted: &'a [Unstarted],
}

/// Everything that the rules go by, as it is now.
pub(super) fn look(started: &Running<'_>, motion: &Motion, asked: Asked<'_>) -> Facts {
    let live = started.live;
    let now = live.clock().now();
    let character = asked.character.and_then(|c| c.as_ref().ok());
    let (subjects, refused_statics, unknown_frames) = live.with(|shared| {
        let shared = &*shared;
        let subjects: Vec<SubjectFacts> = shared
            .client
            .subjects()
            .map(|view| subject(view, shared, motion, character, now))
            .collect();
        (
            subjects,
            shared.refused_statics,
            shared.client.unknown_frames(),
        )
    });
    let mut faults = started.faults.iter().flatten();
    let is_taken = faults.any(|f| matches!(f, SourceFault::PortInUse { .. }));
    let phones = live.remote().map(|r| r.status().phones).unwrap_or_default();
    Facts {
        os: std::env::consts::OS,
        now,
        listened_secs: asked.listened_secs,
        sources: sources(asked.stage, started.faults, live.listening()),
        are_sources_usual: asked.are_sources_usual,
        unstarted: started.unstarted.to_vec(),
        is_our_port_in_use: is_taken && is_our_port_in_use(live),
        hubs_here: asked.hubs_here,
        adapters: asked.adapters.to_vec(),
        subjects,
        tables: asked.stage.subjects.clone(),
        wanted: asked.wanted.map(str::to_owned),
        refused_statics,
        unknown_frames,
        virtuals: live.virtuals(),
        outputs: outputs(&started.stage.outputs, live),
        timecode: timecode(live, now),
        phones: phones
            .into_iter()
            .map(|p| (p.name, p.status.is_reachable))
            .collect(),
        character: asked
            .character
            .map(|c| c.as_ref().map(|_| ()).map_err(Clone::clone)),
    }
}

/// Whether the port of our own format is taken by somebody else.
fn is_our_port_in_use(live: &Live) -> bool {
    let is_ours = live.listening().iter().any(|l| l.kind == Protocol::Native);
    let port = Protocol::Native.default_port();
    let bound = UdpSocket::bind(("0.0.0.0", port));
    !is_ours && bound.is_err_and(|e| e.kind() == std::io::ErrorKind::AddrInUse)
}

/// The sources in the order of the stage; sockets are listed in that order, too, without files and faults.
fn sources(
    stage: &Stage,
    faults: &[Option<SourceFault>],
    listening: &[Listening],
) -> Vec<SourceFacts> {
    let mut left: Vec<&Listening> = listening.iter().collect();
    let all = stage.sources.iter().zip(faults);
    all.map(|(table, fault)| {
        let runs = fault.is_none() && table.file.is_none();
        // By kind and port: sources come and go while a hub runs.
        let wanted = table.connect.unwrap_or_else(|| table.addr());
        let at = left.iter().position(|l| {
            l.kind == table.kind && (wanted.port() == 0 || l.addr.port() == wanted.port())
        });
        let socket = at.filter(|_| runs).map(|at| left.remove(at));
        source(table, fault.clone(), socket)
    })
    .collect()
}

fn source(
    table: &SourceTable,
    fault: Option<SourceFault>,
    socket: Option<&Listening>,
) -> SourceFacts {
    let place = match (&table.file, socket) {
        (Some(file), _) => file.path.display().to_string(),
        (None, Some(socket)) => socket.addr.to_string(),
        (None, None) => table.connect.unwrap_or_else(|| table.addr()).to_string(),
    };
    SourceFacts {
        kind: table.kind,
        place,
        transport: table.transport,
        connects: table.connect.is_some(),
        fault,
        bound: socket.map(|s| s.addr),
        phone: asked_phone(table),
        stats: socket.map(|s| *lock(&s.stats)).unwrap_or_default(),
        senders: socket.map_or_else(Vec::new, |s| lock(&s.senders).iter().copied().collect()),
    }
}

fn subject(
    view: SubjectView<'_>,
    shared: &Shared,
    motion: &Motion,
    character: Option<&Character>,
    now: WorldTime,
) -> SubjectFacts {
    let key = view.key();
    let statics = view.statics();
    let mut evaluated = Evaluated::default();
    let quality = shared.client.find(key).map(|id| {
        shared
            .client
            .evaluate_at(id, At::World(now), now, &mut evaluated)
            .quality
    });
    let seen = motion.of(key);
    let (step_faults, unprocessed) = match shared.processing(key) {
        Some((faults, _, counts)) => (
            faults.iter().map(ToString::to_string).collect(),
            counts.refused,
        ),
        None => (Vec::new(), 0),
    };
    SubjectFacts {
        key: key.clone(),
        role: view.role(),
        state: view.state(now),
        silent_secs: (now - view.last_arrival()) as f64 / 1e9,
        rate_hz: view.rate_hz(now),
        counts: view.counts(),
        curves: statics.properties.iter().map(|p| p.name.clone()).collect(),
        skeleton: statics.skeleton().map(|skeleton| SkeletonFacts {
            num_bones: skeleton.num_bones(),
            has_rest: !skeleton.rest.is_empty() || skeleton.num_bones() == 0,
            fault: Rig::of_skeleton(skeleton).err().map(|f| f.to_string()),
        }),
        frames: seen.frames,
        moves: seen.moves,
        quality: quality.unwrap_or_default(),
        world_offset_secs: view.settings().world_offset_secs,
        outbound: shared.outbound(key),
        step_faults,
        unprocessed,
        binding: character.map(|character| binding(statics, character)),
    }
}

/// What of a character follows these curves and bones, all by name.
fn binding(statics: &StaticData, character: &Character) -> Binding {
    let curves: Vec<&str> = statics.properties.iter().map(|p| p.name.as_str()).collect();
    // Several targets of one name all follow, so that all meshes can be bound as one.
    let morphs: Vec<&str> = character
        .morph_meshes
        .iter()
        .flat_map(|mesh| mesh.names.iter().map(String::as_str))
        .collect();
    let rig = FaceRig::build(&curves, &morphs);
    let shown = rig
        .unbound_curves()
        .iter()
        .filter(|c| !NEVER_SHOWN.contains(&c.as_str()));
    let free = rig.unbound_morphs();
    let unbound_curves = shown
        .map(|curve| {
            let near = nearest(curve, free.iter().map(String::as_str)).map(str::to_owned);
            (curve.clone(), near)
        })
        .collect();
    let bones = statics
        .skeleton()
        .map_or(&[][..], |s| s.bone_names.as_slice());
    let unbound_bones: Vec<String> = bones
        .iter()
        .filter(|bone| character.node_named(bone).is_none())
        .cloned()
        .collect();
    Binding {
        num_morphs: morphs.len(),
        unbound_morphs: free.to_vec(),
        unbound_curves,
        bound_bones: bones.len() - unbound_bones.len(),
        unbound_bones,
    }
}

fn outputs(tables: &[OutputTable], live: &Live) -> Vec<OutputFacts> {
    let running = live.outputs().iter();
    running
        .zip(tables)
        .map(|(output, table)| OutputFacts {
            stats: output.stats(),
            patterns: table.subjects.clone(),
            names: Patterns::new(&table.subjects)
                .map(|p| p.names().map(str::to_owned).collect())
                .unwrap_or_default(),
        })
        .collect()
}

/// What is missing of a timecode that comes from elsewhere.
fn timecode(live: &Live, now: WorldTime) -> Option<String> {
    let status = live.timecode_in().status(now);
    let is_missing = status.source.is_external() && status.state == MasterState::NoTimecode;
    if !is_missing {
        return None;
    }
    let word = serde_json::to_value(status.source).ok()?;
    let word = word.as_str().unwrap_or("its source");
    let taken = status.input.taken;
    Some(match status.input.ended {
        Some(why) => format!("the hub has no timecode: {word} gives nothing any more ({why})"),
        None if taken == 0 => format!("the hub has no timecode: nothing has come from {word}"),
        None => format!(
            "the hub has no timecode: {taken} samples or packets came from {word}, and no label in them"
        ),
    })
}

#[cfg(test)]
mod tests {
    use hub::{SourceId, SubjectName};

    use super::*;

    fn key() -> SubjectKey {
        let source = SourceId::new("osc/127.0.0.1").unwrap();
        SubjectKey::new(source, SubjectName::new("演員").unwrap())
    }

    #[test]
    fn motion_is_a_change_of_any_value() {
        let motion = Motion::default();
        let mut observer = motion.observer();
        let meta = FrameMeta::default();
        let mut frame = FrameData::basic(vec![0.25, 0.5]);
        for _ in 0..3 {
            observer(&key(), &meta, Some(&frame));
        }
        observer(&key(), &meta, None);
        let seen = motion.of(&key());
        assert_eq!((seen.frames, seen.moves), (3, false));
        frame.properties[1] = 0.500_001;
        observer(&key(), &meta, Some(&frame));
        frame.properties[1] = 0.5;
        observer(&key(), &meta, Some(&frame));
        let seen = motion.of(&key());
        assert_eq!((seen.frames, seen.moves), (5, true));
    }

    #[test]
    fn a_turn_a_zoom_and_a_dimmed_light_are_motion() {
        let mut turned = Transform::IDENTITY;
        turned.rotation = glam::Quat::from_rotation_y(0.1);
        let of = |body| FrameData {
            body,
            properties: Vec::new(),
        };
        let still = print(&of(FrameBody::Transform(Transform::IDENTITY)));
        assert_ne!(still, print(&of(FrameBody::Transform(turned))));
        let camera = |focal| hub::CameraFrame {
            focal_length_mm: Some(focal),
            ..hub::CameraFrame::default()
        };
        let [wide, long] = [24.0, 85.0].map(|mm| print(&of(FrameBody::Camera(camera(mm)))));
        assert_ne!(wide, long);
        let light = |level| hub::LightFrame {
            intensity: Some(level),
            ..hub::LightFrame::default()
        };
        let [dim, full] = [0.1, 1.0].map(|l| print(&of(FrameBody::Light(light(l)))));
        assert_ne!(dim, full);
    }

    #[test]
    fn the_built_in_character_follows_arkit_and_nothing_else() {
        let builtin = Character::builtin();
        let phone = binding(&StaticData::basic(&CURVES), builtin);
        assert!(phone.num_morphs >= 52 && phone.unbound_morphs.is_empty());
        assert!(
            phone.unbound_curves.is_empty(),
            "{:?}",
            phone.unbound_curves
        );
        let odd = binding(&StaticData::basic(&["JawOpne", "Xyzzy"]), builtin);
        assert_eq!(odd.unbound_morphs.len(), odd.num_morphs);
        let near = odd.unbound_curves[0].1.as_deref().unwrap();
        assert!(near.eq_ignore_ascii_case("JawOpen"), "{near}");
        assert_eq!(odd.unbound_curves[1].0, "Xyzzy");
    }
}
