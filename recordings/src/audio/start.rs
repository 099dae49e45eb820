//! What a track is called, and what its file says of itself.

use std::path::{Path, PathBuf};

use hub::{QualifiedFrameTime, WorldTime};

use super::wav::{Bext, Ixml, WavHead, WavSpec, time_reference};
use crate::naming;

/// What a track is and where it goes.
#[derive(Clone, Debug)]
pub struct AudioStart {
    /// The take's file, with or without `.part`: the audio goes beside it.
    pub take: PathBuf,
    /// Name of the track, in any script.
    pub name: String,
    /// Its samples.
    pub spec: WavSpec,
    /// When the take began.
    pub at: WorldTime,
    /// Timecode then.
    pub timecode: QualifiedFrameTime,
    /// Added to every stamp, in nanoseconds: below 0 for a source that is heard late.
    pub offset_nanos: i64,
    /// Slate.
    pub slate: String,
    /// Take number.
    pub number: u32,
    /// Local date and time of the start, RFC 3339.
    pub started: String,
    /// Program that writes it.
    pub program: String,
}

/// `FOLDER/TAKE_audio_NAME.wav` and the same with `.part`, free both, numbered when need be.
pub(super) fn free_paths(take: &Path, name: &str) -> (PathBuf, PathBuf) {
    let folder = take.parent().unwrap_or(Path::new(""));
    let file = take.file_name().and_then(|n| n.to_str()).unwrap_or("take");
    let stem = file
        .split(&format!(".{}", naming::EXTENSION))
        .next()
        .unwrap_or(file);
    let base = format!("{stem}_audio_{}", naming::safe_part(name));
    let paths = |base: &str| {
        (
            folder.join(format!("{base}.wav")),
            folder.join(format!("{base}.wav.{}", naming::PART)),
        )
    };
    // Ten thousand of one name: then creating the file fails, which says why.
    (1..10_000)
        .map(|n| match n {
            1 => paths(&base),
            n => paths(&format!("{base}-{n}")),
        })
        .find(|(done, part)| !done.exists() && !part.exists())
        .unwrap_or_else(|| paths(&base))
}

/// Everything before the samples.
pub(super) fn head(start: &AudioStart, file: &str) -> WavHead {
    let spec = start.spec;
    let time_reference = time_reference(start.timecode, spec.sample_rate);
    let mode = match spec.channels {
        1 => ",M=mono",
        2 => ",M=stereo",
        _ => "",
    };
    let label = start.timecode.label();
    let text = |range: std::ops::Range<usize>| start.started.get(range).unwrap_or("").to_owned();
    WavHead {
        spec,
        bext: Bext {
            description: format!(
                "{} take {}, track {}, {label} at {}",
                start.slate, start.number, start.name, start.timecode.rate
            ),
            originator: start.program.clone(),
            reference: file.to_owned(),
            date: text(0..10),
            time: text(11..19),
            time_reference,
            history: format!(
                "A=PCM,F={},W={}{mode},T={}\r\n",
                spec.sample_rate,
                spec.format.bits(),
                start.program
            ),
        },
        ixml: Ixml {
            scene: &start.slate,
            take: start.number,
            note: "",
            rate: start.timecode.rate,
            drop: start.timecode.drop,
            spec,
            time_reference,
            track: &start.name,
        }
        .document(),
    }
}
