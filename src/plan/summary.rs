//! Summary of a plan in seven figures, for programs that read nothing else: the first lines of the page. For two inputs
//! side by side they are those of the difference.
//!
//! Derived from the plan whenever it is written. It is stored next to `spec`, outside the digest, so a file whose
//! figures contradict its plan is rejected when it is read.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Change, Plan, comparison};
use crate::model::{MicroUsdPerHour, PodKey, PodPlace};

/// Micro-dollars in a cent.
const CENT: i64 = 10_000;

/// How many nodes come, change, go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Adopted.
    pub import: usize,
    /// Made, replacements included.
    pub add: usize,
    /// Changed in place.
    pub change: usize,
    /// Deleted, replaced ones included.
    pub destroy: usize,
    /// No longer managed.
    pub forget: usize,
}

impl Counts {
    /// Counts the changes of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        Self::of_changes(plan.spec.changes.values().map(|planned| &planned.change))
    }

    /// Counts some changes.
    #[must_use]
    pub fn of_changes<'c>(changes: impl IntoIterator<Item = &'c Change>) -> Self {
        let mut counts = Self::default();
        for change in changes {
            match change {
                Change::Create(_) => counts.add += 1,
                Change::Delete(_) => counts.destroy += 1,
                Change::Update(_) => counts.change += 1,
                Change::Adopt(_) => counts.import += 1,
                Change::Forget(_) => counts.forget += 1,
                Change::NoOp(_) => {}
            }
        }
        counts
    }

    /// Counts what the first line of a plan's page counts: of two inputs, how the fleets differ.
    #[must_use]
    pub fn shown(plan: &Plan) -> Self {
        let Some(comparison) = &plan.evidence.comparison else { return Self::of(plan) };
        let comparison::Counts { add, change, destroy } = comparison.nodes.counts;
        Self { add, change, destroy, ..Self::default() }
    }
}

/// A plan in figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Nodes to make, replacements included.
    pub add: usize,
    /// Nodes to change in place.
    pub change: usize,
    /// Nodes to destroy, replaced ones included.
    pub destroy: usize,
    /// Pods that stay Pending when the plan is done.
    pub pending: usize,
    /// What the fleet costs in a month of 730 hours before it, in dollars; nodes of unknown price are left out. Of two
    /// inputs: what the first one's fleet costs when its plan is done.
    pub monthly_before: String,
    /// The same after it.
    pub monthly_after: String,
    /// The second without the first: negative where the plan saves.
    pub monthly_delta: String,
}

impl Summary {
    /// Sums up a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let report = &plan.evidence.report;
        let Counts { add, change, destroy, .. } = Counts::shown(plan);
        let costs = match &plan.evidence.comparison {
            Some(comparison) => [comparison.cost_before, comparison.cost_after],
            None => [report.cost_before, report.cost_after],
        };
        let [before, after] = costs.map(|cost| cents(cost.effective));
        Self {
            add,
            change,
            destroy,
            pending: pending(plan).len(),
            monthly_before: dollars(before),
            monthly_after: dollars(after),
            monthly_delta: dollars(after - before),
        }
    }
}

/// Returns the pods that stay Pending when the plan is done, without the room that CapacityBuffers keep.
#[must_use]
pub fn pending(plan: &Plan) -> BTreeSet<&PodKey> {
    let report = &plan.evidence.report;
    let unplaced = report.unplaced.iter().flat_map(|group| &group.pods);
    let held = report.held.iter().flat_map(|group| &group.pods);
    unplaced.chain(held).filter(|pod| !pod.is_placeholder()).collect()
}

/// Returns how many pods are Pending before the plan, those of DaemonSets aside: they come with their nodes.
#[must_use]
pub fn pending_before(plan: &Plan) -> usize {
    let groups = plan.evidence.world.pods.iter();
    let waiting = groups.filter(|group| group.place == PodPlace::Waiting && !group.is_daemon);
    let keys = waiting.flat_map(|group| {
        group.names.iter().map(|name| PodKey { namespace: group.namespace.clone(), name: name.clone() })
    });
    keys.filter(|key| !key.is_placeholder()).count()
}

/// Returns what a rate comes to in a month of 730 hours, to the cent.
pub(super) fn cents(rate: MicroUsdPerHour) -> i64 {
    rate.per_month().0.saturating_add(CENT / 2).div_euclid(CENT)
}

/// Writes cents as decimal dollars.
pub(super) fn dollars(cents: i64) -> String {
    let sign = if cents < 0 { "-" } else { "" };
    let cents = cents.unsigned_abs();
    format!("{sign}{}.{:02}", cents / 100, cents % 100)
}

#[cfg(test)]
mod tests {
    use super::{Summary, dollars};
    use crate::model::PodKey;
    use crate::plan::tests::world as sample;

    #[test]
    fn a_plan_is_summed_up_with_money_in_decimal_dollars() {
        let mut plan = sample::example_plan();
        plan.evidence.report.unplaced.push(sample::unplaced(&["huge-1", "huge-2"]));
        let summary = Summary::of(&plan);
        assert_eq!((summary.add, summary.change, summary.destroy, summary.pending), (2, 0, 1, 2));
        let money = [summary.monthly_before, summary.monthly_after, summary.monthly_delta];
        assert_eq!(money, ["438.00", "584.00", "146.00"]);
        assert_eq!([dollars(-41_205), dollars(5), dollars(-5)], ["-412.05", "0.05", "-0.05"]);
    }

    #[test]
    fn room_that_is_kept_is_no_pod_and_no_pod_counts_twice() {
        let mut plan = sample::example_plan();
        let mut group = sample::unplaced(&["huge-1"]);
        group.pods.push(group.pods[0].clone());
        plan.evidence.report.unplaced.push(group);
        assert_eq!(Summary::of(&plan).pending, 1);
        assert!(!PodKey::new("default", "huge-1").is_placeholder());
    }
}
