//! Records → subject events of FreeD.

use std::{net::SocketAddr, sync::LazyLock};

use hub::{
    CameraStatic, FrameBody, FrameData, FrameMeta, Property, StaticBody, StaticData, SubjectKey,
    SubjectName, WorldTime,
};

use super::{
    convert::{self, Checksum, Options},
    packet::{CameraMessage, LEN, MAX_DATAGRAM, MESSAGE_TYPE},
};
use crate::{
    Decoder, Sink,
    error::Reject,
    streams::{Streams, source_id},
};

/// A camera that sends faster has its excess dropped. Devices send once per video frame or field.
pub const MAX_PACKETS_PER_SEC: u32 = 480;
/// Static data is announced again that often, for whoever came later.
const ANNOUNCE_NANOS: i64 = 1_000_000_000;

static STATIC: LazyLock<StaticData> = LazyLock::new(|| StaticData {
    body: StaticBody::Camera(CameraStatic::default()),
    properties: ["zoom", "focus"].map(Property::linear).into(),
});

/// What is remembered of a camera.
struct Camera {
    key: SubjectKey,
    meta: FrameMeta,
    data: FrameData,
    announced: Option<WorldTime>,
}

/// The sans-IO decoder of one socket.
pub struct FreedDecoder {
    options: Options,
    /// Told apart by address and camera id.
    cameras: Streams<Camera>,
}

impl FreedDecoder {
    /// With what the operator tells about the senders.
    pub fn new(options: Options) -> Self {
        Self {
            options,
            cameras: Streams::new(MAX_PACKETS_PER_SEC),
        }
    }

    /// The static data of every camera: `zoom` and `focus`.
    pub fn static_data() -> &'static StaticData {
        &STATIC
    }

    fn take(
        &mut self,
        message: &CameraMessage,
        now: WorldTime,
        from: SocketAddr,
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let id = message.camera;
        let camera = self.cameras.of(from, &[id], now, |is_twin| {
            let name = SubjectName::from_wire(format!("Camera {id}").as_bytes());
            let source = source_id("freed", from, &id.to_string(), is_twin);
            Ok(Camera {
                key: SubjectKey::new(source, name.ok_or(Reject::BadMagic)?),
                meta: FrameMeta::default(),
                data: FrameData {
                    properties: vec![0.0; STATIC.properties.len()],
                    ..FrameData::default()
                },
                announced: None,
            })
        })?;
        if camera.announced.is_none_or(|t| now - t >= ANNOUNCE_NANOS) {
            camera.announced = Some(now);
            sink.static_data(&camera.key, &STATIC, now);
        }
        camera.meta.arrival = now;
        camera.data.body = FrameBody::Camera(convert::camera_frame(message, self.options));
        let lens = [message.zoom, message.focus].map(convert::fraction);
        for (kept, v) in camera.data.properties.iter_mut().zip(lens) {
            *kept = v;
        }
        sink.frame(&camera.key, &camera.meta, Some(&camera.data));
        Ok(())
    }
}

impl Decoder for FreedDecoder {
    /// A datagram is one message, or several in a row; other FreeD messages (0xD0, 0xD2..=0xDA) are passed over.
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        match bytes.first() {
            Some(&MESSAGE_TYPE) => {}
            // Requests to the device, and answers that tell no place.
            Some(0xd0..=0xda) => return Ok(()),
            _ => return Err(Reject::BadMagic),
        }
        if bytes.len() > MAX_DATAGRAM || !bytes.len().is_multiple_of(LEN) {
            return Err(Reject::WrongLength {
                want: bytes.len().next_multiple_of(LEN).min(MAX_DATAGRAM),
                have: bytes.len(),
            });
        }
        let ignore = self.options.checksum == Checksum::Ignore;
        // All must be good before the first one counts.
        for block in bytes.chunks_exact(LEN) {
            CameraMessage::parse(block, ignore)?;
        }
        for block in bytes.chunks_exact(LEN) {
            self.take(&CameraMessage::parse(block, ignore)?, now, from, sink)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use glam::Vec3;
    use proptest::prelude::*;

    use super::*;

    #[derive(Default)]
    struct Seen {
        statics: usize,
        frames: Vec<(SubjectKey, FrameMeta, FrameData)>,
    }

    impl Sink for Seen {
        fn static_data(&mut self, _: &SubjectKey, data: &StaticData, _: WorldTime) {
            assert_eq!(data.validate(), Ok(()));
            self.statics += 1;
        }

        fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
            let data = data.unwrap();
            assert_eq!(data.check(FreedDecoder::static_data()), Ok(()));
            self.frames.push((key.clone(), meta.clone(), data.clone()));
        }

        fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
    }

