//! Strategic merge patch: lists merge by the keys of the Kubernetes types; the `$` directives are supported.

use serde_json::{Map, Value};

use crate::sim::json::text;

/// Merge key of each list, by the list's name (`patchMergeKey` in Kubernetes' Go types). Other lists, such as taints
/// and tolerations, are replaced.
const MERGE_KEYS: [(&str, &str); 14] = [
    ("containers", "name"),
    ("initContainers", "name"),
    ("ephemeralContainers", "name"),
    ("env", "name"),
    ("volumes", "name"),
    ("volumeMounts", "mountPath"),
    ("volumeDevices", "devicePath"),
    ("imagePullSecrets", "name"),
    ("hostAliases", "ip"),
    ("conditions", "type"),
    ("addresses", "type"),
    ("ownerReferences", "uid"),
    ("topologySpreadConstraints", "topologyKey"),
    ("secrets", "name"),
];

/// Lists of plain values that merge as sets.
const SETS: [&str; 1] = ["finalizers"];

const DIRECTIVE: &str = "$patch";
const DELETE_FROM: &str = "$deleteFromPrimitiveList/";
const RETAIN: &str = "$retainKeys";
const ORDER: &str = "$setElementOrder/";

/// Merges a patch into an object.
pub(crate) fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(members) = patch else {
        *value = patch.clone();
        return;
    };
    if text(patch, "/$patch") == Some("replace") {
        *value = Value::Object(plain(members));
        return;
    }
    if !value.is_object() {
        *value = Value::Object(Map::new());
    }
    let Some(map) = value.as_object_mut() else { return };
    if let Some(Value::Array(kept)) = members.get(RETAIN) {
        map.retain(|name, _| kept.iter().any(|kept| kept.as_str() == Some(name)));
    }
    for (name, part) in members {
        if let Some(list) = name.strip_prefix(DELETE_FROM) {
            delete_from(map, list, part);
        } else if !name.starts_with('$') {
            merge_member(map, name, part);
        }
    }
    for (name, order) in members {
        if let Some(list) = name.strip_prefix(ORDER) {
            reorder(map, list, order);
        }
    }
}

fn plain(members: &Map<String, Value>) -> Map<String, Value> {
    members
        .iter()
        .filter(|(name, _)| !name.starts_with('$'))
        .map(|(name, part)| (name.clone(), part.clone()))
        .collect()
}

fn merge_member(map: &mut Map<String, Value>, name: &str, part: &Value) {
    match part {
        Value::Null => {
            map.remove(name);
        }
        Value::Object(_) if text(part, "/$patch") == Some("delete") => {
            map.remove(name);
        }
        Value::Object(_) => merge(map.entry(name).or_insert(Value::Null), part),
        Value::Array(items) => {
            let slot = map.entry(name).or_insert_with(|| Value::Array(Vec::new()));
            merge_list(slot, name, items);
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            map.insert(name.to_owned(), part.clone());
        }
    }
}

fn merge_list(slot: &mut Value, name: &str, items: &[Value]) {
    let replaces = items.iter().any(|item| text(item, "/$patch") == Some("replace"));
    let key = key_of(name, items);
    let is_set = SETS.contains(&name);
    let Some(current) = slot.as_array_mut().filter(|_| !replaces && (key.is_some() || is_set)) else {
        let kept = items.iter().filter(|item| item.get(DIRECTIVE).is_none()).cloned().collect();
        *slot = Value::Array(kept);
        return;
    };
    for item in items {
        let found = match key {
            Some(key) => {
                current.iter().position(|other| other.get(key).is_some() && other.get(key) == item.get(key))
            }
            None => current.iter().position(|other| other == item),
        };
        match found {
            Some(at) if text(item, "/$patch") == Some("delete") => {
                current.remove(at);
            }
            Some(at) => merge(&mut current[at], item),
            None if text(item, "/$patch") == Some("delete") => {}
            None => current.push(item.clone()),
        }
    }
}

/// Returns the merge key of a list. `ports` have another key in containers than in Services.
fn key_of(name: &str, items: &[Value]) -> Option<&'static str> {
    if name == "ports" {
        let in_container = items.iter().any(|item| item.get("containerPort").is_some());
        return Some(if in_container { "containerPort" } else { "port" });
    }
    MERGE_KEYS.iter().find(|(list, _)| *list == name).map(|(_, key)| *key)
}

fn delete_from(map: &mut Map<String, Value>, list: &str, gone: &Value) {
    let gone = gone.as_array().map_or(&[][..], Vec::as_slice);
    if let Some(Value::Array(items)) = map.get_mut(list) {
        items.retain(|item| !gone.contains(item));
    }
}

fn reorder(map: &mut Map<String, Value>, list: &str, order: &Value) {
    let order = order.as_array().map_or(&[][..], Vec::as_slice);
    let Some(Value::Array(items)) = map.get_mut(list) else { return };
    let key = key_of(list, items);
    let rank = |item: &Value| {
        let known = order.iter().position(|wanted| match key {
            Some(key) => wanted.get(key) == item.get(key),
            None => wanted == item,
        });
        known.unwrap_or(order.len())
    };
    items.sort_by_key(rank);
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn conditions_merge_by_type_and_taints_are_replaced() {
        let mut node = json!({
            "spec": {"taints": [{"key": "a", "effect": "NoSchedule"}]},
            "status": {"conditions": [{"type": "Ready", "status": "True"}, {"type": "Disk", "status": "False"}]},
        });
        merge(
            &mut node,
            &json!({
                "spec": {"taints": [{"key": "b", "effect": "NoExecute"}]},
                "status": {"conditions": [{"type": "Ready", "status": "False"}]},
            }),
        );
        assert_eq!(
            node,
            json!({
                "spec": {"taints": [{"key": "b", "effect": "NoExecute"}]},
                "status": {"conditions": [{"type": "Ready", "status": "False"}, {"type": "Disk", "status": "False"}]},
            })
        );
    }

    #[test]
    fn directives_delete_replace_and_order() {
        let mut pod = json!({
            "metadata": {"finalizers": ["a", "b"]},
            "spec": {"containers": [{"name": "x", "image": "1"}, {"name": "y"}], "nodeSelector": {"p": "q"}},
        });
        merge(
            &mut pod,
            &json!({
                "metadata": {"$deleteFromPrimitiveList/finalizers": ["a"], "finalizers": ["c"]},
                "spec": {
                    "$setElementOrder/containers": [{"name": "z"}, {"name": "x"}],
                    "containers": [{"name": "y", "$patch": "delete"}, {"name": "z", "image": "3"}],
                    "nodeSelector": {"$patch": "replace", "r": "s"},
                },
            }),
        );
        assert_eq!(
            pod,
            json!({
                "metadata": {"finalizers": ["b", "c"]},
                "spec": {
                    "containers": [{"name": "z", "image": "3"}, {"name": "x", "image": "1"}],
                    "nodeSelector": {"r": "s"},
                },
            })
        );
    }
}
