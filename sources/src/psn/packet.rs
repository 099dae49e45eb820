//! Bytes ↔ records of PosiStageNet 2.x.
//!
//! A chunk is a u32 (bits 0–15 id, 16–30 length of what follows, 31 whether that is chunks again), then its bytes.
//!
//! ```text
//! 0x6755 DATA
//!   0x0000 header: u64 µs since the server's start, u8 version high, u8 version low, u8 frame id, u8 packets in frame
//!   0x0001 trackers: <tracker id>: 0 position 3 × f32 m   1 speed 3 × f32   2 orientation 3 × f32 rad
//!                                  3 status f32  4 acceleration 3 × f32  5 target position 3 × f32  6 u64 µs
//! 0x6756 INFO
//!   0x0000 header, the same
//!   0x0001 system name
//!   0x0002 trackers: <tracker id>: 0 name
//! ```
//!
//! Text has no terminator. A tracker has any of its fields, in any order; unknown chunks are skipped by their length.
//! A tracker's id is the id of its chunk, so the same number means another thing on another level. Version 1 begins
//! with 0x6754 or 0x503C and is another format.
//!
//! Source: PosiStageNet specification 2.03 in `vyv/psn-cpp`; `pixsper/posistagedotnet` and PyPI `pypsn` agree.

use crate::{error::Reject, reader::Reader};

/// Longest datagram accepted; the specification has 1500.
pub const MAX_DATAGRAM: usize = 8192;
/// Most trackers in one packet.
pub const MAX_TRACKERS_IN_PACKET: usize = 1024;

const DATA: u16 = 0x6755;
const INFO: u16 = 0x6756;
/// Roots of version 1.
const OLD_DATA: u16 = 0x503c;
const OLD_INFO: u16 = 0x6754;

const MAX_TEXT: usize = 256;
const MAX_POSITION_M: f32 = 10_000.0;
const MAX_ROTATION_RAD: f32 = 4.0 * std::f32::consts::PI;
/// The version whose layout this is.
const VERSION: u8 = 2;

/// Which of the two packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Where trackers are.
    Data,
    /// What they are called.
    Info,
}

/// The header of both packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Since the server's start, the same in all packets of a frame.
    pub timestamp_micros: u64,
    /// High and low number of the version.
    pub version: [u8; 2],
    /// Counts frames, wrapping at 256.
    pub frame_id: u8,
    /// Packets that make up the frame.
    pub num_packets: u8,
}

/// One tracker of a packet: what of it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tracker<'a> {
    /// Its number on this server.
    pub id: u16,
    /// Text, not yet judged.
    pub name: Option<&'a [u8]>,
    /// Metres, within 10 km.
    pub position: Option<[f32; 3]>,
    /// Axis times angle in radians, not longer than 4π.
    pub orientation: Option<[f32; 3]>,
    /// 0 when not valid, else how sure the server is.
    pub status: Option<f32>,
}

/// One datagram, every part of it checked.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    /// Which of the two.
    pub kind: Kind,
    /// Its header.
    pub header: Header,
    trackers: Chunks<'a>,
}

/// A chunk; `at` is where its bytes start in the datagram.
#[derive(Clone, Copy, Debug)]
struct Chunk<'a> {
    id: u16,
    bytes: &'a [u8],
    at: usize,
}

fn moved(reject: Reject, by: usize) -> Reject {
    match reject {
        Reject::Short { at, needed, have } => Reject::Short {
            at: at + by,
            needed,
            have,
        },
        other => other,
    }
}

impl<'a> Chunk<'a> {
    fn chunks(&self) -> Chunks<'a> {
        Chunks {
            bytes: self.bytes,
            at: self.at,
        }
    }

    /// The first floats of the chunk; what follows them is of a later version.
    fn floats<const N: usize>(&self) -> Result<[f32; N], Reject> {
        let mut r = Reader::new(self.bytes);
        let mut values = [0.0; N];
        for (i, value) in values.iter_mut().enumerate() {
            let bytes = r.array().map_err(|e| moved(e, self.at))?;
            *value = f32::from_le_bytes(bytes);
            if !value.is_finite() {
                return Err(Reject::NonFinite { at: i });
            }
        }
        Ok(values)
    }

    fn text(&self) -> Result<&'a [u8], Reject> {
        if self.bytes.len() > MAX_TEXT {
            return Err(out_of_range(
                "text length",
                self.bytes.len() as i64,
                0,
                MAX_TEXT as i64,
            ));
        }
        Ok(self.bytes)
    }

    fn header(&self) -> Result<Header, Reject> {
        read_header(&mut Reader::new(self.bytes)).map_err(|e| moved(e, self.at))
    }

    /// The tracker this chunk is, in a packet of this kind.
    fn tracker(&self, kind: Kind) -> Result<Tracker<'a>, Reject> {
        let mut tracker = Tracker {
            id: self.id,
            ..Tracker::default()
        };
        for field in self.chunks() {
            let field = field?;
            match (kind, field.id) {
                (Kind::Info, 0) => tracker.name = Some(field.text()?),
                (Kind::Data, 0) => tracker.position = Some(position(field.floats()?)?),
                (Kind::Data, 2) => tracker.orientation = Some(orientation(field.floats()?)?),
                (Kind::Data, 3) => {
                    let [status] = field.floats()?;
                    tracker.status = Some(status);
                }
                _ => {}
            }
        }
        Ok(tracker)
    }
}

