//! Operations as an asset states them. As TOML, in the order in which they run:
//!
//! ```toml
//! [[steps]]
//! weight = 0.5
//! [steps.op]
//! kind = "fingers"
//! curl = 1.1
//! ```

use std::collections::BTreeMap;

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::full_body::FullBodyOp;
use crate::{
    contact::{
        DetectSettings, GroundSettings, HandSettings, PelvisSettings, PlantSettings, StrideWarp,
    },
    ik::TwoBone,
};

/// An operation, and how much of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Whether it runs. Default true.
    #[serde(default = "yes")]
    pub enabled: bool,
    /// 0 does nothing, 1 all of it. Default 1.
    #[serde(default = "one")]
    pub weight: f32,
    /// What it does.
    pub op: Op,
}

fn yes() -> bool {
    true
}

fn one() -> f32 {
    1.0
}

/// What is done to a pose. Those of the body come first, then those that ask for places of hands and feet, then
/// [`Op::Solve`], which brings them there, then those that dress the result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Op {
    /// Left and right of the source change places. First of all.
    Mirror(MirrorOp),
    /// Rotations, chain by chain.
    Fk(FkOp),
    /// Where the body is: roots and hips, by the ratio of the bodies' heights.
    Travel(TravelOp),
    /// Fingers bent and spread more or less.
    Fingers(FingersOp),
    /// Where hands and feet shall be, from where the source's are.
    Goals(GoalsOp),
    /// Steps longer, wider, more splayed.
    Stride(StrideWarp),
    /// Feet held where they came down.
    Plant(PlantOp),
    /// Soles kept out of the floor.
    Floor(FloorOp),
    /// The hips moved so that both feet get where they shall be.
    Pelvis(PelvisOp),
    /// Hands kept on each other and on the body.
    Hands(HandsOp),
    /// The trunk moved so that hands and feet reach what they shall; put before [`Op::Solve`]. In no stack by default.
    FullBody(FullBodyOp),
    /// Arms and legs brought to where they shall be.
    Solve(SolveOp),
    /// Joints kept within what people can do.
    Limits(LimitsOp),
    /// Twist shared among twist bones.
    Twist(TwistOp),
    /// Head, neck and spine turned towards a point, see [`Retargeter::set_look_at`](super::Retargeter::set_look_at).
    LookAt(LookAtOp),
    /// Bones that follow another bone.
    Pin(PinOp),
    /// The target's root brought under the hips.
    RootMotion(RootMotionOp),
    /// Breath.
    Breathing(BreathingOp),
}

impl Op {
    /// Its `kind` in a file.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Mirror(_) => "mirror",
            Self::Fk(_) => "fk",
            Self::Travel(_) => "travel",
            Self::Fingers(_) => "fingers",
            Self::Goals(_) => "goals",
            Self::Stride(_) => "stride",
            Self::Plant(_) => "plant",
            Self::Floor(_) => "floor",
            Self::Pelvis(_) => "pelvis",
            Self::Hands(_) => "hands",
            Self::FullBody(_) => "full_body",
            Self::Solve(_) => "solve",
            Self::Limits(_) => "limits",
            Self::Twist(_) => "twist",
            Self::LookAt(_) => "look_at",
            Self::Pin(_) => "pin",
            Self::RootMotion(_) => "root_motion",
            Self::Breathing(_) => "breathing",
        }
    }

    /// A step of it that is on, with full weight.
    pub fn on(self) -> Step {
        Step {
            enabled: true,
            weight: 1.0,
            op: self,
        }
    }

    /// A step of it that is off.
    pub fn off(self) -> Step {
        Step {
            enabled: false,
            ..self.on()
        }
    }
}

/// The stack that an asset has if it states none: body, feet, hands; what changes the performance is there, but off.
pub fn default_steps() -> Vec<Step> {
    vec![
        Op::Mirror(MirrorOp {}).off(),
        Op::Fk(FkOp::default()).on(),
        Op::Travel(TravelOp::default()).on(),
        Op::Fingers(FingersOp::default()).on(),
        Op::Goals(GoalsOp::default()).on(),
        Op::Stride(StrideWarp::default()).off(),
        Op::Plant(PlantOp::default()).on(),
        Op::Floor(FloorOp::default()).on(),
        Op::Pelvis(PelvisOp::default()).on(),
        Op::Solve(SolveOp::default()).on(),
        Op::Hands(HandsOp::default()).on(),
        Op::Solve(SolveOp::default()).on(),
        Op::Limits(LimitsOp::default()).on(),
        Op::LookAt(LookAtOp::default()).off(),
        Op::Breathing(BreathingOp::default()).off(),
        Op::Twist(TwistOp::default()).on(),
        Op::Pin(PinOp::default()).off(),
        Op::RootMotion(RootMotionOp::default()).off(),
    ]
}

