//! MToon of VRM 1.0, and that of VRM 0.x in its terms.
//!
//! Sources: `VRMC_materials_mtoon` 1.0; for 0.x the names of MToon 3.x's shader properties and the migration that the
//! VRM consortium's own importer describes (ranges of shade, shift, outline and rim).

use serde_json::Value;

use super::material::{
    Alpha, MToon, Material, Outline, Shading, TextureRef, Textures, UvTransform, number, numbers,
};

/// The extension of VRM 1.0.
pub(super) fn of_vrm1(json: &Value, path: &str, textures: &mut Textures<'_>) -> MToon {
    let color = |key: &str, default: [f32; 3]| numbers::<3>(json, key).unwrap_or(default);
    let scalar = |key: &str, default: f32| number(json, key, default);
    let shift_scale = json
        .get("shadingShiftTexture")
        .map_or(1.0, |t| number(t, "scale", 1.0));
    MToon {
        // The text of the specification has black, its schema white.
        shade_color: color("shadeColorFactor", [0.0; 3]),
        shade_texture: textures.of(json, "shadeMultiplyTexture", path),
        shading_shift: scalar("shadingShiftFactor", 0.0),
        shading_shift_texture: textures.of(json, "shadingShiftTexture", path),
        shading_shift_texture_scale: shift_scale,
        shading_toony: scalar("shadingToonyFactor", 0.9).clamp(0.0, 1.0),
        gi_equalization: scalar("giEqualizationFactor", 0.9).clamp(0.0, 1.0),
        // Without a texture there is nothing to add.
        matcap: match json.get("matcapTexture") {
            Some(_) => color("matcapFactor", [1.0; 3]),
            None => [0.0; 3],
        },
        matcap_texture: textures.of(json, "matcapTexture", path),
        rim_color: color("parametricRimColorFactor", [0.0; 3]),
        rim_texture: textures.of(json, "rimMultiplyTexture", path),
        rim_lighting_mix: scalar("rimLightingMixFactor", 1.0).clamp(0.0, 1.0),
        rim_fresnel_power: scalar("parametricRimFresnelPowerFactor", 5.0).max(0.0),
        rim_lift: scalar("parametricRimLiftFactor", 0.0),
        outline: match json.get("outlineWidthMode").and_then(Value::as_str) {
            Some("worldCoordinates") => Outline::World,
            Some("screenCoordinates") => Outline::Screen,
            _ => Outline::None,
        },
        outline_width: scalar("outlineWidthFactor", 0.0).max(0.0),
        outline_width_texture: textures.of(json, "outlineWidthMultiplyTexture", path),
        outline_color: color("outlineColorFactor", [0.0; 3]),
        outline_lighting_mix: scalar("outlineLightingMixFactor", 1.0).clamp(0.0, 1.0),
        uv_scroll_x: scalar("uvAnimationScrollXSpeedFactor", 0.0),
        uv_scroll_y: scalar("uvAnimationScrollYSpeedFactor", 0.0),
        uv_rotation: scalar("uvAnimationRotationSpeedFactor", 0.0),
        uv_mask_texture: textures.of(json, "uvAnimationMaskTexture", path),
        transparent_with_z_write: json.get("transparentWithZWrite").and_then(Value::as_bool)
            == Some(true),
        render_queue_offset: json
            .get("renderQueueOffsetNumber")
            .and_then(Value::as_i64)
            .map_or(0, |n| n.clamp(-9, 9) as i32),
    }
}

/// A component of sRGB as a linear one.
fn linear(v: f32) -> f32 {
    if v <= 0.04045 {
        v / 12.92
    } else {
        ((v + 0.055) / 1.055).powf(2.4)
    }
}

/// Places in the order of drawing that the blended materials of VRM 0.x have among themselves.
///
/// 0.x counts Unity's queues: 3000 and down to 2951 without depth, 2501 and up to 2550 with it. 1.0 has ten places for
/// each, so only the order is kept.
pub(super) struct Queues {
    /// Without depth, at most 0; from the last drawn.
    blended: Vec<i64>,
    /// With depth, at least 0; from the first drawn.
    solid: Vec<i64>,
}

