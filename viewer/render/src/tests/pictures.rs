//! Pictures of bodies whose outline a formula gives.

use characters::{Alpha, Character, Geometry};
use glam::Vec3;

use super::{Bench, bare, front, shapes};
use crate::{overlays::Overlays, readback::Picture, scene::Scene, shading::Background};

fn num_covered(picture: &Picture) -> usize {
    let pixels = picture.rgba.as_chunks::<4>().0;
    pixels.iter().filter(|[_, _, _, alpha]| *alpha > 0).count()
}

/// Pixels of the front of a cube of 1 m, `distance` m away, 90 degrees high: squared, for the middle of the picture.
fn cube_pixels(height: f32, distance: f32) -> f32 {
    (height / (2.0 * distance)).powi(2)
}

fn colored(color: [f32; 4]) -> Geometry {
    let mut geometry = shapes::alone(shapes::cube());
    geometry.materials[0].base_color = color;
    geometry
}

#[test]
fn a_cube_covers_as_many_pixels_as_the_formula_says() {
    for samples in [1, 4] {
        let Some(mut bench) = Bench::new(samples) else {
            return;
        };
        let overlays = Overlays::default();
        let actors = bench.actors(&colored([1.0; 4]), 1, &[Vec3::ZERO]);
        // The front is 2.5 m away: a fifth of the height, edges between pixels. The back is hidden behind it. Widths
        // that fill no row of the readback.
        for size in [(100, 200), (201, 100), (130, 50)] {
            let picture = bench.picture(&bare(&actors, &overlays), size);
            assert_eq!((picture.width, picture.height), size);
            if size.0 % 2 == 0 {
                let expected = cube_pixels(size.1 as f32, 2.5) as usize;
                assert_eq!(num_covered(&picture), expected, "{samples} {size:?}");
            }
            let (x, y) = (size.0 / 2, size.1 / 2);
            let [r, g, b, a] = picture.pixel(x, y).unwrap();
            // White, but for one step of dither.
            assert!(r >= 254 && g >= 254 && b >= 254, "{r} {g} {b}");
            assert_eq!(a, 255);
        }
    }
}

#[test]
fn plus_x_is_right_and_plus_y_is_up() {
    let Some(mut bench) = Bench::new(1) else {
        return;
    };
    let overlays = Overlays::default();
    let actors = bench.actors(&colored([1.0; 4]), 1, &[Vec3::new(1.0, 1.0, 0.0)]);
    let picture = bench.picture(&bare(&actors, &overlays), (64, 64));
    // 1 m at about 2.5 m, 90 degrees: 32 / 2.5 pixels from the middle.
    assert_eq!(picture.pixel(45, 19).unwrap()[3], 255);
    for (x, y) in [(19, 19), (19, 45), (45, 45)] {
        assert_eq!(picture.pixel(x, y).unwrap()[3], 0);
    }
}

#[test]
fn the_nearer_hides_the_farther_in_any_order() {
    let Some(mut bench) = Bench::new(4) else {
        return;
    };
    let overlays = Overlays::default();
    for red_first in [false, true] {
        let red = bench.actors(&colored([1.0, 0.0, 0.0, 1.0]), 1, &[Vec3::Z]);
        let green = bench.actors(&colored([0.0, 1.0, 0.0, 1.0]), 1, &[Vec3::NEG_Z]);
        let mut actors: Vec<_> = red.into_iter().chain(green).collect();
        if !red_first {
            actors.reverse();
        }
        let picture = bench.picture(&bare(&actors, &overlays), (64, 64));
        let [r, g, _, _] = picture.pixel(32, 32).unwrap();
        assert!(r > 250 && g < 5, "{r} {g}");
    }
}

#[test]
fn faces_are_seen_from_outside_only() {
    let Some(mut bench) = Bench::new(1) else {
        return;
    };
    let overlays = Overlays::default();
    let mut geometry = colored([1.0; 4]);
    for double_sided in [false, true] {
        geometry.materials[0].double_sided = double_sided;
        let actors = bench.actors(&geometry, 1, &[Vec3::ZERO]);
        let mut scene = bare(&actors, &overlays);
        scene.camera.world_from_camera.position = Vec3::ZERO;
        let picture = bench.picture(&scene, (32, 32));
        let expected = if double_sided { 32 * 32 } else { 0 };
        assert_eq!(num_covered(&picture), expected);
    }
}

#[test]
fn half_transparent_white_is_white_of_half_the_alpha() {
    let Some(mut bench) = Bench::new(4) else {
        return;
    };
    let overlays = Overlays::default();
    let mut geometry = colored([1.0, 1.0, 1.0, 0.5]);
    geometry.materials[0].alpha = Alpha::Blend;
    let actors = bench.actors(&geometry, 1, &[Vec3::ZERO]);
    let mut scene = bare(&actors, &overlays);
    let picture = bench.picture(&scene, (50, 50));
    let [r, g, b, a] = picture.pixel(25, 25).unwrap();
    assert!(r >= 253 && g >= 253 && b >= 253, "{r} {g} {b}");
    assert!(a.abs_diff(128) <= 1, "{a}");
    assert_eq!(picture.pixel(0, 0).unwrap()[3], 0);
    // Before a background, nothing of the picture is transparent.
    scene.background = Background::Even([0.0; 3]);
    let picture = bench.picture(&scene, (50, 50));
    assert!(picture.rgba.as_chunks::<4>().0.iter().all(|p| p[3] == 255));
    // Half of the light is sRGB 188.
    assert!(picture.pixel(25, 25).unwrap()[0].abs_diff(188) <= 2);
    assert!(picture.pixel(0, 0).unwrap()[0] <= 1);
}

