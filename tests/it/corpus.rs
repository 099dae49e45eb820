//! Datagrams to begin mutating from, laid out by hand from each protocol's table, and the collected samples
//! where that folder exists.

use std::path::Path;

use hub::{FrameData, StaticData, arkit};
use sources::{freed::CameraMessage, vmc::VmcEncoder};

/// The `.bin`, `.json` and `.txt` files of a protocol beside the project, if they are there.
fn samples(protocol: &str) -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/samples/protocols");
    let Ok(entries) = std::fs::read_dir(root.join(protocol)) else {
        return Vec::new();
    };
    entries
        .flatten()
        .map(|e| e.path())
        .filter(|p| p.extension().is_some_and(|e| e == "bin" || e == "json"))
        .filter_map(|p| std::fs::read(p).ok())
        .map(|mut bytes| {
            bytes.truncate(4096);
            bytes
        })
        .collect()
}

fn with_samples(mut made: Vec<Vec<u8>>, protocol: &str) -> Vec<Vec<u8>> {
    made.extend(samples(protocol));
    made
}

fn fmv3(kind: u8, schema: u32, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut b = b"FMV3".to_vec();
    b.extend([kind, 1]);
    b.extend(40u16.to_le_bytes());
    b.extend(7u64.to_le_bytes());
    for word in [schema, sequence, 0, payload.len() as u32] {
        b.extend(word.to_le_bytes());
    }
    b.extend(0u16.to_le_bytes());
    b.extend(1u16.to_le_bytes());
    b.extend((payload.len() as u32).to_le_bytes());
    b.extend(payload);
    b
}

pub(crate) fn ifacialmocap() -> Vec<Vec<u8>> {
    let text = "trackingStatus-1|jawOpen-12|eyeBlink_R-100|mine-5|=head#1,2,3,0,0,-0.5|rightEye#1,2,3|leftEye#1,2,3|";
    let json = r#"{"schema_version":1,"blend_names":["eyeBlinkLeft","jawOpen"],"blend_encoding":"i16","blend_unit":"percent","pose_layout":"head_rxyz_pxyz_rightEye_rxyz_leftEye_rxyz","rotation_unit":"degree","position_unit":"meter"}"#;
    let mut schema = 0u64.to_le_bytes().to_vec();
    schema.extend([60, 0, 0xb0, 4]);
    schema.extend(10_000u32.to_le_bytes());
    schema.extend(5u32.to_le_bytes());
    schema.extend(json.as_bytes());
    let mut frame = vec![12, 0, 45, 0];
    frame.extend([0; 48]);
    vec![
        text.into(),
        text.replace('-', "&").into_bytes(),
        fmv3(2, 1, 0, &schema),
        fmv3(4, 1, 1, &frame),
        fmv3(4, 1, 2, &frame),
    ]
}

pub(crate) fn vtubestudio() -> Vec<Vec<u8>> {
    let json = r#"{"Timestamp":1664817520079,"Hotkey":-1,"FaceFound":true,"Rotation":{"x":5,"y":30,"z":2},"Position":{"x":0,"y":0,"z":4.7},"EyeLeft":{"x":1,"y":2,"z":0},"EyeRight":{"x":1,"y":2,"z":0},"BlendShapes":[{"k":"JawOpen","v":0.7},{"k":"EyeBlinkLeft","v":5.0197e-11}]}"#;
    with_samples(vec![json.into()], "vtubestudio")
}

pub(crate) fn openseeface() -> Vec<Vec<u8>> {
    let mut one = vec![0; 1785];
    one[..8].copy_from_slice(&12.5f64.to_le_bytes());
    one[12..16].copy_from_slice(&640f32.to_le_bytes());
    one[16..20].copy_from_slice(&480f32.to_le_bytes());
    one[28] = 1;
    one[45..49].copy_from_slice(&1f32.to_le_bytes());
    let mut two = one.clone();
    two.extend(&one);
    two[1785 + 8] = 1;
    with_samples(vec![one, two], "openseeface")
}

pub(crate) fn vmc() -> Vec<Vec<u8>> {
    let performer = sources::synthetic::Performer::new(1);
    let mut statics = performer.body_static();
    statics.properties = StaticData::basic(&arkit::CURVES[..52]).properties;
    let mut bones = Vec::new();
    performer.body(1.0, &mut bones);
    let frame = FrameData {
        body: hub::FrameBody::Animation(bones),
        properties: vec![0.5; 52],
    };
    let mut out = Vec::new();
    let mut encoder = VmcEncoder::new();
    for secs in [1.0, 1.1] {
        encoder.frame(&statics, &frame, secs, Some(1400), |d| out.push(d.to_vec()));
    }
    with_samples(out, "vmc")
}

fn boxed(tag: &str, value: &[u8]) -> Vec<u8> {
    let mut b = (value.len() as u32).to_le_bytes().to_vec();
    b.extend(tag.as_bytes());
    b.extend(value);
    b
}

