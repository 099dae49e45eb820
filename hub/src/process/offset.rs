//! `offset`: moves and turns roots, chosen bones, a prop, a camera or a light.
//!
//! O is the rotation R = Y · X · Z (about Z first, then X, then Y, each about a fixed axis) followed by the
//! translation. On the `parent` side T' = O T: what is moved turns about its parent's origin, for a root the
//! origin of the stage. On the `local` side T' = T O: it turns about itself and moves along its own axes.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};

use super::select::{number_fault, pattern_faults, transforms};
use crate::{
    frame_data::{FrameData, Transform},
    static_data::{StaticBody, StaticData},
};

/// On which side of a transform the offset stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OffsetSide {
    /// In the parent's axes, about the parent's origin: O T.
    #[default]
    Parent,
    /// In its own axes, about itself: T O.
    Local,
}

/// Keys of `kind = "offset"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Offset {
    /// Whether the step does anything. Default true.
    pub enabled: bool,
    /// Patterns of bones; default the roots. A prop, camera or light is moved unless this is an empty list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bones: Option<Vec<String>>,
    /// x, y, z in metres, each at most 1,000,000 either way. Default 0.
    pub translation_m: [f32; 3],
    /// Degrees about x, y, z, each at most 36,000 either way; applied Z first, then X, then Y. Default 0.
    pub rotation_deg: [f32; 3],
    /// In whose axes. Default the parent's.
    pub side: OffsetSide,
    /// Whether the rest pose is changed alike: true to mend how bones are bound, false to place a performer.
    /// Default false.
    pub rest: bool,
}

impl Default for Offset {
    fn default() -> Self {
        Self {
            enabled: true,
            bones: None,
            translation_m: [0.0; 3],
            rotation_deg: [0.0; 3],
            side: OffsetSide::default(),
            rest: false,
        }
    }
}

impl Offset {
    pub(super) fn faults(&self, out: &mut Vec<String>) {
        if let Some(bones) = &self.bones {
            pattern_faults("bones", bones, out);
        }
        for metres in self.translation_m {
            number_fault("translation_m", metres, -1e6, 1e6, out);
        }
        for degrees in self.rotation_deg {
            number_fault("rotation_deg", degrees, -36_000.0, 36_000.0, out);
        }
    }

    pub(super) fn plan(&self, data: &mut StaticData, notes: &mut Vec<String>) -> Plan {
        let targets = match (&self.bones, &data.body) {
            (Some(patterns), _) => transforms(patterns, data, notes),
            (None, StaticBody::Animation(skeleton)) => {
                let parents = skeleton.parents.iter().enumerate();
                parents
                    .filter(|(_, parent)| parent.is_none())
                    .map(|(bone, _)| bone)
                    .collect()
            }
            (None, _) => (0..data.num_transforms()).collect(),
        };
        let [x, y, z] = self.rotation_deg.map(f32::to_radians);
        let rotation =
            Quat::from_rotation_y(y) * Quat::from_rotation_x(x) * Quat::from_rotation_z(z);
        let plan = Plan {
            targets,
            offset: Transform::new(Vec3::from_array(self.translation_m), rotation),
            side: self.side,
        };
        if self.rest
            && let StaticBody::Animation(skeleton) = &mut data.body
        {
            plan.move_all(&mut skeleton.rest);
        }
        plan
    }
}

#[derive(Debug)]
pub(super) struct Plan {
    targets: Vec<usize>,
    offset: Transform,
    side: OffsetSide,
}

impl Plan {
    fn move_all(&self, transforms: &mut [Transform]) {
        for at in &self.targets {
            if let Some(t) = transforms.get_mut(*at) {
                *t = match self.side {
                    OffsetSide::Parent => self.offset.mul(t),
                    OffsetSide::Local => t.mul(&self.offset),
                };
            }
        }
    }

