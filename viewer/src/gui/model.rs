//! Everything that the panels read.

use std::{
    collections::{BTreeMap, VecDeque},
    path::{Path, PathBuf},
    sync::Arc,
};

use hub::{FrameData, FrameMeta, StaticData};
use serde::{Deserialize, Serialize};

use super::{Action, Dialog, Pane, Watching};
use crate::{
    command::{Command, Mark, Record, Stop},
    desk::message::{Event, Finding, Snapshot, SubjectRow, Weight},
};

/// Lines of the log.
const MAX_LOG: usize = 1000;
/// Most curves plotted at once.
pub const MAX_PLOTS: usize = 8;
/// Points of a plot: ten seconds at 60 Hz.
const MAX_POINTS: usize = 600;

/// Light or dark.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Theme {
    /// For a dark stage.
    #[default]
    Dark,
    /// For a bright room.
    Light,
}

/// What is plotted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plot {
    /// A curve, by name.
    Curve(String),
    /// How far a bone is turned from rest, by name, degrees.
    Bone(String),
}

/// What the viewport shows, and from where.
#[expect(clippy::struct_excessive_bools, reason = "each is a box to tick")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Choices {
    /// `body`, `face`, `follow`, or the name of a subject that is a camera.
    pub camera: String,
    /// Bones as lines.
    pub skeleton: bool,
    /// Axes of joints.
    pub axes: bool,
    /// Boxes around what is drawn.
    pub bounds: bool,
    /// Velocities of joints.
    pub velocity: bool,
    /// The performer's own bones beside the character.
    pub source: bool,
    /// Contacts, goals and errors of the retargeter.
    pub retarget: bool,
    /// The ground's grid.
    pub grid: bool,
}

impl Default for Choices {
    fn default() -> Self {
        Self {
            camera: "body".into(),
            skeleton: false,
            axes: false,
            bounds: false,
            velocity: false,
            source: false,
            retarget: false,
            grid: true,
        }
    }
}

/// One take of the list.
#[derive(Clone, Debug, PartialEq)]
pub struct TakeRow {
    /// The file.
    pub path: PathBuf,
    /// Slate.
    pub slate: String,
    /// Take number.
    pub take: u32,
    /// Date.
    pub date: String,
    /// `good`, `with loss`, `recovered`, …
    pub status: String,
    /// Whether all is well with it.
    pub good: bool,
    /// Seconds.
    pub secs: f64,
    /// Names of its subjects.
    pub subjects: Vec<String>,
    /// Frames that are missing.
    pub lost: u64,
    /// Size.
    pub bytes: u64,
    /// 0 for none, 1..=5.
    pub rating: u8,
    /// Words.
    pub notes: String,
}

/// How a job stands.
#[derive(Clone, Debug, PartialEq)]
pub enum JobState {
    /// Share done, 0..=1.
    Running(f32),
    /// What came of it.
    Done(String),
    /// Why not.
    Failed(String),
    /// Stopped by the operator.
    Cancelled,
}

/// Something that takes time.
#[derive(Clone, Debug, PartialEq)]
pub struct Job {
    /// Its number.
    pub number: u64,
    /// What it is, in words.
    pub title: String,
    /// How it stands.
    pub state: JobState,
}

/// A take that plays in the viewport.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Playing {
    /// The take.
    pub path: PathBuf,
    /// Where, seconds.
    pub at_secs: f64,
    /// How long, seconds.
    pub of_secs: f64,
    /// Whether it stands still.
    pub paused: bool,
    /// Whether it begins again at the end.
    pub looping: bool,
    /// Its subjects, by name.
    pub subjects: Vec<String>,
}

/// A watched subject as the panels see it.
#[derive(Clone, Debug)]
pub struct Watched {
    /// See [`SubjectRow::id`].
    pub id: u32,
    /// Names and hierarchy.
    pub statics: Arc<StaticData>,
    /// The newest values.
    pub frame: Option<FrameData>,
    /// When and how they came.
    pub meta: FrameMeta,
}

