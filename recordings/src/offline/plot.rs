//! Curves of live and offline as a picture: SVG, for any browser.

use std::fmt::Write as _;

use crate::bake::Rows;

const WIDTH: f32 = 960.0;
const PANEL: f32 = 120.0;
const MARGIN: f32 = 24.0;
/// Most points of a line: more than there are pixels across.
const MAX_POINTS: usize = 4000;

/// Draws curves by name, one panel each, live grey and offline coloured. Curves that the rows do not have are left out.
pub fn plot(live: &Rows, offline: &Rows, curves: &[&str]) -> String {
    let known: Vec<(usize, &str)> = curves
        .iter()
        .filter_map(|name| {
            let at = live
                .statics
                .properties
                .iter()
                .position(|p| p.name == *name)?;
            Some((at, *name))
        })
        .collect();
    let height = MARGIN + (PANEL + MARGIN) * known.len() as f32;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"white\"/>\n"
    );
    let secs = live.duration_secs().max(1e-9) as f32;
    for (panel, (at, name)) in known.iter().enumerate() {
        let top = MARGIN + (PANEL + MARGIN) * panel as f32;
        let lines = [points(live, *at), points(offline, *at)];
        let values = || lines.iter().flatten().map(|(_, value)| *value);
        let low = values().fold(0.0, f32::min);
        let high = values().fold(low + 1e-6, f32::max);
        let label = escaped(name);
        // Writing to a string cannot fail.
        let _ = writeln!(
            out,
            "<text x=\"{MARGIN}\" y=\"{}\">{label}  {low:.2} to {high:.2}, {secs:.2} s</text>",
            top - 6.0
        );
        for (line, colour) in lines.iter().zip(["#888888", "#d0402b"]) {
            let _ = write!(
                out,
                "<polyline fill=\"none\" stroke=\"{colour}\" stroke-width=\"1\" points=\""
            );
            for (t, value) in line {
                let x = MARGIN + (WIDTH - 2.0 * MARGIN) * (t / secs);
                let y = top + PANEL * (1.0 - (value - low) / (high - low));
                let _ = write!(out, "{x:.1},{y:.1} ");
            }
            out.push_str("\"/>\n");
        }
    }
    out.push_str("</svg>\n");
    out
}

/// Seconds and values of a curve, thinned evenly where there are too many.
fn points(rows: &Rows, at: usize) -> Vec<(f32, f32)> {
    let every = rows.rows.len().div_ceil(MAX_POINTS).max(1);
    rows.rows
        .iter()
        .step_by(every)
        .filter_map(|row| {
            let value = row.data.properties.get(at)?;
            Some((row.nanos as f32 / 1e9, *value))
        })
        .collect()
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use hub::{FrameData, FrameRate, QualifiedFrameTime, StaticData};

    use super::*;
    use crate::bake::{Origin, Row};

    #[test]
    fn a_panel_has_two_lines_and_a_name_that_is_no_markup() {
        let rate = FrameRate::FPS_60;
        let rows = |value: f32| Rows {
            statics: StaticData::basic(&["a<b", "山田"]),
            rate,
            timecode_rate: rate,
            rows: (0..3)
                .map(|i| Row {
                    nanos: rate.nanos_of(i),
                    timecode: QualifiedFrameTime::whole(i, rate),
                    data: FrameData::basic(vec![value, 0.0]),
                    origin: Origin::Recorded,
                })
                .collect(),
        };
        let svg = plot(&rows(0.0), &rows(1.0), &["a<b", "not there"]);
        assert_eq!(svg.matches("<polyline").count(), 2);
        assert!(svg.contains(">a&lt;b "), "{svg}");
        // The value 0 lies at the panel's foot, 1 at its top.
        assert!(
            svg.contains("points=\"24.0,144.0 480.0,144.0 936.0,144.0 \""),
            "{svg}"
        );
        assert!(
            svg.contains("points=\"24.0,24.0 480.0,24.0 936.0,24.0 \""),
            "{svg}"
        );
    }
}
