use std::net::SocketAddr;

use hub::{DropFrame, FrameRate, WorldTime, master::TimecodeReading};
use proptest::prelude::*;

use super::*;
use crate::error::Reject;

/// 17:23:58;14 at 29.97 drop-frame, assembled from the layout.
const GOLDEN: [u8; LEN] = [
    0x41, 0x72, 0x74, 0x2d, 0x4e, 0x65, 0x74, 0x00, 0x00, 0x97, 0x00, 0x0e, 0x00, 0x00, 0x0e, 0x3a,
    0x17, 0x11, 0x02,
];

fn desk() -> SocketAddr {
    "2.0.0.1:6454".parse().unwrap()
}

fn at(millis: i64) -> WorldTime {
    WorldTime::from_nanos(millis * 1_000_000)
}

fn tell(
    decoder: &mut ArtNetTimecodeDecoder,
    label: [u8; 4],
    kind: u8,
    millis: i64,
) -> Option<TimecodeReading> {
    let bytes = ArtTimeCode { label, kind }.to_bytes();
    decoder.handle_datagram(at(millis), desk(), &bytes).unwrap()
}

#[test]
fn the_golden_packet_is_read_and_written() {
    let packet = ArtTimeCode {
        label: [17, 23, 58, 14],
        kind: 2,
    };
    assert_eq!(ArtTimeCode::parse(&GOLDEN), Ok(Some(packet)));
    assert_eq!(packet.to_bytes(), GOLDEN);
    let mut decoder = ArtNetTimecodeDecoder::new(None);
    let reading = decoder.handle_datagram(at(5), desk(), &GOLDEN).unwrap();
    let reading = reading.unwrap();
    assert_eq!(reading.time.to_string(), "17:23:58;14.000");
    assert_eq!(reading.time.rate, FrameRate::FPS_29_97);
    assert_eq!(reading.time.drop, DropFrame::Drop);
    assert_eq!((reading.at, reading.forward), (at(5), true));
    assert_eq!(decoder.sender(), Some(desk().ip()));
    // Longer ones and newer versions read the same.
    let mut longer = GOLDEN.to_vec();
    longer[11] = 15;
    longer[13] = 9;
    longer.extend([1, 2, 3]);
    assert_eq!(ArtTimeCode::parse(&longer), Ok(Some(packet)));
}

#[test]
fn what_is_no_timecode_is_passed_over_or_refused() {
    // An ArtDmx packet.
    let mut other = GOLDEN.to_vec();
    other[9] = 0x50;
    assert_eq!(ArtTimeCode::parse(&other), Ok(None));
    assert_eq!(ArtTimeCode::parse(&other[..10]), Ok(None));
    let refused = |change: &dyn Fn(&mut Vec<u8>)| {
        let mut bytes = GOLDEN.to_vec();
        change(&mut bytes);
        let mut decoder = ArtNetTimecodeDecoder::new(None);
        decoder.handle_datagram(at(0), desk(), &bytes).unwrap_err()
    };
    assert_eq!(refused(&|b| b[0] = b'a'), Reject::BadMagic);
    assert_eq!(
        refused(&|b| b[11] = 13),
        Reject::BadVersion { want: 14, have: 13 }
    );
    for len in 0..LEN {
        assert!(matches!(
            refused(&|b| b.truncate(len)),
            Reject::Short { .. }
        ));
    }
    for (place, value, what) in [
        (14, 30, "frames"),
        (15, 60, "seconds"),
        (16, 60, "minutes"),
        (17, 24, "hours"),
        (18, 4, "timecode type"),
    ] {
        let reject = refused(&|b| b[place] = value);
        assert!(
            matches!(reject, Reject::OutOfRange { what: w, .. } if w == what),
            "{reject:?}"
        );
    }
    // 17:23:00;01 is skipped.
    let skipped = refused(&|b| {
        b[14] = 1;
        b[15] = 0;
    });
    assert!(matches!(
        skipped,
        Reject::OutOfRange {
            have: 1,
            min: 2,
            ..
        }
    ));
}

#[test]
fn every_type_counts_its_own_and_a_stated_rate_decides_between_equals() {
    use DropFrame::{Drop, NonDrop};
    for (kind, stated, rate, drop) in [
        (0, None, FrameRate::FPS_24, NonDrop),
        (1, None, FrameRate::FPS_25, NonDrop),
        (2, None, FrameRate::FPS_29_97, Drop),
        (3, None, FrameRate::FPS_30, NonDrop),
        (
            0,
            Some(FrameRate::FPS_23_976),
            FrameRate::FPS_23_976,
            NonDrop,
        ),
        (3, Some(FrameRate::FPS_59_94), FrameRate::FPS_29_97, NonDrop),
        (1, Some(FrameRate::FPS_30), FrameRate::FPS_25, NonDrop),
    ] {
        let mut decoder = ArtNetTimecodeDecoder::new(stated);
        let reading = tell(&mut decoder, [1, 2, 3, 4], kind, 0).unwrap();
        assert_eq!((reading.time.rate, reading.time.drop), (rate, drop));
        assert_eq!(reading.time.label().fields(), [1, 2, 3, 4]);
    }
}

#[test]
fn direction_comes_of_the_labels_and_repeats_are_taken_once() {
    let mut decoder = ArtNetTimecodeDecoder::new(None);
    let mut forward = |label, millis| tell(&mut decoder, label, 1, millis).map(|r| r.forward);
    assert_eq!(forward([23, 59, 59, 23], 0), Some(true));
    assert_eq!(forward([23, 59, 59, 24], 40), Some(true));
    assert_eq!(forward([23, 59, 59, 24], 60), None);
    assert_eq!(forward([0, 0, 0, 0], 80), Some(true));
    assert_eq!(forward([23, 59, 59, 24], 120), Some(false));
    assert_eq!(forward([23, 59, 59, 22], 160), Some(false));
    // A jump back, not a tape that runs backwards.
    assert_eq!(forward([10, 0, 0, 0], 200), Some(true));
    assert_eq!(forward([10, 0, 0, 1], 240), Some(true));
    // After a silence nothing is compared.
    assert_eq!(forward([10, 0, 0, 0], 5000), Some(true));
    let counts = decoder.counts();
    assert_eq!((counts.readings, counts.repeats), (8, 1));
}

#[test]
fn a_second_sender_waits_until_the_first_is_silent() {
    let mut decoder = ArtNetTimecodeDecoder::new(None);
    let other: SocketAddr = "2.0.0.2:6454".parse().unwrap();
    let mut from = |sender, millis| {
        let reading = decoder.handle_datagram(at(millis), sender, &GOLDEN);
        reading.unwrap().is_some()
    };
    assert!(from(desk(), 0));
    assert!(!from(other, 10));
    assert!(!from(other, 1990));
    assert!(from(other, 2000));
    assert!(!from(desk(), 2010));
    assert_eq!(decoder.counts().others, 3);
    assert_eq!(decoder.sender(), Some(other.ip()));
}

proptest! {
    #[test]
    fn no_bytes_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..40),
        tail in prop::array::uniform7(any::<u8>()),
    ) {
        let mut decoder = ArtNetTimecodeDecoder::new(None);
        let _ = decoder.handle_datagram(at(0), desk(), &bytes);
        let bytes = [&GOLDEN[..12], &tail[..]].concat();
        let _ = decoder.handle_datagram(at(1), desk(), &bytes);
    }
}
