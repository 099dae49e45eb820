//! Messages → subject events of VMC.

use std::{collections::HashMap, mem, net::SocketAddr, sync::Arc};

use hub::{
    CameraFrame, CameraStatic, FrameBody, FrameData, FrameMeta, LightFrame, LightStatic, LightUnit,
    MAX_NAME_BYTES, Property, SourceTime, StaticBody, StaticData, SubjectKey, SubjectName,
    Tracking, Transform, WorldTime,
};
use serde::{Deserialize, Serialize};

use super::{
    bones::{self, NUM_BONES, ROOT},
    convert,
};
use crate::{
    Decoder, Sink,
    error::Reject,
    osc::scan::{self, Message, Messages},
    streams::{Streams, source_id},
};

/// Most datagrams a second of one sender. High, because some send each message in a datagram of its own: 55
/// bones and 52 expressions at 60 Hz are 6,600.
pub const MAX_DATAGRAMS_PER_SEC: u32 = 10_000;
/// Most expression names kept of one sender; more are left out.
pub const MAX_EXPRESSIONS: usize = 512;
/// Most cameras, lights and devices kept of one sender, together; more are left out.
pub const MAX_DEVICES: usize = 128;

/// Name of the body unless told otherwise.
const DEFAULT_SUBJECT: &[u8] = b"VMC";
/// Static data is announced again that often, for whoever came later.
const ANNOUNCE_NANOS: i64 = 1_000_000_000;
/// After that silence the messages so far are a frame.
const GAP_NANOS: i64 = 20_000_000;
/// Expressions whose Apply was lost, or never comes, wait that long.
const APPLY_NANOS: i64 = 100_000_000;
/// After a new name further ones are awaited that long, so that they make one new generation and not many.
const SETTLE_NANOS: i64 = 500_000_000;
/// Two frames of one source time within this are one, doubled by the network.
const DOUBLED_NANOS: i64 = 2_000_000;
/// Weights beyond are clamped.
const WEIGHT_BAND: std::ops::RangeInclusive<f32> = -1.0..=2.0;
/// Light beyond is a defect of the sender.
const MAX_LIGHT: f32 = 64.0;
/// Three years; a sender's clock beyond is none.
const MAX_SECS: f32 = 1e8;

/// What the operator may tell about the senders of one socket.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Name of the body; empty means `VMC`. Two performers need two sockets, each with its name.
    pub subject: String,
    /// Take trackers, controllers and headset in the space of the tracking system (`…/Pos/Local`) and not as
    /// scaled to the avatar (`…/Pos`).
    pub raw_devices: bool,
}

/// The sans-IO decoder of one socket.
///
/// # Frames
/// VMC has no frame id, and a frame may take several datagrams. A frame is complete
/// - at `/VMC/Ext/Blend/Apply`, if bones came before it or the sender has none;
/// - when all bones the sender is known to have came, if it has no expressions or has applied them;
/// - where the next one begins: at `/VMC/Ext/OK` or `/VMC/Ext/T`, at a bone or an Apply that came already,
///   and, of a sender that never applies, at an expression that came already;
/// - when its sender was silent for 20 ms: then the next datagram of that sender gives it, with the time of
///   its last message. There is no timer: `transmit` has no sink, so a last frame that nothing completes and
///   nothing follows is not given.
///
/// Whatever completes it, a frame is given at the end of a datagram or where the next frame begins.
/// The first frame of a sender is let go unless its beginning is known (`OK`, `T`, or all in one datagram).
///
/// # Expressions
/// Values wait for Apply. Of a sender that has never applied they count when the frame ends; of one that has,
/// values 100 ms old count too, since their Apply is lost.
///
/// # Static data
/// Bones and expressions of the first frame; names that come later are gathered for 0.5 s, then announced
/// together. Nothing is ever taken away: what is not sent any more keeps its last value.
///
/// # Source time
/// `/VMC/Ext/T` as it stands. A frame without a new one goes on from the frame before by the time between
/// their arrivals, so that a `T` that stands still or comes seldom merges no frames. Devices carry none.
pub struct VmcDecoder {
    subject: SubjectName,
    raw_devices: bool,
    senders: Streams<Sender>,
    ignored: u64,
}

impl VmcDecoder {
    /// With what the operator tells about the senders.
    pub fn new(options: Options) -> Self {
        let Options {
            subject,
            raw_devices,
        } = options;
        Self {
            subject: SubjectName::from_wire(subject.as_bytes())
                .or_else(|| SubjectName::from_wire(DEFAULT_SUBJECT))
                .unwrap_or_else(|| unreachable!("the default name is printable")),
            raw_devices,
            senders: Streams::new(MAX_DATAGRAMS_PER_SEC),
            ignored: 0,
        }
    }

