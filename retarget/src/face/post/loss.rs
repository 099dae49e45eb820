//! What a face does when its tracking is lost, and when it comes back.
//!
//! ```text
//! lost ──► hold ──► ease to neutral ──► neutral, or idle life          back ──► fade to what is tracked
//!          blinks are finished
//! ```
//!
//! All is a function of the time since tracking was lost or came back, so the frame rate does not matter.

use serde::{Deserialize, Serialize};

use crate::face::{map::tame, names::Lookup};

use super::{EyePlaces, idle::IdleSettings, put_at, smoothstep, value_at, within};

/// A lid that falls or rises faster than this is in a blink, 1 per second.
const BLINKING_PER_SEC: f32 = 1.0;
/// A lid less closed than this when it is lost has not begun a blink.
const BEGUN: f32 = 0.2;

/// What becomes of a lost face.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LossPolicy {
    /// It stays as it was, for ever.
    Hold,
    /// It eases to neutral.
    #[default]
    Neutral,
    /// It eases to neutral, blinks and breathes.
    Idle,
}

/// How a lost face behaves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LossSettings {
    /// What becomes of it. Default neutral.
    pub policy: LossPolicy,
    /// How long it is held first, seconds, 0 to 60. Default 0.25.
    pub hold_secs: f32,
    /// How long the way to neutral takes, seconds, 0 to 60. Default 0.6.
    pub ease_secs: f32,
    /// How long the way back to what is tracked takes, seconds, 0 to 10. Default 0.2.
    pub recover_secs: f32,
    /// Whether lids that were in a blink finish it instead of being held half shut. Default true.
    pub finish_blinks: bool,
    /// Its idle life.
    pub idle: IdleSettings,
}

impl Default for LossSettings {
    fn default() -> Self {
        Self {
            policy: LossPolicy::default(),
            hold_secs: 0.25,
            ease_secs: 0.6,
            recover_secs: 0.2,
            finish_blinks: true,
            idle: IdleSettings::default(),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// As tracked.
    Tracked,
    /// For so long.
    Lost { secs: f64 },
    /// Tracked again for so long.
    Back { secs: f64 },
}

/// One lid in the frames that were tracked.
#[derive(Clone, Copy, Debug, Default)]
struct Lid {
    value: f32,
    /// 1 per second; + is closing.
    speed: f32,
}

/// The policy of loss for one face.
#[derive(Clone, Debug)]
pub struct Loss {
    settings: LossSettings,
    eyes: [EyePlaces; 2],
    pitch: Option<usize>,
    jaw: Option<usize>,
    state: State,
    /// The last tracked frame.
    last: Vec<f32>,
    /// What was shown when tracking came back.
    from: Vec<f32>,
    lids: [Lid; 2],
}

impl Loss {
    /// Binds by name. Until the first frame the face counts as lost, from neutral. Numbers out of range are brought
    /// into it.
    pub fn new(settings: &LossSettings, names: &[&str]) -> Self {
        let lookup = Lookup::new(names);
        Self {
            settings: LossSettings {
                policy: settings.policy,
                hold_secs: within(settings.hold_secs, 0.0, 60.0),
                ease_secs: within(settings.ease_secs, 0.0, 60.0),
                recover_secs: within(settings.recover_secs, 0.0, 10.0),
                finish_blinks: settings.finish_blinks,
                idle: settings.idle.fit(),
            },
            eyes: EyePlaces::both(&lookup),
            pitch: lookup.find("HeadPitch"),
            jaw: lookup.find("jawOpen"),
            state: State::Lost { secs: 0.0 },
            last: vec![0.0; names.len()],
            from: vec![0.0; names.len()],
            lids: [Lid::default(); 2],
        }
    }

    /// Whether the face is lost.
    pub fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost { .. })
    }

    /// Where the breath of a lost face is, 0 out to 1 in, for a body that breathes along; 0 when it does not idle.
    pub fn breath(&self) -> f32 {
        match self.state {
            State::Lost { secs } if self.settings.policy == LossPolicy::Idle => {
                self.settings.idle.breath_at(secs) * self.eased(secs)
            }
            _ => 0.0,
        }
    }

    /// The frame to show.
    ///
    /// - `is_tracked`: whether `curves` are a frame of the performer; otherwise what they hold does not matter;
    /// - `curves`: one value per name, written where the face is lost or has just come back;
    /// - `dt_secs`: since the frame before; not below 0.
    pub fn apply(&mut self, is_tracked: bool, curves: &mut [f32], dt_secs: f32) {
        let dt_secs = within(dt_secs, 0.0, 3600.0);
        if is_tracked {
            self.track(curves, dt_secs);
        } else {
            let before = match self.state {
                State::Lost { secs } => secs,
                State::Tracked => 0.0,
                State::Back { secs } => {
                    self.lose_what_is_shown(secs);
                    0.0
                }
            };
            let secs = before + f64::from(dt_secs);
            self.state = State::Lost { secs };
            self.show_lost(secs, curves);
        }
    }

