//! Expressions: named sets of morph weights, colours and texture places.

mod v0;

use glam::Vec2;
use serde_json::Value;

use super::reading::{MAX_NAME, Reader, flag, index, number, numbers};
use crate::error::FaultKind;

pub(super) use self::v0::read_v0;

/// Most expressions of a file.
const MAX_EXPRESSIONS: usize = 1024;

/// Most binds of one kind in one expression.
const MAX_BINDS: usize = 4096;

/// Most binds of all expressions together.
const MAX_ALL_BINDS: usize = 1 << 16;

/// What others may hold back: the three kinds that programs make by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExpressionGroup {
    /// `aa`, `ih`, `ou`, `ee`, `oh`.
    Mouth,
    /// `blink`, `blinkLeft`, `blinkRight`.
    Blink,
    /// `lookUp`, `lookDown`, `lookLeft`, `lookRight`.
    LookAt,
    /// Emotions, `neutral`, and all custom ones.
    Other,
}

/// What an expression does to those of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Override {
    /// Nothing.
    #[default]
    None,
    /// Takes them away as soon as it is above 0.
    Block,
    /// Takes as much of them away as it is itself.
    Blend,
}

/// A named set of changes to the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Expression {
    /// VRM 1.0's name of a preset, or a custom name; at most 256 characters.
    pub name: String,
    /// Whether the name is one of VRM 1.0's presets.
    pub is_preset: bool,
    /// Morph targets it moves.
    pub morphs: Vec<MorphBind>,
    /// Colours it changes.
    pub colors: Vec<ColorBind>,
    /// Texture places it changes.
    pub textures: Vec<TextureBind>,
    /// Whether it is either on or off: on above 0.5.
    pub is_binary: bool,
    /// What it does to blinks.
    pub override_blink: Override,
    /// What it does to the gaze.
    pub override_look_at: Override,
    /// What it does to the mouth.
    pub override_mouth: Override,
}

impl Expression {
    /// The group it belongs to. Custom expressions belong to none.
    pub fn group(&self) -> ExpressionGroup {
        match self.name.as_str() {
            _ if !self.is_preset => ExpressionGroup::Other,
            "aa" | "ih" | "ou" | "ee" | "oh" => ExpressionGroup::Mouth,
            "blink" | "blinkLeft" | "blinkRight" => ExpressionGroup::Blink,
            "lookUp" | "lookDown" | "lookLeft" | "lookRight" => ExpressionGroup::LookAt,
            _ => ExpressionGroup::Other,
        }
    }
}

/// A morph target and how far an expression moves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MorphBind {
    /// Index in [`Character::morph_meshes`](crate::Character::morph_meshes).
    pub mesh: usize,
    /// Index among that mesh's targets.
    pub target: usize,
    /// Weight of the target while the expression is 1; nominally 0..1.
    pub weight: f32,
}

/// Which colour of a material.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ColorKind {
    /// `baseColorFactor`, with alpha.
    Base,
    /// `emissiveFactor`.
    Emission,
    /// MToon's shade.
    Shade,
    /// MToon's matcap.
    Matcap,
    /// MToon's parametric rim.
    Rim,
    /// MToon's outline.
    Outline,
}

/// A colour and what an expression makes of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColorBind {
    /// Index among the document's materials.
    pub material: usize,
    /// Which colour.
    pub kind: ColorKind,
    /// Linear red, green, blue, and alpha, while the expression is 1. Alpha counts for [`ColorKind::Base`] only.
    pub target: [f32; 4],
}

/// A material's textures, all but the matcap, and where an expression puts them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureBind {
    /// Index among the document's materials.
    pub material: usize,
    /// Factor of texture coordinates while the expression is 1, in the terms of `KHR_texture_transform`.
    pub scale: Vec2,
    /// Added to them after that.
    pub offset: Vec2,
}

/// VRM 1.0's presets with the names of VRM 0.x.
const PRESETS: [(&str, &str); 18] = [
    ("happy", "joy"),
    ("angry", "angry"),
    ("sad", "sorrow"),
    ("relaxed", "fun"),
    // Not in the specification of 0.x, yet in files.
    ("surprised", "surprised"),
    ("aa", "a"),
    ("ih", "i"),
    ("ou", "u"),
    ("ee", "e"),
    ("oh", "o"),
    ("blink", "blink"),
    ("blinkLeft", "blink_l"),
    ("blinkRight", "blink_r"),
    ("lookUp", "lookup"),
    ("lookDown", "lookdown"),
    ("lookLeft", "lookleft"),
    ("lookRight", "lookright"),
    ("neutral", "neutral"),
];

fn is_preset(name: &str) -> bool {
    PRESETS.iter().any(|p| p.0 == name)
}

/// The list as it grows: within bounds, no name twice.
#[derive(Default)]
struct List {
    expressions: Vec<Expression>,
    num_binds: usize,
}

impl List {
    /// Whether there is room for an expression of that name.
    fn takes(&self, reader: &mut Reader<'_>, name: &str, path: &str) -> bool {
        let why = if name.is_empty() {
            "an expression without a name"
        } else if self.expressions.len() == MAX_EXPRESSIONS {
            "an expression too many"
        } else if self.expressions.iter().any(|e| e.name == name) {
            "a second expression of that name"
        } else {
            return true;
        };
        reader.note(format_args!("{path}"), format_args!("{why} left out"));
        false
    }

