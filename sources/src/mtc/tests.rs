use hub::{
    DropFrame, FrameRate, Timecode, WorldTime,
    master::{MasterOptions, MasterSource, TimecodeMaster},
};
use proptest::prelude::*;

use super::*;

/// 17:23:58;14 at 29.97 drop-frame, assembled from the layout and compared with python-ltc.
const QUARTER_FRAMES: [u8; 16] = [
    0xf1, 0x0e, 0xf1, 0x10, 0xf1, 0x2a, 0xf1, 0x33, 0xf1, 0x47, 0xf1, 0x51, 0xf1, 0x61, 0xf1, 0x75,
];
const FULL_FRAME: [u8; 10] = [0xf0, 0x7f, 0x7f, 0x01, 0x01, 0x51, 0x17, 0x3a, 0x0e, 0xf7];

fn at(nanos: i64) -> WorldTime {
    WorldTime::from_nanos(nanos)
}

fn push(decoder: &mut MtcDecoder, bytes: &[u8], now: i64) -> Vec<MtcEvent> {
    let mut events = Vec::new();
    decoder.push(bytes, at(now), &mut |event| events.push(*event));
    events
}

fn golden() -> Timecode {
    Timecode::parse("17:23:58;14", FrameRate::FPS_29_97).unwrap()
}

#[test]
fn the_golden_bytes_are_read_and_written() {
    let mut decoder = MtcDecoder::new(None);
    let mut events = Vec::new();
    for (i, message) in QUARTER_FRAMES.chunks(2).enumerate() {
        events.extend(push(&mut decoder, message, 100 + i as i64));
    }
    assert_eq!(events.len(), 1);
    let MtcEvent { reading, kind } = events[0];
    assert_eq!(kind, MtcKind::QuarterFrames);
    assert_eq!(reading.time.label(), golden());
    assert_eq!(reading.time.drop, DropFrame::Drop);
    // Stamped with its first piece: the two frames that the pieces take are not in the way.
    assert_eq!((reading.at, reading.forward), (at(100), true));

    let events = push(&mut MtcDecoder::new(None), &FULL_FRAME, 7);
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].kind, MtcKind::FullFrame);
    assert_eq!(events[0].reading.time.label(), golden());
    assert_eq!(events[0].reading.at, at(7));

    assert_eq!(quarter_frames(&golden()).unwrap().concat(), QUARTER_FRAMES);
    assert_eq!(full_frame(&golden()), Some(FULL_FRAME));
    let fast = Timecode::parse("00:00:00:00", FrameRate::FPS_60).unwrap();
    assert_eq!((quarter_frames(&fast), full_frame(&fast)), (None, None));
}

#[test]
fn other_messages_in_the_stream_do_no_harm() {
    let mut bytes = Vec::new();
    for message in QUARTER_FRAMES.chunks(2) {
        // Clock and active sensing, even between the two bytes; a note with running status; song position; tune
        // request; a long exclusive message; one cut short by a status; undefined statuses.
        bytes.extend([message[0], 0xf8, 0xfe, message[1]]);
        bytes.extend([0x90, 60, 100, 62, 100, 0xf8, 64, 100]);
        bytes.extend([0xf2, 0x10, 0x20, 0xf6]);
        bytes.push(0xf0);
        bytes.extend([0x7f; 300]);
        bytes.push(0xf7);
        bytes.extend([0xf0, 0x7f, 0x7f, 0x01, 0x01, 0x51, 0x80, 0x17, 0x3a]);
        bytes.extend([0xf4, 0xf5, 0xf9, 0xfd, 0x0e, 0xf7]);
    }
    let mut decoder = MtcDecoder::new(None);
    let events = push(&mut decoder, &bytes, 0);
    assert_eq!(events.len(), 1, "{events:?}");
    assert_eq!(events[0].reading.time.label(), golden());
    assert_eq!(decoder.counts().refused, 0);

    // A full frame with clock bytes inside; one of another device; user bits are none.
    let events = push(
        &mut decoder,
        &[
            0xf0, 0x7f, 0xf8, 0x05, 0x01, 0x01, 0x51, 0xfe, 0x17, 0x3a, 0x0e, 0xf7, //
            0xf0, 0x7f, 0x7f, 0x01, 0x02, 0x51, 0x17, 0x3a, 0x0e, 0xf7, //
            0xf0, 0x7f, 0x7f, 0x01, 0x01, 0x51, 0x17, 0x3a, 0xf7, //
            0xf0, 0x7f, 0x7f, 0x01, 0x01, 0x51, 0x17, 0x3a, 0x0e, 0x00, 0xf7,
        ],
        0,
    );
    assert_eq!(events.len(), 1);
}

/// All pieces of labels from `first` on, two frames apart, a quarter of a frame between them.
fn play(decoder: &mut MtcDecoder, first: &Timecode, labels: i64, forward: bool) -> Vec<MtcEvent> {
    let mut events = Vec::new();
    let quarter = first.rate().frame_nanos() / 4;
    let mut now = 0;
    for i in 0..labels {
        let step = if forward { 2 * i } else { -2 * i };
        let label = first.frame() + step;
        let label = Timecode::from_frame(label, first.rate(), first.drop()).unwrap();
        let mut messages = quarter_frames(&label).unwrap();
        if !forward {
            messages.reverse();
        }
        for message in messages {
            events.extend(push(decoder, &message, now));
            now += quarter;
        }
    }
    events
}

