//! Datagrams → readings.

use std::net::{IpAddr, SocketAddr};

use hub::{DropFrame, FrameRate, QualifiedFrameTime, Timecode, WorldTime, master::TimecodeReading};

use crate::{
    error::Reject,
    mtc::{counted, label_rate},
    reader::Reader,
};

/// Length of the packet.
pub const LEN: usize = 19;
const MAGIC: [u8; 8] = *b"Art-Net\0";
const OPCODE: u16 = 0x9700;
const VERSION: u16 = 14;
/// A sender silent for so long makes room for another.
const SILENCE_NANOS: i64 = 2_000_000_000;
/// A step back of up to so many frames is a tape that runs backwards, more is a jump.
const MAX_STEP: i64 = 3;

/// A packet as sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArtTimeCode {
    /// Hours, minutes, seconds, frames.
    pub label: [u8; 4],
    /// 0 for 24, 1 for 25, 2 for 29.97 drop-frame, 3 for 30.
    pub kind: u8,
}

impl ArtTimeCode {
    /// Reads a datagram; `None` for an Art-Net packet of another kind.
    ///
    /// # Errors
    /// No Art-Net, an older version, cut short, or an unknown type. The label is not checked yet.
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, Reject> {
        let mut r = Reader::new(bytes);
        if r.array::<8>()? != MAGIC {
            return Err(Reject::BadMagic);
        }
        if r.u16_le()? != OPCODE {
            return Ok(None);
        }
        let version = u16::from_be_bytes(r.array()?);
        if version < VERSION {
            return Err(Reject::BadVersion {
                want: u32::from(VERSION),
                have: u32::from(version),
            });
        }
        r.take(2)?;
        let [frames, seconds, minutes, hours] = r.array()?;
        let kind = r.u8()?;
        if kind > 3 {
            return Err(Reject::OutOfRange {
                what: "timecode type",
                have: i64::from(kind),
                min: 0,
                max: 3,
            });
        }
        Ok(Some(Self {
            label: [hours, minutes, seconds, frames],
            kind,
        }))
    }

    /// Writes the packet.
    pub fn to_bytes(self) -> [u8; LEN] {
        let [hours, minutes, seconds, frames] = self.label;
        let mut bytes = [0; LEN];
        bytes[..8].copy_from_slice(&MAGIC);
        bytes[8..10].copy_from_slice(&OPCODE.to_le_bytes());
        bytes[10..12].copy_from_slice(&VERSION.to_be_bytes());
        bytes[14..].copy_from_slice(&[frames, seconds, minutes, hours, self.kind]);
        bytes
    }
}

/// Counted since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ArtNetCounts {
    /// Readings given.
    pub readings: u64,
    /// Labels that came again.
    pub repeats: u64,
    /// Packets of senders other than the one that is listened to.
    pub others: u64,
    /// Labels that do not exist.
    pub refused: u64,
}

/// The last label of the sender that is listened to.
#[derive(Clone, Copy, Debug)]
struct Heard {
    from: IpAddr,
    at: WorldTime,
    time: QualifiedFrameTime,
    forward: bool,
}

/// The decoder of one socket. Sans-IO; allocates nothing.
#[derive(Clone, Debug)]
pub struct ArtNetTimecodeDecoder {
    stated: Option<FrameRate>,
    heard: Option<Heard>,
    counts: ArtNetCounts,
}

impl ArtNetTimecodeDecoder {
    /// `rate` is what the operator says; see the room's docs.
    pub fn new(rate: Option<FrameRate>) -> Self {
        Self {
            stated: rate.and_then(label_rate),
            heard: None,
            counts: ArtNetCounts::default(),
        }
    }

    /// Counters.
    pub fn counts(&self) -> ArtNetCounts {
        self.counts
    }

    /// The address that is listened to.
    pub fn sender(&self) -> Option<IpAddr> {
        self.heard.map(|h| h.from)
    }

    /// Takes a datagram. `None` when it says nothing new: another packet, another sender, a label again.
    ///
    /// # Errors
    /// As [`ArtTimeCode::parse`], and a label that does not exist.
    pub fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
    ) -> Result<Option<TimecodeReading>, Reject> {
        let Some(packet) = ArtTimeCode::parse(bytes)? else {
            return Ok(None);
        };
        let before = self.heard.filter(|h| now - h.at < SILENCE_NANOS);
        if before.is_some_and(|h| h.from != from.ip()) {
            self.counts.others += 1;
            return Ok(None);
        }
        let (rate, drop) = counted(packet.kind, self.stated).ok_or(Reject::BadMagic)?;
        let Ok(label) = Timecode::new(packet.label.map(u32::from), rate, drop) else {
            self.counts.refused += 1;
            return Err(no_such_label(packet, rate, drop));
        };
        let time = QualifiedFrameTime {
            frame: label.frame(),
            sub_frame: 0.0,
            rate,
            drop,
        };
        let same_count = before.filter(|h| (h.time.rate, h.time.drop) == (rate, drop));
        let forward = match same_count.map(|h| (step(&h.time, &time), h.forward)) {
            Some((0, forward)) => {
                self.counts.repeats += 1;
                self.heard = Some(Heard {
                    from: from.ip(),
                    at: now,
                    time,
                    forward,
                });
                return Ok(None);
            }
            Some((step, _)) => !(-MAX_STEP..0).contains(&step),
            None => true,
        };
        self.heard = Some(Heard {
            from: from.ip(),
            at: now,
            time,
            forward,
        });
        self.counts.readings += 1;
        Ok(Some(TimecodeReading {
            time,
            at: now,
            forward,
        }))
    }
}

/// Frames from one label to another the short way round the day.
fn step(from: &QualifiedFrameTime, to: &QualifiedFrameTime) -> i64 {
    let day = to.rate.frames_per_day(to.drop);
    let up = (to.frame - from.frame).rem_euclid(day);
    if up > day / 2 { up - day } else { up }
}

/// Which field it is that no label has.
fn no_such_label(packet: ArtTimeCode, rate: FrameRate, drop: DropFrame) -> Reject {
    let [hours, minutes, seconds, frames] = packet.label;
    let last_frame = rate.nominal() as u8 - 1;
    for (what, have, max) in [
        ("hours", hours, 23),
        ("minutes", minutes, 59),
        ("seconds", seconds, 59),
        ("frames", frames, last_frame),
    ] {
        if have > max {
            return Reject::OutOfRange {
                what,
                have: i64::from(have),
                min: 0,
                max: i64::from(max),
            };
        }
    }
    // All fields are in range, so it is one that drop-frame skips.
    debug_assert_eq!(drop, DropFrame::Drop);
    Reject::OutOfRange {
        what: "frames at the start of a drop-frame minute",
        have: i64::from(frames),
        min: 2,
        max: i64::from(last_frame),
    }
}
