//! Removes one node: mark, taint, drain in Karpenter's four tiers, delete the VM, and finally the objects.
//!
//! Nothing starts unless the node is the approved one. Once tainted, a node is always finished, because a half-drained
//! node is useless. Until then pods may arrive and users may protect it: that is checked again, and the removal is
//! rolled back.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde_json::json;

use super::action::patch::{ANNOTATIONS, LABELS, Operations, TAINTS};
use super::action::{Action, Effect, InterfaceRef, PodRef, VmRef};
use super::ground::{Ground, act, let_claim_go, let_node_go, patch_claim, patch_node, taint_keys};
use super::journal::{REMOVAL, Removing};
use super::outcome::{Outcome, Standing, Wait};
use super::own::absent::Absent;
use super::own::foreign;
use crate::model::{ClaimName, DisruptionReason, NodeName, Taint, label};
use crate::plan::execution::{NodeIdentity, Removal};
use crate::plan::identity::is_named_after;
use crate::plan::{ChangeId, Delete, Precondition};
use crate::world::seen::{Provisioning, SeenClaim, SeenNode, SeenPod, SeenVm};

/// Description of the patch that starts a removal.
pub const MARK: &str = "mark the removal of";

/// Karpenter's value of the label that excludes a node from load balancers.
const NOT_BALANCED: &str = "karpenter";

/// One removal, with its context.
#[derive(Clone, Copy, Debug)]
struct Going<'a> {
    ground: Ground<'a>,
    id: &'a ChangeId,
    delete: &'a Delete,
    identity: &'a NodeIdentity,
    removal: &'a Removal,
}

/// Returns the next step of a removal. `may_begin` is whether its node is empty, or why the removal may not start now.
pub(super) fn remove(
    ground: Ground<'_>,
    id: &ChangeId,
    delete: &Delete,
    may_begin: &Result<bool, Wait>,
) -> Standing {
    let execution = ground.execution();
    let (Some(identity), Some(removal)) = (execution.nodes.get(id), execution.removals.get(id)) else {
        let because = format!("the plan does not say which VM node `{}` is", delete.target.node);
        return Standing::Settled(Outcome::no_longer_holds(because));
    };
    let going = Going { ground, id, delete, identity, removal };
    let claim = going.claim();
    if let Some(outcome) = ground.memory.recorded.get(id) {
        return match claim.filter(|_| *outcome == Outcome::Done) {
            Some((name, claim)) => let_claim_go(id, name, claim),
            None => Standing::Settled(outcome.clone()),
        };
    }
    match claim.and_then(|(_, claim)| since(ground, id, claim)) {
        Some(since) => going.go_on(since),
        None => going.begin(claim, may_begin),
    }
}

/// Returns when a removal started, if it has.
pub(super) fn begun(ground: Ground<'_>, id: &ChangeId, delete: &Delete) -> Option<Timestamp> {
    let claim = ground.world.claims.get(delete.target.claim.as_ref()?)?;
    since(ground, id, claim)
}

/// Returns since when this plan removes the node of a claim. A change with the same id in another plan concerns the
/// same node, but its time and checks do not apply here.
fn since(ground: Ground<'_>, id: &ChangeId, claim: &SeenClaim) -> Option<Timestamp> {
    let begun = Removing::of(claim).filter(|begun| *begun.plan == *ground.plan.id() && begun.change == *id);
    begun.map(|begun| begun.since)
}

/// Returns whether the VM of a removal is gone, and its node gone or being deleted: the approved result is reached, and
/// the next plan cleans up the rest.
pub(super) fn has_no_vm(ground: Ground<'_>, id: &ChangeId, delete: &Delete) -> bool {
    let execution = ground.execution();
    let (Some(identity), Some(removal)) = (execution.nodes.get(id), execution.removals.get(id)) else {
        return false;
    };
    Going { ground, id, delete, identity, removal }.has_no_vm()
}

impl<'a> Going<'a> {
    /// Returns whether Node, VM and NodeClaim are all gone.
    fn is_gone(&self) -> bool {
        self.node().is_none() && self.same_vm().is_none() && self.claim().is_none()
    }

    fn has_no_vm(&self) -> bool {
        let is_leaving = self.node().is_none_or(|(_, node)| node.is_deleting && !node.is_ready);
        self.is_gone() || self.identity.vm_id.is_some() && self.same_vm().is_none() && is_leaving
    }

