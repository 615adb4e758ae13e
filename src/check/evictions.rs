//! PodDisruptionBudgets: no protected pod is evicted, and the drains of one wave together evict no more pods of a
//! budget than it allows at the same time.
//!
//! A node that alone has more of them is drained by itself, one pod at a time. Every wave waits until the pods of the
//! previous one are up again, so each wave starts with full budgets. Nodes already being deleted reduce the budgets of
//! the first.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::disruption_budget::{DisruptionBudget, PodBound, PodShare, UnhealthyPods};
use crate::model::{NodeName, Pod, PodPlace};
use crate::plan::Step;
use crate::snapshot::Snapshot;

/// A budget and its allowed disruptions.
pub(super) struct Spare<'a> {
    budget: &'a DisruptionBudget,
    spare: u32,
}

/// Reads all budgets of a snapshot.
pub(super) fn spares(snapshot: &Snapshot) -> Vec<Spare<'_>> {
    let spare = |budget| Spare { budget, spare: spare_of(snapshot, budget) };
    snapshot.budgets.iter().map(spare).collect()
}

impl Spare<'_> {
    fn covers(&self, pod: &Pod) -> bool {
        let Some(selector) = &self.budget.selector else { return false };
        self.budget.namespace == pod.key.namespace && selector.selects(&pod.spec.labels)
    }

    /// Returns whether evicting the pod counts against the budget.
    fn spares(&self, pod: &Pod) -> bool {
        !pod.is_daemon && is_up(pod) && self.covers(pod)
    }
}

fn is_up(pod: &Pod) -> bool {
    let is_bound = matches!(pod.place, PodPlace::Bound(_));
    is_bound && !pod.is_terminating && !pod.state.is_unready
}

/// Returns the disruptions allowed by the budget's status. Without a status, they are the running pods beyond the
/// required minimum; percentages are of all pods, with the budget's own number rounded up.
fn spare_of(snapshot: &Snapshot, budget: &DisruptionBudget) -> u32 {
    if let Some(counts) = budget.counts {
        return counts.disruptions_allowed;
    }
    let Some(bound) = budget.bound else { return 0 };
    let whole = Spare { budget, spare: 0 };
    let (mut pods, mut up) = (0_u64, 0_u64);
    for pod in snapshot.pods.iter().filter(|pod| whole.covers(pod)) {
        pods += 1;
        up += u64::from(is_up(pod));
    }
    let (share, is_least) = match bound {
        PodBound::MinAvailable(share) => (share, true),
        PodBound::MaxUnavailable(share) => (share, false),
    };
    let number = match share {
        PodShare::Count(number) => u64::from(number),
        PodShare::Percent(percent) => {
            let hundredths = pods * u64::from(percent);
            hundredths / 100 + u64::from(!hundredths.is_multiple_of(100))
        }
    };
    let least = if is_least { number } else { pods.saturating_sub(number) };
    u32::try_from(up.saturating_sub(least)).unwrap_or(u32::MAX)
}

/// Returns why budgets do not allow a pod to be evicted.
pub(super) fn kept(case: &Case<'_>, pod: &Pod) -> Option<String> {
    let own: Vec<&Spare<'_>> = case.spares.iter().filter(|spare| spare.covers(pod)).collect();
    match own[..] {
        [] => None,
        [one] => {
            let is_exempt = pod.state.is_unready && one.budget.unhealthy == UnhealthyPods::AlwaysAllow;
            (one.spare == 0 && !is_exempt)
                .then(|| format!("may not be evicted now, as PodDisruptionBudget `{}` says", one.budget.name))
        }
        [..] => Some(format!("has {} PodDisruptionBudgets, so that it cannot be evicted", own.len())),
    }
}

/// Returns the waves whose drains together exceed a budget.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for spare in &case.spares {
        let mut on_nodes: BTreeMap<&NodeName, u32> = BTreeMap::new();
        for pod in case.snapshot.pods.iter().filter(|pod| spare.spares(pod)) {
            if let PodPlace::Bound(node) = &pod.place {
                *on_nodes.entry(node).or_default() += 1;
            }
        }
        let on = |node: &NodeName| on_nodes.get(node).copied().unwrap_or(0);
        let going = case.snapshot.nodes.iter().filter(|node| node.is_deleting);
        let going: u32 = going.map(|node| on(&node.name)).sum();
        for (number, drained) in (1..).zip(drained(case)) {
            let takes: Vec<u32> = drained.into_iter().map(on).filter(|count| *count > 0).collect();
            let room = if number == 1 { spare.spare.saturating_sub(going) } else { spare.spare };
            let all: u32 = takes.iter().sum();
            if takes.len() > 1 && all > room {
                let name = format!("PodDisruptionBudget `{}/{}`", spare.budget.namespace, spare.budget.name);
                let nodes = takes.len();
                let message =
                    format!("wave {number} evicts {all} of its pods from {nodes} nodes, it allows {room}");
                found.push(Finding::new(Rule::Budget, name, message));
            }
        }
    }
    found
}

/// Returns the nodes that each wave drains, without those already being deleted.
fn drained<'a>(case: &Case<'a>) -> Vec<BTreeSet<&'a NodeName>> {
    let changes = &case.plan.spec.changes;
    let waves = case.plan.spec.waves.iter().map(|wave| {
        let ids = wave.steps.get(&Step::Drain).into_iter().flatten();
        let targets = ids.filter_map(|id| changes.get(id)?.change.target());
        let is_going = |node: &NodeName| case.nodes.get(node).is_some_and(|node| node.is_deleting);
        targets.map(|target| &target.node).filter(|node| !is_going(node)).collect()
    });
    waves.collect()
}
