//! Records → subject events of Rokoko Studio.
//!
//! A value that cannot be (not finite, far away, no rotation, a weight beyond −100..200) is replaced by the
//! last good one of its joint or curve; a joint never seen good is left out of the skeleton.

use std::{net::SocketAddr, sync::LazyLock};

use hub::{
    FrameBody, FrameData, FrameMeta, Skeleton, SourceId, SourceTime, StaticBody, StaticData,
    SubjectKey, SubjectName, Tracking, Transform, WorldTime,
    arkit::{CURVES, NUM_FACE_CURVES},
};

use super::{
    convert::{self, FaceUnit, Options},
    joints::{JOINTS, NUM_JOINTS},
    packet::{self, Actor, Face, Packet, Prop},
};
use crate::{
    Decoder, Sink,
    error::Reject,
    pose,
    streams::{Streams, source_id},
};

/// A sender that sends faster has its excess dropped; Studio sends at most 200 frames a second.
pub const MAX_PACKETS_PER_SEC: u32 = 500;
/// Static data is announced again that often, for whoever came later.
const ANNOUNCE_NANOS: i64 = 1_000_000_000;
/// Above this many subjects, those that the previous datagram did not carry are forgotten. One datagram
/// carries at most 176.
const MAX_IDLE_SUBJECTS: usize = 256;
/// Timestamps beyond 30 years of seconds are no timestamps.
const MAX_SECS: f64 = 1e9;

static FACE: LazyLock<StaticData> = LazyLock::new(|| StaticData::basic(&CURVES[..NUM_FACE_CURVES]));

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Body,
    Face,
    Prop,
    Tracker,
}

/// What is remembered of one subject.
struct Subject {
    kind: Kind,
    /// Its name in the stream, and how many of the same kind and name stand before it there.
    wire: String,
    nth: usize,
    key: SubjectKey,
    statics: StaticData,
    data: FrameData,
    announced: Option<WorldTime>,
    /// The last datagram that carried it.
    heard: u64,
    body: Body,
}

/// What is remembered of a body.
#[derive(Default)]
struct Body {
    /// Last good global pose of each joint, by [`JOINTS`].
    globals: Vec<Transform>,
    /// One bit per joint: ever seen good.
    good: u64,
    /// One bit per joint: in the skeleton announced.
    announced: u64,
    present: Vec<Transform>,
}

/// What is remembered of a sender.
struct Studio {
    source: SourceId,
    subjects: Vec<Subject>,
    meta: FrameMeta,
    datagrams: u64,
    held: u64,
}

/// The sans-IO decoder of one socket.
pub struct RokokoDecoder {
    options: Options,
    studios: Streams<Studio>,
    scratch: Vec<u8>,
    held: u64,
}

impl RokokoDecoder {
    /// With what the operator tells about the senders.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            studios: Streams::new(MAX_PACKETS_PER_SEC),
            scratch: Vec::new(),
            held: 0,
        }
    }

    /// Poses and weights that could not be, for which the last good ones were taken.
    pub fn held(&self) -> u64 {
        self.held
    }
}

impl Decoder for RokokoDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        if !packet::is_rokoko(bytes) {
            return Err(Reject::BadMagic);
        }
        // The pace is judged first: decompressing and reading are the work.
        let studio = self.studios.of(from, b"", now, |is_twin| {
            Ok(Studio {
                source: source_id("rokoko", from, "", is_twin),
                subjects: Vec::new(),
                meta: FrameMeta::default(),
                datagrams: 0,
                held: 0,
            })
        })?;
        let packet = Packet::parse(packet::text(bytes, &mut self.scratch)?)?;
        studio.take(&packet, self.options.face_unit, now, sink);
        self.held += std::mem::take(&mut studio.held);
        Ok(())
    }
}

impl Studio {
    fn take(&mut self, packet: &Packet, unit: FaceUnit, now: WorldTime, sink: &mut dyn Sink) {
        if self.subjects.len() > MAX_IDLE_SUBJECTS {
            let last = self.datagrams;
            self.subjects.retain(|s| s.heard == last);
        }
        self.datagrams += 1;
        let secs = packet.timestamp.filter(|t| t.abs() <= MAX_SECS);
        self.meta.source_time = secs.map(SourceTime::from_secs_f64);
        self.meta.arrival = now;
        for (i, actor) in packet.actors.iter().enumerate() {
            let before = packet.actors.iter().take(i);
            let nth = before.filter(|a| a.name == actor.name).count();
            self.take_body(actor, nth, now, sink);
            self.take_actor_face(actor, nth, unit, now, sink);
        }
        for (i, face) in packet.faces.iter().enumerate() {
            let name = face_name(face);
            let before = packet.faces.iter().take(i);
            let nth = before.filter(|f| face_name(f) == name).count();
            let at = self.subject(Kind::Face, name, nth);
            self.take_face(at, &face.weights, true, unit, now, sink);
        }
        for (kind, props) in [
            (Kind::Prop, &packet.props),
            (Kind::Tracker, &packet.trackers),
        ] {
            for (i, prop) in props.iter().enumerate() {
                let before = props.iter().take(i);
                let nth = before.filter(|p| p.name == prop.name).count();
                self.take_prop(kind, prop, nth, now, sink);
            }
        }
    }

