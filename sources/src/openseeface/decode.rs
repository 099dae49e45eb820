//! Records → subject events of OpenSeeFace.

use std::{net::SocketAddr, sync::LazyLock};

use hub::{
    FrameData, FrameMeta, SourceId, StaticData, SubjectKey, SubjectName, Tracking, WorldTime,
};

use super::{
    convert::{self, CURVES, Clock, NUM_CURVES, Options},
    packet::Faces,
};
use crate::{
    Decoder, Sink,
    error::Reject,
    streams::{Streams, source_id},
};

/// A tracker that sends faster has its excess dropped. One datagram holds all faces of a camera frame.
pub const MAX_PACKETS_PER_SEC: u32 = 240;
/// Static data is announced again that often, for whoever came later.
const ANNOUNCE_NANOS: i64 = 1_000_000_000;
/// Most faces remembered of a tracker; ids change when a face is lost for a while.
const MAX_SUBJECTS: usize = 64;
/// A face silent for that long gives way to a new one when all places are taken.
const IDLE_NANOS: i64 = 60_000_000_000;

static STATIC: LazyLock<StaticData> = LazyLock::new(|| StaticData::basic(&CURVES));

/// What is remembered of a face.
struct Known {
    id: i32,
    key: SubjectKey,
    meta: FrameMeta,
    values: [f32; NUM_CURVES],
    data: FrameData,
    announced: Option<WorldTime>,
    last: WorldTime,
}

/// What is remembered of a tracker.
struct Tracker {
    source: SourceId,
    clock: Clock,
    faces: Vec<Known>,
}

/// The sans-IO decoder of one socket.
pub struct OpenSeeFaceDecoder {
    options: Options,
    /// Told apart by address; the faces of a datagram come or are refused together.
    trackers: Streams<Tracker>,
}

impl OpenSeeFaceDecoder {
    /// With what the operator tells about the trackers.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            trackers: Streams::new(MAX_PACKETS_PER_SEC),
        }
    }

    /// The static data of every OpenSeeFace subject.
    pub fn static_data() -> &'static StaticData {
        &STATIC
    }
}

fn subject_name(options: &Options, id: i32) -> Option<SubjectName> {
    match &options.subject {
        Some(name) if id == 0 => Some(name.clone()),
        Some(name) => SubjectName::from_wire(format!("{id} {name}").as_bytes()),
        None => SubjectName::from_wire(format!("OpenSeeFace {id}").as_bytes()),
    }
}

impl Tracker {
    /// Makes sure that a face has a place.
    fn make_room_for(&mut self, id: i32, now: WorldTime, options: &Options) -> Result<(), Reject> {
        if self.faces.iter().any(|f| f.id == id) {
            return Ok(());
        }
        if self.faces.len() >= MAX_SUBJECTS {
            let idle = |f: &Known| now - f.last >= IDLE_NANOS;
            let full = Reject::TooManyStreams {
                limit: MAX_SUBJECTS,
            };
            let oldest = self.faces.iter().position(idle).ok_or(full)?;
            self.faces.swap_remove(oldest);
        }
        let name = subject_name(options, id).ok_or(Reject::BadMagic)?;
        self.faces.push(Known {
            id,
            key: SubjectKey::new(self.source.clone(), name),
            meta: FrameMeta::default(),
            values: [0.0; NUM_CURVES],
            data: FrameData::basic(vec![0.0; NUM_CURVES]),
            announced: None,
            last: now,
        });
        Ok(())
    }
}

