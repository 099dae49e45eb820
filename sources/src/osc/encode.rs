//! Frames of a subject → messages of OSC, for whatever program reads OSC.
//!
//! | address, after the prefix | arguments | of |
//! |---|---|---|
//! | `/<subject>/tracking` | i: 1 tracked, 0 lost | every frame |
//! | `/<subject>/curve/<name>` | f, as evaluated: not clamped | each measured property |
//! | `/<subject>/bone/<name>` | fffffff: position x y z in metres, rotation x y z w | each bone, relative to its parent |
//! | `/<subject>/transform` | fffffff, as above, in the room | a prop, a camera, a light |
//! | `/<subject>/camera/<field>` | f | what the camera measures: `field_of_view_rad`, `aspect_ratio`, `focal_length_mm`, `aperture`, `focus_distance_m` |
//! | `/<subject>/light/<field>` | f | what the light tells: `red`, `green`, `blue`, `intensity`, `temperature_k`, `inner_cone_rad`, `outer_cone_rad` |
//!
//! Axes and units are the house frame's. Names are escaped, because an OSC address is ASCII without space and
//! without ``# * , / ? [ ] { }``: each byte of the name's UTF-8 that is none of the rest, and `%` itself, is
//! written as `%` and two capital hexadecimal digits, as in URLs. `Left Arm` becomes `Left%20Arm`.
//!
//! Source of the byte layout: the OSC 1.0 specification.

use std::{collections::HashSet, fmt::Write as _};

use hub::{FrameBody, FrameData, Role, StaticData, SubjectName, Tracking, Transform};
use thiserror::Error;

use super::scan::{BUNDLE, MAX_DATAGRAM, MAX_MESSAGES};

/// Time tag of a bundle: to be taken at once.
const IMMEDIATELY: [u8; 8] = [0, 0, 0, 0, 0, 0, 0, 1];
/// Longest prefix, in bytes.
const MAX_PREFIX: usize = 64;

const CAMERA_FIELDS: [&str; 5] = [
    "field_of_view_rad",
    "aspect_ratio",
    "focal_length_mm",
    "aperture",
    "focus_distance_m",
];
const LIGHT_FIELDS: [&str; 7] = [
    "red",
    "green",
    "blue",
    "intensity",
    "temperature_k",
    "inner_cone_rad",
    "outer_cone_rad",
];

/// Why a text is no prefix of addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PrefixFault {
    /// It is neither empty nor begins with a slash, or it ends with one.
    #[error("it must be empty, or begin with / and not end with one")]
    Slash,
    /// It holds something that an OSC address may not.
    #[error("only ASCII without space and without # * , ? [ ] {{ }} may stand in it")]
    Character,
    /// It is longer than an address should begin.
    #[error("it may have at most {limit} bytes and has {have}")]
    TooLong {
        /// Most bytes.
        limit: usize,
        /// Bytes it has.
        have: usize,
    },
}

/// What every address of an output begins with; `/ghostlight` unless told otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OscPrefix(String);

impl Default for OscPrefix {
    fn default() -> Self {
        Self("/ghostlight".to_owned())
    }
}

