//! Bounds asserted by decoding everything again in f64 with glam's own slerp, which shares nothing with what reduced it.

use glam::{DQuat, DVec3};
use proptest::prelude::*;

use super::*;
use crate::export::glb::{JointTrack, MorphTrack};

const FRAMES: usize = 240;

/// Rotations and translations of a chain: six joints a foot's length apart and a side branch.
struct Motion {
    parents: Vec<Option<usize>>,
    rotations: Vec<Vec<Quat>>,
    root: Vec<Vec3>,
}

impl Motion {
    /// Sums of sines: `parts` holds amplitude (radians), frequency (hertz) and phase per joint and axis.
    fn new(parts: &[[f32; 3]]) -> Self {
        let sine = |part: &[f32; 3], frame: usize| {
            let t = frame as f32 / 60.0;
            part[0] * (std::f32::consts::TAU * part[1] * t + part[2]).sin()
        };
        let vector = |parts: &[[f32; 3]], frame: usize| {
            Vec3::from_array(std::array::from_fn(|axis| sine(&parts[axis], frame)))
        };
        let rotations = parts
            .chunks_exact(3)
            .map(|axes| {
                (0..FRAMES)
                    .map(|frame| Quat::from_scaled_axis(vector(axes, frame)))
                    .collect()
            })
            .collect();
        Self {
            parents: vec![None, Some(0), Some(1), Some(2), Some(3), Some(1)],
            rotations,
            root: (0..FRAMES)
                .map(|frame| vector(&parts[..3], frame))
                .collect(),
        }
    }

    fn clip(&self) -> Clip<'_> {
        Clip {
            num_frames: FRAMES,
            joints: self
                .parents
                .iter()
                .zip(&self.rotations)
                .map(|(parent, rotations)| ClipJoint {
                    parent: *parent,
                    rest: Transform::new(Vec3::new(0.0, 0.3, 0.05), Quat::IDENTITY),
                    rotations: Some(rotations),
                    translations: parent.is_none().then_some(self.root.as_slice()),
                })
                .collect(),
            curves: Vec::new(),
        }
    }

    /// The three points around each joint, in object space.
    fn points(&self, locals: &[(DQuat, DVec3)]) -> Vec<DVec3> {
        let mut globals: Vec<(DQuat, DVec3)> = Vec::new();
        let mut points = Vec::new();
        for ((rotation, translation), parent) in locals.iter().zip(&self.parents) {
            let (above, from) = parent.map_or((DQuat::IDENTITY, DVec3::ZERO), |p| globals[p]);
            let (turn, at) = (above * *rotation, from + above * *translation);
            points.extend([DVec3::X, DVec3::Y, DVec3::Z].map(|axis| at + turn * (axis * 0.03)));
            globals.push((turn, at));
        }
        points
    }

    fn locals(&self, at: impl Fn(usize) -> (DQuat, Option<DVec3>)) -> Vec<(DQuat, DVec3)> {
        (0..self.parents.len())
            .map(|joint| {
                let (rotation, translation) = at(joint);
                (rotation, translation.unwrap_or(DVec3::new(0.0, 0.3, 0.05)))
            })
            .collect()
    }

    /// Farthest that any point is off in any frame, metres.
    fn worst(&self, reduced: &Reduced) -> f64 {
        let mut worst = 0.0_f64;
        for frame in 0..FRAMES {
            let truth = self.locals(|joint| {
                let root = (joint == 0).then(|| self.root[frame].as_dvec3());
                (self.rotations[joint][frame].as_dquat().normalize(), root)
            });
            let found = self.locals(|joint| {
                let keys = &reduced.joints[joint];
                let (i, j, share) = between(&keys.rotation, frame);
                let values = &self.rotations[joint];
                let (a, b) = (values[i].as_dquat(), values[j].as_dquat());
                let rotation = a.normalize().slerp(b.normalize(), share);
                let translation = (joint == 0).then(|| {
                    let (i, j, share) = between(&keys.translation, frame);
                    let (a, b) = (self.root[i].as_dvec3(), self.root[j].as_dvec3());
                    a + (b - a) * share
                });
                (rotation, translation)
            });
            for (a, b) in self.points(&truth).iter().zip(self.points(&found)) {
                worst = worst.max(a.distance(b));
            }
        }
        worst
    }
}

