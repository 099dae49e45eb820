//! Instances of meshes laid out for the deformer: which vertices, palettes and weights lie where.

use characters::{Character, Geometry, MeshInstance, Skinning};
use glam::Mat4;

use super::pack::{Level, MorphPlace, Packed, Source};
use crate::{
    culling::Bounds,
    deform::{Follow, GROUP_SIZE, JOINT_FLOATS, PART_WORDS},
    error::RenderError,
};

/// A primitive of one instance.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) node: usize,
    /// Its place in its mesh.
    pub(crate) primitive: usize,
    /// In [`super::ModelData::materials`].
    pub(crate) material: usize,
    /// In `statics`.
    pub(crate) first_static: u32,
    /// In the actor's deformed vertices.
    pub(crate) first_deformed: u32,
    pub(crate) num_vertices: u32,
    /// From fine to coarse, at least one.
    pub(crate) levels: Vec<Level>,
    /// In [`super::ModelData::palettes`].
    pub(crate) palette: usize,
    /// By joint of the palette: what it moves, in mesh space.
    pub(crate) reach: Vec<(usize, Bounds)>,
}

/// Matrices that move vertices: those of a skin, or one of a node.
#[derive(Debug)]
pub(crate) struct Palette {
    /// First float in the pose.
    pub(crate) first: usize,
    pub(crate) follow: Follow,
    /// Node and `joint_from_mesh` of each.
    pub(crate) joints: Vec<(usize, Mat4)>,
    /// The skin; `None` for a node.
    skin: Option<usize>,
}

/// Weights of one instance's morph targets.
#[derive(Debug)]
pub(crate) struct Morph {
    /// First float in the pose.
    pub(crate) first: usize,
    /// In the character's morph meshes; `None` when it has none for the node: then the defaults stay.
    pub(crate) source: Option<usize>,
    /// One per target.
    pub(crate) defaults: Vec<f32>,
}

/// Instances laid out for the deformer.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) parts: Vec<Part>,
    pub(super) palettes: Vec<Palette>,
    pub(super) morphs: Vec<Morph>,
    /// By part: its morph in `morphs`, and where its targets lie.
    morph_of_part: Vec<(Option<usize>, MorphPlace)>,
    pub(super) num_deformed: u32,
}

impl Plan {
    pub(super) fn instance(
        &mut self,
        character: &Character,
        geometry: &Geometry,
        packed: &Packed,
        instance: &MeshInstance,
        skinning: &[Skinning],
    ) -> Result<(), RenderError> {
        let (Some(sources), Some(mesh)) = (
            packed.meshes.get(instance.mesh),
            geometry.meshes.get(instance.mesh),
        ) else {
            return Ok(());
        };
        let palette = self.palette(character, geometry, instance, skinning)?;
        let is_rigid = instance.skin.is_none();
        let targets = mesh.primitives.iter().map(|part| part.targets.len());
        let num_targets = targets.max().unwrap_or(0).max(mesh.target_names.len());
        let morph = (num_targets > 0).then(|| {
            let mut defaults = mesh.weights.clone();
            defaults.resize(num_targets, 0.0);
            let shown = &character.morph_meshes;
            self.morphs.push(Morph {
                first: 0,
                source: shown.iter().position(|shown| shown.node == instance.node),
                defaults,
            });
            self.morphs.len() - 1
        });
        for (primitive, source) in sources.iter().enumerate() {
            let drawn = source.levels.first();
            if drawn.is_none_or(|level| level.indices.is_empty()) || source.num_vertices == 0 {
                continue;
            }
            let fallback = geometry.materials.len();
            let named = source.material.filter(|&material| material < fallback);
            self.parts.push(Part {
                node: instance.node,
                primitive,
                material: named.unwrap_or(fallback),
                first_static: source.first_vertex,
                first_deformed: self.num_deformed,
                num_vertices: source.num_vertices,
                levels: source.levels.clone(),
                palette,
                reach: reach(source, is_rigid),
            });
            self.morph_of_part.push((morph, source.morph));
            self.num_deformed = self.num_deformed.saturating_add(source.num_vertices);
        }
        Ok(())
    }

