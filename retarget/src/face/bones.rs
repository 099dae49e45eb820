//! Driven bones: jaw, eyes, head, neck and tongue from curves, with limits.
//!
//! A bone turns and moves from its rest, along the axes of the house frame as they stand in its parent at rest:
//! where the joints of a character have identity rotations at rest, an output is what the bone's own rotation is
//! multiplied with; elsewhere [`bent`] takes it into the axes of the parent.
//!
//! ```text
//! turned = Y(about_y) · X(about_x) · Z(about_z)     roll first, yaw last, as in FaceRig
//!   about X +: down and, for a jaw, open     about Y +: to the subject's left     about Z +: to its right shoulder
//! ```

use glam::{Quat, Vec3};
use hub::{MAX_NAME_BYTES, Transform};
use serde::{Deserialize, Serialize};

use super::{
    map::{Binder, Operand, Term, Terms, TermsOf, check_terms, tame},
    names::curve_key,
    sets::SetId,
};
use crate::math;

/// Most driven bones.
const MAX_DRIVEN: usize = 256;
/// Yaw of an eye for one unit of look out less look in, radians. Measured from takes of a phone: 0.606 and 0.633.
pub(super) const LOOK_YAW_RAD: f32 = 0.61;
/// Pitch of an eye for one unit of look down less look up, radians. Measured from takes of a phone: 0.525 and 0.478.
pub(super) const LOOK_PITCH_RAD: f32 = 0.5;

/// One axis: a sum of curves within limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DriveAsset {
    /// Least and greatest, radians or metres. Default 0 and 0: it never moves.
    pub limits: [f32; 2],
    /// Its terms, radians or metres per unit of the curve.
    pub sum: Vec<Term>,
}

impl DriveAsset {
    fn new(limits: [f32; 2], sum: Vec<Term>) -> Self {
        Self { limits, sum }
    }
}

/// The part of a turn that the bone below makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LowerShare {
    /// Its name: the neck's, for a head.
    pub bone: String,
    /// 0 to 1; both turn about the same axis.
    pub share: f32,
}

/// One bone that curves move.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BoneAsset {
    /// The bone's name, as the one who applies it understands it; the ready ones use VRM 1.0's and `tongue`.
    pub bone: String,
    /// Turn about +X, radians: + is down.
    pub about_x: DriveAsset,
    /// Turn about +Y, radians: + is to the subject's left.
    pub about_y: DriveAsset,
    /// Turn about +Z, radians: + tips to the subject's right shoulder.
    pub about_z: DriveAsset,
    /// Travel along +X, metres: the subject's left.
    pub along_x: DriveAsset,
    /// Travel along +Y, metres: up.
    pub along_y: DriveAsset,
    /// Travel along +Z, metres: forward.
    pub along_z: DriveAsset,
    /// The bone below that shares the turn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lower: Option<LowerShare>,
}

/// By which curves the ready eyes turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EyeDrive {
    /// The rotations of Live Link Face.
    #[default]
    Rotations,
    /// EyeLookIn, Out, Up and Down: for sources without rotations.
    Looks,
}

