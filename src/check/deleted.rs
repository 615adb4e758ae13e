//! Nodes deleted by users: each is being deleted and has a NodeClaim, an existing pool, and a VM of nodeform's or none.
//! A plan that removes such nodes does nothing else.
//!
//! Their pods' rules are not checked: the drain respects them.

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{DisruptionReason, Node};
use crate::plan::Change;
use crate::snapshot::azure::{OWN_TAG, VmFacts, is_of_claim};

/// Returns why a node may not be removed for this reason.
pub(super) fn faults(case: &Case<'_>, node: &Node) -> Vec<String> {
    let mut faults = Vec::new();
    if node.is_deleting {
        return left_over(case, node);
    }
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

/// Returns why the rest of a node being deleted is more than the remains of its VM. Nothing is drained in this case, so
/// there must be no VM, and all VMs and network interfaces must have been listed.
fn left_over(case: &Case<'_>, node: &Node) -> Vec<String> {
    let mut faults = Vec::new();
    if !node.claimed.is_own || !node.claimed.is_deleted || node.claim.is_none() {
        faults.push("is tidied up, but is no node of nodeform that somebody deletes".to_owned());
    }
    let Some(facts) = &case.snapshot.azure else { return faults };
    let (Some(vms), Some(_)) = (&facts.vms, &facts.interfaces) else {
        faults.push("is tidied up, and which VMs there are is not known".to_owned());
        return faults;
    };
    let id = node.provider_id.as_ref().map(|id| id.to_ascii_lowercase());
    let is_its_vm = |vm: &VmFacts| {
        let is_named = node.claim.as_ref().is_some_and(|claim| is_of_claim(&vm.name, &vm.tags, claim));
        is_named || id == Some(format!("azure://{}", vm.id.to_ascii_lowercase()))
    };
    if vms.iter().any(is_its_vm) {
        faults.push("is tidied up, but its VM is there".to_owned());
    }
    if node.uid.is_some() && !node.troubles.iter().any(|trouble| &*trouble.kind == "Ready") {
        faults.push("is tidied up as without a VM, but is Ready".to_owned());
    }
    faults
}

/// Checks that nodeform owns the node: an existing VM must have nodeform's tag, and without a VM the claim must be
/// nodeform's. Skipped without Azure's facts, as for a plan read from its file.
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

/// Returns the other changes of a plan that removes such nodes.
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
