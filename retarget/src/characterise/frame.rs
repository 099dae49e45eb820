//! Up and front of a body in a pose, and with them the turn into the house frame.
//!
//! Up is the way from hips to head and from feet to hips, together. Across is the way between hip joints and
//! shoulder joints. The front is square to both; which of the two ways it is, one of these tells, in this order:
//! toes, eyes, the sides that the names say, knees. Toes come before names: a model whose names are all mirrored
//! still walks the way its feet point.

use glam::{Mat3, Quat, Vec3};

use super::{body::Body, limbs::Limb, report::Front, tree::Tree};
use crate::math;

/// Where a body is in its model.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    /// Unit.
    pub(super) up: Vec3,
    /// Unit, square to `up`.
    pub(super) front: Vec3,
    /// What told the front.
    pub(super) by: Front,
    /// From the soles to the head, roughly, in metres.
    pub(super) height: f32,
}

impl Frame {
    /// Unit; the body's left.
    pub(super) fn left(&self) -> Vec3 {
        self.up.cross(self.front)
    }

    /// `house_from_model`.
    pub(super) fn turn(&self) -> Quat {
        let model_from_house = Mat3::from_cols(self.left(), self.up, self.front);
        math::unit(Quat::from_mat3(&model_from_house.transpose()))
    }
}

/// A pose in which a body stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stance {
    pub(super) up: Vec3,
    pub(super) height: f32,
}

/// An axis this near is meant, radians: 20°.
const NEAR_AXIS: f32 = 0.349;
/// The same for the up axis of a pose other than rest, radians: 45°. A performer leans, a file's axis does not.
const NEAR_AXIS_POSED: f32 = 0.785;

/// Whether these joints are those of a body that stands or sits, or why not. `at` is in search order.
///
/// A file's zero pose need not be one: all bones may lie along one axis, or the arms along the trunk.
pub(super) fn stance(body: &Body, at: &[Vec3], is_rest: bool) -> Result<Stance, &'static str> {
    let place = |bone: usize| at[bone];
    let top = body.head.or(body.chest).or(body.neck.first().copied());
    let top = place(top.ok_or("there is no head")?);
    if body.arms.is_empty() && body.legs.is_empty() {
        return Err("there are no arms and no legs");
    }
    // Upper joint, end joint, length along the joints.
    let legs: Vec<(Vec3, Vec3, f32)> = body
        .legs
        .iter()
        .filter_map(|leg| {
            let joints = leg.there();
            let length = joints
                .iter()
                .zip(joints.iter().skip(1))
                .map(|(a, b)| place(*a).distance(place(*b)))
                .sum::<f32>();
            Some((place(leg.first()?), place(leg.joints[2]?), length))
        })
        .collect();
    let count = legs.len() as f32;
    let hips = if legs.is_empty() {
        place(body.hips.ok_or("there are no hips")?)
    } else {
        legs.iter().map(|l| l.0).sum::<Vec3>() / count
    };
    let trunk = top - hips;
    let trunk_up = trunk
        .try_normalize()
        .ok_or("head and hips lie in one point")?;
    let mut up = trunk_up;
    let mut height = 2.0 * trunk.length();
    if !legs.is_empty() {
        let feet = legs.iter().map(|l| l.1).sum::<Vec3>() / count;
        let length = legs.iter().map(|l| l.2).sum::<f32>() / count;
        let risen = hips - feet;
        let legs_up = risen
            .try_normalize()
            .filter(|_| risen.length() >= 0.5 * length)
            .ok_or("the legs do not stand side by side")?;
        if trunk_up.dot(legs_up) < 0.5 {
            return Err("the legs do not lie below the trunk");
        }
        up = (trunk_up + legs_up).try_normalize().unwrap_or(trunk_up);
        height = trunk.length() + length;
        if legs
            .iter()
            .any(|l| (l.0 - l.1).normalize_or_zero().dot(up) < 0.25)
        {
            return Err("a leg does not point down");
        }
        if let [a, b] = legs.as_slice() {
            let across = a.0 - b.0;
            if across.length() > 0.01 * height && across.normalize_or_zero().dot(up).abs() > 0.7 {
                return Err("one hip lies above the other");
            }
        }
    }
    let arms_up = body.arms.iter().filter(|arm| {
        let ends = arm.first().zip(arm.joints[2]);
        ends.is_some_and(|(a, b)| (place(b) - place(a)).normalize_or_zero().dot(up) > 0.82)
    });
    if is_rest && arms_up.count() == 2 {
        return Err("both arms lie along the trunk, upwards");
    }
    Ok(Stance { up, height })
}

