//! Tables, which kubectl requests to print columns.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::kinds::{DEFINITIONS, DEPLOYMENTS, Kind, KindId, NODES, PODS};
use super::store::{Name, Store};
use crate::sim::http::Request;
use crate::sim::json::{is_true, list, members, number, text, text_or_empty};
use crate::sim::play::condition;

/// Returns whether a request accepts a table.
pub(crate) fn is_wanted(request: &Request) -> bool {
    request.head("accept").is_some_and(|accept| accept.contains("as=Table"))
}

/// A column: its name, and whether it is shown only with `-o wide`.
struct Column {
    name: String,
    is_wide: bool,
}

/// Returns a table of objects, with the metadata of their list.
pub(crate) fn of(
    store: &Store,
    (kind, version): (KindId, &str),
    items: &[Value],
    metadata: &Value,
    now: Timestamp,
) -> Value {
    let known = store.kinds.get(kind);
    let printed = printer_columns(store, known, version);
    let columns: Vec<Column> = columns(kind, &printed);
    let rows: Vec<Value> = items
        .iter()
        .map(|object| {
            let cells = cells(kind, object, &printed, now);
            let meta = json!({
                "kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object.get("metadata"),
            });
            json!({"cells": cells, "object": meta})
        })
        .collect();
    let definitions: Vec<Value> = columns
        .iter()
        .map(|column| {
            let format = if column.name == "Name" { "name" } else { "" };
            json!({
                "name": column.name, "type": "string", "format": format, "description": "",
                "priority": u8::from(column.is_wide),
            })
        })
        .collect();
    json!({
        "kind": "Table", "apiVersion": "meta.k8s.io/v1", "metadata": metadata,
        "columnDefinitions": definitions, "rows": rows,
    })
}

/// Returns the printer columns of a custom kind, from its definition.
fn printer_columns(store: &Store, kind: &Kind, version: &str) -> Vec<Value> {
    let name = Name::new("", &format!("{}.{}", kind.plural, kind.group));
    let Some(definition) = store.get(DEFINITIONS, &name).filter(|_| kind.is_custom) else {
        return Vec::new();
    };
    let versions = list(definition, "/spec/versions");
    let of_version = versions.iter().find(|found| text(found, "/name") == Some(version));
    of_version.map(|found| list(found, "/additionalPrinterColumns").to_vec()).unwrap_or_default()
}

fn columns(kind: KindId, printed: &[Value]) -> Vec<Column> {
    let names: &[(&str, bool)] = match kind {
        PODS => &[
            ("Ready", false),
            ("Status", false),
            ("Restarts", false),
            ("Age", false),
            ("IP", true),
            ("Node", true),
        ],
        NODES => {
            &[("Status", false), ("Roles", false), ("Age", false), ("Version", false), ("Internal-IP", true)]
        }
        DEPLOYMENTS => &[("Ready", false), ("Up-to-date", false), ("Available", false), ("Age", false)],
        _ if printed.is_empty() => &[("Age", false)],
        _ => &[],
    };
    let first = Column { name: "Name".to_owned(), is_wide: false };
    let fixed = names.iter().map(|(name, is_wide)| Column { name: (*name).to_owned(), is_wide: *is_wide });
    let custom = printed.iter().map(|column| Column {
        name: text_or_empty(column, "/name").to_owned(),
        is_wide: number(column, "/priority").unwrap_or(0) > 0,
    });
    std::iter::once(first).chain(fixed).chain(custom).collect()
}

fn cells(kind: KindId, object: &Value, printed: &[Value], now: Timestamp) -> Vec<String> {
    let mut cells = vec![text_or_empty(object, "/metadata/name").to_owned()];
    let age = age(text_or_empty(object, "/metadata/creationTimestamp"), now);
    let plain = |pointer: &str| text(object, pointer).unwrap_or("<none>").to_owned();
    let count = |field: &str| number(object, field).unwrap_or(0);
    match kind {
        PODS => {
            let containers = list(object, "/spec/containers").len();
            let ready = list(object, "/status/containerStatuses")
                .iter()
                .filter(|status| is_true(status, "/ready"))
                .count();
            let is_going = text(object, "/metadata/deletionTimestamp").is_some();
            let status = if is_going { "Terminating".to_owned() } else { plain("/status/phase") };
            cells.extend([format!("{ready}/{containers}"), status, "0".to_owned(), age]);
            cells.extend([plain("/status/podIP"), plain("/spec/nodeName")]);
        }
        NODES => {
            let roles: Vec<&str> = members(object, "/metadata/labels")
                .filter_map(|(key, _)| key.strip_prefix("node-role.kubernetes.io/"))
                .collect();
            let roles = if roles.is_empty() { "<none>".to_owned() } else { roles.join(",") };
            let address = list(object, "/status/addresses")
                .iter()
                .find(|address| text(address, "/type") == Some("InternalIP"))
                .and_then(|address| text(address, "/address"));
            cells.extend([node_status(object), roles, age, plain("/status/nodeInfo/kubeletVersion")]);
            cells.push(address.unwrap_or("<none>").to_owned());
        }
        DEPLOYMENTS => {
            cells.push(format!("{}/{}", count("/status/readyReplicas"), count("/spec/replicas")));
            cells.extend(
                [count("/status/updatedReplicas"), count("/status/availableReplicas")].map(|n| n.to_string()),
            );
            cells.push(age);
        }
        _ if printed.is_empty() => cells.push(age),
        _ => cells.extend(printed.iter().map(|column| printed_cell(object, column, now))),
    }
    cells
}