#[test]
fn what_is_hidden_or_out_of_sight_is_not_there() {
    let Some(mut bench) = Bench::new(1) else {
        return;
    };
    let overlays = Overlays::default();
    let mut actors = bench.actors(&colored([1.0; 4]), 1, &[Vec3::ZERO]);
    for (change, expected) in [
        (0, cube_pixels(50.0, 2.5) as usize),
        (1, 0),
        (2, cube_pixels(50.0, 2.5) as usize),
        (3, 0),
        (4, 0),
    ] {
        let actor = &mut actors[0];
        match change {
            1 => actor.show(false),
            2 => actor.show(true),
            3 => actor.show_node(0, false),
            4 => {
                actor.show_node(0, true);
                actor.show_primitive(0, 0, false);
            }
            _ => {}
        }
        let picture = bench.picture(&bare(&actors, &overlays), (50, 50));
        assert_eq!(num_covered(&picture), expected, "{change}");
    }
}

#[test]
fn a_pose_that_changes_is_seen_in_the_next_picture() {
    let Some(mut bench) = Bench::new(1) else {
        return;
    };
    let overlays = Overlays::default();
    let mut actors = bench.actors(&colored([1.0; 4]), 1, &[Vec3::ZERO]);
    bench.picture(&bare(&actors, &overlays), (64, 64));
    // Its front is 16 m away then: 2 pixels of 64.
    let away = glam::Mat4::from_translation(Vec3::Z * -13.5);
    actors[0].set_pose(&[glam::Mat4::IDENTITY], &[], away);
    let picture = bench.picture(&bare(&actors, &overlays), (64, 64));
    assert_eq!(num_covered(&picture), 4);
}

#[test]
fn the_same_scene_is_the_same_picture_and_people_are_in_it() {
    let Some(mut bench) = Bench::new(4) else {
        return;
    };
    let overlays = Overlays::default();
    let character = Character::builtin();
    let geometry = character.geometry().unwrap();
    let model = bench
        .renderer
        .upload(&bench.gpu, character, &geometry)
        .unwrap();
    assert!(model.notes().is_empty(), "{:?}", model.notes());
    let actors = [bench.renderer.actor(&bench.gpu, &model).unwrap()];
    // A person stands on the ground, between 1 and 2.5 m high, in the middle.
    let bounds = actors[0].bounds();
    assert!(bounds.min.y > -0.3 && bounds.max.y > 1.0 && bounds.max.y < 2.5);
    let scene = Scene::studio(&actors, &overlays);
    let first = bench.picture(&scene, (96, 128));
    let second = bench.picture(&scene, (96, 128));
    assert!(first == second);
    let alone = Scene {
        background: Background::Transparent,
        ground: None,
        ..scene
    };
    let covered = num_covered(&bench.picture(&alone, (96, 128)));
    assert!(
        (96 * 128 / 50..96 * 128 / 2).contains(&covered),
        "{covered}"
    );
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    let Some(mut bench) = Bench::new(1) else {
        return;
    };
    let overlays = Overlays::default();
    let nobody = Vec::new();
    let scene = bare(&nobody, &overlays);
    let limit = bench.gpu.device.limits().max_texture_dimension_2d;
    for size in [(0, 10), (10, 0), (limit + 1, 10)] {
        let answer = bench.renderer.picture(&bench.gpu, &scene, size);
        assert!(
            matches!(answer, Err(crate::RenderError::Size { .. })),
            "{size:?}"
        );
    }
    // And it goes on.
    assert_eq!(num_covered(&bench.picture(&scene, (10, 10))), 0);
}

#[test]
fn passes_are_timed_where_the_device_can() {
    let Some(mut bench) = Bench::new(4) else {
        return;
    };
    let overlays = Overlays::default();
    let actors = bench.actors(&colored([1.0; 4]), 1, &[Vec3::ZERO]);
    let scene = Scene {
        camera: front(),
        ..Scene::studio(&actors, &overlays)
    };
    for _ in 0..3 {
        bench.picture(&scene, (64, 64));
    }
    let can = bench
        .gpu
        .device
        .features()
        .contains(wgpu::Features::TIMESTAMP_QUERY);
    let timings = bench.renderer.timings();
    assert_eq!(timings.is_some(), can);
    if let Some(timings) = timings {
        assert!(timings.total_ms() > 0.0 && timings.total_ms() < 60_000.0);
    }
}
