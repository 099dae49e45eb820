//! Records → subject events of Face Cap.

use std::{net::SocketAddr, sync::LazyLock};

use hub::{
    FrameData, FrameMeta, StaticData, SubjectKey, SubjectName, WorldTime,
    arkit::{self, NUM_CURVES},
};

use super::{
    convert::{Layout, Options},
    packet::{self, Record},
};
use crate::{
    Decoder, Sink,
    error::Reject,
    osc::{
        burst::Burst,
        scan::{self, BUNDLE, Messages},
    },
    streams::{Streams, source_id},
};

/// Most datagrams a second of one phone: 57 messages at 60 Hz are 3,420, if each comes by itself.
pub const MAX_DATAGRAMS_PER_SEC: u32 = 10_000;
/// Static data is announced again that often, for whoever came later.
const ANNOUNCE_NANOS: i64 = 1_000_000_000;
/// Name of the subject unless told otherwise.
const DEFAULT_SUBJECT: &[u8] = b"FaceCap";

static STATIC: LazyLock<StaticData> = LazyLock::new(|| StaticData::basic(&arkit::CURVES));

/// The sans-IO decoder of one socket.
///
/// # Frames
/// A datagram that is a bundle ends a frame. Of messages that come one by one, a frame is given as soon as as
/// many came as in the burst before, and at the latest where a pause of more than 5 ms or a message that came
/// already begins the next one. There is no timer: what a pause ends is given with the next datagram of that
/// phone, with the time of its own last message. The first burst of a phone is always given that late.
///
/// A curve is 0 until it comes, and keeps its value while it does not.
pub struct FaceCapDecoder {
    layout: Layout,
    euler_only: bool,
    subject: SubjectName,
    phones: Streams<Phone>,
    ignored: u64,
}

impl FaceCapDecoder {
    /// With what the operator tells about the phones.
    pub fn new(options: Options) -> Self {
        Self {
            layout: Layout::new(&options),
            euler_only: options.euler_only,
            subject: options
                .subject
                .or_else(|| SubjectName::from_wire(DEFAULT_SUBJECT))
                .unwrap_or_else(|| unreachable!("the default name is printable")),
            phones: Streams::new(MAX_DATAGRAMS_PER_SEC),
            ignored: 0,
        }
    }

    /// Messages of Face Cap's addresses left out: too few or wrong arguments, weights outside −1..2, angles
    /// beyond a turn, what is no rotation.
    pub fn ignored(&self) -> u64 {
        self.ignored
    }
}

impl Decoder for FaceCapDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        scan::check(bytes)?;
        let subject = &self.subject;
        let phone = self.phones.of(from, &[], now, |is_twin| {
            let source = source_id("facecap", from, "", is_twin);
            Ok(Phone {
                key: SubjectKey::new(source, subject.clone()),
                meta: FrameMeta::default(),
                data: FrameData::basic(vec![0.0; NUM_CURVES]),
                burst: Burst::new(),
                has_quaternion: false,
                announced: None,
            })
        })?;
        self.ignored += phone.datagram(bytes, &self.layout, self.euler_only, now, sink);
        Ok(())
    }
}

/// What is remembered of a phone.
struct Phone {
    key: SubjectKey,
    meta: FrameMeta,
    data: FrameData,
    burst: Burst,
    /// `/HRQ` came, and stands for `/HR`.
    has_quaternion: bool,
    announced: Option<WorldTime>,
}

impl Phone {
    /// Takes a datagram that passed the scan. Returns how many messages were left out.
    fn datagram(
        &mut self,
        bytes: &[u8],
        layout: &Layout,
        euler_only: bool,
        now: WorldTime,
        sink: &mut dyn Sink,
    ) -> u64 {
        let is_bundle = bytes.starts_with(BUNDLE);
        if self.burst.pauses(now) {
            self.give(sink);
        }
        let mut ignored = 0;
        let mut messages = Messages::new(bytes);
        while let Ok(Some(message)) = messages.next_message() {
            let record = match packet::read(message) {
                Ok(Some(record)) => record,
                Ok(None) => continue,
                Err(packet::Unfit) => {
                    ignored += 1;
                    continue;
                }
            };
            if !is_bundle && self.burst.repeats(record.item()) {
                self.give(sink);
            }
            let is_spare = match record {
                Record::Euler(_) => self.has_quaternion,
                Record::Quaternion(_) => euler_only,
                _ => false,
            };
            if !is_spare {
                if layout.write(&record, &mut self.data.properties).is_none() {
                    ignored += 1;
                    continue;
                }
                self.has_quaternion |= matches!(record, Record::Quaternion(_));
            }
            self.burst.add(record.item(), now);
        }
        if self.burst.ends(is_bundle) {
            self.give(sink);
        }
        ignored
    }

    fn give(&mut self, sink: &mut dyn Sink) {
        let arrival = self.burst.arrival();
        if self.announced.is_none_or(|t| arrival - t >= ANNOUNCE_NANOS) {
            self.announced = Some(arrival);
            sink.static_data(&self.key, &STATIC, arrival);
        }
        self.meta.arrival = arrival;
        sink.frame(&self.key, &self.meta, Some(&self.data));
    }
}
