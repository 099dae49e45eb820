use std::convert::Infallible;

use super::*;

const RATE: u32 = 48_000;
/// Frames of a block: 10 ms.
const BLOCK: u64 = 480;
const BLOCK_NANOS: i64 = 10_000_000;
/// The hub's time is not the take's: a take began at 100 s.
const START: i64 = 100_000_000_000;

fn at(nanos: i64) -> WorldTime {
    WorldTime::from_nanos(nanos)
}

/// What came out of a placer: the number of each frame that was captured, or 0 for silence.
fn placed(blocks: &[(u64, i64)], end: i64) -> (Vec<f32>, Counts) {
    let mut placer = Placer::new(1, RATE, at(START));
    let mut out: Vec<f32> = Vec::new();
    let mut put = |put: Put<'_>| -> Result<(), Infallible> {
        match put {
            Put::Samples(samples) => out.extend(samples),
            Put::Silence(frames) => out.resize(out.len() + frames as usize, 0.0),
        }
        Ok(())
    };
    for (first, nanos) in blocks {
        // Frame n is n + 1: exact in f32 up to 2^24.
        let samples: Vec<f32> = (1..=BLOCK).map(|n| (first + n) as f32).collect();
        let block = Block {
            first: *first,
            frames: BLOCK,
            at: at(START + nanos),
        };
        placer
            .push(block, &samples, &mut put, &mut |_, _| ())
            .unwrap();
    }
    placer
        .finish(at(START + end), &mut put, &mut |_, _| ())
        .unwrap();
    (out, placer.counts())
}

/// Blocks one after the other from `from` on, each late by `late`.
fn steady(from: i64, count: u64, late: impl Fn(u64) -> i64) -> Vec<(u64, i64)> {
    (0..count)
        .map(|n| (n * BLOCK, from + n as i64 * BLOCK_NANOS + late(n)))
        .collect()
}

fn captured(frames: u64) -> Vec<f32> {
    (1..=frames).map(|n| n as f32).collect()
}

#[test]
fn sound_from_the_start_is_placed_frame_by_frame() {
    // Every stamp but each seventh is late by up to 9 ms.
    let blocks = steady(0, 200, |n| (n % 7 * 1_500_000) as i64);
    let (out, counts) = placed(&blocks, 2_000_000_000);
    assert!(out == captured(96_000));
    assert_eq!(counts, Counts::default());
}

#[test]
fn sound_that_begins_late_has_silence_before_it_and_sound_from_before_is_left_out() {
    let (out, counts) = placed(&steady(250_000_000, 100, |_| 0), 1_250_000_000);
    assert!(out[..12_000].iter().all(|x| *x == 0.0));
    assert!(out[12_000..] == captured(48_000));
    assert_eq!((counts.silence, counts.gaps), (12_000, 0));
    let (out, counts) = placed(&steady(-100_000_000, 100, |_| 0), 900_000_000);
    assert!(out == captured(48_000)[4_800..]);
    assert_eq!(counts.silence, 0);
}

#[test]
fn a_stall_is_no_gap_and_a_gap_is_filled_where_it_is() {
    // For 0.3 s nothing is read, then all of it at once.
    let stall = steady(0, 300, |n| match n {
        100..130 => (130 - n as i64) * BLOCK_NANOS,
        _ => 0,
    });
    let (out, counts) = placed(&stall, 3_000_000_000);
    assert!(out == captured(144_000));
    assert_eq!(counts, Counts::default());
    // From block 100 on everything is 200 ms later: the card lost 9600 frames.
    let gap = steady(0, 280, |n| if n < 100 { 0 } else { 200_000_000 });
    let (out, counts) = placed(&gap, 3_000_000_000);
    assert_eq!(out.len(), 144_000);
    let all = captured(280 * BLOCK);
    assert!(out[..48_000] == all[..48_000]);
    assert!(out[48_000..57_600].iter().all(|x| *x == 0.0));
    assert!(out[57_600..] == all[48_000..]);
    assert_eq!((counts.silence, counts.gaps), (9_600, 1));
}

#[test]
fn what_we_lost_ourselves_is_filled_exactly() {
    let mut blocks = steady(0, 100, |_| 0);
    blocks.drain(40..43);
    let (out, counts) = placed(&blocks, 1_000_000_000);
    let mut expected = captured(48_000);
    expected[40 * 480..43 * 480].fill(0.0);
    assert!(out == expected);
    assert_eq!((counts.silence, counts.gaps), (3 * 480, 0));
}

#[test]
fn the_file_ends_with_the_take() {
    // The source went silent after 0.6 s.
    let (out, counts) = placed(&steady(0, 60, |_| 0), 1_000_000_000);
    assert_eq!(out.len(), 48_000);
    assert!(out[..28_800] == captured(28_800));
    assert_eq!((counts.silence, counts.gaps), (19_200, 1));
    // It never said anything.
    let (out, _) = placed(&[], 500_000_000);
    assert!(out.len() == 24_000 && out.iter().all(|x| *x == 0.0));
    // A short take, shorter than what is held back.
    let (out, _) = placed(&steady(0, 20, |_| 0), 150_000_000);
    assert!(out == captured(7_200));
}

#[test]
fn a_source_that_runs_ahead_cannot_fill_the_disk() {
    // A hundred seconds of sound within one.
    let flood: Vec<_> = (0..10_000u64)
        .map(|n| (n * BLOCK, n as i64 * 100_000))
        .collect();
    let (out, counts) = placed(&flood, 1_000_000_000);
    assert!(out.len() as u64 <= 5 * 48_000, "{}", out.len());
    assert!(counts.surplus > 4_000_000, "{counts:?}");
}
