//! Resampling so that frame k is at its hub time: a steady ratio very near 1, through the crate `rubato`.
//!
//! # Where an output frame lies
//! From the kernels that rubato 5.1 makes (`sinc.rs`: tap p of phase s weighs the sinc at
//! `128 (p − 128) + 127 − s`, centred at 0) and its first position (`−255`, moved by a step before each frame):
//! output frame n lies at input position
//!
//! ```text
//! (n + 1) · step − 128 + 1/128        step = input frames per output frame
//! ```
//!
//! which the tests measure with impulses. The input is begun at that whole frame for which output frame
//! [`SKIP`] lies nearest to where the first one is wanted: within half a frame, 10 µs at 48 kHz.

use rubato::{
    Async, FixedAsync, Resampler as _, SincInterpolationParameters,
    audioadapter_buffers::direct::InterleavedSlice,
};

use super::error::AudioError;

/// Taps of a kernel, and phases between two samples: rubato's default, flat to 0.95 of half the rate.
const TAPS: f64 = 256.0;
const PHASES: f64 = 128.0;
/// Output frames left out at the start.
const SKIP: usize = 256;
/// Input frames taken at a time.
const PIECE_FRAMES: usize = 1024;
/// Steps that are a drift.
const STEPS: std::ops::RangeInclusive<f64> = 0.9..=1.1;

/// Frames in, frames out, at another pace.
pub struct Resampler {
    inner: Async<f32>,
    channels: usize,
    /// Output frames still to leave out.
    skip: usize,
    waiting: Vec<f32>,
    piece: Vec<f32>,
    start: i64,
}

fn refused(error: impl std::fmt::Display) -> AudioError {
    AudioError::Resample(error.to_string())
}

impl Resampler {
    /// Output frame k is input position `first + k · step`, both in frames.
    ///
    /// # Errors
    /// No channel; a step outside 0.9 to 1.1, or a position that is no number.
    pub fn new(channels: usize, first: f64, step: f64) -> Result<Self, AudioError> {
        if channels == 0 || !first.is_finite() || first.abs() > 1e15 || !STEPS.contains(&step) {
            return Err(AudioError::Resample(format!(
                "{channels} channels from {first} by {step}"
            )));
        }
        let inner = Async::new_sinc(
            1.0 / step,
            1.0,
            &SincInterpolationParameters::default(),
            PIECE_FRAMES,
            channels,
            FixedAsync::Input,
        )
        .map_err(refused)?;
        let lies = (SKIP as f64 + 1.0) * step - TAPS / 2.0 + 1.0 / PHASES;
        Ok(Self {
            inner,
            channels,
            skip: SKIP,
            waiting: Vec::new(),
            piece: Vec::new(),
            start: (first - lies).round() as i64,
        })
    }

    /// The input frame to begin with; below 0, that many frames of silence are to come first.
    pub fn start_frame(&self) -> i64 {
        self.start
    }

