//! The synthetic performer: a seeded face and body that move plausibly, for senders, tests and demos.
//!
//! Everything is a **pure function of time**. There is no state and no clock: ask for any instant, at any
//! rate, in any order, and the same seed and time give the same bits (of one build on one machine; sines
//! may differ in the last place between platforms). That works because nothing is integrated:
//!
//! - *schedules* place one event per cell of time (blinks, fixations, phrases, smiles, gestures), so the
//!   event that matters now is found without those before it;
//! - *walks* blend random values of a lattice (sway, posture, tension);
//! - *plans* made with the performer hold what has an order (phones of a phrase, footsteps of a bout).
//!
//! ```text
//!            noise: Dice, Events
//!     ┌────────────┼────────────┐
//!   speech ──► face ──cues──► body ◄── gait
//!               │               │
//!        61 curves, rad    52 bones, parent_from_local
//! ```
//!
//! Face and body are one person: the body breathes, nods, looks and gestures with its face.

mod body;
mod face;
mod gait;
mod noise;
mod speech;

use hub::{StaticData, Transform, arkit::NUM_CURVES};

use self::{body::Body, face::Face, noise::Dice};

/// Times beyond this many seconds (31 years) are taken as this.
const LAST_SECS: f64 = 1e9;

/// A person who talks, looks about and walks, forever.
///
/// ```
/// use sources::synthetic::Performer;
///
/// let performer = Performer::new(7);
/// let mut curves = [0.0; hub::arkit::NUM_CURVES];
/// performer.face(12.5, &mut curves);
/// assert!(curves[..hub::arkit::NUM_FACE_CURVES].iter().all(|w| (0.0..=1.0).contains(w)));
///
/// let mut bones = Vec::new();
/// performer.body(12.5, &mut bones);
/// assert_eq!(bones.len(), performer.body_static().num_transforms());
/// ```
#[derive(Clone, Debug)]
pub struct Performer {
    face: Face,
    body: Body,
}

impl Performer {
    /// The performer of that seed: their phrases, habits, step and path. Allocates; evaluating does not.
    pub fn new(seed: u64) -> Self {
        let dice = Dice::new(seed);
        Self {
            face: Face::new(dice.fork(1)),
            body: Body::new(dice.fork(2)),
        }
    }

    /// Writes the 61 Live Link Face curves at `t_secs`, in the order of [`hub::arkit::CURVES`]: weights within
    /// 0..1, then rotations in radians (head within ±0.35, eye yaw within ±0.45, eye pitch within ±0.35).
    ///
    /// Signs are the app's: eye yaw + looks to the subject's right, eye pitch + looks down; the head's are
    /// presumed alike. EyeLook weights are the eye rotations over 0.61 rad. MouthClose never exceeds JawOpen
    /// by more than the noise. `t_secs` counts from the performer's start; below 0, or not a number, is 0.
    pub fn face(&self, t_secs: f64, out: &mut [f32; NUM_CURVES]) {
        self.face.write(performance_secs(t_secs), out);
    }

    /// Static data of the body: role Animation, 52 bones by their Mixamo names, parents before children,
    /// with a T-pose of identity rotations as rest, of an adult of 1.70 m with the soles at y = 0.
    pub fn body_static(&self) -> StaticData {
        self.body.static_data()
    }

    /// Fills `out` with the body's pose at `t_secs`: `parent_from_local` of each bone of
    /// [`Performer::body_static`], in the house frame. The root carries the way through the room: a circle
    /// of about 3 m radius that begins at the origin towards +Z. Clears `out` first and keeps its memory.
    /// `t_secs` as in [`Performer::face`].
    pub fn body(&self, t_secs: f64, out: &mut Vec<Transform>) {
        let t_secs = performance_secs(t_secs);
        self.body.write(t_secs, &self.face.cues(t_secs), out);
    }
}