    /// Messages of known addresses left out: too few or wrong arguments, unknown bones, values that are no
    /// pose or no number, names beyond the bounds.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }
}

impl Decoder for VmcDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        scan::check(bytes)?;
        let subject = &self.subject;
        let sender = self.senders.of(from, &[], now, |is_twin| {
            let source = source_id("vmc", from, "", is_twin);
            Ok(Sender::new(SubjectKey::new(source, subject.clone())))
        })?;
        self.ignored += sender.datagram(bytes, self.raw_devices, now, sink);
        Ok(())
    }
}

/// Whether the frame that now comes in is known from its beginning.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// Nothing came before this datagram.
    FirstDatagram,
    /// We may have begun to listen in the midst of it.
    Cut,
    /// It is.
    Whole,
}

/// The frame that comes in.
#[derive(Default)]
struct Incoming {
    /// There is something to give.
    is_open: bool,
    /// Bones that came.
    seen: u64,
    /// Apply came.
    has_applied: bool,
    /// To be given at the end of the datagram.
    is_complete: bool,
    /// When the last message came; goes on over frames.
    touched: WorldTime,
}

/// What is remembered of a sender.
struct Sender {
    key: SubjectKey,
    start: Start,
    incoming: Incoming,
    /// Last pose of each bone, in the house frame.
    poses: Box<[Transform; NUM_BONES]>,
    /// Bones that ever came, and those in the static data.
    known: u64,
    shown: u64,
    /// The bone that came after each one last time, by which it is found again.
    after: [u8; NUM_BONES],
    last_bone: usize,
    expressions: Expressions,
    /// Has ever applied.
    applies: bool,
    /// When the first name came that is not in the static data.
    new_since: Option<WorldTime>,
    clock: SenderClock,
    statics: StaticData,
    announced: Option<WorldTime>,
    meta: FrameMeta,
    data: FrameData,
    devices: Vec<Device>,
}

impl Sender {
    fn new(key: SubjectKey) -> Self {
        Self {
            key,
            start: Start::FirstDatagram,
            incoming: Incoming::default(),
            poses: Box::new([Transform::IDENTITY; NUM_BONES]),
            known: 0,
            shown: 0,
            after: [ROOT as u8; NUM_BONES],
            last_bone: ROOT,
            expressions: Expressions::default(),
            applies: false,
            new_since: None,
            clock: SenderClock::default(),
            statics: StaticData {
                body: StaticBody::Basic,
                properties: Vec::new(),
            },
            announced: None,
            meta: FrameMeta::default(),
            data: FrameData::default(),
            devices: Vec::new(),
        }
    }

    /// Takes a datagram that passed the scan. Returns how many messages were left out.
    fn datagram(
        &mut self,
        bytes: &[u8],
        raw_devices: bool,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) -> u64 {
        self.catch_up(now, sink);
        let mut ignored = 0;
        let mut messages = Messages::new(bytes);
        while let Ok(Some(message)) = messages.next_message() {
            if self.message(message, raw_devices, now, sink).is_none() {
                ignored += 1;
            }
        }
        if self.incoming.is_complete {
            self.flush(sink);
        }
        if self.start == Start::FirstDatagram {
            self.start = Start::Cut;
        }
        ignored
    }

    /// What the time since the last datagram completes.
    fn catch_up(&mut self, now: WorldTime, sink: &mut dyn Sink) {
        let waiting_since = self.expressions.waiting_since;
        if waiting_since.is_some_and(|t| now - t > APPLY_NANOS) {
            self.commit();
        }
        let is_open = self.incoming.is_open || (!self.applies && waiting_since.is_some());
        if is_open && now - self.incoming.touched > GAP_NANOS {
            self.end_frame(sink);
        }
    }

