//! What a scene says about its light and what stands around it.
//!
//! Directions are in world space and point from the scene towards the light; they need not be unit.
//! Colours are linear Rec. 709; for their unit see [the room](super).

use glam::Vec3;

/// Most soft boxes that a sky holds.
pub const MAX_SOFT_BOXES: usize = 4;
/// Most occluders that darken the ground.
pub const MAX_OCCLUDERS: usize = 16;

/// The one light that casts shadows. Far away, round.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KeyLight {
    /// Towards the light.
    pub direction: Vec3,
    /// Colour and strength.
    pub color: [f32; 3],
    /// Angle between its middle and its edge, in radians, 0 to 0.5. The sun's is 0.0047; larger is softer.
    pub radius_rad: f32,
    /// How much of it a shadow takes away, 0 to 1.
    pub shadow: f32,
}

impl Default for KeyLight {
    /// A large lamp before the subject, to its right and above.
    fn default() -> Self {
        Self {
            direction: Vec3::new(-0.55, 0.75, 0.75),
            color: [1.75, 1.66, 1.52],
            radius_rad: 0.07,
            shadow: 1.0,
        }
    }
}

/// A light without shadow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lamp {
    /// Towards the light.
    pub direction: Vec3,
    /// Colour and strength; black is off.
    pub color: [f32; 3],
    /// Angle between its middle and its edge, in radians, 0 to 0.5.
    pub radius_rad: f32,
}

/// A rectangle of light in the sky: it lights softly, and eyes and metal mirror it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SoftBox {
    /// Towards its middle. Its upper edge is level.
    pub direction: Vec3,
    /// Half of its width and of its height, at distance 1: tangents of angles.
    pub half_size: [f32; 2],
    /// Share of the half size over which its edge fades, 0 to 1.
    pub softness: f32,
    /// Radiance, added to that of the sky.
    pub color: [f32; 3],
}

/// Light from everywhere, and the lamps that stand in it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sky {
    /// Radiance from straight above.
    pub zenith: [f32; 3],
    /// Radiance from all around.
    pub horizon: [f32; 3],
    /// Radiance from below: light that the floor throws back.
    pub ground: [f32; 3],
    /// Exponent of the blend from horizon to zenith over the sine of the height. Below 1 the horizon is thin.
    pub sharpness: f32,
    /// Rectangles of light.
    pub boxes: [Option<SoftBox>; MAX_SOFT_BOXES],
    /// Brightens what the key light leaves dark.
    pub fill: Lamp,
    /// From behind, for a bright edge against the background.
    pub rim: Lamp,
}

impl Default for Sky {
    /// A photographer's studio: dim walls, three soft boxes, a cool lamp from behind.
    fn default() -> Self {
        let soft_box = |direction: [f32; 3], half_size, softness, color| {
            Some(SoftBox {
                direction: Vec3::from_array(direction),
                half_size,
                softness,
                color,
            })
        };
        Self {
            zenith: [0.14, 0.165, 0.21],
            horizon: [0.21, 0.21, 0.22],
            ground: [0.09, 0.08, 0.07],
            sharpness: 0.7,
            boxes: [
                soft_box([-0.75, 0.55, 0.9], [0.45, 0.65], 0.25, [1.5, 1.45, 1.35]),
                soft_box([1.0, 0.25, 0.35], [0.25, 0.8], 0.3, [0.6, 0.7, 0.85]),
                soft_box([0.1, 1.0, -0.35], [0.9, 0.35], 0.3, [0.7, 0.7, 0.75]),
                None,
            ],
            fill: Lamp {
                direction: Vec3::new(0.9, 0.2, 0.7),
                color: [0.16, 0.18, 0.22],
                radius_rad: 0.3,
            },
            rim: Lamp {
                direction: Vec3::new(0.55, 0.55, -0.85),
                color: [1.1, 1.2, 1.35],
                radius_rad: 0.1,
            },
        }
    }
}

/// A level floor that shows contact and distances; between its lines one sees through it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Where it lies, metres of world Y.
    pub height: f32,
    /// Distance from the camera, in metres, at which it has faded away.
    pub fade: f32,
    /// Strength of the grid (lines each metre and each decimetre, X red, Z blue), 0 to 1.
    pub grid: f32,
    /// Strength of shadows on it, 0 to 1.
    pub shadow: f32,
    /// Colour of the floor itself.
    pub color: [f32; 3],
    /// How much of what is below the floor hides, 0 to 1.
    pub opacity: f32,
}

impl Default for Ground {
    /// Clear but for its lines and shadows.
    fn default() -> Self {
        Self {
            height: 0.0,
            fade: 12.0,
            grid: 0.5,
            shadow: 0.9,
            color: [0.2, 0.2, 0.2],
            opacity: 0.0,
        }
    }
}

/// A capsule near the ground that darkens it: a foot, a shin, a hip.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Occluder {
    /// One end of its middle line, metres of world space.
    pub from: Vec3,
    /// Other end.
    pub to: Vec3,
    /// Metres.
    pub radius: f32,
    /// 0 to 1.
    pub strength: f32,
}

/// What is behind everything. Colours go through the tone map as all others do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Background {
    /// Nothing: the picture keeps its alpha.
    Transparent,
    /// One colour.
    Even([f32; 3]),
    /// A studio's backdrop, brightest in the middle.
    Backdrop {
        /// In the middle of the picture.
        center: [f32; 3],
        /// In its corners.
        edge: [f32; 3],
    },
    /// The sky itself and the key light in it.
    Sky,
}

impl Default for Background {
    fn default() -> Self {
        Self::Backdrop {
            center: [0.16, 0.165, 0.175],
            edge: [0.035, 0.036, 0.04],
        }
    }
}

/// From light to display.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tone {
    /// Stops: each doubles the light.
    pub exposure_ev: f32,
    /// How bright light is fitted into what a display shows.
    pub curve: Curve,
}

impl Default for Tone {
    fn default() -> Self {
        Self {
            exposure_ev: 0.0,
            curve: Curve::AgX,
        }
    }
}

/// A tone curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Curve {
    /// Light above 1 is cut off. Toon colours stay what their author chose.
    None,
    /// Sobotka's AgX with some contrast: strong lights go to white as film does.
    #[default]
    AgX,
    /// The fit of ACES that many games use: more contrast, colours shift in bright light.
    Aces,
}
