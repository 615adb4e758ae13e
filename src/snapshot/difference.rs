//! Compares two snapshots: added, removed and changed objects.
//!
//! Compares only the fields that planning reads; fields that a snapshot does not keep make no difference.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Serialize;

use super::file::Stock;
use crate::manifests::{Objects, OurObject};
use crate::model::storage::Storage;
use crate::model::{Group, GroupRef, Node, Pod, PodPlace, PodSpec, Usage, label};

/// Type of a change between two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Way {
    /// Only in the first.
    Went,
    /// Only in the second.
    Came,
    /// In both, with differences.
    Changed,
}

/// An added, removed or changed item.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Changed {
    /// Type of the change.
    pub way: Way,
    /// Its name.
    pub name: String,
    /// Its description, or the parts that changed.
    pub what: Vec<String>,
}

/// Changes to the pods of a workload.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PodsChanged {
    /// Owner of the pods, as `Kind/namespace/name`; `Pod/namespace/name` for a pod without an owner.
    pub workload: String,
    /// Number of pods before, including pending ones.
    pub before: usize,
    /// Number of pods after, including pending ones.
    pub after: usize,
    /// Number of common pods that changed node, became pending or were scheduled.
    pub moved: usize,
    /// Whether scheduling-relevant fields changed.
    pub is_spec_changed: bool,
}

/// Differences between two snapshots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SnapshotDifference {
    /// Nodes, sorted.
    pub nodes: Vec<Changed>,
    /// Pods by workload, sorted.
    pub pods: Vec<PodsChanged>,
    /// NodePools, AKSNodeClasses and NodeFleets, sorted.
    pub configuration: Vec<Changed>,
    /// Budgets, volumes, DaemonSets and other objects that affect where pods may run, sorted.
    pub others: Vec<Changed>,
    /// Catalogues before and after, if they differ.
    pub catalog: Option<(String, String)>,
    /// Times before and after, if they differ; time alone is not a difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<(Option<String>, Option<String>)>,
}

/// One of the two snapshots.
#[derive(Clone, Copy, Debug)]
pub struct Side<'a> {
    /// When it was taken.
    pub at: Option<Timestamp>,
    /// Its objects.
    pub objects: &'a Objects,
    /// Its catalogue.
    pub stock: &'a Stock,
    /// The subscription's quota usage, if known.
    pub usages: Option<&'a [Usage]>,
}

impl SnapshotDifference {
    /// Compares the second snapshot to the first. Time alone makes no difference.
    #[must_use]
    pub fn between(before: Side<'_>, after: Side<'_>) -> Self {
        let catalog = (before.stock != after.stock).then(|| (stock(before.stock), stock(after.stock)));
        Self {
            nodes: nodes(&before.objects.nodes, &after.objects.nodes),
            pods: pods(&before.objects.pods, &after.objects.pods),
            configuration: configuration(&before.objects.ours, &after.objects.ours),
            others: [others(before.objects, after.objects), quotas(before.usages, after.usages)].concat(),
            catalog,
            at: (before.at != after.at).then(|| (time(before.at), time(after.at))),
        }
    }

    /// Returns whether nothing differs, apart from the time.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        let Self { nodes, pods, configuration, others, catalog, at: _ } = self;
        let is_same = nodes.is_empty() && pods.is_empty() && configuration.is_empty() && others.is_empty();
        is_same && catalog.is_none()
    }
}

fn time(at: Option<Timestamp>) -> Option<String> {
    at.map(|at| at.to_string())
}

fn stock(stock: &Stock) -> String {
    match stock {
        Stock::Embedded(embedded) => {
            let digest = embedded.digest.base32(5);
            format!("embedded price list of {} ({digest})", embedded.prices_of)
        }
        Stock::Given(given) => format!("{} ({})", given.catalog.source(), given.digest.base32(5)),
    }
}

/// Compares two maps; `changed` returns the differing parts of an item, none if it is unchanged.
fn held<K: Ord, T>(
    (before, after): (&BTreeMap<K, T>, &BTreeMap<K, T>),
    name: impl Fn(&K) -> String,
    described: impl Fn(&T) -> Vec<String>,
    changed: impl Fn(&T, &T) -> Vec<String>,
) -> Vec<Changed> {
    let keys: BTreeSet<&K> = before.keys().chain(after.keys()).collect();
    let one = |key: &K| {
        let (way, what) = match (before.get(key), after.get(key)) {
            (Some(old), None) => (Way::Went, described(old)),
            (None, Some(new)) => (Way::Came, described(new)),
            (Some(old), Some(new)) => (Way::Changed, changed(old, new)),
            (None, None) => return None,
        };
        let is_same = way == Way::Changed && what.is_empty();
        (!is_same).then(|| Changed { way, name: name(key), what })
    };
    let mut all: Vec<Changed> = keys.into_iter().filter_map(one).collect();
    all.sort();
    all
}

