use hub::{DropFrame, FrameRate, Timecode, WorldTime};
use proptest::prelude::*;

use super::*;
use crate::error::Reject;

/// 17:23:58;14, user bits 0: assembled from the table of SMPTE ST 12-1, and what x42/libltc writes.
const GOLDEN: [u8; WORD_BYTES] = [0x04, 0x05, 0x08, 0x05, 0x03, 0x02, 0x07, 0x01, 0xfc, 0xbf];

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    fn normal(&mut self) -> f32 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        (radius * (std::f64::consts::TAU * self.unit()).cos()) as f32
    }
}

struct Signal {
    samples: Vec<f32>,
    labels: Vec<Timecode>,
    /// Where each frame truly starts, in samples.
    starts: Vec<f64>,
}

fn signal(
    sample_rate: u32,
    rate: FrameRate,
    options: EncodeOptions,
    first: &str,
    frames: i64,
) -> Signal {
    let first = Timecode::parse(first, rate).unwrap();
    let mut encoder = LtcEncoder::new(sample_rate, rate, options).unwrap();
    let mut made = Signal {
        samples: Vec::new(),
        labels: Vec::new(),
        starts: Vec::new(),
    };
    for i in 0..frames {
        let step = if options.reverse { -i } else { i };
        let label = Timecode::from_frame(first.frame() + step, rate, first.drop()).unwrap();
        made.starts.push(encoder.position());
        made.labels.push(label);
        encoder.frame(&label, 0x8765_4321, &mut made.samples);
    }
    made.starts.push(encoder.position());
    encoder.finish(&mut made.samples);
    made
}

fn decode(
    sample_rate: u32,
    stated: Option<FrameRate>,
    samples: &[f32],
) -> (Vec<LtcFrame>, LtcDecoder) {
    let mut decoder = LtcDecoder::new(sample_rate, stated).unwrap();
    let mut frames = Vec::new();
    // In blocks of no particular size, as they come.
    for block in samples.chunks(317) {
        decoder.push(block, &mut |frame| frames.push(*frame));
    }
    (frames, decoder)
}

/// All but the first frame, in which the clock is learnt, come out whole and in place.
fn check(what: &str, sample_rate: u32, made: &Signal, samples: &[f32], tolerance: f64) {
    let (frames, decoder) = decode(sample_rate, None, samples);
    let found: Vec<_> = frames.iter().map(|f| f.fields.label).collect();
    let want: Vec<_> = made.labels[1..].iter().map(Timecode::fields).collect();
    assert_eq!(found, want, "{what}");
    for (i, frame) in frames.iter().enumerate() {
        for (found, want) in [
            (frame.start, made.starts[i + 1]),
            (frame.end, made.starts[i + 2]),
        ] {
            let off = (found - want).abs();
            assert!(off < tolerance, "{what}, frame {i}: {off} samples off");
        }
        assert_eq!(frame.fields.user_bits, 0x8765_4321, "{what}");
        assert!(frame.parity_even && !frame.jump, "{what}");
    }
    let counts = decoder.counts();
    let odd = (
        counts.refused,
        counts.strays,
        counts.jumps,
        counts.odd_parity,
    );
    assert_eq!(odd, (0, 0, 0, 0), "{what}");
    assert_eq!(counts.frames, frames.len() as u64);
    assert!(decoder.is_locked(), "{what}");
}

#[test]
fn the_golden_word_reads_and_writes_as_the_standard_says() {
    let fields = LtcFields {
        label: [17, 23, 58, 14],
        drop: DropFrame::Drop,
        ..LtcFields::default()
    };
    assert_eq!(LtcFields::parse(GOLDEN), Ok(fields));
    assert_eq!(fields.to_bytes(FrameRate::FPS_29_97), GOLDEN);
    // User group k stands in the upper half of byte k; thirteen more ones, so the polarity bit 27 is set.
    let with_user_bits = LtcFields {
        user_bits: 0x8765_4321,
        flags: 0b0001,
        ..fields
    };
    let bytes = [0x14, 0x25, 0x38, 0x4d, 0x53, 0x62, 0x77, 0x81, 0xfc, 0xbf];
    assert_eq!(with_user_bits.to_bytes(FrameRate::FPS_29_97), bytes);
    assert_eq!(LtcFields::parse(bytes), Ok(with_user_bits));
    // At 25 it is bit 59, and bit 27 is a flag like others.
    let at_25 = LtcFields {
        label: [0, 0, 0, 1],
        ..LtcFields::default()
    };
    // One and thirteen ones of the sync word: even already.
    let bytes = [1, 0, 0, 0, 0, 0, 0, 0, 0xfc, 0xbf];
    assert_eq!(at_25.to_bytes(FrameRate::FPS_25), bytes);
    let flagged = LtcFields {
        flags: 0b0001,
        ..at_25
    };
    let bytes = [1, 0, 0, 0x08, 0, 0, 0, 0x08, 0xfc, 0xbf];
    assert_eq!(flagged.to_bytes(FrameRate::FPS_25), bytes);
}

