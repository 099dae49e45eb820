//! Names to places, on one side of a map.

use std::collections::BTreeSet;

use crate::face::{
    names::{Lookup, curve_key, nearest},
    sets::{CurveSet, SetId},
};

/// The curves that are there, and the set from which a map may name more.
#[derive(Debug)]
pub(crate) struct Binder {
    /// `source` or `target`, for faults.
    side: &'static str,
    names: Vec<String>,
    lookup: Lookup,
    set: Option<CurveSet>,
    /// Names of the set that are asked for and not there.
    absent: BTreeSet<String>,
}

impl Binder {
    pub(crate) fn new(side: &'static str, names: &[&str], set: Option<SetId>) -> Self {
        Self {
            side,
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            lookup: Lookup::new(names),
            set: set.map(CurveSet::known),
            absent: BTreeSet::new(),
        }
    }

    pub(crate) fn num_names(&self) -> usize {
        self.names.len()
    }

    pub(crate) fn name(&self, at: usize) -> &str {
        self.names.get(at).map_or("", String::as_str)
    }

    /// Names that the map knows and that are not there.
    pub(crate) fn absent(&self) -> Vec<String> {
        self.absent.iter().cloned().collect()
    }

    /// What two spellings of one curve have in common.
    pub(crate) fn identity(&self, name: &str) -> String {
        let in_set = self.set.as_ref().and_then(|set| {
            let at = set.index_of(name)?;
            set.keys_at(at).first().cloned()
        });
        in_set.unwrap_or_else(|| curve_key(name))
    }

    /// Whether a curve of that name is there.
    pub(crate) fn has(&self, name: &str) -> bool {
        !self.places(name).is_empty()
    }

    /// Places of all curves of that name; none for a name of the set that is not there. A name that is neither
    /// there nor of the set is a fault.
    pub(crate) fn find(&mut self, name: &str, faults: &mut Vec<String>) -> Vec<u32> {
        let places = self.places(name);
        if !places.is_empty() {
            return places;
        }
        let is_known = self
            .set
            .as_ref()
            .is_some_and(|set| set.index_of(name).is_some());
        if is_known {
            self.absent.insert(name.to_owned());
            return places;
        }
        let (side, near) = (self.side, self.nearest(name));
        let of_set = self.set.as_ref().map(|set| format!(" of {}", set.name()));
        let of_set = of_set.unwrap_or_default();
        let hint = near.map_or_else(String::new, |near| format!("; the nearest is {near}"));
        let fault = format!("{name} is no {side} curve{of_set}{hint}");
        if !faults.contains(&fault) {
            faults.push(fault);
        }
        places
    }

    fn places(&self, name: &str) -> Vec<u32> {
        let of_set = self
            .set
            .as_ref()
            .and_then(|set| Some(set.keys_at(set.index_of(name)?)));
        let own = [curve_key(name)];
        let mut places: Vec<u32> = Vec::new();
        // The map's own spelling first: it decides between a name and an alias that are both there.
        for key in own.iter().chain(of_set.unwrap_or_default()) {
            for at in self.lookup.with_key(key) {
                if !places.contains(&(at as u32)) {
                    places.push(at as u32);
                }
            }
        }
        places
    }

    fn nearest(&self, name: &str) -> Option<&str> {
        match &self.set {
            Some(set) => set.nearest(name),
            None => nearest(name, self.names.iter().map(String::as_str)),
        }
    }
}
