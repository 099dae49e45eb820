//! Known sets of curves, as data.
//!
//! | set | curves | unit |
//! |---|---|---|
//! | `arkit` | Apple's 52 | weights |
//! | `live_link_face` | the 52 and 9 rotations | weights, then radians |
//! | `vrm0`, `vrm1` | presets of VRM's expressions | weights |
//! | `visemes15` | the mouth shapes of speech, spelled as in glTF avatars | weights |
//! | `facs` | action units by name, left and right apart; `AU12_L` is understood too | weights |
//! | `metahuman` | those of Unreal's face controls that ARKit curves reach | weights |
//!
//! A name is found in any spelling (see [`curve_key`]) and by its aliases.

mod data;

use hub::{MAX_NAME_BYTES, MAX_PROPERTIES, arkit};
use serde::{Deserialize, Serialize};

use super::names::{curve_key, nearest};

/// A set that is known here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SetId {
    /// ARKit's 52.
    Arkit,
    /// ARKit's 52 and the 9 rotations of Live Link Face, radians.
    LiveLinkFace,
    /// Presets of VRM 0.x.
    Vrm0,
    /// Presets of VRM 1.0.
    Vrm1,
    /// The 15 mouth shapes of speech.
    Visemes15,
    /// Action units of the Facial Action Coding System by name.
    Facs,
    /// Unreal's face controls.
    Metahuman,
}

impl SetId {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Arkit,
        Self::LiveLinkFace,
        Self::Vrm0,
        Self::Vrm1,
        Self::Visemes15,
        Self::Facs,
        Self::Metahuman,
    ];

    /// As in a map's file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Arkit => "arkit",
            Self::LiveLinkFace => "live_link_face",
            Self::Vrm0 => "vrm0",
            Self::Vrm1 => "vrm1",
            Self::Visemes15 => "visemes15",
            Self::Facs => "facs",
            Self::Metahuman => "metahuman",
        }
    }
}

/// Part of the face, by which curves are smoothed, masked and muted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Region {
    /// Blink, squint, wide: VRM's Blink and its two winks among them.
    Lids,
    /// Where the eyes look: weights and rotations.
    Gaze,
    /// Brows.
    Brows,
    /// Cheeks and nose.
    Cheeks,
    /// Open, forward, sideways.
    Jaw,
    /// Lips, chin, visemes, vowels.
    Mouth,
    /// Tongue.
    Tongue,
    /// Rotations of the head.
    Head,
    /// Emotions and all that is not known.
    Other,
}

impl Region {
    /// All of them, in the order of [`Region::index`].
    pub const ALL: [Self; 9] = [
        Self::Lids,
        Self::Gaze,
        Self::Brows,
        Self::Cheeks,
        Self::Jaw,
        Self::Mouth,
        Self::Tongue,
        Self::Head,
        Self::Other,
    ];
    /// Number of regions.
    pub const COUNT: usize = Self::ALL.len();

    /// Place among [`Region::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// The region of a curve, told by its name.
    pub fn of(name: &str) -> Self {
        let key = curve_key(name);
        let key = key.strip_prefix("ctrl_expressions_").unwrap_or(&key);
        let has = |words: &[&str]| words.iter().any(|word| key.contains(word));
        let begins = |words: &[&str]| words.iter().any(|word| key.starts_with(word));
        if key.starts_with("viseme_") || data::SOUNDS.contains(&key) {
            Self::Mouth
        } else if has(&["tongue"]) {
            Self::Tongue
        } else if has(&["brow"]) {
            Self::Brows
        } else if has(&["cheek", "nose"]) {
            Self::Cheeks
        } else if begins(&[
            "eyelook", "look", "lefteye", "righteye", "eyesturn", "eyesup", "eyesdown", "gaze",
        ]) {
            Self::Gaze
        } else if has(&[
            "blink",
            "squint",
            "eyewide",
            "lidtight",
            "lidraise",
            "eyesclosed",
            "eyelid",
        ]) {
            Self::Lids
        } else if begins(&["head", "neck"]) {
            Self::Head
        } else if begins(&["jaw"]) && !has(&["chin"]) {
            Self::Jaw
        } else if has(&["mouth", "lip", "jaw", "chin", "dimple"]) {
            Self::Mouth
        } else {
            Self::Other
        }
    }
}

/// Whether the curve is a rotation of Live Link Face, in radians and either way, and not a weight.
pub fn is_angle(name: &str) -> bool {
    let key = curve_key(name);
    arkit::CURVES
        .iter()
        .skip(arkit::NUM_FACE_CURVES)
        .any(|angle| angle.eq_ignore_ascii_case(&key))
}

#[derive(Clone, Debug)]
struct Entry {
    name: String,
    /// Keys of the name, first, and of the aliases.
    keys: Vec<String>,
}

/// Names that go together, in order.
#[derive(Clone, Debug)]
pub struct CurveSet {
    name: String,
    entries: Vec<Entry>,
}

impl CurveSet {
    /// One of the known sets.
    pub fn known(id: SetId) -> Self {
        Self {
            name: id.as_str().to_owned(),
            entries: data::entries(id)
                .into_iter()
                .map(|(name, aliases)| Entry {
                    keys: std::iter::once(&name)
                        .chain(&aliases)
                        .map(|name| curve_key(name))
                        .collect(),
                    name,
                })
                .collect(),
        }
    }

    /// A set of one's own.
    ///
    /// # Errors
    /// All that is wrong at once: empty and overlong names, names that are one in different spellings, more than
    /// [`MAX_PROPERTIES`] of them.
    pub fn custom(name: &str, names: &[&str]) -> Result<Self, Vec<String>> {
        let mut faults = Vec::new();
        if names.len() > MAX_PROPERTIES {
            let (have, most) = (names.len(), MAX_PROPERTIES);
            return Err(vec![format!("{have} curves are more than {most}")]);
        }
        let mut entries: Vec<Entry> = Vec::with_capacity(names.len());
        for curve in names {
            if curve.is_empty() || curve.len() > MAX_NAME_BYTES {
                faults.push(format!("a name of {} bytes", curve.len()));
                continue;
            }
            let key = curve_key(curve);
            if let Some(twin) = entries.iter().find(|e| e.keys.contains(&key)) {
                faults.push(format!("{curve} and {} are one name", twin.name));
            }
            entries.push(Entry {
                name: (*curve).to_owned(),
                keys: vec![key],
            });
        }
        if faults.is_empty() {
            let name = name.to_owned();
            Ok(Self { name, entries })
        } else {
            Err(faults)
        }
    }

    /// What the set is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Names in the set's order and spelling.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// Number of curves.
    pub fn num_curves(&self) -> usize {
        self.entries.len()
    }

    /// Place of the curve of that name in any spelling, or of which it is an alias.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        let key = curve_key(name);
        let own = self
            .entries
            .iter()
            .position(|e| e.keys.first() == Some(&key));
        own.or_else(|| self.entries.iter().position(|e| e.keys.contains(&key)))
    }

    /// The set's name that is most like this one; `None` when none is like it.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        nearest(name, self.names())
    }

    /// Keys of the name and aliases of a curve; empty for a place beyond the set.
    pub(super) fn keys_at(&self, at: usize) -> &[String] {
        self.entries
            .get(at)
            .map_or(&[], |entry| entry.keys.as_slice())
    }
}

#[cfg(test)]
mod tests;
