//! Datagrams → subject events of our own format: reassembly, generations, bounds.
//!
//! Memory is bounded: [`MAX_STREAMS`] streams, a quarter of them from one address, and per stream and kind one
//! message under assembly, which holds only bytes that came. A piece of a newer message drops an unfinished
//! older one. A stream begins with static data; nothing else makes one.
//!
//! Of two senders with the same label and subject on one machine the first keeps the name; the second gets a
//! source id of its own, so that it shows as a conflict and cannot end or change the first one's subject.

use std::{
    collections::HashMap,
    net::{IpAddr, SocketAddr},
};

use hub::{FrameData, FrameMeta, SourceId, StaticData, SubjectKey, SubjectName, WorldTime, wire};

use super::packet::{Envelope, Kind, MAX_FRAGMENTS};
use crate::{Decoder, Sink, error::Reject};

/// Most streams one socket keeps.
const MAX_STREAMS: usize = 4096;
/// Most streams of one address.
const MAX_STREAMS_PER_ADDRESS: usize = 1024;
/// A sender heard within this time keeps its subject's name to itself.
const OWNED_NANOS: i64 = 1_000_000_000;
/// A stream silent for that long gives way when all places are taken.
const IDLE_NANOS: i64 = 60_000_000_000;
/// Bytes that all half-assembled messages of a socket may hold together.
const MAX_PENDING_BYTES: usize = 64 << 20;

/// One message being put together. Memory is kept for the next.
#[derive(Default)]
struct Assembly {
    message: u32,
    count: u16,
    whole: bool,
    /// One bit per piece.
    have: [u64; MAX_FRAGMENTS as usize / 64],
    /// Index of each piece and where it begins in `bytes`, in order of arrival.
    pieces: Vec<(u16, usize)>,
    bytes: Vec<u8>,
}

impl Assembly {
    fn held(&self) -> usize {
        self.bytes.capacity()
    }

    /// Takes a piece; true when that makes the message whole. `room` bounds what may be newly held.
    fn take(&mut self, e: &Envelope<'_>, room: usize) -> Result<bool, Reject> {
        let bad = Reject::BadFragment {
            index: e.index,
            count: e.count,
        };
        let newer = e.message.wrapping_sub(self.message).cast_signed() > 0;
        if self.count == 0 || newer {
            self.message = e.message;
            self.count = e.count;
            self.whole = false;
            self.have = [0; MAX_FRAGMENTS as usize / 64];
            self.pieces.clear();
            self.bytes.clear();
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
        let spare = self.bytes.capacity() - self.bytes.len();
        if e.piece.len().saturating_sub(spare) > room {
            return Err(bad);
        }
        self.have[word] |= bit;
        self.pieces.push((e.index, self.bytes.len()));
        self.bytes.extend_from_slice(e.piece);
        self.whole = self.pieces.len() == usize::from(self.count);
        Ok(self.whole)
    }

    /// The whole message; `scratch` is used when the pieces came out of order.
    fn message<'a>(&'a self, scratch: &'a mut Vec<u8>) -> &'a [u8] {
        if self.pieces.is_sorted() {
            return &self.bytes;
        }
        scratch.clear();
        for index in 0..self.count {
            let Some(place) = self.pieces.iter().position(|(i, _)| *i == index) else {
                continue;
            };
            let end = self.pieces.get(place + 1).map_or(self.bytes.len(), |p| p.1);
            scratch.extend_from_slice(&self.bytes[self.pieces[place].1..end]);
        }
        scratch
    }
}

struct Stream {
    last: WorldTime,
    announced: WorldTime,
    /// Known once static data has come.
    subject: Option<Subject>,
    statics: Assembly,
    frames: Assembly,
}

struct Subject {
    /// What it is called when nobody else has the name.
    base: SubjectKey,
    key: SubjectKey,
    generation: u32,
    data: StaticData,
}

/// The sans-IO decoder of one socket.
#[derive(Default)]
pub struct NativeDecoder {
    streams: HashMap<(IpAddr, u64, u32), Stream>,
    /// Which session plays a subject, and when it was last heard.
    owners: HashMap<SubjectKey, (u64, WorldTime)>,
    /// Bytes that assemblies hold, counted as they grow.
    held: usize,
    meta: FrameMeta,
    frame: FrameData,
    scratch: Vec<u8>,
}

impl NativeDecoder {
    /// Nothing known yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes room for another stream of that address.
    fn make_room(&mut self, ip: IpAddr, now: WorldTime) -> Result<(), Reject> {
        let of_address = self.streams.keys().filter(|k| k.0 == ip).count();
        if self.streams.len() < MAX_STREAMS && of_address < MAX_STREAMS_PER_ADDRESS {
            return Ok(());
        }
        self.streams.retain(|_, s| now - s.last < IDLE_NANOS);
        self.owners
            .retain(|_, (_, heard)| now - *heard < IDLE_NANOS);
        self.count_held();
        let of_address = self.streams.keys().filter(|k| k.0 == ip).count();
        if self.streams.len() < MAX_STREAMS && of_address < MAX_STREAMS_PER_ADDRESS {
            Ok(())
        } else {
            Err(Reject::TooManyStreams { limit: MAX_STREAMS })
        }
    }

