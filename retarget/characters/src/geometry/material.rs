//! Materials and textures as data.

use glam::Vec2;
use serde_json::Value;

use super::mtoon;
use crate::accessor::array;

/// What a surface looks like. Factors are linear.
#[derive(Clone, Debug, PartialEq)]
pub struct Material {
    /// As in the document; empty when it has none.
    pub name: String,
    /// The model.
    pub shading: Shading,
    /// Factor of the base colour.
    pub base_color: [f32; 4],
    /// sRGB.
    pub base_color_texture: Option<TextureRef>,
    /// 0..=1.
    pub metallic: f32,
    /// 0..=1.
    pub roughness: f32,
    /// G is roughness, B is metallic.
    pub metallic_roughness_texture: Option<TextureRef>,
    /// Tangent space, +Y up.
    pub normal_texture: Option<TextureRef>,
    /// Factor of its X and Y.
    pub normal_scale: f32,
    /// R.
    pub occlusion_texture: Option<TextureRef>,
    /// 0..=1.
    pub occlusion_strength: f32,
    /// Factor, strength multiplied in.
    pub emissive: [f32; 3],
    /// sRGB.
    pub emissive_texture: Option<TextureRef>,
    /// What alpha does.
    pub alpha: Alpha,
    /// Whether back faces are seen.
    pub double_sided: bool,
}

/// What alpha does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Alpha {
    /// Nothing.
    Opaque,
    /// Below the cutoff there is nothing.
    Mask {
        /// 0..=1.
        cutoff: f32,
    },
    /// Blended.
    Blend,
}

/// The model of a surface.
#[derive(Clone, Debug, PartialEq)]
pub enum Shading {
    /// Metallic and roughness.
    Pbr,
    /// As bright as it is.
    Unlit,
    /// Of a cartoon.
    MToon(Box<MToon>),
    /// Skin under which light spreads.
    Skin(SkinLook),
    /// An eye with an iris under a cornea.
    Eye(EyeLook),
}

/// Skin.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkinLook {
    /// Mean free path of red, green, blue in millimetres.
    pub scatter_mm: [f32; 3],
}

/// An eye, its iris around the middle of the texture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EyeLook {
    /// In units of the texture's coordinates.
    pub iris_radius: f32,
    /// Index of refraction of the cornea.
    pub ior: f32,
    /// How far the iris lies below the cornea, in units of the texture's coordinates.
    pub depth: f32,
}

/// `VRMC_materials_mtoon` 1.0, its names and ranges.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the extension's own names")]
pub struct MToon {
    pub shade_color: [f32; 3],
    pub shade_texture: Option<TextureRef>,
    pub shading_shift: f32,
    pub shading_shift_texture: Option<TextureRef>,
    pub shading_shift_texture_scale: f32,
    pub shading_toony: f32,
    pub gi_equalization: f32,
    pub matcap: [f32; 3],
    pub matcap_texture: Option<TextureRef>,
    pub rim_color: [f32; 3],
    pub rim_texture: Option<TextureRef>,
    pub rim_lighting_mix: f32,
    pub rim_fresnel_power: f32,
    pub rim_lift: f32,
    pub outline: Outline,
    pub outline_width: f32,
    pub outline_width_texture: Option<TextureRef>,
    pub outline_color: [f32; 3],
    pub outline_lighting_mix: f32,
    pub uv_scroll_x: f32,
    pub uv_scroll_y: f32,
    pub uv_rotation: f32,
    pub uv_mask_texture: Option<TextureRef>,
    pub transparent_with_z_write: bool,
    pub render_queue_offset: i32,
}

/// How wide an outline is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outline {
    /// None.
    None,
    /// In metres.
    World,
    /// In shares of the picture's height.
    Screen,
}

/// A texture as a material uses it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureRef {
    /// Index in [`Geometry::textures`](super::Geometry::textures).
    pub texture: usize,
    /// 0 or 1.
    pub uv_set: u8,
    /// `KHR_texture_transform`.
    pub transform: UvTransform,
}

