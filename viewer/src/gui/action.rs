//! What an operator does in the window.

use std::path::PathBuf;

use super::{Choices, Plot, Theme};
use crate::command::Command;

/// A panel.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum Pane {
    /// Sources and subjects.
    Subjects,
    /// The chosen subject.
    Details,
    /// Characters on the stage.
    Viewport,
    /// Plots, bars and hand sliders.
    Curves,
    /// Timecode, slate, record.
    Record,
    /// Recorded takes.
    Takes,
    /// Why something does not move.
    Doctor,
    /// What happened.
    Log,
}

impl Pane {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Subjects,
        Self::Details,
        Self::Viewport,
        Self::Curves,
        Self::Record,
        Self::Takes,
        Self::Doctor,
        Self::Log,
    ];

    /// Its title.
    pub fn title(self) -> &'static str {
        match self {
            Self::Subjects => "Subjects",
            Self::Details => "Details",
            Self::Viewport => "Stage",
            Self::Curves => "Curves",
            Self::Record => "Record",
            Self::Takes => "Takes",
            Self::Doctor => "Doctor",
            Self::Log => "Log",
        }
    }
}

/// What is looked at frame by frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watching {
    /// Subjects, by number.
    pub ids: Vec<u32>,
    /// Frames per second.
    pub per_sec: f32,
}

/// A window above the others.
#[derive(Clone, Debug, PartialEq)]
pub enum Dialog {
    /// Add a source: the kind chosen so far, the address and what else is typed.
    AddSource {
        /// A protocol's name, once chosen.
        kind: Option<String>,
        /// Where it listens.
        address: String,
    },
    /// Show a subject on a character's file.
    Character {
        /// The subject.
        id: u32,
        /// The path typed so far.
        path: String,
    },
    /// Export takes.
    Export {
        /// Which.
        takes: Vec<PathBuf>,
        /// Formats by name.
        formats: Vec<String>,
        /// The character's file, or `builtin`.
        character: String,
        /// Frames per second; empty for the take's own.
        rate: String,
        /// Where to.
        folder: PathBuf,
    },
    /// Keys and what they do.
    Keys,
    /// Close while a take is made?
    Quit,
}

/// One thing an operator does.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Tell the hub.
    Hub(Command),
    /// Begin a take, or end it.
    ToggleRecord,
    /// Note this moment.
    Mark(String),
    /// What the next take is called.
    Slate(String),
    /// Look at a subject.
    Select(Option<u32>),
    /// Show subjects whose name or source has this.
    Filter(String),
    /// Sort subjects by a column, again for the other way round.
    Sort(&'static str),
    /// Plot a curve or a bone's rotation, or no more.
    Plot(Plot),
    /// Override a curve of the shown subject by hand; `None` lets go.
    Hand {
        /// The curve's name.
        curve: String,
        /// 0..=1.
        value: Option<f32>,
    },
    /// Show a subject on a character in the viewport.
    Stage {
        /// The subject.
        id: u32,
        /// The character's file, `builtin`, or `None` to take it off.
        character: Option<PathBuf>,
    },
    /// Change what the viewport shows.
    Choices(Box<Choices>),
    /// Look at the takes again.
    ListTakes,
    /// Choose takes.
    ChooseTakes(Vec<PathBuf>),
    /// Play a take in the viewport.
    Play(PathBuf),
    /// Playback: pause or go on.
    Pause(bool),
    /// Playback: go to this second.
    Seek(f64),
    /// Playback: begin again at the end.
    Loop(bool),
    /// Playback ends.
    StopPlaying,
    /// Notes and a rating of a take, kept beside it.
    Annotate {
        /// The take.
        take: PathBuf,
        /// 0 for none, 1..=5.
        rating: u8,
        /// Words.
        notes: String,
    },
    /// Export as the dialog says.
    Export,
    /// Stop an export.
    CancelJob(u64),
    /// Ask why something does not move.
    Diagnose,
    /// Open a window above the others.
    Open(Dialog),
    /// Close it.
    Close,
    /// Light or dark.
    Theme(Theme),
    /// Size of everything, 1..=2.
    Zoom(f32),
    /// Show or hide a panel.
    TogglePane(Pane),
    /// Panels as at first.
    ResetLayout,
    /// End the hub: what it records is finished.
    EndHub,
    /// End the program.
    Quit,
}