#[test]
fn labels_step_by_two_both_ways_and_through_midnight() {
    for (text, rate) in [
        ("23:59:59;20", FrameRate::FPS_29_97),
        ("23:59:59:20", FrameRate::FPS_25),
        ("10:00:59;20", FrameRate::FPS_29_97),
        ("00:00:00:02", FrameRate::FPS_24),
    ] {
        for forward in [true, false] {
            let first = Timecode::parse(text, rate).unwrap();
            let mut decoder = MtcDecoder::new(None);
            let events = play(&mut decoder, &first, 20, forward);
            assert_eq!(events.len(), 20, "{text} {forward}");
            for (i, event) in (0..).zip(&events) {
                let step = if forward { 2 * i } else { -2 * i };
                let want = Timecode::from_frame(first.frame() + step, rate, first.drop()).unwrap();
                assert_eq!(event.reading.time.label(), want);
                assert_eq!(event.reading.forward, forward);
                let begins = 2 * i * (rate.frame_nanos() / 4) * 4;
                assert_eq!(event.reading.at, at(begins));
            }
            assert_eq!(decoder.counts().breaks, 1, "the first piece only");
        }
    }
}

#[test]
fn the_master_shows_the_time_of_now_not_of_two_frames_ago() {
    let first = Timecode::parse("23:59:59:00", FrameRate::FPS_25).unwrap();
    let mut master = TimecodeMaster::new(MasterOptions {
        source: MasterSource::Mtc,
        ..MasterOptions::default()
    });
    let mut decoder = MtcDecoder::new(None);
    for event in play(&mut decoder, &first, 50, true) {
        // A label is whole with its last piece, seven quarters on.
        master.read(&event.reading, event.reading.at + 70_000_000);
    }
    // The last piece of label 98 was sent in the middle of frame 99.
    let whole = 98 * 40_000_000 + 70_000_000;
    let answer = master.timecode(at(whole)).unwrap();
    assert_eq!(answer.label().to_string(), "00:00:02:24");
    assert!((answer.sub_frame - 0.75).abs() < 1e-3, "{answer}");
    assert_eq!((master.counts().jumps, master.counts().strays), (0, 0));
}

#[test]
fn a_jump_a_turn_and_a_pause_never_mix_two_labels() {
    let a = Timecode::parse("01:01:01:01", FrameRate::FPS_25).unwrap();
    let b = Timecode::parse("22:42:42:22", FrameRate::FPS_25).unwrap();
    let (a_pieces, b_pieces) = (quarter_frames(&a).unwrap(), quarter_frames(&b).unwrap());
    for cut in 1..8 {
        // Label a breaks off; b begins at its piece 0.
        let mut decoder = MtcDecoder::new(None);
        let mut events = push(&mut decoder, &a_pieces[..cut].concat(), 0);
        events.extend(push(&mut decoder, &b_pieces.concat(), 10));
        assert_eq!(events.len(), 1, "cut at {cut}");
        assert_eq!(events[0].reading.time.label(), b);
        // A pause of a second in the middle of a label.
        let mut decoder = MtcDecoder::new(None);
        let mut events = push(&mut decoder, &a_pieces[..cut].concat(), 0);
        events.extend(push(&mut decoder, &b_pieces[cut..].concat(), 1_000_000_000));
        assert!(events.is_empty(), "cut at {cut}");
        // Turned round: the pieces that came twice are no whole label.
        let mut decoder = MtcDecoder::new(None);
        let mut back = a_pieces[..cut].to_vec();
        back.reverse();
        let mut events = push(&mut decoder, &a_pieces[..=cut].concat(), 0);
        events.extend(push(&mut decoder, &back.concat(), 10));
        let want = usize::from(cut == 7);
        assert_eq!(events.iter().filter(|e| e.reading.forward).count(), want);
    }
}

#[test]
fn rates_are_read_and_a_stated_one_decides_between_equals() {
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
        (3, Some(FrameRate::FPS_29_97), FrameRate::FPS_29_97, NonDrop),
        (3, Some(FrameRate::FPS_59_94), FrameRate::FPS_29_97, NonDrop),
        (2, Some(FrameRate::FPS_30), FrameRate::FPS_29_97, Drop),
        (1, Some(FrameRate::FPS_29_97), FrameRate::FPS_25, NonDrop),
    ] {
        let mut decoder = MtcDecoder::new(stated);
        let hours = (kind << 5) | 1;
        let bytes = [0xf0, 0x7f, 0x7f, 1, 1, hours, 2, 3, 4, 0xf7];
        let events = push(&mut decoder, &bytes, 0);
        let time = events[0].reading.time;
        assert_eq!((time.rate, time.drop), (rate, drop), "{kind} {stated:?}");
        assert_eq!(time.label().fields(), [1, 2, 3, 4]);
    }
}

#[test]
fn labels_that_do_not_exist_are_refused() {
    for [hours, minutes, seconds, frames] in [
        [24, 0, 0, 0],
        [0, 60, 0, 0],
        [0, 0, 60, 0],
        [0, 0, 0, 24],
        // 00:01:00;00 is skipped.
        [0x40, 1, 0, 0],
    ] {
        let mut decoder = MtcDecoder::new(None);
        let bytes = [
            0xf0, 0x7f, 0x7f, 1, 1, hours, minutes, seconds, frames, 0xf7,
        ];
        assert!(push(&mut decoder, &bytes, 0).is_empty());
        assert_eq!(decoder.counts().refused, 1);
    }
}

proptest! {
    #[test]
    fn no_bytes_panic_and_what_comes_out_is_a_label(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
        pieces in prop::collection::vec(0u8..0x80, 0..200),
    ) {
        let mut decoder = MtcDecoder::new(None);
        let mut events = push(&mut decoder, &bytes, 0);
        for piece in pieces {
            events.extend(push(&mut decoder, &[0xf1, piece], 1));
        }
        for event in events {
            let time = event.reading.time;
            prop_assert!((0..time.rate.frames_per_day(time.drop)).contains(&time.frame));
        }
    }
}
