//! Text against text that OpenUSD and Blender read, and numbers against glTF's own rules.

mod meshes;
mod skins;
mod whole;

use characters::{
    Alpha, MorphMesh, MorphTarget, Primitive, Sampler, Shading, TextureRef, UvTransform, Wrap,
};
use glam::{DMat4, Mat4, Quat, Vec2, Vec3, Vec4};
use hub::{DropFrame, FrameRate, QualifiedFrameTime, Transform};
use serde_json::json;

use super::*;
use crate::export::{
    bvh::nodes::tests::{character, scene},
    glb::{JointTrack, MorphTrack},
    scene::{CameraTrack, PropTrack},
};

fn at(x: f32, y: f32, z: f32) -> Transform {
    Transform::new(Vec3::new(x, y, z), Quat::IDENTITY)
}

fn primitive(positions: &[[f32; 3]]) -> Primitive {
    Primitive {
        positions: positions.iter().copied().map(Vec3::from_array).collect(),
        normals: vec![Vec3::Z; positions.len()],
        tangents: Vec::<Vec4>::new(),
        uvs: [Vec::new(), Vec::new()],
        colors: Vec::new(),
        joints: Vec::new(),
        weights: Vec::new(),
        indices: (0..positions.len() as u32).collect(),
        material: None,
        targets: Vec::new(),
    }
}

const TRIANGLE: [[f32; 3]; 3] = [[0.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 2.0, 0.0]];

fn mesh(name: &str, primitives: Vec<Primitive>) -> Mesh {
    Mesh {
        name: name.to_owned(),
        primitives,
        target_names: Vec::new(),
        weights: Vec::new(),
    }
}

fn material(name: &str) -> Material {
    Material {
        name: name.to_owned(),
        shading: Shading::Pbr,
        base_color: [0.8, 0.6, 0.5, 1.0],
        base_color_texture: None,
        metallic: 0.0,
        roughness: 0.5,
        metallic_roughness_texture: None,
        normal_texture: None,
        normal_scale: 1.0,
        occlusion_texture: None,
        occlusion_strength: 1.0,
        emissive: [0.0; 3],
        emissive_texture: None,
        alpha: Alpha::Opaque,
        double_sided: false,
    }
}

fn geometry() -> Geometry {
    Geometry {
        meshes: Vec::new(),
        skins: Vec::new(),
        materials: Vec::new(),
        textures: Vec::new(),
        images: Vec::new(),
        instances: Vec::new(),
        notes: Vec::new(),
    }
}

fn write(scene: &Scene<'_>) -> (String, UsdaReport) {
    let mut out = Vec::new();
    let options = UsdaOptions {
        textures: Some("two_bones_textures"),
    };
    let report = write_usda(scene, &mut out, &options).unwrap();
    (String::from_utf8(out).unwrap(), report)
}

/// Numbers of the first line, or block of samples, that begins so.
fn numbers(text: &str, head: &str) -> Vec<Vec<f64>> {
    let mut lines = text.lines().map(str::trim);
    let first = lines
        .find(|line| line.starts_with(head))
        .unwrap_or_else(|| panic!("no {head}"));
    let read = |text: &str| -> Vec<f64> {
        text.split(|c: char| !c.is_ascii_digit() && !matches!(c, '-' | '.' | 'e'))
            .filter(|n| !n.is_empty())
            .map(|n| n.parse().unwrap_or_else(|_| panic!("{n}")))
            .collect()
    };
    let value = first.split_once(" = ").unwrap().1;
    if value == "{" {
        let samples = lines.take_while(|line| *line != "}");
        samples
            .map(|line| read(line.split_once(": ").unwrap().1))
            .collect()
    } else {
        vec![read(value)]
    }
}

/// Matrices as USD has them: rows, which are the columns of ours.
fn matrices(numbers: &[f64]) -> Vec<DMat4> {
    let each = numbers.chunks_exact(16);
    each.map(|m| DMat4::from_cols_array(m.try_into().unwrap()))
        .collect()
}

