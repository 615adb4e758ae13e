//! Merges Azure's facts of a live cluster into Kubernetes' objects: its network, and the nodes that nodeform may
//! change.
//!
//! A VM is only deleted by its creator: a node that Karpenter created counts as capacity and is kept, and so is a node
//! whose VM was not seen. Adds the launch data that a plan needs to be applied, and withholds changes that cannot be
//! applied. Never reads anything itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::World;
use crate::catalog::NO_ZONE;
use crate::launch;
use crate::launch::buildable::{reasons, unbuildable};
use crate::manifests::Remark;
use crate::model::{ClassName, NetworkSetup, Node, NodeName, Refusal, RefusedPlace};
use crate::plan::{ChangeId, Plan};
use crate::policy::Policy;
use crate::snapshot::azure::{AzureFacts, NetworkFacts, Owner};
use crate::snapshot::{Abandoned, Snapshot};
use crate::solve::Solution;

/// Takes the managed cluster's network unless the NodeFleet sets one.
pub(super) fn take_network(policy: &mut Policy, facts: &AzureFacts) {
    let fleet = &mut policy.fleet;
    if fleet.network.is_none() {
        fleet.network = setup(&facts.cluster.network);
        fleet.names_dataplane = fleet.network.is_some();
    }
}

/// Returns the network set-up; `None` for one that Karpenter nodes do not support.
fn setup(network: &NetworkFacts) -> Option<NetworkSetup> {
    let is_cilium = network.dataplane.as_deref() == Some("cilium");
    match (&*network.plugin, network.plugin_mode.as_deref()) {
        ("azure", Some("overlay")) => Some(NetworkSetup::AzureOverlay { is_cilium }),
        ("azure", _) => Some(NetworkSetup::Azure { is_cilium }),
        ("none", _) => Some(NetworkSetup::None),
        _ => None,
    }
}

/// Removes offerings from the catalogue that Azure refused while nodeform applied earlier plans, until the refusal
/// ends, and reports them: retrying would only be refused again, while other offerings of the pool may work.
pub(super) fn rule_out_refused(snapshot: &mut Snapshot) -> Vec<Remark> {
    let ledger = snapshot.azure.as_ref().and_then(|facts| facts.ledger.as_ref());
    let counts =
        |refusal: &&Refusal| snapshot.at.is_some_and(|at| at < refusal.until) && !refusal.is_of_all();
    let refusals: Vec<Refusal> =
        ledger.iter().flat_map(|ledger| &ledger.refusals).filter(counts).cloned().collect();
    let remarks = refusals.iter().map(ruled_out).collect();
    snapshot.catalog = snapshot.catalog.clone().without(refusals);
    remarks
}

impl World {
    /// Returns the world without offerings that are backing off, and reports them.
    #[must_use]
    pub fn without_resting(mut self, resting: Vec<Refusal>) -> Self {
        if !resting.is_empty() {
            self.remarks.extend(resting.iter().map(ruled_out));
            self.snapshot.catalog = self.snapshot.catalog.without_also(resting);
        }
        self
    }
}

/// Removes sizes from the catalogue from which no VM can be built, and reports the reason, so pods get a size, pool or
/// class that works.
pub(super) fn rule_out_unbuildable(
    snapshot: &mut Snapshot,
    (policy, network): (&Policy, NetworkSetup),
) -> Vec<Remark> {
    let Some(facts) = &snapshot.azure else { return Vec::new() };
    let found = unbuildable(&snapshot.catalog, (policy, network), facts);
    let remark = |((class, because), sizes): ((&ClassName, &Arc<str>), usize)| Remark {
        object: format!("AKSNodeClass `{class}`"),
        what: format!("{because}; {sizes} {} not used", if sizes == 1 { "size is" } else { "sizes are" }),
        hint: None,
    };
    let remarks = reasons(&found).into_iter().map(remark).collect();
    if !found.is_empty() {
        snapshot.catalog = snapshot.catalog.clone().without_unbuildable(found);
    }
    remarks
}

fn ruled_out(refusal: &Refusal) -> Remark {
    let Refusal { size, place, capacity_type, because: _, said: _, until } = refusal;
    let object = match (size, capacity_type) {
        (Some(size), Some(bought)) => format!("size `{size}`, {bought}"),
        (Some(size), None) => format!("size `{size}`"),
        (None, Some(bought)) => format!("every {bought} offering"),
        (None, None) => "every offering".to_owned(),
    };
    let place = match place {
        RefusedPlace::Everywhere => String::new(),
        RefusedPlace::EveryZone => " in every zone".to_owned(),
        RefusedPlace::Zone(zone) if zone.as_str() == NO_ZONE => " outside of zones".to_owned(),
        RefusedPlace::Zone(zone) => format!(" in zone `{zone}`"),
    };
    let what = format!("not used{place} until {until}: Azure refused it ({})", refusal.why());
    Remark { object, what, hint: None }
}

