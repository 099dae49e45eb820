//! Pictures inside a character.

use ::image::ImageFormat;
use thiserror::Error;

/// Most pixels on a side.
const MAX_SIDE: u32 = 8192;

/// A picture as the file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Image {
    /// As in the document; empty when it has none.
    pub name: String,
    /// Such as `image/png`; empty when nobody says.
    pub mime: String,
    /// Encoded.
    pub bytes: Vec<u8>,
}

/// Pixels, rows from the top, 8 bits of red, green, blue and alpha.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pixels {
    /// Columns.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Four bytes a pixel.
    pub rgba: Vec<u8>,
}

/// Why a picture cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ImageError {
    /// A format that is not read.
    #[error("a picture of kind {mime:?}; PNG and JPEG are read")]
    Kind {
        /// As the file calls it.
        mime: String,
    },
    /// More pixels than are read.
    #[error("a picture of {width} by {height} pixels, at most {limit} on a side are read")]
    TooLarge {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
        /// Most of either.
        limit: u32,
    },
    /// It is broken.
    #[error("the picture cannot be read: {0}")]
    Broken(String),
}

impl Image {
    /// The picture's pixels.
    ///
    /// # Errors
    /// Another format than PNG and JPEG, whatever it is called, more than 8192 pixels on a side, broken data.
    pub fn decode(&self) -> Result<Pixels, ImageError> {
        let format = match self.bytes.as_slice() {
            [0x89, b'P', b'N', b'G', ..] => ImageFormat::Png,
            [0xff, 0xd8, ..] => ImageFormat::Jpeg,
            _ => {
                return Err(ImageError::Kind {
                    mime: self.mime.clone(),
                });
            }
        };
        let size = match format {
            ImageFormat::Png => png_size(&self.bytes),
            _ => jpeg_size(&self.bytes),
        };
        let (width, height) =
            size.ok_or_else(|| ImageError::Broken("its size is not where it should be".into()))?;
        if width > MAX_SIDE || height > MAX_SIDE {
            return Err(ImageError::TooLarge {
                width,
                height,
                limit: MAX_SIDE,
            });
        }
        // The decoder asks for at most 512 MiB, its own default.
        let decoded = ::image::load_from_memory_with_format(&self.bytes, format);
        let decoded = decoded.map_err(|error| ImageError::Broken(error.to_string()))?;
        let rgba = decoded.into_rgba8();
        if rgba.dimensions() != (width, height) {
            return Err(ImageError::Broken("it has two sizes".into()));
        }
        Ok(Pixels {
            width,
            height,
            rgba: rgba.into_raw(),
        })
    }
}

/// Width and height in the first chunk, big-endian. Source: PNG specification, section 11.2.1.
fn png_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let header = bytes.get(12..24)?;
    let (kind, size) = header.split_at_checked(4)?;
    let [width, height] =
        [size.first_chunk()?, size.last_chunk()?].map(|side| u32::from_be_bytes(*side));
    (kind == b"IHDR").then_some((width, height))
}

/// Width and height in the frame header, big-endian. Source: ITU-T T.81, sections B.1.1 and B.2.2.
fn jpeg_size(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut rest = bytes.get(2..)?;
    loop {
        let (marker, after) = rest.split_first_chunk::<2>()?;
        rest = match marker {
            // Filled up.
            [0xff, 0xff] => rest.get(1..)?,
            // Markers that stand alone.
            [0xff, 0x01 | 0xd0..=0xd7] => after,
            // Frame headers, but for three numbers among them that mean other things.
            [0xff, 0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf] => {
                let [_, _, _, h, l, w, k] = after.first_chunk::<7>()?;
                let side = |high: u8, low: u8| u32::from(u16::from_be_bytes([high, low]));
                return Some((side(*w, *k), side(*h, *l)));
            }
            // The scan begins before any frame did, or it is no marker.
            [0xff, 0xd8..=0xda] => return None,
            [0xff, _] => {
                let length = u16::from_be_bytes(*after.first_chunk::<2>()?);
                after.get(usize::from(length).max(2)..)?
            }
            _ => return None,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One red pixel, by zlib and the PNG specification.
    const RED: [u8; 69] = [
        0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13, b'I', b'H', b'D', b'R', 0, 0,
        0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 12, b'I', b'D', b'A',
        b'T', 0x78, 0x9c, 0x63, 0xf8, 0xcf, 0xc0, 0, 0, 3, 1, 1, 0, 0xc9, 0xfe, 0x92, 0xef, 0, 0,
        0, 0, b'I', b'E', b'N', b'D', 0xae, 0x42, 0x60, 0x82,
    ];

    #[test]
    fn a_png_is_read_whatever_it_is_called_and_other_kinds_are_named() {
        let image = Image {
            name: String::new(),
            mime: "image/jpeg".into(),
            bytes: RED.to_vec(),
        };
        let pixels = image.decode().unwrap();
        assert_eq!((pixels.width, pixels.height), (1, 1));
        assert_eq!(pixels.rgba, [255, 0, 0, 255]);
        let ktx = Image {
            mime: "image/ktx2".into(),
            bytes: vec![0xab, b'K', b'T', b'X'],
            ..Image::default()
        };
        assert!(ktx.decode().unwrap_err().to_string().contains("ktx2"));
    }

    #[test]
    fn the_size_is_known_before_memory_is_asked_for() {
        let mut bytes = RED.to_vec();
        bytes[16..20].copy_from_slice(&1_000_000_000_u32.to_be_bytes());
        let image = Image {
            bytes,
            ..Image::default()
        };
        let want = ImageError::TooLarge {
            width: 1_000_000_000,
            height: 1,
            limit: 8192,
        };
        assert_eq!(image.decode(), Err(want));
        // T.81, figure B.3: a comment, then a frame of 9000 lines of 16 samples.
        let jpeg = [
            0xff, 0xd8, 0xff, 0xfe, 0, 4, 1, 2, 0xff, 0xff, 0xc2, 0, 11, 8, 0x23, 0x28, 0, 16, 1,
            1, 0x11, 0,
        ];
        assert_eq!(jpeg_size(&jpeg), Some((16, 9000)));
        assert_eq!(jpeg_size(&jpeg[..16]), None);
    }

    #[test]
    fn a_cut_picture_is_an_error() {
        for length in 8..RED.len() - 12 {
            let image = Image {
                bytes: RED[..length].to_vec(),
                ..Image::default()
            };
            assert!(image.decode().is_err(), "{length}");
        }
    }
}
