//! Their units and signs → ours, and what the operator may tell.

use std::{
    f32::consts::{PI, TAU},
    net::SocketAddr,
};

use hub::{SourceTime, SubjectName};
use serde::{Deserialize, Serialize};

use super::packet::Face;

const HEAD: usize = 52;
const LEFT_EYE: usize = 55;
const RIGHT_EYE: usize = 58;
/// Thirty years. A clock that leaps further is counted from anew; the hub takes no longer times.
const MAX_MILLIS: i64 = 946_080_000_000;

/// What the operator may tell about a phone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Name of the subject; `VTubeStudio` without it.
    pub subject: Option<SubjectName>,
    /// The phone to ask, with the port shown in its app. Without it nothing is asked for and nothing comes.
    pub phone: Option<SocketAddr>,
    /// The port that the phone is to send to, [`super::PORT`] without it. Must be the one that listens.
    pub port: Option<u16>,
    /// Negate the head's yaw.
    pub invert_head_yaw: bool,
    /// Negate the head's pitch.
    pub invert_head_pitch: bool,
    /// Negate the head's roll.
    pub invert_head_roll: bool,
}

/// The phone's clock counted from the first frame, so that times since 1970 fit the hub's range.
#[derive(Default)]
pub(super) struct Clock {
    first_millis: Option<i64>,
}

impl Clock {
    pub(super) fn source_time(&mut self, millis: i64) -> SourceTime {
        let first = *self.first_millis.get_or_insert(millis);
        let mut since = millis.saturating_sub(first);
        if since.abs() > MAX_MILLIS {
            self.first_millis = Some(millis);
            since = 0;
        }
        SourceTime::from_nanos(since * 1_000_000)
    }
}

/// −360..360 degrees to −π..π.
fn radians(degrees: f32) -> f32 {
    let r = degrees.to_radians();
    if r > PI {
        r - TAU
    } else if r < -PI {
        r + TAU
    } else {
        r
    }
}

/// Writes what a face tells to its curves; the rest keeps its values.
pub(super) fn write(face: &Face, options: &Options, values: &mut [f32]) {
    for (value, weight) in values.iter_mut().zip(face.weights) {
        *value = weight.unwrap_or(*value);
    }
    let inverted = [
        options.invert_head_yaw,
        options.invert_head_pitch,
        options.invert_head_roll,
    ];
    for (rotation, at, inverted) in [
        (face.head, HEAD, inverted),
        (face.left_eye, LEFT_EYE, [false; 3]),
        (face.right_eye, RIGHT_EYE, [false; 3]),
    ] {
        let Some([x, y, z]) = rotation else {
            continue;
        };
        let angles = [radians(-y), radians(x), radians(-z)];
        for ((value, angle), inverted) in values[at..].iter_mut().zip(angles).zip(inverted) {
            *value = if inverted { -angle } else { angle };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_count_from_the_first_and_leaps_begin_anew() {
        let mut clock = Clock::default();
        let base = 1_664_817_520_079;
        assert_eq!(clock.source_time(base).as_nanos(), 0);
        assert_eq!(clock.source_time(base + 16).as_nanos(), 16_000_000);
        assert_eq!(clock.source_time(base - 5).as_nanos(), -5_000_000);
        assert_eq!(clock.source_time(1 << 53).as_nanos(), 0);
        assert_eq!(clock.source_time(0).as_nanos(), 0);
        assert_eq!(clock.source_time(1).as_nanos(), 1_000_000);
    }

    #[test]
    fn options_read_as_a_stage_file_writes_them() {
        let options: Options = serde_json::from_str(r#"{"phone":"10.0.0.5:21412"}"#).unwrap();
        assert_eq!((options.phone.unwrap().port(), options.port), (21412, None));
        assert!(serde_json::from_str::<Options>(r#"{"ports":[1]}"#).is_err());
    }
}
