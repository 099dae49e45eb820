//! Their names, angles and lengths → ours, and what the operator may tell. The axes are the house frame already.

use glam::{Quat, Vec3};
use hub::{Skeleton, StaticData, Transform};
use serde::{Deserialize, Deserializer, Serialize, de};

use super::packet::{Channels, NUM_BONES, Packet};

/// Least and most metres per unit.
const SCALES: std::ops::RangeInclusive<f32> = 1e-4..=100.0;

/// Which names the 59 bones have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BoneSet {
    /// Axis Neuron: four bones of the spine, one of the neck.
    #[default]
    AxisNeuron,
    /// Axis Studio: three bones of the spine, two of the neck.
    AxisStudio,
}

/// In which order three angles come and turn a bone: of Ry·Rx·Rz the first angle is about Y, and that about Z turns
/// the bone first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum RotationOrder {
    /// Rx·Ry·Rz.
    Xyz,
    /// Rx·Rz·Ry.
    Xzy,
    /// Ry·Rx·Rz, as Axis is set at first.
    #[default]
    Yxz,
    /// Ry·Rz·Rx.
    Yzx,
    /// Rz·Rx·Ry.
    Zxy,
    /// Rz·Ry·Rx.
    Zyx,
}

impl RotationOrder {
    fn axes(self) -> [Vec3; 3] {
        const X: Vec3 = Vec3::X;
        const Y: Vec3 = Vec3::Y;
        const Z: Vec3 = Vec3::Z;
        match self {
            Self::Xyz => [X, Y, Z],
            Self::Xzy => [X, Z, Y],
            Self::Yxz => [Y, X, Z],
            Self::Yzx => [Y, Z, X],
            Self::Zxy => [Z, X, Y],
            Self::Zyx => [Z, Y, X],
        }
    }
}

/// What the operator may tell about a sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    /// Subject name of avatar 0; further avatars have their number after it. Default: the avatar's name in Axis.
    pub subject: Option<String>,
    /// Which program sends.
    pub skeleton: BoneSet,
    /// As set in Axis.
    pub rotation_order: RotationOrder,
    /// Metres per unit of positions, 0.0001 to 100.
    #[serde(deserialize_with = "scale")]
    pub scale: f32,
    /// Whether positions of bones are left aside where they are sent; the built-in lengths are taken then. Those of
    /// the hips always count.
    pub ignore_displacement: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            subject: None,
            skeleton: BoneSet::default(),
            rotation_order: RotationOrder::default(),
            scale: 0.01,
            ignore_displacement: false,
        }
    }
}

fn scale<'de, D: Deserializer<'de>>(from: D) -> Result<f32, D::Error> {
    let scale = f32::deserialize(from)?;
    // NaN is in no range.
    if SCALES.contains(&scale) {
        return Ok(scale);
    }
    Err(de::Error::custom(format!(
        "{scale} metres per unit cannot be; expected 0.0001 to 100"
    )))
}

