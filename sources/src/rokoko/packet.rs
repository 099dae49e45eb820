//! Bytes → records of Rokoko Studio's custom streaming.
//!
//! A datagram is JSON text, plain or in one LZ4 *frame* (magic `04 22 4d 18`); the first bytes tell.
//!
//! | v3 | v1, v2 |
//! |---|---|
//! | `version` `"3.0"`, `"3,0"` or 3; `fps` | `version` 1 or 2 |
//! | `scene.timestamp` | `timestamp` |
//! | `scene.actors[]`: `name`, `meta` { `hasBody`, `hasFace` … }, `dimensions`, `body` { joint }, `face` | `actors[]`: `name`, `hipHeight`, joints |
//! | `scene.props[]`: `name`, `position`, `rotation` | `props[]`, `trackers[]`: the same and `isLive`; `faces[]`: `faceId`, `profileName`, weights |
//!
//! A joint is `position` { x y z } and `rotation` { x y z w }. Studio Legacy's "JSON v2.5" says version 3 and
//! has `trackers`: it reads as v2 (the vendor's Blender add-on, `core/live_data_manager.py`). Whatever else
//! newer versions add is passed over. Lists are bounded while they are read: no count allocates.

use std::{fmt, io::Read as _, marker::PhantomData};

use hub::arkit::{self, NUM_FACE_CURVES};
use lz4_flex::frame::FrameDecoder;
use serde::{
    Deserialize, Deserializer,
    de::{Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::joints::{self, NUM_JOINTS};
use crate::error::Reject;

/// Longest text taken, once decompressed.
pub const MAX_JSON_BYTES: usize = 1 << 20;

const LZ4_MAGIC: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];
/// Deepest nesting taken; v3 needs 7.
const MAX_DEPTH: usize = 8;
const MAX_ACTORS: usize = 16;
const MAX_PROPS: usize = 64;
const MAX_NAME_BYTES: usize = 128;
/// Newest major version read.
const VERSION: u32 = 3;

/// A position on the wire.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub(super) struct Xyz {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) z: f32,
}

/// A rotation on the wire.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
pub(super) struct Xyzw {
    pub(super) x: f32,
    pub(super) y: f32,
    pub(super) z: f32,
    pub(super) w: f32,
}

/// A global pose on the wire, not yet judged.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
pub(super) struct Pose {
    pub(super) position: Option<Xyz>,
    pub(super) rotation: Option<Xyzw>,
}

/// What an actor wears.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) struct Meta {
    pub(super) has_body: Option<bool>,
    pub(super) has_face: Option<bool>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Dimensions {
    hip_height: Option<f32>,
}

/// Weights of a face, and whom it belongs to.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Face {
    pub(super) id: String,
    pub(super) profile: String,
    /// By the first curves of [`arkit::CURVES`]; empty when none came, else one each.
    pub(super) weights: Vec<Option<f32>>,
}

/// One performer.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Actor {
    pub(super) name: String,
    pub(super) meta: Meta,
    /// Metres, if given.
    pub(super) hip_height: Option<f32>,
    /// By [`joints::JOINTS`]; empty when none came.
    pub(super) joints: Vec<Option<Pose>>,
    pub(super) face: Option<Face>,
}

/// A prop or a tracker.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "camelCase")]
pub(super) struct Prop {
    pub(super) name: Option<String>,
    pub(super) is_live: Option<bool>,
    position: Option<Xyz>,
    rotation: Option<Xyzw>,
}

impl Prop {
    pub(super) fn pose(&self) -> Pose {
        Pose {
            position: self.position,
            rotation: self.rotation,
        }
    }
}

/// One datagram's records.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Packet {
    /// Seconds.
    pub(super) timestamp: Option<f64>,
    pub(super) actors: Vec<Actor>,
    pub(super) faces: Vec<Face>,
    pub(super) props: Vec<Prop>,
    pub(super) trackers: Vec<Prop>,
}

#[derive(Deserialize)]
struct Document {
    version: Version,
    fps: Option<f64>,
    scene: Option<Scene>,
    timestamp: Option<f64>,
    actors: Option<Few<Actor, MAX_ACTORS>>,
    faces: Option<Few<Face, MAX_ACTORS>>,
    props: Option<Few<Prop, MAX_PROPS>>,
    trackers: Option<Few<Prop, MAX_PROPS>>,
}

#[derive(Deserialize)]
struct Scene {
    timestamp: Option<f64>,
    actors: Option<Few<Actor, MAX_ACTORS>>,
    props: Option<Few<Prop, MAX_PROPS>>,
}

/// Whether a datagram may be of this protocol, by its first bytes.
pub(super) fn is_rokoko(bytes: &[u8]) -> bool {
    bytes.starts_with(&LZ4_MAGIC) || bytes.trim_ascii_start().starts_with(b"{")
}

