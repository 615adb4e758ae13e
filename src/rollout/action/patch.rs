//! What a write changes of an object, and what it rests on: the operations of a JSON Patch, all or none.
//!
//! A write that names the version of the whole object loses each time against whoever writes to it once a second: agents do
//! that to Nodes. So it names the object by its UID, and of its fields those alone that it was decided by. A `test` that fails
//! is a conflict: the next look shows what there is now. Must never set a list or a map as a whole that others write to too.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

/// Where an object's labels are.
pub const LABELS: &str = "/metadata/labels";
/// Where an object's annotations are.
pub const ANNOTATIONS: &str = "/metadata/annotations";
/// Where an object's finalizers are.
pub const FINALIZERS: &str = "/metadata/finalizers";
/// Where a Node's taints are.
pub const TAINTS: &str = "/spec/taints";

/// The operations of a JSON Patch (RFC 6902).
#[derive(Clone, Debug, PartialEq)]
pub struct Operations(Vec<Value>);

impl Operations {
    /// Changes the object of this UID, and no other of its name.
    #[must_use]
    pub fn of(uid: &str) -> Self {
        Self(Vec::new()).resting_on("/metadata/uid", &json!(uid))
    }

    /// Rests on a value; `null`: on there being none.
    #[must_use]
    pub fn resting_on(self, path: &str, value: &Value) -> Self {
        self.and(json!({"op": "test", "path": path, "value": value}))
    }

    /// Sets a field.
    #[must_use]
    pub fn with(self, path: &str, value: &Value) -> Self {
        self.and(json!({"op": "add", "path": path, "value": value}))
    }

    /// Sets entries of a map of texts that was seen like this. Others' entries stay.
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
            // The API server keeps no empty map.
            (false, true) => self.resting_on(map, &Value::Null).with(map, &json!(entries)),
            (false, false) => {
                entries.iter().fold(self, |patch, (key, value)| patch.with(&place(map, key), &json!(value)))
            }
        }
    }

    /// Rests on an entry of a map being as it was seen, which may be that it is not there.
    #[must_use]
    pub fn resting_on_entry(self, map: &str, key: &str, seen: &BTreeMap<Arc<str>, Arc<str>>) -> Self {
        match seen.is_empty() {
            true => self.resting_on(map, &Value::Null),
            false => self.resting_on(&place(map, key), &json!(seen.get(key))),
        }
    }

    /// Takes an entry out of a map, where it still has this value.
    #[must_use]
    pub fn without_entry(self, map: &str, (key, value): (&str, &str)) -> Self {
        let path = place(map, key);
        self.resting_on(&path, &json!(value)).and(json!({"op": "remove", "path": path}))
    }

    /// Adds items to a list; `is_empty` says whether it was seen without any. Others' items stay.
    #[must_use]
    pub fn with_items(self, list: &str, is_empty: bool, items: Vec<Value>) -> Self {
        match (items.is_empty(), is_empty) {
            (true, _) => self,
            // The API server keeps no empty list.
            (false, true) => self.resting_on(list, &Value::Null).with(list, &Value::from(items)),
            (false, false) => items.iter().fold(self, |patch, item| patch.with(&format!("{list}/-"), item)),
        }
    }

    /// Takes an object's finalizer off.
    #[must_use]
    pub fn without_finalizer<T: AsRef<str>>(self, seen: &[T], finalizer: &str) -> Self {
        let found = seen.iter().enumerate().rev().filter(|(_, known)| known.as_ref() == finalizer);
        found.fold(self, |patch, (at, _)| {
            let path = format!("{FINALIZERS}/{at}");
            patch.resting_on(&path, &json!(finalizer)).and(json!({"op": "remove", "path": path}))
        })
    }

    /// Takes a Node's taints of a key off, in a list whose keys were seen like this; the others stay as they are.
    #[must_use]
    pub fn without_taint<T: AsRef<str>>(self, seen: &[T], key: &str) -> Self {
        let found = seen.iter().enumerate().rev().filter(|(_, known)| known.as_ref() == key);
        found.fold(self, |patch, (at, _)| {
            let path = format!("{TAINTS}/{at}");
            patch.resting_on(&format!("{path}/key"), &json!(key)).and(json!({"op": "remove", "path": path}))
        })
    }

    /// Returns the text that an entry of a map is set to, if it is set.
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

    /// Returns them as they are sent.
    #[must_use]
    pub fn as_slice(&self) -> &[Value] {
        &self.0
    }

    fn and(mut self, operation: Value) -> Self {
        self.0.push(operation);
        self
    }
}

/// The place of an entry, as a JSON pointer has it.
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
