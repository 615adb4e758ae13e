//! A document with its formatting: keys, values, and the comments and spaces around them.
//!
//! Unchanged parts are written back byte for byte. Must never know a kind: rules are elsewhere.

mod read;
mod write;

use std::sync::Arc;

use crate::manifests::tree::{Tree, Value};

pub(super) use read::{Document, Unreadable, read};
pub(super) use write::{fresh, write};

/// A value with its source text.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The line, from 1; 0 for values that were not read.
    pub(super) line: usize,
    /// The value.
    pub(super) shape: Shape,
    style: Style,
    /// Source text of a scalar or flow collection, while it is unchanged.
    raw: Option<Raw>,
}

/// Shape of a value.
#[derive(Clone, Debug)]
pub(super) enum Shape {
    /// A scalar.
    Scalar(Value),
    /// The entries of a map.
    Map(Vec<Entry>),
    /// The items of a list; their keys are empty.
    List(Vec<Entry>),
}

/// Style of a collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Style {
    /// Block style, indented by this many columns relative to its parent.
    Block(usize),
    /// Flow style; `step` is the indentation of its parts if they are on separate lines.
    Flow { has_comment: bool, step: Option<usize> },
    /// Not read: uses the style of its surroundings.
    New,
}

/// Text and the column at which its first line begins.
#[derive(Clone, Debug)]
struct Raw {
    text: String,
    column: usize,
}

/// A key with its value, or an item of a list.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    /// The key; empty for an item.
    pub(super) key: Arc<str>,
    /// The line of the key or the dash.
    pub(super) line: usize,
    /// The value.
    pub(super) value: Node,
    /// Comments and blank lines before it.
    lead: Vec<Raw>,
    /// Rest of its line: a comment.
    trail: String,
    /// Comments below it with the same indentation.
    foot: Vec<Raw>,
    /// Its whole source text, while it is unchanged.
    written: Option<Raw>,
}

impl Entry {
    /// Creates an entry that is not in the source.
    pub(super) fn new(key: &str, value: Node) -> Self {
        let line = value.line;
        let (lead, foot) = (Vec::new(), Vec::new());
        Self { key: Arc::from(key), line, value, lead, trail: String::new(), foot, written: None }
    }

    /// Returns the entry under another key, with its comments.
    pub(super) fn renamed(self, key: &str) -> Self {
        Self { key: Arc::from(key), written: None, ..self }
    }

    /// Returns the entry with another value, with its comments.
    pub(super) fn with(self, value: Node) -> Self {
        Self { value, written: None, ..self }
    }

    /// Moves the comments before this entry to another.
    pub(super) fn lead_to(&mut self, other: &mut Self) {
        let mut lead = std::mem::take(&mut self.lead);
        lead.append(&mut other.lead);
        other.lead = lead;
    }

    /// Returns the value for modification.
    pub(super) fn change(&mut self) -> &mut Node {
        self.written = None;
        self.value.raw = None;
        &mut self.value
    }
}

impl Node {
    /// Creates a node from a value that is not in the source.
    pub(super) const fn new(shape: Shape) -> Self {
        Self { line: 0, shape, style: Style::New, raw: None }
    }

    /// Creates text.
    pub(super) fn text(text: &str) -> Self {
        Self::new(Shape::Scalar(Value::Text(Arc::from(text))))
    }

    /// Creates an integer.
    pub(super) const fn integer(number: i64) -> Self {
        Self::new(Shape::Scalar(Value::Integer(number)))
    }

    /// Creates a map.
    pub(super) const fn map(entries: Vec<Entry>) -> Self {
        Self::new(Shape::Map(entries))
    }

