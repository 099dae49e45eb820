//! A foot that stays where it came down.
//!
//! While heel or ball is on the floor, one of the two is the pivot and is held, horizontally, where the *target's* foot had
//! it on entry: the ball as soon as it is down, before that the heel. The foot may roll about it. Height is never touched,
//! so nothing is pulled through the floor, and a foot that comes down at 4 cm does not stay there.
//!
//! ```text
//! out(p) = pivot + offset + yaw · (p − pivot)
//! ```
//!
//! Held, the offset is whatever keeps the pivot in place; let go, it is eased out by a critically damped spring that begins
//! with the speed it had. So position and speed of the foot are continuous on release. When the pivot changes, the offset is
//! taken over at the new one, and nothing moves.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::{FootContact, decay, sane, spring::ease};

/// How a foot is held. Lengths are for a leg of [`REFERENCE_LEG_M`](super::REFERENCE_LEG_M).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlantSettings {
    /// Farther than this from where it would be without, horizontally, the foot is let go. 0.2 m.
    pub unlock_m: f32,
    /// A foot let go that way is held again once it is back within this share of that distance. 0.25.
    pub replant_share: f32,
    /// Half-life of what is left after release, seconds. 0.07.
    pub half_life_secs: f32,
    /// Share of the turn about the vertical that is held, 0..=1. 0.8.
    pub yaw_hold: f32,
    /// Beyond this turn the held direction slips along, radians. 25°.
    pub yaw_slack_rad: f32,
    /// Most speed that is taken over on release, metres per second. 1.
    pub max_release_m_per_sec: f32,
}

impl Default for PlantSettings {
    fn default() -> Self {
        Self {
            unlock_m: 0.2,
            replant_share: 0.25,
            half_life_secs: 0.07,
            yaw_hold: 0.8,
            yaw_slack_rad: 25.0f32.to_radians(),
            max_release_m_per_sec: 1.0,
        }
    }
}

/// Joints of a foot, model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FootPoints {
    /// Ankle joint.
    pub ankle: Vec3,
    /// Toe joint, the ball.
    pub toe: Vec3,
}

/// Where a foot goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planted {
    /// Ankle and toe joint, model space.
    pub points: FootPoints,
    /// Turns the foot about the vertical: `new = turn * old` for its rotation in model space.
    pub turn: Quat,
    /// 1 for a foot that is held for some time, 0 for a free one; eased. For those who share a goal with the planter.
    pub weight: f32,
    /// Whether it is held.
    pub locked: bool,
}

/// Holds one foot of the target.
#[derive(Clone, Debug)]
pub struct Planter {
    settings: PlantSettings,
    lock: Option<Lock>,
    /// Let go for its distance; the contact goes on.
    slipped: bool,
    pivot: Pivot,
    /// Horizontal, at the pivot.
    offset: Vec3,
    velocity: Vec3,
    /// About +Y.
    yaw: f32,
    yaw_velocity: f32,
    weight: f32,
}

#[derive(Clone, Copy, Debug)]
struct Lock {
    /// Where the pivot is held; its height does not count.
    anchor: Vec3,
    /// Direction of the foot that is held, if it had one.
    heading: Option<f32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pivot {
    Heel,
    Ball,
}

impl Pivot {
    fn of(self, points: &FootPoints) -> Vec3 {
        match self {
            Self::Heel => points.ankle,
            Self::Ball => points.toe,
        }
    }
}

impl Planter {
    /// For a leg of the target of `leg_m`, hip to ankle.
    pub fn new(settings: PlantSettings, leg_m: f32) -> Self {
        let scale = if leg_m.is_finite() && leg_m > 0.0 {
            leg_m / super::REFERENCE_LEG_M
        } else {
            1.0
        };
        Self {
            settings: PlantSettings {
                unlock_m: settings.unlock_m * scale,
                max_release_m_per_sec: settings.max_release_m_per_sec.max(0.0) * scale,
                ..settings
            },
            lock: None,
            slipped: false,
            pivot: Pivot::Ball,
            offset: Vec3::ZERO,
            velocity: Vec3::ZERO,
            yaw: 0.0,
            yaw_velocity: 0.0,
            weight: 0.0,
        }
    }

