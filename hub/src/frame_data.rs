//! What is sent each tick: transforms, role values, curve values, and when they were true.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use crate::{
    error::Refusal,
    role::Role,
    static_data::StaticData,
    time::{SourceTime, WorldTime},
    timecode::QualifiedFrameTime,
};

/// A rigid transform with scale, `parent_from_local`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transform {
    /// Metres.
    pub translation: Vec3,
    /// Unit quaternion x, y, z, w.
    pub rotation: Quat,
    /// Factor per axis.
    pub scale: Vec3,
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Transform {
    /// No motion.
    pub const IDENTITY: Self = Self {
        translation: Vec3::ZERO,
        rotation: Quat::IDENTITY,
        scale: Vec3::ONE,
    };

    /// Rotation and translation without scale.
    pub const fn new(translation: Vec3, rotation: Quat) -> Self {
        Self {
            translation,
            rotation,
            scale: Vec3::ONE,
        }
    }

    /// Whether all numbers are finite and the rotation is near unit length.
    pub fn is_rigid(&self) -> bool {
        self.translation.is_finite()
            && self.scale.is_finite()
            && self.rotation.is_finite()
            && (0.25..=4.0).contains(&self.rotation.length_squared())
    }

    /// This transform after `local`: `parent_from_local * local_from_child`.
    pub fn mul(&self, local: &Self) -> Self {
        Self {
            translation: self.translation + self.rotation * (self.scale * local.translation),
            rotation: self.rotation * local.rotation,
            scale: self.scale * local.scale,
        }
    }
}

/// A camera's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CameraFrame {
    /// Where it stands; looks along its own −Z, +Y up, as in glTF.
    pub transform: Transform,
    /// Horizontal field of view in radians, if measured.
    pub field_of_view_rad: Option<f32>,
    /// Width over height, if measured.
    pub aspect_ratio: Option<f32>,
    /// Millimetres, if measured.
    pub focal_length_mm: Option<f32>,
    /// f-number, if measured.
    pub aperture: Option<f32>,
    /// Metres, if measured.
    pub focus_distance_m: Option<f32>,
}

impl CameraFrame {
    /// The lens values in wire order.
    pub fn lens(&self) -> [Option<f32>; 5] {
        [
            self.field_of_view_rad,
            self.aspect_ratio,
            self.focal_length_mm,
            self.aperture,
            self.focus_distance_m,
        ]
    }

    /// A camera from its transform and lens values in wire order.
    pub fn from_lens(transform: Transform, lens: [Option<f32>; 5]) -> Self {
        let [
            field_of_view_rad,
            aspect_ratio,
            focal_length_mm,
            aperture,
            focus_distance_m,
        ] = lens;
        Self {
            transform,
            field_of_view_rad,
            aspect_ratio,
            focal_length_mm,
            aperture,
            focus_distance_m,
        }
    }
}

/// A light's values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LightFrame {
    /// Where it stands; shines along its own −Z.
    pub transform: Transform,
    /// Linear RGB, if given.
    pub color: Option<[f32; 3]>,
    /// In the unit of [`crate::LightStatic`], if given.
    pub intensity: Option<f32>,
    /// Kelvin, if given.
    pub temperature_k: Option<f32>,
    /// Half angles of inner and outer cone in radians, for spots.
    pub cone_rad: Option<[f32; 2]>,
}

impl LightFrame {
    /// All values in wire order: red, green, blue, intensity, temperature, inner, outer.
    pub fn emission(&self) -> [Option<f32>; 7] {
        let [r, g, b] = self.color.map_or([None; 3], |c| c.map(Some));
        let [inner, outer] = self.cone_rad.map_or([None; 2], |c| c.map(Some));
        [r, g, b, self.intensity, self.temperature_k, inner, outer]
    }

    /// A light from its transform and values in wire order.
    pub fn from_emission(transform: Transform, values: [Option<f32>; 7]) -> Self {
        let [r, g, b, intensity, temperature_k, inner, outer] = values;
        Self {
            transform,
            color: r.zip(g).zip(b).map(|((r, g), b)| [r, g, b]),
            intensity,
            temperature_k,
            cone_rad: inner.zip(outer).map(|(i, o)| [i, o]),
        }
    }
}

/// The role's own part of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum FrameBody {
    /// Curves only.
    #[default]
    Basic,
    /// One `parent_from_local` per bone, in the order of the skeleton.
    Animation(Vec<Transform>),
    /// One transform.
    Transform(Transform),
    /// A camera.
    Camera(CameraFrame),
    /// A light.
    Light(LightFrame),
}

/// The values of one tick.
#[derive(Debug, Default, PartialEq)]
pub struct FrameData {
    /// The role's part.
    pub body: FrameBody,
    /// One value per property, in the order of the static data.
    pub properties: Vec<f32>,
}

impl Clone for FrameData {
    fn clone(&self) -> Self {
        Self {
            body: self.body.clone(),
            properties: self.properties.clone(),
        }
    }

    /// Copies into the memory already held, so that a recycled frame does not allocate.
    fn clone_from(&mut self, source: &Self) {
        match (&mut self.body, &source.body) {
            (FrameBody::Animation(mine), FrameBody::Animation(theirs)) => mine.clone_from(theirs),
            (mine, theirs) => *mine = theirs.clone(),
        }
        self.properties.clone_from(&source.properties);
    }
}

impl FrameData {
    /// Curves only.
    pub fn basic(properties: Vec<f32>) -> Self {
        Self {
            body: FrameBody::Basic,
            properties,
        }
    }

