//! The parts of a file around its objects, and how objects find each other.
//!
//! ```text
//! FBXHeaderExtension, FileId, CreationTime, Creator    who wrote what
//! GlobalSettings                                       axes, unit, rate, length
//! Documents, References, Definitions                   how many objects of each kind follow
//! Objects                                              each with a number of its own
//! Connections                                          OO: number in number; OP: number in a property
//! Takes                                                what is there to play
//! ```

use hub::{DropFrame, FrameRate};
use serde_json::Value as Json;

use super::{
    props::Props,
    record::{Record, Value, name_and_class},
};
use crate::export::scene::Scene;

/// Ticks of a second in files before version 8.
pub(super) const TICKS_PER_SECOND: i64 = 46_186_158_000;

/// The number that stands for the root of the scene.
pub(super) const ROOT: i64 = 0;

/// Autodesk's library compares these three with each other, by a rule it does not tell. All files of Blender
/// and assimp carry this set; the date that counts is among the facts.
const FILE_ID: [u8; 16] = [
    0x28, 0xb3, 0x2a, 0xeb, 0xb6, 0x24, 0xcc, 0xc2, 0xbf, 0xc8, 0xb0, 0x2a, 0xa9, 0x2b, 0xfc, 0xf1,
];
const CREATION_TIME: &str = "1970-01-01 10:00:00:000";
pub(super) const FOOTER_CODE: [u8; 16] = [
    0xfa, 0xbc, 0xab, 0x09, 0xd0, 0xc8, 0xd4, 0x66, 0xb1, 0x76, 0xfb, 0x83, 0x1c, 0xf7, 0x26, 0x7e,
];

const CREATOR: &str = concat!("Ghostlight ", env!("CARGO_PKG_VERSION"));

/// Objects and connections under construction. Numbers are given in order, so equal scenes make equal files.
pub(super) struct Document<'a> {
    last_id: i64,
    objects: Vec<Record<'a>>,
    connections: Vec<Record<'a>>,
}

impl<'a> Document<'a> {
    pub(super) fn new() -> Self {
        Self {
            last_id: 1_000_000,
            objects: Vec::new(),
            connections: Vec::new(),
        }
    }

    /// A number for an object.
    pub(super) fn id(&mut self) -> i64 {
        self.last_id += 1;
        self.last_id
    }

    pub(super) fn add(&mut self, object: Record<'a>) {
        self.objects.push(object);
    }

    /// `child` belongs to `parent`.
    pub(super) fn connect(&mut self, child: i64, parent: i64) {
        let link = Record::new("C").value("OO").value(child).value(parent);
        self.connections.push(link);
    }

    /// `child` drives a property of `parent`.
    pub(super) fn connect_property(&mut self, child: i64, parent: i64, property: &str) {
        let link = Record::new("C").value("OP").value(child).value(parent);
        self.connections.push(link.value(property));
    }

    /// All records of the file, in order; `name` is the animation's.
    pub(super) fn finish(mut self, scene: &Scene<'_>, name: &str) -> Vec<Record<'a>> {
        let document_id = self.id();
        let stop = stop(scene);
        let definitions = self.definitions();
        vec![
            header(scene, name),
            Record::new("FileId").value(Value::Bytes(&FILE_ID)),
            Record::new("CreationTime").value(CREATION_TIME),
            Record::new("Creator").value(CREATOR),
            settings(scene, stop),
            Record::new("Documents").entry("Count", 1).child(
                Record::new("Document")
                    .value(document_id)
                    .value("Scene")
                    .value("Scene")
                    .child(
                        Props::new()
                            .bare("SourceObject", "object")
                            .text("ActiveAnimStackName", name)
                            .done(),
                    )
                    .entry("RootNode", ROOT),
            ),
            Record::new("References"),
            definitions,
            Record::new("Objects").children(self.objects),
            Record::new("Connections").children(self.connections),
            takes(name, stop),
        ]
    }

    fn definitions(&self) -> Record<'a> {
        let mut counts: Vec<(&'static str, i32)> = vec![("GlobalSettings", 1)];
        for object in &self.objects {
            match counts.iter_mut().find(|(kind, _)| *kind == object.name) {
                Some((_, count)) => *count += 1,
                None => counts.push((object.name, 1)),
            }
        }
        let total: i32 = counts.iter().map(|(_, count)| count).sum();
        Record::new("Definitions")
            .entry("Version", 100)
            .entry("Count", total)
            .children(
                counts.into_iter().map(|(kind, count)| {
                    Record::new("ObjectType").value(kind).entry("Count", count)
                }),
            )
    }
}

/// Start of a frame in ticks, rounded to the nearest.
pub(super) fn ticks(rate: FrameRate, frame: usize) -> i64 {
    let frame = i128::try_from(frame).unwrap_or(i128::from(i32::MAX));
    let (num, den) = (i128::from(rate.num()), i128::from(rate.den()));
    let doubled = 2 * frame * den * i128::from(TICKS_PER_SECOND) + num;
    i64::try_from(doubled.div_euclid(2 * num)).unwrap_or(i64::MAX)
}

/// Where the take ends: its last key, or one frame where that is the first.
pub(super) fn stop(scene: &Scene<'_>) -> i64 {
    ticks(scene.rate, scene.num_frames.saturating_sub(1).max(1))
}

/// The format's number for a rate: `FbxTime::EMode`.
pub(super) fn time_mode(rate: FrameRate, drop: DropFrame) -> i32 {
    match (rate.num(), rate.den(), drop) {
        (120, 1, _) => 1,
        (100, 1, _) => 2,
        (60, 1, _) => 3,
        (50, 1, _) => 4,
        (48, 1, _) => 5,
        (30, 1, _) => 6,
        (30_000, 1001, DropFrame::Drop) => 8,
        (30_000, 1001, DropFrame::NonDrop) => 9,
        (25, 1, _) => 10,
        (24, 1, _) => 11,
        (24_000, 1001, _) => 13,
        (96, 1, _) => 15,
        (72, 1, _) => 16,
        (60_000, 1001, _) => 17,
        (120_000, 1001, _) => 18,
        // Custom; the rate itself is in CustomFrameRate.
        _ => 14,
    }
}

fn header<'a>(scene: &Scene<'_>, name: &str) -> Record<'a> {
    let stamp = [
        ("Version", 1000),
        ("Year", 1970),
        ("Month", 1),
        ("Day", 1),
        ("Hour", 10),
        ("Minute", 0),
        ("Second", 0),
        ("Millisecond", 0),
    ];
    let stamp = stamp
        .into_iter()
        .fold(Record::new("CreationTimeStamp"), |record, (name, v)| {
            record.entry(name, v)
        });
    let facts = match &scene.facts {
        Json::Null => String::new(),
        facts => facts.to_string(),
    };
    let meta = Record::new("MetaData")
        .entry("Version", 100)
        .entry("Title", name)
        .entry("Subject", "")
        .entry("Author", "")
        .entry("Keywords", "")
        .entry("Revision", "")
        .entry("Comment", facts);
    let mut props = Props::new()
        .url("DocumentUrl", "take.fbx")
        .url("SrcDocumentUrl", "take.fbx");
    for group in ["Original", "LastSaved"] {
        props = props
            .bare(group, "Compound")
            .text(&format!("{group}|ApplicationVendor"), "Ghostlight")
            .text(&format!("{group}|ApplicationName"), "Ghostlight")
            .text(
                &format!("{group}|ApplicationVersion"),
                env!("CARGO_PKG_VERSION"),
            )
            .date(&format!("{group}|DateTime_GMT"), "01/01/1970 10:00:00.000");
    }
    let info = Record::new("SceneInfo")
        .value(name_and_class("GlobalInfo", "SceneInfo"))
        .value("UserData")
        .entry("Type", "UserData")
        .entry("Version", 100)
        .child(meta)
        .child(props.done());
    Record::new("FBXHeaderExtension")
        .entry("FBXHeaderVersion", 1003)
        .entry("FBXVersion", 7400)
        .entry("EncryptionType", 0)
        .child(stamp)
        .entry("Creator", CREATOR)
        .child(info)
}

