use glam::Vec3;

use super::*;
use crate::tests::shapes;

#[test]
fn targets_are_turned_around_per_vertex() {
    // A sheet of 3 × 3 vertices: target 0 moves vertices 0 and 8, target 1 moves 8.
    let packed = Packed::new(&shapes::bending_sheet(2), false).unwrap();
    let place = packed.meshes[0][0].morph;
    assert_eq!(place.stride, 6);
    let ranges = &packed.morph_index[place.ranges as usize..][..10];
    assert_eq!(ranges, [0, 1, 1, 1, 1, 1, 1, 1, 1, 3]);
    let targets = &packed.morph_index[place.targets as usize..];
    assert_eq!(targets, [0, 0, 1]);
    let deltas = &packed.morph_deltas[place.deltas as usize..];
    let expected = [
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0, 0.0, 0.0],
        [2.0, 0.0, 0.0, 1.0, 0.0, 0.0],
    ];
    assert_eq!(deltas, expected.as_flattened());
}

#[test]
fn a_vertex_is_where_the_shader_looks_for_it() {
    let packed = Packed::new(&shapes::bending_sheet(2), false).unwrap();
    // Vertex 1 of 3 × 3: (0.5, 0, 0), facing +Z, half on joint 0 and half on joint 1.
    let words = packed.vertices[1];
    let floats = words.map(f32::from_bits);
    assert_eq!(floats[0..3], [0.5, 0.0, 0.0]);
    assert_eq!(floats[3..6], [0.0, 0.0, 1.0]);
    assert_eq!(floats[6..10], [0.0; 4]);
    assert_eq!(words[10..12], [0x0001_0000, 0]);
    assert_eq!(floats[12..16], [0.5, 0.5, 0.0, 0.0]);
    // White without colours, both uv sets at the origin without uvs.
    assert_eq!(packed.statics[1], [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]);
}

#[test]
fn a_joint_reaches_what_it_weighs_with_room_for_targets() {
    let packed = Packed::new(&shapes::bending_sheet(2), false).unwrap();
    let reach = &packed.meshes[0][0].reach;
    let [(0, left), (1, right)] = reach.as_slice() else {
        panic!("{reach:?}");
    };
    // Vertex 0 may go 1 m either way along Z.
    assert_eq!(left.min, Vec3::new(0.0, 0.0, -1.0));
    assert_eq!(left.max, Vec3::new(0.5, 1.0, 1.0));
    // The last vertex (1, 1, 0) may go 2 m along X and 1 m along Y.
    assert_eq!(right.min, Vec3::new(-1.0, 0.0, 0.0));
    assert_eq!(right.max, Vec3::new(3.0, 2.0, 0.0));
}

#[test]
fn what_does_not_exist_is_refused() {
    let cases: [fn(&mut Geometry); 5] = [
        |geometry| geometry.instances[0].mesh = 7,
        |geometry| geometry.instances[0].skin = Some(7),
        |geometry| geometry.meshes[0].primitives[0].indices[0] = 9,
        |geometry| geometry.meshes[0].primitives[0].joints[3][1] = 2,
        |geometry| geometry.meshes[0].primitives[0].targets[0].vertices[1] = 9,
    ];
    for (case, change) in cases.into_iter().enumerate() {
        let mut geometry = shapes::bending_sheet(2);
        change(&mut geometry);
        let answer = Packed::new(&geometry, false);
        assert!(
            matches!(answer, Err(RenderError::IndexOutOfRange { .. })),
            "{case}"
        );
    }
}

#[test]
fn meshes_that_no_node_shows_take_no_room() {
    let mut geometry = shapes::alone(shapes::cube());
    geometry.instances.clear();
    let packed = Packed::new(&geometry, true).unwrap();
    assert!(packed.vertices.is_empty() && packed.meshes[0].is_empty());
}
