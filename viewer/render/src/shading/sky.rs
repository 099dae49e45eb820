//! The sky's light: its formula, and what is computed from it when it changes.
//!
//! [`radiance`] is the twin of `sky_radiance` in `sky.wgsl`. Surfaces read it blurred: as nine spherical harmonics for
//! diffuse light, and as a cube map whose levels hold rising roughness for reflections.

use std::f32::consts::{PI, TAU};

use glam::{Vec2, Vec3};

use super::{
    look::{Sky, SoftBox},
    uniforms::BoxUniform,
};

/// Side of the cube's faces at roughness 0.
pub(crate) const CUBE_SIDE: u32 = 64;
/// Levels of the cube; the last is roughness 1, those between are evenly spaced.
pub(crate) const CUBE_LEVELS: u32 = 6;
/// Directions that a texel of a rough level gathers.
const NUM_SAMPLES: u32 = 64;

/// A soft box with its axes; the packed form of a [`SoftBox`].
pub(crate) fn pack_box(soft_box: &SoftBox) -> BoxUniform {
    let direction = soft_box.direction.try_normalize().unwrap_or(Vec3::Y);
    let right = Vec3::Y.cross(direction).try_normalize().unwrap_or(Vec3::X);
    let up = direction.cross(right);
    let [half_width, half_height] = soft_box.half_size;
    let [r, g, b] = soft_box.color;
    BoxUniform {
        direction: direction.extend(soft_box.softness).to_array(),
        right: right.extend(half_width).to_array(),
        up: up.extend(half_height).to_array(),
        color: [r, g, b, 0.0],
    }
}

/// The boxes of a sky, packed.
pub(crate) fn pack_boxes(sky: &Sky) -> Vec<BoxUniform> {
    sky.boxes.iter().flatten().map(pack_box).collect()
}

/// Radiance from a unit direction of world space.
pub(crate) fn radiance(sky: &Sky, boxes: &[BoxUniform], direction: Vec3) -> Vec3 {
    let y = direction.y.clamp(-1.0, 1.0);
    let above = y.max(0.0).powf(exponent(sky));
    let below = 1.0 - (1.0 - (-y).max(0.0)).powi(3);
    let upper = Vec3::from(sky.horizon).lerp(Vec3::from(sky.zenith), above);
    let mut color = upper.lerp(Vec3::from(sky.ground), below);
    for soft_box in boxes {
        color += axis(soft_box.color) * box_cover(soft_box, direction);
    }
    color
}

/// The exponent of the blend upwards, within what the shader can do.
pub(crate) fn exponent(sky: &Sky) -> f32 {
    sky.sharpness.clamp(0.05, 16.0)
}

fn axis([x, y, z, _]: [f32; 4]) -> Vec3 {
    Vec3::new(x, y, z)
}

fn box_cover(soft_box: &BoxUniform, direction: Vec3) -> f32 {
    let facing = direction.dot(axis(soft_box.direction));
    if facing <= 0.01 {
        return 0.0;
    }
    let soft = soft_box.direction[3].max(1e-3);
    let along = |line: [f32; 4]| {
        let from_edge = (direction.dot(axis(line)) / facing).abs() / line[3].max(1e-4);
        let t = ((from_edge - (1.0 - soft)) / (2.0 * soft)).clamp(0.0, 1.0);
        1.0 - t * t * (3.0 - 2.0 * t)
    };
    along(soft_box.right) * along(soft_box.up)
}

/// Unit direction of a texel of a cube map of `side` texels; faces in the order +X, −X, +Y, −Y, +Z, −Z.
///
/// The axes of a face are those of WebGPU (and of all APIs below it).
pub(crate) fn cube_direction(face: u32, column: u32, row: u32, side: u32) -> Vec3 {
    let to_unit = |at: u32| (at as f32 + 0.5) / side as f32 * 2.0 - 1.0;
    let (s, t) = (to_unit(column), to_unit(row));
    let direction = match face {
        0 => Vec3::new(1.0, -t, -s),
        1 => Vec3::new(-1.0, -t, s),
        2 => Vec3::new(s, 1.0, t),
        3 => Vec3::new(s, -1.0, -t),
        4 => Vec3::new(s, -t, 1.0),
        _ => Vec3::new(-s, -t, -1.0),
    };
    direction / direction.length()
}

