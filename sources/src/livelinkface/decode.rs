//! Records → subject events of Live Link Face.

use std::{net::SocketAddr, sync::LazyLock};

use hub::{
    FrameData, FrameMeta, StaticData, SubjectKey, SubjectName, Tracking, WorldTime,
    arkit::{self, NUM_CURVES, NUM_FACE_CURVES},
};

use super::{
    convert::{self, Options},
    packet::Packet,
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

/// Weights beyond this band are a defect of the sender, not a strong expression.
const WEIGHT_BAND: std::ops::RangeInclusive<f32> = -1.0..=2.0;
/// Rotations beyond half a turn likewise.
const ROTATION_LIMIT: f32 = std::f32::consts::PI * 1.001;

static STATIC: LazyLock<StaticData> = LazyLock::new(|| StaticData::basic(&arkit::CURVES));

/// What is remembered of a phone.
struct Phone {
    key: SubjectKey,
    meta: FrameMeta,
    data: FrameData,
    announced: Option<WorldTime>,
}

/// The sans-IO decoder of one socket.
pub struct LiveLinkFaceDecoder {
    options: Options,
    /// Told apart by the bytes from version to subject name, as they stand in each datagram of a phone.
    phones: Streams<Phone>,
    out_of_band: u64,
}

impl LiveLinkFaceDecoder {
    /// With what the operator tells about the senders.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            phones: Streams::new(MAX_PACKETS_PER_SEC),
            out_of_band: 0,
        }
    }

    /// The static data of every Live Link Face subject.
    pub fn static_data() -> &'static StaticData {
        &STATIC
    }

    /// Values so far outside their band that the last good value was taken instead.
    pub fn out_of_band(&self) -> u64 {
        self.out_of_band
    }
}

fn subject_key(from: SocketAddr, packet: &Packet<'_>, is_twin: bool) -> Option<SubjectKey> {
    let device = String::from_utf8_lossy(packet.device_id);
    let name = SubjectName::from_wire(packet.subject)
        .or_else(|| SubjectName::from_wire(packet.device_id))
        .or_else(|| SubjectName::from_wire(b"unnamed"))?;
    let source = source_id("livelinkface", from, &device, is_twin);
    Some(SubjectKey::new(source, name))
}

/// Whether all values are finite and within their bands; one pass over exponents and bounds.
fn in_band(values: &[f32; NUM_CURVES]) -> bool {
    let (weights, rotations) = values.split_at(NUM_FACE_CURVES);
    // NaN fails every comparison, infinity the bounds.
    weights
        .iter()
        .fold(true, |ok, v| ok & WEIGHT_BAND.contains(v))
        & rotations
            .iter()
            .fold(true, |ok, v| ok & (v.abs() <= ROTATION_LIMIT))
}