fn nodes(before: &[Node], after: &[Node]) -> Vec<Changed> {
    let by_name = |nodes: &'_ [Node]| -> BTreeMap<String, Node> {
        nodes.iter().map(|node| (node.name.to_string(), node.clone())).collect()
    };
    let described = |node: &Node| {
        let labels = [label::INSTANCE_TYPE, label::ZONE, label::CAPACITY_TYPE];
        let values = labels.iter().filter_map(|key| node.labels.get(*key)).map(ToString::to_string);
        values.chain(node.pool.as_ref().map(|pool| format!("pool {pool}"))).collect()
    };
    held((&by_name(before), &by_name(after)), Clone::clone, described, node_parts)
}

fn node_parts(old: &Node, new: &Node) -> Vec<String> {
    let parts = [
        ("pool", old.pool != new.pool),
        ("labels", old.labels != new.labels),
        ("taints", old.taints != new.taints),
        ("capacity", (&old.capacity, &old.allocatable) != (&new.capacity, &new.allocatable)),
        ("stage", old.stage != new.stage),
        ("cordon", old.is_unschedulable != new.is_unschedulable),
        ("do-not-disrupt", old.is_do_not_disrupt != new.is_do_not_disrupt),
        ("deletion", old.is_deleting != new.is_deleting),
        (
            "identity",
            (&old.claim, &old.provider_id, old.created) != (&new.claim, &new.provider_id, new.created),
        ),
        ("what its NodeClaim says", old.claimed != new.claimed),
    ];
    let mut parts: Vec<String> =
        parts.into_iter().filter(|(_, differs)| *differs).map(|(part, _)| part.to_owned()).collect();
    if parts.is_empty() && old != new {
        parts.push("other fields".to_owned());
    }
    parts
}

