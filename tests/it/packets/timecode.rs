//! LTC, MIDI timecode, Art-Net: one label in four forms.

use hub::{DropFrame, FrameRate, QualifiedFrameTime, WorldTime};
use sources::{
    artnet::{ArtNetTimecodeDecoder, ArtTimeCode},
    ltc::{EncodeOptions, LtcDecoder, LtcEncoder, LtcFields, WORD_BYTES},
    mtc::{MtcDecoder, MtcEvent, MtcKind},
};

use super::{peer, sample};

const LABEL: [u32; 4] = [17, 23, 58, 14];
/// Counted from midnight: 17 h 23 min 58 s at 30 labels a second and 14 more, less two labels for each of 1,043
/// minutes but every tenth (SMPTE ST 12-1).
const FRAME: i64 = ((17 * 60 + 23) * 60 + 58) * 30 + 14 - 2 * (1043 - 104);

fn assert_label(time: &QualifiedFrameTime) {
    assert_eq!(time.label().fields(), LABEL);
    assert_eq!(
        (time.rate, time.drop),
        (FrameRate::FPS_29_97, DropFrame::Drop)
    );
    assert_eq!(time.frame, FRAME);
}

#[test]
fn ltc_word() {
    let Some(bytes) = sample("timecode/ltc_17-23-58_14_df.bin") else {
        return;
    };
    let word = <[u8; WORD_BYTES]>::try_from(bytes.as_slice()).unwrap();
    let fields = LtcFields::parse(word).unwrap();
    assert_eq!((fields.label, fields.drop), (LABEL, DropFrame::Drop));
    assert_eq!(fields.user_bits, 0);
    // The same word as sound, among its neighbours: a frame counts when one of them agrees.
    let rate = FrameRate::FPS_29_97;
    let mut encoder = LtcEncoder::new(48_000, rate, EncodeOptions::default()).unwrap();
    let mut sound = Vec::new();
    for frames in LABEL[3] - 3..LABEL[3] + 4 {
        let mut neighbour = fields;
        neighbour.label[3] = frames;
        encoder.fields(&neighbour, &mut sound);
    }
    encoder.finish(&mut sound);
    let mut labels = Vec::new();
    let mut decoder = LtcDecoder::new(48_000, None).unwrap();
    decoder.push(&sound, &mut |frame| {
        assert_eq!(frame.fields.drop, DropFrame::Drop);
        labels.push(frame.fields.label);
    });
    assert!(labels.contains(&LABEL), "{labels:?}");
}

#[test]
fn midi_quarter_frames_and_full_frame() {
    let (Some(quarters), Some(full)) = (
        sample("timecode/mtc_quarterframes_17-23-58_14_2997df.bin"),
        sample("timecode/mtc_fullframe_17-23-58_14_2997df.bin"),
    ) else {
        return;
    };
    let mut events: Vec<MtcEvent> = Vec::new();
    let mut decoder = MtcDecoder::new(None);
    let quarter_nanos = FrameRate::FPS_29_97.frame_nanos() / 4;
    for (number, piece) in quarters.chunks(2).enumerate() {
        let now = WorldTime::from_nanos(number as i64 * quarter_nanos);
        decoder.push(piece, now, &mut |event| events.push(*event));
    }
    let later = WorldTime::from_nanos(1_000_000_000);
    decoder.push(&full, later, &mut |event| events.push(*event));
    let kinds: Vec<MtcKind> = events.iter().map(|e| e.kind).collect();
    assert_eq!(kinds, [MtcKind::QuarterFrames, MtcKind::FullFrame]);
    for event in &events {
        assert_label(&event.reading.time);
        assert!(event.reading.forward);
    }
    // The label began with its first piece.
    assert_eq!(events[0].reading.at, WorldTime::from_nanos(0));
    assert_eq!(events[1].reading.at, later);
}

#[test]
fn art_net_timecode() {
    let Some(bytes) = sample("timecode/arttimecode_17-23-58_14_2997df.bin") else {
        return;
    };
    let packet = ArtTimeCode::parse(&bytes).unwrap().unwrap();
    assert_eq!((packet.label, packet.kind), ([17, 23, 58, 14], 2));
    let now = WorldTime::from_nanos(5);
    let mut decoder = ArtNetTimecodeDecoder::new(None);
    let reading = decoder
        .handle_datagram(now, peer(), &bytes)
        .unwrap()
        .unwrap();
    assert_label(&reading.time);
    assert_eq!(reading.at, now);
}
