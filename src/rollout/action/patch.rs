//! JSON Patches: the changes of a write to an object and their preconditions, applied atomically.
//!
//! A write that tests the whole object's version always loses against a writer that updates it every second, as agents
//! do with Nodes. So a patch tests the object's UID, and only those fields on which the decision was based. A failed
//! `test` is a conflict: the next look shows the current state. Never replaces a whole list or map that others write to
//! as well.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

/// Path of an object's labels.
pub const LABELS: &str = "/metadata/labels";
/// Path of an object's annotations.
pub const ANNOTATIONS: &str = "/metadata/annotations";
/// Path of an object's finalizers.
pub const FINALIZERS: &str = "/metadata/finalizers";
/// Path of a Node's taints.
pub const TAINTS: &str = "/spec/taints";

/// The operations of a JSON Patch (RFC 6902).
#[derive(Clone, Debug, PartialEq)]
pub struct Operations(Vec<Value>);

impl Operations {
    /// Starts a patch of the object with this UID, not just any of its name.
    #[must_use]
    pub fn of(uid: &str) -> Self {
        Self(Vec::new()).resting_on("/metadata/uid", &json!(uid))
    }

    /// Tests for a value; `null` tests that there is none.
    #[must_use]
    pub fn resting_on(self, path: &str, value: &Value) -> Self {
        self.and(json!({"op": "test", "path": path, "value": value}))
    }

    /// Sets a field.
    #[must_use]
    pub fn with(self, path: &str, value: &Value) -> Self {
        self.and(json!({"op": "add", "path": path, "value": value}))
    }

    /// Sets entries of a string map, given its observed state. Other entries are kept.
    #[must_use]
    pub fn with_entries<'e>(
        self,
        map: &str,
        seen: &BTreeMap<Arc<str>, Arc<str>>,
        entries: impl IntoIterator<Item = (&'e str, &'e str)>,
    ) -> Self {
        let is_new = |(key, value): &(&str, &str)| seen.get(*key).is_none_or(|known| **known != **value);
        let entries: BTreeMap<&str, &str> = entries.into_iter().filter(is_new).collect();
        match (entries.is_empty(), seen.is_empty()) {
            (true, _) => self,
            // The API server does not store empty maps.
            (false, true) => self.resting_on(map, &Value::Null).with(map, &json!(entries)),
            (false, false) => {
                entries.iter().fold(self, |patch, (key, value)| patch.with(&place(map, key), &json!(value)))
            }
        }
    }

    /// Tests that an entry of a map is as observed, present or absent.
    #[must_use]
    pub fn resting_on_entry(self, map: &str, key: &str, seen: &BTreeMap<Arc<str>, Arc<str>>) -> Self {
        match seen.is_empty() {
            true => self.resting_on(map, &Value::Null),
            false => self.resting_on(&place(map, key), &json!(seen.get(key))),
        }
    }

    /// Removes an entry from a map if it still has this value.
    #[must_use]
    pub fn without_entry(self, map: &str, (key, value): (&str, &str)) -> Self {
        let path = place(map, key);
        self.resting_on(&path, &json!(value)).and(json!({"op": "remove", "path": path}))
    }

    /// Adds items to a list; `is_empty` tells whether it was empty when observed. Other items are kept.
    #[must_use]
    pub fn with_items(self, list: &str, is_empty: bool, items: Vec<Value>) -> Self {
        match (items.is_empty(), is_empty) {
            (true, _) => self,
            // The API server does not store empty lists.
            (false, true) => self.resting_on(list, &Value::Null).with(list, &Value::from(items)),
            (false, false) => items.iter().fold(self, |patch, item| patch.with(&format!("{list}/-"), item)),
        }
    }

    /// Removes an object's finalizer.
    #[must_use]
    pub fn without_finalizer<T: AsRef<str>>(self, seen: &[T], finalizer: &str) -> Self {
        let found = seen.iter().enumerate().rev().filter(|(_, known)| known.as_ref() == finalizer);
        found.fold(self, |patch, (at, _)| {
            let path = format!("{FINALIZERS}/{at}");
            patch.resting_on(&path, &json!(finalizer)).and(json!({"op": "remove", "path": path}))
        })
    }

    /// Removes a Node's taints with a key, given the observed keys; others are kept.
    #[must_use]
    pub fn without_taint<T: AsRef<str>>(self, seen: &[T], key: &str) -> Self {
        let found = seen.iter().enumerate().rev().filter(|(_, known)| known.as_ref() == key);
        found.fold(self, |patch, (at, _)| {
            let path = format!("{TAINTS}/{at}");
            patch.resting_on(&format!("{path}/key"), &json!(key)).and(json!({"op": "remove", "path": path}))
        })
    }

    /// Returns the value to which an entry of a map is set, if it is.
    #[must_use]
    pub fn entry(&self, map: &str, key: &str) -> Option<&str> {
        let path = place(map, key);
        let adds = self.0.iter().filter(|operation| operation["op"] == "add");
        let value = adds.map(|operation| match operation["path"].as_str() {
            Some(whole) if whole == map => &operation["value"][key],
            Some(one) if one == path => &operation["value"],
            Some(_) | None => &Value::Null,
        });
        value.filter_map(Value::as_str).next()
    }

    /// Returns the operations to send.
    #[must_use]
    pub fn as_slice(&self) -> &[Value] {
        &self.0
    }

    fn and(mut self, operation: Value) -> Self {
        self.0.push(operation);
        self
    }
}