fn read_header(r: &mut Reader<'_>) -> Result<Header, Reject> {
    Ok(Header {
        timestamp_micros: r.u64_le()?,
        version: r.array()?,
        frame_id: r.u8()?,
        num_packets: r.u8()?,
    })
}

fn out_of_range(what: &'static str, have: i64, min: i64, max: i64) -> Reject {
    Reject::OutOfRange {
        what,
        have,
        min,
        max,
    }
}

fn position(values: [f32; 3]) -> Result<[f32; 3], Reject> {
    match values.iter().find(|v| v.abs() > MAX_POSITION_M) {
        None => Ok(values),
        Some(far) => Err(out_of_range(
            "position in metres",
            *far as i64,
            -MAX_POSITION_M as i64,
            MAX_POSITION_M as i64,
        )),
    }
}

fn orientation(values: [f32; 3]) -> Result<[f32; 3], Reject> {
    let length = glam::Vec3::from_array(values).length();
    if length <= MAX_ROTATION_RAD {
        return Ok(values);
    }
    Err(out_of_range(
        "rotation in degrees",
        length.to_degrees() as i64,
        0,
        720,
    ))
}

/// The chunks within a chunk, until its end or the first fault.
#[derive(Clone, Copy, Debug)]
struct Chunks<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Chunks<'a> {
    const NONE: Self = Self { bytes: &[], at: 0 };

    fn read(&mut self) -> Result<Chunk<'a>, Reject> {
        let here = self.at;
        let mut r = Reader::new(self.bytes);
        let head = r.u32_le().map_err(|e| moved(e, here))?;
        let len = ((head >> 16) & 0x7fff) as usize;
        let bytes = r.take(len).map_err(|e| moved(e, here))?;
        self.bytes = r.take(r.left())?;
        self.at = here + 4 + len;
        Ok(Chunk {
            id: head as u16,
            bytes,
            at: here + 4,
        })
    }
}

#[expect(
    clippy::copy_iterator,
    reason = "a packet is a view that is read several times; each reading walks its own copy"
)]
impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>, Reject>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let outcome = self.read();
        if outcome.is_err() {
            self.bytes = &[];
        }
        Some(outcome)
    }
}

