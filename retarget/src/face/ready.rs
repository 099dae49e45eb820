//! Maps that are ready: from ARKit to each known set, and back where that means something.

use std::collections::BTreeMap;

use super::{
    map::{CurveAsset, MapAsset, Term},
    sets::{CurveSet, SetId, is_angle},
};

/// Widest angle that an identity map lets through, radians.
const HALF_TURN_RAD: f32 = std::f32::consts::PI;

/// The presets of VRM 0.x in their order, and those of VRM 1.0 that they became. `surprised` is not among them.
const VRM0_OF_VRM1: [(&str, &str); 17] = [
    ("neutral", "Neutral"),
    ("aa", "A"),
    ("ih", "I"),
    ("ou", "U"),
    ("ee", "E"),
    ("oh", "O"),
    ("blink", "Blink"),
    ("blinkLeft", "Blink_L"),
    ("blinkRight", "Blink_R"),
    ("happy", "Joy"),
    ("angry", "Angry"),
    ("sad", "Sorrow"),
    ("relaxed", "Fun"),
    ("lookUp", "LookUp"),
    ("lookDown", "LookDown"),
    ("lookLeft", "LookLeft"),
    ("lookRight", "LookRight"),
];

/// All pairs for which [`ready_map`] has a map of its own; to the same set it has one for each.
pub const READY_PAIRS: [(SetId, SetId); 10] = [
    (SetId::Arkit, SetId::Vrm0),
    (SetId::Arkit, SetId::Vrm1),
    (SetId::Arkit, SetId::Visemes15),
    (SetId::Arkit, SetId::Facs),
    (SetId::Arkit, SetId::Metahuman),
    (SetId::Vrm0, SetId::Arkit),
    (SetId::Vrm1, SetId::Arkit),
    (SetId::Visemes15, SetId::Arkit),
    (SetId::Facs, SetId::Arkit),
    (SetId::Metahuman, SetId::Arkit),
];

/// The ready map from one set to another; from a set to itself every curve is its own. Live Link Face counts as
/// ARKit where the other set is another. `None` for other pairs: go by ARKit.
pub fn ready_map(source: SetId, target: SetId) -> Option<MapAsset> {
    let faces = [SetId::Arkit, SetId::LiveLinkFace];
    if source == target || (faces.contains(&source) && faces.contains(&target)) {
        return Some(identity(source, target));
    }
    let plain = |id: SetId| {
        if id == SetId::LiveLinkFace {
            SetId::Arkit
        } else {
            id
        }
    };
    let mut asset = match (plain(source), plain(target)) {
        (SetId::Arkit, SetId::Vrm0) => {
            let mut asset = read(include_str!("../../maps/arkit_to_vrm1.toml"))?;
            to_vrm0(&mut asset);
            asset
        }
        (SetId::Vrm0, SetId::Arkit) => {
            let mut asset = read(include_str!("../../maps/vrm1_to_arkit.toml"))?;
            from_vrm0(&mut asset);
            asset
        }
        (SetId::Arkit, SetId::Vrm1) => read(include_str!("../../maps/arkit_to_vrm1.toml"))?,
        (SetId::Vrm1, SetId::Arkit) => read(include_str!("../../maps/vrm1_to_arkit.toml"))?,
        (SetId::Arkit, SetId::Visemes15) => {
            read(include_str!("../../maps/arkit_to_visemes15.toml"))?
        }
        (SetId::Visemes15, SetId::Arkit) => {
            read(include_str!("../../maps/visemes15_to_arkit.toml"))?
        }
        (SetId::Arkit, SetId::Facs) => read(include_str!("../../maps/arkit_to_facs.toml"))?,
        (SetId::Facs, SetId::Arkit) => read(include_str!("../../maps/facs_to_arkit.toml"))?,
        (SetId::Arkit, SetId::Metahuman) => {
            read(include_str!("../../maps/arkit_to_metahuman.toml"))?
        }
        (SetId::Metahuman, SetId::Arkit) => {
            read(include_str!("../../maps/metahuman_to_arkit.toml"))?
        }
        _ => return None,
    };
    asset.source = Some(source);
    asset.target = Some(target);
    Some(asset)
}

/// Our own files: a test reads them all.
fn read(text: &str) -> Option<MapAsset> {
    MapAsset::from_toml(text).ok()
}

fn identity(source: SetId, target: SetId) -> MapAsset {
    let mut asset = MapAsset::empty("every curve its own");
    asset.source = Some(source);
    asset.target = Some(target);
    let known = CurveSet::known(source);
    for name in CurveSet::known(target).names() {
        if known.index_of(name).is_none() {
            continue;
        }
        if is_angle(name) {
            let curve = CurveAsset::new(name, vec![Term::of(name)]);
            asset.curves.push(CurveAsset {
                clamp: [-HALF_TURN_RAD, HALF_TURN_RAD],
                ..curve
            });
        } else {
            asset.direct.insert(name.to_owned(), name.to_owned());
        }
    }
    asset
}

fn vrm0_of(vrm1: &str) -> Option<String> {
    let pair = VRM0_OF_VRM1.iter().find(|(name, _)| *name == vrm1);
    pair.map(|(_, vrm0)| (*vrm0).to_owned())
}

/// The character's names become those of VRM 0.x; what VRM 0.x does not have goes.
fn to_vrm0(asset: &mut MapAsset) {
    "ARKit to VRM 0.x".clone_into(&mut asset.name);
    asset.direct = std::mem::take(&mut asset.direct)
        .into_iter()
        .filter_map(|(target, from)| Some((vrm0_of(&target)?, from)))
        .collect::<BTreeMap<_, _>>();
    asset.curves.retain_mut(|curve| {
        for name in &mut curve.unless {
            rename(name);
        }
        rename(&mut curve.target)
    });
    asset.combinations.retain_mut(|c| rename(&mut c.target));
    for conflict in &mut asset.conflicts {
        for name in conflict.curves.iter_mut().chain(&mut conflict.by) {
            rename(name);
        }
    }
}

/// The source's names become those of VRM 0.x; terms of what it does not have go.
fn from_vrm0(asset: &mut MapAsset) {
    "VRM 0.x to ARKit".clone_into(&mut asset.name);
    asset.direct.retain(|_, from| rename(from));
    for curve in &mut asset.curves {
        curve.sum.retain_mut(|term| rename(&mut term.from));
    }
}

/// From VRM 1.0's name to that of VRM 0.x; false when it has none.
fn rename(name: &mut String) -> bool {
    vrm0_of(name).is_some_and(|vrm0| {
        *name = vrm0;
        true
    })
}

#[cfg(test)]
mod tests;