impl OscPrefix {
    /// Takes the text as it is: empty, or up to 64 bytes such as `/stage/left`.
    ///
    /// # Errors
    /// When no address may begin like this.
    pub fn new(text: &str) -> Result<Self, PrefixFault> {
        if text.len() > MAX_PREFIX {
            return Err(PrefixFault::TooLong {
                limit: MAX_PREFIX,
                have: text.len(),
            });
        }
        if !text.is_empty() && (!text.starts_with('/') || text.ends_with('/')) {
            return Err(PrefixFault::Slash);
        }
        if !text.bytes().all(|b| b == b'/' || is_plain(b)) {
            return Err(PrefixFault::Character);
        }
        Ok(Self(text.to_owned()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Writes the frames of one subject as bundles of messages. Which ones, stands at the top of `encode.rs` and
/// in `docs/outputs.md`.
///
/// Messages are made anew when the static data or the name changes; for each frame only numbers are put in
/// their place, so that a steady stream does not allocate.
pub struct OscEncoder {
    prefix: OscPrefix,
    /// What the messages below were made for.
    of: Option<(SubjectName, StaticData)>,
    /// The messages of a frame as elements of a bundle: size, then message.
    elements: Vec<u8>,
    parts: Vec<Part>,
    datagram: Vec<u8>,
}

/// One element.
struct Part {
    /// Where it ends in the elements; it begins where the one before ends.
    end: usize,
    value: Value,
    /// False while the subject does not measure it.
    is_present: bool,
}

/// What stands in the last numbers of a message.
enum Value {
    Tracking,
    Transform(usize),
    Curve(usize),
    Camera(usize),
    Light(usize),
}

impl OscEncoder {
    /// For one subject; memory grows with its first frame.
    pub fn new(prefix: OscPrefix) -> Self {
        Self {
            prefix,
            of: None,
            elements: Vec::new(),
            parts: Vec::new(),
            datagram: Vec::new(),
        }
    }

    /// Sends a frame: as one bundle of at most 65,507 bytes, or as several that keep to `max_datagram`. A
    /// message that is longer alone goes alone. No bundle has more than 512 messages.
    ///
    /// Returns false, and sends nothing, for a frame that does not fit its static data. A number that is not
    /// finite leaves the last one in its place.
    pub fn frame(
        &mut self,
        name: &SubjectName,
        statics: &StaticData,
        frame: &FrameData,
        tracking: Tracking,
        max_datagram: Option<usize>,
        mut send: impl FnMut(&[u8]),
    ) -> bool {
        let fits = frame.role() == statics.role()
            && frame.transforms().len() == statics.num_transforms()
            && frame.properties.len() == statics.properties.len();
        if !fits {
            return false;
        }
        let is_known = |(n, s): &(SubjectName, StaticData)| n == name && s == statics;
        if !self.of.as_ref().is_some_and(is_known) {
            self.make_messages(name, statics);
        }
        self.put_values(frame, tracking);
        let limit = max_datagram.unwrap_or(MAX_DATAGRAM).min(MAX_DATAGRAM);
        self.send_bundles(limit, &mut send);
        true
    }

    fn make_messages(&mut self, name: &SubjectName, statics: &StaticData) {
        self.elements.clear();
        self.parts.clear();
        self.of = Some((name.clone(), statics.clone()));
        let mut subject = format!("{}/", self.prefix.as_str());
        escape(&mut subject, name.as_str());

        self.push(&format!("{subject}/tracking"), ",i", Value::Tracking);
        if let Some(skeleton) = statics.skeleton() {
            // Bones need not have names of their own: of several with one name the first counts.
            let mut seen = HashSet::new();
            for (bone, name) in skeleton.bone_names.iter().enumerate() {
                if seen.insert(name.as_str()) {
                    let mut address = format!("{subject}/bone/");
                    escape(&mut address, name);
                    self.push(&address, ",fffffff", Value::Transform(bone));
                }
            }
        } else if statics.num_transforms() == 1 {
            let address = format!("{subject}/transform");
            self.push(&address, ",fffffff", Value::Transform(0));
        }
        match statics.role() {
            Role::Camera => {
                for (at, field) in CAMERA_FIELDS.iter().enumerate() {
                    let address = format!("{subject}/camera/{field}");
                    self.push(&address, ",f", Value::Camera(at));
                }
            }
            Role::Light => {
                for (at, field) in LIGHT_FIELDS.iter().enumerate() {
                    let address = format!("{subject}/light/{field}");
                    self.push(&address, ",f", Value::Light(at));
                }
            }
            Role::Basic | Role::Animation | Role::Transform => {}
        }
        for (at, property) in statics.properties.iter().enumerate() {
            if property.measured {
                let mut address = format!("{subject}/curve/");
                escape(&mut address, &property.name);
                self.push(&address, ",f", Value::Curve(at));
            }
        }
    }

    fn push(&mut self, address: &str, tags: &str, value: Value) {
        let start = self.elements.len();
        self.elements.extend_from_slice(&[0; 4]);
        push_string(&mut self.elements, address);
        push_string(&mut self.elements, tags);
        // Each argument has four bytes, and each tag after the comma one argument.
        let end = self.elements.len() + 4 * (tags.len() - 1);
        self.elements.resize(end, 0);
        let element = &mut self.elements[start..];
        let size = (element.len() - 4) as i32;
        element[..4].copy_from_slice(&size.to_be_bytes());
        if matches!(value, Value::Transform(_)) {
            put(element, pose(&Transform::IDENTITY));
        }
        self.parts.push(Part {
            end,
            value,
            is_present: true,
        });
    }

    fn put_values(&mut self, frame: &FrameData, tracking: Tracking) {
        let transforms = frame.transforms();
        let (camera, light) = match &frame.body {
            FrameBody::Camera(camera) => (camera.lens(), [None; 7]),
            FrameBody::Light(light) => ([None; 5], light.emission()),
            _ => ([None; 5], [None; 7]),
        };
        let mut start = 0;
        for part in &mut self.parts {
            let element = &mut self.elements[start..part.end];
            start = part.end;
            let optional = match part.value {
                Value::Tracking => {
                    let is_tracked = tracking == Tracking::Tracked;
                    put_bytes(element, [i32::from(is_tracked).to_be_bytes()]);
                    continue;
                }
                Value::Transform(at) => {
                    put(element, pose(&transforms[at]));
                    continue;
                }
                Value::Curve(at) => Some(frame.properties[at]),
                Value::Camera(at) => camera[at],
                Value::Light(at) => light[at],
            };
            part.is_present = optional.is_some();
            if let Some(value) = optional {
                put(element, [value]);
            }
        }
    }

    fn send_bundles(&mut self, limit: usize, send: &mut impl FnMut(&[u8])) {
        let datagram = &mut self.datagram;
        let mut num_messages = 0;
        let mut start = 0;
        for part in &self.parts {
            let element = &self.elements[start..part.end];
            start = part.end;
            if !part.is_present {
                continue;
            }
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

/// What may stand in an address between two slashes as it is.
fn is_plain(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b"#*,/?[]{}%".contains(&byte)
}

fn escape(address: &mut String, name: &str) {
    for byte in name.bytes() {
        if is_plain(byte) {
            address.push(char::from(byte));
        } else {
            let _ = write!(address, "%{byte:02X}");
        }
    }
}

/// Ends in NUL and is padded with NUL to a multiple of four bytes. Neither addresses nor tags hold one.
fn push_string(out: &mut Vec<u8>, text: &str) {
    let end = out.len() + (text.len() + 1).next_multiple_of(4);
    out.extend_from_slice(text.as_bytes());
    out.resize(end, 0);
}

fn pose(t: &Transform) -> [f32; 7] {
    let [x, y, z] = t.translation.to_array();
    let [qx, qy, qz, qw] = t.rotation.to_array();
    [x, y, z, qx, qy, qz, qw]
}

fn put<const N: usize>(element: &mut [u8], values: [f32; N]) {
    if values.iter().all(|v| v.is_finite()) {
        put_bytes(element, values.map(f32::to_be_bytes));
    }
}

/// Puts arguments at the end of a message.
fn put_bytes<const N: usize>(element: &mut [u8], arguments: [[u8; 4]; N]) {
    let (_, slots) = element.as_rchunks_mut::<4>();
    let first = slots.len().saturating_sub(N);
    for (slot, argument) in slots[first..].iter_mut().zip(arguments) {
        *slot = argument;
    }
}

#[cfg(test)]
mod tests;
