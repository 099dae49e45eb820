//! Axis Neuron and Axis Studio (Noitom Perception Neuron): binary BVH broadcast, TCP or UDP, port 7001.
//!
//! Over TCP the hub connects to the computer that runs Axis; over UDP Axis sends datagrams, one frame each. The text
//! form of the broadcast is not read.
//!
//! | what | is | known from |
//! |---|---|---|
//! | subject | role animation, 59 bones. Name: [`Options::subject`], else the avatar's name in the header, else `Axis Neuron` | |
//! | source id | `axisneuron/<peer address>/<avatar index>` | |
//! | bone order | `Hips`, right leg, left leg, spine, head, right arm and hand, left arm and hand | vendor's header for its reader; readers in use; exported BVH files |
//! | Axis Studio | the same count; `Neck`, `Neck1`, `Head` in place of `Spine3`, `Neck`, `Head`: [`BoneSet::AxisStudio`] | two readers; **unproven** |
//! | rotations | degrees, relative to the parent, in the order that is set in Axis; YXZ unless changed there: [`Options::rotation_order`] | vendor's document; exported files; a reader that composes Ry·Rx·Rz |
//! | positions | of the hips always; with *displacement* of every bone, relative to the parent, in place of the built-in lengths | vendor's document; readers in use |
//! | unit | centimetres: [`Options::scale`] | two readers; **unproven** |
//! | reference | with *reference* six more values first: a node above the hips, which is composed into them | vendor's document |
//! | axes | **the house frame**: in exported files left limbs are at +X, feet and thumbs point to +Z, +Y is up | exported files |
//! | rest | T-pose, no bone turned; lengths as sent with displacement, else those of an adult of 1.75 m | convention of the vendor's skeleton |
//! | sequence | frame index of the shorter header, once it is seen to count | **unproven** |
//! | time, timecode | none | |
//!
//! Confidence: the layouts are agreed by several independent headers, and order and axes by several files; no capture
//! has been seen. What is unproven is an option.
//!
//! Sources: declarations of NeuronDataReader (versions 1.0 and 1.1) and the BVH template in ofxPerceptionNeuron; a
//! summary of Noitom's runtime API document; the Neuron plug-in of High Fidelity; readers for Unity.

mod convert;
mod decode;
mod packet;

#[cfg(test)]
mod tests;

pub use convert::{BoneSet, Options, RotationOrder};
pub use decode::{AxisNeuronDecoder, MAX_PACKETS_PER_SEC};
pub use packet::NUM_BONES;

/// The port on which Axis broadcasts BVH unless told otherwise.
pub const PORT: u16 = 7001;
