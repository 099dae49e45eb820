//! A take as binary FBX 7.4: skeleton, skinned meshes with shapes, cameras and objects, one animation.
//!
//! The house frame goes in as it is (+Y up, +Z to the front, right-handed), in centimetres, `UnitScaleFactor` 1:
//! what Unreal, Unity and Blender take without a factor. Angles are degrees about X, then Y, then Z.
//!
//! ```text
//! root ── root bone ── bones            Model LimbNode; rest in PreRotation, no scales
//!      ├─ meshes                        Model Mesh ── Geometry ── Skin ── a Cluster per joint
//!      │                                           └─ BlendShape ── a channel ── its shape
//!      ├─ cameras                       Model Camera, looks along +X as the format has it
//!      └─ objects                       Model Null
//! stack ── layer ── a CurveNode per moved property ── a curve per axis
//! ```
//!
//! Key `i` is at frame `i`, from 0, in ticks of 1 / 46,186,158,000 s. Weights are written as per cent, clamped to
//! 0..100. The take's facts are properties of the user at the root bone, and all of them as JSON the comment of the
//! scene. Equal scenes give equal bytes: numbers are given in order, and the date of the file is fixed.
//!
//! Written from the reading side of ufbx and Blender, and the property lists of Autodesk's documentation.
//!
//! Not carried: transforms of textures, vertex colours, tangents, textures beyond base colour, normal and emission.

mod animation;
mod document;
mod euler;
#[cfg(test)]
mod fixture;
mod flat;
mod material;
mod mesh;
mod props;
#[cfg(test)]
mod read_back;
mod record;
mod rig;
mod stage;
#[cfg(test)]
mod tests;

use serde_json::Value as Json;
use thiserror::Error;

use self::{animation::Animation, document::Document, props::Props, rig::Rig};
use super::{
    names::{Rule, unique},
    scene::{Scene, SceneFault},
};

/// A written file.
#[derive(Clone, Debug, PartialEq)]
pub struct FbxFile {
    /// The whole file.
    pub bytes: Vec<u8>,
    /// Names of nodes, shapes, materials, cameras and objects that had to change: original and written.
    pub names: Vec<(String, String)>,
}

/// Why a scene cannot be written.
#[derive(Debug, Error)]
pub enum FbxError {
    /// The scene itself is faulty.
    #[error(transparent)]
    Scene(#[from] SceneFault),
    /// Nothing to show: neither a bone, nor a mesh, a camera or an object.
    #[error("the take has nothing that a file could hold: no joint, mesh, camera or object")]
    Empty,
    /// Nodes that are each other's parents.
    #[error("the character's nodes form a loop")]
    Loop,
    /// Beyond the 4 GiB that version 7.4 can address.
    #[error(
        "the file would be larger than the 4 GiB that the format allows ({bytes} bytes): export fewer frames"
    )]
    TooLarge {
        /// Bytes, as far as known.
        bytes: u64,
    },
    /// The encoder refused a record; a fault of ours.
    #[error("the encoder refused a record: {0}")]
    Encoding(String),
}

