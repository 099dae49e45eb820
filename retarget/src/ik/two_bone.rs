//! Analytic inverse kinematics of two bones: arm and leg.
//!
//! ```text
//!          mid            a = |mid − root|, b = |end − mid|, c = |goal − root| made reachable
//!         ∧               mid = root + u·x + v·y,  x = (a² + c² − b²) / 2c,  y² = (a − x)(a + x)
//!       a/ \ b
//!       /   \             u  towards the goal        v  the pole, made square to u
//!   root──c──end → u      n = v × u  the axis about which the mid joint bends, always by a positive turn
//! ```
//!
//! The law of cosines gives x; y enters lengths only squared, so that a nearly straight limb keeps its lengths to
//! the last digits of an f32.
//!
//! A frame (direction, hinge) of each bone is carried onto its new place. The hinge is the axis about which the limb is
//! bent now, and the caller's hint where it is straight or bent the wrong way. So the mid joint bends to the same side
//! of its own bone whatever the goal is, and a limb that goes straight does not flip.

use glam::{Quat, Vec3};
use hub::Transform;
use serde::{Deserialize, Serialize};

use super::smooth;
use crate::math::{arc, scaled, unit};

/// Shorter than this, in metres, a bone or a way has no direction.
const SHORTEST_M: f32 = 1e-6;
/// A folded limb keeps this share of its length between its ends, beyond |a − b|, so that it has a direction.
const FOLD_SHARE: f32 = 1e-4;
/// Sine of the angle between pole and limb up to which the pole says nothing, and from which it says all.
const POLE_LOST: f32 = 0.02;
const POLE_SURE: f32 = 0.2;
/// Sine of the bend up to which the limb's own plane says nothing, and from which it says all.
const PLANE_LOST: f32 = 0.02;
const PLANE_SURE: f32 = 0.2;

/// How a limb of two bones reaches.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TwoBone {
    /// Share of the limb's length, 0..=1, beyond which the end lags behind its goal, see [`soften`]. 1 is hard. 0.99 by
    /// default: with equal bones and the goal at full length the joint then stays bent by 10°.
    pub soften: f32,
    /// How many times longer both bones may get to reach a goal, from 1 on. 1 by default: bones keep their length.
    pub stretch: f32,
}

impl Default for TwoBone {
    fn default() -> Self {
        Self {
            soften: 0.99,
            stretch: 1.0,
        }
    }
}

/// Where the joints of a limb are, in model space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limb {
    /// Shoulder or hip joint.
    pub root: Vec3,
    /// Elbow or knee.
    pub mid: Vec3,
    /// Wrist or ankle.
    pub end: Vec3,
}

/// To which side a limb bends. Directions in model space, of any length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// Towards where elbow or knee shall point, such as [`pole_from`] of the source's limb. Zero keeps the limb's present
    /// plane, swung along with the limb. So does a pole along the limb, with a gradual change in between.
    pub pole: Vec3,
    /// The axis about which a positive turn bends the mid joint, as the limb stands now: from the retarget pose, turned
    /// with the upper bone. Asked when the limb is straight or bent backwards. Zero if not known.
    pub hinge: Vec3,
}

/// What a limb has to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reach {
    /// Turns the upper bone: `new = root * old` for its rotation in model space, about its own joint.
    pub root: Quat,
    /// Turns the lower bone likewise; whole, not relative to `root`.
    pub mid: Quat,
    /// Where the mid joint comes to lie, model space.
    pub mid_at: Vec3,
    /// Where the end comes to lie, model space.
    pub end_at: Vec3,
    /// Factor on the length of both bones, from 1 on.
    pub stretch: f32,
    /// Metres from the end to the goal; infinite for a goal that is not finite.
    pub miss_m: f32,
}