    /// The role this frame is of.
    pub fn role(&self) -> Role {
        match self.body {
            FrameBody::Basic => Role::Basic,
            FrameBody::Animation(_) => Role::Animation,
            FrameBody::Transform(_) => Role::Transform,
            FrameBody::Camera(_) => Role::Camera,
            FrameBody::Light(_) => Role::Light,
        }
    }

    /// The transforms: one per bone, one, or none.
    pub fn transforms(&self) -> &[Transform] {
        match &self.body {
            FrameBody::Basic => &[],
            FrameBody::Animation(bones) => bones,
            FrameBody::Transform(t) => std::slice::from_ref(t),
            FrameBody::Camera(c) => std::slice::from_ref(&c.transform),
            FrameBody::Light(l) => std::slice::from_ref(&l.transform),
        }
    }

    /// The transforms, to change.
    pub fn transforms_mut(&mut self) -> &mut [Transform] {
        match &mut self.body {
            FrameBody::Basic => &mut [],
            FrameBody::Animation(bones) => bones,
            FrameBody::Transform(t) => std::slice::from_mut(t),
            FrameBody::Camera(c) => std::slice::from_mut(&mut c.transform),
            FrameBody::Light(l) => std::slice::from_mut(&mut l.transform),
        }
    }

    /// Whether this frame fits the static data and holds only finite numbers and real rotations.
    ///
    /// # Errors
    /// The first reason not to take it.
    pub fn check(&self, of: &StaticData) -> Result<(), Refusal> {
        if self.role() != of.role() {
            return Err(Refusal::WrongRole {
                want: of.role(),
                have: self.role(),
            });
        }
        let transforms = self.transforms();
        for (what, want, have) in [
            ("transforms", of.num_transforms(), transforms.len()),
            ("properties", of.properties.len(), self.properties.len()),
        ] {
            if want != have {
                return Err(Refusal::WrongLength {
                    what,
                    want: want as u32,
                    have: have as u32,
                });
            }
        }
        for (at, t) in transforms.iter().enumerate() {
            if !(t.translation.is_finite() && t.rotation.is_finite() && t.scale.is_finite()) {
                return Err(Refusal::NonFinite { at: at as u32 });
            }
            if !(0.25..=4.0).contains(&t.rotation.length_squared()) {
                return Err(Refusal::BadRotation { at: at as u32 });
            }
        }
        let finite = |values: &[Option<f32>]| values.iter().flatten().all(|v| v.is_finite());
        let role_values_finite = match &self.body {
            FrameBody::Camera(c) => finite(&c.lens()),
            FrameBody::Light(l) => finite(&l.emission()),
            _ => true,
        };
        if !role_values_finite {
            return Err(Refusal::NonFinite {
                at: transforms.len() as u32,
            });
        }
        if !all_finite(&self.properties) {
            let at = self.properties.iter().position(|v| !v.is_finite());
            return Err(Refusal::NonFinite {
                at: (transforms.len() + at.unwrap_or(0)) as u32,
            });
        }
        Ok(())
    }
}

/// Whether no value is NaN or infinite. Looks at exponent bits only, so that it vectorises.
pub(crate) fn all_finite(values: &[f32]) -> bool {
    const EXPONENT: u32 = 0x7f80_0000;
    !values
        .iter()
        .fold(false, |bad, v| bad | (v.to_bits() & EXPONENT == EXPONENT))
}

/// Whether the source saw what it tracks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tracking {
    /// The values were measured.
    #[default]
    Tracked,
    /// The source runs but sees nothing; values are absent or held by the source.
    Lost,
}

/// When and how a frame came.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameMeta {
    /// The source's timecode, if it sends one.
    pub timecode: Option<QualifiedFrameTime>,
    /// The source's own clock, if it sends one.
    pub source_time: Option<SourceTime>,
    /// The source's packet counter, if it sends one; makes losses exact.
    pub sequence: Option<u64>,
    /// When the hub received it.
    pub arrival: WorldTime,
    /// Tracked or lost.
    pub tracking: Tracking,
    /// Free key-values of the source; usually empty.
    pub extra: Vec<(String, String)>,
}

/// A frame with its times.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// When and how it came.
    pub meta: FrameMeta,
    /// The values.
    pub data: FrameData,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transform_chain_composes_like_matrices() {
        let a = Transform::new(Vec3::new(1.0, 2.0, 3.0), Quat::from_rotation_y(0.7));
        let b = Transform::new(Vec3::new(-0.5, 0.1, 4.0), Quat::from_rotation_x(-1.1));
        let point = Vec3::new(0.3, 0.4, 0.5);
        let matrix = |t: &Transform| {
            glam::Mat4::from_scale_rotation_translation(t.scale, t.rotation, t.translation)
        };
        let expected = (matrix(&a) * matrix(&b)).transform_point3(point);
        let ab = a.mul(&b);
        let found = ab.rotation * point + ab.translation;
        assert!((expected - found).length() < 1e-6, "{expected} {found}");
    }

    #[test]
    fn every_non_finite_value_is_found_wherever_it_stands() {
        let names: Vec<String> = (0..61).map(|i| format!("c{i}")).collect();
        let of = StaticData::basic(&names);
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            for at in 0..61 {
                let mut values = vec![f32::MAX; 61];
                values[at] = bad;
                assert_eq!(
                    FrameData::basic(values).check(&of),
                    Err(Refusal::NonFinite { at: at as u32 })
                );
            }
        }
        assert_eq!(FrameData::basic(vec![f32::MAX; 61]).check(&of), Ok(()));
    }
}
