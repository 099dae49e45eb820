//! Reads an animation back from the bytes of a GLB, knowing nothing of the writer: its own framing,
//! its own accessor decoding, and the validator's rules as assertions.

use serde_json::Value;

/// An animation as a player sees it.
pub(super) struct Animation {
    pub(super) name: String,
    pub(super) extras: Value,
    pub(super) channels: Vec<Channel>,
}

/// One property of one node over time.
pub(super) struct Channel {
    pub(super) node: usize,
    pub(super) path: String,
    pub(super) input: usize,
    pub(super) times_secs: Vec<f32>,
    /// `values[key * values.len() / times_secs.len() + component]`.
    pub(super) values: Vec<f32>,
}

impl Animation {
    #[track_caller]
    pub(super) fn channel(&self, node: usize, path: &str) -> &Channel {
        let mut channels = self.channels.iter();
        let found = channels.find(|c| c.node == node && c.path == path);
        found.unwrap_or_else(|| panic!("no channel for {path} of node {node}"))
    }
}

impl Channel {
    /// The values at a key.
    pub(super) fn key(&self, at: usize) -> &[f32] {
        let width = self.values.len() / self.times_secs.len();
        &self.values[at * width..][..width]
    }
}

/// The document of a GLB and its buffer 0.
pub(super) fn split(glb: &[u8]) -> (Value, &[u8]) {
    let word = |at: usize| u32::from_le_bytes(glb[at..at + 4].try_into().unwrap()) as usize;
    assert_eq!(&glb[..8], b"glTF\x02\0\0\0");
    assert_eq!(word(8), glb.len());
    let json_bytes = word(12);
    assert_eq!(&glb[16..20], b"JSON");
    let document: Value = serde_json::from_slice(&glb[20..20 + json_bytes]).unwrap();
    let bin = 20 + json_bytes;
    assert_eq!(&glb[bin + 4..bin + 8], b"BIN\0");
    assert_eq!(bin + 8 + word(bin), glb.len());
    assert!(bin.is_multiple_of(4) && glb.len().is_multiple_of(4));
    let bytes = &glb[bin + 8..];
    assert_eq!(number(&document["buffers"][0]["byteLength"]), bytes.len());
    (document, bytes)
}

/// The only animation of a GLB, every rule checked.
pub(super) fn read_animation(glb: &[u8]) -> Animation {
    let (document, bin) = split(glb);
    let animations = document["animations"].as_array().unwrap();
    assert_eq!(animations.len(), 1);
    let animation = &animations[0];
    let samplers = animation["samplers"].as_array().unwrap();
    let mut channels: Vec<Channel> = Vec::new();
    for channel in animation["channels"].as_array().unwrap() {
        let node = number(&channel["target"]["node"]);
        let path = channel["target"]["path"].as_str().unwrap();
        let twice = channels.iter().any(|c| c.node == node && c.path == path);
        assert!(!twice, "{path} of node {node} is targeted twice");
        let sampler = &samplers[number(&channel["sampler"])];
        assert_eq!(sampler["interpolation"], "LINEAR");

        let input = number(&sampler["input"]);
        let (kind, times_secs) = floats(&document, bin, input);
        assert_eq!(kind, "SCALAR");
        assert!(times_secs[0] >= 0.0);
        assert!(times_secs.is_sorted_by(|a, b| a < b));
        let bound = |key: &str| document["accessors"][input][key][0].as_f64().unwrap() as f32;
        assert_eq!(bound("min"), times_secs[0]);
        assert_eq!(bound("max"), times_secs[times_secs.len() - 1]);

        let (kind, values) = floats(&document, bin, number(&sampler["output"]));
        let target = &document["nodes"][node];
        let per_key = match path {
            "weights" => {
                assert_eq!(kind, "SCALAR");
                num_targets(&document["meshes"][number(&target["mesh"])])
            }
            "rotation" => {
                assert_eq!(kind, "VEC4");
                check_rotations(&values);
                4
            }
            "translation" => {
                assert_eq!(kind, "VEC3");
                3
            }
            other => panic!("path {other}"),
        };
        if path != "weights" {
            assert!(target.get("matrix").is_none() && target.get("skin").is_none());
        }
        assert_eq!(values.len(), times_secs.len() * per_key);
        channels.push(Channel {
            node,
            path: path.to_owned(),
            input,
            times_secs,
            values,
        });
    }
    assert_eq!(samplers.len(), channels.len());
    assert!(!channels.is_empty());
    Animation {
        name: animation["name"].as_str().unwrap().to_owned(),
        extras: animation["extras"].clone(),
        channels,
    }
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

/// Type and numbers of a float accessor.
fn floats(document: &Value, bin: &[u8], accessor: usize) -> (String, Vec<f32>) {
    let accessor = &document["accessors"][accessor];
    assert_eq!(accessor["componentType"], 5126);
    let kind = accessor["type"].as_str().unwrap();
    let width = match kind {
        "SCALAR" => 1,
        "VEC3" => 3,
        "VEC4" => 4,
        other => panic!("type {other}"),
    };
    let count = number(&accessor["count"]);
    assert!(count > 0);
    let view = &document["bufferViews"][number(&accessor["bufferView"])];
    assert_eq!(view["buffer"], 0);
    assert!(view.get("byteStride").is_none() && view.get("target").is_none());
    let offset = number(&view["byteOffset"]);
    assert!(offset.is_multiple_of(4));
    let bytes = &bin[offset..][..number(&view["byteLength"])];
    assert_eq!(bytes.len(), count * width * 4);
    let values = bytes.chunks_exact(4);
    let values = values.map(|four| f32::from_le_bytes(four.try_into().unwrap()));
    (kind.to_owned(), values.collect())
}

fn num_targets(mesh: &Value) -> usize {
    let count = mesh["primitives"][0]["targets"].as_array().unwrap().len();
    assert!(count > 0);
    count
}

fn check_rotations(values: &[f32]) {
    let mut before: Option<&[f32]> = None;
    for (frame, rotation) in values.chunks_exact(4).enumerate() {
        let dot = |other: &[f32]| -> f32 { rotation.iter().zip(other).map(|(a, b)| a * b).sum() };
        assert!((dot(rotation) - 1.0).abs() < 1e-5, "length of {frame}");
        assert!(before.is_none_or(|b| dot(b) >= 0.0), "sign of {frame}");
        before = Some(rotation);
    }
}
