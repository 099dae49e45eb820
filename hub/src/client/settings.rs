//! What an operator may set, per source and for the client as a whole. Plain data with stated defaults.

use serde::{Deserialize, Serialize};

/// What the pose does when frames stop: hold, then stay or ease to rest; and how live comes back.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StallPolicy {
    /// Seconds the last pose is held. Default 1.
    pub hold_secs: f64,
    /// Whether it then eases to the rest pose (skeletons with a rest pose, curves to 0). Props, cameras and lights always stay. Default true.
    pub ease_to_rest: bool,
    /// Seconds the way to rest takes. Default 1.
    pub ease_secs: f64,
    /// Seconds over which live fades in again after a stall. Default 0.25.
    pub recover_secs: f64,
    /// Longest gap between two frames that is bridged by interpolation, in seconds; beyond it the gap is a stall. Default 0.25.
    pub bridge_secs: f64,
}

impl Default for StallPolicy {
    fn default() -> Self {
        Self {
            hold_secs: 1.0,
            ease_to_rest: true,
            ease_secs: 1.0,
            recover_secs: 0.25,
            bridge_secs: 0.25,
        }
    }
}

/// Buffering and evaluation of a source's subjects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceSettings {
    /// Most frames kept per subject, at least 2. Default 240.
    pub max_frames: usize,
    /// Longest time kept per subject, in seconds. Default 1.
    pub max_secs: f64,
    /// How far behind now a world-time evaluation reads, in seconds: two frames at 60 Hz and some jitter. Default 0.05.
    pub world_offset_secs: f64,
    /// How far behind the given timecode an evaluation reads, in frames of the subject's rate. Default 0.
    pub timecode_offset_frames: f64,
    /// How many frames before the newest a latest evaluation reads. Default 0.
    pub latest_offset_frames: u32,
    /// A frame older than the newest by more than this many seconds, or ten usual distances between frames
    /// if that is more, is too late. Default 0.25.
    pub reorder_secs: f64,
    /// Seconds without a frame until a subject is unresponsive. Default 0.5.
    pub unresponsive_secs: f64,
    /// Seconds without a frame until a subject is disconnected. Default 5.
    pub disconnected_secs: f64,
    /// Behaviour when frames stop.
    pub stall: StallPolicy,
}

impl Default for SourceSettings {
    fn default() -> Self {
        Self {
            max_frames: 240,
            max_secs: 1.0,
            world_offset_secs: 0.05,
            timecode_offset_frames: 0.0,
            latest_offset_frames: 0,
            reorder_secs: 0.25,
            unresponsive_secs: 0.5,
            disconnected_secs: 5.0,
            stall: StallPolicy::default(),
        }
    }
}

impl SourceSettings {
    /// Brings every number into a workable range; NaN becomes the default.
    pub fn sanitized(mut self) -> Self {
        let default = Self::default();
        let clean = |v: &mut f64, default: f64, lo: f64, hi: f64| {
            *v = if v.is_nan() { default } else { v.clamp(lo, hi) };
        };
        self.max_frames = self.max_frames.clamp(2, 100_000);
        clean(&mut self.max_secs, default.max_secs, 0.01, 3600.0);
        clean(
            &mut self.world_offset_secs,
            default.world_offset_secs,
            -10.0,
            60.0,
        );
        // A day of frames: a phone whose timecode is its uptime can be aligned too.
        clean(&mut self.timecode_offset_frames, 0.0, -11e6, 11e6);
        // What is read must still be there.
        self.max_secs = self.max_secs.max(self.world_offset_secs + 0.5);
        clean(&mut self.reorder_secs, default.reorder_secs, 0.0, 60.0);
        clean(
            &mut self.unresponsive_secs,
            default.unresponsive_secs,
            0.01,
            3600.0,
        );
        clean(
            &mut self.disconnected_secs,
            default.disconnected_secs,
            0.01,
            86_400.0,
        );
        let (stall, d) = (&mut self.stall, default.stall);
        clean(&mut stall.hold_secs, d.hold_secs, 0.0, 3600.0);
        clean(&mut stall.ease_secs, d.ease_secs, 0.0, 3600.0);
        clean(&mut stall.recover_secs, d.recover_secs, 0.0, 60.0);
        clean(&mut stall.bridge_secs, d.bridge_secs, 0.0, 60.0);
        self
    }
}

/// Bounds of the client as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientLimits {
    /// Most subjects kept. Default 4096.
    pub max_subjects: usize,
}

impl Default for ClientLimits {
    fn default() -> Self {
        Self { max_subjects: 4096 }
    }
}

/// Nanoseconds of a setting in seconds.
pub(crate) fn nanos(secs: f64) -> i64 {
    (secs * 1e9) as i64
}
