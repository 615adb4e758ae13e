//! Pods of two inputs, by the workload that creates them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::model::{Namespace, PodKey, PodSpec, Resources};
use crate::plan::{Plan, World};
use crate::solve::solution::Unplaced;

/// A workload whose pods come, go or change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkloadDifference {
    /// The namespace.
    pub namespace: Namespace,
    /// The kind; `Pod` for a pod that no workload made.
    pub kind: Arc<str>,
    /// The name.
    pub name: Arc<str>,
    /// Its pods before; null where it comes.
    pub before: Option<WorkloadSum>,
    /// Its pods after; null where it goes.
    pub after: Option<WorkloadSum>,
    /// What else of its pods differs that the scheduler reads, in the words of the field.
    pub other_fields: BTreeSet<Arc<str>>,
}

/// The pods of a workload together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WorkloadSum {
    /// How many there are; null for a DaemonSet, which has one on each node that it may run on.
    pub pods: Option<usize>,
    /// What each asks for, where all ask for the same.
    pub each: Option<Resources>,
    /// What they ask for together; of a DaemonSet, on one node.
    pub total: Resources,
}

type Key<'a> = (&'a Namespace, &'a str, &'a str);

/// The pods of a workload: what the scheduler reads of them, with how many are so.
#[derive(Default, PartialEq)]
struct Pods<'a> {
    specs: BTreeMap<&'a PodSpec, usize>,
    is_daemon: bool,
}

impl Pods<'_> {
    fn sum(&self) -> WorkloadSum {
        let mut total = Resources::none();
        for (spec, count) in &self.specs {
            let count = i64::try_from(*count).unwrap_or(i64::MAX);
            for (name, amount) in spec.requests.iter() {
                let sum = total.get(name).saturating_add(amount.saturating_mul(count));
                total.set(name.clone(), sum);
            }
        }
        let requests: BTreeSet<&Resources> = self.specs.keys().map(|spec| &spec.requests).collect();
        let each = requests.first().filter(|_| requests.len() == 1).map(|requests| (*requests).clone());
        let pods = (!self.is_daemon).then(|| self.specs.values().sum());
        WorkloadSum { pods, each, total }
    }
}

fn by_workload(world: &World) -> BTreeMap<Key<'_>, Pods<'_>> {
    let mut workloads: BTreeMap<Key<'_>, Pods<'_>> = BTreeMap::new();
    for group in world.pods.iter().filter(|group| !group.is_daemon && !group.is_terminating) {
        let Some(spec) = world.pod_specs.get(group.spec) else { continue };
        match &group.workload {
            Some(workload) => {
                let pods =
                    workloads.entry((&workload.namespace, &workload.kind, &workload.name)).or_default();
                *pods.specs.entry(spec).or_default() += group.names.len();
            }
            None => {
                for name in &group.names {
                    let pods = workloads.entry((&group.namespace, "Pod", name)).or_default();
                    *pods.specs.entry(spec).or_default() += 1;
                }
            }
        }
    }
    for daemon in &world.daemons {
        let pods = workloads.entry((&daemon.namespace, "DaemonSet", &daemon.name)).or_default();
        pods.is_daemon = true;
        pods.specs.insert(&daemon.spec, 1);
    }
    workloads
}

/// Returns the workloads whose pods differ.
pub(super) fn workloads(before: &World, after: &World) -> Vec<WorkloadDifference> {
    let (old, new) = (by_workload(before), by_workload(after));
    let keys: BTreeSet<&Key<'_>> = old.keys().chain(new.keys()).collect();
    let difference = |key: &Key<'_>| {
        let (old, new) = (old.get(key), new.get(key));
        (old != new).then(|| WorkloadDifference {
            namespace: key.0.clone(),
            kind: Arc::from(key.1),
            name: Arc::from(key.2),
            before: old.map(Pods::sum),
            after: new.map(Pods::sum),
            other_fields: match (old, new) {
                (Some(old), Some(new)) => other_fields(old, new),
                (None, _) | (_, None) => BTreeSet::new(),
            },
        })
    };
    keys.into_iter().filter_map(difference).collect()
}

/// Returns what but the number and the requests differs.
fn other_fields(old: &Pods<'_>, new: &Pods<'_>) -> BTreeSet<Arc<str>> {
    let (old, new) = (field_values(old), field_values(new));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let differing = names.into_iter().filter(|name| old.get(*name) != new.get(*name));
    differing.filter_map(|name| field_name(name)).map(Arc::from).collect()
}

/// The values of each field, as they are written.
fn field_values(pods: &Pods<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let mut values: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for spec in pods.specs.keys() {
        let written = serde_json::to_value(spec).unwrap_or_default();
        for (name, value) in written.as_object().into_iter().flatten() {
            values.entry(name.clone()).or_default().insert(value.to_string());
        }
    }
    values
}

/// Returns a field of a pod in Kubernetes' words; `None` for what the requests say.
fn field_name(written: &str) -> Option<&str> {
    match written {
        "requests" | "isWithoutRequests" => None,
        "gates" => Some("schedulingGates"),
        "spread" => Some("topologySpreadConstraints"),
        "affinity" | "preferredAffinity" => Some("podAffinity"),
        "antiAffinity" | "preferredAntiAffinity" => Some("podAntiAffinity"),
        "otherRules" => Some("volumes and other rules"),
        "scheduler" => Some("schedulerName"),
        other => Some(other),
    }
}

/// Returns the pods that fit nowhere any more, and those that fit again.
pub(super) fn unplaced(before: &Plan, after: &Plan) -> (Vec<Unplaced>, Vec<PodKey>) {
    let keys = |plan: &Plan| -> BTreeSet<PodKey> {
        plan.evidence.report.unplaced.iter().flat_map(|unplaced| unplaced.pods.iter().cloned()).collect()
    };
    let (old, new) = (keys(before), keys(after));
    let more = after.evidence.report.unplaced.iter().filter_map(|unplaced| {
        let pods: Vec<PodKey> = unplaced.pods.iter().filter(|pod| !old.contains(*pod)).cloned().collect();
        (!pods.is_empty()).then(|| Unplaced { pods, ..unplaced.clone() })
    });
    let groups = after.evidence.world.pods.iter();
    let there: BTreeSet<(&Namespace, &Arc<str>)> =
        groups.flat_map(|group| group.names.iter().map(|name| (&group.namespace, name))).collect();
    let is_there = |pod: &&PodKey| there.contains(&(&pod.namespace, &pod.name));
    let placed = old.difference(&new).filter(is_there).cloned().collect();
    (more.collect(), placed)
}
