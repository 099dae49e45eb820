// What falls on a point: the sky, the three lights, and the key light's shadow. Needs frame.wgsl.
//
// Shadow map: depth of the key light's orthographic view, 0 near the light. Soft by the distance
// of the blocker: Fernando, "Percentage-Closer Soft Shadows", 2005. Taps lie on a Vogel spiral.

@group(0) @binding(1) var shadow_map: texture_depth_2d;
@group(0) @binding(2) var shadow_sampler: sampler_comparison;
@group(0) @binding(3) var sky_cube: texture_cube<f32>;
@group(0) @binding(4) var sky_sampler: sampler;

// Roughness 1 is this level of the cube.
const SKY_LAST_LEVEL: f32 = 5.0;
const BLOCKER_TAPS: u32 = 12u;
const SHADOW_TAPS: u32 = 24u;
const GOLDEN_ANGLE: f32 = 2.399963;

struct Light {
    direction: vec3f,
    tan_radius: f32,
    color: vec3f,
}

fn key_light() -> Light {
    return Light(frame.key_direction.xyz, frame.key_direction.w, frame.key_color.rgb);
}

fn fill_light() -> Light {
    return Light(frame.fill_direction.xyz, frame.fill_direction.w, frame.fill_color.rgb);
}

fn rim_light() -> Light {
    return Light(frame.rim_direction.xyz, frame.rim_direction.w, frame.rim_color.rgb);
}

// Irradiance of the sky on a surface, divided by pi. Ramamoorthi and Hanrahan, "An Efficient
// Representation for Irradiance Environment Maps", 2001; constants are folded in on the CPU.
fn sky_diffuse(n: vec3f) -> vec3f {
    let linear = frame.sky_sh[0].rgb + frame.sky_sh[1].rgb * n.y + frame.sky_sh[2].rgb * n.z + frame.sky_sh[3].rgb * n.x;
    let square = frame.sky_sh[4].rgb * (n.x * n.y) + frame.sky_sh[5].rgb * (n.y * n.z)
        + frame.sky_sh[6].rgb * (3.0 * n.z * n.z - 1.0) + frame.sky_sh[7].rgb * (n.x * n.z)
        + frame.sky_sh[8].rgb * (n.x * n.x - n.y * n.y);
    return max(linear + square, vec3f(0.0));
}

// Radiance of the sky around `direction`, blurred by a lobe of that roughness.
fn sky_specular(direction: vec3f, roughness: f32) -> vec3f {
    return textureSampleLevel(sky_cube, sky_sampler, direction, roughness * SKY_LAST_LEVEL).rgb;
}

// uv of the shadow map and depth, of a point in the world.
fn shadow_at(position: vec3f) -> vec3f {
    let clip = frame.shadow_from_world * vec4f(position, 1.0);
    return vec3f(clip.xy * vec2f(0.5, -0.5) + 0.5, clip.z);
}

fn shadow_depth(uv: vec2f) -> f32 {
    let side = i32(frame.shadow.x);
    let texel = clamp(vec2i(uv * frame.shadow.x), vec2i(0), vec2i(side - 1));
    return textureLoad(shadow_map, texel, 0);
}

fn spiral(i: u32, count: u32, turn: f32) -> vec2f {
    let angle = f32(i) * GOLDEN_ANGLE + turn;
    return sqrt((f32(i) + 0.5) / f32(count)) * vec2f(cos(angle), sin(angle));
}

// Slope of the surface in the shadow map: change of depth for a change of uv.
// Isidoro, "Shadow Mapping: GPU-based Tips and Techniques", 2006, from the normal instead of derivatives.
fn receiver_slope(n: vec3f) -> vec2f {
    let m = frame.shadow_from_world;
    let in_light = vec3f(
        dot(vec3f(m[0].x, m[1].x, m[2].x), n),
        dot(vec3f(m[0].y, m[1].y, m[2].y), n),
        dot(vec3f(m[0].z, m[1].z, m[2].z), n),
    );
    // Rows are scaled axes: x and y by 2 / side, z by 1 / range, all in metres.
    let side_m = frame.shadow.x * frame.shadow.y;
    let range_m = frame.shadow.z;
    let axis = vec3f(in_light.xy * side_m * 0.5, in_light.z * range_m);
    let steep = -axis.xy / min(axis.z, -0.15);
    return clamp(steep, vec2f(-3.0), vec2f(3.0)) * vec2f(1.0, -1.0) * side_m / range_m;
}

// How much of the key light reaches a point, 0 to 1. `n`: unit normal of the surface, not of its
// normal map. `reach`: how far off a blocker may be for the softness to grow, metres.
// `lift`: the point is moved along its normal by so many metres more, for light that wraps.
fn key_visibility(position: vec3f, n: vec3f, pixel: vec2f, reach: f32, lift: f32) -> f32 {
    if (frame.shadow.w < 0.5) {
        return 1.0;
    }
    let texel_m = frame.shadow.y;
    let grazing = 1.0 - clamp(dot(n, frame.key_direction.xyz), 0.0, 1.0);
    let at = shadow_at(position + n * (texel_m * (1.0 + 1.5 * grazing) + lift));
    if (any(at.xy < vec2f(0.0)) || any(at.xy > vec2f(1.0))) {
        return 1.0;
    }
    let depth = min(at.z, 1.0);
    let slope = receiver_slope(n);
    let turn = pixel_noise(pixel) * 2.0 * PI;
    let uv_of_m = 1.0 / (frame.shadow.x * texel_m);
    let tan_radius = frame.key_direction.w;
    let widest = max(reach * tan_radius, 2.0 * texel_m) * uv_of_m;
    let bias = 0.5 * texel_m / frame.shadow.z;

    var blockers = 0.0;
    var blocker_depth = 0.0;
    for (var i = 0u; i < BLOCKER_TAPS; i++) {
        let offset = spiral(i, BLOCKER_TAPS, turn) * widest;
        let blocker = shadow_depth(at.xy + offset);
        if (blocker < min(depth + dot(slope, offset), 1.0) - 2.0 * bias) {
            blockers += 1.0;
            blocker_depth += blocker;
        }
    }
    if (blockers == 0.0) {
        return 1.0;
    }
    let gap_m = max(depth - blocker_depth / blockers, 0.0) * frame.shadow.z;
    let radius = clamp(gap_m * tan_radius * uv_of_m, 1.5 * texel_m * uv_of_m, widest);

    var lit = 0.0;
    for (var i = 0u; i < SHADOW_TAPS; i++) {
        let offset = spiral(i, SHADOW_TAPS, turn) * radius;
        let reference = min(depth + dot(slope, offset), 1.0) - bias;
        lit += textureSampleCompareLevel(shadow_map, shadow_sampler, at.xy + offset, reference);
    }
    return lit / f32(SHADOW_TAPS);
}

// The same with the shadow's own strength: 1 lit, 1 - strength in full shadow.
fn key_shadow(position: vec3f, n: vec3f, pixel: vec2f, reach: f32, lift: f32) -> f32 {
    return mix(1.0, key_visibility(position, n, pixel, reach, lift), frame.key_color.w);
}
