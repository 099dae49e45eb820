// One material's numbers and textures, the vertex stage of surfaces, and what their fragments start
// from. Needs frame.wgsl. The Rust twin is `uniforms::MaterialUniform`.
//
// Slots, each with a texture (binding 1 + slot) and a sampler (binding 11 + slot):
// 0 base colour (sRGB), 1 normal, 2 emissive (sRGB),
// 3 metallic-roughness, or MToon's shade colour (sRGB), 4 occlusion, or MToon's shading shift,
// 5 matcap (sRGB), 6 rim (sRGB), 7 outline width, 8 mask of the UV animation.
// A slot without a texture holds one white texel, or one flat normal.

struct Material {
    base_color: vec4f,
    // Colour, w: scale of the normal map.
    emissive: vec4f,
    // Metallic, roughness, strength of occlusion, alpha cutoff.
    surface: vec4f,
    // Skin: mean free path in metres. Eye: iris radius (uv), index of refraction, iris depth (uv).
    look: vec4f,
    // MToon. Shade colour, w: shading shift.
    shade: vec4f,
    // Shading toony, GI equalisation, scale of the shift texture, mix of light into the rim.
    toon: vec4f,
    // Matcap factor, w: Fresnel power of the rim.
    matcap: vec4f,
    // Rim colour, w: its lift.
    rim: vec4f,
    // Outline colour, w: width in metres or in heights of the target.
    outline: vec4f,
    // Light mixed into the outline, kind (0 none, 1 world, 2 screen), scroll x and y in uv / s.
    outline_more: vec4f,
    // Rotation of the UV animation in rad / s.
    animation: vec4f,
    // Two a slot: rows of the affine map of uv; w of the first: uv set, of the second: 1 if textured.
    uv_rows: array<vec4f, 18>,
}

@group(1) @binding(0) var<uniform> material: Material;
@group(1) @binding(1) var base_texture: texture_2d<f32>;
@group(1) @binding(2) var normal_texture: texture_2d<f32>;
@group(1) @binding(3) var emissive_texture: texture_2d<f32>;
@group(1) @binding(4) var surface_texture: texture_2d<f32>;
@group(1) @binding(5) var occlusion_texture: texture_2d<f32>;
@group(1) @binding(6) var matcap_texture: texture_2d<f32>;
@group(1) @binding(7) var rim_texture: texture_2d<f32>;
@group(1) @binding(8) var width_texture: texture_2d<f32>;
@group(1) @binding(9) var mask_texture: texture_2d<f32>;
@group(1) @binding(11) var base_sampler: sampler;
@group(1) @binding(12) var normal_sampler: sampler;
@group(1) @binding(13) var emissive_sampler: sampler;
@group(1) @binding(14) var surface_sampler: sampler;
@group(1) @binding(15) var occlusion_sampler: sampler;
@group(1) @binding(16) var matcap_sampler: sampler;
@group(1) @binding(17) var rim_sampler: sampler;
@group(1) @binding(18) var width_sampler: sampler;
@group(1) @binding(19) var mask_sampler: sampler;

// 0 opaque, 1 mask, 2 blend.
override alpha_mode: u32 = 0u;
// The target has several samples, so a mask becomes coverage.
override multisampled: bool = false;

struct VertexIn {
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    // w: handedness; zero when the mesh has none.
    @location(2) tangent: vec4f,
    @location(3) uv0: vec2f,
    @location(4) uv1: vec2f,
    @location(5) color: vec4f,
}

struct Surface {
    // Pixels in a fragment.
    @builtin(position) clip: vec4f,
    @location(0) position: vec3f,
    @location(1) normal: vec3f,
    @location(2) tangent: vec4f,
    // Set 0, then set 1.
    @location(3) uvs: vec4f,
    @location(4) color: vec4f,
}

fn surface(v: VertexIn) -> Surface {
    var out: Surface;
    out.clip = frame.clip_from_world * vec4f(v.position, 1.0);
    out.position = v.position;
    out.normal = v.normal;
    out.tangent = v.tangent;
    out.uvs = vec4f(v.uv0, v.uv1);
    out.color = v.color;
    return out;
}

