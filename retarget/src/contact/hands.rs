//! Hands that touch, on a body of other proportions.
//!
//! Where the source's hand is near a part of its body, a point on the target's part corresponds to it: as far along, on the
//! same side, and as far from the surface in lengths of the arm. As long as the two are near, the goal of the target's hand
//! is blended from where the limb's own transfer puts it to that point. Both hands together are kept by their way from one
//! to the other, about the middle between them.
//!
//! Contact begins below one distance and ends above a larger one, and fades in and out over time, so nothing snaps. On a
//! body of the same proportions it changes nothing.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::{sane, spring::ease};

/// A part of the body that hands touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyPart {
    /// From the neck to the top.
    Head,
    /// From the upper spine to the neck.
    Chest,
    /// From the hips to the spine.
    Hips,
    /// From hip to knee.
    LeftThigh,
    /// From hip to knee.
    RightThigh,
}

impl BodyPart {
    /// All of them; [`HandsFrame::parts`] has this order.
    pub const ALL: [Self; 5] = [
        Self::Head,
        Self::Chest,
        Self::Hips,
        Self::LeftThigh,
        Self::RightThigh,
    ];

    /// A radius for a body whose hips are at a height, both in metres, if its shape is not known: of an adult with 0.9 m,
    /// head 10 cm, chest 14, hips 15, thigh 8.
    pub fn guessed_radius_m(self, hip_height_m: f32) -> f32 {
        let per_hip = match self {
            Self::Head => 0.11,
            Self::Chest => 0.155,
            Self::Hips => 0.165,
            Self::LeftThigh | Self::RightThigh => 0.09,
        };
        per_hip * hip_height_m.max(0.0)
    }
}

/// A part of a body as it stands in a frame: a capsule, model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Part {
    /// One end of its axis.
    pub from: Vec3,
    /// The other; may be the same.
    pub to: Vec3,
    /// Metres.
    pub radius_m: f32,
    /// How the bone is turned away from the retarget pose: `model rotation now * model rotation then⁻¹`. So "in front" is the
    /// same for source and target, whatever axes their bones have.
    pub turn: Quat,
}

/// Hands and body of one side of the transfer, in one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandsFrame {
    /// Points of the left and the right hand that touch: the palms. Model space.
    pub hands: [Vec3; 2],
    /// By [`BodyPart::ALL`]; `None` for what the rig does not have. Model space.
    pub parts: [Option<Part>; 5],
    /// Length of an arm, shoulder to wrist, metres.
    pub arm_m: f32,
}

/// When hands touch. Distances in lengths of the arm.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HandSettings {
    /// Contact begins below this distance from hand to surface, or from hand to hand. 0.12.
    pub enter: f32,
    /// And ends above this one. 0.18.
    pub leave: f32,
    /// Half-life of fading, seconds. 0.06.
    pub half_life_secs: f32,
}

impl Default for HandSettings {
    fn default() -> Self {
        Self {
            enter: 0.12,
            leave: 0.18,
            half_life_secs: 0.06,
        }
    }
}

/// Where a hand goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchGoal {
    /// For the same point of the hand, model space.
    pub position: Vec3,
    /// How much of it is contact, 0..=1.
    pub weight: f32,
}

/// Contacts of both hands.
#[derive(Clone, Debug)]
pub struct HandContacts {
    settings: HandSettings,
    parts: [[Touch; 5]; 2],
    together: Touch,
}

#[derive(Clone, Copy, Debug, Default)]
struct Touch {
    on: bool,
    weight: f32,
}

/// A point as a part of the body sees it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// 0 at one end of the axis, 1 at the other.
    share: f32,
    /// Unit vector away from the axis, in the part's own frame.
    out: Vec3,
    /// From the surface, metres; negative inside.
    gap_m: f32,
}

impl HandContacts {
    /// Hands that touch nothing.
    pub fn new(settings: HandSettings) -> Self {
        Self {
            settings,
            parts: [[Touch::default(); 5]; 2],
            together: Touch::default(),
        }
    }