/// The keys around a frame and how far it is between them.
fn between(keys: &[u32], frame: usize) -> (usize, usize, f64) {
    let after = keys.partition_point(|k| (*k as usize) <= frame);
    let i = keys[after - 1] as usize;
    match keys.get(after) {
        Some(j) => (
            i,
            *j as usize,
            (frame - i) as f64 / (*j as usize - i) as f64,
        ),
        None => (i, i, 0.0),
    }
}

fn reduced(motion: &Motion) -> Reduced {
    reduce(&motion.clip(), &Bounds::default(), &mut |_| true).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn no_point_is_further_off_than_the_bound(
        parts in prop::collection::vec(
            (-1.0_f32..1.0, 0.05_f32..3.0, 0.0_f32..6.0).prop_map(|(a, f, p)| [a, f, p]),
            18,
        ),
    ) {
        let motion = Motion::new(&parts);
        let found = reduced(&motion);
        let worst = motion.worst(&found);
        // Beyond the bound only what f32 makes of two metres of bones.
        prop_assert!(worst <= 1e-4 + 3e-6, "{worst}");
        prop_assert!(worst <= f64::from(found.worst_m) + 3e-6, "{worst} {}", found.worst_m);
        for keys in &found.joints {
            prop_assert_eq!(keys.rotation.first(), Some(&0));
            prop_assert_eq!(keys.rotation.last(), Some(&(FRAMES as u32 - 1)));
            prop_assert!(keys.rotation.windows(2).all(|w| w[0] < w[1]));
        }
    }

    #[test]
    fn no_curve_strays_and_common_keys_serve_several(
        values in prop::collection::vec(-1.0_f32..1.0, 2..300),
    ) {
        // A walk: steps of a twentieth.
        let mut at = 0.0;
        let walk: Vec<f32> = values.iter().map(|v| { at += v * 0.05; at }).collect();
        let other: Vec<f32> = walk.iter().map(|v| v * v).collect();
        let bounds = Bounds { curve: 0.02, ..Bounds::default() };
        let shared = shared_keys(&[&walk, &other], &bounds);
        for curve in [&walk, &other] {
            for keys in [&shared_keys(&[curve], &bounds), &shared] {
                for (frame, value) in curve.iter().enumerate() {
                    let (i, j, share) = between(keys, frame);
                    let (a, b) = (f64::from(curve[i]), f64::from(curve[j]));
                    let line = a + (b - a) * share;
                    prop_assert!((line - f64::from(*value)).abs() <= 0.02, "{frame}");
                }
            }
        }
    }
}

#[test]
fn a_still_body_and_an_even_turn_have_two_keys() {
    let still = Motion::new(&[[0.3, 0.0, 1.0]; 18]);
    let found = reduced(&still);
    assert!(found.joints.iter().all(|j| j.rotation == [0, 239]));
    assert_eq!(found.joints[0].translation, [0, 239]);
    assert!(found.joints[1].translation.is_empty());
    assert_eq!(found.num_keys(), [14, 7 * 240]);
    assert_eq!(found.common(), [0, 239]);

    let mut turning = still;
    // 0.7 of a turn, so that it is less than half a turn to no key and the long way round would be another.
    let at = |k: usize| Quat::from_rotation_y(k as f32 * 0.7 * std::f32::consts::TAU / 239.0);
    turning.rotations[2] = (0..FRAMES).map(at).collect();
    let found = reduced(&turning);
    assert_eq!(found.joints[2].rotation.len(), 3);
    assert!(turning.worst(&found) <= 1e-4);
}

