//! One node whose tags change in place: what belongs to its VM first, the VM last, since its tags say that all is done.
//!
//! Tags are merged, so that doing it again changes nothing: after a restart it simply goes on. Must never touch a VM
//! that is not the one of the plan.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::action::{Action, Effect, TagRef};
use super::ground::{Ground, act};
use super::outcome::{Outcome, Standing};
use super::seen::Provisioning;
use crate::arm::extension::BILLING_EXTENSION;
use crate::plan::execution::NodeIdentity;
use crate::plan::{ChangeId, Update};

type Tags = BTreeMap<Arc<str>, Arc<str>>;

/// Returns what is next for a change in place.
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
        let because = format!("the VM of node `{name}` is gone, or another than the one that was approved");
        return Standing::Settled(Outcome::no_longer_holds(because));
    };
    let tags: Tags =
        update.tags.iter().filter_map(|(name, it)| Some((name.clone(), it.new.clone()?))).collect();
    let tag = |resource: &str| Effect::Tag(TagRef { id: resource.into(), tags: tags.clone() });
    let is_done = |effect: &Effect| {
        let action = Action { change: id.clone(), effect: effect.clone() };
        ground.memory.done.contains(&action.key())
    };
    let last = tag(&vm.id);
    // Who set the last of them, an earlier run or somebody else, nobody can tell: it is done.
    if is_done(&last) || has(&vm.tags, &tags) {
        return act(id, Effect::Record(Outcome::Done));
    }
    let next = beside(ground, identity, &vm.id, &tags).iter().map(|id| tag(id)).find(|it| !is_done(it));
    act(id, next.unwrap_or(last))
}

/// What has the tags of a VM and is not known to have these: its network interfaces, its extension and its disk.
fn beside(ground: Ground<'_>, identity: &NodeIdentity, vm: &str, tags: &Tags) -> Vec<Arc<str>> {
    let interfaces = identity.interfaces.iter().filter_map(|id| ground.world.interface(id));
    let interfaces = interfaces.filter(|nic| !has(&nic.tags, tags)).map(|nic| nic.id.clone());
    let extension: Arc<str> = format!("{vm}/extensions/{BILLING_EXTENSION}").into();
    let disk = identity.os_disk.iter().filter(|disk| disk.starts_with('/')).cloned();
    interfaces.chain([extension]).chain(disk).collect()
}

/// Whether a resource has all of these tags; the case of names does not count.
fn has(found: &Tags, wanted: &Tags) -> bool {
    wanted
        .iter()
        .all(|(name, value)| found.iter().any(|(key, is)| key.eq_ignore_ascii_case(name) && is == value))
}
