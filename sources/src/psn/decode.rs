//! Records → subject events of PosiStageNet.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use hub::{
    FrameBody, FrameData, FrameMeta, StaticBody, StaticData, SubjectKey, SubjectName, Tracking,
    Transform, WorldTime,
};

use super::{
    convert::{self, Options},
    packet::{Kind, Packet, Tracker},
};
use crate::{
    Decoder, Sink,
    error::Reject,
    streams::{Streams, source_id},
};

/// A server that sends faster has its excess dropped: 250 frames per second of 40 packets.
pub const MAX_PACKETS_PER_SEC: u32 = 10_000;
/// Most trackers of one server, and four times as many of one socket.
pub const MAX_TRACKERS: usize = 1024;
/// How long a tracker's data waits for its name: INFO comes about once a second.
pub const NAME_WAIT_NANOS: i64 = 1_500_000_000;

const MAX_TRACKERS_OF_SOCKET: usize = 4 * MAX_TRACKERS;
/// Static data is announced again that often, for whoever came later.
const ANNOUNCE_NANOS: i64 = 1_000_000_000;
/// After so long a silence the 8 bits of the frame id tell nothing.
const COUNTED_NANOS: i64 = 1_000_000_000;

static STATIC: StaticData = StaticData {
    body: StaticBody::Transform,
    properties: Vec::new(),
};

/// What is remembered of a tracker.
struct Known {
    first_heard: WorldTime,
    /// As INFO has it.
    name: Option<SubjectName>,
    /// Set when the first frame is shown.
    key: Option<SubjectKey>,
    announced: Option<WorldTime>,
    meta: FrameMeta,
    data: FrameData,
    has_pose: bool,
}

impl Known {
    fn new(now: WorldTime) -> Self {
        Self {
            first_heard: now,
            name: None,
            key: None,
            announced: None,
            meta: FrameMeta::default(),
            data: FrameData {
                body: FrameBody::Transform(Transform::IDENTITY),
                properties: Vec::new(),
            },
            has_pose: false,
        }
    }
}

/// What is remembered of a server.
struct Server {
    trackers: HashMap<u16, Known>,
    /// Trackers of all servers of the socket.
    of_socket: Arc<AtomicUsize>,
    /// The frame last counted: its id, its number, when.
    counted: Option<(u8, u64, WorldTime)>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.of_socket
            .fetch_sub(self.trackers.len(), Ordering::Relaxed);
    }
}

impl Server {
    /// The number of a frame, from the 8 bits of it that are sent.
    fn number(&mut self, frame_id: u8, now: WorldTime) -> u64 {
        let Some((last_id, last, when)) = self.counted else {
            // Not from 0: the next packet may be an earlier one.
            let number = 256 + u64::from(frame_id);
            self.counted = Some((frame_id, number, now));
            return number;
        };
        let ahead = i64::from(frame_id.wrapping_sub(last_id).cast_signed());
        let number = if now - when > COUNTED_NANOS {
            last + 1
        } else {
            last.saturating_add_signed(ahead)
        };
        if number > last {
            self.counted = Some((frame_id, number, now));
        }
        number
    }

    /// Refuses a packet whose new trackers are too many.
    fn check_room(&self, packet: Packet<'_>) -> Result<(), Reject> {
        let is_new = |t: &Tracker<'_>| !self.trackers.contains_key(&t.id);
        let new = packet.trackers().filter(is_new).count();
        let all = self.of_socket.load(Ordering::Relaxed);
        for (have, limit) in [
            (self.trackers.len(), MAX_TRACKERS),
            (all, MAX_TRACKERS_OF_SOCKET),
        ] {
            if new > 0 && have + new > limit {
                return Err(Reject::TooManyStreams { limit });
            }
        }
        Ok(())
    }

    fn known(&mut self, id: u16, now: WorldTime) -> &mut Known {
        self.trackers.entry(id).or_insert_with(|| {
            self.of_socket.fetch_add(1, Ordering::Relaxed);
            Known::new(now)
        })
    }
}

/// The sans-IO decoder of one socket.
pub struct PsnDecoder {
    options: Options,
    /// By address without port: INFO and DATA of one server may come from two sockets.
    servers: Streams<Server>,
    trackers: Arc<AtomicUsize>,
}