/// Left and right change places, as in a mirror that stands across x = 0. Has no settings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MirrorOp {}

/// How the rotations of a chain are transferred. All but `CopyLocal` go by the turn away from the retarget pose, in the
/// house frame, so they do not depend on the axes of bones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FkMode {
    /// One to one where both chains have as many bones. Else each bone takes the turn found as far along the source's
    /// chain as its own end lies along its own, so that the last bones agree.
    #[default]
    Interpolated,
    /// By place from the root. What is left over keeps the retarget pose.
    OneToOne,
    /// By place from the tip.
    OneToOneReversed,
    /// As `Interpolated`, then turned so that the joints follow the curve of the source's.
    MatchChain,
    /// `parent_from_local` of the bone of the same place from the root, as it is.
    CopyLocal,
    /// The retarget pose is kept.
    None,
}

/// What of the source's bone lengths is transferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FkTranslation {
    /// Nothing: bones keep their length.
    #[default]
    None,
    /// How far a joint is from where the retarget pose has it, by the ratio of the bodies' heights.
    Scaled,
    /// The same in metres.
    Absolute,
    /// Each bone as many times longer as the source's is.
    StretchEach,
    /// All bones of the chain as many times longer as the source's chain is.
    StretchEvenly,
}

/// What differs for one chain.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FkChain {
    /// Rotations.
    pub mode: FkMode,
    /// 0 is the retarget pose, 1 what is transferred.
    pub weight: f32,
    /// Lengths.
    pub translation: FkTranslation,
}

impl Default for FkChain {
    fn default() -> Self {
        Self {
            mode: FkMode::default(),
            weight: 1.0,
            translation: FkTranslation::default(),
        }
    }
}

/// Rotations, chain by chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FkOp {
    /// For all chains that are not named below.
    pub all: FkChain,
    /// By the name that [`chain_name`](crate::characterise::chain_name) gives.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub chains: BTreeMap<String, FkChain>,
}

/// Where the body is.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TravelOp {
    /// Factor on the horizontal way, on top of the ratio. 1.
    pub horizontal: f32,
    /// Factor on what goes up and down from the height of the retarget pose. 1.
    pub vertical: f32,
    /// Added, metres, house frame.
    pub offset_m: Vec3,
}

impl Default for TravelOp {
    fn default() -> Self {
        Self {
            horizontal: 1.0,
            vertical: 1.0,
            offset_m: Vec3::ZERO,
        }
    }
}

/// Fingers, relative to the retarget pose. Thumbs bend and spread likewise.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FingersOp {
    /// Factor on how far joints are bent. 1.
    pub curl: f32,
    /// Factor on how far knuckles are turned aside. 1.
    pub spread: f32,
    /// Added to the bend of each joint, radians, palmwards.
    pub curl_offset_rad: f32,
}

impl Default for FingersOp {
    fn default() -> Self {
        Self {
            curl: 1.0,
            spread: 1.0,
            curl_offset_rad: 0.0,
        }
    }
}

/// Goals of a pair of limbs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GoalSettings {
    /// 0 is where rotations alone bring the end, 1 where the source's end is. For feet: as far from the hips as the
    /// source's, and as high over the floor, by the ratio of the bodies. For hands: from the shoulder, by the ratio of
    /// the arms.
    pub to_source: f32,
    /// Factor on the way from shoulder or hip joint to the end. 1.
    pub extension: f32,
    /// Added, metres, house frame; X points outwards on either side.
    pub offset_m: Vec3,
    /// Turns elbow or knee outwards about the limb, radians.
    pub pole_rad: f32,
}

impl GoalSettings {
    const STILL: Self = Self {
        to_source: 0.0,
        extension: 1.0,
        offset_m: Vec3::ZERO,
        pole_rad: 0.0,
    };
}

impl Default for GoalSettings {
    fn default() -> Self {
        Self::STILL
    }
}

/// Where hands and feet shall be.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GoalsOp {
    /// Feet: where the source's are.
    pub feet: GoalSettings,
    /// Hands: where rotations bring them.
    pub hands: GoalSettings,
}

impl Default for GoalsOp {
    fn default() -> Self {
        Self {
            feet: GoalSettings {
                to_source: 1.0,
                ..GoalSettings::STILL
            },
            hands: GoalSettings::STILL,
        }
    }
}

/// Feet held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlantOp {
    /// The floor under the source, for contacts alone.
    pub ground: GroundSettings,
    /// When a foot of the source is on it.
    pub contact: DetectSettings,
    /// How the target's is held.
    pub hold: PlantSettings,
}

/// Soles out of the floor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FloorOp {
    /// Height of the target's floor, metres.
    pub height_m: f32,
    /// Whether toes bend up, too. True.
    pub toes: bool,
}