    /// Where the foot of the target goes whose joints would be at `points`, `dt_secs` after the last call, given the contact
    /// of the source's foot. Points that are not finite come back as they are and change nothing.
    pub fn update(&mut self, dt_secs: f32, contact: FootContact, points: &FootPoints) -> Planted {
        if !points.ankle.is_finite() || !points.toe.is_finite() {
            return Planted {
                points: *points,
                turn: Quat::IDENTITY,
                weight: 0.0,
                locked: false,
            };
        }
        let dt = sane(dt_secs);
        let heading = heading(points);
        // What happened since the last call …
        if let Some(lock) = self.lock {
            self.follow(lock, heading, points, dt);
        } else {
            let half_life = self.settings.half_life_secs;
            (self.offset, self.velocity) = decay(self.offset, self.velocity, half_life, dt);
            (self.yaw, self.yaw_velocity) = decay(self.yaw, self.yaw_velocity, half_life, dt);
        }
        self.weight = ease(
            self.weight,
            self.lock.is_some(),
            self.settings.half_life_secs,
            dt,
        );
        // … and what begins or ends now.
        if contact.any() {
            let back = self.offset.length() < self.settings.unlock_m * self.settings.replant_share;
            if self.lock.is_none() && (!self.slipped || back) {
                self.slipped = false;
                self.lock(heading, points);
            }
            let pivot = if contact.toe {
                Pivot::Ball
            } else {
                Pivot::Heel
            };
            self.roll_about(pivot, points);
        } else {
            self.slipped = false;
            self.lock = None;
        }
        Planted {
            points: self.place(points),
            turn: Quat::from_rotation_y(self.yaw),
            weight: self.weight,
            locked: self.lock.is_some(),
        }
    }

    /// Forgets what was: after a cut or a jump in time.
    pub fn forget(&mut self) {
        self.lock = None;
        self.slipped = false;
        self.offset = Vec3::ZERO;
        self.velocity = Vec3::ZERO;
        self.yaw = 0.0;
        self.yaw_velocity = 0.0;
        self.weight = 0.0;
    }

    /// Keeps the pivot in place, or lets go of it.
    fn follow(&mut self, lock: Lock, heading: Option<f32>, points: &FootPoints, dt: f32) {
        let offset = flat(lock.anchor - self.pivot.of(points));
        if dt > 0.0 {
            self.velocity =
                ((offset - self.offset) / dt).clamp_length_max(self.settings.max_release_m_per_sec);
        }
        self.offset = offset;
        if let (Some(held), Some(now)) = (lock.heading, heading) {
            let slack = self.settings.yaw_slack_rad.max(0.0);
            let off = wrapped(held - now);
            let kept = off.clamp(-slack, slack);
            self.lock = Some(Lock {
                heading: Some(now + kept),
                ..lock
            });
            let to = kept * self.settings.yaw_hold.clamp(0.0, 1.0);
            let half_life = self.settings.half_life_secs;
            let (yaw, velocity) = decay(self.yaw - to, self.yaw_velocity, half_life, dt);
            (self.yaw, self.yaw_velocity) = (to + yaw, velocity);
        }
        if offset.length() > self.settings.unlock_m {
            self.lock = None;
            self.slipped = true;
        }
    }

    /// Holds the foot where it is put now.
    fn lock(&mut self, heading: Option<f32>, points: &FootPoints) {
        self.lock = Some(Lock {
            anchor: self.pivot.of(points) + self.offset,
            heading: heading.map(|now| now + self.yaw),
        });
        self.velocity = Vec3::ZERO;
    }

    /// Takes offset and anchor over to another pivot, so that nothing moves.
    fn roll_about(&mut self, pivot: Pivot, points: &FootPoints) {
        if pivot == self.pivot {
            return;
        }
        let placed = self.place(points);
        self.pivot = pivot;
        self.offset = flat(pivot.of(&placed) - pivot.of(points));
        if let Some(lock) = &mut self.lock {
            lock.anchor = pivot.of(&placed);
        }
    }

    fn place(&self, points: &FootPoints) -> FootPoints {
        let pivot = self.pivot.of(points);
        let turn = Quat::from_rotation_y(self.yaw);
        let put = |p: Vec3| pivot + self.offset + turn * (p - pivot);
        FootPoints {
            ankle: put(points.ankle),
            toe: put(points.toe),
        }
    }
}

fn flat(v: Vec3) -> Vec3 {
    Vec3::new(v.x, 0.0, v.z)
}

/// Direction of a foot about +Y, from +Z towards +X. `None` for a foot on tiptoe, which has none.
fn heading(points: &FootPoints) -> Option<f32> {
    let foot = points.toe - points.ankle;
    let length = flat(foot).length();
    (length > 0.3 * foot.length()).then(|| foot.x.atan2(foot.z))
}

/// An angle in −π..=π.
fn wrapped(angle: f32) -> f32 {
    use std::f32::consts::{PI, TAU};
    let angle = angle.rem_euclid(TAU);
    if angle > PI { angle - TAU } else { angle }
}

#[cfg(test)]
mod tests;