/// `KHR_texture_transform`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UvTransform {
    /// Added last.
    pub offset: Vec2,
    /// Radians, counter-clockwise about the origin.
    pub rotation: f32,
    /// Multiplied first.
    pub scale: Vec2,
}

impl Default for UvTransform {
    fn default() -> Self {
        Self {
            offset: Vec2::ZERO,
            rotation: 0.0,
            scale: Vec2::ONE,
        }
    }
}

/// An image and how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Texture {
    /// Index in [`Geometry::images`](super::Geometry::images); beyond them where the document names no image, as is noted.
    pub image: usize,
    /// How it is read.
    pub sampler: Sampler,
}

/// How a texture is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sampler {
    /// Blended when it is enlarged.
    pub mag_linear: bool,
    /// Blended when it is made smaller.
    pub min_linear: bool,
    /// Smaller copies are used.
    pub mipmaps: bool,
    /// Beyond the edge, to the side.
    pub wrap_u: Wrap,
    /// Beyond the edge, up and down.
    pub wrap_v: Wrap,
}

impl Default for Sampler {
    fn default() -> Self {
        Self {
            mag_linear: true,
            min_linear: true,
            mipmaps: true,
            wrap_u: Wrap::Repeat,
            wrap_v: Wrap::Repeat,
        }
    }
}

/// What is beyond the edge of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// It again.
    Repeat,
    /// It again, mirrored.
    Mirror,
    /// Its edge.
    Clamp,
}

impl Default for Material {
    /// The glTF default: white, metallic, rough.
    fn default() -> Self {
        Self {
            name: String::new(),
            shading: Shading::Pbr,
            base_color: [1.0; 4],
            base_color_texture: None,
            metallic: 1.0,
            roughness: 1.0,
            metallic_roughness_texture: None,
            normal_texture: None,
            normal_scale: 1.0,
            occlusion_texture: None,
            occlusion_strength: 1.0,
            emissive: [0.0; 3],
            emissive_texture: None,
            alpha: Alpha::Opaque,
            double_sided: false,
        }
    }
}

/// What materials need to know of the rest of the document.
pub(super) struct Textures<'n> {
    pub(super) count: usize,
    pub(super) notes: &'n mut Vec<String>,
}

impl Textures<'_> {
    /// The texture of a member, if it has a usable one.
    pub(super) fn of(&mut self, holder: &Value, key: &str, path: &str) -> Option<TextureRef> {
        self.at(holder.get(key)?, &format!("{path}/{key}"))
    }

    fn at(&mut self, info: &Value, path: &str) -> Option<TextureRef> {
        let index = info.get("index").and_then(Value::as_u64);
        let texture = index
            .and_then(|i| usize::try_from(i).ok())
            .filter(|i| *i < self.count);
        let Some(texture) = texture else {
            self.notes
                .push(format!("{path}: no such texture; left out"));
            return None;
        };
        let transform = info.pointer("/extensions/KHR_texture_transform");
        let set = transform
            .and_then(|t| t.get("texCoord"))
            .or_else(|| info.get("texCoord"))
            .and_then(Value::as_u64)
            .unwrap_or(0);
        if set > 1 {
            self.notes.push(format!(
                "{path}: texture coordinates {set} are not read; 0 are taken"
            ));
        }
        let pair = |key: &str, default: Vec2| {
            let read = transform.and_then(|t| numbers::<2>(t, key));
            read.map_or(default, Vec2::from_array)
        };
        Some(TextureRef {
            texture,
            uv_set: u8::from(set == 1),
            transform: UvTransform {
                offset: pair("offset", Vec2::ZERO),
                rotation: transform.map_or(0.0, |t| number(t, "rotation", 0.0)),
                scale: pair("scale", Vec2::ONE),
            },
        })
    }
}

