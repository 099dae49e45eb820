//! Meshes, what binds them to the skeleton, and their blend shapes.

use std::io::{self, Write};

use characters::{MeshInstance, MorphTarget, Primitive};
use glam::{DMat4, Mat4, Vec2, Vec3};

use super::{
    Parts, Path, UsdaReport,
    material::Materials,
    shapes::Shapes,
    skeleton::Skeleton,
    text::{F, Matrix, Quoted, Spread, Text, Tuple, vec2, vec3},
};
use crate::export::{
    names::{Rule, unique},
    scene::Scene,
};

/// What meshes refer to.
pub(super) struct Place<'a> {
    pub(super) character: &'a Path,
    pub(super) materials: &'a Materials<'a>,
    pub(super) skeleton: &'a Skeleton,
    pub(super) shapes: &'a Shapes,
    /// Of each instance.
    pub(super) names: &'a [String],
}

/// Names of the prims of all instances.
pub(super) fn names(scene: &Scene<'_>, parts: &Parts<'_>, report: &mut UsdaReport) -> Vec<String> {
    let own = parts.instances.iter().map(|instance| {
        let node = scene.character.nodes[instance.node].name.as_str();
        let mesh = parts.meshes[instance.mesh].name.as_str();
        if node.is_empty() { mesh } else { node }
    });
    // A Skeleton per skin at most stands beside them.
    let taken: Vec<String> = (0..parts.skins.len().max(1)).map(Skeleton::name).collect();
    let all = taken.iter().map(String::as_str).chain(own);
    let mut names = unique(all, Rule::Usd);
    report.names.append(&mut names.changed);
    names.written.drain(..taken.len());
    names.written
}

/// Writes a Mesh per instance.
pub(super) fn write(
    scene: &Scene<'_>,
    parts: &Parts<'_>,
    place: &Place<'_>,
    text: &mut Text<'_, impl Write>,
) -> io::Result<()> {
    let rest = scene.rest_globals();
    for (number, instance) in parts.instances.iter().enumerate() {
        let mesh = &parts.meshes[instance.mesh];
        let primitives = mesh.primitives.iter().filter(|p| !p.positions.is_empty());
        let primitives: Vec<&Primitive> = primitives.collect();
        if primitives.is_empty() {
            continue;
        }
        let written = Written {
            parts,
            place,
            instance,
            number,
            primitives,
            model_from_node: rest[instance.node],
        };
        text.blank()?;
        written.write(scene, text)?;
    }
    Ok(())
}

/// An instance in the making.
struct Written<'a> {
    parts: &'a Parts<'a>,
    place: &'a Place<'a>,
    instance: &'a MeshInstance,
    /// Index among the instances.
    number: usize,
    /// Those that have vertices; one after the other they are the mesh.
    primitives: Vec<&'a Primitive>,
    /// At rest.
    model_from_node: Mat4,
}

