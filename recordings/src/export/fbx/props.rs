//! `Properties70`: named, typed values of an object.
//!
//! ```text
//! P: name, type, label, flags, value...      flags: A animatable, + animated, U of the user
//! ```

use serde_json::Value as Json;

use super::record::{Record, Value};
use crate::export::names::{Rule, unique};

/// A list of properties under construction.
pub(super) struct Props(Record<'static>);

impl Props {
    pub(super) fn new() -> Self {
        Self(Record::new("Properties70"))
    }

    pub(super) fn done(self) -> Record<'static> {
        self.0
    }

    fn with(
        self,
        name: &str,
        [kind, label, flags]: [&str; 3],
        values: impl IntoIterator<Item = Value<'static>>,
    ) -> Self {
        let mut property = Record::new("P")
            .value(name)
            .value(kind)
            .value(label)
            .value(flags);
        for value in values {
            property = property.value(value);
        }
        Self(self.0.child(property))
    }

    pub(super) fn int(self, name: &str, v: i32) -> Self {
        self.with(name, ["int", "Integer", ""], [v.into()])
    }

    /// A switch; the format keeps it as a number.
    pub(super) fn switch(self, name: &str, on: bool) -> Self {
        self.with(name, ["bool", "", ""], [i32::from(on).into()])
    }

    pub(super) fn choice(self, name: &str, v: i32) -> Self {
        self.with(name, ["enum", "", ""], [v.into()])
    }

    pub(super) fn double(self, name: &str, v: f64) -> Self {
        self.with(name, ["double", "Number", ""], [v.into()])
    }

    /// A number that a curve may move.
    pub(super) fn number(self, name: &str, v: f64) -> Self {
        self.with(name, ["Number", "", "A"], [v.into()])
    }

    pub(super) fn time(self, name: &str, ticks: i64) -> Self {
        self.with(name, ["KTime", "Time", ""], [ticks.into()])
    }

    pub(super) fn text(self, name: &str, v: &str) -> Self {
        self.with(name, ["KString", "", ""], [v.into()])
    }

    pub(super) fn url(self, name: &str, v: &str) -> Self {
        self.with(name, ["KString", "Url", ""], [v.into()])
    }

    pub(super) fn date(self, name: &str, v: &str) -> Self {
        self.with(name, ["DateTime", "", ""], [v.into()])
    }

    /// A name without a value, such as what others are grouped under.
    pub(super) fn bare(self, name: &str, kind: &str) -> Self {
        self.with(name, [kind, "", ""], [])
    }

    pub(super) fn vector(self, name: &str, v: [f64; 3]) -> Self {
        self.with(name, ["Vector3D", "Vector", ""], v.map(Value::from))
    }

    pub(super) fn rgb(self, name: &str, v: [f64; 3]) -> Self {
        self.with(name, ["ColorRGB", "Color", ""], v.map(Value::from))
    }

    /// A colour that a curve may move.
    pub(super) fn color(self, name: &str, v: [f64; 3]) -> Self {
        self.with(name, ["Color", "", "A"], v.map(Value::from))
    }

    /// A lens angle in degrees; its type is called as it is itself.
    pub(super) fn angle(self, name: &str, degrees: f64) -> Self {
        self.with(name, [name, "", "A"], [degrees.into()])
    }

    /// `Lcl Translation`, `Lcl Rotation` or `Lcl Scaling`; their type is called as they are themselves.
    pub(super) fn local(self, name: &str, v: [f64; 3]) -> Self {
        self.with(name, [name, "", "A"], v.map(Value::from))
    }

    /// Facts of the take as properties of the user: text, numbers and switches as they are, lists and
    /// objects as JSON text, what is null not at all.
    pub(super) fn facts(mut self, facts: &[(String, Json)]) -> Self {
        let names = unique(facts.iter().map(|(name, _)| name.as_str()), Rule::Fbx).written;
        for (name, (_, fact)) in names.iter().zip(facts) {
            self = match fact {
                Json::Null => self,
                Json::Bool(on) => self.with(name, ["bool", "", "A+U"], [i32::from(*on).into()]),
                Json::Number(number) => match number.as_f64() {
                    Some(v) => self.with(name, ["Number", "", "A+U"], [v.into()]),
                    None => self.user_text(name, &number.to_string()),
                },
                Json::String(v) => self.user_text(name, v),
                Json::Array(_) | Json::Object(_) => self.user_text(name, &fact.to_string()),
            };
        }
        self
    }

    fn user_text(self, name: &str, v: &str) -> Self {
        self.with(name, ["KString", "", "U"], [v.into()])
    }
}
