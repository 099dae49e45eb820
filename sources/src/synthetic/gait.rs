//! Where the feet are: bouts of standing and walking along a circle, footsteps planted in advance, and the
//! legs that reach them.
//!
//! The path is measured by arc length. A bout of `n` steps of length `L` starts and ends with the feet side
//! by side; step `j` lifts one foot soon after time `j` (counted in steps) and lands it at time `j + 1`:
//!
//! ```text
//!   time   0       1       2       3        n-1      n
//!   foot a |--swing|stance----------|swing ...
//!   foot b |stance---------|--swing-|stance ...       lands at arc  min(j + 1, n - 1) · L
//!   hips   0      L/2     3L/2     5L/2     ...  (n - 1) · L
//! ```
//!
//! Since landing places do not depend on the pose, a planted foot stays where it is; the legs are found
//! backwards from it (two bones and a pole, the law of cosines).

use std::f64::consts::TAU;

use glam::{Quat, Vec3};

use super::noise::{Dice, lerp, smoothstep};

/// Length of the thigh, from hip joint to knee.
pub(super) const THIGH_M: f32 = 0.400;
/// Length of the shin, from knee to ankle.
pub(super) const SHIN_M: f32 = 0.410;
/// Height of the ankle over a flat sole.
pub(super) const ANKLE_M: f32 = 0.085;
/// The ball of the foot (joint of the toes) from the ankle, in the frame of a flat foot.
pub(super) const BALL_IN_FOOT: Vec3 = Vec3::new(0.0, -0.070, 0.125);
/// The end of the heel from the ankle, on the floor when the foot is flat.
pub(super) const HEEL_IN_FOOT: Vec3 = Vec3::new(0.0, -ANKLE_M, -0.055);

/// Most of the leg's length that it stretches to; a straight knee would snap.
const REACH: f32 = 0.9992;
/// Part of a step in which both feet are down.
const DOUBLE_SUPPORT: f32 = 0.16;
/// The same at the first step from standing, while the weight shifts.
const FIRST_SUPPORT: f32 = 0.35;
/// Time before toe-off at which the heel starts to rise, in steps.
const HEEL_RISE: f32 = 0.75;
/// Pitch of the foot at toe-off, in radians.
const TOE_OFF_RAD: f32 = 0.97;
/// The same at the first step.
const FIRST_TOE_OFF_RAD: f32 = 0.45;
/// Pitch of the foot when the heel strikes, in radians: toes up.
const HEEL_STRIKE_RAD: f32 = -0.26;
/// Time the sole takes to come down after that, in steps.
const FOOT_FLAT: f32 = 0.22;
/// From the path to a foot, walking.
const WALK_WIDTH_M: f32 = 0.06;
/// From the path to a foot, standing.
const STAND_WIDTH_M: f32 = 0.095;
/// Bouts before the programme repeats further along the path.
const NUM_BOUTS: usize = 6;

/// Standing, then walking.
#[derive(Clone, Copy, Debug)]
struct Bout {
    start_secs: f64,
    idle_secs: f64,
    /// Arc at which it starts.
    start_m: f64,
    num_steps: i32,
    left_first: bool,
}

/// One foot at one instant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Foot {
    /// Along the path.
    pub(super) arc_m: f64,
    /// From the path, positive to the left.
    pub(super) left_m: f32,
    /// Positive with the heel up (standing on the ball), negative with the toes up (on the heel).
    pub(super) pitch_rad: f32,
    /// Above the floor.
    pub(super) lift_m: f32,
}

/// Both feet and the rhythm of the hips.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stride {
    /// Hips along the path.
    pub(super) arc_m: f64,
    /// 0 standing, 1 walking.
    pub(super) walk: f32,
    /// −1..1: how far the left leg is ahead of the right; 0 when standing.
    pub(super) left_ahead: f32,
    /// −1..1: which foot carries, positive the left; 0 when standing.
    pub(super) left_carries: f32,
    /// 1 when both feet are down and the hips lowest, −1 when they are highest.
    pub(super) low: f32,
    /// Left, right.
    pub(super) feet: [Foot; 2],
}

