//! Records → subject events of NatNet.
//!
//! A skeleton's bone whose pose cannot be is held; one never seen good stands as defined on its parent.

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::Arc,
};

use hub::{
    FrameBody, FrameData, FrameMeta, SourceId, SourceTime, StaticBody, StaticData, SubjectKey,
    SubjectName, Tracking, Transform, WorldTime,
};

use super::{
    convert::{self, Options, SkeletonSpace},
    frame::{Body, Frame, MAX_BODIES, MAX_SKELETONS},
    link::Link,
    model::{Models, SkeletonModel},
    packet::{
        self, DISCONNECT, DISCONNECT_BY_TIMEOUT, FRAME, MODEL_DEF, SERVER_INFO, ServerInfo, Version,
    },
};
use crate::{
    Decoder, Sink,
    error::Reject,
    pose,
    streams::{Streams, source_id},
};

/// A server that sends faster has its excess dropped; the fastest cameras take 1000 frames a second.
pub const MAX_PACKETS_PER_SEC: u32 = 2000;
/// Static data is announced again that often, for whoever came later.
const ANNOUNCE_NANOS: i64 = 1_000_000_000;
/// Timestamps beyond 30 years of seconds are no timestamps.
const MAX_SECS: f64 = 1e9;

/// What is remembered of one subject.
struct Subject {
    id: i32,
    key: SubjectKey,
    statics: StaticData,
    data: FrameData,
    announced: Option<WorldTime>,
    /// The last frame that carried it.
    heard: u64,
    bones: Bones,
}

/// What is remembered of a skeleton: last good poses as sent, and which ones were ever seen.
#[derive(Default)]
struct Bones {
    poses: Vec<Transform>,
    good: Vec<bool>,
}

/// What is remembered of a server.
struct Server {
    source: SourceId,
    info: Option<ServerInfo>,
    models: Option<Arc<Models>>,
    /// The definitions that the subjects were made by.
    applied: Option<Arc<Models>>,
    bodies: Vec<Subject>,
    skeletons: Vec<Subject>,
    meta: FrameMeta,
    frames: u64,
}

/// The sans-IO client of one socket.
pub struct NatNetDecoder {
    options: Options,
    servers: Streams<Server>,
    link: Link,
    /// What the server of the options told: Motive may send its multicast from another of its addresses.
    info: Option<ServerInfo>,
    models: Option<Arc<Models>>,
    frame: Frame,
}

impl NatNetDecoder {
    /// With what the operator tells about the server.
    pub fn new(options: Options) -> Self {
        Self {
            link: Link::new(&options),
            options,
            servers: Streams::new(MAX_PACKETS_PER_SEC),
            info: None,
            models: None,
            frame: Frame::default(),
        }
    }

    /// The multicast group that the server says it sends to; the socket must have joined it.
    pub fn multicast_group(&self) -> Option<Ipv4Addr> {
        self.info?.group
    }
}

impl Decoder for NatNetDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let (message, payload) = packet::split(bytes)?;
        let is_server = self.link.is_server(from.ip());
        // Answers come from the command port, frames from another one: a server is its address.
        let server = SocketAddr::new(from.ip(), 0);
        let server = self.servers.of(server, b"", now, |_| {
            Ok(Server {
                source: source_id("natnet", from, "", false),
                info: None,
                models: None,
                applied: None,
                bodies: Vec::new(),
                skeletons: Vec::new(),
                meta: FrameMeta::default(),
                frames: 0,
            })
        })?;
        if is_server {
            self.link.heard(now);
        }
        let version = match (self.options.version, server.info.or(self.info)) {
            (Some(version), _) => Version::new(version).ok(),
            (None, info) => info.map(|i| i.version),
        };
        let no_version = Reject::NoStatic { stream: 0 };
        match message {
            SERVER_INFO => {
                let info = packet::server_info(payload)?;
                server.info = Some(info);
                if is_server {
                    self.info = Some(info);
                    self.link.connected();
                }
            }
            MODEL_DEF => {
                let up = self.options.up_axis;
                let models = Models::read(payload, version.ok_or(no_version)?, up)?;
                let models = Arc::new(models);
                if is_server {
                    self.models = Some(Arc::clone(&models));
                    self.link.has_models();
                }
                server.models = Some(models);
            }
            FRAME => {
                self.frame.read(payload, version.ok_or(no_version)?)?;
                if self.frame.bitstream_changed && is_server {
                    self.link.disconnected();
                }
                let models = server.models.clone();
                if let Some(models) = models.or_else(|| self.models.clone()) {
                    server.apply(&models, now, sink);
                }
                let misses = server.take(&self.frame, &self.options, now, sink);
                if misses || self.frame.models_changed {
                    self.link.want_models();
                }
            }
            DISCONNECT | DISCONNECT_BY_TIMEOUT if is_server => self.link.disconnected(),
            // Answers to what other programs on this computer asked, clocks, texts.
            _ => {}
        }
        Ok(())
    }

    fn transmit(&mut self, now: WorldTime, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        self.link.transmit(now, send);
    }
}

