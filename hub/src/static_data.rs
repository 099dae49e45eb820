//! What is sent on connect and on change: names, hierarchy, schema.

use serde::{Deserialize, Serialize};

use crate::{error::StaticFault, frame_data::Transform, role::Role, subject::MAX_NAME_BYTES};

/// Most bones of one subject.
pub const MAX_BONES: usize = 4096;
/// Most properties (curves) of one subject.
pub const MAX_PROPERTIES: usize = 4096;

/// How values between two frames are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blend {
    /// Weighted sum.
    #[default]
    Linear,
    /// The earlier frame's value until the later frame is reached: switches, indices.
    Step,
}

/// One named scalar (a curve).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Property {
    /// Unique within the subject.
    pub name: String,
    /// How to interpolate it.
    pub blend: Blend,
    /// False when the source announces the curve but cannot measure it, so that a merge takes it from elsewhere.
    pub measured: bool,
}

impl Property {
    /// A measured, linearly blended curve.
    pub fn linear(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            blend: Blend::Linear,
            measured: true,
        }
    }
}

/// Bones of an animation subject, parents before children.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Skeleton {
    /// One name per bone; need not be unique, but consumers bind by name.
    pub bone_names: Vec<String>,
    /// Index of each bone's parent, smaller than the bone's own; `None` for a root.
    pub parents: Vec<Option<u32>>,
    /// `parent_from_local` of each bone as bound; empty when the source does not tell.
    pub rest: Vec<Transform>,
}

impl Skeleton {
    /// Number of bones.
    pub fn num_bones(&self) -> usize {
        self.bone_names.len()
    }
}

/// What stays fixed about a camera.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CameraStatic {
    /// Width and height of the sensor in millimetres, when known.
    pub sensor_mm: Option<[f32; 2]>,
}

/// Unit of [`crate::LightFrame::intensity`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LightUnit {
    /// Nothing stated; 1 is "full".
    #[default]
    Unitless,
    /// Candela.
    Candela,
    /// Lumen.
    Lumen,
    /// Lux, for directional lights.
    Lux,
}

/// What stays fixed about a light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LightStatic {
    /// Unit of the intensity.
    pub unit: LightUnit,
}

/// The role's own part of static data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum StaticBody {
    /// Curves only.
    Basic,
    /// A skeleton.
    Animation(Skeleton),
    /// One transform.
    Transform,
    /// A camera.
    Camera(CameraStatic),
    /// A light.
    Light(LightStatic),
}

/// All that frames of a subject rely on. Frames carry values in the order of these names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StaticData {
    /// The role's part.
    pub body: StaticBody,
    /// Curves, in frame order.
    pub properties: Vec<Property>,
}

impl StaticData {
    /// Curves only, all linear and measured.
    pub fn basic<S: AsRef<str>>(names: &[S]) -> Self {
        Self {
            body: StaticBody::Basic,
            properties: names.iter().map(|n| Property::linear(n.as_ref())).collect(),
        }
    }

    /// A skeleton without curves.
    pub fn animation(skeleton: Skeleton) -> Self {
        Self {
            body: StaticBody::Animation(skeleton),
            properties: Vec::new(),
        }
    }

    /// The role this data is of.
    pub fn role(&self) -> Role {
        match self.body {
            StaticBody::Basic => Role::Basic,
            StaticBody::Animation(_) => Role::Animation,
            StaticBody::Transform => Role::Transform,
            StaticBody::Camera(_) => Role::Camera,
            StaticBody::Light(_) => Role::Light,
        }
    }

    /// The skeleton, if the role has one.
    pub fn skeleton(&self) -> Option<&Skeleton> {
        match &self.body {
            StaticBody::Animation(s) => Some(s),
            _ => None,
        }
    }

    /// Number of transforms in a frame: bones, 1, or 0 for basic data.
    pub fn num_transforms(&self) -> usize {
        match &self.body {
            StaticBody::Basic => 0,
            StaticBody::Animation(s) => s.num_bones(),
            _ => 1,
        }
    }

    /// Checks bounds, names and hierarchy.
    ///
    /// # Errors
    /// The first fault found.
    pub fn validate(&self) -> Result<(), StaticFault> {
        let bad =
            |n: &str| n.is_empty() || n.len() > MAX_NAME_BYTES || n.chars().any(char::is_control);
        let mut num_bones = 0;
        if let StaticBody::Animation(s) = &self.body {
            num_bones = s.num_bones();
            if num_bones > MAX_BONES {
                return Err(StaticFault::TooMany {
                    what: "bones",
                    limit: MAX_BONES,
                    have: num_bones,
                });
            }
            for (what, have, may_be_empty) in [
                ("parents", s.parents.len(), false),
                ("rest transforms", s.rest.len(), true),
            ] {
                if have != num_bones && !(may_be_empty && have == 0) {
                    return Err(StaticFault::WrongLength {
                        what,
                        bones: num_bones,
                        have,
                    });
                }
            }
            for (at, name) in s.bone_names.iter().enumerate() {
                if bad(name) {
                    return Err(StaticFault::BadName {
                        at,
                        limit: MAX_NAME_BYTES,
                    });
                }
            }
            for (bone, parent) in s.parents.iter().enumerate() {
                if let Some(parent) = *parent
                    && parent as usize >= bone
                {
                    return Err(StaticFault::ParentNotBefore {
                        bone,
                        parent: parent as usize,
                    });
                }
            }
            if let Some(bone) = s.rest.iter().position(|t| !t.is_rigid()) {
                return Err(StaticFault::BadRest { bone });
            }
        }
        if self.properties.len() > MAX_PROPERTIES {
            return Err(StaticFault::TooMany {
                what: "properties",
                limit: MAX_PROPERTIES,
                have: self.properties.len(),
            });
        }
        let mut seen = std::collections::HashMap::with_capacity(self.properties.len());
        for (second, p) in self.properties.iter().enumerate() {
            if bad(&p.name) {
                return Err(StaticFault::BadName {
                    at: num_bones + second,
                    limit: MAX_NAME_BYTES,
                });
            }
            if let Some(first) = seen.insert(p.name.as_str(), second) {
                return Err(StaticFault::DuplicateProperty { first, second });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn skeleton(parents: &[Option<u32>]) -> StaticData {
        StaticData::animation(Skeleton {
            bone_names: (0..parents.len()).map(|i| format!("b{i}")).collect(),
            parents: parents.to_vec(),
            rest: Vec::new(),
        })
    }

    #[test]
    fn a_parent_must_come_before_its_child() {
        assert_eq!(skeleton(&[None, Some(0), Some(0)]).validate(), Ok(()));
        for parents in [[None, Some(1)], [Some(0), None]] {
            assert!(matches!(
                skeleton(&parents).validate(),
                Err(StaticFault::ParentNotBefore { .. })
            ));
        }
    }

    #[test]
    fn duplicate_and_unprintable_names_are_refused() {
        assert_eq!(
            StaticData::basic(&["a", "b", "a"]).validate(),
            Err(StaticFault::DuplicateProperty {
                first: 0,
                second: 2
            })
        );
        assert!(StaticData::basic(&["a\0"]).validate().is_err());
        assert!(StaticData::basic(&["ジョー", "下巴"]).validate().is_ok());
    }
}
