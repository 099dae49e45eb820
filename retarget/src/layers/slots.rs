//! Clips over a body: slots, each with one clip at a time, faded in and out.
//!
//! Slots lie over each other in the order of their index, the last on top. Within a slot a clip that is started takes
//! the place of the one that plays, if its priority is not lower; they cross-fade:
//!
//! ```text
//!   slot 1   ──[ wave ]╲╱[ point ]──────            over everything below it, within its mask
//!   slot 0   ────[ breathe, additive, loops ]────
//!   base     the live body
//! ```
//!
//! A cross-fade blends two complete results, `base + old clip` and `base + new clip`, whatever masks and modes they
//! have; so the base does not shine through half-way, and nothing pops when a mask ends. If a third clip is started
//! while two still cross-fade, the oldest goes at once and an [`Inertialiser`] eases what it leaves.
//!
//! Fades follow `3s² − 2s³`. A clip that ends by itself fades out before its end, so it moves to the last.

use std::{fmt, sync::Arc};

use hub::Transform;
use thiserror::Error;

use super::{
    AdditiveReference, BoneMask, Easing, Inertialiser, ModelBlend, Pose, PoseSource, add,
    blend_masked, clip_secs, difference, mix_curve, smooth, within,
};
use crate::Rig;

/// Longest fade, in seconds.
const MAX_FADE_SECS: f32 = 60.0;
/// Fastest playback.
const MAX_SPEED: f32 = 16.0;

/// How a clip meets what is below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LayerMode {
    /// In its place, in local space.
    #[default]
    Override,
    /// In its place, rotations in model space: see [`ModelBlend`].
    OverrideInModel,
    /// On top of it, relative to this.
    Additive(AdditiveReference),
}

/// A clip and how to play it.
#[derive(Clone)]
pub struct Play {
    /// What is played. Keep a copy of the `Arc` where freeing it in the frame would cost too much.
    pub clip: Arc<dyn PoseSource>,
    /// From nothing, or from the clip before, 0..=60 s; 0 is a cut. Default 0.25 s.
    pub fade_in_secs: f32,
    /// Before the end, and after [`OverlayStack::stop`], 0..=60 s; 0 is a cut. Default 0.25 s.
    pub fade_out_secs: f32,
    /// A clip of lower priority does not take the slot from one of higher. Default 0.
    pub priority: i32,
    /// Where it reaches. Default everywhere.
    pub mask: Option<Arc<BoneMask>>,
    /// Default [`LayerMode::Override`].
    pub mode: LayerMode,
    /// At full fade, 0..=1; above that, up to 2, an additive clip goes beyond itself. Default 1.
    pub weight: f32,
    /// Seconds of the clip per second, 0..=16. Default 1.
    pub speed: f32,
    /// Where in the clip it begins, in seconds. Default 0.
    pub start_secs: f64,
}

impl Play {
    /// The clip with all defaults.
    pub fn new(clip: Arc<dyn PoseSource>) -> Self {
        Self {
            clip,
            fade_in_secs: 0.25,
            fade_out_secs: 0.25,
            priority: 0,
            mask: None,
            mode: LayerMode::Override,
            weight: 1.0,
            speed: 1.0,
            start_secs: 0.0,
        }
    }
}

impl fmt::Debug for Play {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Play")
            .field("duration_secs", &self.clip.duration_secs())
            .field("priority", &self.priority)
            .field("mode", &self.mode)
            .field("weight", &self.weight)
            .finish_non_exhaustive()
    }
}

/// Why a clip is not played.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum SlotFault {
    /// No such slot.
    #[error("there is no slot {slot}, they are 0 to {last}")]
    NoSlot {
        /// As asked for.
        slot: usize,
        /// The last one.
        last: usize,
    },
    /// What plays is more important.
    #[error("slot {slot} plays at priority {playing}, that is above {asked}")]
    Priority {
        /// The slot.
        slot: usize,
        /// Of what plays.
        playing: i32,
        /// Of what was to play.
        asked: i32,
    },
    /// A clip without a length.
    #[error("a clip lasts a finite time of 0 s or more, this one {secs} s")]
    Duration {
        /// As the clip says.
        secs: f64,
    },
}

/// Slots over a pose of one rig.
pub struct OverlayStack {
    slots: Vec<Slot>,
    mixer: Mixer,
    /// With the clip that comes, while the pose itself goes on with the one that leaves.
    coming: Pose,
    inertia: Inertialiser,
}

