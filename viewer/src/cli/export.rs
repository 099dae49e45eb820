//! `ghostlight export`: takes to files that other programs open.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU32, Ordering},
};

use anyhow::bail;
use clap::{Args, ValueEnum};
use hub::FrameRate;
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use recordings::export::bvh::BvhNames;
use serde_json::json;

use crate::{
    cast,
    exporting::{BvhChoice, BvhRest, Exported, Format, Options, Stagecraft, Written, take_stem},
    output::{Outcome, Output},
};

/// Shares of a hundred between two reports of progress.
const REPORT_EVERY: u32 = 5;

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(super) enum FormatArg {
    /// Live Link Face CSV for faces; every column for other subjects
    Csv,
    /// glTF binary: Blender, Godot, any glTF player
    Glb,
    /// Bodies for nearly every program
    Bvh,
    /// Binary FBX 7.4: Unreal, Unity, Maya, Blender
    Fbx,
    /// USD text with UsdSkel: Houdini, Omniverse, Blender
    Usda,
    /// VRM animation for every VRM player
    Vrma,
    /// The take's sound, in hub time, with its timecode
    Wav,
}

impl From<FormatArg> for Format {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Csv => Self::Csv,
            FormatArg::Glb => Self::Glb,
            FormatArg::Bvh => Self::Bvh,
            FormatArg::Fbx => Self::Fbx,
            FormatArg::Usda => Self::Usda,
            FormatArg::Vrma => Self::Vrma,
            FormatArg::Wav => Self::Wav,
        }
    }
}

/// Bone names of a BVH.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum BvhNamesArg {
    /// The character's own
    #[default]
    Own,
    /// mixamorig:LeftArm
    Mixamo,
    /// Unreal's Manny and Quinn: upperarm_l
    Unreal,
    /// VRM 1.0: leftUpperArm
    Vrm,
    /// Rokoko Studio
    Rokoko,
    /// Blender's Rigify: upper_arm.L
    Rigify,
    /// CMU
    Cmu,
}