fn pods(before: &[Pod], after: &[Pod]) -> Vec<PodsChanged> {
    let (before, after) = (by_workload(before), by_workload(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let none = OfWorkload::default();
    let one = |name: &String| {
        let (old, new) = (before.get(name).unwrap_or(&none), after.get(name).unwrap_or(&none));
        let is_spec_changed = old.count > 0 && new.count > 0 && old.contents != new.contents;
        let stayed: usize = old
            .places
            .iter()
            .map(|(place, count)| new.places.get(place).map_or(0, |now| *now.min(count)))
            .sum();
        let moved = old.count.min(new.count) - stayed;
        (old.count != new.count || is_spec_changed || moved > 0).then(|| PodsChanged {
            workload: name.clone(),
            before: old.count,
            after: new.count,
            moved,
            is_spec_changed,
        })
    };
    names.into_iter().filter_map(one).collect()
}

/// The pods of a workload.
#[derive(Default)]
struct OfWorkload<'p> {
    count: usize,
    /// Their specs, and whether they are marked do-not-disrupt.
    contents: BTreeSet<(&'p Arc<PodSpec>, bool)>,
    /// Number of pods per place.
    places: BTreeMap<&'p PodPlace, usize>,
}

fn by_workload(pods: &[Pod]) -> BTreeMap<String, OfWorkload<'_>> {
    let mut all: BTreeMap<String, OfWorkload<'_>> = BTreeMap::new();
    for pod in pods {
        let name = pod.workload.as_ref().map_or_else(
            || format!("Pod/{}/{}", pod.key.namespace, pod.key.name),
            |workload| format!("{}/{}/{}", workload.kind, workload.namespace, workload.name),
        );
        let workload = all.entry(name).or_default();
        workload.count += 1;
        workload.contents.insert((&pod.spec, pod.is_do_not_disrupt));
        *workload.places.entry(&pod.place).or_default() += 1;
    }
    all
}

/// Compares all other objects: neither nodes, nor pods, nor configuration.
fn others(before: &Objects, after: &Objects) -> Vec<Changed> {
    let (old, new) = (listed(before), listed(after));
    let named = |old: &_, new: &_| fields(old, new).into_iter().map(as_kubernetes).collect();
    let mut all = held((&old, &new), Clone::clone, |_| Vec::new(), named);
    if before.refusals != after.refusals {
        all.push(Changed { way: Way::Changed, name: "what Azure refused".to_owned(), what: Vec::new() });
    }
    all
}

/// Compares the quotas. Quotas unknown to either side make no difference.
fn quotas(before: Option<&[Usage]>, after: Option<&[Usage]>) -> Vec<Changed> {
    let (Some(before), Some(after)) = (before, after) else { return Vec::new() };
    let by_name = |usages: &[Usage]| -> BTreeMap<String, Usage> {
        usages.iter().map(|usage| (usage.name.to_ascii_lowercase(), usage.clone())).collect()
    };
    let parts = |old: &Usage, new: &Usage| {
        let parts = [("used", old.used, new.used), ("limit", old.limit, new.limit)];
        let parts = parts.into_iter().filter(|(_, old, new)| old != new);
        parts.map(|(part, old, new)| format!("{part} {old} to {new}")).collect()
    };
    let described = |usage: &Usage| vec![format!("used {}", usage.used), format!("limit {}", usage.limit)];
    let name = |name: &String| format!("quota {name}");
    held((&by_name(before), &by_name(after)), name, described, parts)
}

/// Returns these objects by kind and name, with the fields that a snapshot keeps.
fn listed(objects: &Objects) -> BTreeMap<String, serde_json::Value> {
    let Objects { budgets, groups, daemons, namespaces, storage, .. } = objects;
    let Storage { claims, volumes, classes, drivers, attachments } = storage;
    let mut all = BTreeMap::new();
    let mut add = |kind: &str, name: &dyn std::fmt::Display, value: serde_json::Result<serde_json::Value>| {
        all.insert(format!("{kind}/{name}"), value.unwrap_or_default());
    };
    for budget in budgets {
        let name = format!("{}/{}", budget.namespace, budget.name);
        add("PodDisruptionBudget", &name, serde_json::to_value(budget));
    }
    for group in groups {
        let Group { namespace, name, .. } = group;
        let (kind, name) = match name {
            GroupRef::PodGroup(name) => ("PodGroup", name.to_string()),
            GroupRef::Volcano(name) => ("PodGroup.scheduling.volcano.sh", name.to_string()),
            GroupRef::Workload(of) => ("Workload", format!("{}/{}", of.workload, of.group)),
        };
        add(kind, &format!("{namespace}/{name}"), serde_json::to_value(group));
    }
    for daemon in daemons {
        add(
            "DaemonSet",
            &format!("{}/{}", daemon.namespace, daemon.name),
            serde_json::to_value(&*daemon.spec),
        );
    }
    for (namespace, labels) in namespaces {
        add("Namespace", namespace, serde_json::to_value(labels));
    }
    claims.iter().for_each(|claim| add("PersistentVolumeClaim", &claim.key, serde_json::to_value(claim)));
    volumes.iter().for_each(|volume| add("PersistentVolume", &volume.name, serde_json::to_value(volume)));
    classes.iter().for_each(|class| add("StorageClass", &class.name, serde_json::to_value(class)));
    drivers.iter().for_each(|(node, drivers)| add("CSINode", node, serde_json::to_value(drivers)));
    for attachment in attachments {
        add("VolumeAttachment", &attachment.name, serde_json::to_value(attachment));
    }
    all
}

/// Returns the Kubernetes name of a field that is kept under another name.
fn as_kubernetes(field: String) -> String {
    match field.as_str() {
        "bound" => "minAvailable or maxUnavailable".to_owned(),
        "unhealthy" => "unhealthyPodEvictionPolicy".to_owned(),
        "counts" => "status".to_owned(),
        "least" => "minCount or minMember".to_owned(),
        "binding" => "volumeBindingMode".to_owned(),
        "topologies" => "allowedTopologies".to_owned(),
        _ => field,
    }
}

/// Returns the fields in which two objects differ.
fn fields(old: &serde_json::Value, new: &serde_json::Value) -> Vec<String> {
    let none = serde_json::Map::new();
    let (old, new) = (old.as_object().unwrap_or(&none), new.as_object().unwrap_or(&none));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    keys.into_iter().filter(|key| old.get(*key) != new.get(*key)).cloned().collect()
}

fn configuration(before: &[OurObject], after: &[OurObject]) -> Vec<Changed> {
    let by_name = |ours: &'_ [OurObject]| -> BTreeMap<String, serde_json::Value> {
        let spec = |object: &OurObject| object.value.get("spec").cloned().unwrap_or_default();
        ours.iter().map(|object| (format!("{}/{}", object.kind, object.full_name()), spec(object))).collect()
    };
    let changed = |old: &serde_json::Value, new: &serde_json::Value| {
        fields(old, new).into_iter().map(|key| format!("spec.{key}")).collect()
    };
    held((&by_name(before), &by_name(after)), Clone::clone, |_| Vec::new(), changed)
}
