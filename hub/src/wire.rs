//! The one byte form of the vocabulary, version 1: used by our own datagrams and by takes.
//!
//! Each record is a [postcard](https://postcard.jamesmunns.com/wire-format) struct (varint integers,
//! zig-zag where signed, little-endian floats). Lists are byte strings, read element by element, so that
//! no length on the wire decides an allocation: memory grows with the bytes that are really there.
//!
//! **Static record**
//!
//! | field | type | meaning |
//! |---|---|---|
//! | role | u8 | index into [`Role::ALL`]: 0 basic, 1 animation, 2 transform, 3 camera, 4 light |
//! | bones | bytes | per bone: str name, varint parent + 1 (0 = root) |
//! | rest | bytes | per bone 10 × f32: translation x y z, rotation x y z w, scale x y z; or empty |
//! | sensor_mm | option of 2 × f32 | camera sensor width, height |
//! | light_unit | u8 | 0 none, 1 candela, 2 lumen, 3 lux |
//! | properties | bytes | per property: str name, u8 flags (1 = step, 2 = not measured) |
//!
//! **Frame record**
//!
//! | field | type | meaning |
//! |---|---|---|
//! | timecode | option | i64 frame, f32 sub-frame, u32 numerator, u32 denominator, bool drop |
//! | source_nanos | option of i64 | the source's own clock |
//! | sequence | option of u64 | packet counter |
//! | flags | u8 | 1 = tracking lost, 2 = values present |
//! | role | u8 | as above |
//! | transforms | bytes | per transform 10 × f32 as in `rest` |
//! | role_mask | u8 | which of the role's optional values follow |
//! | role_values | bytes | f32 each: camera field of view, aspect, focal length, aperture, focus; light red, green, blue, intensity, kelvin, inner, outer |
//! | properties | bytes | f32 each |
//! | extra | bytes | per pair: str key, str value; at most 16 pairs |
//!
//! Fields may be added at the end in later minor versions; a reader ignores what follows.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::{
    error::StaticFault,
    frame_data::{CameraFrame, FrameBody, FrameData, FrameMeta, LightFrame, Tracking, Transform},
    role::Role,
    static_data::{
        Blend, CameraStatic, LightStatic, LightUnit, MAX_BONES, MAX_PROPERTIES, Property, Skeleton,
        StaticBody, StaticData,
    },
    time::SourceTime,
    timecode::{DropFrame, FrameRate, QualifiedFrameTime},
};

/// Version of this byte form.
pub const VERSION: u8 = 1;
/// Most key-value pairs of a frame.
pub const MAX_EXTRA: usize = 16;
/// Bytes of one transform.
const TRANSFORM_BYTES: usize = 40;

/// Why bytes are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum WireError {
    /// Cut short, or not of this shape.
    #[error("the record is cut short or malformed")]
    Malformed,
    /// A role, unit or rate that version 1 does not know.
    #[error("{what} {have} is unknown to version 1")]
    Unknown {
        /// Which field.
        what: &'static str,
        /// Its value.
        have: u32,
    },
    /// A byte string whose length is no multiple of its element.
    #[error("{have} bytes of {what}, not a multiple of {of}")]
    Ragged {
        /// Which field.
        what: &'static str,
        /// Element size.
        of: usize,
        /// Bytes given.
        have: usize,
    },
    /// More elements than any subject has.
    #[error("more than {limit} {what}")]
    TooMany {
        /// Which list.
        what: &'static str,
        /// Most allowed.
        limit: usize,
    },
    /// Well-formed, but the static data contradicts itself.
    #[error(transparent)]
    Static(#[from] StaticFault),
}

#[derive(Serialize, Deserialize)]
struct StaticV1<'a> {
    role: u8,
    #[serde(borrow)]
    bones: &'a [u8],
    rest: &'a [u8],
    sensor_mm: Option<[f32; 2]>,
    light_unit: u8,
    properties: &'a [u8],
}

#[derive(Serialize, Deserialize)]
struct TimecodeV1 {
    frame: i64,
    sub_frame: f32,
    num: u32,
    den: u32,
    drop: bool,
}

