//! Where a change stands in a world: whether it is done already, may still be done, or cannot be done any more.
//!
//! A function of the change and of what was seen alone, so that who resumes needs no memory. What is not known keeps
//! nothing from being possible: who carries it out looks again before each side effect. Must never look at what others
//! ask for: whether a change is still wanted is decided elsewhere.

use std::sync::Arc;

use super::change::{Change, Create, Delete, ExistingNode, Update};
use crate::model::{Node, NodeStage};
use crate::snapshot::Snapshot;

/// Where a change stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// The world is as the change makes it.
    Done,
    /// It may be carried out, or gone on with.
    Possible,
    /// It cannot be carried out any more, and why.
    Impossible(Arc<str>),
}

/// Returns where a change stands.
#[must_use]
pub fn status(change: &Change, snapshot: &Snapshot) -> Status {
    match change {
        Change::Create(create) => of_create(create, snapshot),
        Change::Delete(delete) => of_delete(delete, snapshot),
        Change::Update(update) => of_update(update, snapshot),
        // Whether they are carried out at all is decided by who does.
        Change::Adopt(_) | Change::Forget(_) => Status::Possible,
        Change::NoOp(_) => Status::Done,
    }
}

/// The name of a NodeClaim follows from its plan: one that is there was made for this change.
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

/// Returns the node that is meant; an error where one of its name is another.
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

/// Whether the VM of a node that is gone is still there; nothing where VMs could not be listed.
fn is_left(target: &ExistingNode, snapshot: &Snapshot) -> Option<bool> {
    let Some(facts) = &snapshot.azure else { return Some(false) };
    let id = target.provider_id.as_deref().map(|id| id.trim_start_matches("azure://"));
    let vms = facts.vms.as_ref()?;
    Some(id.is_some_and(|id| vms.iter().any(|vm| vm.id.eq_ignore_ascii_case(id))))
}
