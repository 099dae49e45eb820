//! Keys left out where straight lines between the others say the same.
//!
//! ```text
//! curve        |line − value| ≤ 0.001 in every frame, and every top and bottom of a blink is a key
//! joint        in every frame, three points 3 cm from the joint along its axes, in object space, parents included,
//!              are within 0.1 mm of where they were
//! ```
//!
//! The measure of joints is ACL's: what a skin a few centimetres off the bone would show. A turn of the hip moves the toes,
//! so each joint on a way from root to tip is allotted a part of the bound, by how far it reaches. That is a guess, as
//! errors may add up or cancel out; then every frame is decoded and measured, and keys are added where the bound does not
//! hold, until it does in all of them.
//!
//! Frames are even; a decoder goes straight from key to key: linear for curves and translations, the shorter arc at
//! constant speed (slerp) for rotations. Keys have the values of their frames; nothing is fitted.

mod allot;
mod door;
pub(crate) mod peaks;
#[cfg(test)]
mod tests;
mod verify;

use characters::Character;
use glam::{Quat, Vec3};
use hub::Transform;
use retarget::math::log;
use thiserror::Error;

use crate::act::Acted;

/// Frames that are keys, rising; the first and the last frame always are.
pub type KeyIndices = Vec<u32>;

/// Rounding that the bounds are kept clear of, as a share of them.
const ROUNDING_SHARE: f64 = 1e-3;

/// How much may change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    /// In object space, metres, above 0. Default 0.0001.
    pub object_m: f32,
    /// How far from each joint that is measured, metres, above 0. Default 0.03.
    pub shell_m: f32,
    /// Of curves, in their unit, above 0. Default 0.001.
    pub curve: f32,
    /// A turn of a curve that is deeper than this on both sides keeps its key, in its unit. Default 0.1.
    pub prominence: f32,
}

impl Default for Bounds {
    fn default() -> Self {
        Self {
            object_m: 1e-4,
            shell_m: 0.03,
            curve: 1e-3,
            prominence: 0.1,
        }
    }
}

/// A joint of a clip.
#[derive(Clone, Debug)]
pub struct ClipJoint<'a> {
    /// Its parent, smaller than its own index; `None` for a root.
    pub parent: Option<usize>,
    /// What it has where there is no track, and its scale. `parent_from_local`.
    pub rest: Transform,
    /// One per frame, unit length.
    pub rotations: Option<&'a [Quat]>,
    /// One per frame, metres.
    pub translations: Option<&'a [Vec3]>,
}

/// Tracks to be reduced.
#[derive(Clone, Debug, Default)]
pub struct Clip<'a> {
    /// Frames of every track.
    pub num_frames: usize,
    /// Parents before children.
    pub joints: Vec<ClipJoint<'a>>,
    /// One value per frame each.
    pub curves: Vec<Vec<f32>>,
}

/// Keys of one joint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrackKeys {
    /// Of its rotations; empty without a track.
    pub rotation: KeyIndices,
    /// Of its translations; empty without a track.
    pub translation: KeyIndices,
}

/// Keys of a clip.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reduced {
    /// Frames there were.
    pub num_frames: usize,
    /// One per joint of the clip.
    pub joints: Vec<TrackKeys>,
    /// One per curve of the clip.
    pub curves: Vec<KeyIndices>,
    /// No joint's points are further off than this in any frame, metres.
    pub worst_m: f32,
}

impl Reduced {
    /// Keys that there are, and keys that there would be.
    pub fn num_keys(&self) -> [usize; 2] {
        let tracks = || {
            let joints = self
                .joints
                .iter()
                .flat_map(|j| [&j.rotation, &j.translation]);
            joints.chain(&self.curves).filter(|keys| !keys.is_empty())
        };
        [
            tracks().map(Vec::len).sum(),
            tracks().count() * self.num_frames,
        ]
    }

    /// Every frame that is a key of anything, for formats with one list of times. Keys that a track did not need may
    /// double its error, as lines then end elsewhere; [`shared_keys`] gives curves common times within the bound.
    pub fn common(&self) -> KeyIndices {
        let mut is_key = vec![false; self.num_frames];
        let joints = self
            .joints
            .iter()
            .flat_map(|j| [&j.rotation, &j.translation]);
        for key in joints.chain(&self.curves).flatten() {
            if let Some(place) = is_key.get_mut(*key as usize) {
                *place = true;
            }
        }
        (0..)
            .zip(is_key)
            .filter_map(|(frame, is_key)| is_key.then_some(frame))
            .collect()
    }
}