/// A finite number, or the default.
pub(super) fn number(of: &Value, key: &str, default: f32) -> f32 {
    let read = of.get(key).and_then(Value::as_f64).map(|x| x as f32);
    read.filter(|x| x.is_finite()).unwrap_or(default)
}

/// So many finite numbers.
pub(super) fn numbers<const N: usize>(of: &Value, key: &str) -> Option<[f32; N]> {
    let items = array(of, key);
    let mut out = [0.0; N];
    if items.len() < N {
        return None;
    }
    for (out, item) in out.iter_mut().zip(items) {
        *out = item.as_f64().map(|x| x as f32).filter(|x| x.is_finite())?;
    }
    Some(out)
}

/// All materials of a document.
pub(super) fn materials(
    document: &Value,
    num_textures: usize,
    notes: &mut Vec<String>,
) -> Vec<Material> {
    let of_vrm0 = document.pointer("/extensions/VRM/materialProperties");
    let of_vrm0 = of_vrm0.and_then(Value::as_array);
    let of_vrm0 = of_vrm0.map_or(&[] as &[Value], Vec::as_slice);
    let queues = mtoon::Queues::of(of_vrm0);
    array(document, "materials")
        .iter()
        .enumerate()
        .map(|(at, json)| {
            let path = format!("/materials/{at}");
            let mut textures = Textures {
                count: num_textures,
                notes,
            };
            let mut material = plain(json, &path, &mut textures);
            material.shading = shading(json, &path, &mut textures);
            if let Some(properties) = of_vrm0.get(at) {
                mtoon::of_vrm0(properties, at, &queues, &mut material, &mut textures);
            }
            left_out(json, &path, textures.notes);
            material
        })
        .collect()
}

/// Notes what else is said of a material.
fn left_out(json: &Value, path: &str, notes: &mut Vec<String>) {
    const READ: [&str; 4] = [
        "KHR_materials_emissive_strength",
        "KHR_materials_unlit",
        "VRMC_materials_hdr_emissiveMultiplier",
        "VRMC_materials_mtoon",
    ];
    let extensions = json.get("extensions").and_then(Value::as_object);
    for name in extensions.into_iter().flat_map(|all| all.keys()) {
        if !READ.contains(&name.as_str()) {
            let name: String = name.chars().take(100).collect();
            notes.push(format!("{path}/extensions/{name}: left out"));
        }
    }
}

fn plain(json: &Value, path: &str, textures: &mut Textures<'_>) -> Material {
    let null = Value::Null;
    let pbr = json.get("pbrMetallicRoughness").unwrap_or(&null);
    let pbr_path = format!("{path}/pbrMetallicRoughness");
    let factor = |extension: &str, key: &str| {
        let extension = json.get("extensions").and_then(|e| e.get(extension));
        extension.map_or(1.0, |e| number(e, key, 1.0).max(0.0))
    };
    let strength = factor("KHR_materials_emissive_strength", "emissiveStrength")
        * factor(
            "VRMC_materials_hdr_emissiveMultiplier",
            "emissiveMultiplier",
        );
    let emissive = numbers::<3>(json, "emissiveFactor").unwrap_or([0.0; 3]);
    let unit = |x: f32| x.clamp(0.0, 1.0);
    Material {
        name: json
            .get("name")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .to_owned(),
        shading: Shading::Pbr,
        base_color: numbers::<4>(pbr, "baseColorFactor")
            .unwrap_or([1.0; 4])
            .map(unit),
        base_color_texture: textures.of(pbr, "baseColorTexture", &pbr_path),
        metallic: unit(number(pbr, "metallicFactor", 1.0)),
        roughness: unit(number(pbr, "roughnessFactor", 1.0)),
        metallic_roughness_texture: textures.of(pbr, "metallicRoughnessTexture", &pbr_path),
        normal_texture: textures.of(json, "normalTexture", path),
        normal_scale: json
            .get("normalTexture")
            .map_or(1.0, |t| number(t, "scale", 1.0)),
        occlusion_texture: textures.of(json, "occlusionTexture", path),
        occlusion_strength: json
            .get("occlusionTexture")
            .map_or(1.0, |t| unit(number(t, "strength", 1.0))),
        emissive: emissive.map(|e| (e * strength).max(0.0)),
        emissive_texture: textures.of(json, "emissiveTexture", path),
        alpha: match json.get("alphaMode").and_then(Value::as_str) {
            Some("MASK") => Alpha::Mask {
                cutoff: unit(number(json, "alphaCutoff", 0.5)),
            },
            Some("BLEND") => Alpha::Blend,
            _ => Alpha::Opaque,
        },
        double_sided: json.get("doubleSided").and_then(Value::as_bool) == Some(true),
    }
}

