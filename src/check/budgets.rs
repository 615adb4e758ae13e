//! Disruption budgets: no wave removes more nodes of a pool than its budgets allow at the same time.
//!
//! A percentage is of the pool's nodes that have joined, rounded up. Nodes that are already being deleted, and nodes
//! that stay although they are not ready, are subtracted from the allowance. All budgets active at the time apply; the
//! smallest counts.

use std::collections::{BTreeMap, BTreeSet};

use croner::parser::{CronParser, Seconds};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{Budget, BudgetNodes, DisruptionReason, Node, NodeName, NodeStage, Pool, PoolName};
use crate::plan::{Delete, Step};

/// Returns the waves that remove more nodes than allowed.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let deletes: BTreeMap<_, _> = case.plan.spec.deletes().collect();
    let mut found = Vec::new();
    let mut gone: BTreeMap<&PoolName, usize> = BTreeMap::new();
    let mut down = not_ready(case);
    for (number, wave) in (1..).zip(&case.plan.spec.waves) {
        let mut going: BTreeMap<(&PoolName, DisruptionReason), BTreeSet<&NodeName>> = BTreeMap::new();
        let ids = wave.steps.get(&Step::Delete).into_iter().flatten();
        for delete in ids.filter_map(|id| deletes.get(id)) {
            if let Some(pool) = pool_of(case, delete) {
                going.entry((pool, delete.reason)).or_default().insert(&delete.target.node);
            }
        }
        for ((name, reason), nodes) in &going {
            let Some(pool) = case.pool(name) else { continue };
            let gone = (number > 1).then(|| gone.get(name).copied().unwrap_or(0));
            let allowed = allowed(case, pool, *reason, gone);
            let others = down.iter().filter(|(node, of)| of == name && !nodes.contains(node)).count();
            // Not-ready nodes count only for reasons that budgets may list.
            let others = if may_be_listed(*reason) { others } else { 0 };
            if nodes.len() + others > allowed {
                let beside = if others > 0 { format!(" beside {others} not ready") } else { String::new() };
                let message = format!(
                    "wave {number} takes {} nodes away as {reason}{beside}, its budgets allow {allowed}",
                    nodes.len()
                );
                found.push(Finding::new(Rule::Budget, format!("pool `{name}`"), message));
            }
        }
        for ((name, _), nodes) in going {
            *gone.entry(name).or_default() += nodes.len();
            down.retain(|(node, _)| !nodes.contains(node));
        }
    }
    found
}

/// Returns the nodes that are not ready, each with its pool: they have joined, are not being deleted, and have a
/// NodeClaim if any node has one.
fn not_ready<'a>(case: &Case<'a>) -> Vec<(&'a NodeName, &'a PoolName)> {
    let nodes = &case.snapshot.nodes;
    let has_claims = nodes.iter().any(|node| node.claim.is_some());
    let is_out = |node: &&Node| {
        let is_managed = node.claim.is_some() || !has_claims;
        let is_down = node.troubles.iter().any(|trouble| &*trouble.kind == "Ready");
        is_managed && is_down && node.stage == NodeStage::Initialized && !node.is_deleting
    };
    nodes.iter().filter(is_out).filter_map(|node| Some((&node.name, node.pool.as_ref()?))).collect()
}

const fn may_be_listed(reason: DisruptionReason) -> bool {
    use DisruptionReason::{Deleted, Destroyed, Drifted, Empty, Excess, Expired, Underutilized, Unhealthy};
    match reason {
        Empty | Drifted | Underutilized => true,
        Expired | Excess | Deleted | Destroyed | Unhealthy => false,
    }
}

fn pool_of<'a>(case: &Case<'a>, delete: &Delete) -> Option<&'a PoolName> {
    case.nodes.get(&delete.target.node).and_then(|node| node.pool.as_ref())
}

/// Returns how many nodes of a pool may be removed at the same time for a reason. In the first wave (`gone` is absent),
/// nodes being deleted still count; later, `gone` is the number of nodes that earlier waves removed.
fn allowed(case: &Case<'_>, pool: &Pool, reason: DisruptionReason, gone: Option<usize>) -> usize {
    let of_pool = || case.snapshot.nodes.iter().filter(|node| node.pool.as_ref() == Some(&pool.name));
    let has_joined = |node: &&Node| node.stage == NodeStage::Initialized;
    let joined = of_pool().filter(has_joined).count().saturating_sub(gone.unwrap_or(0));
    let going = if gone.is_none() { of_pool().filter(|node| node.is_deleting).count() } else { 0 };
    let listed = |budget: &&Budget| budget.reasons.as_ref().is_none_or(|reasons| reasons.contains(&reason));
    let mut least = usize::MAX;
    for budget in &pool.disruption.budgets {
        match holds(budget, case.snapshot.at) {
            // Karpenter removes nothing while one of the pool's schedules is invalid.
            None => least = 0,
            Some(true) if listed(&budget) => least = least.min(at_once(budget.nodes, joined)),
            Some(_) => {}
        }
    }
    let least = match reason {
        DisruptionReason::Empty | DisruptionReason::Drifted | DisruptionReason::Underutilized => least,
        // Budgets only pace reasons that they cannot list: one node is always allowed.
        DisruptionReason::Expired | DisruptionReason::Excess => least.max(1),
        // A destroy plan or a user's deletion overrides all budgets.
        DisruptionReason::Destroyed | DisruptionReason::Deleted => usize::MAX,
        DisruptionReason::Unhealthy => at_once(BudgetNodes::Percent(20), joined).max(1),
    };
    if least == usize::MAX { least } else { least.saturating_sub(going) }
}

fn at_once(nodes: BudgetNodes, joined: usize) -> usize {
    match nodes {
        BudgetNodes::Count(count) => usize::try_from(count).unwrap_or(usize::MAX),
        BudgetNodes::Percent(percent) => {
            let hundredths = joined.saturating_mul(usize::try_from(percent).unwrap_or(usize::MAX));
            hundredths / 100 + usize::from(hundredths % 100 > 0)
        }
    }
}

/// Returns whether a budget is active at a time, `None` if its schedule is invalid. A budget with a schedule is active
/// for its duration from each occurrence. Without a time it counts as active, the safe assumption.
fn holds(budget: &Budget, at: Option<Timestamp>) -> Option<bool> {
    let Some((schedule, duration)) = &budget.window else { return Some(true) };
    let cron = CronParser::builder().seconds(Seconds::Disallowed).build().parse(schedule).ok()?;
    let Some(at) = at else { return Some(true) };
    let Ok(start) = at.checked_sub(*duration) else { return Some(true) };
    let next = cron.find_next_occurrence(&start.to_zoned(TimeZone::UTC), false);
    Some(next.is_ok_and(|hit| hit.timestamp() <= at))
}
