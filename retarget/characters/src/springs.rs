//! Spring bones at work: a pose and the time since the last one in; rotations of the nodes that sway out.
//!
//! ```text
//! next = tail + (tail − tail before) * (1 − drag)       it moves on
//!             + step * stiffness * (to where it rests)  and returns
//!             + step * gravity + step² * force          and is pulled
//! next = onto the ball of the bone's length about its head, out of every collider, onto the ball again
//! ```
//!
//! Source: VRMC_springBone-1.0, whose reference moves once a frame, so that a model sways otherwise at 30 frames a second
//! than at 144. Here every step is [`SPRING_STEP_SECS`], the frame of 1/60 s that models are tuned for, however often
//! [`Springs::update`] is called. What the springs hang on is led evenly from one pose to the next, and seen by each step
//! at its own time. Between two steps the answer is between theirs: it is one step old, in the frame of the bone above, so
//! that a body that moves as a whole leaves nothing behind.
//!
//! Colliders push until nothing is left within them, at most eight times a step; the reference pushes once.

mod build;
mod collide;

use std::ops::Range;

use glam::{Quat, Vec3};
use hub::Transform;

use self::collide::push;
use crate::vrm::ColliderShape;

/// Length of a step in seconds.
pub const SPRING_STEP_SECS: f64 = 1.0 / 60.0;

/// Most steps of one update; the time before them is left out.
pub const MAX_SPRING_STEPS: u32 = 8;

/// Time that two sums of floats may differ by and still be the same step.
const SLACK_SECS: f64 = 1e-6;

/// A chain whose root moves by more than this at once has been put elsewhere: that far, and that fast.
const JUMP_M: f32 = 0.5;
const JUMP_M_PER_SEC: f32 = 20.0;

/// Most rounds of pushing out of colliders.
const PUSH_ROUNDS: usize = 8;

/// Lets a model's springs sway. After [`build`](Self::build) nothing allocates.
#[derive(Clone, Debug, Default)]
pub struct Springs {
    parents: Vec<Option<usize>>,
    /// All nodes, parents first.
    order: Vec<usize>,
    /// `world_from_node` of the pose at hand, one per node.
    globals: Vec<Transform>,
    anchors: Vec<Anchor>,
    /// Parents first.
    links: Vec<Link>,
    joints: Vec<Joint>,
    chains: Vec<Chain>,
    colliders: Vec<Placed>,
    /// What chains collide with: indices in `colliders`.
    hits: Vec<usize>,
    remainder_secs: f64,
    is_begun: bool,
    num_recovered: u64,
}

/// A node that springs hang on, and that no spring moves.
#[derive(Clone, Copy, Debug)]
struct Anchor {
    /// `None` for the model itself.
    node: Option<usize>,
    /// `world_from_node` in the pose before, in the pose at hand, and at the step at hand.
    before: Transform,
    now: Transform,
    at: Transform,
    has_jumped: bool,
}

/// A node that springs move: one that sways, or one below.
#[derive(Clone, Copy, Debug)]
struct Link {
    node: usize,
    parent: Frame,
    joint: Option<usize>,
    /// `world_from_node` at the latest step.
    at: Transform,
}

/// What something is fixed to.
#[derive(Clone, Copy, Debug)]
enum Frame {
    Anchor(usize),
    Link(usize),
}

/// A node that sways.
#[derive(Clone, Copy, Debug)]
struct Joint {
    chain: usize,
    /// Where the bone ends, in the node's own frame, and its direction.
    tail: Vec3,
    axis: Vec3,
    rest: Quat,
    hit_radius: f32,
    stiffness: f32,
    gravity: Vec3,
    drag: f32,
    /// Where the bone ends at the latest step and the one before, in the chain's center or else the world.
    current: Vec3,
    previous: Vec3,
    /// Rotations of the node at the latest step and the one before.
    turn: Quat,
    turn_before: Quat,
}

#[derive(Clone, Debug)]
struct Chain {
    center: Option<Frame>,
    /// What it hangs on, through other chains if need be.
    anchor: usize,
    joints: Range<usize>,
    /// Of [`Springs::hits`].
    hits: Range<usize>,
    /// Whether it is to begin at rest.
    is_fresh: bool,
    has_failed: bool,
}

/// A collider and what it is fixed to.
#[derive(Clone, Copy, Debug)]
struct Placed {
    frame: Frame,
    shape: ColliderShape,
}