#[test]
fn words_that_say_no_time_are_refused() {
    let refused = |at: usize, byte: u8| {
        let mut bytes = GOLDEN;
        bytes[at] = byte;
        LtcFields::parse(bytes).unwrap_err()
    };
    for (at, byte, what) in [
        (0, 0x0a, "frames"),
        (1, 0x07, "frames"),
        (2, 0x0f, "seconds"),
        (3, 0x06, "seconds"),
        (4, 0x0b, "minutes"),
        (5, 0x07, "minutes"),
        (6, 0x0c, "hours"),
        (7, 0x03, "hours"),
    ] {
        assert!(
            matches!(refused(at, byte), Reject::OutOfRange { what: w, .. } if w == what),
            "byte {at}"
        );
    }
    assert_eq!(refused(8, 0xfd), Reject::BadMagic);
    // 17:23:00;01 is skipped, 17:20:00;01 is not.
    let mut bytes = [0x01, 0x04, 0, 0, 0x03, 0x02, 0x07, 0x01, 0xfc, 0xbf];
    assert!(LtcFields::parse(bytes).is_err());
    bytes[4] = 0;
    assert!(LtcFields::parse(bytes).is_ok());
}

#[test]
fn signals_round_trip_at_every_rate_speed_and_direction() {
    for sample_rate in [44_100, 48_000, 96_000] {
        for speed in [0.5, 0.9, 1.0, 1.1, 1.5] {
            for reverse in [false, true] {
                let options = EncodeOptions {
                    speed,
                    reverse,
                    ..EncodeOptions::default()
                };
                let made = signal(sample_rate, FrameRate::FPS_30, options, "17:23:58:14", 40);
                let what = format!("{sample_rate} Hz, speed {speed}, reverse {reverse}");
                check(&what, sample_rate, &made, &made.samples, 0.15);
            }
        }
    }
}

#[test]
fn the_edges_of_the_range_of_sample_rates_work_too() {
    for (sample_rate, rate) in [
        (8_000, FrameRate::FPS_24),
        (8_000, FrameRate::FPS_25),
        (16_000, FrameRate::FPS_30),
        (192_000, FrameRate::FPS_30),
    ] {
        let options = EncodeOptions::default();
        let made = signal(sample_rate, rate, options, "10:00:00:00", 60);
        check(
            &format!("{sample_rate} Hz"),
            sample_rate,
            &made,
            &made.samples,
            0.3,
        );
    }
    for sample_rate in [0, 7_999, 192_001] {
        assert!(LtcDecoder::new(sample_rate, None).is_err());
        let options = EncodeOptions::default();
        assert!(LtcEncoder::new(sample_rate, FrameRate::FPS_25, options).is_err());
    }
    let options = EncodeOptions::default();
    assert!(LtcEncoder::new(48_000, FrameRate::FPS_60, options).is_err());
}

