//! JSON patch (RFC 6902): all six operations; controllers use `test` when they remove finalizers.

use serde_json::Value;

use crate::sim::cluster::status::Refusal;
use crate::sim::json::{text, text_or_empty};

/// Applies a list of operations; if one fails, the value is unchanged.
pub(crate) fn apply(value: &mut Value, patch: &Value) -> Result<(), Refusal> {
    let Value::Array(operations) = patch else {
        return Err(Refusal::bad_request("a JSON patch is a list of operations"));
    };
    let mut new = value.clone();
    for operation in operations {
        step(&mut new, operation).map_err(|why| {
            Refusal::new(
                422,
                "Invalid",
                format!("the server rejected our request due to an error in our request: {why}"),
            )
        })?;
    }
    *value = new;
    Ok(())
}

fn step(value: &mut Value, operation: &Value) -> Result<(), String> {
    let path = text_or_empty(operation, "/path");
    let from = || text(operation, "/from").ok_or_else(|| "from is missing".to_owned());
    let given = || operation.get("value").cloned().ok_or_else(|| "value is missing".to_owned());
    match text_or_empty(operation, "/op") {
        "add" => add(value, path, given()?),
        "remove" => remove(value, path).map(drop),
        "replace" => {
            let new = given()?;
            *value.pointer_mut(path).ok_or_else(|| missing(path))? = new;
            Ok(())
        }
        "move" => {
            let moved = remove(value, from()?)?;
            add(value, path, moved)
        }
        "copy" => {
            let copied = value.pointer(from()?).cloned().ok_or_else(|| missing(path))?;
            add(value, path, copied)
        }
        // As in the API server's library, `null` equals a missing value.
        "test"
            if value.pointer(path).unwrap_or(&Value::Null)
                == operation.get("value").unwrap_or(&Value::Null) =>
        {
            Ok(())
        }
        "test" => Err(format!("testing value {path} failed")),
        other => Err(format!("unexpected kind of operation: {other}")),
    }
}

fn missing(path: &str) -> String {
    format!("the path {path} does not exist")
}

fn split(path: &str) -> Option<(&str, String)> {
    let (parent, last) = path.rsplit_once('/')?;
    Some((parent, last.replace("~1", "/").replace("~0", "~")))
}

fn add(value: &mut Value, path: &str, new: Value) -> Result<(), String> {
    let Some((parent, last)) = split(path) else {
        *value = new;
        return Ok(());
    };
    match value.pointer_mut(parent) {
        Some(Value::Object(map)) => {
            map.insert(last, new);
            Ok(())
        }
        Some(Value::Array(items)) => {
            let at = if last == "-" { Some(items.len()) } else { last.parse::<usize>().ok() };
            let at = at.filter(|at| *at <= items.len()).ok_or_else(|| missing(path))?;
            items.insert(at, new);
            Ok(())
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => Err(missing(path)),
    }
}

fn remove(value: &mut Value, path: &str) -> Result<Value, String> {
    let (parent, last) = split(path).ok_or_else(|| missing(path))?;
    match value.pointer_mut(parent) {
        Some(Value::Object(map)) => map.remove(&last).ok_or_else(|| missing(path)),
        Some(Value::Array(items)) => {
            let at =
                last.parse::<usize>().ok().filter(|at| *at < items.len()).ok_or_else(|| missing(path))?;
            Ok(items.remove(at))
        }
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) | None => Err(missing(path)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_test_that_fails_changes_nothing() {
        let mut value = json!({"metadata": {"finalizers": ["a", "b"]}});
        let before = value.clone();
        let patch = json!([
            {"op": "remove", "path": "/metadata/finalizers/0"},
            {"op": "test", "path": "/metadata/finalizers/0", "value": "a"},
        ]);
        assert!(apply(&mut value, &patch).is_err());
        assert_eq!(value, before);
    }

    #[test]
    fn what_is_not_there_is_null_to_a_test() {
        let mut value = json!({"metadata": {}});
        let patch = |value: Value| json!([{"op": "test", "path": "/metadata/labels", "value": value}]);
        apply(&mut value, &patch(Value::Null)).expect("there are none");
        assert!(apply(&mut value, &patch(json!({}))).is_err());
    }

    #[test]
    fn operations_follow_each_other() {
        let mut value = json!({"metadata": {"finalizers": ["a", "b"], "labels": {"x/y": "1"}}});
        let patch = json!([
            {"op": "test", "path": "/metadata/finalizers/1", "value": "b"},
            {"op": "remove", "path": "/metadata/finalizers/1"},
            {"op": "add", "path": "/metadata/finalizers/-", "value": "c"},
            {"op": "replace", "path": "/metadata/labels/x~1y", "value": "2"},
            {"op": "copy", "from": "/metadata/labels", "path": "/metadata/annotations"},
            {"op": "move", "from": "/metadata/labels", "path": "/spec"},
        ]);
        apply(&mut value, &patch).expect("every path exists");
        assert_eq!(
            value,
            json!({"metadata": {"finalizers": ["a", "c"], "annotations": {"x/y": "2"}}, "spec": {"x/y": "2"}})
        );
    }
}
