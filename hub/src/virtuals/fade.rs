//! Going over from a pose that was shown to what would be shown now.

use crate::{client::blend_towards, frame_data::FrameData, static_data::StaticData};

use super::part::{EASE_NANOS, smoothstep};

/// Goes over from a pose that was shown to what would be shown now.
#[derive(Debug, Default)]
pub(super) struct Fade {
    from: FrameData,
    /// 1..0, linear.
    left: f32,
    is_frozen: bool,
}

impl Fade {
    pub(super) fn start(&mut self, shown: &FrameData) {
        self.from.clone_from(shown);
        self.left = 1.0;
    }

    pub(super) fn stop(&mut self) {
        self.left = 0.0;
        self.is_frozen = false;
    }

    /// Moves on by a step of time; while frozen it stays at what was shown when that began.
    pub(super) fn step(&mut self, is_frozen: bool, shown: &FrameData, elapsed_nanos: i64) {
        if is_frozen && !self.is_frozen {
            self.start(shown);
        }
        self.is_frozen = is_frozen;
        if !is_frozen {
            let step = elapsed_nanos as f32 / EASE_NANOS as f32;
            self.left = (self.left - step).max(0.0);
        }
    }

    pub(super) fn apply(&self, frame: &mut FrameData, statics: &StaticData) {
        if self.left > 0.0 {
            blend_towards(frame, &self.from, smoothstep(self.left), statics);
        }
    }
}
