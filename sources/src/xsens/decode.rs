//! Records → subject events of the MVN network streamer.
//!
//! A pose that cannot be (not finite, far away, no rotation) is replaced by the last good one of its segment.
//! A character begins with the first sample after which all segments of the body were seen good; a finger
//! never seen good stays unturned on its parent.

use std::net::SocketAddr;

use glam::Vec3;
use hub::{
    DropFrame, FrameBody, FrameData, FrameMeta, QualifiedFrameTime, Skeleton, SourceId, SourceTime,
    StaticBody, StaticData, SubjectKey, SubjectName, Tracking, Transform, WorldTime,
};

use super::{
    convert::{self, Options},
    fragments::Fragments,
    packet::{self, DAY_MILLIS, EULER, Item, META, Packet, QUATERNION, SCALE, TIME_CODE, UNITY},
    segments::{self, MAX_PROPS, MAX_SEGMENTS, NUM_BODY_SEGMENTS},
};
use crate::{
    Decoder, Sink,
    error::Reject,
    pose,
    streams::{Streams, source_id},
};

/// A character that sends faster has its excess dropped: 13 types at 240 samples a second.
pub const MAX_PACKETS_PER_SEC: u32 = 4000;
/// Static data is announced again that often, for whoever came later.
const ANNOUNCE_NANOS: i64 = 1_000_000_000;
/// A pose type or a time code silent for that long is over.
const OVER_NANOS: i64 = 1_000_000_000;
const NANOS_PER_MILLI: i64 = 1_000_000;

/// What is remembered of one subject.
struct Subject {
    key: SubjectKey,
    statics: StaticData,
    data: FrameData,
    announced: Option<WorldTime>,
}

/// What is remembered of a character.
struct Character {
    id: u8,
    source: SourceId,
    /// As MVN tells.
    told_name: Option<SubjectName>,
    body: Subject,
    props: Vec<Subject>,
    meta: FrameMeta,
    fragments: Fragments,
    items: Vec<Item>,
    /// The pose type taken, and when it last came.
    kind: Option<(u8, WorldTime)>,
    /// Factor from the sender's unit, once known.
    metres: Option<f32>,
    /// Last good pose of each segment, as sent: global, or local in type 05.
    poses: Vec<Transform>,
    /// One bit per segment: ever seen good.
    good: u64,
    /// Origins of the segments in T-pose, metres, house frame.
    origins: Vec<Vec3>,
    /// Time of day less the time since the start of the recording, in milliseconds, and when that came.
    day_offset: Option<(i64, WorldTime)>,
}

/// The sans-IO decoder of one socket.
pub struct XsensDecoder {
    options: Options,
    characters: Streams<Character>,
    scratch: Vec<u8>,
    held: u64,
}

impl XsensDecoder {
    /// With what the operator tells about the senders.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            characters: Streams::new(MAX_PACKETS_PER_SEC),
            scratch: Vec::new(),
            held: 0,
        }
    }

    /// Poses that could not be, for which the last good ones were taken.
    pub fn held(&self) -> u64 {
        self.held
    }
}

impl Decoder for XsensDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let p = Packet::parse(bytes)?;
        let options = &self.options;
        let character = self.characters.of(from, &[p.character], now, |is_twin| {
            let source = source_id("xsens", from, &p.character.to_string(), is_twin);
            Ok(Character::new(p.character, source, options))
        })?;
        match p.kind {
            QUATERNION | UNITY => {
                if character.prefers_another(p.kind, now) {
                    return Ok(());
                }
                let payload = if p.index == 0 && p.is_last {
                    p.payload
                } else if character.fragments.take(&p, now, &mut self.scratch)? {
                    self.scratch.as_slice()
                } else {
                    return Ok(());
                };
                self.held += character.take_pose(&p, payload, options, now, sink)?;
            }
            EULER if character.kind.is_none_or(|(_, at)| now - at > OVER_NANOS) => {
                // Angles without a stated order; the other types carry the same pose better.
                return Err(Reject::BadVersion {
                    want: u32::from(QUATERNION),
                    have: u32::from(EULER),
                });
            }
            META => {
                if let Some(name) = packet::name(p.payload).and_then(SubjectName::from_wire)
                    && character.told_name.as_ref() != Some(&name)
                {
                    character.told_name = Some(name);
                    character.rename(options, now, sink);
                }
            }
            SCALE => {
                let origins = packet::origins(p.payload)?;
                if !origins.is_empty() {
                    character.take_origins(&origins, options);
                }
            }
            TIME_CODE => {
                let offset = packet::time_of_day(p.payload)? - i64::from(p.time_millis);
                character.day_offset = Some((offset, now));
            }
            // Angles, kinematics, sensors, and what newer versions add.
            _ => {}
        }
        Ok(())
    }
}

