//! A fast Fourier transform of one fixed length, radix 2, in place.
//!
//! Two transforms of [`SIZE`] points a hundred times a second: about 10 million operations a second,
//! so the textbook form (Cooley and Tukey 1965) serves, and no dependency is owed.

use std::f64::consts::TAU;

pub(super) const SIZE: usize = 1024;
const BITS: u32 = SIZE.ilog2();

pub(super) struct Fft {
    /// cos and −sin of `TAU * k / SIZE`, k below `SIZE / 2`.
    turns: Vec<(f32, f32)>,
    re: Vec<f32>,
    im: Vec<f32>,
}

impl Fft {
    pub(super) fn new() -> Self {
        let turn = |k: usize| {
            let angle = TAU * k as f64 / SIZE as f64;
            (angle.cos() as f32, -angle.sin() as f32)
        };
        Self {
            turns: (0..SIZE / 2).map(turn).collect(),
            re: vec![0.0; SIZE],
            im: vec![0.0; SIZE],
        }
    }

    /// Transforms real samples, zeros behind them up to [`SIZE`]; gives real and imaginary parts.
    pub(super) fn run(&mut self, samples: impl Iterator<Item = f32>) -> (&[f32], &[f32]) {
        self.re.fill(0.0);
        self.im.fill(0.0);
        for (place, sample) in self.re.iter_mut().zip(samples) {
            *place = sample;
        }
        for i in 0..SIZE {
            let j = (i as u32).reverse_bits() >> (u32::BITS - BITS);
            if i < j as usize {
                self.re.swap(i, j as usize);
            }
        }
        let mut half = 1;
        while half < SIZE {
            let stride = SIZE / (2 * half);
            for start in (0..SIZE).step_by(2 * half) {
                for k in 0..half {
                    let (cos, sin) = self.turns[k * stride];
                    let (a, b) = (start + k, start + k + half);
                    let re = self.re[b] * cos - self.im[b] * sin;
                    let im = self.re[b] * sin + self.im[b] * cos;
                    self.re[b] = self.re[a] - re;
                    self.im[b] = self.im[a] - im;
                    self.re[a] += re;
                    self.im[a] += im;
                }
            }
            half *= 2;
        }
        (&self.re, &self.im)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the definition, X[k] = Σ x[n] e^(−i 2π k n / N), in double precision.
    #[test]
    fn equals_the_definition() {
        // Any signal without symmetry: the digits of a linear congruence.
        let mut seed = 1_u32;
        let x: Vec<f32> = (0..700)
            .map(|_| {
                seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
            })
            .collect();
        let mut fft = Fft::new();
        let (re, im) = fft.run(x.iter().copied());
        for k in [0, 1, 2, 3, 255, 256, 511, 512, 700, 1023] {
            let (mut wanted_re, mut wanted_im) = (0.0, 0.0);
            for (n, x) in x.iter().enumerate() {
                let angle = TAU * ((k * n) % SIZE) as f64 / SIZE as f64;
                wanted_re += f64::from(*x) * angle.cos();
                wanted_im -= f64::from(*x) * angle.sin();
            }
            assert!((f64::from(re[k]) - wanted_re).abs() < 1e-3, "{k}");
            assert!((f64::from(im[k]) - wanted_im).abs() < 1e-3, "{k}");
        }
    }
}
