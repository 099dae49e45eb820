//! `rename`: other names for bones and curves. Values stay where they are.
//!
//! A name found in the map takes the new name from there and nothing else. Any other loses `strip_prefix`
//! if it begins so, then (a curve of ARKit's) is written in `curve_case`, then takes `add_prefix`. All names
//! change at one stroke, so two may be exchanged. Two names that would become one are a fault, and then
//! none of the step's names change.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use crate::{
    arkit,
    static_data::{StaticBody, StaticData},
    subject::MAX_NAME_BYTES,
};

/// Most faults told for one list of names.
const MAX_FAULTS: usize = 8;

/// What the prefix keys are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RenameOf {
    /// Bones and curves.
    #[default]
    Both,
    /// Bones alone.
    Bones,
    /// Curves alone.
    Curves,
}

/// How ARKit's 52 curves and the 9 rotations are written. Known whatever their case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CurveCase {
    /// `eyeBlinkLeft`, as Apple writes them.
    Camel,
    /// `EyeBlinkLeft`, as Live Link Face writes them.
    Pascal,
}

/// Keys of `kind = "rename"`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Rename {
    /// Whether the step does anything. Default true.
    pub enabled: bool,
    /// Old name to new name of bones, exactly as the source writes them. Default none.
    pub bones: BTreeMap<String, String>,
    /// Old name to new name of curves, exactly as the source writes them. Default none.
    pub curves: BTreeMap<String, String>,
    /// Taken off names that begin so, such as `mixamorig:`. Default nothing.
    pub strip_prefix: String,
    /// Put before names. Default nothing.
    pub add_prefix: String,
    /// Which names the two prefixes are for. Default both kinds.
    pub of: RenameOf,
    /// How ARKit's curves are written. Default as they come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve_case: Option<CurveCase>,
}

impl Default for Rename {
    fn default() -> Self {
        Self {
            enabled: true,
            bones: BTreeMap::new(),
            curves: BTreeMap::new(),
            strip_prefix: String::new(),
            add_prefix: String::new(),
            of: RenameOf::default(),
            curve_case: None,
        }
    }
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= MAX_NAME_BYTES && !text.chars().any(char::is_control)
}

/// Faults of the names `after`, each of which was the one at the same place of `before`.
fn clashes(what: &str, before: &[&str], after: &[String]) -> Vec<String> {
    let mut out = Vec::new();
    let mut taken: HashMap<&str, &str> = HashMap::with_capacity(after.len());
    for (&old, new) in before.iter().zip(after) {
        if out.len() == MAX_FAULTS {
            break;
        }
        if !is_name(new) {
            out.push(format!(
                "{what} {old:?} would be called {new:?}: empty, longer than {MAX_NAME_BYTES} bytes, or with a control character"
            ));
        }
        let first = *taken.entry(new.as_str()).or_insert(old);
        // Two bones may come with one name; that is not this step's doing.
        if first != old {
            out.push(format!(
                "{what} {first:?} and {what} {old:?} would both be called {new:?}"
            ));
        }
    }
    out
}

impl Rename {
    pub(super) fn faults(&self, out: &mut Vec<String>) {
        for (what, map) in [("bone", &self.bones), ("curve", &self.curves)] {
            let before: Vec<&str> = map.keys().map(String::as_str).collect();
            let after: Vec<String> = map.values().cloned().collect();
            out.extend(clashes(what, &before, &after));
        }
        for (key, text) in [
            ("strip_prefix", &self.strip_prefix),
            ("add_prefix", &self.add_prefix),
        ] {
            if !text.is_empty() && !is_name(text) {
                out.push(format!(
                    "`{key}` is longer than {MAX_NAME_BYTES} bytes or has a control character"
                ));
            }
        }
        let changes_nothing = self.bones.is_empty()
            && self.curves.is_empty()
            && self.strip_prefix.is_empty()
            && self.add_prefix.is_empty()
            && self.curve_case.is_none();
        if changes_nothing {
            out.push("renames nothing".to_owned());
        }
    }

