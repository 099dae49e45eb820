//! Virtual subjects on a real client, fed on a simulated clock.

mod coming_and_going;
mod poses;
mod stalls;
mod timing;

use std::ops::Range;

use super::*;
use crate::{
    DropFrame, FrameBody, FrameRate, QualifiedFrameTime, Skeleton, Transform, client::PushOutcome,
    time::NANOS_PER_SEC,
};

/// 10:00:00:00 at a rate without a thousand and first.
const TEN_HOURS: i64 = 36_000 * NANOS_PER_SEC;

fn name(text: &str) -> SubjectName {
    SubjectName::new(text).unwrap()
}

fn part(subject: &str) -> PartSpec {
    PartSpec::new(name(subject))
}

fn merged(parts: Vec<PartSpec>) -> VirtualSpec {
    VirtualSpec {
        parts,
        ..VirtualSpec::new(name("Hero"))
    }
}

fn skeleton(bones: &[(&str, Option<u32>, Transform)]) -> StaticData {
    StaticData::animation(Skeleton {
        bone_names: bones.iter().map(|b| b.0.to_owned()).collect(),
        parents: bones.iter().map(|b| b.1).collect(),
        rest: bones.iter().map(|b| b.2).collect(),
    })
}

fn pose(bones: Vec<Transform>) -> FrameData {
    FrameData {
        body: FrameBody::Animation(bones),
        properties: Vec::new(),
    }
}

/// What a sender stamps its frames with.
#[derive(Clone, Copy)]
enum Stamp {
    /// Its own clock, which began when the simulation did.
    Clock,
    /// Timecode: at the start it is so many nanoseconds after label zero.
    Timecode(i64),
}

struct Feed {
    key: SubjectKey,
    rate: FrameRate,
    drop: DropFrame,
    late_nanos: i64,
    stamp: Stamp,
    /// Seconds in which it makes no frames.
    mute: Range<f64>,
    next: i64,
    /// The values of a frame made so many seconds after the start.
    make: Box<dyn Fn(f64) -> FrameData>,
}

impl Feed {
    /// The number of a frame, and when it is made.
    fn frame(&self, index: i64) -> (i64, i64) {
        match self.stamp {
            Stamp::Clock => (index, self.rate.nanos_of(index)),
            Stamp::Timecode(epoch) => {
                let frame = self.rate.frame_at(epoch - 1) + 1 + index;
                (frame, self.rate.nanos_of(frame) - epoch)
            }
        }
    }

    fn meta(&self, frame: i64, made: i64) -> FrameMeta {
        let day = self.rate.frames_per_day(self.drop);
        let timecode = QualifiedFrameTime {
            drop: self.drop,
            ..QualifiedFrameTime::whole(frame.rem_euclid(day), self.rate)
        };
        let arrival = WorldTime::from_nanos(made + self.late_nanos);
        match self.stamp {
            Stamp::Clock => FrameMeta {
                source_time: Some(SourceTime::from_nanos(made)),
                arrival,
                ..FrameMeta::default()
            },
            Stamp::Timecode(_) => FrameMeta {
                timecode: Some(timecode),
                arrival,
                ..FrameMeta::default()
            },
        }
    }
}

/// A stage: senders, the client, one virtual subject, and a clock that ticks 60 times a second.
struct Sim {
    client: Client,
    feeds: Vec<Feed>,
    hero: Virtual,
    out: VirtualFrame,
    tick: i64,
}

impl Sim {
    fn new(spec: &VirtualSpec) -> Self {
        Self {
            client: Client::default(),
            feeds: Vec::new(),
            hero: Virtual::new(spec).unwrap(),
            out: VirtualFrame::default(),
            tick: 0,
        }
    }

    fn now(&self) -> WorldTime {
        WorldTime::from_nanos(FrameRate::FPS_60.nanos_of(self.tick) + 3_000_000)
    }

