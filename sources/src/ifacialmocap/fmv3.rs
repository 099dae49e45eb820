//! Bytes ↔ records of Face Motion v3, contract revision 5.
//!
//! Each datagram has a header of 40 bytes, little-endian, then a payload or a part of one:
//!
//! | offset | type | field |
//! |---|---|---|
//! | 0 | 4 bytes | `FMV3` |
//! | 4 | u8 | kind |
//! | 5 | u8 | flags, of a frame only: bit 0 tracked, bit 1 playback |
//! | 6 | u16 | header size, 40 |
//! | 8 | u64 | session; of HELLO and of the ERROR that refuses it: the client's nonce |
//! | 16 | u32 | schema id |
//! | 20 | u32 | sequence |
//! | 24 | u32 | source token, of a frame only |
//! | 28 | u32 | length of the whole payload |
//! | 32 | u16 | part |
//! | 34 | u16 | number of parts |
//! | 36 | u32 | payload bytes in this datagram |
//!
//! Payload of SCHEMA: u64 nonce (0 = begun on the phone), u16 frames per second, u16 longest datagram, u32 lease in
//! ms, u32 revision, then JSON with the names. Payload of FRAME: one i16 or i32 percent per name, then 12 f32: head
//! rx ry rz px py pz, right eye rx ry rz, left eye rx ry rz.
//!
//! Revision 4 numbers its kinds otherwise and is refused. Source: the vendor's specification and golden vectors.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{self, SeqAccess, Visitor},
};

use super::packet::Pose;
use crate::{error::Reject, reader::Reader};

/// What each message begins with.
pub(super) const MAGIC: &[u8; 4] = b"FMV3";
/// The contract revision read and asked for.
pub(super) const REVISION: u32 = 5;
/// Frames per second asked for.
pub(super) const FPS: u16 = 60;
/// Longest datagram asked for.
pub(super) const MAX_UDP: u16 = 1200;
/// Most parts of a message.
pub(super) const MAX_PARTS: u16 = 512;

const HEADER_BYTES: usize = 40;
const START_BYTES: usize = 20;
const MAX_SCHEMA: u32 = 262_144;
const MAX_NAMES: usize = 4096;
const MAX_NAME: usize = 255;
const POSE_BYTES: usize = 48;
const MAX_FRAME: u32 = 16_432;
const MAX_ERROR: u32 = 512;

/// What a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Kind {
    /// Asks for a stream.
    Hello = 1,
    /// Names and encoding of the frames to come.
    Schema = 2,
    /// The schema is known now.
    SchemaAck = 3,
    /// Values.
    Frame = 4,
    /// Asks for the schema again.
    GetSchema = 5,
    /// Keeps the session.
    Ping = 6,
    /// Answers a ping.
    Pong = 7,
    /// Ends the session.
    Stop = 8,
    /// Why there is no stream.
    Error = 9,
}

impl Kind {
    fn of(byte: u8) -> Option<Self> {
        Some(match byte {
            1 => Self::Hello,
            2 => Self::Schema,
            3 => Self::SchemaAck,
            4 => Self::Frame,
            5 => Self::GetSchema,
            6 => Self::Ping,
            7 => Self::Pong,
            8 => Self::Stop,
            9 => Self::Error,
            _ => return None,
        })
    }

    /// Least and most bytes of a payload.
    fn payload(self) -> (u32, u32) {
        match self {
            Self::Hello => (8, 8),
            Self::Schema => (START_BYTES as u32, MAX_SCHEMA),
            Self::Frame => (POSE_BYTES as u32, MAX_FRAME),
            Self::Error => (1, MAX_ERROR),
            Self::SchemaAck | Self::GetSchema | Self::Ping | Self::Pong | Self::Stop => (0, 0),
        }
    }
}