#[test]
fn a_bad_line_is_read_all_the_same() {
    let options = EncodeOptions::default();
    let made = signal(48_000, FrameRate::FPS_30, options, "17:23:58:14", 60);
    let each = |f: &mut dyn FnMut(usize, f32) -> f32| -> Vec<f32> {
        let samples = made.samples.iter().enumerate();
        samples.map(|(i, x)| f(i, *x)).collect()
    };
    let mut dice = Dice(1);
    // White noise 20 dB below the signal, whose power is a quarter at an amplitude of a half.
    let noisy = each(&mut |_, x| x + 0.05 * dice.normal());
    check("noise", 48_000, &made, &noisy, 0.8);
    check("inverted", 48_000, &made, &each(&mut |_, x| -x), 0.15);
    check("offset", 48_000, &made, &each(&mut |_, x| 0.4 + x), 0.15);
    check("quiet", 48_000, &made, &each(&mut |_, x| 0.01 * x), 0.15);
    let eight_bits = each(&mut |_, x| (x * 128.0).round() / 128.0);
    check("8 bits", 48_000, &made, &eight_bits, 0.15);
    let three_steps = each(&mut |_, x| (x * 0.05 * 128.0).round() / 128.0);
    check("8 bits, quiet", 48_000, &made, &three_steps, 0.6);
    let hum =
        each(&mut |i, x| x + 0.3 * (i as f32 * std::f32::consts::TAU * 50.0 / 48_000.0).sin());
    check("hum", 48_000, &made, &hum, 0.6);
    let broken = each(&mut |i, x| if i % 5000 == 4999 { f32::NAN } else { x });
    let (frames, _) = decode(48_000, None, &broken);
    assert!(frames.len() > 30, "{}", frames.len());

    let slow = EncodeOptions {
        rise_secs: 150e-6,
        ..EncodeOptions::default()
    };
    let made = signal(48_000, FrameRate::FPS_30, slow, "17:23:58:14", 60);
    let noisy: Vec<f32> = made
        .samples
        .iter()
        .map(|x| x + 0.05 * dice.normal())
        .collect();
    check("slow edges, noise", 48_000, &made, &noisy, 1.0);
}

#[test]
fn noise_at_every_sample_rate_speed_and_direction() {
    let mut dice = Dice(2);
    for sample_rate in [44_100, 48_000, 96_000] {
        for speed in [0.9, 1.0, 1.1] {
            for reverse in [false, true] {
                let options = EncodeOptions {
                    speed,
                    reverse,
                    ..EncodeOptions::default()
                };
                let made = signal(sample_rate, FrameRate::FPS_25, options, "17:23:58:14", 40);
                let noisy: Vec<f32> = made
                    .samples
                    .iter()
                    .map(|x| 0.1 - x + 0.05 * dice.normal())
                    .collect();
                let what = format!("{sample_rate} Hz, speed {speed}, reverse {reverse}");
                check(&what, sample_rate, &made, &noisy, 1.0);
            }
        }
    }
}

#[test]
fn user_bits_that_look_like_a_sync_word_do_no_harm() {
    for user_bits in [u32::MAX, 0, 0x3ffd_3ffd, 0xbffc_bffc, 0x5555_5555] {
        for reverse in [false, true] {
            let options = EncodeOptions {
                reverse,
                ..EncodeOptions::default()
            };
            let mut encoder = LtcEncoder::new(48_000, FrameRate::FPS_25, options).unwrap();
            let mut samples = Vec::new();
            for i in 0..30 {
                let frame = if reverse { 100 - i } else { 100 + i };
                let label =
                    Timecode::from_frame(frame, FrameRate::FPS_25, DropFrame::NonDrop).unwrap();
                encoder.frame(&label, user_bits, &mut samples);
            }
            encoder.finish(&mut samples);
            let (frames, decoder) = decode(48_000, None, &samples);
            assert_eq!(frames.len(), 29, "{user_bits:x} {reverse}");
            assert!(frames.iter().all(|f| f.fields.user_bits == user_bits));
            assert!(frames.iter().all(|f| f.forward != reverse));
            assert_eq!(decoder.counts().refused, 0);
        }
    }
}

#[test]
fn after_a_cut_it_locks_again_and_says_so() {
    let options = EncodeOptions::default();
    let made = signal(48_000, FrameRate::FPS_30, options, "17:23:58:00", 90);
    // Forty frames and a bit, then from the middle of frame 60 on.
    let (a, b) = (
        made.starts[40] as usize + 500,
        made.starts[60] as usize + 700,
    );
    let cut = [&made.samples[..a], &made.samples[b..]].concat();
    let (frames, decoder) = decode(48_000, None, &cut);
    let found: Vec<_> = frames.iter().map(|f| f.fields.label).collect();
    let want: Vec<_> = (1..40)
        .chain(61..90)
        .map(|i| made.labels[i].fields())
        .collect();
    assert_eq!(found, want);
    let jumps: Vec<_> = frames.iter().map(|f| f.jump).collect();
    assert_eq!(jumps.iter().position(|j| *j), Some(39));
    assert_eq!(jumps.iter().filter(|j| **j).count(), 1);
    assert_eq!(decoder.counts().jumps, 1);
    // Its samples are where they were, less what was cut out.
    let off = frames[39].start - (made.starts[61] - (b - a) as f64);
    assert!(off.abs() < 0.15, "{off}");
}

