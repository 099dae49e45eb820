//! The master on simulated clocks. The truth is a source whose label time is a straight line of world time.

use serde::Deserialize as _;

use super::*;
use crate::timecode::Timecode;

const SEC: i64 = NANOS_PER_SEC;

/// SplitMix64: the figures must not change with a dependency.
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

fn world(nanos: i64) -> WorldTime {
    WorldTime::from_nanos(nanos)
}

fn label(text: &str, rate: FrameRate) -> QualifiedFrameTime {
    let tc = Timecode::parse(text, rate).unwrap();
    QualifiedFrameTime {
        frame: tc.frame(),
        sub_frame: 0.0,
        rate,
        drop: tc.drop(),
    }
}

fn master(source: MasterSource) -> TimecodeMaster {
    TimecodeMaster::new(MasterOptions {
        source,
        ..MasterOptions::default()
    })
}

/// A source that began `start` at world time `began` and whose clock runs `1 + drift` as fast as ours.
#[derive(Clone, Copy)]
struct Tape {
    start: QualifiedFrameTime,
    began: i64,
    drift: f64,
}

impl Tape {
    fn at_speed(text: &str, rate: FrameRate) -> Self {
        Self {
            start: label(text, rate),
            began: 0,
            drift: 0.0,
        }
    }

    /// When frame `i` after the start truly begins.
    fn begins(&self, i: i64) -> i64 {
        let nanos = self.start.rate.nanos_of(i) as f64 / (1.0 + self.drift);
        self.began + nanos.round() as i64
    }

    fn reading(&self, i: i64, delay: i64) -> TimecodeReading {
        let day = self.start.rate.frames_per_day(self.start.drop);
        TimecodeReading {
            time: QualifiedFrameTime {
                frame: (self.start.frame + i).rem_euclid(day),
                ..self.start
            },
            at: world(self.begins(i) + delay),
            forward: true,
        }
    }

    fn play(&self, master: &mut TimecodeMaster, frames: std::ops::Range<i64>) {
        for i in frames {
            let reading = self.reading(i, 0);
            master.read(&reading, reading.at);
        }
    }

    /// Nanoseconds that `master` is ahead of this tape at `at`, by the tape's own labels.
    fn error(&self, master: &TimecodeMaster, at: i64) -> i64 {
        let told = master.timecode(world(at)).unwrap().as_nanos();
        let truth = (at - self.began) as f64 * (1.0 + self.drift);
        let truth = self.start.as_nanos() + truth.round() as i64;
        wrapped(told - truth, self.start.day_nanos())
    }
}

fn text_at(master: &TimecodeMaster, at: i64) -> String {
    master.timecode(world(at)).unwrap().label().to_string()
}

#[test]
fn two_readings_in_a_row_lock_and_the_answer_is_between_them_exact() {
    let tape = Tape::at_speed("17:23:58;14", FrameRate::FPS_29_97);
    let mut m = master(MasterSource::Ltc);
    assert_eq!(m.state(world(0)), MasterState::NoTimecode);
    assert_eq!(m.timecode(world(0)), None);
    let first = tape.reading(0, 0);
    assert_eq!(m.read(&first, first.at), ReadingOutcome::Unconfirmed);
    assert_eq!(m.state(first.at), MasterState::Locking);
    assert_eq!(m.timecode(first.at), None);
    let second = tape.reading(1, 0);
    assert_eq!(m.read(&second, second.at), ReadingOutcome::Locked);
    assert_eq!(m.state(second.at), MasterState::Locked);
    assert_eq!(text_at(&m, second.at.as_nanos() + 1000), "17:23:58;15");
    // The middle of the frame after it: no reading said so.
    let middle = m.timecode(world(tape.begins(2) + 16_683_333)).unwrap();
    assert_eq!(middle.label().to_string(), "17:23:58;16");
    assert!((middle.sub_frame - 0.5).abs() < 1e-3, "{middle}");
    assert_eq!(m.counts().readings, 2);
}

