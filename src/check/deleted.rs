//! Nodes that somebody deletes: each is one that is being deleted, has a NodeClaim and a pool that is there, and a VM of
//! nodeform's or none; and a plan that removes such nodes does nothing else.
//!
//! What their pods ask is not judged: it is heeded when they are drained.

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{DisruptionReason, Node};
use crate::plan::Change;
use crate::snapshot::azure::OWN_TAG;

/// Returns why a node may not be removed for this reason.
pub(super) fn faults(case: &Case<'_>, node: &Node) -> Vec<String> {
    let mut faults = Vec::new();
    if !case.plan.spec.wishes.deleted.contains(&node.name) {
        faults.push("is removed as deleted, and the plan is not asked for that".to_owned());
    }
    if !node.claimed.is_deleted {
        faults.push("is removed as deleted, and nobody deletes it".to_owned());
    }
    if node.claim.is_none() {
        faults.push("is removed as deleted, and has no NodeClaim".to_owned());
    }
    if node.pool.as_ref().and_then(|pool| case.pool(pool)).is_some_and(|pool| pool.is_deleting) {
        faults.push("is removed as deleted, but its pool is being deleted, which removes no VM".to_owned());
    }
    faults.extend(foreign(case, node));
    faults
}

/// A VM that is there has nodeform's tag; where none is there the claim is nodeform's. A plan that is read from its file is
/// judged without what Azure said.
fn foreign(case: &Case<'_>, node: &Node) -> Option<String> {
    let facts = case.snapshot.azure.as_ref()?;
    let Some(vms) = &facts.vms else {
        return Some("is removed as deleted, and which VMs there are is not known".to_owned());
    };
    let own = node.provider_id.as_ref().map(|id| id.to_ascii_lowercase());
    let vm = vms.iter().find(|vm| own == Some(format!("azure://{}", vm.id.to_ascii_lowercase())));
    let is_ours = vm.map_or(node.claimed.is_own, |vm| vm.tags.contains_key(OWN_TAG));
    (!is_ours).then(|| "is removed as deleted, and nodeform did not make it".to_owned())
}

/// Returns what a plan for such nodes does beside.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    if case.plan.spec.wishes.deleted.is_empty() {
        return Vec::new();
    }
    let is_removal = |change: &Change| match change {
        Change::Delete(delete) => delete.reason == DisruptionReason::Deleted,
        Change::NoOp(_) => true,
        Change::Create(_) | Change::Update(_) | Change::Adopt(_) | Change::Forget(_) => false,
    };
    let others = case.plan.spec.changes.iter().filter(|(_, planned)| !is_removal(&planned.change));
    let why = "is made by a plan that is to remove deleted nodes and do nothing else";
    others.map(|(id, _)| Finding::new(Rule::Supposed, format!("change `{id}`"), why)).collect()
}
