//! Quotas of a subscription, and which of the used vCPUs belong to nodes in the input.
//!
//! Never guesses: a quota that Azure does not list stays unknown.

use super::Snapshot;
use crate::model::{Node, NodeStage, Quota, Usage};

/// Returns the quotas. The VM of a launching NodeClaim counts as used only if it has a provider ID or Azure lists it.
#[must_use]
pub fn of(usages: &[Usage], seen: &Snapshot) -> Quota {
    let Snapshot { nodes, catalog, azure, .. } = seen;
    let is_listed = |node: &Node| {
        let claim = node.claim.as_ref().zip(azure.as_ref());
        claim.is_some_and(|(claim, facts)| facts.vms_of(claim).next().is_some())
    };
    let has_vm =
        |node: &&Node| node.stage != NodeStage::Launching || node.provider_id.is_some() || is_listed(node);
    Quota::new(usages, catalog.size_quotas()).with_nodes(nodes.iter().filter(has_vm))
}
