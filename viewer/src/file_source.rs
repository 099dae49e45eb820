//! Motion files as sources: opened by their extension, and played into the sink that sockets feed.
//!
//! ```text
//! walk.bvh, face.csv, dance.glb ─open─► Clip ─┐
//!                 HubClock ─now─► Playhead ───┴─ due ─► deliver ─► Sink (client, recorder)
//!                     └─ sleeps until the next frame
//! ```
//!
//! [`run`] is the body of a thread of its own. It holds no lock while it sleeps and makes each frame before it asks for one.

mod glb;

use std::{
    fs::File,
    io::Read as _,
    path::{Component, Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use anyhow::{Context as _, bail};
use characters::{Animation, AnimationChoice};
use hub::{
    FrameData, FrameMeta, FrameRate, NANOS_PER_SEC, SourceId, SourceTime, SubjectKey, SubjectName,
    WorldTime,
};
use serde::Deserialize;
use sources::{
    Sink,
    bvh::Bvh,
    clip::{BvhClip, BvhOptions, Clip, CsvClip, Next, Placement, PlayOptions, Playhead, Scale},
    livelinkface::CsvTake,
};

use crate::HubClock;
pub use glb::{GlbClip, MAX_DEFAULT_HERTZ, MIN_DEFAULT_HERTZ};

/// Extensions that are opened, in lower case.
pub const EXTENSIONS: [&str; 6] = ["bvh", "csv", "glb", "gltf", "vrm", "vrma"];

/// Longest CSV read: five hours at 60 rows per second.
const MAX_CSV_BYTES: usize = 1 << 30;
/// How often a sleeping thread looks whether it is to stop.
const LOOK_NANOS: i64 = 50_000_000;
/// How often static data is repeated, as for a source that is restarted at the other end.
const STATIC_NANOS: i64 = NANOS_PER_SEC;

/// Lends the sink for as long as the closure given runs, with the time.
pub type Deliver<'a> = dyn FnMut(&mut dyn FnMut(WorldTime, &mut dyn Sink)) + 'a;

/// The table `[source.file]`.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileOptions {
    /// The file. Its extension says what it is; see [`EXTENSIONS`].
    pub path: PathBuf,
    /// Name of the subject; default the file's name without extension.
    #[serde(default)]
    pub subject: Option<SubjectName>,
    /// Whether it begins again at the end.
    #[serde(default = "yes", rename = "loop")]
    pub looping: bool,
    /// Seconds between the end and the next beginning, 0 to a day.
    #[serde(default)]
    pub loop_gap_secs: f64,
    /// 1 is the file's own; 0.1 to 10.
    #[serde(default = "one")]
    pub speed: f64,
    /// Seconds into the file at which the first round begins.
    #[serde(default)]
    pub start_secs: f64,
    /// Metres per unit of the file. `Auto` is 1 for glTF, which states metres, and a guess for BVH. A CSV has no lengths.
    #[serde(default)]
    pub scale: Scale,
    /// Turn of the whole about +Y in degrees, from +Z towards +X. A CSV is not turned.
    #[serde(default)]
    pub yaw_degrees: f32,
    /// Which animation of a glTF file; default the first.
    #[serde(default)]
    pub animation: Option<AnimationName>,
    /// Frames per second. Of glTF: how often it is sampled. Of BVH: in place of its frame time. Of CSV: what its timecode
    /// counts.
    #[serde(default, deserialize_with = "rate")]
    pub rate: Option<FrameRate>,
    /// Which timecode frames bear.
    #[serde(default)]
    pub timecode: TimecodeOut,
}

impl FileOptions {
    /// A file, all else as usual.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            subject: None,
            looping: true,
            loop_gap_secs: 0.0,
            speed: 1.0,
            start_secs: 0.0,
            scale: Scale::Auto,
            yaw_degrees: 0.0,
            animation: None,
            rate: None,
            timecode: TimecodeOut::Own,
        }
    }

    /// How the clip is played.
    pub fn play(&self) -> PlayOptions {
        PlayOptions {
            speed: self.speed,
            looping: self.looping,
            gap_nanos: nanos(self.loop_gap_secs),
            start_nanos: nanos(self.start_secs),
        }
    }

    /// Source `file/<name of the file>`, subject as named, else as the clip is called.
    pub fn key(&self, clip: &dyn Clip) -> Option<SubjectKey> {
        let file = self.path.file_name().unwrap_or_default().to_string_lossy();
        let source = SourceId::from_wire(format!("file/{file}").as_bytes())?;
        let name = self.subject.clone();
        let name = name
            .or_else(|| SubjectName::from_wire(clip.name().as_bytes()))
            .or_else(|| SubjectName::from_wire(b"motion"))?;
        Some(SubjectKey::new(source, name))
    }
}

