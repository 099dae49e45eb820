//! Frames of a subject → messages of VMC.

use std::ops::Range;

use glam::Quat;
use hub::{
    FrameData, Property, Role, Skeleton, StaticData, Transform,
    arkit::{self, NUM_FACE_CURVES},
};
use rosc::{OscMessage, OscPacket, OscType, encoder::encode_into_tcp};

use super::{
    bones::{self, ROOT},
    convert,
};
use crate::{
    osc::scan::{BUNDLE, MAX_DATAGRAM, MAX_MESSAGES},
    pose,
};

/// Bytes of a datagram that no usual network takes apart; what to split by if a receiver is not on this
/// machine.
pub const MTU: usize = 1400;

/// Time tag of a bundle: to be taken at once.
const IMMEDIATELY: [u8; 8] = [0, 0, 0, 0, 0, 0, 0, 1];
/// Curves that turn the head: yaw, pitch, roll.
const HEAD_CURVES: [&str; 3] = [arkit::CURVES[52], arkit::CURVES[53], arkit::CURVES[54]];
/// Part of the head's turn that the neck makes, as `retarget`'s face rig has it.
const NECK_SHARE: f32 = 0.4;

/// Writes the frames of one subject for one kind of receiver, as a VMC Performer.
///
/// | messages, in this order | of |
/// |---|---|
/// | `/VMC/Ext/OK` 1, `/VMC/Ext/T` | every frame |
/// | `/VMC/Ext/Root/Pos`, `/VMC/Ext/Bone/Pos` | a subject with a skeleton: each bone with a name of Unity's or of Mixamo's; bones between are folded into the next one below. Without a bone `root` the root is the identity |
/// | `/VMC/Ext/Bone/Pos` of `Neck`, `Head` | a subject without skeleton that has `HeadYaw`, `HeadPitch` or `HeadRoll`, as `retarget`'s face rig would turn them |
/// | `/VMC/Ext/Blend/Val` | each measured property, clamped to 0..1; ARKit's curves under their "perfect sync" names ([`hub::arkit::CURVES`]), ARKit's rotations left out, others as named |
/// | `/VMC/Ext/Blend/Apply` | every frame |
///
/// Rotations are written relative to the rest pose, in the axes of the model: what VRM 0.x calls normalised,
/// which fits any character whose rest pose is a T-pose. A skeleton that tells no rest pose is taken to have
/// one without rotations.
///
/// Subjects of other roles have nothing to send. Messages are made anew when the static data changes, by
/// `rosc`; for each frame only numbers are put in their place, so that a steady stream does not allocate.
///
/// ```
/// use hub::{FrameData, StaticData};
/// use sources::vmc::VmcEncoder;
///
/// let face = StaticData::basic(&["jawOpen"]);
/// let mut sent = Vec::new();
/// VmcEncoder::new().frame(&face, &FrameData::basic(vec![0.5]), 12.5, None, |datagram| {
///     sent.push(datagram.to_vec());
/// });
/// assert_eq!(sent.len(), 1);
/// assert!(sent[0].starts_with(b"#bundle\0"));
/// ```
#[derive(Default)]
pub struct VmcEncoder {
    /// What the messages below were made for.
    statics: Option<StaticData>,
    /// The messages of a frame as elements of a bundle: size, then message.
    elements: Vec<u8>,
    parts: Vec<Part>,
    /// Bones of the subject, for [`Value::Bone`].
    chains: Vec<u32>,
    /// Properties that turn the head.
    head: [Option<usize>; 3],
    datagram: Vec<u8>,
}

/// One element.
struct Part {
    /// Where it ends in the elements; it begins where the one before ends.
    end: usize,
    value: Value,
}

/// What stands in the last numbers of a message.
enum Value {
    /// What was written once.
    Fixed,
    /// The sender's clock.
    Secs,
    /// `before * chain * after`, the chain from above to below.
    Bone {
        chain: Range<usize>,
        /// Rest rotation, in the model, of what the chain hangs on.
        before: Quat,
        /// Inverse of the rest rotation, in the model, of the bone.
        after: Quat,
    },
    Neck,
    Head,
    /// The property of that index.
    Curve(usize),
}