/// The 40 bytes before each payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Header {
    /// What the message is.
    pub(super) kind: Kind,
    /// Of a frame: bit 0 tracked, bit 1 playback.
    pub(super) flags: u8,
    /// The session, or the nonce of a HELLO.
    pub(super) session: u64,
    /// The schema.
    pub(super) schema: u32,
    /// Number of a frame or ping.
    pub(super) sequence: u32,
    /// Of a frame: a number the user chose.
    pub(super) source_token: u32,
    /// Bytes of the payload before it was split.
    pub(super) total: u32,
    /// Which part this is.
    pub(super) part: u16,
    /// Number of parts.
    pub(super) parts: u16,
}

fn ranged(what: &'static str, have: u32, min: u32, max: u32) -> Result<(), Reject> {
    if (min..=max).contains(&have) {
        return Ok(());
    }
    Err(Reject::OutOfRange {
        what,
        have: i64::from(have),
        min: i64::from(min),
        max: i64::from(max),
    })
}

/// What has to be 0.
fn zero(what: &'static str, have: u32) -> Result<(), Reject> {
    ranged(what, have, 0, 0)
}

impl Header {
    /// A message in one part, all else 0.
    pub(super) fn of(kind: Kind, session: u64) -> Self {
        Self {
            kind,
            flags: 0,
            session,
            schema: 0,
            sequence: 0,
            source_token: 0,
            total: 0,
            part: 0,
            parts: 1,
        }
    }

    /// Splits a datagram into header and payload.
    pub(super) fn parse(bytes: &[u8]) -> Result<(Self, &[u8]), Reject> {
        let mut r = Reader::new(bytes);
        if r.array::<4>()? != *MAGIC {
            return Err(Reject::BadMagic);
        }
        let kind_byte = r.u8()?;
        let flags = r.u8()?;
        let size = r.u16_le()?;
        ranged("header size", u32::from(size), 40, 40)?;
        let session = r.u64_le()?;
        let schema = r.u32_le()?;
        let sequence = r.u32_le()?;
        let source_token = r.u32_le()?;
        let total = r.u32_le()?;
        let part = r.u16_le()?;
        let parts = r.u16_le()?;
        let here = r.u32_le()?;
        let kind = Kind::of(kind_byte).ok_or(Reject::OutOfRange {
            what: "kind of message",
            have: i64::from(kind_byte),
            min: 1,
            max: 9,
        })?;
        if kind == Kind::SchemaAck && total > 0 {
            // What revision 4 sends as its schema.
            return Err(Reject::BadVersion {
                want: REVISION,
                have: 4,
            });
        }
        ranged(
            "flags",
            u32::from(flags),
            0,
            if kind == Kind::Frame { 3 } else { 0 },
        )?;
        if session == 0 {
            return Err(Reject::OutOfRange {
                what: "session",
                have: 0,
                min: 1,
                max: i64::MAX,
            });
        }
        match kind {
            Kind::Schema | Kind::Frame | Kind::SchemaAck => {
                ranged("schema id", schema, 1, u32::MAX)?;
            }
            Kind::GetSchema => {}
            _ => zero("schema id", schema)?,
        }
        if kind == Kind::Schema {
            zero("sequence of a schema", sequence)?;
        }
        if kind != Kind::Frame {
            zero("source token", source_token)?;
        }
        let (least, most) = kind.payload();
        ranged("payload length", total, least, most)?;
        let whole = parts == 1 && here == total;
        if part >= parts || parts > MAX_PARTS || here > total || (parts == 1 && !whole) {
            return Err(Reject::BadFragment {
                index: part,
                count: parts,
            });
        }
        if r.left() != here as usize {
            return Err(Reject::WrongLength {
                want: HEADER_BYTES + here as usize,
                have: bytes.len(),
            });
        }
        let header = Self {
            kind,
            flags,
            session,
            schema,
            sequence,
            source_token,
            total,
            part,
            parts,
        };
        Ok((header, r.take(here as usize)?))
    }

