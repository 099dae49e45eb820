//! Takes to files that other programs open: each subject acted out by a character, each format by its writer.

mod edits;
mod scene;
mod sidecar;
mod truth;
mod write;

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context as _, bail};
use characters::Geometry;
use drive::{Double, DoubleSettings, Figure, PuppetAsset};
use hub::{FrameRate, StaticData, SubjectKey, client::SourceSettings};
use recordings::{
    act::{self, Acted},
    bake::{Rows, bake},
    edit::{Edits, Orders},
    export::{bvh::BvhNames, csv, scene::MAX_FRAMES},
    naming,
    offline::{self, Offline},
    performance::{Generation, Performance, TakeContent},
};
use retarget::face::Profile;
use serde_json::Value;

use crate::cast;

/// What can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Live Link Face's 61 curves and timecode for faces; every column for everything else.
    Csv,
    /// glTF binary.
    Glb,
    /// Bodies.
    Bvh,
    /// Binary FBX 7.4.
    Fbx,
    /// USD text.
    Usda,
    /// VRM animation.
    Vrma,
    /// The take's sound.
    Wav,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Csv,
        Self::Glb,
        Self::Bvh,
        Self::Fbx,
        Self::Usda,
        Self::Vrma,
        Self::Wav,
    ];

    /// Its name, which is its file's extension.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Glb => "glb",
            Self::Bvh => "bvh",
            Self::Fbx => "fbx",
            Self::Usda => "usda",
            Self::Vrma => "vrma",
            Self::Wav => "wav",
        }
    }

    /// Whether a character acts in it.
    fn is_acted(self) -> bool {
        !matches!(self, Self::Csv | Self::Wav)
    }
}

/// Which pose of a BVH has all angles zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BvhRest {
    /// A T-pose fitted to the character.
    #[default]
    T,
    /// The character's own.
    Own,
}

/// How a BVH is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BvhChoice {
    /// Names of the bones.
    pub names: BvhNames,
    /// Pose at rest.
    pub rest: BvhRest,
    /// Metres in place of centimetres.
    pub metres: bool,
    /// Facing −Z, as Blender's importer assumes.
    pub facing_minus_z: bool,
}

/// What is wanted.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches that have nothing to do with each other"
)]
pub struct Options {
    /// Formats.
    pub formats: Vec<Format>,
    /// Even rate; the take's own without.
    pub rate: Option<FrameRate>,
    /// Only this subject.
    pub subject: Option<String>,
    /// The character: a file, or `builtin`.
    pub character: PathBuf,
    /// What a person decided about body and face.
    pub asset: Option<PathBuf>,
    /// The performer's calibration.
    pub profile: Option<PathBuf>,
    /// BVH.
    pub bvh: BvhChoice,
    /// A VRM's springs swing in the export, too.
    pub springs: bool,
    /// A VRMA has an upper chest of its own, which models without one do not show.
    pub vrma_upper_chest: bool,
    /// Do what `TAKE.edits.toml` beside the take says.
    pub edits: bool,
    /// Only this part of it.
    pub part: Option<String>,
    /// Filtered without delay, spikes taken out and short gaps bridged, now that the future is known.
    pub offline: bool,
    /// Write numbers that the judges of exports compare with.
    pub truth: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            formats: Vec::new(),
            rate: None,
            subject: None,
            character: cast::BUILTIN.into(),
            asset: None,
            profile: None,
            bvh: BvhChoice::default(),
            springs: true,
            vrma_upper_chest: false,
            edits: true,
            part: None,
            offline: false,
            truth: false,
        }
    }
}

/// The character and what was decided, read once for all takes.
pub struct Stagecraft {
    options: Options,
    figure: Arc<Figure>,
    geometry: Geometry,
    asset: PuppetAsset,
    profile: Option<Profile>,
}

/// One file.
#[derive(Clone, Debug)]
pub struct Written {
    /// What it is.
    pub format: Format,
    /// Where.
    pub path: PathBuf,
    /// Of whom; of the take for sound.
    pub subject: Option<SubjectKey>,
    /// Frames or samples.
    pub frames: usize,
    /// Frames that were not recorded but filled.
    pub filled: usize,
    /// Per second.
    pub rate: String,
    /// Seconds.
    pub secs: f64,
    /// Names that the format could not hold as they are: original, written.
    pub names: Vec<(String, String)>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// What came of a take.
#[derive(Clone, Debug, Default)]
pub struct Exported {
    /// Files.
    pub written: Vec<Written>,
    /// What was left out, and why.
    pub warnings: Vec<String>,
    /// Whether anything was lost: the take is damaged, or something was left out.
    pub is_lossy: bool,
}

/// Told the share done, 0..=1; answers whether to go on.
pub type Progress<'a> = &'a (dyn Fn(f32) -> bool + Sync);

impl Stagecraft {
    /// Reads the character and the assets.
    ///
    /// # Errors
    /// When one of them cannot be used.
    pub fn new(options: Options) -> anyhow::Result<Self> {
        let figure = cast::figure(&options.character)?;
        let needs_mesh = options.formats.iter().any(|f| f.is_acted());
        let geometry = if needs_mesh {
            figure.character().geometry().with_context(|| {
                format!("cannot use the character {}", options.character.display())
            })?
        } else {
            Geometry::default()
        };
        Ok(Self {
            asset: cast::asset(options.asset.as_deref())?,
            profile: cast::profile(options.profile.as_deref())?,
            figure,
            geometry,
            options,
        })
    }