    fn find(&self, kind: Kind, wire: &str, nth: usize) -> Option<usize> {
        let is = |s: &Subject| s.kind == kind && s.nth == nth && s.wire == wire;
        self.subjects.iter().position(is)
    }

    /// Index of the subject, made when it is new.
    fn subject(&mut self, kind: Kind, wire: &str, nth: usize) -> usize {
        if let Some(at) = self.find(kind, wire, nth) {
            self.subjects[at].heard = self.datagrams;
            return at;
        }
        let key = SubjectKey::new(self.source.clone(), self.free_name(kind, wire));
        let (statics, body) = match kind {
            Kind::Body => (
                StaticData::animation(Skeleton::default()),
                FrameBody::Animation(Vec::new()),
            ),
            Kind::Face => (FACE.clone(), FrameBody::Basic),
            Kind::Prop | Kind::Tracker => (
                StaticData {
                    body: StaticBody::Transform,
                    properties: Vec::new(),
                },
                FrameBody::Transform(Transform::IDENTITY),
            ),
        };
        let data = FrameData {
            properties: vec![0.0; statics.properties.len()],
            body,
        };
        self.subjects.push(Subject {
            kind,
            wire: wire.to_owned(),
            nth,
            key,
            statics,
            data,
            announced: None,
            heard: self.datagrams,
            body: Body::default(),
        });
        self.subjects.len() - 1
    }

    /// A name that no other subject of this sender has.
    fn free_name(&self, kind: Kind, wire: &str) -> SubjectName {
        // Short enough that what is added below is never cut off.
        let mut clean = String::new();
        if let Some(name) = SubjectName::from_wire(wire.as_bytes()) {
            for c in name.as_str().chars() {
                if clean.len() + c.len_utf8() > 240 {
                    break;
                }
                clean.push(c);
            }
        }
        let base = match (kind, clean.as_str()) {
            (Kind::Body, "") => "actor".to_owned(),
            (Kind::Prop, "") => "prop".to_owned(),
            (Kind::Face, name) => format!("{name} face"),
            (Kind::Tracker, name) => format!("tracker {name}"),
            (Kind::Body | Kind::Prop, name) => name.to_owned(),
        };
        let mut number = 1;
        loop {
            let text = match number {
                1 => base.clone(),
                n => format!("{base} {n}"),
            };
            let name = SubjectName::from_wire(text.as_bytes())
                .unwrap_or_else(|| unreachable!("the text has a printable character"));
            if self.subjects.iter().all(|s| s.key.name != name) {
                return name;
            }
            number += 1;
        }
    }

    fn take_body(&mut self, actor: &Actor, nth: usize, now: WorldTime, sink: &mut dyn Sink) {
        if actor.joints.is_empty() {
            return;
        }
        let at = self.subject(Kind::Body, &actor.name, nth);
        let subject = &mut self.subjects[at];
        let body = &mut subject.body;
        body.globals.resize(NUM_JOINTS, Transform::IDENTITY);
        let mut present = 0_u64;
        for (i, sent) in actor.joints.iter().enumerate() {
            let Some(sent) = sent else { continue };
            if let Some(pose) = convert::pose(sent) {
                body.globals[i] = pose;
                body.good |= 1 << i;
            } else {
                self.held += 1;
            }
            present |= body.good & (1 << i);
        }
        if present == 0 {
            return;
        }
        let FrameBody::Animation(locals) = &mut subject.data.body else {
            return;
        };
        let parents = parents(present);
        body.present.clear();
        body.present.extend(
            (0..NUM_JOINTS)
                .filter(|i| has(present, *i))
                .map(|i| body.globals[i]),
        );
        pose::to_locals(&body.present, &parents, locals);
        if body.announced != present {
            body.announced = present;
            let skeleton = skeleton(present, parents, locals, actor.hip_height);
            subject.statics = StaticData::animation(skeleton);
            subject.announced = None;
        }
        let lost = actor.meta.has_body == Some(false);
        self.emit(at, lost, !lost, now, sink);
    }

