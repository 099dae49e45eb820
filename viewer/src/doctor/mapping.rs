//! The sixth layer: rest poses, processing, and what of a character is moved.

use serde_json::json;

use super::{
    Binding, Facts, SubjectFacts, counted, list,
    report::{Finding, Layer, Level},
};

const LAYER: Layer = Layer::Mapping;

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    all.extend(unreadable_character(facts));
    for subject in &facts.subjects {
        all.extend(no_rest(facts, subject));
        all.extend(steps_left_out(facts, subject));
        if let Some(binding) = &subject.binding {
            all.extend(curves(facts, subject, binding));
            all.extend(bones(subject, binding));
        }
    }
    all.extend(unbound_virtuals(facts));
    all
}

fn unreadable_character(facts: &Facts) -> Option<Finding> {
    let why = facts.character.as_ref()?.as_ref().err()?;
    let do_next = "a GLB file that holds all its buffers, or `--character builtin`";
    let what = format!("the character cannot be used: {why}");
    Some(Finding::new(LAYER, Level::Problem, what, do_next))
}

/// A skeleton without a rest pose shows bones and moves no character.
fn no_rest(facts: &Facts, subject: &SubjectFacts) -> Option<Finding> {
    let skeleton = subject.skeleton.as_ref()?;
    let level = if facts.character.is_some() {
        facts.level_of(subject)
    } else {
        Level::Hint
    };
    let (what, do_next) = if !skeleton.has_rest {
        (
            format!("{}: the skeleton has no rest pose", subject.key),
            "let the device send its T-pose or calibrate once; a source that never tells one (osc) moves bones, \
             but no other skeleton",
        )
    } else if let Some(fault) = &skeleton.fault {
        (
            format!("{}: the skeleton cannot be used: {fault}", subject.key),
            "see to it in the program that sends",
        )
    } else {
        return None;
    };
    let evidence = json!({
        "subject": subject.name(),
        "source": subject.key.source.as_str(),
        "bones": skeleton.num_bones,
        "has_rest": skeleton.has_rest,
    });
    Some(Finding::new(LAYER, level, what, do_next).with(evidence))
}

/// Processing that could not be done.
fn steps_left_out(facts: &Facts, subject: &SubjectFacts) -> Vec<Finding> {
    let mut all = Vec::new();
    let evidence = json!({
        "subject": subject.name(),
        "source": subject.key.source.as_str(),
        "faults": subject.step_faults,
        "refused": subject.unprocessed,
    });
    for fault in &subject.step_faults {
        let what = format!("{}: processing is left out: {fault}", subject.key);
        let do_next = "correct that step of `process` in its [[subject]]; names must be those that the source sends";
        all.push(Finding::new(LAYER, Level::Hint, what, do_next).with(evidence.clone()));
    }
    if subject.unprocessed > 0 {
        let level = if subject.counts.received == 0 {
            facts.level_of(subject)
        } else {
            Level::Hint
        };
        let what = format!(
            "{}: processing refused {}",
            subject.key,
            counted(subject.unprocessed, "frame")
        );
        let do_next = "take out the steps of `process` one by one; a gain too large makes numbers that are none";
        all.push(Finding::new(LAYER, level, what, do_next).with(evidence));
    }
    all
}

/// What of the character's shapes the curves move.
fn curves(facts: &Facts, subject: &SubjectFacts, binding: &Binding) -> Option<Finding> {
    if subject.curves.is_empty() {
        return None;
    }
    let bound = binding
        .num_morphs
        .saturating_sub(binding.unbound_morphs.len());
    let evidence = json!({
        "subject": subject.name(),
        "source": subject.key.source.as_str(),
        "morphs": binding.num_morphs,
        "bound_morphs": bound,
        "unbound_morphs": binding.unbound_morphs,
        "unbound_curves": binding.unbound_curves.iter().map(|(name, near)| json!({"curve": name, "nearest": near})).collect::<Vec<_>>(),
    });
    let names = || list(binding.unbound_curves.iter().map(|(name, _)| name));
    let finding = if binding.num_morphs == 0 {
        let what = "the character has no shapes (morph targets) for curves to move";
        let do_next = "export it with its shape keys, or take another one";
        Finding::new(LAYER, facts.level_of(subject), what, do_next)
    } else if bound == 0 {
        let what = format!(
            "{}: no curve moves a shape of the character; its curves are {}",
            subject.key,
            list(&subject.curves)
        );
        let do_next = "give shapes or curves the names of the other, for example by a `rename` step in `process`, \
                       see docs/processing.md";
        Finding::new(LAYER, facts.level_of(subject), what, do_next)
    } else if binding.unbound_curves.is_empty() {
        let what = format!(
            "{}: {bound} of {} shapes follow its curves",
            subject.key, binding.num_morphs
        );
        Finding::ok(LAYER, what)
    } else {
        let near = binding.unbound_curves.iter();
        let near = near.filter_map(|(name, near)| Some(format!("{name:?} → {:?}", near.as_ref()?)));
        let near: Vec<String> = near.take(4).collect();
        let what = format!(
            "{}: {bound} of {} shapes follow; {} bound to nothing: {}",
            subject.key,
            binding.num_morphs,
            counted(binding.unbound_curves.len() as u64, "curve"),
            names()
        );
        let do_next = if near.is_empty() {
            "nothing, if the character is not to show them; else rename them by a `rename` step"
                .to_owned()
        } else {
            format!(
                "by a `rename` step, if these are meant: {}",
                near.join(", ")
            )
        };
        Finding::new(LAYER, Level::Hint, what, do_next)
    };
    Some(finding.with(evidence))
}

/// Bones that the character knows by name.
fn bones(subject: &SubjectFacts, binding: &Binding) -> Option<Finding> {
    let skeleton = subject.skeleton.as_ref()?;
    let evidence = json!({
        "subject": subject.name(),
        "source": subject.key.source.as_str(),
        "bones": skeleton.num_bones,
        "bound_bones": binding.bound_bones,
        "unbound_bones": binding.unbound_bones,
    });
    let what = format!(
        "{}: the character has {} of its {} bones by name",
        subject.key, binding.bound_bones, skeleton.num_bones
    );
    let finding = if binding.unbound_bones.is_empty() {
        Finding::ok(LAYER, what)
    } else {
        let what = format!("{what}; not {}", list(&binding.unbound_bones));
        let do_next = "nothing, if the bones are matched in another way; else give them the character's names";
        Finding::new(LAYER, Level::Hint, what, do_next)
    };
    Some(finding.with(evidence))
}

/// Virtual subjects of which something cannot be bound.
fn unbound_virtuals(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    for made in &facts.virtuals {
        let level = if made.gives {
            Level::Hint
        } else {
            Level::Problem
        };
        let evidence = json!({
            "virtual": made.name,
            "state": made.state,
            "gives": made.gives,
            "faults": made.faults,
            "notes": made.notes,
        });
        for fault in &made.faults {
            let what = format!("the virtual subject {:?}: {fault}", made.name);
            let do_next = "correct its [[virtual]], see docs/virtual.md";
            all.push(Finding::new(LAYER, level, what, do_next).with(evidence.clone()));
        }
    }
    all
}
