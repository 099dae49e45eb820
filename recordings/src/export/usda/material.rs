//! Materials: which textures they have, and where those will be.
//!
//! Textures are named by where they will be, `FOLDER/INDEX_NAME.png`; nothing is decoded here. What the surface has no
//! input for is left out and noted: the looks of toon, unlit, skin and eye are its colours and textures.

use std::collections::BTreeSet;

use characters::{Material, Shading, TextureRef, Wrap};
use glam::Vec2;

use super::{Parts, Path, UsdaError, UsdaImage, UsdaOptions, UsdaReport};
use crate::export::names::{Rule, unique};

/// A texture of a material.
pub(super) struct Sampled {
    /// Name of the shader.
    pub(super) name: &'static str,
    /// Image, relative to the file.
    pub(super) path: String,
    pub(super) is_srgb: bool,
    pub(super) scale: [f32; 4],
    pub(super) bias: [f32; 4],
    pub(super) wraps: [&'static str; 2],
    /// `st` or `st1`.
    pub(super) primvar: &'static str,
    /// Scale and translation of USD's coordinates, where they are not those of the mesh.
    pub(super) moved: Option<(Vec2, Vec2)>,
}

/// A material with its textures found.
pub(super) struct Look<'a> {
    pub(super) material: &'a Material,
    pub(super) textures: Vec<Sampled>,
}

/// All materials with their names.
pub(super) struct Materials<'a> {
    pub(super) names: Vec<String>,
    pub(super) looks: Vec<Look<'a>>,
}

impl Materials<'_> {
    /// Path of a material in the stage of that character.
    pub(super) fn path(&self, material: usize, character: &Path) -> Path {
        let root = character.0.strip_suffix("/Character");
        let root = Path(root.unwrap_or_default().to_owned());
        let name = self.names.get(material).map_or("unnamed", String::as_str);
        root.child("Materials").child(name)
    }
}

/// Finds names, textures and images, and says which images belong beside the file.
pub(super) fn plan<'a>(
    parts: &Parts<'a>,
    options: &UsdaOptions<'_>,
    report: &mut UsdaReport,
) -> Result<Materials<'a>, UsdaError> {
    if let Some(folder) = options.textures {
        let is_good = |part: &str| !part.is_empty() && part != "." && part != "..";
        if !folder.split('/').all(is_good) || folder.contains(['@', '\\']) {
            let folder = folder.to_owned();
            return Err(UsdaError::Folder { folder });
        }
    }
    let mut names = unique(parts.materials.iter().map(|m| m.name.as_str()), Rule::Usd);
    report.names.append(&mut names.changed);
    let files = unique(parts.images.iter().map(|i| i.name.as_str()), Rule::Usd).written;
    let mut finder = Finder {
        parts,
        folder: options.textures,
        files,
        used: BTreeSet::new(),
        report: &mut *report,
    };
    let mut looks = Vec::with_capacity(parts.materials.len());
    for material in parts.materials {
        looks.push(finder.look(material)?);
    }
    let used = std::mem::take(&mut finder.used);
    report.images = used
        .into_iter()
        .map(|(image, path)| UsdaImage { path, image })
        .collect();
    Ok(Materials {
        names: names.written,
        looks,
    })
}

struct Finder<'a, 'r> {
    parts: &'r Parts<'a>,
    folder: Option<&'r str>,
    /// Names of images as parts of a file name.
    files: Vec<String>,
    used: BTreeSet<(usize, String)>,
    report: &'r mut UsdaReport,
}

impl<'a> Finder<'a, '_> {
    fn look(&mut self, material: &'a Material) -> Result<Look<'a>, UsdaError> {
        let look = match &material.shading {
            Shading::Pbr => None,
            Shading::Unlit => Some("unlit"),
            Shading::MToon(_) => Some("toon"),
            Shading::Skin(_) => Some("skin"),
            Shading::Eye(_) => Some("eye"),
        };
        if let Some(look) = look {
            self.report.notes.push(format!(
                "material {} is {look}; it is written as a lit surface of its colours",
                material.name
            ));
        }
        let [r, g, b] = material.emissive;
        let (metallic, roughness) = (material.metallic, material.roughness);
        let shade = material.occlusion_strength;
        let wanted = [
            (
                "BaseColor",
                &material.base_color_texture,
                true,
                material.base_color,
                [0.0; 4],
            ),
            (
                "MetallicRoughness",
                &material.metallic_roughness_texture,
                false,
                [1.0, roughness, metallic, 1.0],
                [0.0; 4],
            ),
            (
                "Normal",
                &material.normal_texture,
                false,
                // The schema wants a normal map whole: its strength has no place here.
                [2.0, 2.0, 2.0, 1.0],
                [-1.0, -1.0, -1.0, 0.0],
            ),
            (
                "Occlusion",
                &material.occlusion_texture,
                false,
                [shade, 1.0, 1.0, 1.0],
                [1.0 - shade, 0.0, 0.0, 0.0],
            ),
            (
                "Emissive",
                &material.emissive_texture,
                true,
                [r, g, b, 1.0],
                [0.0; 4],
            ),
        ];
        let mut textures = Vec::new();
        for (name, reference, is_srgb, scale, bias) in wanted {
            let Some(reference) = reference else { continue };
            let Some((path, wraps)) = self.file(reference)? else {
                continue;
            };
            textures.push(Sampled {
                name,
                path,
                is_srgb,
                scale,
                bias,
                wraps,
                primvar: if reference.uv_set == 0 { "st" } else { "st1" },
                moved: self.moved(reference, &material.name),
            });
        }
        Ok(Look { material, textures })
    }

    /// Where the image of a texture will be, and how it repeats; none without a folder.
    fn file(
        &mut self,
        reference: &TextureRef,
    ) -> Result<Option<(String, [&'static str; 2])>, UsdaError> {
        let index = reference.texture;
        let what = "texture";
        let texture = self.parts.textures.get(index);
        let texture = texture.ok_or(UsdaError::Geometry { what, index })?;
        let index = texture.image;
        let what = "image";
        let image = self.parts.images.get(index);
        let image = image.ok_or(UsdaError::Geometry { what, index })?;
        let Some(folder) = self.folder else {
            return Ok(None);
        };
        let extension = match image.mime.as_str() {
            "image/png" => "png",
            "image/jpeg" => "jpg",
            other => {
                let note = format!(
                    "image {index} is {other}, which is not written: {}",
                    image.name
                );
                self.report.notes.push(note);
                return Ok(None);
            }
        };
        let name = self.files.get(index).map_or("image", String::as_str);
        let path = format!("{folder}/{index}_{name}.{extension}");
        self.used.insert((index, path.clone()));
        let wraps = [&texture.sampler.wrap_u, &texture.sampler.wrap_v].map(|wrap| match wrap {
            Wrap::Repeat => "repeat",
            Wrap::Mirror => "mirror",
            Wrap::Clamp => "clamp",
        });
        Ok(Some((path, wraps)))
    }

    /// glTF's offset and scale count from the top, USD's from the bottom.
    fn moved(&mut self, reference: &TextureRef, material: &str) -> Option<(Vec2, Vec2)> {
        let transform = &reference.transform;
        if transform.rotation != 0.0 {
            let note = format!("a texture of material {material} is turned, which is left out");
            self.report.notes.push(note);
        }
        let (offset, scale) = (transform.offset, transform.scale);
        let translation = Vec2::new(offset.x, 1.0 - scale.y - offset.y);
        (scale != Vec2::ONE || translation != Vec2::ZERO).then_some((scale, translation))
    }
}
