//! The threads: each reads its input and tells when its samples were.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    path::{Path, PathBuf},
    sync::mpsc::SyncSender,
    time::Duration,
};

use anyhow::{Context as _, bail};
use recordings::audio::wav::WavReader;

use super::{AudioOptions, Ear, Heard};

/// How often a sleeping thread looks whether it is to stop.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes of a read from a pipe: 21 ms of one channel at 48 kHz.
const READ_BYTES: usize = 2048;

/// A source that is open.
pub(super) enum Input {
    Wav {
        reader: Box<WavReader<BufReader<File>>>,
        repeat: bool,
    },
    /// Samples, 16 bits, little-endian, interleaved.
    Samples { from: Stream, heard: Heard },
    #[cfg(feature = "audio")]
    Card { name: String },
}

/// Bytes without an end that can be sought.
pub(super) enum Stream {
    StandardInput,
    /// A pipe or a device. Opened by the thread: a pipe without a writer blocks already there.
    File(PathBuf),
}

impl Input {
    pub(super) fn open(options: &AudioOptions) -> anyhow::Result<Self> {
        let path = &*options.path;
        if let Some(name) = options.sound_card() {
            return Self::card(name);
        }
        let heard = Heard {
            sample_rate: options.sample_rate,
            channels: options.channels,
        };
        if path == Path::new("-") {
            return Ok(Self::Samples {
                from: Stream::StandardInput,
                heard,
            });
        }
        let about =
            std::fs::metadata(path).with_context(|| format!("cannot open {}", path.display()))?;
        if about.is_dir() {
            bail!("{} is a folder", path.display());
        }
        if !about.is_file() {
            return Ok(Self::Samples {
                from: Stream::File(path.to_owned()),
                heard,
            });
        }
        let reader = WavReader::open(path)?;
        if reader.frames() == 0 {
            bail!("{} holds no sound", path.display());
        }
        Ok(Self::Wav {
            reader: Box::new(reader),
            repeat: options.repeat,
        })
    }

    #[cfg(feature = "audio")]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "a program without sound cards refuses here"
    )]
    fn card(name: &str) -> anyhow::Result<Self> {
        Ok(Self::Card {
            name: name.to_owned(),
        })
    }

    #[cfg(not(feature = "audio"))]
    fn card(_name: &str) -> anyhow::Result<Self> {
        bail!(
            "this program was built without sound cards (feature `audio`); feed it through a pipe, for example \
             arecord -t raw -f S16_LE -r 48000 -c 1 | ghostlight serve --stage … with path = \"-\""
        )
    }

    /// Reads until it is to stop, or the input ends. Says what it is to `tell` before the first sample.
    pub(super) fn run(self, ear: &Ear, tell: &SyncSender<Heard>) -> anyhow::Result<()> {
        match self {
            Self::Wav { reader, repeat } => run_wav(*reader, repeat, ear, tell),
            Self::Samples { from, heard } => {
                // There is room for one, and nobody waits once it was received.
                let _ = tell.try_send(heard);
                from.run(heard, ear)
            }
            #[cfg(feature = "audio")]
            Self::Card { name } => run_card(&name, ear, tell),
        }
    }
}

/// Plays a file in its own time, 10 ms at a time.
fn run_wav(
    mut reader: WavReader<BufReader<File>>,
    repeat: bool,
    ear: &Ear,
    tell: &SyncSender<Heard>,
) -> anyhow::Result<()> {
    let spec = reader.spec();
    let heard = Heard {
        sample_rate: spec.sample_rate,
        channels: spec.channels,
    };
    let _ = tell.try_send(heard);
    let block = (spec.sample_rate / 100).max(1) as usize;
    let start = ear.clock.now();
    let mut played = 0u64;
    let mut samples = Vec::new();
    while !ear.is_over() {
        samples.clear();
        let got = reader.read(block, &mut samples)? as u64;
        if got == 0 {
            if !repeat {
                return Ok(());
            }
            reader.seek(0)?;
            if reader.frames() == 0 {
                bail!("the file was emptied while it played");
            }
            continue;
        }
        // Stamped with the time that is due, not with that at which we woke.
        let at = start + heard.nanos_of(played);
        played += got;
        let due = start + heard.nanos_of(played);
        while ear.clock.now() < due && !ear.is_over() {
            let left = Duration::from_nanos((due - ear.clock.now()).max(0).unsigned_abs());
            std::thread::sleep(left.min(LOOK));
        }
        ear.hear(&samples, heard.channels, at);
    }
    Ok(())
}

impl Stream {
    /// Reads until the input ends; again when a pipe has got another writer.
    fn run(&self, heard: Heard, ear: &Ear) -> anyhow::Result<()> {
        let path = match self {
            Self::StandardInput => {
                run_samples(&mut io::stdin().lock(), heard, ear)?;
                return Ok(());
            }
            Self::File(path) => path,
        };
        while !ear.is_over() {
            let mut file =
                File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            run_samples(&mut file, heard, ear)
                .with_context(|| format!("cannot read {}", path.display()))?;
            // A device that ends at once must not keep us busy.
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

/// Samples of 16 bits until the bytes end.
pub(super) fn run_samples(bytes: &mut dyn Read, heard: Heard, ear: &Ear) -> io::Result<()> {
    let frame = 2 * usize::from(heard.channels.max(1));
    let mut buffer = [0; READ_BYTES];
    // Part of a frame may come alone.
    let mut waiting: Vec<u8> = Vec::with_capacity(READ_BYTES + frame);
    let mut samples = Vec::with_capacity(READ_BYTES / 2 + frame);
    loop {
        let read = match bytes.read(&mut buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            other => other?,
        };
        if read == 0 || ear.is_over() {
            return Ok(());
        }
        let arrival = ear.clock.now();
        waiting.extend_from_slice(buffer.get(..read).unwrap_or_default());
        let whole = waiting.len() - waiting.len() % frame;
        samples.clear();
        let (pairs, _) = waiting[..whole].as_chunks::<2>();
        samples.extend(
            pairs
                .iter()
                .map(|b| f32::from(i16::from_le_bytes(*b)) / 32_768.0),
        );
        waiting.drain(..whole);
        let frames = (whole / frame) as u64;
        if frames > 0 {
            // The last of them was there just now.
            ear.hear(&samples, heard.channels, arrival + -heard.nanos_of(frames));
        }
    }
}

/// A sound card, until it fails.
#[cfg(feature = "audio")]
fn run_card(name: &str, ear: &Ear, tell: &SyncSender<Heard>) -> anyhow::Result<()> {
    let mut card = super::card::open(name, ear.clock)?;
    let _ = tell.try_send(card.heard);
    let mut samples = Vec::new();
    while !ear.is_over() {
        card.check()?;
        while let Some(block) = card.drain.take(&mut samples) {
            ear.hear(&samples, card.heard.channels, block.at);
        }
        super::lock(&ear.counted).lost = card.drain.lost_frames();
        // A few blocks; the ring holds a second.
        std::thread::sleep(LOOK / 4);
    }
    Ok(())
}
