//! A reader that knows only the text, and forward kinematics of it.

use glam::{DMat4, DVec3};

/// A joint as a reader sees it: name, parent, OFFSET, channels, End Site.
pub(super) struct Read {
    pub(super) name: String,
    pub(super) parent: Option<usize>,
    pub(super) offset: DVec3,
    pub(super) channels: Vec<String>,
    pub(super) end: Option<DVec3>,
}

/// A reader of its own, strict: one thing a line, every row whole.
pub(super) fn read(text: &str) -> (Vec<Read>, f64, Vec<Vec<f64>>) {
    let mut lines = text.lines().map(str::trim);
    assert_eq!(lines.next(), Some("HIERARCHY"));
    let mut joints: Vec<Read> = Vec::new();
    let mut open: Vec<Option<usize>> = Vec::new();
    let point = |words: &[&str]| {
        let numbers: Vec<f64> = words.iter().map(|w| w.parse().unwrap()).collect();
        DVec3::new(numbers[0], numbers[1], numbers[2])
    };
    let mut next = None;
    for line in lines.by_ref() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["ROOT" | "JOINT", name] => {
                assert_eq!(words[0] == "ROOT", joints.is_empty());
                next = Some(joints.len());
                joints.push(Read {
                    name: (*name).to_owned(),
                    parent: open.last().copied().flatten(),
                    offset: DVec3::NAN,
                    channels: Vec::new(),
                    end: None,
                });
            }
            ["End", "Site"] => next = None,
            ["{"] => open.push(next),
            ["}"] => {
                open.pop().unwrap();
            }
            ["OFFSET", rest @ ..] => match open.last().unwrap() {
                Some(joint) => joints[*joint].offset = point(rest),
                None => joints.last_mut().unwrap().end = Some(point(rest)),
            },
            ["CHANNELS", count, rest @ ..] => {
                assert_eq!(count.parse(), Ok(rest.len()));
                joints.last_mut().unwrap().channels =
                    rest.iter().map(|c| (*c).to_owned()).collect();
            }
            ["MOTION"] => break,
            other => panic!("{other:?}"),
        }
    }
    assert!(open.is_empty());
    let frames = lines.next().unwrap().strip_prefix("Frames: ").unwrap();
    let secs = lines.next().unwrap().strip_prefix("Frame Time: ").unwrap();
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(' ').map(|n| n.parse().unwrap()).collect())
        .collect();
    assert_eq!(frames.parse(), Ok(rows.len()));
    let width: usize = joints.iter().map(|j| j.channels.len()).sum();
    assert!(rows.iter().all(|row| row.len() == width));
    (joints, secs.parse().unwrap(), rows)
}

/// Where every joint of a row is: channels applied as declared, left to right, positions in place of the OFFSET.
pub(super) fn globals(joints: &[Read], row: &[f64]) -> Vec<DMat4> {
    let mut values = row.iter().copied();
    let mut globals: Vec<DMat4> = Vec::new();
    for joint in joints {
        let mut at = joint.offset;
        let mut turn = DMat4::IDENTITY;
        for channel in &joint.channels {
            let value = values.next().unwrap();
            let angle = value.to_radians();
            match channel.as_str() {
                "Xposition" => at.x = value,
                "Yposition" => at.y = value,
                "Zposition" => at.z = value,
                "Xrotation" => turn *= DMat4::from_rotation_x(angle),
                "Yrotation" => turn *= DMat4::from_rotation_y(angle),
                "Zrotation" => turn *= DMat4::from_rotation_z(angle),
                other => panic!("{other}"),
            }
        }
        let local = DMat4::from_translation(at) * turn;
        globals.push(joint.parent.map_or(local, |p| globals[p] * local));
    }
    globals
}
