//! What is measured of a body in motion.
//!
//! - **Skate**: the horizontal way of the toes while the *source's* foot is planted, per second of contact.
//! - **Below**: how far toes go below where they stand in the retarget pose; mean of all feet and frames, and most.
//! - **Beyond limits**: the share of joints and frames that are more than 5° outside [`Limit`]. Face and eyes are not asked.
//! - **Hands**: where the source's hand is within 8 cm of its other hand, its head or its hips, how much nearer or farther
//!   the target's is, in metres of the target. Head and hips are capsules of a usual size. Hands are their palms where both
//!   bodies have middle fingers, else wrists.
//! - **Flips**: knees and frames that bend backwards by more than 2°.
//! - **Turn acceleration**: 99.9th percentile over joints and frames of how fast the angular velocity changes; that of a
//!   recording without filter is large by itself, so it is told of the source too.

use glam::{Quat, Vec3};
use retarget::{
    HumanBone, Side,
    contact::BodyPart,
    ik::{Axes, Limit},
    math::{log, unit},
};

use super::body::{Body, Pose, above, place, toes};

/// How near the source's hand is to what it touches.
const NEAR_M: f32 = 0.08;
/// How far outside a limit a joint may be, degrees.
const LENIENCE_DEG: f32 = 5.0;
/// The top of the head over its joint, in heights of the hips.
const HEAD_PER_HIP: f32 = 0.16;

const LEGS: [[HumanBone; 3]; 2] = [
    [
        HumanBone::LeftUpperLeg,
        HumanBone::LeftLowerLeg,
        HumanBone::LeftFoot,
    ],
    [
        HumanBone::RightUpperLeg,
        HumanBone::RightLowerLeg,
        HumanBone::RightFoot,
    ],
];

/// Numbers of one motion on one body.
#[derive(Default)]
pub(super) struct Measured {
    skate_m: f32,
    contact_secs: f32,
    pub(super) below_mean_m: f32,
    pub(super) below_max_m: f32,
    /// Share, 0..=1.
    pub(super) beyond_limits: f32,
    hands_sum_m: f32,
    hands: usize,
    pub(super) flips: u32,
    /// rad/s².
    pub(super) turn_acceleration: f32,
}

impl Measured {
    pub(super) fn skate_per_sec(&self) -> f32 {
        self.skate_m / self.contact_secs.max(1e-3)
    }

    /// Mean error of hands; `None` where the source touches nothing.
    pub(super) fn hands_m(&self) -> Option<f32> {
        (self.hands > 0).then(|| self.hands_sum_m / self.hands as f32)
    }

    /// How well touches of the source are kept, `ratio` metres of this body being one of the source.
    pub(super) fn add_touches(&mut self, body: &Body, frames: &[Pose], near: &[Touch], ratio: f32) {
        for touch in near {
            let Some(pose) = frames.get(touch.frame) else {
                continue;
            };
            if let Some(apart) = apart(body, pose, touch.side, touch.what, touch.palms) {
                self.hands_sum_m += (apart - touch.apart_m * ratio).abs();
                self.hands += 1;
            }
        }
    }
}

/// Measures all but the hands. `planted` is of the source, see [`contacts`](super::contacts); `common` the bones that are
/// asked.
pub(super) fn measure(
    body: &Body,
    frames: &[Pose],
    dt_secs: f32,
    planted: &[[bool; 2]],
    common: &[HumanBone],
) -> Measured {
    let base = toes(&body.rest);
    let joints: Vec<Joint> = common
        .iter()
        .filter_map(|human| Joint::new(body, *human))
        .collect();
    let mut measured = Measured::default();
    let (mut below, mut beyond) = (0.0, 0);
    let mut before: Option<[Vec3; 2]> = None;
    for (index, pose) in frames.iter().enumerate() {
        let now = toes(pose);
        for leg in LEGS {
            if knee(body, pose, leg).is_some_and(|bend| bend < -2f32.to_radians()) {
                measured.flips += 1;
            }
        }
        for foot in [0, 1] {
            let depth = (base[foot].y - now[foot].y).max(0.0);
            below += depth;
            measured.below_max_m = measured.below_max_m.max(depth);
            let is_planted = index > 1 && planted[index - 1][foot] && planted[index - 2][foot];
            if let Some(before) = before.filter(|_| is_planted) {
                let way = now[foot] - before[foot];
                measured.skate_m += way.x.hypot(way.z);
                measured.contact_secs += dt_secs;
            }
        }
        beyond += joints
            .iter()
            .filter(|joint| joint.is_beyond(body, pose))
            .count();
        before = Some(now);
    }
    let num = frames.len().max(1) as f32;
    measured.below_mean_m = below / (2.0 * num);
    measured.beyond_limits = beyond as f32 / (num * joints.len().max(1) as f32);
    measured.turn_acceleration = turn_acceleration(frames, common, dt_secs);
    measured
}

/// Bend of a knee in radians: positive forwards is right, negative is backwards.
fn knee(body: &Body, pose: &Pose, leg: [HumanBone; 3]) -> Option<f32> {
    let [hip, ankle] = [leg[0], leg[2]].map(|human| place(pose, human));
    let (hip, knee, ankle) = (hip?, place(pose, leg[1])?, ankle?);
    let forward = delta(body, pose, leg[0])? * Vec3::Z;
    let along = (ankle - hip).normalize_or_zero();
    let out = knee - hip - along * (knee - hip).dot(along);
    let bend = (knee - hip).angle_between(ankle - knee);
    Some(bend * out.dot(forward).signum())
}

/// How a bone is turned away from the retarget pose.
fn delta(body: &Body, pose: &Pose, human: HumanBone) -> Option<Quat> {
    let [now, rest] = [pose, &body.rest].map(|pose| pose[human.index()]);
    Some(now?.rotation * rest?.rotation.conjugate())
}

