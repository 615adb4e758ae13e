//! Maintains NodeClaims that belong to no plan in progress: left by a finished plan, or created by another process or a
//! person.
//!
//! Once a NodeClaim exists, its node's lifecycle belongs to the claim, whoever started it. The actions that are due
//! derive from the objects alone, at every look: a late node is registered and initialized; one that never joined or is
//! gone is rolled back. Never touches a node that has joined and exists: removing it is for a plan to decide.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::absent::{Absent, confirmed};
use super::{foreign, is_of_foreign_vm, item_of};
use crate::model::{ClaimName, NodeName};
use crate::plan::execution::ClusterIdentity;
use crate::plan::{ChangeId, mark};
use crate::rollout::action::{Action, Effect, InterfaceRef, VmRef};
use crate::rollout::conditions::{self, INITIALIZED, LAUNCHED, REGISTERED};
use crate::rollout::ground::{let_claim_go, let_node_go, patch_status};
use crate::rollout::join;
use crate::rollout::journal::Removing;
use crate::rollout::memory::Memory;
use crate::rollout::outcome::Standing;
use crate::world::seen::{Provisioning, Seen, SeenClaim, SeenNode, SeenVm, Whole};
use serde_json::json;

/// How long a VM may take to join: Karpenter's registration timeout, from the claim's creation.
const JOIN_WAIT: SignedDuration = SignedDuration::from_mins(15);

/// How long a VM of this cluster may lack a NodeClaim, in complete lists, before it is deleted as orphaned.
const ORPHAN_WAIT: SignedDuration = SignedDuration::from_mins(5);

/// If at least this many of the cluster's VMs lack a NodeClaim, and more than [`ORPHANS_SHARE`] per cent, the list of
/// claims is considered faulty.
const ORPHANS_LEAST: usize = 5;

/// See [`ORPHANS_LEAST`].
const ORPHANS_SHARE: usize = 30;

/// Records since when claims have had no Node, and VMs no claim. Call before computing what is due.
pub fn look(memory: &mut Memory, seen: &Seen, keeping: Keeping<'_>) {
    memory.look(seen);
    let Some(world) = seen.whole() else {
        memory.orphans.clear();
        return;
    };
    let nodeless = world.claims.iter().filter(|(_, claim)| {
        let vm = claim.provider_id.as_deref().and_then(|id| id.strip_prefix("azure://"));
        claim.is(REGISTERED) && vm.is_some_and(|vm| world.node_of(vm).is_none())
    });
    let nodeless: BTreeSet<&ClaimName> = nodeless.map(|(name, _)| name).collect();
    memory.nodeless.retain(|name, _| nodeless.contains(name));
    for name in nodeless {
        memory.nodeless.entry(name.clone()).or_insert(world.at);
    }
    let orphans: BTreeSet<Arc<str>> =
        orphans(world, keeping).map(|vm| vm.id.to_ascii_lowercase().into()).collect();
    memory.orphans.retain(|id, _| orphans.contains(id));
    for id in orphans {
        memory.orphans.entry(id).or_insert(world.at);
    }
}

/// Due actions for objects that belong to no plan.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Due {
    /// Actions that may start now.
    pub actions: Vec<Action>,
    /// Waits: the object, and what it waits for.
    pub waits: Vec<(Arc<str>, String)>,
}

/// Which claims are maintained, and which belong to plans.
#[derive(Clone, Copy, Debug)]
pub struct Keeping<'a> {
    /// The cluster that owns the claims.
    pub cluster: &'a ClusterIdentity,
    /// Claims that belong to changes in flight.
    pub carried: &'a BTreeSet<ClaimName>,
    /// Changes in flight, which identify VMs whose claim is not listed yet.
    pub changes: &'a BTreeSet<ChangeId>,
}

