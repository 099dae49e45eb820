//! Every collected packet decodes to what the README beside it states.
//!
//! `GHOSTLIGHT_SAMPLES` names the folder of samples. Without it the tests say so and do nothing; with
//! `GHOSTLIGHT_NEEDS_SAMPLES=1` in the environment, as on our own machines, they fail instead.
//!
//! What is expected stands in those READMEs. Where they say less than a packet holds, the rest was read with Python's
//! `struct` by the layouts of the protocols, and turned into the house frame by hand.
//!
//! | protocol | what the packets are | whose encoder made them |
//! |---|---|---|
//! | Live Link Face | captured | the app; the imitator LLV |
//! | iFacialMocap | printed by the vendor | the vendor's apps; one frame is assembled by us |
//! | VTube Studio | printed by its receivers' authors | the app |
//! | NatNet | captured | Motive 1.5 to 2.1 |
//! | FreeD | two captured, one assembled | a camera head; us |
//! | mocopi | another repository's | its Unity sender |
//! | VMC, PosiStageNet, Rokoko, OpenSeeFace, Xsens, timecode | assembled by the layouts | us alone |

mod bodies;
mod faces;
mod rigs;
mod timecode;

use std::{
    collections::BTreeSet,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use hub::{FrameData, FrameMeta, StaticData, SubjectKey, Transform, WorldTime};
use sources::{Decoder, Reject, Sink};
use tests::samples;

/// Turns the skip into a failure.
const NEEDED: &str = "GHOSTLIGHT_NEEDS_SAMPLES";

/// Files that are decoded here.
const DECODED: [&str; 37] = [
    "freed/assembled.bin",
    "freed/ptz_a.bin",
    "freed/ptz_b.bin",
    "ifacialmocap/facemotion3d_other_example.txt",
    "ifacialmocap/fmv3_rev5_vectors.json",
    "ifacialmocap/v1_custom_shape_example.txt",
    "ifacialmocap/v1_official_example.txt",
    "livelinkface/llv_dao.gesichter",
    "livelinkface/packet_face_319.bin",
    "livelinkface/packet_noface_74.bin",
    "livelinkface/take_2022_first60.csv",
    "livelinkface/take_v1.4.2/MySlate_24_first120_last5.csv",
    "livelinkface/udp_v6_excerpt.bin",
    "livelinkface/udp_v6_excerpt.index.txt",
    "mocopi/sample_fram.bin",
    "mocopi/sample_skdf.bin",
    "natnet/frame-motive-1.5.0-000.bin",
    "natnet/frame-motive-1.5.0-001.bin",
    "natnet/frame-motive-1.5.0-002.bin",
    "natnet/frame-motive-1.7.2-000.bin",
    "natnet/frame-motive-1.7.2-001.bin",
    "natnet/frame-motive-1.7.2-002.bin",
    "natnet/frame-motive-1.9.0-000.bin",
    "natnet/frame-motive-1.9.0-001.bin",
    "natnet/frame-motive-1.9.0-002.bin",
    "natnet/mocapframe_packet_occluded_v3.bin",
    "natnet/mocapframe_packet_v3.bin",
    "natnet/modeldef_packet_v3.bin",
    "natnet/serverinfo_packet_v3.bin",
    "openseeface/assembled_one_face.bin",
    "psn/assembled_data.bin",
    "psn/assembled_info.bin",
    "rokoko/assembled_v3_partial.json",
    "rokoko/assembled_v3_partial.json.lz4",
    "vmc/assembled_bundle.bin",
    "vtubestudio/frame_example.json",
    "xsens/assembled_mxtp02.bin",
];

/// Files of timecode, and messages that pass by or that we send, also looked at here.
const ALSO: [&str; 10] = [
    "natnet/connect_packet_v3.bin",
    "natnet/discovery_packet_v3.bin",
    "natnet/echorequest_packet_v3.bin",
    "natnet/echoresponse_packet_v3.bin",
    "natnet/requestmodeldef_packet_v3.bin",
    "timecode/arttimecode_17-23-58_14_2997df.bin",
    "timecode/ltc_17-23-58_14_df.bin",
    "timecode/mtc_fullframe_17-23-58_14_2997df.bin",
    "timecode/mtc_quarterframes_17-23-58_14_2997df.bin",
    "vtubestudio/request.json",
];

/// Files that are looked at elsewhere, or hold nothing that comes over a wire.
const ELSEWHERE: [&str; 6] = [
    // The app's notes beside a take: devices, times of video and audio. Nobody reads them yet.
    "livelinkface/take_v1.4.2/audio_metadata.json",
    "livelinkface/take_v1.4.2/frame_log_first60.csv",
    "livelinkface/take_v1.4.2/take.json",
    "livelinkface/take_v1.4.2/video_metadata.json",
    // Frame by frame against each other: sources/src/natnet/captures.rs.
    "natnet/motive2.1_SampleClient_output_first400.txt",
    "natnet/motive2.1_natnet3.0_session.pcapng",
];

/// The folder of protocols; `None`, and a line that says so, where there is none.
fn protocols() -> Option<PathBuf> {
    let folder = samples::folder().map(|f| f.join("protocols"));
    let found = folder.filter(|f| f.is_dir());
    if found.is_none() {
        let is_needed = std::env::var(NEEDED).is_ok_and(|v| v != "0" && !v.is_empty());
        assert!(
            !is_needed,
            "{NEEDED} is set, and {} names no folder with protocols/",
            samples::FOLDER
        );
        println!("SKIPPED: {} names no samples", samples::FOLDER);
    }
    found
}

/// A sample; `None` where there is no folder of them. A file missing from the folder is a failure.
fn sample(name: &str) -> Option<Vec<u8>> {
    let path = protocols()?.join(name);
    let read = std::fs::read(&path);
    Some(read.unwrap_or_else(|error| panic!("{name}: {error}")))
}

fn text(name: &str) -> Option<String> {
    Some(String::from_utf8(sample(name)?).unwrap())
}

fn files_below(folder: &Path, root: &Path, out: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, root, out);
        } else {
            let name = path.strip_prefix(root).unwrap().to_str().unwrap();
            out.insert(name.replace('\\', "/"));
        }
    }
}

