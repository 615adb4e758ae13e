//! Independent checker of plans: verifies the same values against the rules of Kubernetes and Karpenter, implemented
//! again.
//!
//! The checker uses none of `solve`'s or `plan`'s reasoning. It derives capacities, labels, daemonset overhead and
//! prices from snapshot, policy and catalogue. It never changes a plan and never excuses one. What it must account for
//! is in the plan's evidence; unknown data counts against the plan.
//!
//! Each rule is a file with a function from the `Case` to findings.

mod affinity;
mod anti_affinity;
mod attached;
mod balanced;
mod budgets;
mod capacity;
mod case;
mod choices;
mod content;
mod crowd;
mod daemons;
mod deleted;
mod destroyed;
mod due;
mod evictions;
mod execution;
mod finding;
mod gangs;
mod gaps;
mod headroom;
mod held;
mod holds;
mod labels;
mod limits;
mod made;
mod moment;
mod names;
mod nearness;
mod offering;
mod order;
mod overlays;
mod party;
mod placed;
mod pod_affinity;
mod ports;
mod preempted;
mod preferences;
mod price;
mod quota;
mod reasons;
mod removal;
mod replicas;
mod room;
mod shown;
mod spread;
mod spread_together;
mod substitutes;
mod supposed;
mod taints;
mod taken;
mod tally;
mod tied;
mod totals;
mod underutilized;
mod updates;
mod variety;
mod volumes;
mod weight;
mod wishes;

pub use finding::{Finding, Rule};

use case::Case;

use crate::plan::Plan;
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// Checks a plan. Returns all faults, sorted; none if the plan is right.
#[must_use]
pub fn check(snapshot: &Snapshot, policy: &Policy, plan: &Plan) -> Vec<Finding> {
    // Soft preferences that the plan meets are checked like requirements.
    let held_to = preferences::held_to(snapshot, policy, plan);
    let case = Case::of(held_to.as_ref().unwrap_or(snapshot), policy, plan);
    let rules = [
        placed::findings,
        held::findings,
        room::findings,
        headroom::findings,
        capacity::findings,
        taints::findings,
        affinity::findings,
        spread::findings,
        pod_affinity::findings,
        anti_affinity::findings,
        gangs::findings,
        volumes::findings,
        ports::findings,
        offering::findings,
        substitutes::findings,
        variety::findings,
        price::findings,
        totals::findings,
        limits::findings,
        quota::findings,
        weight::findings,
        removal::findings,
        replicas::findings,
        budgets::findings,
        evictions::findings,
        holds::findings,
        names::findings,
        order::findings,
        gaps::findings,
        content::findings,
        reasons::findings,
        supposed::findings,
        wishes::findings,
        destroyed::findings,
        deleted::findings,
        updates::findings,
        preempted::findings,
        execution::findings,
    ];
    let mut found: Vec<Finding> = rules.iter().flat_map(|rule| rule(&case)).collect();
    found.extend(choices::findings(snapshot, &case));
    found.extend(execution::made_for(snapshot, &case));
    found.extend(preferences::findings(snapshot, policy, plan));
    found.sort();
    found.dedup();
    found
}

/// Checks an extra guarantee of the cheapest fleet: a pending pod gets no new node if an existing node that stays fits
/// it. Not part of [`check`], because Karpenter's strategy creates such nodes as Karpenter does.
#[must_use]
pub fn needless(snapshot: &Snapshot, policy: &Policy, plan: &Plan) -> Vec<Finding> {
    let held_to = preferences::held_to(snapshot, policy, plan);
    room::needless(&Case::of(held_to.as_ref().unwrap_or(snapshot), policy, plan))
}
