//! Decoded and measured: keys are added until no joint is further off than the bound in any frame.
//!
//! A frame in which a joint is off blames the tracks between it and its root that stray most there, as far as they are not
//! to get a key close by already. Each gets one key at a time between two of its keys, where it is blamed most; then the
//! frames between those two are measured again. Every round adds a key for every fault, so it ends.

use glam::{Mat3, Quat, Vec3};
use hub::client::slerp;

use super::{Bounds, Clip, ReduceFault, tell};

/// Frames between two reports of progress.
const REPORT_EVERY: usize = 2048;
/// Share of the work that the first round is.
const FIRST_SHARE: f32 = 0.7;
/// Tracks that stray at least this share of the one that strays most are blamed along with it.
const BLAMED_SHARE: f32 = 0.5;

/// Adds keys to `tracks`, two lists a joint: rotations, translations. Answers how far off any joint is at most, metres.
pub(super) fn hold(
    clip: &Clip<'_>,
    bounds: &Bounds,
    tracks: &mut [Vec<u32>],
    progress: &mut dyn FnMut(f32) -> bool,
) -> Result<f32, ReduceFault> {
    let mut measure = Measure::new(clip, bounds);
    let mut is_due = vec![true; clip.num_frames];
    let mut worst = vec![0.0_f32; clip.num_frames];
    let mut shares = (0.0, FIRST_SHARE);
    loop {
        measure.begin();
        for frame in (0..clip.num_frames).filter(|f| is_due[*f]) {
            if frame.is_multiple_of(REPORT_EVERY) {
                let done = frame as f32 / clip.num_frames as f32;
                tell(progress, shares.0 + (shares.1 - shares.0) * done)?;
            }
            worst[frame] = measure.frame(tracks, frame);
        }
        let added = measure.end();
        if added.is_empty() {
            return Ok(worst.iter().copied().fold(0.0, f32::max));
        }
        is_due.fill(false);
        for (track, frame) in added {
            let keys = &mut tracks[track];
            if let Err(at) = keys.binary_search(&frame)
                && let Some(before) = at.checked_sub(1).and_then(|k| keys.get(k).copied())
                && let Some(after) = keys.get(at).copied()
            {
                keys.insert(at, frame);
                is_due[before as usize..=after as usize].fill(true);
            }
        }
        shares = (shares.1, f32::midpoint(1.0, shares.1));
    }
}

/// Where a joint is: `model_from_local` without scale.
#[derive(Clone, Copy)]
struct Place {
    rotation: Quat,
    translation: Vec3,
}

impl Place {
    const ORIGIN: Self = Self {
        rotation: Quat::IDENTITY,
        translation: Vec3::ZERO,
    };

    fn below(&self, scale: Vec3, rotation: Quat, translation: Vec3) -> Self {
        Self {
            rotation: self.rotation * rotation,
            translation: self.translation + self.rotation * (scale * translation),
        }
    }
}

/// A key to come.
#[derive(Clone, Copy)]
struct Coming {
    /// Between this key and the next.
    after: usize,
    frame: usize,
    /// How far off it puts the joint that blames it, metres.
    share: f32,
}

struct Measure<'a> {
    clip: &'a Clip<'a>,
    bound_m: f32,
    shell_m: f32,
    /// Scale of what is above each joint.
    scales: Vec<Vec3>,
    /// Last key of each track that is not after the frame.
    cursors: Vec<usize>,
    /// As it was, and as it is decoded.
    truth: Vec<Place>,
    found: Vec<Place>,
    /// Of each track: angle in radians, or way in object-space metres, by which it strays in this frame.
    strays: Vec<f32>,
    coming: Vec<Option<Coming>>,
    added: Vec<(usize, u32)>,
    /// Tracks of one way to the root, and how far off each puts its tip.
    blamed: Vec<(usize, f32)>,
}

impl<'a> Measure<'a> {
    fn new(clip: &'a Clip<'a>, bounds: &Bounds) -> Self {
        let count = clip.joints.len();
        let mut scales = vec![Vec3::ONE; count];
        for (at, joint) in clip.joints.iter().enumerate() {
            if let Some(parent) = joint.parent {
                scales[at] = scales[parent] * clip.joints[parent].rest.scale;
            }
        }
        Self {
            clip,
            bound_m: bounds.object_m,
            shell_m: bounds.shell_m,
            scales,
            cursors: vec![0; 2 * count],
            truth: vec![Place::ORIGIN; count],
            found: vec![Place::ORIGIN; count],
            strays: vec![0.0; 2 * count],
            coming: vec![None; 2 * count],
            added: Vec::new(),
            blamed: Vec::new(),
        }
    }

    /// Before the first of rising frames.
    fn begin(&mut self) {
        self.cursors.fill(0);
        self.coming.fill(None);
    }

    /// After the last: tracks and the frames that become keys.
    fn end(&mut self) -> Vec<(usize, u32)> {
        for (track, coming) in self.coming.iter_mut().enumerate() {
            if let Some(coming) = coming.take() {
                self.added.push((track, coming.frame as u32));
            }
        }
        std::mem::take(&mut self.added)
    }

