// What every pass of one picture shares.
//
// Space: world is the house frame (right-handed, +Y up, metres). Clip is reverse-Z: 1 near, 0 far.
// Colour: linear Rec.709. A light's colour is its irradiance on a surface facing it, divided by pi,
// so a white diffuse surface facing a light of colour 1 has radiance 1.
// The Rust twin is `uniforms::FrameUniform`; a test compares the two layouts.

struct SoftBox {
    // Unit direction towards the middle of the box; w: softness of its edge, in units of its half extent.
    direction: vec4f,
    // Unit vector along its width, w: half width; both extents are tangents of angles.
    right: vec4f,
    // Unit vector along its height, w: half height.
    up: vec4f,
    // Radiance.
    color: vec4f,
}

struct Frame {
    clip_from_world: mat4x4f,
    view_from_world: mat4x4f,
    world_from_clip: mat4x4f,
    // Clip of the key light's orthographic view: 0 near the light, 1 far.
    shadow_from_world: mat4x4f,
    // Position, w: time in seconds.
    camera: vec4f,
    // Width, height in pixels, and their reciprocals.
    viewport: vec4f,
    // Exposure factor, curve (0 none, 1 AgX, 2 ACES), 1 when the shader encodes sRGB, dither in codes.
    tone: vec4f,
    // Unit direction towards each light, w: tangent of its angular radius.
    key_direction: vec4f,
    // Colour, w: how dark its shadow is, 0 to 1.
    key_color: vec4f,
    fill_direction: vec4f,
    fill_color: vec4f,
    rim_direction: vec4f,
    rim_color: vec4f,
    // Shadow map: side in texels, metres of a texel, metres from near to far, 1 when it is drawn.
    shadow: vec4f,
    // Sky radiance straight up, level, straight down. horizon.w: exponent of the blend upwards.
    zenith: vec4f,
    horizon: vec4f,
    nadir: vec4f,
    // Colour in the middle, w: kind (0 none, 1 even, 2 backdrop, 3 sky).
    backdrop: vec4f,
    // Colour at the corners, w: aspect of the target.
    backdrop_edge: vec4f,
    // Height and fade distance in metres, strength of the grid, strength of contact shadows.
    ground: vec4f,
    // Colour, w: opacity of the floor itself.
    ground_color: vec4f,
    // Number of soft boxes and of occluders.
    counts: vec4u,
    // Sky irradiance / pi as a polynomial of the normal: 1, y, z, x, xy, yz, 3z^2-1, xz, x^2-y^2.
    sky_sh: array<vec4f, 9>,
    boxes: array<SoftBox, 4>,
    // Capsules over the ground, two each: end and radius in metres, other end and strength.
    occluders: array<vec4f, 32>,
}

@group(0) @binding(0) var<uniform> frame: Frame;

const PI: f32 = 3.14159265358979;

// Brightest value that a surface writes. A highlight beyond it would only alias when resolved.
const MAX_RADIANCE: f32 = 24.0;

fn luminance(color: vec3f) -> f32 {
    return dot(color, vec3f(0.2126, 0.7152, 0.0722));
}

// A value in 0..1 that looks random from pixel to pixel and is the same every frame.
// Interleaved gradient noise: Jimenez, "Next Generation Post Processing in Call of Duty", 2014.
fn pixel_noise(pixel: vec2f) -> f32 {
    return fract(52.9829189 * fract(dot(pixel, vec2f(0.06711056, 0.00583715))));
}
