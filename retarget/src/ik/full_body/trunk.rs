//! The trunk: what is shifted and turned so that limbs reach and head and hips are where they shall be.

use glam::{Quat, Vec3};
use hub::Transform;

use super::{FullBodySettings, system::BLOCKS};
use crate::{
    compose,
    ik::{Axes, Limit},
    math::{exp, log, unit},
};

mod pull;
mod step;

pub(super) use pull::Pull;

/// Bones that turn together, each by its share. Block 0 of the unknowns is the shift, block `1 + group` its turn.
pub(super) const GROUPS: usize = BLOCKS - 1;
pub(super) const CARRIER: usize = 0;
pub(super) const SPINE: usize = 1;
pub(super) const NECK: usize = 2;
pub(super) const LEFT: usize = 3;
pub(super) const RIGHT: usize = 4;

/// Stiffness of the shift and of the turns, before the settings.
const STIFFNESS: [f64; BLOCKS] = [20.0, 6.0, 6.0, 3.0, 6.0, 6.0];
/// A goal is served if it misses by less, metres and radians.
const SERVED: f64 = 1e-5;
/// A step of less, metres and radians, ends it.
const LEAST: f32 = 1e-4;
/// A step that gains less of what there is to gain ends it, too.
const LEAST_GAIN: f64 = 1e-4;
/// Bend given to a straight spine that has to get shorter, radians.
const SEED_RAD: f32 = 0.05;
/// Of two feet pulled apart, how much each may be missed for the other's sake: keeps what they ask for solvable.
const GIVE: f32 = 0.05;
/// Most that the whole is shifted at once for the feet, metres.
const MOST_FEET_M: f32 = 0.5;

/// A limit, in the frame of the parent.
#[derive(Clone, Debug)]
pub(super) struct HeldBy {
    pub(super) limit: Limit,
    pub(super) axes: Axes,
    /// `parent_from_local` in the retarget pose.
    pub(super) retarget: Quat,
}

/// A bone of the trunk, or the first of a limb.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) bone: usize,
    /// Node it hangs on; none for the first, which carries all.
    pub(super) parent: Option<usize>,
    /// With whom it turns, and how much of their turn is its own.
    pub(super) group: Option<(usize, f32)>,
    pub(super) limit: Option<HeldBy>,
    /// As given: `parent_from_local`; of the first, `model_from_local`.
    pub(super) given: Transform,
    /// How far beyond its limit it was given, radians.
    pub(super) given_over: f32,
}

impl Node {
    pub(super) fn new(bone: usize, parent: Option<usize>) -> Self {
        Self {
            bone,
            parent,
            group: None,
            limit: None,
            given: Transform::IDENTITY,
            given_over: 0.0,
        }
    }

    /// A turn on top of the given rotation, brought back to where it is no farther beyond the limit than it was given,
    /// and by how much, radians.
    fn within(&self, turn: Quat) -> (Quat, f32) {
        let Some(held) = &self.limit else {
            return (turn, 0.0);
        };
        let relative = unit(turn * self.given.rotation * held.retarget.conjugate());
        let (inside, over) = held.limit.clamp(relative, held.axes);
        if over <= self.given_over + 1e-4 {
            return (turn, 0.0);
        }
        let back = log(inside * relative.conjugate());
        let size = back.length();
        let too_far = size - self.given_over;
        if too_far <= 0.0 {
            return (turn, 0.0);
        }
        (unit(exp(back * (too_far / size)) * turn), too_far)
    }
}

/// Three bones of a limb.
#[derive(Clone, Debug)]
pub(super) struct Limb {
    pub(super) bones: [usize; 3],
    /// Node of the first.
    pub(super) node: usize,
    /// About which it bends, in the frame of the first.
    pub(super) hinge: Vec3,
}

/// Where the nodes are.
#[derive(Clone, Debug)]
struct Pose {
    shift: Vec3,
    /// On top of the given rotation, in the frame of the parent.
    turns: Vec<Quat>,
    globals: Vec<Transform>,
}