    /// How far off the worst joint is, metres; no less.
    fn frame(&mut self, tracks: &[Vec<u32>], frame: usize) -> f32 {
        let mut worst = 0.0_f32;
        for at in 0..self.clip.joints.len() {
            self.place(tracks, at, frame);
            let off = self.off(at);
            worst = worst.max(off);
            if off > self.bound_m {
                self.blame(at, frame);
            }
        }
        worst
    }

    fn place(&mut self, tracks: &[Vec<u32>], at: usize, frame: usize) {
        let clip = self.clip;
        let joint = &clip.joints[at];
        let mut rotation = (joint.rest.rotation, joint.rest.rotation);
        let mut translation = (joint.rest.translation, joint.rest.translation);
        if let Some(values) = joint.rotations {
            let between = self.between(tracks, 2 * at, frame);
            let decoded = match between {
                None => values[frame],
                Some((from, to, share)) => slerp(values[from], values[to], share),
            };
            rotation = (values[frame], decoded);
        }
        if let Some(values) = joint.translations {
            let between = self.between(tracks, 2 * at + 1, frame);
            let decoded = match between {
                None => values[frame],
                Some((from, to, share)) => values[from].lerp(values[to], share),
            };
            translation = (values[frame], decoded);
        }
        let scale = self.scales[at];
        self.strays[2 * at] = apart(rotation.0, rotation.1);
        self.strays[2 * at + 1] = (scale * (translation.1 - translation.0)).length();
        let above = |places: &[Place]| joint.parent.map_or(Place::ORIGIN, |p| places[p]);
        self.truth[at] = above(&self.truth).below(scale, rotation.0, translation.0);
        self.found[at] = above(&self.found).below(scale, rotation.1, translation.1);
    }

    /// The keys that a frame lies between, and how far; `None` for a key.
    fn between(
        &mut self,
        tracks: &[Vec<u32>],
        track: usize,
        frame: usize,
    ) -> Option<(usize, usize, f32)> {
        let keys = &tracks[track];
        let cursor = &mut self.cursors[track];
        while keys.get(*cursor + 1).is_some_and(|k| *k as usize <= frame) {
            *cursor += 1;
        }
        let from = *keys.get(*cursor)? as usize;
        let to = *keys.get(*cursor + 1)? as usize;
        let share = (frame - from) as f32 / (to - from) as f32;
        (frame != from).then_some((from, to, share))
    }

    /// The farthest that one of three points around a joint is off; more where that is within the bound.
    fn off(&self, at: usize) -> f32 {
        let (truth, found) = (&self.truth[at], &self.found[at]);
        let way = found.translation - truth.translation;
        let rough = way.length() + self.shell_m * apart(truth.rotation, found.rotation);
        if rough <= self.bound_m {
            return rough;
        }
        let turned = Mat3::from_quat(found.rotation) - Mat3::from_quat(truth.rotation);
        [turned.x_axis, turned.y_axis, turned.z_axis]
            .into_iter()
            .map(|axis| (way + axis * self.shell_m).length())
            .fold(0.0, f32::max)
    }

    fn blame(&mut self, joint: usize, frame: usize) {
        let mut blamed = std::mem::take(&mut self.blamed);
        blamed.clear();
        let tip = self.truth[joint].translation;
        let mut at = Some(joint);
        while let Some(on_way) = at {
            let lever = self.truth[on_way].translation.distance(tip) + self.shell_m;
            blamed.push((2 * on_way, self.strays[2 * on_way] * lever));
            blamed.push((2 * on_way + 1, self.strays[2 * on_way + 1]));
            at = self.clip.joints[on_way].parent;
        }
        // Those that get a key close by will stray less; perhaps that does.
        let mut is_any_coming = false;
        let (mut rest, mut most) = (0.0_f32, 0.0_f32);
        for (track, share) in &blamed {
            let after = self.cursors[*track];
            match &mut self.coming[*track] {
                Some(coming) if coming.after == after => {
                    is_any_coming = true;
                    if *share > coming.share {
                        coming.share = *share;
                        coming.frame = frame;
                    }
                }
                _ => {
                    rest += *share;
                    most = most.max(*share);
                }
            }
        }
        if most > 0.0 && (rest > self.bound_m || !is_any_coming) {
            for (track, share) in &blamed {
                let after = self.cursors[*track];
                let place = &mut self.coming[*track];
                let is_coming = place.is_some_and(|c| c.after == after);
                if is_coming || *share < BLAMED_SHARE * most {
                    continue;
                }
                let coming = Coming {
                    after,
                    frame,
                    share: *share,
                };
                if let Some(earlier) = place.replace(coming) {
                    self.added.push((*track, earlier.frame as u32));
                }
            }
        }
        self.blamed = blamed;
    }
}

/// No less than the angle between two rotations near each other, and hardly more, radians: four times the arc sine of half
/// the distance of their quaternions, and π for those farther apart.
fn apart(a: Quat, b: Quat) -> f32 {
    let b = if a.dot(b) < 0.0 { -b } else { b };
    let distance = (a - b).length();
    // 2.02 · d ≥ 4 · asin(d / 2) up to d = 0.48.
    if distance < 0.45 {
        2.02 * distance
    } else {
        std::f32::consts::PI
    }
}
