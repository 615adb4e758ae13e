//! The cluster's network set-up: the NodeFleet's, else AKS' default, which is then reported.
//!
//! Whether the dataplane is Cilium is decided by the NodeFleet, else by the Nodes' labels, else by the label that a
//! pool gives its nodes. Never affects which sizes a pool may use.

use std::collections::{BTreeMap, BTreeSet};

use crate::manifests::Remark;
use crate::model::fleet::CILIUM;
use crate::model::{ClassName, NetworkSetup, Node, Pool, Requirement, label};
use crate::policy::Policy;
use crate::snapshot::Assumption;

/// The network set-up, and reports about it.
pub(super) struct Network {
    /// The set-up to plan with.
    pub(super) setup: NetworkSetup,
    /// Assumptions where the input is silent.
    pub(super) assumptions: Vec<Assumption>,
    /// Pools whose nodes contradict the NodeFleet.
    pub(super) remarks: Vec<Remark>,
}

/// Returns the network set-up.
pub(super) fn network(policy: &Policy, nodes: &[Node]) -> Network {
    let mut assumptions = Vec::new();
    let setup = policy.fleet.network.unwrap_or_else(|| {
        let setup = NetworkSetup::AzureOverlay { is_cilium: false };
        assumptions.push(assumed(policy, setup));
        setup
    });
    if policy.fleet.names_dataplane {
        return Network { setup, assumptions, remarks: contradictions(policy, setup) };
    }
    let says_cilium =
        |node: &Node| node.labels.get(label::AKS_EBPF_DATAPLANE).is_some_and(|value| is_cilium(value));
    let of_pools = || policy.pools.values().find(|pool| dataplane(pool).is_some_and(is_cilium));
    let setup = if setup == NetworkSetup::None {
        setup
    } else if nodes.iter().any(says_cilium) {
        setup.with_cilium()
    } else if let Some(pool) = of_pools() {
        assumptions.push(Assumption {
            what: "Cilium".to_owned(),
            why: format!(
                "pool `{}` labels its nodes so: `spec.cluster.networkDataplane` of a NodeFleet",
                pool.name
            ),
        });
        setup.with_cilium()
    } else {
        setup
    };
    Network { setup, assumptions, remarks: Vec::new() }
}

/// Reports the assumed set-up and the maximum number of pods per node: that of the classes in use, else the network's
/// default.
fn assumed(policy: &Policy, setup: NetworkSetup) -> Assumption {
    let used: BTreeSet<&ClassName> = policy.pools.values().map(|pool| &pool.class).collect();
    let mut by_count: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    let mut is_default = used.is_empty();
    for class in used {
        match policy.classes.get(class).and_then(|class| class.pods_max) {
            Some(most) => by_count.entry(most).or_default().push(format!("`{class}`")),
            None => is_default = true,
        }
    }
    let default = is_default.then(|| format!(", at most {} pods on a node", setup.pods_per_node()));
    let of_classes = by_count.into_iter().map(|(most, classes)| {
        format!("; at most {most} pods on a node of AKSNodeClass {}", classes.join(" and "))
    });
    Assumption {
        what: format!("Azure CNI overlay{}", default.unwrap_or_default()),
        why: format!("AKS' default: `spec.cluster` of a NodeFleet{}", of_classes.collect::<String>()),
    }
}

fn is_cilium(value: &str) -> bool {
    value == CILIUM
}

/// Returns the dataplane that a pool sets for its nodes.
fn dataplane(pool: &Pool) -> Option<&str> {
    let asked = || pool.requirements.get(label::AKS_EBPF_DATAPLANE).and_then(Requirement::single);
    pool.labels.get(label::AKS_EBPF_DATAPLANE).or_else(asked).map(|value| &**value)
}

/// Reports the pools that label their nodes with another dataplane than the NodeFleet's.
fn contradictions(policy: &Policy, setup: NetworkSetup) -> Vec<Remark> {
    let fleet = policy.fleet.name.as_deref().unwrap_or_default();
    let named = if setup.is_cilium() { CILIUM } else { "azure" };
    let pools = policy.pools.values().filter_map(|pool| Some((pool, dataplane(pool)?)));
    pools
        .filter(|(_, value)| is_cilium(value) != setup.is_cilium())
        .map(|(pool, value)| Remark {
            object: format!("pool `{}`", pool.name),
            what: format!(
                "`{}: {value}` on its nodes, and NodeFleet `{fleet}` has `networkDataplane: {named}`: planned with `{named}`",
                label::AKS_EBPF_DATAPLANE
            ),
            hint: Some("change `spec.cluster.networkDataplane` of the NodeFleet, or the label".to_owned()),
        })
        .collect()
}

#[cfg(test)]
mod tests;
