use glam::Vec2;
use serde_json::{Value, json};

use super::build::Build;
use crate::{
    Alpha, EyeLook, Geometry, Image, MToon, Material, Outline, Sampler, Shading, SkinLook, Texture,
    TextureRef, UvTransform, Wrap,
};

/// What is read of a document with these members, two images and two textures.
fn read(members: &Value) -> Geometry {
    let mut build = Build::new();
    let picture = build.view(b"\x89PNG");
    let image = json!({"bufferView": picture, "mimeType": "image/png", "name": "顔"});
    build.document["images"] = json!([image, image]);
    build.document["textures"] = json!([{"source": 0}, {"source": 1}]);
    for (key, value) in members.as_object().unwrap() {
        build.document[key] = value.clone();
    }
    build.character().geometry().unwrap()
}

fn material(json: &Value) -> Material {
    read(&json!({"materials": [json]})).materials.remove(0)
}

fn texture(texture: usize) -> TextureRef {
    TextureRef {
        texture,
        uv_set: 0,
        transform: UvTransform::default(),
    }
}

fn mtoon(material: &Material) -> &MToon {
    match &material.shading {
        Shading::MToon(mtoon) => mtoon,
        other => panic!("expected MToon, found {other:?}"),
    }
}

#[test]
fn a_material_that_says_nothing_is_the_specifications_default() {
    // Section 5.19: white, metallic 1, roughness 1, no emission, opaque, one-sided.
    assert_eq!(material(&json!({})), Material::default());
    let Material {
        base_color,
        metallic,
        roughness,
        emissive,
        alpha,
        double_sided,
        ..
    } = Material::default();
    assert_eq!((base_color, metallic, roughness), ([1.0; 4], 1.0, 1.0));
    assert_eq!(
        (emissive, alpha, double_sided),
        ([0.0; 3], Alpha::Opaque, false)
    );
}

#[test]
fn every_member_of_a_material_is_read() {
    let read = material(&json!({
        "name": "肌",
        "pbrMetallicRoughness": {
            "baseColorFactor": [0.1, 0.2, 0.3, 0.4], "baseColorTexture": {"index": 1},
            "metallicFactor": 0.25, "roughnessFactor": 0.75,
            "metallicRoughnessTexture": {"index": 0}
        },
        "normalTexture": {"index": 1, "scale": -0.5},
        "occlusionTexture": {"index": 0, "strength": 0.3},
        "emissiveFactor": [0.5, 0.25, 0.0], "emissiveTexture": {
            "index": 1, "texCoord": 0, "extensions": {"KHR_texture_transform": {
                "offset": [0.1, 0.2], "rotation": 1.5, "scale": [2, 3], "texCoord": 1
            }}
        },
        "alphaMode": "MASK", "alphaCutoff": 0.6, "doubleSided": true,
        "extensions": {"KHR_materials_emissive_strength": {"emissiveStrength": 4.0}}
    }));
    let want = Material {
        name: "肌".to_owned(),
        shading: Shading::Pbr,
        base_color: [0.1, 0.2, 0.3, 0.4],
        base_color_texture: Some(texture(1)),
        metallic: 0.25,
        roughness: 0.75,
        metallic_roughness_texture: Some(texture(0)),
        normal_texture: Some(texture(1)),
        normal_scale: -0.5,
        occlusion_texture: Some(texture(0)),
        occlusion_strength: 0.3,
        emissive: [2.0, 1.0, 0.0],
        emissive_texture: Some(TextureRef {
            texture: 1,
            uv_set: 1,
            transform: UvTransform {
                offset: Vec2::new(0.1, 0.2),
                rotation: 1.5,
                scale: Vec2::new(2.0, 3.0),
            },
        }),
        alpha: Alpha::Mask { cutoff: 0.6 },
        double_sided: true,
    };
    assert_eq!(read, want);
    let blend = material(&json!({"alphaMode": "BLEND", "extensions": {"KHR_materials_unlit": {}}}));
    assert_eq!((blend.alpha, blend.shading), (Alpha::Blend, Shading::Unlit));
}

#[test]
fn our_own_looks_are_in_the_extras() {
    let look = |own: Value| material(&json!({"extras": {"ghostlight": own}})).shading;
    assert_eq!(
        look(json!({"look": "skin", "scatter": [3.5, 1.5, 0.5]})),
        Shading::Skin(SkinLook {
            scatter_mm: [3.5, 1.5, 0.5]
        })
    );
    assert_eq!(
        look(json!({"look": "eye", "iris_radius_uv": 0.125, "ior": 1.5, "depth": 0.25})),
        Shading::Eye(EyeLook {
            iris_radius: 0.125,
            ior: 1.5,
            depth: 0.25
        })
    );
    assert_eq!(look(json!({"look": "velvet"})), Shading::Pbr);
}

