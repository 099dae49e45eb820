//! Pose-driven correctives: values given at sample poses, and in between by radial basis functions.
//!
//! An elbow at 120° wants a muscle that an elbow at 30° does not; a twisted wrist wants a helper bone turned. Each sample
//! is a pose of up to eight joints with the values that belong to it. For a pose `x` the shares `s` of the samples solve
//!
//! ```text
//!   ┌ K  1 ┐   ┌ s ┐   ┌ k(x) ┐      K_ij = φ(distance of samples i and j)
//!   │      │ · │   │ = │      │      k_i  = φ(distance of x and sample i)
//!   └ 1ᵀ 0 ┘   └ c ┘   └  1   ┘      so Σs = 1, and s is 1 at its own sample, 0 at the others
//! ```
//!
//! and are then kept from being negative and divided by their sum. So the values are exact at the samples and never leave
//! the range that the samples span. The matrix is inverted once, in double precision.
//!
//! The distance of two poses is the root of the sum of squares of the angles between their joints; of a joint the whole
//! rotation counts, or only where its axis points (swing), or only how it is turned about it (twist).

mod asset;
mod fault;

use glam::{DQuat, DVec3, Quat, Vec3};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

pub use asset::{PoseDriver, RbfAsset};
pub use fault::RbfFault;

use crate::math::unit;

/// Most samples of one driver.
pub const MAX_RBF_SAMPLES: usize = 64;
/// Most joints of one driver.
pub const MAX_RBF_JOINTS: usize = 8;
/// Most values of one sample; a helper bone has three.
pub const MAX_RBF_OUTPUTS: usize = 512;

/// Samples nearer than this, in radians, are the same pose.
const MIN_APART_RAD: f64 = 1e-3;
/// Beyond, the solution is not to be trusted: 16 digits less 8.
const MAX_CONDITION: f64 = 1e8;
/// How exact a sample's own share must come out.
const EXACT: f64 = 1e-5;

/// How the influence of a sample falls with distance `d`; `r` is the radius.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RbfKernel {
    /// `exp(−(d/r)²)`: smooth, local; far from all samples a mean of them.
    #[default]
    Gaussian,
    /// `d/r`: straight from sample to sample, with kinks at them; the radius does not matter.
    Linear,
    /// `(d/r)³`: smooth, reaches further; the radius does not matter.
    Cubic,
}

impl RbfKernel {
    fn of(self, apart: f64, radius: f64) -> f64 {
        let d = apart / radius;
        match self {
            Self::Gaussian => (-d * d).exp(),
            Self::Linear => d,
            Self::Cubic => d * d * d,
        }
    }
}

/// What of a joint's rotation counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RbfPart {
    /// All of it.
    #[default]
    Full,
    /// Where its axis points.
    Swing,
    /// How far it is turned about its axis, −π..=π.
    Twist,
}

/// A joint that drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RbfJoint {
    /// Name of the bone, as the rig has it.
    pub bone: String,
    /// Default all of the rotation.
    #[serde(default)]
    pub part: RbfPart,
    /// Along the bone, in its own frame; any length but 0. Only for swing and twist. Default +Y.
    #[serde(default = "up")]
    pub axis: Vec3,
}

fn up() -> Vec3 {
    Vec3::Y
}

/// A pose and its values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RbfSample {
    /// Rotation from rest of each joint, x, y, z, w, in the bone's own frame: `rest⁻¹ · local`; identities at rest.
    pub rotations: Vec<Quat>,
    /// Weight of each morph target.
    #[serde(default)]
    pub morphs: Vec<f32>,
    /// Rotation vector of each helper bone from rest, in its own frame: axis times angle in radians.
    #[serde(default)]
    pub helpers: Vec<Vec3>,
}

