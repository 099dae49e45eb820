//! Reads pieces of an extension: values checked and bounded, what is wrong gathered.

use std::fmt::Arguments;

use glam::Vec3;
use serde_json::Value;

use crate::{
    character::Character,
    error::{FaultKind, Faults},
};

/// Longest name kept, in characters.
pub(super) const MAX_NAME: usize = 256;

/// Longest text kept, in characters: licences and credits.
pub(super) const MAX_TEXT: usize = 4096;

/// Most notes that are listed; the rest is counted.
const MAX_NOTES: usize = 64;

/// Greatest absolute number that is taken. Sums and squares of such stay finite.
const MAX_NUMBER: f64 = 1e6;

/// Reads what the extensions say and gathers faults and notes.
pub(super) struct Reader<'a> {
    pub(super) character: &'a Character,
    faults: Faults,
    notes: Vec<String>,
    num_unlisted: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(character: &'a Character) -> Self {
        Self {
            character,
            faults: Faults::default(),
            notes: Vec::new(),
            num_unlisted: 0,
        }
    }

    /// All that was found wrong, and all that was left out.
    pub(super) fn finish(mut self) -> (Faults, Vec<String>) {
        if self.num_unlisted > 0 {
            self.notes.push(format!("and {} more", self.num_unlisted));
        }
        (self.faults, self.notes)
    }

    pub(super) fn fault(&mut self, path: Arguments<'_>, kind: FaultKind) {
        self.faults.note(path, kind);
    }

    /// Notes what was left out or changed, and where.
    pub(super) fn note(&mut self, path: Arguments<'_>, what: Arguments<'_>) {
        if self.notes.len() == MAX_NOTES {
            self.num_unlisted += 1;
            return;
        }
        self.notes.push(format!("{what} at {path}"));
    }

    pub(super) fn num_nodes(&self) -> usize {
        self.character.nodes.len()
    }

    /// How many items the document's own array of that key has.
    pub(super) fn count(&self, key: &str) -> usize {
        array(&self.character.document, key).len()
    }

    /// A node's index; what is none is a note.
    pub(super) fn node(&mut self, value: Option<&Value>, path: Arguments<'_>) -> Option<usize> {
        let found = index(value, self.num_nodes());
        if found.is_none() {
            self.note(path, format_args!("no such node"));
        }
        found
    }

    /// At most `most` items of that array; a note when there are more.
    pub(super) fn items<'v>(
        &mut self,
        of: &'v Value,
        key: &str,
        most: usize,
        path: Arguments<'_>,
    ) -> &'v [Value] {
        match of.get(key) {
            None | Some(Value::Null) => &[],
            Some(Value::Array(items)) => {
                if items.len() > most {
                    let more = items.len() - most;
                    self.note(
                        format_args!("{path}/{key}"),
                        format_args!("{more} items beyond the first {most} left out"),
                    );
                }
                items.get(..most).unwrap_or(items)
            }
            Some(_) => {
                self.note(
                    format_args!("{path}/{key}"),
                    format_args!("array expected, left out"),
                );
                &[]
            }
        }
    }

    /// The number of that key; `default` when there is none, and with a note when it is unusable.
    pub(super) fn number_or(
        &mut self,
        of: &Value,
        key: &str,
        default: f32,
        path: Arguments<'_>,
    ) -> f32 {
        let Some(value) = of.get(key) else {
            return default;
        };
        number(value).unwrap_or_else(|| {
            self.note(
                format_args!("{path}/{key}"),
                format_args!("usable number expected, {default} taken"),
            );
            default
        })
    }

    /// `[x, y, z]` of that key; `default` when there is none, and with a note when it is unusable.
    pub(super) fn vec3_or(
        &mut self,
        of: &Value,
        key: &str,
        default: Vec3,
        path: Arguments<'_>,
    ) -> Vec3 {
        let Some(value) = of.get(key) else {
            return default;
        };
        let found = numbers(value).map(Vec3::from_array);
        found.unwrap_or_else(|| {
            self.note(
                format_args!("{path}/{key}"),
                format_args!("three usable numbers expected, {default} taken"),
            );
            default
        })
    }
}

/// The array of that key; empty when there is none.
pub(super) fn array<'v>(of: &'v Value, key: &str) -> &'v [Value] {
    let items = of.get(key).and_then(Value::as_array);
    items.map_or(&[], Vec::as_slice)
}

/// An index below `count`.
pub(super) fn index(value: Option<&Value>, count: usize) -> Option<usize> {
    let index = usize::try_from(value?.as_u64()?).ok()?;
    (index < count).then_some(index)
}

/// A finite number of usable size.
pub(super) fn number(value: &Value) -> Option<f32> {
    let number = value.as_f64()?;
    // Written so that what is no number fails too.
    (number.abs() <= MAX_NUMBER).then_some(number as f32)
}

/// Exactly `N` usable numbers.
pub(super) fn numbers<const N: usize>(value: &Value) -> Option<[f32; N]> {
    let items = value.as_array()?;
    if items.len() != N {
        return None;
    }
    let mut all = [0.0; N];
    for (place, item) in all.iter_mut().zip(items) {
        *place = number(item)?;
    }
    Some(all)
}

/// `{"x": 0, "y": 0, "z": 0}` of VRM 0.x, in Unity's axes as written. A missing coordinate is 0.
pub(super) fn unity(value: &Value) -> Option<Vec3> {
    let fields = value.as_object()?;
    let one = |key: &str| fields.get(key).map_or(Some(0.0), number);
    Some(Vec3::new(one("x")?, one("y")?, one("z")?))
}

/// The text of that key without control characters but line breaks; empty when there is none.
pub(super) fn text(of: &Value, key: &str, most: usize) -> String {
    of.get(key).map_or_else(String::new, |v| tidy(v, most))
}

/// The text without control characters but line breaks, cut after `most` characters; empty when it is no text.
pub(super) fn tidy(value: &Value, most: usize) -> String {
    let text = value.as_str().unwrap_or_default();
    let kept = text.chars().filter(|c| *c == '\n' || !c.is_control());
    kept.take(most).collect()
}

/// Whether that key is true.
pub(super) fn flag(of: &Value, key: &str) -> bool {
    of.get(key).and_then(Value::as_bool).unwrap_or(false)
}
