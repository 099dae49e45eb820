//! From samples to features: what is heard in 25 ms, a hundred times a second.
//!
//! ```text
//! frame i:  samples 160 i − 200 .. 160 i + 200 at 16 kHz, so that it is centred on i · 10 ms
//! 0..20     ln of 20 mel bands (80 Hz to 7.6 kHz, pre-emphasis 0.97, Hann), under the level of this
//!           speaker and less the mean of this speaker and microphone
//! 20        ln of the power, under the level of this speaker
//! 21        voicing: highest peak of the normalised autocorrelation from 80 to 400 Hz
//! ```
//!
//! The level follows the loudest of the speech: up within 50 ms, down by 4 dB a second. The mean
//! (cepstral mean normalisation, Atal 1974, in the log bands) follows within some 5 s of speech.
//! Voicing after Boersma 1993: the autocorrelation divided by that of the window.
//!
//! The same arithmetic, with the same constants, is in retarget/voice/train.py.

use super::fft::{Fft, SIZE};
use super::resample::RATE;

/// Samples between two frames: 10 ms.
pub(super) const HOP: usize = 160;
/// Samples of a frame: 25 ms.
pub(super) const WINDOW: usize = 400;
pub(super) const BANDS: usize = 20;
pub(super) const FEATURES: usize = BANDS + 2;

/// ln of the level that a speaker is taken to have before a word was heard: −30 dBFS.
pub(super) const REST: f32 = -6.907_755;
/// ln of the least level: −50 dBFS.
const LEAST: f32 = -11.512_925;
/// What lies this far under the level, in ln, is as good as silence: −39 dB.
const FLOOR: f32 = -9.0;
/// ln(band) − level, averaged over the speech that the table was trained on.
const MEAN: [f32; BANDS] = [
    -4.3, -3.8, -3.6, -3.7, -4.3, -4.9, -5.2, -5.3, -5.3, -5.3, -5.4, -5.0, -4.6, -4.7, -4.8, -5.2,
    -6.0, -6.7, -7.0, -6.8,
];
/// Lags of 400 Hz and 80 Hz.
const LAGS: std::ops::RangeInclusive<usize> = 40..=200;

/// What one frame sounds like.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Heard {
    pub(super) features: [f32; FEATURES],
    /// ln of the mean power; full scale is 0.
    pub(super) power: f32,
    /// ln of the level of this speaker.
    pub(super) level: f32,
}

pub(super) struct Front {
    fft: Fft,
    hann: Vec<f32>,
    hann_sum: f32,
    /// Sum of the squares of the window.
    hann_energy: f32,
    /// Weights of one band after the other, and where each begins in the spectrum.
    filters: Vec<(usize, Vec<f32>)>,
    /// What the window takes from the autocorrelation, given back.
    lag_gains: Vec<f32>,
    /// The samples of the frame being gathered, and one before them.
    samples: [f32; WINDOW + 1],
    filled: usize,
    /// One side of the spectrum.
    spectrum: [f32; SIZE / 2 + 1],
    level: f32,
    mean: [f32; BANDS],
}

impl Front {
    pub(super) fn new() -> Self {
        let hann: Vec<f32> = (0..WINDOW)
            .map(|i| {
                let angle = std::f64::consts::TAU * (i as f64 + 0.5) / WINDOW as f64;
                (0.5 - 0.5 * angle.cos()) as f32
            })
            .collect();
        let overlap =
            |lag: usize| -> f32 { hann.iter().zip(&hann[lag..]).map(|(a, b)| a * b).sum() };
        let whole = overlap(0);
        Self {
            fft: Fft::new(),
            hann_sum: hann.iter().sum(),
            hann_energy: whole,
            filters: filters(),
            lag_gains: LAGS.map(|lag| whole / overlap(lag)).collect(),
            hann,
            samples: [0.0; WINDOW + 1],
            // Silence before the start, so that the first frame is centred on the first sample.
            filled: WINDOW / 2 + 1,
            spectrum: [0.0; SIZE / 2 + 1],
            level: REST,
            mean: MEAN,
        }
    }