impl Default for FloorOp {
    fn default() -> Self {
        Self {
            height_m: 0.0,
            toes: true,
        }
    }
}

/// Hips that make room for the feet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PelvisOp {
    /// How far a leg reaches, as a share of its length; as far as the performer stretches it in any case. 0.995.
    pub reach: f32,
    /// How the hips move.
    pub limits: PelvisSettings,
}

impl Default for PelvisOp {
    fn default() -> Self {
        Self {
            reach: 0.995,
            limits: PelvisSettings::default(),
        }
    }
}

/// Hands that touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HandsOp {
    /// When they do.
    pub contact: HandSettings,
}

/// Limbs brought to their goals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SolveOp {
    /// Legs.
    pub legs: TwoBone,
    /// Arms.
    pub arms: TwoBone,
    /// 0 keeps the plane that the limb has, 1 takes that of the source's elbow or knee. 1.
    pub pole: f32,
}

impl Default for SolveOp {
    fn default() -> Self {
        Self {
            legs: TwoBone::default(),
            arms: TwoBone::default(),
            pole: 1.0,
        }
    }
}

/// Limits of joints.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsOp {
    /// Knees that bend backwards are straightened. True.
    pub knees: bool,
    /// Elbows likewise. False: many sources have no true axis there.
    pub elbows: bool,
    /// All joints are kept within the ranges of [`Limit`](crate::ik::Limit). False: it is for solvers, not for
    /// performers.
    pub all: bool,
    /// With `all`: slowed over so many radians before a limit. 0.
    pub soft_rad: f32,
}

impl Default for LimitsOp {
    fn default() -> Self {
        Self {
            knees: true,
            elbows: false,
            all: false,
            soft_rad: 0.0,
        }
    }
}

/// Twist of arms and legs, shared by place along the bone.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TwistOp {
    /// Factor on the share of arms. 1.
    pub arms: f32,
    /// Of legs. 1.
    pub legs: f32,
    /// Where the source has as many twist bones along the same bone, theirs are copied instead. True; false for
    /// sources that have them but do not move them.
    pub copy: bool,
}

impl Default for TwistOp {
    fn default() -> Self {
        Self {
            arms: 1.0,
            legs: 1.0,
            copy: true,
        }
    }
}

/// A look.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LookAtOp {
    /// Share of the upper spine, relative to the others. 0.1.
    pub spine: f32,
    /// Of the neck. 0.3.
    pub neck: f32,
    /// Of the head. 0.6.
    pub head: f32,
    /// Most that all together turn, radians. 80°.
    pub max_rad: f32,
    /// Targets this near to where the head looks anyway turn nothing, radians.
    pub dead_zone_rad: f32,
}

impl Default for LookAtOp {
    fn default() -> Self {
        Self {
            spine: 0.1,
            neck: 0.3,
            head: 0.6,
            max_rad: 80.0f32.to_radians(),
            dead_zone_rad: 0.0,
        }
    }
}

/// Whose bone is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinTo {
    /// A bone of the source: its way from the retarget pose, by the ratio of the bodies.
    #[default]
    Source,
    /// A bone of the target.
    Target,
}

/// How.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PinMode {
    /// As it moves away from the retarget pose; what lies between the two stays.
    #[default]
    KeepOffset,
    /// Exactly as the other is.
    Copy,
    /// Not at all.
    None,
}

/// A bone that follows another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pin {
    /// Name of the bone of the target. What hangs on it comes along.
    pub bone: String,
    /// Name of the bone that is followed.
    pub to: String,
    /// Whose that is.
    #[serde(default)]
    pub of: PinTo,
    /// Places.
    #[serde(default)]
    pub translation: PinMode,
    /// Rotations.
    #[serde(default)]
    pub rotation: PinMode,
}

/// Bones that follow others, in this order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PinOp {
    /// All of them.
    pub pins: Vec<Pin>,
}

/// A root under the hips.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RootMotionOp {
    /// Whether it turns with the hips, about the vertical. True.
    pub turn: bool,
    /// Whether it lies on the floor at 0, not at the height it has. True.
    pub on_floor: bool,
}

impl Default for RootMotionOp {
    fn default() -> Self {
        Self {
            turn: true,
            on_floor: true,
        }
    }
}

/// Breath: the upper spine turned back and forth; neck and head stay upright.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BreathingOp {
    /// Breaths per minute. 14.
    pub per_minute: f32,
    /// Most turn, radians. 1.2°.
    pub amplitude_rad: f32,
}

impl Default for BreathingOp {
    fn default() -> Self {
        Self {
            per_minute: 14.0,
            amplitude_rad: 1.2f32.to_radians(),
        }
    }
}
