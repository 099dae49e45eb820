//! Shaders against the structs and layouts that feed them, and the sums done on the processor.

mod material;

use std::{collections::BTreeSet, mem::offset_of, num::NonZeroU32};

use glam::Vec3;
use naga::{
    TypeInner,
    valid::{Capabilities, ValidationFlags, Validator},
};

use super::{
    layouts::{frame_entries, material_entries, picture_entries},
    look::{Background, Curve, Ground, KeyLight, Occluder, Sky, Tone},
    programs::Program,
    shadow::{SHADOW_SIDE, fit},
    sky::{cube_direction, cube_level, half_bits, irradiance, polynomials},
    stage::{FrameInput, frame_uniform},
    uniforms::{BoxUniform, FrameUniform, MaterialUniform},
};
use crate::{camera::Camera, culling::Bounds};

fn module(program: Program) -> naga::Module {
    let source = program.source();
    naga::front::wgsl::parse_str(&source)
        .unwrap_or_else(|error| panic!("{program:?}: {}", error.emit_to_string(&source)))
}

#[test]
fn every_program_is_valid_within_webgpus_core() {
    for program in Program::ALL {
        let module = module(program);
        Validator::new(ValidationFlags::all(), Capabilities::empty())
            .validate(&module)
            .unwrap_or_else(|error| panic!("{program:?}: {error:?}"));
    }
}

#[test]
fn every_stage_that_a_pipeline_names_is_there() {
    let stages: [(Program, &[&str]); 8] = [
        (Program::Pbr, &["fs_pbr", "fs_unlit", "vs_surface"]),
        (Program::Skin, &["fs_skin", "vs_surface"]),
        (Program::Eye, &["fs_eye", "vs_surface"]),
        (
            Program::MToon,
            &["fs_mtoon", "fs_outline", "vs_outline", "vs_surface"],
        ),
        (Program::Shadow, &["fs_shadow", "vs_shadow"]),
        (Program::Background, &["fs_background", "vs_background"]),
        (Program::Ground, &["fs_ground", "vs_ground"]),
        (Program::Tonemap, &["fs_tonemap", "vs_tonemap"]),
    ];
    for (program, names) in stages {
        let module = module(program);
        for name in names {
            assert!(
                module.entry_points.iter().any(|entry| entry.name == *name),
                "{program:?} lacks {name}"
            );
        }
    }
}

/// Offset of each member of a WGSL struct, and its size.
fn struct_layout(program: Program, name: &str) -> (Vec<(String, usize)>, usize) {
    let module = module(program);
    for (_, ty) in module.types.iter() {
        if ty.name.as_deref() == Some(name)
            && let TypeInner::Struct { members, span } = &ty.inner
        {
            let members = members
                .iter()
                .map(|member| (member.name.clone().unwrap(), member.offset as usize))
                .collect();
            return (members, *span as usize);
        }
    }
    panic!("{program:?} has no struct {name}");
}

macro_rules! assert_layout {
    ($program:expr, $wgsl:literal, $rust:ty, [$($field:ident),* $(,)?]) => {
        let fields = vec![$((stringify!($field).to_owned(), offset_of!($rust, $field))),*];
        assert_eq!(struct_layout($program, $wgsl), (fields, size_of::<$rust>()));
    };
}

#[test]
fn uniforms_are_laid_out_as_the_shaders_read_them() {
    assert_layout!(
        Program::Eye,
        "Frame",
        FrameUniform,
        [
            clip_from_world,
            view_from_world,
            world_from_clip,
            shadow_from_world,
            camera,
            viewport,
            tone,
            key_direction,
            key_color,
            fill_direction,
            fill_color,
            rim_direction,
            rim_color,
            shadow,
            zenith,
            horizon,
            nadir,
            backdrop,
            backdrop_edge,
            ground,
            ground_color,
            counts,
            sky_sh,
            boxes,
            occluders,
        ]
    );
    assert_layout!(
        Program::Eye,
        "SoftBox",
        BoxUniform,
        [direction, right, up, color]
    );
    assert_layout!(
        Program::MToon,
        "Material",
        MaterialUniform,
        [
            base_color,
            emissive,
            surface,
            look,
            shade,
            toon,
            matcap,
            rim,
            outline,
            outline_more,
            animation,
            uv_rows,
        ]
    );
}

/// Group and binding of all that a program declares.
fn declared(program: Program) -> BTreeSet<(u32, u32)> {
    let module = module(program);
    module
        .global_variables
        .iter()
        .filter_map(|(_, variable)| variable.binding.as_ref())
        .map(|at| (at.group, at.binding))
        .collect()
}

