//! Warns about labels that pods require and that only agent pool nodes have, because no NodePool provides them. Some
//! are set only by AKS, whether the input contains such a node or not. These pods fit no node of a NodePool, so one
//! warning per label explains them all.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{LabelKey, Node, Pod, PodKey, Requirement, Requirements, label};
use crate::snapshot::Snapshot;
use crate::solve::demand::{Demand, Shape};
use crate::solve::solution::Warning;
use crate::solve::supply::{PoolSupply, Supply};

/// Maximum number of workloads that are named per label.
const WORKLOADS_NAMED_MAX: usize = 4;

/// The labels that AKS alone sets on agent pool nodes.
const OF_AKS_ALONE: [&str; 2] = ["agentpool", "kubernetes.azure.com/agentpool"];

/// Returns a warning for each such label and requirement, sorted.
#[must_use]
pub fn warnings<'a>(
    (snapshot, pods): (&Snapshot, impl Iterator<Item = &'a Pod>),
    demands: &[&Demand],
    supply: &Supply<'_>,
) -> Vec<Warning> {
    let agents: Vec<&Node> = snapshot.nodes_today().filter(|node| node.pool.is_none()).collect();
    if supply.pools.is_empty() {
        return Vec::new();
    }
    let mut asked: BTreeMap<(LabelKey, Requirement), BTreeSet<&PodKey>> = BTreeMap::new();
    for shape in demands.iter().flat_map(|demand| demand.shapes.iter().chain(&demand.held_shapes)) {
        for (key, wanted) in common(shape) {
            let of_agents = OF_AKS_ALONE.contains(&key.as_str())
                || agents.iter().any(|node| node.labels.get(key).is_some_and(|value| wanted.accepts(value)));
            if of_agents && !supply.pools.iter().any(|pool| gives(pool, key, wanted)) {
                asked.entry((key.clone(), wanted.clone())).or_default().extend(&shape.pods);
            }
        }
    }
    let workloads = workloads(pods, &asked);
    let mut warnings: Vec<Warning> =
        asked.into_iter().map(|(label, pods)| warning(label, &pods, &workloads)).collect();
    warnings.sort();
    warnings
}

/// Returns the requirements that all alternatives of a shape have in common, except those that accept an absent label.
fn common(shape: &Shape) -> impl Iterator<Item = (&LabelKey, &Requirement)> {
    let (first, rest) = match shape.ask.alternatives.split_first() {
        Some((first, rest)) => (Some(first), rest),
        None => (None, &[][..]),
    };
    let in_all = move |(key, wanted): &(&LabelKey, &Requirement)| {
        !wanted.accepts_absence() && rest.iter().all(|other| other.get(key.as_str()) == Some(wanted))
    };
    first.into_iter().flat_map(Requirements::iter).filter(in_all)
}

/// Returns whether some node of the pool could satisfy the requirement.
fn gives(pool: &PoolSupply<'_>, key: &LabelKey, wanted: &Requirement) -> bool {
    let mut alone = Requirements::none();
    alone.add(key.clone(), wanted.clone());
    pool.reach(&alone).is_some_and(|reach| !reach.kinds.is_empty() && !reach.placements.is_empty())
}

/// Returns the names of these pods' workloads, or of the pods themselves if they have none.
fn workloads<'a>(
    pods: impl Iterator<Item = &'a Pod>,
    asked: &BTreeMap<(LabelKey, Requirement), BTreeSet<&PodKey>>,
) -> BTreeMap<&'a PodKey, String> {
    let wanted: BTreeSet<&PodKey> = asked.values().flatten().copied().collect();
    let pods = pods.filter(|pod| wanted.contains(&pod.key));
    pods.map(|pod| {
        let name = pod.workload.as_ref().map_or_else(
            || format!("pod `{}`", pod.key),
            |owner| format!("{} `{}/{}`", owner.kind, owner.namespace, owner.name),
        );
        (&pod.key, name)
    })
    .collect()
}

fn warning(
    (key, wanted): (LabelKey, Requirement),
    pods: &BTreeSet<&PodKey>,
    workloads: &BTreeMap<&PodKey, String>,
) -> Warning {
    let names: BTreeSet<&String> = pods.iter().filter_map(|pod| workloads.get(pod)).collect();
    let mut shown: Vec<String> = names.iter().take(WORKLOADS_NAMED_MAX).map(|name| (*name).clone()).collect();
    if names.len() > WORKLOADS_NAMED_MAX {
        shown.push(format!("{} more", names.len() - WORKLOADS_NAMED_MAX));
    }
    let pods = match pods.len() {
        1 => "1 pod asks".to_owned(),
        more => format!("{more} pods ask"),
    };
    let what = format!(
        "{pods} for {wanted}, which nodes of agent pools have and no NodePool gives: {}",
        shown.join(", ")
    );
    let hint = match key.as_str() {
        label::HOSTNAME => {
            "it ties the pods to one node, and no new node can take them: select a label that other nodes have as \
             well, or leave the node to them"
        }
        key if OF_AKS_ALONE.contains(&key) => {
            "AKS alone sets it, on agent pools: select a label of your own, and give it to a NodePool in \
             `spec.template.metadata.labels`"
        }
        _ => "add it to `spec.template.metadata.labels` of a NodePool",
    };
    Warning { object: format!("label `{key}`"), what, hint: Some(hint.to_owned()) }
}
