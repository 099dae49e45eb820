//! Any subject's rows as a plain table: one line a row, for spreadsheets, pandas and everything else.
//!
//! | column | what it holds |
//! |---|---|
//! | `time_s` | seconds since the first row, to the nanosecond |
//! | `timecode` | `HH:MM:SS:FF.fff`, `;` before the frames when labels are dropped |
//! | `origin` | `recorded`, `interpolated` (a lost frame filled, or resampled) or `held` (nothing was seen) |
//! | a property's name | its value, as sent |
//! | `BONE.px` `.py` `.pz` | position in metres |
//! | `BONE.qx` `.qy` `.qz` `.qw` | rotation as a unit quaternion |
//! | `BONE.sx` `.sy` `.sz` | scale; only there when some bone of some row has another than 1 |
//! | `camera.…`, `light.…` | the lens, the emission; an empty cell is a value that was not measured |
//!
//! `BONE` is a bone's name; of a subject with one transform it is `transform`, `camera` or `light`. By
//! [`TableSpace`] the transforms are `parent_from_local` or `model_from_local`, in the house frame (see [`hub`]).
//! Names that come twice get `_2` and so on.
//!
//! The file is UTF-8 with commas and LF, one line of header, and quotes by RFC 4180 where a name needs them.
//! Numbers have a decimal point and are the shortest that give the same 32-bit float when read.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use hub::{FrameBody, FrameData, StaticBody, StaticData, Transform};
use thiserror::Error;

use super::names::{Rule, unique};
use crate::bake::{Origin, Rows};

/// What the transforms of bones are relative to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TableSpace {
    /// The bone's parent, as sent.
    #[default]
    Local,
    /// The root of the skeleton.
    World,
}

/// How a table is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableOptions {
    /// What the transforms of bones are relative to.
    pub space: TableSpace,
}

/// What was written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TableReport {
    /// Columns.
    pub columns: usize,
    /// Rows below the header.
    pub rows: usize,
    /// Names as sent and as in the header, of those that differ.
    pub names: Vec<(String, String)>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Why a table cannot be written.