impl OverlayStack {
    /// A stack for poses of `rig` with so many curves. There is at least one slot.
    pub fn new(rig: &Rig, num_curves: usize, num_slots: usize) -> Self {
        let rest = Pose::at_rest(rig.rest(), num_curves);
        let voice = Voice {
            play: None,
            secs: 0.0,
            rise: Fade::default(),
            fall: Fade::default(),
            reference: rest.clone(),
        };
        Self {
            slots: (0..num_slots.max(1))
                .map(|_| Slot {
                    now: voice.clone(),
                    leaving: voice.clone(),
                    cross: Fade::full(),
                })
                .collect(),
            mixer: Mixer {
                model: ModelBlend::new(rig),
                sampled: rest.clone(),
                rest: rest.clone(),
            },
            coming: rest,
            inertia: Inertialiser::new(rig.len(), num_curves, Easing::default()),
        }
    }

    /// Number of slots.
    pub fn num_slots(&self) -> usize {
        self.slots.len()
    }

    /// Plays a clip in a slot, from the time of the last [`evaluate`](Self::evaluate).
    ///
    /// # Errors
    /// See [`SlotFault`]; then nothing changed. A clip that fades out yields to any priority.
    pub fn start(&mut self, slot: usize, mut play: Play) -> Result<(), SlotFault> {
        let last = self.slots.len() - 1;
        let Some(of) = self.slots.get_mut(slot) else {
            return Err(SlotFault::NoSlot { slot, last });
        };
        let secs = play.clip.duration_secs();
        if !secs.is_finite() || secs < 0.0 {
            return Err(SlotFault::Duration { secs });
        }
        if let Some(playing) = &of.now.play
            && of.now.fall.is_full()
            && playing.priority > play.priority
        {
            return Err(SlotFault::Priority {
                slot,
                playing: playing.priority,
                asked: play.priority,
            });
        }
        play.fade_in_secs = within(play.fade_in_secs, MAX_FADE_SECS);
        play.fade_out_secs = within(play.fade_out_secs, MAX_FADE_SECS);
        play.weight = within(play.weight, 2.0);
        play.speed = within(play.speed, MAX_SPEED);
        let fade_in = play.fade_in_secs;
        if of.now.play.is_some() {
            if of.leaving.play.is_some() && !of.cross.is_full() {
                self.inertia.switch_over(Easing::Quintic { secs: fade_in });
            }
            std::mem::swap(&mut of.now, &mut of.leaving);
            of.now.begin(play, Fade::full(), &self.mixer.rest);
            of.cross = Fade::rising(fade_in);
        } else {
            of.now.begin(play, Fade::rising(fade_in), &self.mixer.rest);
            of.cross = Fade::full();
        }
        Ok(())
    }

    /// Fades a slot out, over the time its clip asks for; also a clip that loops. An empty slot stays so.
    pub fn stop(&mut self, slot: usize) {
        if let Some(Slot { now, .. }) = self.slots.get_mut(slot)
            && let Some(play) = &now.play
        {
            now.fall.fall(play.fade_out_secs);
        }
    }

    /// Whether a slot plays, fades included.
    pub fn is_playing(&self, slot: usize) -> bool {
        self.slots.get(slot).is_some_and(|s| s.now.play.is_some())
    }

    /// Where in its clip a slot is, in seconds; wrapped for a loop.
    pub fn clip_secs(&self, slot: usize) -> Option<f64> {
        let now = &self.slots.get(slot)?.now;
        Some(clip_secs(&*now.play.as_ref()?.clip, now.secs))
    }

    /// Goes on by `dt_secs` and puts what plays over the pose, `parent_from_local`, and the curves. A clip started since
    /// the last call began at that call.
    pub fn evaluate(&mut self, dt_secs: f32, pose: &mut [Transform], curves: &mut [f32]) {
        let dt = within(dt_secs, f32::MAX);
        for slot in &mut self.slots {
            slot.advance(dt);
            if slot.cross.is_full() {
                self.mixer.put(&slot.now, pose, curves);
            } else {
                self.coming.set(pose, curves);
                let Pose {
                    bones,
                    curves: coming,
                } = &mut self.coming;
                self.mixer.put(&slot.now, bones, coming);
                self.mixer.put(&slot.leaving, pose, curves);
                self.coming.mix_into(pose, curves, slot.cross.share());
            }
        }
        self.inertia.apply(dt, pose, curves);
    }
}

/// A clip and the one it takes over from.
struct Slot {
    now: Voice,
    leaving: Voice,
    /// From `leaving` to `now`.
    cross: Fade,
}

