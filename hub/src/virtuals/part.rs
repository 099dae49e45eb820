//! One part of a virtual subject: its place in the client, its clock, and how much of it shows.

use crate::{
    client::{At, Client, Evaluated, Quality, SubjectId, SubjectView},
    frame_data::Tracking,
    health::SubjectState,
    role::Role,
    subject::{SourceId, SubjectName},
    time::{NANOS_PER_SEC, WorldTime},
    timecode::{DropFrame, FrameRate, QualifiedFrameTime},
};

use super::{
    align::{Kind, Moment},
    spec::OnStall,
};

/// Over which a part comes or goes.
pub(super) const EASE_NANOS: i64 = NANOS_PER_SEC / 4;
/// A silence up to this is jitter at any rate.
const PATIENCE_NANOS: i64 = NANOS_PER_SEC / 10;
/// The others wait no longer than this, however slow the part is.
const MAX_PATIENCE_NANOS: i64 = NANOS_PER_SEC / 4;
/// A silence below this is no stall, whatever the settings say.
const MIN_BRIDGE_NANOS: i64 = NANOS_PER_SEC / 20;

/// Nanoseconds of a setting in seconds, cut as the client cuts it.
fn nanos(secs: f64) -> i64 {
    (secs * NANOS_PER_SEC as f64) as i64
}

/// A part's newest timecode.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    /// The house timecode at which the part's newest frame is read: its own, and its offset. Within its own day.
    pub(super) house_nanos: i64,
    /// How long its day is.
    pub(super) day_nanos: i64,
    /// Whole days to add to come to the axis on which all parts are compared.
    pub(super) shift_nanos: i64,
    pub(super) rate: FrameRate,
    pub(super) drop: DropFrame,
    /// When that frame would have come by the least delay, on the hub's clock.
    pub(super) world_nanos: Option<i64>,
}

impl Timed {
    /// On the common axis.
    pub(super) fn at_nanos(&self) -> i64 {
        self.house_nanos.saturating_add(self.shift_nanos)
    }

    /// A moment of the common axis in the part's own rate.
    fn own(&self, nanos: i64) -> QualifiedFrameTime {
        let own = nanos.saturating_sub(self.shift_nanos);
        QualifiedFrameTime::from_nanos(own, self.rate, self.drop)
    }
}

/// What is known of a part's times at one tick.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// How far behind now its settings read it.
    pub(super) delay_nanos: i64,
    /// Since its last frame.
    silence_nanos: i64,
    /// A silence beyond this is a stall.
    bridge_nanos: i64,
    /// While its silence is no longer than this, the others wait for it.
    patience_nanos: i64,
    pub(super) timed: Option<Timed>,
}

impl Clock {
    fn of(view: SubjectView<'_>, now: WorldTime) -> Self {
        let settings = view.settings();
        let bridge_nanos = nanos(settings.stall.bridge_secs).max(MIN_BRIDGE_NANOS);
        let hertz = view.rate_hz(now);
        let two_frames = if hertz > 0.0 { nanos(2.0 / hertz) } else { 0 };
        let timed = view.timecode().map(|tc| {
            let back = nanos(settings.timecode_offset_frames / tc.rate.hertz());
            Timed {
                house_nanos: tc.as_nanos().saturating_add(back),
                day_nanos: tc.day_nanos().max(1),
                shift_nanos: 0,
                rate: tc.rate,
                drop: tc.drop,
                world_nanos: view.newest_world().map(WorldTime::as_nanos),
            }
        });
        Self {
            delay_nanos: nanos(settings.world_offset_secs),
            silence_nanos: now - view.last_arrival(),
            bridge_nanos,
            patience_nanos: two_frames.clamp(PATIENCE_NANOS, MAX_PATIENCE_NANOS),
            timed,
        }
    }

    /// Whether frames come.
    pub(super) fn is_live(&self) -> bool {
        self.silence_nanos <= self.bridge_nanos
    }

    /// Whether a frame came so lately that the others may wait for the next.
    pub(super) fn is_fresh(&self) -> bool {
        self.is_live() && self.silence_nanos <= self.patience_nanos
    }
}

#[derive(Debug)]
pub(super) struct Part {
    pub(super) subject: SubjectName,
    pub(super) required: bool,
    /// What the operator said; else it depends on the role.
    wanted: Option<OnStall>,
    /// For a skeleton of which nothing was said.
    usual: OnStall,
    pub(super) on_stall: OnStall,
    /// Its place and the generation of its static data; `None` while the client does not answer for it.
    pub(super) seen: Option<(SubjectId, u32)>,
    pub(super) state: SubjectState,
    pub(super) clock: Option<Clock>,
    /// Whether its timecode runs with that of the first live part.
    pub(super) agrees: bool,
    pub(super) stalled: bool,
    pub(super) tracking: Tracking,
    pub(super) values: Evaluated,
    /// Generation of `values`; `None` until the generation seen has given any.
    heard: Option<u32>,
    /// 0..1, linear: how far it has come in since its first values; `None` before the first tick.
    entry: Option<f32>,
    /// 0..1, linear: 0 when it has stalled.
    alive: f32,
    /// How much of it covers what lies below it, 0..1.
    pub(super) cover: f32,
    /// How much of its values are its own rather than rest, 0..1.
    pub(super) own: f32,
}