#[test]
fn lenses_are_in_tenths_of_a_metre() {
    let character = character(&[("Root", None, at(0.0, 0.0, 0.0))]);
    let mut scene = scene(&character, 2);
    // 24 mm of film behind 35 and 70 mm of lens.
    let fov = |focal: f32| 2.0 * (12.0 / focal).atan();
    scene.cameras.push(CameraTrack {
        name: "Character".to_owned(),
        transforms: vec![at(0.0, 1.5, 3.0); 2],
        vertical_fov_rad: vec![fov(35.0), fov(70.0)],
        aspect: 1.5,
    });
    let (text, report) = write(&scene);
    let lens = numbers(&text, "float focalLength.timeSamples");
    assert!((lens[0][0] - 0.35).abs() < 1e-6 && (lens[1][0] - 0.7).abs() < 1e-6);
    let width = numbers(&text, "float horizontalAperture")[0][0];
    let height = numbers(&text, "float verticalAperture")[0][0];
    assert!((width - 0.36).abs() < 1e-6 && (height - 0.24).abs() < 1e-6);
    // What stands still is one sample.
    assert_eq!(
        numbers(&text, "double3 xformOp:translate.timeSamples"),
        [[0.0, 1.5, 3.0]]
    );
    assert!(text.contains("def Camera \"Character_2\"\n"));
    let renamed = ("Character".to_owned(), "Character_2".to_owned());
    assert_eq!(report.names, [renamed]);
}

#[test]
fn rates_are_whole_in_double_precision() {
    let character = character(&[("Root", None, at(0.0, 0.0, 0.0))]);
    let mut scene = scene(&character, 5);
    scene.rate = FrameRate::FPS_29_97;
    let (text, _) = write(&scene);
    assert_eq!(numbers(&text, "timeCodesPerSecond"), [[30_000.0 / 1001.0]]);
    assert_eq!(numbers(&text, "framesPerSecond"), [[30_000.0 / 1001.0]]);
    assert_eq!(numbers(&text, "startTimeCode"), [[0.0]]);
    assert_eq!(numbers(&text, "endTimeCode"), [[4.0]]);
}

#[test]
fn numbers_read_back_as_the_same_floats() {
    use super::text::F;
    for (value, want) in [
        (0.1_f32, "0.1"),
        (-0.0, "0"),
        (1e-7, "1e-7"),
        (16_777_216.0, "16777216"),
        (-1.5e12, "-1.5e12"),
        (f32::NAN, "0"),
    ] {
        assert_eq!(F(value).to_string(), want);
    }
    for bits in (0..u32::MAX).step_by(9_999_991) {
        let value = f32::from_bits(bits);
        if value.is_finite() {
            assert_eq!(F(value).to_string().parse::<f32>().unwrap(), value);
        }
    }
}

/// Counts bytes and the longest piece given at once.
#[derive(Default)]
struct Meter {
    bytes: usize,
    longest: usize,
}

impl Write for Meter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes += bytes.len();
        self.longest = self.longest.max(bytes.len());
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_long_take_is_written_piece_by_piece() {
    let character = skins::skewed();
    let mut scene = scene(&character, 36_000);
    skins::move_skewed(&mut scene);
    let mut meter = Meter::default();
    write_usda(&scene, &mut meter, &UsdaOptions::default()).unwrap();
    assert!(meter.bytes > 2 << 20, "{}", meter.bytes);
    assert!(meter.longest <= 1 << 16, "{}", meter.longest);
}

#[test]
fn what_leads_nowhere_is_refused() {
    let character = character(&[("Root", None, at(0.0, 0.0, 0.0))]);
    let mut geometry = geometry();
    geometry.instances.push(MeshInstance {
        node: 0,
        mesh: 3,
        skin: None,
    });
    let mut scene = scene(&character, 1);
    scene.geometry = Some(&geometry);
    let options = UsdaOptions::default();
    let error = write_usda(&scene, &mut io::sink(), &options).unwrap_err();
    assert_eq!(error.to_string(), "mesh 3 of the geometry is not there");

    scene.geometry = None;
    for folder in ["", "/abs", "a//b", "../up", "a@b", "c:\\x"] {
        let options = UsdaOptions {
            textures: Some(folder),
        };
        let error = write_usda(&scene, &mut io::sink(), &options).unwrap_err();
        assert!(matches!(error, UsdaError::Folder { .. }), "{folder}");
    }
}