#[test]
fn jitter_of_5_ms_leaves_less_than_1_ms_after_2_s_and_no_step_backwards() {
    for drift in [0.0, 50e-6, -50e-6, 100e-6, -100e-6] {
        for seed in 1..=6 {
            let mut dice = Dice(seed);
            let mut tape = Tape::at_speed("10:00:00:00", FrameRate::FPS_30);
            tape.drift = drift;
            let mut m = master(MasterSource::ArtNet);
            let mut before = i64::MIN / 2;
            for i in 0..30 * 30 {
                // Around a mean of 5 ms; the truth is at the least delay, which is none.
                let reading = tape.reading(i, (dice.unit() * 1e7) as i64);
                let now = reading.at.as_nanos();
                // Asked right before and right after a reading, where a correction would show as a step.
                for ask in [now - 1, now, now + 1] {
                    if ask == now {
                        m.read(&reading, reading.at);
                    }
                    let Some(answer) = m.timecode(world(ask)) else {
                        continue;
                    };
                    let nanos = answer.as_nanos();
                    // A sub-frame is an f32: 4 ns of a frame.
                    assert!(nanos >= before - 4, "{drift} {seed} frame {i}");
                    before = nanos;
                    if now > 2 * SEC {
                        let error = tape.error(&m, ask);
                        assert!(error.abs() < 1_000_000, "{drift} {seed} {i}: {error} ns");
                    }
                }
            }
            assert_eq!(m.counts().jumps, 0);
        }
    }
}

#[test]
fn when_the_cable_is_pulled_the_answer_goes_on_with_the_measured_drift() {
    for seed in 1..=6 {
        let mut dice = Dice(seed);
        let mut tape = Tape::at_speed("10:00:00:00", FrameRate::FPS_30);
        tape.drift = 40e-6;
        let mut m = master(MasterSource::ArtNet);
        for i in 0..60 * 30 {
            let reading = tape.reading(i, (dice.unit() * 1e7) as i64);
            m.read(&reading, reading.at);
        }
        let ppm = m.drift_ppm().unwrap();
        assert!((ppm - 40.0).abs() < 8.0, "{ppm}");
        let last = m.held.unwrap().at;
        assert_eq!(m.state(last + SEC / 2), MasterState::Locked);
        assert_eq!(
            m.state(last + 3600 * SEC),
            MasterState::Jammed { since: last }
        );
        // Without the drift it would be 144 ms off.
        let error = tape.error(&m, last.as_nanos() + 3600 * SEC);
        assert!(error.abs() < 25_000_000, "{error} ns after an hour");
    }
}

#[test]
fn readings_that_come_back_in_place_are_no_jump() {
    let tape = Tape::at_speed("10:00:00:00", FrameRate::FPS_25);
    let mut m = master(MasterSource::Ltc);
    tape.play(&mut m, 0..50);
    let silent = tape.begins(100);
    assert!(matches!(m.state(world(silent)), MasterState::Jammed { .. }));
    let back = tape.reading(100, 0);
    assert_eq!(m.read(&back, back.at), ReadingOutcome::Taken);
    assert_eq!(m.state(back.at), MasterState::Locked);
    assert_eq!(m.counts().jumps, 0);
    assert_eq!(m.discontinuity(), None);
}

#[test]
fn freewheeling_ends_where_the_operator_says() {
    let tape = Tape::at_speed("10:00:00:00", FrameRate::FPS_25);
    let mut m = TimecodeMaster::new(MasterOptions {
        source: MasterSource::Ltc,
        freewheel_secs: Some(1.0),
        ..MasterOptions::default()
    });
    tape.play(&mut m, 0..50);
    let last = tape.begins(49);
    assert!(matches!(
        m.state(world(last + SEC)),
        MasterState::Jammed { .. }
    ));
    assert_eq!(m.state(world(last + SEC + 1)), MasterState::NoTimecode);
    assert_eq!(m.timecode(world(last + SEC + 1)), None);
    // From then on it begins anew: two readings, and no jump, for nothing was continued.
    tape.play(&mut m, 100..101);
    assert_eq!(m.timecode(world(tape.begins(100))), None);
    tape.play(&mut m, 101..102);
    assert!(m.timecode(world(tape.begins(101))).is_some());
    assert_eq!(m.counts().jumps, 0);
}