    /// Bytes that assemblies may newly hold. When little is left, streams silent for a second give theirs up.
    fn room(&mut self, now: WorldTime) -> usize {
        let room = MAX_PENDING_BYTES.saturating_sub(self.held);
        if room > MAX_PENDING_BYTES / 8 {
            return room;
        }
        let silent = |s: &&mut Stream| now - s.last > OWNED_NANOS;
        self.streams.values_mut().filter(silent).for_each(|stream| {
            stream.frames = Assembly::default();
            if stream.subject.is_none() {
                stream.statics = Assembly::default();
            }
        });
        self.count_held();
        MAX_PENDING_BYTES.saturating_sub(self.held)
    }

    fn count_held(&mut self) {
        self.held = self
            .streams
            .values()
            .map(|s| s.statics.held() + s.frames.held())
            .sum();
    }

    fn take_static(
        &mut self,
        id: (IpAddr, u64, u32),
        e: &Envelope<'_>,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        if !self.streams.contains_key(&id) {
            self.make_room(id.0, now)?;
        }
        let room = if e.count > 1 {
            self.room(now)
        } else {
            MAX_PENDING_BYTES
        };
        let stream = self.streams.entry(id).or_insert_with(|| Stream {
            last: now,
            announced: now,
            subject: None,
            statics: Assembly::default(),
            frames: Assembly::default(),
        });
        stream.last = now;
        let before = stream.statics.held();
        let whole = stream.statics.take(e, room)?;
        self.held += stream.statics.held().saturating_sub(before);
        if whole {
            let message = stream.statics.message(&mut self.scratch);
            let subject = read_static(id.0, id.1, message, &mut self.owners, now)?;
            stream.announced = now;
            sink.static_data(&subject.key, &subject.data, now);
            stream.subject = Some(subject);
        } else if let Some(subject) = &mut stream.subject
            && now - stream.announced >= OWNED_NANOS
        {
            let free =
                |(owner, heard): &(u64, WorldTime)| *owner == id.1 || now - *heard > OWNED_NANOS;
            if subject.key != subject.base && self.owners.get(&subject.base).is_none_or(free) {
                // Who had the name is gone: a sender begun anew gets it back.
                self.owners.remove(&subject.key);
                sink.removed(&subject.key, now);
                subject.key = subject.base.clone();
                self.owners.insert(subject.key.clone(), (id.1, now));
            }
            // A repetition of what is known: for whoever forgot the subject meanwhile.
            stream.announced = now;
            sink.static_data(&subject.key, &subject.data, now);
        }
        Ok(())
    }

