use hub::{FrameData, QualifiedFrameTime, StaticData};
use proptest::prelude::*;

use super::*;

const MS: i64 = 1_000_000;

/// Frames at these times, nothing in them.
struct Times {
    at: Vec<i64>,
    duration: i64,
    statics: StaticData,
}

impl Times {
    fn new(at: Vec<i64>, duration: i64) -> Self {
        Self {
            at,
            duration,
            statics: StaticData::basic::<&str>(&[]),
        }
    }

    /// So many frames, evenly.
    fn even(frames: i64, spacing: i64) -> Self {
        let at = (0..frames).map(|i| i * spacing).collect();
        Self::new(at, frames * spacing)
    }
}

impl Clip for Times {
    fn name(&self) -> &'static str {
        "times"
    }

    fn statics(&self) -> &StaticData {
        &self.statics
    }

    fn num_frames(&self) -> usize {
        self.at.len()
    }

    fn at_nanos(&self, index: usize) -> i64 {
        self.at[index.min(self.at.len() - 1)]
    }

    fn duration_nanos(&self) -> i64 {
        self.duration
    }

    fn timecode(&self, _: usize) -> Option<QualifiedFrameTime> {
        None
    }

    fn frame(&self, _: usize, _: &mut FrameData) {}
}

fn at(nanos: i64) -> WorldTime {
    WorldTime::from_nanos(nanos)
}

/// Round, index and source time of what is given at `now`, and what comes next.
fn poll(playhead: &mut Playhead, clip: &Times, now: i64) -> (Vec<(u64, usize, i64)>, Next) {
    let mut given = Vec::new();
    let next = playhead.poll(clip, at(now), |d| {
        given.push((d.round, d.index, d.source_nanos));
    });
    (given, next)
}

fn begun(clip: &Times, options: PlayOptions, now: i64) -> Playhead {
    Playhead::new(clip, &options, at(now))
}

#[test]
fn each_frame_is_given_once_at_its_time_and_then_it_ends() {
    let clip = Times::new(vec![0, 10 * MS, 35 * MS], 50 * MS);
    let mut playhead = begun(&clip, PlayOptions::default(), 7 * MS);
    assert_eq!(
        poll(&mut playhead, &clip, 7 * MS),
        (vec![(0, 0, 0)], Next::At(at(17 * MS)))
    );
    assert_eq!(
        poll(&mut playhead, &clip, 17 * MS - 1),
        (vec![], Next::At(at(17 * MS)))
    );
    assert_eq!(
        poll(&mut playhead, &clip, 17 * MS),
        (vec![(0, 1, 10 * MS)], Next::At(at(42 * MS)))
    );
    // Its length passes before the end.
    assert_eq!(
        poll(&mut playhead, &clip, 45 * MS),
        (vec![(0, 2, 35 * MS)], Next::At(at(57 * MS)))
    );
    assert_eq!(poll(&mut playhead, &clip, 57 * MS), (vec![], Next::Ended));
    assert_eq!(poll(&mut playhead, &clip, 90 * MS), (vec![], Next::Ended));
    assert_eq!(playhead.skipped(), 0);
}

#[test]
fn a_loop_waits_for_its_gap_and_its_source_time_goes_on() {
    let clip = Times::even(2, 10 * MS);
    let options = PlayOptions {
        looping: true,
        gap_nanos: 5 * MS,
        ..PlayOptions::default()
    };
    let mut playhead = begun(&clip, options, 0);
    assert_eq!(
        poll(&mut playhead, &clip, 10 * MS),
        (vec![(0, 0, 0), (0, 1, 10 * MS)], Next::At(at(25 * MS)))
    );
    // Within the gap.
    assert_eq!(
        poll(&mut playhead, &clip, 24 * MS),
        (vec![], Next::At(at(25 * MS)))
    );
    assert_eq!(
        poll(&mut playhead, &clip, 36 * MS),
        (
            vec![(1, 0, 25 * MS), (1, 1, 35 * MS)],
            Next::At(at(50 * MS))
        )
    );
}

