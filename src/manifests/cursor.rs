//! Reads fields of a document and collects all faults, each with its line.
//!
//! An absent field and an empty one are the same, as in Kubernetes. Fields that are not read are not checked, because
//! they belong to Kubernetes.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use jiff::Timestamp;

use crate::api::units;
use crate::model::{Quantity, ResourceName, Resources};

use super::fault::{Fault, Segment};
use super::tree::{Tree, Value, shortened};

/// An object under reading.
pub struct Document<'a> {
    /// The source's name.
    pub file: &'a Arc<str>,
    /// The whole object.
    pub root: &'a Tree,
    /// The object as `Kind/name`.
    pub object: String,
    faults: RefCell<Vec<Fault>>,
}

impl<'a> Document<'a> {
    /// Creates the document of an object.
    #[must_use]
    pub fn new(file: &'a Arc<str>, root: &'a Tree) -> Self {
        let name = root.at(&["metadata", "name"]).and_then(Tree::as_text);
        let name = name.map_or(String::new(), |name| format!("/{}", shortened(name)));
        let object = format!("{}{name}", shortened(root.text("kind").unwrap_or("object")));
        Self { file, root, object, faults: RefCell::default() }
    }

    /// Returns the place of the whole object.
    #[must_use]
    pub const fn cursor(&'a self) -> Cursor<'a> {
        Cursor { document: self, tree: self.root }
    }

    /// Returns the collected faults.
    #[must_use]
    pub fn into_faults(self) -> Vec<Fault> {
        self.faults.into_inner()
    }
}

/// A place in a document.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    /// The document.
    pub document: &'a Document<'a>,
    /// The value at this place.
    pub tree: &'a Tree,
}

/// Rounding direction for amounts of resources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amounts {
    /// Up, for requested amounts.
    Requests,
    /// Down, for available amounts.
    Capacity,
}

impl<'a> Cursor<'a> {
    /// Adds a fault of this value.
    pub fn fault(self, message: impl Into<String>, hint: Option<&str>) {
        self.document.faults.borrow_mut().push(self.fault_here(message, hint));
    }

    /// Returns a fault of this value without adding it, because it may be dropped.
    #[must_use]
    pub fn fault_here(self, message: impl Into<String>, hint: Option<&str>) -> Fault {
        let Document { file, root, object, faults: _ } = self.document;
        Fault {
            file: Arc::clone(file),
            line: self.tree.line,
            path: root.path_to(self.tree).unwrap_or_default(),
            object: Some(object.clone()),
            message: message.into(),
            hint: hint.map(str::to_owned),
        }
    }

    /// Adds a fault for a missing field.
    pub fn missing(self, key: &str, hint: &str) {
        let Document { file, root, object, faults } = self.document;
        let mut path = root.path_to(self.tree).unwrap_or_default();
        path.push(Segment::Key(key.to_owned()));
        faults.borrow_mut().push(Fault {
            file: Arc::clone(file),
            line: self.tree.line,
            path,
            object: Some(object.clone()),
            message: "is missing".to_owned(),
            hint: Some(hint.to_owned()),
        });
    }

    fn wrong(self, wanted: &str, hint: Option<&str>) {
        self.fault(format!("must be {wanted} and is {}", self.tree.value.describe()), hint);
    }

