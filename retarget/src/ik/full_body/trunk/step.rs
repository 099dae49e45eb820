//! A step of the trunk, and what it is measured by.

use glam::{DMat3, DVec3, Vec3};

use super::{
    GROUPS, Pose, Trunk,
    pull::{EVEN_FROM_M, GOAL, GOAL_RAD},
};
use crate::{
    ik::full_body::system::{BLOCKS, Jacobian, System},
    math::log,
};

/// Most of one step, metres and radians.
const MOST_M: f32 = 0.2;
const MOST_RAD: f32 = 0.25;

impl Trunk {
    /// Half of what is minimised. Feet are no part of it.
    pub(super) fn cost(&self, pose: &Pose) -> f64 {
        let mut cost = 0.0;
        for pull in self.pulls[2..].iter().flatten() {
            cost += pull.strain(pose).map_or(0.0, |strain| strain.cost);
            cost += pull
                .turn_missed(pose)
                .map_or(0.0, |missed| GOAL_RAD * missed.length_squared());
        }
        let off = self.off(pose);
        for (block, off) in off.iter().enumerate() {
            cost += self.stiffness[block] * self.stiffened[block] * off.length_squared();
        }
        cost
    }

    /// How far the unknowns are off the given pose, model space.
    fn off(&self, pose: &Pose) -> [DVec3; BLOCKS] {
        let mut off = [DVec3::ZERO; BLOCKS];
        off[0] = pose.shift.as_dvec3();
        for (place, node) in self.nodes.iter().enumerate() {
            if let Some((group, _)) = node.group {
                let turned = log(pose.turns[place]);
                let turned = match node.parent {
                    Some(parent) => pose.globals[parent].rotation * turned,
                    None => turned,
                };
                off[1 + group] += turned.as_dvec3();
            }
        }
        off
    }

    /// One step of damped least squares.
    pub(super) fn step(&self, damping: f64) -> [Vec3; BLOCKS] {
        let pose = &self.now;
        let mut system = System::new();
        for (block, off) in self.off(pose).into_iter().enumerate() {
            let stiffness = self.stiffness[block] * self.stiffened[block];
            system.hold(block, stiffness, stiffness * (1.0 + damping), off);
        }
        for pull in self.pulls[2..].iter().flatten() {
            if let Some(strain) = pull.strain(pose).filter(|strain| strain.miss_m > 0.0) {
                let pulled = strain.miss_m.min(EVEN_FROM_M);
                // Of a limb, aside there is less to gain: it swings about its joint.
                let along = pulled / strain.miss_m;
                let aside = if pull.reach_m.is_some() {
                    pulled / strain.far_m
                } else {
                    along
                };
                let weight = GOAL * pull.weight;
                system.add(
                    &self.moves(pull.node),
                    second(strain.along, along, aside) * weight,
                    strain.along * -(weight * pulled),
                );
            }
            if let Some(missed) = pull.turn_missed(pose) {
                let even = DMat3::from_diagonal(DVec3::splat(GOAL_RAD));
                system.add(&self.turns(pull.node), even, missed * -GOAL_RAD);
            }
        }
        let mut step = system.solve();
        let mut is_held = false;
        let others = self.pulls[2..].iter().flatten().map(|pull| pull.weight);
        let weight = 10.0 * GOAL * others.fold(1.0, f64::max);
        for (leg, pull) in self.pulls[..2].iter().enumerate() {
            let Some(pull) = pull else { continue };
            let Some(strain) = pull.strain(pose) else {
                continue;
            };
            let moves = self.moves(pull.node);
            let by = moves
                .iter()
                .zip(&step)
                .filter_map(|(moves, step)| Some((*moves)? * step.as_dvec3()))
                .sum::<DVec3>();
            if strain.miss_m - strain.along.dot(by) > 1e-6 {
                let aside = f64::from(self.stretched_m[leg].min(0.1)) / strain.far_m.max(0.1);
                system.add(
                    &moves,
                    second(strain.along, 1.0, aside) * weight,
                    strain.along * -(weight * strain.miss_m),
                );
                is_held = true;
            }
        }
        if is_held {
            step = system.solve();
        }
        let mut share = (MOST_M / step[0].length().max(MOST_M)).min(1.0);
        for turn in &step[1..] {
            share = share.min(MOST_RAD / turn.length().max(MOST_RAD));
        }
        step.map(|vector| vector * share)
    }

    /// How the joint of a node moves with the unknowns.
    fn moves(&self, node: usize) -> Jacobian {
        let mut levers = [None; GROUPS];
        let at = self.now.globals[node].translation;
        let mut above = Some(node);
        while let Some(place) = above {
            if let Some((group, share)) = self.nodes[place].group {
                let lever = (at - self.now.globals[place].translation).as_dvec3();
                *levers[group].get_or_insert(DVec3::ZERO) += lever * f64::from(share);
            }
            above = self.nodes[place].parent;
        }
        let mut jacobian: Jacobian = [None; BLOCKS];
        jacobian[0] = Some(DMat3::IDENTITY);
        for (group, lever) in levers.into_iter().enumerate() {
            // turn × lever, as a matrix on the turn.
            jacobian[1 + group] = lever.map(|l: DVec3| {
                DMat3::from_cols(
                    DVec3::new(0.0, -l.z, l.y),
                    DVec3::new(l.z, 0.0, -l.x),
                    DVec3::new(-l.y, l.x, 0.0),
                )
            });
        }
        jacobian
    }

    /// How a node turns with them.
    fn turns(&self, node: usize) -> Jacobian {
        let mut jacobian: Jacobian = [None; BLOCKS];
        let mut above = Some(node);
        while let Some(place) = above {
            if let Some((group, share)) = self.nodes[place].group {
                let share = DMat3::from_diagonal(DVec3::splat(f64::from(share)));
                *jacobian[1 + group].get_or_insert(DMat3::ZERO) += share;
            }
            above = self.nodes[place].parent;
        }
        jacobian
    }
}

/// A matrix that is `on` along a unit vector and `aside` square to it.
fn second(along: DVec3, on: f64, aside: f64) -> DMat3 {
    let outer = DMat3::from_cols(along * along.x, along * along.y, along * along.z);
    outer * (on - aside) + DMat3::from_diagonal(DVec3::splat(aside))
}