/// Everything that the panels read.
#[derive(Clone, Debug, Default)]
pub struct Model {
    /// The hub's state; `None` until it told it.
    pub snapshot: Option<Arc<Snapshot>>,
    /// The program that runs the hub.
    pub program: String,
    /// Whether this window started the hub, and so ends it.
    pub owns_hub: bool,
    /// Why there is no hub, if so.
    pub no_hub: Option<String>,
    /// Subjects that are watched frame by frame.
    pub watched: Vec<Watched>,
    /// The subject looked at.
    pub selected: Option<u32>,
    /// Filter of the list.
    pub filter: String,
    /// Column sorted by, and whether the other way round.
    pub sort: (&'static str, bool),
    /// What is plotted.
    pub plots: BTreeMap<Plot, VecDeque<[f64; 2]>>,
    /// Curves held by hand.
    pub hands: BTreeMap<String, f32>,
    /// Which subject is which character in the viewport.
    pub stage: BTreeMap<u32, PathBuf>,
    /// Whether anyone was ever put there.
    pub has_staged: bool,
    /// What the viewport shows.
    pub choices: Choices,
    /// What the next take is called, while it is typed.
    pub slate: Option<String>,
    /// Takes of the folder.
    pub takes: Vec<TakeRow>,
    /// Those chosen.
    pub chosen: Vec<PathBuf>,
    /// What plays.
    pub playing: Option<Playing>,
    /// What takes time.
    pub jobs: Vec<Job>,
    /// What the doctor found, once asked.
    pub diagnosis: Option<Vec<Finding>>,
    /// Whether the doctor was asked and has not answered.
    pub is_diagnosing: bool,
    /// What happened, newest last.
    pub log: VecDeque<Event>,
    /// The last thing the operator was told, and whether it is bad.
    pub notice: Option<(String, bool)>,
    /// The window above the others.
    pub dialog: Option<Dialog>,
    /// Light or dark.
    pub theme: Theme,
    /// Size of everything, 1..=2.
    pub zoom: f32,
    /// Text of what cannot be drawn for want of a font, in words.
    pub font_note: Option<String>,
}

/// What has to be done outside the model.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Tell the hub.
    Hub(Command),
    /// Ask the hub's doctor.
    Diagnose,
    /// Tell the hub what is watched.
    Watch(Watching),
    /// Look at the takes.
    ListTakes,
    /// Write a take's notes.
    Annotate(PathBuf, u8, String),
    /// Play a take.
    Play(PathBuf),
    /// The playback stands at this second, paused or not, looping or not.
    Playback(Playing),
    /// Nothing plays.
    StopPlaying,
    /// Export as the dialog said.
    Export(Dialog),
    /// Stop a job.
    CancelJob(u64),
    /// Panels: show or hide one.
    TogglePane(Pane),
    /// Panels as at first.
    ResetLayout,
    /// End the hub.
    EndHub,
    /// Close the window; a hub that it started ends with it.
    Quit,
}

impl Model {
    /// A window that has just opened.
    pub fn new() -> Self {
        Self {
            zoom: 1.0,
            sort: ("name", false),
            ..Self::default()
        }
    }

    /// The rows to show, filtered and sorted.
    pub fn rows(&self) -> Vec<&SubjectRow> {
        let Some(snapshot) = &self.snapshot else {
            return Vec::new();
        };
        let wanted = self.filter.to_lowercase();
        let mut rows: Vec<_> = snapshot
            .subjects
            .iter()
            .filter(|r| {
                wanted.is_empty()
                    || r.name.to_lowercase().contains(&wanted)
                    || r.source.to_lowercase().contains(&wanted)
            })
            .collect();
        let number = |a: f64, b: f64| a.total_cmp(&b);
        rows.sort_by(|a, b| {
            let order = match self.sort.0 {
                "source" => a.source.cmp(&b.source),
                "role" => a.role.cmp(&b.role),
                "state" => (a.state as u8).cmp(&(b.state as u8)),
                "rate" => number(a.rate_hz, b.rate_hz),
                "latency" => number(
                    a.latency_ms.map_or(0.0, |l| l[0]),
                    b.latency_ms.map_or(0.0, |l| l[0]),
                ),
                "jitter" => number(a.jitter_ms, b.jitter_ms),
                "loss" => a.lost.cmp(&b.lost),
                _ => a.name.cmp(&b.name),
            };
            let order = order.then_with(|| (&a.name, a.id).cmp(&(&b.name, b.id)));
            if self.sort.1 { order.reverse() } else { order }
        });
        rows
    }