#[test]
fn textures_have_the_samplers_the_file_gives_them() {
    let geometry = read(&json!({
        "samplers": [
            {"magFilter": 9728, "minFilter": 9729, "wrapS": 33071, "wrapT": 33648},
            {"magFilter": 9729, "minFilter": 9984},
            {"minFilter": 9987, "wrapT": 10497}
        ],
        "textures": [
            {"source": 1, "sampler": 0}, {"source": 0, "sampler": 1}, {"source": 0, "sampler": 2},
            {"source": 0}, {"extensions": {"KHR_texture_basisu": {"source": 1}}}, {"source": 9}
        ]
    }));
    let sampler = |mag_linear, min_linear, mipmaps, wrap_u, wrap_v| Sampler {
        mag_linear,
        min_linear,
        mipmaps,
        wrap_u,
        wrap_v,
    };
    let texture = |image, sampler| Texture { image, sampler };
    let plain = Sampler::default();
    assert_eq!(
        geometry.textures[..5],
        [
            texture(1, sampler(false, true, false, Wrap::Clamp, Wrap::Mirror)),
            texture(0, sampler(true, false, true, Wrap::Repeat, Wrap::Repeat)),
            texture(0, sampler(true, true, true, Wrap::Repeat, Wrap::Repeat)),
            texture(0, plain),
            texture(1, plain),
        ]
    );
    assert!(geometry.textures[5].image >= geometry.images.len());
    assert_eq!(geometry.notes, ["/textures/5: no such image"]);
    assert_eq!(
        geometry.images[1],
        Image {
            name: "顔".to_owned(),
            mime: "image/png".to_owned(),
            bytes: b"\x89PNG".to_vec(),
        }
    );
}

#[test]
fn what_is_not_read_is_noted_with_its_place() {
    let geometry = read(&json!({
        "extensionsRequired": ["KHR_texture_basisu", "KHR_mesh_quantization", "KHR_draco_mesh_compression"],
        "images": [{"uri": "顔.png"}, {"uri": "data:image/webp;base64,UklGRg=="}],
        "materials": [{
            "pbrMetallicRoughness": {"baseColorTexture": {"index": 1, "texCoord": 2}},
            "normalTexture": {"index": 7},
            "extensions": {"KHR_materials_sheen": {}}
        }]
    }));
    assert_eq!(geometry.images[0].bytes, [0_u8; 0]);
    assert_eq!(
        (
            geometry.images[1].mime.as_str(),
            geometry.images[1].bytes.as_slice()
        ),
        ("image/webp", b"RIFF".as_slice())
    );
    let places: Vec<&str> = geometry
        .notes
        .iter()
        .map(|note| note.split(": ").next().unwrap())
        .collect();
    assert_eq!(
        places,
        [
            "/extensionsRequired/0",
            "/extensionsRequired/2",
            "/images/0/uri",
            "/images/1",
            "/materials/0/pbrMetallicRoughness/baseColorTexture",
            "/materials/0/normalTexture",
            "/materials/0/extensions/KHR_materials_sheen",
        ],
        "{:?}",
        geometry.notes
    );
}

