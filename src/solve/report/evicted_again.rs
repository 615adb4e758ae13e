//! Warns about pods on nodes whose taint they tolerate only for a time (`tolerationSeconds`): Kubernetes then evicts
//! them, and they come back.
//!
//! Never decides anything.

use std::collections::BTreeMap;

use crate::model::taint::evicted_after;
use crate::model::{Node, Pod, PodKey, PodPlace, Taint};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::existing::Standing;
use crate::solve::solution::{NewNode, Warning};

/// Domains of the taints that Kubernetes sets on nodes in trouble and removes again: every pod tolerates some of them
/// for five minutes.
const OF_TROUBLE: [&str; 2] = ["node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"];

/// Where pods are placed or running.
#[derive(Clone, Copy)]
pub struct Places<'p> {
    /// The nodes that exist, with the pods that are placed there.
    pub nodes: &'p [Standing<'p>],
    /// The nodes to create.
    pub new: &'p [NewNode],
}

/// The common cause for a group of pods: the taint, its place, and the seconds until eviction.
type Case<'p> = (&'p Taint, String, i64);

/// Warns about pods that are evicted again and again.
#[must_use]
pub fn warnings(snapshot: &Snapshot, policy: &Policy, places: Places<'_>) -> Vec<Warning> {
    let mut cases: BTreeMap<Case<'_>, Vec<&PodKey>> = BTreeMap::new();
    let by_key = |key: &PodKey| snapshot.pods.binary_search_by(|pod| pod.key.cmp(key)).ok();
    let mut add = |taint, place: &str, pod: &'_ PodKey| {
        let Some(pod) = by_key(pod).map(|at| &snapshot.pods[at]) else { return };
        if let Some(seconds) = evicted_after(taint, &pod.spec.tolerations) {
            cases.entry((taint, place.to_owned(), seconds)).or_default().push(&pod.key);
        }
    };
    for node in places.new {
        let Some(pool) = policy.pools.get(&node.pool) else { continue };
        for taint in pool.taints.iter().filter(|taint| lasts(taint)) {
            node.pods.iter().for_each(|pod| add(taint, &format!("pool `{}`", pool.name), pod));
        }
    }
    for standing in places.nodes.iter().filter(|standing| !standing.node.is_deleting) {
        let runs = standing.bound.iter().filter(|pod| is_told(pod)).map(|pod| &pod.key);
        let pods: Vec<&PodKey> = runs.chain(&standing.placed).collect();
        for taint in standing.node.taints.iter().filter(|taint| lasts(taint)) {
            pods.iter().copied().for_each(|pod| add(taint, &whose(standing.node), pod));
        }
    }
    cases.into_iter().filter_map(|(case, pods)| warning(case, pods)).collect()
}

fn warning((taint, place, seconds): Case<'_>, pods: Vec<&PodKey>) -> Option<Warning> {
    let first = pods.iter().min()?;
    let more = if pods.len() > 1 { format!(" and {} more", pods.len() - 1) } else { String::new() };
    Some(Warning {
        object: format!("pod `{first}`{more}"),
        what: format!(
            "tolerates taint `{taint}` of {place} for {seconds} s (`tolerationSeconds`): evicted again and again"
        ),
        hint: Some("remove `tolerationSeconds`, or keep the pod from these nodes".to_owned()),
    })
}

/// Returns whether a taint stays on its node, unlike those that Kubernetes removes again.
fn lasts(taint: &Taint) -> bool {
    !taint.is_ephemeral() && !OF_TROUBLE.iter().any(|domain| taint.key.starts_with(domain))
}

fn is_told(pod: &Pod) -> bool {
    !pod.is_daemon && !pod.is_terminating && matches!(pod.place, PodPlace::Bound(_))
}

fn whose(node: &Node) -> String {
    match &node.pool {
        Some(pool) => format!("pool `{pool}`"),
        None => format!("node `{}`", node.name),
    }
}
