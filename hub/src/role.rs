//! The shape of a subject's data.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What kind of thing a subject is; decides which [`crate::StaticBody`] and [`crate::FrameBody`] it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Curves only: a face, a pedal, a sensor.
    Basic,
    /// A skeleton: one transform per bone.
    Animation,
    /// One transform: a prop, a tracker.
    Transform,
    /// A camera: a transform and lens values.
    Camera,
    /// A light: a transform and its emission.
    Light,
}

impl Role {
    /// All roles, in wire order.
    pub const ALL: [Self; 5] = [
        Self::Basic,
        Self::Animation,
        Self::Transform,
        Self::Camera,
        Self::Light,
    ];

    /// Lower-case name as in stage files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Basic => "basic",
            Self::Animation => "animation",
            Self::Transform => "transform",
            Self::Camera => "camera",
            Self::Light => "light",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
