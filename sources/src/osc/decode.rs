//! Messages → subject events, by the operator's mapping.

use std::{collections::HashMap, net::SocketAddr};

use hub::{FrameMeta, SubjectKey, SubjectName, WorldTime};

use super::{
    burst::Burst,
    mapping::{FrameEnd, Mapping, Numbers, Options, Target},
    scan::{self, BUNDLE, Messages},
};
use crate::{
    Decoder, Sink,
    error::Reject,
    named_curves::{NamedCurves, named, scaled},
    streams::{Streams, source_id},
};

/// Most datagrams a second of one sender. High, because many send each message in a datagram of its own.
pub const MAX_DATAGRAMS_PER_SEC: u32 = 10_000;

/// Name of the subject unless told otherwise.
const DEFAULT_SUBJECT: &[u8] = b"OSC";

/// The sans-IO decoder of one socket. Each sender (address and port) is a source with one subject.
///
/// # Frames
/// With `frame_end = "auto"` a datagram that is a bundle ends a frame. Of messages that come one by one, a
/// frame is given as soon as as many came as in the burst before, and at the latest where a pause of more than
/// 5 ms or an address that came already begins the next one. There is no timer: what a pause ends is given
/// with the next datagram, with the time of its own last message. The first burst of a sender is always
/// given that late.
///
/// With `"datagram"` each datagram that changes something is a frame; with an address, frames end at the
/// message of that address and nowhere else.
///
/// # Values
/// A curve is 0 until it comes, a bone at rest; both keep their value while nothing comes. Curves that a star
/// finds are added at the end of the static data, which is announced anew with the frame that brings them.
pub struct OscDecoder {
    subject: SubjectName,
    mapping: Mapping,
    senders: Streams<Sender>,
    ignored: u64,
}

impl OscDecoder {
    /// With the operator's mapping; what [`Options::validate`] finds at fault is left out.
    pub fn new(options: &Options) -> Self {
        let subject = options.subject.clone();
        Self {
            subject: subject
                .or_else(|| SubjectName::from_wire(DEFAULT_SUBJECT))
                .unwrap_or_else(|| unreachable!("the default name is printable")),
            mapping: Mapping::new(options),
            senders: Streams::new(MAX_DATAGRAMS_PER_SEC),
            ignored: 0,
        }
    }

    /// Curves and bones that a message of theirs could not set: arguments missing or of another type, numbers
    /// that are none or no pose, and curves found by a star beyond the 512 that are kept.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }
}

impl Decoder for OscDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        scan::check(bytes)?;
        let (subject, mapping) = (&self.subject, &self.mapping);
        let sender = self.senders.of(from, &[], now, |is_twin| {
            let source = source_id("osc", from, "", is_twin);
            Ok(Sender::new(
                SubjectKey::new(source, subject.clone()),
                mapping,
            ))
        })?;
        self.ignored += sender.datagram(mapping, bytes, now, sink);
        Ok(())
    }
}

/// Where the numbers of an address go.
#[derive(Clone, Copy)]
enum Place {
    /// To targets of the mapping.
    Written(usize),
    /// To targets of the sender, found by a star.
    Learned(usize),
    /// To no curve or bone.
    Nowhere,
    /// A star matches, and no curve could be added.
    NoRoom,
}

/// What is remembered of a sender.
struct Sender {
    key: SubjectKey,
    meta: FrameMeta,
    curves: NamedCurves,
    burst: Burst,
    /// Addresses that a star matched.
    learned: HashMap<Box<str>, usize>,
    targets: Vec<Vec<Target>>,
}

impl Sender {
    fn new(key: SubjectKey, mapping: &Mapping) -> Self {
        let (statics, body) = mapping.statics();
        Self {
            key,
            meta: FrameMeta::default(),
            curves: NamedCurves::new(statics, body),
            burst: Burst::new(),
            learned: HashMap::new(),
            targets: Vec::new(),
        }
    }

