//! Cameras and objects, each at the root.
//!
//! A camera of the house looks along its own -Z, one of the format along its +X; both have +Y up. The lens is
//! told as a focal length before a full-frame film of 24 mm height, which is what importers animate.

use std::f64::consts::FRAC_PI_2;

use glam::{DQuat, DVec3};
use hub::Transform;

use super::{
    animation::Animation,
    document::{Document, ROOT},
    euler,
    props::Props,
    record::Record,
    rig::{Rest, UNITS, by_axis, model, placed},
};
use crate::export::scene::{CameraTrack, PropTrack};

const FILM_HEIGHT_MM: f64 = 24.0;
const MM_PER_INCH: f64 = 25.4;

/// A camera in the file.
pub(super) struct Camera {
    model: i64,
    /// The attribute that has the focal length.
    lens: i64,
}

impl Camera {
    pub(super) fn animate(&self, animation: &mut Animation<'_, '_>, track: &CameraTrack) {
        // Turns the format's +X to the house's -Z.
        let turn = DQuat::from_rotation_y(FRAC_PI_2);
        animate_transforms(animation, self.model, &track.transforms, turn);
        let focal = track.vertical_fov_rad.iter().map(|fov| focal_mm(*fov));
        let axes = [("FocalLength", focal.collect())];
        animation.drive(self.lens, "FocalLength", "FocalLength", &axes);
    }
}

pub(super) fn animate_prop(animation: &mut Animation<'_, '_>, id: i64, track: &PropTrack) {
    animate_transforms(animation, id, &track.transforms, DQuat::IDENTITY);
}

/// Focal length for a vertical field of view in radians.
fn focal_mm(fov: f32) -> f64 {
    FILM_HEIGHT_MM / 2.0 / (f64::from(fov) / 2.0).tan()
}

pub(super) fn camera(document: &mut Document<'_>, track: &CameraTrack, name: &str) -> Camera {
    let camera = Camera {
        model: document.id(),
        lens: document.id(),
    };
    let aspect = f64::from(track.aspect);
    let vertical = track.vertical_fov_rad.first().copied().unwrap_or(0.8);
    let focal = focal_mm(vertical);
    let width = FILM_HEIGHT_MM * aspect;
    let horizontal = (2.0 * (width / 2.0 / focal).atan()).to_degrees();
    let props = Props::new()
        .choice("AspectRatioMode", 1)
        .double("AspectWidth", aspect)
        .double("AspectHeight", 1.0)
        .double("PixelAspectRatio", 1.0)
        .double("FilmWidth", width / MM_PER_INCH)
        .double("FilmHeight", FILM_HEIGHT_MM / MM_PER_INCH)
        .double("FilmAspectRatio", aspect)
        // The lens is given by its focal length.
        .choice("ApertureMode", 3)
        .choice("GateFit", 2)
        .number("FocalLength", focal)
        .angle("FieldOfView", horizontal)
        .angle("FieldOfViewX", horizontal)
        .angle("FieldOfViewY", f64::from(vertical).to_degrees())
        .choice("CameraProjectionType", 0)
        .double("NearPlane", 0.1 * UNITS)
        .double("FarPlane", 1000.0 * UNITS);
    document.add(
        Record::object(
            "NodeAttribute",
            camera.lens,
            name,
            "NodeAttribute",
            "Camera",
        )
        .child(props.done())
        .entry("TypeFlags", "Camera")
        .entry("GeometryVersion", 124)
        .child(vector("Position", [0.0; 3]))
        .child(vector("Up", [0.0, 1.0, 0.0]))
        .child(vector("LookAt", [1.0, 0.0, 0.0]))
        .entry("ShowInfoOnMoving", 1)
        .entry("ShowAudio", 0)
        .child(vector("AudioColor", [0.0, 1.0, 0.0]))
        .entry("CameraOrthoZoom", 1.0),
    );
    let props = placed(Props::new(), &Rest::IDENTITY, [0.0; 3]);
    document.add(model(camera.model, name, "Camera", props));
    document.connect(camera.model, ROOT);
    document.connect(camera.lens, camera.model);
    camera
}

/// The number of the object's model.
pub(super) fn prop(document: &mut Document<'_>, name: &str) -> i64 {
    let (id, attribute) = (document.id(), document.id());
    document.add(
        Record::object("NodeAttribute", attribute, name, "NodeAttribute", "Null")
            .entry("TypeFlags", "Null"),
    );
    let props = placed(Props::new(), &Rest::IDENTITY, [0.0; 3]);
    document.add(model(id, name, "Null", props));
    document.connect(id, ROOT);
    document.connect(attribute, id);
    id
}

fn vector<'a>(name: &'static str, [x, y, z]: [f64; 3]) -> Record<'a> {
    Record::new(name).value(x).value(y).value(z)
}

/// `turn` comes before the rotation of each frame.
fn animate_transforms(
    animation: &mut Animation<'_, '_>,
    id: i64,
    transforms: &[Transform],
    turn: DQuat,
) {
    let points = transforms.iter().map(|t| t.translation.as_dvec3() * UNITS);
    animation.drive_xyz(id, "Lcl Translation", "T", by_axis(points));
    let rotations = transforms.iter().map(|t| t.rotation.as_dquat());
    let turned = rotations.map(|q| euler::unit(q) * turn);
    animation.drive_xyz(id, "Lcl Rotation", "R", euler::degrees(turned));
    let scales = transforms.iter().map(|t| t.scale.as_dvec3());
    if scales.clone().any(|s| s != DVec3::ONE) {
        animation.drive_xyz(id, "Lcl Scaling", "S", by_axis(scales));
    }
}
