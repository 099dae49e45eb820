//! Text as a QR code: in the terminal, and as plain modules for whoever draws it.

use std::fmt::Write as _;

use qrcode::{Color, EcLevel, QrCode};

/// Light modules that a reader needs on every side (ISO/IEC 18004, section 6.3.8).
pub const QUIET_ZONE: usize = 4;

/// Longest text taken, in bytes: a code of it still fits a terminal of 80 columns.
pub const MAX_TEXT_BYTES: usize = 300;

/// Black and white of the 256-colour cube. The eight named colours are the terminal's theme; these are not.
const BLACK_ON_WHITE: &str = "\x1b[38;5;16;48;5;231m";
const RESET: &str = "\x1b[0m";

/// A QR code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Qr {
    modules: Vec<Vec<bool>>,
}

impl Qr {
    /// Encodes an ASCII text with medium error correction.
    ///
    /// Other characters stand percent-encoded in an address. As raw UTF-8 some readers take them for Shift JIS.
    ///
    /// # Errors
    /// When it is longer than [`MAX_TEXT_BYTES`] or not ASCII.
    pub fn new(text: &str) -> anyhow::Result<Self> {
        anyhow::ensure!(
            text.len() <= MAX_TEXT_BYTES,
            "{} bytes are too many for a QR code in a terminal, {MAX_TEXT_BYTES} fit",
            text.len()
        );
        anyhow::ensure!(
            text.is_ascii(),
            "only ASCII goes into a QR code here, percent-encode the rest: {text}"
        );
        let code = QrCode::with_error_correction_level(text, EcLevel::M)
            .map_err(|e| anyhow::anyhow!("the text does not fit a QR code: {e}"))?;
        let width = code.width();
        let colors = code.into_colors();
        let modules = colors
            .chunks(width)
            .map(|row| row.iter().map(|c| *c == Color::Dark).collect())
            .collect();
        Ok(Self { modules })
    }

    /// Rows from the top, true for dark, without quiet zone: `modules()[y][x]`. As many rows as columns.
    pub fn modules(&self) -> &[Vec<bool>] {
        &self.modules
    }

    /// Modules on a side, without quiet zone.
    pub fn width(&self) -> usize {
        self.modules.len()
    }

    /// Whether a module is dark, counted from the corner of the quiet zone; outside everything is light.
    fn is_dark(&self, x: usize, y: usize) -> bool {
        let inner = |v: usize| v.checked_sub(QUIET_ZONE);
        let row = inner(y).and_then(|y| self.modules.get(y));
        match (row, inner(x)) {
            (Some(row), Some(x)) => row.get(x).copied().unwrap_or(false),
            _ => false,
        }
    }

    /// Lines for a terminal: two modules to a character, quiet zone included, black on white whatever the theme.
    pub fn terminal(&self) -> String {
        let side = self.width() + 2 * QUIET_ZONE;
        let mut out = String::new();
        for y in (0..side).step_by(2) {
            out.push_str(BLACK_ON_WHITE);
            for x in 0..side {
                out.push(match (self.is_dark(x, y), self.is_dark(x, y + 1)) {
                    (true, true) => '█',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (false, false) => ' ',
                });
            }
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{RESET}");
        }
        out
    }

    /// One string of `0` and `1` per row, for JSON.
    pub fn rows(&self) -> Vec<String> {
        let digit = |dark: &bool| if *dark { '1' } else { '0' };
        self.modules
            .iter()
            .map(|row| row.iter().map(digit).collect())
            .collect()
    }
}

/// The characters of [`large`]: five rows from the top, three columns each, the left one in the highest bit.
const GLYPHS: [(char, [u8; 5]); 12] = [
    ('0', [0b111, 0b101, 0b101, 0b101, 0b111]),
    ('1', [0b010, 0b110, 0b010, 0b010, 0b111]),
    ('2', [0b111, 0b001, 0b111, 0b100, 0b111]),
    ('3', [0b111, 0b001, 0b111, 0b001, 0b111]),
    ('4', [0b101, 0b101, 0b111, 0b001, 0b001]),
    ('5', [0b111, 0b100, 0b111, 0b001, 0b111]),
    ('6', [0b111, 0b100, 0b111, 0b101, 0b111]),
    ('7', [0b111, 0b001, 0b001, 0b010, 0b010]),
    ('8', [0b111, 0b101, 0b111, 0b101, 0b111]),
    ('9', [0b111, 0b101, 0b111, 0b001, 0b111]),
    ('.', [0b000, 0b000, 0b000, 0b000, 0b010]),
    (':', [0b000, 0b010, 0b000, 0b010, 0b000]),
];