    /// What is wanted.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Exports a take into a folder. Takes that go into one folder need names of their own.
    ///
    /// # Errors
    /// When the take cannot be read, nothing of it can be written, or the disk refuses; when `progress` says stop.
    pub fn export(
        &self,
        take: &Path,
        out: &Path,
        progress: Progress<'_>,
    ) -> anyhow::Result<Exported> {
        let (edits, edited) = edits::load(take, &self.options)?;
        let content = edited.take;
        self.check_subject(&content, take)?;
        std::fs::create_dir_all(out)
            .with_context(|| format!("cannot create the folder {}", out.display()))?;
        let mut exported = Exported {
            is_lossy: content.stats.damaged > 0 || !content.stats.complete,
            ..Exported::default()
        };
        if exported.is_lossy {
            exported.warnings.push(format!(
                "the take is {}; exporting what it has",
                if content.stats.complete {
                    "damaged"
                } else {
                    "cut short"
                }
            ));
        }
        let wanted: Vec<&Performance> = content
            .subjects
            .iter()
            .filter(|s| self.wants(&s.key))
            .collect();
        let parts: usize = wanted.iter().map(|s| s.generations.len()).sum();
        let mut done = 0usize;
        let mut stems = HashSet::new();
        for subject in &wanted {
            for (number, generation) in subject.generations.iter().enumerate() {
                let share =
                    |of: f32| progress((done as f32 + of.clamp(0.0, 1.0)) / parts.max(1) as f32);
                let stem = free_stem(take, &subject.key, number, &mut stems);
                let job = Job {
                    stagecraft: self,
                    content: &content,
                    subject,
                    generation,
                    orders: edited.orders.iter().find(|o| o.subject == subject.key),
                    is_edited: !edits.is_empty(),
                    stem: out.join(stem),
                };
                job.run(&mut exported, &share)?;
                done += 1;
            }
        }
        if self.options.formats.contains(&Format::Wav)
            && let Err(error) = self.sound(take, out, &content, &edits, &mut exported)
        {
            exported.warnings.push(format!("no sound: {error:#}"));
            exported.is_lossy = true;
        }
        if exported.written.is_empty() {
            bail!(
                "nothing of {} could be written: {}",
                take.display(),
                exported.warnings.join("; ")
            );
        }
        progress(1.0);
        Ok(exported)
    }

    fn wants(&self, key: &SubjectKey) -> bool {
        let only = self.options.subject.as_deref();
        only.is_none_or(|s| s == key.name.as_str())
    }

    fn check_subject(&self, content: &TakeContent, take: &Path) -> anyhow::Result<()> {
        if content.subjects.iter().any(|s| self.wants(&s.key)) {
            return Ok(());
        }
        let names: Vec<_> = content
            .subjects
            .iter()
            .map(|s| s.key.name.as_str())
            .collect();
        match &self.options.subject {
            Some(subject) => bail!(
                "no subject {subject:?} in this take; it has: {}",
                names.join(", ")
            ),
            None => bail!("the take holds no subject: {}", take.display()),
        }
    }

