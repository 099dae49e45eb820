//! Rows → what the hub takes: a skeleton, local transforms, a frame rate.

use glam::{Quat, Vec3};
use hub::{FrameBody, FrameData, FrameRate, Skeleton, StaticData, Transform};

use super::read::{Bvh, Channel, Joint};

/// How far a written frame time may be from a rate to be taken for it: `0.0333333`, `0.008333` and the like.
const RATE_TOLERANCE: f64 = 0.001;

/// Rates in use besides whole numbers.
const PULLED_DOWN: [FrameRate; 5] = [
    FrameRate::FPS_23_976,
    FrameRate::FPS_29_97,
    FrameRate::FPS_47_952,
    FrameRate::FPS_59_94,
    FrameRate::FPS_119_88,
];

impl Bvh {
    /// The skeleton: one bone per joint, the OFFSETs as rest, without rotation. `scale` is metres per unit of the
    /// file, [`super::CENTIMETRES`] or [`super::METRES`].
    pub fn static_data(&self, scale: f32) -> StaticData {
        let rest = |j: &Joint| Transform::new(Vec3::from_array(j.offset) * scale, Quat::IDENTITY);
        StaticData::animation(Skeleton {
            bone_names: self.joints.iter().map(|j| j.name.clone()).collect(),
            parents: self.joints.iter().map(|j| j.parent).collect(),
            rest: self.joints.iter().map(rest).collect(),
        })
    }

    /// Writes the local transforms of a row into `out`, one per bone, allocating only the first time. False, and
    /// `out` as it was, past the end.
    pub fn frame(&self, index: usize, scale: f32, out: &mut FrameData) -> bool {
        let Some(row) = self.row(index) else {
            return false;
        };
        if !matches!(out.body, FrameBody::Animation(_)) {
            out.body = FrameBody::Animation(Vec::with_capacity(self.joints.len()));
        }
        out.properties.clear();
        if let FrameBody::Animation(bones) = &mut out.body {
            bones.clear();
            let values = |j: &Joint| row.get(j.first_channel..).unwrap_or(&[]);
            bones.extend(self.joints.iter().map(|j| local(j, values(j), scale)));
        }
        true
    }

    /// Frames per second as an exact ratio, from the written frame time: the nearest of the whole numbers and of
    /// the rates with 1001 below them, if it is within 0.1 %; else thousandths. `None` outside 1 to 1000 per second.
    pub fn frame_rate(&self) -> Option<FrameRate> {
        let hertz = self.frame_time_secs.recip();
        if !(0.999..=1001.0).contains(&hertz) {
            return None;
        }
        let apart = |rate: &FrameRate| (rate.hertz() / hertz - 1.0).abs();
        let whole = FrameRate::new((hertz.round() as u32).clamp(1, 1000), 1).ok();
        PULLED_DOWN
            .into_iter()
            .chain(whole)
            .filter(|rate| apart(rate) <= RATE_TOLERANCE)
            .min_by(|a, b| apart(a).total_cmp(&apart(b)))
            .or_else(|| FrameRate::new((hertz * 1000.0).round() as u32, 1000).ok())
    }
}