#[test]
fn speed_changes_the_pace_and_source_time_stays_real() {
    let clip = Times::even(3, 10 * MS);
    for (speed, spacing) in [(2.0, 5 * MS), (0.5, 20 * MS)] {
        let options = PlayOptions {
            speed,
            looping: true,
            gap_nanos: 4 * MS,
            ..PlayOptions::default()
        };
        let mut playhead = begun(&clip, options, 0);
        let (given, next) = poll(&mut playhead, &clip, 2 * spacing);
        assert_eq!(
            given,
            [(0, 0, 0), (0, 1, spacing), (0, 2, 2 * spacing)],
            "{speed}"
        );
        // The gap is real time at any speed.
        assert_eq!(next, Next::At(at(3 * spacing + 4 * MS)), "{speed}");
    }
    // Out of bounds: brought into them; no number: 1.
    for (speed, first) in [(1000.0, MS), (0.0, 100 * MS), (f64::NAN, 10 * MS)] {
        let options = PlayOptions {
            speed,
            ..PlayOptions::default()
        };
        let mut playhead = begun(&clip, options, 0);
        let (_, next) = poll(&mut playhead, &clip, 0);
        assert_eq!(next, Next::At(at(first)), "{speed}");
    }
}

#[test]
fn after_a_stall_only_what_is_not_too_late_is_given() {
    let clip = Times::even(2000, 10 * MS);
    let mut playhead = begun(&clip, PlayOptions::default(), 0);
    poll(&mut playhead, &clip, 0);
    let (given, _) = poll(&mut playhead, &clip, 5000 * MS);
    // Frame 475 was due 250 ms ago, and 1 to 475 are passed over.
    assert_eq!(given.first(), Some(&(0, 476, 4760 * MS)));
    assert_eq!(given.last(), Some(&(0, 500, 5000 * MS)));
    assert_eq!(playhead.skipped(), 475);

    // Frames that come faster are bounded by number.
    let clip = Times::even(20_000, MS);
    let mut playhead = begun(&clip, PlayOptions::default(), 0);
    let (given, _) = poll(&mut playhead, &clip, 5000 * MS);
    assert_eq!(given.len(), MAX_BURST);
    assert_eq!(given.last(), Some(&(0, 5000, 5000 * MS)));
    assert_eq!(playhead.skipped(), 5001 - MAX_BURST as u64);
}

#[test]
fn a_late_frame_is_given_while_no_newer_one_is_due() {
    let clip = Times::even(3, 1000 * MS);
    let mut playhead = begun(&clip, PlayOptions::default(), 0);
    let (given, _) = poll(&mut playhead, &clip, 600 * MS);
    assert_eq!(given, [(0, 0, 0)]);
    // The last pose of a clip that is long over, too.
    let (given, next) = poll(&mut playhead, &clip, 60_000 * MS);
    assert_eq!((given, next), (vec![(0, 2, 2000 * MS)], Next::Ended));
    assert_eq!(playhead.skipped(), 1);
}

#[test]
fn a_stall_over_many_rounds_is_passed_over_at_once() {
    let clip = Times::even(10, 100 * MS);
    let options = PlayOptions {
        looping: true,
        ..PlayOptions::default()
    };
    let mut playhead = begun(&clip, options, 0);
    let hour = 3_600_000 * MS;
    let (given, next) = poll(&mut playhead, &clip, hour + 150 * MS);
    // 3600 rounds of 1 s; the last frame of the round before was due 250 ms ago, which is too late.
    assert_eq!(given, [(3600, 0, hour), (3600, 1, hour + 100 * MS)]);
    assert_eq!(playhead.skipped(), 36_000);
    assert_eq!(next, Next::At(at(hour + 200 * MS)));
}

