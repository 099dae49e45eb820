//! The room as a whole: texts as programs send them, in; subject events, out.

use std::net::SocketAddr;

use hub::{FrameData, FrameMeta, StaticData, SubjectKey, WorldTime};
use proptest::prelude::*;

use super::*;
use crate::{Decoder as _, Reject, Sink, named_curves::MAX_LEARNED};

/// The mouth open, the right eye closed, the head turned to the performer's left, in the sender's own units.
const POSE: &str = r#"{"name":"演員","time":1664817520.079,"timecode":"10:11:12:13",
    "face":{"jaw":0.75,"yaw_degrees":90},"shapes":{"EyeBlinkRight":1,"EyeBlinkLeft":0.0,
    "note":"text","on":true},"list":[{"k":"BrowInnerUp","v":0.25},{"k":"下巴","v":2.5e-1}]}"#;

const MAPPING: &str = r#"{"subject_field":"/name","time_field":"/time","timecode_field":"/timecode",
    "timecode_rate":"25","curve":[{"field":"/face/jaw","curve":"JawOpen"},
    {"field":"/face/yaw_degrees","curve":"HeadYaw","gain":-0.5,"offset":1},
    {"field":"/shapes/*","curve":"*"},
    {"field":"/list","key":"k","value":"v","curve":"list_*"}]}"#;

fn options(json: &str) -> Options {
    let options: Options = serde_json::from_str(json).unwrap();
    assert_eq!(options.validate(), [""; 0]);
    options
}

#[derive(Default)]
struct Seen {
    statics: Vec<(SubjectKey, StaticData)>,
    frames: Vec<(SubjectKey, FrameMeta, FrameData)>,
}

impl Sink for Seen {
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, _: WorldTime) {
        data.validate().unwrap();
        self.statics.push((key.clone(), data.clone()));
    }

    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        let data = data.unwrap().clone();
        let mut statics = self.statics.iter().rev();
        let (_, statics) = statics.find(|(k, _)| k == key).unwrap();
        data.check(statics).unwrap();
        self.frames.push((key.clone(), meta.clone(), data));
    }

    fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
}

struct Rig {
    decoder: JsonDecoder,
    seen: Seen,
}

impl Rig {
    fn new(json: &str) -> Self {
        Self {
            decoder: JsonDecoder::new(&options(json)),
            seen: Seen::default(),
        }
    }

    fn bytes(&mut self, ms: i64, bytes: &[u8]) -> Result<(), Reject> {
        let now = WorldTime::from_nanos(ms * 1_000_000);
        let from = SocketAddr::from(([10, 0, 0, 2], 5000));
        self.decoder
            .handle_datagram(now, from, bytes, &mut self.seen)
    }

    fn text(&mut self, ms: i64, text: &str) {
        self.bytes(ms, text.as_bytes()).unwrap();
    }

    fn names(&self) -> Vec<&str> {
        let properties = &self.seen.statics.last().unwrap().1.properties;
        properties.iter().map(|p| p.name.as_str()).collect()
    }

    fn values(&self) -> &[f32] {
        &self.seen.frames.last().unwrap().2.properties
    }
}

#[test]
fn a_known_pose_reads_as_the_mapping_says() {
    let mut rig = Rig::new(MAPPING);
    rig.text(7, POSE);
    let expected = [
        ("JawOpen", 0.75),
        ("HeadYaw", -44.0),
        ("EyeBlinkRight", 1.0),
        ("EyeBlinkLeft", 0.0),
        ("on", 1.0),
        ("list_BrowInnerUp", 0.25),
        ("list_下巴", 0.25),
    ];
    assert_eq!(rig.names(), expected.map(|e| e.0));
    assert_eq!(rig.values(), expected.map(|e| e.1));
    assert_eq!(rig.decoder.ignored(), 0);
    let (key, meta, _) = &rig.seen.frames[0];
    assert_eq!(key.to_string(), "演員 of json/10.0.0.2");
    assert_eq!(meta.arrival, WorldTime::from_nanos(7_000_000));
    // ((10 · 60 + 11) · 60 + 12) · 25 + 13.
    assert_eq!(meta.timecode.unwrap().frame, 916_813);
    assert_eq!(meta.timecode.unwrap().to_string(), "10:11:12:13.000");
}