/// An address in digits that can be read across a room: three lines of half blocks. `None` when it holds
/// anything but digits, dots and colons, such as an IPv6 address.
pub fn large(text: &str) -> Option<[String; 3]> {
    let mut lines = [String::new(), String::new(), String::new()];
    for c in text.chars() {
        let (_, rows) = GLYPHS.iter().find(|(glyph, _)| *glyph == c)?;
        let is_on = |x: u8, y: usize| rows.get(y).is_some_and(|row| (row >> (2 - x)) & 1 == 1);
        // A dot and a colon need only their middle column.
        let columns = if c.is_ascii_digit() { 0..3 } else { 1..2 };
        for (line, y) in lines.iter_mut().zip([0, 2, 4]) {
            for x in columns.clone() {
                line.push(match (is_on(x, y), is_on(x, y + 1)) {
                    (true, true) => '█',
                    (true, false) => '▀',
                    (false, true) => '▄',
                    (false, false) => ' ',
                });
            }
            line.push(' ');
        }
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a camera sees of terminal text: each module as a square of four by four, black 0 and white 255.
    fn photograph(text: &str) -> (usize, usize, Vec<u8>) {
        const SCALE: usize = 4;
        let mut rows: Vec<Vec<u8>> = Vec::new();
        for line in text.lines() {
            let line = line.strip_prefix(BLACK_ON_WHITE).unwrap();
            let line = line.strip_suffix(RESET).unwrap();
            let ink = |top: bool| {
                let dark = move |c: char| match c {
                    '█' => true,
                    '▀' => top,
                    '▄' => !top,
                    ' ' => false,
                    other => panic!("{other:?} is no module"),
                };
                line.chars()
                    .flat_map(|c| [if dark(c) { 0 } else { 255 }; SCALE])
                    .collect::<Vec<u8>>()
            };
            for top in [true, false] {
                rows.extend(std::iter::repeat_n(ink(top), SCALE));
            }
        }
        (rows[0].len(), rows.len(), rows.concat())
    }

    /// Read by `rqrr`, which shares nothing with the encoder.
    fn read_back(text: &str) -> Vec<String> {
        let (width, height, pixels) = photograph(text);
        let mut image = rqrr::PreparedImage::prepare_from_greyscale(width, height, |x, y| {
            pixels[y * width + x]
        });
        let grids = image.detect_grids();
        grids.iter().map(|g| g.decode().unwrap().1).collect()
    }

    #[test]
    fn another_program_reads_what_the_terminal_shows() {
        for text in [
            "192.168.77.2:11111",
            "10.0.0.4",
            "https://192.168.178.200:8443/pair?hub=%E8%88%9E%E5%8F%B0",
        ] {
            let qr = Qr::new(text).unwrap();
            assert_eq!(read_back(&qr.terminal()), [text]);
        }
    }

    #[test]
    fn the_modules_are_a_square_with_three_corners() {
        let qr = Qr::new("192.168.77.2:11111").unwrap();
        let n = qr.width();
        // Sides of QR codes are 17 + 4 × version.
        assert!(n >= 21 && (n - 17).is_multiple_of(4), "{n}");
        assert!(qr.modules().iter().all(|row| row.len() == n));
        // The finder patterns: a dark ring, seven wide, in every corner but the lower right.
        for (x, y) in [(0, 0), (n - 7, 0), (0, n - 7)] {
            assert!((0..7).all(|i| qr.modules()[y][x + i] && qr.modules()[y + i][x]));
            assert!(!qr.modules()[y + 1][x + 1] && qr.modules()[y + 3][x + 3]);
        }
        let rows = qr.rows();
        assert_eq!(rows.len(), n);
        assert!(rows[0].starts_with("11111110"), "{}", rows[0]);
    }

    #[test]
    fn the_quiet_zone_is_light_on_every_side() {
        let qr = Qr::new("10.0.0.4").unwrap();
        let (width, height, pixels) = photograph(&qr.terminal());
        let margin = QUIET_ZONE * 4;
        for y in 0..height {
            for x in 0..width {
                if x < margin || y < margin || x >= width - margin || y >= height - margin {
                    assert_eq!(pixels[y * width + x], 255, "{x} {y}");
                }
            }
        }
    }

    #[test]
    fn a_text_that_is_too_long_or_not_ascii_is_refused() {
        let error = Qr::new("http://舞台.local").unwrap_err().to_string();
        assert!(error.contains("percent-encode"), "{error}");
        let error = Qr::new(&"x".repeat(301)).unwrap_err().to_string();
        assert!(error.contains("301") && error.contains("300"), "{error}");
        let widest = Qr::new(&"x".repeat(MAX_TEXT_BYTES)).unwrap();
        assert!(widest.width() + 2 * QUIET_ZONE <= 80);
    }

    #[test]
    fn large_digits_differ_and_fit_a_terminal() {
        let mut seen: Vec<[String; 3]> = Vec::new();
        for c in "0123456789.:".chars() {
            let glyph = large(&c.to_string()).unwrap();
            assert!(glyph.iter().any(|l| !l.trim().is_empty()), "{c}");
            assert!(!seen.contains(&glyph), "{c} looks like another");
            seen.push(glyph);
        }
        let longest = large("192.168.100.100:65535").unwrap();
        let widths = longest.map(|l| l.chars().count());
        assert_eq!(widths, [76; 3]);
        assert_eq!(large("2001:db8::7"), None);
        // By hand: a 1 has its flag, its stem and its foot.
        let one = large("1").unwrap().map(|l| l.trim_end().to_owned());
        assert_eq!(one, ["▄█", " █", "▀▀▀"]);
    }
}
