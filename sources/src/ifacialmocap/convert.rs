//! Their names, units and signs → ours, and what the operator may tell.

use std::{
    f32::consts::{PI, TAU},
    net::SocketAddr,
};

use hub::{
    FrameData, Property, StaticData, SubjectName,
    arkit::{self, NUM_CURVES},
};
use serde::{Deserialize, Serialize};

use super::packet::Pose;

/// First of the three rotations (yaw, pitch, roll) of the head.
pub(super) const HEAD: usize = 52;
/// First of the three rotations of the left eye.
pub(super) const LEFT_EYE: usize = 55;
/// First of the three rotations of the right eye.
pub(super) const RIGHT_EYE: usize = 58;
/// First of the three coordinates of the head.
pub(super) const HEAD_X: usize = NUM_CURVES;
/// Curves that every phone has.
pub(super) const NUM_FIXED: usize = NUM_CURVES + 3;
/// Most custom shapes of a phone; more are left out.
pub(super) const MAX_CUSTOM: usize = 256;

const POSITION: [&str; 3] = ["HeadX", "HeadY", "HeadZ"];

/// What a phone whose address is entered is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ask {
    /// Face Motion v3; when nothing answers, text v2; then over again.
    #[default]
    Auto,
    /// Face Motion v3 only.
    V3,
    /// Text v2 of iFacialMocap.
    V2,
    /// Text v1 of iFacialMocap.
    V1,
    /// Text of Facemotion3d ("Other"), whose phone port is 49993.
    Facemotion3d,
}

/// What carries the messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Transport {
    /// Datagrams, text or v3.
    #[default]
    Udp,
    /// Text over a connection that the phone opens to [`super::TCP_TEXT_PORT`] when a datagram asked it to. Each
    /// text ends with [`super::TEXT_END`].
    TcpText,
    /// Face Motion v3 over a connection: ours to [`super::TCP_V3_PORT`] of the phone, or the phone's to that of ours.
    TcpV3,
}

impl Transport {
    /// What is meant by TCP: v3 when we connect or when it is all that is asked for, else text.
    pub fn over_tcp(ask: Ask, we_connect: bool) -> Self {
        if we_connect || ask == Ask::V3 {
            Self::TcpV3
        } else {
            Self::TcpText
        }
    }

    /// The port that listens on our side unless told otherwise.
    pub fn port(self) -> u16 {
        match self {
            Self::Udp => super::PORT,
            Self::TcpText => super::TCP_TEXT_PORT,
            Self::TcpV3 => super::TCP_V3_PORT,
        }
    }
}

/// What the operator may tell about a phone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Name of the subject; `iFacialMocap` without it.
    pub subject: Option<SubjectName>,
    /// The phone to ask, with the port shown in its app. Without it nothing is sent, and the computer's
    /// address is entered on the phone instead.
    pub phone: Option<SocketAddr>,
    /// What that phone is asked for.
    pub ask: Ask,
    /// Follows from the source's own table in the stage file, where it is said whether it is TCP and who connects.
    #[serde(skip)]
    pub transport: Transport,
    /// Negate the head's yaw.
    pub invert_head_yaw: bool,
    /// Negate the head's pitch.
    pub invert_head_pitch: bool,
    /// Negate the head's roll.
    pub invert_head_roll: bool,
}

/// The curves of one phone: names and values side by side.
pub(super) struct Curves {
    pub(super) statics: StaticData,
    pub(super) data: FrameData,
}

impl Curves {
    pub(super) fn new() -> Self {
        let names: Vec<&str> = arkit::CURVES.into_iter().chain(POSITION).collect();
        Self {
            statics: StaticData::basic(&names),
            data: FrameData::basic(vec![0.0; NUM_FIXED]),
        }
    }

    /// Index of a custom shape that was added.
    pub(super) fn custom(&self, name: &str) -> Option<usize> {
        let custom = self.statics.properties[NUM_FIXED..].iter();
        Some(NUM_FIXED + custom.map(|p| p.name.as_str()).position(|n| n == name)?)
    }

    /// Adds a custom shape and gives its index; `None` when a fixed curve has the name or there are too many.
    pub(super) fn add(&mut self, name: &str) -> Option<usize> {
        let properties = &mut self.statics.properties;
        let index = properties.len();
        let is_fixed = |p: &Property| p.name.eq_ignore_ascii_case(name);
        if index >= NUM_FIXED + MAX_CUSTOM || properties[..NUM_FIXED].iter().any(is_fixed) {
            return None;
        }
        properties.push(Property::linear(name));
        self.data.properties.push(0.0);
        Some(index)
    }