impl VmcEncoder {
    /// For one subject; memory grows with its first frame.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends a frame: as one bundle of at most 65,507 bytes, or as several that keep to `max_datagram`
    /// (see [`MTU`]), each complete in itself. A message that is longer alone goes alone. No bundle has more
    /// than 512 messages.
    ///
    /// `secs` is the sender's clock; on the wire it is an f32, which after a day is good for 8 ms.
    /// A frame that does not fit its static data sends nothing; a number that is not finite leaves the last
    /// one in its place.
    pub fn frame(
        &mut self,
        statics: &StaticData,
        frame: &FrameData,
        secs: f64,
        max_datagram: Option<usize>,
        mut send: impl FnMut(&[u8]),
    ) {
        let fits = frame.role() == statics.role()
            && frame.transforms().len() == statics.num_transforms()
            && frame.properties.len() == statics.properties.len();
        if !fits {
            return;
        }
        if self.statics.as_ref() != Some(statics) {
            self.make_messages(statics);
        }
        self.put_values(frame, secs);
        let limit = max_datagram.unwrap_or(MAX_DATAGRAM).min(MAX_DATAGRAM);
        self.send_bundles(limit, &mut send);
    }

    fn make_messages(&mut self, statics: &StaticData) {
        self.elements.clear();
        self.parts.clear();
        self.chains.clear();
        self.head = [None; 3];
        self.statics = Some(statics.clone());
        if !matches!(statics.role(), Role::Basic | Role::Animation) {
            return;
        }
        self.push("/VMC/Ext/OK", vec![OscType::Int(1)], Value::Fixed);
        self.push("/VMC/Ext/T", vec![OscType::Float(0.0)], Value::Secs);
        match statics.skeleton() {
            Some(skeleton) => self.push_skeleton(skeleton),
            None => self.push_head(&statics.properties),
        }
        for (index, property) in statics.properties.iter().enumerate() {
            let name = match arkit::index_of(&property.name) {
                Some(curve) if curve < NUM_FACE_CURVES => arkit::CURVES[curve],
                // Rotations are no expressions.
                Some(_) => continue,
                None => property.name.as_str(),
            };
            // A name with NUL would end there; the hub has none.
            if property.measured && !name.contains('\0') {
                let args = vec![OscType::String(name.to_owned()), OscType::Float(0.0)];
                self.push("/VMC/Ext/Blend/Val", args, Value::Curve(index));
            }
        }
        self.push("/VMC/Ext/Blend/Apply", Vec::new(), Value::Fixed);
    }

    fn push_skeleton(&mut self, skeleton: &Skeleton) {
        let num_bones = skeleton.num_bones();
        let parent_of = |bone: usize| {
            let parent = skeleton.parents.get(bone).copied().flatten()?;
            Some(parent as usize).filter(|parent| *parent < bone)
        };
        // Of several bones that go by one name the first counts.
        let mut taken = 0u64;
        let mut human = vec![None; num_bones];
        for (bone, name) in skeleton.bone_names.iter().enumerate() {
            if let Some(known) = bones::of_any(name)
                && taken & (1 << known) == 0
            {
                taken |= 1 << known;
                human[bone] = Some(known);
            }
        }
        let mut model_from_rest: Vec<Quat> = Vec::with_capacity(num_bones);
        for bone in 0..num_bones {
            let own = skeleton.rest.get(bone).and_then(|t| pose::unit(t.rotation));
            let own = own.unwrap_or(Quat::IDENTITY);
            let parent = parent_of(bone).map_or(Quat::IDENTITY, |p| model_from_rest[p]);
            model_from_rest.push(parent * own);
        }

        if taken & (1 << ROOT) == 0 {
            let identity = pose_args(bones::name(ROOT));
            self.push("/VMC/Ext/Root/Pos", identity, Value::Fixed);
        }
        for (bone, known) in human.iter().enumerate() {
            let Some(known) = *known else {
                continue;
            };
            let first = self.chains.len();
            let mut before = Quat::IDENTITY;
            let mut at = bone;
            self.chains.push(at as u32);
            while let Some(parent) = parent_of(at) {
                if human[parent].is_some() {
                    before = model_from_rest[parent];
                    break;
                }
                self.chains.push(parent as u32);
                at = parent;
            }
            self.chains[first..].reverse();
            let address = if known == ROOT {
                "/VMC/Ext/Root/Pos"
            } else {
                "/VMC/Ext/Bone/Pos"
            };
            let value = Value::Bone {
                chain: first..self.chains.len(),
                before,
                after: model_from_rest[bone].conjugate(),
            };
            self.push(address, pose_args(bones::name(known)), value);
        }
    }