/// Returns what is due; nothing if a part of the world could not be read.
#[must_use]
pub fn due(seen: &Seen, memory: &Memory, keeping: Keeping<'_>) -> Due {
    let Some(world) = seen.whole() else { return Due::default() };
    let mut due = Due::default();
    for (name, claim) in world.claims {
        // The plan that removes it continues that.
        if keeping.carried.contains(name) || Removing::of(claim).is_some() {
            continue;
        }
        let one = One { world, memory, keeping, change: change_of(name, claim), name, claim };
        due.take(name.as_str(), one.next());
    }
    collect(world, memory, keeping, &mut due);
    let is_free = |action: &Action| {
        let key = action.key();
        !memory.in_flight.contains(&key)
            && !memory.failed.contains_key(&key)
            && memory.not_before.get(&key).is_none_or(|time| *time <= seen.at)
    };
    due.actions.retain(is_free);
    due
}

/// Returns the change that created a claim, or one named after it: actions are reported under it.
fn change_of(name: &ClaimName, claim: &SeenClaim) -> ChangeId {
    let item = claim.annotations.get(mark::ITEM).cloned();
    ChangeId(item.unwrap_or_else(|| format!("nodeclaim {name}").into()))
}

impl Due {
    fn take(&mut self, object: &str, standing: Option<Standing>) {
        match standing {
            Some(Standing::Acts(actions)) => self.actions.extend(actions),
            Some(Standing::Waits(wait)) => self.waits.push((object.into(), wait.what)),
            Some(Standing::Settled(_)) | None => {}
        }
    }
}

/// One claim, with its context.
struct One<'a> {
    world: Whole<'a>,
    memory: &'a Memory,
    keeping: Keeping<'a>,
    change: ChangeId,
    name: &'a ClaimName,
    claim: &'a SeenClaim,
}

impl<'a> One<'a> {
    fn next(&self) -> Option<Standing> {
        match self.node() {
            Some(found) if self.claim.deleting_since.is_none() => self.joined(found),
            // A claim that is deleted while its node exists has to be drained first, by a plan.
            Some(_) => None,
            None => self.without_node(),
        }
    }

    fn node(&self) -> Option<(&'a NodeName, &'a SeenNode)> {
        self.world.node_of(self.vm_id()?)
    }