impl Character {
    fn new(id: u8, source: SourceId, options: &Options) -> Self {
        let name = subject_name(id, None, options);
        let key = SubjectKey::new(source.clone(), name);
        Self {
            id,
            source,
            told_name: None,
            body: Subject {
                key,
                statics: StaticData::animation(Skeleton::default()),
                data: FrameData {
                    body: FrameBody::Animation(Vec::new()),
                    properties: Vec::new(),
                },
                announced: None,
            },
            props: Vec::new(),
            meta: FrameMeta::default(),
            fragments: Fragments::default(),
            items: Vec::new(),
            kind: None,
            metres: None,
            poses: vec![Transform::IDENTITY; MAX_SEGMENTS],
            good: 0,
            origins: Vec::new(),
            day_offset: None,
        }
    }

    /// Whether a better type of pose than this one still comes.
    fn prefers_another(&self, kind: u8, now: WorldTime) -> bool {
        kind == UNITY
            && self
                .kind
                .is_some_and(|(taken, heard)| taken == QUATERNION && now - heard <= OVER_NANOS)
    }

    fn rename(&mut self, options: &Options, now: WorldTime, sink: &mut dyn Sink) {
        let name = subject_name(self.id, self.told_name.as_ref(), options);
        if name == self.body.key.name {
            return;
        }
        let subjects = std::iter::once(&mut self.body).chain(&mut self.props);
        for subject in subjects {
            if subject.announced.take().is_some() {
                sink.removed(&subject.key, now);
            }
        }
        self.body.key = SubjectKey::new(self.source.clone(), name);
        self.props.clear();
    }

    fn take_origins(&mut self, origins: &[Vec3], options: &Options) {
        let relative = origins.iter().map(|o| *o - origins[0]);
        let metres = convert::metres(options.position_unit, relative);
        let origins: Vec<Vec3> = origins.iter().map(|o| convert::z_up(*o) * metres).collect();
        if origins != self.origins {
            self.origins = origins;
            // The skeleton is made anew with the next pose.
            self.body.statics = StaticData::animation(Skeleton::default());
        }
    }

    /// Takes a whole sample; gives the number of poses that were held.
    fn take_pose(
        &mut self,
        p: &Packet<'_>,
        payload: &[u8],
        options: &Options,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) -> Result<u64, Reject> {
        self.items.clear();
        self.items.extend(packet::items(payload));
        let counts = segments::counts([p.num_body, p.num_props, p.num_fingers], self.items.len())?;
        let (body, rest) = self.items.split_at(counts.body);
        if let Some(bad) = body
            .iter()
            .find(|i| segments::segment(p.kind == UNITY, i.id).is_none())
        {
            return Err(Reject::OutOfRange {
                what: "segment id",
                have: i64::from(bad.id),
                min: 1,
                max: NUM_BODY_SEGMENTS as i64,
            });
        }
        if self.kind.is_none_or(|(kind, _)| kind != p.kind) {
            self.good = 0;
            self.metres = None;
        }
        self.kind = Some((p.kind, now));
        let metres = self.metres.unwrap_or_else(|| {
            let relative = convert::relative(p.kind, body);
            convert::metres(options.position_unit, relative)
        });
        let mut held = 0;
        let (props, fingers) = rest.split_at(counts.props);
        let body = body
            .iter()
            .filter_map(|i| Some((segments::segment(p.kind == UNITY, i.id)?, i)));
        let fingers = fingers.iter().enumerate();
        for (at, item) in body.chain(fingers.map(|(i, item)| (NUM_BODY_SEGMENTS + i, item))) {
            if let Some(pose) = convert::pose(p.kind, item, metres) {
                self.poses[at] = pose;
                self.good |= 1 << at;
            } else {
                held += 1;
            }
        }
        let seen = (self.good & ALL_OF_BODY).count_ones();
        if seen as usize != NUM_BODY_SEGMENTS {
            return Err(Reject::OutOfRange {
                what: "body segments",
                have: i64::from(seen),
                min: NUM_BODY_SEGMENTS as i64,
                max: NUM_BODY_SEGMENTS as i64,
            });
        }
        if held == 0 {
            self.metres = Some(metres);
        }
        let prop_poses: [Option<Transform>; MAX_PROPS] = std::array::from_fn(|i| {
            let pose = convert::pose(p.kind, props.get(i)?, metres);
            held += u64::from(pose.is_none());
            pose
        });
        let num_props = props.len();
        self.stamp(p, options, now);
        self.emit_body(p.kind, counts.fingers != 0, now, sink);
        for (i, pose) in prop_poses.iter().take(num_props).enumerate() {
            self.emit_prop(i, *pose, now, sink);
        }
        Ok(held)
    }