#[test]
fn mtoon_of_vrm_1_has_the_specifications_defaults_and_every_member() {
    let extension = |json: Value| {
        material(&json!({"extensions": {"KHR_materials_unlit": {}, "VRMC_materials_mtoon": json}}))
    };
    let plain = extension(json!({"specVersion": "1.0"}));
    // The tables of VRMC_materials_mtoon 1.0.
    let want = MToon {
        shade_color: [0.0; 3],
        shade_texture: None,
        shading_shift: 0.0,
        shading_shift_texture: None,
        shading_shift_texture_scale: 1.0,
        shading_toony: 0.9,
        gi_equalization: 0.9,
        // 1 there; without a texture there is nothing that it is a factor of.
        matcap: [0.0; 3],
        matcap_texture: None,
        rim_color: [0.0; 3],
        rim_texture: None,
        rim_lighting_mix: 1.0,
        rim_fresnel_power: 5.0,
        rim_lift: 0.0,
        outline: Outline::None,
        outline_width: 0.0,
        outline_width_texture: None,
        outline_color: [0.0; 3],
        outline_lighting_mix: 1.0,
        uv_scroll_x: 0.0,
        uv_scroll_y: 0.0,
        uv_rotation: 0.0,
        uv_mask_texture: None,
        transparent_with_z_write: false,
        render_queue_offset: 0,
    };
    assert_eq!(*mtoon(&plain), want);
    let full = extension(json!({
        "shadeColorFactor": [0.1, 0.2, 0.3], "shadeMultiplyTexture": {"index": 0},
        "shadingShiftFactor": -0.25, "shadingShiftTexture": {"index": 1, "scale": 0.5},
        "shadingToonyFactor": 0.75, "giEqualizationFactor": 0.5,
        "matcapFactor": [0.5, 0.5, 0.5], "matcapTexture": {"index": 1},
        "parametricRimColorFactor": [0.4, 0.5, 0.6], "rimMultiplyTexture": {"index": 0},
        "rimLightingMixFactor": 0.25, "parametricRimFresnelPowerFactor": 3.0, "parametricRimLiftFactor": 0.125,
        "outlineWidthMode": "screenCoordinates", "outlineWidthFactor": 0.01,
        "outlineWidthMultiplyTexture": {"index": 0}, "outlineColorFactor": [0.7, 0.8, 0.9],
        "outlineLightingMixFactor": 0.5, "uvAnimationMaskTexture": {"index": 1},
        "uvAnimationScrollXSpeedFactor": 1.0, "uvAnimationScrollYSpeedFactor": -2.0,
        "uvAnimationRotationSpeedFactor": 3.0, "transparentWithZWrite": true, "renderQueueOffsetNumber": 4
    }));
    let want = MToon {
        shade_color: [0.1, 0.2, 0.3],
        shade_texture: Some(texture(0)),
        shading_shift: -0.25,
        shading_shift_texture: Some(texture(1)),
        shading_shift_texture_scale: 0.5,
        shading_toony: 0.75,
        gi_equalization: 0.5,
        matcap: [0.5; 3],
        matcap_texture: Some(texture(1)),
        rim_color: [0.4, 0.5, 0.6],
        rim_texture: Some(texture(0)),
        rim_lighting_mix: 0.25,
        rim_fresnel_power: 3.0,
        rim_lift: 0.125,
        outline: Outline::Screen,
        outline_width: 0.01,
        outline_width_texture: Some(texture(0)),
        outline_color: [0.7, 0.8, 0.9],
        outline_lighting_mix: 0.5,
        uv_scroll_x: 1.0,
        uv_scroll_y: -2.0,
        uv_rotation: 3.0,
        uv_mask_texture: Some(texture(1)),
        transparent_with_z_write: true,
        render_queue_offset: 4,
    };
    assert_eq!(*mtoon(&full), want);
}

/// Materials of a VRM 0.x file, one for each of these properties.
fn vrm0(properties: &Value) -> Vec<Material> {
    let materials =
        vec![json!({"emissiveFactor": [1, 1, 1]}); properties.as_array().unwrap().len()];
    let vrm = json!({"VRM": {"materialProperties": properties}});
    read(&json!({"materials": materials, "extensions": vrm})).materials
}

#[test]
fn shade_of_vrm_0_is_the_consortiums_migration() {
    // Toony and shift of 0.x, and what UniVRM's tests of its migration expect of them.
    for (toony, shift, want_toony, want_shift) in [
        (0.9, 0.0, 0.95, -0.05),
        (0.0, 0.0, 0.5, -0.5),
        (0.0, -1.0, 0.0, 0.0),
        (0.7, -0.4, 0.79, 0.19),
    ] {
        let floats = json!({"_ShadeToony": toony, "_ShadeShift": shift});
        let materials = vrm0(&json!([{"shader": "VRM/MToon", "floatProperties": floats}]));
        let mtoon = mtoon(&materials[0]);
        assert!((mtoon.shading_toony - want_toony).abs() < 1e-3, "{mtoon:?}");
        assert!((mtoon.shading_shift - want_shift).abs() < 1e-3, "{mtoon:?}");
    }
}

