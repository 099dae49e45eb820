//! MODELDEF: bytes → names and skeletons.
//!
//! i32 count, then for each i32 type (from 4.1 i32 bytes) and body:
//!
//! | type | body |
//! |---|---|
//! | 0 marker set | name, i32 n, n names |
//! | 1 rigid body | name, i32 id, i32 parent, 3 f32 offset; from 4.2 4 f32; from 3.0 i32 n, n × 3 f32, n × i32, from 4.0 n names |
//! | 2 skeleton | name, i32 id, i32 n, n rigid bodies |
//! | 3 force plate | i32 id, serial, 2 f32, 3 f32, 144 f32, 12 f32, i32, i32, i32 n, n names |
//! | 4 device | i32 id, name, serial, i32, i32, i32 n, n names |
//! | 5 camera | name, 3 f32, 4 f32 |
//!
//! Types 0 and 1 were checked against a capture of 3.0; the others come from independent readers. What stands
//! after a type not known is passed over: by its size, or, before 4.1, all of it.

use glam::{Quat, Vec3};
use hub::{Skeleton, StaticData, SubjectName, Transform};

use super::{
    convert::{self, UpAxis},
    frame::{MAX_BODIES, MAX_BONES, MAX_SKELETONS},
    packet::{Version, count, i32_le, name, quat, vec3},
};
use crate::{error::Reject, pose::unit, reader::Reader};

const MAX_MODELS: usize = 4096;
const MAX_MARKERS: usize = 4096;

/// A skeleton's definition.
#[derive(Debug, PartialEq)]
pub(super) struct SkeletonModel {
    pub(super) id: i32,
    pub(super) name: SubjectName,
    /// Low 16 bits of the id of each bone, in the order of the skeleton.
    pub(super) bone_ids: Vec<u16>,
    pub(super) statics: StaticData,
}

/// What a server told of its rigid bodies and skeletons.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Models {
    pub(super) bodies: Vec<(i32, SubjectName)>,
    pub(super) skeletons: Vec<SkeletonModel>,
}

struct Bone<'a> {
    name: &'a [u8],
    id: i32,
    parent: i32,
    offset: Vec3,
    rotation: Quat,
}

impl Models {
    /// Reads a payload.
    ///
    /// # Errors
    /// Cut short, or a count that cannot be.
    pub(super) fn read(payload: &[u8], version: Version, up: UpAxis) -> Result<Self, Reject> {
        let mut r = Reader::new(payload);
        let mut models = Self::default();
        for _ in 0..count(&mut r, "model definitions", 4, MAX_MODELS)? {
            let kind = i32_le(&mut r)?;
            if version.is_at_least(4, 1) {
                let bytes = count(&mut r, "bytes of a definition", 1, usize::MAX)?;
                let mut inner = Reader::new(r.take(bytes)?);
                models.definition(&mut inner, kind, version, up)?;
            } else if !models.definition(&mut r, kind, version, up)? {
                break;
            }
        }
        Ok(models)
    }

    /// Reads one; false when its type is not known.
    fn definition(
        &mut self,
        r: &mut Reader<'_>,
        kind: i32,
        version: Version,
        up: UpAxis,
    ) -> Result<bool, Reject> {
        match kind {
            0 => {
                name(r)?;
                names(r)?;
            }
            1 => {
                let body = bone(r, version)?;
                if let Some(name) = SubjectName::from_wire(body.name)
                    && self.bodies.len() < MAX_BODIES
                {
                    self.bodies.push((body.id, name));
                }
            }
            2 => {
                let called = name(r)?;
                let id = i32_le(r)?;
                let mut bones = Vec::new();
                for _ in 0..count(r, "bones of a definition", 21, MAX_BONES)? {
                    bones.push(bone(r, version)?);
                }
                if let Some(name) = SubjectName::from_wire(called)
                    && self.skeletons.len() < MAX_SKELETONS
                {
                    self.skeletons.push(skeleton(id, name, &bones, up));
                }
            }
            3 => {
                i32_le(r)?;
                name(r)?;
                r.take(4 * (2 + 3 + 144 + 12) + 8)?;
                names(r)?;
            }
            4 => {
                i32_le(r)?;
                name(r)?;
                name(r)?;
                r.take(8)?;
                names(r)?;
            }
            5 => {
                name(r)?;
                r.take(28)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }
}

fn names(r: &mut Reader<'_>) -> Result<(), Reject> {
    for _ in 0..count(r, "names", 1, MAX_MARKERS)? {
        name(r)?;
    }
    Ok(())
}

fn bone<'a>(r: &mut Reader<'a>, version: Version) -> Result<Bone<'a>, Reject> {
    let called = name(r)?;
    let id = i32_le(r)?;
    let parent = i32_le(r)?;
    let offset = vec3(r)?;
    let rotation = if version.is_at_least(4, 2) {
        quat(r)?
    } else {
        Quat::IDENTITY
    };
    if version.is_at_least(3, 0) {
        let markers = count(r, "markers of a definition", 16, MAX_MARKERS)?;
        r.take(markers * 16)?;
        if version.is_at_least(4, 0) {
            for _ in 0..markers {
                name(r)?;
            }
        }
    }
    Ok(Bone {
        name: called,
        id,
        parent,
        offset,
        rotation,
    })
}

/// Parents before children; a bone whose parent is not among the others is a root.
fn skeleton(id: i32, name: SubjectName, bones: &[Bone<'_>], up: UpAxis) -> SkeletonModel {
    let index_of = |id: i32| bones.iter().position(|b| b.id == id);
    let parents: Vec<Option<usize>> = bones.iter().map(|b| index_of(b.parent)).collect();
    let mut order: Vec<usize> = Vec::with_capacity(bones.len());
    let mut places = vec![None; bones.len()];
    loop {
        let before = order.len();
        for (i, parent) in parents.iter().enumerate() {
            let is_next = parent.is_none_or(|p| p == i || places[p].is_some());
            if places[i].is_none() && is_next {
                places[i] = Some(order.len() as u32);
                order.push(i);
            }
        }
        if order.len() == before {
            // All are placed, or the rest runs in a circle, which one bone more breaks.
            let Some(left) = places.iter().position(Option::is_none) else {
                break;
            };
            places[left] = Some(order.len() as u32);
            order.push(left);
        }
    }
    let mut model = SkeletonModel {
        id,
        name,
        bone_ids: Vec::new(),
        statics: StaticData::animation(Skeleton::default()),
    };
    let mut skeleton = Skeleton::default();
    for (place, i) in order.iter().enumerate() {
        let bone = &bones[*i];
        let name = SubjectName::from_wire(bone.name);
        let name = name.map_or_else(|| format!("bone {}", bone.id), |n| n.to_string());
        let before = |p: &u32| (*p as usize) < place;
        let offset = Some(bone.offset).filter(|o| o.is_finite());
        let rotation = unit(convert::rotation(bone.rotation, up));
        skeleton.bone_names.push(name);
        skeleton
            .parents
            .push(parents[*i].and_then(|p| places[p]).filter(before));
        skeleton.rest.push(Transform::new(
            convert::point(offset.unwrap_or_default(), up),
            rotation.unwrap_or(Quat::IDENTITY),
        ));
        model.bone_ids.push(bone.id as u16);
    }
    model.statics = StaticData::animation(skeleton);
    model
}