/// `parent_from_local` of a joint from its values, which begin with its first channel.
fn local(joint: &Joint, values: &[f32], scale: f32) -> Transform {
    let mut translation = joint.offset;
    let mut rotation = Quat::IDENTITY;
    for (channel, value) in joint.channels.iter().zip(values) {
        match *channel {
            Channel::Position(axis) => {
                if let Some(place) = translation.get_mut(usize::from(axis)) {
                    *place = *value;
                }
            }
            Channel::Rotation(axis) => {
                let angle = value.to_radians();
                rotation *= match axis {
                    0 => Quat::from_rotation_x(angle),
                    1 => Quat::from_rotation_y(angle),
                    _ => Quat::from_rotation_z(angle),
                };
            }
        }
    }
    Transform::new(Vec3::from_array(translation) * scale, rotation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bvh::{CENTIMETRES, METRES};

    /// Two joints and an end site, with the channel orders given.
    fn file(root_rotations: &str, head_rotations: &str, rows: &str) -> Bvh {
        Bvh::read(&format!(
            "HIERARCHY\nROOT Hips\n{{\nOFFSET 1 90 2\nCHANNELS 6 Xposition Yposition Zposition {root_rotations}\n\
             JOINT Head\n{{\nOFFSET 3 10 -4\nCHANNELS 3 {head_rotations}\n\
             End Site\n{{\nOFFSET 5 6 7\n}}\n}}\n}}\n\
             MOTION\nFrames: 1\nFrame Time: 0.01\n{rows}\n"
        ))
        .unwrap()
    }

    /// A point turned about one axis, in plain coordinates.
    fn turned(axis: char, degrees: f64, [x, y, z]: [f64; 3]) -> [f64; 3] {
        let (s, c) = degrees.to_radians().sin_cos();
        match axis {
            'X' => [x, c * y - s * z, s * y + c * z],
            'Y' => [c * x + s * z, y, c * z - s * x],
            _ => [c * x - s * y, s * x + c * y, z],
        }
    }

    /// Rotations left to right stand before the point, so the rightmost is applied first.
    fn turned_by(rotations: [(char, f64); 3], point: [f64; 3]) -> [f64; 3] {
        let in_turn = |p, (axis, degrees)| turned(axis, degrees, p);
        rotations.into_iter().rev().fold(point, in_turn)
    }

    fn plus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
        std::array::from_fn(|i| a[i] + b[i])
    }

    #[test]
    fn forward_kinematics_agree_with_formulas_for_each_order() {
        let orders = ["XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX"];
        let channels = |order: &str| -> String {
            let words = |c: char| [c.to_string(), "rotation ".to_owned()];
            order.chars().flat_map(words).collect()
        };
        let (root_angles, head_angles) = ([30.0, -50.0, 70.0], [20.0, 110.0, -40.0]);
        for root_order in orders {
            for head_order in orders {
                let bvh = file(
                    &channels(root_order),
                    &channels(head_order),
                    "11 95 -12 30 -50 70 20 110 -40",
                );
                let mut out = FrameData::default();
                assert!(bvh.frame(0, CENTIMETRES, &mut out));
                assert_eq!(out.check(&bvh.static_data(CENTIMETRES)), Ok(()));
                let [hips, head] = out.transforms() else {
                    panic!("two bones");
                };
                let model = hips.mul(head);
                let end = Vec3::from_array(bvh.joints()[1].end_site.unwrap()) * CENTIMETRES;
                let found = [model.translation, model.translation + model.rotation * end];

                let zip = |order: &str, angles: [f64; 3]| -> [(char, f64); 3] {
                    let axes: Vec<char> = order.chars().collect();
                    std::array::from_fn(|i| (axes[i], angles[i]))
                };
                let root = zip(root_order, root_angles);
                let head = zip(head_order, head_angles);
                let in_model = |p| plus([11.0, 95.0, -12.0], turned_by(root, p));
                let joint = [3.0, 10.0, -4.0];
                let tip = plus(joint, turned_by(head, [5.0, 6.0, 7.0]));
                for (found, want) in found.into_iter().zip([joint, tip].map(in_model)) {
                    let want = Vec3::from_array(want.map(|v| v as f32 * 0.01));
                    assert!(
                        (found - want).length() < 1e-5,
                        "{root_order} {head_order}: {found} {want}"
                    );
                }
            }
        }
    }

    #[test]
    fn orders_differ_as_they_should() {
        // 90 about Z, then 90 about X: the two orders send +Y to different places.
        let turn = |order: &str| {
            let bvh = file(
                order,
                "Xrotation Yrotation Zrotation",
                "0 0 0 90 90 0 0 0 0",
            );
            let mut out = FrameData::default();
            bvh.frame(0, METRES, &mut out);
            out.transforms()[0].rotation * Vec3::Y
        };
        let zxy = turn("Zrotation Xrotation Yrotation");
        assert!((zxy - Vec3::Z).length() < 1e-6, "{zxy}");
        let xzy = turn("Xrotation Zrotation Yrotation");
        assert!((xzy - Vec3::NEG_X).length() < 1e-6, "{xzy}");
    }

    #[test]
    fn rest_is_the_offsets_and_positions_replace_them() {
        let bvh = file(
            "Zrotation Xrotation Yrotation",
            "Zrotation Xrotation Yrotation",
            "0 95 0 0 0 0 0 0 0",
        );
        let data = bvh.static_data(CENTIMETRES);
        assert_eq!(data.validate(), Ok(()));
        let skeleton = data.skeleton().unwrap();
        assert_eq!(skeleton.bone_names, ["Hips", "Head"]);
        assert_eq!(skeleton.parents, [None, Some(0)]);
        assert!((skeleton.rest[0].translation - Vec3::new(0.01, 0.9, 0.02)).length() < 1e-7);
        assert_eq!(skeleton.rest[1].rotation, Quat::IDENTITY);
        let mut out = FrameData::basic(vec![1.0]);
        assert!(bvh.frame(0, METRES, &mut out));
        assert_eq!(out.transforms()[0].translation, Vec3::new(0.0, 95.0, 0.0));
        assert_eq!(out.transforms()[1].translation, Vec3::new(3.0, 10.0, -4.0));
        assert!(out.properties.is_empty());
        let before = out.clone();
        assert!(!bvh.frame(1, METRES, &mut out));
        assert_eq!(out, before);
        // An axis without a channel keeps its offset.
        let text = "HIERARCHY\nROOT a\n{\nOFFSET 1 2 3\nCHANNELS 1 Yposition\n}\nMOTION\nFrame Time: 1\n9\n";
        let bvh = Bvh::read(text).unwrap();
        assert!(bvh.frame(0, METRES, &mut out));
        assert_eq!(out.transforms()[0].translation, Vec3::new(1.0, 9.0, 3.0));
    }

    #[test]
    fn customary_frame_times_become_exact_rates() {
        let rate = |written: &str| {
            let rows = "0 0 0 0 0 0 0 0 0";
            let mut bvh = file(
                "Zrotation Xrotation Yrotation",
                "Zrotation Xrotation Yrotation",
                rows,
            );
            bvh.frame_time_secs = written.parse().unwrap();
            bvh.frame_rate().map(|r| r.to_string())
        };
        for (written, expected) in [
            ("0.0166667", "60"),
            ("0.016667", "60"),
            ("0.01666667", "60"),
            ("0.0166833", "60000/1001"),
            ("0.008333", "120"),
            (".0083333", "120"),
            ("0.00834167", "120000/1001"),
            ("0.0333333", "30"),
            ("0.033333", "30"),
            ("0.0333667", "30000/1001"),
            ("0.0417083750417", "24000/1001"),
            ("0.041667", "24"),
            ("0.04", "25"),
            ("0.02", "50"),
            ("0.010000", "100"),
            ("0.0125", "80"),
            ("0.00416667", "240"),
            ("0.001", "1000"),
            ("1", "1"),
            ("0.033", "30303/1000"),
            ("0.4", "5/2"),
        ] {
            assert_eq!(rate(written).as_deref(), Some(expected), "{written}");
        }
        for none in ["0", "2", "0.0001"] {
            assert_eq!(rate(none), None, "{none}");
        }
    }

    /// File, joints, end sites, channels, frames, rate, name of the root: as the samples' README has them.
    const SAMPLES: [(&str, usize, usize, usize, usize, &str, &str); 16] = [
        (
            "AV_8Walk_Meredith_HVHA_Rep1",
            23,
            7,
            72,
            1064,
            "120",
            "Hips",
        ),
        ("Geno_stance", 75, 21, 450, 2, "60", "Hips"),
        (
            "bandai_dataset-1_dash_normal_001",
            22,
            5,
            132,
            20,
            "30",
            "joint_Root",
        ),
        ("cmu_12_01_walk", 31, 7, 96, 524, "120", "Hips"),
        ("fair1_dab", 27, 7, 84, 339, "30", "Hips"),
        (
            "full_precision_frame_time",
            2,
            1,
            9,
            3,
            "24000/1001",
            "Hips",
        ),
        ("makehuman_face-poseunits", 163, 49, 492, 60, "24", "root"),
        ("makehuman_zombieWalk1", 75, 16, 228, 31, "24", "Root"),
        (
            "mixamo_names_freebvh",
            55,
            15,
            168,
            69,
            "30",
            "mixamorig:Hips",
        ),
        ("mocapbank_crlf", 19, 5, 60, 455, "30", "Hips"),
        ("mocopi_layout_synthetic", 27, 5, 162, 100, "50", "root"),
        ("names_with_spaces", 19, 5, 60, 60, "30", "Bip01 Pelvis"),
        ("rokoko_jesse_dance", 60, 13, 183, 1007, "100", "Hips"),
        ("two_joints", 2, 1, 9, 2, "30", "Base"),
        ("walk01", 19, 5, 60, 101, "24", "Hips"),
        ("xsens_names_YXZ_crlf", 23, 5, 72, 61, "120", "Hips"),
    ];

    #[test]
    fn every_sample_file_reads_as_its_readme_says() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../shared/samples/bvh");
        if !std::path::Path::new(folder).is_dir() {
            println!("no samples at {folder}: nothing checked");
            return;
        }
        let mut out = FrameData::default();
        for (name, joints, ends, channels, frames, rate, root) in SAMPLES {
            let bytes = std::fs::read(format!("{folder}/{name}.bvh")).unwrap();
            let bvh = Bvh::read(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
            let found_ends = bvh.joints().iter().filter(|j| j.end_site.is_some()).count();
            assert_eq!(
                (bvh.joints().len(), found_ends, bvh.num_channels()),
                (joints, ends, channels),
                "{name}"
            );
            assert_eq!((bvh.num_frames(), bvh.cut_rows()), (frames, 0), "{name}");
            assert_eq!(bvh.declared_frames(), Some(frames as u64), "{name}");
            assert_eq!(bvh.frame_rate().unwrap().to_string(), rate, "{name}");
            assert_eq!(bvh.joints()[0].name, root, "{name}");
            let data = bvh.static_data(CENTIMETRES);
            assert_eq!(data.validate(), Ok(()), "{name}");
            for i in 0..frames {
                assert!(bvh.frame(i, CENTIMETRES, &mut out));
                assert_eq!(out.check(&data), Ok(()), "{name} frame {i}");
            }
        }
    }
}