/// A joint with its limit, in the axes of the house as the body stands in the retarget pose.
struct Joint {
    human: HumanBone,
    above: HumanBone,
    limit: Limit,
    axes: Axes,
}

impl Joint {
    fn new(body: &Body, human: HumanBone) -> Option<Self> {
        if matches!(
            human,
            HumanBone::Jaw | HumanBone::LeftEye | HumanBone::RightEye
        ) {
            return None;
        }
        let way =
            next(human).and_then(|next| Some(place(&body.rest, next)? - place(&body.rest, human)?));
        Some(Self {
            human,
            above: above(&body.rest, human)?,
            limit: Limit::of(human)?,
            axes: way.map_or_else(|| Axes::of(human), |way| Axes::fitted(human, way)),
        })
    }

    fn is_beyond(&self, body: &Body, pose: &Pose) -> bool {
        let turns = [self.above, self.human].map(|human| delta(body, pose, human));
        let [Some(above), Some(own)] = turns else {
            return false;
        };
        let (_, over) = self.limit.clamp(unit(above.conjugate() * own), self.axes);
        over > LENIENCE_DEG.to_radians()
    }
}

/// Where a bone of a limb points.
fn next(human: HumanBone) -> Option<HumanBone> {
    use HumanBone as B;
    Some(match human {
        B::LeftUpperArm => B::LeftLowerArm,
        B::LeftLowerArm => B::LeftHand,
        B::LeftUpperLeg => B::LeftLowerLeg,
        B::LeftLowerLeg => B::LeftFoot,
        B::RightUpperArm => B::RightLowerArm,
        B::RightLowerArm => B::RightHand,
        B::RightUpperLeg => B::RightLowerLeg,
        B::RightLowerLeg => B::RightFoot,
        _ => return None,
    })
}

fn turn_acceleration(frames: &[Pose], common: &[HumanBone], dt_secs: f32) -> f32 {
    let mut all: Vec<f32> = Vec::new();
    for human in common {
        for three in frames.windows(3) {
            let turns = [0, 1, 2].map(|at| three[at][human.index()].map(|bone| bone.rotation));
            if let [Some(a), Some(b), Some(c)] = turns {
                let change = log(unit(c * b.conjugate())) - log(unit(b * a.conjugate()));
                all.push(change.length() / (dt_secs * dt_secs));
            }
        }
    }
    all.sort_by(f32::total_cmp);
    let place = (all.len() as f64 * 0.999) as usize;
    all.get(place).or(all.last()).copied().unwrap_or(0.0)
}

/// What a hand touches.
#[derive(Clone, Copy)]
pub(super) enum Near {
    OtherHand,
    Head,
    Hips,
}

/// A hand of the source near something, in one frame.
pub(super) struct Touch {
    frame: usize,
    side: Side,
    what: Near,
    palms: bool,
    /// Between the two, metres of the source; below 0 inside.
    apart_m: f32,
}

/// All that the source's hands touch and `target` has too.
pub(super) fn touches(source: &Body, target: &Body, frames: &[Pose]) -> Vec<Touch> {
    let palms = [
        HumanBone::LeftMiddleProximal,
        HumanBone::RightMiddleProximal,
    ]
    .into_iter()
    .all(|human| source.has(human) && target.has(human));
    let asked = [
        (Side::Left, Near::OtherHand),
        (Side::Left, Near::Head),
        (Side::Right, Near::Head),
        (Side::Left, Near::Hips),
        (Side::Right, Near::Hips),
    ];
    let mut all = Vec::new();
    for (frame, pose) in frames.iter().enumerate() {
        for (side, what) in asked {
            let apart_m = apart(source, pose, side, what, palms);
            if let Some(apart_m) = apart_m.filter(|apart_m| *apart_m < NEAR_M) {
                all.push(Touch {
                    frame,
                    side,
                    what,
                    palms,
                    apart_m,
                });
            }
        }
    }
    all
}

/// From a hand to what it may touch, metres.
fn apart(body: &Body, pose: &Pose, side: Side, what: Near, palms: bool) -> Option<f32> {
    let own = hand(pose, side, palms)?;
    let hips = body.hip_height_m;
    match what {
        Near::OtherHand => Some(own.distance(hand(pose, side.other(), palms)?)),
        Near::Head => {
            let head = place(pose, HumanBone::Head)?;
            let up = delta(body, pose, HumanBone::Head)? * Vec3::Y * (HEAD_PER_HIP * hips);
            Some(from_line(own, head, head + up) - BodyPart::Head.guessed_radius_m(hips))
        }
        Near::Hips => {
            let (from, to) = (
                place(pose, HumanBone::Hips)?,
                place(pose, HumanBone::Spine)?,
            );
            Some(from_line(own, from, to) - BodyPart::Hips.guessed_radius_m(hips))
        }
    }
}

fn hand(pose: &Pose, side: Side, palms: bool) -> Option<Vec3> {
    let sided = |left: HumanBone| match side {
        Side::Left => left,
        Side::Right => left.mirrored(),
    };
    let wrist = place(pose, sided(HumanBone::LeftHand))?;
    if !palms {
        return Some(wrist);
    }
    let knuckle = place(pose, sided(HumanBone::LeftMiddleProximal))?;
    Some(wrist.lerp(knuckle, 0.5))
}

/// From a point to a line between two others.
fn from_line(point: Vec3, from: Vec3, to: Vec3) -> f32 {
    let along = to - from;
    let share = (point - from).dot(along) / along.length_squared().max(1e-12);
    point.distance(from + along * share.clamp(0.0, 1.0))
}
