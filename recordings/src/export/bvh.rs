//! A scene's skeleton as a Biovision BVH file: hierarchy, then one row of numbers a frame.
//!
//! What a BVH cannot say decides how it is written. It has no rest rotations: the pose in which all angles are
//! zero is the one that the OFFSETs draw along the world's axes. So a joint's angles are what it has turned
//! since the rest pose, all joints having the world's axes there:
//!
//! ```text
//! Q, p   model_from_joint of a frame, by rotation and position        Q₀, p₀ the same of the rest pose
//! W      = Q · Q₀⁻¹                         what the joint has turned since the rest pose, in the model
//! OFFSET = p₀ − p₀ of the parent
//! angles = W⁻¹ of the parent · W, as Z, X, Y
//! then   p = p of the parent + W of the parent · OFFSET, which is where the joint is
//! ```
//!
//! That holds for any rest pose that shares the bones' lengths: with the character's own the file's zero pose is
//! the character's, with a T-pose (see [`BvhOptions::rest`]) a T.
//!
//! Rules kept, for they decide which programs read the file:
//! - one ROOT with six channels, positions first; `Zrotation Xrotation Yrotation` everywhere, degrees;
//! - position channels replace the OFFSET, as Blender, MotionBuilder and our own reader take them; the ROOT's OFFSET
//!   is zero unless asked for, so that readers that add the two see the same;
//! - every leaf has an End Site of some length;
//! - names are one word and unique;
//! - every row has the declared count of numbers with a decimal point, and ends in LF; the frame count is known
//!   before the first row;
//! - ten decimals of frame time: 0.01666667 would be 59.99999 frames a second.
//!
//! From the house frame (see [`hub`]): axes as they are, +Y up, facing +Z or turned to −Z; metres times 100 or 1.
//! Scales are left out. The format has neither units nor faces: say the unit to whoever reads it, and write the
//! face's curves beside it.

mod euler;
pub(super) mod nodes;
mod presets;
mod skeleton;
#[cfg(test)]
mod tests;

use std::{
    f64::consts::PI,
    io::{self, Write},
};

use glam::{DQuat, DVec3};
use hub::Transform;
use retarget::HumanBone;
use thiserror::Error;

pub use self::presets::BvhNames;
use self::{
    nodes::{Global, Nodes},
    skeleton::{Joint, Skeleton},
};
use super::scene::{Scene, SceneFault};

/// Joints whose own translation differs from rest by more than this are told of, metres.
const STRETCH: f64 = 1e-4;

/// What a number in the file measures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BvhUnit {
    /// The habit.
    #[default]
    Centimetres,
    /// As Blender wants it without a scale.
    Metres,
}

impl BvhUnit {
    /// Units in a metre.
    pub fn per_metre(self) -> f64 {
        match self {
            Self::Centimetres => 100.0,
            Self::Metres => 1.0,
        }
    }
}

/// Where the character looks at rest; +Y is up in either case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BvhFacing {
    /// As most tools write it.
    #[default]
    PlusZ,
    /// What Blender's importer assumes until told otherwise.
    MinusZ,
}

/// Which joints have position channels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BvhPositions {
    /// The hips, with which the file begins; what lies above them is folded into their motion.
    #[default]
    Hips,
    /// The topmost joint and the hips.
    RootAndHips,
    /// Every joint, so that stretching bones stay what they are.
    All,
}