/// Shares of samples and the values they give, for the rotations of some joints.
///
/// ```
/// use glam::Quat;
/// use retarget::layers::{Rbf, RbfJoint, RbfKernel, RbfPart, RbfSample};
///
/// let elbow = RbfJoint { bone: "elbow".into(), part: RbfPart::Full, axis: glam::Vec3::Y };
/// let sample = |angle: f32, morph: f32| RbfSample {
///     rotations: vec![Quat::from_rotation_x(angle)],
///     morphs: vec![morph],
///     helpers: vec![],
/// };
/// let samples = [sample(0.0, 0.0), sample(1.0, 0.8)];
/// let mut rbf = Rbf::new(&[elbow], &samples, RbfKernel::Linear, None).unwrap();
/// let mut bulge = [0.0];
/// rbf.evaluate(&[Quat::from_rotation_x(0.25)], &mut bulge);
/// assert!((bulge[0] - 0.2).abs() < 1e-5);
/// ```
#[derive(Clone, Debug)]
pub struct Rbf {
    joints: Vec<(RbfPart, DVec3)>,
    kernel: RbfKernel,
    radius: f64,
    /// Of sample `i`, joint `j`: `i · num_joints + j`.
    keys: Vec<Feature>,
    /// Rows of the inverse that give shares: row `i`, column `j` at `i · (num_samples + 1) + j`.
    inverse: Vec<f64>,
    /// Value `k` of sample `i`: `i · num_outputs + k`; morphs, then helpers x, y, z.
    outputs: Vec<f32>,
    num_outputs: usize,
    /// Scratch: one per joint; one per sample and a 1; one per sample.
    now: Vec<Feature>,
    basis: Vec<f64>,
    shares: Vec<f64>,
}

/// What of a rotation is compared.
#[derive(Clone, Copy, Debug)]
enum Feature {
    Full(DQuat),
    Swing(DVec3),
    Twist(f64),
}

impl Feature {
    fn new(part: RbfPart, axis: DVec3, rotation: Quat) -> Self {
        // Exactly unit in double precision, so that a sample is at distance 0 of itself.
        let q = unit(rotation).as_dquat();
        let q = q * q.length_recip();
        match part {
            RbfPart::Full => Self::Full(q),
            RbfPart::Swing => Self::Swing(q * axis),
            RbfPart::Twist => {
                let along = DVec3::new(q.x, q.y, q.z).dot(axis);
                Self::Twist(2.0 * (along * sign(q.w)).atan2(q.w.abs()))
            }
        }
    }

    /// Radians, 0..=π.
    fn apart(&self, other: &Self) -> f64 {
        match (self, other) {
            (Self::Full(a), Self::Full(b)) => {
                let q = a.conjugate() * *b;
                2.0 * DVec3::new(q.x, q.y, q.z).length().atan2(q.w.abs())
            }
            (Self::Swing(a), Self::Swing(b)) => a.cross(*b).length().atan2(a.dot(*b)),
            (Self::Twist(a), Self::Twist(b)) => {
                let apart = (a - b).abs();
                apart.min(std::f64::consts::TAU - apart)
            }
            _ => 0.0,
        }
    }
}

fn sign(w: f64) -> f64 {
    if w < 0.0 { -1.0 } else { 1.0 }
}

fn distance(a: &[Feature], b: &[Feature]) -> f64 {
    a.iter()
        .zip(b)
        .map(|(a, b)| a.apart(b).powi(2))
        .sum::<f64>()
        .sqrt()
}

