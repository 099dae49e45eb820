//! A sound card as blocks of samples. Only with the feature `audio`, which needs the system's audio library
//! (ALSA on Linux).

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, anyhow, bail};
use cpal::{
    ErrorKind, FromSample, Sample, SampleFormat, SizedSample, StreamConfig,
    traits::{DeviceTrait, HostTrait, StreamTrait},
};
use recordings::audio::{Drain, Feed, ring};

use super::Heard;
use crate::clock::HubClock;

/// A card that records. It belongs to the thread that opened it.
pub(super) struct Card {
    pub(super) heard: Heard,
    pub(super) drain: Drain,
    fault: Arc<Mutex<Option<String>>>,
    /// Records as long as it is there.
    _stream: cpal::Stream,
}

impl Card {
    /// Whether it still records.
    ///
    /// # Errors
    /// When the card failed.
    pub(super) fn check(&self) -> anyhow::Result<()> {
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        match &*fault {
            Some(fault) => bail!("the sound card failed: {fault}"),
            None => Ok(()),
        }
    }
}

/// Opens the input whose name contains `name`, or the usual one, in its own format, with all its channels.
///
/// # Errors
/// No such card; a format that is not read; whatever the system says.
pub(super) fn open(name: &str, clock: HubClock) -> anyhow::Result<Card> {
    let host = cpal::default_host();
    let device = if name.is_empty() {
        host.default_input_device()
    } else {
        host.input_devices()
            .context("cannot list the sound cards")?
            .find(|d| d.description().is_ok_and(|d| d.name().contains(name)))
    };
    let device = device.ok_or_else(|| anyhow!("no sound card {name:?} that records"))?;
    let supported = device
        .default_input_config()
        .context("the sound card tells no format")?;
    let heard = Heard {
        sample_rate: supported.sample_rate(),
        channels: supported.channels(),
    };
    let (feed, drain) = ring(heard.channels, heard.sample_rate as usize);
    let fault = Arc::new(Mutex::new(None));
    let plan = Plan {
        config: supported.config(),
        heard,
        clock,
        fault: Arc::clone(&fault),
    };
    let stream = match supported.sample_format() {
        SampleFormat::F32 => plan.build::<f32>(&device, feed),
        SampleFormat::I16 => plan.build::<i16>(&device, feed),
        SampleFormat::I32 => plan.build::<i32>(&device, feed),
        other => bail!("the sound card records {other}, which is not read"),
    }?;
    stream.play().context("the sound card does not start")?;
    Ok(Card {
        heard,
        drain,
        fault,
        _stream: stream,
    })
}

struct Plan {
    config: StreamConfig,
    heard: Heard,
    clock: HubClock,
    fault: Arc<Mutex<Option<String>>>,
}

impl Plan {
    fn build<T>(self, device: &cpal::Device, mut feed: Feed) -> anyhow::Result<cpal::Stream>
    where
        T: SizedSample,
        f32: FromSample<T>,
    {
        let Self {
            config,
            heard,
            clock,
            fault,
        } = self;
        // Longer blocks than a tenth of a second come in pieces, so that nothing is allocated here.
        let most = (heard.sample_rate as usize / 10).max(1) * usize::from(heard.channels.max(1));
        let mut samples: Vec<f32> = Vec::with_capacity(most);
        device
            .build_input_stream(
                config,
                move |data: &[T], _: &cpal::InputCallbackInfo| {
                    let frames = (data.len() / feed.channels()) as u64;
                    let mut at = clock.now() + -heard.nanos_of(frames);
                    for piece in data.chunks(most) {
                        samples.clear();
                        samples.extend(piece.iter().map(|x| <f32 as Sample>::from_sample(*x)));
                        // What finds no room is counted, and silent in the file.
                        let _ = feed.push(&samples, at);
                        at = at + heard.nanos_of((piece.len() / feed.channels()) as u64);
                    }
                },
                move |error: cpal::Error| {
                    use ErrorKind::{DeviceChanged, RealtimeDenied, Xrun};
                    // After these it goes on recording.
                    if matches!(error.kind(), DeviceChanged | RealtimeDenied | Xrun) {
                        return;
                    }
                    let mut fault = fault.lock().unwrap_or_else(PoisonError::into_inner);
                    *fault = Some(error.to_string());
                },
                None,
            )
            .context("the sound card cannot be opened")
    }
}
