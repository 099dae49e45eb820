//! Contact sheets: figures of lines, source beside target, as SVG.
//!
//! ```text
//!            0.00 s           0.25 s
//! front    source target   source target
//! side     source target   source target
//! ```
//!
//! Seen from the front, what is at the house's left (+X) is at the right; seen from the body's right, it faces right (+Z).
//! The floor is the height 0. Drawn about their centres, figures do not walk out of the picture.

use std::fmt::Write as _;

/// A place in the house frame, metres.
pub type Point = [f32; 3];

/// A body as lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figure {
    /// From joint to joint.
    pub lines: Vec<[Point; 2]>,
    /// Feet that stand: a dot each.
    pub contacts: Vec<Point>,
    /// What is drawn in the middle; its height is not looked at.
    pub centre: Point,
}

/// A moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// What is written over it.
    pub label: String,
    /// The performer, blue.
    pub source: Figure,
    /// The character, orange.
    pub target: Figure,
}

const PX_PER_M: f32 = 90.0;
/// Of one figure, metres.
const WIDTH_M: f32 = 1.6;
/// Over and under the floor, metres.
const OVER_M: f32 = 2.1;
const UNDER_M: f32 = 0.2;
/// Above the figures: the title, the labels.
const HEAD_PX: f32 = 50.0;
const SOURCE_COLOUR: &str = "#2b6cb0";
const TARGET_COLOUR: &str = "#dd6b20";

/// Where a point lies across the picture, metres from the centre.
type View = fn(Point, Point) -> f32;

const VIEWS: [View; 2] = [from_the_front, from_the_right];

fn from_the_front(point: Point, centre: Point) -> f32 {
    point[0] - centre[0]
}

fn from_the_right(point: Point, centre: Point) -> f32 {
    point[2] - centre[2]
}

/// The sheet as the text of an SVG file.
pub fn svg(title: &str, columns: &[Column]) -> String {
    let row_px = (OVER_M + UNDER_M) * PX_PER_M;
    let figure_px = WIDTH_M * PX_PER_M;
    let width = 2.0 * figure_px * columns.len() as f32;
    let height = HEAD_PX + row_px * VIEWS.len() as f32;
    let mut out = String::new();
    // Writing into a text does not fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         font-family=\"sans-serif\" font-size=\"13\" stroke-linecap=\"round\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"8\" y=\"20\">{}: <tspan fill=\"{SOURCE_COLOUR}\">source</tspan>, \
         <tspan fill=\"{TARGET_COLOUR}\">target</tspan>; from the front, from the right</text>",
        escaped(title)
    );
    for (number, column) in columns.iter().enumerate() {
        let left = 2.0 * figure_px * number as f32;
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"42\" text-anchor=\"middle\">{}</text>",
            left + figure_px,
            escaped(&column.label)
        );
        for (row, view) in VIEWS.into_iter().enumerate() {
            let floor = HEAD_PX + row_px * row as f32 + OVER_M * PX_PER_M;
            let _ = writeln!(
                out,
                "<path d=\"M{:.1} {floor:.1}h{:.1}\" stroke=\"#aaa\"/>",
                left + 4.0,
                2.0 * figure_px - 8.0
            );
            let both = [
                (&column.source, SOURCE_COLOUR, 0.5),
                (&column.target, TARGET_COLOUR, 1.5),
            ];
            for (figure, colour, place) in both {
                let origin = (left + place * figure_px, floor);
                draw(&mut out, figure, colour, view, origin);
            }
        }
    }
    out.push_str("</svg>\n");
    out
}

/// `origin` is where the centre stands on the floor, pixels.
fn draw(out: &mut String, figure: &Figure, colour: &str, view: View, origin: (f32, f32)) {
    let at = |point: Point| {
        (
            origin.0 + view(point, figure.centre) * PX_PER_M,
            origin.1 - point[1] * PX_PER_M,
        )
    };
    let _ = write!(
        out,
        "<path stroke=\"{colour}\" stroke-width=\"2\" fill=\"none\" d=\""
    );
    for [from, to] in &figure.lines {
        let ((x, y), (to_x, to_y)) = (at(*from), at(*to));
        let _ = write!(out, "M{x:.1} {y:.1}L{to_x:.1} {to_y:.1}");
    }
    out.push_str("\"/>\n");
    for contact in &figure.contacts {
        let (x, y) = at(*contact);
        let _ = writeln!(
            out,
            "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\" fill=\"#c53030\"/>"
        );
    }
}

/// A text as XML has it.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn left_is_at_the_right_ahead_is_at_the_right_and_up_is_up() {
        // A metre high, its left hand half a metre out, its nose 0.3 m ahead; it stands at x = 7.
        let figure = Figure {
            lines: vec![[[7.0, 0.0, 2.0], [7.5, 1.0, 2.3]]],
            contacts: vec![[7.0, 0.0, 2.0]],
            centre: [7.0, 1.0, 2.0],
        };
        let column = Column {
            label: "演員 <1>".to_owned(),
            target: figure,
            ..Column::default()
        };
        let text = svg("a & b", &[column]);
        // The target's middle is at 1.5 figures of 144 px; the floor of the first row 50 + 2.1 · 90, of the second 2.3 · 90
        // further down.
        assert!(text.contains("M216.0 239.0L261.0 149.0"), "{text}");
        assert!(text.contains("M216.0 446.0L243.0 356.0"), "{text}");
        assert!(text.contains("cx=\"216.0\" cy=\"239.0\""), "{text}");
        assert!(
            text.contains("演員 &lt;1&gt;") && text.contains("a &amp; b"),
            "{text}"
        );
        assert_eq!(text.matches("<circle").count(), 2, "one contact, two views");
    }
}
