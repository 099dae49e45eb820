//! The third layer: who is asked for by name, and who is there.

use hub::{SubjectState, virtuals::nearest};
use serde_json::json;

use super::{
    Facts, SubjectFacts, counted, list,
    report::{Finding, Layer, Level},
};
use crate::stage::SubjectTable;

const LAYER: Layer = Layer::SubjectName;

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    all.push(there(facts));
    all.extend(wanted(facts));
    for subject in &facts.subjects {
        all.extend(conflict(facts, subject));
        all.extend(disabled(facts, subject));
    }
    all.extend(asked_by_outputs(facts));
    all.extend(clashing(facts));
    all.extend(named_in_stage(facts));
    all.extend(parts_of_virtuals(facts));
    all
}

fn names(facts: &Facts) -> impl Iterator<Item = &str> {
    facts.subjects.iter().map(SubjectFacts::name)
}

/// The end of a sentence about a name that is not there.
fn instead(facts: &Facts, name: &str) -> String {
    match nearest(name, names(facts)) {
        Some(near) => format!("the nearest name is {near:?}"),
        None if facts.subjects.is_empty() => "none has come at all".to_owned(),
        None => format!("there are {}", list(names(facts))),
    }
}

/// Which subjects there are.
fn there(facts: &Facts) -> Finding {
    if facts.subjects.is_empty() {
        let what = "no subject has come";
        let do_next =
            "first settle what stands above; a subject comes with the first frame that is taken";
        return Finding::new(LAYER, Level::Problem, what, do_next);
    }
    let num = facts.subjects.len() as u64;
    let what = format!("{}: {}", counted(num, "subject"), list(names(facts)));
    let evidence: Vec<_> = facts
        .subjects
        .iter()
        .map(|s| {
            json!({
                "subject": s.name(),
                "source": s.key.source.as_str(),
                "role": s.role,
                "state": s.state,
                "rate_hz": s.rate_hz,
            })
        })
        .collect();
    Finding::ok(LAYER, what).with(evidence.into())
}

/// The subject that was asked for on the command line.
fn wanted(facts: &Facts) -> Option<Finding> {
    let wanted = facts.wanted.as_deref()?;
    let is_there = names(facts).any(|name| name == wanted);
    (!is_there && !facts.subjects.is_empty()).then(|| {
        let what = format!(
            "there is no subject {wanted:?}; {}",
            instead(facts, wanted)
        );
        let do_next = "give the device that name in its app, or ask for the name that is there; capitals count";
        let evidence = json!({
            "wanted": wanted,
            "nearest": nearest(wanted, names(facts)),
            "subjects": names(facts).collect::<Vec<_>>(),
        });
        Finding::new(LAYER, Level::Problem, what, do_next).with(evidence)
    })
}

/// Two sources send one name: the second waits.
fn conflict(facts: &Facts, subject: &SubjectFacts) -> Option<Finding> {
    if subject.state != SubjectState::Conflict {
        return None;
    }
    let plays = facts.subjects.iter().find(|s| {
        s.name() == subject.name() && s.key != subject.key && s.state != SubjectState::Conflict
    });
    let chosen = |t: &SubjectTable| t.name == subject.name() && t.source.is_some();
    let level = if facts.tables.iter().any(chosen) {
        // The stage says who plays: the other one waits on purpose.
        Level::Hint
    } else {
        facts.level_of(subject)
    };
    let other = plays.map_or_else(
        || "nobody plays that name".to_owned(),
        |s| format!("{} plays it", s.key.source),
    );
    let what = format!(
        "{:?} is sent by two sources: {other}, and {} waits",
        subject.name(),
        subject.key.source
    );
    let do_next = "give one of the two another name in its app; or choose in the stage file: \
                   [[subject]] with this name and source = \"…\"";
    let evidence = json!({
        "subject": subject.name(),
        "plays": plays.map(|s| s.key.source.as_str()),
        "waits": subject.key.source.as_str(),
    });
    Some(Finding::new(LAYER, level, what, do_next).with(evidence))
}

