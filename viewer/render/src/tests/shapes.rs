//! Small bodies of known measures.

use characters::{
    Alpha, Geometry, Material, Mesh, MeshInstance, MorphTarget, Primitive, Shading, Skin,
};
use glam::{Mat4, Vec2, Vec3};

/// Nothing, to be filled.
pub(crate) fn nothing() -> Primitive {
    Primitive {
        positions: Vec::new(),
        normals: Vec::new(),
        tangents: Vec::new(),
        uvs: [Vec::new(), Vec::new()],
        colors: Vec::new(),
        joints: Vec::new(),
        weights: Vec::new(),
        indices: Vec::new(),
        material: None,
        targets: Vec::new(),
    }
}

/// A square of `cells` × `cells` quads in the plane z = 0, from the origin to (1, 1), facing +Z.
pub(crate) fn sheet(cells: u32) -> Primitive {
    let side = cells + 1;
    let mut primitive = nothing();
    for y in 0..side {
        for x in 0..side {
            let at = Vec2::new(x as f32, y as f32) / cells as f32;
            primitive.positions.push(at.extend(0.0));
            primitive.normals.push(Vec3::Z);
        }
    }
    for y in 0..cells {
        for x in 0..cells {
            let corner = y * side + x;
            let (right, up) = (corner + 1, corner + side);
            primitive
                .indices
                .extend([corner, right, up + 1, corner, up + 1, up]);
        }
    }
    primitive
}

/// A cube of 1 m around the origin, four vertices a face, wound counter-clockwise from outside.
pub(crate) fn cube() -> Primitive {
    let mut primitive = nothing();
    for (normal, right) in [
        (Vec3::X, Vec3::NEG_Z),
        (Vec3::NEG_X, Vec3::Z),
        (Vec3::Y, Vec3::X),
        (Vec3::NEG_Y, Vec3::X),
        (Vec3::Z, Vec3::X),
        (Vec3::NEG_Z, Vec3::NEG_X),
    ] {
        let up = normal.cross(right);
        let first = primitive.positions.len() as u32;
        for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
            primitive.positions.push(normal * 0.5 + right * x + up * y);
            primitive.normals.push(normal);
        }
        primitive
            .indices
            .extend([0, 1, 2, 0, 2, 3].map(|corner| first + corner));
    }
    primitive
}

/// White and without light: what it covers is what one sees.
pub(crate) fn white() -> Material {
    Material {
        name: "white".to_owned(),
        shading: Shading::Unlit,
        base_color: [1.0; 4],
        base_color_texture: None,
        metallic: 0.0,
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

/// One mesh of one primitive at node 0, white.
pub(crate) fn alone(primitive: Primitive) -> Geometry {
    let primitive = Primitive {
        material: Some(0),
        ..primitive
    };
    let num_targets = primitive.targets.len();
    Geometry {
        meshes: vec![Mesh {
            name: "形".to_owned(),
            weights: vec![0.0; num_targets],
            target_names: (0..num_targets).map(|at| at.to_string()).collect(),
            primitives: vec![primitive],
        }],
        skins: Vec::new(),
        materials: vec![white()],
        textures: Vec::new(),
        images: Vec::new(),
        instances: vec![MeshInstance {
            node: 0,
            mesh: 0,
            skin: None,
        }],
        notes: Vec::new(),
    }
}

/// The sheet with two targets and a skin of two joints (nodes 1 and 2): the left half on the first, the right half on
/// the second, the middle column on both.
pub(crate) fn bending_sheet(cells: u32) -> Geometry {
    let mut primitive = sheet(cells);
    for position in &primitive.positions {
        let right = match position.x {
            x if x < 0.5 => 0.0,
            x if x > 0.5 => 1.0,
            _ => 0.5,
        };
        primitive.joints.push([0, 1, 0, 0]);
        primitive.weights.push([1.0 - right, right, 0.0, 0.0]);
    }
    let last = primitive.positions.len() as u32 - 1;
    primitive.targets = vec![
        MorphTarget {
            vertices: vec![0, last],
            positions: vec![Vec3::Z, Vec3::Y],
            normals: Vec::new(),
            tangents: Vec::new(),
        },
        MorphTarget {
            vertices: vec![last],
            positions: vec![Vec3::X * 2.0],
            normals: vec![Vec3::X],
            tangents: Vec::new(),
        },
    ];
    let mut geometry = alone(primitive);
    geometry.skins = vec![Skin {
        joints: vec![1, 2],
        inverse_bind: vec![Mat4::IDENTITY, Mat4::from_translation(Vec3::NEG_X * 0.5)],
    }];
    geometry.instances[0].skin = Some(0);
    geometry
}
