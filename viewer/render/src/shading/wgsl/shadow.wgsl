// Depth from the key light, 0 near it. Masked and blended materials leave holes. Needs frame, material.

struct Caster {
    @builtin(position) clip: vec4f,
    @location(0) uvs: vec4f,
    @location(1) alpha: f32,
}

@vertex
fn vs_shadow(v: VertexIn) -> Caster {
    let clip = frame.shadow_from_world * vec4f(v.position, 1.0);
    return Caster(clip, vec4f(v.uv0, v.uv1), v.color.a);
}

@fragment
fn fs_shadow(c: Caster) {
    let texel = textureSample(base_texture, base_sampler, slot_uv(0u, c.uvs)).a;
    let alpha = material.base_color.a * texel * c.alpha;
    // A blended surface has no cutoff of its own.
    let cutoff = select(material.surface.w, 0.5, alpha_mode == 2u);
    if (alpha < cutoff) {
        discard;
    }
}
