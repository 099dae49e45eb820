//! Which joints a vertex follows.

use super::{
    primitive::{Attributes, small},
    read::Reading,
};
use crate::{
    accessor::Shape,
    error::{Fault, FaultKind},
};

/// Sets of four that are looked at.
const MAX_SETS: usize = 2;
/// Joints that a vertex follows in the end.
const KEPT: usize = 4;
/// Sums of weights further than this from 1 are noted; less is how they were rounded.
const SUM_TOLERANCE: f32 = 1e-3;

/// One set, as it stands.
struct Set {
    joints: Vec<u32>,
    weights: Vec<f32>,
    /// Of the joints' accessor.
    path: String,
}

/// Joints and weights of each vertex; both empty when the primitive has none.
pub(super) type Bound = (Vec<[u16; KEPT]>, Vec<[f32; KEPT]>);

/// The strongest four of up to eight influences, made to sum to 1. What is repaired is noted.
pub(super) fn read(
    attributes: &Attributes<'_>,
    num_joints: usize,
    reading: &mut Reading<'_>,
) -> Result<Bound, Fault> {
    let mut sets = Vec::new();
    for at in 0..MAX_SETS {
        let Some(set) = set(attributes, at, reading)? else {
            break;
        };
        sets.push(set);
    }
    let path = attributes.path;
    if sets.is_empty() {
        let note =
            format!("{path}: no joints, though a node shows it with a skin; it follows the first");
        reading.notes.push(note);
    }
    for key in ["JOINTS_2", "JOINTS_3"] {
        if attributes.json.get(key).is_some() {
            reading.notes.push(format!("{path}/{key}: left out"));
        }
    }
    let num_bound = if sets.is_empty() { 0 } else { attributes.count };
    let (mut joints, mut weights) = (Vec::with_capacity(num_bound), Vec::with_capacity(num_bound));
    let (mut num_cut, mut num_uneven, mut num_free) = (0_usize, 0_usize, 0_usize);
    for vertex in 0..num_bound {
        let mut all = [(0_u16, 0.0_f32); MAX_SETS * 4];
        let (mut num, mut sum) = (0_usize, 0.0_f32);
        for set in &sets {
            for (joint, weight) in set.of(vertex).filter(|(_, weight)| *weight > 0.0) {
                sum += weight;
                let known = u16::try_from(joint).ok();
                let known = known.filter(|joint| usize::from(*joint) < num_joints);
                let Some(joint) = known else {
                    let kind = FaultKind::JointOutOfRange {
                        vertex,
                        joint,
                        count: num_joints,
                    };
                    return Err(Fault::new(set.path.as_str(), kind));
                };
                if let Some(slot) = all.get_mut(num) {
                    *slot = (joint, weight);
                    num += 1;
                }
            }
        }
        num_uneven += usize::from((sum - 1.0).abs() > SUM_TOLERANCE);
        num_cut += usize::from(num > KEPT);
        all.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (mut of, mut by) = ([0_u16; KEPT], [0.0_f32; KEPT]);
        for (slot, (joint, weight)) in all.iter().take(KEPT).enumerate() {
            of[slot] = *joint;
            by[slot] = *weight;
        }
        let kept: f32 = by.iter().sum();
        // Weights too small to be divided by are none.
        if kept > f32::MIN_POSITIVE {
            by = by.map(|weight| weight / kept);
        } else {
            num_free += 1;
            (of, by) = ([0; KEPT], [1.0, 0.0, 0.0, 0.0]);
        }
        joints.push(of);
        weights.push(by);
    }
    for (num, what) in [
        (
            num_cut,
            "follow more than four joints; the four strongest are kept",
        ),
        (
            num_uneven,
            "have weights that do not add up to 1; they are made to",
        ),
        (num_free, "have no weights; they follow the first joint"),
    ] {
        if num > 0 {
            reading.notes.push(format!("{path}: {num} vertices {what}"));
        }
    }
    Ok((joints, weights))
}

/// Set `at`, if the primitive has it.
fn set(
    attributes: &Attributes<'_>,
    at: usize,
    reading: &mut Reading<'_>,
) -> Result<Option<Set>, Fault> {
    let (joints, weights) = (format!("JOINTS_{at}"), format!("WEIGHTS_{at}"));
    let Some(accessor) = attributes.accessor(&joints, &[Shape::Vec4], reading)? else {
        return Ok(None);
    };
    small(&accessor)?;
    if !accessor.is_unsigned() {
        let kind = FaultKind::Expected("unsigned integers");
        return Err(accessor.fault("componentType", kind));
    }
    let joints = reading.data.integers(&accessor)?;
    let found = attributes.floats(&weights, &[Shape::Vec4], true, reading)?;
    let (_, weights) = found.ok_or_else(|| {
        let path = format!("{}/{weights}", attributes.path);
        Fault::new(path, FaultKind::Expected("weights of the joints"))
    })?;
    Ok(Some(Set {
        joints,
        weights,
        path: accessor.path,
    }))
}

impl Set {
    fn of(&self, vertex: usize) -> impl Iterator<Item = (u32, f32)> {
        let joints = self.joints.as_chunks::<4>().0.get(vertex);
        let weights = self.weights.as_chunks::<4>().0.get(vertex);
        let joints = joints.copied().unwrap_or_default();
        joints.into_iter().zip(weights.copied().unwrap_or_default())
    }
}