impl Decoder for LiveLinkFaceDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let packet = Packet::parse(bytes)?;
        let time = convert::frame_time(&packet, self.options)?;
        let mut values = packet.values().unwrap_or([0.0; NUM_CURVES]);
        let mut good = true;
        if packet.curves.is_some() {
            convert::rotations(&mut values, self.options);
            good = in_band(&values);
            if !good && let Some(at) = values.iter().position(|v| !v.is_finite()) {
                return Err(Reject::NonFinite { at });
            }
        }
        let prefix = &bytes[..9 + packet.device_id.len() + packet.subject.len()];
        let stream = self.phones.of(from, prefix, now, |is_twin| {
            Ok(Phone {
                key: subject_key(from, &packet, is_twin).ok_or(Reject::BadMagic)?,
                meta: FrameMeta::default(),
                data: FrameData::basic(vec![0.0; NUM_CURVES]),
                announced: None,
            })
        })?;
        if stream.announced.is_none_or(|t| now - t >= ANNOUNCE_NANOS) {
            stream.announced = Some(now);
            sink.static_data(&stream.key, &STATIC, now);
        }
        stream.meta.timecode = Some(time);
        stream.meta.arrival = now;
        if packet.curves.is_none() {
            stream.meta.tracking = Tracking::Lost;
            sink.frame(&stream.key, &stream.meta, None);
            return Ok(());
        }
        if good {
            stream.data.properties.copy_from_slice(&values);
        } else {
            // Keep the last good value of each curve that is out of its band.
            for (i, (kept, v)) in stream.data.properties.iter_mut().zip(values).enumerate() {
                let fine = if i < NUM_FACE_CURVES {
                    WEIGHT_BAND.contains(&v)
                } else {
                    v.abs() <= ROTATION_LIMIT
                };
                if fine {
                    *kept = v;
                } else {
                    self.out_of_band += 1;
                }
            }
        }
        stream.meta.tracking = Tracking::Tracked;
        sink.frame(&stream.key, &stream.meta, Some(&stream.data));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::livelinkface::{RotationUnit, SubFrames};

    #[derive(Default)]
    struct Seen {
        statics: usize,
        frames: Vec<(SubjectKey, FrameMeta, Option<FrameData>)>,
    }

    impl Sink for Seen {
        fn static_data(&mut self, _: &SubjectKey, data: &StaticData, _: WorldTime) {
            assert_eq!(data.properties.len(), 61);
            self.statics += 1;
        }

        fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
            self.frames.push((key.clone(), meta.clone(), data.cloned()));
        }

        fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
    }

    fn packet(frame: i32, values: &[(usize, f32)]) -> Vec<u8> {
        let mut curves = [[0; 4]; NUM_CURVES];
        for (i, v) in values {
            curves[*i] = v.to_be_bytes();
        }
        let mut bytes = Vec::new();
        Packet {
            device_id: b"DEVICE",
            subject: "演員".as_bytes(),
            frame,
            sub_frame: 0.25,
            rate_num: 60,
            rate_den: 1,
            curves: Some(&curves),
        }
        .write(&mut bytes);
        bytes
    }

    fn at(i: i64) -> WorldTime {
        WorldTime::from_nanos(i * 16_666_667)
    }

    fn peer() -> SocketAddr {
        "192.168.1.7:50000".parse().unwrap()
    }

    fn one(options: Options, bytes: &[u8]) -> (FrameMeta, Option<FrameData>) {
        let mut seen = Seen::default();
        LiveLinkFaceDecoder::new(options)
            .handle_datagram(at(0), peer(), bytes, &mut seen)
            .unwrap();
        let (_, meta, data) = seen.frames.remove(0);
        (meta, data)
    }

    #[test]
    fn a_face_becomes_a_frame_of_61_curves_with_its_timecode() {
        let mut seen = Seen::default();
        let mut d = LiveLinkFaceDecoder::new(Options::default());
        d.handle_datagram(
            at(0),
            peer(),
            &packet(3600, &[(17, 0.5), (53, 0.2)]),
            &mut seen,
        )
        .unwrap();
        assert_eq!(seen.statics, 1);
        let (key, meta, data) = &seen.frames[0];
        assert_eq!(key.name.as_str(), "演員");
        assert_eq!(key.source.as_str(), "livelinkface/192.168.1.7/DEVICE");
        assert_eq!(meta.timecode.unwrap().to_string(), "00:01:00:00.250");
        let values = &data.as_ref().unwrap().properties;
        assert_eq!((values[17], values[53]), (0.5, 0.2));
    }

    #[test]
    fn no_face_is_a_normal_state_that_keeps_the_timecode() {
        let full = packet(10, &[]);
        let cut = &full[..full.len() - 245];
        let (meta, data) = one(Options::default(), cut);
        assert_eq!(meta.tracking, Tracking::Lost);
        assert_eq!(meta.timecode.unwrap().frame, 10);
        assert_eq!(data, None);
    }

    #[test]
    fn traps_of_imitators_are_met() {
        // Denominator 0 means 1; the constant sub-frame means none.
        let mut bytes = packet(10, &[]);
        let den = bytes.len() - 245 - 4;
        bytes[den..den + 4].copy_from_slice(&0i32.to_be_bytes());
        bytes[den - 8..den - 4].copy_from_slice(&1_056_060_032u32.to_be_bytes());
        let time = one(Options::default(), &bytes).0.timecode.unwrap();
        assert_eq!((time.rate.to_string(), time.sub_frame), ("60".into(), 0.0));
        // Degrees ÷ 180, inverted yaw, ignored sub-frames by option.
        let options = Options {
            rotation_unit: RotationUnit::HalfTurns,
            sub_frames: SubFrames::Ignore,
            invert_yaw: true,
            ..Options::default()
        };
        let (meta, data) = one(options, &packet(10, &[(17, 0.5), (52, 0.25), (53, 0.5)]));
        let v = data.unwrap().properties;
        assert_eq!(v[17], 0.5);
        assert!((v[52] + std::f32::consts::FRAC_PI_4).abs() < 1e-6);
        assert!((v[53] - std::f32::consts::FRAC_PI_2).abs() < 1e-6);
        assert_eq!(meta.timecode.unwrap().sub_frame, 0.0);
    }

    #[test]
    fn absurd_values_give_way_to_the_last_good_ones() {
        let mut seen = Seen::default();
        let mut d = LiveLinkFaceDecoder::new(Options::default());
        for (i, v) in [0.5, -9.8e5, 0.6].into_iter().enumerate() {
            let bytes = packet(i as i32, &[(0, v), (1, 0.1 * i as f32)]);
            d.handle_datagram(at(i as i64), peer(), &bytes, &mut seen)
                .unwrap();
        }
        let jaw: Vec<f32> = seen
            .frames
            .iter()
            .map(|f| f.2.as_ref().unwrap().properties[0])
            .collect();
        assert_eq!(jaw, [0.5, 0.5, 0.6]);
        assert_eq!(d.out_of_band(), 1);
        let nan = packet(9, &[(60, f32::NAN)]);
        assert_eq!(
            d.handle_datagram(at(9), peer(), &nan, &mut seen),
            Err(Reject::NonFinite { at: 60 })
        );
    }

    #[test]
    fn floods_of_packets_and_of_names_are_bounded() {
        let mut seen = Seen::default();
        let mut d = LiveLinkFaceDecoder::new(Options::default());
        let taken = (0..10_000)
            .filter(|i| {
                d.handle_datagram(at(0), peer(), &packet(*i, &[]), &mut seen)
                    .is_ok()
            })
            .count();
        assert_eq!(taken, 2400, "a burst, then nothing until time passes");
        let refused = (0..10_000u32)
            .filter(|i| {
                let mut bytes = packet(0, &[]);
                bytes[5..9].copy_from_slice(&i.to_be_bytes());
                d.handle_datagram(at(1), peer(), &bytes, &mut seen).is_err()
            })
            .count();
        assert_eq!(
            refused,
            10_000 - (crate::streams::MAX_STREAMS_PER_ADDRESS - 1)
        );
    }

    #[test]
    fn a_second_sender_never_takes_over_and_a_restarted_one_goes_on() {
        let mut seen = Seen::default();
        let mut d = LiveLinkFaceDecoder::new(Options::default());
        let ports: [(i64, &str); 5] = [
            (0, "192.168.1.7:50000"),
            (1, "192.168.1.7:50001"),
            (2, "192.168.1.7:50000"),
            (3, "192.168.1.8:50000"),
            // Two seconds of silence later the first phone comes back on another port.
            (120, "192.168.1.7:50002"),
        ];
        for (i, from) in ports {
            let bytes = packet(i as i32, &[]);
            d.handle_datagram(at(i), from.parse().unwrap(), &bytes, &mut seen)
                .unwrap();
        }
        let sources: Vec<&str> = seen.frames.iter().map(|f| f.0.source.as_str()).collect();
        assert_eq!(
            sources,
            [
                "livelinkface/192.168.1.7/DEVICE",
                "livelinkface/192.168.1.7:50001/DEVICE",
                "livelinkface/192.168.1.7/DEVICE",
                "livelinkface/192.168.1.8/DEVICE",
                "livelinkface/192.168.1.7/DEVICE",
            ]
        );
    }

    #[test]
    fn a_phone_that_reopens_its_socket_at_once_has_its_name_back_within_a_second() {
        let mut seen = Seen::default();
        let mut d = LiveLinkFaceDecoder::new(Options::default());
        for i in 0..180 {
            let port = if i < 60 { 50000 } else { 50001 };
            let from = SocketAddr::from(([192, 168, 1, 7], port));
            d.handle_datagram(at(i), from, &packet(i as i32, &[]), &mut seen)
                .unwrap();
        }
        let source = |i: usize| seen.frames[i].0.source.as_str();
        assert_eq!(source(59), "livelinkface/192.168.1.7/DEVICE");
        assert_eq!(source(60), "livelinkface/192.168.1.7:50001/DEVICE");
        assert_eq!(source(125), "livelinkface/192.168.1.7/DEVICE");
        assert_eq!(source(179), "livelinkface/192.168.1.7/DEVICE");
    }
}
