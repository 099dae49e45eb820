//! The body: a Mixamo-style skeleton that breathes, shifts its weight, gestures while it talks, and walks.
//!
//! The rest pose is a T-pose with identity rotations, of an adult of 1.70 m; the offsets are those of a
//! Mixamo export scaled to that height. Poses of the left side are written, those of the right mirrored.

use glam::{Quat, Vec3};
use hub::{Skeleton, StaticData, Transform};

use super::{
    face::Cues,
    gait::{ANKLE_M, BALL_IN_FOOT, Foot, Gait, SHIN_M, THIGH_M, reach, roll_foot},
    noise::{Dice, Events, lerp, pulse},
};

const HIPS: usize = 0;
const SPINE: usize = 1;
const SPINE_1: usize = 2;
const SPINE_2: usize = 3;
const NECK: usize = 4;
const HEAD: usize = 5;
/// First bones of the left and of the right arm.
const ARMS: [usize; 2] = [6, 25];
/// First bones of the left and of the right leg.
const LEGS: [usize; 2] = [44, 48];

/// Height of the hip joints' line over the floor plus their offset: the hips bone at rest.
const HIPS_M: f32 = THIGH_M + SHIN_M + ANKLE_M + 0.05;

/// Name, parent, offset from the parent in metres.
const TRUNK: [(&str, Option<u32>, [f32; 3]); 6] = [
    ("Hips", None, [0.0, HIPS_M, 0.0]),
    ("Spine", Some(0), [0.0, 0.095, -0.012]),
    ("Spine1", Some(1), [0.0, 0.111, -0.013]),
    ("Spine2", Some(2), [0.0, 0.127, -0.015]),
    ("Neck", Some(3), [0.0, 0.143, 0.007]),
    ("Head", Some(4), [0.0, 0.098, 0.030]),
];

/// Name without side, parent within the arm (the first hangs on Spine2), offset of the left arm.
static ARM: [(&str, u32, [f32; 3]); 19] = [
    ("Shoulder", 0, [0.058, 0.087, 0.007]),
    ("Arm", 0, [0.120, -0.003, -0.025]),
    ("ForeArm", 1, [0.262, 0.0, 0.0]),
    ("Hand", 2, [0.262, 0.0, 0.0]),
    ("HandThumb1", 3, [0.032, -0.019, 0.034]),
    ("HandThumb2", 4, [0.033, -0.014, 0.027]),
    ("HandThumb3", 5, [0.032, -0.017, 0.020]),
    ("HandIndex1", 3, [0.114, -0.010, 0.035]),
    ("HandIndex2", 7, [0.036, -0.006, 0.0]),
    ("HandIndex3", 8, [0.032, -0.007, 0.0]),
    ("HandMiddle1", 3, [0.120, -0.013, 0.009]),
    ("HandMiddle2", 10, [0.034, -0.002, 0.001]),
    ("HandMiddle3", 11, [0.032, -0.006, 0.001]),
    ("HandRing1", 3, [0.116, -0.016, -0.012]),
    ("HandRing2", 13, [0.034, -0.002, -0.001]),
    ("HandRing3", 14, [0.031, -0.003, -0.001]),
    ("HandPinky1", 3, [0.105, -0.021, -0.036]),
    ("HandPinky2", 16, [0.039, -0.003, 0.001]),
    ("HandPinky3", 17, [0.025, -0.002, 0.001]),
];

/// The same for the leg, which hangs on the hips.
static LEG: [(&str, u32, [f32; 3]); 4] = [
    ("UpLeg", 0, [0.090, -0.050, 0.0]),
    ("Leg", 0, [0.0, -THIGH_M, 0.0]),
    ("Foot", 1, [0.0, -SHIN_M, 0.0]),
    ("ToeBase", 2, BALL_IN_FOOT.to_array()),
];

