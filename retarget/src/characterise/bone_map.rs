//! What a person says of a skeleton, before the search and above it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{ChainKind, HumanBone, Side};

/// Overrides of a characterisation, by the names that the rig has. As TOML:
///
/// ```toml
/// ignore = ["weapon_r"]
///
/// [bones]
/// hips = "root_M"
///
/// [chains]
/// spine = ["spine_a", "spine_b"]
/// leftIndex = ["idx0", "idx1", "idx2", "idx3"]
/// ```
///
/// Keys of `bones` are VRM 1.0's names, those of `chains` as [`chain_name`] gives them. What is not named here is
/// searched for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BoneMap {
    /// Bones that are never mapped.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
    /// The bone that is each of these.
    #[serde(with = "keyed", skip_serializing_if = "BTreeMap::is_empty")]
    pub bones: BTreeMap<HumanBone, String>,
    /// The bones of each of these chains, root to tip.
    #[serde(with = "keyed", skip_serializing_if = "BTreeMap::is_empty")]
    pub chains: BTreeMap<ChainKind, Vec<String>>,
}

impl BoneMap {
    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.ignore.is_empty() && self.bones.is_empty() && self.chains.is_empty()
    }
}

const FINGERS: [&str; 5] = ["Thumb", "Index", "Middle", "Ring", "Little"];

/// A chain's name, in the manner of VRM's bones: `spine`, `leftArm`, `rightThumb`.
pub fn chain_name(kind: ChainKind) -> String {
    let sided = |side: Side, what: &str| match side {
        Side::Left => format!("left{what}"),
        Side::Right => format!("right{what}"),
    };
    match kind {
        ChainKind::Root => "root".to_owned(),
        ChainKind::Pelvis => "pelvis".to_owned(),
        ChainKind::Spine => "spine".to_owned(),
        ChainKind::Neck => "neck".to_owned(),
        ChainKind::Head => "head".to_owned(),
        ChainKind::Shoulder(side) => sided(side, "Shoulder"),
        ChainKind::Arm(side) => sided(side, "Arm"),
        ChainKind::Leg(side) => sided(side, "Leg"),
        ChainKind::Toes(side) => sided(side, "Toes"),
        ChainKind::Finger(side, finger) => match FINGERS.get(usize::from(finger)) {
            Some(name) => sided(side, name),
            None => sided(side, &format!("Finger{finger}")),
        },
    }
}

/// All chains, in the order a body is built: trunk, then left and right of each limb.
pub(super) fn all_chains() -> Vec<ChainKind> {
    let mut all = vec![
        ChainKind::Root,
        ChainKind::Pelvis,
        ChainKind::Spine,
        ChainKind::Neck,
        ChainKind::Head,
    ];
    for kind in [
        ChainKind::Shoulder,
        ChainKind::Arm,
        ChainKind::Leg,
        ChainKind::Toes,
    ] {
        all.extend(Side::BOTH.map(kind));
    }
    for side in Side::BOTH {
        all.extend((0..5).map(|finger| ChainKind::Finger(side, finger)));
    }
    all
}

/// The chain of that name, as [`chain_name`] gives it; case does not matter.
///
/// # Errors
/// A name that no chain has.
pub fn parse_chain(name: &str) -> Result<ChainKind, String> {
    all_chains()
        .into_iter()
        .find(|kind| chain_name(*kind).eq_ignore_ascii_case(name))
        .ok_or_else(|| format!("{name:?} is no chain, such as spine, leftArm or rightIndex"))
}

/// A key written as a word.
trait Key: Ord + Sized {
    fn word(&self) -> String;
    fn of_word(word: &str) -> Result<Self, String>;
}

impl Key for HumanBone {
    fn word(&self) -> String {
        self.as_str().to_owned()
    }

    fn of_word(word: &str) -> Result<Self, String> {
        word.parse()
    }
}

impl Key for ChainKind {
    fn word(&self) -> String {
        chain_name(*self)
    }

    fn of_word(word: &str) -> Result<Self, String> {
        parse_chain(word)
    }
}

/// Maps whose keys are words.
mod keyed {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    use super::Key;

    pub(super) fn serialize<K: Key, V: Serialize, S: Serializer>(
        map: &BTreeMap<K, V>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_map(map.iter().map(|(k, v)| (k.word(), v)))
    }

    pub(super) fn deserialize<'de, K: Key, V: Deserialize<'de>, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<K, V>, D::Error> {
        BTreeMap::<String, V>::deserialize(deserializer)?
            .into_iter()
            .map(|(word, value)| Ok((K::of_word(&word).map_err(D::Error::custom)?, value)))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_is_read_and_written_as_toml() {
        let text = "ignore = [\"weapon_r\"]\n\n[bones]\nhips = \"演員:hips\"\n\n[chains]\n\
                    spine = [\"a\", \"b\"]\nrightLittle = [\"c\"]\n";
        let map: BoneMap = toml::from_str(text).unwrap();
        assert_eq!(map.bones[&HumanBone::Hips], "演員:hips");
        assert_eq!(map.chains[&ChainKind::Spine], ["a", "b"]);
        assert_eq!(map.chains[&ChainKind::Finger(Side::Right, 4)], ["c"]);
        let again: BoneMap = toml::from_str(&toml::to_string(&map).unwrap()).unwrap();
        assert_eq!(again, map);
        assert!(toml::from_str::<BoneMap>("").unwrap().is_empty());
    }

    #[test]
    fn a_wrong_key_is_an_error_that_names_it() {
        let fault = toml::from_str::<BoneMap>("[bones]\nhip = \"x\"").unwrap_err();
        assert!(fault.to_string().contains("\"hip\""), "{fault}");
        let fault = toml::from_str::<BoneMap>("[chains]\ntail = []").unwrap_err();
        assert!(fault.to_string().contains("\"tail\""), "{fault}");
        assert!(toml::from_str::<BoneMap>("bone = 1").is_err());
    }

    #[test]
    fn every_chain_has_a_name_of_its_own() {
        let all = all_chains();
        assert_eq!(all.len(), 5 + 8 + 10);
        for kind in all {
            assert_eq!(parse_chain(&chain_name(kind)), Ok(kind));
        }
        assert_eq!(parse_chain("LEFTARM"), Ok(ChainKind::Arm(Side::Left)));
    }
}
