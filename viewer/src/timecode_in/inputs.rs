//! The threads: each reads its input and tells the master.

use std::{
    fs::File,
    io::{self, BufReader, Read},
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
    time::Duration,
};

use anyhow::{Context as _, bail};
use hound::WavReader;
use hub::{
    FrameRate, SubjectName,
    master::{MasterSource, TimecodeReading},
};
use sources::{
    artnet::ArtNetTimecodeDecoder,
    ltc::LtcDecoder,
    mtc::{MtcDecoder, MtcKind},
    net::{
        listen::{Receiver, listen},
        socket::{self, BoundSocket},
    },
};

use super::{Feed, TimecodeOptions, lock, options::sound_card, sound};
use crate::live::Shared;

/// How often a sleeping thread looks whether it is to stop.
pub(super) const LOOK: Duration = Duration::from_millis(20);
/// How often a subject is looked at: often enough for 120 frames a second. Frames carry their own arrival.
const SUBJECT_STEP: Duration = Duration::from_millis(4);

/// An input that is open.
pub(super) enum Input {
    Wav {
        reader: WavReader<BufReader<File>>,
        channel: usize,
        rate: Option<FrameRate>,
    },
    /// Samples, 16 bits, little-endian, one channel.
    Samples {
        stream: Stream,
        sample_rate: u32,
        rate: Option<FrameRate>,
    },
    #[cfg(feature = "audio")]
    SoundCard {
        name: String,
        channel: usize,
        rate: Option<FrameRate>,
    },
    Midi {
        stream: Stream,
        rate: Option<FrameRate>,
    },
    ArtNet {
        bound: BoundSocket,
        rate: Option<FrameRate>,
    },
    Subject {
        name: SubjectName,
        shared: Arc<Mutex<Shared>>,
    },
}

/// Bytes without an end that can be sought.
pub(super) enum Stream {
    StandardInput,
    /// A pipe or a device. Opened by the thread: a pipe without a writer blocks already there.
    File(PathBuf),
}

impl Input {
    /// Opens what the options name; `None` for sources that need no input.
    pub(super) fn open(
        options: &TimecodeOptions,
        shared: &Arc<Mutex<Shared>>,
    ) -> anyhow::Result<Option<Self>> {
        let rate = options.rate;
        let path = options.path.as_deref().unwrap_or(Path::new("-"));
        Ok(Some(match options.source {
            MasterSource::System | MasterSource::Free => return Ok(None),
            MasterSource::Ltc => {
                let channel = usize::from(options.channel) - 1;
                if let Some(name) = sound_card(path) {
                    return Self::sound_card(name, channel, rate).map(Some);
                }
                match Stream::open(path)? {
                    Some(stream) => Self::Samples {
                        stream,
                        sample_rate: options.sample_rate,
                        rate,
                    },
                    None => Self::open_wav(path, channel, rate)?,
                }
            }
            MasterSource::Mtc => match Stream::open(path)? {
                Some(stream) => Self::Midi { stream, rate },
                None => bail!(
                    "{} is a file; MIDI timecode is read from a device or a pipe",
                    path.display()
                ),
            },
            MasterSource::ArtNet => Self::ArtNet {
                bound: socket::bind(options.addr())?,
                rate,
            },
            MasterSource::Subject => Self::Subject {
                name: options.subject.clone().context("`subject` is missing")?,
                shared: Arc::clone(shared),
            },
        }))
    }

    fn open_wav(path: &Path, channel: usize, rate: Option<FrameRate>) -> anyhow::Result<Self> {
        let reader = WavReader::open(path)
            .with_context(|| format!("cannot read {} as a WAV file", path.display()))?;
        let spec = reader.spec();
        if channel >= usize::from(spec.channels) {
            bail!(
                "{} has {} channels; there is no channel {}",
                path.display(),
                spec.channels,
                channel + 1
            );
        }
        // Told now, not by the thread.
        LtcDecoder::new(spec.sample_rate, rate)
            .with_context(|| format!("{} cannot be used", path.display()))?;
        Ok(Self::Wav {
            reader,
            channel,
            rate,
        })
    }

