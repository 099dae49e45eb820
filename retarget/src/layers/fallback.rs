//! What a character does when its performer's stream is gone.
//!
//! ```text
//!            lost             after hold_secs        after ease_secs
//!   Live ───────────► Holding ───────────────► Easing ───────────────► Idle
//!    ▲                   │                       │                      │
//!    │                   └───────────┬───────────┴──────────────────────┘
//!    │  after recover_secs           ▼ back for confirm_secs
//!    └────────────────────────── Recovering ──► lost again: Holding
//! ```
//!
//! Holding keeps what was shown last; the motion that was under way runs out softly. Easing blends it with the idle
//! clip or backup take, which moves all the while. Recovering shows the live pose again, inertialised. Times are met
//! exactly whatever the rate of frames: what a frame is too long is counted for the next state. Loss and return count
//! from the frame that says so.

use std::{fmt, sync::Arc};

use glam::{Quat, Vec3};
use hub::Transform;
use serde::{Deserialize, Serialize};

use super::{Easing, Inertialiser, Pose, PoseSource, clip_secs, smooth};
use crate::{Rig, math::twist_angle};

/// Longest time of a policy: a day.
const MAX_SECS: f32 = 86_400.0;
/// Points of a clip among which the nearest pose is looked for.
const NUM_KEYS: u32 = 64;

/// What comes after holding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackThen {
    /// Holds for ever.
    Hold,
    /// The rest pose, curves at 0.
    Rest,
    /// The idle clip; the rest pose if there is none.
    #[default]
    Idle,
    /// The backup take; the idle clip if there is none.
    Backup,
}

/// Where the idle clip or backup take begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FallbackStart {
    /// At its beginning.
    Beginning,
    /// Where its pose is nearest to what is held, among 64 points of it.
    #[default]
    Nearest,
    /// At the time of the show, and along with it: see [`FallbackTick::show_secs`].
    Show,
}

/// What to do on loss, and how fast. All times in seconds, 0 to a day.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FallbackPolicy {
    /// Over how long the motion runs out when the stream is lost. Default 0.2.
    pub settle_secs: f32,
    /// How long the last pose is held. Default 1.
    pub hold_secs: f32,
    /// Default the idle clip.
    pub then: FallbackThen,
    /// From the held pose to it. Default 1.
    pub ease_secs: f32,
    /// Default the nearest pose.
    pub start: FallbackStart,
    /// Whether the clip plays where the performer stood and faces as they did; otherwise where it was made. Default true.
    pub keep_place: bool,
    /// How long the stream has to be back before it is shown. Default 0.1.
    pub confirm_secs: f32,
    /// From what plays back to the live pose. Default 0.5.
    pub recover_secs: f32,
}

impl Default for FallbackPolicy {
    fn default() -> Self {
        Self {
            settle_secs: 0.2,
            hold_secs: 1.0,
            then: FallbackThen::Idle,
            ease_secs: 1.0,
            start: FallbackStart::Nearest,
            keep_place: true,
            confirm_secs: 0.1,
            recover_secs: 0.5,
        }
    }
}

/// What can play instead of the performer.
#[derive(Clone, Default)]
pub struct Reserves {
    /// Stands about, for as long as it takes.
    pub idle: Option<Arc<dyn PoseSource>>,
    /// The same scene, recorded.
    pub backup: Option<Arc<dyn PoseSource>>,
}

impl fmt::Debug for Reserves {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reserves")
            .field("idle", &self.idle.is_some())
            .field("backup", &self.backup.is_some())
            .finish()
    }
}

/// Where a subject stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FallbackState {
    /// The live pose.
    Live,
    /// The last pose.
    Holding,
    /// From the last pose to the clip.
    Easing,
    /// The clip.
    Idle,
    /// From the clip to the live pose.
    Recovering,
}

/// What is shown: shares that add up to 1. What is left of a switch is eased on top.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FallbackMix {
    /// Of the live pose.
    pub live: f32,
    /// Of the held pose.
    pub held: f32,
    /// Of the clip, or the rest pose.
    pub clip: f32,
}

/// One frame of a fallback.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FallbackTick {
    /// Since the frame before.
    pub dt_secs: f32,
    /// Whether the live pose is to be believed: frames come and the source sees the performer.
    pub alive: bool,
    /// Where in the backup take the show is, in seconds; only for [`FallbackStart::Show`].
    pub show_secs: f64,
}

/// Watches over one body of a rig. [`apply`](Self::apply) it on every frame, whether the stream lives or not.
pub struct Fallback {
    policy: FallbackPolicy,
    state: FallbackState,
    /// In the state.
    secs: f64,
    /// Alive without a gap for so long; `None` while not.
    alive_secs: Option<f64>,
    clip: Option<Clip>,
    /// Where the clip began.
    start_secs: f64,
    place: Place,
    held: Pose,
    rest: Pose,
    sampled: Pose,
    inertia: Inertialiser,
    /// Which bones count for the nearest pose: all but the roots.
    bones: Vec<bool>,
    /// The bone that carries the body about.
    anchor: usize,
}