/// An animation of a glTF file: its name, or its index from 0.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(
    untagged,
    expecting = "expected the name of an animation, or its index from 0"
)]
pub enum AnimationName {
    /// Index, from 0.
    Index(usize),
    /// Exactly this name.
    Name(String),
}

/// Which timecode frames bear.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimecodeOut {
    /// The file's own, if it has one.
    #[default]
    Own,
    /// None.
    None,
}

fn yes() -> bool {
    true
}

fn one() -> f64 {
    1.0
}

fn rate<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<FrameRate>, D::Error> {
    let text = String::deserialize(from)?;
    let rate = text.parse::<FrameRate>();
    rate.map(Some).map_err(serde::de::Error::custom)
}

/// Saturates; what is no number is 0.
fn nanos(secs: f64) -> i64 {
    (secs * NANOS_PER_SEC as f64) as i64
}

/// A file ready to be played.
pub struct Opened {
    /// Its frames.
    pub clip: Box<dyn Clip>,
    /// What the operator should know of it, a sentence each: guesses made, what is missing.
    pub notes: Vec<String>,
}

/// Opens a file as its extension says.
///
/// # Errors
/// When it cannot be read, is none of [`EXTENSIONS`], or says what cannot be, with the place in the file.
pub fn open(options: &FileOptions) -> anyhow::Result<Opened> {
    let path = options.path.as_path();
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let opened = match extension.to_ascii_lowercase().as_str() {
        "bvh" => open_bvh(&name, options),
        "csv" => open_csv(&name, options),
        "glb" | "gltf" | "vrm" | "vrma" => open_gltf(&name, options),
        _ => bail!(
            "no kind of motion file has this extension; known are {}: {}",
            EXTENSIONS.join(", "),
            path.display()
        ),
    };
    opened.with_context(|| format!("cannot play {}", path.display()))
}

fn open_bvh(name: &str, options: &FileOptions) -> anyhow::Result<Opened> {
    let bytes = read_file(&options.path, sources::bvh::MAX_BYTES)?;
    let bvh = Bvh::read(&bytes)?;
    let mut notes = Vec::new();
    let frames = bvh.num_frames() as u64;
    if let Some(declared) = bvh.declared_frames().filter(|d| *d != frames) {
        notes.push(format!(
            "{name}: says {declared} frames and has {frames}, which are played"
        ));
    }
    let clip = BvhClip::new(
        name,
        bvh,
        &BvhOptions {
            scale: options.scale,
            yaw_rad: options.yaw_degrees.to_radians(),
            rate: options.rate,
        },
    )?;
    if let Some(guess) = clip.guess() {
        notes.push(format!("{name}: {guess}"));
    }
    Ok(Opened {
        clip: Box::new(clip),
        notes,
    })
}

fn open_csv(name: &str, options: &FileOptions) -> anyhow::Result<Opened> {
    let bytes = read_file(&options.path, MAX_CSV_BYTES)?;
    let take = CsvTake::read(bytes.as_slice(), options.rate)?;
    let mut notes = Vec::new();
    if !take.missing.is_empty() {
        notes.push(format!(
            "{name}: {} of the 61 curves have no column and are 0: {}",
            take.missing.len(),
            take.missing.join(", ")
        ));
    }
    Ok(Opened {
        clip: Box::new(CsvClip::new(name, take)),
        notes,
    })
}

fn open_gltf(name: &str, options: &FileOptions) -> anyhow::Result<Opened> {
    let path = options.path.as_path();
    let bytes = read_file(path, characters::glb::MAX_FILE_BYTES)?;
    let choice = match &options.animation {
        None => AnimationChoice::First,
        Some(AnimationName::Index(index)) => AnimationChoice::Index(*index),
        Some(AnimationName::Name(name)) => AnimationChoice::Name(name),
    };
    let folder = path.parent().unwrap_or(Path::new(""));
    let animation = Animation::read(&bytes, choice, &mut |uri| beside(folder, uri))?;
    let mut notes = Vec::new();
    let all = Animation::list(&bytes)?;
    if all.len() > 1 {
        let names: Vec<_> = all.iter().take(16).map(|a| a.name.as_str()).collect();
        notes.push(format!(
            "{name}: plays {} of {} animations: {}",
            animation.name(),
            all.len(),
            names.join(", ")
        ));
    }
    if animation.passed_over() > 0 {
        notes.push(format!(
            "{name}: {} channels drive no node and are left out",
            animation.passed_over()
        ));
    }
    let metres_per_unit = match options.scale {
        Scale::Auto => 1.0,
        Scale::MetresPerUnit(n) => n,
    };
    let placement = Placement::new(metres_per_unit, options.yaw_degrees.to_radians())?;
    let clip = GlbClip::new(name, animation, placement, options.rate)?;
    Ok(Opened {
        clip: Box::new(clip),
        notes,
    })
}

