// From scene light to display values: exposure, curve, sRGB, dither. Needs frame.
//
// In: the resolved picture, linear Rec.709, multiplied by alpha. Out: straight alpha, 0 to 1,
// sRGB encoded here (tone.z = 1) or by the target (0).
// AgX: Sobotka, 2023: inset matrix, log2 over 16.5 stops, a sigmoid through (0.606, 0.5) of slope 2
// with powers 3 and 3.25, outset matrix; its output is encoded with exponent 2.2.
// ACES: the fit of RRT and sRGB ODT by Hill, 2016.

@group(1) @binding(0) var picture: texture_2d<f32>;

const AGX_POWER: f32 = 1.2;
const AGX_SATURATION: f32 = 1.25;

@vertex
fn vs_tonemap(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f {
    return vec4f(vec2f(f32((i << 1u) & 2u), f32(i & 2u)) * 2.0 - 1.0, 0.0, 1.0);
}

// The sigmoid. Its constants follow from passing through (0, 0) and (1, 1):
// below: 4^3 - pivot^-3, above: 4^3.25 - (1 - pivot)^-3.25.
fn agx_curve(x: vec3f) -> vec3f {
    let pivot = 0.6060606;
    let off = x - pivot;
    let low = 1.0 + 59.507875 * pow(abs(off), vec3f(3.0));
    let high = 1.0 + 69.862789 * pow(abs(off), vec3f(3.25));
    return 0.5 + 2.0 * off * select(pow(high, vec3f(-1.0 / 3.25)), pow(low, vec3f(-1.0 / 3.0)), off < vec3f(0.0));
}

fn agx(color: vec3f) -> vec3f {
    let inset = mat3x3f(
        0.842401071, 0.042401071, 0.042401071,
        0.078436502, 0.878436502, 0.078436502,
        0.079162427, 0.079162427, 0.879162427,
    );
    let outset = mat3x3f(
        1.196998661, -0.053001339, -0.053001339,
        -0.098045627, 1.151954373, -0.098045627,
        -0.098953034, -0.098953034, 1.151046966,
    );
    let stops = log2(max(inset * color, vec3f(1e-10)));
    let curved = agx_curve(clamp((stops + 12.473931) / 16.5, vec3f(0.0), vec3f(1.0)));
    // The look: the plain curve is meant to be graded. Power, then saturation, as an ASC CDL.
    let contrast = pow(max(curved, vec3f(0.0)), vec3f(AGX_POWER));
    let grey = luminance(contrast);
    let graded = grey + (contrast - grey) * AGX_SATURATION;
    return pow(clamp(outset * graded, vec3f(0.0), vec3f(1.0)), vec3f(2.2));
}

fn aces(color: vec3f) -> vec3f {
    let input = mat3x3f(0.59719, 0.07600, 0.02840, 0.35458, 0.90834, 0.13383, 0.04823, 0.01566, 0.83777);
    let output = mat3x3f(1.60475, -0.10208, -0.00327, -0.53108, 1.10813, -0.07276, -0.07367, -0.00605, 1.07602);
    let v = input * color;
    let curved = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081);
    return clamp(output * curved, vec3f(0.0), vec3f(1.0));
}

fn srgb(linear: vec3f) -> vec3f {
    let curve = 1.055 * pow(max(linear, vec3f(1e-8)), vec3f(1.0 / 2.4)) - 0.055;
    return select(curve, linear * 12.92, linear <= vec3f(0.0031308));
}

@fragment
fn fs_tonemap(@builtin(position) pixel: vec4f) -> @location(0) vec4f {
    let texel = textureLoad(picture, vec2i(pixel.xy), 0);
    let alpha = clamp(texel.a, 0.0, 1.0);
    var color = texel.rgb / max(alpha, 1e-4) * frame.tone.x;
    if (frame.tone.y > 1.5) {
        color = aces(color);
    } else if (frame.tone.y > 0.5) {
        color = agx(color);
    } else {
        color = clamp(color, vec3f(0.0), vec3f(1.0));
    }
    // Triangular noise of one code, on encoded values; a target that encodes gets it undone to linear first.
    let a = pixel_noise(pixel.xy);
    let b = pixel_noise(pixel.xy + vec2f(47.0, 17.0));
    let noise = (a + b - 1.0) * frame.tone.w / 255.0 * select(0.0, 1.0, alpha > 0.0);
    if (frame.tone.z > 0.5) {
        return vec4f(clamp(srgb(color) + noise, vec3f(0.0), vec3f(1.0)), alpha);
    }
    // d linear / d encoded is about 2.2 linear^0.55.
    let slope = 2.2 * pow(max(color, vec3f(1e-4)), vec3f(0.55));
    return vec4f(clamp(color + noise * slope, vec3f(0.0), vec3f(1.0)), alpha);
}