impl Queues {
    pub(super) fn of(properties: &[Value]) -> Self {
        let all = |mode| {
            let mtoon = properties.iter().filter(|json| is_mtoon(json));
            let of_mode = mtoon.filter(|json| blend_mode(json) == mode);
            let mut all: Vec<i64> = of_mode.map(queue).collect();
            all.sort_unstable();
            all.dedup();
            all
        };
        let mut blended = all(2);
        blended.reverse();
        Self {
            blended,
            solid: all(3),
        }
    }

    fn offset(&self, json: &Value) -> i32 {
        let (mode, queue) = (blend_mode(json), queue(json));
        let place = |all: &[i64]| all.iter().take(9).take_while(|q| **q != queue).count() as i32;
        match mode {
            2 => -place(&self.blended),
            3 => place(&self.solid),
            _ => 0,
        }
    }
}

fn is_mtoon(json: &Value) -> bool {
    json.get("shader").and_then(Value::as_str) == Some("VRM/MToon")
}

/// 0 opaque, 1 cut out, 2 blended, 3 blended with depth.
fn blend_mode(json: &Value) -> i32 {
    let floats = json.get("floatProperties");
    floats.map_or(0, |floats| number(floats, "_BlendMode", 0.0).round() as i32)
}

/// How far from where its mode begins; what lies outside the mode's range begins there.
fn queue(json: &Value) -> i64 {
    let queue = json.get("renderQueue").and_then(Value::as_i64);
    match (blend_mode(json), queue) {
        (2, Some(queue @ 2951..=3000)) => queue - 3000,
        (3, Some(queue @ 2501..=2550)) => queue - 2501,
        _ => 0,
    }
}