impl Springs {
    /// Whether nothing sways.
    pub fn is_empty(&self) -> bool {
        self.joints.is_empty()
    }

    /// How often a chain was set back to rest because its numbers were no longer finite.
    pub fn num_recovered(&self) -> u64 {
        self.num_recovered
    }

    /// Puts all chains at rest, as after a cut. A chain whose root moves between two updates by more than 0.5 m plus what
    /// 20 m/s make is put at rest without being asked, unless it has a center.
    pub fn reset(&mut self) {
        for chain in &mut self.chains {
            rest(chain, &mut self.joints);
        }
        self.remainder_secs = 0.0;
        self.is_begun = false;
    }

    /// Moves on by `dt_secs` to the pose `locals`, one `parent_from_local` per node of the character, and sets the
    /// rotations of the nodes that sway in it; the ones they come with do not matter.
    ///
    /// `world_from_model` says where the model stands, with [`Vrm::facing_turn`](crate::vrm::Vrm::facing_turn) in it.
    /// `force` is an acceleration in m/s² along the world's axes on every tail: wind, or whatever else acts. A negative
    /// time or one that is no number counts as none; of a long one the last [`MAX_SPRING_STEPS`] steps are taken. Nothing
    /// happens when there are not as many transforms as nodes.
    pub fn update(
        &mut self,
        dt_secs: f32,
        world_from_model: &Transform,
        force: Vec3,
        locals: &mut [Transform],
    ) {
        if self.joints.is_empty() || locals.len() != self.parents.len() {
            return;
        }
        let dt_secs = if dt_secs.is_finite() {
            dt_secs.max(0.0)
        } else {
            0.0
        };
        let force = if force.is_finite() { force } else { Vec3::ZERO };
        self.place(world_from_model, dt_secs, locals);

        let dt = f64::from(dt_secs);
        let most = f64::from(MAX_SPRING_STEPS) * SPRING_STEP_SECS;
        self.remainder_secs = (self.remainder_secs + dt).min(most);
        for _ in 0..MAX_SPRING_STEPS {
            if self.remainder_secs + SLACK_SECS < SPRING_STEP_SECS {
                break;
            }
            self.remainder_secs = (self.remainder_secs - SPRING_STEP_SECS).max(0.0);
            let share = if dt > 0.0 {
                (1.0 - self.remainder_secs / dt).clamp(0.0, 1.0)
            } else {
                1.0
            };
            self.step(share as f32, force, locals);
        }

        let share = (self.remainder_secs / SPRING_STEP_SECS).clamp(0.0, 1.0) as f32;
        for link in &self.links {
            let joint = link.joint.and_then(|joint| self.joints.get(joint));
            if let (Some(joint), Some(local)) = (joint, locals.get_mut(link.node)) {
                local.rotation = joint.turn_before.slerp(joint.turn, share);
            }
        }
    }

    /// Where everything is that chains hang on, in the pose at hand.
    fn place(&mut self, world_from_model: &Transform, dt_secs: f32, locals: &[Transform]) {
        for &node in &self.order {
            let parent = self.parents[node].map_or(*world_from_model, |p| self.globals[p]);
            self.globals[node] = parent.mul(&locals[node]);
        }
        for anchor in &mut self.anchors {
            let now = anchor.node.map_or(*world_from_model, |n| self.globals[n]);
            let way = (now.translation - anchor.now.translation).length();
            // What is no number has jumped too.
            let is_near = way <= JUMP_M + JUMP_M_PER_SEC * dt_secs;
            anchor.has_jumped = self.is_begun && !is_near;
            let is_continued = self.is_begun && is_near;
            anchor.before = if is_continued { anchor.now } else { now };
            anchor.now = now;
        }
        self.is_begun = true;
        for chain in &mut self.chains {
            if chain.center.is_none() && self.anchors[chain.anchor].has_jumped {
                rest(chain, &mut self.joints);
            }
        }
    }