    /// Lost again before it was all back: what is shown is what is lost.
    fn lose_what_is_shown(&mut self, secs: f64) {
        let share = self.recovered(secs);
        for (last, from) in self.last.iter_mut().zip(&self.from) {
            *last = from + (*last - from) * share;
        }
        for (lid, eye) in self.lids.iter_mut().zip(&self.eyes) {
            lid.value = value_at(&self.last, eye.blink);
        }
    }

    fn track(&mut self, curves: &mut [f32], dt_secs: f32) {
        let was_lost = self.is_lost();
        self.state = match self.state {
            State::Tracked => State::Tracked,
            State::Lost { secs } => {
                let mut from = std::mem::take(&mut self.from);
                self.show_lost(secs, &mut from);
                self.from = from;
                State::Back { secs: 0.0 }
            }
            State::Back { secs } => {
                let secs = secs + f64::from(dt_secs);
                if self.recovered(secs) < 1.0 {
                    State::Back { secs }
                } else {
                    State::Tracked
                }
            }
        };
        for (lid, eye) in self.lids.iter_mut().zip(&self.eyes) {
            let value = value_at(curves, eye.blink);
            if was_lost {
                // From where it was lost to here is no speed.
                lid.speed = 0.0;
            } else if dt_secs > 0.0 {
                lid.speed = (value - lid.value) / dt_secs.max(1e-3);
            }
            lid.value = value;
        }
        for (last, value) in self.last.iter_mut().zip(curves.iter()) {
            *last = tame(*value);
        }
        if let State::Back { secs } = self.state {
            let share = self.recovered(secs);
            for (value, from) in curves.iter_mut().zip(&self.from) {
                *value = from + (tame(*value) - from) * share;
            }
        }
    }

    /// Part of the way to neutral after so long.
    fn eased(&self, secs: f64) -> f32 {
        if self.settings.policy == LossPolicy::Hold {
            return 0.0;
        }
        let (hold_secs, ease_secs) = (self.settings.hold_secs, self.settings.ease_secs);
        smoothstep(hold_secs, hold_secs + ease_secs, secs as f32)
    }

    /// Part of the way back to what is tracked after so long.
    fn recovered(&self, secs: f64) -> f32 {
        smoothstep(0.0, self.settings.recover_secs, secs as f32)
    }

    fn show_lost(&self, secs: f64, curves: &mut [f32]) {
        let left = 1.0 - self.eased(secs);
        for (value, last) in curves.iter_mut().zip(&self.last) {
            *value = last * left;
        }
        if self.settings.finish_blinks {
            for (lid, eye) in self.lids.iter().zip(&self.eyes) {
                if let Some(value) = self.finished(*lid, secs as f32) {
                    put_at(curves, eye.blink, value);
                }
            }
        }
        if self.settings.policy == LossPolicy::Idle {
            let alive = self.eased(secs);
            let idle = &self.settings.idle;
            let blink = idle.blink_at(secs) * alive;
            for eye in &self.eyes {
                let value = value_at(curves, eye.blink).max(blink);
                put_at(curves, eye.blink, value);
            }
            let breath = idle.breath_at(secs) * alive;
            // The head comes up as the chest fills.
            let pitch = value_at(curves, self.pitch) - idle.breath_nod_rad * breath;
            put_at(curves, self.pitch, pitch);
            let jaw = value_at(curves, self.jaw) + idle.breath_jaw * breath;
            put_at(curves, self.jaw, jaw);
        }
    }

    /// Where a lid is so long after it was lost in a blink; `None` if it was in none.
    fn finished(&self, lid: Lid, secs: f32) -> Option<f32> {
        let idle = &self.settings.idle;
        let (close_secs, open_secs) = (idle.blink_close_secs, idle.blink_open_secs);
        if lid.value < BEGUN || lid.speed.abs() < BLINKING_PER_SEC {
            return None;
        }
        let to_close = if lid.speed > 0.0 {
            (1.0 - lid.value) * close_secs
        } else {
            0.0
        };
        let top = if lid.speed > 0.0 { 1.0 } else { lid.value };
        Some(if secs < to_close {
            lid.value + secs / close_secs
        } else {
            (top - (secs - to_close) / open_secs).max(0.0)
        })
    }
}

#[cfg(test)]
mod tests;