    fn message(camera: u8, pan_deg: i32) -> [u8; LEN] {
        CameraMessage {
            camera,
            angles: [pan_deg * 32768, 0, 0],
            position: [0, 0, 1600 * 64],
            zoom: 0xff_ffff,
            focus: 0,
            spare: 0,
        }
        .to_bytes()
    }

    fn at(i: i64) -> WorldTime {
        WorldTime::from_nanos(i * 20_000_000)
    }

    fn peer() -> SocketAddr {
        "10.1.1.20:5000".parse().unwrap()
    }

    #[test]
    fn a_message_becomes_a_camera_with_its_lens() {
        let mut seen = Seen::default();
        let mut d = FreedDecoder::new(Options::default());
        for i in 0..101 {
            d.handle_datagram(at(i), peer(), &message(3, 90), &mut seen)
                .unwrap();
        }
        assert_eq!(seen.statics, 3, "each second");
        let (key, meta, data) = &seen.frames[7];
        assert_eq!(key.to_string(), "Camera 3 of freed/10.1.1.20/3");
        assert_eq!((meta.arrival, meta.sequence), (at(7), None));
        assert_eq!((meta.source_time, meta.timecode), (None, None));
        assert_eq!(data.properties, [1.0, 0.0]);
        let FrameBody::Camera(camera) = &data.body else {
            panic!("a camera");
        };
        let look = camera.transform.rotation * Vec3::NEG_Z;
        assert!((look - Vec3::X).length() < 1e-6, "pan 90 looks right");
        assert_eq!(camera.transform.translation, Vec3::new(0.0, 1.6, 0.0));
        assert_eq!(camera.lens(), [None; 5]);
    }

    #[test]
    fn the_packets_of_a_ptz_head_read_as_published() {
        // Values as the fact sheet states them, bytes built here from the layout.
        for (pan, tilt, zoom, focus, pan_deg, tilt_deg) in [
            (
                0xdf_78aa - 0x100_0000,
                0x47ef,
                16384,
                5377,
                -65.0573,
                0.5620,
            ),
            (
                0x21_98d8,
                0xff_eb94 - 0x100_0000,
                10438,
                5049,
                67.1941,
                -0.1595,
            ),
        ] {
            let bytes = CameraMessage {
                angles: [pan, tilt, 0],
                zoom,
                focus,
                ..CameraMessage::default()
            }
            .to_bytes();
            let m = CameraMessage::parse(&bytes, false).unwrap();
            let [p, t, r] = m.angles_deg();
            assert!(
                (p - pan_deg).abs() < 1e-4 && (t - tilt_deg).abs() < 1e-4,
                "{p} {t}"
            );
            assert_eq!((r, m.zoom, m.focus), (0.0, zoom, focus));
        }
    }

    #[test]
    fn messages_in_a_row_are_all_taken_or_none() {
        let mut seen = Seen::default();
        let mut d = FreedDecoder::new(Options::default());
        let mut row = [message(1, 0), message(2, 10), message(1, 20)].concat();
        d.handle_datagram(at(0), peer(), &row, &mut seen).unwrap();
        let names: Vec<_> = seen.frames.iter().map(|f| f.0.name.as_str()).collect();
        assert_eq!(names, ["Camera 1", "Camera 2", "Camera 1"]);
        row[60] ^= 1;
        assert!(matches!(
            d.handle_datagram(at(1), peer(), &row, &mut seen),
            Err(Reject::OutOfRange {
                what: "checksum",
                ..
            })
        ));
        assert_eq!(seen.frames.len(), 3);
        let mut ignoring = FreedDecoder::new(Options {
            checksum: Checksum::Ignore,
            ..Options::default()
        });
        ignoring
            .handle_datagram(at(1), peer(), &row, &mut seen)
            .unwrap();
        assert_eq!(seen.frames.len(), 6);
    }

