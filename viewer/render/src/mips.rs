//! Smaller versions of a picture, down to one pixel: area averages, in linear light where the picture is colour.

use std::sync::LazyLock;

use crate::textures::Encoding;

/// One level: RGBA, 8 bits each, rows from the top without padding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Level {
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) rgba: Vec<u8>,
}

/// Linear light of an sRGB byte, 0 to 65535 (IEC 61966-2-1).
static LINEAR_OF_SRGB: LazyLock<[u16; 256]> = LazyLock::new(|| {
    std::array::from_fn(|byte| {
        let encoded = byte as f64 / 255.0;
        let linear = if encoded <= 0.04045 {
            encoded / 12.92
        } else {
            ((encoded + 0.055) / 1.055).powf(2.4)
        };
        (linear * 65535.0).round() as u16
    })
});

/// The sRGB byte of a linear value 0 to 65535: the nearest.
static SRGB_OF_LINEAR: LazyLock<Vec<u8>> = LazyLock::new(|| {
    (0..=u16::MAX)
        .map(|value| {
            let linear = f64::from(value) / 65535.0;
            let encoded = if linear <= 0.003_130_8 {
                linear * 12.92
            } else {
                1.055 * linear.powf(1.0 / 2.4) - 0.055
            };
            (encoded * 255.0).round() as u8
        })
        .collect()
});

/// The picture at half the size, rounded down, at least one pixel a side. Each new pixel is the mean of all that it
/// touches. Colour is weighted by alpha, so what is invisible does not bleed into edges. `None` for one pixel.
pub(crate) fn half(level: &Level, encoding: Encoding) -> Option<Level> {
    let (sides, pixels) = ([level.width, level.height], level.rgba.len());
    if sides == [1, 1] || sides.contains(&0) || pixels == 0 {
        return None;
    }
    let width = (level.width / 2).max(1);
    let height = (level.height / 2).max(1);
    let mut rgba = Vec::with_capacity(width as usize * height as usize * 4);
    let row_bytes = level.width as usize * 4;
    for y in 0..height {
        let (top, bottom) = touched(y, height, level.height);
        for x in 0..width {
            let (left, right) = touched(x, width, level.width);
            let mut mean = Mean::default();
            let rows = level.rgba.chunks_exact(row_bytes);
            for row in rows.take(bottom).skip(top) {
                let pixels = row.as_chunks::<4>().0;
                for &pixel in pixels.get(left..right).unwrap_or_default() {
                    mean.add(pixel, encoding);
                }
            }
            rgba.extend(mean.pixel(encoding));
        }
    }
    Some(Level {
        width,
        height,
        rgba,
    })
}

/// The pixels of a side of `source` that pixel `at` of `target` touches: first and one after the last.
fn touched(at: u32, target: u32, source: u32) -> (usize, usize) {
    let (at, target, source) = (u64::from(at), u64::from(target), u64::from(source));
    let first = at * source / target;
    let end = ((at + 1) * source).div_ceil(target);
    (first as usize, end as usize)
}

/// Sums over at most 3 × 3 pixels.
#[derive(Default)]
struct Mean {
    count: u64,
    plain: [u64; 3],
    by_alpha: [u64; 3],
    alpha: u64,
}

impl Mean {
    fn add(&mut self, [r, g, b, a]: [u8; 4], encoding: Encoding) {
        let linear = [r, g, b].map(|byte| match encoding {
            Encoding::Srgb => u64::from(LINEAR_OF_SRGB[usize::from(byte)]),
            Encoding::Linear => u64::from(byte),
        });
        self.count += 1;
        self.alpha += u64::from(a);
        for (channel, value) in linear.into_iter().enumerate() {
            self.plain[channel] += value;
            self.by_alpha[channel] += value * u64::from(a);
        }
    }

    fn pixel(&self, encoding: Encoding) -> [u8; 4] {
        let count = self.count.max(1);
        let color = |channel: usize| match encoding {
            Encoding::Srgb => {
                let linear = if self.alpha == 0 {
                    divide(self.plain[channel], count)
                } else {
                    divide(self.by_alpha[channel], self.alpha)
                };
                SRGB_OF_LINEAR[usize::from(linear as u16)]
            }
            // Normals and roughness are not seen through alpha.
            Encoding::Linear => divide(self.plain[channel], count) as u8,
        };
        [
            color(0),
            color(1),
            color(2),
            divide(self.alpha, count) as u8,
        ]
    }
}

/// The nearest whole quotient; a mean of values, so never above the largest.
fn divide(sum: u64, by: u64) -> u64 {
    (sum + by / 2) / by
}

/// How many levels a picture has, down to one pixel.
pub(crate) fn num_levels(width: u32, height: u32) -> u32 {
    width.max(height).max(1).ilog2() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(width: u32, height: u32, pixels: &[[u8; 4]]) -> Level {
        Level {
            width,
            height,
            rgba: pixels.as_flattened().to_vec(),
        }
    }

    #[test]
    fn every_srgb_byte_survives_linear_light() {
        for byte in 0..=255_u8 {
            let linear = LINEAR_OF_SRGB[usize::from(byte)];
            assert_eq!(SRGB_OF_LINEAR[usize::from(linear)], byte);
        }
    }

    #[test]
    fn black_and_white_mean_is_half_the_light() {
        // Half of linear light is sRGB 188 (0.735 × 255 = 187.5, IEC 61966-2-1), half of data is 128.
        let checker = level(2, 1, &[[0, 0, 0, 255], [255, 255, 255, 255]]);
        let color = half(&checker, Encoding::Srgb).unwrap();
        assert_eq!(color.rgba, [188, 188, 188, 255]);
        let data = half(&checker, Encoding::Linear).unwrap();
        assert_eq!(data.rgba, [128, 128, 128, 255]);
    }

    #[test]
    fn the_colour_of_what_is_invisible_does_not_bleed() {
        let edge = level(2, 1, &[[255, 0, 0, 255], [0, 255, 0, 0]]);
        let small = half(&edge, Encoding::Srgb).unwrap();
        assert_eq!(small.rgba, [255, 0, 0, 128]);
    }

    #[test]
    fn odd_sides_lose_no_row() {
        // 3 × 1 to 1 × 1: the mean of all three.
        let odd = level(3, 1, &[[0, 0, 0, 255], [30, 0, 0, 255], [60, 0, 0, 255]]);
        let small = half(&odd, Encoding::Linear).unwrap();
        assert_eq!((small.width, small.height), (1, 1));
        assert_eq!(small.rgba, [30, 0, 0, 255]);
        assert_eq!(half(&small, Encoding::Linear), None);
        assert_eq!(num_levels(3, 1), 2);
        assert_eq!(num_levels(4096, 16), 13);
    }
}