#[derive(Serialize, Deserialize)]
struct FrameV1<'a> {
    timecode: Option<TimecodeV1>,
    source_nanos: Option<i64>,
    sequence: Option<u64>,
    flags: u8,
    role: u8,
    #[serde(borrow)]
    transforms: &'a [u8],
    role_mask: u8,
    role_values: &'a [u8],
    properties: &'a [u8],
    extra: &'a [u8],
}

const FLAG_LOST: u8 = 1;
const FLAG_VALUES: u8 = 2;
const PROPERTY_STEP: u8 = 1;
const PROPERTY_UNMEASURED: u8 = 2;

fn role_index(role: Role) -> u8 {
    match role {
        Role::Basic => 0,
        Role::Animation => 1,
        Role::Transform => 2,
        Role::Camera => 3,
        Role::Light => 4,
    }
}

fn role_of(index: u8) -> Result<Role, WireError> {
    Role::ALL
        .get(usize::from(index))
        .copied()
        .ok_or(WireError::Unknown {
            what: "role",
            have: u32::from(index),
        })
}

/// Writes records; keeps its scratch memory between calls.
#[derive(Debug, Default)]
pub struct Encoder {
    bones: Vec<u8>,
    transforms: Vec<u8>,
    values: Vec<u8>,
    properties: Vec<u8>,
    extra: Vec<u8>,
}

fn put_f32s(out: &mut Vec<u8>, values: &[f32]) {
    out.reserve(values.len() * 4);
    for v in values {
        out.extend_from_slice(&v.to_le_bytes());
    }
}

fn put_transforms(out: &mut Vec<u8>, transforms: &[Transform]) {
    out.clear();
    for t in transforms {
        put_f32s(out, &t.translation.to_array());
        put_f32s(out, &t.rotation.to_array());
        put_f32s(out, &t.scale.to_array());
    }
}

fn put<T: Serialize>(out: &mut Vec<u8>, value: &T) {
    let taken = std::mem::take(out);
    *out = postcard::to_extend(value, taken)
        .expect("a Vec takes any number of bytes and these types have no failing serialiser");
}

impl Encoder {
    /// Appends the static record to `out`.
    pub fn static_data(&mut self, data: &StaticData, out: &mut Vec<u8>) {
        self.bones.clear();
        self.transforms.clear();
        self.properties.clear();
        if let StaticBody::Animation(s) = &data.body {
            for (name, parent) in s.bone_names.iter().zip(&s.parents) {
                put(
                    &mut self.bones,
                    &(name.as_str(), parent.map_or(0, |p| p + 1)),
                );
            }
            put_transforms(&mut self.transforms, &s.rest);
        }
        for p in &data.properties {
            let step = match p.blend {
                Blend::Linear => 0,
                Blend::Step => PROPERTY_STEP,
            };
            let unmeasured = if p.measured { 0 } else { PROPERTY_UNMEASURED };
            put(&mut self.properties, &(p.name.as_str(), step | unmeasured));
        }
        let record = StaticV1 {
            role: role_index(data.role()),
            bones: &self.bones,
            rest: &self.transforms,
            sensor_mm: match &data.body {
                StaticBody::Camera(c) => c.sensor_mm,
                _ => None,
            },
            light_unit: match &data.body {
                StaticBody::Light(l) => match l.unit {
                    LightUnit::Unitless => 0,
                    LightUnit::Candela => 1,
                    LightUnit::Lumen => 2,
                    LightUnit::Lux => 3,
                },
                _ => 0,
            },
            properties: &self.properties,
        };
        put(out, &record);
    }

