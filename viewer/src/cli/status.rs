//! What a running hub says of itself besides its subjects: timecode, virtual subjects, outputs, phones.

use hub::SubjectState;
use serde_json::{Value, json};
use sources::livelinkface::PhoneEvent;

use crate::{
    live::{Live, VirtualReport},
    output::Output,
    outputs::{OutputStats, RunningOutput},
    remote::{RemoteEvent, RemoteStatus},
    timecode_in::TimecodeStatus,
};

/// Says what runs besides sockets: whoever reads this knows where to connect.
pub(super) fn announce(live: &Live, out: Output) {
    for file in live.files() {
        let event = json!({
            "event": "file",
            "source": file.key().source.as_str(),
            "subject": file.key().name.as_str(),
            "notes": file.notes(),
        });
        let mut sentence = format!("playing {}", file.key());
        for note in file.notes() {
            sentence.push_str("\n  ");
            sentence.push_str(note);
        }
        out.say(&event, &sentence);
    }
    for output in live.outputs() {
        let listening = output.listening().map(|a| a.to_string());
        let event = json!({
            "event": "output",
            "name": output.name(),
            "kind": output.kind(),
            "enabled": output.is_enabled(),
            "listening": listening,
        });
        let place = listening.map_or_else(String::new, |a| format!(", listening on {a}"));
        let off = if output.is_enabled() {
            ""
        } else {
            ", switched off"
        };
        out.say(&event, &format!("output {}{place}{off}", output.name()));
    }
    for note in live.timecode_in().notes() {
        out.warn(&format!("timecode: {note}"));
    }
}

/// Everything at one moment.
pub(super) struct Status {
    pub(super) timecode: TimecodeStatus,
    pub(super) virtuals: Vec<VirtualReport>,
    pub(super) outputs: Vec<OutputStats>,
    pub(super) remote: Option<RemoteStatus>,
}

impl Status {
    pub(super) fn of(live: &Live) -> Self {
        Self {
            timecode: live.timecode_in().status(live.clock().now()),
            virtuals: live.virtuals(),
            outputs: live.outputs().iter().map(RunningOutput::stats).collect(),
            remote: live.remote().map(crate::remote::Remote::status),
        }
    }

    /// One event each, for machines.
    pub(super) fn events(&self) -> Vec<Value> {
        let tagged = |event: &str, value: Value| {
            let mut value = value;
            if let Some(map) = value.as_object_mut() {
                map.shift_insert(0, "event".to_owned(), event.into());
            }
            value
        };
        let mut events = vec![tagged("timecode", json!(self.timecode))];
        events.extend(self.virtuals.iter().map(virtual_event));
        events.extend(
            self.outputs
                .iter()
                .map(|o| tagged("output_stats", json!(o))),
        );
        events.extend(self.remote.iter().map(|r| tagged("remote", json!(r))));
        events
    }

    /// A few lines for people, each with whether all is well.
    pub(super) fn lines(&self) -> Vec<(bool, String)> {
        let t = &self.timecode;
        let label = t.timecode.as_deref().unwrap_or("--:--:--:--");
        let drift = t
            .drift_ppm
            .map_or_else(String::new, |p| format!("  drift {p:+.1} ppm"));
        let held = t
            .jammed_secs
            .map_or_else(String::new, |s| format!("  without signal for {s:.1} s"));
        let is_well = t.timecode.is_some() && t.jammed_secs.is_none();
        let mut lines = vec![(
            is_well,
            format!(
                "timecode      {label}  {}  {}{held}{drift}",
                t.rate, t.state
            ),
        )];
        for v in &self.virtuals {
            lines.push((v.gives && v.faults.is_empty(), virtual_line(v)));
        }
        for o in &self.outputs {
            lines.push((output_is_well(o), output_line(o)));
        }
        for phone in self.remote.iter().flat_map(|r| &r.phones) {
            let battery = phone
                .status
                .battery
                .map_or_else(String::new, |b| format!("  battery {:.0} %", b * 100.0));
            let reachable = if phone.status.is_reachable {
                "answers"
            } else {
                "does not answer"
            };
            lines.push((
                phone.status.is_reachable,
                format!("phone         {}  {reachable}{battery}", phone.name),
            ));
        }
        lines
    }
}

fn virtual_event(v: &VirtualReport) -> Value {
    let parts: Vec<_> = v
        .parts
        .iter()
        .map(|(name, state, share)| json!({"subject": name, "state": state, "share": share}))
        .collect();
    json!({
        "event": "virtual",
        "subject": v.name,
        "state": v.state,
        "gives": v.gives,
        "faults": v.faults,
        "notes": v.notes,
        "parts": parts,
    })
}