/// The JSON text of a datagram, decompressed into `scratch` where need be, never beyond [`MAX_JSON_BYTES`].
pub(super) fn text<'a>(bytes: &'a [u8], scratch: &'a mut Vec<u8>) -> Result<&'a [u8], Reject> {
    if !bytes.starts_with(&LZ4_MAGIC) {
        return Ok(bytes);
    }
    scratch.clear();
    FrameDecoder::new(bytes)
        .take(MAX_JSON_BYTES as u64 + 1)
        .read_to_end(scratch)
        .map_err(|_cause| Reject::Syntax {
            at: 0,
            expected: "a whole LZ4 frame",
        })?;
    if scratch.len() > MAX_JSON_BYTES {
        return Err(Reject::WrongLength {
            want: MAX_JSON_BYTES,
            have: scratch.len(),
        });
    }
    Ok(scratch)
}

impl Packet {
    /// Reads the text.
    ///
    /// # Errors
    /// No JSON of this kind, beyond a bound, or a version not known.
    pub(super) fn parse(text: &[u8]) -> Result<Self, Reject> {
        check_depth(text)?;
        let d: Document = serde_json::from_slice(text).map_err(|e| Reject::Syntax {
            at: offset(text, e.line(), e.column()),
            expected: "a JSON frame of Rokoko Studio within its bounds",
        })?;
        let Version(version) = d.version;
        if !(1..=VERSION).contains(&version) {
            return Err(Reject::BadVersion {
                want: VERSION,
                have: version,
            });
        }
        if let Some(fps) = d.fps
            && !(1.0..=1000.0).contains(&fps)
        {
            return Err(out_of_range("frames per second", fps as i64, 1, 1000));
        }
        // "JSON v2.5" says 3, but its trackers give it away.
        let packet = match d.scene {
            Some(scene) if d.trackers.is_none() => Self {
                timestamp: scene.timestamp,
                actors: few(scene.actors),
                faces: Vec::new(),
                props: few(scene.props),
                trackers: Vec::new(),
            },
            _ => Self {
                timestamp: d.timestamp,
                actors: few(d.actors),
                faces: few(d.faces),
                props: few(d.props),
                trackers: few(d.trackers),
            },
        };
        let actors = packet.actors.iter().map(|a| &a.name);
        let faces = packet.faces.iter().flat_map(|f| [&f.id, &f.profile]);
        let props = packet.props.iter().chain(&packet.trackers);
        let names = actors
            .chain(faces)
            .chain(props.filter_map(|p| p.name.as_ref()));
        let longest = names.map(String::len).max().unwrap_or(0);
        if longest > MAX_NAME_BYTES {
            let max = MAX_NAME_BYTES as i64;
            return Err(out_of_range("name length", longest as i64, 0, max));
        }
        Ok(packet)
    }
}

fn out_of_range(what: &'static str, have: i64, min: i64, max: i64) -> Reject {
    Reject::OutOfRange {
        what,
        have,
        min,
        max,
    }
}

fn few<T, const N: usize>(list: Option<Few<T, N>>) -> Vec<T> {
    list.map_or_else(Vec::new, |Few(items)| items)
}

/// Where a line and column, both from 1, are in the text.
fn offset(text: &[u8], line: usize, column: usize) -> usize {
    let lines = text.split_inclusive(|b| *b == b'\n');
    let before: usize = lines.take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    before + column.saturating_sub(1)
}

/// Bounds the nesting before anything recurses into it.
fn check_depth(text: &[u8]) -> Result<(), Reject> {
    let (mut depth, mut in_string, mut escaped) = (0, false, false);
    for (at, byte) in text.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return Err(Reject::Syntax {
                        at,
                        expected: "at most 8 levels of nesting",
                    });
                }
            }
            b'}' | b']' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    Ok(())
}

/// At most `N` items; one more is an error, before it is read.
struct Few<T, const N: usize>(Vec<T>);

impl<'de, T: Deserialize<'de>, const N: usize> Deserialize<'de> for Few<T, N> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List<T, const N: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const N: usize> Visitor<'de> for List<T, N> {
            type Value = Few<T, N>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {N} items")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Few<T, N>, A::Error> {
                let mut items = Vec::new();
                while items.len() < N {
                    let Some(item) = list.next_element()? else {
                        return Ok(Few(items));
                    };
                    items.push(item);
                }
                match list.next_element::<IgnoredAny>()? {
                    None => Ok(Few(items)),
                    Some(_) => Err(A::Error::invalid_length(N + 1, &self)),
                }
            }
        }

        from.deserialize_seq(List(PhantomData))
    }
}

/// The major version, a number or a text with a point or a comma.
struct Version(u32);

impl<'de> Deserialize<'de> for Version {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Major;