    /// Takes a message; `None` when it had to be left out.
    fn message(
        &mut self,
        message: Message<'_>,
        raw_devices: bool,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) -> Option<()> {
        let mut args = message.args;
        match message.address {
            "/VMC/Ext/OK" => {
                let is_loaded = args.int()? != 0;
                // Calibration state and mode stand between; old senders send fewer.
                let tracking = args
                    .int()
                    .and_then(|_state| args.int())
                    .and_then(|_mode| args.int());
                self.end_frame(sink);
                self.start = Start::Whole;
                self.meta.tracking = if is_loaded && tracking != Some(0) {
                    Tracking::Tracked
                } else {
                    Tracking::Lost
                };
            }
            "/VMC/Ext/T" => {
                let secs = args.float().filter(|secs| secs.abs() <= MAX_SECS)?;
                self.end_frame(sink);
                self.start = Start::Whole;
                self.clock.fresh = Some(SourceTime::from_secs_f64(f64::from(secs)));
            }
            "/VMC/Ext/Bone/Pos" => {
                let name = args.text()?;
                let pose = args.floats().and_then(convert::transform)?;
                if name.eq_ignore_ascii_case("LastBone") {
                    // The end mark of Unity's list, which some send along.
                    return Some(());
                }
                let bone = self.bone(name)?;
                self.pose(bone, pose, now, sink);
            }
            "/VMC/Ext/Root/Pos" => {
                let _name = args.text()?;
                // Scale and offset, which may follow, are about fitting the avatar into camera pictures.
                let pose = args.floats().and_then(convert::transform)?;
                self.pose(ROOT, pose, now, sink);
            }
            "/VMC/Ext/Blend/Val" => {
                let name = args.text()?;
                let value = args.float().filter(|value| value.is_finite())?;
                self.expression(name, value, now, sink)?;
            }
            "/VMC/Ext/Blend/Apply" => self.apply(now, sink),
            "/VMC/Ext/Cam" => {
                let name = args.text()?;
                let pose = args.floats().and_then(convert::transform)?;
                let field_of_view_rad = convert::horizontal_fov_rad(args.float()?);
                let camera = CameraFrame {
                    transform: convert::looking(pose),
                    field_of_view_rad,
                    aspect_ratio: field_of_view_rad.map(|_| convert::CAMERA_ASPECT),
                    ..CameraFrame::default()
                };
                let body = FrameBody::Camera(camera);
                self.device(DeviceKind::Camera, name, body, now, sink)?;
            }
            "/VMC/Ext/Light" => {
                let name = args.text()?;
                let pose = args.floats().and_then(convert::transform)?;
                let [r, g, b, _a] = args
                    .floats::<4>()
                    .filter(|rgba| rgba.iter().all(|v| (0.0..=MAX_LIGHT).contains(v)))?;
                let light = LightFrame {
                    transform: convert::looking(pose),
                    color: Some([r, g, b].map(convert::linear)),
                    ..LightFrame::default()
                };
                let body = FrameBody::Light(light);
                self.device(DeviceKind::Light, name, body, now, sink)?;
            }
            address => {
                if let Some(kind) = DeviceKind::of_address(address, raw_devices) {
                    let serial = args.text()?;
                    let pose = args.floats().and_then(convert::transform)?;
                    self.device(kind, serial, FrameBody::Transform(pose), now, sink)?;
                }
            }
        }
        Some(())
    }

    /// The bone of that name. Senders keep to an order, so mostly it is the one that came next last time.
    fn bone(&mut self, name: &str) -> Option<usize> {
        let guess = usize::from(self.after[self.last_bone]);
        let bone = if guess != ROOT && bones::is(guess, name) {
            guess
        } else {
            bones::of_vmc(name)?
        };
        self.after[self.last_bone] = bone as u8;
        self.last_bone = bone;
        Some(bone)
    }

    fn pose(&mut self, bone: usize, pose: Transform, now: WorldTime, sink: &mut dyn Sink) {
        let bit = 1u64 << bone;
        if self.incoming.seen & bit != 0 {
            self.end_frame(sink);
        }
        if self.known & bit == 0 {
            self.known |= bit;
            self.note_new_name(now);
        }
        self.poses[bone] = pose;
        let incoming = &mut self.incoming;
        incoming.is_open = true;
        incoming.seen |= bit;
        incoming.touched = now;
        let all_came = incoming.seen == self.known && self.known == self.shown;
        let applies = self.applies || !self.expressions.list.is_empty();
        if all_came && (incoming.has_applied || !applies) {
            incoming.is_complete = true;
        }
    }

    fn expression(
        &mut self,
        name: &str,
        value: f32,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) -> Option<()> {
        let num_known = self.expressions.list.len();
        let index = self.expressions.index_of(name)?;
        if index == num_known {
            self.note_new_name(now);
        }
        if !self.applies && self.expressions.list[index].waiting.is_some() {
            self.end_frame(sink);
        }
        let value = value.clamp(*WEIGHT_BAND.start(), *WEIGHT_BAND.end());
        self.expressions.list[index].waiting = Some(value);
        self.expressions.waiting_since.get_or_insert(now);
        self.incoming.touched = now;
        Some(())
    }