/// A way of walking and a programme of bouts.
#[derive(Clone, Debug)]
pub(super) struct Gait {
    step_secs: f64,
    step_m: f32,
    radius_m: f64,
    /// 1 when the circle turns left, −1 when right.
    turn: f64,
    bouts: [Bout; NUM_BOUTS],
    cycle_secs: f64,
    cycle_m: f64,
}

impl Gait {
    /// About 1.4 m/s at about 112 steps a minute, along a circle of about 3 m radius.
    pub(super) fn new(dice: Dice) -> Self {
        let step_secs = f64::from(dice.between(0, 0.525, 0.545));
        let step_m = dice.between(1, 0.725, 0.75);
        let (mut secs, mut arc_m) = (0.0, 0.0);
        let bouts = std::array::from_fn(|i| {
            let slot = 10 + 4 * i as i64;
            let bout = Bout {
                start_secs: secs,
                idle_secs: f64::from(dice.between(slot, 2.5, 7.0)),
                start_m: arc_m,
                num_steps: 8 + 2 * dice.between(slot + 1, 0.0, 4.0) as i32,
                left_first: dice.unit(slot + 2) < 0.5,
            };
            secs += bout.idle_secs + f64::from(bout.num_steps) * step_secs;
            arc_m += f64::from(bout.num_steps - 1) * f64::from(step_m);
            bout
        });
        Self {
            step_secs,
            step_m,
            radius_m: f64::from(dice.between(2, 2.8, 3.4)),
            turn: f64::from(dice.sign(3)),
            bouts,
            cycle_secs: secs,
            cycle_m: arc_m,
        }
    }

    /// A point of the floor beside the path, and the heading there (turn about +Y from +Z, in radians).
    /// The path starts at the origin towards +Z.
    pub(super) fn place(&self, arc_m: f64, left_m: f32) -> (Vec3, f32) {
        let angle = arc_m / self.radius_m;
        let (sin, cos) = angle.sin_cos();
        let left_m = f64::from(left_m);
        let x = self.turn * self.radius_m * (1.0 - cos) + left_m * cos;
        let z = self.radius_m * sin - left_m * self.turn * sin;
        // Two turns are one period of a quaternion: no flip of sign on the way round.
        let heading = (self.turn * angle).rem_euclid(2.0 * TAU) as f32;
        (Vec3::new(x as f32, 0.0, z as f32), heading)
    }

    /// Feet and rhythm at an instant.
    pub(super) fn stride(&self, t_secs: f64) -> Stride {
        let cycle = (t_secs / self.cycle_secs).floor();
        let secs = t_secs - cycle * self.cycle_secs;
        let bout = self
            .bouts
            .iter()
            .rev()
            .find(|b| b.start_secs <= secs)
            .unwrap_or(&self.bouts[0]);
        let n = bout.num_steps as f32;
        let steps = ((secs - bout.start_secs - bout.idle_secs) / self.step_secs) as f32;
        let steps = steps.clamp(0.0, n);
        let start_m = cycle * self.cycle_m + bout.start_m;
        let walk = smoothstep(steps) * smoothstep((n - steps) / 0.7);
        let first = if bout.left_first { 1.0 } else { -1.0 };
        let phase = std::f32::consts::PI * (steps - 0.5 * DOUBLE_SUPPORT);
        Stride {
            arc_m: start_m + f64::from(self.step_m * hips_in_steps(steps, n)),
            walk,
            left_ahead: -first * walk * (std::f32::consts::PI * steps).cos(),
            left_carries: -first * walk * phase.sin(),
            low: (2.0 * phase).cos(),
            feet: [true, false]
                .map(|left| self.foot(bout, steps, left == bout.left_first, start_m, left)),
        }
    }