    fn with_prefix(&self, applies: bool, name: &str, case: impl Fn(&str) -> String) -> String {
        if !applies {
            return case(name);
        }
        let bare = name
            .strip_prefix(self.strip_prefix.as_str())
            .unwrap_or(name);
        format!("{}{}", self.add_prefix, case(bare))
    }

    fn bone(&self, name: &str) -> String {
        if let Some(new) = self.bones.get(name) {
            return new.clone();
        }
        self.with_prefix(self.of != RenameOf::Curves, name, str::to_owned)
    }

    fn curve(&self, name: &str) -> String {
        if let Some(new) = self.curves.get(name) {
            return new.clone();
        }
        self.with_prefix(self.of != RenameOf::Bones, name, |name| {
            let known = arkit::index_of(name).and_then(|at| arkit::CURVES.get(at));
            match (self.curve_case, known) {
                (Some(CurveCase::Pascal), Some(known)) => (*known).to_owned(),
                (Some(CurveCase::Camel), Some(known)) => {
                    let mut text = (*known).to_owned();
                    if let Some(first) = text.get_mut(..1) {
                        first.make_ascii_lowercase();
                    }
                    text
                }
                _ => name.to_owned(),
            }
        })
    }

    /// Changes the names.
    ///
    /// # Errors
    /// Every clash and every name that is none, in words; nothing has changed then.
    pub(super) fn rename(
        &self,
        data: &mut StaticData,
        notes: &mut Vec<String>,
    ) -> Result<(), Vec<String>> {
        let old_bones = data.skeleton().map_or(&[][..], |s| s.bone_names.as_slice());
        let old_bones: Vec<&str> = old_bones.iter().map(String::as_str).collect();
        let old_curves: Vec<&str> = data.properties.iter().map(|p| p.name.as_str()).collect();
        let bones: Vec<String> = old_bones.iter().map(|name| self.bone(name)).collect();
        let curves: Vec<String> = old_curves.iter().map(|name| self.curve(name)).collect();
        let mut faults = clashes("bone", &old_bones, &bones);
        faults.extend(clashes("curve", &old_curves, &curves));
        if !faults.is_empty() {
            return Err(faults);
        }
        for (what, map, names) in [
            ("bone", &self.bones, &old_bones),
            ("curve", &self.curves, &old_curves),
        ] {
            for old in map.keys().filter(|old| !names.contains(&old.as_str())) {
                notes.push(format!("no {what} is called {old:?}"));
            }
        }
        if let StaticBody::Animation(skeleton) = &mut data.body {
            skeleton.bone_names = bones;
        }
        for (property, name) in data.properties.iter_mut().zip(curves) {
            property.name = name;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::static_data::{Property, Skeleton};

    fn actor(bones: &[&str], curves: &[&str]) -> StaticData {
        StaticData {
            body: StaticBody::Animation(Skeleton {
                bone_names: bones.iter().map(|b| (*b).to_owned()).collect(),
                parents: vec![None; bones.len()],
                rest: Vec::new(),
            }),
            properties: curves.iter().map(|c| Property::linear(*c)).collect(),
        }
    }

    fn map(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs
            .iter()
            .map(|(a, b)| ((*a).to_owned(), (*b).to_owned()))
            .collect()
    }

    fn check(rename: &Rename, given: &StaticData, expected: &StaticData) {
        let mut data = given.clone();
        rename.rename(&mut data, &mut Vec::new()).unwrap();
        assert_eq!(data, *expected);
    }

    #[test]
    fn maps_go_before_prefixes_and_names_may_change_places() {
        let rename = Rename {
            bones: map(&[("a", "b"), ("b", "a"), ("左腕", "LeftUpperArm")]),
            strip_prefix: "mixamorig:".into(),
            add_prefix: "ada_".into(),
            of: RenameOf::Bones,
            ..Rename::default()
        };
        check(
            &rename,
            &actor(
                &["a", "b", "左腕", "mixamorig:Hips", "頭"],
                &["mixamorig:x"],
            ),
            &actor(
                &["b", "a", "LeftUpperArm", "ada_Hips", "ada_頭"],
                &["mixamorig:x"],
            ),
        );
    }

    #[test]
    fn arkit_curves_take_the_case_and_others_stay() {
        let given = ["JAWOPEN", "EyeBlinkLeft", "headYaw", "myCurve"];
        for (case, expected) in [
            (
                CurveCase::Camel,
                ["jawOpen", "eyeBlinkLeft", "headYaw", "myCurve"],
            ),
            (
                CurveCase::Pascal,
                ["JawOpen", "EyeBlinkLeft", "HeadYaw", "myCurve"],
            ),
        ] {
            let rename = Rename {
                curve_case: Some(case),
                ..Rename::default()
            };
            check(&rename, &actor(&[], &given), &actor(&[], &expected));
        }
    }

    #[test]
    fn the_case_follows_the_stripped_name() {
        let rename = Rename {
            strip_prefix: "blendShape2.".into(),
            add_prefix: "face_".into(),
            of: RenameOf::Curves,
            curve_case: Some(CurveCase::Pascal),
            ..Rename::default()
        };
        check(
            &rename,
            &actor(&["blendShape2.b"], &["blendShape2.jawOpen"]),
            &actor(&["blendShape2.b"], &["face_JawOpen"]),
        );
    }

    #[test]
    fn two_names_that_become_one_are_named_and_nothing_changes() {
        let given = actor(&["x:Hips", "Hips"], &["jawOpen", "JawOpen"]);
        let rename = Rename {
            strip_prefix: "x:".into(),
            curve_case: Some(CurveCase::Pascal),
            ..Rename::default()
        };
        let mut data = given.clone();
        assert_eq!(
            rename.rename(&mut data, &mut Vec::new()),
            Err(vec![
                "bone \"x:Hips\" and bone \"Hips\" would both be called \"Hips\"".to_owned(),
                "curve \"jawOpen\" and curve \"JawOpen\" would both be called \"JawOpen\""
                    .to_owned(),
            ])
        );
        assert_eq!(data, given);
    }

    #[test]
    fn bones_that_come_with_one_name_may_keep_it() {
        let rename = Rename {
            add_prefix: "a_".into(),
            ..Rename::default()
        };
        check(
            &rename,
            &actor(&["ENDSITE", "ENDSITE"], &[]),
            &actor(&["a_ENDSITE", "a_ENDSITE"], &[]),
        );
    }

    #[test]
    fn names_that_are_none_and_maps_that_clash_are_faults() {
        let faults = |rename: &Rename| {
            let mut out = Vec::new();
            rename.faults(&mut out);
            out
        };
        assert_eq!(faults(&Rename::default()), ["renames nothing"]);
        let rename = Rename {
            curves: map(&[("a", "c"), ("b", "c"), ("d", "")]),
            ..Rename::default()
        };
        let found = faults(&rename);
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(
            found[0],
            "curve \"a\" and curve \"b\" would both be called \"c\""
        );
        // A prefix that is the whole name leaves nothing.
        let rename = Rename {
            strip_prefix: "Hips".into(),
            ..Rename::default()
        };
        let mut data = actor(&["Hips"], &[]);
        assert!(rename.rename(&mut data, &mut Vec::new()).is_err());
    }

    #[test]
    fn a_name_of_the_map_that_is_not_there_is_noted() {
        let rename = Rename {
            curves: map(&[("JawOpen", "mouth"), ("Tail", "tail")]),
            ..Rename::default()
        };
        let mut notes = Vec::new();
        let mut data = actor(&[], &["JawOpen"]);
        rename.rename(&mut data, &mut notes).unwrap();
        assert_eq!(notes, ["no curve is called \"Tail\""]);
    }
}