    /// The row looked at.
    pub fn selected_row(&self) -> Option<&SubjectRow> {
        let id = self.selected?;
        let snapshot = self.snapshot.as_ref()?;
        snapshot.subjects.iter().find(|r| r.id == id)
    }

    /// The values of a watched subject.
    pub fn watched(&self, id: u32) -> Option<&Watched> {
        self.watched.iter().find(|w| w.id == id)
    }

    /// Whether a take is made.
    pub fn is_recording(&self) -> bool {
        self.snapshot
            .as_ref()
            .is_some_and(|s| s.recording.is_some())
    }

    /// What the next take is called: what was typed, or what the hub says.
    pub fn next_slate(&self) -> &str {
        match (&self.slate, &self.snapshot) {
            (Some(typed), _) => typed,
            (None, Some(snapshot)) => &snapshot.next_slate,
            (None, None) => "",
        }
    }

    /// Subjects that have to be watched frame by frame for what is shown.
    pub fn wanted(&self) -> Watching {
        let mut ids: Vec<u32> = self.stage.keys().copied().collect();
        ids.extend(self.selected);
        if let Some(snapshot) = &self.snapshot {
            let camera = snapshot
                .subjects
                .iter()
                .find(|r| r.role == "camera" && r.name == self.choices.camera);
            ids.extend(camera.map(|r| r.id));
            ids.retain(|id| snapshot.subjects.iter().any(|r| r.id == *id));
        }
        ids.sort_unstable();
        ids.dedup();
        Watching { ids, per_sec: 60.0 }
    }

    /// Does one thing; what has to be done outside is added to `effects`.
    pub fn apply(&mut self, action: Action, effects: &mut Vec<Effect>) {
        match action {
            Action::Hub(command) => effects.push(Effect::Hub(command)),
            Action::ToggleRecord => {
                let command = if self.is_recording() {
                    Command::Stop(Stop {})
                } else {
                    Command::Record(Record {
                        slate: self.slate.clone(),
                        take: None,
                    })
                };
                effects.push(Effect::Hub(command));
            }
            Action::Mark(text) => effects.push(Effect::Hub(Command::Mark(Mark { text }))),
            Action::Slate(slate) => self.slate = Some(slate),
            Action::Select(id) => {
                if self.selected != id {
                    self.selected = id;
                    self.plots.clear();
                    self.hands.clear();
                }
            }
            Action::Filter(text) => self.filter = text,
            Action::Sort(column) => {
                let again = self.sort.0 == column;
                self.sort = (column, again && !self.sort.1);
            }
            Action::Plot(plot) => {
                if self.plots.remove(&plot).is_none() && self.plots.len() < MAX_PLOTS {
                    self.plots.insert(plot, VecDeque::new());
                }
            }
            Action::Hand { curve, value } => match value {
                Some(value) => {
                    self.hands.insert(curve, value.clamp(0.0, 1.0));
                }
                None => {
                    self.hands.remove(&curve);
                }
            },
            Action::Stage { id, character } => match character {
                Some(file) => {
                    self.stage.insert(id, file);
                }
                None => {
                    self.stage.remove(&id);
                }
            },
            Action::Choices(choices) => self.choices = *choices,
            Action::ListTakes => effects.push(Effect::ListTakes),
            Action::ChooseTakes(takes) => self.chosen = takes,
            Action::Play(path) => effects.push(Effect::Play(path)),
            Action::Pause(paused) => self.playback(effects, |p| p.paused = paused),
            Action::Seek(secs) => {
                self.playback(effects, |p| p.at_secs = secs.clamp(0.0, p.of_secs));
            }
            Action::Loop(looping) => self.playback(effects, |p| p.looping = looping),
            Action::StopPlaying => {
                self.playing = None;
                effects.push(Effect::StopPlaying);
            }
            Action::Annotate {
                take,
                rating,
                notes,
            } => {
                if let Some(row) = self.takes.iter_mut().find(|t| t.path == take) {
                    row.rating = rating;
                    row.notes.clone_from(&notes);
                }
                effects.push(Effect::Annotate(take, rating, notes));
            }
            Action::Export => {
                if let Some(dialog @ Dialog::Export { .. }) = self.dialog.take() {
                    effects.push(Effect::Export(dialog));
                }
            }
            Action::CancelJob(number) => effects.push(Effect::CancelJob(number)),
            Action::Diagnose => {
                self.is_diagnosing = true;
                effects.push(Effect::Diagnose);
            }
            Action::Open(dialog) => self.dialog = Some(dialog),
            Action::Close => self.dialog = None,
            Action::Theme(theme) => self.theme = theme,
            Action::Zoom(zoom) => self.zoom = zoom.clamp(1.0, 2.0),
            Action::TogglePane(pane) => effects.push(Effect::TogglePane(pane)),
            Action::ResetLayout => effects.push(Effect::ResetLayout),
            Action::EndHub => effects.push(Effect::EndHub),
            Action::Quit => {
                if self.is_recording() && self.owns_hub && self.dialog != Some(Dialog::Quit) {
                    self.dialog = Some(Dialog::Quit);
                } else {
                    effects.push(Effect::Quit);
                }
            }
        }
    }