impl Server {
    /// Renames the subjects by new definitions.
    fn apply(&mut self, models: &Arc<Models>, now: WorldTime, sink: &mut dyn Sink) {
        if self
            .applied
            .as_ref()
            .is_some_and(|a| Arc::ptr_eq(a, models))
        {
            return;
        }
        if self.applied.as_ref().is_some_and(|a| a == models) {
            // The same once more.
            self.applied = Some(Arc::clone(models));
            return;
        }
        self.applied = Some(Arc::clone(models));
        for at in 0..self.bodies.len() {
            let id = self.bodies[at].id;
            let name = self.free_name(self.body_name(id), id);
            let body = &mut self.bodies[at];
            if body.key.name != name {
                if body.announced.take().is_some() {
                    sink.removed(&body.key, now);
                }
                body.key.name = name;
            }
        }
        // Skeletons are few and may differ in each bone: those that are not as before begin anew.
        self.skeletons.retain(|s| {
            let same = |m: &SkeletonModel| m.id == s.id && m.statics == s.statics;
            let stays = models
                .skeletons
                .iter()
                .any(|m| same(m) && m.name == s.key.name);
            if !stays && s.announced.is_some() {
                sink.removed(&s.key, now);
            }
            stays
        });
    }

    /// The name that a rigid body should have.
    fn body_name(&self, id: i32) -> SubjectName {
        let models = self.applied.as_ref();
        let told = models.and_then(|m| m.bodies.iter().find(|b| b.0 == id));
        told.map_or_else(|| named(&format!("RigidBody {id}")), |b| b.1.clone())
    }

    /// The name, or with the id after it if another subject of this server has it.
    fn free_name(&self, name: SubjectName, id: i32) -> SubjectName {
        let mut subjects = self.bodies.iter().chain(&self.skeletons);
        if subjects.any(|s| s.key.name == name && s.id != id) {
            let text: String = name.as_str().chars().take(48).collect();
            named(&format!("{text} #{id}"))
        } else {
            name
        }
    }

    /// Takes a frame; true when it holds something that no definition has been seen for.
    fn take(
        &mut self,
        frame: &Frame,
        options: &Options,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) -> bool {
        let last = self.frames;
        self.frames += 1;
        for (subjects, limit) in [
            (&mut self.bodies, MAX_BODIES),
            (&mut self.skeletons, MAX_SKELETONS),
        ] {
            if subjects.len() > limit {
                subjects.retain(|s| s.heard == last);
            }
        }
        let secs = frame.timestamp.filter(|t| t.abs() <= MAX_SECS);
        self.meta.source_time = secs.map(SourceTime::from_secs_f64);
        self.meta.timecode = convert::timecode(frame.timecode, options.timecode_rate);
        self.meta.sequence = u64::try_from(frame.number).ok();
        self.meta.arrival = now;
        let mut misses = false;
        for (i, body) in frame.bodies.iter().enumerate() {
            let (at, is_unnamed) = self.body(i, body.id);
            misses |= is_unnamed;
            let pose = convert::pose(body.position, body.rotation, options.up_axis);
            let pose = pose.filter(|_| body.is_tracked);
            let subject = &mut self.bodies[at];
            subject.heard = self.frames;
            if let Some(pose) = pose {
                subject.data.body = FrameBody::Transform(pose);
            }
            subject.emit(&mut self.meta, pose.is_some(), now, sink);
        }
        for (i, (id, bones)) in frame.skeletons.iter().enumerate() {
            let sent = frame.bones.get(bones.clone()).unwrap_or_default();
            let Some(models) = self.applied.clone() else {
                misses = true;
                continue;
            };
            let Some(model) = models.skeletons.iter().find(|m| m.id == *id) else {
                // Asked for again when the server says that its models changed.
                continue;
            };
            let at = self.skeleton(i, model);
            let subject = &mut self.skeletons[at];
            subject.heard = self.frames;
            let is_tracked = subject.pose_bones(model, sent, options);
            subject.emit(&mut self.meta, is_tracked, now, sink);
        }
        misses
    }