    fn vm_id(&self) -> Option<&'a str> {
        self.claim.provider_id.as_deref()?.strip_prefix("azure://")
    }

    /// Handles an existing Node: registers and initializes it as soon as possible, and copies its `Ready` condition to
    /// the claim.
    fn joined(&self, found: (&NodeName, &SeenNode)) -> Option<Standing> {
        let Self { world, claim, name, .. } = self;
        if let Some(effect) = join::next((name, claim), found, world.at) {
            return Some(self.act(effect));
        }
        if !claim.is(INITIALIZED) {
            let time = (world.at, self.memory.wait(join::PATIENCE));
            if let Some(effect) = join::explains((name, claim), found.1, time) {
                return Some(self.act(effect));
            }
            let what = format!("node `{}`: {}", found.0, join::lacks(claim, found.1));
            return Some(Standing::waits(what));
        }
        let follows = conditions::ready(claim, found.1.is_ready, world.at)?;
        let conditions = ("conditions", json!(follows));
        Some(self.act(patch_status((name, claim), "say whether it is Ready of", &[conditions])))
    }

    /// Handles a missing Node: waits for it, and rolls back if it does not join in time or is gone.
    fn without_node(&self) -> Option<Standing> {
        let Self { world, memory, claim, .. } = self;
        let wait = memory.wait(JOIN_WAIT);
        if claim.deleting_since.is_some() {
            return Some(self.roll_back());
        }
        let since = match claim.is(REGISTERED) {
            // Its Node had joined.
            true => *memory.nodeless.get(self.name)?,
            false => claim.since(LAUNCHED).filter(|_| claim.is(LAUNCHED)).or(claim.created)?,
        };
        if let Some(vm) = self.vms().find(|vm| vm.state == Provisioning::Succeeded)
            && self.vm_id().is_none()
        {
            return Some(self.act(join::launched((self.name, claim), &vm.id, None, world.at)));
        }
        let deadline = since.saturating_add(wait).unwrap_or(Timestamp::MAX);
        let is_gone = self.vm_id().is_some_and(|id| world.vm(id).is_none());
        if world.at < deadline && !(is_gone && claim.is(LAUNCHED)) {
            let node = claim.node.as_ref().map_or_else(|| self.name.to_string(), ToString::to_string);
            return Some(Standing::waits_until(format!("node `{node}` to join"), deadline));
        }
        Some(self.roll_back())
    }

    /// Deletes VMs, then network interfaces, then the claim; each absence is confirmed by id before the next step.
    fn roll_back(&self) -> Standing {
        if let Some(vm) = self.vms().next() {
            return match vm.state {
                Provisioning::Deleting if !self.memory.lingers(&vm.id, self.world.at) => {
                    Standing::waits(format!("VM `{}` to be gone", last(&vm.id)))
                }
                Provisioning::Deleting
                | Provisioning::Succeeded
                | Provisioning::Failed
                | Provisioning::Underway => self.act(delete(vm, self.made_for(vm))),
            };
        }
        if let Some(id) = self.vm_id()
            && let Some(asks) = self.confirm(Absent::vm(id))
        {
            return asks;
        }
        if let Some(nic) = self.interfaces().next() {
            return match nic.1 {
                Provisioning::Deleting => Standing::waits(format!("NIC `{}` to be gone", last(&nic.0))),
                Provisioning::Succeeded | Provisioning::Failed | Provisioning::Underway => {
                    self.act(Effect::DeleteInterface(InterfaceRef { id: nic.0, made_for: None }))
                }
            };
        }
        if let Some(node) = self.claim.node.as_ref().filter(|node| !self.world.nodes.contains_key(*node))
            && let Some(asks) = self.confirm(Absent::Node(node.clone()))
        {
            return asks;
        }
        let_claim_go(&self.change, self.name, self.claim)
    }

    /// Returns the claim's VMs that belong to this cluster: the one that it names, and those created for it.
    fn vms(&self) -> impl Iterator<Item = &'a SeenVm> {
        let (cluster, named) = (self.keeping.cluster, self.vm_id());
        let item = self.claim.annotations.get(mark::ITEM).cloned();
        self.world.vms.values().filter(move |vm| {
            let is_named = named.is_some_and(|id| id.eq_ignore_ascii_case(&vm.id));
            let is_made = item.is_some() && item_of(&vm.tags) == item.as_ref();
            (is_named || is_made) && foreign(&vm.tags, cluster, None).is_none()
        })
    }

    fn made_for(&self, vm: &SeenVm) -> Option<ChangeId> {
        item_of(&vm.tags).is_some().then(|| self.change.clone())
    }

    fn interfaces(&self) -> impl Iterator<Item = (Arc<str>, Provisioning)> {
        let (cluster, world) = (self.keeping.cluster, self.world);
        let item = self.claim.annotations.get(mark::ITEM).cloned();
        let named = self.vm_id().map(|id| last(id).to_ascii_lowercase());
        self.world.interfaces.values().filter_map(move |nic| {
            let is_named = named.as_deref().is_some_and(|name| last(&nic.id).eq_ignore_ascii_case(name));
            let is_made = item.is_some() && item_of(&nic.tags) == item.as_ref();
            let is_ours = (is_named || is_made) && foreign(&nic.tags, cluster, None).is_none();
            (is_ours && !is_of_foreign_vm(&nic.id, world, cluster)).then(|| (nic.id.clone(), nic.state))
        })
    }

    fn confirm(&self, absent: Absent) -> Option<Standing> {
        match confirmed(self.memory, &absent, self.world.at) {
            true => None,
            false => Some(self.act(Effect::Confirm(absent))),
        }
    }

    fn act(&self, effect: Effect) -> Standing {
        Standing::Acts(vec![Action { change: self.change.clone(), effect }])
    }
}