    /// Forgets all custom shapes; the fixed curves keep their values.
    pub(super) fn forget_custom(&mut self) {
        self.statics.properties.truncate(NUM_FIXED);
        self.data.properties.truncate(NUM_FIXED);
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

/// Rotations x, y, z in their degrees and signs to yaw, pitch, roll in ours.
fn rotation([x, y, z]: [f32; 3]) -> [f32; 3] {
    [radians(-y), radians(x), radians(-z)]
}

/// Writes what of a pose is there to its curves; the rest keeps its values.
pub(super) fn write_pose(pose: &Pose, options: &Options, values: &mut [f32]) {
    if let Some([x, y, z, position @ ..]) = pose.head {
        let inverted = [
            options.invert_head_yaw,
            options.invert_head_pitch,
            options.invert_head_roll,
        ];
        let mut angles = rotation([x, y, z]);
        for (angle, inverted) in angles.iter_mut().zip(inverted) {
            *angle = if inverted { -*angle } else { *angle };
        }
        values[HEAD..HEAD + 3].copy_from_slice(&angles);
        values[HEAD_X..HEAD_X + 3].copy_from_slice(&position);
    }
    for (eye, at) in [(pose.left_eye, LEFT_EYE), (pose.right_eye, RIGHT_EYE)] {
        if let Some(eye) = eye {
            values[at..at + 3].copy_from_slice(&rotation(eye));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixed_curves_stand_where_their_names_say() {
        let curves = Curves::new();
        let at = |name| {
            let all = &curves.statics.properties;
            all.iter().position(|p| p.name == name).unwrap()
        };
        assert_eq!(at("HeadYaw"), HEAD);
        assert_eq!(at("LeftEyeYaw"), LEFT_EYE);
        assert_eq!(at("RightEyeYaw"), RIGHT_EYE);
        assert_eq!(at("HeadX"), HEAD_X);
        assert_eq!(curves.statics.properties.len(), NUM_FIXED);
        curves.statics.validate().unwrap();
        curves.data.check(&curves.statics).unwrap();
    }

    #[test]
    fn custom_shapes_are_bounded_and_never_shadow_a_fixed_curve() {
        let mut curves = Curves::new();
        assert_eq!(curves.add("headx"), None);
        assert_eq!(curves.add("JawOpen"), None);
        for i in 0..1000 {
            curves.add(&format!("c{i}"));
        }
        assert_eq!(curves.statics.properties.len(), NUM_FIXED + MAX_CUSTOM);
        assert_eq!(curves.custom("c1"), Some(NUM_FIXED + 1));
        assert_eq!(curves.custom("c999"), None);
        curves.statics.validate().unwrap();
        curves.data.check(&curves.statics).unwrap();
    }

    #[test]
    fn a_turn_of_more_than_half_comes_the_other_way_round() {
        assert!((radians(350.0) + 10f32.to_radians()).abs() < 1e-5);
        assert!((radians(-350.0) - 10f32.to_radians()).abs() < 1e-5);
        assert_eq!(radians(90.0), PI / 2.0);
    }

    #[test]
    fn options_read_as_a_stage_file_writes_them() {
        let text = r#"{"phone":"192.168.1.7:49983","ask":"v2","subject":"Ann"}"#;
        let options: Options = serde_json::from_str(text).unwrap();
        assert_eq!(options.ask, Ask::V2);
        assert_eq!(options.phone.unwrap().port(), 49983);
        assert_eq!(options.subject.unwrap().as_str(), "Ann");
        assert!(serde_json::from_str::<Options>(r#"{"fone":1}"#).is_err());
        assert!(serde_json::from_str::<Options>(r#"{"transport":"udp"}"#).is_err());
    }

    #[test]
    fn tcp_is_text_unless_v3_is_meant() {
        assert_eq!(Transport::over_tcp(Ask::Auto, true), Transport::TcpV3);
        assert_eq!(Transport::over_tcp(Ask::V3, false), Transport::TcpV3);
        for ask in [Ask::Auto, Ask::V2, Ask::V1, Ask::Facemotion3d] {
            assert_eq!(Transport::over_tcp(ask, false), Transport::TcpText);
        }
        // The vendor's pages and, for v3, revision 5.
        assert_eq!(Transport::TcpText.port(), 49986);
        assert_eq!(Transport::TcpV3.port(), 49984);
        assert_eq!(Transport::Udp.port(), 49983);
    }
}
