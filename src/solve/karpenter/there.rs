//! State when a pass begins: relevant resources, the nodes of pools, and running pods.
//!
//! Never places a pod.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{Node, NodeName, NodeStage, Pod, PodKey, PodPlace, Resources};
use crate::snapshot::Snapshot;
use crate::solve::existing;

use super::amounts::Columns;
use super::leaving::Leaving;
use super::nodes;
use super::roll::Roll;
use super::settle::Settled;
use super::topology::Ground;

/// Creates a column for every resource that a pod or a DaemonSet requests.
pub(super) fn columns(snapshot: &Snapshot, roll: &Roll<'_>) -> Columns {
    let pods = roll.classes.iter().map(|class| &class.spec.requests);
    Columns::of(pods.chain(snapshot.daemons.iter().map(|daemon| &daemon.spec.requests)))
}

/// Returns the capacity and the number of the nodes of each pool.
pub(super) fn taken<'a>(
    snapshot: &'a Snapshot,
    leaving: Leaving<'_>,
    settled: &'a [Settled],
) -> BTreeMap<&'a str, (Resources, i64)> {
    let there = snapshot.nodes.iter().filter(|node| !leaving.has(node));
    let there = there.filter_map(|node| Some((node.pool.as_ref()?.as_str(), &node.capacity)));
    let earlier = settled.iter().map(|settled| (settled.bought.pool.as_str(), &settled.capacity));
    let mut taken: BTreeMap<&str, (Resources, i64)> = BTreeMap::new();
    for (pool, capacity) in there.chain(earlier) {
        let (sum, nodes) = taken.entry(pool).or_default();
        sum.add(capacity);
        *nodes += 1;
    }
    taken
}

/// Returns the pods of each node, including those that earlier passes placed.
pub(super) fn bound<'a>(
    snapshot: &'a Snapshot,
    placed: &'a BTreeMap<PodKey, NodeName>,
) -> BTreeMap<&'a NodeName, Vec<&'a Pod>> {
    let mut bound: BTreeMap<&NodeName, Vec<&Pod>> = BTreeMap::new();
    for pod in &snapshot.pods {
        let node = match (placed.get(&pod.key), &pod.place) {
            (Some(node), _) | (None, PodPlace::Bound(node)) => node,
            (None, PodPlace::Waiting) => continue,
        };
        bound.entry(node).or_default().push(pod);
    }
    bound
}

/// Returns the nodes as topology counts them, with the running pods that are not in the queue.
pub(super) fn grounds<'a>(
    (snapshot, leaving): (&'a Snapshot, Leaving<'_>),
    settled: &[Settled],
    bound: &BTreeMap<&NodeName, Vec<&'a Pod>>,
    waiting: &BTreeSet<&PodKey>,
) -> Vec<Ground<'a>> {
    let pods = |node: &NodeName| {
        let pods = bound.get(node).into_iter().flatten();
        let counted = pods.filter(|pod| !pod.is_terminating && !waiting.contains(&pod.key));
        counted.map(|pod| (&pod.key.namespace, &*pod.spec)).collect()
    };
    let existing = |node: &Node| Ground {
        labels: nodes::labels(node),
        taints: existing::taints(node).into_owned(),
        is_domain: !leaving.has(node) && node.stage != NodeStage::Launching,
        pods: pods(&node.name),
    };
    let earlier = |settled: &Settled| Ground {
        labels: settled.labels.clone(),
        taints: settled.taints.clone(),
        is_domain: true,
        pods: pods(&settled.name),
    };
    snapshot.nodes.iter().map(existing).chain(settled.iter().map(earlier)).collect()
}