#[test]
fn a_dropout_is_bridged_and_the_end_of_the_signal_is_seen() {
    let options = EncodeOptions::default();
    let made = signal(48_000, FrameRate::FPS_30, options, "17:23:58:00", 90);
    let mut samples = made.samples.clone();
    let (a, b) = (made.starts[40] as usize + 500, made.starts[42] as usize);
    samples[a..b].fill(0.0);
    let (frames, mut decoder) = decode(48_000, None, &samples);
    let found: Vec<_> = frames.iter().map(|f| f.fields.label).collect();
    // The edge that ends frame 39 stands before the hole; what follows it needs one to begin with.
    for missing in [40, 41] {
        assert!(!found.contains(&made.labels[missing].fields()));
    }
    for there in [39, 43, 89] {
        assert!(found.contains(&made.labels[there].fields()), "{there}");
    }
    assert_eq!((decoder.counts().jumps, decoder.counts().strays), (0, 0));
    assert!(decoder.is_locked());
    decoder.push(&vec![0.0; 4_800], &mut |_| panic!("silence is no frame"));
    assert!(!decoder.is_locked());
}

#[test]
fn a_change_of_speed_on_the_way_loses_nothing() {
    let mut samples = Vec::new();
    let rate = FrameRate::FPS_25;
    for (speed, from) in [(1.0, 0), (1.1, 30), (0.9, 60), (1.0, 90)] {
        let options = EncodeOptions {
            speed,
            ..EncodeOptions::default()
        };
        let mut encoder = LtcEncoder::new(48_000, rate, options).unwrap();
        for i in from..from + 30 {
            let label = Timecode::from_frame(i, rate, DropFrame::NonDrop).unwrap();
            encoder.frame(&label, 0, &mut samples);
        }
    }
    let (frames, _) = decode(48_000, None, &samples);
    // The first and the last lack an edge; each joint of two encoders may cost its two frames.
    assert!(frames.len() >= 118 - 6, "{}", frames.len());
    assert!(frames.iter().all(|f| !f.jump));
}

#[test]
fn silence_a_tone_and_noise_are_no_timecode() {
    let silence = vec![0.0; 48_000];
    let tone = |hz: f32| -> Vec<f32> {
        let turn = std::f32::consts::TAU * hz / 48_000.0;
        (0..48_000).map(|i| (i as f32 * turn).sin()).collect()
    };
    // 60 s of white noise, and 60 s of noise in the band of the signal: not one false frame in two minutes.
    let mut dice = Dice(3);
    let white: Vec<f32> = (0..60 * 48_000).map(|_| 0.3 * dice.normal()).collect();
    let mut level = 0.0;
    let band: Vec<f32> = (0..60 * 48_000)
        .map(|_| {
            // One pole at 2400 Hz.
            level += 0.2696 * (dice.normal() - level);
            level
        })
        .collect();
    for (what, samples) in [
        ("silence", silence),
        ("1 kHz", tone(1000.0)),
        ("2.4 kHz", tone(2400.0)),
        ("white noise", white),
        ("noise in the band", band),
    ] {
        let (frames, decoder) = decode(48_000, None, &samples);
        assert_eq!(frames.len(), 0, "{what}");
        assert!(!decoder.is_locked(), "{what}");
        assert_eq!(decoder.measured_fps(), None);
    }
}

#[test]
fn the_rate_is_told_as_far_as_it_can_be() {
    // The audio clock is 80 ppm slow: the tape looks fast.
    for (label, rate) in [
        ("17:23:58:00", FrameRate::FPS_23_976),
        ("17:23:58:00", FrameRate::FPS_24),
        ("17:23:58:00", FrameRate::FPS_25),
        ("17:23:58:00", FrameRate::FPS_29_97),
        ("17:23:58;00", FrameRate::FPS_29_97),
        ("17:23:58:00", FrameRate::FPS_30),
    ] {
        let options = EncodeOptions {
            speed: 1.0 + 80e-6,
            ..EncodeOptions::default()
        };
        let made = signal(48_000, rate, options, label, 100);
        let (frames, decoder) = decode(48_000, None, &made.samples);
        assert_eq!(frames.last().unwrap().rate, Some(rate), "{label} {rate}");
        let known_at = frames.iter().position(|f| f.rate.is_some()).unwrap();
        assert!(known_at <= 32, "{label} {rate}: after {known_at} frames");
        // Never a wrong guess before.
        assert!(frames.iter().all(|f| f.rate.is_none_or(|r| r == rate)));
        let fps = decoder.measured_fps().unwrap();
        assert!((fps / rate.hertz() - 1.0 - 80e-6).abs() < 10e-6, "{fps}");
        let drop = made.labels[0].drop();
        assert_eq!(known_at == 0, drop == DropFrame::Drop);
        let reading = frames.last().unwrap().reading(WorldTime::from_nanos(5));
        let reading = reading.unwrap();
        assert_eq!(reading.time.label(), *made.labels.last().unwrap());
        assert_eq!((reading.at.as_nanos(), reading.forward), (5, true));
    }
}