    /// The take's sound, trimmed to the chosen subject's frames; the whole of it without one.
    fn sound(
        &self,
        take: &Path,
        out: &Path,
        content: &TakeContent,
        edits: &Edits,
        exported: &mut Exported,
    ) -> anyhow::Result<()> {
        use recordings::{
            audio::{self, Span},
            disk::RealDisk,
        };
        let is_part = self.options.subject.is_some() || !edits.trim.is_whole();
        let arrivals = || {
            content
                .subjects
                .iter()
                .filter(|s| is_part && self.wants(&s.key))
                .flat_map(|s| s.generations.iter().flat_map(|g| &g.frames))
                .map(|f| f.meta.arrival.as_nanos())
        };
        let span = Span {
            from_nanos: arrivals().min().unwrap_or(0),
            until_nanos: arrivals().max(),
            shift_nanos: 0,
        };
        let tracks = audio::tracks(take)?;
        if !tracks.is_empty() && (edits.speed != 1.0 || !edits.joins.is_empty()) {
            bail!(
                "it cannot follow another speed or a joined take; --no-edits writes the recording's"
            );
        }
        if tracks.is_empty() {
            exported.warnings.push("the take has no sound".to_owned());
            exported.is_lossy = true;
        }
        for track in tracks {
            let name = format!("{}_{}.wav", take_stem(take), naming::safe_part(&track.name));
            let path = out.join(name);
            let done = audio::export(&RealDisk, &track, span, &path)?;
            let corrected = done.corrected_ppm;
            exported.written.push(Written {
                format: Format::Wav,
                path,
                subject: None,
                frames: done.frames as usize,
                filled: 0,
                rate: done.sample_rate.to_string(),
                secs: done.frames as f64 / f64::from(done.sample_rate.max(1)),
                names: Vec::new(),
                notes: corrected
                    .map(|ppm| format!("its clock ran {ppm:+.1} ppm; resampled to the hub's"))
                    .into_iter()
                    .collect(),
            });
        }
        Ok(())
    }
}

/// The take's name without its extensions: the beginning of the names of its files.
pub(crate) fn take_stem(take: &Path) -> &str {
    let name = take.file_name().and_then(|n| n.to_str()).unwrap_or("take");
    name.split(".mcap").next().unwrap_or(name)
}

/// `2026-11-30_Slate_001_Subject`, with a number for a later generation, and another when two phones have one name.
fn free_stem(
    take: &Path,
    key: &SubjectKey,
    generation: usize,
    stems: &mut HashSet<String>,
) -> String {
    let subject = naming::safe_part(key.name.as_str());
    let base = match generation {
        0 => format!("{}_{subject}", take_stem(take)),
        n => format!("{}_{subject}_{}", take_stem(take), n + 1),
    };
    (1..10_000)
        .map(|n| match n {
            1 => base.clone(),
            n => format!("{base}-{n}"),
        })
        // Names as a file system that ignores case sees them.
        .find(|s| stems.insert(s.to_lowercase()))
        .unwrap_or(base)
}

/// One stretch of one subject.
struct Job<'a> {
    stagecraft: &'a Stagecraft,
    content: &'a TakeContent,
    subject: &'a Performance,
    generation: &'a Generation,
    /// What its edits leave for rows and a character.
    orders: Option<&'a Orders>,
    /// Whether it is another than was recorded.
    is_edited: bool,
    /// Path without extension.
    stem: PathBuf,
}

/// A character's part, acted out.
struct Part<'a> {
    rows: &'a Rows,
    double: &'a Double,
    acted: &'a Acted,
}

