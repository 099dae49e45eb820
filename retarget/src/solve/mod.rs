//! From a pose of the performer to a pose of the character, each frame.
//!
//! A [`Retargeter`] is built once for two rigs and a stack of operations; that is where everything is checked, and all
//! faults are named at once. Evaluated, it neither fails nor allocates, whatever the pose.
//!
//! ```text
//! source locals ─► model, house frame ─► Mirror ─► Fk ─► Travel ─► Fingers          the body
//!                                                             │
//!      goals of hands and feet   Goals ─► Stride ─► Plant ─► Floor ─► Pelvis ─► Solve ─► Hands ─► Solve
//!                                                                                                   │
//! target locals ◄─ RootMotion ◄─ Pin ◄─ Twist ◄─ Breathing ◄─ LookAt ◄─ Limits ◄────────────────────┘
//! ```
//!
//! Rules of the house:
//! - everything happens in the house frame, in model space; the rigs' own frames are left at the door and met there again;
//! - a bone takes turns away from a pose in which both bodies do the same ([`RetargetPose`]), so its
//!   own axes do not matter;
//! - lengths come from the target's rest pose. Only the offsets of hips, roots, pinned bones and those that are told to
//!   stretch are written anew;
//! - a bone that is nobody keeps its rest pose relative to its parent, and so does what hangs on it;
//! - onto itself, a rig does what it did.

mod dress;
mod fault;
mod feet;
mod fk;
mod full_body;
mod limbs;
mod ops;
mod run;
mod state;
mod touch;
mod travel;
mod twist;

use glam::Vec3;
use hub::Transform;

pub use fault::{RetargetFault, RetargetFaults, Whose};
pub use full_body::FullBodyOp;
pub use ops::{
    BreathingOp, FingersOp, FkChain, FkMode, FkOp, FkTranslation, FloorOp, GoalSettings, GoalsOp,
    HandsOp, LimitsOp, LookAtOp, MirrorOp, Op, PelvisOp, Pin, PinMode, PinOp, PinTo, PlantOp,
    RootMotionOp, SolveOp, Step, TravelOp, TwistOp, default_steps,
};

use crate::{
    characterise::parse_chain,
    math::unit,
    pose::{Body, RetargetPose},
};
use run::Run;
use state::{Half, Shape, State};

/// Farthest that anything is believed to be from its parent, metres.
const FARTHEST_M: f32 = 1e4;
/// Scale of a source's bones that is believed.
const SCALES: [f32; 2] = [1e-3, 1e3];

/// The goal of a hand or a foot, house frame, metres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Where it was to go.
    pub at: Vec3,
    /// Where it went.
    pub reached: Vec3,
    /// Whether it is a foot that stands on the floor.
    pub is_contact: bool,
}

/// Gives one character the poses of one performer.
#[derive(Debug)]
pub struct Retargeter {
    shape: Shape,
    steps: Vec<Step>,
    /// As many as steps; none for what the bodies have no use for.
    runs: Vec<Option<Box<dyn Run>>>,
    state: State,
    num_driven: usize,
}

impl Retargeter {
    /// A retargeter from one body to another, with steps in the order in which they run.
    ///
    /// # Errors
    /// All faults, by name. A step that the bodies have no use for, such as feet without legs, is none; it does nothing.
    pub fn new(source: Body<'_>, target: Body<'_>, steps: &[Step]) -> Result<Self, RetargetFaults> {
        let mut faults = Vec::new();
        check_body(Whose::Source, source, &mut faults);
        check_body(Whose::Target, target, &mut faults);
        for (place, step) in steps.iter().enumerate() {
            check_step(place, step, source, target, &mut faults);
        }
        if !faults.is_empty() {
            return Err(RetargetFaults(faults));
        }
        let mut shape = Shape::new(Half::new(source), Half::new(target));
        let copies_twists = !steps
            .iter()
            .any(|step| matches!(&step.op, Op::Twist(twist) if !twist.copy));
        // What could follow if it were asked to, whatever the stack.
        let num_driven = fk::Fk::new(&FkOp::default(), copies_twists, &mut shape).num_driven;
        if num_driven == 0 {
            let count = |half: &Half| half.found.bones.iter().flatten().count();
            return Err(RetargetFaults(vec![RetargetFault::NothingInCommon {
                source_bones: count(&shape.source),
                target_bones: count(&shape.target),
            }]));
        }
        let runs = steps
            .iter()
            .map(|step| build(&step.op, copies_twists, &mut shape))
            .collect();
        let state = State::new(&shape);
        Ok(Self {
            shape,
            steps: steps.to_vec(),
            runs,
            state,
            num_driven,
        })
    }

