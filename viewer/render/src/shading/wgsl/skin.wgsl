// Skin: light that enters, scatters a few millimetres and leaves elsewhere, under a film of oil.
// Needs frame, brdf, light, material, pbr.
//
// Diffuse: light on a sphere of the surface's curvature is blurred by the scattering, a channel at
// a time, as in Penner, "Pre-Integrated Skin Shading", 2011. His table is replaced by a closed
// form: the clamped cosine, blurred by a Gaussian of s radians, is c Phi(c / s) + s phi(c / s).
// The Gaussian is as wide as Burley's profile: its variance along an axis is 7 d^2 with d = l / 3.5
// for mean free path l (Christensen and Burley, "Approximate Reflectance Profiles", 2015).
// Specular: two lobes over f0 0.028, as in Jimenez et al., "Separable Subsurface Scattering", 2015.
// Ears: light through the flesh between the point and where the key light enters, from the shadow
// map: Jimenez et al., "Real-Time Realistic Skin Translucency", 2010.

const SKIN_F0: f32 = 0.028;
const PROFILE_WIDTH: f32 = 0.756;

// Clamped cosine blurred by a Gaussian of standard deviation s (radians), each channel its own.
fn blurred_cosine(c: vec3f, s: vec3f) -> vec3f {
    let x = c / s;
    // Phi to 2e-4: logistic with a cubic term (Page, "Approximations to the Cumulative Normal", 1977).
    let phi = 1.0 / (1.0 + exp(-clamp(1.5976 * x + 0.070566 * x * x * x, vec3f(-40.0), vec3f(40.0))));
    return max(c * phi + s * 0.39894 * exp(-0.5 * min(x * x, vec3f(80.0))), vec3f(0.0));
}

// Turn of the normal per metre. Vertex normals make it uneven from triangle to triangle, so it is
// drawn towards that of a face (about 1 / 0.05 m) and bounded.
fn curvature(s: Surface, n: vec3f) -> f32 {
    let turn = length(fwidth(n));
    let span = length(fwidth(s.position));
    return clamp(mix(20.0, turn / max(span, 1e-6), 0.5), 8.0, 120.0);
}

struct Skin {
    n: vec3f,
    face: vec3f,
    v: vec3f,
    // Normals of the diffuse light in red, green, blue: the further it scatters, the smoother.
    n_r: vec3f,
    n_g: vec3f,
    n_b: vec3f,
    // Width of the scattering in radians on the surface.
    blur: vec3f,
    albedo: vec3f,
    roughness: f32,
}

fn skin_diffuse(k: Skin, light: Light) -> vec3f {
    let c = vec3f(dot(k.n_r, light.direction), dot(k.n_g, light.direction), dot(k.n_b, light.direction));
    return k.albedo * blurred_cosine(c, k.blur) * light.color;
}

fn skin_specular(k: Skin, light: Light) -> vec3f {
    let h = normalize(k.v + light.direction);
    let fresnel = schlick(vec3f(SKIN_F0), vec3f(1.0), max(dot(k.v, h), 0.0)).x;
    let broad = specular_lobe(k.n, k.v, light.direction, k.roughness * k.roughness, light.tan_radius);
    let narrow_roughness = k.roughness * 0.62;
    let narrow = specular_lobe(k.n, k.v, light.direction, narrow_roughness * narrow_roughness, light.tan_radius);
    let above = smoothstep(-0.05, 0.15, dot(k.face, light.direction));
    return light.color * fresnel * mix(broad, narrow, 0.3) * above;
}

// Share of the key light that comes through from the other side.
fn through_flesh(s: Surface, face: vec3f, reach: vec3f) -> vec3f {
    if (frame.shadow.w < 0.5) {
        return vec3f(0.0);
    }
    // From a point a little inside, so that the surface itself is not the thickness.
    let at = shadow_at(s.position - face * (2.0 * frame.shadow.y));
    let turn = pixel_noise(s.clip.xy) * 2.0 * PI;
    let radius = 3.5 / frame.shadow.x;
    var light = vec3f(0.0);
    for (var i = 0u; i < 10u; i++) {
        let enters = shadow_depth(at.xy + spiral(i, 10u, turn) * radius);
        let thickness = max(at.z - enters, 0.0) * frame.shadow.z + 0.001;
        light += exp(-thickness / reach);
    }
    // Where the surface has only just turned away, the blurred cosine has that light already.
    let behind = -dot(face, frame.key_direction.xyz);
    return light / 10.0 * behind * smoothstep(0.0, 0.5, behind);
}

@fragment
fn fs_skin(s: Surface, @builtin(front_facing) front: bool) -> @location(0) vec4f {
    let base = base_color(s);
    let mr = textureSample(surface_texture, surface_sampler, slot_uv(3u, s.uvs));
    let ao = textureSample(occlusion_texture, occlusion_sampler, slot_uv(4u, s.uvs)).r;
    let occlusion = mix(1.0, ao, material.surface.z);
    let glow = emission(s);
    var k: Skin;
    k.face = face_normal(s, front);
    k.n = mapped_normal(s, k.face, slot_uv(1u, s.uvs));
    k.v = normalize(frame.camera.xyz - s.position);
    k.n_r = normalize(mix(k.n, k.face, 0.7));
    k.n_g = normalize(mix(k.n, k.face, 0.35));
    k.n_b = normalize(mix(k.n, k.face, 0.15));
    let bend = curvature(s, k.face);
    k.blur = clamp(PROFILE_WIDTH * material.look.rgb * bend, vec3f(0.01), vec3f(0.6));
    k.albedo = base.rgb;
    k.roughness = clamp(material.surface.y * mr.g, 0.18, 1.0);

    // The shadow is looked up off the surface by what the light scatters, or it would cut the wrap.
    let lift = PROFILE_WIDTH * material.look.r;
    let lit = key_visibility(s.position, k.face, s.clip.xy, 0.3, lift);
    // Red leaks furthest into a shadow's soft edge.
    let leak = 1.0 / (1.0 + clamp(material.look.rgb * vec3f(500.0), vec3f(0.0), vec3f(2.0)));
    let soft = mix(vec3f(1.0), pow(vec3f(lit), leak), frame.key_color.w);
    let hard = mix(1.0, lit, frame.key_color.w);

    let key = key_light();
    var color = skin_diffuse(k, key) * soft + skin_specular(k, key) * hard;
    color += skin_diffuse(k, fill_light()) + skin_specular(k, fill_light());
    color += skin_diffuse(k, rim_light()) + skin_specular(k, rim_light());
    color += k.albedo * through_flesh(s, k.face, material.look.rgb * 2.0) * key.color;

    // Occluded skin is redder, for what is lost scatters in from beside.
    let occluded = pow(vec3f(occlusion), vec3f(1.0, 1.25, 1.35) - 0.35);
    let ambient = vec3f(sky_diffuse(k.n_r).r, sky_diffuse(k.n_g).g, sky_diffuse(k.n_b).b);
    let n_v = max(dot(k.n, k.v), 1e-3);
    let scale_bias = environment_brdf(k.roughness, n_v);
    let share = SKIN_F0 * scale_bias.x + scale_bias.y;
    let r = reflect(-k.v, k.n);
    let open = specular_occlusion(n_v, occlusion, k.roughness) * clamp(1.0 + dot(r, k.face), 0.0, 1.0);
    color += (1.0 - share) * k.albedo * ambient * occluded + share * sky_specular(r, k.roughness) * open;
    return finished(color + glow, base.a);
}