/// The trunk of a body.
#[derive(Clone, Debug)]
pub(super) struct Trunk {
    /// Parents first.
    pub(super) nodes: Vec<Node>,
    /// By the ends of the body: two feet, two hands, head, hips.
    pub(super) pulls: [Option<Pull>; 6],
    /// The body's left, in the frame of the first node.
    left: Vec3,
    iterations: u32,
    max_lean_rad: f32,
    stiffness: [f64; BLOCKS],
    /// What joints on their limits are stiffer by.
    stiffened: [f64; BLOCKS],
    /// Metres by which the last step would have stretched the legs.
    stretched_m: [f32; 2],
    now: Pose,
    trial: Pose,
}

impl Trunk {
    pub(super) fn new(nodes: Vec<Node>, left: Vec3, settings: FullBodySettings) -> Self {
        let pose = Pose {
            shift: Vec3::ZERO,
            turns: vec![Quat::IDENTITY; nodes.len()],
            globals: vec![Transform::IDENTITY; nodes.len()],
        };
        let mut stiffness = STIFFNESS;
        stiffness[0] *= f64::from(settings.hips).clamp(0.01, 100.0);
        stiffness[1 + SPINE] *= f64::from(settings.spine).clamp(0.01, 100.0);
        Self {
            nodes,
            pulls: [const { None }; 6],
            left,
            iterations: settings.iterations.min(64),
            max_lean_rad: settings.max_lean_rad.clamp(0.0, std::f32::consts::PI),
            stiffness,
            stiffened: [1.0; BLOCKS],
            stretched_m: [0.0; 2],
            now: pose.clone(),
            trial: pose,
        }
    }

    pub(super) fn bone(&self, node: usize) -> usize {
        self.nodes[node].bone
    }

    /// Bones and where they are now.
    pub(super) fn now(&self) -> impl Iterator<Item = (usize, Transform)> {
        let bones = self.nodes.iter().map(|node| node.bone);
        bones.zip(self.now.globals.iter().copied())
    }

    /// Takes a pose as given.
    pub(super) fn take(&mut self, globals: &[Transform]) {
        for place in 0..self.nodes.len() {
            let parent = self.nodes[place].parent.map(|p| self.nodes[p].bone);
            let node = &mut self.nodes[place];
            let global = globals[node.bone];
            node.given = match parent {
                Some(parent) => {
                    let back = globals[parent].rotation.conjugate();
                    Transform::new(
                        back * (global.translation - globals[parent].translation),
                        unit(back * global.rotation),
                    )
                }
                None => Transform::new(global.translation, unit(global.rotation)),
            };
            node.given_over = node.limit.as_ref().map_or(0.0, |held| {
                let relative = unit(node.given.rotation * held.retarget.conjugate());
                held.limit.clamp(relative, held.axes).1
            });
            self.now.globals[place] = Transform::new(global.translation, unit(global.rotation));
        }
        self.now.shift = Vec3::ZERO;
        self.now.turns.fill(Quat::IDENTITY);
        self.stiffened = [1.0; BLOCKS];
    }

    /// Whether all limbs reach as they are, and head and hips are where they shall be.
    pub(super) fn is_served(&self) -> bool {
        self.pulls.iter().flatten().all(|pull| {
            pull.strain(&self.now).is_none_or(|s| s.miss_m <= SERVED)
                && pull
                    .turn_missed(&self.now)
                    .is_none_or(|missed| missed.length() <= SERVED)
        })
    }

    /// Brings the trunk to rest. Answers how many steps that took.
    pub(super) fn settle(&mut self) -> u32 {
        self.seed();
        self.stretched_m = self.hold_feet(true);
        let mut cost = self.cost(&self.now);
        let mut damping = 0.0f64;
        for iteration in 1..=self.iterations {
            let step = self.step(damping);
            let largest = step.iter().map(|v| v.length()).fold(0.0, f32::max);
            let lost = self.try_step(&step);
            self.stretched_m = self.hold_feet(false);
            let next = self.cost(&self.trial);
            // NaN is no progress either.
            if next <= cost * (1.0 + 1e-6) {
                std::mem::swap(&mut self.now, &mut self.trial);
                let is_settled = damping == 0.0 && cost - next < LEAST_GAIN * next;
                damping = if damping > 0.3 { 0.25 * damping } else { 0.0 };
                cost = if self.stiffen(&lost) {
                    self.cost(&self.now)
                } else if is_settled {
                    return iteration;
                } else {
                    next
                };
            } else {
                damping = (4.0 * damping).max(1.0);
            }
            if largest < LEAST {
                return iteration;
            }
        }
        self.iterations
    }

