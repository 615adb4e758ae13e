//! Solver: which nodes should exist, and where each pod goes.
//!
//! Pure and total: it never fails, it explains. Nothing here knows how a change is applied. The steps, in the order of
//! [`solve`]: preemption before planning (`preempt`), pending pods ([`demand`]), the instance types on offer and their
//! prices ([`market`], [`overlay`], [`supply`], [`price`]), availability premiums ([`caution`]), nodes that pools have
//! regardless of pods (`replicas`), unschedulable pods (`impossible`), pods that limits leave unplaced however all are
//! packed (`capped`), domains of pods ([`topology`]), existing nodes and their free capacity ([`existing`]), removable
//! nodes ([`shrink`]), remaining limits ([`ledger`]), new nodes for the rest (`pack`), Karpenter's placement of the
//! same pods (`rival`), slack for a scheduler that does not know the plan (`scheduler`), the loop over steps (`steps`),
//! the number of pods that fit if limits are too low for all (`surplus`), in large clusters running pods before pending
//! ones (`apart`), soft preferences (`preferences`), drains that would never end (`drains`), complete gangs (`gangs`),
//! pods that fit as soon as deleted nodes are gone (`afterwards`), substitutes for new nodes (`choices`), deletion of
//! all nodes (`destroy`), and the reasons ([`report`], [`explain`]). The rules themselves are in [`fit`], headroom for
//! future pods in [`headroom`]. A [`Solver`] keeps results that the next plan can reuse (`memo`). Separate from these
//! are Karpenter's own algorithm ([`karpenter`]) and the lower bound on the cost of any fleet ([`bound`](mod@bound)).

mod afterwards;
mod apart;
mod attempt;
pub mod bound;
mod came_off;
mod capped;
pub mod caution;
mod choices;
pub mod daemons;
pub mod demand;
mod destroy;
mod drains;
pub mod existing;
pub mod explain;
pub mod fit;
mod fleet;
mod gangs;
pub mod headroom;
mod impossible;
mod intern;
pub mod karpenter;
mod learnt;
pub mod ledger;
pub mod market;
mod memo;
pub mod overlay;
mod overruled;
mod pack;
mod preempt;
mod preferences;
pub mod price;
mod replicas;
pub mod report;
mod rival;
mod scheduler;
mod shortfall;
pub mod shrink;
pub mod solution;
mod solver;
mod steps;
pub mod supply;
mod surplus;
#[cfg(test)]
mod tests;
pub mod topology;
mod withheld;

use crate::policy::Policy;
use crate::snapshot::Snapshot;

pub use crate::model::Strategy;
pub use apart::Parting;
pub use destroy::{deleted, destroy};
pub use explain::{explain_node, explain_pod, explain_pool, explain_size};
pub use market::Market;
pub use preempt::preempted;
pub use shrink::moment::Moment;
pub use solution::{
    Bound, Cost, GivenUp, GivenUpBecause, Headroom, Held, Honoring, Kept, NewNode, NodeRef, NotDecided,
    Preferences, Removal, Report, Slack, Solution, Substitute, Target, Unplaced, Variety, Warning,
};
pub use solver::Solver;
pub use withheld::withheld;

/// Plans the fleet that should exist. Callers that replan continuously keep a [`Solver`].
#[must_use]
pub fn solve(snapshot: &Snapshot, policy: &Policy) -> Solution {
    Solver::default().solve(snapshot, policy)
}