    /// One foot, `steps` into the walking of a bout; `leads` says that it takes step 0.
    fn foot(&self, bout: &Bout, steps: f32, leads: bool, start_m: f64, left: bool) -> Foot {
        let n = bout.num_steps;
        let step = (steps as i32).min(n - 1);
        // The step this foot takes now or next; it stands where the one before landed.
        let next = if leads == (step % 2 == 0) {
            step
        } else {
            step + 1
        };
        let last = next - 2;
        let landing_m = |j: i32| (j + 1).clamp(0, n - 1) as f32 * self.step_m;
        let width_m = |j: i32| {
            if j < 0 || j >= n - 2 {
                STAND_WIDTH_M
            } else {
                WALK_WIDTH_M
            }
        };
        let strike_rad = |j: i32| {
            if j < 0 || j >= n - 1 {
                0.0
            } else {
                HEEL_STRIKE_RAD
            }
        };
        let (support, rise, toe_off_rad, clearance_m) = if next == 0 {
            (FIRST_SUPPORT, FIRST_SUPPORT, FIRST_TOE_OFF_RAD, 0.045)
        } else {
            (DOUBLE_SUPPORT, HEEL_RISE, TOE_OFF_RAD, 0.07)
        };
        let toe_off = next as f32 + support;
        let (along_m, width, pitch_rad, lift_m) = if next >= n || steps < toe_off {
            let landed = (last + 1) as f32;
            let settling = strike_rad(last) * (1.0 - smoothstep((steps - landed) / FOOT_FLAT));
            let rising = ((steps - toe_off + rise) / rise).clamp(0.0, 1.0);
            let rising = if next >= n {
                0.0
            } else {
                toe_off_rad * rising * rising * rising.sqrt()
            };
            (landing_m(last), width_m(last), settling + rising, 0.0)
        } else {
            let u = ((steps - toe_off) / (1.0 - support)).min(1.0);
            let s = smoothstep(u);
            (
                lerp(landing_m(last), landing_m(next), s),
                lerp(width_m(last), width_m(next), s),
                lerp(toe_off_rad, strike_rad(next), s),
                clearance_m * 4.0 * u * (1.0 - u),
            )
        };
        Foot {
            arc_m: start_m + f64::from(along_m),
            left_m: if left { width } else { -width },
            pitch_rad,
            lift_m,
        }
    }
}

/// Way of the hips in step lengths after `steps` of `n` steps: even speed, with one step to reach it and one
/// to lose it. The speed ramps as a smoothstep, whose integral is x³ − x⁴/2.
fn hips_in_steps(steps: f32, n: f32) -> f32 {
    let ramp = |x: f32| x * x * x * (1.0 - 0.5 * x);
    if steps < 1.0 {
        ramp(steps)
    } else if steps < n - 1.0 {
        steps - 0.5
    } else {
        n - 1.0 - ramp(n - steps)
    }
}

/// Ankle and rotation of a foot that stands flat at the origin, then pitches about its ball or its heel.
pub(super) fn roll_foot(heading: f32, pitch_rad: f32) -> (Vec3, Quat) {
    let yaw = Quat::from_rotation_y(heading);
    let pitch = Quat::from_rotation_x(pitch_rad);
    let pivot = if pitch_rad > 0.0 {
        BALL_IN_FOOT
    } else {
        HEEL_IN_FOOT
    };
    let ankle = Vec3::new(0.0, ANKLE_M, 0.0) + pivot - pitch * pivot;
    (yaw * ankle, yaw * pitch)
}