#[derive(Debug, Error)]
pub enum TableError {
    /// A row does not fit the names.
    #[error("row {row} has {have} {what}, the subject has {want}")]
    Row {
        /// Row, from 0.
        row: usize,
        /// `transforms` or `properties`.
        what: &'static str,
        /// How many the row has.
        have: usize,
        /// How many the names are for.
        want: usize,
    },
    /// The file cannot be written.
    #[error("cannot write the table: {0}")]
    Io(#[from] io::Error),
}

const LENS: [&str; 5] = [
    "field_of_view_rad",
    "aspect_ratio",
    "focal_length_mm",
    "aperture",
    "focus_distance_m",
];

const EMISSION: [&str; 7] = [
    "red",
    "green",
    "blue",
    "intensity",
    "temperature_k",
    "inner_cone_rad",
    "outer_cone_rad",
];

/// Writes all rows.
///
/// # Errors
/// A row that does not fit the names, or `out` fails.
pub fn write_table(
    rows: &Rows,
    out: &mut impl Write,
    options: TableOptions,
) -> Result<TableReport, TableError> {
    let statics = &rows.statics;
    for (row, data) in rows.rows.iter().map(|r| &r.data).enumerate() {
        for (what, have, want) in [
            (
                "transforms",
                data.transforms().len(),
                statics.num_transforms(),
            ),
            (
                "properties",
                data.properties.len(),
                statics.properties.len(),
            ),
        ] {
            if have != want {
                return Err(TableError::Row {
                    row,
                    what,
                    have,
                    want,
                });
            }
        }
    }
    let is_scaled = rows
        .rows
        .iter()
        .flat_map(|row| row.data.transforms())
        .any(|t| t.scale != Transform::IDENTITY.scale);

    let (header, changed) = header(statics, is_scaled);
    let mut line = String::new();
    for (at, name) in header.iter().enumerate() {
        if at > 0 {
            line.push(',');
        }
        push_text(&mut line, name);
    }
    line.push('\n');
    out.write_all(line.as_bytes())?;

    let mut globals = Vec::new();
    for row in &rows.rows {
        line.clear();
        push_seconds(&mut line, row.nanos);
        let origin = match row.origin {
            Origin::Recorded => "recorded",
            Origin::Interpolated => "interpolated",
            Origin::Held => "held",
        };
        push(&mut line, format_args!(",{},{origin}", row.timecode));
        for value in &row.data.properties {
            push_number(&mut line, Some(*value));
        }
        for transform in placed(statics, &row.data, options.space, &mut globals) {
            let position = transform.translation.to_array();
            let rotation = transform.rotation.to_array();
            let scale = transform.scale.to_array();
            let scale = if is_scaled { &scale[..] } else { &[] };
            for value in position.iter().chain(&rotation).chain(scale) {
                push_number(&mut line, Some(*value));
            }
        }
        match &row.data.body {
            FrameBody::Camera(camera) => push_numbers(&mut line, &camera.lens()),
            FrameBody::Light(light) => push_numbers(&mut line, &light.emission()),
            FrameBody::Basic | FrameBody::Animation(_) | FrameBody::Transform(_) => {}
        }
        line.push('\n');
        out.write_all(line.as_bytes())?;
    }
    out.flush()?;

    let mut notes = Vec::new();
    let filled = rows.num_filled();
    if filled > 0 {
        notes.push(format!(
            "{filled} rows were not recorded; column origin says which"
        ));
    }
    Ok(TableReport {
        columns: header.len(),
        rows: rows.rows.len(),
        names: changed,
        notes,
    })
}

/// The names of all columns, and those of properties and bones that had to change.
fn header(statics: &StaticData, is_scaled: bool) -> (Vec<String>, Vec<(String, String)>) {
    let bones: Vec<&str> = match &statics.body {
        StaticBody::Basic => Vec::new(),
        StaticBody::Animation(skeleton) => skeleton.bone_names.iter().map(String::as_str).collect(),
        StaticBody::Transform => vec!["transform"],
        StaticBody::Camera(_) => vec!["camera"],
        StaticBody::Light(_) => vec!["light"],
    };
    let properties = statics.properties.iter().map(|p| p.name.as_str());
    let fixed = ["time_s", "timecode", "origin"];
    let names = unique(fixed.into_iter().chain(properties), Rule::Gltf);
    let bones = unique(bones.into_iter(), Rule::Gltf);

    let mut header = names.written;
    let parts = ["px", "py", "pz", "qx", "qy", "qz", "qw", "sx", "sy", "sz"];
    let parts = if is_scaled { &parts[..] } else { &parts[..7] };
    for bone in &bones.written {
        header.extend(parts.iter().map(|part| format!("{bone}.{part}")));
    }
    match statics.body {
        StaticBody::Camera(_) => header.extend(LENS.map(|name| format!("camera.{name}"))),
        StaticBody::Light(_) => header.extend(EMISSION.map(|name| format!("light.{name}"))),
        StaticBody::Basic | StaticBody::Animation(_) | StaticBody::Transform => {}
    }
    // A property may be called as a bone's column is.
    let all = unique(header.iter().map(String::as_str), Rule::Gltf);
    let mut changed = names.changed;
    changed.extend(bones.changed);
    changed.extend(all.changed);
    (all.written, changed)
}

/// The row's transforms in that space.
fn placed<'a>(
    statics: &StaticData,
    data: &'a FrameData,
    space: TableSpace,
    globals: &'a mut Vec<Transform>,
) -> &'a [Transform] {
    let locals = data.transforms();
    match statics.skeleton() {
        Some(skeleton) if space == TableSpace::World => {
            globals.clear();
            for (bone, local) in locals.iter().enumerate() {
                let parent = skeleton.parents.get(bone).copied().flatten();
                let parent = parent.and_then(|p| globals.get(p as usize));
                let global = parent.map_or(*local, |parent| parent.mul(local));
                globals.push(global);
            }
            globals.as_slice()
        }
        _ => locals,
    }
}

/// Text as RFC 4180 wants it.
fn push_text(line: &mut String, text: &str) {
    if text.contains([',', '"', '\n', '\r']) {
        line.push('"');
        line.push_str(&text.replace('"', "\"\""));
        line.push('"');
    } else {
        line.push_str(text);
    }
}

fn push_seconds(line: &mut String, nanos: i64) {
    let sign = if nanos < 0 { "-" } else { "" };
    let nanos = nanos.unsigned_abs();
    let (whole, rest) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    push(line, format_args!("{sign}{whole}.{rest:09}"));
}

fn push_numbers(line: &mut String, values: &[Option<f32>]) {
    for value in values {
        push_number(line, *value);
    }
}

/// A cell: the number, or nothing when there is none.
fn push_number(line: &mut String, value: Option<f32>) {
    line.push(',');
    if let Some(value) = value.filter(|v| v.is_finite()) {
        push(line, format_args!("{value}"));
    }
}

fn push(line: &mut String, text: std::fmt::Arguments<'_>) {
    line.write_fmt(text)
        .expect("a string takes all that fits into memory");
}

#[cfg(test)]
mod tests;