    /// Appends a datagram with this payload to `out`.
    pub(super) fn write(&self, payload: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(MAGIC);
        out.push(self.kind as u8);
        out.push(self.flags);
        out.extend_from_slice(&(HEADER_BYTES as u16).to_le_bytes());
        out.extend_from_slice(&self.session.to_le_bytes());
        for v in [self.schema, self.sequence, self.source_token, self.total] {
            out.extend_from_slice(&v.to_le_bytes());
        }
        out.extend_from_slice(&self.part.to_le_bytes());
        out.extend_from_slice(&self.parts.to_le_bytes());
        out.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        out.extend_from_slice(payload);
    }
}

/// Appends the request for a stream to `out`.
pub(super) fn write_hello(nonce: u64, out: &mut Vec<u8>) {
    let mut payload = [0; 8];
    payload[..2].copy_from_slice(&FPS.to_le_bytes());
    payload[2..4].copy_from_slice(&MAX_UDP.to_le_bytes());
    payload[4..].copy_from_slice(&REVISION.to_le_bytes());
    let header = Header {
        total: 8,
        ..Header::of(Kind::Hello, nonce)
    };
    header.write(&payload, out);
}

/// What a phone promises, and how its frames are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Schema {
    /// Of the HELLO this answers; 0 when begun on the phone.
    pub(super) nonce: u64,
    /// Names in the order of the values.
    pub(super) names: Vec<String>,
    /// Whether a value has four bytes instead of two.
    pub(super) wide: bool,
}

/// Names, counted while they are read.
struct Names(Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Bounded;
        impl<'de> Visitor<'de> for Bounded {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "at most {MAX_NAMES} names")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some(name) = seq.next_element::<String>()? {
                    if names.len() == MAX_NAMES {
                        return Err(de::Error::invalid_length(MAX_NAMES + 1, &self));
                    }
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        from.deserialize_seq(Bounded)
    }
}

/// The keys that matter; others are passed over, the same key twice is refused.
#[derive(Deserialize)]
struct SchemaJson<'a> {
    schema_version: u32,
    blend_names: Names,
    #[serde(borrow)]
    blend_encoding: Cow<'a, str>,
    #[serde(borrow)]
    blend_unit: Cow<'a, str>,
    #[serde(borrow)]
    pose_layout: Cow<'a, str>,
    #[serde(borrow)]
    rotation_unit: Cow<'a, str>,
    #[serde(borrow)]
    position_unit: Cow<'a, str>,
}

impl Schema {
    /// Reads a whole SCHEMA payload.
    pub(super) fn parse(payload: &[u8]) -> Result<Self, Reject> {
        let mut r = Reader::new(payload);
        let nonce = r.u64_le()?;
        let fps = r.u16_le()?;
        let max_udp = r.u16_le()?;
        let lease_ms = r.u32_le()?;
        let revision = r.u32_le()?;
        if revision != REVISION {
            return Err(Reject::BadVersion {
                want: REVISION,
                have: revision,
            });
        }
        ranged("frames per second", u32::from(fps), 1, u32::from(FPS))?;
        ranged(
            "longest datagram",
            u32::from(max_udp),
            576,
            u32::from(MAX_UDP),
        )?;
        ranged("lease in ms", lease_ms, 5000, 60_000)?;
        let json = r.take(r.left())?;
        let json: SchemaJson<'_> = serde_json::from_slice(json).map_err(|e| Reject::Syntax {
            at: START_BYTES + if e.line() == 1 { e.column() } else { 0 },
            expected: "the JSON of a schema",
        })?;
        ranged("schema version", json.schema_version, 1, 1)?;
        let unknown = |expected| Reject::Syntax {
            at: START_BYTES,
            expected,
        };
        let wide = match &*json.blend_encoding {
            "i16" => false,
            "i32" => true,
            _ => return Err(unknown("blend_encoding i16 or i32")),
        };
        let layout = "head_rxyz_pxyz_rightEye_rxyz_leftEye_rxyz";
        for (have, want, expected) in [
            (&json.blend_unit, "percent", "blend_unit percent"),
            (&json.pose_layout, layout, "the known pose_layout"),
            (&json.rotation_unit, "degree", "rotation_unit degree"),
            (&json.position_unit, "meter", "position_unit meter"),
        ] {
            if have != want {
                return Err(unknown(expected));
            }
        }
        let names = json.blend_names.0;
        let mut seen = HashSet::with_capacity(names.len());
        for name in &names {
            let fits = (1..=MAX_NAME).contains(&name.len()) && !name.chars().any(char::is_control);
            if !fits {
                return Err(unknown("names of 1 to 255 printable bytes"));
            }
            if !seen.insert(name.as_str()) {
                return Err(unknown("each name once"));
            }
        }
        drop(seen);
        Ok(Self { nonce, names, wide })
    }
}

