//! A scene as USD text: UsdSkel for the character, cameras and props beside it.
//!
//! ```text
//! /NAME                   Xform, the default prim
//!   Character             SkelRoot
//!     Skeleton            joints as paths, bind transforms of the model, rest transforms of the parent
//!       Animation         translations, rotations, scales, blend shape weights; a sample a frame
//!     MESH …              a mesh per node that shows one; a GeomSubset per primitive where there are several
//!       SHAPE …           a BlendShape per morph target
//!   Materials             UsdPreviewSurface
//!   CAMERA …, PROP …
//! ```
//!
//! Time codes are frames: `timeCodesPerSecond` is the take's rate, the first frame is 0; the timecode is in
//! `customLayerData`. Programs that take a code for a frame of their own rate, such as Blender, play at that rate.
//!
//! From the house frame (see [`hub`]): axes and metres as they are (`upAxis` Y, `metersPerUnit` 1); quaternions w
//! first; matrices by rows; texture coordinates from the bottom; a camera's lens and aperture in tenths of a unit,
//! which here is 0.1 m: 35 mm are 0.35.
//!
//! What OpenUSD and its readers want and no validator says:
//! - scales are authored, though all are 1: without them OpenUSD evaluates no joint at all;
//! - joints are written without scale (see the notes on nodes in BVH's room): a half float is too coarse for the
//!   0.01 of an armature, so the scale goes into the bind transforms;
//! - two meshes may each have a `jawOpen` that moves differently: each distinct motion has a token of its own, and the
//!   order of `blendShapes` is that of `blendShapeWeights` of every sample;
//! - skins that are bound to one joint in two ways get a Skeleton each, all with the one Animation.
//!
//! Samples are written frame by frame; what does not change is not repeated. Numbers are the shortest that read as
//! the same 32-bit float. Weights are clamped to 0..=1.

mod facts;
mod material;
mod mesh;
mod network;
mod objects;
mod shapes;
mod skeleton;
#[cfg(test)]
mod tests;
mod text;

use std::io::{self, Write};

use characters::{Character, Geometry, Image, Material, Mesh, MeshInstance, Skin, Texture};
use thiserror::Error;

use self::{
    mesh::Place,
    shapes::Shapes,
    skeleton::Skeleton,
    text::{D, Quoted, Text},
};
use super::{
    bvh::nodes::Nodes,
    names::{Names, Rule, unique},
    scene::{Scene, SceneFault},
};

/// Who wrote the file.
const CREATOR: &str = concat!("Ghostlight ", env!("CARGO_PKG_VERSION"));

/// How USD text is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsdaOptions<'a> {
    /// Folder of the images, relative to the file, `/` between its parts; the report says what belongs there.
    /// `None` writes colours without textures.
    pub textures: Option<&'a str>,
}

/// An image that belongs beside the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsdaImage {
    /// Where, relative to the file.
    pub path: String,
    /// Index in [`Geometry::images`], whose bytes are the file.
    pub image: usize,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsdaReport {
    /// The character's names and the file's, of those that differ.
    pub names: Vec<(String, String)>,
    /// What must be written beside the file.
    pub images: Vec<UsdaImage>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Why USD text cannot be written.
#[derive(Debug, Error)]
pub enum UsdaError {
    /// The scene is not one.
    #[error(transparent)]
    Scene(#[from] SceneFault),
    /// The geometry is not this character's, or not as the character gives it.
    #[error("{what} {index} of the geometry is not there")]
    Geometry {
        /// `mesh`, `skin`, `node`, `material`, `texture` or `image`.
        what: &'static str,
        /// The index that leads nowhere.
        index: usize,
    },
    /// A folder that cannot be written into the file.
    #[error(
        "textures cannot be in {folder:?}: an empty name, an absolute path or one with @ or \\"
    )]
    Folder {
        /// The folder.
        folder: String,
    },
    /// The file cannot be written.
    #[error("cannot write the USD file: {0}")]
    Io(#[from] io::Error),
}

/// Writes the scene.
///
/// # Errors
/// The scene or its geometry is none, or `out` fails.
pub fn write_usda(
    scene: &Scene<'_>,
    out: &mut impl Write,
    options: &UsdaOptions<'_>,
) -> Result<UsdaReport, UsdaError> {
    let mut nodes = Nodes::new(scene)?;
    let parts = Parts::of(scene.geometry);
    parts.check(scene.character)?;
    let mut report = UsdaReport::default();
    let materials = material::plan(&parts, options, &mut report)?;
    let skeleton = Skeleton::new(scene, &parts, &mut nodes, &mut report);
    let shapes = Shapes::new(scene, &parts, &mut report);
    let mesh_names = mesh::names(scene, &parts, &mut report);

    let mut root = unique(std::iter::once(scene.name), Rule::Usd);
    report.names.append(&mut root.changed);
    let root = root.written.first().map_or("Scene", String::as_str);
    let mut out = io::BufWriter::with_capacity(1 << 16, out);
    let mut text = Text::new(&mut out);
    text.line(format_args!("#usda 1.0"))?;
    header(scene, root, &mut text)?;
    text.blank()?;
    text.prim("Xform", root, &[])?;

    let character = Path(format!("/{root}/Character"));
    text.prim("SkelRoot", "Character", &[])?;
    skeleton.write(&character, scene, &shapes, &mut nodes, &mut text)?;
    let place = Place {
        character: &character,
        materials: &materials,
        skeleton: &skeleton,
        shapes: &shapes,
        names: &mesh_names,
    };
    mesh::write(scene, &parts, &place, &mut text)?;
    text.close("}")?;

    let objects = object_names(scene, &mut report);
    network::write(&materials, root, &mut text)?;
    objects::write(scene, &objects.written, &mut text)?;
    text.close("}")?;
    text.flush()?;
    Ok(report)
}

/// The geometry, or none of it.
struct Parts<'a> {
    meshes: &'a [Mesh],
    skins: &'a [Skin],
    materials: &'a [Material],
    textures: &'a [Texture],
    images: &'a [Image],
    instances: &'a [MeshInstance],
}