    fn playback(&mut self, effects: &mut Vec<Effect>, change: impl FnOnce(&mut Playing)) {
        if let Some(playing) = &mut self.playing {
            change(playing);
            effects.push(Effect::Playback(playing.clone()));
        }
    }

    /// What the hub says now.
    pub fn take_snapshot(&mut self, snapshot: Arc<Snapshot>) {
        self.no_hub = None;
        if let Some(id) = self.selected
            && !snapshot.subjects.iter().any(|r| r.id == id)
        {
            self.selected = None;
        }
        if self.selected.is_none() {
            self.selected = snapshot.subjects.first().map(|r| r.id);
        }
        // Whoever comes first is seen at once; from then on it is the operator's choice.
        if !self.has_staged
            && let Some(first) = snapshot.subjects.iter().find(|r| can_act(r))
        {
            self.has_staged = true;
            self.stage.insert(first.id, crate::cast::BUILTIN.into());
        }
        // A slate that was typed and used is the hub's own now.
        if self.slate.as_deref() == Some(&*snapshot.next_slate) {
            self.slate = None;
        }
        self.snapshot = Some(snapshot);
    }

    /// Something happened; what repeats is one line.
    pub fn take_event(&mut self, event: Event) {
        if event.weight >= Weight::Warning {
            self.notice = Some((event.text.clone(), event.weight == Weight::Error));
        }
        if let Some(last) = self.log.back_mut()
            && last.text == event.text
        {
            last.times += event.times;
            last.at = event.at;
            return;
        }
        if self.log.len() == MAX_LOG {
            self.log.pop_front();
        }
        self.log.push_back(event);
    }

    /// Values of the subject looked at, at a time in seconds: the plots grow.
    pub fn take_values(&mut self, at_secs: f64) {
        let Some(watched) = self
            .selected
            .and_then(|id| self.watched.iter().find(|w| w.id == id))
        else {
            return;
        };
        for (plot, points) in &mut self.plots {
            let Some(value) = value_of(watched, plot) else {
                continue;
            };
            if points.back().is_some_and(|p| p[0] >= at_secs) {
                continue;
            }
            if points.len() == MAX_POINTS {
                points.pop_front();
            }
            points.push_back([at_secs, value]);
        }
    }

    /// The take of a path.
    pub fn take(&self, path: &Path) -> Option<&TakeRow> {
        self.takes.iter().find(|t| t.path == path)
    }
}

/// Whether a subject can drive a character.
fn can_act(row: &SubjectRow) -> bool {
    match row.role.as_str() {
        "animation" => row.num_bones > 0 || row.num_curves > 0,
        // A face has curves by the dozen; a fader has a few.
        "basic" => row.num_curves >= 20,
        _ => false,
    }
}

/// The value of a plot now.
fn value_of(watched: &Watched, plot: &Plot) -> Option<f64> {
    let frame = watched.frame.as_ref()?;
    match plot {
        Plot::Curve(name) => {
            let of = |p: &hub::Property| p.name == *name;
            let index = watched.statics.properties.iter().position(of)?;
            frame.properties.get(index).map(|v| f64::from(*v))
        }
        Plot::Bone(name) => {
            let skeleton = watched.statics.skeleton()?;
            let index = skeleton.bone_names.iter().position(|n| n == name)?;
            let local = frame.transforms().get(index)?;
            let rest = skeleton
                .rest
                .get(index)
                .map_or(glam::Quat::IDENTITY, |r| r.rotation);
            let angle = rest.angle_between(local.rotation);
            Some(f64::from(angle.to_degrees()))
        }
    }
}