impl From<BvhNamesArg> for BvhNames {
    fn from(names: BvhNamesArg) -> Self {
        match names {
            BvhNamesArg::Own => Self::AsIs,
            BvhNamesArg::Mixamo => Self::Mixamo,
            BvhNamesArg::Unreal => Self::Unreal,
            BvhNamesArg::Vrm => Self::Vrm,
            BvhNamesArg::Rokoko => Self::Rokoko,
            BvhNamesArg::Rigify => Self::Rigify,
            BvhNamesArg::Cmu => Self::Cmu,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum BvhRestArg {
    /// A T-pose fitted to the character
    #[default]
    T,
    /// The character's own
    Own,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum BvhUnitArg {
    /// Centimetres, the habit
    #[default]
    Cm,
    /// Metres
    M,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum BvhFacingArg {
    /// As most tools write it
    #[default]
    #[value(name = "+z")]
    PlusZ,
    /// As Blender's importer assumes
    #[value(name = "-z")]
    MinusZ,
}

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "switches of a command line")]
pub(super) struct ExportArgs {
    /// The takes, finished or interrupted
    #[arg(required = true)]
    takes: Vec<PathBuf>,
    /// What to write (repeatable, or separated by commas)
    #[arg(
        long,
        value_enum,
        value_name = "csv|glb|bvh|fbx|usda|vrma|wav",
        required = true,
        value_delimiter = ','
    )]
    format: Vec<FormatArg>,
    /// Folder for the files
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Even frame rate, for example 24 or 29.97; default the take's own
    #[arg(long, value_name = "R")]
    rate: Option<FrameRate>,
    /// Only this subject
    #[arg(long, value_name = "NAME")]
    subject: Option<String>,
    /// Who acts: a GLB, glTF or VRM file, or "builtin"
    #[arg(long, value_name = "FILE|builtin", default_value = cast::BUILTIN)]
    character: PathBuf,
    /// What you decided about body and face (TOML); without it everything is found
    #[arg(long, value_name = "FILE")]
    asset: Option<PathBuf>,
    /// The performer's calibration (TOML)
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Leave a VRM's springs at rest
    #[arg(long)]
    no_springs: bool,
    /// VRMA: give the upper chest a track of its own; models without one lose its turn
    #[arg(long)]
    vrma_upper_chest: bool,
    /// The take as it was recorded, whatever TAKE.edits.toml beside it says
    #[arg(long, conflicts_with = "part")]
    no_edits: bool,
    /// Only this part, by its name in TAKE.edits.toml
    #[arg(long, value_name = "NAME")]
    part: Option<String>,
    /// Filter without delay, take out spikes and bridge gaps, now that the future is known
    #[arg(long)]
    offline: bool,
    /// Write what the judges in tests/peers compare with
    #[arg(long, hide = true)]
    truth: bool,
    /// BVH: names of the bones
    #[arg(long, value_enum, default_value_t)]
    bvh_names: BvhNamesArg,
    /// BVH: the pose in which all angles are zero
    #[arg(long, value_enum, default_value_t)]
    bvh_rest: BvhRestArg,
    /// BVH: what a number measures
    #[arg(long, value_enum, default_value_t)]
    bvh_unit: BvhUnitArg,
    /// BVH: where the character looks
    #[arg(long, value_enum, default_value_t, allow_hyphen_values = true)]
    bvh_facing: BvhFacingArg,
}

impl ExportArgs {
    fn options(&self) -> Options {
        let mut formats: Vec<Format> = Vec::new();
        for format in &self.format {
            let format = (*format).into();
            if !formats.contains(&format) {
                formats.push(format);
            }
        }
        Options {
            formats,
            rate: self.rate,
            subject: self.subject.clone(),
            character: self.character.clone(),
            asset: self.asset.clone(),
            profile: self.profile.clone(),
            bvh: BvhChoice {
                names: self.bvh_names.into(),
                rest: match self.bvh_rest {
                    BvhRestArg::T => BvhRest::T,
                    BvhRestArg::Own => BvhRest::Own,
                },
                metres: self.bvh_unit == BvhUnitArg::M,
                facing_minus_z: self.bvh_facing == BvhFacingArg::MinusZ,
            },
            springs: !self.no_springs,
            vrma_upper_chest: self.vrma_upper_chest,
            edits: !self.no_edits,
            part: self.part.clone(),
            offline: self.offline,
            truth: self.truth,
        }
    }
}

pub(super) fn run(args: &ExportArgs, out: Output) -> anyhow::Result<Outcome> {
    export(&args.takes, &args.out, args.options(), out).map(|(outcome, _)| outcome)
}

/// Shares done of all takes together, told now and then.
struct Overall {
    /// In ten-thousandths, one per take.
    shares: Vec<AtomicU32>,
    told: AtomicU32,
    out: Output,
}

impl Overall {
    fn tell(&self, take: usize, share: f32) {
        if let Some(place) = self.shares.get(take) {
            place.store((share * 1e4) as u32, Ordering::Relaxed);
        }
        let sum: u32 = self.shares.iter().map(|s| s.load(Ordering::Relaxed)).sum();
        let percent = sum / (100 * self.shares.len().max(1) as u32);
        let told = self.told.load(Ordering::Relaxed);
        let is_due = percent >= told + REPORT_EVERY;
        // Whoever is first tells it.
        if is_due
            && self
                .told
                .compare_exchange(told, percent, Ordering::Relaxed, Ordering::Relaxed)
                .is_ok()
        {
            let event = json!({"event": "progress", "share": f64::from(percent) / 100.0});
            if self.out.is_json() {
                self.out.say(&event, "");
            } else if self.out.is_terminal() {
                self.out.note(&format!("  {percent} %"));
            }
        }
    }
}

/// Writes the files of all takes, several at once; returns their paths.
pub(super) fn export(
    takes: &[PathBuf],
    folder: &Path,
    options: Options,
    out: Output,
) -> anyhow::Result<(Outcome, Vec<PathBuf>)> {
    let mut stems = HashSet::new();
    for take in takes {
        if !stems.insert(take_stem(take).to_lowercase()) {
            bail!(
                "two takes are called {}: their files would overwrite each other; export one to another folder",
                take.display()
            );
        }
    }
    let craft = Stagecraft::new(options)?;
    let overall = Overall {
        shares: takes.iter().map(|_| AtomicU32::new(0)).collect(),
        told: AtomicU32::new(0),
        out,
    };
    let numbered: Vec<(usize, &PathBuf)> = takes.iter().enumerate().collect();
    let results: Vec<(&PathBuf, anyhow::Result<Exported>)> = numbered
        .par_iter()
        .map(|(index, take)| {
            let progress = |share: f32| {
                overall.tell(*index, share);
                true
            };
            let done = craft.export(take, folder, &progress);
            overall.tell(*index, 1.0);
            (*take, done)
        })
        .collect();
    let mut outcome = Outcome::Success;
    let mut paths = Vec::new();
    let mut failures = Vec::new();
    for (take, result) in results {
        match result {
            Ok(exported) => {
                outcome = outcome.and(Outcome::lossy(exported.is_lossy));
                for warning in &exported.warnings {
                    out.warn(warning);
                }
                for written in &exported.written {
                    say(written, out);
                    paths.push(written.path.clone());
                }
            }
            Err(error) => failures.push(format!("{}: {error:#}", take.display())),
        }
    }
    if paths.is_empty() || takes.len() == 1 && !failures.is_empty() {
        bail!("{}", failures.join("\n"));
    }
    for failure in &failures {
        out.warn(failure);
        outcome = Outcome::WithLoss;
    }
    Ok((outcome, paths))
}

fn say(written: &Written, out: Output) {
    let event = json!({
        "event": "export",
        "format": written.format.as_str(),
        "path": written.path,
        "subject": written.subject.as_ref().map(|s| s.name.as_str()),
        "frames": written.frames,
        "filled": written.filled,
        "rate": written.rate,
        "seconds": written.secs,
        "bytes": std::fs::metadata(&written.path).map_or(0, |m| m.len()),
        "renamed": written.names.len(),
        "notes": written.notes,
    });
    let mut sentence = format!(
        "{}: {} frames at {} per second, {} filled",
        written.path.display(),
        written.frames,
        written.rate,
        written.filled
    );
    for note in &written.notes {
        sentence.push_str("\n  ");
        sentence.push_str(note);
    }
    out.say(&event, &sentence);
}