impl Slot {
    fn advance(&mut self, dt: f32) {
        self.cross.advance(dt);
        self.now.advance(dt);
        self.leaving.advance(dt);
        if self.cross.is_full() {
            self.leaving.play = None;
            if self.now.is_over() {
                self.now.play = None;
            }
        }
    }
}

/// One clip as it plays.
#[derive(Clone)]
struct Voice {
    play: Option<Play>,
    /// Not wrapped.
    secs: f64,
    /// In from nothing.
    rise: Fade,
    /// Out, by stop or by the end.
    fall: Fade,
    /// Of an additive clip.
    reference: Pose,
}

impl Voice {
    fn begin(&mut self, play: Play, rise: Fade, rest: &Pose) {
        self.secs = if play.start_secs.is_finite() {
            play.start_secs.max(0.0)
        } else {
            0.0
        };
        self.rise = rise;
        self.fall = Fade::full();
        if let LayerMode::Additive(from) = play.mode {
            self.reference.set(&rest.bones, &rest.curves);
            if from == AdditiveReference::FirstFrame {
                let Pose { bones, curves } = &mut self.reference;
                play.clip.sample(0.0, bones, curves);
            }
        }
        self.play = Some(play);
    }

    fn advance(&mut self, dt: f32) {
        let Some(play) = &self.play else { return };
        self.rise.advance(dt);
        self.fall.advance(dt);
        self.secs += f64::from(dt) * f64::from(play.speed);
        if !play.clip.looping() && play.speed > 0.0 {
            let left = ((play.clip.duration_secs() - self.secs) / f64::from(play.speed)) as f32;
            self.fall.at_most(left, play.fade_out_secs);
        }
    }

    fn is_over(&self) -> bool {
        self.fall.at <= 0.0
    }

    fn level(&self) -> f32 {
        self.rise.share() * self.fall.share()
    }
}

/// A number that goes from 0 to 1 or back at a constant rate.
#[derive(Clone, Copy, Debug, Default)]
struct Fade {
    /// 0..=1.
    at: f32,
    /// Per second; infinite for a cut.
    rate: f32,
}

impl Fade {
    fn full() -> Self {
        Self { at: 1.0, rate: 0.0 }
    }

    fn rising(secs: f32) -> Self {
        if secs > 0.0 {
            Self {
                at: 0.0,
                rate: secs.recip(),
            }
        } else {
            Self::full()
        }
    }

    fn fall(&mut self, secs: f32) {
        if secs > 0.0 {
            self.rate = self.rate.min(-secs.recip());
        } else {
            self.at = 0.0;
        }
    }

    /// Falls to what the time that is left allows.
    fn at_most(&mut self, left_secs: f32, secs: f32) {
        if left_secs <= 0.0 {
            self.at = 0.0;
        } else if left_secs < secs {
            self.at = self.at.min(left_secs / secs);
        }
    }

    fn advance(&mut self, dt: f32) {
        self.at = (self.at + self.rate * dt).clamp(0.0, 1.0);
    }

    fn is_full(self) -> bool {
        self.at >= 1.0
    }

    fn share(self) -> f32 {
        smooth(self.at)
    }
}

/// Puts a clip onto a pose.
struct Mixer {
    rest: Pose,
    model: ModelBlend,
    sampled: Pose,
}

impl Mixer {
    fn put(&mut self, voice: &Voice, pose: &mut [Transform], curves: &mut [f32]) {
        let Some(play) = &voice.play else { return };
        let weight = play.weight * voice.level();
        if weight <= 0.0 {
            return;
        }
        let mask = play.mask.as_deref();
        let secs = clip_secs(&*play.clip, voice.secs);
        match play.mode {
            LayerMode::Override | LayerMode::OverrideInModel => {
                self.sampled.set(pose, curves);
                let Pose {
                    bones,
                    curves: over,
                } = &mut self.sampled;
                play.clip.sample(secs, bones, over);
                if play.mode == LayerMode::Override {
                    blend_masked(pose, bones, mask, weight);
                } else {
                    self.model.blend(pose, bones, mask, weight);
                }
                let share = weight.min(1.0) * BoneMask::curves_of(mask);
                for (curve, to) in curves.iter_mut().zip(over.iter()) {
                    mix_curve(curve, *to, share);
                }
            }
            LayerMode::Additive(_) => {
                let from = &voice.reference;
                self.sampled.set(&from.bones, &from.curves);
                let Pose { bones, curves: by } = &mut self.sampled;
                play.clip.sample(secs, bones, by);
                difference(bones, by, &from.bones, &from.curves);
                add(pose, curves, bones, by, mask, weight);
            }
        }
    }
}

#[cfg(test)]
mod tests;
