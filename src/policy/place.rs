//! Navigates an object while tracking the path, for rules that report where a fault is. Must never fail: absent parts
//! and parts of another type yield nothing, because the schema has reported them already.

use serde_json::Value;

use super::fault::{Fault, Segment};

/// A part of an object and the path to it.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) path: Vec<Segment>,
    pub(crate) value: &'a Value,
}

impl<'a> Place<'a> {
    /// Returns a whole object.
    pub(crate) fn root(value: &'a Value) -> Self {
        Self { path: Vec::new(), value }
    }

    /// Returns the part at a path of fields separated by dots; `None` if it is absent or `null`.
    pub(crate) fn at(&self, fields: &str) -> Option<Self> {
        let mut place = self.clone();
        for field in fields.split('.') {
            place = place.field(field)?;
        }
        Some(place)
    }

    fn field(&self, name: &str) -> Option<Self> {
        let value = self.value.get(name).filter(|value| !value.is_null())?;
        Some(self.step(Segment::Key(name.to_owned()), value))
    }

    fn step(&self, segment: Segment, value: &'a Value) -> Self {
        let mut path = self.path.clone();
        path.push(segment);
        Self { path, value }
    }

    /// Returns the items of the list at a path.
    pub(crate) fn items(&self, fields: &str) -> Vec<Self> {
        self.at(fields).map(|list| list.own_items()).unwrap_or_default()
    }

    /// Returns the items of this list.
    pub(crate) fn own_items(&self) -> Vec<Self> {
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().enumerate().map(|(index, item)| self.step(Segment::Index(index), item)).collect()
    }

    /// Returns the entries of the map at a path, by key.
    pub(crate) fn entries(&self, fields: &str) -> Vec<(&'a str, Self)> {
        self.at(fields).map(|map| map.own_entries()).unwrap_or_default()
    }

    /// Returns the entries of this map, by key.
    pub(crate) fn own_entries(&self) -> Vec<(&'a str, Self)> {
        let Some(entries) = self.value.as_object() else {
            return Vec::new();
        };
        entries
            .iter()
            .map(|(key, value)| (key.as_str(), self.step(Segment::Key(key.clone()), value)))
            .collect()
    }

    /// Returns the text at a path; `None` if it is absent or not text.
    pub(crate) fn text(&self, fields: &str) -> Option<&'a str> {
        self.at(fields)?.value.as_str()
    }

    /// Returns the integer at a path; `None` if it is absent or not an integer.
    pub(crate) fn integer(&self, fields: &str) -> Option<i64> {
        self.at(fields)?.value.as_i64()
    }

    /// Returns the boolean at a path; `None` if it is absent or not a boolean.
    pub(crate) fn flag(&self, fields: &str) -> Option<bool> {
        self.at(fields)?.value.as_bool()
    }

    /// Returns whether a value exists at a path.
    pub(crate) fn has(&self, fields: &str) -> bool {
        self.at(fields).is_some()
    }

    /// Creates a fault of this part.
    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault { path: self.path.clone(), message: message.into(), hint: None }
    }

    /// Creates a fault of a field below this part, whether or not it exists.
    pub(crate) fn fault_at(&self, fields: &str, message: impl Into<String>) -> Fault {
        let mut fault = self.fault(message);
        fault.path.extend(fields.split('.').map(|field| Segment::Key(field.to_owned())));
        fault
    }
}
