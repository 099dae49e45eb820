//! Audio of a take in hub time: trimmed to a range, its clock's error taken out, its time reference moved.

use std::path::{Path, PathBuf};

use hub::NANOS_PER_SEC;
use serde_json::Value;

use super::{
    drift::{self, ClockFit, Stamp},
    error::AudioError,
    resample::Resampler,
    wav::{Bext, WavHead, WavReader, WavSpec, WavWriter, with_time_reference},
};
use crate::{
    disk::Disk,
    format::{Item, Reader},
};

/// A file whose clock stays within this of the hub's, in nanoseconds over the range, is copied bit for bit.
const AGREES_NANOS: f64 = 50_000.0;
/// Frames read at a time.
const PIECE_FRAMES: usize = 8192;
/// Most tracks of a take, and stamps of a track, that are read.
const MAX_TRACKS: usize = 256;
const MAX_STAMPS: usize = 1_000_000;

/// A track of a take.
#[derive(Clone, Debug)]
pub struct Track {
    /// Its name.
    pub name: String,
    /// Its file; it may be missing, or still end in `.part`.
    pub path: PathBuf,
    /// Frames per second, as its clock counts them.
    pub sample_rate: u32,
    /// Time reference of the take's start.
    pub time_reference: u64,
    /// Where its frames are in hub time, as noted while it was recorded.
    pub stamps: Vec<Stamp>,
    /// The clock through them; as if it were the hub's where there are none.
    pub clock: ClockFit,
    /// Whether it was ended, not broken off.
    pub is_finished: bool,
}

/// A range of a take, in nanoseconds of hub time since its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First instant. Before the audio begins there is silence.
    pub from_nanos: i64,
    /// End; that of the file if `None`.
    pub until_nanos: Option<i64>,
    /// Added to the audio's times: what aligning by claps found.
    pub shift_nanos: i64,
}

/// What an export made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exported {
    /// Frames of the file.
    pub frames: u64,
    /// Frames per second.
    pub sample_rate: u32,
    /// Error of the audio's clock that was taken out, in parts per million; `None` where samples were copied.
    pub corrected_ppm: Option<f64>,
    /// Time reference of the first frame.
    pub time_reference: u64,
}

/// The tracks of a take, as its events tell them; also of one that was broken off.
///
/// # Errors
/// When the take cannot be read.
pub fn tracks(take: &Path) -> Result<Vec<Track>, AudioError> {
    let folder = take.parent().unwrap_or(Path::new(""));
    let mut reader = Reader::open(take)?;
    let mut tracks: Vec<Track> = Vec::new();
    while let Some(item) = reader.next_item()? {
        let Item::Event { value, .. } = item else {
            continue;
        };
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let number = |key: &str| value.get(key).and_then(Value::as_u64);
        let Some(name) = text("track") else {
            continue;
        };
        let known = tracks.iter().position(|t| t.name == name);
        match (text("event"), known.and_then(|at| tracks.get_mut(at))) {
            (Some("audio_start"), None) => {
                let rate = number("sample_rate").and_then(|r| u32::try_from(r).ok());
                let (Some(file), Some(sample_rate)) = (text("file"), rate.filter(|r| *r > 0))
                else {
                    continue;
                };
                // A name, never a way out of the folder.
                let Some(file) = Path::new(file).file_name() else {
                    continue;
                };
                if tracks.len() >= MAX_TRACKS {
                    continue;
                }
                tracks.push(Track {
                    name: name.to_owned(),
                    path: folder.join(file),
                    sample_rate,
                    time_reference: number("time_reference").unwrap_or(0),
                    stamps: Vec::new(),
                    clock: ClockFit::ideal(sample_rate),
                    is_finished: false,
                });
            }
            (Some("audio_clock"), Some(track)) if track.stamps.len() < MAX_STAMPS => {
                let nanos = value.get("nanos").and_then(Value::as_i64);
                let stamp = number("frame").zip(nanos);
                track
                    .stamps
                    .extend(stamp.map(|(frame, nanos)| Stamp { frame, nanos }));
            }
            (Some("audio_end"), Some(track)) => track.is_finished = true,
            _ => {}
        }
    }
    for track in &mut tracks {
        if let Some(clock) = drift::fit(&track.stamps, track.sample_rate) {
            track.clock = clock;
        }
        let part = track.path.with_added_extension(crate::naming::PART);
        if !track.path.exists() && part.exists() {
            track.path = part;
        }
    }
    Ok(tracks)
}

/// What a range is in frames.
struct Plan {
    /// Position in the file of the first frame, and from one frame to the next.
    first: f64,
    step: f64,
    frames: u64,
}

