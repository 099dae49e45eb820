//! Records → subject events of iFacialMocap and Facemotion3d.

use std::net::SocketAddr;

use hub::{FrameMeta, SubjectKey, SubjectName, Tracking, WorldTime};

use super::{
    convert::{self, Curves, Options},
    fmv3::{Frame, Header, Kind, MAGIC, Schema},
    packet::{self, Text},
    reassembly::Reassembly,
    session::Asking,
};
use crate::{
    Decoder, Sink,
    error::Reject,
    streams::{Streams, source_id},
};

/// A phone that sends faster has its excess dropped.
pub const MAX_PACKETS_PER_SEC: u32 = 240;
/// Static data is announced again that often, for whoever came later.
const ANNOUNCE_NANOS: i64 = 1_000_000_000;
/// A session that gave a frame within this time is not replaced by one begun on the phone.
const IN_USE_NANOS: i64 = 1_000_000_000;
/// Most connections of which it is remembered that no schema has come yet.
const MAX_FRESH: usize = 64;
/// In place of an index: a name that is no curve.
const LEFT_OUT: u16 = u16::MAX;

/// A v3 stream of a phone.
struct V3 {
    session: u64,
    nonce: u64,
    schema: u32,
    wide: bool,
    /// Index of the curve for each name.
    targets: Vec<u16>,
    /// Sequence of the last frame, and the same without wrapping.
    last: Option<(u32, u64)>,
    last_frame: Option<WorldTime>,
}

/// What is remembered of a phone.
struct Phone {
    key: SubjectKey,
    meta: FrameMeta,
    curves: Curves,
    announced: Option<WorldTime>,
    v3: Option<V3>,
}

impl Phone {
    fn new(options: &Options, from: SocketAddr, is_twin: bool) -> Result<Self, Reject> {
        let name = match &options.subject {
            Some(name) => name.clone(),
            None => SubjectName::from_wire(b"iFacialMocap").ok_or(Reject::BadMagic)?,
        };
        let source = source_id("ifacialmocap", from, "", is_twin);
        Ok(Self {
            key: SubjectKey::new(source, name),
            meta: FrameMeta::default(),
            curves: Curves::new(),
            announced: None,
            v3: None,
        })
    }

    fn announce(&mut self, now: WorldTime, sink: &mut dyn Sink) {
        if self.announced.is_none_or(|t| now - t >= ANNOUNCE_NANOS) {
            self.announced = Some(now);
            sink.static_data(&self.key, &self.curves.statics, now);
        }
    }

    fn emit(&mut self, now: WorldTime, tracked: bool, sequence: Option<u64>, sink: &mut dyn Sink) {
        self.announce(now, sink);
        self.meta.arrival = now;
        self.meta.sequence = sequence;
        self.meta.tracking = if tracked {
            Tracking::Tracked
        } else {
            Tracking::Lost
        };
        sink.frame(&self.key, &self.meta, Some(&self.curves.data));
    }

    /// Writes a text's values; what it leaves out keeps its value, custom shapes become 0.
    fn write_text(&mut self, text: &Text<'_>, options: &Options) {
        let values = &mut self.curves.data.properties;
        for (value, weight) in values.iter_mut().zip(text.weights) {
            *value = weight.unwrap_or(*value);
        }
        values[convert::NUM_FIXED..].fill(0.0);
        convert::write_pose(&text.pose, options, values);
        for (name, weight) in text.custom() {
            let known = self.curves.custom(name);
            let index = known.or_else(|| {
                let index = self.curves.add(name)?;
                // The names have changed.
                self.announced = None;
                Some(index)
            });
            if let Some(index) = index {
                self.curves.data.properties[index] = weight;
            }
        }
    }

    /// Lays the curves out by a schema.
    fn adopt(&mut self, header: &Header, schema: &Schema) {
        self.curves.forget_custom();
        let curves = &mut self.curves;
        let mut index_of = |name: &str| -> u16 {
            let index = packet::curve_of(name).or_else(|| curves.add(name));
            index.map_or(LEFT_OUT, |i| i as u16)
        };
        let targets = schema.names.iter().map(|n| index_of(n)).collect();
        let before = self.v3.as_ref().filter(|v| v.session == header.session);
        self.v3 = Some(V3 {
            session: header.session,
            nonce: schema.nonce,
            schema: header.schema,
            wide: schema.wide,
            targets,
            last: before.and_then(|v| v.last),
            last_frame: before.and_then(|v| v.last_frame),
        });
        self.announced = None;
    }
}

