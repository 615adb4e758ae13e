//! Host-affinity closure of a pod: pods that must share a node because of affinity by hostname, and so move together.
//!
//! Returns the pods and their combined requests; whether a node fits them is checked elsewhere.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::case::Case;
use super::made::Made;
use crate::model::{LabelKey, Pod, PodAffinityTerm, PodKey, PodSpec, label};

/// Returns the pods of a new node that must be with this one, including itself.
pub(super) fn of<'a>(case: &Case<'a>, made: &Made<'_>, pod: &'a Pod) -> Vec<&'a Pod> {
    let there: Vec<&Pod> = made.pods.iter().filter_map(|key| case.pods.get(key).copied()).collect();
    if there.iter().all(|pod| by_host(pod).next().is_none()) {
        return vec![pod];
    }
    let mut known: BTreeSet<&PodKey> = BTreeSet::from([&pod.key]);
    let mut party = vec![pod];
    let mut looked = 0;
    while let Some(one) = party.get(looked).copied() {
        looked += 1;
        for other in &there {
            if !known.contains(&other.key) && (wants(case, one, other) || wants(case, other, one)) {
                known.insert(&other.key);
                party.push(other);
            }
        }
    }
    party
}

/// Returns a copy of this pod with the combined requests and host ports of all of them.
pub(super) fn as_one(pod: &Pod, party: &[&Pod]) -> Pod {
    let mut spec: PodSpec = (*pod.spec).clone();
    for other in party.iter().filter(|other| other.key != pod.key) {
        spec.requests.add(&other.spec.requests);
        spec.host_ports.extend(other.spec.host_ports.iter().cloned());
    }
    Pod { spec: Arc::new(spec), ..pod.clone() }
}

fn by_host(pod: &Pod) -> impl Iterator<Item = &PodAffinityTerm> {
    pod.spec.affinity.iter().filter(|term| term.topology_key.as_str() == label::HOSTNAME)
}

/// Returns whether a pod's affinity by hostname matches another pod.
fn wants(case: &Case<'_>, pod: &Pod, other: &Pod) -> bool {
    by_host(pod).any(|term| {
        let namespace = &other.key.namespace;
        let is_own = term.namespaces.is_empty() && term.namespace_selector.is_none();
        let is_by_label = term.namespace_selector.as_ref().is_some_and(|selector| {
            let mut labels = case.snapshot.namespaces.get(namespace).cloned().unwrap_or_default();
            labels.insert(LabelKey::new("kubernetes.io/metadata.name"), Arc::from(namespace.as_str()));
            selector.selects(&labels)
        });
        let is_there =
            is_by_label || term.namespaces.contains(namespace) || (is_own && pod.key.namespace == *namespace);
        is_there && term.selector.as_ref().is_some_and(|selector| selector.selects(&other.spec.labels))
    })
}
