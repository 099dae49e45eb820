//! A small person and clips by formula, for the tests of this room.

use std::f64::consts::TAU;

use glam::{Quat, Vec3};
use hub::Transform;

use super::PoseSource;
use crate::{Rig, math::angle_between};

pub(super) const HIPS: usize = 0;
pub(super) const SPINE: usize = 1;
pub(super) const CHEST: usize = 2;
pub(super) const HEAD: usize = 3;
pub(super) const ARM: usize = 4;
pub(super) const LEG: usize = 5;
pub(super) const FOOT: usize = 6;
pub(super) const NUM_BONES: usize = 7;

/// Hips, spine, chest, head, an arm and a leg; the hips are the root.
pub(super) fn person() -> Rig {
    let at = |x, y| Transform::new(Vec3::new(x, y, 0.0), Quat::IDENTITY);
    Rig::new(
        ["腰", "spine", "chest", "head", "左腕", "leg", "foot"]
            .map(String::from)
            .to_vec(),
        vec![None, Some(0), Some(1), Some(2), Some(2), Some(0), Some(5)],
        vec![
            at(0.0, 1.0),
            at(0.0, 0.1),
            at(0.0, 0.2),
            at(0.0, 0.3),
            at(0.2, 0.2),
            at(0.1, 0.0),
            at(0.0, -0.5),
        ],
    )
    .unwrap()
}

/// A clip by formula: at `t` the hips stand at `place` and move by `reach · sin(τ·hz·t)` along +X, all other bones of the
/// person turn by `turn + swing · sin(τ·hz·t)` about +Z, and all curves are `curve`.
#[derive(Clone, Copy)]
pub(super) struct Sway {
    pub(super) place: Vec3,
    pub(super) reach: f32,
    pub(super) turn: f32,
    pub(super) swing: f32,
    pub(super) hz: f64,
    pub(super) curve: f32,
    pub(super) secs: f64,
    pub(super) looping: bool,
}

impl Default for Sway {
    fn default() -> Self {
        Self {
            place: Vec3::new(0.0, 1.0, 0.0),
            reach: 0.0,
            turn: 0.0,
            swing: 0.0,
            hz: 0.5,
            curve: 0.0,
            secs: 2.0,
            looping: true,
        }
    }
}

impl PoseSource for Sway {
    fn sample(&self, secs: f64, pose: &mut [Transform], curves: &mut [f32]) {
        let wave = (TAU * self.hz * secs).sin() as f32;
        for (i, bone) in pose.iter_mut().enumerate() {
            if i == HIPS {
                bone.translation = self.place + Vec3::X * (self.reach * wave);
                bone.rotation = Quat::IDENTITY;
            } else {
                bone.rotation = Quat::from_rotation_z(self.turn + self.swing * wave);
            }
        }
        curves.fill(self.curve);
    }

    fn duration_secs(&self) -> f64 {
        self.secs
    }

    fn looping(&self) -> bool {
        self.looping
    }
}

/// The largest step of any bone between two poses: metres, radians.
pub(super) fn step(a: &[Transform], b: &[Transform]) -> (f32, f32) {
    a.iter()
        .zip(b)
        .fold((0.0f32, 0.0f32), |(shift, turn), (a, b)| {
            (
                shift.max(a.translation.distance(b.translation)),
                turn.max(angle_between(a.rotation, b.rotation)),
            )
        })
}
