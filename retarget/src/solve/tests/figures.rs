//! Skeletons typed by hand, and poses of them.

use glam::{Quat, Vec3};
use hub::Transform;

use crate::{
    Rig,
    characterise::{BoneMap, Characterisation, characterise},
    pose::{Body, RetargetPose, t_pose},
    solve::{Retargeter, Step},
};

/// One bone a line, depth by indentation, the joint in centimetres. In T-pose, +Y up, facing +Z. What is left is made
/// right, too. All straight and level, so that the answers are known: the T-pose fitted to it is itself.
const PERSON: &str = "
hips 0 95 0
 spine 0 105 0
  chest 0 117 0
   upperChest 0 130 0
    neck 0 145 0
     head 0 154 0
    leftShoulder 5 141 0
     leftUpperArm 17 141 0
      leftLowerArm 44 141 0
       leftHand 71 141 0
        leftThumbMetacarpal 74 141 3
         leftThumbProximal 77 141 6
          leftThumbDistal 80 141 9
        leftIndexProximal 81 141 4
         leftIndexIntermediate 85 141 4
          leftIndexDistal 88 141 4
        leftLittleProximal 81 141 -4
         leftLittleIntermediate 84 141 -4
          leftLittleDistal 86 141 -4
 leftUpperLeg 9 88 0
  leftLowerLeg 9 48 0
   leftFoot 9 8 0
    leftToes 9 2 14
";

#[derive(Clone, Debug)]
pub(super) struct Typed {
    pub(super) names: Vec<String>,
    pub(super) parents: Vec<Option<u32>>,
    pub(super) at: Vec<Vec3>,
}

pub(super) fn person() -> Typed {
    let mut typed = Typed {
        names: Vec::new(),
        parents: Vec::new(),
        at: Vec::new(),
    };
    let mut above: Vec<u32> = Vec::new();
    for line in PERSON.lines().filter(|line| !line.is_empty()) {
        let depth = line.len() - line.trim_start().len();
        let words: Vec<&str> = line.split_whitespace().collect();
        let number = |word: &str| word.parse::<f32>().unwrap() / 100.0;
        above.truncate(depth);
        typed.parents.push(above.last().copied());
        above.push(typed.names.len() as u32);
        typed.names.push(words[0].to_owned());
        let at = Vec3::new(number(words[1]), number(words[2]), number(words[3]));
        typed.at.push(at);
    }
    for bone in 0..typed.names.len() {
        let name = typed.names[bone].clone();
        let Some(rest) = name.strip_prefix("left") else {
            continue;
        };
        let parent = typed.parents[bone].map(|p| {
            let above = typed.names[p as usize].replacen("left", "right", 1);
            typed.index(&above) as u32
        });
        typed.names.push(format!("right{rest}"));
        typed.parents.push(parent);
        typed.at.push(typed.at[bone] * Vec3::new(-1.0, 1.0, 1.0));
    }
    typed
}

impl Typed {
    pub(super) fn index(&self, name: &str) -> usize {
        self.names.iter().position(|n| n == name).unwrap()
    }

    pub(super) fn scaled(&self, by: f32) -> Self {
        self.moved(|_, at| at * by)
    }

    pub(super) fn moved(&self, to: impl Fn(&str, Vec3) -> Vec3) -> Self {
        let places = self.names.iter().zip(&self.at);
        Self {
            at: places.map(|(name, at)| to(name, *at)).collect(),
            ..self.clone()
        }
    }

    pub(super) fn with(&self, name: &str, parent: &str, at: [f32; 3]) -> Self {
        let mut more = self.clone();
        more.names.push(name.to_owned());
        more.parents.push(Some(self.index(parent) as u32));
        more.at.push(Vec3::from_array(at));
        more
    }

    /// A bone between another and its children that are named.
    pub(super) fn between(&self, name: &str, parent: &str, at: [f32; 3], below: &[&str]) -> Self {
        let mut sorted = self.clone();
        let place = self.index(parent) + 1;
        for above in sorted.parents.iter_mut().flatten() {
            if *above as usize >= place {
                *above += 1;
            }
        }
        sorted.names.insert(place, name.to_owned());
        sorted.parents.insert(place, Some(place as u32 - 1));
        sorted.at.insert(place, Vec3::from_array(at));
        for child in below {
            let child = sorted.index(child);
            sorted.parents[child] = Some(place as u32);
        }
        sorted
    }

    /// Without bones; what hung on them hangs on what they hung on.
    pub(super) fn without(&self, dropped: &[&str]) -> Self {
        let mut kept: Vec<Option<u32>> = Vec::new();
        let mut out = Self {
            names: Vec::new(),
            parents: Vec::new(),
            at: Vec::new(),
        };
        for (bone, name) in self.names.iter().enumerate() {
            let parent = self.parents[bone].and_then(|p| kept[p as usize]);
            if dropped.contains(&name.as_str()) {
                kept.push(parent);
            } else {
                kept.push(Some(out.names.len() as u32));
                out.names.push(name.clone());
                out.parents.push(parent);
                out.at.push(self.at[bone]);
            }
        }
        out
    }

    /// Limbs turned about the joint of a bone, by places alone.
    pub(super) fn bent(&self, name: &str, by: Quat) -> Self {
        let top = self.index(name);
        let pivot = self.at[top];
        let mut bent = self.clone();
        for bone in 0..self.names.len() {
            let mut at = Some(bone as u32);
            while let Some(above) = at {
                if above as usize == top {
                    bent.at[bone] = pivot + by * (self.at[bone] - pivot);
                    break;
                }
                at = self.parents[above as usize];
            }
        }
        bent
    }