#[test]
fn a_material_of_vrm_0_is_told_in_terms_of_1() {
    let materials = vrm0(&json!([{
        "shader": "VRM/MToon",
        "floatProperties": {
            "_BlendMode": 1, "_Cutoff": 0.25, "_CullMode": 0, "_BumpScale": 0.5,
            "_IndirectLightIntensity": 0.25, "_RimFresnelPower": 2, "_RimLift": 0.5,
            "_OutlineWidthMode": 1, "_OutlineWidth": 0.5, "_OutlineColorMode": 1, "_OutlineLightingMix": 0.75,
            "_UvAnimScrollX": 0.5, "_UvAnimScrollY": 0.25, "_UvAnimRotation": 1
        },
        "vectorProperties": {
            "_Color": [0.5, 1.0, 0.0, 0.5], "_ShadeColor": [0.5, 0.5, 0.5, 1], "_EmissionColor": [2, 0.5, 0, 1],
            "_RimColor": [0, 0.5, 0, 1], "_OutlineColor": [1, 0, 0, 1], "_MainTex": [0.25, 0.125, 0.5, 0.5]
        },
        "textureProperties": {"_MainTex": 1, "_BumpMap": 0, "_SphereAdd": 0}
    }]));
    let material = &materials[0];
    // 0.5 in sRGB, by IEC 61966-2-1.
    let half = 0.214_041_f32;
    let near = |have: f32, want: f32| (have - want).abs() < 1e-5;
    let [r, g, b, a] = material.base_color;
    assert!(near(r, half) && near(g, 1.0) && near(b, 0.0) && near(a, 0.5));
    assert_eq!(material.emissive, [2.0, 0.5, 0.0]);
    assert_eq!(material.alpha, Alpha::Mask { cutoff: 0.25 });
    assert!(material.double_sided);
    // Unity's v is 1 − v: 1 − ((1 − v) · 0.5 + 0.125) = v · 0.5 + 0.375.
    let main = TextureRef {
        texture: 1,
        uv_set: 0,
        transform: UvTransform {
            offset: Vec2::new(0.25, 0.375),
            rotation: 0.0,
            scale: Vec2::new(0.5, 0.5),
        },
    };
    assert_eq!(material.base_color_texture, Some(main));
    assert_eq!(
        (
            material.normal_texture.map(|t| t.texture),
            material.normal_scale
        ),
        (Some(0), 0.5)
    );
    let mtoon = mtoon(material);
    assert!(mtoon.shade_color.iter().all(|c| near(*c, half)));
    assert_eq!(
        mtoon.shade_texture,
        Some(main),
        "the lit one, where there is none"
    );
    assert_eq!(mtoon.gi_equalization, 0.75);
    assert_eq!(
        (mtoon.matcap, mtoon.matcap_texture.map(|t| t.texture)),
        ([1.0; 3], Some(0))
    );
    assert!(near(mtoon.rim_color[1], half));
    assert_eq!(
        (
            mtoon.rim_fresnel_power,
            mtoon.rim_lift,
            mtoon.rim_lighting_mix
        ),
        (2.0, 0.5, 1.0)
    );
    // Half a centimetre.
    assert_eq!(mtoon.outline, Outline::World);
    assert!(near(mtoon.outline_width, 0.005));
    assert_eq!(
        (mtoon.outline_color, mtoon.outline_lighting_mix),
        ([1.0, 0.0, 0.0], 0.75)
    );
    // v goes the other way; a turn a second.
    assert_eq!((mtoon.uv_scroll_x, mtoon.uv_scroll_y), (0.5, -0.25));
    assert!(near(mtoon.uv_rotation, std::f32::consts::TAU));

    let materials = vrm0(&json!([
        {"shader": "VRM/MToon", "floatProperties": {"_OutlineWidthMode": 2, "_OutlineWidth": 1, "_OutlineColorMode": 0, "_CullMode": 2}},
        {"shader": "VRM/UnlitTexture"},
        {"shader": "VRM_USE_GLTFSHADER"}
    ]));
    let screen = self::mtoon(&materials[0]);
    // A hundredth of half the picture's height.
    assert_eq!(
        (screen.outline, screen.outline_lighting_mix),
        (Outline::Screen, 0.0)
    );
    assert!(near(screen.outline_width, 0.005));
    assert_eq!((screen.matcap, screen.matcap_texture), ([0.0; 3], None));
    assert!(!materials[0].double_sided);
    assert_eq!(materials[1].shading, Shading::Unlit);
    assert_eq!(materials[2].shading, Shading::Pbr);
    assert_eq!(materials[2].emissive, [1.0; 3]);
}

#[test]
fn blended_materials_of_vrm_0_keep_their_order() {
    let of = |mode: u32, queue: i64| json!({"shader": "VRM/MToon", "floatProperties": {"_BlendMode": mode}, "renderQueue": queue});
    let materials = vrm0(&json!([
        of(2, 2970),
        of(2, 3000),
        of(2, 2990),
        of(2, 5000),
        of(3, 2501),
        of(3, 2550),
        of(3, 2510),
        of(0, 2970)
    ]));
    let places: Vec<i32> = materials
        .iter()
        .map(|m| mtoon(m).render_queue_offset)
        .collect();
    assert_eq!(places, [-2, 0, -1, 0, 0, 2, 1, 0]);
    let writes: Vec<bool> = materials
        .iter()
        .map(|m| mtoon(m).transparent_with_z_write)
        .collect();
    assert_eq!(
        writes,
        [false, false, false, false, true, true, true, false]
    );
    assert_eq!(materials[4].alpha, Alpha::Blend);
}
