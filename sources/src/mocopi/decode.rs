//! Records → subject events of mocopi.

use std::net::SocketAddr;

use hub::{
    FrameBody, FrameData, FrameMeta, StaticData, SubjectKey, SubjectName, Transform, WorldTime,
};

use super::{
    convert::{self, Options},
    packet::{Bone, Bones, MAX_BONE_ID, Motion, Packet},
};
use crate::{
    Decoder, Sink,
    error::Reject,
    streams::{Streams, source_id},
};

/// A sender that is faster has its excess dropped. The app sends 50 or 60 frames per second.
pub const MAX_PACKETS_PER_SEC: u32 = 240;
/// Static data is announced again that often, for whoever came later.
const ANNOUNCE_NANOS: i64 = 1_000_000_000;
/// Instead of a place in the skeleton: the skeleton has no bone of this id.
const NO_PLACE: u8 = u8::MAX;

/// What is remembered of a performer.
struct Performer {
    key: SubjectKey,
    /// As `skdf` had them, or the default ones, parents before children.
    bones: Vec<Bone>,
    has_skeleton: bool,
    /// Index into the skeleton by bone id.
    place_of: [u8; MAX_BONE_ID],
    statics: StaticData,
    announced: Option<WorldTime>,
    meta: FrameMeta,
    data: FrameData,
    /// `fnum` and `time` of the last frame without `uttm`.
    last: Option<(u32, f32)>,
    /// A sender whose `time` stands still while it counts frames has no clock.
    has_no_clock: bool,
}

impl Performer {
    fn new(key: SubjectKey) -> Self {
        let bones = convert::default_bones();
        let mut performer = Self {
            key,
            bones: Vec::new(),
            has_skeleton: false,
            place_of: [NO_PLACE; MAX_BONE_ID],
            statics: convert::static_data(&bones, false),
            announced: None,
            meta: FrameMeta::default(),
            data: FrameData::default(),
            last: None,
            has_no_clock: false,
        };
        performer.lay_out(&bones);
        performer
    }

    /// Makes place for these bones, each in its rest until a frame tells otherwise.
    fn lay_out(&mut self, bones: &[Bone]) {
        self.place_of = [NO_PLACE; MAX_BONE_ID];
        for (place, bone) in bones.iter().enumerate() {
            if let Some(of_id) = self.place_of.get_mut(usize::from(bone.id)) {
                *of_id = place as u8;
            }
        }
        let rest = |b: &Bone| convert::transform(b).unwrap_or_default();
        self.data.body = FrameBody::Animation(bones.iter().map(rest).collect::<Vec<Transform>>());
        self.bones = bones.to_vec();
    }

    /// Takes a skeleton; a repetition changes nothing and allocates nothing.
    fn adopt(&mut self, skeleton: &Bones) {
        let bones = skeleton.as_slice();
        if self.has_skeleton && self.bones == bones {
            return;
        }
        self.has_skeleton = true;
        self.statics = convert::static_data(bones, true);
        self.announced = None;
        self.lay_out(bones);
    }

    /// Takes a pose; gives how many rotations were none and stayed as they were.
    fn pose(&mut self, motion: &Motion, now: WorldTime) -> u64 {
        let mut held = 0;
        let transforms = self.data.transforms_mut();
        for bone in motion.bones.as_slice() {
            let place = self.place_of.get(usize::from(bone.id));
            let place = usize::from(place.copied().unwrap_or(NO_PLACE));
            let Some(kept) = transforms.get_mut(place) else {
                // A bone that the skeleton does not have.
                continue;
            };
            match convert::transform(bone) {
                Some(transform) => *kept = transform,
                None => held += 1,
            }
        }
        self.meta.arrival = now;
        self.meta.sequence = Some(u64::from(motion.number));
        self.meta.source_time = convert::unix_time(motion);
        if self.meta.source_time.is_none() {
            let this = (motion.number, motion.time_secs);
            if let Some((number, time)) = self.last.replace(this)
                && number != this.0
                && time == this.1
            {
                self.has_no_clock = true;
            }
            if !self.has_no_clock {
                self.meta.source_time = convert::short_time(motion);
            }
        }
        held
    }
}

/// The sans-IO decoder of one socket.
pub struct MocopiDecoder {
    name: SubjectName,
    /// Told apart by address alone: packets carry no id.
    performers: Streams<Performer>,
    held_rotations: u64,
}

impl MocopiDecoder {
    /// With what the operator tells about the senders.
    pub fn new(options: Options) -> Self {
        let Options { subject } = options;
        let name = subject
            .and_then(|s| SubjectName::from_wire(s.as_bytes()))
            .or_else(|| SubjectName::from_wire(b"mocopi"))
            .unwrap_or_else(|| unreachable!("the default name is a name"));
        Self {
            name,
            performers: Streams::new(MAX_PACKETS_PER_SEC),
            held_rotations: 0,
        }
    }