    /// Appends the frame record to `out`. The arrival time is the reader's own and is not written.
    pub fn frame(&mut self, meta: &FrameMeta, data: Option<&FrameData>, out: &mut Vec<u8>) {
        self.transforms.clear();
        self.values.clear();
        self.properties.clear();
        self.extra.clear();
        let mut role_mask = 0;
        if let Some(data) = data {
            put_transforms(&mut self.transforms, data.transforms());
            match &data.body {
                FrameBody::Camera(c) => role_mask = put_optional(&mut self.values, &c.lens()),
                FrameBody::Light(l) => role_mask = put_optional(&mut self.values, &l.emission()),
                _ => {}
            }
            put_f32s(&mut self.properties, &data.properties);
        }
        for (key, value) in meta.extra.iter().take(MAX_EXTRA) {
            put(&mut self.extra, &(key.as_str(), value.as_str()));
        }
        let lost = match meta.tracking {
            Tracking::Tracked => 0,
            Tracking::Lost => FLAG_LOST,
        };
        let record = FrameV1 {
            timecode: meta.timecode.map(|t| TimecodeV1 {
                frame: t.frame,
                sub_frame: t.sub_frame,
                num: t.rate.num(),
                den: t.rate.den(),
                drop: t.drop == DropFrame::Drop,
            }),
            source_nanos: meta.source_time.map(SourceTime::as_nanos),
            sequence: meta.sequence,
            flags: lost | if data.is_some() { FLAG_VALUES } else { 0 },
            role: data.map_or(0, |d| role_index(d.role())),
            transforms: &self.transforms,
            role_mask,
            role_values: &self.values,
            properties: &self.properties,
            extra: &self.extra,
        };
        put(out, &record);
    }
}

fn put_optional(out: &mut Vec<u8>, values: &[Option<f32>]) -> u8 {
    let mut mask = 0;
    for (bit, value) in values.iter().enumerate() {
        if let Some(value) = value {
            mask |= 1 << bit;
            out.extend_from_slice(&value.to_le_bytes());
        }
    }
    mask
}

fn elements<'a, const N: usize>(
    bytes: &'a [u8],
    what: &'static str,
    limit: usize,
) -> Result<&'a [[u8; N]], WireError> {
    let (whole, rest) = bytes.as_chunks::<N>();
    if !rest.is_empty() {
        return Err(WireError::Ragged {
            what,
            of: N,
            have: bytes.len(),
        });
    }
    if whole.len() > limit {
        return Err(WireError::TooMany { what, limit });
    }
    Ok(whole)
}

fn transform(bytes: &[u8; TRANSFORM_BYTES]) -> Transform {
    let (values, _) = bytes.as_chunks::<4>();
    let v = |i: usize| f32::from_le_bytes(values[i]);
    Transform {
        translation: Vec3::new(v(0), v(1), v(2)),
        rotation: Quat::from_xyzw(v(3), v(4), v(5), v(6)),
        scale: Vec3::new(v(7), v(8), v(9)),
    }
}

fn get_optional<const N: usize>(mask: u8, bytes: &[u8]) -> Result<[Option<f32>; N], WireError> {
    let mut values = elements::<4>(bytes, "role values", N)?.iter();
    let mut out = [None; N];
    for (bit, slot) in out.iter_mut().enumerate() {
        if mask & (1 << bit) != 0 {
            let value = values.next().ok_or(WireError::Malformed)?;
            *slot = Some(f32::from_le_bytes(*value));
        }
    }
    Ok(out)
}

fn read<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<(T, &'a [u8]), WireError> {
    postcard::take_from_bytes(bytes).map_err(|_cause| WireError::Malformed)
}

/// Reads a static record; checks that it does not contradict itself.
///
/// # Errors
/// See [`WireError`].
pub fn read_static(bytes: &[u8]) -> Result<StaticData, WireError> {
    let (record, _newer) = read::<StaticV1<'_>>(bytes)?;
    let body = match role_of(record.role)? {
        Role::Basic => StaticBody::Basic,
        Role::Transform => StaticBody::Transform,
        Role::Camera => StaticBody::Camera(CameraStatic {
            sensor_mm: record.sensor_mm,
        }),
        Role::Light => StaticBody::Light(LightStatic {
            unit: match record.light_unit {
                0 => LightUnit::Unitless,
                1 => LightUnit::Candela,
                2 => LightUnit::Lumen,
                3 => LightUnit::Lux,
                other => {
                    return Err(WireError::Unknown {
                        what: "light unit",
                        have: u32::from(other),
                    });
                }
            },
        }),
        Role::Animation => {
            let mut skeleton = Skeleton::default();
            let mut rest = record.bones;
            while !rest.is_empty() {
                if skeleton.bone_names.len() == MAX_BONES {
                    return Err(WireError::TooMany {
                        what: "bones",
                        limit: MAX_BONES,
                    });
                }
                let ((name, parent), after) = read::<(&str, u32)>(rest)?;
                skeleton.bone_names.push(name.to_owned());
                skeleton.parents.push(parent.checked_sub(1));
                rest = after;
            }
            skeleton.rest = elements(record.rest, "rest transforms", MAX_BONES)?
                .iter()
                .map(transform)
                .collect();
            StaticBody::Animation(skeleton)
        }
    };
    let mut properties = Vec::new();
    let mut rest = record.properties;
    while !rest.is_empty() {
        if properties.len() == MAX_PROPERTIES {
            return Err(WireError::TooMany {
                what: "properties",
                limit: MAX_PROPERTIES,
            });
        }
        let ((name, flags), after) = read::<(&str, u8)>(rest)?;
        properties.push(Property {
            name: name.to_owned(),
            blend: if flags & PROPERTY_STEP == 0 {
                Blend::Linear
            } else {
                Blend::Step
            },
            measured: flags & PROPERTY_UNMEASURED == 0,
        });
        rest = after;
    }
    let data = StaticData { body, properties };
    data.validate()?;
    Ok(data)
}