#[cfg(test)]
mod tests {
    use hub::{SubjectState, client::SourceSettings};

    use super::*;
    use crate::desk::message::{BufferRow, RecordingRow};

    pub(crate) fn row(id: u32, name: &str, rate_hz: f64) -> SubjectRow {
        SubjectRow {
            id,
            name: name.into(),
            source: "test/1".into(),
            role: "basic".into(),
            state: SubjectState::Connected,
            enabled: true,
            conflicts: false,
            recorded: true,
            sent: true,
            paused: false,
            outbound_name: None,
            rate_hz,
            jitter_ms: 0.0,
            latency_ms: None,
            received: 0,
            lost: 0,
            late: 0,
            duplicate: 0,
            refused: 0,
            untracked: 0,
            clock_steps: 0,
            silent_secs: 0.0,
            timecode: None,
            buffer: BufferRow::default(),
            num_curves: 0,
            num_bones: 0,
            steps: Vec::new(),
            settings: SourceSettings::default(),
        }
    }

    fn model(rows: Vec<SubjectRow>) -> Model {
        let mut model = Model::new();
        model.take_snapshot(Arc::new(Snapshot {
            subjects: rows,
            ..Snapshot::default()
        }));
        model
    }

    fn names(model: &Model) -> Vec<&str> {
        model.rows().iter().map(|r| r.name.as_str()).collect()
    }

    fn done(model: &mut Model, action: Action) -> Vec<Effect> {
        let mut effects = Vec::new();
        model.apply(action, &mut effects);
        effects
    }

    #[test]
    fn rows_are_filtered_whatever_the_case_and_sorted_both_ways() {
        let mut model = model(vec![
            row(0, "演員", 60.0),
            row(1, "Body", 100.0),
            row(2, "face", 30.0),
        ]);
        done(&mut model, Action::Sort("rate"));
        assert_eq!(names(&model), ["face", "演員", "Body"]);
        done(&mut model, Action::Sort("rate"));
        assert_eq!(names(&model), ["Body", "演員", "face"]);
        done(&mut model, Action::Filter("BO".into()));
        assert_eq!(names(&model), ["Body"]);
        done(&mut model, Action::Filter("演".into()));
        assert_eq!(names(&model), ["演員"]);
    }

    #[test]
    fn record_toggles_and_quitting_while_recording_asks_first() {
        let mut model = model(Vec::new());
        model.owns_hub = true;
        done(&mut model, Action::Slate("場面1".into()));
        let began = done(&mut model, Action::ToggleRecord);
        let record = Record {
            slate: Some("場面1".into()),
            take: None,
        };
        assert_eq!(began, [Effect::Hub(Command::Record(record))]);
        model.take_snapshot(Arc::new(Snapshot {
            recording: Some(RecordingRow::default()),
            ..Snapshot::default()
        }));
        assert_eq!(
            done(&mut model, Action::ToggleRecord),
            [Effect::Hub(Command::Stop(Stop {}))]
        );
        assert_eq!(done(&mut model, Action::Quit), []);
        assert_eq!(model.dialog, Some(Dialog::Quit));
        assert_eq!(done(&mut model, Action::Quit), [Effect::Quit]);
    }

    #[test]
    fn a_subject_that_goes_is_no_longer_looked_at() {
        let mut model = model(vec![row(4, "a", 1.0), row(5, "b", 1.0)]);
        done(&mut model, Action::Select(Some(5)));
        assert_eq!(model.wanted().ids, [5]);
        model.take_snapshot(Arc::new(Snapshot {
            subjects: vec![row(4, "a", 1.0)],
            ..Snapshot::default()
        }));
        assert_eq!(model.selected, Some(4));
    }

    #[test]
    fn what_repeats_is_one_line_of_the_log() {
        let mut model = Model::new();
        for _ in 0..3 {
            model.take_event(Event {
                at: "12:00:00".into(),
                weight: Weight::Note,
                text: "again".into(),
                times: 1,
            });
        }
        assert_eq!(model.log.len(), 1);
        assert_eq!(model.log[0].times, 3);
        assert_eq!(model.notice, None);
    }
}
