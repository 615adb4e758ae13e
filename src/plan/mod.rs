//! Plan: the changes from the current to the target fleet, their order, and the file that is reviewed.
//!
//! Pure and total: a plan may be empty, planning never fails. This module decides what is done and in which order,
//! never which nodes should exist (that is `solve`).

pub mod awaited;
mod bare;
pub mod beside;
pub mod change;
pub mod choices;
pub mod claim;
pub mod comparison;
mod cost;
pub mod difference;
pub mod digest;
mod drains;
pub mod evidence;
pub mod execution;
pub mod figures;
pub mod file;
pub mod fleet;
pub mod held;
pub mod identity;
pub mod mark;
pub mod order;
pub mod owner;
pub mod precondition;
pub mod propose;
pub mod reason;
mod sizes;
pub mod spec;
pub mod status;
mod storage;
pub mod strategies;
pub mod summary;
pub mod target;
pub mod uncertainty;
mod update;
pub mod wish;
mod withheld;
pub mod world;

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{NodeName, PodKey, PodPlace, PoolName, Target};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
pub use crate::solve::{Cost, Preferences};
use crate::solve::{Report, Solution};

pub use change::{
    Adopt, Change, ChangeId, Choice, ClaimSpec, ClaimSpecId, Create, Delete, ExistingNode, Forget, NoOp,
    OldNew, Update,
};
pub use cost::{at_most, of_nodes, of_nodes_today};
pub use difference::Difference;
pub use evidence::{Evidence, HeldChange, NodeShape, Placement};
pub use execution::Execution;
pub use file::{API_VERSION, KIND, PlanFileFault, read, write};
pub use precondition::Precondition;
pub use reason::{PodsFor, Reason};
pub use spec::{Inputs, PlanSpec, PlannedChange, Step, Wave};
pub use status::{Status, status};
pub use summary::{Counts, Summary};
pub use world::{PodGroup, VmPrice, World};

use identity::Lineage;
use propose::{Ground, Proposal};

/// The changes and their reasons.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// All decisions; covered by the digest.
    pub spec: PlanSpec,
    /// What it was made from and why; outside the digest.
    pub evidence: Evidence,
}

/// Returns the changes from the current to the target fleet. Total: changes that cannot be made are held with a reason.
#[must_use]
pub fn plan(snapshot: &Snapshot, policy: &Policy, solution: &Solution) -> Plan {
    plan_targets(snapshot, policy, solution, &BTreeSet::new())
}

/// Like `plan`, narrowed to the changes of these targets and what they need; without targets nothing is omitted.
#[must_use]
pub fn plan_targets(
    snapshot: &Snapshot,
    policy: &Policy,
    solution: &Solution,
    targets: &BTreeSet<Target>,
) -> Plan {
    plan_without((snapshot, policy), solution, targets, &BTreeMap::new())
}