/// Keeps the nodes that nodeform did not create, and reports them.
pub(super) fn keep_others(snapshot: &mut Snapshot) -> Vec<Remark> {
    let Some(facts) = snapshot.azure.clone() else { return Vec::new() };
    let cluster = snapshot.cluster.clone();
    let mut kept: BTreeMap<&'static str, Vec<NodeName>> = BTreeMap::new();
    let is_kept = |node: &Node| node.pool.is_some() && !is_coming(node) && !facts.has_lost_vm(node);
    let managed = snapshot.nodes.iter_mut().filter(|node| is_kept(node));
    for node in managed {
        if let Some(why) = why_kept(&facts, node, cluster.as_deref()) {
            node.keep(why);
            kept.entry(why).or_default().push(node.name.clone());
        }
    }
    kept.into_iter().map(|(why, nodes)| remark(why, &nodes)).collect()
}

/// Reports NodeClaims that hold no pods because their Nodes are gone.
pub(super) fn of_lost(nodes: &[Node]) -> Vec<Remark> {
    let lost = nodes.iter().filter(|node| node.claimed.is_lost && !node.is_deleting);
    let remark = |node: &Node| {
        Remark {
        object: format!("nodeclaim `{}`", node.name),
        what: match node.claimed.lost_since {
            Some(since) => format!("its Node had joined and is gone since {since:.0}: it holds no pods, and its VM is removed"),
            None => "its Node had joined and is gone: it holds no pods".to_owned(),
        },
        hint: node.claimed.lost_since.is_none().then(|| {
            "the controller removes its VM once the Node is gone for 15 minutes; a kubelet that starts anew makes it again"
                .to_owned()
        }),
    }
    };
    lost.map(remark).collect()
}

/// Returns whether the node has no VM yet: its claim has no provider id.
fn is_coming(node: &Node) -> bool {
    node.provider_id.is_none()
}

fn why_kept(facts: &AzureFacts, node: &Node, cluster: Option<&str>) -> Option<&'static str> {
    match facts.owner_of(node, cluster) {
        Owner::Own => None,
        Owner::Karpenter => Some("Karpenter created it, and nodeform cannot adopt it yet"),
        Owner::Foreign => Some("its VM has neither nodeform's tag of this cluster nor Karpenter's"),
        Owner::Unknown => Some("its VM was not among those that Azure listed"),
    }
}

/// Reports removals that are void because no process continues the plan that started them.
pub(super) fn of_abandoned(abandoned: &[Abandoned]) -> Vec<Remark> {
    let remark = |Abandoned { node, plan, is_leaving, .. }: &Abandoned| Remark {
        object: format!("node `{node}`"),
        what: match is_leaving {
            false => {
                format!(
                    "is treated as any other node: plan `{plan}` began to remove it, and its NodePlan is gone or has ended"
                )
            }
            true => {
                format!(
                    "is being removed without plan `{plan}`, which started that: its NodePlan is gone or has ended"
                )
            }
        },
        hint: (!is_leaving)
            .then(|| "`nodeform apply` or the controller takes the taint of the removal off it".to_owned()),
    };
    abandoned.iter().map(remark).collect()
}

fn remark(why: &str, nodes: &[NodeName]) -> Remark {
    const SHOWN_MAX: usize = 3;
    let mut shown: Vec<String> = nodes.iter().take(SHOWN_MAX).map(|node| format!("`{node}`")).collect();
    if nodes.len() > SHOWN_MAX {
        shown.push(format!("{} more", nodes.len() - SHOWN_MAX));
    }
    let object = if nodes.len() == 1 { "node" } else { "nodes" };
    let what = format!("{why}: no change is planned to it");
    Remark { object: format!("{object} {}", shown.join(", ")), what, hint: None }
}

/// Creates a plan from a fleet; for a live cluster, with its execution. Changes that cannot be applied are left out,
/// each with its reason.
pub(super) fn launched(world: &World, solution: &Solution) -> Plan {
    let World { snapshot, policy, targets, valid_for, .. } = world;
    let mut plan = crate::plan::plan_targets(snapshot, policy, solution, targets);
    // Even without a pool, nodes of deleted pools may still be deleted.
    let is_of_pools = !plan.spec.scope.is_empty() || !plan.spec.changes.is_empty();
    let is_live = snapshot.azure.is_some() && is_of_pools && plan.spec.what_if.is_nothing();
    let Some(valid_for) = valid_for.filter(|_| is_live) else { return plan };
    let mut refused: BTreeMap<ChangeId, String> = BTreeMap::new();
    loop {
        let faults = match launch::execution(snapshot, policy, &plan) {
            Ok(execution) => {
                plan.spec.execution = Some(execution);
                plan.spec.expires_at = snapshot.at.and_then(|at| at.checked_add(valid_for.of(&plan)).ok());
                return plan;
            }
            Err(faults) => faults,
        };
        let before = refused.len();
        for fault in faults {
            let why = fault.to_string();
            for change in fault.changes {
                let said = refused.entry(change).or_default();
                let between = if said.is_empty() { "" } else { "; " };
                *said = format!("{said}{between}{why}");
            }
        }
        if refused.len() == before {
            return plan;
        }
        plan = crate::plan::plan_without((snapshot, policy), solution, targets, &refused);
    }
}
