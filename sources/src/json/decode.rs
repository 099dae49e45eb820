//! Objects → subject events, by the operator's mapping.

use std::net::SocketAddr;

use hub::{
    FrameBody, FrameMeta, FrameRate, QualifiedFrameTime, SourceTime, SubjectKey, SubjectName,
    Timecode, WorldTime,
};
use serde_json::Value;

use super::mapping::{Mapping, Options};
use crate::{
    Decoder, Sink,
    error::Reject,
    named_curves::NamedCurves,
    streams::{Streams, source_id},
};

/// Longest datagram taken, in bytes.
pub const MAX_DATAGRAM: usize = 64 << 10;
/// Most datagrams a second of one subject of a sender.
pub const MAX_DATAGRAMS_PER_SEC: u32 = 1000;

/// Name of the subject unless told otherwise.
const DEFAULT_SUBJECT: &[u8] = b"JSON";
/// Thirty years. A clock that leaps further is counted from anew; the hub takes no longer times.
const MAX_SECS: f64 = 946_080_000.0;

/// The sans-IO decoder of one socket. Each sender (address and port) is a source, and each name it tells a
/// subject of it.
///
/// A curve is 0 until it comes, and keeps its value while it does not. Curves that a star finds are added at
/// the end of the static data, which is announced anew with the frame that brings them.
pub struct JsonDecoder {
    mapping: Mapping,
    subject: SubjectName,
    subject_field: Option<String>,
    time_field: Option<String>,
    timecode: Option<(String, FrameRate)>,
    /// Told apart by the subject's name.
    subjects: Streams<Subject>,
    ignored: u64,
}

impl JsonDecoder {
    /// With the operator's mapping; what [`Options::validate`] finds at fault is left out.
    pub fn new(options: &Options) -> Self {
        let subject = options.subject.clone();
        Self {
            mapping: Mapping::new(options),
            subject: subject
                .or_else(|| SubjectName::from_wire(DEFAULT_SUBJECT))
                .unwrap_or_else(|| unreachable!("the default name is printable")),
            subject_field: options.subject_field.clone(),
            time_field: options.time_field.clone(),
            timecode: options.timecode_field.clone().zip(options.timecode_rate),
            subjects: Streams::new(MAX_DATAGRAMS_PER_SEC),
            ignored: 0,
        }
    }

    /// Fields left out: no number where one should be, numbers too large, times and timecodes that are none,
    /// and curves found by a star beyond the 512 that are kept.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }
}

impl Decoder for JsonDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let document = parse(bytes)?;
        if !self.mapping.is_met(&document) {
            return Err(Reject::BadMagic);
        }
        let mut ignored = 0;
        let name = self.subject_field.as_deref();
        let name = match name.and_then(|field| document.pointer(field)) {
            Some(Value::String(text)) => SubjectName::from_wire(text.as_bytes()),
            Some(Value::Number(number)) => SubjectName::from_wire(number.to_string().as_bytes()),
            _ => None,
        };
        let name = name.unwrap_or_else(|| self.subject.clone());
        let found = self.time_field.as_deref();
        let found = found.and_then(|field| document.pointer(field));
        let secs = found.and_then(Value::as_f64).filter(|s| s.is_finite());
        ignored += u64::from(found.is_some() && secs.is_none());
        let timecode = match &self.timecode {
            Some((field, rate)) => {
                let found = document.pointer(field);
                let time = found.and_then(|text| timecode(text, *rate));
                ignored += u64::from(found.is_some() && time.is_none());
                time
            }
            None => None,
        };
        let mapping = &self.mapping;
        let identity = name.as_str().as_bytes();
        let subject = self.subjects.of(from, identity, now, |is_twin| {
            let source = source_id("json", from, "", is_twin);
            Ok(Subject {
                key: SubjectKey::new(source, name.clone()),
                meta: FrameMeta::default(),
                curves: NamedCurves::new(mapping.statics(), FrameBody::Basic),
                clock: Clock::default(),
            })
        })?;
        let taken = mapping.apply(&document, &mut subject.curves);
        if taken.set > 0 {
            subject.meta.arrival = now;
            subject.meta.source_time = secs.map(|secs| subject.clock.source_time(secs));
            subject.meta.timecode = timecode;
            subject.curves.give(&subject.key, &subject.meta, sink);
        }
        self.ignored += ignored + taken.ignored;
        Ok(())
    }
}

/// The object that a datagram is.
fn parse(bytes: &[u8]) -> Result<Value, Reject> {
    if bytes.len() > MAX_DATAGRAM {
        return Err(Reject::WrongLength {
            want: MAX_DATAGRAM,
            have: bytes.len(),
        });
    }
    if bytes.trim_ascii_start().first() != Some(&b'{') {
        return Err(Reject::BadMagic);
    }
    serde_json::from_slice(bytes).map_err(|e| Reject::Syntax {
        at: if e.line() == 1 { e.column() } else { 0 },
        expected: "an object as JSON",
    })
}

fn timecode(text: &Value, rate: FrameRate) -> Option<QualifiedFrameTime> {
    let label = Timecode::parse(text.as_str()?, rate).ok()?;
    Some(QualifiedFrameTime {
        drop: label.drop(),
        ..QualifiedFrameTime::whole(label.frame(), rate)
    })
}

/// What is remembered of a subject.
struct Subject {
    key: SubjectKey,
    meta: FrameMeta,
    curves: NamedCurves,
    clock: Clock,
}

/// The sender's clock counted from the first frame, so that times since 1970 fit the hub's range.
#[derive(Default)]
struct Clock {
    first_secs: Option<f64>,
}

impl Clock {
    fn source_time(&mut self, secs: f64) -> SourceTime {
        let first = *self.first_secs.get_or_insert(secs);
        let mut since = secs - first;
        // Not so for NaN and infinity either.
        if !(-MAX_SECS..=MAX_SECS).contains(&since) {
            self.first_secs = Some(secs);
            since = 0.0;
        }
        SourceTime::from_secs_f64(since)
    }
}
