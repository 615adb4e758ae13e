//! Status of a change in a snapshot: already done, still possible, or impossible.
//!
//! A function of the change and the snapshot alone, so resuming needs no memory. Unknown data never makes a change
//! impossible: apply checks again before each side effect. Must never look at what others request: whether a change is
//! still wanted is decided elsewhere.

use std::sync::Arc;

use super::change::{Change, Create, Delete, ExistingNode, Update};
use crate::model::{Node, NodeStage};
use crate::snapshot::Snapshot;

/// Status of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The snapshot already matches the change.
    Done,
    /// It can be applied or resumed.
    Possible,
    /// It can no longer be applied, and why.
    Impossible(Arc<str>),
}

/// Returns the status of a change.
#[must_use]
pub fn status(change: &Change, snapshot: &Snapshot) -> Status {
    match change {
        Change::Create(create) => of_create(create, snapshot),
        Change::Delete(delete) => of_delete(delete, snapshot),
        Change::Update(update) => of_update(update, snapshot),
        // Apply decides whether these are applied at all.
        Change::Adopt(_) | Change::Forget(_) => Status::Possible,
        Change::NoOp(_) => Status::Done,
    }
}

/// Returns the status of a create. NodeClaim names are derived from the plan, so an existing one belongs to this
/// change.
fn of_create(create: &Create, snapshot: &Snapshot) -> Status {
    let made = snapshot.nodes.iter().find(|node| node.claim.as_ref() == Some(&create.claim));
    match made.map(|node| node.stage) {
        Some(NodeStage::Initialized) => Status::Done,
        Some(NodeStage::Launching | NodeStage::Registered) | None => Status::Possible,
    }
}

fn of_delete(delete: &Delete, snapshot: &Snapshot) -> Status {
    match found(&delete.target, snapshot) {
        Some(Ok(_)) => Status::Possible,
        Some(Err(because)) => Status::Impossible(because),
        None => match is_left(&delete.target, snapshot) {
            Some(false) => Status::Done,
            Some(true) | None => Status::Possible,
        },
    }
}

fn of_update(update: &Update, snapshot: &Snapshot) -> Status {
    let node = match found(&update.target, snapshot) {
        Some(Ok(node)) => node,
        Some(Err(because)) => return Status::Impossible(because),
        None => return Status::Impossible(format!("node `{}` is gone", update.target.node).into()),
    };
    let has_labels = update.labels.iter().all(|(key, label)| node.labels.get(key) == label.new.as_ref());
    let vm = snapshot.azure.as_ref().and_then(|facts| facts.vm_of(node));
    let has_tag = |name: &str, value: Option<&Arc<str>>| {
        let tags = vm.into_iter().flat_map(|vm| &vm.tags);
        let mut values = tags.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value);
        values.next() == value
    };
    let has_tags = update.tags.iter().all(|(name, tag)| has_tag(name, tag.new.as_ref()));
    match has_labels && has_tags && update.annotations.is_empty() {
        true => Status::Done,
        false => Status::Possible,
    }
}

/// Returns the targeted node, or an error if a different node has its name.
fn found<'s>(target: &ExistingNode, snapshot: &'s Snapshot) -> Option<Result<&'s Node, Arc<str>>> {
    let node = snapshot.nodes.iter().find(|node| node.name == target.node)?;
    let differs = |planned: Option<&str>, found: Option<&str>| {
        planned.zip(found).is_some_and(|(planned, found)| !planned.eq_ignore_ascii_case(found))
    };
    if differs(target.provider_id.as_deref(), node.provider_id.as_deref()) {
        let because = format!("node `{}` runs on another VM than the one that was approved", target.node);
        return Some(Err(because.into()));
    }
    let (planned, found) = (target.claim.as_ref(), node.claim.as_ref());
    if differs(planned.map(|claim| claim.as_str()), found.map(|claim| claim.as_str())) {
        let because = format!("node `{}` has another NodeClaim than the one that was approved", target.node);
        return Some(Err(because.into()));
    }
    Some(Ok(node))
}

/// Returns whether the VM of a deleted node still exists; `None` if VMs could not be listed.
fn is_left(target: &ExistingNode, snapshot: &Snapshot) -> Option<bool> {
    let Some(facts) = &snapshot.azure else { return Some(false) };
    let id = target.provider_id.as_deref().map(|id| id.trim_start_matches("azure://"));
    let vms = facts.vms.as_ref()?;
    Some(id.is_some_and(|id| vms.iter().any(|vm| vm.id.eq_ignore_ascii_case(id))))
}
