//! JSON text -> trees, one for each value of the stream.
//!
//! Values are taken apart as raw slices of the text, so that each keeps its line and numbers keep their
//! digits. Nothing is collected before it is counted. Duplicate keys are refused.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserializer as _, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::fault::Fault;
use super::scalar::Truth;
use super::source::{DEPTH_MAX, NODES_MAX, WHOLE_BYTES_MAX};
use super::tree::{Entry, Tree, Value, duplicate_key};

/// The lines of a text, asked for in rising order.
pub struct Lines<'a> {
    file: &'a Arc<str>,
    text: &'a str,
    /// An offset that was asked for, and its line.
    last: Cell<(usize, usize)>,
}

impl<'a> Lines<'a> {
    /// Makes the lines of a text.
    #[must_use]
    pub const fn new(file: &'a Arc<str>, text: &'a str) -> Self {
        Self { file, text, last: Cell::new((0, 1)) }
    }

    /// Returns the source's name.
    #[must_use]
    pub fn file(&self) -> Arc<str> {
        Arc::clone(self.file)
    }

    fn of(&self, raw: Raw<'_>) -> usize {
        let offset = raw.0.as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        let (mut from, mut line) = self.last.get();
        if offset < from {
            (from, line) = (0, 1);
        }
        let between = self.text.as_bytes().get(from..offset).unwrap_or_default();
        line += between.iter().filter(|byte| **byte == b'\n').count();
        self.last.set((offset, line));
        line
    }

    /// Makes a fault of a value.
    #[must_use]
    pub fn fault(&self, raw: Raw<'_>, message: impl Into<String>) -> Fault {
        Fault::at(self.file, self.of(raw), message)
    }
}

/// A JSON value as it stands in its text, not looked into yet.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a>(&'a str);

/// Hands on each value of a JSON stream, not looked into, until `each` wants no more.
///
/// # Errors
/// The place where the text stops being JSON.
pub fn values<'a>(
    file: &Arc<str>,
    text: &'a str,
    mut each: impl FnMut(Raw<'a>) -> bool,
) -> Result<(), Fault> {
    for value in serde_json::Deserializer::from_str(text).into_iter::<&'a RawValue>() {
        let value = value.map_err(|error| {
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or_default();
            let message = format!("is not valid JSON: {message} (column {})", error.column());
            Fault::at(file, error.line(), message)
                .with_hint("check the commas, quotes and brackets of this line and of the one before it")
        })?;
        if !each(Raw(value.get())) {
            break;
        }
    }
    Ok(())
}

impl<'a> Raw<'a> {
    /// Returns a value that was found in a text.
    #[must_use]
    pub fn of(value: &'a RawValue) -> Self {
        Self(value.get())
    }

    /// Returns the value's text.
    #[must_use]
    pub const fn text(self) -> &'a str {
        self.0
    }

    /// Returns how many bytes the value takes in the text.
    #[must_use]
    pub const fn size(self) -> usize {
        self.0.len()
    }

    /// Hands on the members of an object in order until `each` says to stop; nothing of another value.
    pub fn members(self, each: impl FnMut(String, Self) -> bool) {
        // The text was read as JSON before; an error here is the wish to stop, or another kind of value.
        let _ = serde_json::Deserializer::from_str(self.0).deserialize_map(Members(each));
    }

    /// Hands on the items of a list in order until `each` says to stop; nothing of another value.
    pub fn items(self, each: impl FnMut(Self) -> bool) {
        let _ = serde_json::Deserializer::from_str(self.0).deserialize_seq(Items(each));
    }

    /// Returns the value with everything in it.
    ///
    /// # Errors
    /// A duplicate key, or a document that is too deep or too large.
    pub fn tree(self, lines: &Lines<'_>) -> Result<Tree, Fault> {
        let bytes_left = self.size().saturating_mul(DEPTH_MEAN_MAX).saturating_add(WHOLE_BYTES_MAX);
        Reading { lines, nodes: 0, bytes_left }.value(self, 0)
    }
}

