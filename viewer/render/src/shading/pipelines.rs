//! What the GPU is told about each kind of drawing.

use std::collections::HashMap;

use super::{
    DEPTH_FORMAT, HDR_FORMAT,
    layouts::{Layouts, SURFACE_VERTICES},
    material::{AlphaMode, Kind, SurfaceKey},
    programs::Program,
};
use crate::{error::RenderError, gpu::Gpu};

/// The pipelines, those of surfaces and targets made when first needed.
#[derive(Debug)]
pub(crate) struct Pipelines {
    samples: u32,
    modules: [wgpu::ShaderModule; Program::ALL.len()],
    /// Frame and material.
    lit: wgpu::PipelineLayout,
    /// Frame without shadow map, and the picture.
    tone: wgpu::PipelineLayout,
    surfaces: HashMap<SurfaceKey, wgpu::RenderPipeline>,
    outlines: HashMap<SurfaceKey, wgpu::RenderPipeline>,
    pub(crate) solid_caster: wgpu::RenderPipeline,
    pub(crate) masked_caster: wgpu::RenderPipeline,
    pub(crate) blended_caster: wgpu::RenderPipeline,
    pub(crate) background: wgpu::RenderPipeline,
    pub(crate) ground: wgpu::RenderPipeline,
    tones: HashMap<wgpu::TextureFormat, wgpu::RenderPipeline>,
}

/// Colours come multiplied by their alpha.
const OVER: wgpu::BlendState = wgpu::BlendState::PREMULTIPLIED_ALPHA_BLENDING;

/// One pipeline, as far as they differ.
struct Recipe<'a> {
    label: &'a str,
    program: Program,
    layout: &'a wgpu::PipelineLayout,
    vertex: &'a str,
    /// `None`: depth only.
    fragment: Option<&'a str>,
    buffers: &'a [Option<wgpu::VertexBufferLayout<'a>>],
    target: Option<wgpu::ColorTargetState>,
    /// Comparison and whether depth is written; `None`: no depth at all.
    depth: Option<(wgpu::CompareFunction, bool)>,
    cull: Option<wgpu::Face>,
    samples: u32,
    /// What `alpha_mode` is in the shader; `None` where the shader has no such constant.
    alpha: Option<AlphaMode>,
}

impl Pipelines {
    pub(crate) fn new(gpu: &Gpu, layouts: &Layouts, samples: u32) -> Result<Self, RenderError> {
        gpu.checked("the pipelines", || {
            Self::build(&gpu.device, layouts, samples)
        })
    }

    fn build(device: &wgpu::Device, layouts: &Layouts, samples: u32) -> Self {
        let modules = Program::ALL.map(|program| {
            device.create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(program.label()),
                source: wgpu::ShaderSource::Wgsl(program.source().into()),
            })
        });
        let layout = |label, groups: &[&wgpu::BindGroupLayout]| {
            let groups: Vec<_> = groups.iter().copied().map(Some).collect();
            device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some(label),
                bind_group_layouts: &groups,
                immediate_size: 0,
            })
        };
        let lit = layout("lit", &[&layouts.frame, &layouts.material]);
        let bare = layout("bare", &[&layouts.frame]);
        let caster = layout("caster", &[&layouts.caster, &layouts.material]);
        let tone = layout("tone", &[&layouts.caster, &layouts.picture]);

        let casting = |alpha: AlphaMode| Recipe {
            label: "shadow",
            program: Program::Shadow,
            layout: &caster,
            vertex: "vs_shadow",
            fragment: (alpha != AlphaMode::Opaque).then_some("fs_shadow"),
            buffers: &SURFACE_VERTICES,
            target: None,
            // This depth is not reversed: 0 is near the light.
            depth: Some((wgpu::CompareFunction::Less, true)),
            // Both faces, for cloth is often a single sheet.
            cull: None,
            samples: 1,
            alpha: Some(alpha),
        };
        let far = |label, program, vertex, fragment, blend| Recipe {
            label,
            program,
            layout: &bare,
            vertex,
            fragment: Some(fragment),
            buffers: &[],
            target: Some(hdr(blend)),
            depth: Some((wgpu::CompareFunction::GreaterEqual, false)),
            cull: None,
            samples,
            alpha: None,
        };
        let make = |recipe: &Recipe<'_>| pipeline(device, &modules, recipe);
        let solid_caster = make(&casting(AlphaMode::Opaque));
        let masked_caster = make(&casting(AlphaMode::Mask));
        let blended_caster = make(&casting(AlphaMode::Blend));
        let background = make(&far(
            "background",
            Program::Background,
            "vs_background",
            "fs_background",
            None,
        ));
        let ground = make(&far(
            "ground",
            Program::Ground,
            "vs_ground",
            "fs_ground",
            Some(OVER),
        ));
        Self {
            samples,
            modules,
            lit,
            tone,
            surfaces: HashMap::new(),
            outlines: HashMap::new(),
            solid_caster,
            masked_caster,
            blended_caster,
            background,
            ground,
            tones: HashMap::new(),
        }
    }

    /// Makes the pipelines of a kind of surface, unless they are there.
    pub(crate) fn ready(
        &mut self,
        gpu: &Gpu,
        key: SurfaceKey,
        outlined: bool,
    ) -> Result<(), RenderError> {
        if !self.surfaces.contains_key(&key) {
            let made = self.surface(gpu, key, false)?;
            self.surfaces.insert(key, made);
        }
        if outlined && !self.outlines.contains_key(&key) {
            let made = self.surface(gpu, key, true)?;
            self.outlines.insert(key, made);
        }
        Ok(())
    }

    fn surface(
        &self,
        gpu: &Gpu,
        key: SurfaceKey,
        outline: bool,
    ) -> Result<wgpu::RenderPipeline, RenderError> {
        let (program, fragment) = match key.kind {
            Kind::Pbr => (Program::Pbr, "fs_pbr"),
            Kind::Unlit => (Program::Pbr, "fs_unlit"),
            Kind::Skin => (Program::Skin, "fs_skin"),
            Kind::Eye => (Program::Eye, "fs_eye"),
            Kind::MToon => (Program::MToon, "fs_mtoon"),
        };
        let recipe = Recipe {
            label: if outline { "outline" } else { program.label() },
            program,
            layout: &self.lit,
            vertex: if outline { "vs_outline" } else { "vs_surface" },
            fragment: Some(if outline { "fs_outline" } else { fragment }),
            buffers: &SURFACE_VERTICES,
            target: Some(hdr((key.alpha != AlphaMode::Opaque).then_some(OVER))),
            // Equal depth passes: of two sheets in one place, the later is seen, as in other viewers.
            depth: Some((
                wgpu::CompareFunction::GreaterEqual,
                key.alpha != AlphaMode::Blend,
            )),
            cull: match (outline, key.double_sided) {
                (true, _) => Some(wgpu::Face::Front),
                (false, true) => None,
                (false, false) => Some(wgpu::Face::Back),
            },
            samples: self.samples,
            alpha: Some(key.alpha),
        };
        gpu.checked("the pipeline of a material", || {
            pipeline(&gpu.device, &self.modules, &recipe)
        })
    }

    /// The pipeline of a surface; `None` before `ready` was called for it.
    pub(crate) fn surface_of(&self, key: SurfaceKey) -> Option<&wgpu::RenderPipeline> {
        self.surfaces.get(&key)
    }

    /// The pipeline of a surface's outline; `None` before `ready` was called for it.
    pub(crate) fn outline_of(&self, key: SurfaceKey) -> Option<&wgpu::RenderPipeline> {
        self.outlines.get(&key)
    }

    /// Makes the tone map's pipeline for a target, unless it is there.
    pub(crate) fn ready_tone(
        &mut self,
        gpu: &Gpu,
        format: wgpu::TextureFormat,
    ) -> Result<(), RenderError> {
        if self.tones.contains_key(&format) {
            return Ok(());
        }
        let recipe = Recipe {
            label: "tone map",
            program: Program::Tonemap,
            layout: &self.tone,
            vertex: "vs_tonemap",
            fragment: Some("fs_tonemap"),
            buffers: &[],
            target: Some(format.into()),
            depth: None,
            cull: None,
            samples: 1,
            alpha: None,
        };
        let made = gpu.checked("the tone map", || {
            pipeline(&gpu.device, &self.modules, &recipe)
        })?;
        self.tones.insert(format, made);
        Ok(())
    }

    /// The tone map's pipeline for a target; `None` before `ready_tone` was called for it.
    pub(crate) fn tone_of(&self, format: wgpu::TextureFormat) -> Option<&wgpu::RenderPipeline> {
        self.tones.get(&format)
    }
}

