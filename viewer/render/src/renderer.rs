//! Frames: what is drawn in which order.

mod draws;

use std::num::NonZeroU32;

use characters::{Character, Geometry};

use self::draws::Draws;
use crate::{
    actor::Actor,
    culling::Bounds,
    deform::Deform,
    error::RenderError,
    gpu::Gpu,
    model::{Model, ModelData, UploadOptions},
    overlays::OverlayPass,
    readback::{Easel, Picture},
    scene::Scene,
    shading::{Background, FrameInput, Stage},
    targets::Targets,
    timings::{Pass, Stopwatch, Timings},
};

/// How frames are drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Samples of a pixel: 1, or 4 for any other number. Default: 4.
    pub samples: u32,
    /// Format of the views that [`Renderer::draw`] is given. Default: `Rgba8Unorm`. Formats that do not encode sRGB by
    /// themselves are given encoded colours.
    pub target_format: wgpu::TextureFormat,
    /// A coarser level of detail is taken where it moves no corner by more pixels than that. 0: never. Default: 1.
    pub most_lod_pixels: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            samples: 4,
            target_format: wgpu::TextureFormat::Rgba8Unorm,
            most_lod_pixels: 1.0,
        }
    }
}

/// Draws scenes on one device. One renderer per view: two frames of one renderer must not be in one submission.
#[derive(Debug)]
pub struct Renderer {
    settings: Settings,
    stage: Stage,
    deform: Deform,
    overlays: OverlayPass,
    draws: Draws,
    targets: Option<Targets>,
    easel: Option<Easel>,
    stopwatch: Option<Stopwatch>,
}

impl Renderer {
    /// Makes what all models need.
    ///
    /// # Errors
    /// The driver refuses a shader, or has no memory.
    pub fn new(gpu: &Gpu, settings: Settings) -> Result<Self, RenderError> {
        let samples = if settings.samples == 1 { 1 } else { 4 };
        let settings = Settings {
            samples,
            ..settings
        };
        let mut stage = Stage::new(gpu, samples)?;
        stage.ready_tone(gpu, settings.target_format)?;
        stage.ready_tone(gpu, Easel::FORMAT)?;
        let overlays = OverlayPass::new(gpu, &stage.layouts().caster, samples)?;
        Ok(Self {
            settings,
            stage,
            deform: Deform::new(gpu)?,
            overlays,
            draws: Draws::default(),
            targets: None,
            easel: None,
            stopwatch: Stopwatch::new(gpu)?,
        })
    }

    /// Puts a character on the device, as [`UploadOptions::default`] says.
    ///
    /// # Errors
    /// See [`Self::upload_with`].
    pub fn upload(
        &mut self,
        gpu: &Gpu,
        character: &Character,
        geometry: &Geometry,
    ) -> Result<Model, RenderError> {
        self.upload_with(gpu, character, geometry, &UploadOptions::default())
    }

    /// Puts a character on the device. `geometry` is that of `character`. Images that cannot be read are left out and
    /// said in [`Model::notes`].
    ///
    /// # Errors
    /// Geometry that contradicts itself, more than the device's buffers hold, no memory.
    pub fn upload_with(
        &mut self,
        gpu: &Gpu,
        character: &Character,
        geometry: &Geometry,
        options: &UploadOptions,
    ) -> Result<Model, RenderError> {
        let data = ModelData::upload(
            gpu,
            &self.deform,
            &mut self.stage,
            character,
            geometry,
            options,
        )?;
        Ok(Model { data: data.into() })
    }

    /// An instance of a model, at rest at the origin.
    ///
    /// # Errors
    /// No memory.
    pub fn actor(&self, gpu: &Gpu, model: &Model) -> Result<Actor, RenderError> {
        Actor::new(gpu, &self.deform, model)
    }

    /// Records a frame. `target` is a view of [`Settings::target_format`], `size` its width and height in pixels. All of
    /// it is overwritten. The commands must be submitted before the next frame of this renderer is recorded.
    ///
    /// # Errors
    /// A size that is 0 or beyond the device's limit, no memory. Then nothing is recorded.
    pub fn draw(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &Scene<'_>,
        target: &wgpu::TextureView,
        size: (u32, u32),
    ) -> Result<(), RenderError> {
        let format = self.settings.target_format;
        self.record(gpu, encoder, scene, target, format, size)
    }

    /// Draws a frame and waits for its pixels. With [`Background::Transparent`] its alpha is that of what is drawn.
    ///
    /// # Errors
    /// A size that is 0 or beyond the device's limit, no memory, a device that is gone, or a fault of a driver.
    pub fn picture(
        &mut self,
        gpu: &Gpu,
        scene: &Scene<'_>,
        size: (u32, u32),
    ) -> Result<Picture, RenderError> {
        let easel = match self.easel.take() {
            Some(easel) if easel.size() == size => easel,
            _ => Easel::new(gpu, size.0, size.1)?,
        };
        let descriptor = wgpu::CommandEncoderDescriptor {
            label: Some("picture"),
        };
        let mut encoder = gpu.device.create_command_encoder(&descriptor);
        let view = easel.view();
        self.record(gpu, &mut encoder, scene, &view, Easel::FORMAT, size)?;
        let picture = easel.finish(gpu, encoder)?;
        self.easel = Some(easel);
        match gpu.take_fault() {
            Some(fault) => Err(fault),
            None => Ok(picture),
        }
    }

    /// Times of the GPU for the latest frame whose times have come back; `None` where the device cannot tell.
    pub fn timings(&self) -> Option<Timings> {
        self.stopwatch.as_ref().and_then(Stopwatch::last)
    }