impl Rbf {
    /// Solves the shares. `radius` in radians; `None` takes the mean distance of a sample to its nearest neighbour, 1 for
    /// a single one. Names of bones are not looked at.
    ///
    /// # Errors
    /// The first fault found. Samples too near to each other and ill-conditioned ones are refused: their values would
    /// swing wildly in between.
    pub fn new(
        joints: &[RbfJoint],
        samples: &[RbfSample],
        kernel: RbfKernel,
        radius: Option<f32>,
    ) -> Result<Self, RbfFault> {
        count("joints", joints.len(), MAX_RBF_JOINTS)?;
        count("samples", samples.len(), MAX_RBF_SAMPLES)?;
        let first = samples
            .first()
            .map_or((0, 0), |s| (s.morphs.len(), s.helpers.len()));
        let num_outputs = first.0.saturating_add(first.1.saturating_mul(3));
        count("values", num_outputs, MAX_RBF_OUTPUTS)?;
        let mut axes = Vec::with_capacity(joints.len());
        for (joint, of) in joints.iter().enumerate() {
            let axis = of.axis.as_dvec3().try_normalize();
            axes.push((of.part, axis.ok_or(RbfFault::Axis { joint })?));
        }
        let mut keys = Vec::with_capacity(samples.len() * joints.len());
        let mut outputs = Vec::with_capacity(samples.len() * num_outputs);
        for (sample, of) in samples.iter().enumerate() {
            length(sample, "rotations", of.rotations.len(), joints.len())?;
            length(sample, "morphs", of.morphs.len(), first.0)?;
            length(sample, "helpers", of.helpers.len(), first.1)?;
            let whole = of
                .rotations
                .iter()
                .all(|q| q.is_finite() && (0.25..=4.0).contains(&q.length_squared()))
                && of.morphs.iter().all(|m| m.is_finite())
                && of
                    .helpers
                    .iter()
                    .all(|h| h.length() <= std::f32::consts::PI + 1e-3);
            if !whole {
                return Err(RbfFault::Value { sample });
            }
            let features = of.rotations.iter().zip(&axes);
            keys.extend(features.map(|(q, (part, axis))| Feature::new(*part, *axis, *q)));
            outputs.extend_from_slice(&of.morphs);
            outputs.extend(of.helpers.iter().flat_map(Vec3::to_array));
        }
        let n = samples.len();
        let apart = Distances::new(&keys, axes.len(), n);
        if apart.least < MIN_APART_RAD {
            let (first, second) = apart.nearest;
            return Err(RbfFault::TooNear {
                first,
                second,
                apart_rad: apart.least,
            });
        }
        let radius = match radius {
            None => apart.mean_nearest,
            Some(radius) if (1e-3..=100.0).contains(&radius) => f64::from(radius),
            Some(radius) => return Err(RbfFault::Radius { radius }),
        };
        let ill = |condition| {
            let (first, second) = apart.nearest;
            RbfFault::IllConditioned {
                condition,
                first,
                second,
            }
        };
        let matrix =
            DMatrix::<f64>::from_fn(n + 1, n + 1, |row, column| match (row < n, column < n) {
                (true, true) => kernel.of(apart.of(row, column), radius),
                (false, false) => 0.0,
                _ => 1.0,
            });
        let size = norm(&matrix);
        let inverse = matrix.try_inverse().ok_or_else(|| ill(f64::INFINITY))?;
        let condition = size * norm(&inverse);
        if condition.is_nan() || condition > MAX_CONDITION {
            return Err(ill(condition));
        }
        let inverse = (0..n)
            .flat_map(|row| (0..=n).map(move |column| (row, column)))
            .map(|at| inverse[at])
            .collect();
        let mut rbf = Self {
            now: axes
                .iter()
                .map(|(part, axis)| Feature::new(*part, *axis, Quat::IDENTITY))
                .collect(),
            joints: axes,
            kernel,
            radius,
            keys,
            inverse,
            outputs,
            num_outputs,
            basis: vec![1.0; n + 1],
            shares: vec![0.0; n],
        };
        for (sample, of) in samples.iter().enumerate() {
            rbf.solve(&of.rotations);
            let own = |i: usize| if i == sample { 1.0 } else { 0.0 };
            let exact = rbf
                .shares
                .iter()
                .enumerate()
                .all(|(i, s)| (s - own(i)).abs() < EXACT);
            if !exact {
                return Err(ill(condition));
            }
        }
        Ok(rbf)
    }

    /// Number of values: morphs, then three of each helper.
    pub fn num_outputs(&self) -> usize {
        self.num_outputs
    }