/// The values of one frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Frame<'a> {
    values: &'a [u8],
    wide: bool,
    /// Head and eyes; all of it is there.
    pub(super) pose: Pose,
}

impl<'a> Frame<'a> {
    /// Reads a whole FRAME payload by its schema's number of names and width.
    pub(super) fn parse(payload: &'a [u8], num_names: usize, wide: bool) -> Result<Self, Reject> {
        let value_bytes = num_names * if wide { 4 } else { 2 };
        if payload.len() != value_bytes + POSE_BYTES {
            return Err(Reject::WrongLength {
                want: value_bytes + POSE_BYTES,
                have: payload.len(),
            });
        }
        let mut r = Reader::new(payload);
        let values = r.take(value_bytes)?;
        let mut pose = [0.0; 12];
        for v in &mut pose {
            *v = f32::from_le_bytes(r.array()?);
        }
        let [hx, hy, hz, px, py, pz, rx, ry, rz, lx, ly, lz] = pose;
        let pose = Pose {
            head: Some([hx, hy, hz, px, py, pz]),
            right_eye: Some([rx, ry, rz]),
            left_eye: Some([lx, ly, lz]),
        };
        pose.check()?;
        Ok(Self { values, wide, pose })
    }

    /// The weights, in the order of the schema's names.
    pub(super) fn weights(&self) -> impl Iterator<Item = f32> {
        let (narrow, wide) = if self.wide {
            (&[][..], self.values)
        } else {
            (self.values, &[][..])
        };
        let narrow = narrow.as_chunks::<2>().0.iter();
        let wide = wide.as_chunks::<4>().0.iter();
        let narrow = narrow.map(|b| f32::from(i16::from_le_bytes(*b)));
        let wide = wide.map(|b| i32::from_le_bytes(*b) as f32);
        narrow.chain(wide).map(|percent| percent / 100.0)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// From `golden_vectors.json` of the vendor's repository at c2f6c8e, MIT, (c) 2026 DevelopW LLC.
    const HELLO: &str = "464d56330100280011223344556677880000000000000000000000000800000000000100080000003c00b00405000000";
    const ACK: &str =
        "464d5633030028000807060504030201010000000000000000000000000000000000010000000000";
    const GET_SCHEMA: &str =
        "464d5633050028000807060504030201000000000000000000000000000000000000010000000000";
    const PING_7: &str =
        "464d5633060028000807060504030201000000000700000000000000000000000000010000000000";
    const ERROR_BUSY: &str =
        "464d563309002800112233445566778800000000000000000000000004000000000001000400000042555359";
    /// Assembled from the layout, for a schema of three names.
    const FRAME: &str = "464d56330401280008070605040302010100000001000000000000003600000000000100360000000c0008002d000000b0c0000024410000c03f0ad7233c0ad7a3bc6666e6be00004040000080400000000000004040000080c000000000";

    pub(in super::super) fn unhex(hex: &str) -> Vec<u8> {
        let digits = hex.as_bytes().chunks(2);
        digits
            .map(|d| u8::from_str_radix(str::from_utf8(d).unwrap(), 16).unwrap())
            .collect()
    }

    /// A schema's payload of these names.
    pub(in super::super) fn schema_payload(nonce: u64, names: &[&str], encoding: &str) -> Vec<u8> {
        let json = serde_json::json!({
            "schema_version": 1, "app": "iFacialMocap", "profile": "ifacialmocap-stream",
            "blend_names": names, "blend_encoding": encoding, "blend_unit": "percent",
            "pose_layout": "head_rxyz_pxyz_rightEye_rxyz_leftEye_rxyz",
            "rotation_unit": "degree", "position_unit": "meter", "unknown": {"later": [1]},
        });
        payload_of(nonce, 5, &json.to_string())
    }

    fn payload_of(nonce: u64, revision: u32, json: &str) -> Vec<u8> {
        let mut out = nonce.to_le_bytes().to_vec();
        out.extend(60u16.to_le_bytes());
        out.extend(1200u16.to_le_bytes());
        out.extend(10_000u32.to_le_bytes());
        out.extend(revision.to_le_bytes());
        out.extend_from_slice(json.as_bytes());
        out
    }

    /// A message split into datagrams of at most `chunk` payload bytes.
    pub(in super::super) fn split(header: Header, payload: &[u8], chunk: usize) -> Vec<Vec<u8>> {
        let parts = payload.len().div_ceil(chunk).max(1);
        (0..parts)
            .map(|part| {
                let header = Header {
                    total: payload.len() as u32,
                    part: part as u16,
                    parts: parts as u16,
                    ..header
                };
                let mut out = Vec::new();
                let end = payload.len().min((part + 1) * chunk);
                header.write(&payload[part * chunk..end], &mut out);
                out
            })
            .collect()
    }

    #[test]
    fn what_we_send_is_what_the_golden_vectors_say() {
        let mut out = Vec::new();
        write_hello(0x8877_6655_4433_2211, &mut out);
        assert_eq!(out, unhex(HELLO));
        let session = 0x0102_0304_0506_0708;
        for (header, golden) in [
            (
                Header {
                    schema: 1,
                    ..Header::of(Kind::SchemaAck, session)
                },
                ACK,
            ),
            (Header::of(Kind::GetSchema, session), GET_SCHEMA),
            (
                Header {
                    sequence: 7,
                    ..Header::of(Kind::Ping, session)
                },
                PING_7,
            ),
        ] {
            out.clear();
            header.write(&[], &mut out);
            assert_eq!(out, unhex(golden));
            assert_eq!(Header::parse(&out).unwrap(), (header, &[][..]));
        }
    }

    #[test]
    fn golden_messages_of_a_phone_are_read() {
        let bytes = unhex(ERROR_BUSY);
        let (header, text) = Header::parse(&bytes).unwrap();
        assert_eq!((header.kind, text), (Kind::Error, &b"BUSY"[..]));
        assert_eq!(header.session, 0x8877_6655_4433_2211);

        let bytes = unhex(FRAME);
        let (header, payload) = Header::parse(&bytes).unwrap();
        assert_eq!((header.kind, header.flags), (Kind::Frame, 1));
        let frame = Frame::parse(payload, 3, false).unwrap();
        let weights: Vec<f32> = frame.weights().collect();
        assert_eq!(weights, [0.12, 0.08, 0.45]);
        assert_eq!(
            frame.pose.head,
            Some([-5.5, 10.25, 1.5, 0.01, -0.02, -0.45])
        );
        assert_eq!(frame.pose.right_eye, Some([3.0, 4.0, 0.0]));
        assert_eq!(frame.pose.left_eye, Some([3.0, -4.0, 0.0]));
        assert_eq!(
            Frame::parse(payload, 4, false),
            Err(Reject::WrongLength { want: 56, have: 54 })
        );
    }

    #[test]
    fn wide_values_keep_their_sign() {
        let mut payload = (-250i32).to_le_bytes().to_vec();
        payload.extend(100_000i32.to_le_bytes());
        payload.extend([0; POSE_BYTES]);
        let frame = Frame::parse(&payload, 2, true).unwrap();
        assert_eq!(frame.weights().collect::<Vec<_>>(), [-2.5, 1000.0]);
        payload[8..12].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(
            Frame::parse(&payload, 2, true),
            Err(Reject::NonFinite { at: 0 })
        );
    }

    #[test]
    fn a_schema_is_read_and_each_fault_in_it_refused() {
        let good = schema_payload(7, &["eyeBlinkLeft", "微笑み"], "i32");
        let schema = Schema::parse(&good).unwrap();
        assert_eq!((schema.nonce, schema.wide), (7, true));
        assert_eq!(schema.names, ["eyeBlinkLeft", "微笑み"]);

        let long = "x".repeat(256);
        for names in [&["a", "a"][..], &[""], &["a\u{1}"], &[long.as_str()]] {
            let payload = schema_payload(0, names, "i16");
            assert!(
                matches!(Schema::parse(&payload), Err(Reject::Syntax { .. })),
                "{names:?}"
            );
        }
        let many: Vec<String> = (0..4097).map(|i| i.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(Schema::parse(&schema_payload(0, &many, "i16")).is_err());
        assert!(Schema::parse(&schema_payload(0, &many[1..], "i16")).is_ok());
        assert!(Schema::parse(&schema_payload(0, &["a"], "i8")).is_err());
        for (json, revision) in [("{}", 5), ("", 5), ("{", 5), ("{\"schema_version\":1,", 5)] {
            let payload = payload_of(0, revision, json);
            assert!(matches!(
                Schema::parse(&payload),
                Err(Reject::Syntax { .. })
            ));
        }
        assert_eq!(
            Schema::parse(&payload_of(0, 4, "{}")),
            Err(Reject::BadVersion { want: 5, have: 4 })
        );
        let text = String::from_utf8(good[START_BYTES..].to_vec()).unwrap();
        let twice = text.replacen('{', "{\"blend_unit\":\"percent\",", 1);
        assert!(Schema::parse(&payload_of(0, 5, &twice)).is_err());
    }

    #[test]
    fn each_fault_of_a_header_is_named() {
        let frame = unhex(FRAME);
        let with = |at: usize, byte: u8| {
            let mut bytes = frame.clone();
            bytes[at] = byte;
            Header::parse(&bytes).unwrap_err()
        };
        assert!(matches!(with(0, b'X'), Reject::BadMagic));
        for (at, byte, name) in [
            (4, 0, "kind of message"),
            (4, 10, "kind of message"),
            (5, 4, "flags"),
            (6, 41, "header size"),
            (16, 0, "schema id"),
            (31, 1, "payload length"),
        ] {
            let error = with(at, byte);
            assert!(
                matches!(error, Reject::OutOfRange { what, .. } if what == name),
                "{at}: {error}"
            );
        }
        assert!(matches!(with(32, 1), Reject::BadFragment { .. }));
        assert!(matches!(with(34, 0), Reject::BadFragment { .. }));
        assert!(matches!(with(35, 3), Reject::BadFragment { .. }));
        assert!(matches!(with(36, 0x35), Reject::BadFragment { .. }));
        assert!(matches!(
            Header::parse(&frame[..93]),
            Err(Reject::WrongLength { want: 94, have: 93 })
        ));
        assert!(matches!(
            Header::parse(&frame[..39]),
            Err(Reject::Short { .. })
        ));
        // Revision 4 sends its schema as kind 3.
        let mut old = frame.clone();
        old[4] = 3;
        old[5] = 0;
        assert_eq!(
            Header::parse(&old),
            Err(Reject::BadVersion { want: 5, have: 4 })
        );
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Header::parse(&bytes);
            let _ = Schema::parse(&bytes);
            let _ = Frame::parse(&bytes, 52, false);
            let mut with_magic = MAGIC.to_vec();
            with_magic.extend_from_slice(&bytes);
            let _ = Header::parse(&with_magic);
        }

        #[test]
        fn no_change_of_a_good_message_panics(at in 0usize..94, byte: u8) {
            let mut bytes = unhex(FRAME);
            bytes[at] = byte;
            if let Ok((_, payload)) = Header::parse(&bytes) {
                let _ = Frame::parse(payload, 3, false);
            }
        }
    }
}
