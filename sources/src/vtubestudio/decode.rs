//! Records → subject events of VTube Studio and MeowFace, and the request that makes them send.

use std::{net::SocketAddr, sync::LazyLock};

use hub::{
    FrameData, FrameMeta, StaticData, SubjectKey, SubjectName, Tracking, WorldTime,
    arkit::{self, NUM_CURVES},
};

use super::{
    PORT,
    convert::{self, Clock, Options},
    packet::Face,
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
/// The request is made again that often; each holds for 5 s.
const REQUEST_NANOS: i64 = 1_000_000_000;

static STATIC: LazyLock<StaticData> = LazyLock::new(|| StaticData::basic(&arkit::CURVES));

/// What is remembered of a phone.
struct Phone {
    key: SubjectKey,
    meta: FrameMeta,
    data: FrameData,
    clock: Clock,
    announced: Option<WorldTime>,
}

/// The sans-IO decoder of one socket.
pub struct VTubeStudioDecoder {
    options: Options,
    /// Told apart by address alone: a phone sends one face.
    phones: Streams<Phone>,
    request: String,
    requested: Option<WorldTime>,
}

impl VTubeStudioDecoder {
    /// With what the operator tells about the phone.
    pub fn new(options: Options) -> Self {
        let port = options.port.unwrap_or(PORT);
        Self {
            options,
            phones: Streams::new(MAX_PACKETS_PER_SEC),
            request: format!(
                r#"{{"messageType":"iOSTrackingDataRequest","time":5.0,"sentBy":"Ghostlight","ports":[{port}]}}"#
            ),
            requested: None,
        }
    }
}

fn subject_key(options: &Options, from: SocketAddr, is_twin: bool) -> Option<SubjectKey> {
    let name = match &options.subject {
        Some(name) => name.clone(),
        None => SubjectName::from_wire(b"VTubeStudio")?,
    };
    Some(SubjectKey::new(
        source_id("vtubestudio", from, "", is_twin),
        name,
    ))
}

impl Decoder for VTubeStudioDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let face = Face::parse(bytes)?;
        let options = &self.options;
        let phone = self.phones.of(from, b"", now, |is_twin| {
            Ok(Phone {
                key: subject_key(options, from, is_twin).ok_or(Reject::BadMagic)?,
                meta: FrameMeta::default(),
                data: FrameData::basic(vec![0.0; NUM_CURVES]),
                clock: Clock::default(),
                announced: None,
            })
        })?;
        if phone.announced.is_none_or(|t| now - t >= ANNOUNCE_NANOS) {
            phone.announced = Some(now);
            sink.static_data(&phone.key, &STATIC, now);
        }
        convert::write(&face, options, &mut phone.data.properties);
        phone.meta.source_time = face.millis.map(|ms| phone.clock.source_time(ms));
        phone.meta.arrival = now;
        phone.meta.tracking = if face.is_found {
            Tracking::Tracked
        } else {
            Tracking::Lost
        };
        sink.frame(&phone.key, &phone.meta, Some(&phone.data));
        Ok(())
    }

    fn transmit(&mut self, now: WorldTime, send: &mut dyn FnMut(SocketAddr, &[u8])) {
        let Some(phone) = self.options.phone else {
            return;
        };
        if self.requested.is_none_or(|t| now - t >= REQUEST_NANOS) {
            self.requested = Some(now);
            send(phone, self.request.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Seen {
        statics: usize,
        frames: Vec<(SubjectKey, FrameMeta, FrameData)>,
    }

    impl Sink for Seen {
        fn static_data(&mut self, _: &SubjectKey, data: &StaticData, _: WorldTime) {
            data.validate().unwrap();
            self.statics += 1;
        }

        fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
            let data = data.unwrap().clone();
            data.check(&STATIC).unwrap();
            self.frames.push((key.clone(), meta.clone(), data));
        }

        fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
    }

    impl Seen {
        fn value(&self, name: &str) -> f32 {
            let at = arkit::index_of(name).unwrap();
            self.frames.last().unwrap().2.properties[at]
        }
    }

    fn at(i: i64) -> WorldTime {
        WorldTime::from_nanos(i * 16_666_667)
    }

    fn peer() -> SocketAddr {
        "10.0.0.5:50000".parse().unwrap()
    }

    fn feed(d: &mut VTubeStudioDecoder, i: i64, text: &str, seen: &mut Seen) {
        d.handle_datagram(at(i), peer(), text.as_bytes(), seen)
            .unwrap();
    }

    fn near(a: f32, degrees: f32) -> bool {
        (a - degrees.to_radians()).abs() < 1e-5
    }

    /// The subject's right eye closed, the mouth open, looking down and to the subject's left, the head
    /// turned to the subject's left.
    const POSE: &str = r#"{"Timestamp":1664817520079,"FaceFound":true,
        "Rotation":{"x":5,"y":30,"z":2},"Position":{"x":0.5,"y":1.25,"z":4.75},
        "EyeLeft":{"x":11,"y":21,"z":1},"EyeRight":{"x":10,"y":20,"z":1},
        "BlendShapes":[{"k":"EyeBlinkRight","v":1},{"k":"JawOpen","v":0.7}]}"#;

    #[test]
    fn known_poses_arrive_on_the_right_side_and_with_the_right_sign() {
        let mut seen = Seen::default();
        let mut d = VTubeStudioDecoder::new(Options::default());
        feed(&mut d, 0, POSE, &mut seen);
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
        let (key, meta, _) = &seen.frames[0];
        assert_eq!(key.source.as_str(), "vtubestudio/10.0.0.5");
        assert_eq!(key.name.as_str(), "VTubeStudio");
        assert_eq!((meta.tracking, meta.timecode), (Tracking::Tracked, None));
        assert_eq!(meta.source_time.unwrap().as_nanos(), 0);
        let mut d = VTubeStudioDecoder::new(Options {
            invert_head_pitch: true,
            ..Options::default()
        });
        feed(&mut d, 0, POSE, &mut seen);
        assert!(near(seen.value("HeadPitch"), -5.0));
        assert!(near(seen.value("LeftEyePitch"), 11.0));
    }

    #[test]
    fn without_a_face_the_values_stay_and_the_time_goes_on() {
        let mut seen = Seen::default();
        let mut d = VTubeStudioDecoder::new(Options::default());
        feed(&mut d, 0, POSE, &mut seen);
        let lost = r#"{"Timestamp":1664817520096,"FaceFound":false,"BlendShapes":[]}"#;
        feed(&mut d, 1, lost, &mut seen);
        let meta = &seen.frames[1].1;
        assert_eq!(meta.tracking, Tracking::Lost);
        assert_eq!(meta.source_time.unwrap().as_nanos(), 17_000_000);
        assert_eq!(seen.value("JawOpen"), 0.7);
        assert!(near(seen.value("HeadYaw"), -30.0));
        assert_eq!(seen.statics, 1);
        feed(&mut d, 61, POSE, &mut seen);
        assert_eq!(seen.statics, 2);
    }

    #[test]
    fn an_error_changes_nothing() {
        let mut seen = Seen::default();
        let mut d = VTubeStudioDecoder::new(Options::default());
        feed(&mut d, 0, POSE, &mut seen);
        let bad = POSE.replace("0.7", "9");
        let outcome = d.handle_datagram(at(1), peer(), bad.as_bytes(), &mut seen);
        assert!(outcome.is_err());
        feed(&mut d, 2, r#"{"FaceFound":true}"#, &mut seen);
        assert_eq!(seen.value("JawOpen"), 0.7);
    }

    #[test]
    fn the_entered_phone_is_asked_each_second_and_nobody_else() {
        let mut d = VTubeStudioDecoder::new(Options::default());
        d.transmit(at(0), &mut |_, _| panic!("nobody was entered"));
        let phone: SocketAddr = "10.0.0.5:21412".parse().unwrap();
        let mut d = VTubeStudioDecoder::new(Options {
            phone: Some(phone),
            port: Some(11125),
            ..Options::default()
        });
        let mut sent = Vec::new();
        for i in 0..180 {
            d.transmit(at(i), &mut |to, bytes| {
                assert_eq!(to, phone);
                sent.push(bytes.to_vec());
            });
        }
        assert_eq!(sent.len(), 3);
        let request: serde_json::Value = serde_json::from_slice(&sent[0]).unwrap();
        let expected = serde_json::json!({
            "messageType": "iOSTrackingDataRequest", "time": 5.0,
            "sentBy": "Ghostlight", "ports": [11125],
        });
        assert_eq!(request, expected);
    }

    #[test]
    fn a_flood_is_bounded() {
        let mut seen = Seen::default();
        let mut d = VTubeStudioDecoder::new(Options::default());
        let mut taken = 0;
        for _ in 0..5000 {
            let outcome = d.handle_datagram(at(0), peer(), POSE.as_bytes(), &mut seen);
            taken += usize::from(outcome.is_ok());
        }
        assert_eq!(taken, 2400);
    }
}
