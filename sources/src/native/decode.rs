//! Datagrams → subject events of our own format: reassembly, generations, bounds.
//!
//! Memory is bounded: [`MAX_SENDERS`] sessions with [`MAX_STREAMS`] streams in all, and per stream and kind one
//! message under assembly. A piece of a newer message drops an unfinished older one.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
};

use hub::{FrameData, FrameMeta, SourceId, StaticData, SubjectKey, SubjectName, WorldTime, wire};

use super::packet::{Envelope, Kind, MAX_FRAGMENTS, PIECE_BYTES};
use crate::{Decoder, Sink, error::Reject};

/// Most streams one socket keeps.
pub const MAX_STREAMS: usize = 4096;
/// A stream silent for that long gives way when all places are taken.
const IDLE_NANOS: i64 = 60_000_000_000;
/// Bytes that all half-assembled messages of a socket may hold together.
const MAX_PENDING_BYTES: usize = 64 << 20;

#[derive(Default)]
struct Assembly {
    message: u32,
    count: u16,
    seen: u16,
    /// One bit per piece.
    have: [u64; MAX_FRAGMENTS as usize / 64],
    len: usize,
    bytes: Vec<u8>,
}

impl Assembly {
    /// Takes a piece; true when the message in `bytes[..len]` is whole. `grown` counts memory newly held.
    fn take(&mut self, e: &Envelope<'_>, grown: &mut usize, room: usize) -> Result<bool, Reject> {
        let bad = Reject::BadFragment {
            index: e.index,
            count: e.count,
        };
        let newer = e.message.wrapping_sub(self.message).cast_signed() > 0;
        if self.count == 0 || newer {
            self.message = e.message;
            self.count = e.count;
            self.seen = 0;
            self.have = [0; 4];
            self.len = 0;
        } else if e.message != self.message {
            // A piece of a message already given up.
            return Ok(false);
        }
        if e.count != self.count {
            return Err(bad);
        }
        let (word, bit) = (usize::from(e.index / 64), 1 << (e.index % 64));
        if self.have[word] & bit != 0 {
            return Ok(false);
        }
        let at = usize::from(e.index) * PIECE_BYTES;
        let end = at + e.piece.len();
        if end > self.bytes.len() {
            let more = end - self.bytes.len();
            if more > room {
                return Err(bad);
            }
            *grown += more;
            self.bytes.resize(end, 0);
        }
        self.bytes[at..end].copy_from_slice(e.piece);
        self.have[word] |= bit;
        self.seen += 1;
        if e.index + 1 == self.count {
            self.len = end;
        }
        Ok(self.seen == self.count)
    }
}

struct Stream {
    last: WorldTime,
    /// Known once static data has come.
    subject: Option<Subject>,
    statics: Assembly,
    frames: Assembly,
}

struct Subject {
    key: SubjectKey,
    generation: u32,
    data: StaticData,
}

/// The sans-IO decoder of one socket.
#[derive(Default)]
pub struct NativeDecoder {
    streams: HashMap<(IpAddr, u64, u32), Stream>,
    pending_bytes: usize,
    meta: FrameMeta,
    frame: FrameData,
}

impl NativeDecoder {
    /// Nothing known yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn make_room(&mut self, now: WorldTime) -> Result<(), Reject> {
        if self.streams.len() < MAX_STREAMS {
            return Ok(());
        }
        self.streams.retain(|_, s| now - s.last < IDLE_NANOS);
        self.pending_bytes = self
            .streams
            .values()
            .map(|s| s.statics.bytes.len() + s.frames.bytes.len())
            .sum();
        if self.streams.len() < MAX_STREAMS {
            Ok(())
        } else {
            Err(Reject::TooManyStreams { limit: MAX_STREAMS })
        }
    }
}

fn read<'a, T: serde::Deserialize<'a>>(bytes: &'a [u8]) -> Result<(T, &'a [u8]), Reject> {
    postcard::take_from_bytes(bytes).map_err(|_| Reject::Record(wire::WireError::Malformed))
}

