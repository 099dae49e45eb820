// Metallic-roughness surfaces of glTF 2.0 (appendix B), and unlit ones (KHR_materials_unlit).
// Needs frame, brdf, light, material.

struct Pbr {
    albedo: vec3f,
    f0: vec3f,
    roughness: f32,
    occlusion: f32,
    // With the normal map, and without.
    n: vec3f,
    face: vec3f,
    v: vec3f,
}

fn base_color(s: Surface) -> vec4f {
    return material.base_color * textureSample(base_texture, base_sampler, slot_uv(0u, s.uvs)) * s.color;
}

fn emission(s: Surface) -> vec3f {
    return material.emissive.rgb * textureSample(emissive_texture, emissive_sampler, slot_uv(2u, s.uvs)).rgb;
}

// Light of one source that is reflected: diffuse and specular.
fn pbr_light(p: Pbr, light: Light, energy: vec3f) -> vec3f {
    let n_l = max(dot(p.n, light.direction), 0.0);
    let h = normalize(p.v + light.direction);
    let fresnel = schlick(p.f0, vec3f(1.0), max(dot(p.v, h), 0.0));
    let alpha = p.roughness * p.roughness;
    let specular = fresnel * energy * specular_lobe(p.n, p.v, light.direction, alpha, light.tan_radius);
    let diffuse = (1.0 - fresnel) * p.albedo * n_l;
    // A bent normal must not catch light from behind the surface.
    let above = smoothstep(-0.1, 0.1, dot(p.face, light.direction));
    return (diffuse + specular) * light.color * above;
}

// Light of the sky that is reflected.
fn pbr_sky(p: Pbr, scale_bias: vec2f, energy: vec3f) -> vec3f {
    let n_v = max(dot(p.n, p.v), 1e-3);
    let r = reflect(-p.v, p.n);
    let share = (p.f0 * scale_bias.x + scale_bias.y) * energy;
    let horizon = clamp(1.0 + dot(r, p.face), 0.0, 1.0);
    let open = specular_occlusion(n_v, p.occlusion, p.roughness) * horizon * horizon;
    return (1.0 - share) * p.albedo * sky_diffuse(p.n) * p.occlusion + share * sky_specular(r, p.roughness) * open;
}

@fragment
fn fs_pbr(s: Surface, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let base = base_color(s);
    let mr = textureSample(surface_texture, surface_sampler, slot_uv(3u, s.uvs));
    let ao = textureSample(occlusion_texture, occlusion_sampler, slot_uv(4u, s.uvs)).r;
    let glow = emission(s);
    var p: Pbr;
    p.face = face_normal(s, front);
    p.n = mapped_normal(s, p.face, slot_uv(1u, s.uvs));
    p.v = normalize(frame.camera.xyz - s.position);
    let metallic = clamp(material.surface.x * mr.b, 0.0, 1.0);
    // A normal that turns within a pixel is roughness. Tokuyoshi and Kaplanyan, "Improved
    // Geometric Specular Antialiasing", 2019.
    let turn = dot(dpdx(p.n), dpdx(p.n)) + dot(dpdy(p.n), dpdy(p.n));
    let rough = clamp(material.surface.y * mr.g, 0.045, 1.0);
    p.roughness = sqrt(sqrt(clamp(pow(rough, 4.0) + min(0.5 * turn, 0.18), 0.0, 1.0)));
    p.albedo = base.rgb * (1.0 - metallic);
    p.f0 = mix(vec3f(0.04), base.rgb, metallic);
    p.occlusion = mix(1.0, ao, material.surface.z);

    let scale_bias = environment_brdf(p.roughness, max(dot(p.n, p.v), 1e-3));
    let energy = several_bounces(p.f0, scale_bias);
    // Two millimetres off the surface: flat triangles of a smooth shape would shadow each other where light grazes.
    let shadow = key_shadow(s.position, p.face, s.clip.xy, 0.3, 0.002);
    var color = pbr_light(p, key_light(), energy) * shadow;
    color += pbr_light(p, fill_light(), energy) + pbr_light(p, rim_light(), energy);
    color += pbr_sky(p, scale_bias, energy) + glow;
    return finished(color, base.a);
}

@fragment
fn fs_unlit(s: Surface) -> @location(0) vec4f {
    let base = base_color(s);
    return finished(base.rgb, base.a);
}