fn skeleton() -> Skeleton {
    let mut s = Skeleton::default();
    let mut add = |name: String, parent: Option<u32>, [x, y, z]: [f32; 3]| {
        s.bone_names.push(name);
        s.parents.push(parent);
        s.rest
            .push(Transform::new(Vec3::new(x, y, z), Quat::IDENTITY));
    };
    for (name, parent, offset) in TRUNK {
        add(name.to_owned(), parent, offset);
    }
    for (limb, roots, root_parent) in [(&ARM[..], ARMS, SPINE_2), (&LEG[..], LEGS, HIPS)] {
        for (side, root, sign) in [("Left", roots[0], 1.0), ("Right", roots[1], -1.0)] {
            for (i, &(name, parent, [x, y, z])) in limb.iter().enumerate() {
                let parent = if i == 0 {
                    root_parent as u32
                } else {
                    root as u32 + parent
                };
                add(format!("{side}{name}"), Some(parent), [sign * x, y, z]);
            }
        }
    }
    s
}

/// Joint angles of an arm that hangs from a T-pose, in radians.
#[derive(Clone, Copy)]
struct Arm {
    /// Down from the side.
    hang: f32,
    /// Swung to the front.
    forward: f32,
    /// Forearm turned towards the middle of the body when the elbow bends.
    inward: f32,
    /// Elbow bent.
    elbow: f32,
    /// Each joint of the four fingers bent.
    curl: f32,
    /// Shoulder raised.
    shrug: f32,
}

/// A body and its habits.
#[derive(Clone, Debug)]
pub(super) struct Body {
    skeleton: Skeleton,
    gait: Gait,
    gestures: Events,
    walks: Dice,
}

impl Body {
    /// A body; all habits follow from the dice.
    pub(super) fn new(dice: Dice) -> Self {
        Self {
            skeleton: skeleton(),
            gait: Gait::new(dice.fork(1)),
            gestures: Events::new(dice.fork(2), 2.9, 0.9),
            walks: dice.fork(3),
        }
    }

    /// Bones and rest pose.
    pub(super) fn static_data(&self) -> StaticData {
        StaticData::animation(self.skeleton.clone())
    }

    /// Fills `out` with the pose, in the order of the skeleton.
    pub(super) fn write(&self, t_secs: f64, cues: &Cues, out: &mut Vec<Transform>) {
        out.clear();
        out.extend_from_slice(&self.skeleton.rest);
        let stride = self.gait.stride(t_secs);
        let still = 1.0 - stride.walk;
        let shift = still * self.walk(0, t_secs, 0.16);

        // Hips: along the path, towards the foot that carries, lowest when both feet are down.
        let ahead_m = 0.04 * stride.walk + 0.006 * still * self.walk(1, t_secs, 0.2);
        let left_m = 0.018 * stride.left_carries + 0.022 * shift;
        let (floor, heading) = self.gait.place(stride.arc_m + f64::from(ahead_m), left_m);
        let drop_m = 0.007 + stride.walk * (0.037 + 0.022 * stride.low);
        // The hip of the swinging, or idle, leg sinks.
        let list = 0.03 * stride.left_carries + 0.016 * shift;
        let idle_turn = 0.04 * still * self.walk(2, t_secs, 0.11);
        let turn = idle_turn - 0.09 * stride.left_ahead;
        let hips = Quat::from_rotation_y(heading + turn)
            * Quat::from_rotation_z(list)
            * Quat::from_rotation_x(0.03 * stride.walk);
        let hips_at = floor + Vec3::new(0.0, HIPS_M - drop_m, 0.0);
        out[HIPS] = Transform::new(hips_at, hips);

        // Spine: undoes the list of the hips, turns the chest against them, breathes.
        let chest = 0.16 * stride.left_ahead - idle_turn;
        for (bone, share, breathing) in [
            (SPINE, 0.2, 0.0),
            (SPINE_1, 0.4, -0.006),
            (SPINE_2, 0.4, -0.01),
        ] {
            out[bone].rotation = Quat::from_rotation_y(share * chest)
                * Quat::from_rotation_z(-share * list)
                * Quat::from_rotation_x(
                    breathing * cues.breath + share * 0.03 * self.walk(3, t_secs, 0.13),
                );
        }
        // Yaw and roll of the face are positive to the right, turns about +Y positive to the left.
        let level = 0.07 * stride.left_ahead;
        for (bone, share) in [(NECK, 0.4), (HEAD, 0.6)] {
            out[bone].rotation = Quat::from_rotation_y(-share * (cues.head.yaw + level))
                * Quat::from_rotation_x(share * cues.head.pitch)
                * Quat::from_rotation_z(share * cues.head.roll);
        }

        let gesture = self.gesture(t_secs, cues, stride.walk);
        for (side, &root) in ARMS.iter().enumerate() {
            let leg_ahead = if side == 0 {
                stride.left_ahead
            } else {
                -stride.left_ahead
            };
            let arm = self.arm(t_secs, side, leg_ahead, stride.walk, gesture[side], cues);
            write_arm(&arm, side == 1, &mut out[root..root + ARM.len()]);
        }
        for (side, &root) in LEGS.iter().enumerate() {
            let hip = hips_at + hips * out[root].translation;
            let bones = &mut out[root..root + LEG.len()];
            self.write_leg(&stride.feet[side], side == 1, hips, hip, heading, bones);
        }
    }

