//! Documents that are no objects of Kubernetes: what is passed over, and what is a fault.
//!
//! A folder holds files of other tools beside manifests, so that what was found by walking one is passed over where
//! nothing says that an object was meant. Nothing that says so is ever passed over: half a manifest is a fault.

use std::sync::Arc;

use super::cursor::Cursor;
use super::fault::Fault;
use super::kind;
use super::source::Source;
use super::tree::{Tree, Value};

/// What documents that are no objects of Kubernetes are counted as.
pub const NO_OBJECT: &str = "documents without a kind";

/// How much of a source may be passed over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lenience {
    /// Whether documents of any form may be.
    is_walked: bool,
    /// Whether what cannot be read may be: nothing in it looks like an object.
    pub is_unreadable_passed_over: bool,
}

impl Lenience {
    /// Returns how a source is taken.
    #[must_use]
    pub fn of(source: &Source) -> Self {
        let is_walked = source.is_walked;
        Self { is_walked, is_unreadable_passed_over: is_walked && !is_like_objects(&source.bytes) }
    }

    /// Returns whether a document is passed over.
    #[must_use]
    pub fn passes_over(self, tree: &Tree) -> bool {
        let has = |key| tree.get(key).is_some_and(|value| value.value != Value::Null);
        match &tree.value {
            Value::Map(_) => match (has("apiVersion"), has("kind")) {
                (true, true) => false,
                (false, false) => self.is_walked || !has("metadata"),
                (_, _) => self.is_walked && !is_half_an_object(tree),
            },
            Value::List(items) => self.is_walked && items.iter().all(|item| item.get("kind").is_none()),
            Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) | Value::Text(_) => {
                self.is_walked
            }
        }
    }
}

/// Returns whether a document with `apiVersion` or `kind` alone was meant as an object: it has a name, or a kind that
/// is read.
fn is_half_an_object(tree: &Tree) -> bool {
    let has_name = ["name", "generateName"].iter().any(|key| tree.at(&["metadata", key]).is_some());
    let is_read = |name: &str| kind::READ_KINDS.iter().any(|(_, read)| *read == name);
    has_name || tree.text("kind").is_some_and(is_read)
}

/// Returns whether a text that cannot be read may be one of objects: a line of it begins with `apiVersion`, at any
/// indentation, or with `kind` at none. JSON often has a `kind` of its own further in.
fn is_like_objects(bytes: &[u8]) -> bool {
    // Without the zeros that UTF-16 has between letters, as PowerShell writes what `kubectl` prints.
    let bytes: Vec<u8> = bytes.iter().copied().filter(|byte| *byte != 0).collect();
    let text = String::from_utf8_lossy(&bytes);
    let is_key = |line: &str, key: &str| {
        let rest = line.trim_start_matches(['"', '\'']).strip_prefix(key);
        rest.is_some_and(|rest| rest.trim_start_matches(['"', '\'', ' ']).starts_with(':'))
    };
    let is_version = |line: &str| {
        let line = line.trim_start_matches([' ', '\t', '-', '{', '[', ',']);
        is_key(line, "apiVersion") || line.contains("\"apiVersion\"")
    };
    text.trim_start_matches(['\u{feff}', '\u{fffd}'])
        .lines()
        .any(|line| is_version(line) || is_key(line, "kind"))
}

/// Adds the faults of an object that does not say what it is.
pub fn judge(object: Cursor<'_>) {
    let missing: Vec<&str> =
        ["apiVersion", "kind"].into_iter().filter(|key| object.get(key).is_none()).collect();
    match missing[..] {
        [] => {}
        [key] => object.missing(key, "every object of Kubernetes has `apiVersion` and `kind`"),
        _ => object.fault(
            "has neither `apiVersion` nor `kind`",
            Some("every object of Kubernetes has both; leave it out if it is not a manifest"),
        ),
    }
}

/// The fault of a document that is no map.
#[must_use]
pub fn no_object(file: &Arc<str>, tree: &Tree) -> Fault {
    // A text that is the whole of a file may be a token: it is not repeated.
    let is = if tree.as_text().is_some() { "text".to_owned() } else { tree.value.describe() };
    let hint = if tree.as_list().is_some() {
        "write objects one after another with `---` between them, or as `items` of a List; leave the file out if it is not a manifest"
    } else {
        "leave the file out if it is not a manifest"
    };
    Fault::at(file, tree.line, format!("a document must be an object and is {is}")).with_hint(hint)
}
