//! What is drawn, in which order, at which level of detail.

use std::cmp::Ordering;

use crate::{
    actor::Actor,
    culling::Frustum,
    deform::DEFORMED_BYTES,
    lod,
    model::Part,
    scene::Scene,
    shading::{Stage, SurfaceMaterial},
};

/// Bytes of a vertex that does not move.
const STATIC_BYTES: u64 = 32;

/// One call.
#[derive(Clone, Copy, Debug)]
struct Draw {
    actor: usize,
    part: usize,
    level: usize,
    /// Whether the camera sees it; shadows are cast by all.
    in_view: bool,
    /// Equal for equal pipelines.
    rank: u32,
    queue: i32,
    /// From the camera to the middle, in metres.
    distance: f32,
}

/// The calls of a frame. Keeps its memory from frame to frame.
#[derive(Debug, Default)]
pub(crate) struct Draws {
    /// By pipeline, then front to back.
    solid: Vec<Draw>,
    /// By queue, then back to front.
    blended: Vec<Draw>,
}

/// A draw with all it refers to.
struct Call<'a> {
    actor: &'a Actor,
    part: &'a Part,
    material: &'a SurfaceMaterial,
    level: usize,
}

impl Draws {
    /// Lists what a scene shows in a picture `height` pixels high; coarser levels where their error is at most
    /// `most_pixels`.
    pub(crate) fn list(&mut self, scene: &Scene<'_>, aspect: f32, height: f32, most_pixels: f32) {
        self.solid.clear();
        self.blended.clear();
        let frustum = Frustum::new(&scene.camera.clip_from_world(aspect));
        let eye = scene.camera.position();
        for (actor_idx, actor) in scene.actors.iter().enumerate() {
            if !actor.is_shown() {
                continue;
            }
            let model = actor.data();
            // One level for all parts of an actor: no part of it gives way before another.
            let whole = actor.bounds();
            let nearest = whole.center().distance(eye) - whole.radius();
            let pixels_per_metre = scene.camera.pixels_per_metre(nearest, height);
            for (part_idx, part) in model.parts.iter().enumerate() {
                let Some(bounds) = actor.visible_part(part_idx) else {
                    continue;
                };
                let Some(material) = model.materials.get(part.material) else {
                    continue;
                };
                let cells = part.levels.iter().skip(1).map(|level| level.cell_m);
                let draw = Draw {
                    actor: actor_idx,
                    part: part_idx,
                    level: lod::choose(cells, pixels_per_metre, most_pixels),
                    in_view: frustum.sees(bounds),
                    rank: rank(material),
                    queue: material.queue,
                    distance: bounds.center().distance(eye),
                };
                if material.is_blended() {
                    self.blended.push(draw);
                } else {
                    self.solid.push(draw);
                }
            }
        }
        self.solid.sort_unstable_by(|a, b| {
            let by_distance = a.distance.total_cmp(&b.distance);
            a.rank.cmp(&b.rank).then(by_distance).then(in_order(a, b))
        });
        self.blended.sort_unstable_by(|a, b| {
            let by_distance = b.distance.total_cmp(&a.distance);
            a.queue.cmp(&b.queue).then(by_distance).then(in_order(a, b))
        });
    }

    /// Depth of all that casts a shadow.
    pub(crate) fn shadows(
        &self,
        pass: &mut wgpu::RenderPass<'_>,
        scene: &Scene<'_>,
        stage: &Stage,
    ) {
        for call in calls(&self.solid, scene).chain(calls(&self.blended, scene)) {
            pass.set_pipeline(stage.caster(call.material));
            pass.set_bind_group(1, &call.material.group, &[]);
            call.draw(pass);
        }
    }

    /// Opaque and masked surfaces, then their outlines.
    pub(crate) fn solids(&self, pass: &mut wgpu::RenderPass<'_>, scene: &Scene<'_>, stage: &Stage) {
        let mut rank = None;
        for (draw, call) in seen(&self.solid, scene) {
            if rank != Some(draw.rank) {
                let Some(pipeline) = stage.surface(call.material) else {
                    continue;
                };
                pass.set_pipeline(pipeline);
                rank = Some(draw.rank);
            }
            pass.set_bind_group(1, &call.material.group, &[]);
            call.draw(pass);
        }
        for (_, call) in seen(&self.solid, scene) {
            call.outline(pass, stage);
        }
    }

    /// Blended surfaces, each with its outline.
    pub(crate) fn blends(&self, pass: &mut wgpu::RenderPass<'_>, scene: &Scene<'_>, stage: &Stage) {
        for (_, call) in seen(&self.blended, scene) {
            if let Some(pipeline) = stage.surface(call.material) {
                pass.set_pipeline(pipeline);
                pass.set_bind_group(1, &call.material.group, &[]);
                call.draw(pass);
                call.outline(pass, stage);
            }
        }
    }
}

/// Equal for what the same pipeline draws. Masks come last: they hide less, and cost more.
fn rank(material: &SurfaceMaterial) -> u32 {
    let key = material.key;
    ((key.alpha as u32) << 8) | ((key.kind as u32) << 1) | u32::from(key.double_sided)
}

/// The same pictures every time, also of two sheets in one place: by the actors' order and the document's.
fn in_order(a: &Draw, b: &Draw) -> Ordering {
    (a.actor, a.part).cmp(&(b.actor, b.part))
}

fn calls<'a>(draws: &'a [Draw], scene: &'a Scene<'_>) -> impl Iterator<Item = Call<'a>> {
    draws.iter().filter_map(move |draw| Call::new(draw, scene))
}

fn seen<'a>(draws: &'a [Draw], scene: &'a Scene<'_>) -> impl Iterator<Item = (Draw, Call<'a>)> {
    let in_view = draws.iter().filter(|draw| draw.in_view);
    in_view.filter_map(move |draw| Some((*draw, Call::new(draw, scene)?)))
}

impl<'a> Call<'a> {
    fn new(draw: &Draw, scene: &'a Scene<'_>) -> Option<Self> {
        let actor = scene.actors.get(draw.actor)?;
        let part = actor.data().parts.get(draw.part)?;
        Some(Self {
            actor,
            part,
            material: actor.data().materials.get(part.material)?,
            level: draw.level,
        })
    }

    /// With pipeline and material set.
    fn draw(&self, pass: &mut wgpu::RenderPass<'_>) {
        let (part, model) = (self.part, self.actor.data());
        let Some(level) = part.levels.get(self.level) else {
            return;
        };
        let deformed = slice(
            self.actor.deformed(),
            part.first_deformed,
            part,
            DEFORMED_BYTES,
        );
        let statics = slice(&model.statics, part.first_static, part, STATIC_BYTES);
        pass.set_vertex_buffer(0, deformed);
        pass.set_vertex_buffer(1, statics);
        pass.set_index_buffer(model.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(level.indices.clone(), 0, 0..1);
    }

    fn outline(&self, pass: &mut wgpu::RenderPass<'_>, stage: &Stage) {
        if let Some(pipeline) = stage.outline(self.material) {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(1, &self.material.group, &[]);
            self.draw(pass);
        }
    }
}

/// The vertices of a part, from number `first` on, each of `bytes`.
fn slice<'a>(
    buffer: &'a wgpu::Buffer,
    first: u32,
    part: &Part,
    bytes: u64,
) -> wgpu::BufferSlice<'a> {
    let begin = u64::from(first) * bytes;
    buffer.slice(begin..begin + u64::from(part.num_vertices) * bytes)
}