impl PsnDecoder {
    /// With what the operator tells about the servers.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            servers: Streams::new(MAX_PACKETS_PER_SEC),
            trackers: Arc::default(),
        }
    }

    /// The static data of every tracker.
    pub fn static_data() -> &'static StaticData {
        &STATIC
    }
}

impl Decoder for PsnDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let packet = Packet::parse(bytes)?;
        let of_socket = &self.trackers;
        let from = SocketAddr::new(from.ip(), 0);
        let server = self.servers.of(from, b"", now, |_is_twin| {
            Ok(Server {
                trackers: HashMap::new(),
                of_socket: Arc::clone(of_socket),
                counted: None,
            })
        })?;
        server.check_room(packet)?;
        match packet.kind {
            Kind::Info => {
                for tracker in packet.trackers() {
                    learn_name(server.known(tracker.id, now), &tracker, now, sink);
                }
            }
            Kind::Data => {
                let number = server.number(packet.header.frame_id, now);
                let time = convert::source_time(packet.header.timestamp_micros);
                for tracker in packet.trackers() {
                    let known = server.known(tracker.id, now);
                    known.meta.arrival = now;
                    known.meta.sequence = Some(number);
                    known.meta.source_time = time;
                    show(known, &tracker, from, self.options, sink);
                }
            }
        }
        Ok(())
    }
}

/// Takes a name. A tracker already shown under another one ends; its next frame begins the new one.
fn learn_name(known: &mut Known, tracker: &Tracker<'_>, now: WorldTime, sink: &mut dyn Sink) {
    let sent = tracker.name.unwrap_or(b"");
    if known
        .name
        .as_ref()
        .is_some_and(|n| n.as_str().as_bytes() == sent)
    {
        return;
    }
    let Some(name) = SubjectName::from_wire(sent) else {
        return;
    };
    if let Some(key) = &known.key
        && key.name != name
    {
        sink.removed(key, now);
        known.key = None;
        known.announced = None;
    }
    known.name = Some(name);
}

/// Shows a tracker's data, once its name is known or has been waited for.
fn show(
    known: &mut Known,
    tracker: &Tracker<'_>,
    from: SocketAddr,
    options: Options,
    sink: &mut dyn Sink,
) {
    let now = known.meta.arrival;
    if let FrameBody::Transform(t) = &mut known.data.body {
        if let Some(position) = tracker.position {
            t.translation = convert::translation(position);
        }
        if let Some(vector) = tracker.orientation {
            t.rotation = convert::rotation(vector, options);
        }
    }
    known.has_pose |= tracker.position.is_some() || tracker.orientation.is_some();
    if known.key.is_none() {
        if known.name.is_none() && now - known.first_heard < NAME_WAIT_NANOS {
            return;
        }
        let id = tracker.id;
        let name = known.name.clone();
        let name = name.or_else(|| SubjectName::from_wire(format!("Tracker {id}").as_bytes()));
        let source = source_id("psn", from, &id.to_string(), false);
        known.key = name.map(|name| SubjectKey::new(source, name));
    }
    let Some(key) = &known.key else {
        return;
    };
    let is_lost = tracker.status.is_some_and(|s| s <= 0.0);
    if !is_lost && !known.has_pose {
        // Neither place nor direction was ever sent.
        return;
    }
    if known.announced.is_none_or(|t| now - t >= ANNOUNCE_NANOS) {
        known.announced = Some(now);
        sink.static_data(key, &STATIC, now);
    }
    known.meta.tracking = if is_lost {
        Tracking::Lost
    } else {
        Tracking::Tracked
    };
    sink.frame(key, &known.meta, (!is_lost).then_some(&known.data));
}

#[cfg(test)]
mod tests {
    use glam::Vec3;
    use hub::SourceTime;
    use proptest::prelude::*;

    use super::*;
    use crate::psn::packet::tests::{data, floats, golden_data, info};

    #[derive(Default)]
    struct Seen {
        statics: Vec<String>,
        frames: Vec<(SubjectKey, FrameMeta, Option<FrameData>)>,
        removed: Vec<String>,
    }

    impl Sink for Seen {
        fn static_data(&mut self, key: &SubjectKey, data: &StaticData, _: WorldTime) {
            assert_eq!(data.validate(), Ok(()));
            self.statics.push(key.to_string());
        }

        fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
            if let Some(data) = data {
                assert_eq!(data.check(PsnDecoder::static_data()), Ok(()));
            }
            self.frames.push((key.clone(), meta.clone(), data.cloned()));
        }

