//! Curves: one key per frame, straight from key to key; two keys where nothing moves.

use std::sync::Arc;

use super::{
    document::{Document, stop, ticks},
    props::Props,
    record::Record,
};
use crate::export::scene::Scene;

/// What stays this near to its first value does not move; degrees, centimetres, per cent. A rotation kept in
/// single precision strays by a tenth of it.
const STILL: f64 = 1e-4;

/// Interpolation linear (4), tangents as programs write them that never look at them.
const KEY_FLAGS: i32 = 4 | 0x100 | 0x2000 | 0x4000;

/// A curve's value names (`X`) with one value per frame.
pub(super) type Axes<'v> = [(&'v str, Vec<f64>)];

/// The take as the file's one animation.
pub(super) struct Animation<'d, 'a> {
    document: &'d mut Document<'a>,
    layer: i64,
    times: Arc<[i64]>,
    ends: Arc<[i64]>,
}

impl<'d, 'a> Animation<'d, 'a> {
    pub(super) fn new(document: &'d mut Document<'a>, scene: &Scene<'_>, name: &str) -> Self {
        let (stack, layer) = (document.id(), document.id());
        let stop = stop(scene);
        let span = Props::new()
            .time("LocalStart", 0)
            .time("LocalStop", stop)
            .time("ReferenceStart", 0)
            .time("ReferenceStop", stop);
        document
            .add(Record::object("AnimationStack", stack, name, "AnimStack", "").child(span.done()));
        // Readers want a list in a layer, even an empty one.
        document.add(
            Record::object("AnimationLayer", layer, "BaseLayer", "AnimLayer", "")
                .child(Props::new().done()),
        );
        document.connect(layer, stack);
        let times: Vec<i64> = (0..scene.num_frames)
            .map(|frame| ticks(scene.rate, frame))
            .collect();
        let ends: Vec<i64> = match times.as_slice() {
            [first, .., last] => vec![*first, *last],
            few => few.to_vec(),
        };
        Self {
            document,
            layer,
            times: times.into(),
            ends: ends.into(),
        }
    }

    /// Moves `property` of `target`; `kind` is what such nodes are called (`T`, `R`, `S`, else the property).
    pub(super) fn drive(&mut self, target: i64, property: &str, kind: &str, axes: &Axes<'_>) {
        let node = self.document.id();
        let mut props = Props::new();
        for (axis, values) in axes {
            let first = values.first().copied().unwrap_or(0.0);
            props = props.number(&format!("d|{axis}"), first);
        }
        self.document.add(
            Record::object("AnimationCurveNode", node, kind, "AnimCurveNode", "")
                .child(props.done()),
        );
        self.document.connect(node, self.layer);
        self.document.connect_property(node, target, property);
        for (axis, values) in axes {
            let curve = self.document.id();
            let record = self.curve(curve, values);
            self.document.add(record);
            self.document
                .connect_property(curve, node, &format!("d|{axis}"));
        }
    }

    /// Moves a property of three numbers.
    pub(super) fn drive_xyz(
        &mut self,
        target: i64,
        property: &str,
        kind: &str,
        xyz: [Vec<f64>; 3],
    ) {
        let [x, y, z] = xyz;
        self.drive(target, property, kind, &[("X", x), ("Y", y), ("Z", z)]);
    }

    fn curve(&self, id: i64, values: &[f64]) -> Record<'a> {
        let first = values.first().copied().unwrap_or(0.0);
        let still = values.iter().all(|v| (v - first).abs() <= STILL);
        let (times, keys): (&Arc<[i64]>, Vec<f32>) = if still {
            (&self.ends, vec![first as f32; self.ends.len()])
        } else {
            (&self.times, values.iter().map(|v| *v as f32).collect())
        };
        // The weights of tangents, two small numbers of 16 bits in one of 32; unused between straight keys.
        let tangents = vec![0.0, 0.0, f32::from_bits(0x0d05_0d05), 0.0];
        Record::object("AnimationCurve", id, "", "AnimCurve", "")
            .entry("Default", first)
            .entry("KeyVer", 4009)
            .entry("KeyTime", Arc::clone(times))
            .entry("KeyValueFloat", keys)
            .entry("KeyAttrFlags", vec![KEY_FLAGS])
            .entry("KeyAttrDataFloat", tangents)
            .entry("KeyAttrRefCount", vec![times.len() as i32])
    }
}