impl Written<'_> {
    fn write(&self, scene: &Scene<'_>, text: &mut Text<'_, impl Write>) -> io::Result<()> {
        let path = self.place.character.child(&self.place.names[self.number]);
        text.prim(
            "Mesh",
            &self.place.names[self.number],
            &["SkelBindingAPI", "MaterialBindingAPI"],
        )?;
        self.surface(text)?;
        self.primvars(text)?;
        self.binding(scene, text)?;
        self.materials(text)?;
        self.blend_shapes(&path, text)?;
        text.close("}")
    }

    /// Index of each primitive's first vertex.
    fn bases(&self) -> impl Iterator<Item = (usize, &Primitive)> {
        let mut next = 0;
        self.primitives.iter().map(move |primitive| {
            let base = next;
            next += primitive.positions.len();
            (base, *primitive)
        })
    }

    /// A value for every vertex; `none` where a primitive has fewer.
    fn each<'s, T: Copy + 's>(
        &'s self,
        of: impl Fn(&'s Primitive) -> &'s [T],
        none: T,
    ) -> impl Iterator<Item = T> {
        self.primitives.iter().flat_map(move |primitive| {
            let values = of(primitive);
            (0..primitive.positions.len())
                .map(move |vertex| values.get(vertex).copied().unwrap_or(none))
        })
    }

    fn surface(&self, text: &mut Text<'_, impl Write>) -> io::Result<()> {
        let points = || self.each(|p| &p.positions, Vec3::ZERO);
        let low = points().fold(Vec3::INFINITY, Vec3::min);
        let high = points().fold(Vec3::NEG_INFINITY, Vec3::max);
        let extent = [low, high].into_iter().map(vec3);
        text.array("float3[] extent", extent, None)?;
        let triangles: usize = self.primitives.iter().map(|p| p.indices.len() / 3).sum();
        let counts = std::iter::repeat_n(3, triangles);
        text.array("int[] faceVertexCounts", counts, None)?;
        let indices = self.bases().flat_map(|(base, primitive)| {
            let whole = primitive.indices.len() / 3 * 3;
            primitive.indices[..whole]
                .iter()
                .map(move |index| base + *index as usize)
        });
        text.array("int[] faceVertexIndices", indices, None)?;
        let normals = self.each(|p| &p.normals, Vec3::Y).map(vec3);
        text.array("normal3f[] normals", normals, Some(Spread::VERTEX))?;
        text.array("point3f[] points", points().map(vec3), None)?;
        text.line(format_args!("uniform token subdivisionScheme = \"none\""))?;
        let materials = self.primitives.iter().filter_map(|p| p.material);
        let mut materials = materials.map(|material| &self.parts.materials[material]);
        if materials.any(|material| material.double_sided) {
            text.line(format_args!("uniform bool doubleSided = 1"))?;
        }
        Ok(())
    }

    fn primvars(&self, text: &mut Text<'_, impl Write>) -> io::Result<()> {
        if self.primitives.iter().any(|p| !p.colors.is_empty()) {
            let colors = self.each(|p| &p.colors, [1.0; 4]);
            let colors = colors.map(|[r, g, b, _]| Tuple([r, g, b]));
            text.array(
                "color3f[] primvars:displayColor",
                colors,
                Some(Spread::VERTEX),
            )?;
        } else if let Some(material) = self.primitives.iter().find_map(|p| p.material) {
            let [r, g, b, _] = self.parts.materials[material].base_color;
            let color = std::iter::once(Tuple([r, g, b]));
            text.array(
                "color3f[] primvars:displayColor",
                color,
                Some(Spread::CONSTANT),
            )?;
        }
        for (set, name) in ["st", "st1"].into_iter().enumerate() {
            if self.primitives.iter().any(|p| !p.uvs[set].is_empty()) {
                let uvs = self.each(move |p| &p.uvs[set], Vec2::ZERO);
                let uvs = uvs.map(|uv| vec2(Vec2::new(uv.x, 1.0 - uv.y)));
                let head = format!("texCoord2f[] primvars:{name}");
                text.array(&head, uvs, Some(Spread::VERTEX))?;
            }
        }
        Ok(())
    }

    /// What moves the mesh: its skin, the joint that it hangs on, or nothing.
    fn binding(&self, scene: &Scene<'_>, text: &mut Text<'_, impl Write>) -> io::Result<()> {
        let skeleton = self.place.skeleton;
        let set = if let Some(skin) = self.instance.skin {
            let binding = &skeleton.bindings[skin];
            let joints = &self.parts.skins[skin].joints;
            let paths = joints.iter().map(|node| Quoted(skeleton.path_of(*node)));
            text.array("uniform token[] skel:joints", paths, None)?;
            bind(binding.placed, text)?;
            let spread = Spread {
                interpolation: "vertex",
                element_size: 4,
            };
            let indices = self.each(|p| &p.joints, [0; 4]).flatten();
            text.array("int[] primvars:skel:jointIndices", indices, Some(spread))?;
            let weights = self.each(|p| &p.weights, [1.0, 0.0, 0.0, 0.0]);
            let weights = weights.flatten().map(F);
            text.array("float[] primvars:skel:jointWeights", weights, Some(spread))?;
            binding.set
        } else if let Some(joint) = skeleton.joint_above(scene, self.instance.node) {
            let path = Quoted(&skeleton.joints[joint].path);
            text.array("uniform token[] skel:joints", std::iter::once(path), None)?;
            bind(skeleton.hang(joint, self.model_from_node), text)?;
            let one = std::iter::once;
            let constant = Some(Spread::CONSTANT);
            text.array("int[] primvars:skel:jointIndices", one(0), constant)?;
            text.array("float[] primvars:skel:jointWeights", one(1), constant)?;
            0
        } else {
            let transform = Matrix(self.model_from_node.as_dmat4());
            text.line(format_args!("matrix4d xformOp:transform = {transform}"))?;
            text.line(format_args!(
                "uniform token[] xformOpOrder = [\"xformOp:transform\"]"
            ))?;
            0
        };
        let path = self.place.character.child(&Skeleton::name(set));
        text.line(format_args!("rel skel:skeleton = <{path}>"))
    }

    /// The material of all faces, or of each primitive's.
    fn materials(&self, text: &mut Text<'_, impl Write>) -> io::Result<()> {
        let bound = |primitive: &Primitive| {
            let material = primitive.material?;
            Some(self.place.materials.path(material, self.place.character))
        };
        if let [only] = self.primitives[..] {
            if let Some(path) = bound(only) {
                text.line(format_args!("rel material:binding = <{path}>"))?;
            }
            return Ok(());
        }
        text.line(format_args!(
            "uniform token subsetFamily:materialBind:familyType = \"nonOverlapping\""
        ))?;
        let mut face = 0;
        for (number, primitive) in self.primitives.iter().enumerate() {
            let faces = face..face + primitive.indices.len() / 3;
            face = faces.end;
            let Some(path) = bound(primitive) else {
                continue;
            };
            text.blank()?;
            let name = format!("part_{}", number + 1);
            text.prim("GeomSubset", &name, &["MaterialBindingAPI"])?;
            text.line(format_args!("uniform token elementType = \"face\""))?;
            text.line(format_args!("uniform token familyName = \"materialBind\""))?;
            text.array("int[] indices", faces, None)?;
            text.line(format_args!("rel material:binding = <{path}>"))?;
            text.close("}")?;
        }
        Ok(())
    }

    fn blend_shapes(&self, path: &Path, text: &mut Text<'_, impl Write>) -> io::Result<()> {
        let shapes = self.place.shapes;
        let mine = &shapes.of_instance[self.number];
        if mine.is_empty() {
            return Ok(());
        }
        // A primitive's part may have the name of a shape.
        let is_parted = self.primitives.len() > 1;
        let prim = |shape: usize| {
            let name = &shapes.names[shape];
            if is_parted && name.starts_with("part_") {
                format!("shape_{name}")
            } else {
                name.clone()
            }
        };
        let names = mine.iter().map(|shape| Quoted(&shapes.names[*shape]));
        text.array("uniform token[] skel:blendShapes", names, None)?;
        let targets = mine
            .iter()
            .map(|shape| format!("<{}>", path.child(&prim(*shape))));
        text.array("rel skel:blendShapeTargets", targets, None)?;
        for (target, shape) in mine.iter().enumerate() {
            text.blank()?;
            text.prim("BlendShape", &prim(*shape), &[])?;
            self.offsets(target, text)?;
            text.close("}")?;
        }
        Ok(())
    }

    fn offsets(&self, target: usize, text: &mut Text<'_, impl Write>) -> io::Result<()> {
        let all = || {
            self.bases()
                .filter_map(move |(base, p)| Some((base, p.targets.get(target)?)))
        };
        let each = |of: fn(&MorphTarget) -> &[Vec3]| {
            all().flat_map(move |(_, t)| {
                let values = of(t);
                (0..t.vertices.len()).map(move |at| values.get(at).copied().unwrap_or_default())
            })
        };
        if all().all(|(_, t)| t.vertices.is_empty()) {
            // No indices at all would mean every vertex.
            text.line(format_args!("uniform vector3f[] offsets = [(0, 0, 0)]"))?;
            return text.line(format_args!("uniform int[] pointIndices = [0]"));
        }
        if all().any(|(_, t)| !t.normals.is_empty()) {
            let normals = each(|t| &t.normals).map(vec3);
            text.array("uniform vector3f[] normalOffsets", normals, None)?;
        }
        let offsets = each(|t| &t.positions).map(vec3);
        text.array("uniform vector3f[] offsets", offsets, None)?;
        let points = all().flat_map(|(base, t)| t.vertices.iter().map(move |v| base + *v as usize));
        text.array("uniform int[] pointIndices", points, None)
    }
}

fn bind(placed: DMat4, text: &mut Text<'_, impl Write>) -> io::Result<()> {
    let placed = Matrix(placed);
    text.line(format_args!(
        "matrix4d primvars:skel:geomBindTransform = {placed}"
    ))
}