fn shading(json: &Value, path: &str, textures: &mut Textures<'_>) -> Shading {
    if let Some(mtoon) = json.pointer("/extensions/VRMC_materials_mtoon") {
        let path = format!("{path}/extensions/VRMC_materials_mtoon");
        return Shading::MToon(Box::new(mtoon::of_vrm1(mtoon, &path, textures)));
    }
    if json.pointer("/extensions/KHR_materials_unlit").is_some() {
        return Shading::Unlit;
    }
    let own = json.pointer("/extras/ghostlight");
    let look = own.and_then(|o| o.get("look")).and_then(Value::as_str);
    match (look, own) {
        (Some("skin"), Some(own)) => Shading::Skin(SkinLook {
            scatter_mm: numbers::<3>(own, "scatter").unwrap_or([3.7, 1.4, 0.7]),
        }),
        (Some("eye"), Some(own)) => Shading::Eye(EyeLook {
            iris_radius: number(own, "iris_radius_uv", 0.16).clamp(0.01, 0.5),
            ior: number(own, "ior", 1.376).clamp(1.0, 2.0),
            depth: number(own, "depth", 0.05).clamp(0.0, 0.5),
        }),
        _ => Shading::Pbr,
    }
}

/// All textures of a document, one of them for each of its own.
pub(super) fn textures(
    document: &Value,
    num_images: usize,
    notes: &mut Vec<String>,
) -> Vec<Texture> {
    let samplers = array(document, "samplers");
    let index = |of: &Value, key: &str| {
        let read = of.get(key).and_then(Value::as_u64);
        read.and_then(|i| usize::try_from(i).ok())
    };
    array(document, "textures")
        .iter()
        .enumerate()
        .map(|(at, json)| {
            // What these name cannot be decoded; it is better to know that than nothing.
            let others = ["KHR_texture_basisu", "EXT_texture_webp", "EXT_texture_avif"];
            let others = others.iter().find_map(|name| {
                let other = json.get("extensions")?.get(name)?;
                index(other, "source")
            });
            let image = index(json, "source").or(others);
            let image = image.filter(|image| *image < num_images);
            if image.is_none() {
                notes.push(format!("/textures/{at}: no such image"));
            }
            let sampler = index(json, "sampler").and_then(|s| samplers.get(s));
            Texture {
                image: image.unwrap_or(usize::MAX),
                sampler: sampler.map_or_else(Sampler::default, sampler_of),
            }
        })
        .collect()
}

fn sampler_of(json: &Value) -> Sampler {
    let code = |key: &str| json.get(key).and_then(Value::as_u64).unwrap_or(0);
    let wrap = |key: &str| match code(key) {
        33071 => Wrap::Clamp,
        33648 => Wrap::Mirror,
        _ => Wrap::Repeat,
    };
    let min = code("minFilter");
    Sampler {
        mag_linear: code("magFilter") != 9728,
        min_linear: !matches!(min, 9728 | 9984 | 9986),
        mipmaps: !matches!(min, 9728 | 9729),
        wrap_u: wrap("wrapS"),
        wrap_v: wrap("wrapT"),
    }
}