fn virtual_line(v: &VirtualReport) -> String {
    let away: Vec<_> = v
        .parts
        .iter()
        .filter(|(_, state, _)| *state != SubjectState::Connected)
        .map(|(name, state, _)| format!("{name} is {state}"))
        .collect();
    let mut line = format!("virtual       {}", v.name);
    if !v.gives {
        line.push_str("  waits");
    }
    for text in away.iter().chain(&v.faults) {
        line.push_str("  ");
        line.push_str(text);
    }
    line
}

fn output_is_well(o: &OutputStats) -> bool {
    !o.is_enabled || o.troubles().is_empty()
}

fn output_line(o: &OutputStats) -> String {
    let head = format!("output        {}  {} frames", o.name, o.frames);
    let off = (!o.is_enabled).then(|| "switched off".to_owned());
    let rest: Vec<_> = off.into_iter().chain(o.troubles()).collect();
    format!("{head}  {}", rest.join("  "))
}

/// Says what changed since the last look.
#[derive(Default)]
pub(super) struct Changes {
    timecode: Option<String>,
    /// Why the timecode input gives nothing any more.
    ended: Option<String>,
    virtuals: Vec<String>,
    outputs: Vec<String>,
}

impl Changes {
    /// Looks, and says what is another than before.
    pub(super) fn say(&mut self, live: &Live, out: Output) {
        let status = Status::of(live);
        let state = status.timecode.state.to_string();
        let source_known = status.timecode.source.is_external();
        if source_known && self.timecode.as_ref() != Some(&state) {
            let event =
                json!({"event": "timecode", "state": state, "timecode": status.timecode.timecode});
            out.say(&event, &format!("timecode: {state}"));
            self.timecode = Some(state);
        }
        let ended = status.timecode.input.ended;
        if ended != self.ended {
            if let Some(why) = &ended {
                out.warn_event(
                    "timecode_ended",
                    &format!("the timecode input ended: {why}"),
                );
            }
            self.ended = ended;
        }
        let lines: Vec<_> = status.virtuals.iter().map(virtual_line).collect();
        for ((v, line), i) in status.virtuals.iter().zip(&lines).zip(0..) {
            if self.virtuals.get(i) != Some(line) {
                out.say(&virtual_event(v), line);
            }
        }
        self.virtuals = lines;
        let texts: Vec<_> = status
            .outputs
            .iter()
            .map(|o| {
                if o.is_enabled {
                    o.troubles()
                } else {
                    Vec::new()
                }
                .join("; ")
            })
            .collect();
        for ((o, text), i) in status.outputs.iter().zip(&texts).zip(0..) {
            let before = self.outputs.get(i).map_or("", String::as_str);
            if before != text {
                let event = json!({"event": "output_trouble", "name": o.name, "trouble": text});
                let said = if text.is_empty() { "all well" } else { text };
                out.say(&event, &format!("output {}: {said}", o.name));
            }
        }
        self.outputs = texts;
        while let Some(event) = live.remote().and_then(crate::remote::Remote::next_event) {
            say_remote(&event, out);
        }
    }
}

/// What a phone said, in words.
fn phone_says(event: &PhoneEvent) -> String {
    let ordered = |is_ordered: &bool| if *is_ordered { "" } else { " by itself" };
    match event {
        PhoneEvent::Reachable => "answers".into(),
        PhoneEvent::Lost => "answers no longer".into(),
        PhoneEvent::Battery(share) => format!("battery {:.0} %", share * 100.0),
        PhoneEvent::Thermals(level) => {
            let words = ["nominal", "fair", "serious", "critical"];
            let index = usize::try_from(*level).unwrap_or(usize::MAX);
            format!("temperature {}", words.get(index).unwrap_or(&"unknown"))
        }
        PhoneEvent::RecordStarted { is_ordered, .. } => {
            format!("records{}", ordered(is_ordered))
        }
        PhoneEvent::RecordStopped {
            is_ordered,
            csv,
            mov,
            ..
        } => format!("has stopped recording{}: {csv} {mov}", ordered(is_ordered)),
        PhoneEvent::StartUnanswered => "was told four times to record and did not answer".into(),
        PhoneEvent::StopUnanswered => "was told four times to stop and did not answer".into(),
        PhoneEvent::AppActivated => "app at the front".into(),
        PhoneEvent::AppDeactivated => "app in the background or ended".into(),
        PhoneEvent::ArSession(true) => "camera and tracking run".into(),
        PhoneEvent::ArSession(false) => "camera and tracking ended".into(),
    }
}

fn say_remote(event: &RemoteEvent, out: Output) {
    match event {
        RemoteEvent::Phone { name, event } => {
            let text = phone_says(event);
            let value = json!({"event": "phone", "name": name, "what": text});
            out.say(&value, &format!("phone {name}: {text}"));
        }
        RemoteEvent::Trigger {
            from,
            is_start,
            name,
        } => {
            let value = json!({"event": "trigger", "from": from.to_string(), "start": is_start, "name": name});
            let what = if *is_start { "begins" } else { "ends" };
            out.say(&value, &format!("{from} {what} a capture {name}"));
        }
    }
}
