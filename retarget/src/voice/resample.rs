//! Any rate to 16 kHz: a windowed sinc, evaluated where each output sample falls.
//!
//! The kernel is tabulated at [`PHASES`] positions between two input samples; between two of them
//! it is interpolated linearly, which is good to about −80 dB. Cut-off at 0.47 of the lower of the two
//! rates, Blackman window over [`CROSSINGS`] zero crossings each way: flat to 0.42, −74 dB above 0.52.
//! Output sample n stands for input time n / 16000 s exactly; what the kernel costs is waiting.
//!
//! Source of the method: J. O. Smith, "Digital Audio Resampling", bandlimited interpolation.

use std::f64::consts::PI;

/// Samples per second of everything behind this.
pub(super) const RATE: u32 = 16_000;

const PHASES: usize = 128;
const CROSSINGS: f64 = 32.0;
const CUTOFF: f64 = 0.47;

/// Louder samples are cut to this; nominal full scale is 1.
const MOST: f32 = 16.0;

pub(super) struct Resampler {
    rate: u64,
    /// Input samples to wait for after the one at or before an output sample.
    half: usize,
    /// `PHASES + 1` rows of `2 * half` taps; empty where the rate is already right.
    table: Vec<f32>,
    /// The last `2 * half` input samples, twice, so that they always lie in one piece somewhere.
    ring: Vec<f32>,
    /// Where the next sample goes, below `2 * half`.
    head: usize,
    /// Input samples so far.
    heard: u64,
    /// Input sample at or before the next output sample, and how far after it, in 1 / 16000.
    next: u64,
    fraction: u64,
}

impl Resampler {
    pub(super) fn new(rate: u32) -> Self {
        let mut resampler = Self {
            rate: u64::from(rate),
            half: 0,
            table: Vec::new(),
            ring: Vec::new(),
            head: 0,
            heard: 0,
            next: 0,
            fraction: 0,
        };
        if rate == RATE {
            return resampler;
        }
        // Cycles per input sample.
        let cutoff = CUTOFF * (f64::from(RATE) / f64::from(rate)).min(1.0);
        let half = (CROSSINGS / (2.0 * cutoff)).ceil() as usize;
        let width = 2 * half;
        resampler.half = half;
        resampler.ring = vec![0.0; 2 * width];
        resampler.table.reserve_exact((PHASES + 1) * width);
        for phase in 0..=PHASES {
            let after = phase as f64 / PHASES as f64;
            let kernel =
                |tap: usize| kernel(tap as f64 - (half as f64 - 1.0) - after, half, cutoff);
            // Every phase passes a constant unchanged.
            let sum: f64 = (0..width).map(kernel).sum();
            resampler
                .table
                .extend((0..width).map(|tap| (kernel(tap) / sum) as f32));
        }
        resampler
    }

    /// Nanoseconds of input needed after the instant of an output sample.
    pub(super) fn latency_nanos(&self) -> i64 {
        (self.half as u64 * 1_000_000_000 / self.rate) as i64
    }

    /// One input sample; gives the output samples that it completes.
    pub(super) fn push(&mut self, sample: f32, each: &mut dyn FnMut(f32)) {
        let sample = if sample.is_finite() {
            sample.clamp(-MOST, MOST)
        } else {
            0.0
        };
        let width = 2 * self.half;
        if width == 0 {
            each(sample);
            return;
        }
        self.ring[self.head] = sample;
        self.ring[self.head + width] = sample;
        self.head = (self.head + 1) % width;
        self.heard += 1;
        // Sample number `next + half` is the last that the kernel reaches.
        while self.heard == self.next + self.half as u64 + 1 {
            let inputs = &self.ring[self.head..self.head + width];
            let at = self.fraction as f32 / RATE as f32 * PHASES as f32;
            let phase = (at as usize).min(PHASES - 1);
            let blend = at - phase as f32;
            let rows = &self.table[phase * width..(phase + 2) * width];
            let (low, high) = rows.split_at(width);
            let mut sum = 0.0;
            for ((x, a), b) in inputs.iter().zip(low).zip(high) {
                sum += x * (a + blend * (b - a));
            }
            each(sum);
            self.fraction += self.rate;
            self.next += self.fraction / u64::from(RATE);
            self.fraction %= u64::from(RATE);
        }
    }
}

/// Windowed sinc at `t` input samples from its centre.
fn kernel(t: f64, half: usize, cutoff: f64) -> f64 {
    let reach = t / half as f64;
    if reach.abs() >= 1.0 {
        return 0.0;
    }
    let x = 2.0 * PI * cutoff * t;
    let sinc = if x.abs() < 1e-9 { 1.0 } else { x.sin() / x };
    let window = 0.42 + 0.5 * (PI * reach).cos() + 0.08 * (2.0 * PI * reach).cos();
    2.0 * cutoff * sinc * window
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resampled(rate: u32, secs: f64, signal: impl Fn(f64) -> f64) -> Vec<f32> {
        let mut resampler = Resampler::new(rate);
        let mut out = Vec::new();
        for i in 0..(f64::from(rate) * secs) as usize {
            let sample = signal(i as f64 / f64::from(rate)) as f32;
            resampler.push(sample, &mut |y| out.push(y));
        }
        out
    }

    /// A sine below the cut-off comes out as the same sine at the same time.
    #[test]
    fn tones_keep_phase_and_height_at_every_rate() {
        for (rate, hertz) in [
            (8_000, 1_000.0),
            (11_025, 1_000.0),
            (16_000, 3_000.0),
            (22_050, 3_000.0),
            (44_100, 5_000.0),
            (48_000, 5_000.0),
            (192_000, 5_000.0),
        ] {
            let tone = |t: f64| (2.0 * PI * hertz * t).sin();
            let out = resampled(rate, 0.2, tone);
            assert!((3100..=3200).contains(&out.len()), "{rate}: {}", out.len());
            for (n, y) in out.iter().enumerate().skip(200) {
                let wanted = tone(n as f64 / 16_000.0) as f32;
                assert!((y - wanted).abs() < 2e-3, "{rate}: {n} {y} {wanted}");
            }
        }
    }

    /// 12 kHz would fold to 4 kHz.
    #[test]
    fn tones_above_the_half_rate_are_gone() {
        for rate in [44_100, 48_000, 192_000] {
            let out = resampled(rate, 0.1, |t| (2.0 * PI * 12_000.0 * t).sin());
            let most = out.iter().skip(200).fold(0.0_f32, |m, y| m.max(y.abs()));
            assert!(most < 1e-3, "{rate}: {most}");
        }
    }

    #[test]
    fn what_is_no_number_is_silence() {
        let mut resampler = Resampler::new(RATE);
        let mut out = Vec::new();
        for sample in [f32::NAN, f32::INFINITY, 1e30, -1e30] {
            resampler.push(sample, &mut |y| out.push(y));
        }
        assert_eq!(out, [0.0, 0.0, 16.0, -16.0]);
    }
}
