//! The existing nodes that a plan touches, how they are removed, and which new nodes pending pods are nominated for.
//! Never confuses two nodes: if a node's identity is incomplete, that is reported and its change is not applied.

use std::collections::{BTreeMap, BTreeSet};

use super::LaunchFault;
use crate::model::purpose::Purposes;
use crate::model::{DisruptionReason, Node, NodeName, Pod, PodKey, PodPlace, Purpose};
use crate::plan::execution::{NodeIdentity, Removal};
use crate::plan::owner::owners;
use crate::plan::{Change, ChangeId, Plan};
use crate::snapshot::azure::{VmFacts, is_of_claim};
use crate::snapshot::{AzureFacts, Snapshot};

/// The known facts of the nodes that a plan touches.
#[derive(Debug, Default)]
pub(super) struct Existing {
    pub(super) nodes: BTreeMap<ChangeId, NodeIdentity>,
    pub(super) removals: BTreeMap<ChangeId, Removal>,
    pub(super) nominations: BTreeMap<ChangeId, Vec<PodKey>>,
    pub(super) made_for: BTreeMap<ChangeId, Vec<Purpose>>,
}

/// Returns the facts, and the changes that cannot be applied.
pub(super) fn existing(snapshot: &Snapshot, facts: &AzureFacts, plan: &Plan) -> (Existing, Vec<LaunchFault>) {
    let nodes: BTreeMap<&NodeName, &Node> = snapshot.nodes.iter().map(|node| (&node.name, node)).collect();
    let pods: BTreeMap<&PodKey, &Pod> = snapshot.pods.iter().map(|pod| (&pod.key, pod)).collect();
    let comes_to = creates_by_origin(plan, &pods);
    let mut of_node: BTreeMap<&NodeName, Vec<&Pod>> = BTreeMap::new();
    for pod in &snapshot.pods {
        if let PodPlace::Bound(node) = &pod.place {
            of_node.entry(node).or_default().push(pod);
        }
    }
    let (mut existing, mut faults) = (Existing::default(), Vec::new());
    for (id, planned) in &plan.spec.changes {
        if let Some(why) = unsupported(&planned.change) {
            let node = planned.change.target().map(|target| target.node.to_string()).unwrap_or_default();
            faults.push(LaunchFault::of(id, format!("node `{node}`"), why));
            continue;
        }
        let Some(target) = planned.change.target() else { continue };
        let Some(node) = nodes.get(&target.node) else { continue };
        let is_deleted =
            planned.change.delete().is_some_and(|delete| delete.reason == DisruptionReason::Deleted);
        let known = if is_deleted { deleted(facts, node) } else { identity(facts, node) };
        match known {
            Ok(identity) => drop(existing.nodes.insert(id.clone(), identity)),
            Err(why) => faults.push(LaunchFault::of(id, format!("node `{}`", node.name), why)),
        }
        if planned.change.delete().is_some() {
            let grace = node.claimed.termination_grace_period;
            // A node that is already being deleted runs no pods any more, so its removal waits for no new node.
            let takers = comes_to.get(&node.name).filter(|_| !node.is_deleting);
            let after = takers.into_iter().flatten().map(|id| (*id).clone()).collect();
            let owners = of_node.get(&node.name).map_or_else(Vec::new, |pods| owners(pods.iter().copied()));
            existing.removals.insert(id.clone(), Removal { grace, after, owners });
        }
    }
    let mut purposes = Purposes::default();
    for (id, _, _) in plan.spec.creates() {
        let placed = plan.evidence.placements.get(id).map_or(&[][..], |placement| &placement.pods);
        let waits = |key: &&PodKey| {
            !key.is_placeholder() && pods.get(key).is_some_and(|pod| pod.place == PodPlace::Waiting)
        };
        let mut waiting: Vec<PodKey> = placed.iter().filter(waits).cloned().collect();
        waiting.sort();
        if !waiting.is_empty() {
            existing.nominations.insert(id.clone(), waiting);
        }
        let real = placed.iter().filter(|key| !key.is_placeholder());
        let made_for: BTreeSet<Purpose> =
            real.filter_map(|key| pods.get(key)).map(|pod| purposes.of(pod)).collect();
        if !made_for.is_empty() {
            existing.made_for.insert(id.clone(), made_for.into_iter().collect());
        }
    }
    (existing, faults)
}

/// Returns, by node, the creates that take its pods.
fn creates_by_origin<'p>(
    plan: &'p Plan,
    pods: &BTreeMap<&PodKey, &'p Pod>,
) -> BTreeMap<&'p NodeName, BTreeSet<&'p ChangeId>> {
    let mut creates: BTreeMap<&NodeName, BTreeSet<&ChangeId>> = BTreeMap::new();
    for (id, placement) in &plan.evidence.placements {
        for key in &placement.pods {
            if let Some(PodPlace::Bound(node)) = pods.get(key).map(|pod| &pod.place) {
                creates.entry(node).or_default().insert(id);
            }
        }
    }
    creates
}

/// Returns why a change is not supported yet.
const fn unsupported(change: &Change) -> Option<&'static str> {
    match change {
        Change::Adopt(_) => Some("adopting a node is not supported yet"),
        Change::Forget(_) => Some("forgetting a node without deleting it is not supported yet"),
        Change::Create(_) | Change::Delete(_) | Change::Update(_) | Change::NoOp(_) => None,
    }
}

fn identity(facts: &AzureFacts, node: &Node) -> Result<NodeIdentity, &'static str> {
    let vm = facts.vm_of(node);
    if vm.is_none() && node.provider_id.is_some() {
        return Err("its VM was not among those that Azure listed");
    }
    Ok(with_vm(node, vm))
}

fn with_vm(node: &Node, vm: Option<&VmFacts>) -> NodeIdentity {
    let mut interfaces = vm.map(|vm| vm.interfaces.clone()).unwrap_or_default();
    interfaces.sort();
    NodeIdentity {
        node_uid: node.uid.clone(),
        claim_uid: node.claim_uid.clone(),
        vm: vm.map(|vm| vm.id.clone()),
        vm_id: vm.and_then(|vm| vm.vm_id.clone()),
        interfaces,
        os_disk: vm.and_then(|vm| vm.os_disk.clone()),
    }
}

/// Returns the identity of a node that a user deletes. Its VM may no longer exist; then the resources that its claim
/// left are found by name and tag.
fn deleted(facts: &AzureFacts, node: &Node) -> Result<NodeIdentity, &'static str> {
    let (Some(_), Some(interfaces)) = (&facts.vms, &facts.interfaces) else {
        return Err("which VMs and network interfaces there are is not known");
    };
    let Some(claim) = &node.claim else { return Err("it has no NodeClaim") };
    let mut left = facts.vms_of(claim);
    let vm = match (facts.vm_of(node), left.next()) {
        (Some(vm), _) => Some(vm),
        (None, left) => left,
    };
    if facts.vms_of(claim).any(|other| vm.is_some_and(|vm| vm.id != other.id)) {
        return Err("several VMs have the name of its NodeClaim: delete those that are not its own");
    }
    let mut identity = with_vm(node, vm);
    let own = interfaces.iter().filter(|nic| is_of_claim(&nic.name, &nic.tags, claim));
    identity.interfaces.extend(own.map(|nic| nic.id.clone()));
    identity.interfaces.sort();
    identity.interfaces.dedup_by(|one, other| one.eq_ignore_ascii_case(other));
    Ok(identity)
}