    fn push_head(&mut self, properties: &[Property]) {
        self.head = HEAD_CURVES.map(|name| {
            let is_it = |p: &Property| p.measured && p.name.eq_ignore_ascii_case(name);
            properties.iter().position(is_it)
        });
        if self.head.iter().any(Option::is_some) {
            self.push("/VMC/Ext/Bone/Pos", pose_args("Neck"), Value::Neck);
            self.push("/VMC/Ext/Bone/Pos", pose_args("Head"), Value::Head);
        }
    }

    fn push(&mut self, address: &str, args: Vec<OscType>, value: Value) {
        let packet = OscPacket::Message(OscMessage {
            addr: address.to_owned(),
            args,
        });
        // With its size before it, as a stream has it and as it stands in a bundle.
        let Ok(_) = encode_into_tcp(&packet, &mut self.elements);
        self.parts.push(Part {
            end: self.elements.len(),
            value,
        });
    }

    fn put_values(&mut self, frame: &FrameData, secs: f64) {
        let bones = frame.transforms();
        let turned = self.head_turn(&frame.properties);
        let neck = Quat::from_scaled_axis(turned.to_scaled_axis() * NECK_SHARE);
        let mut start = 0;
        for part in &self.parts {
            let element = &mut self.elements[start..part.end];
            start = part.end;
            match &part.value {
                Value::Fixed => {}
                Value::Secs => put(element, [secs as f32]),
                Value::Bone {
                    chain,
                    before,
                    after,
                } => {
                    let chain = self.chains[chain.clone()].iter();
                    let local = chain
                        .map(|bone| bones[*bone as usize])
                        .reduce(|above, below| above.mul(&below))
                        .unwrap_or_default();
                    let local = Transform::new(
                        *before * local.translation,
                        *before * local.rotation * *after,
                    );
                    put(element, convert::floats(&local));
                }
                Value::Neck => put(element, rotation_floats(neck)),
                // What is left of the turn: neck * head is the whole.
                Value::Head => put(element, rotation_floats(neck.conjugate() * turned)),
                Value::Curve(index) => put(element, [frame.properties[*index].clamp(0.0, 1.0)]),
            }
        }
    }

    /// Roll first, yaw last; signs as in `retarget`'s face rig: yaw + to the right, pitch + down.
    fn head_turn(&self, properties: &[f32]) -> Quat {
        let [yaw, pitch, roll] = self.head.map(|property| {
            let value = property.and_then(|index| properties.get(index));
            value.copied().filter(|v| v.is_finite()).unwrap_or(0.0)
        });
        Quat::from_rotation_y(-yaw) * Quat::from_rotation_x(pitch) * Quat::from_rotation_z(-roll)
    }

    fn send_bundles(&mut self, limit: usize, send: &mut impl FnMut(&[u8])) {
        let datagram = &mut self.datagram;
        let mut num_messages = 0;
        let mut start = 0;
        for part in &self.parts {
            let element = &self.elements[start..part.end];
            start = part.end;
            let is_full = num_messages == MAX_MESSAGES || datagram.len() + element.len() > limit;
            if num_messages > 0 && is_full {
                send(datagram.as_slice());
                num_messages = 0;
            }
            if num_messages == 0 {
                datagram.clear();
                datagram.extend_from_slice(BUNDLE);
                datagram.extend_from_slice(&IMMEDIATELY);
            }
            datagram.extend_from_slice(element);
            num_messages += 1;
        }
        if num_messages > 0 {
            send(datagram.as_slice());
        }
    }
}

/// Name and identity: position and rotation.
fn pose_args(name: &str) -> Vec<OscType> {
    let identity = convert::floats(&Transform::IDENTITY);
    let mut args = vec![OscType::String(name.to_owned())];
    args.extend(identity.map(OscType::Float));
    args
}

fn rotation_floats(rotation: Quat) -> [f32; 7] {
    convert::floats(&Transform::new(glam::Vec3::ZERO, rotation))
}

/// Puts numbers at the end of a message.
fn put<const N: usize>(element: &mut [u8], values: [f32; N]) {
    if values.iter().all(|v| v.is_finite()) {
        let (_, slots) = element.as_rchunks_mut::<4>();
        let first = slots.len().saturating_sub(N);
        for (slot, value) in slots[first..].iter_mut().zip(values) {
            *slot = value.to_be_bytes();
        }
    }
}