#[test]
fn a_jump_takes_two_readings_and_one_stray_moves_nothing() {
    let tape = Tape::at_speed("10:00:00:00", FrameRate::FPS_25);
    let mut m = master(MasterSource::Ltc);
    tape.play(&mut m, 0..50);
    let mut stray = tape.reading(50, 0);
    stray.time = label("03:00:00:00", FrameRate::FPS_25);
    assert_eq!(m.read(&stray, stray.at), ReadingOutcome::Unconfirmed);
    assert_eq!(text_at(&m, tape.begins(50)), "10:00:02:00");
    tape.play(&mut m, 51..60);
    assert_eq!((m.counts().strays, m.counts().jumps), (1, 0));

    let other = Tape {
        start: label("03:00:00:00", FrameRate::FPS_25),
        began: tape.begins(60),
        drift: 0.0,
    };
    other.play(&mut m, 0..1);
    assert_eq!(text_at(&m, other.began), "10:00:02:10");
    other.play(&mut m, 1..2);
    assert_eq!(text_at(&m, other.begins(1)), "03:00:00:01");
    assert_eq!(m.counts().jumps, 1);
    assert_eq!(m.discontinuity(), Some(world(other.begins(1))));
}

#[test]
fn one_frame_off_is_no_jump_and_two_are() {
    for (skip, jumps) in [(1, 0), (3, 1), (-3, 1)] {
        let tape = Tape::at_speed("10:00:00:00", FrameRate::FPS_25);
        let mut m = master(MasterSource::Ltc);
        tape.play(&mut m, 0..50);
        for i in 50..60 {
            let mut reading = tape.reading(i, 0);
            reading.time.frame += skip;
            m.read(&reading, reading.at);
        }
        assert_eq!(m.counts().jumps, jumps, "{skip}");
    }
}

#[test]
fn a_change_of_rate_or_flag_takes_three_readings() {
    let tape = Tape::at_speed("10:00:00:00", FrameRate::FPS_29_97);
    for new in [
        label("10:00:02;00", FrameRate::FPS_29_97),
        label("10:00:02:00", FrameRate::FPS_25),
    ] {
        let mut m = master(MasterSource::Ltc);
        tape.play(&mut m, 0..60);
        let other = Tape {
            start: new,
            began: tape.begins(60),
            drift: 0.0,
        };
        other.play(&mut m, 0..2);
        assert_eq!(m.counts().rate_changes, 0);
        assert_eq!(
            m.source_counting(),
            Some((FrameRate::FPS_29_97, DropFrame::NonDrop))
        );
        other.play(&mut m, 2..3);
        assert_eq!(m.counts().rate_changes, 1);
        assert_eq!(m.source_counting(), Some((new.rate, new.drop)));
        assert_eq!(m.counting(), (new.rate, new.drop));
        assert_eq!(m.counts().jumps, 0);
    }
}

#[test]
fn midnight_passes_without_a_seam_locked_and_jammed() {
    for (text, rate) in [
        ("23:59:58:00", FrameRate::FPS_25),
        ("23:59:58;00", FrameRate::FPS_29_97),
        ("23:59:58:00", FrameRate::FPS_23_976),
    ] {
        let tape = Tape::at_speed(text, rate);
        let to_midnight = tape.start.rate.frames_per_day(tape.start.drop) - tape.start.frame;
        // Locked across it.
        let mut m = master(MasterSource::Ltc);
        tape.play(&mut m, 0..to_midnight + 100);
        assert_eq!((m.counts().jumps, m.counts().strays), (0, 0), "{rate}");
        let answer = m
            .timecode(world(tape.begins(to_midnight + 7) + 1000))
            .unwrap();
        assert_eq!(answer.frame, 7, "{rate}");
        // Jammed across it.
        let mut m = master(MasterSource::Ltc);
        tape.play(&mut m, 0..20);
        let answer = m
            .timecode(world(tape.begins(to_midnight + 7) + 1000))
            .unwrap();
        assert_eq!(answer.frame, 7, "{rate}");
        let answer = m.timecode(world(tape.begins(to_midnight) - 1000)).unwrap();
        assert_eq!(answer.frame, to_midnight + tape.start.frame - 1, "{rate}");
    }
}

