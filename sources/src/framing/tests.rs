//! Streams assembled by each protocol's own table, whole and in pieces.

use proptest::prelude::*;

use super::{Framer, Framing};

const TEXT: Framing = Framing::Delimited(b"___iFacialMocap");
const ALL: [Framing; 5] = [
    TEXT,
    Framing::Delimited(b"\n"),
    Framing::Xsens,
    Framing::FaceMotion3,
    Framing::AxisNeuron,
];

/// The messages of a stream that comes in these pieces, and what was skipped.
fn cut<'a>(framing: Framing, pieces: impl IntoIterator<Item = &'a [u8]>) -> (Vec<Vec<u8>>, u64) {
    let mut framer = Framer::new(framing);
    let mut all = Vec::new();
    for piece in pieces {
        framer.push(piece, &mut |message| {
            assert!(message.len() <= framing.max_message());
            all.push(message.to_vec());
        });
        assert!(framer.held() <= framing.max_held());
        assert!(framer.held.capacity() <= framing.max_held());
    }
    (all, framer.skipped())
}

fn whole(framing: Framing, bytes: &[u8]) -> (Vec<Vec<u8>>, u64) {
    cut(framing, [bytes])
}

/// Header by the table in `xsens::packet`.
fn xsens(kind: [u8; 2], items: u8, declared: u16, payload: &[u8]) -> Vec<u8> {
    let mut out = b"MXTP".to_vec();
    out.extend(kind);
    out.extend([
        0, 0, 3, 232, 0x80, items, 0, 0, 0x41, 0x1b, 0, 23, 0, 0, 0, 0,
    ]);
    out.extend(declared.to_be_bytes());
    out.extend(payload);
    out
}

/// Header by the table in `ifacialmocap::fmv3`.
fn face_motion(kind: u8, payload: &[u8]) -> Vec<u8> {
    let len = (payload.len() as u32).to_le_bytes();
    let mut out = b"FMV3".to_vec();
    out.extend([kind, 0, 40, 0]);
    out.extend([8, 7, 6, 5, 4, 3, 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    out.extend(len);
    out.extend([0, 0, 1, 0]);
    out.extend(len);
    out.extend(payload);
    out
}

/// Header by the shorter layout in `axisneuron::packet`.
fn neuron(values: u16) -> Vec<u8> {
    let mut out = vec![0xff, 0xdd, 0, 0, 1, 1];
    out.extend(values.to_le_bytes());
    out.resize(62, 0);
    out.extend([0xff, 0xee]);
    for i in 0..values {
        out.extend(f32::from(i).to_le_bytes());
    }
    out
}

#[test]
fn texts_end_at_their_delimiter() {
    let stream = b"jawOpen-1|___iFacialMocapjawOpen-2|___iFacialMocap___iFacialMocapjaw";
    let (all, skipped) = whole(TEXT, stream);
    assert_eq!(all, [b"jawOpen-1|", b"jawOpen-2|"]);
    assert_eq!(skipped, 0);
    let mut framer = Framer::new(TEXT);
    framer.push(stream, &mut |_| {});
    assert_eq!(framer.held(), 3);
}

#[test]
fn a_text_of_16_kib_is_taken_and_a_longer_one_skipped_whole() {
    for (len, taken) in [(16 << 10, true), ((16 << 10) + 1, false), (300_000, false)] {
        let mut stream = vec![b'x'; len];
        stream.extend(b"___iFacialMocapnext___iFacialMocap");
        for size in [1, 7, 4096, usize::MAX] {
            let (all, skipped) = cut(TEXT, stream.chunks(size.min(stream.len())));
            let lens: Vec<_> = all.iter().map(Vec::len).collect();
            if taken {
                assert_eq!((lens.as_slice(), skipped), (&[len, 4][..], 0));
            } else {
                assert_eq!((lens.as_slice(), skipped), (&[4][..], len as u64 + 15));
            }
        }
    }
}

#[test]
fn xsens_datagrams_are_told_apart_by_their_length_and_found_again_after_garbage() {
    let first = xsens(*b"02", 1, 32, &[7; 32]);
    let second = xsens(*b"12", 1, 9, b"name:Ann\n");
    // Before MVN 2019: no length, and one size per item.
    let old = xsens(*b"02", 2, 0, &[7; 64]);
    let mut stream = first.clone();
    stream.extend(b"MXTPxxMXTMMX");
    stream.extend(&second);
    stream.extend(&old);
    stream.extend(&first);
    stream.extend(b"MXT");
    let (all, skipped) = whole(Framing::Xsens, &stream);
    assert_eq!(all, [first.clone(), second, old, first]);
    assert_eq!(skipped, 12);
    // More items than a datagram has.
    let (all, skipped) = whole(Framing::Xsens, &xsens(*b"02", 128, 0, b""));
    assert_eq!((all.len(), skipped), (0, 24));
    let largest = xsens(*b"13", 1, u16::MAX, &vec![1; u16::MAX as usize]);
    assert_eq!(whole(Framing::Xsens, &largest).0, [largest]);
}

#[test]
fn face_motion_messages_are_told_apart_by_their_length() {
    let ping = face_motion(7, b"");
    let error = face_motion(9, b"BUSY");
    assert_eq!((ping.len(), error.len()), (40, 44));
    let mut stream = error.clone();
    stream.extend(&ping);
    assert_eq!(
        whole(Framing::FaceMotion3, &stream),
        (vec![error.clone(), ping.clone()], 0)
    );
    let largest = face_motion(2, &vec![b'x'; 262_144]);
    assert_eq!(whole(Framing::FaceMotion3, &largest).0, [largest]);
    // What no header of the protocol says: an unknown kind, another header size, a length beyond the limit.
    for bad in [
        face_motion(10, b""),
        face_motion(2, &vec![b'x'; 262_145]),
        {
            let mut bytes = ping.clone();
            bytes[6] = 41;
            bytes
        },
    ] {
        let mut stream = bad.clone();
        stream.extend(&ping);
        let (all, skipped) = whole(Framing::FaceMotion3, &stream);
        assert_eq!(all, std::slice::from_ref(&ping));
        assert_eq!(skipped, bad.len() as u64);
    }
    assert!(Framing::FaceMotion3.is_ended_by_garbage() && !Framing::Xsens.is_ended_by_garbage());
}

#[test]
fn axis_neuron_frames_lie_between_their_tokens() {
    let (small, large) = (neuron(180), neuron(360));
    assert_eq!((small.len(), large.len()), (784, 1504));
    let mut stream = vec![0xff, 0xdd, 0xff, 0xdd];
    // A first token without its second 60 bytes on, then frames.
    stream.extend([1; 70]);
    stream.extend(&small);
    stream.extend(&large);
    let (all, skipped) = whole(Framing::AxisNeuron, &stream);
    assert_eq!(all, [small, large]);
    assert_eq!(skipped, 74);
    // The other layout has the count in four bytes, at the same place.
    let mut long = neuron(354);
    long[10] = 1;
    assert_eq!(whole(Framing::AxisNeuron, &long).0, [long]);
    let largest = neuron(4096);
    assert_eq!(whole(Framing::AxisNeuron, &largest).0, [largest]);
    assert_eq!(whole(Framing::AxisNeuron, &neuron(4097)).0.len(), 0);
    assert_eq!(whole(Framing::AxisNeuron, &neuron(0)).0.len(), 0);
}

#[test]
fn memory_is_kept_for_the_next_message() {
    let mut framer = Framer::new(Framing::AxisNeuron);
    let frame = neuron(360);
    let mut seen = 0;
    let mut push = |framer: &mut Framer| {
        for piece in frame.chunks(100) {
            framer.push(piece, &mut |_| seen += 1);
        }
    };
    push(&mut framer);
    let (memory, capacity) = (framer.held.as_ptr(), framer.held.capacity());
    for _ in 0..100 {
        push(&mut framer);
    }
    assert_eq!(seen, 101);
    assert_eq!(
        (framer.held.as_ptr(), framer.held.capacity()),
        (memory, capacity)
    );
}

/// Part of a stream: a good message, the beginning of one, or bytes that resemble one.
fn part() -> impl Strategy<Value = Vec<u8>> {
    let good = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..80).prop_map(|p| xsens(
            *b"12",
            1,
            p.len() as u16,
            &p
        )),
        (0u8..5).prop_map(|n| xsens(*b"02", n, 0, &vec![9; usize::from(n) * 32])),
        prop::collection::vec(any::<u8>(), 0..80).prop_map(|p| face_motion(4, &p)),
        (1u16..30).prop_map(neuron),
        "[a-z_]{0,20}".prop_map(|t| format!("{t}___iFacialMocap").into_bytes()),
    ];
    let cut_short = (good.clone(), 0usize..60).prop_map(|(mut bytes, len)| {
        bytes.truncate(len);
        bytes
    });
    let near = prop::collection::vec(
        prop::sample::select(&b"MXTP02FV3\xff\xdd\xee_iFacialMocap\n\x28\x00\x01"[..]),
        0..40,
    );
    prop_oneof![good, cut_short, near]
}

