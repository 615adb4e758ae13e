//! A parsed document in which every node keeps its line.
//!
//! Numbers keep their digits: nothing is rounded before it becomes a quantity.

use std::sync::Arc;

use crate::model::Digest;

use super::fault::Segment;
use super::scalar::Truth;

/// A value and the line on which it starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The line, from 1.
    pub line: usize,
    /// The value.
    pub value: Value,
}

/// A value in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Nothing.
    Null,
    /// A boolean.
    Bool(Truth),
    /// An integer within 64 bits.
    Integer(i64),
    /// Any other number, by its digits.
    Decimal(Arc<str>),
    /// Text.
    Text(Arc<str>),
    /// A list.
    List(Vec<Tree>),
    /// A map, in the order written; keys are distinct.
    Map(Vec<Entry>),
}

/// A key of a map with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The key.
    pub key: Arc<str>,
    /// The key's line.
    pub line: usize,
    /// The value.
    pub value: Tree,
}

impl Value {
    /// Describes the type of the value, with its article, for messages.
    #[must_use]
    pub fn describe(&self) -> String {
        match self {
            Self::Null => "empty".to_owned(),
            Self::Bool(truth) if matches!(truth.written(), "true" | "false") => {
                format!("the truth value {truth}")
            }
            Self::Bool(truth) => format!("the truth value {truth} (unquoted `{}`)", truth.written()),
            Self::Integer(number) => format!("the number {number}"),
            Self::Decimal(number) => format!("the number {number}"),
            Self::Text(text) => format!("the text {:?}", shortened(text)),
            Self::List(_) => "a list".to_owned(),
            Self::Map(_) => "a map".to_owned(),
        }
    }
}

/// Shortens quoted text in a message to a readable length.
#[must_use]
pub fn shortened(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    let mut shown: String = text.chars().take(SHOWN_MAX).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    shown
}

/// Shortens text in its middle to a number of characters. Error messages begin with the action and end with the cause,
/// so two thirds of the rest are from the end.
#[must_use]
pub fn shortened_within(text: &str, most: usize) -> String {
    let count = text.chars().count();
    if count <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most / 3).collect();
    let tail: String = text.chars().skip(count - (most - most / 3)).collect();
    format!("{}…{}", head.trim_end(), tail.trim_start())
}

impl Tree {
    /// Returns the text; `None` if it is not text.
    #[must_use]
    pub const fn as_text(&self) -> Option<&Arc<str>> {
        if let Value::Text(text) = &self.value { Some(text) } else { None }
    }

    /// Returns the items; `None` if it is not a list.
    #[must_use]
    pub fn as_list(&self) -> Option<&[Self]> {
        if let Value::List(items) = &self.value { Some(items) } else { None }
    }

    /// Returns the entries; `None` if it is not a map.
    #[must_use]
    pub fn as_map(&self) -> Option<&[Entry]> {
        if let Value::Map(entries) = &self.value { Some(entries) } else { None }
    }

