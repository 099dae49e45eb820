//! What an operator can tell a running hub: plain data, the same from a line of text, a stage file that was
//! saved again, a desk's OSC, or a panel.

use hub::process::Step;
use serde::{Deserialize, Serialize};

/// One command.
///
/// As text it is one JSON object, for example
/// `{"command": "subject", "name": "iPhone", "paused": true}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// Begins a take. Without a slate the last one is used; without a number the next free one.
    Record(Record),
    /// Ends the take.
    Stop(Stop),
    /// Notes a moment in the take.
    Mark(Mark),
    /// Changes how a subject is treated; what is left out stays.
    Subject(SubjectChange),
    /// Switches one processor of a subject.
    Processor(ProcessorSwitch),
    /// Switches an output.
    Output(OutputSwitch),
    /// Starts another source.
    AddSource(SourceText),
    /// Ends a source.
    RemoveSource(SourcePlace),
    /// Tells every phone under remote control something.
    Phones(PhoneOrder),
}

/// See [`Command::Record`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Record {
    /// What the take is called, in any script.
    pub slate: Option<String>,
    /// Take number.
    pub take: Option<u32>,
}

/// See [`Command::Stop`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stop {}

/// See [`Command::Mark`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Mark {
    /// What happened; at most 256 bytes are kept.
    pub text: String,
}

/// See [`Command::Subject`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SubjectChange {
    /// Subject name as the device sends it.
    pub name: String,
    /// Only of the source whose id begins like this.
    pub source: Option<String>,
    /// Whether answers are given for it.
    pub enabled: Option<bool>,
    /// Whether outputs send it.
    pub send: Option<bool>,
    /// Whether outputs hold its pose.
    pub paused: Option<bool>,
    /// Whether takes hold it.
    pub record: Option<bool>,
    /// The name under which outputs send it; empty for its own.
    pub outbound_name: Option<String>,
    /// Its processors, in place of those it has.
    pub process: Option<Vec<Step>>,
}

/// See [`Command::Processor`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessorSwitch {
    /// Subject name.
    pub subject: String,
    /// Number of the processor in the subject's chain, from 0.
    pub index: usize,
    /// On or off.
    pub enabled: bool,
}

/// See [`Command::Output`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OutputSwitch {
    /// The output's name, or its number from 1.
    pub name: String,
    /// On or off.
    pub enabled: bool,
}

/// See [`Command::AddSource`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourceText {
    /// A source as `--source` takes it, such as `vmc=0.0.0.0:39539`; or TOML as in the stage file below `[[source]]`.
    pub source: String,
}

/// See [`Command::RemoveSource`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SourcePlace {
    /// Its kind.
    pub kind: String,
    /// The address it listens on or connects to; for a file the id of its source.
    pub place: String,
}

/// See [`Command::Phones`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhoneOrder {
    /// What to do.
    pub order: PhoneDo,
}

/// What phones can be told besides recording, which they follow by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PhoneDo {
    /// Begin to stream.
    StreamStart,
    /// Stop streaming.
    StreamStop,
    /// Tell battery and temperature.
    Query,
}

impl Command {
    /// Reads one line of text.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub fn parse(line: &str) -> Result<Self, String> {
        serde_json::from_str(line).map_err(|e| {
            format!(
                "{e}; expected a command such as {{\"command\": \"record\", \"slate\": \"Scene1\"}}"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_read_from_text_and_mistakes_are_named() {
        let record = Command::parse(r#"{"command": "record", "slate": "場面1"}"#).unwrap();
        assert_eq!(
            record,
            Command::Record(Record {
                slate: Some("場面1".into()),
                take: None
            })
        );
        assert_eq!(
            Command::parse(r#"{"command": "stop"}"#).unwrap(),
            Command::Stop(Stop {})
        );
        let unknown = Command::parse(r#"{"command": "subject", "nam": "x"}"#).unwrap_err();
        assert!(unknown.contains("nam"), "{unknown}");
        let none = Command::parse(r#"{"command": "dance"}"#).unwrap_err();
        assert!(none.contains("dance") && none.contains("record"), "{none}");
    }

    #[test]
    fn a_command_survives_being_written() {
        let pause = Command::Subject(SubjectChange {
            name: "演員".into(),
            paused: Some(true),
            ..SubjectChange::default()
        });
        let text = serde_json::to_string(&pause).unwrap();
        assert_eq!(Command::parse(&text).unwrap(), pause);
    }
}