proptest! {
    #[test]
    fn how_the_stream_is_cut_makes_no_difference(
        parts in prop::collection::vec(part(), 0..8),
        sizes in prop::collection::vec(1usize..90, 1..20),
    ) {
        let stream = parts.concat();
        let mut pieces = Vec::new();
        let mut rest = stream.as_slice();
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, later) = rest.split_at((*size).min(rest.len()));
            pieces.push(piece);
            rest = later;
        }
        for framing in ALL {
            let at_once = whole(framing, &stream);
            let bytes: usize = at_once.0.iter().map(Vec::len).sum();
            prop_assert!(bytes as u64 + at_once.1 <= stream.len() as u64);
            prop_assert_eq!(cut(framing, pieces.iter().copied()), at_once.clone());
            prop_assert_eq!(cut(framing, stream.chunks(1)), at_once);
        }
    }

    #[test]
    fn lines_are_what_splitting_the_text_gives(text in "[ab\n]{0,200}") {
        let (all, skipped) = whole(Framing::Delimited(b"\n"), text.as_bytes());
        let (ended, _) = text.rsplit_once('\n').unwrap_or_default();
        let lines = ended.split('\n').filter(|l| !l.is_empty());
        let lines: Vec<_> = lines.map(|l| l.as_bytes().to_vec()).collect();
        prop_assert_eq!(all, lines);
        prop_assert_eq!(skipped, 0);
    }

    #[test]
    fn messages_alone_come_out_as_they_went_in(
        sizes in prop::collection::vec(1u16..300, 0..10),
    ) {
        let sent = sizes.iter().map(|n| xsens(*b"13", 1, *n, &vec![3; usize::from(*n)]));
        let sent: Vec<_> = sent.collect();
        prop_assert_eq!(whole(Framing::Xsens, &sent.concat()), (sent, 0));
    }

    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..3000), size in 1usize..500) {
        for framing in ALL {
            cut(framing, bytes.chunks(size));
        }
        cut(Framing::Delimited(b""), bytes.chunks(size));
    }
}