    /// The palette of an instance: instances of a skin share one.
    fn palette(
        &mut self,
        character: &Character,
        geometry: &Geometry,
        instance: &MeshInstance,
        skinning: &[Skinning],
    ) -> Result<usize, RenderError> {
        let follow = match (instance.skin, skinning.get(instance.mesh)) {
            (None, _) => Follow::Rigid,
            (Some(_), Some(Skinning::DualQuaternion)) => Follow::DualQuaternion,
            (Some(_), _) => Follow::Linear,
        };
        let same = |palette: &Palette| {
            instance.skin.is_some() && palette.skin == instance.skin && palette.follow == follow
        };
        if let Some(shared) = self.palettes.iter().position(same) {
            return Ok(shared);
        }
        let joints = match instance.skin.and_then(|skin| geometry.skins.get(skin)) {
            Some(skin) => {
                let inverse_bind = skin.inverse_bind.iter().copied();
                let inverse_bind = inverse_bind.chain(std::iter::repeat(Mat4::IDENTITY));
                skin.joints.iter().copied().zip(inverse_bind).collect()
            }
            None => vec![(instance.node, Mat4::IDENTITY)],
        };
        let count = character.nodes.len();
        if let Some(&(index, _)) = joints.iter().find(|(node, _)| *node >= count) {
            let what = "node";
            return Err(RenderError::IndexOutOfRange { what, index, count });
        }
        self.palettes.push(Palette {
            first: 0,
            follow,
            joints,
            skin: instance.skin,
        });
        Ok(self.palettes.len() - 1)
    }

    /// Gives palettes and weights their places in a pose. How many floats it has: a multiple of 4.
    pub(super) fn place(&mut self) -> usize {
        let mut next = JOINT_FLOATS;
        for palette in &mut self.palettes {
            palette.first = next;
            next += palette.joints.len() * JOINT_FLOATS;
        }
        for morph in &mut self.morphs {
            morph.first = next;
            next += morph.defaults.len();
        }
        next.next_multiple_of(4)
    }

    /// Records of the parts, and the part of each workgroup.
    pub(super) fn records(&self) -> (Vec<[u32; PART_WORDS]>, Vec<u32>) {
        let mut records = Vec::with_capacity(self.parts.len());
        let mut part_of_group = Vec::new();
        let parts = self.parts.iter().zip(&self.morph_of_part).zip(0_u32..);
        for ((part, (morph, place)), part_idx) in parts {
            let palette = self.palettes.get(part.palette);
            let (palette_first, follow) = palette.map_or((0, Follow::Rigid), |palette| {
                (palette.first, palette.follow)
            });
            let morph = morph.and_then(|morph| self.morphs.get(morph));
            records.push([
                part.first_static,
                part.first_deformed,
                part.num_vertices,
                part_of_group.len() as u32,
                (palette_first / 4) as u32,
                morph.map_or(0, |morph| morph.first as u32),
                follow as u32,
                place.stride,
                place.ranges,
                place.targets,
                place.deltas,
                0,
            ]);
            let num_groups = part.num_vertices.div_ceil(GROUP_SIZE) as usize;
            part_of_group.resize(part_of_group.len() + num_groups, part_idx);
        }
        (records, part_of_group)
    }
}

/// What each matrix of the palette moves; without a skin, the only one moves all.
fn reach(source: &Source, is_rigid: bool) -> Vec<(usize, Bounds)> {
    if !is_rigid {
        return source.reach.clone();
    }
    let boxes = source.reach.iter().map(|(_, bounds)| bounds);
    let all = boxes.fold(Bounds::EMPTY, |all, bounds| all.union(bounds));
    vec![(0, all)]
}