    /// A slow walk of this body within −1..1.
    fn walk(&self, label: u64, t_secs: f64, hz: f64) -> f32 {
        self.walks.fork(label).wander(t_secs * hz)
    }

    /// How far each arm is raised in talking, 0..1: one arm, the other, or both.
    fn gesture(&self, t_secs: f64, cues: &Cues, walk: f32) -> [f32; 2] {
        let (gesture, age) = self.gestures.latest(t_secs);
        let roll = |slot| self.gestures.trait_of(gesture, slot);
        // Over before the next may begin: 1.9 s at most, intervals are 2 s at least.
        let raised = pulse(age, 0.4, lerp(0.3, 1.0, roll(1)), 0.5) * lerp(0.35, 1.0, roll(2));
        let raised = raised * cues.speaking * (1.0 - 0.6 * walk);
        match (roll(3) * 3.0) as i32 {
            0 => [raised, 0.0],
            1 => [0.0, raised],
            _ => [raised, 0.85 * raised],
        }
    }

    fn arm(
        &self,
        t_secs: f64,
        side: usize,
        leg_ahead: f32,
        walk: f32,
        gesture: f32,
        cues: &Cues,
    ) -> Arm {
        let label = 10 * (1 + side as u64);
        let idle = |i: u64, hz: f64| self.walk(label + i, t_secs, hz);
        // Arms swing against the legs; the elbow bends as the arm comes forward.
        let swing = -leg_ahead;
        Arm {
            hang: 1.27 - 0.1 * gesture + 0.03 * idle(0, 0.3) - 0.04 * walk,
            forward: 0.04 + 0.36 * swing + gesture * (0.35 + 0.1 * cues.stress),
            inward: 0.1 + 0.45 * gesture,
            elbow: 0.24
                + 0.12 * walk
                + 0.16 * swing
                + gesture * (1.1 + 0.15 * cues.stress)
                + 0.04 * idle(1, 0.25),
            curl: 0.3 - 0.16 * gesture + 0.06 * idle(2, 0.4),
            shrug: 0.018 * cues.breath + 0.03 * gesture,
        }
    }

    fn write_leg(
        &self,
        foot: &Foot,
        right: bool,
        hips: Quat,
        hip: Vec3,
        heading: f32,
        bones: &mut [Transform],
    ) {
        let (floor, foot_heading) = self.gait.place(foot.arc_m, foot.left_m);
        // Toes point out a little.
        let foot_heading = foot_heading + if right { -0.1 } else { 0.1 };
        let (ankle, foot_rotation) = roll_foot(foot_heading, foot.pitch_rad);
        let ankle = floor + ankle + Vec3::new(0.0, foot.lift_m, 0.0);
        // The knee points halfway between hips and foot.
        let ahead = |heading: f32| Vec3::new(heading.sin(), 0.0, heading.cos());
        let (thigh, knee_rad) = reach(hip, ankle, ahead(heading) + ahead(foot_heading));
        let knee = Quat::from_rotation_x(knee_rad);
        bones[0].rotation = positive(hips.conjugate() * thigh);
        bones[1].rotation = knee;
        bones[2].rotation = positive((thigh * knee).conjugate() * foot_rotation);
        // The toes stay on the floor while the heel rises.
        bones[3].rotation = Quat::from_rotation_x(-foot.pitch_rad.max(0.0));
    }
}