#[test]
fn a_rate_and_its_double_agree_in_their_labels() {
    for (text, rate, hub, want) in [
        (
            "01:02:03:07",
            FrameRate::FPS_25,
            FrameRate::FPS_50,
            "01:02:03:14",
        ),
        (
            "01:02:03:14",
            FrameRate::FPS_50,
            FrameRate::FPS_25,
            "01:02:03:07",
        ),
        (
            "10:01:00;02",
            FrameRate::FPS_29_97,
            FrameRate::FPS_59_94,
            "10:01:00;04",
        ),
        (
            "23:59:59;29",
            FrameRate::FPS_29_97,
            FrameRate::FPS_59_94,
            "23:59:59;58",
        ),
        (
            "10:01:00;04",
            FrameRate::FPS_59_94,
            FrameRate::FPS_29_97,
            "10:01:00;02",
        ),
        (
            "17:23:58:14",
            FrameRate::FPS_29_97,
            FrameRate::FPS_59_94,
            "17:23:58:28",
        ),
        (
            "17:23:58:23",
            FrameRate::FPS_23_976,
            FrameRate::FPS_47_952,
            "17:23:58:46",
        ),
        // Whole seconds of real time agree too.
        (
            "17:23:58:12",
            FrameRate::FPS_24,
            FrameRate::FPS_30,
            "17:23:58:15",
        ),
    ] {
        let tape = Tape::at_speed(text, rate);
        let mut m = TimecodeMaster::new(MasterOptions {
            source: MasterSource::Ltc,
            rate: Some(hub),
            ..MasterOptions::default()
        });
        tape.play(&mut m, -2..1);
        assert_eq!(text_at(&m, 1000), want, "{text} {rate}");
    }
    // Non-drop 29.97 counts slower seconds: an hour of it is 3603.6 s.
    let tape = Tape::at_speed("01:00:00:00", FrameRate::FPS_29_97);
    let mut m = TimecodeMaster::new(MasterOptions {
        source: MasterSource::Ltc,
        rate: Some(FrameRate::FPS_30),
        ..MasterOptions::default()
    });
    tape.play(&mut m, -2..1);
    assert_eq!(text_at(&m, 1000), "01:00:03:18");
    assert_eq!(m.labels_agree(), Some(false));
    // Rates of slow seconds agree among each other, and drop-frame with whole rates.
    for (text, rate, hub, want) in [
        (
            "01:00:00:12",
            FrameRate::FPS_23_976,
            FrameRate::FPS_29_97,
            "01:00:00:15",
        ),
        (
            "01:00:00:00",
            FrameRate::FPS_25,
            FrameRate::FPS_59_94,
            "01:00:00;00",
        ),
    ] {
        let tape = Tape::at_speed(text, rate);
        let mut m = TimecodeMaster::new(MasterOptions {
            source: MasterSource::Ltc,
            rate: Some(hub),
            ..MasterOptions::default()
        });
        assert_eq!(m.labels_agree(), None);
        tape.play(&mut m, -2..1);
        assert_eq!(text_at(&m, 1000), want, "{text} {rate}");
        assert_eq!(m.labels_agree(), Some(true));
    }
}

