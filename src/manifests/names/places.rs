//! Finds the names in an object.
//!
//! Lists every place with names; everything else stays as it is.

use std::sync::Arc;

use super::{Role, azure_id, azure_ids};
use crate::manifests::allow::{Scope, scope_of};
use crate::manifests::group::GROUP_ANNOTATIONS;
use crate::manifests::kind::group_and_version;
use crate::manifests::tree::{Tree, Value};
use crate::model::Digest;

/// Labels with values set by controllers, which are not names.
const MADE_LABELS: [&str; 4] = [
    "controller-revision-hash",
    "pod-template-generation",
    "pod-template-hash",
    "rollouts-pod-template-hash",
];

/// Fields that contain names of nodes, amounts and the like, but no names of pods.
const LEFT: [&str; 8] = [
    "nodeAffinity",
    "nodeSelector",
    "tolerations",
    "requests",
    "limits",
    "overhead",
    "capacity",
    "allocatable",
];

/// Prefixes of label keys whose values are regions and zones.
const PLACE_LABELS: [&str; 3] =
    ["failure-domain.beta.kubernetes.io/", "topology.disk.csi.azure.com/", "topology.kubernetes.io/"];

/// Cluster-scoped kinds with labels of nodes, or requirements on them.
const OF_NODES: [&str; 6] = ["AKSNodeClass", "Node", "NodeClaim", "NodeFleet", "NodeOverlay", "NodePool"];

/// Callback for the text at a place.
type Visit<'a> = &'a mut dyn FnMut(&mut Arc<str>, Role);

/// Calls `note` with each name of an object.
pub(super) fn each(object: &Tree, note: &mut impl FnMut(&Arc<str>, Role)) {
    let mut object = object.clone();
    walk_object(&mut object, &mut |text, role| note(text, role));
}

/// Replaces each name of an object, and the names in Azure IDs; a provider ID of another form is replaced by a digest.
pub(super) fn replace(object: &mut Tree, text: &impl Fn(&str) -> Arc<str>) {
    for field in ["spec", "status"] {
        if let Some(id) = object.get_mut(field).and_then(|field| field.get_mut("providerID"))
            && let Value::Text(id) = &mut id.value
            && !id.is_empty()
            && azure_id(id).is_none()
        {
            // Provider IDs are case-insensitive in Azure, and a node and its claim may differ in case.
            let digest = Digest::of_bytes(id.to_ascii_lowercase().as_bytes()).base32(20);
            *id = Arc::from(format!("azure:///{digest}"));
        }
    }
    azure_ids::replace(object);
    walk_object(object, &mut |name, _| *name = text(name));
}

fn walk_object(object: &mut Tree, visit: Visit<'_>) {
    let (group, _) = group_and_version(object.text("apiVersion").unwrap_or_default());
    let kind = object.text("kind").unwrap_or_default();
    let is_namespace = (group, kind) == ("", "Namespace");
    let role = match kind {
        "Namespace" => Role::Namespace,
        "Pod" => Role::Pod,
        "PersistentVolumeClaim" => Role::Claim,
        _ => Role::Workload,
    };
    if scope_of(group, kind) == Scope::Cluster && !is_namespace {
        return of_cluster(object, visit);
    }
    at(object, &["metadata", "name"], role, visit);
    at(object, &["metadata", "namespace"], Role::Namespace, visit);
    if let Some(metadata) = object.get_mut("metadata")
        && let Value::Map(entries) = &mut metadata.value
    {
        entries.retain(|entry| &*entry.key != "generateName");
    }
    walk(object, visit);
}

/// Visits the names of a cluster-scoped object: volumes are named after claims, and reference them.
fn of_cluster(object: &mut Tree, visit: Visit<'_>) {
    let kind = object.text("kind").unwrap_or_default();
    if OF_NODES.contains(&kind) {
        return;
    }
    let is_volume = kind == "PersistentVolume";
    if let Some(written) = object.get_mut("metadata").and_then(|metadata| metadata.get_mut("labels")) {
        labels(written, visit);
    }
    if is_volume {
        at(object, &["metadata", "name"], Role::Volume, visit);
    }
    at(object, &["spec", "claimRef", "name"], Role::Claim, visit);
    at(object, &["spec", "claimRef", "namespace"], Role::Namespace, visit);
    at(object, &["spec", "source", "persistentVolumeName"], Role::Volume, visit);
}

