//! The fifth layer: outputs, and whether anybody takes what they send.

use serde_json::json;

use super::{
    Facts, OutputFacts, Part, SubjectFacts, counted, list,
    report::{Finding, Layer, Level},
};
use crate::outputs::{OutputKind, ReceiverStats};

const LAYER: Layer = Layer::Consumer;

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    let unstarted = facts.unstarted.iter().filter(|u| u.part == Part::Output);
    for output in unstarted {
        let what = format!("output {} cannot start: {}", output.name, output.why);
        let do_next = "correct `to`, `listen` or `name` of that [[output]]; the hub does not start before it is right";
        all.push(Finding::new(LAYER, Level::Problem, what, do_next));
    }
    for output in &facts.outputs {
        if let Some(finding) = not_sending(facts, output) {
            all.push(finding);
        } else {
            all.extend(sends(output));
        }
        all.extend(
            output
                .stats
                .receivers
                .iter()
                .filter_map(|r| nobody_there(output, r)),
        );
        all.extend(left_out(output));
    }
    if !facts.outputs.is_empty() {
        for subject in &facts.subjects {
            all.extend(held_back(facts, subject));
        }
    } else if all.is_empty() {
        let what = "the stage has no output: nothing is sent to other programs";
        all.push(Finding::ok(LAYER, what));
    }
    all
}

/// Whether a receiver takes little or nothing of what is sent.
///
/// A port where nobody listens takes one datagram, refuses the next, and rests for a second: so about as many are
/// sent as fail.
fn is_down(receiver: &ReceiverStats) -> bool {
    let fails_often = receiver.failed.saturating_mul(4) >= receiver.sent;
    !receiver.is_up || (receiver.failed > 0 && fails_often)
}

/// Why an output sends nothing.
fn not_sending(facts: &Facts, output: &OutputFacts) -> Option<Finding> {
    let stats = &output.stats;
    let name = &stats.name;
    let evidence = json!({
        "output": name,
        "kind": stats.kind,
        "enabled": stats.is_enabled,
        "subjects": stats.subjects,
        "patterns": output.patterns,
        "frames": stats.frames,
    });
    let problem = |what: String, do_next: &str| {
        Some(Finding::new(LAYER, Level::Problem, what, do_next).with(evidence.clone()))
    };
    if !stats.is_running {
        let what = format!("output {name} has stopped by itself");
        return problem(what, "restart the hub, and report this");
    }
    if !stats.is_enabled {
        let is_last = facts.outputs.iter().all(|o| !o.stats.is_enabled);
        let level = if is_last { Level::Problem } else { Level::Hint };
        let what = format!("output {name} is switched off");
        let do_next = "enabled = true in its [[output]], or the command that switches outputs";
        return Some(Finding::new(LAYER, level, what, do_next).with(evidence));
    }
    // What is missing or unfit is said by the layers of names and roles.
    let is_explained = !stats.missing.is_empty() || !stats.unfit.is_empty();
    if stats.subjects.is_empty() {
        if is_explained || facts.subjects.is_empty() {
            return None;
        }
        if facts.subjects.iter().any(|s| !s.outbound.enabled) {
            // Said of the subject.
            return None;
        }
        let what = format!(
            "output {name} takes none of the subjects that are here: its patterns are {}",
            list(&output.patterns)
        );
        return problem(
            what,
            "correct `subjects` of that [[output]]; capitals count",
        );
    }
    if stats.kind == OutputKind::WebSocket && stats.receivers.is_empty() {
        let listening = stats.listening.map_or_else(String::new, |a| a.to_string());
        let what = format!("output {name}: no page is connected to ws://{listening}");
        let do_next =
            "open the page; one from another computer or site needs `listen` and `origins`";
        return Some(Finding::new(LAYER, Level::Hint, what, do_next).with(evidence));
    }
    if stats.frames == 0 {
        let what = format!("output {name} has subjects and has sent no frame");
        let do_next = "with at = \"timecode\", the subjects need timecode; with mode = \"pass\", frames must come";
        return problem(what, do_next);
    }
    None
}

/// What an output sends, and to whom.
fn sends(output: &OutputFacts) -> Option<Finding> {
    let stats = &output.stats;
    if stats.subjects.is_empty() {
        return None;
    }
    let to: Vec<&str> = stats.receivers.iter().map(|r| r.to.as_str()).collect();
    let is_udp = stats.kind != OutputKind::WebSocket;
    let what = format!(
        "output {} sends {} to {}: {}{}",
        stats.name,
        list(&stats.subjects),
        to.join(", "),
        counted(stats.frames, "frame"),
        if is_udp {
            " (nobody tells whether they are taken)"
        } else {
            ""
        }
    );
    let evidence = json!({"output": stats.name, "stats": stats});
    Some(Finding::ok(LAYER, what).with(evidence))
}

/// A receiver that does not take what is sent.
fn nobody_there(output: &OutputFacts, receiver: &ReceiverStats) -> Option<Finding> {
    (output.stats.is_enabled && is_down(receiver)).then(|| {
        let why = match &receiver.last_error {
            Some(error) => format!(" ({error})"),
            None => String::new(),
        };
        let what = format!(
            "output {}: nobody takes what is sent to {}{why}",
            output.stats.name, receiver.to
        );
        let do_next = "is the program there running and set to receive on that port? On another computer, does its firewall let it in?";
        let evidence = json!({"output": output.stats.name, "receiver": receiver});
        Finding::new(LAYER, Level::Problem, what, do_next).with(evidence)
    })
}

/// Frames that an output did not send.
fn left_out(output: &OutputFacts) -> Option<Finding> {
    let stats = &output.stats;
    (stats.dropped > 0).then(|| {
        let what = format!(
            "output {} left out {}, for it did not keep up",
            stats.name,
            counted(stats.dropped, "frame")
        );
        let do_next = "fewer subjects or receivers, or a lower `max_rate`; is this computer busy?";
        let evidence = json!({"output": stats.name, "dropped": stats.dropped});
        Finding::new(LAYER, Level::Hint, what, do_next).with(evidence)
    })
}

/// A subject that is not sent, or stands still for receivers, because the operator says so.
fn held_back(facts: &Facts, subject: &SubjectFacts) -> Option<Finding> {
    let (what, do_next) = if !subject.outbound.enabled {
        (
            "is not sent on: `send = false`",
            "send = true in its [[subject]], or take that line out",
        )
    } else if subject.outbound.paused {
        (
            "is paused: receivers get the same pose again and again",
            "paused = false in its [[subject]], or the command that resumes it",
        )
    } else {
        return None;
    };
    let evidence = json!({
        "subject": subject.name(),
        "source": subject.key.source.as_str(),
        "send": subject.outbound.enabled,
        "paused": subject.outbound.paused,
    });
    let what = format!("{} {what}", subject.key);
    Some(Finding::new(LAYER, facts.level_on_purpose(subject), what, do_next).with(evidence))
}