fn read_static(ip: IpAddr, bytes: &[u8]) -> Result<Subject, Reject> {
    let ((generation, name, label), record) = read::<(u32, &str, &str)>(bytes)?;
    let data = wire::read_static(record)?;
    let name = SubjectName::new(name).map_err(|_| Reject::Record(wire::WireError::Malformed))?;
    // The session is not part of the identity: a sender that restarts is the same source.
    let source = SourceId::from_wire(format!("native/{ip}/{label}").as_bytes())
        .ok_or(Reject::Record(wire::WireError::Malformed))?;
    Ok(Subject {
        key: SubjectKey::new(source, name),
        generation,
        data,
    })
}

impl Decoder for NativeDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let e = Envelope::parse(bytes)?;
        let id = (from.ip(), e.session, e.stream);
        if !self.streams.contains_key(&id) {
            self.make_room(now)?;
        }
        let room = MAX_PENDING_BYTES.saturating_sub(self.pending_bytes);
        let mut grown = 0;
        let stream = self.streams.entry(id).or_insert_with(|| Stream {
            last: now,
            subject: None,
            statics: Assembly::default(),
            frames: Assembly::default(),
        });
        stream.last = now;
        let outcome = match e.kind {
            Kind::Static => stream.statics.take(&e, &mut grown, room).and_then(|whole| {
                if !whole {
                    return Ok(());
                }
                let message = &stream.statics.bytes[..stream.statics.len];
                let subject = read_static(from.ip(), message)?;
                sink.static_data(&subject.key, &subject.data, now);
                stream.subject = Some(subject);
                Ok(())
            }),
            Kind::Frame => {
                // Most frames are one datagram and need no assembly.
                let whole = if e.count == 1 {
                    Ok(true)
                } else {
                    stream.frames.take(&e, &mut grown, room)
                };
                whole.and_then(|whole| {
                    if !whole {
                        return Ok(());
                    }
                    let message = if e.count == 1 {
                        e.piece
                    } else {
                        &stream.frames.bytes[..stream.frames.len]
                    };
                    let subject = stream
                        .subject
                        .as_ref()
                        .ok_or(Reject::NoStatic { stream: e.stream })?;
                    let ((generation, sequence), record) = read::<(u32, u64)>(message)?;
                    if generation != subject.generation {
                        // Its names are not known yet, or no longer.
                        return Err(Reject::NoStatic { stream: e.stream });
                    }
                    let has_data = wire::read_frame(record, &mut self.meta, &mut self.frame)?;
                    self.meta.arrival = now;
                    self.meta.sequence = self.meta.sequence.or(Some(sequence));
                    sink.frame(&subject.key, &self.meta, has_data.then_some(&self.frame));
                    Ok(())
                })
            }
            Kind::Removed => {
                if let Some(subject) = &stream.subject {
                    sink.removed(&subject.key, now);
                    stream.subject = None;
                }
                Ok(())
            }
        };
        self.pending_bytes += grown;
        outcome
    }
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};
    use hub::{Skeleton, Transform};

    use super::*;
    use crate::native::{MAX_DATAGRAM, NativeSender};

    #[derive(Default)]
    struct Seen {
        statics: Vec<StaticData>,
        frames: Vec<(FrameMeta, Option<FrameData>)>,
        removed: usize,
    }

    impl Sink for Seen {
        fn static_data(&mut self, _: &SubjectKey, data: &StaticData, _: WorldTime) {
            self.statics.push(data.clone());
        }

        fn frame(&mut self, _: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
            self.frames.push((meta.clone(), data.cloned()));
        }

        fn removed(&mut self, _: &SubjectKey, _: WorldTime) {
            self.removed += 1;
        }
    }

    fn big_skeleton(bones: usize) -> (StaticData, FrameData) {
        let transform = |i: usize| {
            Transform::new(
                Vec3::new(i as f32, 0.5, -1.0),
                Quat::from_rotation_y(i as f32 * 0.01),
            )
        };
        let data = StaticData::animation(Skeleton {
            bone_names: (0..bones).map(|i| format!("骨{i}")).collect(),
            parents: (0..bones)
                .map(|i| i.checked_sub(1).map(|p| p as u32))
                .collect(),
            rest: (0..bones).map(transform).collect(),
        });
        let frame = FrameData {
            body: hub::FrameBody::Animation((0..bones).map(transform).collect()),
            properties: Vec::new(),
        };
        (data, frame)
    }

    fn datagrams(bones: usize) -> (StaticData, FrameData, Vec<Vec<u8>>) {
        let (statics, frame) = big_skeleton(bones);
        let name = SubjectName::new("舞者").unwrap();
        let mut sender = NativeSender::new(7, "stage");
        let mut out = Vec::new();
        let now = WorldTime::default();
        sender.static_data(&name, &statics, now, |d| out.push(d.to_vec()));
        assert!(
            sender.frame(&name, &FrameMeta::default(), Some(&frame), now, |d| {
                out.push(d.to_vec());
            })
        );
        (statics, frame, out)
    }

    fn feed(datagrams: &[Vec<u8>]) -> (Seen, Vec<Reject>) {
        let mut seen = Seen::default();
        let mut decoder = NativeDecoder::new();
        let mut rejects = Vec::new();
        for d in datagrams {
            let from = "10.0.0.2:5".parse().unwrap();
            let outcome = decoder.handle_datagram(WorldTime::default(), from, d, &mut seen);
            rejects.extend(outcome.err());
        }
        (seen, rejects)
    }

    #[test]
    fn a_large_skeleton_survives_fragments_in_any_order_and_doubled() {
        let (statics, frame, mut sent) = datagrams(400);
        assert!(sent.len() > 20 && sent.iter().all(|d| d.len() <= MAX_DATAGRAM));
        sent.iter().for_each(|d| assert!(d.len() <= 1400));
        // Static pieces first, each kind reversed and doubled.
        sent.sort_by_key(|d| (d[5], u16::MAX - u16::from_le_bytes([d[22], d[23]])));
        let doubled: Vec<_> = sent.iter().flat_map(|d| [d.clone(), d.clone()]).collect();
        let (seen, rejects) = feed(&doubled);
        assert_eq!(rejects, []);
        assert_eq!(seen.statics, [statics]);
        assert_eq!(seen.frames[0].1.as_ref(), Some(&frame));
        assert_eq!(seen.frames.len(), 1);
    }

    #[test]
    fn a_message_that_loses_a_piece_is_lost_whole_and_the_next_one_is_not() {
        let (statics, frame) = big_skeleton(100);
        let name = SubjectName::new("x").unwrap();
        let mut sender = NativeSender::new(7, "stage");
        let mut out = Vec::new();
        let now = WorldTime::default();
        sender.static_data(&name, &statics, now, |d| out.push(d.to_vec()));
        let statics_end = out.len();
        for _ in 0..3 {
            sender.frame(&name, &FrameMeta::default(), Some(&frame), now, |d| {
                out.push(d.to_vec())
            });
        }
        let per_frame = (out.len() - statics_end) / 3;
        assert!(per_frame > 1);
        out.remove(statics_end + per_frame);
        let (seen, rejects) = feed(&out);
        assert_eq!(rejects, []);
        let sequences: Vec<_> = seen.frames.iter().map(|f| f.0.sequence).collect();
        assert_eq!(sequences, [Some(0), Some(2)]);
    }

    #[test]
    fn a_frame_before_its_static_data_is_refused() {
        let (_, _, sent) = datagrams(2);
        let (seen, rejects) = feed(&sent[1..]);
        assert_eq!(rejects, [Reject::NoStatic { stream: 0 }]);
        assert!(seen.frames.is_empty());
    }

    #[test]
    fn static_data_is_repeated_for_a_late_listener() {
        let (statics, frame) = big_skeleton(2);
        let name = SubjectName::new("x").unwrap();
        let mut sender = NativeSender::new(7, "stage");
        sender.static_data(&name, &statics, WorldTime::default(), |_| ());
        let mut sent = Vec::new();
        for i in 0..100 {
            let now = WorldTime::from_nanos(i * 16_666_667);
            sender.frame(&name, &FrameMeta::default(), Some(&frame), now, |d| {
                sent.push(d.to_vec())
            });
        }
        let (seen, _) = feed(&sent);
        assert_eq!(seen.statics.len(), 1);
        assert!(seen.frames.len() >= 39, "{}", seen.frames.len());
    }
}
