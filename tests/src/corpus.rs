//! Datagrams to begin mutating from, laid out by hand from each protocol's table, and the collected samples where
//! they are at hand.

use hub::{FrameData, StaticData, arkit};
use sources::{freed::CameraMessage, vmc::VmcEncoder};

use crate::samples;

/// The `.bin` and `.json` files of a protocol among the samples, if there are any, each cut at 4,096 bytes.
fn collected(protocol: &str) -> Vec<Vec<u8>> {
    let folder = samples::folder().map(|f| f.join("protocols").join(protocol));
    let Some(Ok(entries)) = folder.map(std::fs::read_dir) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    // So that a seed means the same on every machine that has the samples.
    paths.sort();
    paths
        .iter()
        .filter(|p| p.extension().is_some_and(|e| e == "bin" || e == "json"))
        .filter_map(|p| std::fs::read(p).ok())
        .map(|mut bytes| {
            bytes.truncate(4096);
            bytes
        })
        .collect()
}

fn with_samples(mut made: Vec<Vec<u8>>, protocol: &str) -> Vec<Vec<u8>> {
    made.extend(collected(protocol));
    made
}

fn fmv3(kind: u8, schema: u32, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let mut b = b"FMV3".to_vec();
    // Only frames have flags: this one is tracked.
    b.extend([kind, u8::from(kind == 4)]);
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

/// Texts v1 and v2, and a schema and frames of Face Motion v3.
pub fn ifacialmocap() -> Vec<Vec<u8>> {
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

/// A face as JSON.
pub fn vtubestudio() -> Vec<Vec<u8>> {
    let json = r#"{"Timestamp":1664817520079,"Hotkey":-1,"FaceFound":true,"Rotation":{"x":5,"y":30,"z":2},"Position":{"x":0,"y":0,"z":4.7},"EyeLeft":{"x":1,"y":2,"z":0},"EyeRight":{"x":1,"y":2,"z":0},"BlendShapes":[{"k":"JawOpen","v":0.7},{"k":"EyeBlinkLeft","v":5.0197e-11}]}"#;
    with_samples(vec![json.into()], "vtubestudio")
}

/// One face, and two in a datagram.
pub fn openseeface() -> Vec<Vec<u8>> {
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

/// A body with 52 expressions, by our own encoder, split at 1,400 bytes.
pub fn vmc() -> Vec<Vec<u8>> {
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

/// A skeleton and a frame of 27 bones.
pub fn mocopi() -> Vec<Vec<u8>> {
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

/// Messages of four cameras.
pub fn freed() -> Vec<Vec<u8>> {
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

/// Data of a tracker, and its name.
pub fn psn() -> Vec<Vec<u8>> {
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

/// An actor with a face, and a prop, as JSON v3.
pub fn rokoko() -> Vec<Vec<u8>> {
    let joint = r#"{"position":{"x":0,"y":1,"z":0},"rotation":{"x":0,"y":0,"z":0,"w":1}}"#;
    let json = format!(
        r#"{{"version":"3,0","fps":60,"scene":{{"timestamp":1.5,"actors":[{{"name":"A","meta":{{"hasGloves":false,"hasBody":true,"hasFace":true}},"dimensions":{{"totalHeight":1.8,"hipHeight":1.0}},"body":{{"hip":{joint},"spine":{joint},"chest":{joint},"head":{joint},"leftUpperArm":{joint}}},"face":{{"faceId":"f","jawOpen":30}}}}],"characters":[],"props":[{{"name":"P","id":"1","position":{{"x":0,"y":1,"z":0}},"rotation":{{"x":0,"y":0,"z":0,"w":1}},"isLive":true}}]}}}}"#
    );
    with_samples(vec![json.into_bytes()], "rokoko")
}

/// A pose of 23 segments, a name, a time.
pub fn xsens() -> Vec<Vec<u8>> {
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

/// A server of NatNet 3.0 and a frame of one rigid body.
pub fn natnet() -> Vec<Vec<u8>> {
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

/// An OSC string: ended by zeros, up to a multiple of four bytes.
pub fn osc_text(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.resize((text.len() / 4 + 1) * 4, 0);
    bytes
}

/// One OSC message: its address, its type tags with their comma, and arguments of four bytes.
pub fn osc_message(address: &str, tags: &str, args: &[[u8; 4]]) -> Vec<u8> {
    [osc_text(address), osc_text(tags), args.concat()].concat()
}

/// The messages as one OSC bundle, to be taken at once.
pub fn osc_bundle(messages: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = b"#bundle\0\0\0\0\0\0\0\0\x01".to_vec();
    for message in messages {
        bytes.extend((message.len() as u32).to_be_bytes());
        bytes.extend(message);
    }
    bytes
}

/// A bundle, and single messages.
pub fn facecap() -> Vec<Vec<u8>> {
    let f = f32::to_be_bytes;
    let weight = |i: i32| osc_message("/W", ",if", &[i.to_be_bytes(), f(0.5)]);
    let turn = osc_message("/HRQ", ",ffff", &[f(0.0), f(0.5), f(0.0), f(0.8)]);
    let angles = osc_message("/HR", ",fff", &[f(10.0), f(30.0), f(0.0)]);
    let eye = osc_message("/ELR", ",ff", &[f(5.0), f(6.0)]);
    let whole = osc_bundle(&[turn.clone(), angles, eye, weight(24), weight(14)]);
    with_samples(vec![whole, turn, weight(0), weight(51)], "facecap")
}

/// A bundle for the mapping of the fuzz test, and single messages.
pub fn osc() -> Vec<Vec<u8>> {
    let f = f32::to_be_bytes;
    let jaw = osc_message("/face/jaw", ",f", &[f(0.5)]);
    let star = osc_message("/avatar/parameters/Smile", ",T", &[]);
    let double = osc_message("/avatar/parameters/x", ",d", &[[0x3f, 0xd0, 0, 0], [0; 4]]);
    let pose: Vec<[u8; 4]> = [0.1, 1.0, 0.2, 0.0, 0.0, 0.0, 1.0].map(f).to_vec();
    let bone = osc_message("/tracker/1", ",fffffff", &pose);
    let whole = osc_bundle(&[jaw.clone(), star.clone(), double, bone]);
    with_samples(vec![whole, jaw, star], "osc")
}

/// Objects for the mapping of the fuzz test.
pub fn json() -> Vec<Vec<u8>> {
    let text = r#"{"name":"fuzz","time":12.5,"timecode":"10:11:12:13","face":{"jaw":0.5},"shapes":{"JawOpen":1,"on":true},"list":[{"k":"A","v":0.25}],"top":1}"#;
    with_samples(vec![text.into(), br#"{"face":{"jaw":1}}"#.to_vec()], "json")
}

/// Frames of Axis Neuron in both layouts of its header: 59 bones with displacement.
pub fn axis_neuron() -> Vec<Vec<u8>> {
    let values = (0..354u16).flat_map(|i| f32::from(i % 90).to_le_bytes());
    let values: Vec<u8> = values.collect();
    let mut short = vec![0xff, 0xdd, 0, 0, 1, 1];
    short.extend(354u16.to_le_bytes());
    short.extend([1, 0]);
    short.extend(0u32.to_le_bytes());
    short.extend(b"Fuzz");
    short.resize(46, 0);
    short.extend(7u32.to_le_bytes());
    short.resize(62, 0);
    short.extend([0xff, 0xee]);
    short.extend(&values);
    let mut long = vec![0xff, 0xdd, 2, 0, 0, 1];
    for word in [354u32, 1, 0, 0] {
        long.extend(word.to_le_bytes());
    }
    long.extend(b"Fuzz");
    long.resize(62, 0);
    long.extend([0xff, 0xee]);
    long.extend(&values);
    vec![short, long]
}

/// Quarter frames, a full frame message, and notes around them: 17:23:58;14 at 29.97, by RP-004/008.
pub fn mtc() -> Vec<Vec<u8>> {
    let pieces = [0x0e, 0x10, 0x2a, 0x33, 0x47, 0x51, 0x61, 0x75];
    let quarters: Vec<u8> = pieces.iter().flat_map(|piece| [0xf1, *piece]).collect();
    let full = [0xf0, 0x7f, 0x7f, 1, 1, 0x51, 23, 58, 14, 0xf7];
    let around = [&[0x90, 60, 100, 0xf8][..], &quarters, &[0x80, 60, 0], &full].concat();
    with_samples(vec![quarters, full.to_vec(), around], "timecode")
}

/// Art-Net timecode of all four kinds, and a packet for lights.
pub fn art_net() -> Vec<Vec<u8>> {
    let packet = |opcode: [u8; 2], kind: u8| {
        let mut bytes = b"Art-Net\0".to_vec();
        bytes.extend(opcode);
        bytes.extend([0, 14, 0, 0, 14, 58, 23, 17, kind]);
        bytes
    };
    let mut made: Vec<Vec<u8>> = (0..4).map(|kind| packet([0, 0x97], kind)).collect();
    made.push(packet([0, 0x50], 0));
    with_samples(made, "timecode")
}

/// Record triggers: a start, a stop, and one with everything that XML allows in it.
pub fn triggers() -> Vec<Vec<u8>> {
    let head = r#"<?xml version="1.0" encoding="UTF-8" standalone="no"?>"#;
    let start = format!(
        r#"{head}<CaptureStart><Name VALUE="dance"/><Notes VALUE=""/><Description VALUE="山田"/><DatabasePath VALUE="D:/Takes"/><Delay VALUE="33"/><PacketID VALUE="33360"/></CaptureStart>"#
    );
    let stop = format!(
        r#"{head}<CaptureStop RESULT="SUCCESS"><Name VALUE="dance"/><Delay VALUE="0"/><PacketID VALUE="33361"/></CaptureStop>"#
    );
    let odd = "<!-- a --><CaptureStart ><Name VALUE='&lt;&#x41;&#66;&amp;' /><Other><Deep/></Other>\n</CaptureStart>";
    let mut with_end = start.clone().into_bytes();
    with_end.push(0);
    vec![with_end, start.into(), stop.into(), odd.into()]
}

/// What a phone under remote control answers.
pub fn phone_answers() -> Vec<Vec<u8>> {
    let texts = |address: &str, tags: &str, texts: &[&str]| {
        let args: Vec<u8> = texts.iter().flat_map(|text| osc_text(text)).collect();
        [osc_text(address), osc_text(tags), args].concat()
    };
    let paths = ["00:00:01.000", "Scene/take.csv", "Scene/take.mov"];
    let made = vec![
        osc_message("/Battery", ",f", &[0.75f32.to_be_bytes()]),
        osc_message("/Thermals", ",i", &[1i32.to_be_bytes()]),
        texts("/RecordStartConfirm", ",s", &paths[..1]),
        texts("/RecordStopConfirm", ",sss", &paths),
        osc_message("/AppActivated", ",", &[]),
        osc_message("/AppDeactivated", ",", &[]),
        osc_message("/OSCSetSendTargetConfirm", ",", &[]),
    ];
    let all = osc_bundle(&made);
    [made, vec![all]].concat()
}
