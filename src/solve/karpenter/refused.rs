//! What somebody else says no to: pods that are not to be placed, and nodes that are not to be removed.
//!
//! Nothing is decided here; what is refused is left out when everything is worked out anew.

use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};

use crate::model::{DisruptionReason, NodeName, PodKey};

/// What is left out, each with why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Pods that are not to be placed.
    pub pods: BTreeMap<PodKey, String>,
    /// Those of them that kube-scheduler is not taken to bind either where there is room.
    pub late: BTreeSet<PodKey>,
    /// Nodes that are not to be removed for these reasons.
    pub removals: BTreeMap<(NodeName, DisruptionReason), String>,
    /// Whether no node is to be removed at all.
    pub keeps_nodes: bool,
}

impl Refused {
    /// Adds that a node is not to be removed for a reason. One that carries nothing may be removed for that or for
    /// want of use: both are refused together.
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

    /// Returns whether a node may be removed for a reason, as far as this says.
    #[must_use]
    pub fn lets_go(&self, node: &NodeName, reason: DisruptionReason) -> bool {
        !self.keeps_nodes
            && (self.removals.is_empty() || !self.removals.contains_key(&(node.clone(), reason)))
    }

    /// Adds what another says. A pod that is refused again was not placed by Karpenter any more, but bound late: then it
    /// is not bound at all, and what was said first of it holds.
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