    /// The radius in use, in radians.
    pub fn radius(&self) -> f64 {
        self.radius
    }

    /// Shares of the samples in the last evaluation: 0 or more each, together 1.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// The values at a pose: rotations from rest, one for each joint, identities where they are missing.
    pub fn evaluate(&mut self, rotations: &[Quat], outputs: &mut [f32]) {
        self.solve(rotations);
        for (k, out) in outputs.iter_mut().take(self.num_outputs).enumerate() {
            let values = self.outputs.iter().skip(k).step_by(self.num_outputs);
            let sum: f64 = values
                .zip(&self.shares)
                .map(|(v, s)| f64::from(*v) * s)
                .sum();
            *out = sum as f32;
        }
    }

    fn solve(&mut self, rotations: &[Quat]) {
        let rotations = rotations
            .iter()
            .copied()
            .chain(std::iter::repeat(Quat::IDENTITY));
        for ((now, (part, axis)), q) in self.now.iter_mut().zip(&self.joints).zip(rotations) {
            *now = Feature::new(*part, *axis, q);
        }
        let keys = self.keys.chunks_exact(self.joints.len());
        for (basis, key) in self.basis.iter_mut().zip(keys) {
            *basis = self.kernel.of(distance(&self.now, key), self.radius);
        }
        let mut sum = 0.0;
        let rows = self.inverse.chunks_exact(self.basis.len());
        for (share, row) in self.shares.iter_mut().zip(rows) {
            let raw: f64 = row.iter().zip(&self.basis).map(|(a, b)| a * b).sum();
            *share = raw.max(0.0);
            sum += *share;
        }
        // At least 1 but for rounding: the raw shares add up to 1.
        if sum > 0.0 {
            for share in &mut self.shares {
                *share /= sum;
            }
        }
    }
}

/// Distances of all samples from each other.
struct Distances {
    all: Vec<f64>,
    num_samples: usize,
    least: f64,
    nearest: (usize, usize),
    mean_nearest: f64,
}

impl Distances {
    fn new(keys: &[Feature], num_joints: usize, num_samples: usize) -> Self {
        let of = |sample: usize| {
            let start = sample * num_joints;
            keys.get(start..start + num_joints).unwrap_or_default()
        };
        let mut it = Self {
            all: Vec::with_capacity(num_samples * num_samples),
            num_samples,
            least: f64::INFINITY,
            nearest: (0, 0),
            mean_nearest: 1.0,
        };
        let mut sum = 0.0;
        for a in 0..num_samples {
            let mut nearest = f64::INFINITY;
            for b in 0..num_samples {
                let apart = if a == b { 0.0 } else { distance(of(a), of(b)) };
                it.all.push(apart);
                if a != b {
                    nearest = nearest.min(apart);
                    if apart < it.least {
                        it.least = apart;
                        it.nearest = (a, b);
                    }
                }
            }
            sum += nearest;
        }
        if num_samples > 1 {
            it.mean_nearest = sum / num_samples as f64;
        }
        it
    }

    fn of(&self, a: usize, b: usize) -> f64 {
        self.all
            .get(a * self.num_samples + b)
            .copied()
            .unwrap_or(0.0)
    }
}

/// The largest sum of a row.
fn norm(matrix: &DMatrix<f64>) -> f64 {
    matrix
        .row_iter()
        .map(|row| row.iter().map(|v| v.abs()).sum::<f64>())
        .fold(0.0, f64::max)
}

fn count(what: &'static str, have: usize, limit: usize) -> Result<(), RbfFault> {
    if (1..=limit).contains(&have) {
        Ok(())
    } else {
        Err(RbfFault::Count { what, limit, have })
    }
}

fn length(sample: usize, what: &'static str, have: usize, needed: usize) -> Result<(), RbfFault> {
    if have == needed {
        Ok(())
    } else {
        Err(RbfFault::Length {
            sample,
            what,
            needed,
            have,
        })
    }
}

#[cfg(test)]
mod tests;
