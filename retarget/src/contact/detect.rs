//! When heel and toe are on the floor.
//!
//! Each of the two is on it when it comes low *and* slow, and off it when it gets high *or* fast; the second pair of
//! numbers is larger, so that a foot near them does not flutter. Speeds are in metres per second over the true time between
//! samples: a threshold per frame would mean another speed at every frame rate.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::sane;

/// Length of the leg for which [`DetectSettings`] are given, metres, hip to ankle. Others are scaled by theirs.
pub const REFERENCE_LEG_M: f32 = 0.85;

/// After a gap of this length, in seconds, speeds begin anew.
const GAP_SECS: f32 = 0.25;

/// Thresholds for a leg of [`REFERENCE_LEG_M`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct DetectSettings {
    /// On the floor below this height above where the joint is when the foot stands, and below `enter_m_per_sec`. 5 cm.
    pub enter_m: f32,
    /// 0.3 m/s.
    pub enter_m_per_sec: f32,
    /// Off the floor above this height, or above `leave_m_per_sec`. 7 cm.
    pub leave_m: f32,
    /// 0.6 m/s.
    pub leave_m_per_sec: f32,
    /// Time constant of the low-pass on velocities, seconds, which is also their delay. It comes after a median of three,
    /// which costs a frame. 0.02.
    pub smooth_secs: f32,
}

impl Default for DetectSettings {
    fn default() -> Self {
        Self {
            enter_m: 0.05,
            enter_m_per_sec: 0.3,
            leave_m: 0.07,
            leave_m_per_sec: 0.6,
            smooth_secs: 0.02,
        }
    }
}

/// What of a foot is on the floor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FootContact {
    /// The heel.
    pub heel: bool,
    /// The ball, where the toes begin.
    pub toe: bool,
}

/// The same as one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FootPhase {
    /// Nothing on the floor.
    Air,
    /// The heel alone: it has come down, and the foot rolls about it.
    HeelStrike,
    /// All of the sole.
    Flat,
    /// The ball alone: the heel is up, and the foot rolls about the ball.
    ToeOff,
}

impl FootContact {
    /// Whether anything is on the floor.
    pub fn any(self) -> bool {
        self.heel || self.toe
    }

    /// As one word.
    pub fn phase(self) -> FootPhase {
        match (self.heel, self.toe) {
            (false, false) => FootPhase::Air,
            (true, false) => FootPhase::HeelStrike,
            (true, true) => FootPhase::Flat,
            (false, true) => FootPhase::ToeOff,
        }
    }
}

/// Contacts of one foot of the source.
#[derive(Clone, Debug)]
pub struct FootDetector {
    settings: DetectSettings,
    ankle_rest_m: f32,
    toe_rest_m: f32,
    heel: Point,
    toe: Point,
}

/// One of the two joints.
#[derive(Clone, Debug, Default)]
struct Point {
    last: Option<Vec3>,
    /// Last three velocities and heights, the newest at `next − 1`.
    velocities: [Vec3; 3],
    heights: [f32; 3],
    next: usize,
    /// After median and low-pass, metres per second.
    velocity: Vec3,
    touching: bool,
}

impl FootDetector {
    /// For a leg of `leg_m` from hip to ankle, whose ankle and toe joints are `ankle_rest_m` and `toe_rest_m` above the floor
    /// in the retarget pose. Metres, all of the source.
    pub fn new(settings: DetectSettings, leg_m: f32, ankle_rest_m: f32, toe_rest_m: f32) -> Self {
        let scale = if leg_m.is_finite() && leg_m > 0.0 {
            leg_m / REFERENCE_LEG_M
        } else {
            1.0
        };
        Self {
            settings: DetectSettings {
                enter_m: settings.enter_m * scale,
                enter_m_per_sec: settings.enter_m_per_sec * scale,
                leave_m: settings.leave_m * scale,
                leave_m_per_sec: settings.leave_m_per_sec * scale,
                smooth_secs: settings.smooth_secs,
            },
            ankle_rest_m,
            toe_rest_m,
            heel: Point::default(),
            toe: Point::default(),
        }
    }

