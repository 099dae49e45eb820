//! What was found and how, in words, and as one number.

use std::fmt;

use crate::{HumanBone, Side};

/// What tells where a character faces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Front {
    /// The way from the feet to the toes.
    Toes,
    /// The way from the head's joint to the eyes.
    Eyes,
    /// The sides that the names say.
    Names,
    /// The way the knees stand out.
    Knees,
    /// Nothing does.
    Assumed,
}

impl fmt::Display for Front {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Toes => "toes",
            Self::Eyes => "eyes",
            Self::Names => "names of left and right",
            Self::Knees => "knees",
            Self::Assumed => "assumption",
        })
    }
}

/// One thing that a characterisation has to say. [`fmt::Display`] says it in a sentence.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Reason {
    /// The names follow a convention.
    Convention {
        /// Which.
        name: &'static str,
        /// How many bones it names.
        bones: usize,
    },
    /// The names follow none that is known.
    NoConvention,
    /// A bone was named by another convention.
    Mixed {
        /// Its name.
        bone: String,
        /// The convention.
        convention: &'static str,
    },
    /// Bones that no name told, found by their place.
    Guessed {
        /// What they are, and their names.
        bones: Vec<(HumanBone, String)>,
    },
    /// Bones that every body has and that were not found.
    Missing {
        /// Which.
        bones: Vec<HumanBone>,
    },
    /// What told where the character faces.
    Front {
        /// What did.
        by: Front,
        /// The front in the model, unit.
        towards: [f32; 3],
        /// Up in the model, unit.
        up: [f32; 3],
    },
    /// The joints given are not those of a standing body.
    NoBody {
        /// Why.
        why: &'static str,
    },
    /// The rest pose is not that of a standing body; the base pose was used.
    RestIsNoBody {
        /// Why.
        why: &'static str,
    },
    /// Bones lie on this side though their names say the other. Their place was believed.
    SideDisagrees {
        /// Where they lie.
        side: Side,
        /// Their names.
        bones: Vec<String>,
    },
    /// All names say the other side than where the bones lie, seen from where the feet point: a mirrored model.
    /// Their place was believed.
    Mirrored,
    /// Neither names nor places tell left from right.
    SideGuessed {
        /// The upper joints in question.
        bones: Vec<String>,
    },
    /// Several bones share a name.
    Duplicate {
        /// The name.
        name: String,
        /// How many have it.
        bones: usize,
    },
    /// Bones left out by their names: ends, controls, helpers.
    Excluded {
        /// The first of them.
        bones: Vec<String>,
        /// How many there are.
        count: usize,
    },
    /// An override names a bone that does not exist.
    UnknownName {
        /// What it was for.
        what: String,
        /// The name.
        name: String,
        /// The name that is nearest to it.
        nearest: Option<String>,
    },
    /// The base pose has another number of bones, or numbers that are not finite; the rest pose was used.
    BadBasePose {
        /// Bones of the rig.
        want: usize,
        /// Transforms of the pose.
        have: usize,
    },
}

impl Reason {
    /// Whether a person should look at it.
    pub fn is_warning(&self) -> bool {
        !matches!(
            self,
            Self::Convention { .. }
                | Self::Mixed { .. }
                | Self::Excluded { .. }
                | Self::Front {
                    by: Front::Toes | Front::Eyes | Front::Names | Front::Knees,
                    ..
                }
        )
    }
}

fn list<T: fmt::Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|i| i.to_string()).collect();
    items.join(", ")
}