    /// Returns the place of a field that exists and is not empty.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Self> {
        if self.tree.as_map().is_none() {
            if self.tree.value != Value::Null {
                self.wrong("a map", None);
            }
            return None;
        }
        let tree = self.tree.get(key).filter(|tree| tree.value != Value::Null)?;
        Some(Self { tree, ..self })
    }

    /// Returns this value as text.
    #[must_use]
    pub fn as_text(self) -> Option<&'a Arc<str>> {
        let text = self.tree.as_text();
        if text.is_none() {
            match &self.tree.value {
                Value::Bool(truth) => {
                    let (message, hint) = truth.instead_of_text();
                    self.fault(message, Some(&hint));
                }
                Value::Null | Value::Integer(_) | Value::Decimal(_) => {
                    self.wrong("text", Some("put it in quotes"));
                }
                Value::Text(_) | Value::List(_) | Value::Map(_) => self.wrong("text", None),
            }
        }
        text
    }

    /// Returns a text field.
    #[must_use]
    pub fn text(self, key: &str) -> Option<&'a Arc<str>> {
        self.get(key)?.as_text()
    }

    /// Returns a boolean field; absent is false.
    #[must_use]
    pub fn flag(self, key: &str) -> bool {
        let Some(field) = self.get(key) else { return false };
        if let Value::Bool(value) = field.tree.value {
            return value.is_true();
        }
        field.wrong("`true` or `false`", None);
        false
    }

    /// Returns an integer field within this range.
    #[must_use]
    pub fn integer(self, key: &str, range: RangeInclusive<i64>) -> Option<i64> {
        let field = self.get(key)?;
        let number = match &field.tree.value {
            Value::Integer(number) => Some(*number),
            // Kubernetes treats `5.0` and `1e3` as integers.
            Value::Decimal(text) => Quantity::parse(text)
                .filter(|quantity| quantity.units_up() == quantity.units_down())
                .map(|quantity| quantity.units_up()),
            Value::Null | Value::Bool(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => None,
        };
        let Some(number) = number else {
            let text = field.tree.as_text();
            let seconds = text.filter(|_| key.ends_with("Seconds")).and_then(|text| units::seconds(text));
            let hint = seconds.map(|seconds| format!("write the seconds: `{key}: {seconds}`"));
            field.wrong("a whole number", hint.as_deref());
            return None;
        };
        if range.contains(&number) {
            return Some(number);
        }
        let (least, most) = (range.start(), range.end());
        // Beyond 64 bits, show the digits as written.
        let written = match &field.tree.value {
            Value::Decimal(text) => text.to_string(),
            Value::Integer(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Text(_)
            | Value::List(_)
            | Value::Map(_) => number.to_string(),
        };
        let nearest = if number < *least { least } else { most };
        let hint = format!("the nearest that can be is `{key}: {nearest}`");
        field.fault(format!("must be from {least} to {most} and is {written}"), Some(&hint));
        None
    }

    /// Returns the place of each item of a list field.
    #[must_use]
    pub fn items(self, key: &str) -> Vec<Self> {
        let Some(field) = self.get(key) else { return Vec::new() };
        let Some(items) = field.tree.as_list() else {
            field.wrong("a list", Some("begin each item with `- `"));
            return Vec::new();
        };
        items.iter().map(|tree| Self { tree, ..self }).collect()
    }

    /// Returns a field with a list of texts.
    #[must_use]
    pub fn texts(self, key: &str) -> Vec<&'a Arc<str>> {
        self.items(key).into_iter().filter_map(Self::as_text).collect()
    }

    /// Returns the entries of a map field: each key with its value's place.
    #[must_use]
    pub fn entries(self, key: &str) -> Vec<(&'a Arc<str>, Self)> {
        let Some(field) = self.get(key) else { return Vec::new() };
        let Some(entries) = field.tree.as_map() else {
            field.wrong("a map", None);
            return Vec::new();
        };
        entries.iter().map(|entry| (&entry.key, Self { tree: &entry.value, ..self })).collect()
    }

    /// Returns a field with a map of texts, such as labels. A null value is empty text.
    #[must_use]
    pub fn text_map(self, key: &str) -> BTreeMap<&'a Arc<str>, Arc<str>> {
        let read = |(key, value): (&'a Arc<str>, Self)| {
            if value.tree.value == Value::Null {
                return Some((key, Arc::from("")));
            }
            value.as_text().map(|text| (key, Arc::clone(text)))
        };
        self.entries(key).into_iter().filter_map(read).collect()
    }

    /// Returns the index of a field's value in a list of allowed names.
    #[must_use]
    pub fn choice(self, key: &str, names: &[&str]) -> Option<usize> {
        let field = self.get(key)?;
        let text = field.as_text()?;
        let found = names.iter().position(|name| **name == **text);
        if found.is_none() {
            field.unknown(text, names);
        }
        found
    }

    /// Adds a fault for an unknown name, suggesting the nearest known one.
    pub fn unknown(self, text: &str, names: &[&str]) {
        let nearest = names
            .iter()
            .map(|name| (strsim::damerau_levenshtein(&name.to_lowercase(), &text.to_lowercase()), *name))
            .min()
            .filter(|(distance, name)| *distance <= name.len() / 2)
            .map(|(_, name)| format!("did you mean `{name}`?"));
        let message = format!("must be one of {} and is {:?}", quoted(names), shortened(text));
        self.fault(message, nearest.as_deref());
    }

    /// Returns a field with a timestamp.
    #[must_use]
    pub fn time(self, key: &str) -> Option<Timestamp> {
        let field = self.get(key)?;
        let time = field.as_text()?.parse().ok();
        if time.is_none() {
            field.wrong("a time", Some("write it as 2026-11-21T09:00:00Z"));
        }
        time
    }

    /// Returns a field with a map of amounts by resource.
    #[must_use]
    pub fn resources(self, key: &str, amounts: Amounts) -> Resources {
        let mut resources = Resources::none();
        for (name, value) in self.entries(key) {
            let resource = ResourceName::parse(name);
            if let Some(amount) = value.amount(&resource, amounts) {
                resources.set(resource, amount);
            }
        }
        resources
    }

    fn amount(self, resource: &ResourceName, amounts: Amounts) -> Option<i64> {
        let text = match &self.tree.value {
            Value::Integer(number) => Arc::from(number.to_string()),
            Value::Decimal(text) | Value::Text(text) => Arc::clone(text),
            Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => {
                self.wrong("a quantity", Some(QUANTITY));
                return None;
            }
        };
        let Some(quantity) = Quantity::parse(&text) else {
            let hint = units::quantity(&text);
            self.wrong("a quantity", Some(hint.as_deref().unwrap_or(QUANTITY)));
            return None;
        };
        let amount = match amounts {
            Amounts::Requests => resource.request(&quantity),
            Amounts::Capacity => resource.capacity(&quantity),
        };
        let is_whole = quantity.units_up() == quantity.units_down();
        let is_extended = matches!(resource, ResourceName::Other(name) if name.contains('/'));
        let wrong = if quantity.is_negative() {
            Some(("must not be negative", QUANTITY))
        } else if amount == i64::MAX {
            Some((
                "is more than any node can have: it must be below 2^63 of its unit",
                "write what it really is",
            ))
        } else if is_extended && !is_whole {
            Some((
                "must be a whole number: Kubernetes does not share such a resource in parts",
                "write a number such as `1`",
            ))
        } else {
            None
        };
        match wrong {
            Some((wrong, hint)) => {
                self.fault(format!("{wrong}, and is `{}`", shortened(&text)), Some(hint));
                None
            }
            None => Some(amount),
        }
    }
}

const QUANTITY: &str = "write a number with a unit, such as `500m`, `2`, `1.5Gi`";

/// Formats names as a list for people.
fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