    /// The pose of the target, `parent_from_local` in its own model frame, for one of the source, likewise, `dt_secs`
    /// after the last. `out` is replaced; it grows the first time. Bones of the source that are missing or no rigid transforms
    /// are taken at rest.
    pub fn evaluate(&mut self, source: &[Transform], dt_secs: f32, out: &mut Vec<Transform>) {
        self.state.dt = if dt_secs.is_finite() {
            dt_secs.clamp(0.0, 1.0)
        } else {
            0.0
        };
        self.read(source);
        self.stand_still();
        for (step, run) in self.steps.iter().zip(&mut self.runs) {
            if let (true, Some(run)) = (step.enabled && step.weight > 0.0, run) {
                run.run(&self.shape, &mut self.state, step.weight);
            }
        }
        self.write(out);
    }

    /// The pose of the last frame, `model_from_local` in the house frame.
    pub fn globals(&self) -> &[Transform] {
        &self.state.globals
    }

    /// The source's pose of the last frame, `model_from_local` in the house frame, to be shown beside it.
    pub fn source_globals(&self) -> &[Transform] {
        &self.state.source
    }

    /// Goals of hands and feet in the last frame, to be shown over the picture: what was wanted, what was reached.
    pub fn marks(&self) -> impl Iterator<Item = Mark> {
        let limbs = self.shape.limbs.iter().zip(&self.state.goals);
        limbs.filter_map(|(limb, goal)| {
            let limb = limb.as_ref()?;
            let reached = self.state.globals.get(limb.end.bone)?.translation;
            let was_asked = goal.position != Vec3::ZERO;
            was_asked.then_some(Mark {
                at: goal.position,
                reached,
                is_contact: limb.id.is_leg && goal.must > 0.5,
            })
        })
    }

    /// Metres of the target per metre of the source: the ratio of the heights of their hips over the floor.
    pub fn ratio(&self) -> f32 {
        self.shape.ratio
    }

    /// Bones of the target that the source moves.
    pub fn num_driven(&self) -> usize {
        self.num_driven
    }

    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Switches a step on or off. It begins anew. An index that is none changes nothing.
    pub fn set_enabled(&mut self, step: usize, enabled: bool) {
        if let Some(at) = self.steps.get_mut(step) {
            if enabled
                && !at.enabled
                && let Some(Some(run)) = self.runs.get_mut(step)
            {
                run.forget();
            }
            at.enabled = enabled;
        }
    }

    /// How much of a step is done, 0..=1. NaN and an index that is none change nothing.
    pub fn set_weight(&mut self, step: usize, weight: f32) {
        if let Some(at) = self.steps.get_mut(step)
            && !weight.is_nan()
        {
            at.weight = weight.clamp(0.0, 1.0);
        }
    }

    /// What the head looks at, metres in the house frame; `None` for where the performer looks.
    pub fn set_look_at(&mut self, point: Option<Vec3>) {
        self.state.look_at = point.filter(|point| point.is_finite());
    }

    /// Forgets earlier frames: after a cut or a jump in time.
    pub fn forget(&mut self) {
        for run in self.runs.iter_mut().flatten() {
            run.forget();
        }
    }

