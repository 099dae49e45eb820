//! Materials as numbers.

use characters::{Alpha, EyeLook, Material, Shading, SkinLook, TextureRef, UvTransform};
use glam::Vec2;

use super::super::material::{AlphaMode, Kind, SurfaceKey, default_material, uniform};

fn textured(transform: UvTransform, uv_set: u8) -> Material {
    Material {
        base_color_texture: Some(TextureRef {
            texture: 0,
            uv_set,
            transform,
        }),
        ..default_material()
    }
}

/// What the shader makes of a uv in slot 0.
fn moved(material: &Material, uv: [f32; 2]) -> [f32; 2] {
    let rows = uniform(material).uv_rows;
    let row = |at: usize| rows[at][0] * uv[0] + rows[at][1] * uv[1] + rows[at][2];
    [row(0), row(1)]
}

#[test]
fn a_texture_transform_takes_the_quadrant_of_the_specifications_example() {
    // KHR_texture_transform, "Example JSON": only the lower left quadrant of the image, rotated clockwise by 90 degrees.
    let material = textured(
        UvTransform {
            offset: Vec2::new(0.0, 1.0),
            rotation: std::f32::consts::FRAC_PI_2,
            scale: Vec2::splat(0.5),
        },
        0,
    );
    for (uv, expected) in [
        ([0.0, 0.0], [0.0, 1.0]),
        ([1.0, 0.0], [0.0, 0.5]),
        ([0.0, 1.0], [0.5, 1.0]),
        ([1.0, 1.0], [0.5, 0.5]),
    ] {
        let found = moved(&material, uv);
        for (found, expected) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-6, "{uv:?}: {found}");
        }
    }
}

#[test]
fn slots_say_their_uv_set_and_whether_they_have_a_texture() {
    let rows = uniform(&textured(UvTransform::default(), 1)).uv_rows;
    assert_eq!((rows[0][3], rows[1][3]), (1.0, 1.0));
    // Slot 1, the normal map, has none: identity, set 0, absent.
    assert_eq!(rows[2..4], [[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]]);
}

#[test]
fn looks_are_in_the_shaders_units() {
    let skin = Material {
        shading: Shading::Skin(SkinLook {
            scatter_mm: [4.0, 2.0, 1.0],
        }),
        ..default_material()
    };
    for (found, expected) in uniform(&skin)
        .look
        .into_iter()
        .zip([0.004, 0.002, 0.001, 0.0])
    {
        assert!((found - expected).abs() < 1e-9);
    }
    let eye = Material {
        shading: Shading::Eye(EyeLook {
            iris_radius: 0.1,
            ior: 1.376,
            depth: 0.05,
        }),
        ..default_material()
    };
    assert_eq!(uniform(&eye).look[..3], [0.1, 1.376, 0.05]);
}

#[test]
fn a_key_names_the_shader_and_what_alpha_does() {
    let masked = Material {
        alpha: Alpha::Mask { cutoff: 0.3 },
        double_sided: true,
        shading: Shading::Unlit,
        ..default_material()
    };
    assert_eq!(
        SurfaceKey::of(&masked),
        SurfaceKey {
            kind: Kind::Unlit,
            alpha: AlphaMode::Mask,
            double_sided: true,
        }
    );
    assert_eq!(uniform(&masked).surface[3], 0.3);
    assert_eq!(SurfaceKey::of(&default_material()).alpha, AlphaMode::Opaque);
}