    /// Rotations far from unit length, in whose place the last good one was taken.
    pub fn held_rotations(&self) -> u64 {
        self.held_rotations
    }
}

impl Decoder for MocopiDecoder {
    fn handle_datagram(
        &mut self,
        now: WorldTime,
        from: SocketAddr,
        bytes: &[u8],
        sink: &mut dyn Sink,
    ) -> Result<(), Reject> {
        let packet = Packet::parse(bytes)?;
        if let Some(skeleton) = &packet.skeleton
            && let Some(bad) = skeleton
                .as_slice()
                .iter()
                .find(|b| convert::transform(b).is_none())
        {
            return Err(Reject::OutOfRange {
                what: "squared length of a rest rotation in percent",
                have: (bad.rotation.iter().map(|v| v * v).sum::<f32>() * 100.0) as i64,
                min: 25,
                max: 400,
            });
        }
        let name = &self.name;
        let performer = self.performers.of(from, b"", now, |is_twin| {
            let source = source_id("mocopi", from, "", is_twin);
            Ok(Performer::new(SubjectKey::new(source, name.clone())))
        })?;
        if let Some(skeleton) = &packet.skeleton {
            performer.adopt(skeleton);
        }
        if performer
            .announced
            .is_none_or(|t| now - t >= ANNOUNCE_NANOS)
        {
            performer.announced = Some(now);
            sink.static_data(&performer.key, &performer.statics, now);
        }
        if let Some(motion) = &packet.motion {
            self.held_rotations += performer.pose(motion, now);
            sink.frame(&performer.key, &performer.meta, Some(&performer.data));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use glam::{Quat, Vec3};
    use hub::{Skeleton, SourceTime};

    use super::*;
    use crate::mocopi::{
        BONE_NAMES, UNIX_SECS_OF_ZERO,
        packet::tests::{bone, fram, skdf},
    };

    #[derive(Default)]
    struct Seen {
        statics: Vec<StaticData>,
        frames: Vec<(SubjectKey, FrameMeta, FrameData)>,
    }

    impl Sink for Seen {
        fn static_data(&mut self, _: &SubjectKey, data: &StaticData, _: WorldTime) {
            assert_eq!(data.validate(), Ok(()));
            self.statics.push(data.clone());
        }

        fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
            let data = data.unwrap();
            assert_eq!(data.check(self.statics.last().unwrap()), Ok(()));
            self.frames.push((key.clone(), meta.clone(), data.clone()));
        }

        fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
    }

    fn at(i: i64) -> WorldTime {
        WorldTime::from_nanos(i * 20_000_000)
    }

    fn peer() -> SocketAddr {
        "192.168.1.9:40000".parse().unwrap()
    }

    fn feed(datagrams: &[Vec<u8>]) -> Seen {
        let mut seen = Seen::default();
        let mut d = MocopiDecoder::new(Options::default());
        for (i, bytes) in datagrams.iter().enumerate() {
            d.handle_datagram(at(i as i64), peer(), bytes, &mut seen)
                .unwrap();
        }
        seen
    }

    /// A performer of rounded measures in the T-pose, as mocopi lays bones out.
    fn t_pose() -> Vec<Bone> {
        let offsets = |name: &str| match name {
            "root" => [0.0, 0.93, 0.0],
            "l_shoulder" => [0.01, -0.08, 0.08],
            "r_shoulder" => [-0.01, -0.08, 0.08],
            "l_up_arm" => [0.13, 0.03, -0.03],
            "r_up_arm" => [-0.13, 0.03, -0.03],
            "l_low_arm" => [0.29, 0.0, 0.0],
            "r_low_arm" => [-0.29, 0.0, 0.0],
            "l_hand" => [0.24, 0.0, 0.0],
            "r_hand" => [-0.24, 0.0, 0.0],
            "l_up_leg" => [0.09, -0.04, 0.02],
            "r_up_leg" => [-0.09, -0.04, 0.02],
            "l_low_leg" | "r_low_leg" | "l_foot" | "r_foot" => [0.0, -0.4, 0.0],
            "l_toes" | "r_toes" => [0.0, -0.09, 0.125],
            _ => [0.0, 0.06, 0.0],
        };
        convert::default_bones()
            .into_iter()
            .map(|b| Bone {
                // As the app has it at rest: −w.
                rotation: [0.0, 0.0, 0.0, -1.0],
                translation: offsets(BONE_NAMES[usize::from(b.id)]),
                ..b
            })
            .collect()
    }

    fn model_positions(skeleton: &Skeleton, local: &[Transform]) -> Vec<Vec3> {
        let mut model: Vec<Transform> = Vec::new();
        for (parent, t) in skeleton.parents.iter().zip(local) {
            model.push(parent.map_or(*t, |p| model[p as usize].mul(t)));
        }
        model.iter().map(|t| t.translation).collect()
    }

    fn index(name: &str) -> usize {
        BONE_NAMES.iter().position(|n| *n == name).unwrap()
    }

    #[test]
    fn the_raised_left_arm_is_the_performers_left_and_up() {
        let mut pose = t_pose();
        let lift = Quat::from_rotation_z(80f32.to_radians());
        pose[index("l_up_arm")].rotation = lift.to_array();
        // The same as −q, and not quite of unit length.
        pose[index("l_low_arm")].rotation = [0.0, 0.0, 0.0, -1.01];
        let seen = feed(&[
            skdf(&t_pose()),
            fram(1, [0; 4], Some(UNIX_SECS_OF_ZERO), &pose),
        ]);
        let skeleton = seen.statics[0].skeleton().unwrap();
        assert_eq!(skeleton.bone_names, BONE_NAMES);

        let rest = model_positions(skeleton, &skeleton.rest);
        let toes = rest[index("l_toes")] - rest[index("l_foot")];
        assert!(toes.z > 0.1, "forward is +Z");
        assert!(rest[index("l_hand")].x > 0.6 && rest[index("r_hand")].x < -0.6);
        assert!((rest[index("l_hand")].y - rest[index("r_hand")].y).abs() < 1e-6);
        assert!(rest[index("head")].y > 1.4 && rest[index("l_toes")].y < 0.1);

        let posed = model_positions(skeleton, seen.frames[0].2.transforms());
        let (left, right) = (posed[index("l_hand")], posed[index("r_hand")]);
        assert!(left.y > posed[index("head")].y && left.x > 0.0, "{left}");
        assert!((right - rest[index("r_hand")]).length() < 1e-6);
        // 0.53 m of arm at 80 degrees.
        let shoulder = posed[index("l_up_arm")];
        assert!((left.y - shoulder.y - 0.53 * 80f32.to_radians().sin()).abs() < 1e-5);
        for t in seen.frames[0].2.transforms() {
            assert!((t.rotation.length() - 1.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_frame_before_any_skeleton_uses_the_known_hierarchy_and_a_skeleton_replaces_it_once() {
        let frame = |n| fram(n, [0; 4], Some(UNIX_SECS_OF_ZERO + f64::from(n)), &t_pose());
        let seen = feed(&[
            frame(1),
            skdf(&t_pose()),
            frame(2),
            skdf(&t_pose()),
            frame(3),
        ]);
        assert_eq!(seen.statics.len(), 2);
        let (first, second) = (
            seen.statics[0].skeleton().unwrap(),
            seen.statics[1].skeleton().unwrap(),
        );
        assert!(first.rest.is_empty());
        assert_eq!(first.parents, second.parents);
        assert_eq!(second.rest[0].translation, Vec3::new(0.0, 0.93, 0.0));
        assert_eq!(seen.frames.len(), 3);
        let (key, meta, data) = &seen.frames[1];
        assert_eq!(key.to_string(), "mocopi of mocopi/192.168.1.9");
        assert_eq!(meta.sequence, Some(2));
        assert_eq!(
            meta.source_time,
            Some(SourceTime::from_nanos(2_000_000_000))
        );
        assert_eq!(data.transforms()[0].translation.y, 0.93);
    }

    #[test]
    fn static_data_comes_again_each_second_and_on_change() {
        let mut datagrams: Vec<_> = (0..101)
            .map(|n| fram(n, [0; 4], Some(UNIX_SECS_OF_ZERO + f64::from(n)), &t_pose()))
            .collect();
        assert_eq!(feed(&datagrams).statics.len(), 3);
        let mut other = t_pose();
        other[0].translation[1] = 1.0;
        datagrams[10] = skdf(&t_pose());
        datagrams[11] = skdf(&other);
        let statics = feed(&datagrams).statics;
        assert_eq!(statics.len(), 4);
        assert_eq!(statics[2].skeleton().unwrap().rest[0].translation.y, 1.0);
    }

    #[test]
    fn clocks_without_uttm_are_used_while_they_run() {
        let times = |datagrams: &[Vec<u8>]| -> Vec<Option<i64>> {
            let seen = feed(datagrams);
            let nanos = |t: SourceTime| t.as_nanos();
            seen.frames
                .iter()
                .map(|f| f.1.source_time.map(nanos))
                .collect()
        };
        let running: Vec<_> = (0..3u8)
            .map(|i| {
                fram(
                    u32::from(i),
                    (f32::from(i) * 0.5).to_le_bytes(),
                    None,
                    &t_pose(),
                )
            })
            .collect();
        assert_eq!(
            times(&running),
            [Some(0), Some(500_000_000), Some(1_000_000_000)]
        );
        // An integer count of milliseconds in place of the float.
        let integers: Vec<_> = (1..4u32)
            .map(|i| fram(i, (i * 20).to_le_bytes(), None, &t_pose()))
            .collect();
        assert_eq!(times(&integers), [None, None, None]);
        let standing: Vec<_> = (0..3).map(|i| fram(i, [0; 4], None, &t_pose())).collect();
        assert_eq!(times(&standing), [Some(0), None, None]);
    }

    #[test]
    fn partial_unknown_and_bad_bones_leave_the_others_as_they_were() {
        let turned = Bone {
            rotation: [0.0, 1.0, 0.0, 0.0],
            ..bone(12, None)
        };
        let nothing = Bone {
            rotation: [0.0; 4],
            ..bone(12, None)
        };
        let time = Some(UNIX_SECS_OF_ZERO);
        let datagrams = [
            skdf(&t_pose()),
            fram(1, [0; 4], time, &[turned]),
            fram(2, [0; 4], time, &[nothing, bone(200, None)]),
        ];
        let mut seen = Seen::default();
        let mut d = MocopiDecoder::new(Options {
            subject: Some("花子".into()),
        });
        for bytes in &datagrams {
            d.handle_datagram(at(0), peer(), bytes, &mut seen).unwrap();
        }
        assert_eq!(d.held_rotations(), 1);
        for (key, _, data) in &seen.frames {
            assert_eq!(key.name.as_str(), "花子");
            assert_eq!(
                data.transforms()[12].rotation,
                Quat::from_xyzw(0.0, 1.0, 0.0, 0.0)
            );
            assert_eq!(data.transforms()[0].translation.y, 0.93);
        }
        let bad_rest = Bone {
            rotation: [0.0, 0.0, 0.0, 3.0],
            ..bone(0, None)
        };
        assert!(matches!(
            d.handle_datagram(at(1), peer(), &skdf(&[bad_rest]), &mut seen),
            Err(Reject::OutOfRange { have: 900, .. })
        ));
    }

    #[test]
    fn performers_are_told_apart_by_address_and_floods_are_bounded() {
        let mut seen = Seen::default();
        let mut d = MocopiDecoder::new(Options::default());
        let bytes = fram(1, [0; 4], None, &t_pose());
        for from in ["10.0.0.1:5", "10.0.0.2:5", "10.0.0.1:5"] {
            d.handle_datagram(at(0), from.parse().unwrap(), &bytes, &mut seen)
                .unwrap();
        }
        let sources: Vec<_> = seen.frames.iter().map(|f| f.0.source.as_str()).collect();
        assert_eq!(
            sources,
            ["mocopi/10.0.0.1", "mocopi/10.0.0.2", "mocopi/10.0.0.1"]
        );
        let taken = (0..5000)
            .filter(|_| d.handle_datagram(at(0), peer(), &bytes, &mut seen).is_ok())
            .count();
        assert_eq!(taken, 2400);
    }

    #[test]
    fn the_sample_packets_read_as_their_readme_says() {
        let folder = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../shared/samples/protocols/mocopi"
        );
        let read = |name: &str| std::fs::read(format!("{folder}/{name}"));
        let (Ok(skdf), Ok(fram)) = (read("sample_skdf.bin"), read("sample_fram.bin")) else {
            println!("no samples at {folder}: nothing checked");
            return;
        };
        assert_eq!((skdf.len(), fram.len()), (1821, 1591));
        let seen = feed(&[skdf, fram]);
        let skeleton = seen.statics[0].skeleton().unwrap();
        assert_eq!(skeleton.bone_names, BONE_NAMES);
        for (id, parent) in skeleton.parents.iter().enumerate() {
            assert_eq!(*parent, parent_of_u32(id), "bone {id}");
        }
        assert!((skeleton.rest[0].translation - Vec3::new(0.0, 0.9329, 0.0)).length() < 1e-4);
        let rest = model_positions(skeleton, &skeleton.rest);
        assert!(rest[index("l_hand")].x > 0.5 && rest[index("r_hand")].x < -0.5);
        assert!(rest[index("l_toes")].z > rest[index("l_foot")].z + 0.1);
        let (_, meta, data) = &seen.frames[0];
        assert_eq!(meta.sequence, Some(1));
        let secs = meta.source_time.unwrap().as_secs_f64() + UNIX_SECS_OF_ZERO;
        assert!((secs - 1_703_810_998.551).abs() < 1e-3, "{secs}");
        assert_eq!(data.transforms().len(), 27);
    }

    fn parent_of_u32(id: usize) -> Option<u32> {
        crate::mocopi::parent_of(id as u16).map(u32::from)
    }
}