fn side(side: Side) -> &'static str {
    match side {
        Side::Left => "left",
        Side::Right => "right",
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Convention { name, bones } => {
                write!(f, "the names of {bones} bones are those of {name}")
            }
            Self::NoConvention => f.write_str("the names follow no known convention"),
            Self::Mixed { bone, convention } => {
                write!(f, "{bone} is named as in {convention}")
            }
            Self::Guessed { bones } => write!(
                f,
                "found by place, not by name: {}",
                list(
                    bones
                        .iter()
                        .map(|(human, bone)| format!("{human} is {bone}"))
                )
            ),
            Self::Missing { bones } => write!(f, "not found: {}", list(bones)),
            Self::Front { by, towards, up } => {
                let [x, y, z] = towards;
                let [a, b, c] = up;
                write!(
                    f,
                    "the front is ({x:.2}, {y:.2}, {z:.2}) with ({a:.2}, {b:.2}, {c:.2}) up, by {by}"
                )
            }
            Self::NoBody { why } => write!(f, "this is no standing body: {why}"),
            Self::RestIsNoBody { why } => {
                write!(
                    f,
                    "the rest pose is no standing body: {why}; a base pose serves"
                )
            }
            Self::SideDisagrees { side: lies, bones } => write!(
                f,
                "on the {} side, though named for the {}: {}",
                side(*lies),
                side(lies.other()),
                list(bones)
            ),
            Self::Mirrored => {
                f.write_str("all names of left and right are the wrong way round; places count")
            }
            Self::SideGuessed { bones } => {
                write!(f, "nothing tells left from right: {}", list(bones))
            }
            Self::Duplicate { name, bones } => write!(f, "{bones} bones are named {name:?}"),
            Self::Excluded { bones, count } => {
                write!(f, "left out {count} ends and helpers: {}", list(bones))?;
                if *count > bones.len() {
                    f.write_str(", …")?;
                }
                Ok(())
            }
            Self::UnknownName {
                what,
                name,
                nearest,
            } => {
                write!(f, "{what}: there is no bone named {name:?}")?;
                match nearest {
                    Some(nearest) => write!(f, "; the nearest is {nearest:?}"),
                    None => Ok(()),
                }
            }
            Self::BadBasePose { want, have } => write!(
                f,
                "the base pose has {have} transforms for {want} bones, or numbers that are not finite; the rest pose was used"
            ),
        }
    }
}

/// What every body of VRM's humanoid has.
pub(super) const REQUIRED: [HumanBone; 15] = [
    HumanBone::Hips,
    HumanBone::Spine,
    HumanBone::Head,
    HumanBone::LeftUpperArm,
    HumanBone::LeftLowerArm,
    HumanBone::LeftHand,
    HumanBone::RightUpperArm,
    HumanBone::RightLowerArm,
    HumanBone::RightHand,
    HumanBone::LeftUpperLeg,
    HumanBone::LeftLowerLeg,
    HumanBone::LeftFoot,
    HumanBone::RightUpperLeg,
    HumanBone::RightLowerLeg,
    HumanBone::RightFoot,
];

/// What most bodies have besides.
const USUAL: [HumanBone; 5] = [
    HumanBone::Neck,
    HumanBone::LeftShoulder,
    HumanBone::RightShoulder,
    HumanBone::LeftToes,
    HumanBone::RightToes,
];

/// What a bone found by its place counts, beside one found by name.
const GUESSED: f32 = 0.75;
/// What each limb whose names contradict its place costs.
const DISAGREES: f32 = 0.05;

/// 0..=1: 0.85 for the bones every body has, 0.1 for those most have, 0.05 for a front that something tells.
pub(super) fn score(has: impl Fn(HumanBone) -> bool, reasons: &[Reason]) -> f32 {
    let is_guessed = |bone: HumanBone| {
        reasons.iter().any(|r| match r {
            Reason::Guessed { bones } => bones.iter().any(|(b, _)| *b == bone),
            _ => false,
        })
    };
    let share = |bones: &[HumanBone]| {
        let worth = |bone: &HumanBone| match (has(*bone), is_guessed(*bone)) {
            (true, false) => 1.0,
            (true, true) => GUESSED,
            (false, _) => 0.0,
        };
        bones.iter().map(worth).sum::<f32>() / bones.len() as f32
    };
    let front = reasons
        .iter()
        .any(|r| matches!(r, Reason::Front { by, .. } if *by != Front::Assumed));
    let disagreeing = reasons
        .iter()
        .filter(|r| matches!(r, Reason::SideDisagrees { .. } | Reason::SideGuessed { .. }))
        .count();
    let front = if front { 0.05 } else { 0.0 };
    let sum = 0.85 * share(&REQUIRED) + 0.1 * share(&USUAL) + front;
    (sum - DISAGREES * disagreeing as f32).clamp(0.0, 1.0)
}