impl<'a> Packet<'a> {
    /// Reads a datagram and checks all of it.
    ///
    /// # Errors
    /// Not this format, version 1, a chunk that leaves the one around it, a value outside its bounds, no header.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Reject> {
        if bytes.len() > MAX_DATAGRAM {
            return Err(Reject::WrongLength {
                want: MAX_DATAGRAM,
                have: bytes.len(),
            });
        }
        let id = bytes.first_chunk::<2>().ok_or(Reject::BadMagic)?;
        let (kind, trackers_id) = match u16::from_le_bytes(*id) {
            DATA => (Kind::Data, 1),
            INFO => (Kind::Info, 2),
            OLD_DATA | OLD_INFO => {
                return Err(Reject::BadVersion {
                    want: u32::from(VERSION),
                    have: 1,
                });
            }
            _ => return Err(Reject::BadMagic),
        };
        let root = Chunks { bytes, at: 0 }.read()?;
        let mut header = None;
        let mut trackers = Chunks::NONE;
        for part in root.chunks() {
            let part = part?;
            if part.id == 0 {
                header = Some(part.header()?);
            } else if part.id == trackers_id {
                trackers = part.chunks();
            }
        }
        let header = header.ok_or(Reject::Syntax {
            at: root.at,
            expected: "a header chunk",
        })?;
        let [high, _] = header.version;
        if high > VERSION {
            return Err(Reject::BadVersion {
                want: u32::from(VERSION),
                have: u32::from(high),
            });
        }
        let packet = Self {
            kind,
            header,
            trackers,
        };
        let mut count = 0;
        for tracker in packet.checked() {
            tracker?;
            count += 1;
        }
        if count > MAX_TRACKERS_IN_PACKET {
            return Err(out_of_range(
                "tracker count",
                count as i64,
                0,
                MAX_TRACKERS_IN_PACKET as i64,
            ));
        }
        Ok(packet)
    }

    fn checked(self) -> impl Iterator<Item = Result<Tracker<'a>, Reject>> {
        self.trackers.map(move |chunk| chunk?.tracker(self.kind))
    }

    /// The trackers, in the order of the packet.
    pub fn trackers(self) -> impl Iterator<Item = Tracker<'a>> {
        // All were read once without a fault.
        self.checked().filter_map(Result::ok)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A chunk, by the layout above.
    pub(in crate::psn) fn chunk(id: u16, has_chunks: bool, bytes: &[u8]) -> Vec<u8> {
        let head = u32::from(id) | ((bytes.len() as u32) << 16) | (u32::from(has_chunks) << 31);
        [&head.to_le_bytes()[..], bytes].concat()
    }

    pub(in crate::psn) fn header(micros: u64, frame_id: u8) -> Vec<u8> {
        let mut bytes = micros.to_le_bytes().to_vec();
        bytes.extend([2, 3, frame_id, 1]);
        chunk(0, false, &bytes)
    }

    pub(in crate::psn) fn floats(id: u16, values: &[f32]) -> Vec<u8> {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        chunk(id, false, &bytes)
    }

    pub(in crate::psn) fn data(micros: u64, frame_id: u8, trackers: &[(u16, Vec<u8>)]) -> Vec<u8> {
        let list: Vec<u8> = trackers
            .iter()
            .flat_map(|(id, fields)| chunk(*id, true, fields))
            .collect();
        chunk(
            DATA,
            true,
            &[header(micros, frame_id), chunk(1, true, &list)].concat(),
        )
    }

    pub(in crate::psn) fn info(trackers: &[(u16, &str)]) -> Vec<u8> {
        let list: Vec<u8> = trackers
            .iter()
            .flat_map(|(id, name)| chunk(*id, true, &chunk(0, false, name.as_bytes())))
            .collect();
        let parts = [
            header(1_234_567, 7),
            chunk(1, false, b"LiveHub"),
            chunk(2, true, &list),
        ];
        chunk(INFO, true, &parts.concat())
    }

    fn hex(text: &str) -> Vec<u8> {
        let digits: Vec<u8> = text.bytes().filter(u8::is_ascii_hexdigit).collect();
        digits
            .chunks(2)
            .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
            .collect()
    }

    /// The example of the fact sheet, which PyPI `pypsn` reads the same.
    pub(in crate::psn) fn golden_data() -> Vec<u8> {
        hex(
            "55675c80 00000c00 87d6120000000000 02 03 07 01 01004880 01004480
             00000c00 0000c03f 00000040 000050c0 01000c00 cdcccc3d 00000000 00000000
             02000c00 00000000 db0fc93f 00000000 03000400 0000803f
             06000800 50d4120000000000",
        )
    }

    #[test]
    fn golden_bytes_read_as_the_layout_says() {
        let bytes = golden_data();
        assert_eq!(bytes.len(), 96);
        let packet = Packet::parse(&bytes).unwrap();
        assert_eq!(packet.kind, Kind::Data);
        assert_eq!(
            packet.header,
            Header {
                timestamp_micros: 1_234_567,
                version: [2, 3],
                frame_id: 7,
                num_packets: 1
            }
        );
        let trackers: Vec<_> = packet.trackers().collect();
        assert_eq!(
            trackers,
            [Tracker {
                id: 1,
                name: None,
                position: Some([1.5, 2.0, -3.25]),
                orientation: Some([0.0, std::f32::consts::FRAC_PI_2, 0.0]),
                status: Some(1.0),
            }]
        );

        let names = hex(
            "56672c80 00000c00 87d6120000000000 02 03 07 01 01000700 4c697665487562
             02000d80 01000980 00000500 43616d2041",
        );
        assert_eq!(names, info(&[(1, "Cam A")]));
        let packet = Packet::parse(&names).unwrap();
        let trackers: Vec<_> = packet.trackers().collect();
        assert_eq!((packet.kind, trackers.len()), (Kind::Info, 1));
        assert_eq!((trackers[0].id, trackers[0].name), (1, Some(&b"Cam A"[..])));
    }

    #[test]
    fn unknown_chunks_longer_fields_and_lookalike_ids_pass() {
        // Trackers number 0, 2 and 0x6755; a field of a later version; a vector with more behind it.
        let fields = [
            chunk(99, false, b"later"),
            floats(0, &[1.0, 2.0, 3.0, 4.0]),
            chunk(98, false, b""),
        ]
        .concat();
        let bytes = data(
            1,
            1,
            &[(0, fields.clone()), (2, fields.clone()), (0x6755, fields)],
        );
        let packet = Packet::parse(&bytes).unwrap();
        let ids: Vec<_> = packet.trackers().map(|t| (t.id, t.position)).collect();
        let at = Some([1.0, 2.0, 3.0]);
        assert_eq!(ids, [(0, at), (2, at), (0x6755, at)]);
        // A tracker without any field is the last and shortest chunk there can be.
        let bytes = data(1, 1, &[(5, Vec::new())]);
        assert_eq!(Packet::parse(&bytes).unwrap().trackers().count(), 1);
    }

    #[test]
    fn each_fault_is_named() {
        let check = |bytes: &[u8], expected: Reject| {
            assert_eq!(Packet::parse(bytes).unwrap_err(), expected);
        };
        check(&[], Reject::BadMagic);
        check(&[0x55], Reject::BadMagic);
        check(b"/osc/message", Reject::BadMagic);
        for old in [[0x54u8, 0x67, 0, 0], [0x3c, 0x50, 0, 0]] {
            check(&old, Reject::BadVersion { want: 2, have: 1 });
        }
        let mut newer = golden_data();
        newer[16] = 3;
        check(&newer, Reject::BadVersion { want: 2, have: 3 });
        check(
            &chunk(DATA, true, &chunk(1, true, &[])),
            Reject::Syntax {
                at: 4,
                expected: "a header chunk",
            },
        );
        check(
            &chunk(DATA, true, &chunk(0, false, &[0; 11])),
            Reject::Short {
                at: 19,
                needed: 1,
                have: 0,
            },
        );
        check(
            &data(1, 1, &[(1, floats(0, &[0.0, f32::INFINITY, 0.0]))]),
            Reject::NonFinite { at: 1 },
        );
        check(
            &data(1, 1, &[(1, floats(0, &[0.0, -10_001.0, 0.0]))]),
            out_of_range("position in metres", -10_001, -10_000, 10_000),
        );
        check(
            &data(1, 1, &[(1, floats(2, &[10.0, 10.0, 0.0]))]),
            out_of_range("rotation in degrees", 810, 0, 720),
        );
        check(
            &data(1, 1, &[(1, floats(0, &[1.0, 2.0]))]),
            Reject::Short {
                at: 40,
                needed: 4,
                have: 0,
            },
        );
        let long = "x".repeat(257);
        check(
            &info(&[(1, long.as_str())]),
            out_of_range("text length", 257, 0, 256),
        );
        let many: Vec<(u16, Vec<u8>)> = (0..1025).map(|id| (id, Vec::new())).collect();
        check(
            &data(1, 1, &many),
            out_of_range("tracker count", 1025, 0, 1024),
        );
    }

    #[test]
    fn a_length_never_reaches_beyond_the_chunk_around_it() {
        // The tracker's chunk says one byte more than the list has; the datagram goes on behind it.
        let mut bytes = [golden_data(), vec![0; 64]].concat();
        assert_eq!(bytes[24..28], [0x01, 0x00, 0x44, 0x80]);
        bytes[26] = 0x45;
        assert_eq!(
            Packet::parse(&bytes).unwrap_err(),
            Reject::Short {
                at: 28,
                needed: 0x45,
                have: 0x44
            }
        );
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            let _ = Packet::parse(&bytes);
            let _ = Packet::parse(&chunk(DATA, true, &bytes));
            let _ = Packet::parse(&chunk(INFO, true, &[header(0, 0), bytes].concat()));
        }

        #[test]
        fn no_change_of_a_good_packet_panics(
            changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
            cut in any::<prop::sample::Index>(),
        ) {
            for mut bytes in [golden_data(), info(&[(1, "Cam A"), (2, "道具")])] {
                for (at, value) in &changes {
                    let at = at.index(bytes.len());
                    bytes[at] = *value;
                }
                if let Ok(packet) = Packet::parse(&bytes) {
                    prop_assert!(packet.trackers().count() <= MAX_TRACKERS_IN_PACKET);
                }
                let _ = Packet::parse(&bytes[..cut.index(bytes.len())]);
            }
        }
    }
}
