//! Feet held where they stood, once it is known for how long.
//!
//! Within a span the ankle is where it was on average, or where it came down. Before and after it the difference at the
//! span's end is faded out by `w(t) = 2t³ − 3t² + 1`, over so many frames or up to the neighbouring span. The legs follow
//! by two-bone inverse kinematics; hips and the turn of the foot stay.

use drive::Figure;
use glam::Vec3;
use hub::Transform;
use retarget::{
    HumanBone, Side,
    ik::{Bend, TwoBone},
    math::unit,
};
use serde::{Deserialize, Serialize};

use crate::act::Acted;

/// Nearer than this an ankle is where it shall be, metres.
const THERE_M: f32 = 1e-6;

/// Where a foot is held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HoldAt {
    /// Where it came down: its place in the first frame.
    Entry,
    /// Its mean place over the span.
    #[default]
    Mean,
}

/// Frames in which a foot stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContactSpan {
    /// Whose: the character's own left or right.
    pub side: Side,
    /// First frame.
    pub from: usize,
    /// The frame after the last; cut at the end of the take.
    pub to: usize,
    /// Where it is held.
    pub at: HoldAt,
}

/// What holding came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Held {
    /// Spans that were held.
    pub spans: usize,
    /// Spans left alone: no such leg, no frames, or covered by an earlier span.
    pub left: usize,
    /// Farthest that an ankle stayed from its place because the leg is too short, metres.
    pub worst_miss_m: f32,
}

/// Holds the feet of a character in the spans given, in place.
pub fn hold_contacts(
    acted: &mut Acted,
    figure: &Figure,
    spans: &[ContactSpan],
    fade_frames: usize,
) -> Held {
    let mut held = Held::default();
    for side in Side::BOTH {
        let mut own: Vec<ContactSpan> = spans.iter().filter(|s| s.side == side).copied().collect();
        if own.is_empty() {
            continue;
        }
        let given = own.len();
        apart(&mut own, acted.num_frames);
        if let Some(leg) = Leg::find(acted, figure, side) {
            let ankles = leg.ankles(acted);
            let offsets = offsets(&ankles, &own, fade_frames);
            for (frame, offset) in offsets.iter().enumerate() {
                if offset.length() > THERE_M {
                    let miss = leg.reach(acted, frame, ankles[frame] + *offset);
                    held.worst_miss_m = held.worst_miss_m.max(miss);
                }
            }
            held.spans += own.len();
            held.left += given - own.len();
        } else {
            held.left += given;
        }
    }
    held
}

/// How fast feet move over the floor in the frames in which they should not: horizontal metres per second of the ankle,
/// the mean over all frames but the first of each span. 0 without any.
pub fn foot_skate(acted: &Acted, figure: &Figure, spans: &[ContactSpan], rate_hz: f64) -> f64 {
    let (mut way, mut steps) = (0.0, 0usize);
    for side in Side::BOTH {
        let Some(leg) = Leg::find(acted, figure, side) else {
            continue;
        };
        let ankles = leg.ankles(acted);
        for span in spans.iter().filter(|s| s.side == side) {
            let to = span.to.min(ankles.len());
            for pair in ankles.get(span.from..to).unwrap_or(&[]).windows(2) {
                way += f64::from((pair[1] - pair[0]).with_y(0.0).length());
                steps += 1;
            }
        }
    }
    if steps == 0 {
        0.0
    } else {
        way / steps as f64 * rate_hz
    }
}

/// Spans in order, within the take, none of them in another.
fn apart(spans: &mut Vec<ContactSpan>, num_frames: usize) {
    spans.sort_by_key(|s| (s.from, s.to));
    let mut free = 0;
    spans.retain_mut(|span| {
        span.from = span.from.max(free);
        span.to = span.to.min(num_frames);
        let stays = span.from < span.to;
        if stays {
            free = span.to;
        }
        stays
    });
}

/// How far each ankle is moved. Spans are in order and apart.
fn offsets(ankles: &[Vec3], spans: &[ContactSpan], fade_frames: usize) -> Vec<Vec3> {
    let mut offsets = vec![Vec3::ZERO; ankles.len()];
    for (at, span) in spans.iter().enumerate() {
        let stood = &ankles[span.from..span.to];
        let place = match span.at {
            HoldAt::Entry => stood[0],
            HoldAt::Mean => {
                let sum: glam::DVec3 = stood.iter().map(|p| p.as_dvec3()).sum();
                (sum / stood.len() as f64).as_vec3()
            }
        };
        for (offset, ankle) in offsets[span.from..span.to].iter_mut().zip(stood) {
            *offset = place - *ankle;
        }
        let before = at.checked_sub(1).map_or(0, |k| spans[k].to);
        let after = spans.get(at + 1).map_or(ankles.len(), |s| s.from);
        let first = place - ankles[span.from];
        let last = place - ankles[span.to - 1];
        let fade = |step: usize, frames: usize| {
            let t = step as f32 / (frames + 1) as f32;
            2.0 * t * t * t - 3.0 * t * t + 1.0
        };
        let frames = fade_frames.min(span.from - before);
        for step in 1..=frames {
            offsets[span.from - step] += first * fade(step, frames);
        }
        let frames = fade_frames.min(after - span.to);
        for step in 1..=frames {
            offsets[span.to - 1 + step] += last * fade(step, frames);
        }
    }
    offsets
}

