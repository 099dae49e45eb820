//! Cameras and props.

use std::{
    fmt::Write as _,
    io::{self, Write},
};

use glam::{Quat, Vec3};
use hub::Transform;

use super::text::{F, Text, continuous, position, vec3};
use crate::export::{bvh::nodes::unit, scene::Scene};

/// Height of the picture in a camera, in tenths of a metre: the 24 mm of a small-picture film.
const APERTURE: f32 = 0.24;

/// Writes them under `names`, cameras first.
pub(super) fn write(
    scene: &Scene<'_>,
    names: &[String],
    text: &mut Text<'_, impl Write>,
) -> io::Result<()> {
    let (cameras, props) = names.split_at(scene.cameras.len().min(names.len()));
    for (camera, name) in scene.cameras.iter().zip(cameras) {
        text.blank()?;
        text.prim("Camera", name, &[])?;
        text.line(format_args!("float2 clippingRange = (0.01, 10000)"))?;
        text.samples("float focalLength", scene.num_frames, |frame, line| {
            let half = (camera.vertical_fov_rad[frame] * 0.5).tan();
            write!(line, "{}", F(APERTURE * 0.5 / half))
        })?;
        let width = F(APERTURE * camera.aspect);
        text.line(format_args!("float horizontalAperture = {width}"))?;
        text.line(format_args!("token projection = \"perspective\""))?;
        text.line(format_args!("float verticalAperture = {}", F(APERTURE)))?;
        transforms(&camera.transforms, text)?;
        text.close("}")?;
    }
    for (prop, name) in scene.props.iter().zip(props) {
        text.blank()?;
        text.prim("Xform", name, &[])?;
        transforms(&prop.transforms, text)?;
        text.close("}")?;
    }
    Ok(())
}

/// Position, rotation, and scale where there is any, one per frame.
fn transforms(transforms: &[Transform], text: &mut Text<'_, impl Write>) -> io::Result<()> {
    let num_frames = transforms.len();
    let mut before = Quat::IDENTITY;
    text.samples("quatf xformOp:orient", num_frames, |frame, line| {
        let rotation = unit(transforms[frame].rotation.as_dquat());
        write!(line, "{}", continuous(rotation, &mut before))
    })?;
    let is_scaled = transforms.iter().any(|t| t.scale != Vec3::ONE);
    if is_scaled {
        text.samples("float3 xformOp:scale", num_frames, |frame, line| {
            write!(line, "{}", vec3(transforms[frame].scale))
        })?;
    }
    text.samples("double3 xformOp:translate", num_frames, |frame, line| {
        write!(
            line,
            "{}",
            position(transforms[frame].translation.as_dvec3())
        )
    })?;
    let scale = if is_scaled { ", \"xformOp:scale\"" } else { "" };
    text.line(format_args!(
        "uniform token[] xformOpOrder = [\"xformOp:translate\", \"xformOp:orient\"{scale}]"
    ))
}
