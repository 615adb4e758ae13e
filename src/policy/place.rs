//! Walks through an object while keeping the path, for rules that say where a fault is.
//! Must never fail: what is absent or of another type gives nothing, the schema has said so already.

use serde_json::Value;

use super::fault::{Fault, Segment};

/// A part of an object and the path to it.
#[derive(Clone, Debug)]
pub(crate) struct Place<'a> {
    pub(crate) path: Vec<Segment>,
    pub(crate) value: &'a Value,
}

impl<'a> Place<'a> {
    /// A whole object.
    pub(crate) fn root(value: &'a Value) -> Self {
        Self { path: Vec::new(), value }
    }

    /// The part at some fields below, named with dots in between; nothing where it is absent or `null`.
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

    /// The items of the list at some fields below.
    pub(crate) fn items(&self, fields: &str) -> Vec<Self> {
        self.at(fields).map(|list| list.own_items()).unwrap_or_default()
    }

    /// The items of this list.
    pub(crate) fn own_items(&self) -> Vec<Self> {
        let items = self.value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().enumerate().map(|(index, item)| self.step(Segment::Index(index), item)).collect()
    }

    /// The entries of the map at some fields below, by key.
    pub(crate) fn entries(&self, fields: &str) -> Vec<(&'a str, Self)> {
        self.at(fields).map(|map| map.own_entries()).unwrap_or_default()
    }

    /// The entries of this map, by key.
    pub(crate) fn own_entries(&self) -> Vec<(&'a str, Self)> {
        let Some(entries) = self.value.as_object() else {
            return Vec::new();
        };
        entries
            .iter()
            .map(|(key, value)| (key.as_str(), self.step(Segment::Key(key.clone()), value)))
            .collect()
    }

    /// The text at some fields below; nothing where it is absent or no text.
    pub(crate) fn text(&self, fields: &str) -> Option<&'a str> {
        self.at(fields)?.value.as_str()
    }

    /// The whole number at some fields below; nothing where it is absent or none.
    pub(crate) fn integer(&self, fields: &str) -> Option<i64> {
        self.at(fields)?.value.as_i64()
    }

    /// The truth value at some fields below; nothing where it is absent or none.
    pub(crate) fn flag(&self, fields: &str) -> Option<bool> {
        self.at(fields)?.value.as_bool()
    }

    /// Whether something stands at some fields below.
    pub(crate) fn has(&self, fields: &str) -> bool {
        self.at(fields).is_some()
    }

    /// A fault of this part.
    pub(crate) fn fault(&self, message: impl Into<String>) -> Fault {
        Fault { path: self.path.clone(), message: message.into(), hint: None }
    }

    /// A fault of a field below this part, whether it is there or not.
    pub(crate) fn fault_at(&self, fields: &str, message: impl Into<String>) -> Fault {
        let mut fault = self.fault(message);
        fault.path.extend(fields.split('.').map(|field| Segment::Key(field.to_owned())));
        fault
    }
}