    /// Takes interleaved samples and appends what they give to `out`.
    ///
    /// # Errors
    /// When rubato refuses, which it has no reason to.
    pub fn push(&mut self, samples: &[f32], out: &mut Vec<f32>) -> Result<(), AudioError> {
        self.waiting.extend_from_slice(samples);
        let mut used = 0;
        loop {
            let needed = self.inner.input_frames_next();
            let Some(input) = self.waiting.get(used..used + needed * self.channels) else {
                break;
            };
            let given = self.inner.output_frames_next();
            self.piece.clear();
            self.piece.resize(given * self.channels, 0.0);
            let from = InterleavedSlice::new(input, self.channels, needed).map_err(refused)?;
            let mut into = InterleavedSlice::new_mut(&mut self.piece, self.channels, given)
                .map_err(refused)?;
            let (_, frames) = self
                .inner
                .process_into_buffer(&from, &mut into, None)
                .map_err(refused)?;
            used += needed * self.channels;
            let skip = self.skip.min(frames);
            self.skip -= skip;
            let new = self.piece.get(skip * self.channels..frames * self.channels);
            out.extend_from_slice(new.unwrap_or_default());
        }
        self.waiting.drain(..used);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One channel of `input` from a resampler, `frames` of it.
    fn run(input: &[f32], first: f64, step: f64, frames: usize) -> Vec<f32> {
        let mut resampler = Resampler::new(1, first, step).unwrap();
        let start = resampler.start_frame();
        let mut out = Vec::new();
        let silence = vec![0.0; (-start).max(0) as usize];
        resampler.push(&silence, &mut out).unwrap();
        // In uneven pieces: they must not show.
        let mut rest = &input[start.max(0) as usize..];
        let mut length = 1;
        while !rest.is_empty() {
            let (now, after) = rest.split_at(length.min(rest.len()));
            resampler.push(now, &mut out).unwrap();
            rest = after;
            length = length * 3 % 2003 + 1;
        }
        while out.len() < frames {
            resampler.push(&[0.0; 512], &mut out).unwrap();
        }
        out.truncate(frames);
        out
    }

    /// Positions of impulses in `out`: the centre of what stands within 20 frames of each peak above 0.3.
    fn impulses(out: &[f32]) -> Vec<f64> {
        let mut found = Vec::new();
        let mut at = 20;
        while at + 20 < out.len() {
            let around = &out[at - 20..=at + 20];
            let peak = around.iter().copied().fold(0.0, f32::max);
            if out[at] == peak && peak > 0.3 {
                // The sinc's sides cancel; its energy is symmetric.
                let energy: f64 = around.iter().map(|x| f64::from(*x).powi(2)).sum();
                let moment: f64 = around
                    .iter()
                    .zip(-20..)
                    .map(|(x, i)| f64::from(*x).powi(2) * f64::from(i))
                    .sum();
                found.push(at as f64 + moment / energy);
                at += 20;
            }
            at += 1;
        }
        found
    }

    #[test]
    fn impulses_come_out_where_their_time_says() {
        const EVERY: usize = 4_799;
        const FRAMES: usize = 48_000 * 20;
        let mut input = vec![0.0; FRAMES];
        for x in input.iter_mut().skip(1000).step_by(EVERY) {
            *x = 1.0;
        }
        for (first, step) in [
            (0.0_f64, 1.0_f64),
            (0.0, 1.0 + 50e-6),
            (-700.3, 1.0 - 50e-6),
            (2_500.7, 1.01),
        ] {
            let frames = ((FRAMES as f64 - first.max(0.0)) / step) as usize - 100;
            let out = run(&input, first, step, frames);
            let found = impulses(&out);
            let expected: Vec<f64> = (0..=FRAMES / EVERY)
                .map(|n| (1000.0 + (n * EVERY) as f64 - first) / step)
                .filter(|k| *k > 20.0)
                .take_while(|k| *k < frames as f64 - 21.0)
                .collect();
            assert_eq!(found.len(), expected.len(), "first {first}, step {step}");
            assert!(expected.len() > 150);
            for (f, e) in found.iter().zip(&expected) {
                // Half a frame of rounding, and what a peak between two frames hides: 21 µs at 48 kHz.
                assert!(
                    (f - e).abs() < 1.0,
                    "first {first}, step {step}: {f} for {e}"
                );
            }
        }
    }

    #[test]
    fn a_tone_keeps_its_level_and_takes_its_new_pitch() {
        // 1 kHz recorded by a clock 1 % too fast: 101 periods in 4800 frames become 100.
        let step = 1.01;
        let input: Vec<f32> = (0..48_000)
            .map(|n| (f64::from(n) * std::f64::consts::TAU * 1000.0 / 48_480.0).sin() as f32)
            .collect();
        let out = run(&input, 0.0, step, 40_000);
        let error = out[1000..]
            .iter()
            .zip(1000..)
            .map(|(x, k)| {
                let position = f64::from(k) * step;
                let expected = (position * std::f64::consts::TAU * 1000.0 / 48_480.0).sin();
                (f64::from(*x) - expected).abs()
            })
            .fold(0.0, f64::max);
        // Half a frame of 1 kHz at 48 kHz turns by 0.065 rad.
        assert!(error < 0.07, "{error}");
    }

    #[test]
    fn channels_stay_apart_and_nonsense_is_refused() {
        let mut resampler = Resampler::new(2, 0.0, 1.0001).unwrap();
        let mut out = Vec::new();
        resampler
            .push(&[0.5, -0.25].repeat(20_000), &mut out)
            .unwrap();
        let frame = &out[20_000..20_002];
        assert!((frame[0] - 0.5).abs() < 1e-3 && (frame[1] + 0.25).abs() < 1e-3);
        assert!(Resampler::new(1, 0.0, 2.0).is_err());
        assert!(Resampler::new(0, 0.0, 1.0).is_err());
        assert!(Resampler::new(1, f64::NAN, 1.0).is_err());
    }
}