/// Visits the text at a path of keys.
fn at(tree: &mut Tree, keys: &[&str], role: Role, visit: Visit<'_>) {
    let mut place = Some(tree);
    for key in keys {
        place = place.and_then(|tree| tree.get_mut(key));
    }
    if let Some(Tree { value: Value::Text(text), .. }) = place {
        visit(text, role);
    }
}

fn walk(tree: &mut Tree, visit: Visit<'_>) {
    let entries = match &mut tree.value {
        Value::Map(entries) => entries,
        Value::List(items) => return items.iter_mut().for_each(|item| walk(item, visit)),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) | Value::Text(_) => return,
    };
    for entry in entries {
        let value = &mut entry.value;
        match &*entry.key {
            key if LEFT.contains(&key) => {}
            "labels" | "matchLabels" => labels(value, visit),
            "selector" if value.get("matchLabels").is_none() && value.get("matchExpressions").is_none() => {
                labels(value, visit);
            }
            "matchExpressions" => expressions(value, visit),
            "namespaces" => texts(value, Role::Namespace, visit),
            "claimName" => at(value, &[], Role::Claim, visit),
            "volumeName" | "diskName" => at(value, &[], Role::Volume, visit),
            "hpaName" => at(value, &[], Role::Workload, visit),
            "horizontalPodAutoscalerConfig" | "podTemplateRef" | "scalableRef" | "scaleTargetRef" => {
                at(value, &["name"], Role::Workload, visit);
            }
            "workloadRef" => {
                for key in ["name", "podGroup", "podGroupReplicaKey"] {
                    at(value, &[key], Role::Workload, visit);
                }
            }
            "schedulingGroup" => at(value, &["podGroupName"], Role::Workload, visit),
            "podGroups" => each_item(value, |item| at(item, &["name"], Role::Workload, visit)),
            "annotations" => groups_of(value, visit),
            "ownerReferences" => owners(value, visit),
            "containers" | "initContainers" | "containerStatuses" | "initContainerStatuses" => {
                each_item(value, |item| at(item, &["name"], Role::Container, visit));
            }
            "resourceClaims" => each_item(value, |item| at(item, &["name"], Role::Claim, visit)),
            "volumeClaimTemplates" => {
                each_item(value, |item| at(item, &["metadata", "name"], Role::Volume, visit));
            }
            "volumeClaimTemplate" => at(value, &["metadata", "name"], Role::Volume, visit),
            "volumes" => each_item(value, |item| {
                at(item, &["name"], Role::Volume, visit);
                walk(item, visit);
            }),
            _ => walk(value, visit),
        }
    }
}

fn each_item(list: &mut Tree, mut each: impl FnMut(&mut Tree)) {
    if let Value::List(items) = &mut list.value {
        items.iter_mut().for_each(&mut each);
    }
}

fn texts(list: &mut Tree, role: Role, visit: Visit<'_>) {
    each_item(list, |item| at(item, &[], role, visit));
}

/// Visits the groups named in a pod's annotations.
fn groups_of(annotations: &mut Tree, visit: Visit<'_>) {
    let Value::Map(entries) = &mut annotations.value else { return };
    for entry in entries.iter_mut().filter(|entry| GROUP_ANNOTATIONS.contains(&&*entry.key)) {
        at(&mut entry.value, &[], Role::Workload, visit);
    }
}

fn names_something(key: &str) -> bool {
    !MADE_LABELS.contains(&key) && !PLACE_LABELS.iter().any(|place| key.starts_with(place))
}

fn labels(map: &mut Tree, visit: Visit<'_>) {
    let Value::Map(entries) = &mut map.value else { return };
    for entry in entries.iter_mut().filter(|entry| names_something(&entry.key)) {
        at(&mut entry.value, &[], Role::Label, visit);
    }
}

fn expressions(list: &mut Tree, visit: Visit<'_>) {
    each_item(list, |expression| {
        let is_name = expression.text("key").is_none_or(names_something);
        if let Some(values) = expression.get_mut("values").filter(|_| is_name) {
            texts(values, Role::Label, visit);
        }
    });
}

fn owners(list: &mut Tree, visit: Visit<'_>) {
    each_item(list, |owner| {
        if owner.text("kind") != Some("Node") {
            at(owner, &["name"], Role::Workload, visit);
        }
    });
}