    fn push(&mut self, reader: &mut Reader<'_>, expression: Expression, path: &str) {
        let have = expression.morphs.len() + expression.colors.len() + expression.textures.len();
        if self.num_binds + have > MAX_ALL_BINDS {
            reader.note(
                format_args!("{path}"),
                format_args!("binds beyond {MAX_ALL_BINDS}, left out"),
            );
            return;
        }
        self.num_binds += have;
        self.expressions.push(expression);
    }
}

pub(super) fn read_v1(reader: &mut Reader<'_>, extension: &Value, root: &str) -> Vec<Expression> {
    let mut list = List::default();
    let Some(all) = extension.get("expressions") else {
        return list.expressions;
    };
    if !all.is_object() {
        let kind = FaultKind::Expected("object");
        reader.fault(format_args!("{root}/expressions"), kind);
    }
    // Where each morphing node is in `Character::morph_meshes`.
    let mut mesh_of = vec![None; reader.num_nodes()];
    for (at, mesh) in reader.character.morph_meshes.iter().enumerate() {
        if let Some(place) = mesh_of.get_mut(mesh.node) {
            *place = Some(at);
        }
    }
    for kind in ["preset", "custom"] {
        let named = all.get(kind).and_then(Value::as_object);
        for (name, value) in named.into_iter().flatten() {
            let name: String = name
                .chars()
                .filter(|c| !c.is_control())
                .take(MAX_NAME)
                .collect();
            let path = format!("{root}/expressions/{kind}/{name}");
            let wants_preset = kind == "preset";
            if is_preset(&name) != wants_preset {
                let why = if wants_preset {
                    "unknown preset"
                } else {
                    "custom expression with the name of a preset"
                };
                reader.note(format_args!("{path}"), format_args!("{why} left out"));
                continue;
            }
            if !value.is_object() || !list.takes(reader, &name, &path) {
                continue;
            }
            let expression = Expression {
                name,
                is_preset: wants_preset,
                morphs: morphs_v1(reader, value, &mesh_of, &path),
                colors: colors_v1(reader, value, &path),
                textures: textures_v1(reader, value, &path),
                is_binary: flag(value, "isBinary"),
                override_blink: override_of(value, "overrideBlink"),
                override_look_at: override_of(value, "overrideLookAt"),
                override_mouth: override_of(value, "overrideMouth"),
            };
            list.push(reader, expression, &path);
        }
    }
    list.expressions
}

fn override_of(value: &Value, key: &str) -> Override {
    match value.get(key).and_then(Value::as_str) {
        Some("block") => Override::Block,
        Some("blend") => Override::Blend,
        _ => Override::None,
    }
}

fn morphs_v1(
    reader: &mut Reader<'_>,
    value: &Value,
    mesh_of: &[Option<usize>],
    path: &str,
) -> Vec<MorphBind> {
    let key = "morphTargetBinds";
    let binds = reader.items(value, key, MAX_BINDS, format_args!("{path}"));
    let mut morphs = Vec::new();
    for (at, bind) in binds.iter().enumerate() {
        let found = (|| {
            let node = index(bind.get("node"), mesh_of.len())?;
            let mesh = mesh_of.get(node).copied().flatten()?;
            let names = &reader.character.morph_meshes.get(mesh)?.names;
            let target = index(bind.get("index"), names.len())?;
            let weight = bind.get("weight").map_or(Some(1.0), number)?;
            Some(MorphBind {
                mesh,
                target,
                weight,
            })
        })();
        match found {
            Some(bind) => morphs.push(bind),
            None => reader.note(
                format_args!("{path}/{key}/{at}"),
                format_args!("bind of no morph target left out"),
            ),
        }
    }
    morphs
}

fn colors_v1(reader: &mut Reader<'_>, value: &Value, path: &str) -> Vec<ColorBind> {
    let key = "materialColorBinds";
    let binds = reader.items(value, key, MAX_BINDS, format_args!("{path}"));
    let num_materials = reader.count("materials");
    let mut colors = Vec::new();
    for (at, bind) in binds.iter().enumerate() {
        let found = (|| {
            let kind = match bind.get("type")?.as_str()? {
                "color" => ColorKind::Base,
                "emissionColor" => ColorKind::Emission,
                "shadeColor" => ColorKind::Shade,
                "matcapColor" => ColorKind::Matcap,
                "rimColor" => ColorKind::Rim,
                "outlineColor" => ColorKind::Outline,
                _ => return None,
            };
            Some(ColorBind {
                material: index(bind.get("material"), num_materials)?,
                kind,
                target: numbers(bind.get("targetValue")?)?,
            })
        })();
        match found {
            Some(bind) => colors.push(bind),
            None => reader.note(
                format_args!("{path}/{key}/{at}"),
                format_args!("bind of no known colour left out"),
            ),
        }
    }
    colors
}

fn textures_v1(reader: &mut Reader<'_>, value: &Value, path: &str) -> Vec<TextureBind> {
    let key = "textureTransformBinds";
    let binds = reader.items(value, key, MAX_BINDS, format_args!("{path}"));
    let num_materials = reader.count("materials");
    let mut textures = Vec::new();
    for (at, bind) in binds.iter().enumerate() {
        let pair = |key: &str, default: Vec2| match bind.get(key) {
            None => Some(default),
            Some(value) => numbers(value).map(Vec2::from_array),
        };
        let found = (|| {
            Some(TextureBind {
                material: index(bind.get("material"), num_materials)?,
                scale: pair("scale", Vec2::ONE)?,
                offset: pair("offset", Vec2::ZERO)?,
            })
        })();
        match found {
            Some(bind) => textures.push(bind),
            None => reader.note(
                format_args!("{path}/{key}/{at}"),
                format_args!("bind of no texture place left out"),
            ),
        }
    }
    textures
}