    /// Returns the value of a key; `None` if there is no such key or this is not a map.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_map()?.iter().find(|entry| &*entry.key == key).map(|entry| &entry.value)
    }

    /// Returns the value at a path of keys.
    #[must_use]
    pub fn at(&self, keys: &[&str]) -> Option<&Self> {
        keys.iter().try_fold(self, |tree, key| tree.get(key))
    }

    /// Returns the text of a key, if it is text.
    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_text().map(|text| &**text)
    }

    /// Returns the value at this path.
    #[must_use]
    pub fn at_path(&self, path: &[Segment]) -> Option<&Self> {
        path.iter().try_fold(self, |tree, segment| match segment {
            Segment::Key(key) => tree.get(key),
            Segment::Index(index) => tree.as_list()?.get(*index),
        })
    }

    /// Returns the line of the value at this path, or of the nearest existing parent.
    #[must_use]
    pub fn line_of(&self, path: &[Segment]) -> usize {
        let mut tree = self;
        let mut line = self.line;
        for segment in path {
            let next = match (&tree.value, segment) {
                (Value::Map(entries), Segment::Key(key)) => entries
                    .iter()
                    .find(|entry| *entry.key == **key)
                    .map(|entry| (entry.line.max(1), &entry.value)),
                (Value::List(items), Segment::Index(index)) => {
                    items.get(*index).map(|item| (item.line, item))
                }
                _ => None,
            };
            let Some((at, below)) = next else { break };
            (line, tree) = (at, below);
        }
        line
    }

    /// Returns the path from here to a node, identified by its address.
    #[must_use]
    pub fn path_to(&self, node: &Self) -> Option<Vec<Segment>> {
        if std::ptr::eq(self, node) {
            return Some(Vec::new());
        }
        let step = match &self.value {
            Value::List(items) => items
                .iter()
                .enumerate()
                .find_map(|(index, item)| item.path_to(node).map(|path| (Segment::Index(index), path))),
            Value::Map(entries) => entries.iter().find_map(|entry| {
                entry.value.path_to(node).map(|path| (Segment::Key(entry.key.to_string()), path))
            }),
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) | Value::Text(_) => None,
        };
        step.map(|(segment, mut rest)| {
            rest.insert(0, segment);
            rest
        })
    }

    /// Returns the JSON value; numbers that JSON cannot represent become text.
    #[must_use]
    pub fn to_json(&self) -> serde_json::Value {
        match &self.value {
            Value::Null => serde_json::Value::Null,
            Value::Bool(value) => serde_json::Value::Bool(value.is_true()),
            Value::Integer(number) => serde_json::Value::from(*number),
            Value::Decimal(text) => text
                .parse::<serde_json::Number>()
                .map_or_else(|_| serde_json::Value::String(text.to_string()), serde_json::Value::Number),
            Value::Text(text) => serde_json::Value::String(text.to_string()),
            Value::List(items) => serde_json::Value::Array(items.iter().map(Self::to_json).collect()),
            Value::Map(entries) => serde_json::Value::Object(
                entries.iter().map(|entry| (entry.key.to_string(), entry.value.to_json())).collect(),
            ),
        }
    }

    /// Returns the digest of the content, independent of the order of keys and of lines.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut bytes = Vec::new();
        self.canonical(&mut bytes);
        Digest::of_bytes(&bytes)
    }

    fn canonical(&self, bytes: &mut Vec<u8>) {
        let mut tagged = |tag: u8, text: &str| {
            bytes.push(tag);
            bytes.extend_from_slice(&text.len().to_be_bytes());
            bytes.extend_from_slice(text.as_bytes());
        };
        match &self.value {
            Value::Null => bytes.push(b'0'),
            Value::Bool(value) => bytes.extend_from_slice(if value.is_true() { b"b1" } else { b"b0" }),
            Value::Integer(number) => tagged(b'n', &number.to_string()),
            Value::Decimal(number) => tagged(b'n', number),
            Value::Text(text) => tagged(b't', text),
            Value::List(items) => {
                tagged(b'l', &items.len().to_string());
                items.iter().for_each(|item| item.canonical(bytes));
            }
            Value::Map(entries) => {
                tagged(b'm', &entries.len().to_string());
                let mut sorted: Vec<&Entry> = entries.iter().collect();
                sorted.sort_by(|one, other| one.key.cmp(&other.key));
                for entry in sorted {
                    bytes.extend_from_slice(&entry.key.len().to_be_bytes());
                    bytes.extend_from_slice(entry.key.as_bytes());
                    entry.value.canonical(bytes);
                }
            }
        }
    }
}

/// Returns the first duplicate key, with the line of its second occurrence.
#[must_use]
pub fn duplicate_key(entries: &[Entry]) -> Option<&Entry> {
    // Most maps are small, and comparing all pairs is then faster than sorting.
    if entries.len() <= 12 {
        return entries
            .iter()
            .enumerate()
            .find(|(place, entry)| entries[..*place].iter().any(|earlier| earlier.key == entry.key))
            .map(|(_, entry)| entry);
    }
    let mut seen = std::collections::BTreeSet::new();
    entries.iter().find(|entry| !seen.insert(&*entry.key))
}