#[test]
fn the_offset_is_in_frames_of_the_answer_and_passes_midnight() {
    for (offset, want) in [
        (0.0, "00:00:00:00"),
        (3.0, "00:00:00:03"),
        (-2.0, "23:59:59:23"),
    ] {
        let tape = Tape::at_speed("00:00:00:00", FrameRate::FPS_25);
        let mut m = TimecodeMaster::new(MasterOptions {
            source: MasterSource::Ltc,
            offset_frames: offset,
            ..MasterOptions::default()
        });
        tape.play(&mut m, -2..1);
        assert_eq!(text_at(&m, 1000), want);
    }
    let half = TimecodeMaster::new(MasterOptions {
        offset_frames: 0.5,
        ..MasterOptions::default()
    });
    assert_eq!(half.offset_nanos(FrameRate::FPS_25), 20_000_000);
    let broken = TimecodeMaster::new(MasterOptions {
        offset_frames: f64::NAN,
        ..MasterOptions::default()
    });
    assert_eq!(broken.offset_nanos(FrameRate::FPS_25), 0);
}

#[test]
fn labels_that_do_not_exist_and_times_far_away_are_refused() {
    let mut m = master(MasterSource::Ltc);
    let good = label("10:00:00:00", FrameRate::FPS_25);
    let day = FrameRate::FPS_25.frames_per_day(DropFrame::NonDrop);
    let mut tell = |time: QualifiedFrameTime, at: i64| {
        let reading = TimecodeReading {
            time,
            at: world(at),
            forward: true,
        };
        m.read(&reading, world(0))
    };
    let refused = [
        (QualifiedFrameTime { frame: day, ..good }, 0),
        (QualifiedFrameTime { frame: -1, ..good }, 0),
        (
            QualifiedFrameTime {
                sub_frame: f32::NAN,
                ..good
            },
            0,
        ),
        (
            QualifiedFrameTime {
                sub_frame: 1.0,
                ..good
            },
            0,
        ),
        (
            QualifiedFrameTime {
                drop: DropFrame::Drop,
                ..good
            },
            0,
        ),
        (good, 11 * SEC),
        (good, -11 * SEC),
    ];
    for (time, at) in refused {
        assert_eq!(tell(time, at), ReadingOutcome::Refused, "{time:?}");
    }
    assert_eq!(tell(good, 0), ReadingOutcome::Unconfirmed);
    m.refuse(3);
    assert_eq!((m.counts().refused, m.counts().readings), (10, 8));
}

#[test]
fn a_source_that_paused_is_followed_after_half_a_second() {
    let tape = Tape::at_speed("10:00:00:00", FrameRate::FPS_25);
    let mut m = master(MasterSource::ArtNet);
    tape.play(&mut m, 0..50);
    let later = Tape { began: SEC, ..tape };
    later.play(&mut m, 50..60);
    assert_eq!(m.counts().late, 10);
    assert!((tape.error(&m, later.begins(60))).abs() < 1000);
    later.play(&mut m, 60..80);
    assert_eq!(m.counts().jumps, 1);
    assert!((later.error(&m, later.begins(80))).abs() < 1000);
}

#[test]
fn a_hiccup_of_the_network_moves_nothing() {
    let tape = Tape::at_speed("10:00:00:00", FrameRate::FPS_30);
    let mut m = master(MasterSource::ArtNet);
    tape.play(&mut m, 0..90);
    // 400 ms of silence, then all of it at once.
    let at = world(tape.begins(102));
    for i in 90..102 {
        let reading = TimecodeReading {
            at,
            ..tape.reading(i, 0)
        };
        m.read(&reading, at);
    }
    tape.play(&mut m, 102..200);
    assert_eq!(m.counts().jumps, 0);
    assert!(m.counts().late >= 9);
    assert!(tape.error(&m, tape.begins(200)).abs() < 1000);
}

