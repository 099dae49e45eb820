// An eyeball: a white that scatters, an iris seen through the cornea, a wet film over both.
// Needs frame, sky, brdf, light, material, pbr, skin.
//
// uv (0.5, 0.5) is the middle of the pupil, v grows downwards. The ray to the iris is bent at the
// cornea (Snell, by look.y) and meets a plane look.z below it; lengths are in uv. The film mirrors
// the sky's formula itself rather than the cube: catch-lights keep their edges.

const FILM_F0: f32 = 0.025;

struct Eye {
    n: vec3f,
    v: vec3f,
    // In iris radii from the middle of the pupil, along u and v.
    at: vec2f,
    // 1 in the iris, 0 in the white.
    iris: f32,
    basis: Basis,
}

// Radians that the surface turns from the middle of the pupil to the rim of the iris.
const RIM_ANGLE: f32 = 0.5;

// uv at which the bent ray meets the iris, a plane across the eye's axis that meets the cornea at its rim.
fn iris_uv(e: Eye, uv: vec2f) -> vec2f {
    let out = e.basis.tangent * e.at.x - e.basis.bitangent * e.at.y;
    let axis = normalize(e.n - out * RIM_ANGLE * e.iris);
    let along_u = e.basis.tangent - axis * dot(e.basis.tangent, axis);
    let against_v = e.basis.bitangent - axis * dot(e.basis.bitangent, axis);
    let bent = refract(-e.v, e.n, 1.0 / max(material.look.y, 1.0));
    let down = max(-dot(bent, axis), 0.25);
    let depth = material.look.z * max(1.0 - dot(e.at, e.at), 0.0);
    return uv + vec2f(dot(bent, along_u), -dot(bent, against_v)) / down * depth;
}

// The lids lie around the opening and the upper one is heavier; they follow the gaze, so uv will do.
fn lid_occlusion(at: vec2f) -> f32 {
    let around = smoothstep(1.0, 2.3, length(at));
    let upper = smoothstep(0.2, 1.7, -at.y);
    return (1.0 - 0.55 * around) * (1.0 - 0.5 * upper);
}

// Mirror image of a round light: sharp, but for a pixel's own width.
fn mirrored(light: Light, r: vec3f, softness: f32) -> vec3f {
    let angle = acos(clamp(dot(r, light.direction), -1.0, 1.0));
    let radius = max(light.tan_radius, 0.02);
    let cover = 1.0 - smoothstep(radius - softness, radius + softness, angle);
    return min(light.color / (radius * radius), vec3f(400.0)) * cover;
}

fn eye_diffuse(n: vec3f, blur: vec3f, light: Light) -> vec3f {
    return blurred_cosine(vec3f(dot(n, light.direction)), blur) * light.color;
}

@fragment
fn fs_eye(s: Surface, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let face = face_normal(s, front);
    let uv = slot_uv(0u, s.uvs);
    let radius = max(material.look.x, 1e-3);
    var e: Eye;
    e.n = face;
    e.v = normalize(frame.camera.xyz - s.position);
    e.at = (uv - 0.5) / radius;
    e.iris = 1.0 - smoothstep(0.9, 1.06, length(e.at));
    e.basis = tangent_basis(s, face, uv);
    let seen = iris_uv(e, uv);
    let base = material.base_color * textureSampleGrad(base_texture, base_sampler, seen, dpdx(uv), dpdy(uv)) * s.color;
    let glow = emission(s);
    let r = reflect(-e.v, e.n);
    let film_softness = max(0.012, length(fwidth(r)));

    // Where iris and white meet the eye is dark, and soft.
    let ring = length((seen - 0.5) / radius);
    let limbus = 1.0 - 0.55 * smoothstep(0.62, 1.0, ring) * (1.0 - smoothstep(1.0, 1.28, ring));
    // The iris is a bowl: lit on the side away from the light.
    let out = (e.basis.tangent * e.at.x - e.basis.bitangent * e.at.y) * 0.9;
    let bowl = normalize(e.n - out * e.iris);
    let n = normalize(mix(e.n, bowl, e.iris));
    // Scattering in the white, in radians on a ball of 12 mm.
    let blur = mix(vec3f(0.34, 0.24, 0.2), vec3f(0.12), e.iris);

    let occlusion = lid_occlusion(e.at);
    let visible = mix(1.0, key_visibility(s.position, face, s.clip.xy, 0.1, 0.0015), frame.key_color.w);
    let key = key_light();
    let diffuse = eye_diffuse(n, blur, key) * visible + eye_diffuse(n, blur, fill_light()) + eye_diffuse(n, blur, rim_light())
        + sky_diffuse(n) * occlusion;
    // Light that has passed the lids' shadow is redder.
    let tint = mix(vec3f(1.0, 0.82, 0.76), vec3f(1.0), occlusion);
    let fresnel = schlick(vec3f(FILM_F0), vec3f(1.0), max(dot(e.n, e.v), 0.0)).x;
    let albedo = base.rgb * limbus * tint;

    let mirror = mirrored(key, r, film_softness) * visible + mirrored(fill_light(), r, film_softness)
        + sky_radiance(r) * occlusion * occlusion;
    let color = albedo * diffuse * (1.0 - fresnel) + mirror * fresnel + glow;
    return finished(color, base.a);
}