    /// As a rig whose bones have these rotations in the model.
    fn rig_of(&self, rotation: impl Fn(usize) -> Quat) -> Rig {
        let rest = (0..self.names.len())
            .map(|bone| match self.parents[bone] {
                Some(parent) => {
                    let above = rotation(parent as usize).conjugate();
                    let way = self.at[bone] - self.at[parent as usize];
                    Transform::new(above * way, above * rotation(bone))
                }
                None => Transform::new(self.at[bone], rotation(bone)),
            })
            .collect();
        Rig::new(self.names.clone(), self.parents.clone(), rest).unwrap()
    }

    /// A rig without rotations.
    pub(super) fn plain(&self) -> Figure {
        Figure::new(self.rig_of(|_| Quat::IDENTITY))
    }

    /// A rig whose bones have axes like nothing else.
    pub(super) fn rolled(&self) -> Figure {
        Figure::new(self.rig_of(|bone| {
            let odd = bone as f32;
            Quat::from_rotation_y(odd * 1.3) * Quat::from_rotation_x(odd * 0.7 + 0.4)
        }))
    }
}

#[derive(Debug)]
pub(super) struct Figure {
    pub(super) rig: Rig,
    pub(super) found: Characterisation,
    pub(super) pose: RetargetPose,
}

impl Figure {
    pub(super) fn new(rig: Rig) -> Self {
        let found = characterise(&rig, &BoneMap::default());
        let pose = t_pose(&rig, &found, rig.rest());
        Self { rig, found, pose }
    }

    pub(super) fn body(&self) -> Body<'_> {
        Body {
            rig: &self.rig,
            bones: &self.found,
            pose: &self.pose,
        }
    }

    pub(super) fn bone(&self, name: &str) -> usize {
        self.rig.bone_named(name).unwrap()
    }

    pub(super) fn acting(&self) -> Acting<'_> {
        Acting {
            figure: self,
            globals: self.rig.turned(self.found.turn).rest_global().to_vec(),
        }
    }
}

/// A pose of a figure by `model_from_local`, house frame.
#[derive(Clone, Debug)]
pub(super) struct Acting<'a> {
    pub(super) figure: &'a Figure,
    pub(super) globals: Vec<Transform>,
}

impl Acting<'_> {
    /// Turned about its joint, house frame, with what hangs on it.
    pub(super) fn turn(mut self, name: &str, by: Quat) -> Self {
        let top = self.figure.bone(name);
        let pivot = self.globals[top].translation;
        for bone in 0..self.globals.len() {
            if self.figure.rig.is_below(bone, top) {
                let global = &mut self.globals[bone];
                global.translation = pivot + by * (global.translation - pivot);
                global.rotation = by * global.rotation;
            }
        }
        self
    }

    pub(super) fn shift(mut self, by: Vec3) -> Self {
        for global in &mut self.globals {
            global.translation += by;
        }
        self
    }

    /// Both legs bent by `angle` at the hips and twice that at the knees, soles level, ankles where they were.
    pub(super) fn crouch(self, angle: f32) -> Self {
        let ankle = self.at("leftFoot");
        let mut acting = self;
        for side in ["left", "right"] {
            // A turn about -X takes a leg that hangs forwards.
            acting = acting
                .turn(&format!("{side}UpperLeg"), Quat::from_rotation_x(-angle))
                .turn(
                    &format!("{side}LowerLeg"),
                    Quat::from_rotation_x(2.0 * angle),
                )
                .turn(&format!("{side}Foot"), Quat::from_rotation_x(-angle));
        }
        let by = ankle - acting.at("leftFoot");
        acting.shift(by)
    }

    pub(super) fn at(&self, name: &str) -> Vec3 {
        self.globals[self.figure.bone(name)].translation
    }

    /// `parent_from_local`, in the rig's own model frame.
    pub(super) fn locals(&self) -> Vec<Transform> {
        let rig = &self.figure.rig;
        let back = self.figure.found.turn.conjugate();
        self.globals
            .iter()
            .enumerate()
            .map(|(bone, global)| match rig.parent(bone) {
                Some(parent) => {
                    let above = &self.globals[parent];
                    let inverse = above.rotation.conjugate();
                    Transform::new(
                        inverse * (global.translation - above.translation),
                        inverse * global.rotation,
                    )
                }
                None => Transform::new(back * global.translation, back * global.rotation),
            })
            .collect()
    }
}

pub(super) fn retargeter(source: &Figure, target: &Figure, steps: &[Step]) -> Retargeter {
    Retargeter::new(source.body(), target.body(), steps).unwrap()
}

/// What a pose becomes on another figure; some frames, so that all is at rest.
pub(super) fn played<'a>(acting: &Acting<'_>, target: &'a Figure, steps: &[Step]) -> Acting<'a> {
    let mut retargeter = retargeter(acting.figure, target, steps);
    let mut out = Vec::new();
    for _ in 0..3 {
        retargeter.evaluate(&acting.locals(), 1.0 / 60.0, &mut out);
    }
    of_locals(target, &out)
}

/// The pose of `parent_from_local`.
pub(super) fn of_locals<'a>(figure: &'a Figure, locals: &[Transform]) -> Acting<'a> {
    let mut turned = locals.to_vec();
    figure.rig.turn_roots(figure.found.turn, &mut turned);
    let mut globals = Vec::new();
    figure.rig.globals(&turned, &mut globals);
    Acting { figure, globals }
}

/// From one joint to another, unit.
pub(super) fn way(acting: &Acting<'_>, from: &str, to: &str) -> Vec3 {
    (acting.at(to) - acting.at(from)).normalize_or_zero()
}
