//! The tables `[[audio]]` of the stage file.

use std::path::{Path, PathBuf};

use anyhow::ensure;
use recordings::audio::wav::{MAX_CHANNELS, SAMPLE_RATES, SampleFormat};
use serde::Deserialize;

/// Longest delay that is taken out, in milliseconds.
const MAX_OFFSET_MS: f64 = 10_000.0;

/// How samples are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stored {
    /// 16 bits.
    Pcm16,
    /// 24 bits.
    #[default]
    Pcm24,
    /// 32-bit float.
    Float32,
}

impl From<Stored> for SampleFormat {
    fn from(stored: Stored) -> Self {
        match stored {
            Stored::Pcm16 => Self::Pcm16,
            Stored::Pcm24 => Self::Pcm24,
            Stored::Float32 => Self::Float32,
        }
    }
}

/// A source of sound that is recorded with every take.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AudioOptions {
    /// What its files are called, in any script; one name per table.
    pub name: String,
    /// A WAV file, a pipe or device with samples of 16 bits, `-` for standard input; `audio` or `audio:NAME`, a sound
    /// card, in a program built for it.
    pub path: PathBuf,
    /// Sample rate of a pipe, in Hz. WAV files and sound cards say theirs.
    pub sample_rate: u32,
    /// Channels of a pipe.
    pub channels: u16,
    /// Whether a WAV file begins again at its end.
    pub repeat: bool,
    /// Added to its times, in milliseconds: below 0 for a source that is heard late.
    pub offset_ms: f64,
    /// How its samples are stored.
    pub stored: Stored,
}

impl Default for AudioOptions {
    fn default() -> Self {
        Self {
            name: "audio".to_owned(),
            path: PathBuf::new(),
            sample_rate: 48_000,
            channels: 1,
            repeat: false,
            offset_ms: 0.0,
            stored: Stored::default(),
        }
    }
}

impl AudioOptions {
    /// Makes a relative path relative to `folder`, where the stage file lies.
    pub fn relative_to(&mut self, folder: &Path) {
        if self.path.is_relative() && !self.takes_standard_input() && self.sound_card().is_none() {
            self.path = folder.join(&self.path);
        }
    }

    /// Whether it reads standard input, so that nobody else may.
    pub fn takes_standard_input(&self) -> bool {
        self.path == Path::new("-")
    }

    /// Name of the sound card that is meant; empty for the usual one.
    pub(super) fn sound_card(&self) -> Option<&str> {
        match self.path.to_str()?.split_once(':') {
            None => (self.path == Path::new("audio")).then_some(""),
            Some((word, name)) => (word == "audio").then_some(name),
        }
    }

    /// Nanoseconds added to its times.
    pub(super) fn offset_nanos(&self) -> i64 {
        (self.offset_ms * 1e6).round() as i64
    }

    /// Whether the keys make sense together.
    ///
    /// # Errors
    /// What is missing, or out of range.
    pub fn check(&self) -> anyhow::Result<()> {
        ensure!(!self.name.trim().is_empty(), "`name` is empty");
        ensure!(
            !self.path.as_os_str().is_empty(),
            "`path` is missing: a WAV file, a pipe, or \"-\" for standard input"
        );
        ensure!(
            SAMPLE_RATES.contains(&self.sample_rate),
            "`sample_rate` {} is not between {} and {}",
            self.sample_rate,
            SAMPLE_RATES.start(),
            SAMPLE_RATES.end()
        );
        ensure!(
            (1..=MAX_CHANNELS).contains(&self.channels),
            "`channels` {} is not between 1 and {MAX_CHANNELS}",
            self.channels
        );
        ensure!(
            self.offset_ms.abs() <= MAX_OFFSET_MS,
            "`offset_ms` {} is not between {} and {MAX_OFFSET_MS}",
            self.offset_ms,
            -MAX_OFFSET_MS
        );
        Ok(())
    }
}