/// Rotation of the thigh (in the space of the points) and flexion of the knee, 0 when straight, that bring
/// the ankle to its target with the knee towards `forward`. Out of reach, the leg points at the target.
pub(super) fn reach(hip: Vec3, ankle: Vec3, forward: Vec3) -> (Quat, f32) {
    let way = ankle - hip;
    let distance = way
        .length()
        .clamp((THIGH_M - SHIN_M).abs() + 0.01, REACH * (THIGH_M + SHIN_M));
    let down = way.normalize_or(Vec3::NEG_Y);
    let knee_side = (forward - down * forward.dot(down)).normalize_or(Vec3::Z);
    let squared = distance * distance;
    let (thigh, shin) = (THIGH_M * THIGH_M, SHIN_M * SHIN_M);
    let hip_cos = (thigh + squared - shin) / (2.0 * THIGH_M * distance);
    let knee_cos = (squared - thigh - shin) / (2.0 * THIGH_M * SHIN_M);
    let hip_angle = hip_cos.clamp(-1.0, 1.0).acos();
    let along_thigh = down * hip_angle.cos() + knee_side * hip_angle.sin();
    // At rest the thigh points down, the knee forwards, and x = y × z is the axis of the knee.
    let x = knee_side.cross(down);
    let y = -along_thigh;
    let rotation = Quat::from_rotation_axes(x, y, x.cross(y));
    (rotation, knee_cos.clamp(-1.0, 1.0).acos())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reached_ankle_is_where_it_was_asked_for() {
        let hip = Vec3::new(0.1, 0.9, 0.0);
        for (x, y, z) in [
            (0.1, 0.12, 0.0),
            (0.2, 0.2, 0.3),
            (0.0, 0.25, -0.4),
            (0.1, 0.5, 0.1),
        ] {
            let ankle = Vec3::new(x, y, z);
            for forward in [Vec3::Z, Vec3::new(0.5, 0.0, 0.8)] {
                let (thigh, knee) = reach(hip, ankle, forward);
                let shin = thigh * Quat::from_rotation_x(knee);
                let knee_at = hip + thigh * Vec3::new(0.0, -THIGH_M, 0.0);
                let found = knee_at + shin * Vec3::new(0.0, -SHIN_M, 0.0);
                assert!(found.distance(ankle) < 1e-3, "{found} {ankle}");
                let straight = hip + (ankle - hip) * 0.5;
                assert!((knee_at - straight).dot(forward) > 0.0);
            }
        }
    }

    #[test]
    fn a_pitched_foot_stays_on_its_pivot() {
        for (pitch, pivot) in [(0.8, BALL_IN_FOOT), (-0.3, HEEL_IN_FOOT)] {
            let (flat, level) = roll_foot(0.7, 0.0);
            let (ankle, rotation) = roll_foot(0.7, pitch);
            let moved = (ankle + rotation * pivot).distance(flat + level * pivot);
            assert!(moved < 1e-6, "{moved}");
        }
    }

    #[test]
    fn steps_follow_each_other_without_jumps() {
        for seed in 0..5 {
            let gait = Gait::new(Dice::new(seed));
            let mut before = gait.stride(0.0);
            for i in 1..24_000 {
                let now = gait.stride(f64::from(i) * 0.005);
                assert!((now.arc_m - before.arc_m).abs() < 0.01, "hips at {i}");
                for (a, b) in before.feet.iter().zip(&now.feet) {
                    // 6 m/s is more than a swinging foot does.
                    assert!((a.arc_m - b.arc_m).abs() < 0.03, "foot at {i}");
                    assert!((a.pitch_rad - b.pitch_rad).abs() < 0.08, "pitch at {i}");
                    assert!((a.lift_m - b.lift_m).abs() < 0.01, "lift at {i}");
                }
                before = now;
            }
        }
    }

    #[test]
    fn the_path_is_a_circle_measured_by_its_arc() {
        let gait = Gait::new(Dice::new(4));
        let length: f32 = (0..2000)
            .map(|i| {
                let at = |i: i32| gait.place(f64::from(i) * 0.01, 0.0).0;
                at(i).distance(at(i + 1))
            })
            .sum();
        assert!((length - 20.0).abs() < 0.01, "{length}");
        let (start, heading) = gait.place(0.0, 0.1);
        assert!(start.distance(Vec3::new(0.1, 0.0, 0.0)) < 1e-6 && heading == 0.0);
    }
}
