//! Parses JSON text into trees, one for each value of the stream.
//!
//! Values are raw slices of the text, so that each keeps its line and numbers keep their digits. Sizes are checked
//! before anything is collected. Duplicate keys are refused.

use std::cell::Cell;
use std::fmt;
use std::sync::Arc;

use serde::de::{Deserializer as _, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::fault::Fault;
use super::scalar::Truth;
use super::source::{DEPTH_MAX, NODES_MAX, WHOLE_BYTES_MAX};
use super::tree::{Entry, Tree, Value, duplicate_key};

/// Line numbers of a text, requested in ascending order.
pub struct Lines<'a> {
    file: &'a Arc<str>,
    text: &'a str,
    /// The last requested offset and its line.
    last: Cell<(usize, usize)>,
}

impl<'a> Lines<'a> {
    /// Creates the line numbers of a text.
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

    /// Creates a fault for a value.
    #[must_use]
    pub fn fault(&self, raw: Raw<'_>, message: impl Into<String>) -> Fault {
        Fault::at(self.file, self.of(raw), message)
    }
}

/// An unparsed JSON value within its text.
#[derive(Clone, Copy, Debug)]
pub struct Raw<'a>(&'a str);

/// Calls `each` with every value of a JSON stream, unparsed, until it returns false.
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
    /// Wraps a value found in a text.
    #[must_use]
    pub fn of(value: &'a RawValue) -> Self {
        Self(value.get())
    }

    /// Returns the value's text.
    #[must_use]
    pub const fn text(self) -> &'a str {
        self.0
    }

    /// Returns the length of the value's text in bytes.
    #[must_use]
    pub const fn size(self) -> usize {
        self.0.len()
    }

    /// Calls `each` with the members of an object in order until it returns false; does nothing for other values.
    pub fn members(self, each: impl FnMut(String, Self) -> bool) {
        // The text is known to be JSON, so an error here means stopping, or another type of value.
        let _ = serde_json::Deserializer::from_str(self.0).deserialize_map(Members(each));
    }

    /// Calls `each` with the items of a list in order until it returns false; does nothing for other values.
    pub fn items(self, each: impl FnMut(Self) -> bool) {
        let _ = serde_json::Deserializer::from_str(self.0).deserialize_seq(Items(each));
    }

    /// Parses the value with everything in it.
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

/// Parser state: the number of nodes so far.
struct Reading<'a> {
    lines: &'a Lines<'a>,
    nodes: usize,
    /// Remaining bytes to scan: every level of nesting scans everything below it again.
    bytes_left: usize,
}

/// Maximum mean depth of the bytes of a large document; Kubernetes objects have about eight levels.
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
