//! Subject events → datagrams. Sans-IO: the datagrams go to a callback.

use std::collections::HashMap;

use hub::{FrameData, FrameMeta, StaticData, SubjectName, WorldTime, wire};

use super::packet::{Envelope, Kind, MAX_DATAGRAM, MAX_FRAGMENTS, PIECE_BYTES};

/// Static data is sent again that often.
const REPEAT_NANOS: i64 = 1_000_000_000;
/// Subjects kept before those that ended are forgotten.
const MAX_KEPT: usize = 1024;

struct Stream {
    number: u32,
    generation: u32,
    statics: StaticData,
    message: Vec<u8>,
    sent: WorldTime,
    sequence: u64,
    is_ended: bool,
}

/// One sender's run. Memory is reused; a steady stream of frames does not allocate.
pub struct NativeSender {
    session: u64,
    label: String,
    streams: HashMap<SubjectName, Stream>,
    /// Numbers are never used twice.
    next_number: u32,
    encoder: wire::Encoder,
    frame: Vec<u8>,
    datagram: Vec<u8>,
}

impl NativeSender {
    /// `session` should differ between runs; `label` tells people which machine this is.
    pub fn new(session: u64, label: &str) -> Self {
        Self {
            session,
            label: label.to_owned(),
            streams: HashMap::new(),
            next_number: 0,
            encoder: wire::Encoder::default(),
            frame: Vec::new(),
            datagram: Vec::with_capacity(MAX_DATAGRAM),
        }
    }

    /// Announces static data; sends it now.
    pub fn static_data(
        &mut self,
        name: &SubjectName,
        data: &StaticData,
        now: WorldTime,
        mut send: impl FnMut(&[u8]),
    ) {
        if self.streams.len() >= MAX_KEPT && !self.streams.contains_key(name) {
            self.streams.retain(|_, stream| !stream.is_ended);
        }
        let next_number = &mut self.next_number;
        let stream = self.streams.entry(name.clone()).or_insert_with(|| {
            let number = *next_number;
            *next_number = next_number.wrapping_add(1);
            Stream {
                number,
                generation: 0,
                statics: data.clone(),
                message: Vec::new(),
                sent: now,
                sequence: 0,
                is_ended: false,
            }
        });
        stream.is_ended = false;
        if stream.generation == 0 || stream.statics != *data {
            stream.generation += 1;
            stream.statics = data.clone();
            stream.message.clear();
            let head = (stream.generation, name.as_str(), self.label.as_str());
            let taken = std::mem::take(&mut stream.message);
            stream.message = postcard::to_extend(&head, taken).expect(
                "a Vec takes any number of bytes and these types have no failing serialiser",
            );
            self.encoder.static_data(data, &mut stream.message);
        }
        stream.sent = now;
        let head = (Kind::Static, stream.number, stream.generation);
        fragment(
            &mut self.datagram,
            self.session,
            head,
            &stream.message,
            &mut send,
        );
    }

    /// Sends a frame of an announced subject, and its static data when that is due. Returns false for a
    /// subject that was never announced.
    pub fn frame(
        &mut self,
        name: &SubjectName,
        meta: &FrameMeta,
        data: Option<&FrameData>,
        now: WorldTime,
        mut send: impl FnMut(&[u8]),
    ) -> bool {
        let Some(stream) = self.streams.get_mut(name) else {
            return false;
        };
        if now - stream.sent >= REPEAT_NANOS {
            stream.sent = now;
            let head = (Kind::Static, stream.number, stream.generation);
            fragment(
                &mut self.datagram,
                self.session,
                head,
                &stream.message,
                &mut send,
            );
        }
        self.frame.clear();
        let taken = std::mem::take(&mut self.frame);
        self.frame = postcard::to_extend(&(stream.generation, stream.sequence), taken)
            .expect("a Vec takes any number of bytes and integers always serialise");
        stream.sequence += 1;
        self.encoder.frame(meta, data, &mut self.frame);
        let head = (Kind::Frame, stream.number, stream.sequence as u32);
        fragment(
            &mut self.datagram,
            self.session,
            head,
            &self.frame,
            &mut send,
        );
        true
    }

    /// Says that a subject ends.
    pub fn removed(&mut self, name: &SubjectName, mut send: impl FnMut(&[u8])) {
        if let Some(stream) = self.streams.get_mut(name) {
            stream.is_ended = true;
            let head = (Kind::Removed, stream.number, 0);
            fragment(&mut self.datagram, self.session, head, &[], &mut send);
        }
    }
}

fn fragment(
    datagram: &mut Vec<u8>,
    session: u64,
    (kind, stream, message): (Kind, u32, u32),
    bytes: &[u8],
    send: &mut impl FnMut(&[u8]),
) {
    let count = bytes.len().div_ceil(PIECE_BYTES).max(1);
    if count > usize::from(MAX_FRAGMENTS) {
        // Beyond every bound of the hub's own vocabulary; a receiver would refuse it.
        return;
    }
    for index in 0..count {
        let piece = &bytes[index * PIECE_BYTES..bytes.len().min((index + 1) * PIECE_BYTES)];
        datagram.clear();
        Envelope {
            kind,
            session,
            stream,
            message,
            index: index as u16,
            count: count as u16,
            piece,
        }
        .write(datagram);
        send(datagram);
    }
}