/// How a BVH is written. The default: all joints under their own names, in centimetres, facing +Z, at rest as the
/// character is.
#[derive(Clone, Copy, Debug, Default)]
pub struct BvhOptions<'a> {
    /// What the bones of a person are called.
    pub names: BvhNames,
    /// Which node is which bone; needed to find the hips and for names other than the character's.
    pub bones: &'a [(HumanBone, usize)],
    /// `model_from_node` of every node in the pose whose angles are zero, such as a T-pose, in metres; scales are
    /// not looked at. `None` takes the pose in which the character rests.
    pub rest: Option<&'a [Transform]>,
    /// What a number measures.
    pub unit: BvhUnit,
    /// Where the character looks at rest.
    pub facing: BvhFacing,
    /// Which joints have position channels.
    pub positions: BvhPositions,
    /// The ROOT's OFFSET is where it rests, so that the rest pose stands on the floor; zero otherwise.
    pub root_offset: bool,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BvhReport {
    /// The character's names and the file's, of joints whose names differ.
    pub names: Vec<(String, String)>,
    /// Joints, End Sites not counted.
    pub joints: usize,
    /// Numbers in a row.
    pub channels: usize,
    /// From the lowest to the highest point of the rest pose, metres: what a reader can check the unit by.
    pub height_m: f64,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Why a BVH cannot be written.
#[derive(Debug, Error)]
pub enum BvhError {
    /// The scene is not one.
    #[error(transparent)]
    Scene(#[from] SceneFault),
    /// No joint: the character has no skin, no track moves a node, and no bone is named.
    #[error("there is no joint to write")]
    NoJoint,
    /// A bone's node is not the character's.
    #[error("{bone} is node {node}, the character has {count}")]
    NoNode {
        /// The bone.
        bone: HumanBone,
        /// Its node.
        node: usize,
        /// Nodes of the character.
        count: usize,
    },
    /// The rest pose does not fit the character, or has a transform that is none.
    #[error(
        "the rest pose has {have} transforms, {good} of them good; the character has {count} nodes"
    )]
    Rest {
        /// Transforms given.
        have: usize,
        /// Those before the first that is not finite or no rotation.
        good: usize,
        /// Nodes of the character.
        count: usize,
    },
    /// The file cannot be written.
    #[error("cannot write the BVH: {0}")]
    Io(#[from] io::Error),
}

/// Writes the scene's skeleton, a row at a time.
///
/// # Errors
/// The scene or the options do not fit the character, or `out` fails.
pub fn write_bvh(
    scene: &Scene<'_>,
    out: &mut impl Write,
    options: &BvhOptions<'_>,
) -> Result<BvhReport, BvhError> {
    let mut nodes = Nodes::new(scene)?;
    let rest = rest_pose(scene, &mut nodes, options)?;
    let skeleton = Skeleton::new(scene.character, &nodes, &rest, options)?;
    let frame = Frame {
        per_metre: options.unit.per_metre(),
        turn: match options.facing {
            BvhFacing::PlusZ => DQuat::IDENTITY,
            BvhFacing::MinusZ => DQuat::from_rotation_y(PI),
        },
    };
    hierarchy(&skeleton, frame, out)?;

    let rate = scene.rate;
    let frame_secs = f64::from(rate.den()) / f64::from(rate.num());
    write!(
        out,
        "MOTION\nFrames: {}\nFrame Time: {frame_secs:.10}\n",
        scene.num_frames
    )?;
    let mut rows = Rows::new(&skeleton, &rest, frame);
    for at in 0..scene.num_frames {
        out.write_all(rows.row(nodes.at(at))?)?;
    }
    out.flush()?;

    let mut notes = skeleton.notes.clone();
    notes.extend(rows.notes());
    Ok(BvhReport {
        names: skeleton.renamed.clone(),
        joints: skeleton.joints.len(),
        channels: skeleton.joints.iter().map(Joint::num_channels).sum(),
        height_m: skeleton.height,
        notes,
    })
}

/// `model_from_node` in the pose whose angles are zero; one per node.
fn rest_pose(
    scene: &Scene<'_>,
    nodes: &mut Nodes<'_>,
    options: &BvhOptions<'_>,
) -> Result<Vec<Global>, BvhError> {
    let count = scene.character.nodes.len();
    let Some(rest) = options.rest else {
        return Ok(nodes.rest().to_vec());
    };
    let good = rest.iter().take_while(|t| t.is_rigid()).count();
    if rest.len() != count || good != count {
        return Err(BvhError::Rest {
            have: rest.len(),
            good,
            count,
        });
    }
    Ok(rest.iter().map(Global::of).collect())
}

/// From the house frame to the file's.
#[derive(Clone, Copy)]
struct Frame {
    per_metre: f64,
    turn: DQuat,
}

impl Frame {
    fn point(self, point: DVec3) -> DVec3 {
        self.turn * point * self.per_metre
    }

    fn rotation(self, rotation: DQuat) -> DQuat {
        self.turn * rotation * self.turn.conjugate()
    }
}

fn hierarchy(skeleton: &Skeleton, frame: Frame, out: &mut impl Write) -> io::Result<()> {
    let joints = &skeleton.joints;
    writeln!(out, "HIERARCHY")?;
    for (at, joint) in joints.iter().enumerate() {
        let tab = "\t".repeat(joint.depth);
        let kind = if at == 0 { "ROOT" } else { "JOINT" };
        writeln!(out, "{tab}{kind} {}\n{tab}{{", joint.name)?;
        offset(&tab, frame.point(joint.offset), out)?;
        let positions = if joint.has_positions {
            "Xposition Yposition Zposition "
        } else {
            ""
        };
        let channels = joint.num_channels();
        writeln!(
            out,
            "{tab}\tCHANNELS {channels} {positions}Zrotation Xrotation Yrotation"
        )?;
        if let Some(end) = joint.end {
            writeln!(out, "{tab}\tEnd Site\n{tab}\t{{")?;
            offset(&format!("{tab}\t"), frame.point(end), out)?;
            writeln!(out, "{tab}\t}}")?;
        }
        // Depth first: what is not above the next joint ends here.
        let next = joints.get(at + 1).map_or(0, |next| next.depth);
        for depth in (next..=joint.depth).rev() {
            writeln!(out, "{}}}", "\t".repeat(depth))?;
        }
    }
    Ok(())
}

fn offset(tab: &str, offset: DVec3, out: &mut impl Write) -> io::Result<()> {
    let [x, y, z] = offset.to_array().map(tidy);
    writeln!(out, "{tab}\tOFFSET {x:.6} {y:.6} {z:.6}")
}

/// Rounded to six decimals, and never a negative zero.
fn tidy(value: f64) -> f64 {
    (value * 1e6).round() / 1e6 + 0.0
}

/// The MOTION rows.
struct Rows<'a> {
    joints: &'a [Joint],
    frame: Frame,
    /// Q₀⁻¹ of each joint.
    rest_back: Vec<DQuat>,
    /// The joints in this frame, turned by W; one per joint.
    turned: Vec<Global>,
    /// Angles of the row before; one per joint.
    before: Vec<[f64; 3]>,
    /// How far each joint was from where its parent's OFFSET puts it at most, metres.
    stretch: Vec<f64>,
    row: Vec<u8>,
}