    /// The source in model space and the house frame.
    fn read(&mut self, locals: &[Transform]) {
        let half = &self.shape.source;
        let turn = half.found.turn;
        let globals = &mut self.state.source;
        for bone in 0..half.len() {
            let local = locals
                .get(bone)
                .filter(|local| local.is_rigid())
                .unwrap_or(&half.rest_locals[bone]);
            let far = Vec3::splat(FARTHEST_M);
            let translation = local.translation.clamp(-far, far);
            let rotation = unit(local.rotation);
            globals[bone] = match half.parents[bone] {
                Some(parent) => {
                    // A frame may have a scale that was taken out of the rest pose.
                    let above = globals[parent as usize];
                    Transform {
                        translation: above.translation
                            + above.rotation * (above.scale * translation),
                        rotation: above.rotation * rotation,
                        scale: scale(above.scale * local.scale),
                    }
                }
                None => Transform {
                    translation: turn * translation,
                    rotation: turn * rotation,
                    scale: scale(local.scale),
                },
            };
        }
    }

    /// The target as nobody moves it.
    fn stand_still(&mut self) {
        let State { globals, goals, .. } = &mut self.state;
        globals.copy_from_slice(&self.shape.target.pose.globals);
        for goal in goals {
            goal.is_set = false;
        }
    }

    fn write(&self, out: &mut Vec<Transform>) {
        let (shape, globals) = (&self.shape, &self.state.globals);
        let target = &shape.target;
        let back = target.found.turn.conjugate();
        out.clear();
        for (bone, global) in globals.iter().enumerate() {
            let local = if let Some(parent) = target.parents[bone] {
                let above = &globals[parent as usize];
                let inverse = above.rotation.conjugate();
                let translation = if shape.is_free[bone] {
                    inverse * (global.translation - above.translation)
                } else {
                    target.rest_locals[bone].translation
                };
                Transform::new(translation, unit(inverse * global.rotation))
            } else {
                let translation = if shape.is_free[bone] {
                    back * global.translation
                } else {
                    target.rest_locals[bone].translation
                };
                Transform::new(translation, unit(back * global.rotation))
            };
            out.push(if local.is_rigid() {
                local
            } else {
                target.rest_locals[bone]
            });
        }
    }
}

fn scale(scale: Vec3) -> Vec3 {
    let [least, most] = SCALES;
    scale.clamp(Vec3::splat(least), Vec3::splat(most))
}

fn build(op: &Op, copies_twists: bool, shape: &mut Shape) -> Option<Box<dyn Run>> {
    let run: Box<dyn Run> = match op {
        Op::Mirror(_) => Box::new(dress::Mirror::new(shape)),
        Op::Fk(op) => Box::new(fk::Fk::new(op, copies_twists, shape)),
        Op::Travel(op) => Box::new(travel::Travel::new(*op, shape)),
        Op::Fingers(op) => Box::new(dress::Fingers::new(*op, shape)),
        Op::Goals(op) => Box::new(limbs::Goals(*op)),
        Op::Stride(op) => Box::new(feet::Stride(*op)),
        Op::Plant(op) => Box::new(feet::Plant::new(*op, shape)),
        Op::Floor(op) => Box::new(feet::Floor(*op)),
        Op::Pelvis(op) => Box::new(feet::Hips::new(*op)),
        Op::Hands(op) => Box::new(touch::Hands::new(*op, shape)?),
        Op::FullBody(op) => Box::new(full_body::Body::new(*op, shape)?),
        Op::Solve(op) => {
            stretching(op, shape);
            Box::new(limbs::Solve(*op))
        }
        Op::Limits(op) => Box::new(limbs::Limits::new(*op, shape)),
        Op::Twist(op) => Box::new(twist::Twists::new(*op, shape)),
        Op::LookAt(op) => Box::new(dress::Look::new(*op, shape)?),
        Op::Pin(op) => Box::new(pins(op, shape)),
        Op::RootMotion(op) => Box::new(travel::RootMotion::new(*op, shape)?),
        Op::Breathing(op) => Box::new(dress::Breath::new(*op, shape)?),
    };
    Some(run)
}

/// Joints of limbs that may get longer have offsets of their own.
fn stretching(op: &SolveOp, shape: &mut Shape) {
    for limb in shape.limbs.iter().flatten() {
        let settings = if limb.id.is_leg { op.legs } else { op.arms };
        if settings.stretch > 1.0 {
            shape.is_free[limb.lower.bone] = true;
            shape.is_free[limb.end.bone] = true;
        }
    }
}

