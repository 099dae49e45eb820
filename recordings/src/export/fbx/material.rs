//! Materials as Phong, the one model that every reader knows, and their images within the file.
//!
//! Colours are linear, as Blender reads them. Roughness and metalness go where Blender and its kin look for
//! them: `Shininess = ((1 - roughness) * 10)^2` and `ReflectionFactor`.

use characters::{Alpha, Geometry, Material, TextureRef, Wrap};

use super::{
    document::Document,
    props::Props,
    record::{Record, Value, name_and_class},
};
use crate::export::names::{Rule, unique};

/// Numbers of the materials.
pub(super) struct Materials {
    ids: Vec<i64>,
    plain: Option<i64>,
}

impl Materials {
    /// The number of a material, or of the plain one where a mesh has none. 0 only where `write` was told of
    /// no such mesh.
    pub(super) fn id(&self, material: Option<usize>) -> i64 {
        let known = material.and_then(|m| self.ids.get(m)).copied();
        known.or(self.plain).unwrap_or(0)
    }
}

/// Adds all materials, textures and images. Returns their numbers, and names that had to change.
pub(super) fn write<'a>(
    document: &mut Document<'a>,
    geometry: &'a Geometry,
) -> (Materials, Vec<(String, String)>) {
    let names = unique(
        geometry.materials.iter().map(|m| m.name.as_str()),
        Rule::Fbx,
    );
    let textures = write_textures(document, geometry);
    let mut ids = Vec::with_capacity(geometry.materials.len());
    for (material, name) in geometry.materials.iter().zip(&names.written) {
        let id = document.id();
        document.add(record(id, name, material));
        for (reference, property) in [
            (material.base_color_texture.as_ref(), "DiffuseColor"),
            (material.normal_texture.as_ref(), "NormalMap"),
            (material.emissive_texture.as_ref(), "EmissiveColor"),
        ] {
            let texture = reference.and_then(|r: &TextureRef| textures.get(r.texture));
            if let Some(texture) = texture.copied().flatten() {
                document.connect_property(texture, id, property);
            }
        }
        ids.push(id);
    }
    let count = ids.len();
    let lacks = geometry
        .meshes
        .iter()
        .flat_map(|m| &m.primitives)
        .any(|p| p.material.is_none_or(|m| m >= count));
    let plain = lacks.then(|| {
        let id = document.id();
        document.add(phong(
            id,
            "Plain",
            &Phong {
                diffuse: [0.8; 3],
                emissive: [0.0; 3],
                opacity: 1.0,
                roughness: 1.0,
                metallic: 0.0,
            },
        ));
        id
    });
    (Materials { ids, plain }, names.changed)
}

struct Phong {
    diffuse: [f64; 3],
    emissive: [f64; 3],
    opacity: f64,
    roughness: f64,
    metallic: f64,
}

fn record<'a>(id: i64, name: &str, material: &Material) -> Record<'a> {
    let [r, g, b, a] = material.base_color.map(f64::from);
    let opacity = match material.alpha {
        Alpha::Opaque | Alpha::Mask { .. } => 1.0,
        Alpha::Blend => a.clamp(0.0, 1.0),
    };
    phong(
        id,
        name,
        &Phong {
            diffuse: [r, g, b],
            emissive: material.emissive.map(f64::from),
            opacity,
            roughness: f64::from(material.roughness).clamp(0.0, 1.0),
            metallic: f64::from(material.metallic).clamp(0.0, 1.0),
        },
    )
}

fn phong<'a>(id: i64, name: &str, look: &Phong) -> Record<'a> {
    let shininess = ((1.0 - look.roughness) * 10.0).powi(2);
    let props = Props::new()
        .color("DiffuseColor", look.diffuse)
        .number("DiffuseFactor", 1.0)
        .color("EmissiveColor", look.emissive)
        .number("EmissiveFactor", 1.0)
        .color("AmbientColor", [0.0; 3])
        .number("AmbientFactor", 0.0)
        .color("SpecularColor", [1.0; 3])
        .number("SpecularFactor", 0.25)
        .number("Shininess", shininess)
        .number("ShininessExponent", shininess)
        .color("ReflectionColor", [1.0; 3])
        .number("ReflectionFactor", look.metallic)
        .color("TransparentColor", [1.0; 3])
        .number("TransparencyFactor", 1.0 - look.opacity)
        .number("Opacity", look.opacity);
    Record::object("Material", id, name, "Material", "")
        .entry("Version", 102)
        .entry("ShadingModel", "phong")
        .entry("MultiLayer", 0)
        .child(props.done())
}

/// By texture, its number; none where its image is empty or of an unknown kind.
fn write_textures<'a>(document: &mut Document<'a>, geometry: &'a Geometry) -> Vec<Option<i64>> {
    // Names of files too, so identifiers: they hold nothing that a file system minds.
    let stems = unique(geometry.images.iter().map(|i| i.name.as_str()), Rule::Usd).written;
    let mut files = Vec::with_capacity(stems.len());
    let mut videos = Vec::with_capacity(stems.len());
    for (image, stem) in geometry.images.iter().zip(stems) {
        let ending = match image.mime.as_str() {
            "image/png" => "png",
            "image/jpeg" => "jpg",
            _ => "",
        };
        if ending.is_empty() || image.bytes.is_empty() {
            videos.push(None);
            files.push(String::new());
            continue;
        }
        let file = format!("{stem}.{ending}");
        let id = document.id();
        document.add(
            Record::object("Video", id, &file, "Video", "Clip")
                .entry("Type", "Clip")
                .child(Props::new().url("Path", &file).done())
                .entry("UseMipMap", 0)
                .entry("Filename", file.as_str())
                .entry("RelativeFilename", file.as_str())
                .entry("Content", Value::Bytes(&image.bytes)),
        );
        videos.push(Some(id));
        files.push(file);
    }
    let mut textures = Vec::with_capacity(geometry.textures.len());
    for texture in &geometry.textures {
        let video = videos.get(texture.image).copied().flatten();
        let (Some(video), Some(file)) = (video, files.get(texture.image)) else {
            textures.push(None);
            continue;
        };
        let id = document.id();
        let wrap = |wrap: &Wrap| i32::from(matches!(wrap, Wrap::Clamp));
        let props = Props::new()
            .choice("CurrentMappingType", 0)
            .text("UVSet", "UV0")
            .choice("WrapModeU", wrap(&texture.sampler.wrap_u))
            .choice("WrapModeV", wrap(&texture.sampler.wrap_v))
            .switch("UseMaterial", true);
        document.add(
            Record::object("Texture", id, file, "Texture", "")
                .entry("Type", "TextureVideoClip")
                .entry("Version", 202)
                .entry("TextureName", name_and_class(file, "Texture"))
                .child(props.done())
                .entry("Media", name_and_class(file, "Video"))
                .entry("FileName", file.as_str())
                .entry("RelativeFilename", file.as_str())
                .child(Record::new("ModelUVTranslation").value(0.0).value(0.0))
                .child(Record::new("ModelUVScaling").value(1.0).value(1.0))
                .entry("Texture_Alpha_Source", "None")
                .child(Record::new("Cropping").value(0).value(0).value(0).value(0)),
        );
        document.connect(video, id);
        textures.push(Some(id));
    }
    textures
}