/// Neck and head, both eyes, jaw and tongue from the curves of Live Link Face.
///
/// Head and eyes turn as in [`FaceRig`](crate::FaceRig), and as far. A full jaw opens by 0.4 rad (23°), a choice;
/// with jawLeft and jawRight it turns by 0.1 rad, with jawForward it travels 6 mm. The tongue travels 20 mm.
pub fn ready_bones(eyes: EyeDrive) -> Vec<BoneAsset> {
    let both = |limit: f32| [-limit, limit];
    let angle = |curve: &str, sign: f32, limit_deg: f32| {
        DriveAsset::new(
            both(limit_deg.to_radians()),
            vec![Term::scaled(curve, sign)],
        )
    };
    let mut out = vec![BoneAsset {
        bone: "head".to_owned(),
        about_y: angle("HeadYaw", -1.0, 80.0),
        about_x: angle("HeadPitch", 1.0, 60.0),
        about_z: angle("HeadRoll", -1.0, 45.0),
        lower: Some(LowerShare {
            bone: "neck".to_owned(),
            share: 0.4,
        }),
        ..BoneAsset::default()
    }];
    // Out is to the left for the left eye, and to the right for the right one.
    for (bone, side, outward) in [("leftEye", "Left", 1.0), ("rightEye", "Right", -1.0)] {
        let (about_y, about_x) = match eyes {
            EyeDrive::Rotations => (
                angle(&format!("{side}EyeYaw"), -1.0, 40.0),
                angle(&format!("{side}EyePitch"), 1.0, 35.0),
            ),
            EyeDrive::Looks => {
                let look =
                    |way: &str, gain: f32| Term::scaled(&format!("EyeLook{way}{side}"), gain);
                let yaw = outward * LOOK_YAW_RAD;
                (
                    DriveAsset::new(
                        both(40_f32.to_radians()),
                        vec![look("Out", yaw), look("In", -yaw)],
                    ),
                    DriveAsset::new(
                        both(35_f32.to_radians()),
                        vec![look("Down", LOOK_PITCH_RAD), look("Up", -LOOK_PITCH_RAD)],
                    ),
                )
            }
        };
        out.push(BoneAsset {
            bone: bone.to_owned(),
            about_x,
            about_y,
            ..BoneAsset::default()
        });
    }
    out.push(BoneAsset {
        bone: "jaw".to_owned(),
        about_x: DriveAsset::new([-0.02, 0.45], vec![Term::scaled("JawOpen", 0.4)]),
        about_y: DriveAsset::new(
            both(0.12),
            vec![Term::scaled("JawLeft", 0.1), Term::scaled("JawRight", -0.1)],
        ),
        along_z: DriveAsset::new([0.0, 0.008], vec![Term::scaled("JawForward", 0.006)]),
        ..BoneAsset::default()
    });
    out.push(BoneAsset {
        bone: "tongue".to_owned(),
        about_x: DriveAsset::new([0.0, 0.3], vec![Term::scaled("TongueOut", 0.2)]),
        along_z: DriveAsset::new([0.0, 0.03], vec![Term::scaled("TongueOut", 0.02)]),
        ..BoneAsset::default()
    });
    out
}

/// An output in the axes of a bone's parent, on top of its rest: what to write as the bone's `parent_from_local`.
///
/// - `driven`: the output, in house axes;
/// - `house_from_parent`: the parent's rotation at rest in the model, turned into the house frame;
/// - `rest`: the bone's `parent_from_local` at rest.
///
/// So both eyes look left when told to, whatever their axes are.
pub fn bent(driven: &Transform, house_from_parent: Quat, rest: &Transform) -> Transform {
    let parent_from_house = math::unit(house_from_parent).conjugate();
    let turn = parent_from_house * driven.rotation * parent_from_house.conjugate();
    Transform {
        translation: rest.translation + parent_from_house * driven.translation,
        rotation: math::unit(turn * rest.rotation),
        scale: rest.scale,
    }
}

#[derive(Clone, Debug)]
struct Axis {
    terms: TermsOf,
    limits: [f32; 2],
}

#[derive(Clone, Debug)]
struct Driven {
    /// About X, Y, Z; along X, Y, Z.
    axes: [Axis; 6],
    /// Place of the bone below, and its share.
    lower: Option<(usize, f32)>,
}

/// Driven bones bound to the curves of a source. Built once, evaluated each frame.
///
/// The bones belong to the face: what moves the body leaves [`FaceBones::names`] alone, so that no body clip holds
/// the mouth open.
#[derive(Clone, Debug)]
pub struct FaceBones {
    names: Vec<String>,
    terms: Terms,
    driven: Vec<Driven>,
    absent_sources: Vec<String>,
}

