//! The last layer: what would be seen of each subject that arrives.

use hub::{Role, SubjectState, client::Quality};
use serde_json::json;

use super::{
    Facts, SubjectFacts,
    report::{Finding, Layer, Level},
};

const LAYER: Layer = Layer::Picture;
/// So many equal frames in a row are no measurement of anything alive.
const ENOUGH_FRAMES: u64 = 10;
/// Fewer frames a second stutter.
const STUTTER_HZ: f64 = 15.0;

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    let playing = facts.subjects.iter();
    let playing = playing.filter(|s| s.state == SubjectState::Connected && facts.is_asked(s));
    playing
        .map(|subject| {
            misplaced(subject)
                .or_else(|| stands_still(subject))
                .or_else(|| stutters(subject))
                .unwrap_or_else(|| moves(subject))
                .with(json!({
                    "subject": subject.name(),
                    "source": subject.key.source.as_str(),
                    "frames": subject.frames,
                    "moves": subject.moves,
                    "rate_hz": subject.rate_hz,
                    "quality": subject.quality,
                    "world_offset_secs": subject.world_offset_secs,
                }))
        })
        .collect()
}

/// Frames come, but not for the time at which they are asked for.
fn misplaced(subject: &SubjectFacts) -> Option<Finding> {
    let offset = subject.world_offset_secs;
    let (what, level) = match subject.quality {
        Quality::Stale { since_secs, .. } => (
            format!(
                "{}: frames arrive, but its newest is {since_secs:.1} s old at the time that is shown",
                subject.key
            ),
            Level::Problem,
        ),
        Quality::Early { by_secs, .. } => (
            format!(
                "{}: it is shown as of {by_secs:.1} s before its first frame",
                subject.key
            ),
            Level::Hint,
        ),
        Quality::None => (
            format!("{}: there is no pose to show yet", subject.key),
            Level::Problem,
        ),
        Quality::Exact { .. } | Quality::Blended { .. } | Quality::Held { .. } => return None,
    };
    let do_next = format!(
        "`world_offset_secs` is {offset}; 0.05 is usual. Does the device's clock jump? Run the doctor for longer, too"
    );
    Some(Finding::new(LAYER, level, what, do_next))
}

/// Every frame is like the other.
fn stands_still(subject: &SubjectFacts) -> Option<Finding> {
    (subject.frames >= ENOUGH_FRAMES && !subject.moves).then(|| {
        let what = format!(
            "{}: {} frames arrived, and every one holds the same values",
            subject.key, subject.frames
        );
        // A prop may well lie on a table; a face never stands still.
        let (level, do_next) = if matches!(subject.role, Role::Basic | Role::Animation) {
            (
                Level::Problem,
                "is it paused, calibrating, or playing a still in its app? Does `process` hold it (a gain of 0)?",
            )
        } else {
            (Level::Hint, "nothing, if it lies still; else is it tracked?")
        };
        Finding::new(LAYER, level, what, do_next)
    })
}

fn stutters(subject: &SubjectFacts) -> Option<Finding> {
    let is_slow = subject.frames >= ENOUGH_FRAMES && subject.rate_hz < STUTTER_HZ;
    is_slow.then(|| {
        let what = format!(
            "{}: {:.0} frames a second, which stutters",
            subject.key, subject.rate_hz
        );
        let do_next = "a higher rate in the app; is the device hot, or the Wi-Fi weak?";
        Finding::new(LAYER, Level::Hint, what, do_next)
    })
}

fn moves(subject: &SubjectFacts) -> Finding {
    let what = if subject.moves {
        format!(
            "{} moves: {:.0} frames a second",
            subject.key, subject.rate_hz
        )
    } else {
        format!("{} is here: too few frames to say more", subject.key)
    };
    Finding::ok(LAYER, what)
}