pub(crate) fn mocopi() -> Vec<Vec<u8>> {
    let head = boxed(
        "head",
        &[boxed("ftyp", b"sony motion format"), boxed("vrsn", &[1])].concat(),
    );
    let tran = [0f32, 0.0, 0.0, 1.0, 0.0, 0.5, 0.0]
        .map(f32::to_le_bytes)
        .concat();
    let bone = |tag: &str, i: u16, parent: bool| {
        let mut parts = boxed("bnid", &i.to_le_bytes());
        if parent {
            parts.extend(boxed("pbid", &(i.cast_signed() - 1).to_le_bytes()));
        }
        parts.extend(boxed("tran", &tran));
        boxed(tag, &parts)
    };
    let list = |tag: &str, item: &str, parent| {
        let bones: Vec<u8> = (0..27).flat_map(|i| bone(item, i, parent)).collect();
        boxed(tag, &bones)
    };
    let skdf = [head.clone(), boxed("skdf", &list("bons", "bndt", true))].concat();
    let fram = [
        boxed("fnum", &7u32.to_le_bytes()),
        boxed("time", &1.5f32.to_le_bytes()),
        list("btrs", "btdt", false),
    ]
    .concat();
    let fram = [head, boxed("fram", &fram)].concat();
    with_samples(vec![skdf, fram], "mocopi")
}

pub(crate) fn freed() -> Vec<Vec<u8>> {
    let made = (0..4)
        .map(|i| {
            CameraMessage {
                camera: i,
                angles: [1000, -2000, 3],
                position: [64, 640, 6400],
                zoom: 500,
                focus: 900,
                spare: 0,
            }
            .to_bytes()
            .to_vec()
        })
        .collect();
    with_samples(made, "freed")
}

fn chunk(id: u16, has_chunks: bool, bytes: &[u8]) -> Vec<u8> {
    let size = bytes.len() as u32 | u32::from(has_chunks) << 15;
    let mut b = (u32::from(id) | size << 16).to_le_bytes().to_vec();
    b.extend(bytes);
    b
}

pub(crate) fn psn() -> Vec<Vec<u8>> {
    let mut header = 1_000_000u64.to_le_bytes().to_vec();
    header.extend([2, 3, 1, 1]);
    let header = chunk(0, false, &header);
    let position = chunk(0, false, &[1f32, 2.0, 3.0].map(f32::to_le_bytes).concat());
    let data = chunk(1, true, &chunk(5, true, &position));
    let names = chunk(2, true, &chunk(5, true, &chunk(0, false, b"Tracker")));
    with_samples(
        vec![
            chunk(0x6755, true, &[header.clone(), data].concat()),
            chunk(0x6756, true, &[header, names].concat()),
        ],
        "psn",
    )
}

pub(crate) fn rokoko() -> Vec<Vec<u8>> {
    let joint = r#"{"position":{"x":0,"y":1,"z":0},"rotation":{"x":0,"y":0,"z":0,"w":1}}"#;
    let json = format!(
        r#"{{"version":"3,0","fps":60,"scene":{{"timestamp":1.5,"actors":[{{"name":"A","meta":{{"hasGloves":false,"hasBody":true,"hasFace":true}},"dimensions":{{"totalHeight":1.8,"hipHeight":1.0}},"body":{{"hip":{joint},"spine":{joint},"chest":{joint},"head":{joint},"leftUpperArm":{joint}}},"face":{{"faceId":"f","jawOpen":30}}}}],"characters":[],"props":[{{"name":"P","id":"1","position":{{"x":0,"y":1,"z":0}},"rotation":{{"x":0,"y":0,"z":0,"w":1}},"isLive":true}}]}}}}"#
    );
    with_samples(vec![json.into_bytes()], "rokoko")
}

pub(crate) fn xsens() -> Vec<Vec<u8>> {
    let datagram = |kind: &[u8; 2], items: u8, payload: &[u8]| {
        let mut b = b"MXTP".to_vec();
        b.extend(kind);
        b.extend(7u32.to_be_bytes());
        b.extend([0x80, items]);
        b.extend(1500u32.to_be_bytes());
        b.extend([1, 23, 0, 0, 0, 0]);
        b.extend((payload.len() as u16).to_be_bytes());
        b.extend(payload);
        b
    };
    let segments: Vec<u8> = (1..=23u32)
        .flat_map(|id| {
            let mut s = id.to_be_bytes().to_vec();
            for v in [0.1f32, 0.2, id as f32 * 0.05, 1.0, 0.0, 0.0, 0.0] {
                s.extend(v.to_be_bytes());
            }
            s
        })
        .collect();
    with_samples(
        vec![
            datagram(b"02", 23, &segments),
            datagram(b"12", 1, b"name:Ann\n"),
            datagram(b"25", 1, b"10:11:12.500"),
        ],
        "xsens",
    )
}

pub(crate) fn natnet() -> Vec<Vec<u8>> {
    let message = |id: u16, payload: &[u8]| {
        let mut b = id.to_le_bytes().to_vec();
        b.extend((payload.len() as u16).to_le_bytes());
        b.extend(payload);
        b
    };
    let mut info = vec![0; 256];
    info[..6].copy_from_slice(b"Motive");
    info.extend([2, 1, 0, 0, 3, 0, 0, 0]);
    let mut frame = Vec::new();
    for word in [42u32, 0, 0, 1, 5] {
        frame.extend(word.to_le_bytes());
    }
    for v in [0.1f32, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0, 0.001] {
        frame.extend(v.to_le_bytes());
    }
    frame.extend([1, 0]);
    frame.extend([0; 80]);
    with_samples(vec![message(1, &info), message(7, &frame)], "natnet")
}