fn plan(track: &Track, span: Span, spec: WavSpec, available: u64) -> Result<Plan, AudioError> {
    let rate = f64::from(spec.sample_rate);
    let shift = span.shift_nanos as f64;
    let until = match span.until_nanos {
        Some(until) => until as f64,
        None => track.clock.nanos_of(available as f64) + shift,
    };
    let length = until - span.from_nanos as f64;
    let frames = (length * rate / NANOS_PER_SEC as f64).round();
    if !frames.is_finite() || frames < 1.0 {
        return Err(AudioError::EmptyRange {
            track: track.name.clone(),
        });
    }
    Ok(Plan {
        first: track.clock.frame_at(span.from_nanos as f64 - shift),
        step: NANOS_PER_SEC as f64 / rate / track.clock.nanos_per_frame,
        frames: frames as u64,
    })
}

/// Writes a range of a track to `path`, replacing what is there: frame k is what sounded at
/// *from + k / rate* of hub time. Samples keep their format.
///
/// # Errors
/// A file that is missing or not readable, a range without audio, whatever the disk says; then nothing new is at
/// `path`.
pub fn export(
    disk: &dyn Disk,
    track: &Track,
    span: Span,
    path: &Path,
) -> Result<Exported, AudioError> {
    let mut reader = WavReader::open(&track.path)?;
    let spec = reader.spec();
    let plan = plan(track, span, spec, reader.frames())?;
    let moved = (span.from_nanos as f64 * f64::from(spec.sample_rate) / NANOS_PER_SEC as f64)
        .round() as i64;
    let time_reference = track.time_reference.saturating_add_signed(moved);
    let head = WavHead {
        spec,
        bext: Bext {
            time_reference,
            ..reader.bext().cloned().unwrap_or_default()
        },
        ixml: reader
            .ixml()
            .map_or_else(String::new, |x| with_time_reference(x, time_reference)),
    };
    let wanders = (plan.step - 1.0).abs() * plan.frames as f64 / f64::from(spec.sample_rate);
    let agrees = wanders * NANOS_PER_SEC as f64 <= AGREES_NANOS;
    let partial = path.with_extension("partial");
    // Left over from an export that was broken off.
    let _ = disk.remove(&partial);
    let mut writer = WavWriter::create(disk, &partial, &head)?;
    let copied = if agrees {
        copy(&mut reader, &mut writer, &plan, &track.path)
    } else {
        straighten(&mut reader, &mut writer, &plan, &track.path)
    };
    let finished = copied.and_then(|()| writer.finish());
    let done = match finished {
        Ok(done) => done,
        Err(error) => {
            let _ = disk.remove(&partial);
            return Err(error);
        }
    };
    // Exports replace their predecessors.
    let _ = disk.remove(path);
    let frames = done.frames;
    disk.rename_new(&partial, path)
        .map_err(AudioError::io("name the exported audio", path))?;
    drop(done);
    Ok(Exported {
        frames,
        sample_rate: spec.sample_rate,
        corrected_ppm: (!agrees).then(|| track.clock.ppm(spec.sample_rate)),
        time_reference,
    })
}

type FileReader = WavReader<std::io::BufReader<std::fs::File>>;

/// As it is, from the nearest frame on.
fn copy(
    reader: &mut FileReader,
    writer: &mut WavWriter,
    plan: &Plan,
    source: &Path,
) -> Result<(), AudioError> {
    let first = plan.first.round() as i64;
    let silence = first.min(0).unsigned_abs().min(plan.frames);
    writer.silence(silence)?;
    reader
        .seek(first.max(0).unsigned_abs())
        .map_err(AudioError::wav(source))?;
    let mut left = plan.frames - silence;
    let mut samples = Vec::new();
    while left > 0 {
        samples.clear();
        let wanted = left.min(PIECE_FRAMES as u64);
        let got = reader
            .read(wanted as usize, &mut samples)
            .map_err(AudioError::wav(source))? as u64;
        writer.write(&samples)?;
        left -= got;
        if got < wanted {
            // Past its end.
            writer.silence(left)?;
            left = 0;
        }
    }
    Ok(())
}

/// Through the resampler.
fn straighten(
    reader: &mut FileReader,
    writer: &mut WavWriter,
    plan: &Plan,
    source: &Path,
) -> Result<(), AudioError> {
    let channels = usize::from(reader.spec().channels);
    let mut resampler = Resampler::new(channels, plan.first, plan.step)?;
    let start = resampler.start_frame();
    let mut silence = start.min(0).unsigned_abs();
    reader
        .seek(start.max(0).unsigned_abs())
        .map_err(AudioError::wav(source))?;
    let (mut samples, mut out) = (Vec::new(), Vec::new());
    let mut left = plan.frames;
    while left > 0 {
        samples.clear();
        let before = silence.min(PIECE_FRAMES as u64);
        silence -= before;
        samples.resize(before as usize * channels, 0.0);
        if before == 0 {
            reader
                .read(PIECE_FRAMES, &mut samples)
                .map_err(AudioError::wav(source))?;
            // Past its end.
            samples.resize(PIECE_FRAMES * channels, 0.0);
        }
        out.clear();
        resampler.push(&samples, &mut out)?;
        let have = (out.len() / channels) as u64;
        let now = have.min(left);
        writer.write(out.get(..now as usize * channels).unwrap_or_default())?;
        left -= now;
    }
    Ok(())
}
