//! LTC: samples from files, pipes and sound cards → readings.

use std::{
    fs::File,
    io::{BufReader, Read},
    time::Duration,
};

use anyhow::Context as _;
use hound::{SampleFormat, WavReader};
use hub::{ClockEstimator as _, FrameRate, NANOS_PER_SEC, RunningMinOffset, SourceTime, WorldTime};
use sources::ltc::{LtcDecoder, LtcFrame};

use super::{
    Feed,
    inputs::{LOOK, read_some},
    lock,
};

/// Bytes of a read: 43 ms of LTC at 48 kHz.
const READ_BYTES: usize = 4096;

/// World times of samples: blocks come late at random, so the earliest ones tell.
struct SampleClock {
    nanos_per_sample: f64,
    offset: RunningMinOffset,
}

impl SampleClock {
    fn new(sample_rate: u32) -> Self {
        Self {
            nanos_per_sample: NANOS_PER_SEC as f64 / f64::from(sample_rate),
            offset: RunningMinOffset::default(),
        }
    }

    fn source_time(&self, sample: f64) -> SourceTime {
        SourceTime::from_nanos((sample * self.nanos_per_sample).round() as i64)
    }

    /// The samples before number `end` were there at `arrival`.
    fn observe(&mut self, end: u64, arrival: WorldTime) {
        let time = self.source_time(end as f64);
        self.offset.observe(time, arrival);
    }

    fn world(&self, sample: f64) -> Option<WorldTime> {
        self.offset.world_of(self.source_time(sample))
    }
}

/// Samples in, readings to the master.
struct LtcFeed<'a> {
    decoder: LtcDecoder,
    clock: SampleClock,
    refused: u64,
    feed: &'a Feed,
}

impl<'a> LtcFeed<'a> {
    fn new(sample_rate: u32, rate: Option<FrameRate>, feed: &'a Feed) -> anyhow::Result<Self> {
        Ok(Self {
            decoder: LtcDecoder::new(sample_rate, rate)?,
            clock: SampleClock::new(sample_rate),
            refused: 0,
            feed,
        })
    }

    /// Takes a block whose last sample was there at `arrival`.
    fn take(&mut self, samples: &[f32], arrival: WorldTime) {
        let Self {
            decoder,
            clock,
            refused,
            feed,
        } = self;
        clock.observe(decoder.samples() + samples.len() as u64, arrival);
        let mut tell = |frame: &LtcFrame| {
            let Some(at) = clock.world(frame.began()) else {
                return;
            };
            match frame.reading(at) {
                Some(reading) => {
                    lock(&feed.master).read(&reading, arrival);
                }
                // A label that the rate does not have; without a rate it is too early to say.
                None if frame.rate.is_some() => lock(&feed.master).refuse(1),
                None => {}
            }
        };
        decoder.push(samples, &mut tell);
        let counts = decoder.counts();
        if counts.refused > *refused {
            lock(&feed.master).refuse(counts.refused - *refused);
            *refused = counts.refused;
        }
        let mut report = lock(&feed.report);
        report.taken += samples.len() as u64;
        report.measured_fps = decoder.measured_fps();
    }
}

/// Plays a WAV file into the master in its own time.
pub(super) fn run_wav(
    mut reader: WavReader<BufReader<File>>,
    channel: usize,
    rate: Option<FrameRate>,
    feed: &Feed,
) -> anyhow::Result<()> {
    let spec = reader.spec();
    let mut ltc = LtcFeed::new(spec.sample_rate, rate, feed)?;
    let block = (spec.sample_rate / 100) as usize;
    let channels = usize::from(spec.channels);
    let mut samples = Vec::with_capacity(block);
    let start = feed.clock.now();
    let nanos_per_sample = NANOS_PER_SEC as f64 / f64::from(spec.sample_rate);
    let mut played = 0usize;
    loop {
        samples.clear();
        match spec.sample_format {
            SampleFormat::Float => {
                let all = reader.samples::<f32>().take(block * channels);
                pick(all, channels, channel, |x| x, &mut samples)?;
            }
            SampleFormat::Int => {
                let bits = i32::from(spec.bits_per_sample);
                let scale = 2f32.powi(1 - bits);
                let all = reader.samples::<i32>().take(block * channels);
                pick(all, channels, channel, |x| x as f32 * scale, &mut samples)?;
            }
        }
        if samples.is_empty() {
            lock(&feed.report).ended = Some("the file is at its end".into());
            return Ok(());
        }
        played += samples.len();
        // Stamped with the time that is due, not with that at which we woke.
        let due = start + (played as f64 * nanos_per_sample) as i64;
        while feed.clock.now() < due {
            if feed.is_over() {
                return Ok(());
            }
            let left = Duration::from_nanos((due - feed.clock.now()).max(0).unsigned_abs());
            std::thread::sleep(left.min(LOOK));
        }
        if feed.is_over() {
            return Ok(());
        }
        ltc.take(&samples, due);
    }
}

fn pick<S>(
    all: impl Iterator<Item = hound::Result<S>>,
    channels: usize,
    channel: usize,
    level: impl Fn(S) -> f32,
    out: &mut Vec<f32>,
) -> anyhow::Result<()> {
    for (i, sample) in all.enumerate() {
        let sample = sample.context("the WAV file cannot be read on")?;
        if i % channels == channel {
            out.push(level(sample));
        }
    }
    Ok(())
}

/// Samples of 16 bits, little-endian, one channel, until the bytes end.
pub(super) fn run_samples(
    bytes: &mut dyn Read,
    sample_rate: u32,
    rate: Option<FrameRate>,
    feed: &Feed,
) -> anyhow::Result<()> {
    let mut ltc = LtcFeed::new(sample_rate, rate, feed)?;
    let mut buffer = [0; READ_BYTES];
    let mut samples = Vec::with_capacity(READ_BYTES / 2);
    // Half a sample may come alone.
    let mut kept = 0;
    loop {
        let Some(free) = buffer.get_mut(kept..) else {
            return Ok(());
        };
        let read = read_some(bytes, free)?;
        if read == 0 || feed.is_over() {
            return Ok(());
        }
        let arrival = feed.clock.now();
        let there = kept + read;
        samples.clear();
        let pairs = buffer[..there].chunks_exact(2);
        samples.extend(pairs.map(|b| f32::from(i16::from_le_bytes([b[0], b[1]])) / 32_768.0));
        kept = there % 2;
        buffer[0] = buffer[there - 1];
        ltc.take(&samples, arrival);
    }
}

/// A sound card, until it fails.
#[cfg(feature = "audio")]
pub(super) fn run_sound_card(
    name: &str,
    channel: usize,
    rate: Option<FrameRate>,
    feed: &Feed,
) -> anyhow::Result<()> {
    let card = crate::audio_in::open(name, channel, feed.clock)?;
    let mut ltc = LtcFeed::new(card.sample_rate, rate, feed)?;
    while !feed.is_over() {
        if let Some(block) = card.next(LOOK)? {
            ltc.take(&block.samples, block.arrival);
        }
    }
    Ok(())
}
