//! Where eyes may look, and what cameras at the eyes do not show.

use std::mem;

use glam::Vec3;
use serde_json::Value;

use super::reading::{Reader, array, index, numbers, unity};

/// Most annotations that are looked at.
const MAX_ANNOTATIONS: usize = 1 << 14;

/// What moves when the model looks somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookAtType {
    /// The bones `leftEye` and `rightEye`.
    Bone,
    /// The expressions `lookUp`, `lookDown`, `lookLeft`, `lookRight`.
    Expression,
}

/// How far something moves for a gaze that far from straight ahead.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RangeMap {
    /// Degrees, not negative. Gazes farther out move nothing more.
    pub input_max_deg: f32,
    /// What that gaze makes: degrees of the eye, or an expression's weight.
    pub output_scale: f32,
}

impl RangeMap {
    /// What a gaze that many degrees from straight ahead makes; the sign is left to the caller.
    pub fn map(&self, degrees: f32) -> f32 {
        // The specification's own guard: with a range of 0 anything beyond straight ahead is the whole.
        let most = self.input_max_deg.max(0.001);
        degrees.abs().min(most) / most * self.output_scale
    }
}

/// How eyes follow a gaze.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LookAtSettings {
    /// Eyes, or expressions.
    pub kind: LookAtType,
    /// From the head bone to between the eyes, in the head's own frame, metres.
    pub offset_from_head: Vec3,
    /// Towards the nose.
    pub horizontal_inner: RangeMap,
    /// Away from the nose; for expressions, both ways.
    pub horizontal_outer: RangeMap,
    /// Down.
    pub vertical_down: RangeMap,
    /// Up.
    pub vertical_up: RangeMap,
}

/// Which cameras show a mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstPerson {
    /// The head's part is hidden from a camera at the eyes; the program finds out which part that is.
    Auto,
    /// All.
    Both,
    /// All but those at the eyes.
    ThirdPersonOnly,
    /// Only those at the eyes.
    FirstPersonOnly,
}

impl FirstPerson {
    /// Of both formats, which differ in their first letter.
    fn of(word: &str) -> Option<Self> {
        Some(match word.to_ascii_lowercase().as_str() {
            "auto" => Self::Auto,
            "both" => Self::Both,
            "thirdpersononly" => Self::ThirdPersonOnly,
            "firstpersononly" => Self::FirstPersonOnly,
            _ => return None,
        })
    }
}

/// Where nobody says otherwise, as UniVRM and three-vrm have it.
const DEFAULT_OFFSET: Vec3 = Vec3::new(0.0, 0.06, 0.0);

type Read = (Option<LookAtSettings>, Vec<(usize, FirstPerson)>);

pub(super) fn read_v1(reader: &mut Reader<'_>, extension: &Value, root: &str) -> Read {
    let look_at = extension.get("lookAt").filter(|l| l.is_object());
    let look_at = look_at.map(|value| {
        let path = format!("{root}/lookAt");
        let kind = match value.get("type").and_then(Value::as_str) {
            Some("expression") => LookAtType::Expression,
            _ => LookAtType::Bone,
        };
        let mut map = |key: &str| {
            let map = value.get(key).unwrap_or(&Value::Null);
            range(
                reader,
                map,
                ["inputMaxValue", "outputScale"],
                kind,
                &format!("{path}/{key}"),
            )
        };
        LookAtSettings {
            kind,
            horizontal_inner: map("rangeMapHorizontalInner"),
            horizontal_outer: map("rangeMapHorizontalOuter"),
            vertical_down: map("rangeMapVerticalDown"),
            vertical_up: map("rangeMapVerticalUp"),
            offset_from_head: reader.vec3_or(
                value,
                "offsetFromHeadBone",
                DEFAULT_OFFSET,
                format_args!("{path}"),
            ),
        }
    });
    let Some(first_person) = extension.get("firstPerson") else {
        return (look_at, Vec::new());
    };
    let path = format!("{root}/firstPerson");
    let key = "meshAnnotations";
    let annotations = reader.items(first_person, key, MAX_ANNOTATIONS, format_args!("{path}"));
    let mut flags = Vec::new();
    for (at, annotation) in annotations.iter().enumerate() {
        let path = format!("{path}/{key}/{at}");
        let Some(node) = reader.node(annotation.get("node"), format_args!("{path}/node")) else {
            continue;
        };
        let flag = flag_of(reader, annotation.get("type"), &path);
        flags.push((node, flag));
    }
    (look_at, flags)
}