#[test]
fn slow_movements_need_few_keys() {
    let parts: Vec<[f32; 3]> = (0..18).map(|k| [0.05, 0.1, k as f32]).collect();
    let motion = Motion::new(&parts);
    let found = reduced(&motion);
    let [keys, all] = found.num_keys();
    assert!(keys * 3 < all, "{keys} of {all}");
    assert!(motion.worst(&found) <= 1e-4 + 3e-6);
}

#[test]
fn the_tops_of_blinks_are_keys() {
    let blink = [0.35_f32, 0.98, 1.0, 0.7, 0.4, 0.15, 0.03];
    let curve: Vec<f32> = (0..600usize)
        .map(|k| {
            let noise = if k.is_multiple_of(2) { 4e-4 } else { -4e-4 };
            let into = (k % 75).checked_sub(40);
            noise + into.and_then(|i| blink.get(i)).copied().unwrap_or(0.0)
        })
        .collect();
    let keys = shared_keys(&[&curve], &Bounds::default());
    assert!(keys.len() < 200, "{}", keys.len());
    for second in 0..8 {
        let top = second * 75 + 42;
        assert!(keys.contains(&top), "{top} {keys:?}");
    }
    for (frame, value) in curve.iter().enumerate() {
        let (i, j, share) = between(&keys, frame);
        let line = f64::from(curve[i]) + f64::from(curve[j] - curve[i]) * share;
        assert!((line - f64::from(*value)).abs() <= 1e-3, "{frame}");
    }
}

#[test]
fn keys_of_a_character_go_to_the_tracks_they_are_of() {
    let character = Character::builtin();
    let node = |name| character.node_named(name).unwrap();
    let track = |name, swing: f32| JointTrack {
        node: node(name),
        rotations: (0..60)
            .map(|k| Quat::from_rotation_x(swing * (k as f32 * 0.3).sin()))
            .collect(),
        translations: None,
    };
    let mesh = &character.morph_meshes[0];
    let targets = mesh.names.len();
    let mut weights = vec![0.0; 60 * targets];
    // The last target of the mesh, in the middle of the take.
    weights[30 * targets + targets - 1] = 1.0;
    let acted = Acted {
        num_frames: 60,
        // A child before its parent.
        joints: vec![track("Head", 0.0), track("Hips", 0.5)],
        morphs: vec![MorphTrack {
            node: mesh.node,
            num_targets: targets,
            weights,
        }],
    };
    let found = reduce_acted(character, &acted, &Bounds::default(), &mut |_| true).unwrap();
    assert_eq!(found.joints[0].rotation, [0, 59]);
    assert!(found.joints[1].rotation.len() > 10);
    assert_eq!(found.curves.len(), targets);
    assert_eq!(found.curves[targets - 1], [0, 29, 30, 31, 59]);
    assert_eq!(found.curves[0], [0, 59]);
}

#[test]
fn what_does_not_fit_together_is_refused() {
    let motion = Motion::new(&[[0.1, 1.0, 0.0]; 18]);
    let refused =
        |clip: &Clip<'_>, bounds: Bounds| reduce(clip, &bounds, &mut |_| true).unwrap_err();
    let mut clip = motion.clip();
    clip.joints[1].parent = Some(4);
    let fault = refused(&clip, Bounds::default());
    assert_eq!(fault, ReduceFault::Parent { at: 1, parent: 4 });
    let mut clip = motion.clip();
    clip.curves.push(vec![0.0; 3]);
    let fault = refused(&clip, Bounds::default());
    assert!(matches!(
        fault,
        ReduceFault::Length {
            have: 3,
            want: FRAMES,
            ..
        }
    ));
    let none = Bounds {
        object_m: 0.0,
        ..Bounds::default()
    };
    assert_eq!(refused(&motion.clip(), none), ReduceFault::Bound);
    let stopped = reduce(&motion.clip(), &Bounds::default(), &mut |_| false);
    assert_eq!(stopped, Err(ReduceFault::Stopped));
}
