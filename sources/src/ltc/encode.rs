//! Labels → signal.

use std::f64::consts::PI;

use hub::{FrameRate, Timecode};

use super::{
    bits::{BITS, LtcFields},
    decode::check_sample_rate,
};
use crate::error::Reject;

/// How the signal is to be. Values out of range are brought into it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncodeOptions {
    /// Peak level, 0 to 1; default 0.5.
    pub amplitude: f64,
    /// Speed of the tape: 1 is nominal; 0.1 to 4.
    pub speed: f64,
    /// Time that an edge takes, in seconds. ST 12-1 asks for 25 µs, give or take 5; up to 50 µs is usual. Edges are never
    /// steeper than one and a half samples, nor longer than half a bit.
    pub rise_secs: f64,
    /// Write each frame from its end to its beginning, as a tape that runs backwards sounds. The caller counts the labels down.
    pub reverse: bool,
}

impl Default for EncodeOptions {
    fn default() -> Self {
        Self {
            amplitude: 0.5,
            speed: 1.0,
            rise_secs: 40e-6,
            reverse: false,
        }
    }
}

/// Writes frames one after another; keeps fractions of a sample, so no length is lost.
#[derive(Clone, Debug)]
pub struct LtcEncoder {
    rate: FrameRate,
    amplitude: f64,
    reverse: bool,
    /// Samples of half a bit.
    half: f64,
    /// Samples from the middle of an edge to its end.
    ramp: f64,
    /// Where the next half bit starts, in samples.
    at: f64,
    /// Samples written.
    written: u64,
    /// −1 or 1.
    level: f64,
}

impl LtcEncoder {
    /// At `sample_rate` Hz, for labels at `rate`, at most 30 frames a second.
    ///
    /// # Errors
    /// A sample rate outside [`super::SAMPLE_RATES`], or a faster rate.
    pub fn new(sample_rate: u32, rate: FrameRate, options: EncodeOptions) -> Result<Self, Reject> {
        check_sample_rate(sample_rate)?;
        if rate.nominal() > 30 {
            return Err(Reject::OutOfRange {
                what: "frames per second",
                have: i64::from(rate.nominal()),
                min: 1,
                max: 30,
            });
        }
        let bounded = |value: f64, least: f64, most: f64, usual: f64| {
            if value.is_finite() {
                value.clamp(least, most)
            } else {
                usual
            }
        };
        let usual = EncodeOptions::default();
        let samples = f64::from(sample_rate);
        let speed = bounded(options.speed, 0.1, 4.0, usual.speed);
        let half = samples / (rate.hertz() * speed * 2.0 * BITS as f64);
        let rise = bounded(options.rise_secs, 0.0, 0.01, usual.rise_secs) * samples;
        Ok(Self {
            rate,
            amplitude: bounded(options.amplitude, 0.0, 1.0, usual.amplitude),
            reverse: options.reverse,
            half,
            ramp: (rise.max(1.5) / 2.0).min(half / 2.0),
            at: 0.0,
            written: 0,
            level: -1.0,
        })
    }

    /// Where the next frame starts, in samples since the first.
    pub fn position(&self) -> f64 {
        self.at
    }

    /// Appends a frame. The last half edge comes with the next frame, or with [`Self::finish`].
    pub fn frame(&mut self, label: &Timecode, user_bits: u32, out: &mut Vec<f32>) {
        let fields = LtcFields {
            label: label.fields(),
            drop: label.drop(),
            user_bits,
            ..LtcFields::default()
        };
        self.fields(&fields, out);
    }

    /// As [`Self::frame`], with all fields given.
    pub fn fields(&mut self, fields: &LtcFields, out: &mut Vec<f32>) {
        self.word(fields.to_word(self.rate), out);
    }

    pub(super) fn word(&mut self, word: u128, out: &mut Vec<f32>) {
        for i in 0..BITS {
            let place = if self.reverse { BITS - 1 - i } else { i };
            let is_one = (word >> place) & 1 == 1;
            self.half_bit(true, out);
            self.half_bit(is_one, out);
        }
    }

    /// Appends the edge that ends the last frame: a reader knows a frame only with it.
    pub fn finish(&mut self, out: &mut Vec<f32>) {
        self.half_bit(true, out);
        self.half_bit(false, out);
    }

    fn half_bit(&mut self, flips: bool, out: &mut Vec<f32>) {
        let before = self.level;
        if flips {
            self.level = -before;
        }
        let ramp_start = self.at - self.ramp;
        self.at += self.half;
        while (self.written as f64) < self.at - self.ramp {
            let part = (self.written as f64 - ramp_start) / (2.0 * self.ramp);
            let level = if flips && part < 1.0 {
                // A raised cosine: no corner, so little above the audio band.
                let turned = (1.0 - (PI * part.max(0.0)).cos()) / 2.0;
                before + (self.level - before) * turned
            } else {
                self.level
            };
            out.push((level * self.amplitude) as f32);
            self.written += 1;
        }
    }
}