    /// Returns the VM if it is the plan's.
    fn same_vm(&self) -> Option<&'a SeenVm> {
        let vm = self.ground.world.vm(self.identity.vm.as_deref()?)?;
        (self.identity.vm_id.is_some() && vm.vm_id == self.identity.vm_id).then_some(vm)
    }

    fn claim(&self) -> Option<(&'a ClaimName, &'a SeenClaim)> {
        let found = self.ground.world.claims.get_key_value(self.delete.target.claim.as_ref()?)?;
        self.is_it(self.identity.claim_uid.as_deref(), &found.1.uid).then_some(found)
    }

    fn node(&self) -> Option<(&'a NodeName, &'a SeenNode)> {
        let found = self.ground.world.nodes.get_key_value(&self.delete.target.node)?;
        self.is_it(self.identity.node_uid.as_deref(), &found.1.uid).then_some(found)
    }

    /// Returns whether an object is the plan's; false if the plan has no UID for it.
    fn is_it(&self, planned: Option<&str>, seen: &str) -> bool {
        planned == Some(seen)
    }

    /// Starts the removal if everything approved still holds.
    fn begin(&self, claim: Option<(&ClaimName, &SeenClaim)>, may_begin: &Result<bool, Wait>) -> Standing {
        let Self { ground, id, delete, identity, .. } = *self;
        let name = &delete.target.node;
        if self.is_gone() {
            return Standing::Settled(Outcome::AlreadySo);
        }
        let vm = identity.vm.as_deref().and_then(|vm| ground.world.vm(vm));
        let has_same_vm = self.same_vm().is_some();
        if let Some(because) = self.no_longer_holds(claim.is_some(), vm.is_some(), has_same_vm) {
            return Standing::Settled(Outcome::no_longer_holds(because));
        }
        let is_empty = match may_begin {
            Ok(is_empty) => *is_empty,
            Err(wait) => return Standing::Waits(wait.clone()),
        };
        let Some((claim_name, claim)) = claim else {
            return Standing::Settled(Outcome::no_longer_holds(format!("node `{name}` has no NodeClaim")));
        };
        let (plan, since) = (ground.plan.id().into(), ground.world.at);
        let mark = Removing { plan, change: id.clone(), since, is_empty };
        let mark = mark.to_string();
        let marked = Operations::of(&claim.uid)
            .resting_on_entry(ANNOTATIONS, REMOVAL, &claim.annotations)
            .with_entries(ANNOTATIONS, &claim.annotations, [(REMOVAL, &*mark)]);
        act(id, patch_claim(claim_name, MARK, marked))
    }

    /// Returns why the node is no longer the approved one, or may no longer be removed.
    fn no_longer_holds(&self, has_claim: bool, has_vm: bool, has_same_vm: bool) -> Option<String> {
        let Self { ground, delete, .. } = *self;
        let name = &delete.target.node;
        if !has_claim {
            return Some(format!("node `{name}` has lost its NodeClaim, or has another"));
        }
        if has_vm && !has_same_vm || self.stands_on_other_vm() {
            return Some(format!("the VM of node `{name}` is not the one that was approved"));
        }
        let vm = self.same_vm().filter(|vm| vm.state != Provisioning::Deleting);
        if let Some(why) = vm.and_then(|vm| foreign(&vm.tags, &ground.execution().cluster, None)) {
            return Some(format!("the VM of node `{name}` is not known to be this cluster's: {why}"));
        }
        let found = ground.world.nodes.get(name);
        if found.is_some() && self.node().is_none() {
            return Some(format!("node `{name}` is not the one that was approved"));
        }
        let is_back = |vm: &SeenVm| ground.world.node_of(&vm.id).is_some();
        let is_without_node =
            delete.reason == DisruptionReason::Unhealthy && self.identity.node_uid.is_none();
        if is_without_node && self.same_vm().is_some_and(is_back) {
            return Some(format!("the Node of NodeClaim `{name}` exists again"));
        }
        let (_, node) = self.node()?;
        let planned = ground.spec().changes.get(self.id)?;
        let says_no = |annotations: &std::collections::BTreeMap<std::sync::Arc<str>, std::sync::Arc<str>>| {
            annotations.get(label::DO_NOT_DISRUPT).is_some_and(|value| &**value == "true")
        };
        for precondition in &planned.preconditions {
            let because = match precondition {
                Precondition::NotProtected { .. } if says_no(&node.annotations) => {
                    Some(format!("node `{name}` has `karpenter.sh/do-not-disrupt`"))
                }
                Precondition::NotProtected { node_only: false, .. } => {
                    let pod = ground.world.pods_of(name).find(|pod| pod.is_do_not_disrupt && !pod.has_ended);
                    pod.map(|pod| {
                        format!("pod `{}` on node `{name}` has `karpenter.sh/do-not-disrupt`", pod.key)
                    })
                }
                Precondition::NodeEmpty { .. } => {
                    let pod = ground.world.pods_of(name).find(|pod| pod.is_of_workload());
                    pod.map(|pod| format!("node `{name}` is no longer empty: pod `{}` is there", pod.key))
                }
                Precondition::NotProtected { node_only: true, .. }
                | Precondition::NameFree { .. }
                | Precondition::PoolUnchanged { .. }
                | Precondition::ClassUnchanged { .. }
                | Precondition::WithinLimits { .. }
                | Precondition::SameNode { .. }
                | Precondition::WithoutClaim { .. } => None,
            };
            if because.is_some() {
                return because;
            }
        }
        None
    }

    /// Returns whether its Node refers to another VM than the plan's. If the plan has no VM, a Node that is not Ready
    /// may still refer to a deleted one.
    fn stands_on_other_vm(&self) -> bool {
        let Some((_, node)) = self.node() else { return false };
        let Some(found) = node.provider_id.as_deref() else { return false };
        let found = found.trim_start_matches("azure://");
        self.identity.vm.as_deref().map_or(node.is_ready, |planned| !planned.eq_ignore_ascii_case(found))
    }

    /// Continues a started removal.
    fn go_on(&self, since: Timestamp) -> Standing {
        let Self { ground, id, .. } = *self;
        let vm = self.identity.vm.as_deref().and_then(|vm| ground.world.vm(vm));
        let vm = vm.filter(|vm| vm.vm_id == self.identity.vm_id);
        let name = &self.delete.target.node;
        if let Some(standing) = vm.and_then(|vm| self.undo(vm)) {
            return standing;
        }
        // A VM whose Node is not listed would be deleted without draining.
        if vm.is_some_and(|vm| vm.state != Provisioning::Deleting)
            && !ground.world.nodes.contains_key(name)
            && let Some(asks) = ground.confirm(id, Absent::Node(name.clone()))
        {
            return asks;
        }
        // Whatever the plan says about its VM, a Node that is Ready runs pods.
        if let Some((name, node)) = self.node()
            && vm.map_or(node.is_ready, |vm| vm.state != Provisioning::Deleting)
        {
            let taken_back = || self.take_back(node);
            let tainted = || self.taint(name, node);
            if let Some(standing) = taken_back().or_else(tainted).or_else(|| self.drain(name, since)) {
                return standing;
            }
            if let Some(found) = ground.world.attached.get(name).filter(|_| !self.is_over(since)) {
                return Standing::waits(detached(name, found));
            }
        }
        if let Some(vm) = vm {
            return match vm.state {
                Provisioning::Deleting if !ground.memory.lingers(&vm.id, ground.world.at) => {
                    Standing::waits(format!("VM of node `{}` to be gone", self.delete.target.node))
                }
                Provisioning::Deleting
                | Provisioning::Succeeded
                | Provisioning::Failed
                | Provisioning::Underway => act(id, self.delete_vm(vm, self.drained(since))),
            };
        }
        self.let_go()
    }

    /// Returns whether a network interface was created for this node's NodeClaim in this cluster, by its name and tags,
    /// whatever the plan lists.
    fn is_own(&self, nic: &str, tags: &BTreeMap<Arc<str>, Arc<str>>) -> bool {
        let name = nic.rsplit('/').next().unwrap_or(nic);
        let is_of_claim = self.delete.target.claim.as_ref().is_some_and(|claim| is_named_after(name, claim));
        is_of_claim && foreign(tags, &self.ground.execution().cluster, None).is_none()
    }

    fn delete_vm(&self, vm: &SeenVm, drained: Option<NodeName>) -> Effect {
        Effect::DeleteVm(VmRef {
            id: vm.id.clone(),
            vm_id: self.identity.vm_id.clone(),
            made_for: None,
            drained,
        })
    }

    /// Deletes the resources of a VM that is gone. The claim is deleted last, after the outcome is recorded: a restart
    /// resumes from its annotation.
    fn let_go(&self) -> Standing {
        let Self { ground, id, .. } = *self;
        let listed = self.identity.vm.as_deref().filter(|vm| ground.world.vm(vm).is_none());
        if let Some(asks) = listed.and_then(|vm| ground.confirm(id, Absent::vm(vm))) {
            return asks;
        }
        let interfaces = self.identity.interfaces.iter().filter_map(|nic| ground.world.interface(nic));
        let mut interfaces = interfaces.filter(|nic| self.is_own(&nic.id, &nic.tags));
        if let Some(nic) = interfaces.next() {
            return match nic.state {
                Provisioning::Deleting => {
                    Standing::waits(format!("NIC of node `{}` to be gone", self.delete.target.node))
                }
                Provisioning::Succeeded | Provisioning::Failed | Provisioning::Underway => {
                    act(id, Effect::DeleteInterface(InterfaceRef { id: nic.id.clone(), made_for: None }))
                }
            };
        }
        if let Some((name, node)) = self.node() {
            return let_node_go(id, name, node);
        }
        act(id, Effect::Record(Outcome::Done))
    }

    /// Rolls back a started removal if requested and the VM still exists: first the taint, and last the mark by which
    /// the removal is found again.
    fn undo(&self, vm: &SeenVm) -> Option<Standing> {
        let memory = self.ground.memory;
        if !memory.is_taking_back || vm.state == Provisioning::Deleting {
            return None;
        }
        let delete = Action { change: self.id.clone(), effect: self.delete_vm(vm, None) };
        if memory.in_flight.contains(&delete.key()) {
            return Some(Standing::waits(format!("VM of node `{}` to be gone", self.delete.target.node)));
        }
        if let Some((name, node)) = self.node().filter(|(_, node)| is_tainted(node)) {
            return Some(act(self.id, patch_node(name, "take the taint off", freed(node))));
        }
        // Only the mark identifies a tainted node that lists currently omit.
        let name = &self.delete.target.node;
        if !self.ground.world.nodes.contains_key(name)
            && let Some(asks) = self.ground.confirm(self.id, Absent::Node(name.clone()))
        {
            return Some(asks);
        }
        let (name, claim) = self.claim()?;
        Some(self.unmark(name, claim))
    }

    fn unmark(&self, name: &ClaimName, claim: &SeenClaim) -> Standing {
        let mark = claim.annotations.get(REMOVAL).map_or("", |mark| mark);
        let unmarked = Operations::of(&claim.uid).without_entry(ANNOTATIONS, (REMOVAL, mark));
        act(self.id, patch_claim(name, "take back the removal of", unmarked))
    }

    /// Removes the mark from a node that is not tainted yet and may no longer be removed; the outcome follows in the
    /// next step.
    fn take_back(&self, node: &SeenNode) -> Option<Standing> {
        let (name, claim) = self.claim().filter(|_| !is_tainted(node))?;
        self.no_longer_holds(true, true, true)?;
        Some(self.unmark(name, claim))
    }

    fn taint(&self, name: &NodeName, node: &SeenNode) -> Option<Standing> {
        if is_tainted(node) {
            return None;
        }
        let disrupted = Taint::new(label::DISRUPTED, "", crate::model::Effect::NoSchedule);
        let tainted = Operations::of(&node.uid)
            .with_entries(LABELS, &node.labels, [(label::NOT_BALANCED, NOT_BALANCED)])
            .with_items(TAINTS, node.taints.is_empty(), vec![json!(disrupted)]);
        Some(act(self.id, patch_node(name, "taint", tainted)))
    }

    /// Evicts the pods of the first non-empty tier, and waits until they are gone.
    fn drain(&self, name: &NodeName, since: Timestamp) -> Option<Standing> {
        let ground = self.ground;
        let is_left = |pod: &&SeenPod| pod.is_drained() && !is_stuck(pod, ground.world.at);
        let pods: Vec<&SeenPod> = ground.world.pods_of(name).filter(is_left).collect();
        let tier = pods.iter().map(|pod| tier(pod)).min()?;
        let is_over = self.is_over(since);
        let actions =
            pods.iter().filter(|pod| is_over || tier == self::tier(pod)).filter(|pod| pod.gone_by.is_none());
        // Like Karpenter, waits for pods with `karpenter.sh/do-not-disrupt` until the node's grace period ends.
        let actions = actions.filter(|pod| is_over || !pod.is_do_not_disrupt || self.takes_all());
        let actions: Vec<Action> = actions.map(|pod| self.evict(pod, is_over)).collect();
        if actions.is_empty() {
            let what = format!("{} of node `{name}` to end", counted(pods.len()));
            return Some(match self.end(since).filter(|_| !is_over) {
                Some(end) => Standing::waits_until(what, end),
                None => Standing::waits(what),
            });
        }
        Some(Standing::Acts(actions))
    }

    /// Returns the node, which has been drained by now, unless its grace period has ended.
    fn drained(&self, since: Timestamp) -> Option<NodeName> {
        let (name, _) = self.node()?;
        (!self.is_over(since)).then(|| name.clone())
    }

    /// Returns whether the user requested the removal regardless of its pods.
    const fn takes_all(&self) -> bool {
        matches!(self.delete.reason, DisruptionReason::Destroyed)
    }

    fn evict(&self, pod: &SeenPod, is_over: bool) -> Action {
        let grace_seconds = is_over.then_some(1);
        let pod =
            PodRef { key: pod.key.clone(), uid: pod.uid.clone(), node: pod.node.clone(), grace_seconds };
        let effect = if is_over { Effect::DeletePod(pod) } else { Effect::Evict(pod) };
        Action { change: self.id.clone(), effect }
    }

    fn end(&self, since: Timestamp) -> Option<Timestamp> {
        since.checked_add(self.ground.memory.wait(self.removal.grace?)).ok()
    }

    /// Returns whether the grace period of the node has ended.
    fn is_over(&self, since: Timestamp) -> bool {
        self.end(since).is_some_and(|end| self.ground.world.at >= end)
    }
}