@vertex
fn vs_surface(v: VertexIn) -> Surface {
    return surface(v);
}

fn slot_set(slot: u32, uvs: vec4f) -> vec2f {
    return select(uvs.xy, uvs.zw, material.uv_rows[2u * slot].w > 0.5);
}

// KHR_texture_transform of a slot, applied to uv of its set.
fn slot_transform(slot: u32, uv: vec2f) -> vec2f {
    let p = vec3f(uv, 1.0);
    return vec2f(dot(material.uv_rows[2u * slot].xyz, p), dot(material.uv_rows[2u * slot + 1u].xyz, p));
}

fn slot_uv(slot: u32, uvs: vec4f) -> vec2f {
    return slot_transform(slot, slot_set(slot, uvs));
}

fn slot_used(slot: u32) -> bool {
    return material.uv_rows[2u * slot + 1u].w > 0.5;
}

// Unit normal of the surface itself, towards the viewer's side.
fn face_normal(s: Surface, front: bool) -> vec3f {
    let n = normalize(s.normal);
    return select(-n, n, front);
}

struct Basis {
    tangent: vec3f,
    bitangent: vec3f,
}

// Directions in which u and -v grow: glTF's v goes down the image and a normal map's green goes up.
// From the vertex tangents (bitangent = cross(normal, tangent) * w), else from derivatives as in
// Schüler, "Normal Mapping Without Precomputed Tangents", 2013; pixel rows go down, hence the sign.
fn tangent_basis(s: Surface, n: vec3f, uv: vec2f) -> Basis {
    let dpx = dpdx(s.position);
    let dpy = dpdy(s.position);
    let dux = dpdx(uv);
    let duy = dpdy(uv);
    let py = cross(dpy, n);
    let px = cross(n, dpx);
    let t = py * dux.x + px * duy.x;
    let b = py * dux.y + px * duy.y;
    let scale = sign(dot(dpx, py)) * inverseSqrt(max(max(dot(t, t), dot(b, b)), 1e-30));
    if (dot(s.tangent.xyz, s.tangent.xyz) > 1e-6) {
        let along = normalize(s.tangent.xyz - n * dot(n, s.tangent.xyz));
        return Basis(along, cross(n, along) * s.tangent.w);
    }
    return Basis(t * scale, -b * scale);
}

// Unit normal with the normal map. `n`: face_normal.
fn mapped_normal(s: Surface, n: vec3f, uv: vec2f) -> vec3f {
    let basis = tangent_basis(s, n, uv);
    var m = textureSample(normal_texture, normal_sampler, uv).xyz * 2.0 - 1.0;
    m = vec3f(m.xy * material.emissive.w, m.z);
    let bent = basis.tangent * m.x + basis.bitangent * m.y + n * max(m.z, 0.05);
    return select(n, normalize(bent), slot_used(1u));
}

// Colour as the target keeps it: multiplied by alpha. Call it last, for it may discard.
fn finished(color: vec3f, alpha: f32) -> vec4f {
    let bounded = min(max(color, vec3f(0.0)), vec3f(MAX_RADIANCE));
    if (alpha_mode == 0u) {
        return vec4f(bounded, 1.0);
    }
    if (alpha_mode == 1u) {
        // One pixel of the ramp around the cutoff becomes coverage. The root undoes that alpha
        // acts twice, once on the samples and once in the blend.
        let sharp = clamp((alpha - material.surface.w) / max(fwidth(alpha), 1e-4) + 0.5, 0.0, 1.0);
        if (multisampled) {
            return vec4f(bounded, 1.0) * sqrt(sharp);
        }
        if (sharp < 0.5) {
            discard;
        }
        return vec4f(bounded, 1.0);
    }
    return vec4f(bounded, 1.0) * clamp(alpha, 0.0, 1.0);
}
