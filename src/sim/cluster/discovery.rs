//! `/api`, `/apis`, and the resources of each version.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::kinds::{Kind, Kinds};
use super::route::extra_subresources;

const VERBS: [&str; 8] = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

/// Answers a discovery path; `None` for other paths.
pub(crate) fn answer(kinds: &Kinds, path: &str) -> Option<Value> {
    let parts: Vec<&str> = path.trim_matches('/').split('/').collect();
    match parts.as_slice() {
        ["api"] => Some(json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []})),
        ["apis"] => {
            let groups: Vec<Value> =
                groups(kinds).iter().map(|(name, versions)| group(name, versions)).collect();
            Some(json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}))
        }
        ["api", version] => resources(kinds, "", version),
        ["apis", name] => {
            let found = groups(kinds);
            let versions = found.get(*name)?;
            let mut group = group(name, versions);
            group["kind"] = json!("APIGroup");
            group["apiVersion"] = json!("v1");
            Some(group)
        }
        ["apis", name, version] => resources(kinds, name, version),
        _ => None,
    }
}

/// Returns the groups with their versions, the preferred one first.
pub(crate) fn groups(kinds: &Kinds) -> BTreeMap<String, Vec<String>> {
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (_, kind) in kinds.all().filter(|(_, kind)| !kind.group.is_empty()) {
        let versions = groups.entry(kind.group.clone()).or_default();
        for version in &kind.versions {
            if !versions.contains(version) {
                versions.push(version.clone());
            }
        }
    }
    groups
}

fn group(name: &str, versions: &[String]) -> Value {
    let all: Vec<Value> = versions
        .iter()
        .map(|version| json!({"groupVersion": format!("{name}/{version}"), "version": version}))
        .collect();
    json!({"name": name, "versions": all, "preferredVersion": all.first()})
}

fn resources(kinds: &Kinds, group: &str, version: &str) -> Option<Value> {
    let found: Vec<&Kind> = kinds
        .all()
        .map(|(_, kind)| kind)
        .filter(|kind| kind.group == group && kind.versions.iter().any(|served| served == version))
        .collect();
    let first = found.first()?;
    let resources: Vec<Value> = found.iter().flat_map(|kind| resource(kind)).collect();
    Some(json!({
        "kind": "APIResourceList", "apiVersion": "v1",
        "groupVersion": first.api_version(version), "resources": resources,
    }))
}

fn resource(kind: &Kind) -> Vec<Value> {
    let categories: BTreeSet<&str> = match (kind.group.as_str(), kind.plural.as_str()) {
        (
            "" | "apps" | "batch",
            "pods" | "services" | "deployments" | "replicasets" | "statefulsets" | "daemonsets" | "jobs"
            | "cronjobs",
        ) => ["all"].into(),
        ("karpenter.sh" | "karpenter.azure.com", _) => ["karpenter"].into(),
        ("nodeform.dev", _) => ["nodeform"].into(),
        _ => BTreeSet::new(),
    };
    let mut all = vec![json!({
        "name": kind.plural, "singularName": kind.kind.to_lowercase(), "namespaced": kind.is_namespaced,
        "kind": kind.kind, "verbs": VERBS, "shortNames": kind.short_names, "categories": categories,
    })];
    let mut sub = |name: &str, (group, version, object): (&str, &str, &str), verbs: &[&str]| {
        let mut found = json!({
            "name": format!("{}/{name}", kind.plural), "singularName": "",
            "namespaced": kind.is_namespaced, "kind": object, "verbs": verbs,
        });
        if !version.is_empty() {
            found["group"] = json!(group);
            found["version"] = json!(version);
        }
        all.push(found);
    };
    if kind.has_status {
        sub("status", ("", "", &kind.kind), &["get", "patch", "update"]);
    }
    if kind.has_scale {
        sub("scale", ("autoscaling", "v1", "Scale"), &["get", "patch", "update"]);
    }
    for (name, object) in extra_subresources(kind) {
        let of = if *name == "eviction" { ("policy", "v1", *object) } else { ("", "", *object) };
        sub(name, of, &["create"]);
    }
    all
}
