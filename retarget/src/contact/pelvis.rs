//! How far the pelvis has to move so that both feet reach their goals.
//!
//! A foot at `goal` is in reach of a hip joint at `hip`, shifted by s, if `|goal − hip − s| ≤ reach`: s lies in a ball about
//! `goal − hip`. The smallest shift for both legs is the point nearest to zero in the intersection of two balls: zero, the
//! nearest point of one of them, or a point of the circle in which their spheres meet. If they do not meet the shift between
//! them is taken, and both feet miss by as much.
//!
//! Then the horizontal part is reduced, because a body that sinks looks better than one that slides, and the vertical part
//! is found again for what is left of it. All of it is continuous in its input.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::{decay, sane};

/// One leg.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LegReach {
    /// Hip joint, model space.
    pub hip: Vec3,
    /// Where the ankle shall be, model space.
    pub goal: Vec3,
    /// How far the ankle gets from the hip, metres: a little less than both bones.
    pub reach_m: f32,
    /// 1 if the goal has to be reached, 0 if it does not matter; between, that share of what is missing.
    pub weight: f32,
}

/// How the pelvis may move. Lengths in metres.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PelvisSettings {
    /// Share of the horizontal part of the shift that is made, 0..=1. 0.5.
    pub horizontal: f32,
    /// Most it goes down. 0.3.
    pub max_down_m: f32,
    /// Most it goes up. 0.1.
    pub max_up_m: f32,
    /// Most it goes sideways. 0.15.
    pub max_aside_m: f32,
    /// Half-life of the spring with which it gets there, seconds. 0.05.
    pub half_life_secs: f32,
}

impl Default for PelvisSettings {
    fn default() -> Self {
        Self {
            horizontal: 0.5,
            max_down_m: 0.3,
            max_up_m: 0.1,
            max_aside_m: 0.15,
            half_life_secs: 0.05,
        }
    }
}

/// Eases the shift of one pelvis.
#[derive(Clone, Debug)]
pub struct Pelvis {
    settings: PelvisSettings,
    shift: Vec3,
    velocity: Vec3,
}

impl Pelvis {
    /// One that is not shifted.
    pub fn new(settings: PelvisSettings) -> Self {
        Self {
            settings,
            shift: Vec3::ZERO,
            velocity: Vec3::ZERO,
        }
    }

    /// The shift, model space, `dt_secs` after the last call. Hips are where they would be without it.
    pub fn update(&mut self, dt_secs: f32, legs: &[LegReach; 2]) -> Vec3 {
        let to = pelvis_shift(legs, &self.settings);
        let half_life = self.settings.half_life_secs;
        let (off, velocity) = decay(self.shift - to, self.velocity, half_life, sane(dt_secs));
        self.shift = to + off;
        self.velocity = velocity;
        self.shift
    }

    /// Begins at rest where it has to be: after a cut or a jump in time.
    pub fn snap(&mut self, legs: &[LegReach; 2]) -> Vec3 {
        self.shift = pelvis_shift(legs, &self.settings);
        self.velocity = Vec3::ZERO;
        self.shift
    }
}

/// The shift of the pelvis, model space, without easing. Legs that are not finite do not count.
pub fn pelvis_shift(legs: &[LegReach; 2], settings: &PelvisSettings) -> Vec3 {
    let balls = [ball_of(&legs[0]), ball_of(&legs[1])];
    let full = match balls {
        [Some(a), Some(b)] => nearest_of_two(a, b),
        [Some(a), None] | [None, Some(a)] => a.nearest(Vec3::ZERO),
        [None, None] => return Vec3::ZERO,
    };
    let share = settings.horizontal.clamp(0.0, 1.0);
    let aside =
        (Vec3::new(full.x, 0.0, full.z) * share).clamp_length_max(settings.max_aside_m.max(0.0));
    let height = height_for(balls, aside);
    let (down, up) = (settings.max_down_m.max(0.0), settings.max_up_m.max(0.0));
    Vec3::new(aside.x, height.clamp(-down, up), aside.z)
}

/// Shifts that bring a foot into reach.
#[derive(Clone, Copy, Debug)]
struct Ball {
    center: Vec3,
    radius: f32,
}

impl Ball {
    fn nearest(self, to: Vec3) -> Vec3 {
        let way = to - self.center;
        if way.length() <= self.radius {
            to
        } else {
            self.center + way.normalize_or_zero() * self.radius
        }
    }

    fn holds(self, shift: Vec3) -> bool {
        (shift - self.center).length() <= self.radius * (1.0 + 1e-6)
    }

