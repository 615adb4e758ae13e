//! First difference of two values, by their JSON form, which includes all present and future fields of a type.
//!
//! Must never decide whether a difference matters.

use std::collections::BTreeSet;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::model::shown::{HIDDEN, is_obeyed};

/// Maximum length of a value in messages, in characters.
const TOLD_LETTERS_MAX: usize = 120;

/// Text for a missing value.
const ABSENT: &str = "absent";

/// The first leaf in which two values differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Path, such as `osDisk.sizeGb`.
    pub path: String,
    /// First value at the path.
    pub one: Option<Value>,
    /// Second value at the path.
    pub other: Option<Value>,
}

impl Difference {
    /// Returns the first difference of two values of a type.
    #[must_use]
    pub fn of<T: Serialize>(one: &T, other: &T) -> Option<Self> {
        let written = |value: &T| serde_json::to_value(value).unwrap_or(Value::Null);
        Self::between(&written(one), &written(other), "")
    }

    /// Returns the first difference of two JSON values at a path.
    #[must_use]
    pub fn between(one: &Value, other: &Value, path: &str) -> Option<Self> {
        // Almost all values are equal, and building the paths of large ones is costly.
        if one == other {
            return None;
        }
        match (one, other) {
            (Value::Object(ours), Value::Object(theirs)) => {
                let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
                keys.into_iter().find_map(|key| {
                    let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    match (ours.get(key), theirs.get(key)) {
                        (Some(one), Some(other)) => Self::between(one, other, &path),
                        (one, other) => {
                            let (one, other) = (one.cloned(), other.cloned());
                            (one != other).then_some(Self { path, one, other })
                        }
                    }
                })
            }
            (Value::Array(ours), Value::Array(theirs)) if ours.len() == theirs.len() => {
                let mut pairs = ours.iter().zip(theirs).enumerate();
                pairs.find_map(|(place, (one, other))| Self::between(one, other, &format!("{path}[{place}]")))
            }
            _ => Some(Self { path: path.to_owned(), one: Some(one.clone()), other: Some(other.clone()) }),
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, one, other } = self;
        write!(formatter, "{} was approved as {}, but is now {}", quoted(path), told(one), told(other))
    }
}

fn told(value: &Option<Value>) -> String {
    let text = match value {
        None | Some(Value::Null) => return ABSENT.to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    };
    quoted(&text)
}

/// Shortens and sanitizes untrusted text.
fn quoted(text: &str) -> String {
    let plain = |letter: char| if is_obeyed(letter) || letter == '`' { HIDDEN } else { letter };
    let cut: String = text.chars().map(plain).take(TOLD_LETTERS_MAX).collect();
    let more = if text.chars().nth(TOLD_LETTERS_MAX).is_some() { "…" } else { "" };
    format!("`{cut}{more}`")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Difference;

    #[test]
    fn the_first_leaf_that_differs_is_named_with_both_values() {
        let said = |one: serde_json::Value, other: serde_json::Value| {
            Difference::between(&one, &other, "").map(|found| found.to_string())
        };
        assert_eq!(said(json!({"a": [1, {"b": null}]}), json!({"a": [1, {"b": null}]})), None);
        assert_eq!(
            said(json!({"a": [1, {"b": 2048}]}), json!({"a": [1, {"b": 128}]})).as_deref(),
            Some("`a[1].b` was approved as `2048`, but is now `128`")
        );
        assert_eq!(
            said(json!({"tags": {"x\u{1b}`": "y"}}), json!({"tags": {}})).as_deref(),
            Some("`tags.x\u{fffd}\u{fffd}` was approved as `y`, but is now absent")
        );
        assert_eq!(
            said(json!({"a": ["x"]}), json!({"a": []})).as_deref(),
            Some("`a` was approved as `[\"x\"]`, but is now `[]`")
        );
    }
}