    /// Adds a sender at 60 frames a second.
    fn feed(
        &mut self,
        subject: &str,
        statics: &StaticData,
        make: impl Fn(f64) -> FrameData + 'static,
    ) -> &mut Feed {
        let source = SourceId::new(&format!("test/{subject}")).unwrap();
        let key = SubjectKey::new(source, name(subject));
        let now = self.now();
        self.client.push_static(&key, statics, now).unwrap();
        let first = FrameRate::FPS_60.frame_at(now.as_nanos());
        self.feeds.push(Feed {
            key,
            rate: FrameRate::FPS_60,
            drop: DropFrame::NonDrop,
            late_nanos: 0,
            stamp: Stamp::Clock,
            mute: 0.0..0.0,
            next: if self.tick == 0 { 0 } else { first },
            make: Box::new(make),
        });
        self.feeds.last_mut().unwrap()
    }

    /// Delivers what has arrived by now.
    fn deliver(&mut self) {
        let now = self.now().as_nanos();
        for feed in &mut self.feeds {
            loop {
                let (frame, made) = feed.frame(feed.next);
                if made + feed.late_nanos > now {
                    break;
                }
                feed.next += 1;
                let secs = made as f64 / 1e9;
                if feed.mute.contains(&secs) {
                    continue;
                }
                let meta = feed.meta(frame, made);
                let data = (feed.make)(secs);
                let outcome = self.client.push_frame(&feed.key, &meta, Some(&data));
                assert!(matches!(outcome, PushOutcome::Taken { .. }), "{outcome:?}");
            }
        }
    }

    /// Ticks until that many seconds, showing each answer.
    fn run(&mut self, until_secs: f64, mut see: impl FnMut(f64, VirtualState, &VirtualFrame)) {
        while self.now().as_secs_f64() < until_secs {
            self.deliver();
            let now = self.now();
            loop {
                let state = self.hero.evaluate(&self.client, now, &mut self.out);
                if state.answer == Answer::Frame {
                    assert_eq!(self.out.data.check(&self.out.statics), Ok(()));
                }
                see(now.as_secs_f64(), state, &self.out);
                if !state.more {
                    break;
                }
            }
            self.tick += 1;
        }
    }

    /// Runs for half a second more and gives the last frame.
    fn settled(&mut self) -> &VirtualFrame {
        let until = self.now().as_secs_f64() + 0.5;
        let mut answer = Answer::Waiting;
        self.run(until, |_, state, _| answer = state.answer);
        assert_eq!(answer, Answer::Frame, "{:?}", self.hero.faults());
        &self.out
    }
}

/// The value of a curve.
fn curve(frame: &VirtualFrame, name: &str) -> f32 {
    let names = &frame.statics.properties;
    let at = names.iter().position(|p| p.name == name).unwrap();
    frame.data.properties[at]
}

/// Where a bone is, by forward kinematics in matrices.
fn bone_in_root(frame: &VirtualFrame, name: &str) -> glam::Mat4 {
    let skeleton = frame.statics.skeleton().unwrap();
    let find = |n: &str| skeleton.bone_names.iter().position(|b| b == n).unwrap();
    let mut here = Some(find(name));
    let mut matrix = glam::Mat4::IDENTITY;
    while let Some(bone) = here {
        let t = frame.data.transforms()[bone];
        let local = glam::Mat4::from_scale_rotation_translation(t.scale, t.rotation, t.translation);
        matrix = local * matrix;
        here = skeleton.parents[bone].map(|p| p as usize);
    }
    matrix
}

/// A bone's local rotation.
fn rotation(frame: &VirtualFrame, name: &str) -> glam::Quat {
    let skeleton = frame.statics.skeleton().unwrap();
    let at = skeleton.bone_names.iter().position(|b| b == name).unwrap();
    frame.data.transforms()[at].rotation
}

fn ramp_face() -> StaticData {
    StaticData::basic(&["JawOpen"])
}

/// A tenth of the seconds since the start.
fn jaw(secs: f64) -> f32 {
    (secs / 10.0) as f32
}

fn ramp_body() -> StaticData {
    skeleton(&[("Hips", None, Transform::IDENTITY)])
}

/// Hips that walk to the left at 1 m/s.
fn walk(secs: f64) -> FrameData {
    pose(vec![Transform::new(
        glam::Vec3::new(secs as f32, 1.0, 0.0),
        glam::Quat::IDENTITY,
    )])
}

fn hips_x(frame: &VirtualFrame) -> f32 {
    frame.data.transforms()[0].translation.x
}