impl TwoBone {
    /// Turns that bring `limb.end` to `goal`, or as near as lengths, softening and stretch allow. Bones without length and
    /// numbers that are not finite leave the limb as it is.
    pub fn solve(self, limb: &Limb, goal: Vec3, bend: &Bend) -> Reach {
        let (upper, lower) = (limb.mid - limb.root, limb.end - limb.mid);
        let (a, b) = (upper.length(), lower.length());
        let length = a + b;
        let to_goal = goal - limb.root;
        let distance = to_goal.length();
        if a < SHORTEST_M || b < SHORTEST_M || !length.is_finite() || !distance.is_finite() {
            return Reach::unmoved(limb, goal);
        }
        let (upper_was, lower_was) = (upper / a, lower / b);
        let line_was = (limb.end - limb.root).try_normalize().unwrap_or(upper_was);
        let along = if distance > SHORTEST_M {
            to_goal / distance
        } else {
            line_was
        };
        let hinge_was = hinge_now(upper_was, lower_was, bend);
        let side = side(along, bend.pole, || {
            let swung = arc(line_was, along, hinge_was) * hinge_was;
            along
                .cross(swung)
                .try_normalize()
                .unwrap_or_else(|| along.any_orthonormal_vector())
        });

        let soft = soften(distance, length, self.soften);
        let stretch = if self.stretch > 1.0 && soft > SHORTEST_M {
            (distance / soft).max(1.0).min(self.stretch)
        } else {
            1.0
        };
        let nearest = (a - b).abs() + FOLD_SHARE * length;
        let c = soft.max(nearest).min(length);
        let x = 0.5 * (c + (a - b) * (length / c));
        let y = ((a - x) * (a + x)).max(0.0).sqrt();
        let to_mid = along * x + side * y;
        let to_end = along * c;
        let hinge = side.cross(along);
        let (Some(upper_is), Some(lower_is)) =
            (to_mid.try_normalize(), (to_end - to_mid).try_normalize())
        else {
            return Reach::unmoved(limb, goal);
        };
        // Where the limb was bent about another axis than its hinge, the lower bone has its own.
        let lower_hinge_was = square_to(hinge_was, lower_was).unwrap_or(hinge_was);
        let end_at = limb.root + to_end * stretch;
        Reach {
            root: turn(upper_was, hinge_was, upper_is, hinge),
            mid: turn(lower_was, lower_hinge_was, lower_is, hinge),
            mid_at: limb.root + to_mid * stretch,
            end_at,
            stretch,
            miss_m: end_at.distance(goal),
        }
    }

    /// Solves for three bones, root, mid and end, given by `model_from_local`, and turns them. `weight` 0 leaves them
    /// untouched, 1 is the whole turn. The end keeps its rotation relative to the mid bone; bones below and between them are
    /// the caller's to carry. Answers where the joints are now; its turns are the weighted ones.
    pub fn solve_globals(
        self,
        bones: &mut [Transform; 3],
        goal: Vec3,
        bend: &Bend,
        weight: f32,
    ) -> Reach {
        let limb = Limb {
            root: bones[0].translation,
            mid: bones[1].translation,
            end: bones[2].translation,
        };
        // NaN is no weight.
        if weight.max(0.0) <= 0.0 {
            return Reach::unmoved(&limb, goal);
        }
        let mut reach = self.solve(&limb, goal, bend);
        if weight < 1.0 {
            let relative = reach.root.conjugate() * reach.mid;
            reach.root = scaled(reach.root, weight);
            reach.mid = unit(reach.root * scaled(relative, weight));
            reach.stretch = 1.0 + (reach.stretch - 1.0) * weight;
        }
        reach.mid_at = limb.root + reach.root * (limb.mid - limb.root) * reach.stretch;
        reach.end_at = reach.mid_at + reach.mid * (limb.end - limb.mid) * reach.stretch;
        reach.miss_m = reach.end_at.distance(goal);
        bones[0].rotation = unit(reach.root * bones[0].rotation);
        bones[1].rotation = unit(reach.mid * bones[1].rotation);
        bones[2].rotation = unit(reach.mid * bones[2].rotation);
        bones[1].translation = reach.mid_at;
        bones[2].translation = reach.end_at;
        reach
    }
}

impl Reach {
    fn unmoved(limb: &Limb, goal: Vec3) -> Self {
        Self {
            root: Quat::IDENTITY,
            mid: Quat::IDENTITY,
            mid_at: limb.mid,
            end_at: limb.end,
            stretch: 1.0,
            miss_m: if goal.is_finite() {
                limb.end.distance(goal)
            } else {
                f32::INFINITY
            },
        }
    }
}

/// The distance at which a limb of `length` holds its end for a goal at `distance`, both in metres and not negative: the
/// distance itself up to `share` of the length, beyond that nearing the length without ever getting there, with a slope
/// of 1 where it begins. A share of 1 or more is a hard stop at the length.
///
/// `d' = da + ds·(1 − e^(−(d − da)/ds))`, with `da = share · length` and `ds = length − da`.
pub fn soften(distance: f32, length: f32, share: f32) -> f32 {
    let from = length * share.clamp(0.0, 1.0);
    let rest = length - from;
    if distance <= from {
        distance
    } else if rest <= 1e-6 * length {
        length
    } else {
        // Rounding must not bring the end beyond its goal.
        (from + rest * -((from - distance) / rest).exp_m1()).min(distance)
    }
}

