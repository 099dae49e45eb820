//! Messages → records.
//!
//! | address | arguments |
//! |---|---|
//! | `/HT` | 3 f, position of the head |
//! | `/HR` | 3 f, its rotation in degrees |
//! | `/HRQ` | 4 f, its rotation as quaternion x, y, z, w |
//! | `/ELR`, `/ERR` | 2 f, rotation of the left and right eye in degrees |
//! | `/W` | i index, f value of a shape |
//!
//! Numbers of any type are taken for them.

use super::convert::SHAPES;
use crate::{named_curves::scaled, osc::scan::Message};

const MAX_DEGREES: f32 = 360.0;
const MAX_POSITION: f32 = 10_000.0;
const WEIGHTS: std::ops::RangeInclusive<f32> = -1.0..=2.0;
/// Indices that may be sent; the last ones are of no shape that we know.
const NUM_INDICES: u8 = 64;

/// What a message tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Record {
    /// Of the head.
    Position,
    /// Rotation of the head: degrees about x, y, z.
    Euler([f32; 3]),
    /// Rotation of the head, not judged yet.
    Quaternion([f32; 4]),
    /// Degrees about x, y.
    LeftEye([f32; 2]),
    /// Degrees about x, y.
    RightEye([f32; 2]),
    /// Of a shape of [`SHAPES`].
    Weight { index: usize, value: f32 },
}

impl Record {
    /// What of a frame it is; each comes once.
    pub(super) fn item(&self) -> usize {
        match self {
            Self::Weight { index, .. } => *index,
            Self::Position => SHAPES.len(),
            Self::Euler(_) => SHAPES.len() + 1,
            Self::Quaternion(_) => SHAPES.len() + 2,
            Self::LeftEye(_) => SHAPES.len() + 3,
            Self::RightEye(_) => SHAPES.len() + 4,
        }
    }
}

/// A message of Face Cap's without the arguments that it has to have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unfit;

/// Reads a message; `None` for one of no concern.
pub(super) fn read(message: Message<'_>) -> Result<Option<Record>, Unfit> {
    let address = message.address;
    let numbers = message.args.numbers::<4>();
    let record = match address {
        "/HT" => floats::<3>(&numbers, MAX_POSITION).map(|_| Record::Position),
        "/HR" => floats(&numbers, MAX_DEGREES).map(Record::Euler),
        "/HRQ" => floats(&numbers, 2.0).map(Record::Quaternion),
        "/ELR" => floats(&numbers, MAX_DEGREES).map(Record::LeftEye),
        "/ERR" => floats(&numbers, MAX_DEGREES).map(Record::RightEye),
        "/W" => {
            let [index, value, ..] = numbers;
            let index = index.ok_or(Unfit)?;
            if index.fract() != 0.0 || !(0.0..f64::from(NUM_INDICES)).contains(&index) {
                return Err(Unfit);
            }
            let index = index as usize;
            if index >= SHAPES.len() {
                return Ok(None);
            }
            let value = value.and_then(|v| scaled(v, 1.0, 0.0));
            value
                .filter(|v| WEIGHTS.contains(v))
                .map(|value| Record::Weight { index, value })
        }
        _ => return Ok(None),
    };
    record.map(Some).ok_or(Unfit)
}

/// The first `N` numbers, none beyond ±`limit`.
fn floats<const N: usize>(numbers: &[Option<f64>], limit: f32) -> Option<[f32; N]> {
    let mut values = [0.0; N];
    for (value, number) in values.iter_mut().zip(numbers) {
        *value = scaled((*number)?, 1.0, 0.0).filter(|v| v.abs() <= limit)?;
    }
    Some(values)
}