    /// Head and hips that shall come nearer to each other bend a spine forwards. A straight one does not know which way.
    fn seed(&mut self) {
        let [.., Some(head), Some(hips)] = &self.pulls else {
            return;
        };
        let (Some(a), Some(b)) = (head.position, hips.position) else {
            return;
        };
        let at = |pull: &Pull| self.now.globals[pull.node].translation;
        let short = at(head).distance(at(hips)) - a.distance(b);
        if short > 1e-3 {
            let left = self.now.globals[0].rotation * self.left;
            let mut step = [Vec3::ZERO; BLOCKS];
            step[1 + SPINE] = left * (SEED_RAD * (short / 0.01).min(1.0));
            self.try_step(&step);
            std::mem::swap(&mut self.now, &mut self.trial);
        }
    }

    /// The trial: a step from the pose of now, and by how much limits have cut it, by group.
    fn try_step(&mut self, step: &[Vec3; BLOCKS]) -> [f32; GROUPS] {
        let mut lost = [0.0f32; GROUPS];
        self.trial.shift = self.now.shift + step[0];
        for (place, node) in self.nodes.iter().enumerate() {
            let mut turn = self.now.turns[place];
            if let Some((group, share)) = node.group {
                let by = step[1 + group] * share;
                let by = match node.parent {
                    Some(parent) => self.now.globals[parent].rotation.conjugate() * by,
                    None => by,
                };
                let (held, over) = node.within(unit(exp(by) * turn));
                turn = held;
                lost[group] += over;
                if group == CARRIER {
                    let lean = log(turn);
                    let over = lean.length() - self.max_lean_rad;
                    if over > 0.0 {
                        turn = exp(lean * (self.max_lean_rad / lean.length()));
                        lost[group] += over;
                    }
                }
            }
            self.trial.turns[place] = turn;
            let local = Transform::new(node.given.translation, unit(turn * node.given.rotation));
            self.trial.globals[place] = match node.parent {
                Some(parent) => compose(&self.trial.globals[parent], &local),
                None => Transform::new(local.translation + self.trial.shift, local.rotation),
            };
        }
        lost
    }

    /// Makes joints stiffer that ran into their limits, so that others do their part. Answers whether there were any.
    fn stiffen(&mut self, lost: &[f32; GROUPS]) -> bool {
        let mut any = false;
        for (factor, lost) in self.stiffened.iter_mut().skip(1).zip(lost) {
            if *lost > 1e-3 && *factor < 1e3 {
                *factor *= 4.0;
                any = true;
            }
        }
        any
    }

    /// Shifts a pose, now or the trial, by the least that brings both legs within reach of their feet. Answers what they
    /// were too short by.
    fn hold_feet(&mut self, is_now: bool) -> [f32; 2] {
        let pose = if is_now {
            &mut self.now
        } else {
            &mut self.trial
        };
        let mut first = [0.0; 2];
        for pass in 0..3 {
            let mut lines = [None; 2];
            for (leg, pull) in self.pulls[..2].iter().enumerate() {
                let Some(strain) = pull.as_ref().and_then(|pull| pull.strain(pose)) else {
                    continue;
                };
                if strain.miss_m > 0.0 {
                    let short = strain.miss_m as f32;
                    lines[leg] = Some((strain.along.as_vec3(), short));
                    if pass == 0 {
                        first[leg] = short;
                    }
                }
            }
            let by = match lines {
                [None, None] => break,
                [Some((along, short)), None] | [None, Some((along, short))] => along * short,
                [Some((u, a)), Some((v, b))] => {
                    // The shortest x u + y v whose parts along u and v are a and b, given way to a little.
                    let (e, c) = (1.0 + GIVE, u.dot(v));
                    (u * (e * a - c * b) + v * (e * b - c * a)) / (e * e - c * c)
                }
            };
            let by = by.clamp_length_max(MOST_FEET_M);
            pose.shift += by;
            for global in &mut pose.globals {
                global.translation += by;
            }
        }
        first
    }
}