    fn stamp(&mut self, p: &Packet<'_>, options: &Options, now: WorldTime) {
        let millis = i64::from(p.time_millis);
        self.meta.arrival = now;
        self.meta.sequence = Some(u64::from(p.sample));
        self.meta.source_time = Some(SourceTime::from_nanos(millis * NANOS_PER_MILLI));
        let day_offset = self.day_offset.filter(|(_, at)| now - *at <= OVER_NANOS);
        let rate = options.timecode_rate.zip(day_offset);
        self.meta.timecode = rate.map(|(rate, (offset, _))| {
            let of_day = (offset + millis).rem_euclid(DAY_MILLIS);
            // Where drop-frame exists, its labels are those that follow a clock.
            let drop = if rate.has_drop_frame() {
                DropFrame::Drop
            } else {
                DropFrame::NonDrop
            };
            QualifiedFrameTime::from_nanos(of_day * NANOS_PER_MILLI, rate, drop)
        });
    }

    fn emit_body(&mut self, kind: u8, with_fingers: bool, now: WorldTime, sink: &mut dyn Sink) {
        let num = if with_fingers {
            MAX_SEGMENTS
        } else {
            NUM_BODY_SEGMENTS
        };
        if self.body.statics.num_transforms() != num {
            self.body.statics = statics(with_fingers, &self.origins);
            self.body.announced = None;
        }
        let parents = self
            .body
            .statics
            .skeleton()
            .map_or(&[][..], |s| s.parents.as_slice());
        for (i, parent) in parents.iter().enumerate() {
            if self.good & (1 << i) == 0
                && let Some(parent) = *parent
            {
                self.poses[i] = self.poses[parent as usize];
            }
        }
        if let FrameBody::Animation(locals) = &mut self.body.data.body {
            let poses = &self.poses[..num];
            if kind == UNITY {
                locals.clear();
                locals.extend_from_slice(poses);
            } else {
                pose::to_locals(poses, parents, locals);
            }
        }
        self.meta.tracking = Tracking::Tracked;
        self.body.emit(&self.meta, true, now, sink);
    }

    fn emit_prop(
        &mut self,
        index: usize,
        pose: Option<Transform>,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) {
        while self.props.len() <= index {
            let number = self.props.len() + 1;
            let name = extended(&self.body.key.name, &format!(" prop {number}"));
            self.props.push(Subject {
                key: SubjectKey::new(self.source.clone(), name),
                statics: StaticData {
                    body: StaticBody::Transform,
                    properties: Vec::new(),
                },
                data: FrameData {
                    body: FrameBody::Transform(Transform::IDENTITY),
                    properties: Vec::new(),
                },
                announced: None,
            });
        }
        let prop = &mut self.props[index];
        if let Some(pose) = pose {
            prop.data.body = FrameBody::Transform(pose);
        }
        self.meta.tracking = if pose.is_some() {
            Tracking::Tracked
        } else {
            Tracking::Lost
        };
        prop.emit(&self.meta, pose.is_some(), now, sink);
    }
}

impl Subject {
    fn emit(&mut self, meta: &FrameMeta, with_data: bool, now: WorldTime, sink: &mut dyn Sink) {
        if self.announced.is_none_or(|t| now - t >= ANNOUNCE_NANOS) {
            self.announced = Some(now);
            sink.static_data(&self.key, &self.statics, now);
        }
        sink.frame(&self.key, meta, with_data.then_some(&self.data));
    }
}

const ALL_OF_BODY: u64 = (1 << NUM_BODY_SEGMENTS) - 1;

/// The skeleton; with its T-pose, in which no segment is turned, when the origins of all segments are known.
fn statics(with_fingers: bool, origins: &[Vec3]) -> StaticData {
    let (bone_names, parents) = segments::skeleton(with_fingers);
    let mut rest = Vec::new();
    if origins.len() == parents.len() {
        let unturned = |p: &Vec3| Transform {
            translation: *p,
            ..Transform::IDENTITY
        };
        let globals: Vec<Transform> = origins.iter().map(unturned).collect();
        pose::to_locals(&globals, &parents, &mut rest);
    }
    StaticData::animation(Skeleton {
        bone_names,
        parents,
        rest,
    })
}

fn subject_name(id: u8, told: Option<&SubjectName>, options: &Options) -> SubjectName {
    let wanted = options.subject.as_ref();
    let wanted = wanted.and_then(|s| SubjectName::from_wire(s.as_bytes()));
    match (wanted, told, id) {
        (Some(name), _, 0) => name,
        (Some(name), _, id) => extended(&name, &format!(" {id}")),
        (None, Some(name), _) => name.clone(),
        (None, None, id) => SubjectName::from_wire(format!("Xsens {id}").as_bytes())
            .unwrap_or_else(|| unreachable!("the text is printable")),
    }
}

/// A name with something after it, in place of its end where it would be too long.
fn extended(name: &SubjectName, suffix: &str) -> SubjectName {
    let mut text = String::new();
    for c in name.as_str().chars() {
        if text.len() + c.len_utf8() + suffix.len() > hub::MAX_NAME_BYTES {
            break;
        }
        text.push(c);
    }
    text.push_str(suffix);
    SubjectName::from_wire(text.as_bytes()).unwrap_or_else(|| name.clone())
}