/// Reads a frame record into memory already held; true when it carries values. Leaves the arrival alone.
///
/// # Errors
/// See [`WireError`]; `meta` and `data` then hold something unspecified.
pub fn read_frame(
    bytes: &[u8],
    meta: &mut FrameMeta,
    data: &mut FrameData,
) -> Result<bool, WireError> {
    let (record, _newer) = read::<FrameV1<'_>>(bytes)?;
    meta.timecode = match record.timecode {
        None => None,
        Some(t) => Some(QualifiedFrameTime {
            frame: t.frame,
            sub_frame: t.sub_frame,
            rate: FrameRate::new(t.num, t.den).map_err(|_cause| WireError::Unknown {
                what: "frame rate numerator",
                have: t.num,
            })?,
            drop: if t.drop {
                DropFrame::Drop
            } else {
                DropFrame::NonDrop
            },
        }),
    };
    meta.source_time = record.source_nanos.map(SourceTime::from_nanos);
    meta.sequence = record.sequence;
    meta.tracking = if record.flags & FLAG_LOST == 0 {
        Tracking::Tracked
    } else {
        Tracking::Lost
    };
    meta.extra.clear();
    let mut rest = record.extra;
    while !rest.is_empty() {
        if meta.extra.len() == MAX_EXTRA {
            return Err(WireError::TooMany {
                what: "key-values",
                limit: MAX_EXTRA,
            });
        }
        let ((key, value), after) = read::<(&str, &str)>(rest)?;
        meta.extra.push((key.to_owned(), value.to_owned()));
        rest = after;
    }
    if record.flags & FLAG_VALUES == 0 {
        return Ok(false);
    }
    let transforms = elements::<TRANSFORM_BYTES>(record.transforms, "transforms", MAX_BONES)?;
    let role = role_of(record.role)?;
    let single = |want: bool| match transforms {
        [one] if want => Ok(transform(one)),
        [] if !want => Ok(Transform::IDENTITY),
        _ => Err(WireError::TooMany {
            what: "transforms",
            limit: usize::from(want),
        }),
    };
    match role {
        Role::Basic => {
            single(false)?;
            data.body = FrameBody::Basic;
        }
        Role::Animation => {
            if let FrameBody::Animation(bones) = &mut data.body {
                bones.clear();
                bones.extend(transforms.iter().map(transform));
            } else {
                data.body = FrameBody::Animation(transforms.iter().map(transform).collect());
            }
        }
        Role::Transform => data.body = FrameBody::Transform(single(true)?),
        Role::Camera => {
            let lens = get_optional(record.role_mask, record.role_values)?;
            data.body = FrameBody::Camera(CameraFrame::from_lens(single(true)?, lens));
        }
        Role::Light => {
            let values = get_optional(record.role_mask, record.role_values)?;
            data.body = FrameBody::Light(LightFrame::from_emission(single(true)?, values));
        }
    }
    data.properties.clear();
    data.properties.extend(
        elements::<4>(record.properties, "properties", MAX_PROPERTIES)?
            .iter()
            .map(|b| f32::from_le_bytes(*b)),
    );
    Ok(true)
}
