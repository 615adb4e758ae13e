//! Held changes, for people: what waits, and holds that may not be meant as written.
//!
//! Held changes are no part of the plan and are never applied. Nothing is decided here.

use std::collections::BTreeSet;

use super::Plan;
use super::evidence::HeldChange;
use crate::model::hold::FreezeState;
use crate::model::{ChangeClass, Hold, NodeName, PoolName, Target};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::{Removal, Solution, Warning};

/// Adds removals that wait: those that would follow if the fleet held nothing. Omits unknown nodes and nodes that are
/// not among the plan's targets.
pub fn add_waiting(plan: &mut Plan, policy: &Policy, next: &Solution) {
    let Plan { spec, evidence } = plan;
    let gone: BTreeSet<&NodeName> = spec.deletes().map(|(_, delete)| &delete.target.node).collect();
    let listed: BTreeSet<NodeName> = evidence.held.iter().map(|held| held.node.clone()).collect();
    for Removal { node, reason, .. } in &next.target.removed {
        let known = evidence.world.nodes.iter().find(|known| known.name == *node);
        let Some(pool) = known.and_then(|known| known.pool.as_ref()) else { continue };
        if gone.contains(node) || listed.contains(node) || !is_target(&spec.targets, node, pool) {
            continue;
        }
        let hold = policy.fleet.holds.on_removal(pool, *reason, evidence.seen_at);
        if let Some(Hold { because, until }) = hold {
            evidence.held.push(HeldChange {
                node: node.clone(),
                pool: Some(pool.clone()),
                class: ChangeClass::of(*reason),
                reason: Some(*reason),
                because,
                until,
            });
        }
    }
    evidence.held.sort_by(|one, other| one.node.cmp(&other.node));
    let held: BTreeSet<&NodeName> = evidence.held.iter().map(|held| &held.node).collect();
    evidence.report.staying.retain(|(node, _)| !held.contains(node));
}

/// Returns whether a plan narrowed to these targets includes a node of this pool.
#[must_use]
pub fn is_target(targets: &[Target], node: &NodeName, pool: &PoolName) -> bool {
    let names = [Target::Node(node.clone()), Target::NodePool(pool.clone())];
    targets.is_empty() || names.iter().any(|name| targets.contains(name))
}

/// Returns the freezes of which it is unknown whether they are open.
pub(super) fn undecided(snapshot: &Snapshot, policy: &Policy) -> BTreeSet<String> {
    let freezes = policy.fleet.holds.freezes.iter();
    let open = freezes.filter(|freeze| freeze.state(snapshot.at) == FreezeState::Undecided);
    open.map(|freeze| format!("whether freeze `{}` is open now; taken as if it were", freeze.name)).collect()
}

/// Returns warnings about holds that name a missing pool and so hold nothing.
pub(super) fn warnings(policy: &Policy) -> Vec<Warning> {
    let holds = &policy.fleet.holds;
    let of_freezes = holds.freezes.iter().flat_map(|freeze| {
        let named = freeze.pools.iter().flatten();
        named.map(|pool| (format!("freeze `{}`", freeze.name), pool))
    });
    let of_approve = holds
        .pools
        .keys()
        .chain(holds.lifted.keys())
        .map(|pool| ("`approve` of the NodeFleet".to_owned(), pool));
    let strange = of_freezes.chain(of_approve).filter(|(_, pool)| !policy.pools.contains_key(*pool));
    strange
        .map(|(object, pool)| {
            let nearest = policy
                .pools
                .keys()
                .min_by_key(|known| strsim::damerau_levenshtein(known.as_str(), pool.as_str()));
            let what = format!("it names pool `{pool}`, which the input does not hold");
            let hint = nearest.map(|known| format!("the input has pool `{known}`: is that meant?"));
            Warning { object, what, hint }
        })
        .collect()
}