    /// Where the hands of the target go, left and right, `dt_secs` after the last call. `target.hands` is where they would be
    /// without. Frames that are not finite come back as they are.
    pub fn update(
        &mut self,
        dt_secs: f32,
        source: &HandsFrame,
        target: &HandsFrame,
    ) -> [TouchGoal; 2] {
        let mut goals = target.hands.map(|position| TouchGoal {
            position,
            weight: 0.0,
        });
        if !source.is_sound() || !target.is_sound() {
            return goals;
        }
        let dt = sane(dt_secs);
        let settings = self.settings;
        let ratio = target.arm_m / source.arm_m;
        for (hand, goal) in goals.iter_mut().enumerate() {
            let (mut sum, mut total) = (Vec3::ZERO, 0.0f32);
            let pairs = source.parts.iter().zip(&target.parts);
            for (touch, pair) in self.parts[hand].iter_mut().zip(pairs) {
                let (Some(from), Some(onto)) = pair else {
                    touch.update(&settings, dt, f32::INFINITY);
                    continue;
                };
                let seen = from.see(source.hands[hand]);
                touch.update(&settings, dt, seen.gap_m / source.arm_m);
                if touch.weight > 0.0 {
                    let place = onto.place(&seen, seen.gap_m * ratio);
                    sum += (place - target.hands[hand]) * touch.weight;
                    total += touch.weight;
                }
            }
            // Two parts at once share; one alone has its weight.
            goal.position += sum / total.max(1.0);
            goal.weight = total.min(1.0);
        }
        let apart = source.hands[0] - source.hands[1];
        self.together
            .update(&settings, dt, apart.length() / source.arm_m);
        let weight = self.together.weight;
        if weight > 0.0 {
            let middle = (goals[0].position + goals[1].position) * 0.5;
            let half = apart * (0.5 * ratio);
            for (goal, place) in goals.iter_mut().zip([middle + half, middle - half]) {
                goal.position = goal.position.lerp(place, weight);
                goal.weight = goal.weight.max(weight);
            }
        }
        goals
    }

    /// Lets go of everything: after a cut or a jump in time.
    pub fn forget(&mut self) {
        *self = Self::new(self.settings);
    }
}

impl Touch {
    fn update(&mut self, settings: &HandSettings, dt: f32, distance: f32) {
        let bound = if self.on {
            settings.leave
        } else {
            settings.enter
        };
        self.on = distance < bound;
        self.weight = ease(self.weight, self.on, settings.half_life_secs, dt);
    }
}

impl Part {
    fn see(&self, point: Vec3) -> Seen {
        let axis = self.to - self.from;
        let length_squared = axis.length_squared();
        let share = if length_squared > 1e-12 {
            ((point - self.from).dot(axis) / length_squared).clamp(0.0, 1.0)
        } else {
            0.0
        };
        let away = point - (self.from + axis * share);
        // On the axis itself: in front.
        let out = (self.turn.conjugate() * away).normalize_or(Vec3::Z);
        Seen {
            share,
            out,
            gap_m: away.length() - self.radius_m,
        }
    }

    fn place(&self, seen: &Seen, gap_m: f32) -> Vec3 {
        let axis_point = self.from.lerp(self.to, seen.share);
        axis_point + self.turn * seen.out * (self.radius_m + gap_m).max(0.0)
    }

    fn is_sound(&self) -> bool {
        self.from.is_finite()
            && self.to.is_finite()
            && self.radius_m.is_finite()
            && self.turn.is_finite()
    }
}

impl HandsFrame {
    fn is_sound(&self) -> bool {
        self.hands.iter().all(|hand| hand.is_finite())
            && self.parts.iter().flatten().all(Part::is_sound)
            && self.arm_m.is_finite()
            && self.arm_m > 1e-3
    }
}

#[cfg(test)]
mod tests;
