//! The table `[timecode]` of the stage file.

use std::{
    net::{SocketAddr, ToSocketAddrs as _},
    path::{Path, PathBuf},
};

use anyhow::{bail, ensure};
use hub::{FrameRate, SubjectName, master::MasterSource};
use serde::{Deserialize, Deserializer, de::Error as _};
use sources::{artnet, ltc};

/// Where the hub's timecode comes from. Without the table it is the computer's time of day.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TimecodeOptions {
    /// `system`, `ltc`, `mtc`, `artnet`, `subject` or `free`.
    pub source: MasterSource,
    /// Where LTC or MTC is read from: a WAV file (LTC), a pipe, a device, `-` for standard input; for LTC also `audio`
    /// or `audio:NAME`, a sound card, in a program built for it.
    pub path: Option<PathBuf>,
    /// Sample rate of LTC from a pipe, in Hz. WAV files and sound cards say theirs.
    pub sample_rate: u32,
    /// Channel of a WAV file or sound card that carries LTC, from 1.
    pub channel: u16,
    /// Where Art-Net timecode is listened for; default all addresses at port 6454.
    #[serde(deserialize_with = "address")]
    pub listen: Option<SocketAddr>,
    /// The subject whose timecode is taken.
    pub subject: Option<SubjectName>,
    /// What the source counts. Decides between rates that the source cannot tell apart; see `docs/timecode.md`. For `free` the
    /// generator's rate; default the hub's.
    #[serde(deserialize_with = "rate")]
    pub rate: Option<FrameRate>,
    /// Whether the hub's answers count in drop-frame, where their rate has it. Default: as the source does, and
    /// drop-frame where the source says nothing.
    pub drop: Option<bool>,
    /// Added to every answer, in frames of the hub; takes out a constant delay.
    pub offset_frames: f64,
    /// For how long to carry on without readings, in seconds; default for ever.
    pub freewheel_secs: Option<f64>,
    /// Label at which `free` starts; default the time of day.
    pub start: Option<String>,
}

impl Default for TimecodeOptions {
    fn default() -> Self {
        Self {
            source: MasterSource::System,
            path: None,
            sample_rate: 48_000,
            channel: 1,
            listen: None,
            subject: None,
            rate: None,
            drop: None,
            offset_frames: 0.0,
            freewheel_secs: None,
            start: None,
        }
    }
}

fn rate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<FrameRate>, D::Error> {
    let text = String::deserialize(from)?;
    text.parse().map(Some).map_err(D::Error::custom)
}

fn address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SocketAddr>, D::Error> {
    let text = String::deserialize(from)?;
    let addr = text.to_socket_addrs().ok().and_then(|mut a| a.next());
    addr.map(Some).ok_or_else(|| {
        D::Error::custom(format!(
            "{text:?} is no address; expected HOST:PORT, for example 0.0.0.0:{}",
            artnet::PORT
        ))
    })
}

impl TimecodeOptions {
    /// Makes a relative path relative to `folder`, where the stage file lies.
    pub fn relative_to(&mut self, folder: &Path) {
        if let Some(path) = &mut self.path
            && path.is_relative()
            && path.as_path() != Path::new("-")
            && sound_card(path).is_none()
        {
            *path = folder.join(&*path);
        }
    }

    /// Whether standard input carries the timecode, so that nobody else may read it.
    pub fn takes_standard_input(&self) -> bool {
        let reads = matches!(self.source, MasterSource::Ltc | MasterSource::Mtc);
        reads && self.path.as_deref() == Some(Path::new("-"))
    }

    /// Where Art-Net timecode is listened for.
    pub fn addr(&self) -> SocketAddr {
        self.listen
            .unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], artnet::PORT)))
    }

    /// Whether the keys make sense together.
    ///
    /// # Errors
    /// What is missing, or out of range.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        match self.source {
            MasterSource::Ltc => {
                ensure!(
                    self.path.is_some(),
                    "`path` is missing: a WAV file, a pipe, or \"-\" for standard input"
                );
                ensure!(
                    ltc::SAMPLE_RATES.contains(&self.sample_rate),
                    "`sample_rate` {} is not between {} and {}",
                    self.sample_rate,
                    ltc::SAMPLE_RATES.start(),
                    ltc::SAMPLE_RATES.end()
                );
                ensure!(self.channel > 0, "`channel` counts from 1");
            }
            MasterSource::Mtc => ensure!(
                self.path.is_some(),
                "`path` is missing: a MIDI device such as \"/dev/snd/midiC1D0\", a pipe, or \"-\" for standard input"
            ),
            MasterSource::Subject => ensure!(
                self.subject.is_some(),
                "`subject` is missing: the name of the subject whose timecode is taken"
            ),
            MasterSource::System | MasterSource::ArtNet | MasterSource::Free => {}
        }
        ensure!(
            self.offset_frames.is_finite(),
            "`offset_frames` must be a number"
        );
        if let Some(secs) = self.freewheel_secs
            && (!secs.is_finite() || secs < 0.0)
        {
            bail!("`freewheel_secs` must be 0 or more; leave it out to carry on for ever");
        }
        Ok(())
    }

    /// What an operator should know before the show, at the hub's rate.
    pub(super) fn notes(&self, hub_rate: FrameRate) -> Vec<String> {
        let mut notes = Vec::new();
        // Fractional rates count slower seconds, unless they drop labels.
        let is_fractional = |rate: FrameRate| rate.den() == 1001;
        let counts = self.rate.filter(|_| self.source.is_external());
        if let Some(rate) = counts
            && rate == FrameRate::FPS_23_976
            && !is_fractional(hub_rate)
        {
            notes.push(format!(
                "the timecode counts at {rate} and the hub at {hub_rate}: their labels drift apart by 3.6 s an hour; \
                 set `timecode_rate` of [hub] to \"23.976\", \"47.952\", \"29.97\" or \"59.94\""
            ));
        }
        notes
    }
}

/// Name of the sound card that a path means; empty for the usual one.
pub(super) fn sound_card(path: &Path) -> Option<&str> {
    let text = path.to_str()?;
    match text.split_once(':') {
        None => (text == "audio").then_some(""),
        Some((word, name)) => (word == "audio").then_some(name),
    }
}