    /// Heights that are in it at a place aside; the height of the centre where there is none.
    fn heights(self, aside: Vec3) -> [f32; 2] {
        let (x, z) = (aside.x - self.center.x, aside.z - self.center.z);
        let half = (self.radius * self.radius - x * x - z * z).max(0.0).sqrt();
        [self.center.y - half, self.center.y + half]
    }
}

/// The ball of a leg, grown by what its weight leaves unasked.
fn ball_of(leg: &LegReach) -> Option<Ball> {
    let center = leg.goal - leg.hip;
    let reach = leg.reach_m;
    let weight = leg.weight.clamp(0.0, 1.0);
    if !center.is_finite() || !reach.is_finite() || reach <= 0.0 || weight.max(0.0) <= 0.0 {
        return None;
    }
    let missing = (center.length() - reach).max(0.0);
    Some(Ball {
        center,
        radius: reach + missing * (1.0 - weight),
    })
}

/// The shift nearest to none that is in both balls.
fn nearest_of_two(a: Ball, b: Ball) -> Vec3 {
    let (by_a, by_b) = (a.nearest(Vec3::ZERO), b.nearest(Vec3::ZERO));
    if b.holds(by_a) {
        return by_a;
    }
    if a.holds(by_b) {
        return by_b;
    }
    let between = b.center - a.center;
    let distance = between.length();
    let Some(along) = between.try_normalize() else {
        return by_a;
    };
    let gap = distance - a.radius - b.radius;
    if gap >= 0.0 {
        return a.center + along * (a.radius + 0.5 * gap);
    }
    // The circle of both spheres: its centre, its radius, and its point nearest to zero.
    let x = 0.5 * (distance + (a.radius - b.radius) * ((a.radius + b.radius) / distance));
    let middle = a.center + along * x;
    let radius = ((a.radius - x) * (a.radius + x)).max(0.0).sqrt();
    let out = -(middle - along * middle.dot(along));
    let out = out
        .try_normalize()
        .unwrap_or_else(|| along.any_orthonormal_vector());
    middle + out * radius
}