impl<'a> Rows<'a> {
    fn new(skeleton: &'a Skeleton, rest: &[Global], frame: Frame) -> Self {
        let joints = &skeleton.joints;
        let back = |joint: &Joint| joint.node.map(|node| rest[node].rotation.conjugate());
        Self {
            joints,
            frame,
            rest_back: joints
                .iter()
                .map(|joint| back(joint).unwrap_or(DQuat::IDENTITY))
                .collect(),
            turned: vec![Global::IDENTITY; joints.len()],
            before: vec![[0.0; 3]; joints.len()],
            stretch: vec![0.0; joints.len()],
            row: Vec::new(),
        }
    }

    /// The row of a frame in which the character's nodes are at `globals`.
    fn row(&mut self, globals: &[Global]) -> io::Result<&[u8]> {
        self.row.clear();
        for (at, joint) in self.joints.iter().enumerate() {
            let global = joint.node.map_or(Global::IDENTITY, |node| globals[node]);
            self.turned[at] = Global {
                position: global.position,
                rotation: nodes::unit(global.rotation * self.rest_back[at]),
                scale: DVec3::ONE,
            };
            let parent = joint.parent.map_or(Global::IDENTITY, |p| self.turned[p]);
            let (rotation, position) = parent.to(&self.turned[at]);
            if joint.has_positions {
                for value in self.frame.point(position).to_array() {
                    write!(self.row, "{:.6} ", tidy(value))?;
                }
            } else {
                self.stretch[at] = self.stretch[at].max(position.distance(joint.offset));
            }
            let angles = euler::zxy(self.frame.rotation(rotation), self.before[at]);
            self.before[at] = angles;
            for angle in angles {
                write!(self.row, "{:.6} ", tidy(angle.to_degrees()))?;
            }
        }
        if let Some(last) = self.row.last_mut() {
            *last = b'\n';
        }
        Ok(&self.row)
    }

    fn notes(&self) -> Option<String> {
        let stretched = self.joints.iter().zip(&self.stretch);
        let stretched = stretched.filter(|(_, by)| **by > STRETCH);
        let (worst, by) = stretched.clone().max_by(|a, b| a.1.total_cmp(b.1))?;
        Some(format!(
            "{} joints without position channels move within their parents; that is left out: {} is off by \
             up to {:.1} mm",
            stretched.count(),
            worst.name,
            by * 1000.0
        ))
    }
}
