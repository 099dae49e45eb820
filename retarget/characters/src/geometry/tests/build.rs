//! A document that grows, and its BIN chunk.

use serde_json::{Value, json};

use crate::{Character, Fault, FaultKind, error::Faults, glb};

pub(super) struct Build {
    pub(super) document: Value,
    bin: Vec<u8>,
    /// After buffer 0.
    pub(super) buffers: Vec<Value>,
}

impl Build {
    pub(super) fn new() -> Self {
        Self {
            document: json!({"asset": {"version": "2.0"}, "bufferViews": [], "accessors": []}),
            bin: Vec::new(),
            buffers: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, key: &str, value: Value) -> usize {
        let items = self.document[key].as_array_mut().unwrap();
        items.push(value);
        items.len() - 1
    }

    /// A view of these bytes.
    pub(super) fn view(&mut self, bytes: &[u8]) -> usize {
        self.bin.resize(self.bin.len().next_multiple_of(4), 0);
        let offset = self.bin.len();
        self.bin.extend_from_slice(bytes);
        let view = json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()});
        self.push("bufferViews", view)
    }

    /// An accessor with a view of its own.
    pub(super) fn accessor(
        &mut self,
        shape: &str,
        component: u32,
        count: usize,
        bytes: &[u8],
    ) -> usize {
        let view = self.view(bytes);
        let accessor = json!({
            "bufferView": view, "componentType": component, "count": count, "type": shape
        });
        self.push("accessors", accessor)
    }

    pub(super) fn normalized(
        &mut self,
        shape: &str,
        component: u32,
        count: usize,
        bytes: &[u8],
    ) -> usize {
        let accessor = self.accessor(shape, component, count, bytes);
        self.document["accessors"][accessor]["normalized"] = json!(true);
        accessor
    }

    pub(super) fn floats(&mut self, shape: &str, values: &[f32]) -> usize {
        let width = match shape {
            "VEC2" => 2,
            "VEC3" => 3,
            "VEC4" => 4,
            "MAT4" => 16,
            _ => 1,
        };
        self.accessor(shape, 5126, values.len() / width, &little(values))
    }

    /// Overwrites bytes of an accessor's view.
    pub(super) fn poke(&mut self, accessor: usize, at: usize, bytes: &[u8]) {
        let index = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let view = index(&self.document["accessors"][accessor]["bufferView"]);
        let start = index(&self.document["bufferViews"][view]["byteOffset"]) + at;
        self.bin[start..start + bytes.len()].copy_from_slice(bytes);
    }

    /// Sets what a JSON pointer names; its parent is there.
    pub(super) fn set(&mut self, pointer: &str, value: Value) {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        self.document.pointer_mut(parent).unwrap()[key] = value;
    }

    pub(super) fn file(&self) -> Vec<u8> {
        let mut document = self.document.clone();
        let mut buffers = vec![json!({"byteLength": self.bin.len()})];
        buffers.extend(self.buffers.iter().cloned());
        document["buffers"] = Value::Array(buffers);
        glb::write(&serde_json::to_vec(&document).unwrap(), &self.bin).unwrap()
    }

    pub(super) fn character(&self) -> Character {
        Character::from_glb(&self.file()).unwrap()
    }
}

/// Numbers as their little-endian bytes.
pub(super) fn little<T: Little>(numbers: &[T]) -> Vec<u8> {
    numbers.iter().flat_map(Little::bytes).collect()
}

pub(super) trait Little {
    fn bytes(&self) -> Vec<u8>;
}

impl Little for u16 {
    fn bytes(&self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }
}

impl Little for u32 {
    fn bytes(&self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }
}

impl Little for f32 {
    fn bytes(&self) -> Vec<u8> {
        self.to_le_bytes().to_vec()
    }
}

/// Exactly these, in this order.
#[track_caller]
pub(super) fn check_faults(faults: &Faults, want: &[(&str, FaultKind)]) {
    let have: Vec<_> = faults
        .listed
        .iter()
        .map(|Fault { kind, path }| (path.as_str(), *kind))
        .collect();
    assert_eq!(have, want, "{faults}");
}
