//! What a diagnosis comes to: findings by layer, and the first problem, which is the answer.

use serde::Serialize;
use serde_json::{Value, json};

/// Where on the way from a device to a picture something is, in the order in which one looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Layer {
    /// Ports, files, and what devices send.
    Source,
    /// Whether anything arrives.
    Network,
    /// Who is asked for, and who is there.
    SubjectName,
    /// Whether it is the kind of data that is wanted.
    Role,
    /// Outputs and their receivers.
    Consumer,
    /// Rest poses, processing, and what of a character is moved.
    Mapping,
    /// What would be seen.
    Picture,
}

impl Layer {
    /// For people.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Network => "network",
            Self::SubjectName => "subject name",
            Self::Role => "role",
            Self::Consumer => "consumer",
            Self::Mapping => "skeleton and mapping",
            Self::Picture => "picture",
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
    /// As it should be.
    Ok,
    /// Worth a look; it may be meant.
    Hint,
    /// Keeps something from moving.
    Problem,
}

impl Level {
    /// One character for a terminal.
    pub(crate) fn mark(self) -> char {
        match self {
            Self::Ok => '✓',
            Self::Hint => '!',
            Self::Problem => '✗',
        }
    }
}

/// One thing that was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    /// Where.
    pub(crate) layer: Layer,
    /// How bad.
    pub(crate) level: Level,
    /// What is so, as one sentence without a full stop.
    pub(crate) what: String,
    /// What to do about it; empty when there is nothing to do.
    pub(crate) do_next: String,
    /// The numbers behind it.
    pub(crate) evidence: Value,
}

impl Finding {
    pub(super) fn new(
        layer: Layer,
        level: Level,
        what: impl Into<String>,
        do_next: impl Into<String>,
    ) -> Self {
        Self {
            layer,
            level,
            what: what.into(),
            do_next: do_next.into(),
            evidence: Value::Null,
        }
    }

    pub(super) fn ok(layer: Layer, what: impl Into<String>) -> Self {
        Self::new(layer, Level::Ok, what, "")
    }

    pub(super) fn with(mut self, evidence: Value) -> Self {
        self.evidence = evidence;
        self
    }

    /// For machines.
    pub(crate) fn event(&self) -> Value {
        json!({
            "event": "finding",
            "layer": self.layer,
            "level": self.level,
            "what": self.what,
            "do_next": self.do_next,
            "evidence": self.evidence,
        })
    }

    /// For people: the layer, and below it what to do.
    pub(crate) fn lines(&self) -> String {
        let mut text = format!(
            "{} {:<21} {}",
            self.level.mark(),
            self.layer.title(),
            self.what
        );
        if !self.do_next.is_empty() {
            text.push_str("\n                        → ");
            text.push_str(&self.do_next);
        }
        text
    }
}

/// All findings, by layer; within one the worst first.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Report {
    findings: Vec<Finding>,
}

impl Report {
    pub(super) fn new(mut findings: Vec<Finding>) -> Self {
        // Stable: what was found first of a kind stays first.
        findings.sort_by_key(|f| (f.layer, std::cmp::Reverse(f.level)));
        Self { findings }
    }

    /// In order.
    pub(crate) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// Why nothing moves: the first problem on the way.
    pub(crate) fn answer(&self) -> Option<&Finding> {
        self.findings.iter().find(|f| f.level == Level::Problem)
    }

    /// How many are of that level.
    pub(crate) fn count(&self, level: Level) -> usize {
        self.findings.iter().filter(|f| f.level == level).count()
    }

    /// The end, for machines.
    pub(crate) fn event(&self) -> Value {
        let answer = self.answer();
        json!({
            "event": "diagnosis",
            "ok": answer.is_none(),
            "answer": answer.map(|f| f.what.as_str()),
            "layer": answer.map(|f| f.layer),
            "do_next": answer.map(|f| f.do_next.as_str()),
            "problems": self.count(Level::Problem),
            "hints": self.count(Level::Hint),
        })
    }

    /// The end, for people.
    pub(crate) fn conclusion(&self) -> String {
        let Some(answer) = self.answer() else {
            return match self.count(Level::Hint) {
                0 => "All is well.".to_owned(),
                1 => "Nothing is in the way; one thing is worth a look.".to_owned(),
                n => format!("Nothing is in the way; {n} things are worth a look."),
            };
        };
        let mut lines = vec![format!("The first thing in the way: {}.", answer.what)];
        if !answer.do_next.is_empty() {
            lines.push(format!("Do this: {}", answer.do_next));
        }
        match self.count(Level::Problem) - 1 {
            0 => {}
            1 => lines.push("Then run the doctor again: 1 more problem may go with it.".to_owned()),
            n => lines.push(format!(
                "Then run the doctor again: {n} more problems may go with it."
            )),
        }
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(layer: Layer, level: Level, what: &str) -> Finding {
        Finding::new(layer, level, what, "do")
    }

    #[test]
    fn the_first_problem_on_the_way_is_the_answer() {
        let report = Report::new(vec![
            finding(Layer::Picture, Level::Problem, "late"),
            finding(Layer::Network, Level::Ok, "fine"),
            finding(Layer::Network, Level::Problem, "early"),
            finding(Layer::Source, Level::Hint, "odd"),
        ]);
        let order: Vec<&str> = report.findings().iter().map(|f| f.what.as_str()).collect();
        assert_eq!(order, ["odd", "early", "fine", "late"]);
        assert_eq!(report.answer().unwrap().what, "early");
        let event = report.event();
        assert_eq!(
            (&event["ok"], &event["layer"], &event["problems"]),
            (&json!(false), &json!("network"), &json!(2))
        );
        let text = report.conclusion();
        assert!(text.contains("early") && text.contains("1 more"), "{text}");
    }

    #[test]
    fn hints_alone_are_no_problem() {
        let report = Report::new(vec![finding(Layer::Source, Level::Hint, "odd")]);
        assert_eq!((report.answer(), report.count(Level::Hint)), (None, 1));
        assert_eq!(report.event()["ok"], true);
        assert!(report.conclusion().contains("one thing"));
        assert_eq!(Report::new(Vec::new()).conclusion(), "All is well.");
    }

    #[test]
    fn a_line_shows_layer_mark_and_what_to_do() {
        let line = finding(Layer::SubjectName, Level::Hint, "演員").lines();
        assert!(line.starts_with("! subject name ") && line.contains("演員"));
        assert!(line.ends_with("→ do"), "{line}");
        assert!(!Finding::ok(Layer::Role, "x").lines().contains('→'));
    }
}