/// A leg of the character: the nodes from a root down to the foot.
struct Leg {
    nodes: Vec<Link>,
    /// Places of thigh, shin and foot in them.
    joints: [usize; 3],
    /// The axis about which the knee bends, in the thigh's own axes.
    hinge: Vec3,
}

struct Link {
    rest: Transform,
    /// Index among the tracks of what was acted.
    track: Option<usize>,
}

impl Leg {
    fn find(acted: &Acted, figure: &Figure, side: Side) -> Option<Self> {
        let humans = match side {
            Side::Left => [
                HumanBone::LeftUpperLeg,
                HumanBone::LeftLowerLeg,
                HumanBone::LeftFoot,
            ],
            Side::Right => [
                HumanBone::RightUpperLeg,
                HumanBone::RightLowerLeg,
                HumanBone::RightFoot,
            ],
        };
        let character = figure.character();
        let mut wanted = [0; 3];
        for (node, human) in wanted.iter_mut().zip(humans) {
            let bone = figure.bones().bone(human)?;
            *node = *figure.nodes().get(bone)?;
        }
        let mut path = Vec::new();
        let mut at = Some(wanted[2]);
        while let Some(node) = at.filter(|_| path.len() <= character.nodes.len()) {
            path.push(node);
            at = character.nodes[node].parent;
        }
        path.reverse();
        let mut joints = [0; 3];
        for (joint, node) in joints.iter_mut().zip(wanted) {
            *joint = path.iter().position(|n| *n == node)?;
        }
        let track = |node: usize| acted.joints.iter().position(|j| j.node == node);
        if joints[0] >= joints[1]
            || joints[1] >= joints[2]
            || wanted.iter().any(|n| track(*n).is_none())
        {
            return None;
        }
        let nodes: Vec<Link> = path
            .iter()
            .map(|node| Link {
                rest: character.nodes[*node].rest,
                track: track(*node),
            })
            .collect();
        // A knee bends backwards, about the axis to the left of who faces +Z.
        let across = figure.facing_turn().conjugate() * Vec3::X;
        let thigh = nodes[..=joints[0]]
            .iter()
            .fold(Transform::IDENTITY, |above, link| above.mul(&link.rest));
        Some(Self {
            nodes,
            joints,
            hinge: thigh.rotation.conjugate() * across,
        })
    }

    fn local(&self, acted: &Acted, at: usize, frame: usize) -> Transform {
        let link = &self.nodes[at];
        let track = link.track.and_then(|t| acted.joints.get(t));
        let rotation = track.and_then(|t| t.rotations.get(frame));
        let translations = track.and_then(|t| t.translations.as_ref());
        Transform {
            rotation: rotation.copied().unwrap_or(link.rest.rotation),
            translation: translations
                .and_then(|t| t.get(frame))
                .copied()
                .unwrap_or(link.rest.translation),
            scale: link.rest.scale,
        }
    }

    /// `model_from_local` of all its nodes.
    fn globals(&self, acted: &Acted, frame: usize, out: &mut Vec<Transform>) {
        out.clear();
        let mut above = Transform::IDENTITY;
        for at in 0..self.nodes.len() {
            above = above.mul(&self.local(acted, at, frame));
            out.push(above);
        }
    }

    fn ankles(&self, acted: &Acted) -> Vec<Vec3> {
        let mut globals = Vec::new();
        (0..acted.num_frames)
            .map(|frame| {
                self.globals(acted, frame, &mut globals);
                globals[self.joints[2]].translation
            })
            .collect()
    }

    /// Brings the ankle to a place; answers by how much it missed, metres.
    fn reach(&self, acted: &mut Acted, frame: usize, goal: Vec3) -> f32 {
        let mut globals = Vec::new();
        self.globals(acted, frame, &mut globals);
        let [thigh, shin, foot] = self.joints;
        let mut bones = [globals[thigh], globals[shin], globals[foot]];
        // Hard: a standing leg is nearly straight, and softening would pull it off the floor.
        let solver = TwoBone {
            soften: 1.0,
            stretch: 1.0,
        };
        let bend = Bend {
            pole: Vec3::ZERO,
            hinge: globals[thigh].rotation * self.hinge,
        };
        let reach = solver.solve_globals(&mut bones, goal, &bend, 1.0);
        // What hangs between the joints is carried by the one above.
        let above = |joint: usize| joint.checked_sub(1).map(|k| globals[k].rotation);
        let parent = above(thigh).unwrap_or_default();
        let thigh_local = unit(parent.conjugate() * bones[0].rotation);
        let parent = reach.root * above(shin).unwrap_or_default();
        let shin_local = unit(parent.conjugate() * bones[1].rotation);
        let parent = reach.mid * above(foot).unwrap_or_default();
        let foot_local = unit(parent.conjugate() * globals[foot].rotation);
        for (joint, local) in [(thigh, thigh_local), (shin, shin_local), (foot, foot_local)] {
            let track = self.nodes[joint].track;
            let place = track
                .and_then(|t| acted.joints.get_mut(t))
                .and_then(|t| t.rotations.get_mut(frame));
            if let Some(place) = place {
                *place = local;
            }
        }
        reach.miss_m
    }
}
