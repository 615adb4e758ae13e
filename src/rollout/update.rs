//! Updates one node in place: labels of the Node, then tags of its VM's resources, and last those of the VM, which mark
//! completion.
//!
//! Both are merged, so repeating is harmless: after a restart the update simply continues. Never touches a Node or a VM
//! other than the plan's.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::action::patch::{LABELS, Operations};
use super::action::{Action, Effect, TagRef};
use super::ground::{Ground, act, patch_node};
use super::outcome::{Outcome, Standing};
use crate::arm::extension;
use crate::plan::{ChangeId, Update};
use crate::world::seen::{Provisioning, Seen, SeenNode};

type Tags = BTreeMap<Arc<str>, Arc<str>>;

/// Returns whether the labels of an in-place update are set.
#[must_use]
pub fn is_set(update: &Update, seen: &Seen) -> bool {
    let labels = update.new_labels();
    let node = seen.nodes.as_ref().and_then(|nodes| nodes.get(&update.target.node));
    let has = |node: &SeenNode| labels.iter().all(|(key, value)| node.labels.get(*key) == Some(*value));
    !labels.is_empty() && node.is_some_and(has)
}

/// Returns the next step of an in-place update.
pub(super) fn update(ground: Ground<'_>, id: &ChangeId, update: &Update) -> Standing {
    if let Some(outcome) = ground.memory.recorded.get(id) {
        return Standing::Settled(outcome.clone());
    }
    let name = &update.target.node;
    let identity = ground.execution().nodes.get(id);
    let vm = identity.and_then(|identity| {
        let vm = ground.world.vm(identity.vm.as_deref()?)?;
        (vm.vm_id.is_some() && vm.vm_id == identity.vm_id).then_some(vm)
    });
    let (Some(identity), Some(vm)) = (identity, vm.filter(|vm| vm.state != Provisioning::Deleting)) else {
        let because = format!("the VM of node `{name}` is gone, or not the one that was approved");
        return Standing::Settled(Outcome::no_longer_holds(because));
    };
    let node = ground.world.nodes.get(name).filter(|node| identity.node_uid.as_ref() == Some(&node.uid));
    let labels = update.new_labels();
    match node {
        _ if labels.is_empty() => {}
        Some(node) if labels.iter().all(|(key, value)| node.labels.get(*key) == Some(*value)) => {}
        Some(node) => {
            let labels = labels.iter().map(|(key, value)| (&**key, &***value));
            let labelled = Operations::of(&node.uid).with_entries(LABELS, &node.labels, labels);
            return act(id, patch_node(name, "label", labelled));
        }
        None => {
            let because = format!("node `{name}` is gone, or not the one that was approved");
            return Standing::Settled(Outcome::no_longer_holds(because));
        }
    }
    let tags = update.new_tags();
    if tags.is_empty() {
        return act(id, Effect::Record(Outcome::Done));
    }
    let tag = |resource: &Arc<str>| {
        Effect::Tag(TagRef { id: resource.clone(), tags: tags.clone(), may_be_missing: false })
    };
    let is_done = |effect: &Effect| {
        let action = Action { change: id.clone(), effect: effect.clone() };
        ground.memory.done.contains(&action.key())
    };
    let last = tag(&vm.id);
    // It is unknown whether an earlier run or someone else set the last tags; either way the update is done.
    if is_done(&last) || has(&vm.tags, &tags) {
        return act(id, Effect::Record(Outcome::Done));
    }
    let is_known =
        |resource: &&Arc<str>| ground.world.interface(resource).is_some_and(|found| has(&found.tags, &tags));
    let beside = identity.tagged_beside_vm().filter(|resource| !is_known(resource)).map(tag);
    // Not every cloud has the extension, and creating it may have failed.
    let extension = Effect::Tag(TagRef {
        id: extension::billing_id(&vm.id).into(),
        tags: tags.clone(),
        may_be_missing: true,
    });
    act(id, beside.chain([extension]).find(|it| !is_done(it)).unwrap_or(last))
}

/// Returns whether a resource has all of these tags, ignoring the case of names.
fn has(found: &Tags, wanted: &Tags) -> bool {
    wanted
        .iter()
        .all(|(name, value)| found.iter().any(|(key, is)| key.eq_ignore_ascii_case(name) && is == value))
}