struct Members<F>(F);

impl<'de, F: FnMut(String, Raw<'de>) -> bool> Visitor<'de> for Members<F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
            if !(self.0)(key, Raw(value.get())) {
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

struct Items<F>(F);

impl<'de, F: FnMut(Raw<'de>) -> bool> Visitor<'de> for Items<F> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while let Some(value) = items.next_element::<&'de RawValue>()? {
            if !(self.0)(Raw(value.get())) {
                return Err(A::Error::custom("stopped"));
            }
        }
        Ok(())
    }
}

/// A value that is being read, with how many nodes it has so far.
struct Reading<'a> {
    lines: &'a Lines<'a>,
    nodes: usize,
    /// How many more bytes may be looked at: every level of nesting looks at what is below it again.
    bytes_left: usize,
}

/// How deep the bytes of a large document may lie on average; those of Kubernetes' objects lie about eight
/// levels deep.
const DEPTH_MEAN_MAX: usize = 32;

impl Reading<'_> {
    fn value(&mut self, raw: Raw<'_>, depth: usize) -> Result<Tree, Fault> {
        self.nodes += 1;
        if self.nodes > NODES_MAX {
            let message = format!("holds more than {NODES_MAX} values");
            return Err(self.lines.fault(raw, message).with_hint("split the document"));
        }
        let Some(bytes_left) = self.bytes_left.checked_sub(raw.size()) else {
            let message = "is nested too deeply for its size";
            return Err(self.lines.fault(raw, message).with_hint("no Kubernetes object is like that"));
        };
        self.bytes_left = bytes_left;
        if depth > DEPTH_MAX {
            let message = format!("is nested deeper than {DEPTH_MAX} levels");
            return Err(self.lines.fault(raw, message).with_hint("no Kubernetes object is that deep"));
        }
        let line = self.lines.of(raw);
        let value = match raw.0.as_bytes().first() {
            Some(b'{') => Value::Map(self.map(raw, depth)?),
            Some(b'[') => Value::List(self.list(raw, depth)?),
            Some(b'"') => {
                let text = serde_json::from_str::<String>(raw.0);
                Value::Text(Arc::from(text.map_err(|error| self.lines.fault(raw, error.to_string()))?))
            }
            Some(b't') => Value::Bool(Truth::TRUE),
            Some(b'f') => Value::Bool(Truth::FALSE),
            Some(b'n') | None => Value::Null,
            Some(_) => match raw.0.parse::<i64>() {
                Ok(number) => Value::Integer(number),
                Err(_) => Value::Decimal(Arc::from(raw.0)),
            },
        };
        Ok(Tree { line, value })
    }

    fn list(&mut self, raw: Raw<'_>, depth: usize) -> Result<Vec<Tree>, Fault> {
        let mut items = Ok(Vec::new());
        raw.items(|item| match (self.value(item, depth + 1), &mut items) {
            (Ok(tree), Ok(items)) => {
                items.push(tree);
                true
            }
            (Err(fault), _) => {
                items = Err(fault);
                false
            }
            (Ok(_), Err(_)) => false,
        });
        items
    }

    fn map(&mut self, raw: Raw<'_>, depth: usize) -> Result<Vec<Entry>, Fault> {
        let mut entries: Result<Vec<Entry>, Fault> = Ok(Vec::new());
        raw.members(|key, value| match (self.value(value, depth + 1), &mut entries) {
            (Ok(value), Ok(entries)) => {
                entries.push(Entry { key: Arc::from(key), line: value.line, value });
                true
            }
            (Err(fault), _) => {
                entries = Err(fault);
                false
            }
            (Ok(_), Err(_)) => false,
        });
        let entries = entries?;
        match duplicate_key(&entries) {
            Some(twice) => {
                let message = format!("duplicate key `{}`", twice.key);
                Err(Fault::at(self.lines.file, twice.line, message)
                    .with_hint("remove one of the two; kubectl would silently take the last"))
            }
            None => Ok(entries),
        }
    }
}