struct Clip {
    source: Arc<dyn PoseSource>,
    /// Rotation `key · num_bones + bone` at `key / NUM_KEYS` of the length; empty where they are not needed.
    keys: Vec<Quat>,
}

/// From where a clip was made to where it plays: turned about +Y, then moved on the ground.
#[derive(Clone, Copy)]
struct Place {
    from: Vec3,
    turn: Quat,
    to: Vec3,
}

impl Place {
    const SAME: Self = Self {
        from: Vec3::ZERO,
        turn: Quat::IDENTITY,
        to: Vec3::ZERO,
    };

    /// What brings the place and heading of `clip` to those of `held`; heights stay those of the clip.
    fn new(held: &Transform, clip: &Transform) -> Self {
        let ground = |t: &Transform| Vec3::new(t.translation.x, 0.0, t.translation.z);
        let heading = twist_angle(held.rotation * clip.rotation.conjugate(), Vec3::Y);
        Self {
            from: ground(clip),
            turn: Quat::from_rotation_y(heading),
            to: ground(held),
        }
    }

    fn put(&self, anchor: &mut Transform) {
        anchor.translation = self.to + self.turn * (anchor.translation - self.from);
        anchor.rotation = self.turn * anchor.rotation;
    }
}

impl Fallback {
    /// For poses of `rig` with so many curves. `anchor` is the bone whose translation carries the body about, the hips
    /// or a root above them; its parent, if any, stands upright. Times of the policy outside their range are bounded.
    pub fn new(
        rig: &Rig,
        num_curves: usize,
        anchor: u32,
        policy: FallbackPolicy,
        reserves: Reserves,
    ) -> Self {
        let rest = Pose::at_rest(rig.rest(), num_curves);
        let Reserves { idle, backup } = reserves;
        let source = match policy.then {
            FallbackThen::Hold | FallbackThen::Rest => None,
            FallbackThen::Idle => idle,
            FallbackThen::Backup => backup.or(idle),
        };
        let mut sampled = rest.clone();
        let clip = source.map(|source| {
            let mut keys = Vec::new();
            if policy.start == FallbackStart::Nearest {
                for key in 0..NUM_KEYS {
                    sampled.set(&rest.bones, &rest.curves);
                    let secs = key_secs(&*source, key);
                    source.sample(secs, &mut sampled.bones, &mut sampled.curves);
                    keys.extend(sampled.bones.iter().map(|b| b.rotation));
                }
            }
            Clip { source, keys }
        });
        Self {
            policy: bounded(policy),
            state: FallbackState::Live,
            secs: 0.0,
            alive_secs: None,
            clip,
            start_secs: 0.0,
            place: Place::SAME,
            held: rest.clone(),
            sampled,
            inertia: Inertialiser::new(rig.len(), num_curves, Easing::default()),
            bones: rig.parents().iter().map(Option::is_some).collect(),
            anchor: anchor as usize,
            rest,
        }
    }

    /// The state of the last frame.
    pub fn state(&self) -> FallbackState {
        self.state
    }

    /// For how long it has been in that state, in seconds.
    pub fn state_secs(&self) -> f64 {
        self.secs
    }

    /// What the last frame was made of.
    pub fn mix(&self) -> FallbackMix {
        let clip = match self.state {
            FallbackState::Live | FallbackState::Recovering => {
                return FallbackMix {
                    live: 1.0,
                    held: 0.0,
                    clip: 0.0,
                };
            }
            FallbackState::Holding => 0.0,
            FallbackState::Easing => smooth((self.secs / f64::from(self.policy.ease_secs)) as f32),
            FallbackState::Idle => 1.0,
        };
        FallbackMix {
            live: 0.0,
            held: 1.0 - clip,
            clip,
        }
    }

    /// Takes the live pose of a frame, `parent_from_local`, and leaves what is to be shown. While the stream is not
    /// alive what is in `pose` and `curves` does not matter.
    pub fn apply(&mut self, tick: FallbackTick, pose: &mut [Transform], curves: &mut [f32]) {
        let dt = if tick.dt_secs.is_finite() {
            tick.dt_secs.max(0.0)
        } else {
            0.0
        };
        self.advance(f64::from(dt), tick);
        let mix = self.mix();
        if mix.live < 1.0 {
            self.held.write(pose, curves);
            if mix.clip > 0.0 {
                self.sample_clip(tick);
                if let Some(anchor) = self.sampled.bones.get_mut(self.anchor) {
                    self.place.put(anchor);
                }
                self.sampled.mix_into(pose, curves, mix.clip);
            }
        }
        self.inertia.apply(dt, pose, curves);
    }