/// The one of `q` and −`q`, the same rotation, that has w ≥ 0.
fn positive(q: Quat) -> Quat {
    if q.w < 0.0 { -q } else { q }
}

/// Writes the 19 bones of an arm. In the T-pose the left arm points along +X, its palm down.
fn write_arm(arm: &Arm, right: bool, bones: &mut [Transform]) {
    // Mirrored across the plane x = 0.
    let own_side = |q: Quat| {
        if right {
            Quat::from_xyzw(q.x, -q.y, -q.z, q.w)
        } else {
            q
        }
    };
    bones[0].rotation = own_side(Quat::from_rotation_z(arm.shrug));
    bones[1].rotation = own_side(
        Quat::from_rotation_x(-arm.forward)
            * Quat::from_rotation_z(-arm.hang)
            * Quat::from_rotation_x(arm.inward),
    );
    bones[2].rotation = own_side(Quat::from_rotation_y(-arm.elbow));
    bones[3].rotation = own_side(Quat::from_rotation_z(-0.25 * arm.curl));
    for thumb in &mut bones[4..7] {
        thumb.rotation = own_side(Quat::from_rotation_y(0.5 * arm.curl));
    }
    for (i, finger) in bones[7..].iter_mut().enumerate() {
        // Index, middle, ring, pinky: the outer ones bend more.
        let curl = arm.curl * (0.85 + 0.1 * (i / 3) as f32);
        finger.rotation = own_side(Quat::from_rotation_z(-curl));
    }
}

#[cfg(test)]
mod tests {
    use hub::{FrameBody, FrameData, Role};

    use super::*;
    use crate::synthetic::Performer;

    const NUM_BONES: usize = 52;

    #[test]
    fn the_body_is_a_sound_animation_subject() {
        let performer = Performer::new(1);
        let of = performer.body_static();
        assert_eq!(
            (of.role(), of.num_transforms()),
            (Role::Animation, NUM_BONES)
        );
        assert_eq!(of.validate(), Ok(()));
        let mut bones = Vec::new();
        performer.body(0.0, &mut bones);
        let memory = bones.as_ptr();
        performer.body(30.0, &mut bones);
        assert_eq!(memory, bones.as_ptr());
        let frame = FrameData {
            body: FrameBody::Animation(bones),
            properties: Vec::new(),
        };
        assert_eq!(frame.check(&of), Ok(()));
    }

    #[test]
    fn limbs_start_where_their_indices_say() {
        let names = skeleton().bone_names;
        for (bone, name) in [
            (HIPS, "Hips"),
            (SPINE, "Spine"),
            (SPINE_1, "Spine1"),
            (SPINE_2, "Spine2"),
            (NECK, "Neck"),
            (HEAD, "Head"),
            (ARMS[0], "LeftShoulder"),
            (ARMS[1], "RightShoulder"),
            (LEGS[0], "LeftUpLeg"),
            (LEGS[1], "RightUpLeg"),
            (NUM_BONES - 1, "RightToeBase"),
        ] {
            assert_eq!(names[bone], name);
        }
    }

    #[test]
    fn the_rest_pose_stands_on_the_floor_facing_z_with_its_left_at_x() {
        let s = skeleton();
        // At rest nothing is turned, so places are sums of offsets.
        let place = |name: &str| {
            let mut at = Vec3::ZERO;
            let mut bone = s.bone_names.iter().position(|n| n == name);
            while let Some(b) = bone {
                at += s.rest[b].translation;
                bone = s.parents[b].map(|p| p as usize);
            }
            at
        };
        // The top of the head is 0.176 m above its joint in the export the offsets are from.
        assert!((place("Head").y + 0.176 - 1.70).abs() < 0.01);
        for (side, out) in [("Left", 1.0), ("Right", -1.0)] {
            let [foot, toe, arm, hand, finger] = ["Foot", "ToeBase", "Arm", "Hand", "HandMiddle3"]
                .map(|bone| place(&format!("{side}{bone}")));
            assert!((foot.y - ANKLE_M).abs() < 1e-5 && (toe.y - 0.015).abs() < 1e-5);
            assert!(toe.z > foot.z + 0.1);
            assert!(out * finger.x > 0.8 && (hand.y - arm.y).abs() < 0.01);
        }
    }
}