    fn take_actor_face(
        &mut self,
        actor: &Actor,
        nth: usize,
        unit: FaceUnit,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) {
        let known = self.find(Kind::Face, &actor.name, nth).is_some();
        let seen = actor.meta.has_face != Some(false);
        match &actor.face {
            Some(face) => {
                let at = self.subject(Kind::Face, &actor.name, nth);
                self.take_face(at, &face.weights, seen, unit, now, sink);
            }
            None if known => {
                let at = self.subject(Kind::Face, &actor.name, nth);
                self.emit(at, true, false, now, sink);
            }
            None => {}
        }
    }

    fn take_face(
        &mut self,
        at: usize,
        weights: &[Option<f32>],
        seen: bool,
        unit: FaceUnit,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) {
        let seen = seen && !weights.is_empty();
        let kept = self.subjects[at].data.properties.iter_mut();
        for (kept, sent) in kept.zip(weights) {
            let Some(sent) = *sent else { continue };
            match convert::weight(sent, unit) {
                Some(weight) => *kept = weight,
                None => self.held += 1,
            }
        }
        self.emit(at, !seen, seen, now, sink);
    }

    fn take_prop(
        &mut self,
        kind: Kind,
        prop: &Prop,
        nth: usize,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) {
        let at = self.subject(kind, prop.name.as_deref().unwrap_or_default(), nth);
        let pose = convert::pose(&prop.pose());
        if let Some(pose) = pose {
            self.subjects[at].data.body = FrameBody::Transform(pose);
        } else {
            self.held += 1;
        }
        let lost = prop.is_live == Some(false) || pose.is_none();
        // A tracker that is not live still tells where it was last.
        self.emit(at, lost, pose.is_some(), now, sink);
    }

    fn emit(
        &mut self,
        at: usize,
        lost: bool,
        with_data: bool,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) {
        let subject = &mut self.subjects[at];
        if subject.announced.is_none_or(|t| now - t >= ANNOUNCE_NANOS) {
            subject.announced = Some(now);
            sink.static_data(&subject.key, &subject.statics, now);
        }
        self.meta.tracking = if lost {
            Tracking::Lost
        } else {
            Tracking::Tracked
        };
        let data = with_data.then_some(&subject.data);
        sink.frame(&subject.key, &self.meta, data);
    }
}

/// Whom a face of v2 belongs to.
fn face_name(face: &Face) -> &str {
    if face.profile.trim().is_empty() {
        &face.id
    } else {
        &face.profile
    }
}

/// Whether the bit of that joint is set.
fn has(joints: u64, joint: usize) -> bool {
    joints >> joint & 1 == 1
}

/// The nearest ancestor of a joint among those present.
fn ancestor(joint: usize, present: u64) -> Option<usize> {
    let mut parent = JOINTS[joint].parent;
    while let Some(p) = parent
        && !has(present, p)
    {
        parent = JOINTS[p].parent;
    }
    parent
}

/// For each joint present, the place of its nearest ancestor among those present.
fn parents(present: u64) -> Vec<Option<u32>> {
    let place = |joint: usize| (present & ((1 << joint) - 1)).count_ones();
    (0..NUM_JOINTS)
        .filter(|i| has(present, *i))
        .map(|i| ancestor(i, present).map(place))
        .collect()
}

/// The skeleton in T-pose: rotations of the reference avatar, offsets of this actor, which no pose changes.
fn skeleton(
    present: u64,
    parents: Vec<Option<u32>>,
    locals: &[Transform],
    hip_height: Option<f32>,
) -> Skeleton {
    let joints = (0..NUM_JOINTS).filter(|i| has(present, *i));
    let rest = joints
        .clone()
        .zip(locals)
        .map(|(i, local)| {
            let rotation = convert::rest_rotation(&JOINTS[i]);
            if let Some(parent) = ancestor(i, present) {
                let to_parent = convert::rest_rotation(&JOINTS[parent]).conjugate();
                return Transform::new(local.translation, to_parent * rotation);
            }
            let mut translation = local.translation;
            if i == 0 {
                let height = hip_height.filter(|h| (0.01..=10.0).contains(h));
                translation.x = 0.0;
                translation.y = height.unwrap_or(translation.y);
                translation.z = 0.0;
            }
            Transform::new(translation, rotation)
        })
        .collect();
    Skeleton {
        bone_names: joints.map(|i| JOINTS[i].name.to_owned()).collect(),
        parents,
        rest,
    }
}