/// Irradiance divided by π, as the nine factors of `sky_diffuse` in `light.wgsl`.
///
/// Projection onto spherical harmonics, times the clamped cosine's own (1, 2/3, 1/4), times the constants of the
/// functions, so that the shader evaluates a polynomial (Ramamoorthi and Hanrahan, 2001).
pub(crate) fn irradiance(light: impl Fn(Vec3) -> Vec3) -> [Vec3; 9] {
    const SIDE: u32 = 32;
    // Squares of the constants of the real spherical harmonics: once to project, once to evaluate.
    let constants = [
        1.0 / (4.0 * PI),
        3.0 / (4.0 * PI),
        3.0 / (4.0 * PI),
        3.0 / (4.0 * PI),
        15.0 / (4.0 * PI),
        15.0 / (4.0 * PI),
        5.0 / (16.0 * PI),
        15.0 / (4.0 * PI),
        15.0 / (16.0 * PI),
    ];
    let cosine = [
        1.0,
        2.0 / 3.0,
        2.0 / 3.0,
        2.0 / 3.0,
        0.25,
        0.25,
        0.25,
        0.25,
        0.25,
    ];
    let mut factors = [Vec3::ZERO; 9];
    let mut sphere = 0.0;
    for face in 0..6 {
        for row in 0..SIDE {
            for column in 0..SIDE {
                let n = cube_direction(face, column, row, SIDE);
                // Solid angle of a texel, up to a factor: the cube of the cosine to the face's middle.
                let solid = n.abs().max_element().powi(3);
                sphere += solid;
                let color = light(n) * solid;
                for (factor, value) in factors.iter_mut().zip(polynomials(n)) {
                    *factor += color * value;
                }
            }
        }
    }
    let scale = 4.0 * PI / sphere;
    for ((factor, constant), cosine) in factors.iter_mut().zip(constants).zip(cosine) {
        *factor *= scale * constant * cosine;
    }
    factors
}

/// The polynomials of `sky_diffuse`, in its order.
pub(crate) fn polynomials(n: Vec3) -> [f32; 9] {
    let Vec3 { x, y, z } = n;
    [
        1.0,
        y,
        z,
        x,
        x * y,
        y * z,
        3.0 * z * z - 1.0,
        x * z,
        x * x - y * y,
    ]
}

/// Texels of one level of the cube, all faces in order, rows from the top, four half floats each.
pub(crate) fn cube_level(light: impl Fn(Vec3) -> Vec3, level: u32) -> Vec<[u16; 4]> {
    let side = (CUBE_SIDE >> level).max(1);
    let roughness = level as f32 / (CUBE_LEVELS - 1) as f32;
    let lobe = lobe(roughness * roughness);
    let mut texels = Vec::with_capacity((6 * side * side) as usize);
    for face in 0..6 {
        for row in 0..side {
            for column in 0..side {
                let n = cube_direction(face, column, row, side);
                let Vec3 { x, y, z } = if level == 0 {
                    light(n)
                } else {
                    blurred(&light, n, &lobe)
                };
                texels.push([half_bits(x), half_bits(y), half_bits(z), half_bits(1.0)]);
            }
        }
    }
    texels
}

/// Half vectors around +Z, spread as GGX of that alpha wants them. Karis, "Real Shading in Unreal Engine 4", 2013.
fn lobe(alpha: f32) -> Vec<Vec3> {
    let a2 = alpha * alpha;
    (0..NUM_SAMPLES)
        .map(|i| {
            // Hammersley's points.
            let u = (i as f32 + 0.5) / NUM_SAMPLES as f32;
            let turn = TAU * (i.reverse_bits() as f32 / 4_294_967_296.0);
            let cosine = ((1.0 - u) / (1.0 + (a2 - 1.0) * u)).max(0.0).sqrt();
            let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
            Vec2::from_angle(turn).extend(0.0) * sine + Vec3::Z * cosine
        })
        .collect()
}

/// Light around `n` as a surface seen along its normal mirrors it.
fn blurred(light: &impl Fn(Vec3) -> Vec3, n: Vec3, lobe: &[Vec3]) -> Vec3 {
    let (tangent, bitangent) = n.any_orthonormal_pair();
    let mut sum = Vec3::ZERO;
    let mut weight = 0.0;
    for half in lobe {
        let half = tangent * half.x + bitangent * half.y + n * half.z;
        let toward = half * (2.0 * n.dot(half)) - n;
        let share = n.dot(toward);
        if share > 0.0 {
            sum += light(toward) * share;
            weight += share;
        }
    }
    if weight > 0.0 { sum / weight } else { light(n) }
}

/// A number as IEEE 754 half precision, rounded to nearest. Below 0 and NaN become 0, above 65504 becomes that.
pub(crate) fn half_bits(value: f32) -> u16 {
    const LARGEST: f32 = 65504.0;
    // Smallest number whose half has the implicit bit: 2^-14.
    const SMALLEST_NORMAL: f32 = 6.103_515_6e-5;
    if value.is_nan() || value <= 0.0 {
        return 0;
    }
    let value = value.min(LARGEST);
    if value < SMALLEST_NORMAL {
        // Steps of 2^-24.
        return (value * 16_777_216.0).round_ties_even() as u16;
    }
    let bits = value.to_bits();
    // Round the 13 bits that are lost to nearest, ties to even; a carry goes into the exponent as it should.
    let rounded = bits + 0x0fff + ((bits >> 13) & 1);
    // The exponent's bias goes from 127 to 15.
    ((rounded >> 13) - (112 << 10)) as u16
}
