//! The deformer and the lines, as naga and the Rust side read them. Those of surfaces are tested in their room.

use naga::{
    TypeInner,
    valid::{Capabilities, ValidationFlags, Validator},
};

use crate::{deform, shading::FRAME_WGSL};

fn valid(source: &str) -> naga::Module {
    let module = naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
    // No capability beyond WebGPU's core.
    Validator::new(ValidationFlags::all(), Capabilities::empty())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{error:?}"));
    module
}

#[test]
fn the_deformer_is_valid_within_webgpus_core() {
    let module = valid(deform::SOURCE);
    let storage = module
        .global_variables
        .iter()
        .filter(|(_, variable)| variable.binding.is_some())
        .count();
    // maxStorageBuffersPerShaderStage.
    assert!(storage <= 8, "{storage}");
    let [entry] = module.entry_points.as_slice() else {
        panic!("one entry point");
    };
    assert_eq!(entry.name, "deform");
    assert_eq!(entry.workgroup_size, [deform::GROUP_SIZE, 1, 1]);
}

#[test]
fn the_deformers_records_are_as_long_as_what_is_uploaded() {
    let module = valid(deform::SOURCE);
    let size_of = |name: &str| {
        let mut types = module.types.iter();
        let (_, found) = types
            .find(|(_, ty)| ty.name.as_deref() == Some(name))
            .unwrap();
        match &found.inner {
            TypeInner::Struct { span, .. } => *span as usize,
            _ => panic!("{name} is no struct"),
        }
    };
    assert_eq!(size_of("Vertex"), 64);
    assert_eq!(size_of("Part"), deform::PART_WORDS * 4);
    assert_eq!(size_of("Deformed") as u64, deform::DEFORMED_BYTES);
    assert_eq!(size_of("Rows"), deform::JOINT_FLOATS * 4);
}

#[test]
fn the_lines_are_valid_within_webgpus_core() {
    let lines = include_str!("../overlays/lines.wgsl");
    valid(&format!("{FRAME_WGSL}\n{lines}"));
}