    /// One step, at that share of the way from the pose before to the pose at hand.
    fn step(&mut self, share: f32, force: Vec3, locals: &[Transform]) {
        for anchor in &mut self.anchors {
            anchor.at = between(&anchor.before, &anchor.now, share);
        }
        for at in 0..self.links.len() {
            let link = self.links[at];
            let parent = self.frame(link.parent);
            let mut local = locals[link.node];
            if let Some(joint) = link.joint {
                local.rotation = self.swing(joint, &parent, &local, force);
            }
            self.links[at].at = parent.mul(&local);
        }
        for chain in &mut self.chains {
            chain.is_fresh = false;
            if chain.has_failed {
                self.num_recovered += 1;
                rest(chain, &mut self.joints);
            }
        }
    }

    /// Moves the end of one bone on, and answers the node's rotation.
    fn swing(&mut self, at: usize, parent: &Transform, local: &Transform, force: Vec3) -> Quat {
        let joint = self.joints[at];
        let chain = &self.chains[joint.chain];
        let step = SPRING_STEP_SECS as f32;
        let base = parent.mul(&Transform {
            rotation: joint.rest,
            ..*local
        });
        let head = base.translation;
        let reach = base.rotation * (base.scale * joint.tail);
        let length = reach.length();
        let along = reach.normalize_or_zero();
        let onto_ball = |point: Vec3| head + (point - head).normalize_or(along) * length;

        let center = chain.center.map_or(Transform::IDENTITY, |c| self.frame(c));
        let (current, previous) = if chain.is_fresh {
            (head + reach, head + reach)
        } else {
            (put(&center, joint.current), put(&center, joint.previous))
        };
        let inertia = (current - previous) * (1.0 - joint.drag);
        let pull = along * joint.stiffness + joint.gravity + force * step;
        let mut next = onto_ball(current + inertia + pull * step);

        let radius = joint.hit_radius * largest(base.scale);
        for round in 0..PUSH_ROUNDS {
            let mut has_hit = false;
            for &hit in &self.hits[chain.hits.clone()] {
                let collider = self.colliders[hit];
                let frame = self.frame(collider.frame);
                if let Some((way, depth)) = push(&collider.shape, &frame, next, radius) {
                    has_hit = true;
                    // Going back onto the ball undoes the part along the bone. The first round is the reference's; the
                    // others make up for that.
                    let lost = way.dot((next - head).normalize_or_zero());
                    let kept = if round == 0 {
                        1.0
                    } else {
                        (1.0 - lost * lost).max(0.1)
                    };
                    next = onto_ball(next + way * (depth / kept));
                }
            }
            if !has_hit {
                break;
            }
        }

        let way = (base.rotation.inverse() * (next - head)) / base.scale;
        let turn = match way.try_normalize() {
            Some(way) => joint.rest * Quat::from_rotation_arc(joint.axis, way),
            None => joint.rest,
        };
        let (before, after) = (take(&center, current), take(&center, next));
        if !(before.is_finite() && after.is_finite() && turn.is_finite()) {
            self.chains[joint.chain].has_failed = true;
            return joint.rest;
        }
        let joint = &mut self.joints[at];
        joint.previous = before;
        joint.current = after;
        joint.turn_before = joint.turn;
        joint.turn = turn;
        turn
    }

    /// `world_from_frame` at the step at hand.
    fn frame(&self, frame: Frame) -> Transform {
        match frame {
            Frame::Anchor(at) => self.anchors[at].at,
            Frame::Link(at) => self.links[at].at,
        }
    }
}

/// Puts a chain at rest; where that is the next step finds out.
fn rest(chain: &mut Chain, joints: &mut [Joint]) {
    chain.is_fresh = true;
    chain.has_failed = false;
    for joint in &mut joints[chain.joints.clone()] {
        joint.turn = joint.rest;
        joint.turn_before = joint.rest;
    }
}

fn between(before: &Transform, now: &Transform, share: f32) -> Transform {
    Transform {
        translation: before.translation.lerp(now.translation, share),
        rotation: before.rotation.slerp(now.rotation, share),
        scale: before.scale.lerp(now.scale, share),
    }
}

/// A point of a frame, outside it.
fn put(frame: &Transform, point: Vec3) -> Vec3 {
    frame.translation + frame.rotation * (frame.scale * point)
}

/// A point outside a frame, in it.
fn take(frame: &Transform, point: Vec3) -> Vec3 {
    (frame.rotation.inverse() * (point - frame.translation)) / frame.scale
}

/// By how much a radius grows.
fn largest(scale: Vec3) -> f32 {
    scale.abs().max_element()
}

#[cfg(test)]
mod tests;