        fn removed(&mut self, key: &SubjectKey, _: WorldTime) {
            self.removed.push(key.to_string());
        }
    }

    fn at(i: i64) -> WorldTime {
        WorldTime::from_nanos(i * 16_666_667)
    }

    fn peer() -> SocketAddr {
        "10.0.0.3:60000".parse().unwrap()
    }

    struct Stage {
        decoder: PsnDecoder,
        seen: Seen,
    }

    impl Stage {
        fn new() -> Self {
            Self {
                decoder: PsnDecoder::new(Options::default()),
                seen: Seen::default(),
            }
        }

        fn take(&mut self, i: i64, bytes: &[u8]) -> Result<(), Reject> {
            self.decoder
                .handle_datagram(at(i), peer(), bytes, &mut self.seen)
        }
    }

    fn position(x: f32) -> Vec<u8> {
        floats(0, &[x, 0.0, 0.0])
    }

    #[test]
    fn a_named_tracker_becomes_a_transform_in_the_house_frame() {
        let mut s = Stage::new();
        s.take(0, &info(&[(1, "Cam A")])).unwrap();
        s.take(1, &golden_data()).unwrap();
        assert_eq!(s.seen.statics, ["Cam A of psn/10.0.0.3/1"]);
        let (_, meta, frame) = &s.seen.frames[0];
        assert_eq!(
            meta.source_time,
            Some(SourceTime::from_nanos(1_234_567_000))
        );
        assert_eq!(
            (meta.sequence, meta.tracking),
            (Some(256 + 7), Tracking::Tracked)
        );
        let t = frame.as_ref().unwrap().transforms()[0];
        assert_eq!(t.translation, Vec3::new(1.5, 2.0, 3.25));
        // 90 degrees about up: what looked upstage looks to the audience's right.
        assert!((t.rotation * Vec3::NEG_Z - Vec3::X).length() < 1e-6);
    }

    #[test]
    fn data_waits_for_its_name_and_goes_on_without_one() {
        let mut s = Stage::new();
        for i in 0..100 {
            s.take(i, &data(1 + i as u64, i as u8, &[(4, position(1.0))]))
                .unwrap();
        }
        // 1.5 s are 90 frames.
        assert_eq!(s.seen.frames.len(), 10);
        assert_eq!(s.seen.statics, ["Tracker 4 of psn/10.0.0.3/4"]);
        // The name comes after all.
        s.take(100, &info(&[(4, "Lamp")])).unwrap();
        assert_eq!(s.seen.removed, ["Tracker 4 of psn/10.0.0.3/4"]);
        s.take(101, &data(500, 101, &[(4, position(1.0))])).unwrap();
        s.take(102, &info(&[(4, "Lamp")])).unwrap();
        s.take(103, &data(501, 102, &[(4, position(1.0))])).unwrap();
        assert_eq!(s.seen.removed.len(), 1);
        assert_eq!(s.seen.statics[1..], ["Lamp of psn/10.0.0.3/4"]);
        assert_eq!(s.seen.frames.last().unwrap().0.name.as_str(), "Lamp");
    }

    #[test]
    fn packets_of_one_frame_share_time_and_number_and_ids_wrap() {
        let mut s = Stage::new();
        s.take(0, &info(&[(1, "a"), (2, "b")])).unwrap();
        let mut numbers = Vec::new();
        // Frame 1 is lost, 0 comes late.
        for (i, id) in [254u8, 255, 2, 0, 3].into_iter().enumerate() {
            let micros = 1_000 * u64::from(id.wrapping_add(10));
            for tracker in [1, 2] {
                s.take(i as i64, &data(micros, id, &[(tracker, position(0.5))]))
                    .unwrap();
            }
            let [.., a, b] = &s.seen.frames[..] else {
                panic!("two frames");
            };
            assert_eq!(a.1.sequence, b.1.sequence);
            assert_eq!(a.1.source_time, b.1.source_time);
            assert_ne!(a.0, b.0);
            numbers.push(a.1.sequence.unwrap() - 256);
        }
        assert_eq!(numbers, [254, 255, 258, 256, 259]);
        // After a silence counting goes on, whatever the id.
        s.take(1000, &data(1, 90, &[(1, position(0.5))])).unwrap();
        assert_eq!(s.seen.frames.last().unwrap().1.sequence, Some(256 + 260));
    }

    #[test]
    fn status_0_is_lost_tracking_and_missing_fields_keep_their_value() {
        let mut s = Stage::new();
        s.take(0, &info(&[(1, "a"), (2, "b")])).unwrap();
        let status = |v| floats(3, &[v]);
        let turn = floats(2, &[0.0, 0.0, 1.0]);
        for (i, fields) in [
            [position(2.0), status(1.0)].concat(),
            [position(9.0), status(0.0)].concat(),
            [turn, status(0.5)].concat(),
            floats(1, &[1.0, 1.0, 1.0]),
        ]
        .into_iter()
        .enumerate()
        {
            s.take(i as i64, &data(i as u64 + 1, i as u8, &[(1, fields)]))
                .unwrap();
        }
        let x: Vec<_> = s
            .seen
            .frames
            .iter()
            .map(|f| {
                (
                    f.1.tracking,
                    f.2.as_ref().map(|d| d.transforms()[0].translation.x),
                )
            })
            .collect();
        let (tracked, lost) = (Tracking::Tracked, Tracking::Lost);
        assert_eq!(
            x,
            [
                (tracked, Some(2.0)),
                (lost, None),
                (tracked, Some(9.0)),
                (tracked, Some(9.0))
            ]
        );
        // Only a speed was ever sent: nothing to show.
        let count = s.seen.frames.len();
        s.take(9, &data(9, 9, &[(2, floats(1, &[1.0; 3]))]))
            .unwrap();
        assert_eq!(s.seen.frames.len(), count);
    }

    #[test]
    fn info_and_data_from_two_ports_are_one_server_and_two_addresses_are_two() {
        let mut s = Stage::new();
        let frame = data(1, 1, &[(1, position(1.0))]);
        for (from, bytes) in [
            ("10.0.0.3:1", &info(&[(1, "a")])),
            ("10.0.0.3:2", &frame),
            ("10.0.0.4:1", &info(&[(1, "a")])),
            ("10.0.0.4:1", &frame),
        ] {
            s.decoder
                .handle_datagram(at(0), from.parse().unwrap(), bytes, &mut s.seen)
                .unwrap();
        }
        assert_eq!(
            s.seen.statics,
            ["a of psn/10.0.0.3/1", "a of psn/10.0.0.4/1"]
        );
    }

    #[test]
    fn trackers_and_packets_are_bounded_and_a_refused_packet_changes_nothing() {
        let mut s = Stage::new();
        let trackers = |range: std::ops::Range<u16>| -> Vec<(u16, Vec<u8>)> {
            range.map(|id| (id, Vec::new())).collect()
        };
        s.take(0, &data(1, 1, &trackers(0..1000))).unwrap();
        assert_eq!(
            s.take(0, &data(1, 1, &trackers(990..1025))),
            Err(Reject::TooManyStreams { limit: 1024 })
        );
        assert_eq!(s.decoder.trackers.load(Ordering::Relaxed), 1000);
        s.take(0, &data(1, 1, &trackers(990..1024))).unwrap();
        s.take(0, &data(2, 2, &trackers(0..1024))).unwrap();
        let mut refused = 0;
        for host in 10..20 {
            let from = SocketAddr::from(([10, 0, 0, host], 1));
            let bytes = data(1, 1, &trackers(0..1000));
            let outcome = s.decoder.handle_datagram(at(0), from, &bytes, &mut s.seen);
            refused += usize::from(outcome.is_err());
        }
        assert_eq!(refused, 7, "three more servers fit");
        let mut flooded = Stage::new();
        let golden = golden_data();
        let taken = (0..101_000)
            .filter(|_| flooded.take(0, &golden).is_ok())
            .count();
        assert_eq!(taken, 100_000);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            packets in prop::collection::vec(
                (
                    prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
                    any::<bool>(),
                    0i64..200,
                ),
                1..8,
            ),
        ) {
            let mut s = Stage::new();
            for (changes, is_info, i) in packets {
                let mut bytes = if is_info {
                    info(&[(1, "Cam A")])
                } else {
                    golden_data()
                };
                for (at, value) in changes {
                    let at = at.index(bytes.len());
                    bytes[at] = value;
                }
                let _ = s.take(i, &bytes);
            }
        }
    }
}