    /// Takes a datagram that passed the scan. Returns how many curves and bones could not be set.
    fn datagram(
        &mut self,
        mapping: &Mapping,
        bytes: &[u8],
        now: WorldTime,
        sink: &mut dyn Sink,
    ) -> u64 {
        let is_auto = mapping.frame_end == FrameEnd::Auto;
        let is_bundle = bytes.starts_with(BUNDLE);
        if is_auto && self.burst.pauses(now) {
            self.give(sink);
        }
        let mut ignored = 0;
        let mut messages = Messages::new(bytes);
        while let Ok(Some(message)) = messages.next_message() {
            let address = message.address;
            let numbers: Numbers = message.args.numbers();
            let place = self.place(mapping, address, &numbers);
            let item = match place {
                Place::Written(at) => Some(at),
                Place::Learned(at) => Some(mapping.num_places() + at),
                Place::Nowhere => None,
                Place::NoRoom => {
                    ignored += 1;
                    None
                }
            };
            if let Some(item) = item {
                if is_auto && !is_bundle && self.burst.repeats(item) {
                    self.give(sink);
                }
                let targets = match place {
                    Place::Learned(at) => self.targets.get(at).map_or(&[][..], Vec::as_slice),
                    _ => mapping.targets(item),
                };
                let left_out = set(targets, &numbers, &mut self.curves);
                ignored += left_out;
                if (left_out as usize) < targets.len() {
                    self.burst.add(item, now);
                }
            }
            if let FrameEnd::Address(end) = &mapping.frame_end
                && end.as_str() == address
                && self.burst.finish()
            {
                self.give(sink);
            }
        }
        let is_frame = match mapping.frame_end {
            FrameEnd::Auto => self.burst.ends(is_bundle),
            FrameEnd::Datagram => self.burst.finish(),
            FrameEnd::Address(_) => false,
        };
        if is_frame {
            self.give(sink);
        }
        ignored
    }

    fn give(&mut self, sink: &mut dyn Sink) {
        self.meta.arrival = self.burst.arrival();
        self.curves.give(&self.key, &self.meta, sink);
    }

    fn place(&mut self, mapping: &Mapping, address: &str, numbers: &Numbers) -> Place {
        if let Some(at) = mapping.place(address) {
            return Place::Written(at);
        }
        if let Some(at) = self.learned.get(address) {
            return Place::Learned(*at);
        }
        let mut targets = Vec::new();
        let mut is_matched = false;
        for star in &mapping.stars {
            let matched = address
                .strip_prefix(star.prefix.as_str())
                .filter(|m| !m.is_empty());
            // Without a number there, the message is of another kind.
            let has_number = numbers.get(star.argument).is_some_and(Option::is_some);
            let Some(matched) = matched.filter(|_| has_number) else {
                continue;
            };
            is_matched = true;
            if let Some(slot) = self.curves.slot(&named(&star.curve, matched)) {
                targets.push(Target::Curve {
                    slot,
                    argument: star.argument,
                    gain: star.gain,
                    offset: star.offset,
                });
            }
        }
        match (is_matched, targets.is_empty()) {
            (false, _) => Place::Nowhere,
            (true, true) => Place::NoRoom,
            (true, false) => {
                let at = self.targets.len();
                self.targets.push(targets);
                self.learned.insert(address.into(), at);
                Place::Learned(at)
            }
        }
    }
}

/// Sets what the numbers tell. Returns how many targets could not be set.
fn set(targets: &[Target], numbers: &Numbers, curves: &mut NamedCurves) -> u64 {
    let mut left_out = 0;
    for target in targets {
        let is_set = match target {
            Target::Curve {
                slot,
                argument,
                gain,
                offset,
            } => {
                let number = numbers.get(*argument).copied().flatten();
                let value = number.and_then(|n| scaled(n, *gain, *offset));
                value.map(|v| curves.set(*slot, v))
            }
            Target::Bone { bone, pose } => curves
                .transform_mut(*bone)
                .and_then(|to| pose.read(numbers, to)),
        };
        left_out += u64::from(is_set.is_none());
    }
    left_out
}
