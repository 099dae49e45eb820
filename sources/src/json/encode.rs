//! Subject events → messages of the JSON stream, schema version 1.
//!
//! What the messages mean, and how a reader should treat them, stands in `docs/output-json.md`; their form, for
//! programs, in `docs/output-json.schema.json`. A message is one line of text without a line end. Numbers are
//! always finite: what is not, is written as 0.
//!
//! Each function replaces what is in `out` and keeps its memory, so that a steady stream does not allocate.

use std::fmt::Write as _;

use hub::{
    CameraFrame, FrameBody, FrameData, LightFrame, LightUnit, QualifiedFrameTime, StaticBody,
    StaticData, SubjectName, Tracking, Transform, WorldTime, client::Quality,
};

/// Version of the messages. Fields may be added without a new one; readers ignore what they do not know.
pub const SCHEMA_VERSION: u32 = 1;

/// What a frame message says besides its values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FrameHead {
    /// Of the static message that the values belong to.
    pub generation: u32,
    /// On the sending hub's clock.
    pub time: WorldTime,
    /// If there is any.
    pub timecode: Option<QualifiedFrameTime>,
    /// Whether the source sees what it tracks.
    pub tracking: Tracking,
    /// How the values came about.
    pub quality: Quality,
}

/// The first message of a connection: who sends, and in which version.
pub fn write_hello(out: &mut String, program: &str, version: &str) {
    out.clear();
    let _ = write!(
        out,
        r#"{{"type":"hello","schema":{SCHEMA_VERSION},"program":"#
    );
    text(out, program);
    out.push_str(r#","version":"#);
    text(out, version);
    out.push('}');
}

/// Names and hierarchy of a subject: before its first frame, and again when they change.
pub fn write_static(out: &mut String, name: &SubjectName, generation: u32, data: &StaticData) {
    out.clear();
    out.push_str(r#"{"type":"static","subject":"#);
    text(out, name.as_str());
    let _ = write!(out, r#","generation":{generation},"role":"#);
    let role = match data.body {
        StaticBody::Basic => "basic",
        StaticBody::Animation(_) => "animation",
        StaticBody::Transform => "transform",
        StaticBody::Camera(_) => "camera",
        StaticBody::Light(_) => "light",
    };
    text(out, role);
    out.push_str(r#","curves":"#);
    list(out, &data.properties, |out, property| {
        text(out, &property.name);
    });
    match &data.body {
        StaticBody::Animation(skeleton) => {
            out.push_str(r#","bones":"#);
            list(out, &skeleton.bone_names, |out, name| text(out, name));
            out.push_str(r#","parents":"#);
            list(out, &skeleton.parents, |out, parent| match parent {
                Some(parent) => {
                    let _ = write!(out, "{parent}");
                }
                None => out.push_str("null"),
            });
            if !skeleton.rest.is_empty() {
                out.push_str(r#","rest":"#);
                poses(out, &skeleton.rest);
            }
        }
        StaticBody::Light(light) => {
            let unit = match light.unit {
                LightUnit::Unitless => "unitless",
                LightUnit::Candela => "candela",
                LightUnit::Lumen => "lumen",
                LightUnit::Lux => "lux",
            };
            out.push_str(r#","intensity_unit":"#);
            text(out, unit);
        }
        StaticBody::Camera(camera) => {
            if let Some(sensor) = camera.sensor_mm {
                out.push_str(r#","sensor_mm":"#);
                list(out, &sensor, |out, side| number(out, *side));
            }
        }
        StaticBody::Basic | StaticBody::Transform => {}
    }
    out.push('}');
}

/// The values of one tick; without `data` only that the source runs and sees nothing.
pub fn write_frame(
    out: &mut String,
    name: &SubjectName,
    head: &FrameHead,
    data: Option<&FrameData>,
) {
    out.clear();
    out.push_str(r#"{"type":"frame","subject":"#);
    text(out, name.as_str());
    let _ = write!(out, r#","generation":{},"time":"#, head.generation);
    let _ = write!(out, "{}", head.time.as_secs_f64());
    if let Some(timecode) = head.timecode {
        let rate = timecode.rate;
        let _ = write!(
            out,
            r#","timecode":"{timecode}","rate":[{},{}]"#,
            rate.num(),
            rate.den()
        );
    }
    out.push_str(r#","tracking":"#);
    let tracking = match head.tracking {
        Tracking::Tracked => "tracked",
        Tracking::Lost => "lost",
    };
    text(out, tracking);
    out.push_str(r#","quality":"#);
    text(out, quality_word(head.quality));
    if let Some(data) = data {
        out.push_str(r#","curves":"#);
        list(out, &data.properties, |out, value| number(out, *value));
        body(out, &data.body);
    }
    out.push('}');
}

/// The subject ends, or is not sent any more.
pub fn write_removed(out: &mut String, name: &SubjectName) {
    out.clear();
    out.push_str(r#"{"type":"removed","subject":"#);
    text(out, name.as_str());
    out.push('}');
}

fn quality_word(quality: Quality) -> &'static str {
    match quality {
        Quality::Exact { .. } => "exact",
        Quality::Blended { .. } => "blended",
        Quality::Held { .. } => "held",
        Quality::Stale { .. } => "stale",
        Quality::Early { .. } => "early",
        Quality::None => "none",
    }
}

fn body(out: &mut String, body: &FrameBody) {
    match body {
        FrameBody::Basic => {}
        FrameBody::Animation(bones) => {
            out.push_str(r#","bones":"#);
            poses(out, bones);
        }
        FrameBody::Transform(transform) => one_pose(out, transform),
        FrameBody::Camera(camera) => {
            one_pose(out, &camera.transform);
            lens(out, camera);
        }
        FrameBody::Light(light) => {
            one_pose(out, &light.transform);
            emission(out, light);
        }
    }
}

fn lens(out: &mut String, camera: &CameraFrame) {
    let names = [
        "field_of_view_rad",
        "aspect_ratio",
        "focal_length_mm",
        "aperture",
        "focus_distance_m",
    ];
    out.push_str(r#","camera":"#);
    fields(out, names.into_iter().zip(camera.lens()));
}

fn emission(out: &mut String, light: &LightFrame) {
    let names = [
        "red",
        "green",
        "blue",
        "intensity",
        "temperature_k",
        "inner_cone_rad",
        "outer_cone_rad",
    ];
    out.push_str(r#","light":"#);
    fields(out, names.into_iter().zip(light.emission()));
}

/// An object of those values that there are.
fn fields(out: &mut String, fields: impl Iterator<Item = (&'static str, Option<f32>)>) {
    out.push('{');
    let mut is_first = true;
    for (name, value) in fields {
        let Some(value) = value else {
            continue;
        };
        if !is_first {
            out.push(',');
        }
        is_first = false;
        text(out, name);
        out.push(':');
        number(out, value);
    }
    out.push('}');
}

fn one_pose(out: &mut String, pose: &Transform) {
    out.push_str(r#","transform":"#);
    poses(out, std::slice::from_ref(pose));
}

/// Seven numbers a transform, one after the other: position x y z, rotation x y z w.
fn poses(out: &mut String, poses: &[Transform]) {
    out.push('[');
    for (at, pose) in poses.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        let [x, y, z] = pose.translation.to_array();
        let [qx, qy, qz, qw] = pose.rotation.to_array();
        for (at, value) in [x, y, z, qx, qy, qz, qw].into_iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            number(out, value);
        }
    }
    out.push(']');
}

fn list<T>(out: &mut String, items: &[T], write: impl Fn(&mut String, &T)) {
    out.push('[');
    for (at, item) in items.iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(']');
}

/// The shortest decimal that reads back as the same f32.
fn number(out: &mut String, value: f32) {
    let value = if value.is_finite() { value } else { 0.0 };
    let _ = write!(out, "{value}");
}

fn text(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c.is_control() => {
                // Names have none; whatever has, stays readable. All of them lie below U+0100.
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests;