/// The sans-IO decoder of one socket.
pub struct IFacialMocapDecoder {
    options: Options,
    /// Told apart by address alone: a phone sends one face, as text or as v3.
    phones: Streams<Phone>,
    parts: Reassembly,
    asking: Asking,
    /// Connections over which no schema has come yet: what was known of an earlier one does not hold.
    fresh: Vec<SocketAddr>,
}

impl IFacialMocapDecoder {
    /// With what the operator tells about the phone.
    pub fn new(options: Options) -> Self {
        Self {
            phones: Streams::new(MAX_PACKETS_PER_SEC),
            parts: Reassembly::default(),
            asking: Asking::new(options.phone, options.ask).over(options.transport),
            fresh: Vec::new(),
            options,
        }
    }

    /// A connection is open; its messages come with this address. Over UDP there is nothing to tell.
    pub fn begin_connection(&mut self, peer: SocketAddr) {
        self.asking.opened(peer);
        if self.fresh.len() < MAX_FRESH && !self.fresh.contains(&peer) {
            self.fresh.push(peer);
        }
    }

    /// A connection is over, and with it its session.
    pub fn end_connection(&mut self, peer: SocketAddr) {
        self.asking.shut(peer);
        self.fresh.retain(|p| *p != peer);
    }

    /// Why the phone that was asked refused, in its own words, for example `BUSY` or `NOT_ALLOWED`.
    pub fn refusal(&self) -> Option<&str> {
        self.asking.reason()
    }

    fn text(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let text = Text::parse(bytes)?;
        let options = &self.options;
        let phone = self
            .phones
            .of(from, b"", now, |twin| Phone::new(options, from, twin))?;
        phone.write_text(&text, options);
        phone.emit(now, text.tracked != Some(false), None, sink);
        self.asking.text(now, from);
        Ok(())
    }

    fn schema(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        header: &Header,
        chunk: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let options = &self.options;
        let phone = self
            .phones
            .of(from, b"", now, |twin| Phone::new(options, from, twin))?;
        if let Some(fresh) = self.fresh.iter().position(|p| *p == from) {
            self.fresh.swap_remove(fresh);
            phone.v3 = None;
        }
        let (id, number) = (header.session, header.schema);
        let same = phone.v3.as_ref().filter(|v| v.session == id);
        match same {
            Some(v) if v.schema == number => {
                self.asking.schema_again(now, from, id, number);
                return Ok(());
            }
            // Ids only rise: a late older one must not come back.
            Some(v) if v.schema > number => return Ok(()),
            _ => {}
        }
        let Some(payload) = self.parts.take(now, from, header, chunk)? else {
            return Ok(());
        };
        let schema = Schema::parse(&payload)?;
        let is_ours = match same {
            Some(v) => v.nonce == schema.nonce,
            None => self.asking.is_answer(from, schema.nonce),
        };
        if !is_ours {
            return Err(Reject::OutOfRange {
                what: "nonce of a schema that we did not ask for",
                have: schema.nonce as i64,
                min: 0,
                max: 0,
            });
        }
        let other = phone.v3.as_ref().filter(|v| v.session != id);
        let is_in_use = other
            .and_then(|v| v.last_frame)
            .is_some_and(|t| now - t < IN_USE_NANOS);
        if schema.nonce == 0 && is_in_use {
            return Err(Reject::TooManyStreams { limit: 1 });
        }
        phone.adopt(header, &schema);
        phone.announce(now, sink);
        self.asking.adopted(now, from, id, number);
        Ok(())
    }