/// Like `plan_targets`, without refused changes, each with its reason, and without changes that depend on them.
#[must_use]
pub fn plan_without(
    (snapshot, policy): (&Snapshot, &Policy),
    solution: &Solution,
    targets: &BTreeSet<Target>,
    refused: &BTreeMap<ChangeId, String>,
) -> Plan {
    let scope: Vec<PoolName> = policy.pools.keys().cloned().collect();
    // Offline there is no ledger with earlier plans.
    let ledger = snapshot.azure.as_ref().and_then(|facts| facts.ledger.as_ref());
    let parent = ledger.and_then(|ledger| ledger.parent);
    let lineage = Lineage { cluster: snapshot.cluster.clone(), scope, parent };
    let inputs = Inputs::of(policy);
    let ground = Ground { snapshot, policy, lineage: &lineage, inputs: &inputs };
    let proposal = propose::propose(ground, solution);
    let left_out = target::left_out(ground, &proposal, targets);
    let proposal = proposal.without(&left_out.changes);
    let withheld = withheld::withheld(ground, &proposal, refused);
    let proposal = proposal.without(&withheld.changes);
    let order = order::order(snapshot, policy, &proposal.changes);
    let is_whole = targets.is_empty() && withheld.changes.is_empty();
    let cost_after = match is_whole && order.held.is_empty() {
        true => solution.report.cost_after,
        false => cost::after(ground, &proposal, &order.held_changes),
    };
    let Proposal { claims, changes, reasons, shapes, placements, warnings, held } =
        proposal.without(&order.held_changes);
    let mut report: Report = solution.report.clone();
    report.cost_after = cost_after;
    report.held.extend(left_out.held);
    report.held.extend(withheld.pods);
    report.warnings.extend(warnings);
    report.warnings.extend(bare::warning(snapshot, &changes));
    report.undecided.extend(order.undecided);
    report.undecided.extend(held::undecided(snapshot, policy));
    report.warnings.extend(held::warnings(policy));
    let mut held: Vec<HeldChange> = held.into_iter().chain(order.held).chain(withheld.nodes).collect();
    held.sort_by(|one, other| one.node.cmp(&other.node));
    let Lineage { cluster, scope, parent } = lineage;
    let (what_if, targets) = (snapshot.supposed.what_if.clone(), targets.iter().cloned().collect());
    let waves = order.waves;
    let wishes = snapshot.supposed.wishes.clone();
    report.staying.retain(|(node, _)| !wishes.forget.contains(node));
    let spec = PlanSpec {
        cluster,
        scope,
        parent,
        what_if,
        targets,
        wishes,
        expires_at: None,
        inputs,
        claims,
        changes,
        waves,
        execution: None,
    };
    let evidence = Evidence {
        seen_at: snapshot.at,
        reasons,
        shapes,
        placements,
        kept: placed_on_kept(snapshot, solution, &spec),
        unchanged: unchanged(snapshot, &spec),
        held,
        report,
        world: World::of(snapshot, policy, &spec),
        comparison: None,
        beside: Vec::new(),
        strategies: Vec::new(),
    };
    Plan { spec, evidence }
}

/// Returns the pods placed on existing nodes; pods whose own node is kept after all do not move.
fn placed_on_kept(
    snapshot: &Snapshot,
    solution: &Solution,
    spec: &PlanSpec,
) -> BTreeMap<NodeName, Vec<PodKey>> {
    let removed: BTreeSet<&NodeName> = spec.deletes().map(|(_, delete)| &delete.target.node).collect();
    let left_out = solution.target.removed.iter().map(|removal| &removal.node);
    let left_out: BTreeSet<&NodeName> = left_out.filter(|node| !removed.contains(node)).collect();
    let stays: BTreeSet<&PodKey> = match left_out.is_empty() {
        true => BTreeSet::new(),
        false => snapshot
            .pods
            .iter()
            .filter(|pod| matches!(&pod.place, PodPlace::Bound(node) if left_out.contains(node)))
            .map(|pod| &pod.key)
            .collect(),
    };
    let moving = solution.target.kept.iter().map(|kept| {
        let pods: Vec<PodKey> = kept.pods.iter().filter(|pod| !stays.contains(pod)).cloned().collect();
        (kept.node.clone(), pods)
    });
    moving.filter(|(_, pods)| !pods.is_empty()).collect()
}

/// Returns how many nodes have no change, by pool.
fn unchanged(snapshot: &Snapshot, spec: &PlanSpec) -> Vec<NoOp> {
    let touched: BTreeSet<_> = spec
        .changes
        .values()
        .filter_map(|planned| planned.change.target())
        .map(|target| &target.node)
        .collect();
    let mut pools: BTreeMap<Option<PoolName>, usize> = BTreeMap::new();
    for node in snapshot.nodes.iter().filter(|node| !touched.contains(&node.name)) {
        *pools.entry(node.pool.clone()).or_default() += 1;
    }
    pools.into_iter().map(|(pool, nodes)| NoOp { pool, nodes }).collect()
}

#[cfg(test)]
pub(crate) mod tests;
