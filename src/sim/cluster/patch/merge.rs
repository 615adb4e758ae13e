//! JSON merge patch (RFC 7386).

use serde_json::{Map, Value};

/// Merges a patch into a value: null removes, objects merge, everything else replaces.
pub(crate) fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(members) = patch else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Some(map) = value.as_object_mut() else { return };
    for (name, part) in members {
        if part.is_null() {
            map.remove(name);
        } else {
            merge(map.entry(name.as_str()).or_insert(Value::Null), part);
        }
    }
}
