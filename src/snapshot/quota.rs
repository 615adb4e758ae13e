//! The quotas of a subscription, beside what there is: which of the used vCPUs are those of nodes in the input.
//!
//! Nothing is guessed: a quota that Azure does not list stays unknown.

use super::Snapshot;
use crate::model::{Node, NodeStage, Quota, Usage};

/// Returns the quotas. The VM of a NodeClaim that is on its way is used by nobody yet as far as Azure knows, unless it is
/// listed.
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