    pub(super) fn apply(&self, frame: &mut FrameData) {
        self.move_all(frame.transforms_mut());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{frame_data::FrameBody, static_data::Skeleton};

    fn near(a: Vec3, b: Vec3) -> bool {
        (a - b).length() < 1e-5
    }

    fn prop() -> StaticData {
        StaticData {
            body: StaticBody::Transform,
            properties: Vec::new(),
        }
    }

    fn through(offset: &Offset, t: Transform) -> Transform {
        let mut frame = FrameData {
            body: FrameBody::Transform(t),
            properties: Vec::new(),
        };
        offset.plan(&mut prop(), &mut Vec::new()).apply(&mut frame);
        frame.transforms()[0]
    }

    #[test]
    fn a_quarter_turn_on_the_parents_side_swings_about_the_origin() {
        // One metre to the left, turned a quarter to its left: forward (+Z) comes to +X, left (+X) to −Z.
        let offset = Offset {
            rotation_deg: [0.0, 90.0, 0.0],
            translation_m: [0.0, 1.0, 0.0],
            ..Offset::default()
        };
        let found = through(&offset, Transform::new(Vec3::X, Quat::IDENTITY));
        assert!(near(found.translation, Vec3::new(0.0, 1.0, -1.0)));
        assert!(near(found.rotation * Vec3::Z, Vec3::X));
    }

    #[test]
    fn on_the_local_side_it_turns_about_itself_and_moves_along_its_own_axes() {
        let offset = Offset {
            rotation_deg: [0.0, 90.0, 0.0],
            translation_m: [0.0, 0.0, 1.0],
            side: OffsetSide::Local,
            ..Offset::default()
        };
        // It faces +X already, so forward is +X and the turn makes it face −Z.
        let given = Transform {
            scale: Vec3::splat(2.0),
            ..Transform::new(Vec3::X, Quat::from_rotation_y(std::f32::consts::FRAC_PI_2))
        };
        let found = through(&offset, given);
        assert!(near(found.translation, Vec3::new(3.0, 0.0, 0.0)));
        assert!(near(found.rotation * Vec3::Z, Vec3::NEG_Z));
        assert_eq!(found.scale, given.scale);
    }

    #[test]
    fn z_comes_first_then_x_then_y() {
        let offset = Offset {
            rotation_deg: [90.0, 90.0, 90.0],
            ..Offset::default()
        };
        let turned = through(&offset, Transform::IDENTITY).rotation * Vec3::X;
        // +X: about Z to +Y, about X to +Z, about Y to +X.
        assert!(near(turned, Vec3::X), "{turned}");
        let turned = through(&offset, Transform::IDENTITY).rotation * Vec3::Y;
        // +Y: about Z to −X, about X stays, about Y to +Z.
        assert!(near(turned, Vec3::Z), "{turned}");
    }

    #[test]
    fn roots_move_by_default_and_the_rest_pose_only_when_told() {
        let at = |x| Transform::new(Vec3::new(x, 0.0, 0.0), Quat::IDENTITY);
        let given = StaticData::animation(Skeleton {
            bone_names: ["root", "child", "second root"].map(String::from).to_vec(),
            parents: vec![None, Some(0), None],
            rest: vec![at(0.0); 3],
        });
        let up = Offset {
            translation_m: [0.0, 2.0, 0.0],
            ..Offset::default()
        };
        let mut data = given.clone();
        let plan = up.plan(&mut data, &mut Vec::new());
        assert_eq!(data, given);
        let mut frame = FrameData {
            body: FrameBody::Animation(vec![at(1.0), at(2.0), at(3.0)]),
            properties: Vec::new(),
        };
        plan.apply(&mut frame);
        let places: Vec<_> = frame.transforms().iter().map(|t| t.translation.y).collect();
        assert_eq!(places, [2.0, 0.0, 2.0]);

        let child = Offset {
            bones: Some(vec!["chi*".into(), "nobody".into()]),
            rest: true,
            ..up
        };
        let mut notes = Vec::new();
        child.plan(&mut data, &mut notes);
        let rest = &data.skeleton().unwrap().rest;
        let places: Vec<_> = rest.iter().map(|t| t.translation.y).collect();
        assert_eq!(places, [0.0, 2.0, 0.0]);
        assert_eq!(notes, ["no bone is called \"nobody\""]);
    }
}