#[test]
fn a_pause_holds_everything_and_shows_in_the_source_time() {
    let clip = Times::even(5, 10 * MS);
    let mut playhead = begun(&clip, PlayOptions::default(), 0);
    poll(&mut playhead, &clip, 10 * MS);
    playhead.pause(at(14 * MS));
    // A second word changes nothing.
    playhead.pause(at(500 * MS));
    assert!(playhead.is_paused());
    assert_eq!(poll(&mut playhead, &clip, 900 * MS), (vec![], Next::Paused));
    playhead.resume(at(1014 * MS));
    assert!(!playhead.is_paused());
    assert_eq!(
        poll(&mut playhead, &clip, 1014 * MS),
        (vec![], Next::At(at(1020 * MS)))
    );
    assert_eq!(
        poll(&mut playhead, &clip, 1020 * MS),
        (vec![(0, 2, 1020 * MS)], Next::At(at(1030 * MS)))
    );
    assert_eq!(playhead.skipped(), 0);
}

#[test]
fn a_start_offset_holds_for_the_first_round_only() {
    let clip = Times::even(4, 10 * MS);
    let options = PlayOptions {
        looping: true,
        start_nanos: 15 * MS,
        ..PlayOptions::default()
    };
    let mut playhead = begun(&clip, options, 100 * MS);
    assert_eq!(
        poll(&mut playhead, &clip, 100 * MS),
        (vec![], Next::At(at(105 * MS)))
    );
    let (given, _) = poll(&mut playhead, &clip, 125 * MS);
    assert_eq!(given, [(0, 2, 20 * MS), (0, 3, 30 * MS), (1, 0, 40 * MS)]);
    // Beyond the end: the last frame.
    let options = PlayOptions {
        start_nanos: i64::MAX,
        ..PlayOptions::default()
    };
    let mut playhead = begun(&clip, options, 0);
    assert_eq!(
        poll(&mut playhead, &clip, 0),
        (vec![(0, 3, 30 * MS)], Next::At(at(10 * MS)))
    );
}

#[test]
fn a_single_pose_without_length_does_not_spin() {
    let clip = Times::new(vec![0], 1);
    let options = PlayOptions {
        looping: true,
        ..PlayOptions::default()
    };
    let mut playhead = begun(&clip, options, 0);
    let (given, next) = poll(&mut playhead, &clip, 0);
    assert_eq!((given.len(), next), (1, Next::At(at(MS))));
}

proptest! {
    #[test]
    fn every_frame_is_given_or_counted_whenever_one_looks(
        spacings in prop::collection::vec(0_i64..400 * MS, 1..20),
        waits in prop::collection::vec(0_i64..2000 * MS, 1..40),
        speed in MIN_SPEED..MAX_SPEED,
        gap in 0_i64..300 * MS,
        looping in any::<bool>(),
    ) {
        let mut times = vec![0];
        for s in &spacings {
            times.push(times[times.len() - 1] + s);
        }
        let frames = times.len() as u64;
        let clip = Times::new(times.clone(), times[times.len() - 1] + MS);
        let options = PlayOptions { speed, looping, gap_nanos: gap, start_nanos: 0 };
        let mut playhead = Playhead::new(&clip, &options, at(0));
        let mut now = 0;
        let mut given = 0;
        let mut before = None;
        for wait in waits {
            now += wait;
            let next = playhead.poll(&clip, at(now), |d| {
                let number = d.round * frames + d.index as u64;
                let key = (number, d.source_nanos);
                if let Some((n, source)) = before {
                    assert!(number > n && d.source_nanos >= source, "{before:?} {key:?}");
                }
                // Nothing comes before its time: a nanosecond for rounding, and as many as the speed makes of it.
                assert!(d.source_nanos <= now + 2, "{} at {now}", d.source_nanos);
                before = Some(key);
                given += 1;
            });
            if let Some((n, _)) = before {
                prop_assert_eq!(given + playhead.skipped(), n + 1);
            }
            match next {
                Next::At(due) => prop_assert!(due > at(now)),
                Next::Paused => return Err(TestCaseError::fail("nobody paused")),
                Next::Ended => prop_assert!(!looping),
            }
        }
    }
}
