//! A sound card as a stream of samples, for LTC. Only with the feature `audio`, which needs the system's audio
//! library (ALSA on Linux).

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    time::Duration,
};

use anyhow::{Context as _, anyhow, bail};
use cpal::{
    ErrorKind, FromSample, Sample, SampleFormat, SizedSample, StreamConfig,
    traits::{DeviceTrait, HostTrait, StreamTrait},
};
use hub::WorldTime;

use crate::clock::HubClock;

/// Blocks that may wait: more than a second of any card. Beyond it the newest is lost, as in an overrun.
const QUEUE: usize = 256;

/// Samples of one channel, and when the last of them was there.
pub(crate) struct Block {
    pub(crate) samples: Vec<f32>,
    pub(crate) arrival: WorldTime,
}

/// A card that records. It belongs to the thread that opened it.
pub(crate) struct Card {
    pub(crate) sample_rate: u32,
    blocks: Receiver<Block>,
    fault: Arc<Mutex<Option<String>>>,
    /// Records as long as it is there.
    _stream: cpal::Stream,
}

impl Card {
    /// The next block, or `None` when none came in time.
    ///
    /// # Errors
    /// When the card failed.
    pub(crate) fn next(&self, patience: Duration) -> anyhow::Result<Option<Block>> {
        let fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(fault) = &*fault {
            bail!("the sound card failed: {fault}");
        }
        drop(fault);
        match self.blocks.recv_timeout(patience) {
            Ok(block) => Ok(Some(block)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => bail!("the sound card is gone"),
        }
    }
}

/// Opens the input whose name contains `name`, or the usual one, in its own format. `channel` counts from 0.
///
/// # Errors
/// No such card or channel; a format that is not read; whatever the system says.
pub(crate) fn open(name: &str, channel: usize, clock: HubClock) -> anyhow::Result<Card> {
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
    let channels = usize::from(supported.channels());
    if channel >= channels {
        bail!(
            "the sound card has {channels} channels; there is no channel {}",
            channel + 1
        );
    }
    let (blocks_in, blocks) = sync_channel(QUEUE);
    let fault = Arc::new(Mutex::new(None));
    let plan = Plan {
        config: supported.config(),
        channels,
        channel,
        clock,
        fault: Arc::clone(&fault),
    };
    let stream = match supported.sample_format() {
        SampleFormat::F32 => plan.build::<f32>(&device, blocks_in),
        SampleFormat::I16 => plan.build::<i16>(&device, blocks_in),
        SampleFormat::I32 => plan.build::<i32>(&device, blocks_in),
        other => bail!("the sound card records {other}, which is not read"),
    }?;
    stream.play().context("the sound card does not start")?;
    Ok(Card {
        sample_rate: supported.sample_rate(),
        blocks,
        fault,
        _stream: stream,
    })
}

struct Plan {
    config: StreamConfig,
    channels: usize,
    channel: usize,
    clock: HubClock,
    fault: Arc<Mutex<Option<String>>>,
}

impl Plan {
    fn build<T>(self, device: &cpal::Device, out: SyncSender<Block>) -> anyhow::Result<cpal::Stream>
    where
        T: SizedSample,
        f32: FromSample<T>,
    {
        let Self {
            config,
            channels,
            channel,
            clock,
            fault,
        } = self;
        device
            .build_input_stream(
                config,
                move |data: &[T], _: &cpal::InputCallbackInfo| {
                    let samples = data
                        .iter()
                        .skip(channel)
                        .step_by(channels)
                        .map(|x| <f32 as Sample>::from_sample(*x))
                        .collect();
                    let arrival = clock.now();
                    // A full queue is an overrun: the block is lost, the decoder bridges it.
                    let _ = out.try_send(Block { samples, arrival });
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