/// The axis about which a limb is bent, a unit vector: upper bone × lower bone. `None` if it is straight within 0.1°, or
/// has no length.
pub fn hinge_of(limb: &Limb) -> Option<Vec3> {
    let upper = (limb.mid - limb.root).try_normalize()?;
    let lower = (limb.end - limb.mid).try_normalize()?;
    let cross = upper.cross(lower);
    (cross.length() > 0.002).then(|| cross.normalize_or_zero())
}

/// The direction from the line between a limb's ends to its mid joint, a unit vector square to that line. `None` where
/// [`hinge_of`] is.
pub fn pole_of(limb: &Limb) -> Option<Vec3> {
    let hinge = hinge_of(limb)?;
    let along = (limb.end - limb.root).try_normalize()?;
    along.cross(hinge).try_normalize()
}

/// As [`pole_of`], and where the limb is straight or bent the wrong way, gradually the pole that the axis `hinge` gives (see
/// [`Bend::hinge`]). Taken from one limb and given to another of the same pose and hinge, the plane is the same at every
/// bend. Zero for a limb without length.
pub fn pole_from(limb: &Limb, hinge: Vec3) -> Vec3 {
    let upper = (limb.mid - limb.root).normalize_or_zero();
    let lower = (limb.end - limb.mid).normalize_or_zero();
    let along = (limb.end - limb.root).normalize_or_zero();
    if upper == Vec3::ZERO {
        return Vec3::ZERO;
    }
    let pole = Vec3::ZERO;
    let hinge = hinge_now(upper, lower, &Bend { pole, hinge });
    along.cross(hinge).normalize_or_zero()
}

/// The part of `v` square to the unit vector `to`, as a unit vector, if there is enough of it.
fn square_to(v: Vec3, to: Vec3) -> Option<Vec3> {
    let v = v.try_normalize()?;
    let square = v - to * v.dot(to);
    (square.length_squared() > 1e-6).then(|| square.normalize_or_zero())
}

/// The hinge of a limb as it stands, square to its upper bone: its own plane where it is bent well and to the right side.
fn hinge_now(upper: Vec3, lower: Vec3, bend: &Bend) -> Vec3 {
    let cross = upper.cross(lower);
    let sine = cross.length();
    let Some(hinge) = square_to(bend.hinge, upper) else {
        return if sine > 1e-4 {
            square_to(cross, upper)
        } else {
            square_to(bend.pole.cross(upper), upper)
        }
        .unwrap_or_else(|| upper.any_orthonormal_vector());
    };
    if sine <= PLANE_LOST {
        return hinge;
    }
    let own = cross / sine;
    let trust = smooth(sine, PLANE_LOST, PLANE_SURE) * smooth(own.dot(hinge), 0.0, 0.5);
    (hinge * (1.0 - trust) + own * trust)
        .try_normalize()
        .unwrap_or(hinge)
}

/// The pole made square to the limb; `hint`, which is square to it, as the pole becomes parallel. Turned from one to the
/// other, not mixed: a mix of opposites has no direction.
fn side(along: Vec3, pole: Vec3, hint: impl FnOnce() -> Vec3) -> Vec3 {
    let pole = pole.normalize_or_zero();
    let square = pole - along * pole.dot(along);
    let sine = square.length();
    if sine >= POLE_SURE {
        return square / sine;
    }
    let hint = hint();
    if sine <= POLE_LOST {
        return hint;
    }
    let angle = hint.cross(square).dot(along).atan2(hint.dot(square));
    let (sin, cos) = (angle * smooth(sine, POLE_LOST, POLE_SURE)).sin_cos();
    hint * cos + along.cross(hint) * sin
}

/// The rotation that takes one pair of unit vectors, square to each other, to another.
fn turn(from: Vec3, from_up: Vec3, to: Vec3, to_up: Vec3) -> Quat {
    let was = Quat::from_rotation_axes(from, from_up, from.cross(from_up));
    let is = Quat::from_rotation_axes(to, to_up, to.cross(to_up));
    unit(is * was.conjugate())
}

#[cfg(test)]
mod tests;
