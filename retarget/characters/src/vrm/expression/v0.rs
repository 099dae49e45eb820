//! Blend shape groups of VRM 0.x as expressions.

use glam::Vec2;
use serde_json::Value;

use super::{
    ColorBind, ColorKind, Expression, List, MAX_BINDS, MAX_EXPRESSIONS, MorphBind, PRESETS,
    TextureBind, is_preset,
};
use crate::vrm::reading::{MAX_NAME, Reader, array, flag, index, number, numbers, tidy};

pub(in crate::vrm) fn read_v0(
    reader: &mut Reader<'_>,
    extension: &Value,
    root: &str,
) -> Vec<Expression> {
    let mut list = List::default();
    let path = format!("{root}/blendShapeMaster");
    let Some(master) = extension.get("blendShapeMaster") else {
        return list.expressions;
    };
    let key = "blendShapeGroups";
    let groups = reader.items(master, key, MAX_EXPRESSIONS, format_args!("{path}"));
    let mut customs = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let path = format!("{path}/{key}/{at}");
        let (name, is_preset) = name_v0(group);
        if !is_preset {
            customs.push((path, name, group));
            continue;
        }
        add_v0(reader, &mut list, group, (name, true), &path);
    }
    for (path, name, group) in customs {
        add_v0(reader, &mut list, group, (name, false), &path);
    }
    list.expressions
}

/// Its name in VRM 1.0, and whether that is a preset's. An unknown preset of the name of a known one is that one, as
/// UniVRM has always taken it.
fn name_v0(group: &Value) -> (String, bool) {
    let name = group.get("name").unwrap_or(&Value::Null);
    let name = tidy(name, MAX_NAME).replace('\n', " ");
    let word = group.get("presetName").and_then(Value::as_str);
    let mut word = word.unwrap_or("unknown").to_ascii_lowercase();
    if word == "unknown" {
        word = name.to_ascii_lowercase();
    }
    match PRESETS.iter().find(|p| p.1 == word) {
        Some(preset) => (preset.0.to_owned(), true),
        // A custom one must not take a preset's name.
        None if is_preset(&name) => (format!("{name} (custom)"), false),
        None => (name, false),
    }
}

fn add_v0(
    reader: &mut Reader<'_>,
    list: &mut List,
    group: &Value,
    (name, is_preset): (String, bool),
    path: &str,
) {
    if !list.takes(reader, &name, path) {
        return;
    }
    let mut expression = Expression {
        name,
        is_preset,
        morphs: morphs_v0(reader, group, path),
        is_binary: flag(group, "isBinary"),
        ..Expression::default()
    };
    materials_v0(reader, group, &mut expression, path);
    list.push(reader, expression, path);
}

fn morphs_v0(reader: &mut Reader<'_>, group: &Value, path: &str) -> Vec<MorphBind> {
    let binds = reader.items(group, "binds", MAX_BINDS, format_args!("{path}"));
    let num_meshes = reader.count("meshes");
    let mut morphs = Vec::new();
    for (at, bind) in binds.iter().enumerate() {
        let before = morphs.len();
        let mesh = index(bind.get("mesh"), num_meshes);
        let weight = bind.get("weight").map_or(Some(100.0), number);
        if let (Some(mesh), Some(weight)) = (mesh, weight) {
            for (place, shown) in reader.character.morph_meshes.iter().enumerate() {
                if shown.mesh != mesh || morphs.len() >= MAX_BINDS {
                    continue;
                }
                if let Some(target) = index(bind.get("index"), shown.names.len()) {
                    morphs.push(MorphBind {
                        mesh: place,
                        target,
                        weight: weight * 0.01,
                    });
                }
            }
        }
        if morphs.len() == before {
            reader.note(
                format_args!("{path}/binds/{at}"),
                format_args!("bind of no morph target left out"),
            );
        }
    }
    morphs
}

fn materials_v0(reader: &mut Reader<'_>, group: &Value, expression: &mut Expression, path: &str) {
    let key = "materialValues";
    let values = reader.items(group, key, MAX_BINDS, format_args!("{path}"));
    let document = &reader.character.document;
    let materials = array(document, "materials");
    for (at, value) in values.iter().enumerate() {
        let word = |key: &str| value.get(key).and_then(Value::as_str);
        let material = word("materialName").and_then(|name| {
            let is_named = |m: &Value| m.get("name").and_then(Value::as_str) == Some(name);
            materials.iter().position(is_named)
        });
        let target: Option<[f32; 4]> = value.get("targetValue").and_then(numbers);
        let bind = match (material, target) {
            (Some(material), Some(target)) => {
                bind_v0(material, word("propertyName").unwrap_or_default(), target)
            }
            _ => None,
        };
        match bind {
            Some(MaterialBind::Color(bind)) => expression.colors.push(bind),
            // One place a material: the first, as UniVRM has it.
            Some(MaterialBind::Texture(bind))
                if !expression
                    .textures
                    .iter()
                    .any(|t| t.material == bind.material) =>
            {
                expression.textures.push(bind);
            }
            _ => reader.note(
                format_args!("{path}/{key}/{at}"),
                format_args!("value of no known material property left out"),
            ),
        }
    }
}

enum MaterialBind {
    Color(ColorBind),
    Texture(TextureBind),
}

/// What a value of VRM 0.x means. Property names are those of the MToon shader for Unity.
fn bind_v0(material: usize, property: &str, target: [f32; 4]) -> Option<MaterialBind> {
    let [r, g, b, a] = target;
    let encoded = |kind: ColorKind| {
        MaterialBind::Color(ColorBind {
            material,
            kind,
            target: [linear(r), linear(g), linear(b), a],
        })
    };
    // Unity's V runs upwards.
    let placed = |scale: Vec2, offset: Vec2| {
        MaterialBind::Texture(TextureBind {
            material,
            scale,
            offset: Vec2::new(offset.x, 1.0 - offset.y - scale.y),
        })
    };
    Some(match property {
        "_Color" => encoded(ColorKind::Base),
        "_ShadeColor" => encoded(ColorKind::Shade),
        "_RimColor" => encoded(ColorKind::Rim),
        "_OutlineColor" => encoded(ColorKind::Outline),
        // A colour of high range, which Unity does not encode.
        "_EmissionColor" => MaterialBind::Color(ColorBind {
            material,
            kind: ColorKind::Emission,
            target,
        }),
        "_MainTex_ST" => placed(Vec2::new(r, g), Vec2::new(b, a)),
        "_MainTex_ST_S" => placed(Vec2::new(r, 1.0), Vec2::new(b, 0.0)),
        "_MainTex_ST_T" => placed(Vec2::new(1.0, g), Vec2::new(0.0, a)),
        _ => return None,
    })
}

/// Linear light of an sRGB value (IEC 61966-2-1).
fn linear(encoded: f32) -> f32 {
    if encoded <= 0.04045 {
        encoded / 12.92
    } else {
        ((encoded + 0.055) / 1.055).powf(2.4)
    }
}
