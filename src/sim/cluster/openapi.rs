//! `/openapi/v3`: only the part that kubectl reads, whether a kind's PATCH accepts `fieldValidation`. Schemas are
//! omitted.

use serde_json::{Map, Value, json};

use super::kinds::{Kind, Kinds};

/// Answers a path below `/openapi`; `None` for other paths.
pub(crate) fn answer(kinds: &Kinds, path: &str) -> Option<Value> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    match parts.as_slice() {
        ["openapi", "v3"] => {
            let mut paths = Map::new();
            for (_, kind) in kinds.all() {
                for version in &kind.versions {
                    let root = root(kind, version);
                    let link = json!({"serverRelativeURL": format!("/openapi/v3/{root}")});
                    paths.insert(root, link);
                }
            }
            Some(json!({"paths": paths}))
        }
        ["openapi", "v3", rest @ ..] => document(kinds, &rest.join("/")),
        _ => None,
    }
}

/// Returns `api/v1` or `apis/<group>/<version>`.
fn root(kind: &Kind, version: &str) -> String {
    if kind.group.is_empty() { format!("api/{version}") } else { format!("apis/{}/{version}", kind.group) }
}

fn document(kinds: &Kinds, wanted: &str) -> Option<Value> {
    let mut paths = Map::new();
    for (_, kind) in kinds.all() {
        for version in kind.versions.iter().filter(|version| root(kind, version) == wanted) {
            let scope = if kind.is_namespaced { "/namespaces/{namespace}" } else { "" };
            paths.insert(format!("/{wanted}{scope}/{}/{{name}}", kind.plural), item(kind, version));
        }
    }
    (!paths.is_empty()).then(|| {
        json!({
            "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "unversioned"},
            "paths": paths, "components": {"schemas": {}},
        })
    })
}

fn item(kind: &Kind, version: &str) -> Value {
    let parameter = |name: &str| json!({"name": name, "in": "query", "schema": {"type": "string"}});
    json!({
        "patch": {
            "x-kubernetes-action": "patch",
            "x-kubernetes-group-version-kind": {"group": kind.group, "version": version, "kind": kind.kind},
            "parameters": [parameter("dryRun"), parameter("fieldManager"), parameter("fieldValidation")],
            "responses": {"200": {"description": "OK"}},
        },
    })
}