/// What VRM 0.x says of a material, over what glTF says of it.
pub(super) fn of_vrm0(
    json: &Value,
    at: usize,
    queues: &Queues,
    material: &mut Material,
    textures: &mut Textures<'_>,
) {
    let shader = json.get("shader").and_then(Value::as_str).unwrap_or("");
    if matches!(
        shader,
        "VRM/UnlitTexture"
            | "VRM/UnlitCutout"
            | "VRM/UnlitTransparent"
            | "VRM/UnlitTransparentZWrite"
    ) {
        material.shading = Shading::Unlit;
        return;
    }
    if !is_mtoon(json) {
        return;
    }
    let null = Value::Null;
    let floats = json.get("floatProperties").unwrap_or(&null);
    let vectors = json.get("vectorProperties").unwrap_or(&null);
    let names = json.get("textureProperties").unwrap_or(&null);
    let float = |key: &str, default: f32| number(floats, key, default);
    let color = |key: &str, default: [f32; 3]| {
        numbers::<3>(vectors, key).map_or(default, |c| c.map(|v| linear(v.clamp(0.0, 1.0))))
    };
    // Unity's textures begin at the lower left, glTF's at the upper left: the offset is counted from the other side.
    let main = numbers::<4>(vectors, "_MainTex").unwrap_or([0.0, 0.0, 1.0, 1.0]);
    let place = UvTransform {
        offset: glam::Vec2::new(main[0], 1.0 - main[1] - main[3]),
        rotation: 0.0,
        scale: glam::Vec2::new(main[2], main[3]),
    };
    let count = textures.count;
    let mut texture = |key: &str| {
        let index = names.get(key).and_then(Value::as_u64)?;
        let found = usize::try_from(index).ok().filter(|i| *i < count);
        if found.is_none() {
            textures.notes.push(format!(
                "/extensions/VRM/materialProperties/{at}/textureProperties/{key}: no such texture; left out"
            ));
        }
        found.map(|texture| TextureRef {
            texture,
            uv_set: 0,
            transform: place,
        })
    };
    if let Some(base) = numbers::<4>(vectors, "_Color") {
        let [r, g, b, a] = base.map(|v| v.clamp(0.0, 1.0));
        material.base_color = [linear(r), linear(g), linear(b), a];
    }
    let main = texture("_MainTex");
    material.base_color_texture = main.or(material.base_color_texture);
    material.normal_texture = texture("_BumpMap").or(material.normal_texture);
    material.normal_scale = float("_BumpScale", material.normal_scale);
    // Of all colours only this one is linear already, and may be brighter than white.
    let emission = numbers::<3>(vectors, "_EmissionColor");
    material.emissive = emission.map_or(material.emissive, |c| c.map(|v| v.max(0.0)));
    material.emissive_texture = texture("_EmissionMap").or(material.emissive_texture);
    let mode = blend_mode(json);
    material.alpha = match mode {
        1 => Alpha::Mask {
            cutoff: float("_Cutoff", 0.5).clamp(0.0, 1.0),
        },
        2 | 3 => Alpha::Blend,
        _ => Alpha::Opaque,
    };
    // 2 leaves back faces out, 0 nothing; 1, front faces, has no counterpart.
    material.double_sided = float("_CullMode", 2.0).round() as i32 != 2;
    // 0.x shades between shift and a point that toony brings nearer; 1.0 names the middle and the width.
    let (shift, toony) = (
        float("_ShadeShift", 0.0).clamp(-1.0, 1.0),
        float("_ShadeToony", 0.9).clamp(0.0, 1.0),
    );
    let (low, high) = (shift, shift + (1.0 - shift) * (1.0 - toony));
    let width_mode = float("_OutlineWidthMode", 0.0).round() as i32;
    let width = float("_OutlineWidth", 0.0).max(0.0);
    let matcap_texture = texture("_SphereAdd");
    material.shading = Shading::MToon(Box::new(MToon {
        shade_color: color("_ShadeColor", [0.97, 0.81, 0.86].map(linear)),
        // Where it has none, artists meant the lit one.
        shade_texture: texture("_ShadeTexture").or(main),
        shading_shift: (-(low + high) * 0.5).clamp(-1.0, 1.0),
        shading_shift_texture: None,
        shading_shift_texture_scale: 1.0,
        shading_toony: ((2.0 - (high - low)) * 0.5).clamp(0.0, 1.0),
        gi_equalization: (1.0 - float("_IndirectLightIntensity", 0.1)).clamp(0.0, 1.0),
        matcap: [matcap_texture.map_or(0.0, |_| 1.0); 3],
        matcap_texture,
        rim_color: color("_RimColor", [0.0; 3]),
        rim_texture: texture("_RimTexture"),
        // The importer lights the rim wholly, as 1.0 does by default.
        rim_lighting_mix: 1.0,
        rim_fresnel_power: float("_RimFresnelPower", 1.0).max(0.0),
        rim_lift: float("_RimLift", 0.0),
        outline: match width_mode {
            1 => Outline::World,
            2 => Outline::Screen,
            _ => Outline::None,
        },
        // Centimetres; or hundredths of half the picture's height.
        outline_width: match width_mode {
            2 => width * 0.01 * 0.5,
            _ => width * 0.01,
        },
        outline_width_texture: texture("_OutlineWidthTexture"),
        outline_color: color("_OutlineColor", [0.0; 3]),
        outline_lighting_mix: if float("_OutlineColorMode", 0.0).round() as i32 == 0 {
            0.0
        } else {
            float("_OutlineLightingMix", 1.0).clamp(0.0, 1.0)
        },
        uv_scroll_x: float("_UvAnimScrollX", 0.0),
        uv_scroll_y: -float("_UvAnimScrollY", 0.0),
        uv_rotation: float("_UvAnimRotation", 0.0) * std::f32::consts::TAU,
        uv_mask_texture: texture("_UvAnimMaskTexture"),
        transparent_with_z_write: mode == 3,
        render_queue_offset: queues.offset(json),
    }));
}
