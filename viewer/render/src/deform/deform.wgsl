// Base vertices to world space: morph targets, then the skin, then the actor's place.
//
// Axes: the house frame, right-handed, +Y up, metres. One thread a vertex, one workgroup within one part, one dispatch
// an actor. Nothing but `deformed` is written.

// A vertex at rest in mesh space, 64 bytes.
struct Vertex {
    // position.xyz, normal.x
    position_normal: vec4<f32>,
    // normal.yz, tangent.xy
    normal_tangent: vec4<f32>,
    // tangent.z, handedness; both 0 without tangents
    tangent: vec2<f32>,
    // four joints of the part's palette, 16 bits each, the first in the low half of x
    joints: vec2<u32>,
    // sum 1
    weights: vec4<f32>,
}

// A primitive of one instance, 48 bytes.
struct Part {
    // first vertex in `vertices`, and in `deformed`
    source: u32,
    output: u32,
    num_vertices: u32,
    // first workgroup
    first_group: u32,
    // first vec4 of the palette in `pose`: three a joint
    palette: u32,
    // first scalar of the morph weights in `pose`
    weights: u32,
    // 0 linear, 1 dual quaternion, 2 the first joint alone: no skin
    skinning: u32,
    // floats of one morph entry: 0 without targets, 6 position and normal, 9 with tangent
    morph_stride: u32,
    // in `morph_index`: num_vertices + 1 entry numbers, then the target of each entry
    morph_ranges: u32,
    morph_targets: u32,
    // in `morph_deltas`: first float of entry 0
    morph_deltas: u32,
    unused: u32,
}

// 48 bytes, as vertex buffers read it.
struct Deformed {
    // xyz, 1
    position: vec4<f32>,
    // xyz, 0
    normal: vec4<f32>,
    // xyz, handedness
    tangent: vec4<f32>,
}

@group(0) @binding(0) var<storage, read> vertices: array<Vertex>;
@group(0) @binding(1) var<storage, read> morph_index: array<u32>;
@group(0) @binding(2) var<storage, read> morph_deltas: array<f32>;
@group(0) @binding(3) var<storage, read> parts: array<Part>;
// Part of each workgroup.
@group(0) @binding(4) var<storage, read> part_of_group: array<u32>;

// Rows of world_from_model (3), then palettes, then morph weights, four a vec4.
@group(1) @binding(0) var<storage, read> pose: array<vec4<f32>>;
@group(1) @binding(1) var<storage, read_write> deformed: array<Deformed>;

// Three rows of an affine matrix.
struct Rows {
    x: vec4<f32>,
    y: vec4<f32>,
    z: vec4<f32>,
}

fn rows_at(first: u32) -> Rows {
    return Rows(pose[first], pose[first + 1u], pose[first + 2u]);
}

fn point(rows: Rows, p: vec3<f32>) -> vec3<f32> {
    let p1 = vec4<f32>(p, 1.0);
    return vec3<f32>(dot(rows.x, p1), dot(rows.y, p1), dot(rows.z, p1));
}

fn direction(rows: Rows, d: vec3<f32>) -> vec3<f32> {
    return vec3<f32>(dot(rows.x.xyz, d), dot(rows.y.xyz, d), dot(rows.z.xyz, d));
}

// A normal by the matrix's cofactors: right under uneven scale too, up to length.
fn normal_by(rows: Rows, n: vec3<f32>) -> vec3<f32> {
    let x = cross(rows.y.xyz, rows.z.xyz);
    let y = cross(rows.z.xyz, rows.x.xyz);
    let z = cross(rows.x.xyz, rows.y.xyz);
    let turned = vec3<f32>(dot(x, n), dot(y, n), dot(z, n));
    // Cofactors of a mirror point inward.
    let mirrored = dot(rows.x.xyz, x) < 0.0;
    return select(turned, -turned, mirrored);
}

fn unit_or(v: vec3<f32>, otherwise: vec3<f32>) -> vec3<f32> {
    let squared = dot(v, v);
    if squared > 1e-30 {
        return v * inverseSqrt(squared);
    }
    return otherwise;
}

fn rotate(q: vec4<f32>, v: vec3<f32>) -> vec3<f32> {
    let t = 2.0 * cross(q.xyz, v);
    return v + q.w * t + cross(q.xyz, t);
}

struct Shape {
    position: vec3<f32>,
    normal: vec3<f32>,
    tangent: vec3<f32>,
}

fn delta(at: u32) -> vec3<f32> {
    return vec3<f32>(morph_deltas[at], morph_deltas[at + 1u], morph_deltas[at + 2u]);
}