/// A bone: name, parent, and where it is in its parent's space in T-pose, in metres.
type Bone = (&'static str, Option<u32>, [f32; 3]);

/// The bones that both programs have at the same place.
const LOWER: [Bone; 10] = [
    ("Hips", None, [0.0, 0.94, 0.0]),
    ("RightUpLeg", Some(0), [-0.09, -0.02, 0.0]),
    ("RightLeg", Some(1), [0.0, -0.42, 0.0]),
    ("RightFoot", Some(2), [0.0, -0.42, 0.0]),
    ("LeftUpLeg", Some(0), [0.09, -0.02, 0.0]),
    ("LeftLeg", Some(4), [0.0, -0.42, 0.0]),
    ("LeftFoot", Some(5), [0.0, -0.42, 0.0]),
    ("Spine", Some(0), [0.0, 0.12, 0.0]),
    ("Spine1", Some(7), [0.0, 0.1, 0.0]),
    ("Spine2", Some(8), [0.0, 0.1, 0.0]),
];
const UPPER_NEURON: [Bone; 3] = [
    ("Spine3", Some(9), [0.0, 0.1, 0.0]),
    ("Neck", Some(10), [0.0, 0.12, 0.0]),
    ("Head", Some(11), [0.0, 0.1, 0.0]),
];
const UPPER_STUDIO: [Bone; 3] = [
    ("Neck", Some(9), [0.0, 0.22, 0.0]),
    ("Neck1", Some(10), [0.0, 0.05, 0.0]),
    ("Head", Some(11), [0.0, 0.05, 0.0]),
];
/// Index of the bone on which both arms hang, and how high above it.
const CHEST_NEURON: (u32, f32) = (10, 0.08);
const CHEST_STUDIO: (u32, f32) = (9, 0.18);

/// One arm without its side: parents within the arm, `None` is the chest; offsets of the left one.
const ARM: [Bone; 23] = [
    ("Shoulder", None, [0.03, 0.0, 0.0]),
    ("Arm", Some(0), [0.13, 0.0, 0.0]),
    ("ForeArm", Some(1), [0.28, 0.0, 0.0]),
    ("Hand", Some(2), [0.26, 0.0, 0.0]),
    ("HandThumb1", Some(3), [0.03, 0.0, 0.03]),
    ("HandThumb2", Some(4), [0.04, 0.0, 0.0]),
    ("HandThumb3", Some(5), [0.03, 0.0, 0.0]),
    ("InHandIndex", Some(3), [0.035, 0.0, 0.02]),
    ("HandIndex1", Some(7), [0.055, 0.0, 0.01]),
    ("HandIndex2", Some(8), [0.04, 0.0, 0.0]),
    ("HandIndex3", Some(9), [0.025, 0.0, 0.0]),
    ("InHandMiddle", Some(3), [0.035, 0.0, 0.007]),
    ("HandMiddle1", Some(11), [0.055, 0.0, 0.003]),
    ("HandMiddle2", Some(12), [0.045, 0.0, 0.0]),
    ("HandMiddle3", Some(13), [0.027, 0.0, 0.0]),
    ("InHandRing", Some(3), [0.035, 0.0, -0.006]),
    ("HandRing1", Some(15), [0.05, 0.0, -0.004]),
    ("HandRing2", Some(16), [0.04, 0.0, 0.0]),
    ("HandRing3", Some(17), [0.025, 0.0, 0.0]),
    ("InHandPinky", Some(3), [0.033, 0.0, -0.018]),
    ("HandPinky1", Some(19), [0.045, 0.0, -0.008]),
    ("HandPinky2", Some(20), [0.03, 0.0, 0.0]),
    ("HandPinky3", Some(21), [0.02, 0.0, 0.0]),
];
/// Height of the ankles.
const ANKLE: f32 = 0.08;
/// `RightUpLeg`, `RightLeg`, `RightFoot`: as far as the hips are above the ankle.
const RIGHT_LEG: std::ops::RangeInclusive<usize> = 1..=3;

/// The built-in skeleton: no bone turned, arms to the sides.
pub(super) fn skeleton(of: BoneSet) -> Skeleton {
    let (upper, (chest, above_chest)) = match of {
        BoneSet::AxisNeuron => (UPPER_NEURON, CHEST_NEURON),
        BoneSet::AxisStudio => (UPPER_STUDIO, CHEST_STUDIO),
    };
    let mut all = Skeleton::default();
    let mut add = |name: String, parent: Option<u32>, offset: Vec3| {
        all.bone_names.push(name);
        all.parents.push(parent);
        all.rest.push(Transform::new(offset, Quat::IDENTITY));
    };
    for (name, parent, offset) in LOWER.into_iter().chain(upper) {
        add(name.to_owned(), parent, Vec3::from_array(offset));
    }
    let mut first = (LOWER.len() + upper.len()) as u32;
    for (side, sign) in [("Right", -1.0), ("Left", 1.0)] {
        for (name, parent, [x, y, z]) in ARM {
            let (parent, y) = match parent {
                Some(parent) => (first + parent, y),
                None => (chest, y + above_chest),
            };
            let offset = Vec3::new(sign * x, y, z);
            add(format!("{side}{name}"), Some(parent), offset);
        }
        first += ARM.len() as u32;
    }
    all
}

/// The skeleton with the lengths that a frame tells, where it does.
pub(super) fn static_data(packet: &Packet<'_>, options: &Options) -> StaticData {
    let mut skeleton = skeleton(options.skeleton);
    if packet.with_displacement && !options.ignore_displacement {
        for (rest, bone) in skeleton.rest.iter_mut().zip(&packet.bones).skip(1) {
            if let Some(position) = bone.position {
                rest.translation = Vec3::from_array(position) * options.scale;
            }
        }
        let leg = skeleton.rest.get(RIGHT_LEG).unwrap_or_default();
        let down: f32 = leg.iter().map(|t| t.translation.y).sum();
        if let Some(hips) = skeleton.rest.first_mut() {
            hips.translation = Vec3::new(0.0, ANKLE - down, 0.0);
        }
    }
    StaticData::animation(skeleton)
}

/// Three angles in degrees to a rotation.
fn rotation(angles: [f32; 3], order: RotationOrder) -> Quat {
    let turns = order.axes().into_iter().zip(angles);
    turns.fold(Quat::IDENTITY, |q, (axis, degrees)| {
        q * Quat::from_axis_angle(axis, degrees.to_radians())
    })
}

/// `parent_from_local`; where no position is sent, `otherwise` it is.
fn local(bone: &Channels, otherwise: Vec3, options: &Options) -> Transform {
    let sent = bone.position.map(|p| Vec3::from_array(p) * options.scale);
    Transform::new(
        sent.unwrap_or(otherwise),
        rotation(bone.angles, options.rotation_order),
    )
}

/// Writes the pose of a frame over `locals`; `rest` is what [`static_data`] gave.
pub(super) fn write_pose(
    packet: &Packet<'_>,
    rest: &[Transform],
    options: &Options,
    locals: &mut Vec<Transform>,
) {
    locals.clear();
    let bones = packet.bones.iter().zip(rest).enumerate();
    locals.extend(bones.map(|(i, (bone, rest))| {
        let mut bone = *bone;
        if i > 0 && options.ignore_displacement {
            bone.position = None;
        }
        local(&bone, rest.translation, options)
    }));
    if let (Some(hips), Some(reference)) = (locals.first_mut(), &packet.reference) {
        *hips = local(reference, Vec3::ZERO, options).mul(hips);
    }
}

// Every bone has a place.
const _: () = assert!(LOWER.len() + UPPER_NEURON.len() + 2 * ARM.len() == NUM_BONES);
