//! The fourth layer: is it the kind of data that is wanted?

use hub::{Refusal, Role};
use serde_json::json;

use super::{
    Facts, SubjectFacts, counted, list,
    report::{Finding, Layer, Level},
};

const LAYER: Layer = Layer::Role;

pub(super) fn findings(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    for subject in &facts.subjects {
        all.extend(moves_no_character(facts, subject));
        all.extend(frames_of_another_kind(facts, subject));
    }
    all.extend(unfit_for_outputs(facts));
    all.extend(refused_statics(facts));
    let has_any = !all.is_empty() || facts.subjects.is_empty();
    all.extend((!has_any).then(|| roles(facts)));
    all
}

/// Whether a name of [`Refusal::NAMES`] says that frames are of another kind than was announced.
pub(super) fn is_about_role(reason: &str) -> bool {
    matches!(reason, "wrong_role" | "wrong_length")
}

fn roles(facts: &Facts) -> Finding {
    let each: Vec<String> = facts
        .subjects
        .iter()
        .take(8)
        .map(|s| format!("{} is {}", s.name(), kind_of(s)))
        .collect();
    Finding::ok(LAYER, each.join(", "))
}

/// What a subject is, for people.
fn kind_of(subject: &SubjectFacts) -> String {
    let curves = subject.curves.len();
    match (&subject.skeleton, subject.role) {
        (Some(skeleton), _) if curves > 0 => {
            format!(
                "a body of {} bones with {curves} curves",
                skeleton.num_bones
            )
        }
        (Some(skeleton), _) => format!("a body of {} bones", skeleton.num_bones),
        (None, Role::Basic | Role::Animation) => format!("a face or other set of {curves} curves"),
        (None, Role::Transform) => "a prop or tracker".to_owned(),
        (None, Role::Camera) => "a camera".to_owned(),
        (None, Role::Light) => "a light".to_owned(),
    }
}

/// A prop, camera or light is asked to move a character.
fn moves_no_character(facts: &Facts, subject: &SubjectFacts) -> Option<Finding> {
    let is_named = facts.wanted.as_deref() == Some(subject.name());
    let has_parts = matches!(subject.role, Role::Basic | Role::Animation);
    (facts.character.is_some() && is_named && !has_parts).then(|| {
        let what = format!(
            "{} is {}: it has neither the curves of a face nor the bones of a body, and a character needs one of them",
            subject.key,
            kind_of(subject)
        );
        let do_next = "ask for the subject of the face or body; or turn this one into a bone with [[virtual]], see docs/virtual.md";
        let evidence = json!({
            "subject": subject.name(),
            "source": subject.key.source.as_str(),
            "role": subject.role,
            "curves": subject.curves.len(),
        });
        Finding::new(LAYER, Level::Problem, what, do_next).with(evidence)
    })
}

/// Frames that do not fit what was announced.
fn frames_of_another_kind(facts: &Facts, subject: &SubjectFacts) -> Option<Finding> {
    let refused: u64 = Refusal::NAMES
        .into_iter()
        .zip(subject.counts.refused)
        .filter(|(name, _)| is_about_role(name))
        .map(|(_, n)| n)
        .sum();
    (refused > 0).then(|| {
        let level = if subject.counts.received == 0 {
            facts.level_of(subject)
        } else {
            Level::Hint
        };
        let what = format!(
            "{}: {} refused, for they are of another kind or length than it announced",
            subject.key,
            counted(refused, "frame")
        );
        let do_next = "restart the sender, so that it says anew what it sends; do two senders share one name and address?";
        let evidence = json!({
            "subject": subject.name(),
            "source": subject.key.source.as_str(),
            "role": subject.role,
            "refused": refused,
            "received": subject.counts.received,
        });
        Finding::new(LAYER, level, what, do_next).with(evidence)
    })
}

/// Subjects of which an output's kind has nothing to say.
fn unfit_for_outputs(facts: &Facts) -> Vec<Finding> {
    let mut all = Vec::new();
    for output in &facts.outputs {
        let stats = &output.stats;
        if stats.unfit.is_empty() {
            continue;
        }
        // `*` takes what there is; who writes a name means it.
        let is_meant = |s: &SubjectFacts| {
            let is_unfit = stats.unfit.contains(&s.key.to_string());
            is_unfit && output.names.iter().any(|n| n == s.name())
        };
        let is_problem = stats.subjects.is_empty() || facts.subjects.iter().any(is_meant);
        let level = if is_problem && stats.is_enabled {
            Level::Problem
        } else {
            Level::Hint
        };
        let what = format!(
            "output {} speaks {}, which cannot say anything of {}",
            stats.name,
            stats.kind.as_str(),
            list(&stats.unfit)
        );
        let do_next = "send it by an output of kind native, osc or websocket; or leave it out with \"!NAME\" in `subjects`";
        let evidence = json!({
            "output": stats.name,
            "kind": stats.kind,
            "unfit": stats.unfit,
        });
        all.push(Finding::new(LAYER, level, what, do_next).with(evidence));
    }
    all
}

fn refused_statics(facts: &Facts) -> Option<Finding> {
    (facts.refused_statics > 0).then(|| {
        let what = format!(
            "{} of what a subject is contradicted itself, or found no room",
            counted(facts.refused_statics, "announcement")
        );
        let do_next = "two bones or curves of one name, or a parent after its child: see to it in the program that sends";
        let evidence = json!({"refused_statics": facts.refused_statics});
        Finding::new(LAYER, Level::Hint, what, do_next).with(evidence)
    })
}