    fn frame(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        header: &Header,
        chunk: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let options = &self.options;
        let phone = self
            .phones
            .of(from, b"", now, |twin| Phone::new(options, from, twin))?;
        let is_fresh = self.fresh.contains(&from);
        let known = phone.v3.as_mut().filter(|_| !is_fresh);
        let known = known.filter(|v| (v.session, v.schema) == (header.session, header.schema));
        let Some(v3) = known else {
            self.asking.unknown_schema(from, header.session);
            return Err(Reject::NoStatic {
                stream: header.schema,
            });
        };
        let (ahead, unwrapped) = match v3.last {
            None => (1, 0),
            Some((last, unwrapped)) => (header.sequence.wrapping_sub(last), unwrapped),
        };
        if ahead == 0 || ahead >= 1 << 31 {
            // Twice, or overtaken by a newer one.
            return Ok(());
        }
        let Some(payload) = self.parts.take(now, from, header, chunk)? else {
            return Ok(());
        };
        let frame = Frame::parse(&payload, v3.targets.len(), v3.wide)?;
        let sequence = unwrapped + u64::from(ahead);
        v3.last = Some((header.sequence, sequence));
        v3.last_frame = Some(now);
        let values = &mut phone.curves.data.properties;
        for (weight, target) in frame.weights().zip(&v3.targets) {
            if let Some(value) = values.get_mut(usize::from(*target)) {
                *value = weight;
            }
        }
        convert::write_pose(&frame.pose, options, values);
        phone.emit(now, header.flags & 1 != 0, Some(sequence), sink);
        self.asking.frame(now, from, header.session);
        Ok(())
    }
}

impl Decoder for IFacialMocapDecoder {
    fn connected(&mut self, _now: WorldTime, peer: SocketAddr) {
        self.begin_connection(peer);
    }

    fn closed(&mut self, _now: WorldTime, peer: SocketAddr) {
        self.end_connection(peer);
    }

    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        if !bytes.starts_with(MAGIC) {
            return self.text(now, from, bytes, sink);
        }
        let (header, chunk) = Header::parse(bytes)?;
        match header.kind {
            Kind::Schema => self.schema(now, from, &header, chunk, sink),
            Kind::Frame => self.frame(now, from, &header, chunk, sink),
            Kind::Error => {
                let reason = String::from_utf8_lossy(chunk);
                self.asking.refused(now, from, header.session, &reason);
                Ok(())
            }
            Kind::Pong => Ok(()),
            sent_by_hubs => Err(Reject::OutOfRange {
                what: "kind of message from a phone",
                have: sent_by_hubs as i64,
                min: Kind::Schema as i64,
                max: Kind::Error as i64,
            }),
        }
    }

    fn transmit(&mut self, now: WorldTime, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        self.asking.transmit(now, send);
    }
}

#[cfg(test)]
mod tests {
    use hub::{FrameData, StaticData};
    use proptest::prelude::*;

    use super::*;
    use crate::ifacialmocap::{
        Transport,
        fmv3::tests::{schema_payload, split},
    };

    #[derive(Default)]
    struct Seen {
        statics: Vec<StaticData>,
        frames: Vec<(SubjectKey, FrameMeta, FrameData)>,
    }

    impl Sink for Seen {
        fn static_data(&mut self, _: &SubjectKey, data: &StaticData, _: WorldTime) {
            data.validate().unwrap();
            self.statics.push(data.clone());
        }

        fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
            let data = data.unwrap().clone();
            data.check(self.statics.last().unwrap()).unwrap();
            self.frames.push((key.clone(), meta.clone(), data));
        }

        fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
    }

    impl Seen {
        /// The last value of a curve.
        fn value(&self, name: &str) -> f32 {
            let all = &self.statics.last().unwrap().properties;
            let at = all.iter().position(|p| p.name == name).unwrap();
            self.frames.last().unwrap().2.properties[at]
        }
    }

    fn at(i: i64) -> WorldTime {
        WorldTime::from_nanos(i * 16_666_667)
    }

    fn peer() -> SocketAddr {
        "10.0.0.5:49983".parse().unwrap()
    }

    fn asking_options() -> Options {
        Options {
            phone: Some(peer()),
            ..Options::default()
        }
    }

    fn near(a: f32, degrees: f32) -> bool {
        (a - degrees.to_radians()).abs() < 1e-5
    }

    fn text(d: &mut IFacialMocapDecoder, i: i64, text: &str, seen: &mut Seen) {
        d.handle_datagram(at(i), peer(), text.as_bytes(), seen)
            .unwrap();
    }

    #[test]
    fn known_poses_arrive_on_the_right_side_and_with_the_right_sign() {
        let mut seen = Seen::default();
        let mut d = IFacialMocapDecoder::new(Options::default());
        // The subject's right eye closed, the mouth open, looking down and to the subject's left,
        // the head turned to the subject's left.
        let pose = "eyeBlink_R-100|eyeBlink_L-0|jawOpen-70|=head#5,30,2,0.1,0.2,-0.6|\
            rightEye#10,20,1|leftEye#11,21,1|";
        text(&mut d, 0, pose, &mut seen);
        assert_eq!(seen.value("EyeBlinkRight"), 1.0);
        assert_eq!(seen.value("EyeBlinkLeft"), 0.0);
        assert_eq!(seen.value("JawOpen"), 0.7);
        assert!(near(seen.value("RightEyePitch"), 10.0), "down is +");
        assert!(near(seen.value("LeftEyePitch"), 11.0));
        assert!(near(seen.value("RightEyeYaw"), -20.0), "left is −");
        assert!(near(seen.value("LeftEyeYaw"), -21.0));
        assert!(near(seen.value("HeadYaw"), -30.0));
        assert!(near(seen.value("HeadPitch"), 5.0));
        assert!(near(seen.value("HeadRoll"), -2.0));
        assert_eq!(seen.value("HeadX"), 0.1);
        assert_eq!(seen.value("HeadZ"), -0.6);
        let (key, meta, _) = &seen.frames[0];
        assert_eq!(key.source.as_str(), "ifacialmocap/10.0.0.5");
        assert_eq!(key.name.as_str(), "iFacialMocap");
        assert_eq!((meta.tracking, meta.timecode), (Tracking::Tracked, None));

        let mut d = IFacialMocapDecoder::new(Options {
            subject: Some(SubjectName::new("Ann").unwrap()),
            invert_head_yaw: true,
            ..Options::default()
        });
        text(&mut d, 0, pose, &mut seen);
        assert!(near(seen.value("HeadYaw"), 30.0));
        assert!(near(seen.value("HeadPitch"), 5.0));
        assert!(near(seen.value("RightEyeYaw"), -20.0));
        assert_eq!(seen.frames[1].0.name.as_str(), "Ann");
    }

    #[test]
    fn what_a_text_leaves_out_is_kept_and_a_custom_shape_is_not() {
        let mut seen = Seen::default();
        let mut d = IFacialMocapDecoder::new(Options::default());
        let full = "jawOpen&50|FM_SAD&30|=head#0,10,0,0,0,-0.5|";
        text(&mut d, 0, full, &mut seen);
        assert_eq!(seen.value("FM_SAD"), 0.3);
        text(&mut d, 1, "trackingStatus&0|cheekPuff&20|", &mut seen);
        assert_eq!(seen.value("JawOpen"), 0.5);
        assert!(near(seen.value("HeadYaw"), -10.0));
        assert_eq!(seen.value("HeadZ"), -0.5);
        assert_eq!(seen.value("FM_SAD"), 0.0);
        assert_eq!(seen.frames[1].1.tracking, Tracking::Lost);
        assert_eq!(seen.statics.len(), 1);
        // A name not heard before: new static data, before the frame that needs it.
        text(&mut d, 2, "jawOpen&1|FM_ANGRY&-30|", &mut seen);
        assert_eq!(seen.statics.len(), 2);
        assert_eq!(seen.value("FM_ANGRY"), -0.3);
        assert_eq!(seen.frames[2].1.tracking, Tracking::Tracked);
        // The same names in another order: nothing new until a second has passed.
        text(
            &mut d,
            3,
            "FM_ANGRY&5|FM_SAD&6|HeadYaw&9|jawOpen&1|",
            &mut seen,
        );
        assert_eq!(seen.statics.len(), 2);
        assert_eq!(seen.value("FM_SAD"), 0.06);
        assert!(
            near(seen.value("HeadYaw"), -10.0),
            "no shape takes a rotation's name"
        );
        text(&mut d, 70, full, &mut seen);
        assert_eq!(seen.statics.len(), 3);
    }

    #[test]
    fn an_error_changes_nothing() {
        let mut seen = Seen::default();
        let mut d = IFacialMocapDecoder::new(Options::default());
        text(&mut d, 0, "jawOpen-10|", &mut seen);
        let bad = b"jawOpen-90|new-1|rightEye#1,2|";
        assert!(d.handle_datagram(at(1), peer(), bad, &mut seen).is_err());
        text(&mut d, 2, "jawLeft-1|", &mut seen);
        assert_eq!(seen.value("JawOpen"), 0.1);
        assert_eq!(seen.statics.len(), 1);
    }

    #[test]
    fn floods_of_packets_and_of_names_are_bounded() {
        let mut seen = Seen::default();
        let mut d = IFacialMocapDecoder::new(Options::default());
        let mut taken = 0;
        for i in 0..5000 {
            let bytes = format!("jawOpen-1|x{i}-1|");
            let outcome = d.handle_datagram(at(0), peer(), bytes.as_bytes(), &mut seen);
            taken += usize::from(outcome.is_ok());
        }
        assert_eq!(taken, 2400);
        let last = seen.statics.last().unwrap();
        assert_eq!(
            last.properties.len(),
            convert::NUM_FIXED + convert::MAX_CUSTOM
        );
        assert_eq!(seen.statics.len(), convert::MAX_CUSTOM);
    }

    /// What the decoder sends at a time.
    fn sent(d: &mut IFacialMocapDecoder, i: i64) -> Vec<Header> {
        let mut all = Vec::new();
        d.transmit(at(i), &mut |to, bytes| {
            assert_eq!(to, peer());
            all.push(Header::parse(bytes).unwrap().0);
        });
        all
    }

    fn frame_payload(weights: &[i16], pose: [f32; 12]) -> Vec<u8> {
        let weights = weights.iter().flat_map(|w| w.to_le_bytes());
        let pose = pose.iter().flat_map(|v| v.to_le_bytes());
        weights.chain(pose).collect()
    }

    fn schema_header(session: u64, schema: u32) -> Header {
        Header {
            schema,
            ..Header::of(Kind::Schema, session)
        }
    }

    fn frame_header(session: u64, schema: u32, sequence: u32) -> Header {
        Header {
            schema,
            sequence,
            flags: 1,
            ..Header::of(Kind::Frame, session)
        }
    }

    fn feed(
        d: &mut IFacialMocapDecoder,
        i: i64,
        datagrams: &[Vec<u8>],
        seen: &mut Seen,
    ) -> Result<(), Reject> {
        datagrams
            .iter()
            .try_for_each(|bytes| d.handle_datagram(at(i), peer(), bytes, seen))
    }

    const NAMES: [&str; 5] = ["eyeBlinkLeft", "eyeBlinkRight", "jawOpen", "mine", "HeadX"];
    const POSE: [f32; 12] = [
        5.0, 30.0, 2.0, 0.1, 0.2, -0.6, 10.0, 20.0, 0.0, 11.0, 21.0, 0.0,
    ];

    #[test]
    fn a_v3_conversation_runs_from_hello_to_frames() {
        let mut seen = Seen::default();
        let mut d = IFacialMocapDecoder::new(asking_options());
        let hello = sent(&mut d, 0)[0];
        assert_eq!(hello.kind, Kind::Hello);
        // Someone else's answer is refused, the answer to ours is taken in parts and acknowledged.
        let wrong = split(
            schema_header(9, 1),
            &schema_payload(hello.session ^ 2, &NAMES, "i16"),
            536,
        );
        assert!(feed(&mut d, 1, &wrong, &mut seen).is_err());
        let payload = schema_payload(hello.session, &NAMES, "i16");
        let parts = split(schema_header(9, 1), &payload, 100);
        assert!(parts.len() > 2);
        feed(&mut d, 2, &parts, &mut seen).unwrap();
        assert_eq!(seen.statics.len(), 1);
        let ack = sent(&mut d, 2);
        assert_eq!(ack.len(), 1);
        assert_eq!((ack[0].kind, ack[0].session), (Kind::SchemaAck, 9));
        assert_eq!(ack[0].schema, 1);

        // The subject's right eye closed, mouth open, looking down, the head turned to the left.
        let values = frame_payload(&[0, 100, 70, -25, 99], POSE);
        for sequence in [u32::MAX, 0, 0, u32::MAX, 2] {
            let frame = split(frame_header(9, 1, sequence), &values, 30);
            feed(&mut d, 3, &frame, &mut seen).unwrap();
        }
        let numbers: Vec<_> = seen.frames.iter().map(|f| f.1.sequence).collect();
        assert_eq!(
            numbers,
            [Some(1), Some(2), Some(4)],
            "no frame twice, none late"
        );
        assert_eq!(seen.value("EyeBlinkLeft"), 0.0);
        assert_eq!(seen.value("EyeBlinkRight"), 1.0);
        assert_eq!(seen.value("JawOpen"), 0.7);
        assert_eq!(seen.value("mine"), -0.25);
        assert_eq!(
            seen.value("HeadX"),
            0.1,
            "no shape takes a coordinate's name"
        );
        assert!(near(seen.value("HeadYaw"), -30.0));
        assert!(near(seen.value("LeftEyeYaw"), -21.0));
        assert!(near(seen.value("RightEyePitch"), 10.0));
        let mut lost = frame_header(9, 1, 3);
        lost.flags = 0;
        feed(&mut d, 4, &split(lost, &values, 1160), &mut seen).unwrap();
        assert_eq!(seen.frames.last().unwrap().1.tracking, Tracking::Lost);

        // A schema that changes: frames of it wait, the old order is never read with new names.
        let early = split(frame_header(9, 2, 4), &frame_payload(&[1], POSE), 1160);
        assert_eq!(
            feed(&mut d, 5, &early, &mut seen),
            Err(Reject::NoStatic { stream: 2 })
        );
        assert_eq!(sent(&mut d, 5)[0].kind, Kind::GetSchema);
        let changed = schema_payload(hello.session, &["jawOpen"], "i16");
        feed(
            &mut d,
            6,
            &split(schema_header(9, 2), &changed, 1160),
            &mut seen,
        )
        .unwrap();
        assert_eq!(sent(&mut d, 6)[0].schema, 2);
        feed(&mut d, 7, &early, &mut seen).unwrap();
        assert_eq!(seen.value("JawOpen"), 0.01);
        let last = seen.statics.last().unwrap();
        assert_eq!(last.properties.len(), convert::NUM_FIXED);
        // The old one does not come back.
        feed(&mut d, 8, &parts, &mut seen).unwrap();
        feed(
            &mut d,
            9,
            &split(frame_header(9, 2, 5), &frame_payload(&[2], POSE), 1160),
            &mut seen,
        )
        .unwrap();
        assert_eq!(seen.value("JawOpen"), 0.02);
    }

    #[test]
    fn a_stream_begun_on_the_phone_is_taken_but_replaces_none_in_use() {
        let mut seen = Seen::default();
        let mut d = IFacialMocapDecoder::new(Options::default());
        let payload = schema_payload(0, &["jawOpen"], "i16");
        let schema = |session| split(schema_header(session, 1), &payload, 536);
        let values = frame_payload(&[50], POSE);
        feed(&mut d, 0, &schema(9), &mut seen).unwrap();
        feed(
            &mut d,
            1,
            &split(frame_header(9, 1, 1), &values, 1160),
            &mut seen,
        )
        .unwrap();
        assert_eq!(seen.value("JawOpen"), 0.5);
        assert!(sent(&mut d, 1).is_empty(), "nobody was entered");
        assert_eq!(
            feed(&mut d, 2, &schema(10), &mut seen),
            Err(Reject::TooManyStreams { limit: 1 })
        );
        feed(&mut d, 100, &schema(10), &mut seen).unwrap();
        assert_eq!(
            feed(
                &mut d,
                101,
                &split(frame_header(9, 1, 2), &values, 1160),
                &mut seen
            ),
            Err(Reject::NoStatic { stream: 1 })
        );
    }

    #[test]
    fn an_error_of_the_phone_is_kept_for_the_operator() {
        let mut seen = Seen::default();
        let mut d = IFacialMocapDecoder::new(asking_options());
        let hello = sent(&mut d, 0)[0];
        let busy = split(Header::of(Kind::Error, hello.session), b"BUSY", 536);
        feed(&mut d, 1, &busy, &mut seen).unwrap();
        assert_eq!(d.refusal(), Some("BUSY"));
        let pong = split(Header::of(Kind::Pong, 9), b"", 536);
        feed(&mut d, 1, &pong, &mut seen).unwrap();
        let ping = split(Header::of(Kind::Ping, 9), b"", 536);
        assert!(feed(&mut d, 1, &ping, &mut seen).is_err());
        assert!(seen.frames.is_empty());
    }

    #[test]
    fn a_v3_conversation_over_tcp_needs_no_acknowledgement_and_ends_with_its_connection() {
        let mut seen = Seen::default();
        let mut d = IFacialMocapDecoder::new(Options {
            transport: Transport::TcpV3,
            ..asking_options()
        });
        assert!(sent(&mut d, 0).is_empty(), "not connected yet");
        d.begin_connection(peer());
        let hello = sent(&mut d, 1)[0];
        assert_eq!(hello.kind, Kind::Hello);
        let payload = schema_payload(hello.session, &["jawOpen"], "i16");
        let whole = usize::MAX / 2;
        let schema = split(schema_header(9, 1), &payload, whole);
        feed(&mut d, 2, &schema, &mut seen).unwrap();
        assert!(sent(&mut d, 2).is_empty(), "no acknowledgement");
        let values = frame_payload(&[50], POSE);
        let frame = |session, sequence| split(frame_header(session, 1, sequence), &values, whole);
        feed(&mut d, 3, &frame(9, 1), &mut seen).unwrap();
        assert_eq!(seen.value("JawOpen"), 0.5);

        // Over a new connection the old session is unknown, and a new HELLO is sent at once.
        d.end_connection(peer());
        assert!(sent(&mut d, 4).is_empty());
        d.begin_connection(peer());
        let again = sent(&mut d, 5)[0];
        assert_eq!(again.kind, Kind::Hello);
        assert_ne!(again.session, hello.session);
        assert_eq!(
            feed(&mut d, 6, &frame(9, 2), &mut seen),
            Err(Reject::NoStatic { stream: 1 })
        );
        let payload = schema_payload(again.session, &["jawOpen"], "i16");
        let schema = split(schema_header(10, 1), &payload, whole);
        feed(&mut d, 7, &schema, &mut seen).unwrap();
        feed(&mut d, 8, &frame(10, 1), &mut seen).unwrap();
        assert_eq!(seen.frames.len(), 2);
    }

    #[test]
    fn a_phone_that_connects_is_answered_without_being_entered() {
        let mut seen = Seen::default();
        let mut d = IFacialMocapDecoder::new(Options {
            transport: Transport::TcpV3,
            ..Options::default()
        });
        d.begin_connection(peer());
        let payload = schema_payload(0, &["jawOpen"], "i16");
        feed(
            &mut d,
            0,
            &split(schema_header(9, 1), &payload, 5000),
            &mut seen,
        )
        .unwrap();
        let values = frame_payload(&[50], POSE);
        for i in 1..400 {
            let frame = split(frame_header(9, 1, i), &values, 5000);
            feed(&mut d, i64::from(i), &frame, &mut seen).unwrap();
        }
        // Without signs of life a phone stops after its lease of ten seconds.
        let ping = sent(&mut d, 400);
        assert_eq!(ping.len(), 1);
        assert_eq!((ping[0].kind, ping[0].session), (Kind::Ping, 9));
        assert_eq!(seen.value("JawOpen"), 0.5);
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), magic: bool) {
            let mut all = if magic { MAGIC.to_vec() } else { Vec::new() };
            all.extend(bytes);
            let mut d = IFacialMocapDecoder::new(asking_options());
            let _ = d.handle_datagram(at(0), peer(), &all, &mut Seen::default());
        }

        #[test]
        fn no_change_of_a_conversation_panics(
            changes in prop::collection::vec((0usize..20, 0usize..2000, any::<u8>()), 0..6),
        ) {
            let payload = schema_payload(0, &NAMES, "i16");
            let values = frame_payload(&[0, 100, 70, -25, 99], POSE);
            let mut all = split(schema_header(9, 1), &payload, 100);
            for sequence in 1..4 {
                all.extend(split(frame_header(9, 1, sequence), &values, 40));
            }
            for (which, at, byte) in changes {
                let which = which % all.len();
                let at = at % all[which].len();
                all[which][at] = byte;
            }
            let mut d = IFacialMocapDecoder::new(asking_options());
            let mut seen = Seen::default();
            for (i, bytes) in all.iter().enumerate() {
                let _ = d.handle_datagram(at(i as i64), peer(), bytes, &mut seen);
                d.transmit(at(i as i64), &mut |_, _| {});
            }
        }
    }
}