fn read_file(path: &Path, limit: usize) -> anyhow::Result<Vec<u8>> {
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    // One more than may be, so that a longer file shows; its own word for its length is not needed.
    file.take(limit as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > limit {
        bail!("longer than {limit} bytes");
    }
    Ok(bytes)
}

/// The bytes of a file that a glTF document names, in its own folder or below: never above it, never elsewhere.
fn beside(folder: &Path, uri: &str) -> Option<Vec<u8>> {
    let relative = PathBuf::from(percent_decoded(uri)?);
    let is_below = |c: Component<'_>| matches!(c, Component::Normal(_) | Component::CurDir);
    if !relative.components().all(is_below) {
        return None;
    }
    read_file(&folder.join(relative), characters::glb::MAX_FILE_BYTES).ok()
}

/// `%20` and the like as what they stand for (RFC 3986, section 2.1); `None` when that is no text.
fn percent_decoded(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut rest = uri.as_bytes();
    loop {
        rest = match rest {
            [] => break,
            [b'%', high, low, rest @ ..] => {
                let digit = |d: &u8| char::from(*d).to_digit(16);
                bytes.push((digit(high)? * 16 + digit(low)?) as u8);
                rest
            }
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        };
    }
    String::from_utf8(bytes).ok()
}

/// What was played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Played {
    /// Frames given.
    pub frames: u64,
    /// Frames passed over because the thread came too late.
    pub skipped: u64,
}

/// Plays a clip until it ends or `stop` is set, and says in the sink that the subject ends. Blocks: give it a thread.
///
/// `deliver` is called for each event, calls what it is given at once with the time and the sink, and may take a lock for
/// that. A frame's arrival is that time. Its source time follows the hub's clock from the beginning of playing: at speed 1
/// it is the time in the clip, going on over loops. Its sequence counts frames, those passed over included.
pub fn run(
    clip: &dyn Clip,
    options: &FileOptions,
    clock: HubClock,
    stop: &AtomicBool,
    deliver: &mut Deliver<'_>,
) -> Played {
    let mut played = Played::default();
    let Some(key) = options.key(clip) else {
        // Both names have a part that is never empty.
        return played;
    };
    let num_frames = clip.num_frames() as u64;
    let mut playhead = Playhead::new(clip, &options.play(), clock.now());
    let (mut meta, mut data) = (FrameMeta::default(), FrameData::default());
    let mut statics_due = clock.now();
    while !stop.load(Ordering::Acquire) {
        let now = clock.now();
        if now >= statics_due {
            deliver(&mut |at, sink| sink.static_data(&key, clip.statics(), at));
            statics_due = now + STATIC_NANOS;
        }
        let next = playhead.poll(clip, now, |due| {
            clip.frame(due.index, &mut data);
            meta.timecode = match options.timecode {
                TimecodeOut::Own => clip.timecode(due.index),
                TimecodeOut::None => None,
            };
            meta.source_time = Some(SourceTime::from_nanos(due.source_nanos));
            let rounds = due.round.saturating_mul(num_frames);
            meta.sequence = Some(rounds.saturating_add(due.index as u64));
            deliver(&mut |at, sink| {
                meta.arrival = at;
                sink.frame(&key, &meta, Some(&data));
            });
            played.frames += 1;
        });
        match next {
            Next::At(due) => wait_until(due, clock, stop),
            Next::Paused => wait_until(now + LOOK_NANOS, clock, stop),
            Next::Ended => break,
        }
    }
    deliver(&mut |at, sink| sink.removed(&key, at));
    played.skipped = playhead.skipped();
    played
}

/// Sleeps until then, or until it is to stop.
fn wait_until(due: WorldTime, clock: HubClock, stop: &AtomicBool) {
    while !stop.load(Ordering::Acquire) {
        let left = due - clock.now();
        if left <= 0 {
            return;
        }
        std::thread::sleep(Duration::from_nanos(left.min(LOOK_NANOS).cast_unsigned()));
    }
}

#[cfg(test)]
mod tests;