/// A time that the arithmetic can bear.
fn performance_secs(t_secs: f64) -> f64 {
    if t_secs.is_nan() {
        0.0
    } else {
        t_secs.clamp(0.0, LAST_SECS)
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;
    use hub::arkit::{CURVES, NUM_FACE_CURVES, index_of};

    use super::*;

    const SEEDS: [u64; 3] = [1, 2, 0x6e05_7119];
    /// 60 s at 60 Hz.
    const NUM_FRAMES: u32 = 3600;

    fn secs(frame: u32) -> f64 {
        f64::from(frame) / 60.0
    }

    fn at(name: &str) -> usize {
        index_of(name).unwrap()
    }

    fn face_at(performer: &Performer, t_secs: f64) -> [f32; NUM_CURVES] {
        let mut out = [f32::NAN; NUM_CURVES];
        performer.face(t_secs, &mut out);
        out
    }

    fn body_at(performer: &Performer, t_secs: f64) -> Vec<Transform> {
        let mut out = Vec::new();
        performer.body(t_secs, &mut out);
        out
    }

    /// Runs a check over a minute of each seed's face.
    fn with_faces(check: impl Fn(u64, &[[f32; NUM_CURVES]])) {
        for seed in SEEDS {
            let performer = Performer::new(seed);
            let frames: Vec<_> = (0..NUM_FRAMES)
                .map(|i| face_at(&performer, secs(i)))
                .collect();
            check(seed, &frames);
        }
    }

    /// Runs a check over a minute of each seed's poses: local and in model space.
    fn with_poses(check: impl Fn(&dyn Fn(&str) -> usize, &[Vec<Transform>], &[Vec<Transform>])) {
        for seed in SEEDS {
            let performer = Performer::new(seed);
            let of = performer.body_static();
            let skeleton = of.skeleton().unwrap();
            let local: Vec<_> = (0..NUM_FRAMES)
                .map(|i| body_at(&performer, secs(i)))
                .collect();
            let model: Vec<_> = local
                .iter()
                .map(|pose| in_model(&skeleton.parents, pose))
                .collect();
            let bone = |name: &str| skeleton.bone_names.iter().position(|n| n == name).unwrap();
            check(&bone, &local, &model);
        }
    }

    fn in_model(parents: &[Option<u32>], local: &[Transform]) -> Vec<Transform> {
        let mut model: Vec<Transform> = Vec::with_capacity(local.len());
        for (parent, t) in parents.iter().zip(local) {
            model.push(parent.map_or(*t, |p| model[p as usize].mul(t)));
        }
        model
    }

    /// Starts of the stretches of frames in which `holds` is true.
    fn onsets(
        frames: &[[f32; NUM_CURVES]],
        holds: impl Fn(&[f32; NUM_CURVES]) -> bool,
    ) -> Vec<usize> {
        (1..frames.len())
            .filter(|&i| holds(&frames[i]) && !holds(&frames[i - 1]))
            .collect()
    }

    #[test]
    fn the_same_seed_and_time_give_the_same_bits_in_any_order() {
        for seed in SEEDS {
            let (a, b) = (Performer::new(seed), Performer::new(seed));
            let forward: Vec<_> = (0..600)
                .map(|i| (face_at(&a, secs(7 * i)), body_at(&a, secs(7 * i))))
                .collect();
            for i in (0..600).rev() {
                let (face, body) = &forward[i as usize];
                let bits = |c: &[f32; NUM_CURVES]| c.map(f32::to_bits);
                assert_eq!(bits(&face_at(&b, secs(7 * i))), bits(face));
                assert_eq!(&body_at(&b, secs(7 * i)), body);
            }
        }
    }

    #[test]
    fn different_seeds_are_different_people() {
        let (a, b) = (Performer::new(1), Performer::new(2));
        let t = (0..600).map(secs);
        let differing =
            t.filter(|&t| face_at(&a, t) != face_at(&b, t) && body_at(&a, t) != body_at(&b, t));
        assert_eq!(differing.count(), 600);
    }

    #[test]
    fn odd_times_give_a_pose_too() {
        let performer = Performer::new(3);
        for t in [
            f64::NAN,
            f64::NEG_INFINITY,
            -1.0,
            0.0,
            1e-12,
            86_400.5,
            1e12,
            f64::INFINITY,
        ] {
            assert!(face_at(&performer, t).iter().all(|v| v.is_finite()), "{t}");
            assert!(
                body_at(&performer, t).iter().all(Transform::is_rigid),
                "{t}"
            );
        }
        assert_eq!(face_at(&performer, -1.0), face_at(&performer, 0.0));
    }

    #[test]
    fn weights_stay_within_0_and_1_and_rotations_are_small() {
        with_faces(|seed, frames| {
            for (i, frame) in frames.iter().enumerate() {
                assert!(
                    frame[..NUM_FACE_CURVES]
                        .iter()
                        .all(|w| (0.0..=1.0).contains(w)),
                    "{seed} {i}"
                );
                assert!(
                    frame[NUM_FACE_CURVES..].iter().all(|r| r.abs() <= 0.45),
                    "{seed} {i}"
                );
                assert!(
                    frame[at("HeadYaw")..=at("HeadRoll")]
                        .iter()
                        .all(|r| r.abs() <= 0.35)
                );
            }
        });
    }

    #[test]
    fn no_curve_moves_faster_than_a_face() {
        // Largest steps between frames at 60 Hz in takes: blink 0.27, look 0.24, mouth 0.18.
        with_faces(|seed, frames| {
            for (i, pair) in frames.windows(2).enumerate() {
                for (c, name) in CURVES.iter().enumerate() {
                    let limit = match *name {
                        n if n.starts_with("EyeBlink") => 0.40,
                        n if n.starts_with("Head") => 0.02,
                        n if c >= NUM_FACE_CURVES && n.contains("Eye") => 0.20,
                        _ => 0.30,
                    };
                    let step = (pair[1][c] - pair[0][c]).abs();
                    assert!(step <= limit, "seed {seed} frame {i}: {name} by {step}");
                }
            }
        });
    }

    #[test]
    fn both_eyes_blink_fully_and_about_as_often_as_people_do() {
        let (left, right) = (at("EyeBlinkLeft"), at("EyeBlinkRight"));
        with_faces(|seed, frames| {
            let blinks = onsets(frames, |f| f[left] > 0.5);
            assert!(
                (8..=30).contains(&blinks.len()),
                "seed {seed}: {}",
                blinks.len()
            );
            for i in blinks {
                let during = &frames[i..(i + 10).min(frames.len())];
                let peak = |eye: usize| during.iter().map(|f| f[eye]).fold(0.0, f32::max);
                // The last may be cut off by the end.
                if during.len() == 10 {
                    assert!(
                        peak(left) > 0.8 && peak(right) > 0.8,
                        "seed {seed} frame {i}"
                    );
                }
            }
        });
    }

    #[test]
    fn the_look_weights_tell_what_the_eyes_do() {
        const RAD_PER_UNIT: f32 = 0.61;
        with_faces(|seed, frames| {
            for (i, f) in frames.iter().enumerate() {
                // A yaw to the subject's right is out for the right eye, in for the left.
                for (eye, out_sign) in [("Left", -1.0), ("Right", 1.0)] {
                    let look = |way: &str| f[at(&format!("EyeLook{way}{eye}"))];
                    let outwards = look("Out") - look("In");
                    let down = look("Down") - look("Up");
                    let yaw = f[at(&format!("{eye}EyeYaw"))];
                    let pitch = f[at(&format!("{eye}EyePitch"))];
                    assert!(
                        (out_sign * yaw - RAD_PER_UNIT * outwards).abs() < 1e-4,
                        "{seed} {i}"
                    );
                    assert!((pitch - RAD_PER_UNIT * down).abs() < 1e-4, "{seed} {i}");
                    assert!(
                        look("Out").min(look("In")) == 0.0 && look("Down").min(look("Up")) == 0.0
                    );
                }
                // Eyes meet in front of the face.
                assert!(f[at("LeftEyeYaw")] >= f[at("RightEyeYaw")]);
            }
        });
    }

    #[test]
    fn the_eyes_move_in_saccades_between_fixations() {
        let yaw = at("LeftEyeYaw");
        with_faces(|seed, frames| {
            let steps: Vec<f32> = frames
                .windows(2)
                .map(|w| (w[1][yaw] - w[0][yaw]).abs())
                .collect();
            let fast = steps.iter().filter(|s| **s > 0.02).count();
            let slow = steps.iter().filter(|s| **s < 0.006).count();
            // A saccade a second takes two or three frames; the rest is fixation.
            assert!((20..400).contains(&fast), "seed {seed}: {fast}");
            assert!(slow > steps.len() * 8 / 10, "seed {seed}: {slow}");
        });
    }

    #[test]
    fn the_lips_close_in_speech_and_the_jaw_opens() {
        let (jaw, close, press) = (at("JawOpen"), at("MouthClose"), at("MouthPressLeft"));
        with_faces(|seed, frames| {
            let closures = onsets(frames, |f| {
                f[close] > 0.85 * f[jaw] && f[jaw] < 0.2 && f[press] > 0.2
            });
            assert!(closures.len() >= 12, "seed {seed}: {}", closures.len());
            assert!(frames.iter().all(|f| f[close] <= f[jaw] + 0.002));
            let openings = onsets(frames, |f| f[jaw] > 0.3);
            assert!(openings.len() >= 12, "seed {seed}: {}", openings.len());
            for curve in ["MouthFunnel", "MouthPucker", "MouthStretchRight"] {
                let largest = frames.iter().map(|f| f[at(curve)]).fold(0.0, f32::max);
                assert!(largest > 0.3, "seed {seed}: {curve} {largest}");
            }
        });
    }

    #[test]
    fn rotations_are_unit_length_and_turn_no_faster_than_limbs_do() {
        with_poses(|_, local, _| {
            for pair in local.windows(2) {
                for (bone, (a, b)) in pair[0].iter().zip(&pair[1]).enumerate() {
                    assert!(
                        (b.rotation.length_squared() - 1.0).abs() < 1e-4,
                        "bone {bone}"
                    );
                    // Also the sign of the quaternion stays, so plain interpolation is safe.
                    assert!(a.rotation.dot(b.rotation) > 0.96, "bone {bone}");
                }
            }
        });
    }

    #[test]
    fn knees_and_elbows_bend_the_right_way_only() {
        with_poses(|bone, local, _| {
            for pose in local {
                for knee in ["LeftLeg", "RightLeg"] {
                    let q = pose[bone(knee)].rotation;
                    assert!(q.x >= 0.0 && q.w > 0.5 && q.y == 0.0 && q.z == 0.0, "{q}");
                }
                let elbow = |name: &str| pose[bone(name)].rotation.y;
                assert!(elbow("LeftForeArm") < 0.0 && elbow("RightForeArm") > 0.0);
            }
        });
    }

    #[test]
    fn feet_stay_above_the_floor_and_the_standing_one_does_not_slide() {
        use super::gait::{BALL_IN_FOOT, HEEL_IN_FOOT};
        with_poses(|bone, _, model| {
            // Heel and ball of both feet, on the floor at y = 0.
            let sole = |pose: &[Transform]| {
                ["LeftFoot", "RightFoot"].map(|foot| {
                    let foot = &pose[bone(foot)];
                    let ball_m = BALL_IN_FOOT.y - HEEL_IN_FOOT.y;
                    [
                        foot.translation + foot.rotation * HEEL_IN_FOOT,
                        foot.translation + foot.rotation * BALL_IN_FOOT - Vec3::Y * ball_m,
                    ]
                })
            };
            let mut before = sole(&model[0]);
            for (i, pose) in model.iter().enumerate().skip(1) {
                let now = sole(pose);
                let mut least = f32::MAX;
                for (a, b) in before.as_flattened().iter().zip(now.as_flattened()) {
                    assert!(b.y > -0.01, "frame {i}: {b}");
                    if a.y < 0.005 && b.y < 0.005 {
                        let slide = (*b - *a).with_y(0.0).length();
                        assert!(slide < 0.008, "frame {i}: {slide} m");
                        least = least.min(slide);
                    }
                }
                assert!(least < 0.002, "frame {i}: nothing is planted ({least})");
                before = now;
            }
        });
    }

    #[test]
    fn the_performer_walks_about_and_stands_still_in_turn() {
        with_poses(|bone, _, model| {
            let hips: Vec<Vec3> = model
                .iter()
                .map(|pose| pose[bone("Hips")].translation)
                .collect();
            let travelled: f32 = hips.windows(2).map(|w| w[0].distance(w[1])).sum();
            assert!((20.0..60.0).contains(&travelled), "{travelled} m");
            assert!(
                hips.iter()
                    .all(|h| h.length() < 8.0 && (0.85..0.96).contains(&h.y))
            );
            // Seconds at walking pace, seconds at rest.
            let paces: Vec<f32> = hips.windows(61).map(|w| w[0].distance(w[60])).collect();
            assert!(paces.iter().any(|p| (1.2..1.5).contains(p)));
            assert!(paces.iter().any(|p| *p < 0.05));
        });
    }

    #[test]
    fn arms_swing_against_the_legs() {
        with_poses(|bone, _, model| {
            let mut together = 0.0;
            for pose in model {
                let ahead = |name: &str| {
                    let hips = &pose[bone("Hips")];
                    (hips.rotation.conjugate() * (pose[bone(name)].translation - hips.translation))
                        .z
                };
                together += (ahead("LeftHand") - ahead("RightHand"))
                    * (ahead("LeftFoot") - ahead("RightFoot"));
            }
            assert!(together < 0.0, "{together}");
        });
    }
}
