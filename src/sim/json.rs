//! Shorthand access to values inside JSON.

use serde_json::{Map, Value};

/// Returns the value at a JSON pointer. Called so often that names without escapes are not copied.
pub(crate) fn at<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    if pointer.contains('~') {
        return value.pointer(pointer);
    }
    pointer.split('/').skip(1).try_fold(value, |value, name| match value {
        Value::Object(members) => members.get(name),
        Value::Array(items) => items.get(name.parse::<usize>().ok()?),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
    })
}

/// Returns the string at a JSON pointer.
pub(crate) fn text<'a>(value: &'a Value, pointer: &str) -> Option<&'a str> {
    at(value, pointer).and_then(Value::as_str)
}

/// Returns the string at a JSON pointer, empty if there is none.
pub(crate) fn text_or_empty<'a>(value: &'a Value, pointer: &str) -> &'a str {
    text(value, pointer).unwrap_or_default()
}

/// Returns the list at a JSON pointer, empty if there is none.
pub(crate) fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    at(value, pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Returns the integer at a JSON pointer.
pub(crate) fn number(value: &Value, pointer: &str) -> Option<i64> {
    at(value, pointer).and_then(Value::as_i64)
}

/// Returns whether the value at a JSON pointer is `true`.
pub(crate) fn is_true(value: &Value, pointer: &str) -> bool {
    at(value, pointer).and_then(Value::as_bool) == Some(true)
}

/// Returns the members of the object at a JSON pointer.
pub(crate) fn members<'a>(value: &'a Value, pointer: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    at(value, pointer).and_then(Value::as_object).into_iter().flatten()
}

/// Returns the member of this name, replaced by an empty object if it is not one.
pub(crate) fn object<'a>(value: &'a mut Value, name: &str) -> &'a mut Map<String, Value> {
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let slot = match value {
        Value::Object(map) => map.entry(name).or_insert(Value::Null),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => value,
    };
    if !slot.is_object() {
        *slot = Value::Object(Map::new());
    }
    match slot {
        Value::Object(map) => map,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            unreachable!("the slot was made an object above")
        }
    }
}

/// Sets the member at a path of names, creating objects on the way.
pub(crate) fn set(value: &mut Value, path: &[&str], to: Value) {
    let Some((last, parents)) = path.split_last() else { return };
    let mut at = value;
    for name in parents {
        object(at, name);
        let Some(next) = at.get_mut(*name) else { return };
        at = next;
    }
    if !at.is_object() {
        *at = Value::Object(Map::new());
    }
    if let Some(map) = at.as_object_mut() {
        map.insert((*last).to_owned(), to);
    }
}

/// Returns the top-level object of this name, created if missing.
pub(crate) fn member_mut<'a>(value: &'a mut Value, name: &str) -> &'a mut Value {
    object(value, name);
    &mut value[name]
}

/// Removes the member at a path of names.
pub(crate) fn unset(value: &mut Value, path: &[&str]) -> Option<Value> {
    let (last, parents) = path.split_last()?;
    let mut at = value;
    for name in parents {
        at = at.get_mut(*name)?;
    }
    at.as_object_mut()?.remove(*last)
}

/// Returns the list at a path of names, created if missing.
pub(crate) fn list_mut<'a>(value: &'a mut Value, path: &[&str]) -> Option<&'a mut Vec<Value>> {
    let (last, parents) = path.split_last()?;
    let mut at = value;
    for name in parents {
        object(at, name);
        at = at.get_mut(*name)?;
    }
    let slot = at.as_object_mut()?.entry((*last).to_owned()).or_insert(Value::Null);
    if !slot.is_array() {
        *slot = Value::Array(Vec::new());
    }
    slot.as_array_mut()
}