    /// Index of a rigid body's subject, and whether it is new and without a name.
    fn body(&mut self, guess: usize, id: i32) -> (usize, bool) {
        if let Some(at) = find(&self.bodies, guess, id) {
            return (at, false);
        }
        let models = self.applied.as_ref();
        let is_named = models.is_some_and(|m| m.bodies.iter().any(|b| b.0 == id));
        let name = self.free_name(self.body_name(id), id);
        let statics = StaticData {
            body: StaticBody::Transform,
            properties: Vec::new(),
        };
        let body = FrameBody::Transform(Transform::IDENTITY);
        let subject = Subject::new(id, self.source.clone(), name, statics, body);
        self.bodies.push(subject);
        (self.bodies.len() - 1, !is_named)
    }

    /// Index of a skeleton's subject.
    fn skeleton(&mut self, guess: usize, model: &SkeletonModel) -> usize {
        if let Some(at) = find(&self.skeletons, guess, model.id) {
            return at;
        }
        let name = self.free_name(model.name.clone(), model.id);
        let statics = model.statics.clone();
        let body = FrameBody::Animation(Vec::new());
        let subject = Subject::new(model.id, self.source.clone(), name, statics, body);
        self.skeletons.push(subject);
        self.skeletons.len() - 1
    }
}

/// Subjects mostly stand in the order of the frame.
fn find(subjects: &[Subject], guess: usize, id: i32) -> Option<usize> {
    match subjects.get(guess) {
        Some(s) if s.id == id => Some(guess),
        _ => subjects.iter().position(|s| s.id == id),
    }
}

fn named(text: &str) -> SubjectName {
    SubjectName::from_wire(text.as_bytes())
        .unwrap_or_else(|| unreachable!("the text has a printable character"))
}

impl Subject {
    fn new(
        id: i32,
        source: SourceId,
        name: SubjectName,
        statics: StaticData,
        body: FrameBody,
    ) -> Self {
        Self {
            id,
            key: SubjectKey::new(source, name),
            statics,
            data: FrameData {
                body,
                properties: Vec::new(),
            },
            announced: None,
            heard: 0,
            bones: Bones::default(),
        }
    }

    /// Takes the bones of a skeleton; false when none of them is tracked.
    fn pose_bones(&mut self, model: &SkeletonModel, sent: &[Body], options: &Options) -> bool {
        let num = model.bone_ids.len();
        let bones = &mut self.bones;
        bones.poses.resize(num, Transform::IDENTITY);
        bones.good.resize(num, false);
        let mut is_tracked = false;
        for (i, bone) in sent.iter().enumerate() {
            // The high half of the id is the skeleton's.
            let id = bone.id as u16;
            let guess = model.bone_ids.get(i).filter(|b| **b == id).map(|_| i);
            let found = guess.or_else(|| model.bone_ids.iter().position(|b| *b == id));
            let Some(at) = found else { continue };
            let pose = convert::pose(bone.position, bone.rotation, options.up_axis);
            if let Some(pose) = pose.filter(|_| bone.is_tracked) {
                bones.poses[at] = pose;
                bones.good[at] = true;
                is_tracked = true;
            }
        }
        let (Some(skeleton), FrameBody::Animation(locals)) =
            (model.statics.skeleton(), &mut self.data.body)
        else {
            return false;
        };
        let is_local = options.skeleton_space == SkeletonSpace::Local;
        for (i, parent) in skeleton.parents.iter().enumerate() {
            if !bones.good[i] {
                bones.poses[i] = match parent {
                    Some(parent) if !is_local => {
                        bones.poses[*parent as usize].mul(&skeleton.rest[i])
                    }
                    _ => skeleton.rest[i],
                };
            }
        }
        if is_local {
            locals.clone_from(&bones.poses);
        } else {
            pose::to_locals(&bones.poses, &skeleton.parents, locals);
        }
        is_tracked
    }

    fn emit(&mut self, meta: &mut FrameMeta, tracked: bool, now: WorldTime, sink: &mut dyn Sink) {
        if self.announced.is_none_or(|t| now - t >= ANNOUNCE_NANOS) {
            self.announced = Some(now);
            sink.static_data(&self.key, &self.statics, now);
        }
        meta.tracking = if tracked {
            Tracking::Tracked
        } else {
            Tracking::Lost
        };
        sink.frame(&self.key, meta, tracked.then_some(&self.data));
    }
}