    #[cfg(feature = "audio")]
    #[expect(
        clippy::unnecessary_wraps,
        reason = "a program without sound cards refuses here"
    )]
    fn sound_card(name: &str, channel: usize, rate: Option<FrameRate>) -> anyhow::Result<Self> {
        Ok(Self::SoundCard {
            name: name.to_owned(),
            channel,
            rate,
        })
    }

    #[cfg(not(feature = "audio"))]
    fn sound_card(_name: &str, _channel: usize, _rate: Option<FrameRate>) -> anyhow::Result<Self> {
        bail!(
            "this program was built without sound cards (feature `audio`); feed it through a pipe, for example \
             arecord -t raw -f S16_LE -r 48000 -c 1 | ghostlight serve --stage … with path = \"-\""
        )
    }

    pub(super) fn listening(&self) -> Option<SocketAddr> {
        match self {
            Self::ArtNet { bound, .. } => Some(bound.addr),
            _ => None,
        }
    }

    /// Reads until it is told to stop, or the input ends.
    pub(super) fn run(self, feed: &Feed) -> anyhow::Result<()> {
        match self {
            Self::Wav {
                reader,
                channel,
                rate,
            } => sound::run_wav(reader, channel, rate, feed),
            Self::Samples {
                stream,
                sample_rate,
                rate,
            } => stream.run(feed, |bytes| {
                sound::run_samples(bytes, sample_rate, rate, feed)
            }),
            #[cfg(feature = "audio")]
            Self::SoundCard {
                name,
                channel,
                rate,
            } => sound::run_sound_card(&name, channel, rate, feed),
            Self::Midi { stream, rate } => stream.run(feed, |bytes| run_midi(bytes, rate, feed)),
            Self::ArtNet { bound, rate } => {
                let mut receiver = ArtNetReceiver {
                    decoder: ArtNetTimecodeDecoder::new(rate),
                    feed,
                };
                listen(&bound, &mut receiver, &feed.stop).context("cannot set the socket up")
            }
            Self::Subject { name, shared } => {
                run_subject(&name, &shared, feed);
                Ok(())
            }
        }
    }
}

impl Stream {
    /// `None` for a plain file.
    fn open(path: &Path) -> anyhow::Result<Option<Self>> {
        if path == Path::new("-") {
            return Ok(Some(Self::StandardInput));
        }
        let about =
            std::fs::metadata(path).with_context(|| format!("cannot open {}", path.display()))?;
        if about.is_dir() {
            bail!("{} is a folder", path.display());
        }
        Ok((!about.is_file()).then(|| Self::File(path.to_owned())))
    }

    /// Calls `read` with the bytes; again when a pipe has got another writer.
    fn run(
        &self,
        feed: &Feed,
        mut read: impl FnMut(&mut dyn Read) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let path = match self {
            Self::StandardInput => {
                read(&mut io::stdin().lock())?;
                if !feed.is_over() {
                    lock(&feed.report).ended = Some("standard input ended".into());
                }
                return Ok(());
            }
            Self::File(path) => path,
        };
        while !feed.is_over() {
            let mut file =
                File::open(path).with_context(|| format!("cannot open {}", path.display()))?;
            read(&mut file).with_context(|| format!("cannot read {}", path.display()))?;
            // A device that ends at once must not keep us busy.
            std::thread::sleep(LOOK);
        }
        Ok(())
    }
}

/// The bytes of a MIDI stream, until they end.
pub(super) fn run_midi(
    bytes: &mut dyn Read,
    rate: Option<FrameRate>,
    feed: &Feed,
) -> anyhow::Result<()> {
    let mut decoder = MtcDecoder::new(rate);
    let mut refused = 0;
    let mut buffer = [0; 256];
    loop {
        let read = read_some(bytes, &mut buffer)?;
        if read == 0 || feed.is_over() {
            return Ok(());
        }
        let now = feed.clock.now();
        decoder.push(&buffer[..read], now, &mut |event| {
            // A full frame says where a tape stands: no time runs there.
            if event.kind == MtcKind::QuarterFrames {
                lock(&feed.master).read(&event.reading, now);
            }
        });
        let counts = decoder.counts();
        if counts.refused > refused {
            lock(&feed.master).refuse(counts.refused - refused);
            refused = counts.refused;
        }
        lock(&feed.report).taken += read as u64;
    }
}

pub(super) fn read_some(bytes: &mut dyn Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match bytes.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

struct ArtNetReceiver<'a> {
    decoder: ArtNetTimecodeDecoder,
    feed: &'a Feed,
}

impl Receiver for ArtNetReceiver<'_> {
    fn datagram(&mut self, from: SocketAddr, bytes: &[u8]) {
        let now = self.feed.clock.now();
        let refused = self.decoder.counts().refused;
        let outcome = self.decoder.handle_datagram(now, from, bytes);
        let refused = self.decoder.counts().refused - refused;
        if let Ok(Some(reading)) = &outcome {
            lock(&self.feed.master).read(reading, now);
        } else if refused > 0 {
            lock(&self.feed.master).refuse(refused);
        }
        let mut report = lock(&self.feed.report);
        report.taken += 1;
        report.rejected += u64::from(outcome.is_err());
    }

    fn socket_error(&mut self, _error: &io::Error) {
        lock(&self.feed.report).rejected += 1;
    }
}

/// Looks at the newest frame of a subject; a new timecode is a reading.
fn run_subject(name: &SubjectName, shared: &Mutex<Shared>, feed: &Feed) {
    let mut before = None;
    while !feed.is_over() {
        let newest = {
            let shared = lock(shared);
            let view = shared.client.find_name(name);
            let view = view.and_then(|id| shared.client.view(id));
            view.and_then(|v| Some((v.timecode()?, v.last_arrival())))
        };
        if let Some((time, at)) = newest
            && before != Some(time)
        {
            before = Some(time);
            let reading = TimecodeReading {
                time,
                at,
                forward: true,
            };
            let now = feed.clock.now();
            lock(&feed.master).read(&reading, now);
            lock(&feed.report).taken += 1;
        }
        std::thread::sleep(SUBJECT_STEP);
    }
}