#[test]
fn off_speed_the_whole_rate_is_taken_and_a_stated_one_is_believed() {
    let options = EncodeOptions {
        speed: 1.02,
        ..EncodeOptions::default()
    };
    let made = signal(48_000, FrameRate::FPS_24, options, "17:23:58:00", 120);
    let (frames, _) = decode(48_000, None, &made.samples);
    assert_eq!(frames[40].rate, None);
    assert_eq!(frames.last().unwrap().rate, Some(FrameRate::FPS_24));
    for (stated, rate) in [
        (FrameRate::FPS_23_976, FrameRate::FPS_23_976),
        (FrameRate::FPS_48, FrameRate::FPS_24),
        (FrameRate::FPS_47_952, FrameRate::FPS_23_976),
    ] {
        let (frames, _) = decode(48_000, Some(stated), &made.samples);
        assert_eq!(frames[0].rate, Some(rate));
        assert_eq!(frames.len(), 119);
    }
}

#[test]
fn minutes_of_drop_frame_and_midnight_are_no_jumps() {
    for (first, rate, reverse) in [
        ("10:00:59;15", FrameRate::FPS_29_97, false),
        ("10:01:00;15", FrameRate::FPS_29_97, true),
        ("23:59:59;15", FrameRate::FPS_29_97, false),
        ("23:59:59:15", FrameRate::FPS_25, false),
        ("00:00:00:10", FrameRate::FPS_24, true),
    ] {
        let options = EncodeOptions {
            reverse,
            ..EncodeOptions::default()
        };
        let made = signal(48_000, rate, options, first, 40);
        check(first, 48_000, &made, &made.samples, 0.15);
    }
}

#[test]
fn a_wrong_polarity_bit_is_counted_and_the_frame_taken() {
    let rate = FrameRate::FPS_30;
    let mut encoder = LtcEncoder::new(48_000, rate, EncodeOptions::default()).unwrap();
    let mut samples = Vec::new();
    for frame in 0..20 {
        let fields = LtcFields {
            label: [1, 2, 3, frame],
            ..LtcFields::default()
        };
        encoder.word(fields.to_word(rate) ^ (1 << 27), &mut samples);
    }
    encoder.finish(&mut samples);
    let (frames, decoder) = decode(48_000, None, &samples);
    assert_eq!(frames.len(), 19);
    assert!(frames.iter().all(|f| !f.parity_even));
    assert_eq!(decoder.counts().odd_parity, 19);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_label_and_every_user_bit_round_trips(
        frame in 0i64..2_589_408,
        user_bits: u32,
        flags in 0u8..16,
        color: bool,
    ) {
        let rate = FrameRate::FPS_29_97;
        let label = Timecode::from_frame(frame, rate, DropFrame::Drop).unwrap();
        let fields = LtcFields {
            label: label.fields(),
            drop: DropFrame::Drop,
            color,
            user_bits,
            flags,
        };
        let bytes = fields.to_bytes(rate);
        let ones: u32 = bytes.iter().map(|b| b.count_ones()).sum();
        prop_assert_eq!(ones % 2, 0);
        let back = LtcFields::parse(bytes).unwrap();
        // Flag 0 is the polarity bit at this rate.
        prop_assert_eq!(LtcFields { flags: back.flags & 0b1110, ..back }, LtcFields {
            flags: flags & 0b1110,
            ..fields
        });
    }

    #[test]
    fn no_samples_panic(
        samples in prop::collection::vec(prop::num::f32::ANY, 0..4000),
        sample_rate in 8_000u32..192_000,
    ) {
        let (frames, _) = decode(sample_rate, None, &samples);
        prop_assert!(frames.is_empty());
    }
}