/// Why there are no keys.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum ReduceFault {
    /// `progress` said so.
    #[error("stopped")]
    Stopped,
    /// A track that is not as long as the clip.
    #[error("{what} {at} has {have} values, the clip has {want} frames")]
    Length {
        /// `rotation track`, `translation track` or `curve`.
        what: &'static str,
        /// Index of the joint or curve.
        at: usize,
        /// Values.
        have: usize,
        /// Frames.
        want: usize,
    },
    /// A joint that comes before its parent.
    #[error("joint {at} has parent {parent}, which does not come before it")]
    Parent {
        /// The joint.
        at: usize,
        /// Its parent.
        parent: usize,
    },
    /// A bound that nothing can be measured by.
    #[error("a bound is not above 0")]
    Bound,
    /// More frames than keys can be counted by.
    #[error("{have} frames, at most {limit} can be reduced")]
    TooLong {
        /// Frames.
        have: usize,
        /// Most.
        limit: usize,
    },
}

/// Most frames of a clip: as many as the exporters write.
const MAX_FRAMES: usize = 4_320_000;

/// Finds the keys of a clip, whose values are finite. `progress` is told the share done, 0..=1, and answers whether to go
/// on.
///
/// # Errors
/// A clip that does not fit together, or that `progress` answered no.
pub fn reduce(
    clip: &Clip<'_>,
    bounds: &Bounds,
    progress: &mut dyn FnMut(f32) -> bool,
) -> Result<Reduced, ReduceFault> {
    check(clip, bounds)?;
    let total = (clip.curves.len() + 2 * clip.joints.len()).max(1) as f32;
    let mut curves = Vec::with_capacity(clip.curves.len());
    for (at, curve) in clip.curves.iter().enumerate() {
        tell(progress, at as f32 / total)?;
        curves.push(curve_keys(&[curve], bounds));
    }
    let allowed = allot::tolerances(clip, bounds);
    let mut tracks = Vec::with_capacity(2 * clip.joints.len());
    for (at, (joint, allowed)) in clip.joints.iter().zip(&allowed).enumerate() {
        tell(progress, (clip.curves.len() + at) as f32 / total)?;
        tracks.push(joint.rotations.map_or_else(Vec::new, |values| {
            door::keys(values.len(), 3, allowed.angle_rad, &[], |from, to, ways| {
                let turn = log(values[from].conjugate() * values[to]);
                ways.copy_from_slice(&turn.to_array().map(f64::from));
            })
        }));
        tracks.push(joint.translations.map_or_else(Vec::new, |values| {
            door::keys(values.len(), 3, allowed.way_m, &[], |from, to, ways| {
                let way = values[to] - values[from];
                ways.copy_from_slice(&way.to_array().map(f64::from));
            })
        }));
    }
    let begun = (clip.curves.len() + clip.joints.len()) as f32 / total;
    let mut rest = |share: f32| progress(begun + (1.0 - begun) * share);
    let worst_m = verify::hold(clip, bounds, &mut tracks, &mut rest)?;
    let mut tracks = tracks.into_iter();
    let mut joints = Vec::with_capacity(clip.joints.len());
    while let (Some(rotation), Some(translation)) = (tracks.next(), tracks.next()) {
        joints.push(TrackKeys {
            rotation,
            translation,
        });
    }
    Ok(Reduced {
        num_frames: clip.num_frames,
        joints,
        curves,
        worst_m,
    })
}

/// Keys that several curves of one length can share, each within the bound and with its tops. Curves of other lengths are
/// cut to the shortest.
pub fn shared_keys(curves: &[&[f32]], bounds: &Bounds) -> KeyIndices {
    curve_keys(curves, bounds)
}

/// What a character did, reduced: joints as in [`Acted::joints`]; curves of all meshes, one after the other, each mesh's
/// targets in order.
///
/// # Errors
/// As [`reduce`].
pub fn reduce_acted(
    character: &Character,
    acted: &Acted,
    bounds: &Bounds,
    progress: &mut dyn FnMut(f32) -> bool,
) -> Result<Reduced, ReduceFault> {
    let (clip, places) = clip_of(character, acted);
    let mut reduced = reduce(&clip, bounds, progress)?;
    let mut joints = vec![TrackKeys::default(); acted.joints.len()];
    for (keys, place) in std::mem::take(&mut reduced.joints).into_iter().zip(places) {
        if let Some(joint) = place.and_then(|p| joints.get_mut(p)) {
            *joint = keys;
        }
    }
    reduced.joints = joints;
    Ok(reduced)
}