    fn apply(&mut self, now: WorldTime, sink: &mut dyn Sink) {
        if self.incoming.has_applied {
            self.end_frame(sink);
        }
        self.applies = true;
        self.commit();
        let incoming = &mut self.incoming;
        incoming.is_open = true;
        incoming.has_applied = true;
        incoming.touched = now;
        // Expressions before the bones: these are still to come.
        if incoming.seen != 0 || self.known == 0 {
            incoming.is_complete = true;
        }
    }

    /// Waiting values count from now on.
    fn commit(&mut self) {
        if self.expressions.commit() {
            self.incoming.is_open = true;
        }
    }

    fn note_new_name(&mut self, now: WorldTime) {
        if self.announced.is_some() {
            self.new_since.get_or_insert(now);
        }
    }

    /// The next frame begins: what came so far is one.
    fn end_frame(&mut self, sink: &mut dyn Sink) {
        if !self.applies {
            self.commit();
        }
        self.flush(sink);
    }

    /// Gives the frame that came in, if there is one.
    fn flush(&mut self, sink: &mut dyn Sink) {
        let arrival = self.incoming.touched;
        let next = Incoming {
            touched: arrival,
            ..Incoming::default()
        };
        let was_open = mem::replace(&mut self.incoming, next).is_open;
        if !was_open || (self.known == 0 && self.expressions.list.is_empty()) {
            return;
        }
        if mem::replace(&mut self.start, Start::Whole) == Start::Cut {
            return;
        }
        let is_settled = self.new_since.is_some_and(|t| arrival - t >= SETTLE_NANOS);
        let is_changed = is_settled || self.announced.is_none();
        if is_changed {
            self.make_statics();
        }
        if is_changed || self.announced.is_none_or(|t| arrival - t >= ANNOUNCE_NANOS) {
            self.announced = Some(arrival);
            sink.static_data(&self.key, &self.statics, arrival);
        }
        if let FrameBody::Animation(poses) = &mut self.data.body {
            poses.clear();
            poses.extend(bones::of_set(self.shown).map(|bone| self.poses[bone]));
        }
        let num_shown = self.statics.properties.len();
        let values = self
            .expressions
            .list
            .iter()
            .take(num_shown)
            .map(|e| e.value);
        self.data.properties.clear();
        self.data.properties.extend(values);
        self.meta.arrival = arrival;
        self.meta.source_time = self.clock.frame_time(arrival);
        sink.frame(&self.key, &self.meta, Some(&self.data));
    }

    /// Static data of all names so far.
    fn make_statics(&mut self) {
        self.new_since = None;
        self.shown = self.known;
        let names = self.expressions.list.iter().map(|e| &*e.name);
        self.statics.properties = names.map(Property::linear).collect();
        if self.known == 0 {
            self.statics.body = StaticBody::Basic;
            self.data.body = FrameBody::Basic;
        } else {
            let skeleton = bones::skeleton(self.known);
            self.data.body = FrameBody::Animation(Vec::with_capacity(skeleton.num_bones()));
            self.statics.body = StaticBody::Animation(skeleton);
        }
    }

    /// A frame of a camera, light or device. They are subjects of their own and wait for nothing.
    fn device(
        &mut self,
        kind: DeviceKind,
        name: &str,
        body: FrameBody,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) -> Option<()> {
        let known = self
            .devices
            .iter()
            .position(|d| d.kind == kind && *d.name == *name);
        let index = if let Some(index) = known {
            index
        } else {
            if self.devices.len() == MAX_DEVICES || name.is_empty() {
                return None;
            }
            let subject = format!("{} {} {name}", self.key.name, kind.as_str());
            let subject = SubjectName::from_wire(subject.as_bytes())?;
            self.devices.push(Device {
                kind,
                name: name.into(),
                key: SubjectKey::new(self.key.source.clone(), subject),
                announced: None,
                meta: FrameMeta::default(),
                data: FrameData::default(),
            });
            self.devices.len() - 1
        };
        let device = self.devices.get_mut(index)?;
        if device.announced.is_none_or(|t| now - t >= ANNOUNCE_NANOS) {
            device.announced = Some(now);
            sink.static_data(&device.key, kind.statics(), now);
        }
        device.meta.arrival = now;
        device.data.body = body;
        sink.frame(&device.key, &device.meta, Some(&device.data));
        Some(())
    }
}