#[test]
fn layouts_bind_what_the_shaders_declare_and_stay_within_sixteen_textures() {
    let numbers = |entries: &[wgpu::BindGroupLayoutEntry]| -> BTreeSet<u32> {
        entries.iter().map(|entry| entry.binding).collect()
    };
    let in_group = |program, group| -> BTreeSet<u32> {
        declared(program)
            .into_iter()
            .filter_map(|(of, binding)| (of == group).then_some(binding))
            .collect()
    };
    let (frame, material) = (frame_entries(), material_entries());
    for program in [Program::Pbr, Program::Skin, Program::Eye, Program::MToon] {
        assert_eq!(in_group(program, 0), numbers(&frame), "{program:?}");
        assert_eq!(in_group(program, 1), numbers(&material), "{program:?}");
    }
    assert_eq!(in_group(Program::Ground, 0), numbers(&frame));
    assert_eq!(in_group(Program::Tonemap, 1), numbers(&picture_entries()));
    for caster in [Program::Shadow, Program::Tonemap, Program::Background] {
        assert_eq!(in_group(caster, 0), BTreeSet::from([0]), "{caster:?}");
    }
    // WebGPU's core limit of maxSampledTexturesPerShaderStage and maxSamplersPerShaderStage.
    let all = || frame.iter().chain(&material);
    let is_texture = |ty: &wgpu::BindingType| matches!(ty, wgpu::BindingType::Texture { .. });
    let is_sampler = |ty: &wgpu::BindingType| matches!(ty, wgpu::BindingType::Sampler(_));
    assert!(all().filter(|entry| is_texture(&entry.ty)).count() <= 16);
    assert!(all().filter(|entry| is_sampler(&entry.ty)).count() <= 16);
}

#[test]
fn halves_are_those_of_ieee_754() {
    // From the standard's binary16: one, one half, the largest, 1/3 rounded, least normal and subnormal numbers.
    for (value, bits) in [
        (1.0, 0x3c00),
        (0.5, 0x3800),
        (65504.0, 0x7bff),
        (1.0 / 3.0, 0x3555),
        (2.0_f32.powi(-14), 0x0400),
        (2.0_f32.powi(-24), 0x0001),
        (0.0, 0x0000),
        // Not representable: all that is larger, below zero or no number.
        (1e9, 0x7bff),
        (-1.0, 0x0000),
        (f32::NAN, 0x0000),
        // Half way between 1 and the next half, 1 + 2^-10: to even.
        (1.0 + 2.0_f32.powi(-11), 0x3c00),
        (1.0 + 3.0 * 2.0_f32.powi(-11), 0x3c02),
    ] {
        assert_eq!(half_bits(value), bits, "{value}");
    }
}

/// Radiance by direction, a normal, irradiance over pi there.
type Case = (fn(Vec3) -> f32, Vec3, f32);

#[test]
fn the_harmonics_give_the_irradiance_of_skies_with_a_closed_form() {
    let at = |light: fn(Vec3) -> f32, n: Vec3| {
        let factors = irradiance(|direction| Vec3::splat(light(direction)));
        polynomials(n)
            .iter()
            .zip(factors)
            .map(|(value, factor)| value * factor.x)
            .sum::<f32>()
    };
    let diagonal = Vec3::new(0.6, 0.8, 0.0);
    // Irradiance / pi: 1 for an even sky, 2/3 n for a linear one, 1/3 + (n^2 - 1/3) / 4 for a square: integrals of the
    // light times the cosine over the half sphere.
    let cases: [Case; 9] = [
        (|_| 2.0, diagonal, 2.0),
        (|d| 1.0 + d.y, Vec3::Y, 1.0 + 2.0 / 3.0),
        (|d| 1.0 + d.y, Vec3::NEG_Y, 1.0 / 3.0),
        (|d| 1.0 + d.x, Vec3::X, 1.0 + 2.0 / 3.0),
        (|d| 1.0 + d.z, Vec3::Z, 1.0 + 2.0 / 3.0),
        (|d| d.y * d.y, Vec3::Y, 0.5),
        (|d| d.z * d.z, Vec3::X, 0.25),
        (|d| d.x * d.y, diagonal, 0.12),
        (|d| d.x * d.x, Vec3::X, 0.5),
    ];
    for (case, (light, n, expected)) in cases.into_iter().enumerate() {
        let found = at(light, n);
        assert!((found - expected).abs() < 2e-3, "{case}: {found}");
    }
}

#[test]
fn faces_of_the_cube_look_where_webgpu_says() {
    // Middle, right edge and upper edge of each face, from the cube map tables of the Vulkan specification, 16.5.4.
    let axes = [
        (Vec3::X, Vec3::NEG_Z, Vec3::Y),
        (Vec3::NEG_X, Vec3::Z, Vec3::Y),
        (Vec3::Y, Vec3::X, Vec3::NEG_Z),
        (Vec3::NEG_Y, Vec3::X, Vec3::Z),
        (Vec3::Z, Vec3::X, Vec3::Y),
        (Vec3::NEG_Z, Vec3::NEG_X, Vec3::Y),
    ];
    for (face, (middle, right, up)) in (0..).zip(axes) {
        let corner = cube_direction(face, 63, 0, 64);
        for axis in [middle, right, up] {
            assert!(corner.dot(axis) > 0.5, "{face}: {corner}");
        }
    }
}

