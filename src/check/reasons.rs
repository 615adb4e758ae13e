//! Reasons and counts: the plan's explanations match its changes.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{DisruptionReason, NodeName, PodKey, PodPlace, PoolName};
use crate::plan::{Adopt, Change, ChangeId, Create, Delete, Reason};

/// Returns the reasons that do not match their changes, and wrong counts of unchanged nodes.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let evidence = &case.plan.evidence;
    let mut found = Vec::new();
    for (id, reason) in &evidence.reasons {
        let fault = match case.plan.spec.changes.get(id) {
            None => Some("has a reason, but there is no such change".to_owned()),
            Some(planned) => fault(case, id, &planned.change, reason),
        };
        found.extend(fault.map(|why| Finding::new(Rule::Content, format!("change `{id}`"), why)));
    }
    found.extend(unchanged(case));
    found
}

fn fault(case: &Case<'_>, id: &ChangeId, change: &Change, reason: &Reason) -> Option<String> {
    let is_right = match change {
        Change::Create(Create { .. }) => return waiting(case, id, reason),
        Change::Delete(delete) => is_of_removal(case, delete, reason),
        Change::Adopt(Adopt { pool: adopting, .. }) => {
            matches!(reason, Reason::WithoutClaim { pool } if pool == adopting)
        }
        Change::Forget(_) => matches!(reason, Reason::Asked { .. }),
        Change::Update(_) | Change::NoOp(_) => true,
    };
    (!is_right).then(|| format!("is not made because of what is said: {reason}"))
}

/// Checks that a node is created for the pods that are placed on it.
fn waiting(case: &Case<'_>, id: &ChangeId, reason: &Reason) -> Option<String> {
    let placement = case.plan.evidence.placements.get(id)?;
    let waiting = placement.pods.iter().filter(|pod| !pod.is_placeholder()).count();
    let (pods, moved, opened_for, placed) = match (reason, &placement.opened_for) {
        (Reason::PodsWait { pods, moved, opened_for }, Some(_)) if waiting > 0 => {
            (*pods, *moved, opened_for, waiting)
        }
        (Reason::KeepsRoom { pods, opened_for }, Some(_)) if waiting == 0 => {
            (*pods, 0, opened_for, placement.pods.len())
        }
        (Reason::Replicas { pool, nodes }, None) => return other_number(case, (id, pool), *nodes),
        _ => return Some(format!("is not made because of what is said: {reason}")),
    };
    if pods != placed {
        return Some(format!("is said to be made for {pods} pods, {placed} are placed on it"));
    }
    let moves = |key: &&PodKey| match case.pods.get(*key).map(|pod| &pod.place) {
        // Pods of a node that is already being deleted need another one anyway.
        Some(PodPlace::Bound(node)) => {
            case.removed.contains_key(node) && case.nodes.get(node).is_some_and(|node| !node.is_deleting)
        }
        Some(PodPlace::Waiting) | None => false,
    };
    let moving = placement.pods.iter().filter(moves).count();
    if moved != moving {
        return Some(format!("is said to be made for {moved} pods that move, {moving} do"));
    }
    let right = placement.opened_for.as_ref().filter(|right| *right != opened_for)?;
    Some(format!("is said to be made for pod `{opened_for}`, it was opened for `{right}`"))
}

/// Checks that a node created for no pod is created because of its pool's number of nodes.
fn other_number(case: &Case<'_>, (id, pool): (&ChangeId, &PoolName), nodes: u64) -> Option<String> {
    let own = case.made.iter().find(|made| made.id == id)?.pool;
    let asked = case.pool(own)?.replicas;
    (own != pool || asked != Some(nodes)).then(|| {
        format!("is said to be one of {nodes} nodes of pool `{pool}`, and that is not what it asks for")
    })
}

/// Checks that a node that the user asked to replace is removed for that reason alone.
fn is_of_removal(case: &Case<'_>, delete: &Delete, reason: &Reason) -> bool {
    let is_asked = case.plan.spec.wishes.replace.contains(&delete.target.node);
    match delete.reason == DisruptionReason::Drifted && is_asked {
        true => matches!(reason, Reason::Asked { .. }),
        false => is_of(delete.reason, reason),
    }
}

const fn is_of(why: DisruptionReason, reason: &Reason) -> bool {
    match why {
        DisruptionReason::Empty => matches!(reason, Reason::Empty),
        DisruptionReason::Expired => matches!(reason, Reason::Expired { .. }),
        DisruptionReason::Unhealthy => matches!(reason, Reason::Unhealthy { .. }),
        DisruptionReason::Excess => matches!(reason, Reason::Excess { .. }),
        DisruptionReason::Drifted => matches!(reason, Reason::Drifted { .. }),
        DisruptionReason::Underutilized => matches!(reason, Reason::Underutilized),
        DisruptionReason::Deleted => matches!(reason, Reason::Asked { .. } | Reason::VmGone),
        DisruptionReason::Destroyed => matches!(reason, Reason::Asked { .. }),
    }
}

/// Checks that every node without a change is counted once, by its pool.
fn unchanged(case: &Case<'_>) -> Vec<Finding> {
    let changes = case.plan.spec.changes.values();
    let touched: BTreeSet<&NodeName> =
        changes.filter_map(|planned| planned.change.target()).map(|target| &target.node).collect();
    let mut right: BTreeMap<Option<&PoolName>, usize> = BTreeMap::new();
    for node in &case.snapshot.nodes {
        if !touched.contains(&node.name) {
            *right.entry(node.pool.as_ref()).or_default() += 1;
        }
    }
    let mut said: BTreeMap<Option<&PoolName>, usize> = BTreeMap::new();
    for no_op in &case.plan.evidence.unchanged {
        *said.entry(no_op.pool.as_ref()).or_default() += no_op.nodes;
    }
    let pools: BTreeSet<Option<&PoolName>> = right.keys().chain(said.keys()).copied().collect();
    let number = |counts: &BTreeMap<_, usize>, pool| counts.get(pool).copied().unwrap_or(0);
    pools
        .iter()
        .map(|pool| (pool, number(&said, pool), number(&right, pool)))
        .filter(|(_, said, right)| said != right)
        .map(|(pool, said, right)| {
            let object = pool.map_or("nodes of no pool".to_owned(), |pool| format!("pool `{pool}`"));
            Finding::new(
                Rule::Content,
                object,
                format!("{said} nodes are said to stay as they are, {right} do"),
            )
        })
        .collect()
}