/// The height nearest to zero that is in both balls at a place aside; the middle between them if there is none.
fn height_for(balls: [Option<Ball>; 2], aside: Vec3) -> f32 {
    let (mut low, mut high) = (f32::NEG_INFINITY, f32::INFINITY);
    for ball in balls.into_iter().flatten() {
        let [from, to] = ball.heights(aside);
        low = low.max(from);
        high = high.min(to);
    }
    if low > high {
        0.5 * (low + high)
    } else {
        0.0f32.clamp(low, high)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn leg(x: f32, goal: Vec3) -> LegReach {
        LegReach {
            hip: Vec3::new(x, 1.0, 0.0),
            goal,
            reach_m: 0.9,
            weight: 1.0,
        }
    }

    const FREE: PelvisSettings = PelvisSettings {
        horizontal: 1.0,
        max_down_m: 9.0,
        max_up_m: 9.0,
        max_aside_m: 9.0,
        half_life_secs: 0.05,
    };

    fn close(a: Vec3, b: Vec3) {
        assert!(a.distance(b) < 1e-5, "{a} is not {b}");
    }

    #[test]
    fn feet_in_reach_leave_it_alone() {
        let legs = [
            leg(0.1, Vec3::new(0.1, 0.2, 0.1)),
            leg(-0.1, Vec3::new(-0.1, 0.2, 0.0)),
        ];
        close(pelvis_shift(&legs, &FREE), Vec3::ZERO);
    }

    #[test]
    fn feet_straight_below_pull_it_straight_down() {
        // 1 m below with 0.9 m of reach: 0.1 m down.
        let legs = [
            leg(0.1, Vec3::new(0.1, 0.0, 0.0)),
            leg(-0.1, Vec3::new(-0.1, 0.0, 0.0)),
        ];
        close(pelvis_shift(&legs, &FREE), Vec3::new(0.0, -0.1, 0.0));
    }

    #[test]
    fn one_foot_pulls_along_its_leg() {
        // 0.6 and 0.8 make 1 m: a tenth of it is missing.
        let mut legs = [
            leg(0.1, Vec3::new(0.1, 0.2, 0.6)),
            leg(-0.1, Vec3::new(-0.1, 0.2, 0.0)),
        ];
        close(pelvis_shift(&legs, &FREE), Vec3::new(0.0, -0.08, 0.06));
        // Only downwards: √(0.9² − 0.6²) above the foot.
        let down = PelvisSettings {
            horizontal: 0.0,
            ..FREE
        };
        let y = 0.2 + 0.45f32.sqrt() - 1.0;
        close(pelvis_shift(&legs, &down), Vec3::new(0.0, y, 0.0));
        // Half asked for is half of what is missing.
        legs[0].weight = 0.5;
        close(pelvis_shift(&legs, &FREE), Vec3::new(0.0, -0.04, 0.03));
        legs[0].weight = 0.0;
        close(pelvis_shift(&legs, &FREE), Vec3::ZERO);
    }

    #[test]
    fn a_wide_step_is_met_on_the_circle_of_both_spheres() {
        // Feet 1.2 m apart before and behind, hips in one point: height √(0.9² − 0.6²) above them, in the middle.
        let legs = [
            leg(0.0, Vec3::new(0.0, 0.0, 0.7)),
            leg(0.0, Vec3::new(0.0, 0.0, -0.5)),
        ];
        let y = 0.45f32.sqrt() - 1.0;
        close(pelvis_shift(&legs, &FREE), Vec3::new(0.0, y, 0.1));
    }

    #[test]
    fn feet_too_far_apart_miss_by_as_much() {
        let legs = [
            leg(0.0, Vec3::new(0.0, 0.0, 1.1)),
            leg(0.0, Vec3::new(0.0, 0.0, -0.9)),
        ];
        // 2 m apart, 1.8 m of reach: the hip between them at their height, 1 m from each.
        close(pelvis_shift(&legs, &FREE), Vec3::new(0.0, -1.0, 0.1));
        let limited = PelvisSettings {
            max_down_m: 0.25,
            max_aside_m: 0.05,
            ..FREE
        };
        close(pelvis_shift(&legs, &limited), Vec3::new(0.0, -0.25, 0.05));
    }

    #[test]
    fn it_is_eased_without_a_step_and_arrives() {
        let legs = [
            leg(0.1, Vec3::new(0.1, 0.0, 0.0)),
            leg(-0.1, Vec3::new(-0.1, 0.0, 0.0)),
        ];
        for rate in [30.0, 120.0] {
            let mut pelvis = Pelvis::new(PelvisSettings::default());
            let mut last = 0.0;
            for frame in 1..=rate as u32 {
                let y = pelvis.update(1.0 / rate, &legs).y;
                // The spring's greatest speed: y·x/e with y = 2 ln 2 / 0.05.
                assert!(last - y < 1.03 / rate && y <= last + 1e-6, "{frame}");
                last = y;
            }
            assert!((last + 0.1).abs() < 1e-4);
        }
        let mut pelvis = Pelvis::new(PelvisSettings::default());
        close(pelvis.snap(&legs), Vec3::new(0.0, -0.1, 0.0));
        close(pelvis.update(0.01, &legs), Vec3::new(0.0, -0.1, 0.0));
    }

    #[test]
    fn what_is_not_finite_does_not_count() {
        let legs = [
            leg(0.1, Vec3::splat(f32::NAN)),
            leg(-0.1, Vec3::new(-0.1, 0.0, 0.0)),
        ];
        close(pelvis_shift(&legs, &FREE), Vec3::new(0.0, -0.1, 0.0));
        let none = [legs[0]; 2];
        close(pelvis_shift(&none, &FREE), Vec3::ZERO);
    }

    proptest! {
        #[test]
        fn both_feet_are_in_reach_wherever_that_is_possible(
            a in prop::array::uniform3(-1.0f32..1.0),
            b in prop::array::uniform3(-1.0f32..1.0),
        ) {
            let legs = [
                leg(0.1, Vec3::from_array(a)),
                leg(-0.1, Vec3::from_array(b)),
            ];
            let shift = pelvis_shift(&legs, &FREE);
            prop_assert!(shift.is_finite());
            let apart = (legs[0].goal - legs[0].hip).distance(legs[1].goal - legs[1].hip);
            prop_assume!(apart < 1.79);
            for leg in &legs {
                let far = leg.goal.distance(leg.hip + shift);
                prop_assert!(far < leg.reach_m + 1e-3, "{far}");
            }
        }

        #[test]
        fn a_small_change_makes_a_small_change(
            a in prop::array::uniform3(-0.6f32..0.6),
            b in prop::array::uniform3(-0.6f32..0.6),
            by in prop::array::uniform3(-1e-3f32..1e-3),
        ) {
            let legs = |a: Vec3| [leg(0.1, a), leg(-0.1, Vec3::from_array(b))];
            let a = Vec3::from_array(a);
            let settings = PelvisSettings::default();
            let was = pelvis_shift(&legs(a), &settings);
            let is = pelvis_shift(&legs(a + Vec3::from_array(by)), &settings);
            prop_assert!(was.distance(is) < 0.06, "{was} {is}");
        }
    }
}