#[test]
fn every_level_of_an_even_sky_is_even() {
    for level in 0..6 {
        let texels = cube_level(|_| Vec3::new(1.0, 0.5, 0.25), level);
        let side = 64_usize >> level;
        assert_eq!(texels.len(), 6 * side * side);
        for texel in texels {
            let expected: [u16; 4] = [0x3c00, 0x3800, 0x3400, 0x3c00];
            for (found, expected) in texel.into_iter().zip(expected) {
                // One step of rounding for the sum.
                assert!(found.abs_diff(expected) <= 1, "{level}: {texel:x?}");
            }
        }
    }
}

fn person() -> Bounds {
    Bounds {
        min: Vec3::new(-0.6, 0.0, -0.2),
        max: Vec3::new(0.6, 1.8, 0.3),
    }
}

#[test]
fn the_shadow_map_holds_the_actors_and_is_near_towards_the_light() {
    for direction in [
        Vec3::Y,
        Vec3::NEG_Y,
        Vec3::new(0.6, 0.8, 0.0),
        Vec3::new(0.0, 0.6, -0.8),
    ] {
        let bounds = person();
        let fit = fit(direction, &bounds).unwrap();
        for x in [bounds.min.x, bounds.max.x] {
            for y in [bounds.min.y, bounds.max.y] {
                for z in [bounds.min.z, bounds.max.z] {
                    let clip = fit.shadow_from_world.project_point3(Vec3::new(x, y, z));
                    assert!(clip.x.abs() <= 1.0 && clip.y.abs() <= 1.0, "{clip}");
                    assert!((0.0..=1.0).contains(&clip.z), "{clip}");
                }
            }
        }
        // A metre towards the light is a metre less of depth.
        let center = bounds.center();
        let depth = |point| fit.shadow_from_world.project_point3(point).z;
        let nearer = depth(center) - depth(center + direction);
        assert!((nearer * fit.depth_m - 1.0).abs() < 1e-4, "{nearer}");
    }
    assert_eq!(fit(Vec3::Y, &Bounds::EMPTY), None);
}

#[test]
fn shadows_do_not_crawl_while_an_actor_moves() {
    let direction = Vec3::new(0.48, 0.64, 0.6);
    let texel = |shift: Vec3| {
        let mut bounds = person();
        bounds.min += shift;
        bounds.max += shift;
        let fit = fit(direction, &bounds).unwrap();
        // Where a fixed point of the world falls, in texels.
        let clip = fit
            .shadow_from_world
            .project_point3(Vec3::new(0.2, 0.1, 0.0));
        clip.truncate() * 0.5 * SHADOW_SIDE as f32
    };
    let start = texel(Vec3::ZERO);
    for shift in [Vec3::X * 0.0137, Vec3::Y * 0.21, Vec3::Z * 0.3333] {
        let moved = texel(shift) - start;
        assert!(
            (moved - moved.round()).abs().max_element() < 0.02,
            "{moved}"
        );
    }
}

#[test]
fn a_frame_says_what_the_scene_says() {
    let occluder = Occluder {
        from: Vec3::new(0.1, 0.05, 0.0),
        to: Vec3::new(0.1, 0.05, 0.2),
        radius: 0.04,
        strength: 0.5,
    };
    let key = KeyLight {
        direction: Vec3::new(0.0, 0.0, 2.0),
        radius_rad: std::f32::consts::FRAC_PI_8,
        ..KeyLight::default()
    };
    let input = FrameInput {
        camera: &Camera::default(),
        size: (NonZeroU32::new(200).unwrap(), NonZeroU32::new(100).unwrap()),
        key: &key,
        sky: &Sky::default(),
        ground: Some(&Ground {
            height: -0.5,
            ..Ground::default()
        }),
        background: &Background::Even([0.1, 0.2, 0.3]),
        tone: &Tone {
            exposure_ev: 2.0,
            curve: Curve::Aces,
        },
        casters: Bounds::EMPTY,
        occluders: &[occluder; 20],
        time_secs: 7.0,
        encode_srgb: true,
    };
    let frame = frame_uniform(&input, &[Vec3::ONE; 9]);
    assert_eq!(frame.viewport, [200.0, 100.0, 0.005, 0.01]);
    // Two stops are four times the light.
    assert_eq!(frame.tone[..3], [4.0, 2.0, 1.0]);
    assert_eq!(frame.key_direction[..3], [0.0, 0.0, 1.0]);
    // tan(pi / 8) = sqrt(2) - 1.
    assert!((frame.key_direction[3] - (2.0_f32.sqrt() - 1.0)).abs() < 1e-6);
    assert_eq!(frame.backdrop, [0.1, 0.2, 0.3, 1.0]);
    assert_eq!(frame.ground[0], -0.5);
    assert_eq!(frame.camera[3], 7.0);
    // No casters, no shadow; three boxes; sixteen of twenty occluders.
    assert_eq!(frame.shadow[3], 0.0);
    assert_eq!(frame.counts, [3, 16, 0, 0]);
    assert_eq!(frame.occluders[31], [0.1, 0.05, 0.2, 0.5]);
}