    fn take_frame(
        &mut self,
        id: (IpAddr, u64, u32),
        e: &Envelope<'_>,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let no_static = Reject::NoStatic { stream: e.stream };
        let room = if e.count > 1 { self.room(now) } else { 0 };
        let stream = self.streams.get_mut(&id).ok_or(no_static)?;
        stream.last = now;
        let message = if e.count == 1 {
            // Most frames are one datagram and need no assembly.
            e.piece
        } else {
            let before = stream.frames.held();
            let whole = stream.frames.take(e, room)?;
            self.held += stream.frames.held().saturating_sub(before);
            if !whole {
                return Ok(());
            }
            stream.frames.message(&mut self.scratch)
        };
        let subject = stream.subject.as_mut().ok_or(no_static)?;
        let ((generation, sequence), record) = read::<(u32, u64)>(message)?;
        if generation != subject.generation {
            // Its names are not known yet, or no longer.
            return Err(no_static);
        }
        let has_data = wire::read_frame(record, &mut self.meta, &mut self.frame)?;
        self.meta.arrival = now;
        // The counter of this wire, whatever counter the frame carried before: it tells what this wire lost.
        self.meta.sequence = Some(sequence);
        let owner = self
            .owners
            .entry(subject.key.clone())
            .or_insert((id.1, now));
        if owner.0 == id.1 || now - owner.1 > OWNED_NANOS {
            *owner = (id.1, now);
        } else {
            // While this sender paused, another took the name: it keeps it, and this one is a source of its own.
            subject.key = own_key(&subject.base, id.1).ok_or(no_static)?;
            self.owners.insert(subject.key.clone(), (id.1, now));
            sink.static_data(&subject.key, &subject.data, now);
        }
        sink.frame(&subject.key, &self.meta, has_data.then_some(&self.frame));
        Ok(())
    }
}

fn read<'a, T: serde::Deserialize<'a>>(bytes: &'a [u8]) -> Result<(T, &'a [u8]), Reject> {
    postcard::take_from_bytes(bytes).map_err(|_cause| Reject::Record(wire::WireError::Malformed))
}

/// The key of a sender whose name another one has.
fn own_key(base: &SubjectKey, session: u64) -> Option<SubjectKey> {
    let text = format!("{}#{session:016x}", base.source);
    let source = SourceId::from_wire(text.as_bytes())?;
    Some(SubjectKey::new(source, base.name.clone()))
}