impl FaceBones {
    /// Binds by name, in any spelling. Terms whose curve is known to Live Link Face and not sent stay at 0.
    ///
    /// # Errors
    /// All that is wrong at once: numbers, limits and shares out of range, unknown curves, bones told twice.
    pub fn build(assets: &[BoneAsset], source_names: &[&str]) -> Result<Self, Vec<String>> {
        if assets.len() > MAX_DRIVEN {
            return Err(vec![format!(
                "{} driven bones are more than {MAX_DRIVEN}",
                assets.len()
            )]);
        }
        let mut faults = Vec::new();
        let mut names: Vec<String> = Vec::new();
        for asset in assets {
            let lower = asset.lower.as_ref().map(|lower| &lower.bone);
            for name in std::iter::once(&asset.bone).chain(lower) {
                if name.is_empty() || name.len() > MAX_NAME_BYTES {
                    faults.push(format!("a bone's name of {} bytes", name.len()));
                }
            }
            if names.contains(&asset.bone) {
                faults.push(format!("bone {} is told twice", asset.bone));
            }
            names.push(asset.bone.clone());
        }
        let mut binder = Binder::new("source", source_names, Some(SetId::LiveLinkFace));
        let mut terms = Terms::default();
        let mut driven = Vec::with_capacity(assets.len());
        for asset in assets {
            let axes = [
                ("about_x", &asset.about_x),
                ("about_y", &asset.about_y),
                ("about_z", &asset.about_z),
                ("along_x", &asset.along_x),
                ("along_y", &asset.along_y),
                ("along_z", &asset.along_z),
            ]
            .map(|(key, drive)| {
                let what = format!("{key} of {}", asset.bone);
                check_terms(&what, &drive.sum, &mut faults);
                let [low, high] = drive.limits;
                let is_range = low.is_finite() && high.is_finite() && low <= high;
                if !is_range {
                    faults.push(format!("{what}: limits {low} to {high}"));
                }
                let mut bound: Vec<(&Term, Operand)> = Vec::with_capacity(drive.sum.len());
                for term in &drive.sum {
                    if let Some(place) = binder.find(&term.from, &mut faults).first() {
                        bound.push((term, Operand::Source(*place)));
                    }
                }
                Axis {
                    terms: terms.add(bound.into_iter()),
                    limits: if is_range { drive.limits } else { [0.0; 2] },
                }
            });
            let lower = asset.lower.as_ref().map(|lower| {
                if !(0.0..=1.0).contains(&lower.share) {
                    faults.push(format!(
                        "share {} of {} is not 0 to 1",
                        lower.share, lower.bone
                    ));
                }
                let at = names.iter().position(|name| *name == lower.bone);
                let at = at.unwrap_or_else(|| {
                    names.push(lower.bone.clone());
                    names.len() - 1
                });
                if at < assets.len() {
                    faults.push(format!("{} shares a turn and has its own", lower.bone));
                }
                (at, lower.share)
            });
            driven.push(Driven { axes, lower });
        }
        if !faults.is_empty() {
            return Err(faults);
        }
        Ok(Self {
            names,
            terms,
            driven,
            absent_sources: binder.absent(),
        })
    }

    /// Names of the bones, in the order of the outputs. The body does not write these.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Place of a bone of that name among the outputs, in any case.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        let key = curve_key(name);
        self.names.iter().position(|name| curve_key(name) == key)
    }

    /// Curves that are asked for and not sent.
    pub fn absent_sources(&self) -> &[String] {
        &self.absent_sources
    }

    /// The bones' turns and travels from rest, in house axes. Does not allocate.
    ///
    /// - `source`: one value per source name; what is missing or no number counts as 0.
    /// - `weight`: 0 leaves all at rest, 1 is all.
    /// - `out`: one per [name](Self::names), all written; unit rotations, scale 1.
    pub fn evaluate(&self, source: &[f32], weight: f32, out: &mut [Transform]) {
        let weight = tame(weight).clamp(0.0, 1.0);
        out.fill(Transform::IDENTITY);
        for (at, driven) in self.driven.iter().enumerate() {
            let [x, y, z, left, up, forward] = driven.axes.each_ref().map(|axis| {
                let sum: f32 = self.terms.values(axis.terms, source, &[]).sum();
                sum.clamp(axis.limits[0], axis.limits[1]) * weight
            });
            let turned =
                Quat::from_rotation_y(y) * Quat::from_rotation_x(x) * Quat::from_rotation_z(z);
            let mut own = math::unit(turned);
            if let Some((lower, share)) = driven.lower
                && let Some(below) = out.get_mut(lower)
            {
                let part = math::scaled(own, share);
                // Several bones may rest on one: their shares follow each other.
                below.rotation = math::unit(below.rotation * part);
                own = math::unit(part.conjugate() * own);
            }
            if let Some(bone) = out.get_mut(at) {
                *bone = Transform::new(Vec3::new(left, up, forward), own);
            }
        }
    }
}

#[cfg(test)]
mod tests;