    /// One sample at 16 kHz; gives a frame each [`HOP`].
    pub(super) fn push(&mut self, sample: f32) -> Option<Heard> {
        self.samples[self.filled] = sample;
        self.filled += 1;
        if self.filled <= WINDOW {
            return None;
        }
        let heard = self.frame();
        self.samples.copy_within(HOP.., 0);
        self.filled -= HOP;
        Some(heard)
    }

    fn frame(&mut self) -> Heard {
        let samples = &self.samples;
        let hann = &self.hann;
        let power = samples[1..]
            .iter()
            .zip(hann)
            .map(|(x, w)| x * x * w)
            .sum::<f32>()
            / self.hann_sum;
        let windowed = samples[1..]
            .iter()
            .zip(samples)
            .zip(hann)
            .map(|((x, before), w)| (x - 0.97 * before) * w);
        let (re, im) = self.fft.run(windowed);
        for ((place, re), im) in self.spectrum.iter_mut().zip(re).zip(im) {
            *place = (re * re + im * im) / self.hann_energy;
        }

        let heard_power = (power + 1e-10).ln();
        let above = heard_power - self.level;
        self.level += if above > 0.0 {
            0.2 * above
        } else if above > -4.0 {
            -0.01
        } else {
            -0.001
        };
        self.level = self.level.max(LEAST);
        let (level, floor) = (self.level, (self.level + FLOOR).exp());
        let speaks = heard_power > level - 4.0;

        let mut features = [0.0; FEATURES];
        for (((start, weights), mean), feature) in
            self.filters.iter().zip(&mut self.mean).zip(&mut features)
        {
            let energy: f32 = self.spectrum[*start..]
                .iter()
                .zip(weights)
                .map(|(p, w)| p * w)
                .sum();
            let band = (energy + floor).ln() - level;
            if speaks {
                *mean += 0.002 * (band - *mean);
            }
            *feature = (band - *mean) / 2.0;
        }
        features[BANDS] = ((power + floor).ln() - level + 3.0) / 3.0;
        features[BANDS + 1] = 2.0 * self.voicing() - 1.0;
        Heard {
            features,
            power: heard_power,
            level,
        }
    }

    /// 0 for noise, 1 for a periodic sound.
    fn voicing(&mut self) -> f32 {
        // The spectrum of a real signal is its own mirror; the transform of a power spectrum is the
        // autocorrelation, times the size.
        let both = (0..SIZE).map(|k| self.spectrum[k.min(SIZE - k)]);
        let (correlation, _) = self.fft.run(both);
        let whole = correlation[0] + 1e-12 * SIZE as f32;
        let peak = LAGS
            .zip(&self.lag_gains)
            .map(|(lag, gain)| correlation[lag] / whole * gain)
            .fold(0.0, f32::max);
        peak.min(1.0)
    }
}

/// Triangles, even on the mel scale (2595 lg(1 + f / 700)), each of sum 1.
fn filters() -> Vec<(usize, Vec<f32>)> {
    let mel = |hertz: f64| 2595.0 * (1.0 + hertz / 700.0).log10();
    let (low, high) = (mel(80.0), mel(7600.0));
    let edge = |i: usize| {
        let at = low + (high - low) * i as f64 / (BANDS + 1) as f64;
        700.0 * (10.0_f64.powf(at / 2595.0) - 1.0)
    };
    (0..BANDS)
        .map(|band| {
            let (from, middle, to) = (edge(band), edge(band + 1), edge(band + 2));
            let weight = |bin: usize| {
                let f = bin as f64 * f64::from(RATE) / SIZE as f64;
                ((f - from) / (middle - from))
                    .min((to - f) / (to - middle))
                    .max(0.0)
            };
            let weights: Vec<f64> = (0..=SIZE / 2).map(weight).collect();
            let start = weights.iter().position(|w| *w > 0.0).unwrap_or(0);
            let sum: f64 = weights.iter().sum();
            let triangle = weights[start..].iter().take_while(|w| **w > 0.0);
            (start, triangle.map(|w| (w / sum) as f32).collect())
        })
        .collect()
}