#[test]
fn a_tape_in_shuttle_is_followed_both_ways_and_not_carried_on() {
    let rate = FrameRate::FPS_25;
    let start = label("10:00:00:00", rate);
    // Play, then a spool at nine tenths of speed, then backwards at one and a half.
    let mut m = master(MasterSource::Ltc);
    let (mut at, mut frame) = (0, start.frame);
    for (steps, speed, forward) in [(50, 1.0, true), (60, 0.9, true), (60, 1.5, false)] {
        for _ in 0..steps {
            at += (40e6 / speed) as i64;
            frame += if forward { 1 } else { -1 };
            let reading = TimecodeReading {
                time: QualifiedFrameTime { frame, ..start },
                at: world(at),
                forward,
            };
            m.read(&reading, world(at));
            if let Some(answer) = m.timecode(world(at + 1000)) {
                let off = answer.as_nanos() - reading.time.as_nanos();
                assert!(off.abs() <= 80_000_000, "{speed} {forward}: {off}");
            }
        }
        assert_eq!(m.state(world(at)), MasterState::Locked, "{speed}");
        let answer = m.timecode(world(at + 1000)).unwrap();
        // Backwards, a microsecond later is the end of the frame before.
        let want = if forward { frame } else { frame - 1 };
        assert_eq!(answer.frame, want, "{speed} {forward}");
    }
    assert_eq!(m.drift_ppm(), None);
    assert_eq!(m.state(world(at + SEC)), MasterState::NoTimecode);
    assert_eq!(m.timecode(world(at + SEC)), None);
}

#[test]
fn a_drift_beyond_the_bound_is_cut() {
    let mut tape = Tape::at_speed("10:00:00:00", FrameRate::FPS_30);
    tape.drift = 1000e-6;
    for (bound, per_hour) in [(1500.0, 0.0), (100.0, 900e-6 * 3600e9)] {
        let mut m = TimecodeMaster::new(MasterOptions {
            source: MasterSource::ArtNet,
            max_drift_ppm: bound,
            ..MasterOptions::default()
        });
        tape.play(&mut m, 0..60 * 30);
        let error = tape.error(&m, tape.begins(60 * 30) + 3600 * SEC) as f64;
        assert!((error + per_hour).abs() < 20e6, "{bound}: {error}");
        let ppm = m.drift_ppm().unwrap();
        assert!((ppm - 1000.0).abs() < 1.0, "measured whole: {ppm}");
    }
}

#[test]
fn system_and_generator_run_free_and_take_no_readings() {
    let mut m = TimecodeMaster::new(MasterOptions {
        rate: Some(FrameRate::FPS_29_97),
        ..MasterOptions::default()
    });
    assert_eq!(m.state(world(0)), MasterState::NoTimecode);
    // 17:23:58.5 o'clock; drop-frame, for it follows the time of day.
    m.set_time_of_day((17 * 3600 + 23 * 60 + 58) * SEC + SEC / 2, world(5));
    assert_eq!(m.state(world(5)), MasterState::FreeRun);
    let answer = m.timecode(world(5)).unwrap();
    assert_eq!(answer.drop, DropFrame::Drop);
    let clock_secs: f64 = 62_638.5;
    assert_eq!(answer.frame, (clock_secs * 30_000.0 / 1001.0) as i64);
    let reading = Tape::at_speed("10:00:00:00", FrameRate::FPS_25).reading(0, 0);
    assert_eq!(m.read(&reading, reading.at), ReadingOutcome::Ignored);
    m.run_from(label("10:00:00:00", FrameRate::FPS_25), world(0));
    assert_eq!(m.timecode(world(5)).unwrap().frame, answer.frame);

    let mut m = master(MasterSource::Free);
    m.run_from(label("23:59:59:24", FrameRate::FPS_25), world(SEC));
    assert_eq!(text_at(&m, SEC), "23:59:59:24");
    assert_eq!(text_at(&m, SEC + 40_000_000), "00:00:00:00");
    assert_eq!(text_at(&m, 0), "23:59:58:24");
    assert_eq!(m.drift_ppm(), None);
}

#[test]
fn the_words_of_the_stage_file_are_these() {
    for (source, word) in [
        (MasterSource::System, "system"),
        (MasterSource::Ltc, "ltc"),
        (MasterSource::Mtc, "mtc"),
        (MasterSource::ArtNet, "artnet"),
        (MasterSource::Subject, "subject"),
        (MasterSource::Free, "free"),
    ] {
        let reader: serde::de::value::StrDeserializer<'_, serde::de::value::Error> =
            serde::de::IntoDeserializer::into_deserializer(word);
        assert_eq!(MasterSource::deserialize(reader), Ok(source));
    }
}