    /// Creates a list of texts.
    pub(super) fn texts<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        Self::new(Shape::List(texts.into_iter().map(|text| Entry::new("", Self::text(text))).collect()))
    }

    /// Converts a tree to a node without source text.
    pub(super) fn of_tree(tree: &Tree) -> Self {
        let shape = match &tree.value {
            Value::Map(entries) => Shape::Map(
                entries
                    .iter()
                    .map(|entry| Entry {
                        line: entry.line,
                        ..Entry::new(&entry.key, Self::of_tree(&entry.value))
                    })
                    .collect(),
            ),
            Value::List(items) => {
                Shape::List(items.iter().map(|item| Entry::new("", Self::of_tree(item))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) | Value::Text(_) => {
                Shape::Scalar(tree.value.clone())
            }
        };
        Self { line: tree.line, ..Self::new(shape) }
    }

    /// Converts the node to a tree.
    pub(super) fn tree(&self) -> Tree {
        let value = match &self.shape {
            Shape::Scalar(value) => value.clone(),
            Shape::Map(entries) => Value::Map(
                entries
                    .iter()
                    .map(|entry| crate::manifests::tree::Entry {
                        key: Arc::clone(&entry.key),
                        line: entry.line,
                        value: entry.value.tree(),
                    })
                    .collect(),
            ),
            Shape::List(items) => Value::List(items.iter().map(|item| item.value.tree()).collect()),
        };
        Tree { line: self.line, value }
    }

    /// Returns the entries of the map; none if it is not a map.
    pub(super) fn entries(&self) -> &[Entry] {
        if let Shape::Map(entries) = &self.shape { entries } else { &[] }
    }

    /// Returns the items of the list; none if it is not a list.
    pub(super) fn items(&self) -> &[Entry] {
        if let Shape::List(items) = &self.shape { items } else { &[] }
    }

    /// Returns whether it is empty.
    pub(super) fn is_empty(&self) -> bool {
        match &self.shape {
            Shape::Scalar(value) => *value == Value::Null,
            Shape::Map(parts) | Shape::List(parts) => parts.is_empty(),
        }
    }

    /// Returns the value of a key.
    pub(super) fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|entry| &*entry.key == key).map(|entry| &entry.value)
    }

    /// Returns the value at a path of keys separated by dots.
    pub(super) fn at(&self, path: &str) -> Option<&Self> {
        path.split('.').try_fold(self, Self::get)
    }

    /// Returns the text; `None` if it is not text.
    pub(super) fn as_text(&self) -> Option<&str> {
        if let Shape::Scalar(Value::Text(text)) = &self.shape { Some(text) } else { None }
    }

    /// Returns a text, number or boolean as text.
    pub(super) fn scalar(&self) -> Option<String> {
        match &self.shape {
            Shape::Scalar(Value::Text(text) | Value::Decimal(text)) => Some(text.to_string()),
            Shape::Scalar(Value::Integer(number)) => Some(number.to_string()),
            Shape::Scalar(Value::Bool(value)) => Some(value.to_string()),
            Shape::Scalar(_) | Shape::Map(_) | Shape::List(_) => None,
        }
    }

    /// Returns the integer; `None` if it is not an integer.
    pub(super) const fn as_integer(&self) -> Option<i64> {
        if let Shape::Scalar(Value::Integer(number)) = self.shape { Some(number) } else { None }
    }

    /// Returns the parts of a collection for modification; `None` for a scalar.
    pub(super) fn parts_mut(&mut self) -> Option<&mut Vec<Entry>> {
        self.raw = None;
        match &mut self.shape {
            Shape::Map(parts) | Shape::List(parts) => Some(parts),
            Shape::Scalar(_) => None,
        }
    }

    /// Returns an entry for modification.
    pub(super) fn entry_mut(&mut self, key: &str) -> Option<&mut Entry> {
        let parts = self.parts_mut()?;
        let entry = parts.iter_mut().find(|entry| &*entry.key == key)?;
        entry.written = None;
        Some(entry)
    }

    /// Returns the value at a path of keys separated by dots, for modification.
    pub(super) fn at_mut(&mut self, path: &str) -> Option<&mut Self> {
        path.split('.').try_fold(self, |node, key| node.entry_mut(key).map(Entry::change))
    }

    /// Changes the value at a path of keys separated by dots. Keeps the source text of everything if `edit` reports no
    /// change.
    pub(super) fn edit_at(&mut self, path: &str, edit: impl FnOnce(&mut Self) -> bool) -> bool {
        let (key, rest) = path.split_once('.').map_or((path, None), |(key, rest)| (key, Some(rest)));
        let place = self.entries().iter().position(|entry| &*entry.key == key);
        let Some(place) = place else { return false };
        self.edit_part(place, |node| match rest {
            Some(rest) => node.edit_at(rest, edit),
            None => edit(node),
        })
    }

    /// Calls `edit` for each part of a collection. Parts for which it reports no change keep their source text.
    pub(super) fn edit_parts(&mut self, mut edit: impl FnMut(usize, &str, &mut Self) -> bool) -> bool {
        let keys: Vec<Arc<str>> = match &self.shape {
            Shape::Map(parts) | Shape::List(parts) => {
                parts.iter().map(|part| Arc::clone(&part.key)).collect()
            }
            Shape::Scalar(_) => Vec::new(),
        };
        let mut is_changed = false;
        for (place, key) in keys.iter().enumerate() {
            is_changed |= self.edit_part(place, |node| edit(place, key, node));
        }
        is_changed
    }

    fn edit_part(&mut self, place: usize, edit: impl FnOnce(&mut Self) -> bool) -> bool {
        let (Shape::Map(parts) | Shape::List(parts)) = &mut self.shape else { return false };
        let Some(mut part) = parts.get(place).cloned() else { return false };
        let is_changed = edit(part.change());
        if is_changed {
            parts[place] = part;
            self.raw = None;
        }
        is_changed
    }

    /// Removes an entry and returns it.
    pub(super) fn take(&mut self, key: &str) -> Option<Entry> {
        self.get(key)?;
        let parts = self.parts_mut()?;
        let place = parts.iter().position(|entry| &*entry.key == key)?;
        Some(parts.remove(place))
    }

    /// Replaces the entry with the same key, or appends the entry.
    pub(super) fn put(&mut self, entry: Entry) {
        if !matches!(self.shape, Shape::Map(_)) {
            *self = Self::map(Vec::new());
        }
        let Some(parts) = self.parts_mut() else { return };
        match parts.iter_mut().find(|present| present.key == entry.key) {
            Some(present) => *present = Entry { lead: std::mem::take(&mut present.lead), ..entry },
            None => parts.push(entry),
        }
    }

    /// Puts an entry below a path of keys separated by dots, creating missing maps.
    pub(super) fn put_at(&mut self, path: &str, entry: Entry) {
        let mut node = self;
        for key in path.split('.') {
            if node.get(key).is_none() {
                node.put(Entry::new(key, Self::map(Vec::new())));
            }
            let Some(next) = node.entry_mut(key) else { return };
            node = next.change();
        }
        // The first entry below a key needs no blank line before it.
        let is_first = node.is_empty();
        let mut entry = entry;
        while is_first && entry.lead.first().is_some_and(|line| line.text.trim().is_empty()) {
            entry.lead.remove(0);
        }
        node.put(entry);
    }

    /// Moves an entry of a map to the front.
    pub(super) fn first(&mut self, key: &str) {
        let Some(parts) = self.parts_mut() else { return };
        if let Some(place) = parts.iter().position(|entry| &*entry.key == key) {
            let entry = parts.remove(place);
            parts.insert(0, entry);
        }
    }
}