/// Deletes this cluster's VMs without a NodeClaim; if their Node runs workload pods, keeps and reports them.
fn collect(world: Whole<'_>, memory: &Memory, keeping: Keeping<'_>, due: &mut Due) {
    let orphans: Vec<&SeenVm> = orphans(world, keeping).collect();
    let ours = world.vms.values().filter(|vm| foreign(&vm.tags, keeping.cluster, None).is_none()).count();
    if orphans.len() >= ORPHANS_LEAST && orphans.len() * 100 > ours * ORPHANS_SHARE {
        let what = format!(
            "the list of NodeClaims to be complete again: {} of {ours} VMs of this cluster have none",
            orphans.len()
        );
        return due.waits.push(("VMs".into(), what));
    }
    for vm in orphans {
        let since = memory.orphans.get(vm.id.to_ascii_lowercase().as_str());
        let wait = memory.wait(ORPHAN_WAIT);
        if since.is_none_or(|since| world.at.duration_since(*since) < wait)
            || vm.state == Provisioning::Deleting
        {
            continue;
        }
        let change = ChangeId(format!("vm {}", last(&vm.id)).into());
        let node = world.node_of(&vm.id);
        let runs = node.and_then(|(name, _)| world.pods_of(name).find(|pod| pod.is_of_workload()));
        match (runs, node) {
            (Some(pod), Some((node, _))) => due.waits.push((
                last(&vm.id).into(),
                format!(
                    "a decision by you: VM `{}` has this cluster's tags and no NodeClaim, and its node `{node}` runs pod `{}`",
                    last(&vm.id),
                    pod.key
                ),
            )),
            _ => due.actions.push(Action { change, effect: delete(vm, None) }),
        }
    }
    leftover_nodes(world, memory, keeping, due);
}

/// Deletes Nodes whose VM, once this cluster's, is gone: Kubernetes' controllers cannot, because the Nodes have
/// Karpenter's finalizer.
fn leftover_nodes(world: Whole<'_>, memory: &Memory, keeping: Keeping<'_>, due: &mut Due) {
    let claimed: BTreeSet<String> = claimed(world);
    for (name, node) in world.nodes {
        let has_ours = node.finalizers.iter().any(|finalizer| &**finalizer == crate::model::label::FINALIZER);
        let Some(id) = node.provider_id.as_deref().and_then(|id| id.strip_prefix("azure://")) else {
            continue;
        };
        let id = id.to_ascii_lowercase();
        let is_carried = keeping
            .carried
            .iter()
            .any(|claim| world.claims.get(claim).is_some_and(|claim| claim.node.as_ref() == Some(name)));
        if !has_ours
            || !node.is_deleting
            || is_carried
            || claimed.contains(&id)
            || world.vms.contains_key(id.as_str())
        {
            continue;
        }
        let change = ChangeId(format!("node {name}").into());
        let absent = Absent::vm(&id);
        match confirmed(memory, &absent, world.at) {
            true => due.take(name.as_str(), Some(let_node_go(&change, name, node))),
            false => due.actions.push(Action { change, effect: Effect::Confirm(absent) }),
        }
    }
}

/// Returns the VMs that claims name, by id in lower case.
fn claimed(world: Whole<'_>) -> BTreeSet<String> {
    let ids =
        world.claims.values().filter_map(|claim| claim.provider_id.as_deref()?.strip_prefix("azure://"));
    ids.map(str::to_ascii_lowercase).collect()
}

/// Returns this cluster's VMs that no NodeClaim knows and no change in flight creates.
pub(in crate::rollout) fn orphans<'a>(
    world: Whole<'a>,
    keeping: Keeping<'a>,
) -> impl Iterator<Item = &'a SeenVm> {
    let claimed = claimed(world);
    let items: BTreeSet<Arc<str>> =
        world.claims.values().filter_map(|claim| claim.annotations.get(mark::ITEM).cloned()).collect();
    world.vms.iter().filter_map(move |(id, vm)| {
        let item = item_of(&vm.tags);
        let is_known = claimed.contains(&**id)
            || item.is_some_and(|item| {
                items.contains(item) || keeping.changes.contains(&ChangeId(item.clone()))
            });
        (!is_known && foreign(&vm.tags, keeping.cluster, None).is_none()).then_some(vm)
    })
}

fn delete(vm: &SeenVm, made_for: Option<ChangeId>) -> Effect {
    Effect::DeleteVm(VmRef { id: vm.id.clone(), vm_id: vm.vm_id.clone(), made_for, drained: None })
}

fn last(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}