fn hdr(blend: Option<wgpu::BlendState>) -> wgpu::ColorTargetState {
    wgpu::ColorTargetState {
        format: HDR_FORMAT,
        blend,
        write_mask: wgpu::ColorWrites::ALL,
    }
}

fn pipeline(
    device: &wgpu::Device,
    modules: &[wgpu::ShaderModule; Program::ALL.len()],
    recipe: &Recipe<'_>,
) -> wgpu::RenderPipeline {
    let module = &modules[recipe.program as usize];
    let constants = recipe.alpha.map(|alpha| {
        [
            ("alpha_mode", alpha_constant(alpha)),
            ("multisampled", f64::from(u8::from(recipe.samples > 1))),
        ]
    });
    let constants: &[(&str, f64)] = match &constants {
        Some(constants) => constants,
        None => &[],
    };
    let targets = [recipe.target.clone()];
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some(recipe.label),
        layout: Some(recipe.layout),
        vertex: wgpu::VertexState {
            module,
            entry_point: Some(recipe.vertex),
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            buffers: recipe.buffers,
        },
        primitive: wgpu::PrimitiveState {
            cull_mode: recipe.cull,
            ..wgpu::PrimitiveState::default()
        },
        depth_stencil: recipe
            .depth
            .map(|(compare, write)| wgpu::DepthStencilState {
                format: DEPTH_FORMAT,
                depth_write_enabled: Some(write),
                depth_compare: Some(compare),
                stencil: wgpu::StencilState::default(),
                bias: wgpu::DepthBiasState::default(),
            }),
        multisample: wgpu::MultisampleState {
            count: recipe.samples,
            mask: !0,
            // A mask's edge becomes coverage of samples; it needs a colour's alpha and several samples.
            alpha_to_coverage_enabled: recipe.samples > 1
                && recipe.target.is_some()
                && recipe.alpha == Some(AlphaMode::Mask),
        },
        fragment: recipe.fragment.map(|entry_point| wgpu::FragmentState {
            module,
            entry_point: Some(entry_point),
            compilation_options: wgpu::PipelineCompilationOptions {
                constants,
                ..wgpu::PipelineCompilationOptions::default()
            },
            targets: if recipe.target.is_some() {
                &targets
            } else {
                &[]
            },
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// As `material.wgsl` numbers them.
fn alpha_constant(alpha: AlphaMode) -> f64 {
    match alpha {
        AlphaMode::Opaque => 0.0,
        AlphaMode::Mask => 1.0,
        AlphaMode::Blend | AlphaMode::BlendSolid => 2.0,
    }
}
