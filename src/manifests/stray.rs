//! Documents that are not Kubernetes objects: decides which are skipped and which are faults.
//!
//! A folder may hold files of other tools beside manifests, so files found by walking one are skipped if nothing
//! suggests an object. Anything that suggests an object is never skipped: half a manifest is a fault.

use std::sync::Arc;

use super::cursor::Cursor;
use super::fault::Fault;
use super::kind;
use super::source::Source;
use super::tree::{Tree, Value};

/// Category under which documents that are not Kubernetes objects are counted.
pub const NO_OBJECT: &str = "documents without a kind";

/// Which documents of a source may be skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lenience {
    /// Whether documents of any form may be.
    is_walked: bool,
    /// Whether unreadable documents may be, because nothing in the source looks like an object.
    pub is_unreadable_passed_over: bool,
}

impl Lenience {
    /// Returns the leniency for a source.
    #[must_use]
    pub fn of(source: &Source) -> Self {
        let is_walked = source.is_walked;
        Self { is_walked, is_unreadable_passed_over: is_walked && !is_like_objects(&source.bytes) }
    }

    /// Returns whether a document is skipped.
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

/// Returns whether a document with only `apiVersion` or `kind` was meant as an object: it has a name, or a known kind.
fn is_half_an_object(tree: &Tree) -> bool {
    let has_name = ["name", "generateName"].iter().any(|key| tree.at(&["metadata", key]).is_some());
    let is_read = |name: &str| kind::READ_KINDS.iter().any(|(_, read)| *read == name);
    has_name || tree.text("kind").is_some_and(is_read)
}

/// Returns whether an unreadable text may hold objects: one of its lines begins with `apiVersion`, at any indentation,
/// or with `kind` at none. JSON often has an unrelated nested `kind`.
fn is_like_objects(bytes: &[u8]) -> bool {
    // Drop the zero bytes between letters in UTF-16, which PowerShell writes for `kubectl` output.
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

/// Adds the faults of an object without `apiVersion` or `kind`.
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

/// Returns the fault of a document that is not a map.
#[must_use]
pub fn no_object(file: &Arc<str>, tree: &Tree) -> Fault {
    // A text that fills a whole file may be a token, so do not print it.
    let is = if tree.as_text().is_some() { "text".to_owned() } else { tree.value.describe() };
    let hint = if tree.as_list().is_some() {
        "write objects one after another with `---` between them, or as `items` of a List; leave the file out if it is not a manifest"
    } else {
        "leave the file out if it is not a manifest"
    };
    Fault::at(file, tree.line, format!("a document must be an object and is {is}")).with_hint(hint)
}
