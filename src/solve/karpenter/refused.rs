//! Refused decisions of Karpenter: pods that must not be placed, and nodes that must not be removed.
//!
//! Never decides anything; refused decisions are left out when everything is computed again.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use crate::model::{DisruptionReason, NodeName, PodKey};

/// Refused decisions, each with the reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Pods that must not be placed.
    pub pods: BTreeMap<PodKey, String>,
    /// Those of them that kube-scheduler does not bind late either, even if capacity is free.
    pub late: BTreeSet<PodKey>,
    /// Nodes that must not be removed for these reasons.
    pub removals: BTreeMap<(NodeName, DisruptionReason), String>,
    /// Whether no node may be removed at all.
    pub keeps_nodes: bool,
}

impl Refused {
    /// Adds that a node must not be removed for a reason. A node without pods may be removed as empty or as
    /// underutilized, so both are refused together.
    pub fn removal(&mut self, node: &NodeName, reason: DisruptionReason, because: &str) {
        use DisruptionReason::{
            Deleted, Destroyed, Drifted, Empty, Excess, Expired, Underutilized, Unhealthy,
        };
        let reasons = match reason {
            Deleted | Destroyed | Drifted | Expired | Excess | Unhealthy => vec![reason],
            Empty | Underutilized => vec![Empty, Underutilized],
        };
        for reason in reasons {
            self.removals.entry((node.clone(), reason)).or_insert_with(|| because.to_owned());
        }
    }

    /// Returns whether these refusals allow the removal of a node for a reason.
    #[must_use]
    pub fn lets_go(&self, node: &NodeName, reason: DisruptionReason) -> bool {
        !self.keeps_nodes
            && (self.removals.is_empty() || !self.removals.contains_key(&(node.clone(), reason)))
    }

    /// Adds other refusals. A pod that is refused again was not placed by Karpenter but bound late: it is then not
    /// bound at all, and keeps its first reason.
    pub fn extend(&mut self, other: Self) {
        self.late.extend(other.late);
        for (pod, because) in other.pods {
            match self.pods.entry(pod) {
                Entry::Occupied(known) => {
                    self.late.insert(known.key().clone());
                }
                Entry::Vacant(open) => {
                    open.insert(because);
                }
            }
        }
        self.removals.extend(other.removals);
        self.keeps_nodes |= other.keeps_nodes;
    }
}