#[test]
fn every_file_of_the_folder_is_accounted_for() {
    let Some(root) = protocols() else {
        return;
    };
    let mut there = BTreeSet::new();
    files_below(&root, &root, &mut there);
    there.retain(|name| !name.ends_with("README.md"));
    let listed = DECODED.iter().chain(&ALSO).chain(&ELSEWHERE);
    let listed: BTreeSet<String> = listed.map(|name| (*name).to_owned()).collect();
    assert_eq!(there, listed);
}

/// A frame as a decoder gave it.
struct Got {
    key: SubjectKey,
    meta: FrameMeta,
    data: Option<FrameData>,
}

/// Takes what a decoder gives, and holds it to the hub's own checks.
#[derive(Default)]
struct Seen {
    statics: Vec<(SubjectKey, StaticData)>,
    frames: Vec<Got>,
}

impl Sink for Seen {
    fn static_data(&mut self, key: &SubjectKey, data: &StaticData, _: WorldTime) {
        assert_eq!(data.validate(), Ok(()));
        self.statics.push((key.clone(), data.clone()));
    }

    fn frame(&mut self, key: &SubjectKey, meta: &FrameMeta, data: Option<&FrameData>) {
        let of = self.statics.iter().rfind(|(k, _)| k == key);
        let (_, of) = of.expect("static data come before the first frame");
        if let Some(data) = data {
            assert_eq!(data.check(of), Ok(()));
        }
        self.frames.push(Got {
            key: key.clone(),
            meta: meta.clone(),
            data: data.cloned(),
        });
    }

    fn removed(&mut self, _: &SubjectKey, _: WorldTime) {}
}

impl Seen {
    /// The last frame of a subject.
    fn last(&self, name: &str) -> &Got {
        let found = self.frames.iter().rfind(|f| f.key.name.as_str() == name);
        found.unwrap_or_else(|| panic!("no frame of {name}"))
    }

    fn data(&self, name: &str) -> &FrameData {
        let data = self.last(name).data.as_ref();
        data.unwrap_or_else(|| panic!("{name} has no values"))
    }

    fn statics(&self, name: &str) -> &StaticData {
        let found = self.statics.iter().rfind(|(k, _)| k.name.as_str() == name);
        &found.unwrap_or_else(|| panic!("no {name}")).1
    }

    /// A curve of the last frame, whatever the case of its name.
    fn curve(&self, name: &str, curve: &str) -> f32 {
        let properties = &self.statics(name).properties;
        let at = properties
            .iter()
            .position(|p| p.name.eq_ignore_ascii_case(curve));
        let at = at.unwrap_or_else(|| panic!("{name} has no curve {curve}"));
        self.data(name).properties[at]
    }

    /// A bone of the last frame, relative to its parent.
    fn bone(&self, name: &str, bone: &str) -> Transform {
        let skeleton = self.statics(name).skeleton().unwrap();
        let at = skeleton.bone_names.iter().position(|b| b == bone);
        let at = at.unwrap_or_else(|| panic!("{name} has no bone {bone}"));
        self.data(name).transforms()[at]
    }
}

fn peer() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 7], 5000))
}

/// Feeds datagrams ten milliseconds apart.
fn feed(decoder: &mut dyn Decoder, datagrams: &[Vec<u8>]) -> (Seen, Vec<Reject>) {
    let mut seen = Seen::default();
    let mut rejects = Vec::new();
    for (i, datagram) in datagrams.iter().enumerate() {
        let now = WorldTime::from_nanos(i as i64 * 10_000_000);
        rejects.extend(
            decoder
                .handle_datagram(now, peer(), datagram, &mut seen)
                .err(),
        );
    }
    (seen, rejects)
}

/// As [`feed`], of datagrams that must all be taken.
fn decode(decoder: &mut dyn Decoder, datagrams: &[Vec<u8>]) -> Seen {
    let (seen, rejects) = feed(decoder, datagrams);
    assert_eq!(rejects, []);
    seen
}

fn assert_near(what: &str, found: f32, expected: f64, tolerance: f64) {
    assert!(
        (f64::from(found) - expected).abs() <= tolerance,
        "{what}: expected {expected}, found {found}"
    );
}
