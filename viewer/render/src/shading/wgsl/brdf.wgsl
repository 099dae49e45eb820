// Reflection models. Every vector is unit and in one space; cosines are clamped by the caller.
//
// `alpha` is the square of the perceptual roughness. Sources: Burley, "Physically-Based Shading at
// Disney", 2012; Heitz, "Understanding the Masking-Shadowing Function", 2014; Karis, "Real Shading
// in Unreal Engine 4", 2013, and "Physically Based Shading on Mobile", 2014; glTF 2.0, appendix B.

fn schlick(f0: vec3f, f90: vec3f, cosine: f32) -> vec3f {
    let m = clamp(1.0 - cosine, 0.0, 1.0);
    let m2 = m * m;
    return f0 + (f90 - f0) * (m2 * m2 * m);
}

// Normal distribution of GGX.
fn ggx(n_h: f32, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    let d = (n_h * a2 - n_h) * n_h + 1.0;
    return a2 / max(PI * d * d, 1e-7);
}

// Height-correlated Smith masking, divided by 4 n_l n_v.
fn smith(n_l: f32, n_v: f32, alpha: f32) -> f32 {
    let a2 = alpha * alpha;
    let l = n_v * sqrt((n_l - n_l * a2) * n_l + a2);
    let v = n_l * sqrt((n_v - n_v * a2) * n_v + a2);
    return 0.5 / max(l + v, 1e-5);
}

// Roughness of a lobe seen under a light of an angular radius: the half vector moves by half of it.
fn widened(alpha: f32, tan_radius: f32) -> f32 {
    let half_angle = 0.5 * tan_radius;
    return min(sqrt(alpha * alpha + half_angle * half_angle), 1.0);
}

// Specular reflectance times n_l, without Fresnel, times pi: lights are stored divided by pi.
fn specular_lobe(n: vec3f, v: vec3f, l: vec3f, alpha: f32, tan_radius: f32) -> f32 {
    let h = normalize(v + l);
    let n_l = max(dot(n, l), 0.0);
    let n_v = max(dot(n, v), 1e-3);
    let a = widened(alpha, tan_radius);
    return PI * ggx(max(dot(n, h), 0.0), a) * smith(n_l, n_v, a) * n_l;
}

// Scale and bias of f0 under light from everywhere: the analytic fit of "Physically Based Shading on Mobile".
fn environment_brdf(roughness: f32, n_v: f32) -> vec2f {
    let r = roughness * vec4f(-1.0, -0.0275, -0.572, 0.022) + vec4f(1.0, 0.0425, 1.04, -0.04);
    let a = min(r.x * r.x, exp2(-9.28 * n_v)) * r.x + r.y;
    return vec2f(-1.04, 1.04) * a + r.zw;
}

// Light that leaves after several bounces between facets, as a factor on the single-bounce lobe.
// Turquin, "Practical multiple scattering compensation for microfacet models", 2019.
fn several_bounces(f0: vec3f, scale_bias: vec2f) -> vec3f {
    let single = max(scale_bias.x + scale_bias.y, 0.05);
    return 1.0 + f0 * (1.0 / single - 1.0);
}

// What occlusion leaves of a reflection. Lagarde, "Moving Frostbite to PBR", 2014.
fn specular_occlusion(n_v: f32, occlusion: f32, roughness: f32) -> f32 {
    return clamp(pow(n_v + occlusion, exp2(-16.0 * roughness - 1.0)) - 1.0 + occlusion, 0.0, 1.0);
}