    /// Bytes of the textures that frames are drawn to, without the target itself. 0 before the first frame.
    pub fn target_bytes(&self) -> u64 {
        self.targets.as_ref().map_or(0, |targets| targets.bytes)
    }

    fn record(
        &mut self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &Scene<'_>,
        target: &wgpu::TextureView,
        format: wgpu::TextureFormat,
        size: (u32, u32),
    ) -> Result<(), RenderError> {
        let targets = match self.targets.take() {
            Some(targets) if targets.size == size => targets,
            _ => Targets::new(gpu, &self.stage, self.settings.samples, size)?,
        };
        // Zero is refused above.
        let pixels = |side: u32| NonZeroU32::new(side).unwrap_or(NonZeroU32::MIN);
        let shown = scene.actors.iter().filter(|actor| actor.is_shown());
        let casters = shown.fold(Bounds::EMPTY, |all, actor| all.union(&actor.bounds()));
        self.stage.prepare(
            gpu,
            &FrameInput {
                camera: &scene.camera,
                size: (pixels(size.0), pixels(size.1)),
                key: &scene.key,
                sky: &scene.sky,
                ground: scene.ground.as_ref(),
                background: &scene.background,
                tone: &scene.tone,
                casters,
                occluders: scene.occluders,
                time_secs: scene.time_secs,
                encode_srgb: !format.is_srgb(),
            },
        );
        self.overlays.prepare(gpu, scene.overlays);
        let (width, height) = (size.0 as f32, size.1 as f32);
        let most_pixels = self.settings.most_lod_pixels;
        self.draws.list(scene, width / height, height, most_pixels);

        let is_timed = self.stopwatch.as_mut().is_some_and(Stopwatch::begin);
        let watch = self.stopwatch.as_ref().filter(|_| is_timed);
        self.deform_pass(gpu, encoder, scene, watch);
        self.shadow_pass(encoder, scene, watch);
        self.shade_pass(encoder, scene, &targets, watch);
        self.tone_pass(encoder, &targets, target, format, watch);
        if let Some(watch) = watch {
            watch.end(encoder);
        }
        self.targets = Some(targets);
        Ok(())
    }

    fn deform_pass(
        &self,
        gpu: &Gpu,
        encoder: &mut wgpu::CommandEncoder,
        scene: &Scene<'_>,
        watch: Option<&Stopwatch>,
    ) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("deform"),
            timestamp_writes: watch.map(|watch| watch.compute(Pass::Deform)),
        });
        for actor in scene.actors.iter().filter(|actor| actor.is_shown()) {
            if actor.upload(&gpu.queue) {
                actor.dispatch(&self.deform, &mut pass);
            }
        }
    }

    fn shadow_pass(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        scene: &Scene<'_>,
        watch: Option<&Stopwatch>,
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shadow"),
            depth_stencil_attachment: Some(depth(self.stage.shadow_view(), 1.0, true)),
            timestamp_writes: watch.map(|watch| watch.render(Pass::Shadow)),
            ..wgpu::RenderPassDescriptor::default()
        });
        if scene.key.shadow > 0.0 {
            pass.set_bind_group(0, self.stage.caster_group(), &[]);
            self.draws.shadows(&mut pass, scene, &self.stage);
        }
    }

    fn shade_pass(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        scene: &Scene<'_>,
        targets: &Targets,
        watch: Option<&Stopwatch>,
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("shade"),
            color_attachments: &[Some(targets.color())],
            // Reversed: nothing is at depth 0, infinitely far.
            depth_stencil_attachment: Some(depth(&targets.depth, 0.0, false)),
            timestamp_writes: watch.map(|watch| watch.render(Pass::Shade)),
            ..wgpu::RenderPassDescriptor::default()
        });
        let stage = &self.stage;
        pass.set_bind_group(0, stage.frame_group(), &[]);
        self.draws.solids(&mut pass, scene, stage);
        if scene.background != Background::Transparent {
            pass.set_pipeline(stage.background());
            pass.draw(0..3, 0..1);
        }
        if scene.ground.is_some() {
            pass.set_pipeline(stage.ground());
            pass.draw(0..6, 0..1);
        }
        self.draws.blends(&mut pass, scene, stage);
        pass.set_bind_group(0, stage.caster_group(), &[]);
        self.overlays.draw(&mut pass);
    }

    fn tone_pass(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        targets: &Targets,
        target: &wgpu::TextureView,
        format: wgpu::TextureFormat,
        watch: Option<&Stopwatch>,
    ) {
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("tone map"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: target,
                depth_slice: None,
                resolve_target: None,
                ops: wgpu::Operations {
                    load: wgpu::LoadOp::Clear(wgpu::Color::TRANSPARENT),
                    store: wgpu::StoreOp::Store,
                },
            })],
            timestamp_writes: watch.map(|watch| watch.render(Pass::Tone)),
            ..wgpu::RenderPassDescriptor::default()
        });
        // Both formats are readied when the renderer is made.
        if let Some(pipeline) = self.stage.tone(format) {
            pass.set_pipeline(pipeline);
            pass.set_bind_group(0, self.stage.caster_group(), &[]);
            pass.set_bind_group(1, &targets.picture, &[]);
            pass.draw(0..3, 0..1);
        }
    }
}

/// Depth that begins at `clear`.
fn depth(
    view: &wgpu::TextureView,
    clear: f32,
    is_kept: bool,
) -> wgpu::RenderPassDepthStencilAttachment<'_> {
    wgpu::RenderPassDepthStencilAttachment {
        view,
        depth_ops: Some(wgpu::Operations {
            load: wgpu::LoadOp::Clear(clear),
            store: if is_kept {
                wgpu::StoreOp::Store
            } else {
                wgpu::StoreOp::Discard
            },
        }),
        stencil_ops: None,
    }
}