/// Returns the JSON pointer of an entry.
fn place(map: &str, key: &str) -> String {
    format!("{map}/{}", key.replace('~', "~0").replace('/', "~1"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(entries: &[(&str, &str)]) -> BTreeMap<Arc<str>, Arc<str>> {
        entries.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect()
    }

    fn lines(patch: &Operations) -> Vec<String> {
        let line = |it: &Value| match it.get("value") {
            Some(value) => format!("{} {} {value}", it["op"].as_str().unwrap(), it["path"].as_str().unwrap()),
            None => format!("{} {}", it["op"].as_str().unwrap(), it["path"].as_str().unwrap()),
        };
        patch.as_slice().iter().map(line).collect()
    }

    #[test]
    fn entries_are_set_beside_those_of_others_and_only_a_map_that_is_not_there_is_made() {
        let seen = texts(&[("a/b", "1"), ("c", "2")]);
        let patch = Operations::of("u").with_entries(LABELS, &seen, [("a/b", "x"), ("c", "2")]);
        assert_eq!(lines(&patch), ["test /metadata/uid \"u\"", "add /metadata/labels/a~1b \"x\""]);
        assert_eq!((patch.entry(LABELS, "a/b"), patch.entry(LABELS, "c")), (Some("x"), None));
        let patch = Operations::of("u").with_entries(ANNOTATIONS, &BTreeMap::new(), [("a", "x")]);
        assert_eq!(
            lines(&patch)[1..],
            ["test /metadata/annotations null", "add /metadata/annotations {\"a\":\"x\"}"]
        );
        assert_eq!(patch.entry(ANNOTATIONS, "a"), Some("x"));
    }

    #[test]
    fn taints_and_finalizers_are_taken_one_by_one_from_the_last_so_that_those_of_others_stay() {
        let seen = ["gone", "team", "gone"];
        let patch = Operations::of("u").without_taint(&seen, "gone").with_items(
            TAINTS,
            false,
            vec![json!({"key": "x"})],
        );
        assert_eq!(
            lines(&patch)[1..],
            [
                "test /spec/taints/2/key \"gone\"",
                "remove /spec/taints/2",
                "test /spec/taints/0/key \"gone\"",
                "remove /spec/taints/0",
                "add /spec/taints/- {\"key\":\"x\"}",
            ]
        );
        let patch = Operations::of("u").without_finalizer(&["a", "b"], "b");
        assert_eq!(
            lines(&patch)[1..],
            ["test /metadata/finalizers/1 \"b\"", "remove /metadata/finalizers/1"]
        );
    }

    #[test]
    fn a_list_that_is_not_there_is_made_only_where_nobody_else_has_made_it() {
        let patch = Operations::of("u").with_items(TAINTS, true, vec![json!({"key": "x"})]);
        assert_eq!(lines(&patch)[1..], ["test /spec/taints null", "add /spec/taints [{\"key\":\"x\"}]"]);
    }
}