fn is_tainted(node: &SeenNode) -> bool {
    node.taints.iter().any(|taint| &*taint.key == label::DISRUPTED)
}

/// Returns the patch that makes a node available to pods and load balancers again. Only removes Karpenter's value of
/// the label.
fn freed(node: &SeenNode) -> Operations {
    let freed = Operations::of(&node.uid).without_taint(&taint_keys(node), label::DISRUPTED);
    match node.labels.get(label::NOT_BALANCED).is_some_and(|value| &**value == NOT_BALANCED) {
        true => freed.without_entry(LABELS, (label::NOT_BALANCED, NOT_BALANCED)),
        false => freed,
    }
}

/// Returns the eviction order: workload pods first, then DaemonSet pods, then Kubernetes' critical pods.
const fn tier(pod: &SeenPod) -> u8 {
    match (pod.is_critical, pod.is_of_daemon_set) {
        (false, false) => 0,
        (false, true) => 1,
        (true, false) => 2,
        (true, true) => 3,
    }
}

/// Returns whether a pod is more than a minute past its deletion deadline: its kubelet no longer responds.
fn is_stuck(pod: &SeenPod, now: Timestamp) -> bool {
    const PATIENCE: jiff::SignedDuration = jiff::SignedDuration::from_mins(1);
    pod.gone_by.is_some_and(|end| now.duration_since(end) > PATIENCE)
}

/// Describes the volumes still attached to a drained node: Karpenter waits for them too.
fn detached(node: &NodeName, attachments: &BTreeSet<Arc<str>>) -> String {
    const NAMED_MAX: usize = 3;
    let mut named: Vec<String> = attachments
        .iter()
        .take(NAMED_MAX)
        .map(|attachment| format!("VolumeAttachment `{attachment}`"))
        .collect();
    if attachments.len() > NAMED_MAX {
        named.push(format!("{} more", attachments.len() - NAMED_MAX));
    }
    let first = attachments.first().map_or("", |first| first);
    format!(
        "volumes to be detached from node `{node}`: {}; one without a PersistentVolumeClaim is kept until somebody deletes it: `kubectl delete volumeattachment {first}`",
        named.join(", ")
    )
}

fn counted(pods: usize) -> String {
    if pods == 1 { "1 pod".to_owned() } else { format!("{pods} pods") }
}