pub(super) fn read_v0(reader: &mut Reader<'_>, extension: &Value, root: &str) -> Read {
    let Some(value) = extension.get("firstPerson").filter(|f| f.is_object()) else {
        return (None, Vec::new());
    };
    let path = format!("{root}/firstPerson");
    let kind = match value.get("lookAtTypeName").and_then(Value::as_str) {
        Some(word) if word.eq_ignore_ascii_case("blendshape") => LookAtType::Expression,
        _ => LookAtType::Bone,
    };
    let offset = match value.get("firstPersonBoneOffset") {
        None => DEFAULT_OFFSET,
        Some(offset) => unity(offset).map_or(DEFAULT_OFFSET, |v| Vec3::new(v.x, v.y, -v.z)),
    };
    let mut map = |key: &str| {
        let map = value.get(key).unwrap_or(&Value::Null);
        let path = format!("{path}/{key}");
        note_curve(reader, map, &path);
        range(reader, map, ["xRange", "yRange"], kind, &path)
    };
    let look_at = LookAtSettings {
        kind,
        offset_from_head: offset,
        horizontal_inner: map("lookAtHorizontalInner"),
        horizontal_outer: map("lookAtHorizontalOuter"),
        vertical_down: map("lookAtVerticalDown"),
        vertical_up: map("lookAtVerticalUp"),
    };
    let key = "meshAnnotations";
    let annotations = reader.items(value, key, MAX_ANNOTATIONS, format_args!("{path}"));
    // Nodes by the mesh they show.
    let document = &reader.character.document;
    let num_meshes = reader.count("meshes");
    let mut shown_by = vec![Vec::new(); num_meshes];
    let nodes = array(document, "nodes").iter();
    for (at, node) in nodes.take(reader.num_nodes()).enumerate() {
        let mesh = index(node.get("mesh"), num_meshes);
        if let Some(nodes) = mesh.and_then(|mesh| shown_by.get_mut(mesh)) {
            nodes.push(at);
        }
    }
    let mut flags = Vec::new();
    for (at, annotation) in annotations.iter().enumerate() {
        let path = format!("{path}/{key}/{at}");
        let mesh = index(annotation.get("mesh"), num_meshes);
        let Some(nodes) = mesh.and_then(|mesh| shown_by.get_mut(mesh)) else {
            reader.note(format_args!("{path}/mesh"), format_args!("no such mesh"));
            continue;
        };
        // Taken, so that a mesh that is named again adds nothing.
        let nodes = mem::take(nodes);
        let flag = flag_of(reader, annotation.get("firstPersonFlag"), &path);
        flags.extend(nodes.into_iter().map(|node| (node, flag)));
    }
    (Some(look_at), flags)
}

fn flag_of(reader: &mut Reader<'_>, word: Option<&Value>, path: &str) -> FirstPerson {
    let flag = word.and_then(Value::as_str).and_then(FirstPerson::of);
    flag.unwrap_or_else(|| {
        reader.note(
            format_args!("{path}"),
            format_args!("unknown flag, auto taken"),
        );
        FirstPerson::Auto
    })
}

fn range(
    reader: &mut Reader<'_>,
    map: &Value,
    [input, output]: [&str; 2],
    kind: LookAtType,
    path: &str,
) -> RangeMap {
    let whole = match kind {
        LookAtType::Bone => 10.0,
        LookAtType::Expression => 1.0,
    };
    RangeMap {
        input_max_deg: reader
            .number_or(map, input, 90.0, format_args!("{path}"))
            .max(0.0),
        output_scale: reader.number_or(map, output, whole, format_args!("{path}")),
    }
}

/// Curves are keys of time, value, slope in, slope out; `0 0 0 1, 1 1 1 0` is the straight line.
fn note_curve(reader: &mut Reader<'_>, map: &Value, path: &str) {
    const STRAIGHT: [f32; 8] = [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0];
    let Some(curve) = map.get("curve") else {
        return;
    };
    if numbers::<8>(curve) != Some(STRAIGHT) {
        reader.note(
            format_args!("{path}/curve"),
            format_args!("curve taken as a straight line"),
        );
    }
}