fn read_static(
    ip: IpAddr,
    session: u64,
    bytes: &[u8],
    owners: &mut HashMap<SubjectKey, (u64, WorldTime)>,
    now: WorldTime,
) -> Result<Subject, Reject> {
    let malformed = Reject::Record(wire::WireError::Malformed);
    let ((generation, name, label), record) = read::<(u32, &str, &str)>(bytes)?;
    let data = wire::read_static(record)?;
    let name = SubjectName::new(name).map_err(|_cause| malformed)?;
    let source = |text: String| SourceId::from_wire(text.as_bytes()).ok_or(malformed);
    // The session is not part of the identity: a sender that restarts is the same source.
    let base = SubjectKey::new(source(format!("native/{ip}/{label}"))?, name);
    let key = match owners.get(&base) {
        Some((owner, heard)) if *owner != session && now - *heard < OWNED_NANOS => {
            own_key(&base, session).ok_or(malformed)?
        }
        _ => base.clone(),
    };
    owners.insert(key.clone(), (session, now));
    Ok(Subject {
        base,
        key,
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
        match e.kind {
            Kind::Static => self.take_static(id, &e, now, sink),
            Kind::Frame => self.take_frame(id, &e, now, sink),
            Kind::Removed => {
                if let Some(stream) = self.streams.remove(&id)
                    && let Some(subject) = stream.subject
                {
                    let owned = |(session, _): &(u64, WorldTime)| *session == id.1;
                    if self.owners.get(&subject.key).is_some_and(owned) {
                        self.owners.remove(&subject.key);
                        sink.removed(&subject.key, now);
                    }
                }
                Ok(())
            }
        }
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
                out.push(d.to_vec());
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
    fn pieces_of_repetitions_complete_each_other() {
        let (statics, frame) = big_skeleton(100);
        let name = SubjectName::new("x").unwrap();
        let mut sender = NativeSender::new(7, "stage");
        let mut rounds: Vec<Vec<Vec<u8>>> = Vec::new();
        for i in 0..4 {
            let now = WorldTime::from_nanos(i * 1_000_000_000);
            let mut sent = Vec::new();
            if i == 0 {
                sender.static_data(&name, &statics, now, |d| sent.push(d.to_vec()));
            } else {
                sender.frame(&name, &FrameMeta::default(), Some(&frame), now, |d| {
                    sent.push(d.to_vec());
                });
                sent.retain(|d| d[5] == 0);
            }
            rounds.push(sent);
        }
        assert!(rounds[0].len() > 3);
        // Of each repetition another piece gets through.
        let mixed: Vec<Vec<u8>> = (0..rounds[0].len())
            .map(|piece| rounds[piece % 4][piece].clone())
            .collect();
        let (seen, rejects) = feed(&mixed);
        assert_eq!(rejects, []);
        assert_eq!(seen.statics, [statics]);
    }

    #[test]
    fn a_second_sender_of_the_same_name_is_a_source_of_its_own() {
        struct Keys(Vec<String>);
        impl Sink for Keys {
            fn static_data(&mut self, key: &SubjectKey, _: &StaticData, _: WorldTime) {
                self.0.push(key.source.to_string());
            }
            fn frame(&mut self, _: &SubjectKey, _: &FrameMeta, _: Option<&FrameData>) {}
            fn removed(&mut self, key: &SubjectKey, _: WorldTime) {
                self.0.push(format!("removed {}", key.source));
            }
        }
        let name = SubjectName::new("x").unwrap();
        let (statics, _) = big_skeleton(2);
        let mut keys = Keys(Vec::new());
        let mut decoder = NativeDecoder::new();
        let from = "10.0.0.2:5".parse().unwrap();
        for session in [1, 2] {
            let mut sender = NativeSender::new(session, "stage");
            let now = WorldTime::from_nanos(session as i64);
            sender.static_data(&name, &statics, now, |d| {
                decoder.handle_datagram(now, from, d, &mut keys).unwrap();
            });
            sender.removed(&name, |d| {
                if session == 2 {
                    decoder.handle_datagram(now, from, d, &mut keys).unwrap();
                }
            });
        }
        assert_eq!(
            keys.0,
            [
                "native/10.0.0.2/stage",
                "native/10.0.0.2/stage#0000000000000002",
                "removed native/10.0.0.2/stage#0000000000000002"
            ]
        );
    }

    #[test]
    fn two_senders_of_one_name_never_write_one_subject() {
        struct Frames(Vec<(u64, String)>);
        impl Sink for Frames {
            fn static_data(&mut self, _: &SubjectKey, _: &StaticData, _: WorldTime) {}
            fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, _: Option<&FrameData>) {
                let who = meta.extra[0].1.parse().unwrap();
                self.0.push((who, key.source.to_string()));
            }
            fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
        }
        let name = SubjectName::new("x").unwrap();
        let (statics, frame) = big_skeleton(2);
        let mut senders = [NativeSender::new(1, "stage"), NativeSender::new(2, "stage")];
        let mut decoder = NativeDecoder::new();
        let mut frames = Frames(Vec::new());
        let from = "10.0.0.2:5".parse().unwrap();
        // The first pauses from 1 s to 4 s; the second comes at 2.5 s.
        for i in 0..360 {
            let now = WorldTime::from_nanos(i * 16_666_667);
            for (who, sender) in senders.iter_mut().enumerate() {
                let begins = [0, 150][who];
                if i < begins || (who == 0 && (60..240).contains(&i)) {
                    continue;
                }
                let meta = FrameMeta {
                    extra: vec![("who".into(), who.to_string())],
                    ..FrameMeta::default()
                };
                let mut out = Vec::new();
                if i == begins {
                    sender.static_data(&name, &statics, now, |d| out.push(d.to_vec()));
                }
                sender.frame(&name, &meta, Some(&frame), now, |d| out.push(d.to_vec()));
                for d in out {
                    decoder.handle_datagram(now, from, &d, &mut frames).unwrap();
                }
            }
        }
        let late: Vec<_> = frames.0.iter().rev().take(100).collect();
        for who in [0, 1] {
            let mut sources: Vec<_> = late.iter().filter(|f| f.0 == who).map(|f| &f.1).collect();
            sources.sort();
            sources.dedup();
            assert_eq!(sources.len(), 1, "{who}: {sources:?}");
            let others = late.iter().filter(|f| f.0 != who);
            assert!(others.clone().count() > 0 && others.clone().all(|f| f.1 != *sources[0]));
        }
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
                sent.push(d.to_vec());
            });
        }
        let (seen, _) = feed(&sent);
        assert!(!seen.statics.is_empty());
        assert!(seen.frames.len() >= 39, "{}", seen.frames.len());
    }
}