/// The frame of a stance. `is_rest` is false for a pose of a performance.
pub(super) fn frame(body: &Body, tree: &Tree, stance: Stance, is_rest: bool) -> Frame {
    let near = if is_rest { NEAR_AXIS } else { NEAR_AXIS_POSED };
    let up = snapped(stance.up, near);
    let level = |v: Vec3| v - up * v.dot(up);
    let (across, leaning) = across(body, tree, up, stance.height);
    let (guess, by) = toes(body, tree, up)
        .map(|f| (f, Front::Toes))
        .or_else(|| Some((eyes(body, tree, up, stance.height)?, Front::Eyes)))
        .or_else(|| {
            let left = across? * leaning.signum() as f32;
            (leaning != 0).then_some((left.cross(up), Front::Names))
        })
        .or_else(|| Some((knees(body, tree, up, stance.height)?, Front::Knees)))
        .unwrap_or((assumed(up), Front::Assumed));
    let guess = level(guess)
        .try_normalize()
        .unwrap_or_else(|| up.any_orthonormal_vector());
    // The line across is the better measure, unless it lies along the front.
    let front = across
        .map(|line| {
            if line.dot(up.cross(guess)) < 0.0 {
                -line
            } else {
                line
            }
        })
        .filter(|left| left.dot(guess).abs() < 0.7)
        .map_or(guess, |left| left.cross(up));
    let front = level(snapped(front, NEAR_AXIS))
        .try_normalize()
        .unwrap_or(guess);
    Frame {
        up,
        front,
        by,
        height: stance.height,
    }
}

/// The axis of the model nearest to a direction, if it is within `near` radians; else the direction.
fn snapped(direction: Vec3, near: f32) -> Vec3 {
    let axes = [Vec3::X, Vec3::Y, Vec3::Z];
    axes.into_iter()
        .flat_map(|axis| [axis, -axis])
        .find(|axis| axis.dot(direction) >= near.cos())
        .unwrap_or(direction)
}

/// The line between left and right joints, level, its sense arbitrary; and how many more names say that it points
/// left than say right.
fn across(body: &Body, tree: &Tree, up: Vec3, height: f32) -> (Option<Vec3>, i32) {
    let mut sum = Vec3::ZERO;
    let mut first: Option<Vec3> = None;
    let mut leaning = 0;
    for limbs in [&body.legs, &body.arms] {
        let [a, b] = limbs.as_slice() else { continue };
        let (Some(p), Some(q)) = (a.first(), b.first()) else {
            continue;
        };
        let line = tree.at[p] - tree.at[q];
        let line = line - up * line.dot(up);
        if line.length() < 0.02 * height {
            continue;
        }
        let line = line.normalize_or_zero();
        let sense = if line.dot(*first.get_or_insert(line)) < 0.0 {
            -1
        } else {
            1
        };
        sum += line * sense as f32;
        leaning += sense * (a.leaning() - b.leaning());
    }
    (sum.try_normalize(), leaning)
}

/// From the feet to the toes, or to what else hangs on the feet.
fn toes(body: &Body, tree: &Tree, up: Vec3) -> Option<Vec3> {
    let mut sum = Vec3::ZERO;
    let mut feet = 0.0;
    for leg in &body.legs {
        let Some(foot) = leg.joints[2] else { continue };
        let ends = match leg.toes {
            Some(toes) => vec![toes],
            None => tree.children[foot].clone(),
        };
        let way = ends
            .iter()
            .map(|e| tree.at[*e] - tree.at[foot])
            .sum::<Vec3>();
        let level = way - up * way.dot(up);
        if level.length() > 0.3 * way.length() {
            sum += level.normalize_or_zero();
            feet += 1.0;
        }
    }
    (feet > 0.0 && sum.length() > 0.5 * feet).then(|| sum.try_normalize())?
}

/// From the head's joint to the eyes.
fn eyes(body: &Body, tree: &Tree, up: Vec3, height: f32) -> Option<Vec3> {
    let head = tree.at[body.head?];
    let way = body.eyes.iter().map(|e| tree.at[*e] - head).sum::<Vec3>();
    let level = way - up * way.dot(up);
    let is_clear = level.length() > (0.25 * way.length()).max(0.01 * height);
    level.try_normalize().filter(|_| is_clear)
}

/// Which way the knees stand out.
fn knees(body: &Body, tree: &Tree, up: Vec3, height: f32) -> Option<Vec3> {
    let stands_out = |leg: &Limb| -> Option<Vec3> {
        let [upper, knee, foot] = leg.joints;
        let (upper, knee, foot) = (tree.at[upper?], tree.at[knee?], tree.at[foot?]);
        let along = (foot - upper).try_normalize()?;
        let out = (knee - upper) - along * (knee - upper).dot(along);
        let out = out - up * out.dot(up);
        (out.length() > 0.01 * height).then_some(out)
    };
    let sum = body.legs.iter().filter_map(stands_out).sum::<Vec3>();
    sum.try_normalize()
}

/// +Z, as in the house frame; where Z is up, −Y, as modellers have it.
fn assumed(up: Vec3) -> Vec3 {
    if up.z.abs() < 0.7 {
        Vec3::Z
    } else {
        Vec3::NEG_Y * up.z.signum()
    }
}