    #[test]
    fn other_messages_pass_and_other_lengths_do_not() {
        let mut seen = Seen::default();
        let mut d = FreedDecoder::new(Options::default());
        let mut take = |bytes: &[u8]| d.handle_datagram(at(0), peer(), bytes, &mut seen);
        for kind in [0xd0, 0xd2, 0xda] {
            assert_eq!(take(&[kind, 1, 0, 0x6f]), Ok(()));
        }
        for kind in [0x00, 0xcf, 0xdb, 0xff] {
            assert_eq!(take(&[kind, 1, 0, 0]), Err(Reject::BadMagic));
        }
        assert_eq!(take(&[]), Err(Reject::BadMagic));
        assert_eq!(
            take(&message(1, 0)[..28]),
            Err(Reject::WrongLength { want: 29, have: 28 })
        );
        assert_eq!(
            take(&message(1, 0).repeat(49)),
            Err(Reject::WrongLength {
                want: MAX_DATAGRAM,
                have: 49 * LEN
            })
        );
        assert!(seen.frames.is_empty());
    }

    #[test]
    fn a_repeated_id_at_another_address_is_another_source_and_floods_are_bounded() {
        let mut seen = Seen::default();
        let mut d = FreedDecoder::new(Options::default());
        for from in ["10.0.0.1:5", "10.0.0.2:5"] {
            d.handle_datagram(at(0), from.parse().unwrap(), &message(1, 0), &mut seen)
                .unwrap();
        }
        let sources: Vec<_> = seen.frames.iter().map(|f| f.0.source.as_str()).collect();
        assert_eq!(sources, ["freed/10.0.0.1/1", "freed/10.0.0.2/1"]);
        let taken = (0..10_000)
            .filter(|_| {
                d.handle_datagram(at(0), peer(), &message(1, 0), &mut seen)
                    .is_ok()
            })
            .count();
        assert_eq!(taken, 4800);
    }

    #[test]
    fn a_recorded_camera_move_reads_as_its_table_says() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/samples/camera");
        let (Ok(pcap), Ok(table)) = (
            std::fs::read(format!("{folder}/freed_d1_from_mosys.pcap")),
            std::fs::read_to_string(format!("{folder}/mosys_transforms.csv")),
        ) else {
            println!("no samples at {folder}: nothing checked");
            return;
        };
        // Global header 24 bytes; records of 16 bytes of header, 28 of IP and UDP, one message.
        let records = pcap[24..].chunks_exact(16 + 28 + LEN);
        assert_eq!((records.len(), records.remainder().len()), (1497, 0));
        let mut seen = Seen::default();
        let mut d = FreedDecoder::new(Options::default());
        for (i, (record, row)) in records.zip(table.lines().skip(1)).enumerate() {
            let message = &record[44..];
            d.handle_datagram(at(2 * i as i64), peer(), message, &mut seen)
                .unwrap();
            let m = CameraMessage::parse(message, false).unwrap();
            let v: Vec<f64> = row.split(',').map(|v| v.parse().unwrap()).collect();
            let [pan, tilt, roll] = m.angles_deg();
            let [x, y, z] = m.position_mm();
            let found = [pan, tilt, roll, x, y, z];
            for (found, want) in found.iter().zip(&v[1..7]) {
                // Positions come in 64ths of a millimetre.
                assert!((found - want).abs() < 0.016, "row {i}: {found} {want}");
            }
            assert_eq!([f64::from(m.zoom), f64::from(m.focus)], v[7..9]);
        }
        assert_eq!(seen.frames.len(), 1497);
        for (_, _, data) in &seen.frames {
            // This camera stood 1.2 m high and looked down.
            let t = data.transforms()[0];
            let look = t.rotation * Vec3::NEG_Z;
            assert!(
                (1.0..1.4).contains(&t.translation.y) && look.y < 0.0,
                "{t:?}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_bytes_panic(
            first in 0xcfu8..0xdc,
            rest in prop::collection::vec(any::<u8>(), 0..200),
            blocks in 1usize..6,
        ) {
            let mut seen = Seen::default();
            let mut d = FreedDecoder::new(Options {
                checksum: Checksum::Ignore,
                ..Options::default()
            });
            let mut bytes = vec![first];
            bytes.extend(rest);
            let _ = d.handle_datagram(at(0), peer(), &bytes, &mut seen);
            bytes.resize(blocks * LEN, 0xd1);
            let _ = d.handle_datagram(at(0), peer(), &bytes, &mut seen);
        }
    }
}