    fn advance(&mut self, dt: f64, tick: FallbackTick) {
        use FallbackState::{Easing as EasingOut, Holding, Idle, Live, Recovering};
        self.alive_secs = tick
            .alive
            .then(|| self.alive_secs.map_or(0.0, |secs| secs + dt));
        self.secs += dt;
        let confirmed = self
            .alive_secs
            .is_some_and(|secs| secs >= f64::from(self.policy.confirm_secs));
        match self.state {
            Live | Recovering if !tick.alive => {
                let (bones, curves) = self.inertia.last();
                if self.inertia.has_shown() {
                    self.held.set(bones, curves);
                }
                self.enter(Holding, 0.0, self.policy.settle_secs);
            }
            Holding | EasingOut | Idle if confirmed => {
                self.enter(Recovering, 0.0, self.policy.recover_secs);
            }
            _ => {}
        }
        if self.state == Recovering && self.secs >= f64::from(self.policy.recover_secs) {
            self.secs -= f64::from(self.policy.recover_secs);
            self.state = Live;
        }
        let hold = f64::from(self.policy.hold_secs);
        if self.state == Holding && self.policy.then != FallbackThen::Hold && self.secs >= hold {
            self.secs -= hold;
            self.state = EasingOut;
            self.begin_clip(tick);
        }
        let ease = f64::from(self.policy.ease_secs);
        if self.state == EasingOut && self.secs >= ease {
            self.secs -= ease;
            self.state = Idle;
            // The clip goes on from where easing has brought it.
            self.start_secs += ease;
        }
    }

    fn enter(&mut self, state: FallbackState, secs: f64, switch_secs: f32) {
        self.state = state;
        self.secs = secs;
        self.inertia
            .switch_over(Easing::Quintic { secs: switch_secs });
    }

    /// Where the clip starts, and where it stands.
    fn begin_clip(&mut self, tick: FallbackTick) {
        self.place = Place::SAME;
        self.start_secs = match (&self.clip, self.policy.start) {
            (Some(clip), FallbackStart::Nearest) => self.nearest(clip),
            _ => 0.0,
        };
        if self.policy.keep_place {
            let since = std::mem::replace(&mut self.secs, 0.0);
            self.sample_clip(tick);
            self.secs = since;
            if let (Some(held), Some(clip)) = (
                self.held.bones.get(self.anchor),
                self.sampled.bones.get(self.anchor),
            ) {
                self.place = Place::new(held, clip);
            }
        }
    }

    /// The clip, or the rest pose, as it was made.
    fn sample_clip(&mut self, tick: FallbackTick) {
        self.sampled.set(&self.rest.bones, &self.rest.curves);
        if let Some(Clip { source, .. }) = &self.clip {
            let secs = match self.policy.start {
                FallbackStart::Show => tick.show_secs,
                FallbackStart::Beginning | FallbackStart::Nearest => self.start_secs + self.secs,
            };
            let Pose { bones, curves } = &mut self.sampled;
            source.sample(clip_secs(&**source, secs), bones, curves);
        }
    }

    /// Where in the clip the bones below the roots are turned most as they are in the held pose, in seconds.
    fn nearest(&self, clip: &Clip) -> f64 {
        let mut best = (f32::INFINITY, 0);
        let poses = clip.keys.chunks_exact(self.bones.len().max(1));
        for (key, rotations) in (0..NUM_KEYS).zip(poses) {
            let bones = rotations.iter().zip(&self.held.bones).zip(&self.bones);
            // 1 − cos² of half the angle: 0 for the same rotation.
            let apart: f32 = bones
                .filter(|(_, counts)| **counts)
                .map(|((a, b), _)| {
                    let cos = a.dot(b.rotation);
                    1.0 - cos * cos
                })
                .sum();
            if apart < best.0 {
                best = (apart, key);
            }
        }
        key_secs(&*clip.source, best.1)
    }
}

/// When a key of a clip is.
fn key_secs(clip: &dyn PoseSource, key: u32) -> f64 {
    clip_secs(
        clip,
        clip.duration_secs() * f64::from(key) / f64::from(NUM_KEYS),
    )
}

fn bounded(policy: FallbackPolicy) -> FallbackPolicy {
    let secs = |secs: f32| super::within(secs, MAX_SECS);
    FallbackPolicy {
        settle_secs: secs(policy.settle_secs),
        hold_secs: secs(policy.hold_secs),
        ease_secs: secs(policy.ease_secs),
        confirm_secs: secs(policy.confirm_secs),
        recover_secs: secs(policy.recover_secs),
        ..policy
    }
}

#[cfg(test)]
mod tests;