        impl Visitor<'_> for Major {
            type Value = Version;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a version")
            }

            fn visit_u64<E: serde::de::Error>(self, v: u64) -> Result<Version, E> {
                Ok(Version(u32::try_from(v).unwrap_or(u32::MAX)))
            }

            fn visit_f64<E: serde::de::Error>(self, v: f64) -> Result<Version, E> {
                Ok(Version(v as u32))
            }

            fn visit_str<E: serde::de::Error>(self, v: &str) -> Result<Version, E> {
                let major = v.split(['.', ',']).next().unwrap_or_default().trim();
                major.parse().map(Version).map_err(E::custom)
            }
        }

        from.deserialize_any(Major)
    }
}

/// A key of an object, turned into what it means without allocating.
struct Key<T>(T);

impl<'de, T: for<'a> From<&'a str>> Deserialize<'de> for Key<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Text<T>(PhantomData<T>);

        impl<T: for<'a> From<&'a str>> Visitor<'_> for Text<T> {
            type Value = Key<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a key")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Key<T>, E> {
                Ok(Key(T::from(text)))
            }
        }

        from.deserialize_str(Text(PhantomData))
    }
}

enum ActorKey {
    Name,
    Meta,
    Dimensions,
    HipHeight,
    Body,
    Face,
    Joint(usize),
    Other,
}

impl From<&str> for ActorKey {
    fn from(key: &str) -> Self {
        match key {
            "name" => Self::Name,
            "meta" => Self::Meta,
            "dimensions" => Self::Dimensions,
            "hipHeight" => Self::HipHeight,
            "body" => Self::Body,
            "face" => Self::Face,
            _ => joints::index_of(key).map_or(Self::Other, Self::Joint),
        }
    }
}

impl<'de> Deserialize<'de> for Actor {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Actor;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an actor")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Actor, A::Error> {
                let mut actor = Actor::default();
                while let Some(Key(key)) = map.next_key::<Key<ActorKey>>()? {
                    match key {
                        ActorKey::Name => {
                            actor.name = map.next_value::<Option<_>>()?.unwrap_or_default();
                        }
                        ActorKey::Meta => {
                            actor.meta = map.next_value::<Option<_>>()?.unwrap_or_default();
                        }
                        ActorKey::Dimensions => {
                            let d: Option<Dimensions> = map.next_value()?;
                            actor.hip_height = d.unwrap_or_default().hip_height;
                        }
                        ActorKey::HipHeight => actor.hip_height = map.next_value()?,
                        ActorKey::Face => actor.face = map.next_value()?,
                        // The body of v3 holds what an actor of v2 holds itself.
                        ActorKey::Body => {
                            let body: Option<Actor> = map.next_value()?;
                            actor.joints = body.unwrap_or_default().joints;
                        }
                        ActorKey::Joint(at) => {
                            let pose = map.next_value()?;
                            actor.joints.resize(NUM_JOINTS, None);
                            if let Some(joint) = actor.joints.get_mut(at) {
                                *joint = pose;
                            }
                        }
                        ActorKey::Other => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(actor)
            }
        }

        from.deserialize_map(Object)
    }
}

enum FaceKey {
    Id,
    Profile,
    Shapes,
    Curve(usize),
    Other,
}

impl From<&str> for FaceKey {
    fn from(key: &str) -> Self {
        match key {
            "faceId" => Self::Id,
            "profileName" => Self::Profile,
            "shapes" => Self::Shapes,
            _ => match arkit::index_of(key) {
                Some(at) if at < NUM_FACE_CURVES => Self::Curve(at),
                _ => Self::Other,
            },
        }
    }
}

impl<'de> Deserialize<'de> for Face {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Object;

        impl<'de> Visitor<'de> for Object {
            type Value = Face;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a face")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Face, A::Error> {
                let mut face = Face::default();
                while let Some(Key(key)) = map.next_key::<Key<FaceKey>>()? {
                    match key {
                        FaceKey::Id => {
                            face.id = map.next_value::<Option<_>>()?.unwrap_or_default();
                        }
                        FaceKey::Profile => {
                            face.profile = map.next_value::<Option<_>>()?.unwrap_or_default();
                        }
                        FaceKey::Shapes => {
                            let inner: Option<Face> = map.next_value()?;
                            face.weights = inner.unwrap_or_default().weights;
                        }
                        FaceKey::Curve(at) => {
                            let weight = map.next_value()?;
                            face.weights.resize(NUM_FACE_CURVES, None);
                            if let Some(w) = face.weights.get_mut(at) {
                                *w = weight;
                            }
                        }
                        FaceKey::Other => {
                            map.next_value::<IgnoredAny>()?;
                        }
                    }
                }
                Ok(face)
            }
        }

        from.deserialize_map(Object)
    }
}