fn node_status(node: &Value) -> String {
    let ready = match condition(node, "Ready") {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    };
    let cordoned = if is_true(node, "/spec/unschedulable") { ",SchedulingDisabled" } else { "" };
    format!("{ready}{cordoned}")
}

fn printed_cell(object: &Value, column: &Value, now: Timestamp) -> String {
    let found = by_path(object, text_or_empty(column, "/jsonPath"));
    match found {
        Some(Value::String(time)) if text(column, "/type") == Some("date") => age(&time, now),
        Some(Value::String(text)) => text,
        Some(Value::Null) | None => String::new(),
        Some(other) => other.to_string(),
    }
}

/// Evaluates a path as used in definitions: names, escaped dots, and a filter by the type of a condition.
fn by_path(object: &Value, path: &str) -> Option<Value> {
    let mut at = object.clone();
    for step in steps(path) {
        at = match step.split_once("[?(@.type==") {
            Some((name, filter)) => {
                let wanted = filter.trim_end_matches(")]").trim_matches(['"', '\'']);
                at.get(name)?.as_array()?.iter().find(|item| text(item, "/type") == Some(wanted))?.clone()
            }
            None => at.get(&step)?.clone(),
        };
    }
    Some(at)
}

/// Splits `.metadata.labels.karpenter\.sh/nodepool` into its names.
fn steps(path: &str) -> Vec<String> {
    let mut steps = vec![String::new()];
    let (mut is_escaped, mut depth) = (false, 0_u32);
    for letter in path.trim_start_matches('.').chars() {
        match letter {
            '\\' if !is_escaped => {
                is_escaped = true;
                continue;
            }
            '.' if !is_escaped && depth == 0 => steps.push(String::new()),
            _ => {
                match letter {
                    '[' => depth += 1,
                    ']' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if let Some(step) = steps.last_mut() {
                    step.push(letter);
                }
            }
        }
        is_escaped = false;
    }
    steps
}

/// Returns the age in its largest suitable unit, in the style of kubectl.
fn age(time: &str, now: Timestamp) -> String {
    let Ok(then) = time.parse::<Timestamp>() else { return "<unknown>".to_owned() };
    let seconds = now.duration_since(then).as_secs().max(0);
    match seconds {
        0..120 => format!("{seconds}s"),
        120..7_200 => format!("{}m", seconds / 60),
        7_200..172_800 => format!("{}h", seconds / 3_600),
        _ => format!("{}d", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_definitions_find_what_they_name() {
        let object = json!({
            "metadata": {"labels": {"karpenter.sh/nodepool": "apps"}},
            "status": {"conditions": [{"type": "Ready", "status": "True"}], "nodes": 3},
        });
        let found = |path: &str| by_path(&object, path);
        assert_eq!(found(r".metadata.labels.karpenter\.sh/nodepool"), Some(json!("apps")));
        assert_eq!(found(r#".status.conditions[?(@.type=="Ready")].status"#), Some(json!("True")));
        assert_eq!(found(".status.nodes"), Some(json!(3)));
        assert_eq!(found(".spec.x"), None);
    }

    #[test]
    fn ages_read_as_kubectl_says_them() {
        let now: Timestamp = "2026-01-03T00:00:00Z".parse().expect("a time");
        for (time, expected) in [
            ("2026-01-02T23:59:18Z", "42s"),
            ("2026-01-02T23:30:00Z", "30m"),
            ("2026-01-02T12:00:00Z", "12h"),
            ("2025-12-24T00:00:00Z", "10d"),
            ("never", "<unknown>"),
        ] {
            assert_eq!(age(time, now), expected);
        }
    }
}