/// +Y up, +Z to the front, +X the third, as the house has it; a unit is a centimetre.
fn settings<'a>(scene: &Scene<'_>, stop: i64) -> Record<'a> {
    let props = Props::new()
        .int("UpAxis", 1)
        .int("UpAxisSign", 1)
        .int("FrontAxis", 2)
        .int("FrontAxisSign", 1)
        .int("CoordAxis", 0)
        .int("CoordAxisSign", 1)
        .int("OriginalUpAxis", 1)
        .int("OriginalUpAxisSign", 1)
        .double("UnitScaleFactor", 1.0)
        .double("OriginalUnitScaleFactor", 1.0)
        .rgb("AmbientColor", [0.0; 3])
        .text("DefaultCamera", "Producer Perspective")
        .choice("TimeMode", time_mode(scene.rate, scene.start.drop))
        .time("TimeSpanStart", 0)
        .time("TimeSpanStop", stop)
        .double("CustomFrameRate", scene.rate.hertz());
    Record::new("GlobalSettings")
        .entry("Version", 1000)
        .child(props.done())
}

fn takes<'a>(name: &str, stop: i64) -> Record<'a> {
    Record::new("Takes").entry("Current", name).child(
        Record::new("Take")
            .value(name)
            .entry("FileName", format!("{name}.tak"))
            .child(Record::new("LocalTime").value(0_i64).value(stop))
            .child(Record::new("ReferenceTime").value(0_i64).value(stop)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_the_formats() {
        // 46,186,158,000 divides by 24, 25, 30, 48, 50, 60 and 120; at 29.97 it is rounded.
        assert_eq!(ticks(FrameRate::FPS_30, 0), 0);
        assert_eq!(ticks(FrameRate::FPS_30, 1), 1_539_538_600);
        assert_eq!(ticks(FrameRate::FPS_60, 60), TICKS_PER_SECOND);
        assert_eq!(ticks(FrameRate::FPS_24, 1), 1_924_423_250);
        // 46186158000 * 1001 / 30000 = 1541078138.6
        assert_eq!(ticks(FrameRate::FPS_29_97, 1), 1_541_078_139);
        assert_eq!(ticks(FrameRate::FPS_29_97, 30_000), 1001 * TICKS_PER_SECOND);
    }

    #[test]
    fn rates_have_their_numbers() {
        let check = |rate, drop, mode| assert_eq!(time_mode(rate, drop), mode, "{rate}");
        check(FrameRate::FPS_24, DropFrame::NonDrop, 11);
        check(FrameRate::FPS_25, DropFrame::NonDrop, 10);
        check(FrameRate::FPS_29_97, DropFrame::NonDrop, 9);
        check(FrameRate::FPS_29_97, DropFrame::Drop, 8);
        check(FrameRate::FPS_30, DropFrame::NonDrop, 6);
        check(FrameRate::FPS_59_94, DropFrame::Drop, 17);
        check(FrameRate::FPS_60, DropFrame::NonDrop, 3);
        check(FrameRate::FPS_90, DropFrame::NonDrop, 14);
    }
}