fn morphed(part: Part, vertex: u32, base: Shape) -> Shape {
    var shape = base;
    if part.morph_stride == 0u {
        return shape;
    }
    let begin = morph_index[part.morph_ranges + vertex];
    let end = morph_index[part.morph_ranges + vertex + 1u];
    for (var entry = begin; entry < end; entry += 1u) {
        let scalar = part.weights + morph_index[part.morph_targets + entry];
        let weight = pose[scalar >> 2u][scalar & 3u];
        if weight == 0.0 {
            continue;
        }
        let at = part.morph_deltas + entry * part.morph_stride;
        shape.position += weight * delta(at);
        shape.normal += weight * delta(at + 3u);
        if part.morph_stride == 9u {
            shape.tangent += weight * delta(at + 6u);
        }
    }
    return shape;
}

fn joints_of(packed: vec2<u32>) -> vec4<u32> {
    return vec4<u32>(packed.x & 0xffffu, packed.x >> 16u, packed.y & 0xffffu, packed.y >> 16u);
}

fn linear(part: Part, joints: vec4<u32>, weights: vec4<f32>, shape: Shape) -> Shape {
    var rows = Rows(vec4<f32>(0.0), vec4<f32>(0.0), vec4<f32>(0.0));
    for (var k = 0u; k < 4u; k += 1u) {
        let weight = weights[k];
        if weight != 0.0 {
            let joint = rows_at(part.palette + 3u * joints[k]);
            rows.x += weight * joint.x;
            rows.y += weight * joint.y;
            rows.z += weight * joint.z;
        }
    }
    return Shape(
        point(rows, shape.position),
        normal_by(rows, shape.normal),
        direction(rows, shape.tangent),
    );
}

// Dual quaternions (Kavan et al. 2008, "Geometric Skinning with Approximate Dual Quaternion Blending"): rotation and
// translation blend as one, scale before them, linearly. A joint is: rotation, half the translation times it, scale.
fn dual_quaternion(part: Part, joints: vec4<u32>, weights: vec4<f32>, shape: Shape) -> Shape {
    let first = pose[part.palette + 3u * joints.x];
    var real = vec4<f32>(0.0);
    var dual = vec4<f32>(0.0);
    var scale = vec3<f32>(0.0);
    for (var k = 0u; k < 4u; k += 1u) {
        let weight = weights[k];
        if weight != 0.0 {
            let joint = rows_at(part.palette + 3u * joints[k]);
            // The two quaternions of a rotation: the one on the first joint's side.
            let signed = select(weight, -weight, dot(joint.x, first) < 0.0);
            real += signed * joint.x;
            dual += signed * joint.y;
            scale += weight * joint.z.xyz;
        }
    }
    let squared = dot(real, real);
    if squared > 1e-30 {
        let inverse = inverseSqrt(squared);
        real *= inverse;
        dual *= inverse;
    } else {
        real = vec4<f32>(0.0, 0.0, 0.0, 1.0);
    }
    let translation = 2.0 * (real.w * dual.xyz - dual.w * real.xyz + cross(real.xyz, dual.xyz));
    let cofactors = scale.yzx * scale.zxy;
    let mirrored = scale.x * cofactors.x < 0.0;
    let normal = rotate(real, cofactors * shape.normal);
    return Shape(
        rotate(real, scale * shape.position) + translation,
        select(normal, -normal, mirrored),
        rotate(real, scale * shape.tangent),
    );
}

@compute @workgroup_size(64)
fn deform(
    @builtin(workgroup_id) workgroup: vec3<u32>,
    @builtin(num_workgroups) num_workgroups: vec3<u32>,
    @builtin(local_invocation_index) lane: u32,
) {
    let group = workgroup.y * num_workgroups.x + workgroup.x;
    if group >= arrayLength(&part_of_group) {
        return;
    }
    let part = parts[part_of_group[group]];
    let vertex = (group - part.first_group) * 64u + lane;
    if vertex >= part.num_vertices {
        return;
    }
    let base = vertices[part.source + vertex];
    let handedness = base.tangent.y;
    let shape = morphed(part, vertex, Shape(
        base.position_normal.xyz,
        vec3<f32>(base.position_normal.w, base.normal_tangent.xy),
        vec3<f32>(base.normal_tangent.zw, base.tangent.x),
    ));
    let joints = joints_of(base.joints);
    var skinned: Shape;
    if part.skinning == 2u {
        skinned = linear(part, vec4<u32>(0u), vec4<f32>(1.0, 0.0, 0.0, 0.0), shape);
    } else if part.skinning == 1u {
        skinned = dual_quaternion(part, joints, base.weights, shape);
    } else {
        skinned = linear(part, joints, base.weights, shape);
    }
    let world_from_model = rows_at(0u);
    let normal = unit_or(normal_by(world_from_model, skinned.normal), vec3<f32>(0.0, 1.0, 0.0));
    let tangent = unit_or(direction(world_from_model, skinned.tangent), vec3<f32>(0.0));
    deformed[part.output + vertex] = Deformed(
        vec4<f32>(point(world_from_model, skinned.position), 1.0),
        vec4<f32>(normal, 0.0),
        vec4<f32>(tangent, handedness),
    );
}