impl Decoder for OpenSeeFaceDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let faces = Faces::parse(bytes)?;
        let options = &self.options;
        let tracker = self.trackers.of(from, b"", now, |is_twin| {
            Ok(Tracker {
                source: source_id("openseeface", from, "", is_twin),
                clock: Clock::default(),
                faces: Vec::new(),
            })
        })?;
        // All have a place before the first is told: the datagram gives all its events or none.
        for face in faces.iter() {
            tracker.make_room_for(face.id, now, options)?;
        }
        for face in faces.iter() {
            let source_time = tracker.clock.source_time(face.secs);
            let Some(known) = tracker.faces.iter_mut().find(|f| f.id == face.id) else {
                continue;
            };
            if known.announced.is_none_or(|t| now - t >= ANNOUNCE_NANOS) {
                known.announced = Some(now);
                sink.static_data(&known.key, &STATIC, now);
            }
            convert::write(face, options, &mut known.values);
            known.data.properties.copy_from_slice(&known.values);
            known.last = now;
            known.meta.source_time = Some(source_time);
            known.meta.arrival = now;
            known.meta.tracking = if face.fit.is_some() {
                Tracking::Tracked
            } else {
                Tracking::Lost
            };
            sink.frame(&known.key, &known.meta, Some(&known.data));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::openseeface::packet::tests::Record;

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
            let at = CURVES.iter().position(|c| *c == name).unwrap();
            self.frames.last().unwrap().2.properties[at]
        }
    }

    fn at(i: i64) -> WorldTime {
        WorldTime::from_nanos(i * 33_333_333)
    }

    fn peer() -> SocketAddr {
        "127.0.0.1:50000".parse().unwrap()
    }

    fn feed(
        d: &mut OpenSeeFaceDecoder,
        i: i64,
        records: &[Record],
        seen: &mut Seen,
    ) -> Result<(), Reject> {
        let bytes: Vec<u8> = records.iter().flat_map(Record::bytes).collect();
        d.handle_datagram(at(i), peer(), &bytes, seen)
    }

    fn near(a: f32, degrees: f32) -> bool {
        (a - degrees.to_radians()).abs() < 1e-4
    }

    #[test]
    fn known_poses_arrive_on_the_right_side_and_with_the_right_sign() {
        let mut seen = Seen::default();
        let mut d = OpenSeeFaceDecoder::new(Options::default());
        // Features: the mouth open (12), the left brow up (3). The subject's right eye closed.
        let mut features = [0.0; 14];
        features[12] = 0.8;
        features[3] = 0.4;
        let pose = Record {
            eyes_right_left: [0.05, 0.9],
            features,
            ..Record::default()
        };
        feed(&mut d, 0, &[pose], &mut seen).unwrap();
        assert_eq!(seen.value("EyeOpenRight"), 0.05);
        assert_eq!(seen.value("EyeOpenLeft"), 0.9);
        assert_eq!(seen.value("MouthOpen"), 0.8);
        assert_eq!(seen.value("BrowUpDownLeft"), 0.4);
        assert_eq!(seen.value("BrowUpDownRight"), 0.0);
        // (179, −2, 91): the author's receiver makes it (1, 2, 1) degrees.
        assert!(near(seen.value("HeadPitch"), 1.0));
        assert!(near(seen.value("HeadYaw"), 2.0));
        assert!(near(seen.value("HeadRoll"), 1.0));
        let position =
            ["HeadXUnscaled", "HeadYUnscaled", "HeadZUnscaled"].map(|name| seen.value(name));
        assert_eq!(position, [-0.2, 0.1, -5.0]);
        // Looking down, the head turned to the subject's left.
        let turned = Record {
            euler: [160.0, 30.0, 90.0],
            ..Record::default()
        };
        feed(&mut d, 1, std::slice::from_ref(&turned), &mut seen).unwrap();
        assert!(near(seen.value("HeadPitch"), 20.0), "down is +");
        assert!(near(seen.value("HeadYaw"), -30.0), "left is −");
        assert!(near(seen.value("HeadRoll"), 0.0));
        // Upright, given as the other end of the turn.
        let upright = Record {
            euler: [-180.0, 0.0, 90.0],
            ..Record::default()
        };
        feed(&mut d, 2, &[upright], &mut seen).unwrap();
        assert!(near(seen.value("HeadPitch"), 0.0));
        let (key, meta, _) = &seen.frames[0];
        assert_eq!(key.source.as_str(), "openseeface/127.0.0.1");
        assert_eq!(key.name.as_str(), "OpenSeeFace 0");
        assert_eq!(meta.source_time.unwrap().as_nanos(), 0);
        let mut d = OpenSeeFaceDecoder::new(Options {
            invert_head_yaw: true,
            ..Options::default()
        });
        feed(&mut d, 0, &[turned], &mut seen).unwrap();
        assert!(near(seen.value("HeadYaw"), 30.0));
    }

    #[test]
    fn a_failed_or_bad_fit_keeps_the_pose_while_the_eyes_go_on() {
        let mut seen = Seen::default();
        let mut d = OpenSeeFaceDecoder::new(Options::default());
        let good = Record {
            features: [0.5; 14],
            ..Record::default()
        };
        feed(&mut d, 0, &[good], &mut seen).unwrap();
        let failed = Record {
            secs: 12.6,
            is_fit: 0,
            euler: [f32::NAN; 3],
            features: [9.0; 14],
            eyes_right_left: [0.1, 0.2],
            ..Record::default()
        };
        feed(&mut d, 1, &[failed], &mut seen).unwrap();
        assert_eq!(seen.frames[1].1.tracking, Tracking::Lost);
        assert_eq!(seen.value("EyeOpenRight"), 0.1);
        assert_eq!(seen.value("MouthOpen"), 0.5);
        assert!(near(seen.value("HeadYaw"), 2.0));
        let bad = Record {
            secs: 12.7,
            error: 101.0,
            euler: [0.0; 3],
            features: [0.7; 14],
            ..Record::default()
        };
        feed(&mut d, 2, &[bad], &mut seen).unwrap();
        assert_eq!(seen.frames[2].1.tracking, Tracking::Tracked);
        assert_eq!(seen.value("MouthOpen"), 0.7);
        assert!(near(seen.value("HeadYaw"), 2.0));
    }

    #[test]
    fn each_face_is_a_subject_and_an_error_in_one_gives_none() {
        let mut seen = Seen::default();
        let mut d = OpenSeeFaceDecoder::new(Options {
            subject: Some(SubjectName::new("Ann").unwrap()),
            ..Options::default()
        });
        let of = |id| Record {
            id,
            ..Record::default()
        };
        feed(&mut d, 0, &[of(0), of(7)], &mut seen).unwrap();
        let names: Vec<&str> = seen.frames.iter().map(|f| f.0.name.as_str()).collect();
        assert_eq!(names, ["Ann", "7 Ann"]);
        assert_eq!(seen.statics, 2);
        let bad = Record {
            secs: f64::INFINITY,
            ..of(7)
        };
        assert!(feed(&mut d, 1, &[of(0), bad], &mut seen).is_err());
        assert_eq!(seen.frames.len(), 2);
    }

    #[test]
    fn faces_and_floods_are_bounded() {
        let mut seen = Seen::default();
        let mut d = OpenSeeFaceDecoder::new(Options::default());
        let of = |ids: std::ops::Range<i32>| -> Vec<Record> {
            ids.map(|id| Record {
                id,
                ..Record::default()
            })
            .collect()
        };
        feed(&mut d, 0, &of(0..36), &mut seen).unwrap();
        assert_eq!(
            feed(&mut d, 1, &of(36..72), &mut seen),
            Err(Reject::TooManyStreams { limit: 64 })
        );
        assert_eq!(seen.frames.len(), 36, "all or none");
        // A minute later the silent ones give way.
        feed(&mut d, 1900, &of(72..100), &mut seen).unwrap();
        assert_eq!(seen.frames.len(), 36 + 28);
        let taken = (0..5000)
            .filter(|_| feed(&mut d, 1901, &of(72..73), &mut seen).is_ok())
            .count();
        assert!((2399..=2400).contains(&taken), "{taken}");
    }
}