fn disabled(facts: &Facts, subject: &SubjectFacts) -> Option<Finding> {
    (subject.state == SubjectState::Disabled).then(|| {
        let what = format!("{} is disabled by the stage file", subject.key);
        let do_next = "enabled = true in its [[subject]], or take that line out";
        let evidence = json!({
            "subject": subject.name(),
            "source": subject.key.source.as_str(),
        });
        Finding::new(LAYER, facts.level_on_purpose(subject), what, do_next).with(evidence)
    })
}

/// Names that outputs are bound to.
fn asked_by_outputs(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    for output in facts.outputs.iter().map(|o| &o.stats) {
        for missing in &output.missing {
            let near = match &missing.nearest {
                Some(near) => format!("the nearest name is {near:?}"),
                None => instead(facts, &missing.name),
            };
            let what = format!(
                "output {} asks for {:?}, which is not there; {near}",
                output.name, missing.name
            );
            let do_next = "correct `subjects` of that [[output]], or the name in the device's app; capitals count";
            let evidence = json!({
                "output": output.name,
                "wanted": missing.name,
                "nearest": missing.nearest,
            });
            let level = if output.is_enabled {
                Level::Problem
            } else {
                Level::Hint
            };
            all.push(Finding::new(LAYER, level, what, do_next).with(evidence));
        }
    }
    all
}

/// Two subjects that an output would send under one name.
fn clashing(facts: &Facts) -> Vec<Finding> {
    let outputs = facts.outputs.iter().map(|o| &o.stats);
    let clashes = outputs.filter(|o| !o.clashing.is_empty());
    clashes
        .map(|output| {
            let what = format!(
                "output {} leaves out {}: another subject goes under the same name",
                output.name,
                list(&output.clashing)
            );
            let do_next = "give one of them another `outbound_name` in its [[subject]]";
            let evidence = json!({"output": output.name, "left_out": output.clashing});
            Finding::new(LAYER, Level::Problem, what, do_next).with(evidence)
        })
        .collect()
}

/// Tables of the stage that speak of nobody.
fn named_in_stage(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    for table in &facts.tables {
        let is_about = |s: &SubjectFacts| table.is_about(&s.key);
        if facts.subjects.is_empty() || facts.subjects.iter().any(is_about) {
            continue;
        }
        let of = match &table.source {
            Some(source) => format!("{:?} of {source}", table.name),
            None => format!("{:?}", table.name),
        };
        let what = format!(
            "the stage file speaks of {of}, which is not there; {}",
            instead(facts, &table.name)
        );
        let do_next = "correct `name` or `source` of that [[subject]], if it should be there now";
        let evidence = json!({
            "name": table.name,
            "source": table.source,
            "nearest": nearest(&table.name, names(facts)),
        });
        all.push(Finding::new(LAYER, Level::Hint, what, do_next).with(evidence));
    }
    all
}

/// Virtual subjects that wait for a part.
fn parts_of_virtuals(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    for made in &facts.virtuals {
        let level = if made.gives {
            Level::Hint
        } else {
            Level::Problem
        };
        for (part, state, _) in &made.parts {
            let is_there = names(facts).any(|name| name == part);
            let what = if !is_there {
                format!(
                    "{:?} is made of {part:?}, which is not there; {}",
                    made.name,
                    instead(facts, part)
                )
            } else if !made.gives && *state != SubjectState::Connected {
                format!(
                    "{:?} waits for its part {part:?}, which is {state}",
                    made.name
                )
            } else {
                continue;
            };
            let do_next = "correct the name in that [[virtual]], or start the device; a part that may be away has required = false";
            let evidence = json!({"virtual": made.name, "part": part, "state": state});
            all.push(Finding::new(LAYER, level, what, do_next).with(evidence));
        }
    }
    all
}