fn pins(op: &PinOp, shape: &mut Shape) -> dress::Pins {
    let mut pins = Vec::new();
    for pin in &op.pins {
        let to = match pin.of {
            PinTo::Source => shape.source.named(&pin.to),
            PinTo::Target => shape.target.named(&pin.to),
        };
        let Some((bone, to)) = shape.target.named(&pin.bone).zip(to) else {
            continue;
        };
        shape.is_free[bone] = true;
        pins.push(dress::Pinned {
            branch: shape.target.branch(bone),
            to,
            of: pin.of,
            translation: pin.translation,
            rotation: pin.rotation,
        });
    }
    dress::Pins(pins)
}

fn check_body(whose: Whose, body: Body<'_>, faults: &mut Vec<RetargetFault>) {
    let have = body.rig.len();
    let RetargetPose { locals, globals } = body.pose;
    if globals.len() != have || locals.len() != have {
        faults.push(RetargetFault::PoseLength {
            whose,
            want: have,
            have: globals.len().min(locals.len()),
        });
    } else if let Some(bone) = (0..have).find(|b| !globals[*b].is_rigid() || !locals[*b].is_rigid())
    {
        faults.push(RetargetFault::PoseValue {
            whose,
            name: body.rig.names()[bone].clone(),
        });
    }
    let found = body.bones;
    let all = found
        .bones
        .iter()
        .flatten()
        .chain(found.chains.iter().flat_map(|chain| &chain.bones))
        .chain(found.twists.iter().map(|twist| &twist.bone))
        .chain(&found.metacarpals)
        .chain(&found.carrier);
    if let Some(bone) = all.copied().find(|bone| *bone as usize >= have) {
        faults.push(RetargetFault::Bones { whose, bone, have });
    }
}

fn check_step(
    place: usize,
    step: &Step,
    source: Body<'_>,
    target: Body<'_>,
    faults: &mut Vec<RetargetFault>,
) {
    let place = format!("step {} ({})", place + 1, step.op.name());
    check_weight(&format!("{place} weight"), step.weight, faults);
    if let Ok(value) = toml::Value::try_from(&step.op) {
        check_numbers(&place, &value, faults);
    }
    match &step.op {
        Op::Fk(op) => {
            for (name, chain) in &op.chains {
                if parse_chain(name).is_err() {
                    faults.push(RetargetFault::NoChain {
                        place: place.clone(),
                        name: name.clone(),
                    });
                }
                check_weight(&format!("{place} {name}"), chain.weight, faults);
            }
            check_weight(&format!("{place} all"), op.all.weight, faults);
        }
        Op::Pin(op) => {
            for pin in &op.pins {
                let (whose, body) = match pin.of {
                    PinTo::Source => (Whose::Source, source),
                    PinTo::Target => (Whose::Target, target),
                };
                let asked = [(Whose::Target, target, &pin.bone), (whose, body, &pin.to)];
                for (whose, body, name) in asked {
                    if body.rig.bone_named(name).is_none() {
                        faults.push(RetargetFault::NoBone {
                            place: place.clone(),
                            whose,
                            name: name.clone(),
                        });
                    }
                }
            }
        }
        _ => {}
    }
}

fn check_weight(place: &str, weight: f32, faults: &mut Vec<RetargetFault>) {
    if !(0.0..=1.0).contains(&weight) {
        faults.push(RetargetFault::Weight {
            place: place.to_owned(),
            weight,
        });
    }
}

/// Names every number of a step that is not finite.
fn check_numbers(place: &str, value: &toml::Value, faults: &mut Vec<RetargetFault>) {
    match value {
        toml::Value::Float(number) if !number.is_finite() => {
            faults.push(RetargetFault::Number {
                place: place.to_owned(),
            });
        }
        toml::Value::Array(values) => {
            for value in values {
                check_numbers(place, value, faults);
            }
        }
        toml::Value::Table(table) => {
            for (key, value) in table {
                check_numbers(&format!("{place} {key}"), value, faults);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