impl<'a> Parts<'a> {
    fn of(geometry: Option<&'a Geometry>) -> Self {
        match geometry {
            Some(geometry) => Self {
                meshes: &geometry.meshes,
                skins: &geometry.skins,
                materials: &geometry.materials,
                textures: &geometry.textures,
                images: &geometry.images,
                instances: &geometry.instances,
            },
            None => Self {
                meshes: &[],
                skins: &[],
                materials: &[],
                textures: &[],
                images: &[],
                instances: &[],
            },
        }
    }

    /// Whether every index of meshes, skins and nodes leads somewhere. Those of materials are looked up when met.
    fn check(&self, character: &Character) -> Result<(), UsdaError> {
        let within = |what: &'static str, index: usize, count: usize| {
            if index < count {
                Ok(())
            } else {
                Err(UsdaError::Geometry { what, index })
            }
        };
        let num_nodes = character.nodes.len();
        for instance in self.instances {
            within("node", instance.node, num_nodes)?;
            within("mesh", instance.mesh, self.meshes.len())?;
            if let Some(skin) = instance.skin {
                within("skin", skin, self.skins.len())?;
            }
        }
        for skin in self.skins {
            for joint in &skin.joints {
                within("node", *joint, num_nodes)?;
            }
        }
        for primitive in self.meshes.iter().flat_map(|mesh| &mesh.primitives) {
            if let Some(material) = primitive.material {
                within("material", material, self.materials.len())?;
            }
        }
        Ok(())
    }
}

/// A prim's place in the stage.
struct Path(String);

impl Path {
    fn child(&self, name: &str) -> Self {
        Self(format!("{}/{name}", self.0))
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Names of what stands beside the character, cameras in front of props.
fn object_names(scene: &Scene<'_>, report: &mut UsdaReport) -> Names {
    let cameras = scene.cameras.iter().map(|c| c.name.as_str());
    let props = scene.props.iter().map(|p| p.name.as_str());
    let taken = ["Character", "Materials"].into_iter();
    let mut names = unique(taken.chain(cameras).chain(props), Rule::Usd);
    names.written.drain(..2);
    report.names.append(&mut names.changed);
    names
}

fn header(scene: &Scene<'_>, root: &str, text: &mut Text<'_, impl Write>) -> io::Result<()> {
    let rate = D(scene.rate.hertz());
    text.open(format_args!("("))?;
    text.open(format_args!("customLayerData = {{"))?;
    text.line(format_args!("string creator = {}", Quoted(CREATOR)))?;
    text.open(format_args!("dictionary take = {{"))?;
    let start = scene.start.to_string();
    text.line(format_args!("string startTimecode = {}", Quoted(&start)))?;
    let own = scene.start.rate.to_string();
    text.line(format_args!("string timecodeRate = {}", Quoted(&own)))?;
    text.close("}")?;
    facts::write("facts", &scene.facts, text)?;
    text.close("}")?;
    text.line(format_args!("defaultPrim = {}", Quoted(root)))?;
    let last = scene.num_frames.saturating_sub(1);
    text.line(format_args!("endTimeCode = {last}"))?;
    text.line(format_args!("framesPerSecond = {rate}"))?;
    text.line(format_args!("metersPerUnit = 1"))?;
    text.line(format_args!("startTimeCode = 0"))?;
    text.line(format_args!("timeCodesPerSecond = {rate}"))?;
    text.line(format_args!("upAxis = \"Y\""))?;
    text.close(")")
}
