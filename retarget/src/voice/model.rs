//! The table: from some 150 ms of features to the probabilities of 15 visemes.
//!
//! Two hidden layers of rectified sums, softmax over them: the smallest that told the closures of
//! p, b, m from those of t, d, k in training. Weights are kept as i8 with a scale for each row.
//! Trained by retarget/voice/train.py on synthetic speech that it makes.
//!
//! ```text
//! a layer   scale  f32 × rows      little-endian
//!           bias   f32 × rows
//!           weight i8  × rows × columns, row by row; the real weight is weight · scale of the row
//! ```

use super::VISEMES;
use super::front::FEATURES;

/// Frames looked at, from the one that is judged: 10 ms each.
pub(super) const TAPS: [isize; 11] = [-12, -9, -6, -4, -3, -2, -1, 0, 1, 2, 3];
/// The last of them.
pub(super) const AHEAD: usize = 3;
/// The first of them.
pub(super) const BEHIND: usize = 12;

pub(super) const INPUTS: usize = TAPS.len() * FEATURES;
const HIDDEN: usize = 128;
const HIDDEN_TWO: usize = 48;
const OUTPUTS: usize = VISEMES.len();

const TABLE: &[u8] = include_bytes!("model.bin");
const _: () = assert!(
    TABLE.len() == HIDDEN * (8 + INPUTS) + HIDDEN_TWO * (8 + HIDDEN) + OUTPUTS * (8 + HIDDEN_TWO),
    "model.bin is of another shape"
);

struct Layer {
    columns: usize,
    biases: Vec<f32>,
    /// Row by row.
    weights: Vec<f32>,
}

impl Layer {
    fn take(table: &mut &[u8], rows: usize, columns: usize) -> Self {
        let (scales, rest) = table.split_at(4 * rows);
        let (biases, rest) = rest.split_at(4 * rows);
        let (weights, rest) = rest.split_at(rows * columns);
        *table = rest;
        let scales = floats(scales);
        Self {
            columns,
            biases: floats(biases),
            weights: weights
                .chunks_exact(columns)
                .zip(scales)
                .flat_map(|(row, scale)| {
                    row.iter().map(move |w| f32::from(w.cast_signed()) * scale)
                })
                .collect(),
        }
    }

    fn sums(&self, inputs: &[f32], out: &mut [f32]) {
        let rows = self.weights.chunks_exact(self.columns).zip(&self.biases);
        for ((row, bias), out) in rows.zip(out) {
            *out = bias + row.iter().zip(inputs).map(|(w, x)| w * x).sum::<f32>();
        }
    }
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let (fours, _) = bytes.as_chunks::<4>();
    fours.iter().map(|b| f32::from_le_bytes(*b)).collect()
}

pub(super) struct Model {
    first: Layer,
    second: Layer,
    third: Layer,
    hidden: [f32; HIDDEN],
    hidden_two: [f32; HIDDEN_TWO],
}

impl Model {
    pub(super) fn new() -> Self {
        let mut table = TABLE;
        Self {
            first: Layer::take(&mut table, HIDDEN, INPUTS),
            second: Layer::take(&mut table, HIDDEN_TWO, HIDDEN),
            third: Layer::take(&mut table, OUTPUTS, HIDDEN_TWO),
            hidden: [0.0; HIDDEN],
            hidden_two: [0.0; HIDDEN_TWO],
        }
    }

    /// Features of the [`TAPS`], oldest first, to probabilities of sum 1.
    pub(super) fn run(&mut self, inputs: &[f32; INPUTS]) -> [f32; OUTPUTS] {
        self.first.sums(inputs, &mut self.hidden);
        rectify(&mut self.hidden);
        self.second.sums(&self.hidden, &mut self.hidden_two);
        rectify(&mut self.hidden_two);
        let mut out = [0.0; OUTPUTS];
        self.third.sums(&self.hidden_two, &mut out);
        let most = out.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let mut sum = 0.0;
        for p in &mut out {
            *p = (*p - most).exp();
            sum += *p;
        }
        out.map(|p| p / sum)
    }
}

fn rectify(values: &mut [f32]) {
    for value in values {
        *value = value.max(0.0);
    }
}