/// The clip, and the track of each of its joints.
fn clip_of<'a>(character: &Character, acted: &'a Acted) -> (Clip<'a>, Vec<Option<usize>>) {
    let nodes = &character.nodes;
    let mut tracks = vec![None; nodes.len()];
    let mut is_wanted = vec![false; nodes.len()];
    for (track, joint) in acted.joints.iter().enumerate() {
        let mut at = Some(joint.node).filter(|n| *n < nodes.len());
        if let Some(place) = at.and_then(|n| tracks.get_mut(n)) {
            *place = Some(track);
        }
        while let Some(node) = at.filter(|n| !is_wanted[*n]) {
            is_wanted[node] = true;
            at = nodes[node].parent;
        }
    }
    let mut place = vec![None; nodes.len()];
    let mut joints = Vec::new();
    let mut places = Vec::new();
    for node in character.order.iter().copied().filter(|n| is_wanted[*n]) {
        place[node] = Some(joints.len());
        let track = tracks[node].and_then(|t: usize| acted.joints.get(t));
        places.push(tracks[node]);
        joints.push(ClipJoint {
            parent: nodes[node].parent.and_then(|p| place[p]),
            rest: nodes[node].rest,
            rotations: track.map(|t| t.rotations.as_slice()),
            translations: track.and_then(|t| t.translations.as_deref()),
        });
    }
    let mut curves = Vec::new();
    for morph in &acted.morphs {
        for target in 0..morph.num_targets {
            let column = morph.weights.iter().skip(target).step_by(morph.num_targets);
            curves.push(column.copied().collect());
        }
    }
    let clip = Clip {
        num_frames: acted.num_frames,
        joints,
        curves,
    };
    (clip, places)
}

fn tell(progress: &mut dyn FnMut(f32) -> bool, share: f32) -> Result<(), ReduceFault> {
    if progress(share) {
        Ok(())
    } else {
        Err(ReduceFault::Stopped)
    }
}

fn check(clip: &Clip<'_>, bounds: &Bounds) -> Result<(), ReduceFault> {
    let all = [bounds.object_m, bounds.shell_m, bounds.curve];
    if !all.iter().all(|b| b.is_finite() && *b > 0.0) {
        return Err(ReduceFault::Bound);
    }
    let want = clip.num_frames;
    if want > MAX_FRAMES {
        return Err(ReduceFault::TooLong {
            have: want,
            limit: MAX_FRAMES,
        });
    }
    let is_long = |what: &'static str, at: usize, have: usize| {
        if have == want {
            Ok(())
        } else {
            Err(ReduceFault::Length {
                what,
                at,
                have,
                want,
            })
        }
    };
    for (at, joint) in clip.joints.iter().enumerate() {
        if let Some(parent) = joint.parent.filter(|p| *p >= at) {
            return Err(ReduceFault::Parent { at, parent });
        }
        is_long(
            "rotation track",
            at,
            joint.rotations.map_or(want, <[_]>::len),
        )?;
        is_long(
            "translation track",
            at,
            joint.translations.map_or(want, <[_]>::len),
        )?;
    }
    for (at, curve) in clip.curves.iter().enumerate() {
        is_long("curve", at, curve.len())?;
    }
    Ok(())
}

fn curve_keys<C: AsRef<[f32]>>(curves: &[C], bounds: &Bounds) -> KeyIndices {
    let count = curves.iter().map(|c| c.as_ref().len()).min().unwrap_or(0);
    let tolerance = f64::from(bounds.curve) * (1.0 - ROUNDING_SHARE);
    let mut forced: Vec<u32> = curves
        .iter()
        .flat_map(|c| peaks::turns(&c.as_ref()[..count], bounds.prominence))
        .flat_map(|turn| [turn.first as u32, turn.last as u32])
        .collect();
    forced.sort_unstable();
    forced.dedup();
    door::keys(count, curves.len(), tolerance, &forced, |from, to, ways| {
        for (way, curve) in ways.iter_mut().zip(curves) {
            let values = curve.as_ref();
            *way = f64::from(values[to]) - f64::from(values[from]);
        }
    })
}