/// The expressions of a sender in the order in which their names came first.
#[derive(Default)]
struct Expressions {
    list: Vec<Expression>,
    by_name: HashMap<Arc<str>, usize>,
    /// Place after the last one asked for: senders keep to an order.
    next: usize,
    /// Since when a value waits.
    waiting_since: Option<WorldTime>,
}

struct Expression {
    name: Arc<str>,
    /// Sent and not yet applied.
    waiting: Option<f32>,
    value: f32,
}

impl Expressions {
    /// Place of that name, which is added at the end if there is room; `None` if it cannot be a name.
    fn index_of(&mut self, name: &str) -> Option<usize> {
        let guess = self.list.get(self.next).filter(|e| *e.name == *name);
        let index = if guess.is_some() {
            self.next
        } else if let Some(index) = self.by_name.get(name) {
            *index
        } else {
            self.add(name)?
        };
        self.next = index + 1;
        Some(index)
    }

    fn add(&mut self, name: &str) -> Option<usize> {
        let is_name =
            (1..=MAX_NAME_BYTES).contains(&name.len()) && !name.chars().any(char::is_control);
        if !is_name || self.list.len() == MAX_EXPRESSIONS {
            return None;
        }
        let index = self.list.len();
        let name: Arc<str> = name.into();
        self.by_name.insert(Arc::clone(&name), index);
        self.list.push(Expression {
            name,
            waiting: None,
            value: 0.0,
        });
        Some(index)
    }

    /// Applies what waits; whether anything did.
    fn commit(&mut self) -> bool {
        if self.waiting_since.take().is_none() {
            return false;
        }
        for expression in &mut self.list {
            if let Some(value) = expression.waiting.take() {
                expression.value = value;
            }
        }
        true
    }
}

/// The sender's clock as `/VMC/Ext/T` tells it.
#[derive(Default)]
struct SenderClock {
    /// Told since the last frame.
    fresh: Option<SourceTime>,
    /// Last told and used.
    told: Option<SourceTime>,
    /// Time and arrival of the last frame.
    given: Option<(SourceTime, WorldTime)>,
}

impl SenderClock {
    /// Time of the frame that ends now; `None` while the sender has told none.
    fn frame_time(&mut self, arrival: WorldTime) -> Option<SourceTime> {
        let fresh = self.fresh.take();
        let time = match (fresh, self.given) {
            (Some(fresh), _) if self.told != Some(fresh) => {
                self.told = Some(fresh);
                fresh
            }
            (fresh, Some((time, at))) => {
                let elapsed = arrival - at;
                let is_doubled = fresh.is_some() && elapsed < DOUBLED_NANOS;
                if is_doubled { time } else { time + elapsed }
            }
            (fresh, None) => fresh?,
        };
        self.given = Some((time, arrival));
        Some(time)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum DeviceKind {
    Camera,
    Light,
    Hmd,
    Controller,
    Tracker,
}

static CAMERA: StaticData = StaticData {
    body: StaticBody::Camera(CameraStatic { sensor_mm: None }),
    properties: Vec::new(),
};
static LIGHT: StaticData = StaticData {
    body: StaticBody::Light(LightStatic {
        unit: LightUnit::Unitless,
    }),
    properties: Vec::new(),
};
static TRANSFORM: StaticData = StaticData {
    body: StaticBody::Transform,
    properties: Vec::new(),
};

impl DeviceKind {
    /// The kind of device whose pose an address carries, in the space that is wanted.
    fn of_address(address: &str, raw: bool) -> Option<Self> {
        let device = address.strip_prefix("/VMC/Ext/")?;
        match device.strip_suffix(if raw { "/Pos/Local" } else { "/Pos" })? {
            "Hmd" => Some(Self::Hmd),
            "Con" => Some(Self::Controller),
            "Tra" => Some(Self::Tracker),
            _ => None,
        }
    }

    /// The word in its subjects' names.
    fn as_str(self) -> &'static str {
        match self {
            Self::Camera => "camera",
            Self::Light => "light",
            Self::Hmd => "hmd",
            Self::Controller => "controller",
            Self::Tracker => "tracker",
        }
    }

    fn statics(self) -> &'static StaticData {
        match self {
            Self::Camera => &CAMERA,
            Self::Light => &LIGHT,
            Self::Hmd | Self::Controller | Self::Tracker => &TRANSFORM,
        }
    }
}

/// A camera, light or device of a sender.
struct Device {
    kind: DeviceKind,
    /// Name or serial as sent.
    name: Box<str>,
    key: SubjectKey,
    announced: Option<WorldTime>,
    meta: FrameMeta,
    data: FrameData,
}