#[test]
fn what_is_not_sent_keeps_its_value_and_new_names_come_with_their_frame() {
    let mut rig = Rig::new(MAPPING);
    rig.text(0, POSE);
    rig.text(
        16,
        r#"{"name":"演員","face":{"jaw":null},"shapes":{"on":false}}"#,
    );
    assert_eq!(rig.values(), [0.75, -44.0, 1.0, 0.0, 0.0, 0.25, 0.25]);
    assert_eq!(rig.seen.statics.len(), 1);
    assert_eq!(rig.seen.frames[1].1.source_time, None);
    rig.text(33, r#"{"name":"演員","shapes":{"New":0.5}}"#);
    assert_eq!(rig.seen.statics.len(), 2);
    assert_eq!(rig.names().last(), Some(&"New"));
    rig.text(1040, r#"{"name":"演員","shapes":{"New":0.5}}"#);
    assert_eq!(rig.seen.statics.len(), 3);
}

#[test]
fn times_count_from_the_first_and_leaps_begin_anew() {
    let mut rig = Rig::new(r#"{"time_field":"/t","curve":[{"field":"/v","curve":"v"}]}"#);
    for (i, time) in ["1664817520.25", "1664817520.5", "0.5", "1.5"]
        .iter()
        .enumerate()
    {
        rig.text(i as i64 * 16, &format!("{{\"t\":{time},\"v\":1}}"));
    }
    let nanos = rig.seen.frames.iter().map(|f| f.1.source_time.unwrap());
    let nanos: Vec<i64> = nanos.map(hub::SourceTime::as_nanos).collect();
    assert_eq!(nanos, [0, 250_000_000, 0, 1_000_000_000]);
}

#[test]
fn drop_frame_is_told_by_its_mark_and_a_bad_label_is_none() {
    let mut rig = Rig::new(
        r#"{"timecode_field":"/tc","timecode_rate":"29.97","curve":[{"field":"/v","curve":"v"}]}"#,
    );
    // SMPTE ST 12-1: labels 00 and 01 of each minute are left out, but for each tenth minute.
    for (text, frame) in [
        ("00:01:00;02", Some(1800)),
        ("00:01:00:02", Some(1802)),
        ("00:01:00;00", None),
        ("25:00:00:00", None),
        ("noon", None),
    ] {
        rig.text(0, &format!("{{\"tc\":\"{text}\",\"v\":1}}"));
        let found = rig.seen.frames.last().unwrap().1.timecode;
        assert_eq!(found.map(|t| t.frame), frame, "{text}");
    }
    assert_eq!(rig.decoder.ignored(), 3);
}

#[test]
fn several_names_are_several_subjects() {
    let mut rig = Rig::new(
        r#"{"subject":"Nobody","subject_field":"/id","curve":[{"field":"/v","curve":"v"}]}"#,
    );
    for text in [
        r#"{"id":"Ann","v":1}"#,
        r#"{"id":7,"v":2}"#,
        r#"{"v":3}"#,
        r#"{"id":"Ann","v":4}"#,
    ] {
        rig.text(0, text);
    }
    let names: Vec<&str> = rig.seen.frames.iter().map(|f| f.0.name.as_str()).collect();
    assert_eq!(names, ["Ann", "7", "Nobody", "Ann"]);
    assert_eq!(rig.seen.statics.len(), 3);
}

#[test]
fn without_a_mapping_every_number_of_the_object_becomes_a_curve() {
    let mut rig = Rig::new("{}");
    rig.text(0, r#"{"jaw":0.5,"name":"x","deep":{"v":1}}"#);
    assert_eq!(rig.names(), ["jaw"]);
    assert_eq!(rig.seen.frames[0].0.name.as_str(), "JSON");
}

#[test]
fn what_is_no_number_changes_nothing_and_is_counted() {
    let mut rig = Rig::new(MAPPING);
    rig.text(0, POSE);
    rig.text(16, r#"{"name":"演員","face":{"jaw":"open"}}"#);
    rig.text(16, r#"{"name":"演員","face":{"jaw":1e300}}"#);
    rig.text(
        16,
        r#"{"name":"演員","list":[{"k":"a"},{"v":1},{"k":1,"v":1},5]}"#,
    );
    rig.text(16, r#"{"name":"演員","time":"now","face":{"jaw":0.5}}"#);
    assert_eq!(rig.decoder.ignored(), 7);
    assert_eq!(rig.seen.frames.len(), 2);
    assert_eq!(rig.seen.statics.len(), 1);
}

#[test]
fn each_fault_of_a_datagram_is_named() {
    let mut rig = Rig::new(MAPPING);
    let deep = format!("{{\"face\":{}{}}}", "[".repeat(200), "]".repeat(200));
    for text in [
        "{",
        "{\"face\":NaN}",
        "{} {}",
        "{\"face\":1,}",
        deep.as_str(),
    ] {
        let found = rig.bytes(0, text.as_bytes());
        assert!(matches!(found, Err(Reject::Syntax { .. })), "{text}");
    }
    for text in ["", "[]", "hello", "{}", r#"{"other":{"jaw":1}}"#] {
        assert_eq!(
            rig.bytes(0, text.as_bytes()),
            Err(Reject::BadMagic),
            "{text}"
        );
    }
    let long = " ".repeat(MAX_DATAGRAM + 1);
    let found = rig.bytes(0, long.as_bytes());
    assert!(matches!(found, Err(Reject::WrongLength { .. })));
    assert!(rig.bytes(0, b"{\"a\":\"\xff\"}").is_err());
    assert!(rig.seen.frames.is_empty());
}

#[test]
fn names_are_bounded() {
    let mut rig = Rig::new("{}");
    for i in 0..MAX_LEARNED + 100 {
        rig.text(i as i64, &format!("{{\"n{i}\":1}}"));
    }
    assert_eq!(rig.decoder.ignored(), 100);
    assert_eq!(rig.names().len(), MAX_LEARNED);
}

#[test]
fn all_faults_of_a_mapping_are_told_together() {
    let bad: Options = serde_json::from_str(
        r#"{"subject_field":"name","time_field":"/~2","timecode_field":"/tc","curve":[
        {"field":"jaw","curve":"a"},{"field":"/jaw","curve":"a"},{"field":"/jaw","curve":"*"},
        {"field":"/s/*","curve":"s"},{"field":"/l","key":"k","curve":"*"},
        {"field":"/l/*","key":"k","value":"v","curve":"*"},{"field":"/x","curve":""}]}"#,
    )
    .unwrap();
    let faults = bad.validate();
    let expected = [
        "subject_field: field \"name\" must begin",
        "time_field: field \"/~2\" has a ~",
        "timecode_field and timecode_rate",
        "curve 1: field \"jaw\" must begin",
        "curve 1 and curve 2 are both",
        "curve 3: \"*\" has a star",
        "curve 4: several curves",
        "curve 5: key and value",
        "curve 6: a list of pairs",
        "curve 7: a name",
    ];
    assert_eq!(faults.len(), expected.len(), "{faults:#?}");
    for (fault, expected) in faults.iter().zip(expected) {
        assert!(fault.starts_with(expected), "{fault} is not {expected}");
    }
    // A decoder takes what is left.
    let mut decoder = JsonDecoder::new(&bad);
    let from = SocketAddr::from(([10, 0, 0, 2], 5000));
    let mut seen = Seen::default();
    decoder
        .handle_datagram(WorldTime::default(), from, b"{\"jaw\":0.5}", &mut seen)
        .unwrap();
    assert_eq!(seen.frames[0].2.properties, [0.5]);
    assert!(serde_json::from_str::<Options>(r#"{"curves":[]}"#).is_err());
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..1500)) {
        let _ = Rig::new("{}").bytes(0, &bytes);
    }

    #[test]
    fn no_change_of_a_good_datagram_panics(
        changes in prop::collection::vec((0..POSE.len(), any::<u8>()), 0..5),
        end in 0..POSE.len(),
    ) {
        let mut bytes = POSE.as_bytes().to_vec();
        for (at, byte) in changes {
            bytes[at] = byte;
        }
        let mut rig = Rig::new(MAPPING);
        let _ = rig.bytes(0, &bytes);
        let _ = rig.bytes(1, &bytes[..end]);
        rig.text(2, POSE);
        assert_eq!(rig.values()[0], 0.75);
    }
}