impl Part {
    /// `usual` is what a skeleton does in a stall when nothing is `wanted`; anything else holds.
    pub(super) fn new(
        subject: SubjectName,
        required: bool,
        wanted: Option<OnStall>,
        usual: OnStall,
    ) -> Self {
        Self {
            subject,
            required,
            wanted,
            usual,
            on_stall: OnStall::Hold,
            seen: None,
            state: SubjectState::Disconnected,
            clock: None,
            agrees: false,
            stalled: false,
            tracking: Tracking::Tracked,
            values: Evaluated::default(),
            heard: None,
            entry: None,
            alive: 1.0,
            cover: 0.0,
            own: 1.0,
        }
    }

    /// Looks for the part in the client. Returns whether what is there is another than before.
    /// What the virtual subject itself has pushed (`own`) is never taken.
    pub(super) fn look(&mut self, client: &Client, own: &SourceId, now: WorldTime) -> bool {
        let found = client
            .find_name(&self.subject)
            .and_then(|id| Some((id, client.view(id)?)))
            .filter(|(_, view)| view.key().source != *own);
        self.state = found.map_or(SubjectState::Disconnected, |(_, view)| view.state(now));
        // The client does not answer for what the operator has switched off.
        let present = found.filter(|_| self.state != SubjectState::Disabled);
        self.clock = present.map(|(_, view)| Clock::of(view, now));
        let seen = present.map(|(id, view)| (id, view.generation()));
        let changed = seen != self.seen;
        if changed {
            self.seen = seen;
            self.heard = None;
            self.entry = None;
            self.agrees = false;
            let is_skeleton = present.is_some_and(|(_, v)| v.role() == Role::Animation);
            let usual = if is_skeleton {
                self.usual
            } else {
                OnStall::Hold
            };
            self.on_stall = self.wanted.unwrap_or(usual);
        }
        changed
    }

    /// Evaluates the part at the moment.
    pub(super) fn ask(&mut self, client: &Client, moment: &Moment, now: WorldTime) {
        let (Some((id, generation)), Some(clock)) = (self.seen, self.clock) else {
            self.stalled = true;
            return;
        };
        // The client takes the part's own delay off again, so that all are read at the same moment.
        let world = At::World(moment.world + clock.delay_nanos);
        let at = match moment.kind {
            Kind::Latest => At::Latest,
            Kind::World => world,
            Kind::Timecode => clock
                .timed
                .filter(|_| self.agrees)
                .map_or(world, |timed| At::Timecode(timed.own(moment.nanos))),
        };
        let mut answer = client.evaluate_at(id, at, now, &mut self.values);
        if answer.quality == Quality::None && matches!(at, At::Timecode(_)) {
            // Timecode began a moment ago: older frames in the buffer have none.
            answer = client.evaluate_at(id, world, now, &mut self.values);
        }
        let answered = answer.quality != Quality::None && answer.generation == generation;
        // By timecode parts are paired exactly, or not at all: before its first frame there is only the promise of one.
        let is_early = matches!(answer.quality, Quality::Early { .. })
            && matches!(at, At::Timecode(_))
            && self.heard.is_none();
        if answered && !is_early {
            self.heard = Some(generation);
            self.tracking = answer.tracking;
        }
        let held_nanos = match answer.quality {
            Quality::Held { since_secs, .. } | Quality::Stale { since_secs, .. } => {
                nanos(since_secs)
            }
            _ => 0,
        };
        self.stalled = !answered || !clock.is_live() || held_nanos > clock.bridge_nanos;
    }

    /// Whether there are values of the generation seen.
    pub(super) fn is_heard(&self) -> bool {
        self.heard.is_some()
    }

    /// Moves the part in or out by a step of time.
    pub(super) fn ease(&mut self, elapsed_nanos: i64) {
        let goes = self.stalled && matches!(self.on_stall, OnStall::Drop | OnStall::Rest);
        let (entry, alive) = (
            if self.is_heard() { 1.0 } else { 0.0 },
            if goes { 0.0 } else { 1.0 },
        );
        let step = elapsed_nanos as f32 / EASE_NANOS as f32;
        let towards = |from: f32, to: f32| from + (to - from).clamp(-step, step);
        if let Some(before) = self.entry {
            self.entry = Some(towards(before, entry));
            self.alive = towards(self.alive, alive);
        } else {
            // The first tick of a generation: nothing to come from.
            self.entry = Some(entry);
            self.alive = alive;
        }
        let alive = smoothstep(self.alive);
        self.cover = smoothstep(self.entry.unwrap_or(0.0));
        self.own = 1.0;
        match self.on_stall {
            OnStall::Drop => self.cover = self.cover.min(alive),
            OnStall::Rest => self.own = alive,
            OnStall::Hold | OnStall::FreezeAll => {}
        }
    }
}

/// 3x² − 2x³ on 0..1: starts and ends without speed; the steepest slope is 1.5.
pub(super) fn smoothstep(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