    /// Where ankle and toe joint are `dt_secs` after the last call, model space, over a floor at `floor_m`. A time of 0, a
    /// double, changes nothing; so does what is not finite.
    pub fn update(&mut self, dt_secs: f32, ankle: Vec3, toe: Vec3, floor_m: f32) -> FootContact {
        let settings = &self.settings;
        self.heel
            .update(settings, dt_secs, ankle, floor_m + self.ankle_rest_m);
        self.toe
            .update(settings, dt_secs, toe, floor_m + self.toe_rest_m);
        self.contact()
    }

    /// The last answer.
    pub fn contact(&self) -> FootContact {
        FootContact {
            heel: self.heel.touching,
            toe: self.toe.touching,
        }
    }

    /// Speeds of ankle and toe joint as compared with the thresholds, metres per second.
    pub fn speeds(&self) -> [f32; 2] {
        [self.heel.velocity.length(), self.toe.velocity.length()]
    }

    /// Forgets what was: after a cut or a jump in time.
    pub fn forget(&mut self) {
        self.heel = Point::default();
        self.toe = Point::default();
    }
}

impl Point {
    fn update(&mut self, settings: &DetectSettings, dt_secs: f32, at: Vec3, standing_m: f32) {
        let height = at.y - standing_m;
        if !at.is_finite() || !height.is_finite() {
            return;
        }
        match self.last {
            None => {
                self.heights = [height; 3];
            }
            // A second sample of the same time.
            Some(_) if sane(dt_secs) <= 0.0 => return,
            Some(last) => {
                let velocity = (at - last) / dt_secs;
                if dt_secs > GAP_SECS {
                    self.velocities = [velocity; 3];
                    self.heights = [height; 3];
                    self.velocity = velocity;
                } else {
                    self.velocities[self.next] = velocity;
                    self.heights[self.next] = height;
                    self.next = (self.next + 1) % 3;
                    let [a, b, c] = self.velocities;
                    let median = a.min(b).max(a.max(b).min(c));
                    // A time constant of 0 takes the median as it is.
                    let share = -(-dt_secs / settings.smooth_secs.max(1e-6)).exp_m1();
                    self.velocity += (median - self.velocity) * share;
                }
            }
        }
        self.last = Some(at);
        let [a, b, c] = self.heights;
        let height = a.min(b).max(a.max(b).min(c));
        let speed = self.velocity.length();
        self.touching = if self.touching {
            height <= settings.leave_m && speed <= settings.leave_m_per_sec
        } else {
            height < settings.enter_m && speed < settings.enter_m_per_sec
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANKLE_M: f32 = 0.08;
    const TOE_M: f32 = 0.02;

    fn detector() -> FootDetector {
        FootDetector::new(DetectSettings::default(), REFERENCE_LEG_M, ANKLE_M, TOE_M)
    }

    /// A foot whose ankle and toe are lifted by so much, at `z`.
    fn foot(z: f32, heel_up: f32, toe_up: f32) -> (Vec3, Vec3) {
        (
            Vec3::new(0.1, ANKLE_M + heel_up, z),
            Vec3::new(0.1, TOE_M + toe_up, z + 0.15),
        )
    }

    fn feed(detector: &mut FootDetector, dt: f32, (ankle, toe): (Vec3, Vec3)) -> FootPhase {
        detector.update(dt, ankle, toe, 0.0).phase()
    }

    #[test]
    fn a_foot_that_stands_is_flat_from_the_first_frame_on() {
        let mut d = detector();
        for _ in 0..10 {
            assert_eq!(
                feed(&mut d, 1.0 / 60.0, foot(0.0, 0.0, 0.0)),
                FootPhase::Flat
            );
        }
    }

    #[test]
    fn heights_have_hysteresis() {
        let mut d = detector();
        let mut settle = |up: f32| {
            let mut phase = FootPhase::Air;
            for _ in 0..120 {
                phase = feed(&mut d, 1.0 / 60.0, foot(0.0, up, up));
            }
            phase
        };
        assert_eq!(settle(0.2), FootPhase::Air);
        assert_eq!(settle(0.06), FootPhase::Air);
        assert_eq!(settle(0.045), FootPhase::Flat);
        assert_eq!(settle(0.06), FootPhase::Flat);
        assert_eq!(settle(0.075), FootPhase::Air);
    }

    #[test]
    fn speeds_have_hysteresis_at_any_frame_rate() {
        for rate in [30.0, 60.0, 90.0, 240.0] {
            let mut d = detector();
            let mut z = 0.0;
            let mut slide = |speed: f32| {
                let mut phase = FootPhase::Air;
                for _ in 0..rate as u32 {
                    z += speed / rate;
                    phase = feed(&mut d, 1.0 / rate, foot(z, 0.0, 0.0));
                }
                phase
            };
            assert_eq!(slide(0.55), FootPhase::Flat, "stood, {rate}");
            assert_eq!(slide(0.65), FootPhase::Air, "{rate}");
            assert_eq!(slide(0.35), FootPhase::Air, "{rate}");
            assert_eq!(slide(0.25), FootPhase::Flat, "{rate}");
        }
    }

    #[test]
    fn heel_and_toe_come_and_go_separately() {
        let mut d = detector();
        let mut settle = |heel: f32, toe: f32| {
            let mut phase = FootPhase::Air;
            for _ in 0..60 {
                phase = feed(&mut d, 1.0 / 60.0, foot(0.0, heel, toe));
            }
            phase
        };
        assert_eq!(settle(0.0, 0.1), FootPhase::HeelStrike);
        assert_eq!(settle(0.0, 0.0), FootPhase::Flat);
        assert_eq!(settle(0.1, 0.0), FootPhase::ToeOff);
        assert_eq!(settle(0.2, 0.2), FootPhase::Air);
    }

    #[test]
    fn one_wrong_frame_a_double_and_noise_lift_no_foot() {
        let mut d = detector();
        for frame in 0..300u32 {
            let spike = if frame % 50 == 20 { 0.4 } else { 0.0 };
            // ±2 mm from frame to frame: 0.48 m/s at 120 Hz if it were believed.
            let noise = if frame % 2 == 0 { 0.002 } else { -0.002 };
            let at = foot(spike + noise, spike, spike);
            let phase = feed(&mut d, 1.0 / 120.0, at);
            assert_eq!(phase, FootPhase::Flat, "frame {frame}");
            assert_eq!(feed(&mut d, 0.0, foot(5.0, 1.0, 1.0)), FootPhase::Flat);
        }
        let nan = Vec3::splat(f32::NAN);
        assert_eq!(feed(&mut d, 0.01, (nan, nan)), FootPhase::Flat);
    }

    #[test]
    fn a_small_performer_has_small_thresholds() {
        let mut d = FootDetector::new(
            DetectSettings::default(),
            REFERENCE_LEG_M / 2.0,
            ANKLE_M,
            TOE_M,
        );
        // 4 cm are within 5 cm, but not within 2.5.
        assert_eq!(feed(&mut d, 0.0, foot(0.0, 0.04, 0.04)), FootPhase::Air);
        assert_eq!(
            feed(&mut detector(), 0.0, foot(0.0, 0.04, 0.04)),
            FootPhase::Flat
        );
    }

    #[test]
    fn a_gap_is_judged_by_what_lies_on_both_sides() {
        let mut d = detector();
        feed(&mut d, 0.0, foot(0.0, 0.0, 0.0));
        // 2 m in a second: it walked.
        assert_eq!(feed(&mut d, 1.0, foot(2.0, 0.0, 0.0)), FootPhase::Air);
        d.forget();
        assert_eq!(feed(&mut d, 1.0, foot(9.0, 0.0, 0.0)), FootPhase::Flat);
    }
}