/// The scene as the bytes of an FBX file.
///
/// # Errors
/// A faulty or empty scene, or one too large for the format.
pub fn write_fbx(scene: &Scene<'_>) -> Result<FbxFile, FbxError> {
    scene.check()?;
    let mut rig = Rig::new(scene)?;
    let names = Names::new(scene, &rig);
    let facts = facts(scene);
    let mut document = Document::new();
    let write_facts = |props: Props| props.facts(&facts);
    let top = rig.write(&mut document, &names.bones, &write_facts);

    let mut changed = names.changed;
    let mut meshes: Vec<mesh::Written> = Vec::new();
    if let Some(geometry) = scene.geometry {
        let (materials, renamed) = material::write(&mut document, geometry);
        changed.extend(renamed);
        for (instance, name) in geometry.instances.iter().zip(&names.meshes) {
            let id = |material| materials.id(material);
            meshes.extend(mesh::write(
                &mut document,
                geometry,
                &rig,
                instance,
                name,
                &id,
            ));
        }
    }
    changed.extend(meshes.iter().flat_map(|m| m.renamed.iter().cloned()));
    let skinned = meshes.iter().filter(|m| m.skinned).map(|m| m.model);
    rig.write_bind_pose(&mut document, skinned);
    let tracks = scene.cameras.iter().zip(&names.cameras);
    let cameras: Vec<stage::Camera> = tracks
        .map(|(track, name)| stage::camera(&mut document, track, name))
        .collect();
    let tracks = scene.props.iter().zip(&names.props);
    let props: Vec<i64> = tracks
        .map(|(_, name)| stage::prop(&mut document, name))
        .collect();
    if top.is_none() && meshes.is_empty() && cameras.is_empty() && props.is_empty() {
        return Err(FbxError::Empty);
    }

    let mut animation = Animation::new(&mut document, scene, &names.animation);
    for joint in &scene.joints {
        rig.animate(&mut animation, joint);
    }
    for morph in &scene.morphs {
        for mesh in meshes.iter().filter(|m| m.node == morph.node) {
            mesh.animate(&mut animation, morph);
        }
    }
    for (track, camera) in scene.cameras.iter().zip(&cameras) {
        camera.animate(&mut animation, track);
    }
    for (track, id) in scene.props.iter().zip(&props) {
        stage::animate_prop(&mut animation, *id, track);
    }
    Ok(FbxFile {
        bytes: record::encode(&document.finish(scene, &names.animation))?,
        names: changed,
    })
}

/// Names of all models, for no two may be equal.
struct Names {
    animation: String,
    /// One per bone, and one for a root above them.
    bones: Vec<String>,
    /// One per instance of a mesh.
    meshes: Vec<String>,
    cameras: Vec<String>,
    props: Vec<String>,
    changed: Vec<(String, String)>,
}

impl Names {
    fn new(scene: &Scene<'_>, rig: &Rig) -> Self {
        let nodes = &scene.character.nodes;
        let mut all: Vec<String> = Vec::new();
        all.extend(rig.bones.iter().map(|bone| nodes[*bone].name.clone()));
        // Counted as a name only where it is written.
        all.extend((rig.num_roots() > 1).then(|| "Root".to_owned()));
        let num_bones = all.len();
        let mut num_meshes = 0;
        if let Some(geometry) = scene.geometry {
            num_meshes = geometry.instances.len();
            all.extend(geometry.instances.iter().map(|instance| {
                let node = nodes.get(instance.node).map_or("", |n| n.name.as_str());
                let mesh = geometry.meshes.get(instance.mesh);
                let mesh = mesh.map_or("", |m| m.name.as_str());
                match (node, rig.bones.contains(&instance.node)) {
                    ("", _) => mesh.to_owned(),
                    (node, true) => format!("{node}_mesh"),
                    (node, false) => node.to_owned(),
                }
            }));
        }
        all.extend(scene.cameras.iter().map(|c| c.name.clone()));
        all.extend(scene.props.iter().map(|p| p.name.clone()));
        let names = unique(all.iter().map(String::as_str), Rule::Fbx);
        let mut written = names.written.into_iter();
        let mut next = |count: usize| -> Vec<String> { written.by_ref().take(count).collect() };
        Self {
            bones: next(num_bones),
            meshes: next(num_meshes),
            cameras: next(scene.cameras.len()),
            props: next(scene.props.len()),
            animation: unique([scene.name].into_iter(), Rule::Fbx).written.concat(),
            changed: names.changed,
        }
    }
}

/// The take's facts, with the timecode of its first frame where they do not name one.
fn facts(scene: &Scene<'_>) -> Vec<(String, Json)> {
    let mut facts: Vec<(String, Json)> = match &scene.facts {
        Json::Object(facts) => facts.iter().map(|(k, v)| (k.clone(), v.clone())).collect(),
        _ => Vec::new(),
    };
    if !facts.iter().any(|(name, _)| name == "startTimecode") {
        let label = scene.start.label().to_string();
        facts.push(("startTimecode".to_owned(), Json::String(label)));
    }
    facts
}