impl Job<'_> {
    fn run(&self, exported: &mut Exported, progress: Progress<'_>) -> anyhow::Result<()> {
        let options = &self.stagecraft.options;
        let key = &self.subject.key;
        let before = exported.written.len();
        let bake_at = |rate| {
            let rows = bake(key, self.generation, rate, SourceSettings::default());
            rows.map(|mut rows| {
                let note = self.improve(&mut rows);
                (rows, note)
            })
        };
        let leave_out = |exported: &mut Exported, why: String| {
            exported.warnings.push(format!("{}: {why}", key.name));
            exported.is_lossy = true;
        };
        let rate = options.rate.or(self.generation.rate());
        let rate = rate.unwrap_or(FrameRate::FPS_60);
        let last = self.generation.frames.last().map_or(0, |f| f.nanos);
        let is_even = options.rate.is_some() || options.formats.iter().any(|f| f.is_acted());
        if is_even && rate.frame_at(last) >= MAX_FRAMES as i64 {
            leave_out(exported, "it is longer than any file can hold".to_owned());
            return Ok(());
        }
        let Some((own, note)) = bake_at(options.rate) else {
            leave_out(exported, "no frame with values".to_owned());
            return Ok(());
        };
        if options.formats.contains(&Format::Csv) {
            exported.written.push(self.csv(&own)?);
        }
        let acted: Vec<Format> = options
            .formats
            .iter()
            .copied()
            .filter(|f| f.is_acted())
            .collect();
        let mut names = Vec::new();
        if !acted.is_empty() && scene::is_performer(&self.generation.statics) {
            // Keys of a scene are even.
            let even = match options.rate {
                Some(_) => None,
                None => bake_at(Some(own.rate)).map(|(rows, _)| rows),
            };
            let rows = even.as_ref().unwrap_or(&own);
            match self.act(rows, progress)? {
                Ok((double, acted_out)) => {
                    let part = Part {
                        rows,
                        double: &double,
                        acted: &acted_out,
                    };
                    if options.truth {
                        truth::write_all(self, &part)?;
                    }
                    for format in acted {
                        match self.write(format, &part) {
                            Ok(written) => {
                                names.extend(written.names.iter().cloned());
                                exported.written.push(written);
                            }
                            Err(error) => {
                                leave_out(exported, format!("no {}: {error:#}", format.as_str()));
                            }
                        }
                    }
                }
                Err(why) => leave_out(exported, why),
            }
        } else if !acted.is_empty() && !scene::goes_along(&self.generation.statics) {
            let role = self.generation.statics.role();
            leave_out(exported, format!("{role} data has a place in csv only"));
        }
        for written in &mut exported.written[before..] {
            written.notes.extend(note.clone());
        }
        if exported.written.len() > before {
            sidecar::write(self, &own, &exported.written[before..], &names)?;
        }
        Ok(())
    }

    /// Binds the subject to the character and plays it through; why not, in words, when they have nothing in common.
    fn act(
        &self,
        rows: &Rows,
        progress: Progress<'_>,
    ) -> anyhow::Result<Result<(Double, Acted), String>> {
        let craft = self.stagecraft;
        let settings = DoubleSettings {
            loss: craft.asset.loss,
            springs: craft.options.springs,
            ..DoubleSettings::default()
        };
        let mut double = Double::new(&craft.figure, settings);
        if !craft.figure.is_own(&rows.statics) {
            let built = cast::puppet(
                &craft.figure,
                &rows.statics,
                &craft.asset,
                craft.profile.as_ref(),
                &act::stances(rows),
            );
            match built {
                // Built for this very figure.
                Ok((puppet, _)) => drop(double.set_puppet(Some(puppet))),
                Err(error) => return Ok(Err(error.to_string())),
            }
        }
        match act::act(rows, &mut double, &mut |share| progress(share)) {
            Some(mut acted) => {
                self.hold_feet(rows, &mut acted);
                Ok(Ok((double, acted)))
            }
            None => bail!("stopped"),
        }
    }

    /// What is better once the future is known, as asked for by the options and the take's edits; tells what it did.
    fn improve(&self, rows: &mut Rows) -> Option<String> {
        let options = &self.stagecraft.options;
        let mut settings = if options.offline {
            Offline::default()
        } else {
            Offline::nothing()
        };
        if let Some(secs) = self.orders.and_then(|o| o.fill_gaps_secs) {
            settings.gap_secs = secs;
        }
        if settings == Offline::nothing() {
            return None;
        }
        let done = offline::improve(rows, &settings, &[], &mut |_| true)?;
        Some(format!(
            "{}{} values that stood out and {} that were missing bridged",
            if options.offline {
                "filtered without delay; "
            } else {
                ""
            },
            done.spikes,
            done.filled
        ))
    }

    /// Feet stand where the take's edits say so.
    fn hold_feet(&self, rows: &Rows, acted: &mut Acted) {
        let Some(orders) = self.orders.filter(|o| !o.foot_locks.is_empty()) else {
            return;
        };
        let Some(first) = self.generation.frames.first() else {
            return;
        };
        let first = first.meta.arrival.as_nanos();
        let spans: Vec<_> = orders
            .foot_locks
            .iter()
            .map(|lock| lock.span(first, rows.rate))
            .collect();
        let fade = (edits::FOOT_FADE_SECS * rows.rate.hertz()).round() as usize;
        offline::hold_contacts(acted, &self.stagecraft.figure, &spans, fade);
    }

    fn csv(&self, rows: &Rows) -> anyhow::Result<Written> {
        use recordings::export::table::{TableOptions, write_table};
        let path = self.path(Format::Csv);
        let mut names = Vec::new();
        let mut notes = Vec::new();
        if csv::fits(&rows.statics) {
            write::file(&path, |file| Ok(csv::write(rows, file)?))?;
        } else {
            write::file(&path, |file| {
                let report = write_table(rows, file, TableOptions::default())?;
                names = report.names;
                notes = report.notes;
                Ok(())
            })?;
        }
        Ok(Written {
            names,
            notes,
            ..self.written(Format::Csv, path, rows)
        })
    }

    fn path(&self, format: Format) -> PathBuf {
        let mut path = self.stem.as_os_str().to_owned();
        path.push(".");
        path.push(format.as_str());
        path.into()
    }

    fn written(&self, format: Format, path: PathBuf, rows: &Rows) -> Written {
        Written {
            format,
            path,
            subject: Some(self.subject.key.clone()),
            frames: rows.rows.len(),
            filled: rows.num_filled(),
            rate: rows.rate.to_string(),
            secs: rows.duration_secs(),
            names: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn facts(&self, rows: &Rows) -> Value {
        sidecar::facts(rows, self.content, &self.subject.key)
    }
}

/// Whether a subject is a camera, a prop or a light, which stands beside a character.
fn role_is_placed(statics: &StaticData) -> bool {
    matches!(
        statics.role(),
        hub::Role::Camera | hub::Role::Transform | hub::Role::Light
    )
}
