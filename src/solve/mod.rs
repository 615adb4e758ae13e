//! Which nodes should exist, and where each pod would go.
//!
//! Pure and total: it never fails, it explains. Nothing here knows how a change is carried out. The steps, in the order
//! of [`solve`]: who preempts whom before anything is planned (`preempt`), what waits ([`demand`]), what can be bought ([`market`], [`overlay`], [`supply`], [`price`]) and what
//! counts beside its price ([`caution`]), what pools have whatever pods ask for (`replicas`), which pods nothing could
//! hold (`impossible`), which limits leave no place however all are packed (`capped`), which domains pods go to ([`topology`]), what there is and what fits there ([`existing`]), what
//! may go ([`shrink`]), what limits leave ([`ledger`]), new nodes for the rest (`pack`), Karpenter's choice for the
//! same (`rival`), room for a scheduler that does not know the plan (`scheduler`), one step after the other (`steps`),
//! how many have a place where limits leave too little for all (`surplus`), in large clusters what runs before what waits
//! (`apart`), what soft preferences add (`preferences`), which drains would never end (`drains`), which gangs are complete (`gangs`), who has a place as soon as what goes is gone (`afterwards`), what
//! may come up in a new node's place (`choices`), what is left when all is to go (`destroy`), and why ([`report`],
//! [`explain`]). The rules themselves are in [`fit`], room that is kept for pods to come in [`headroom`]. What follows
//! from the same in the next plan is kept by a [`Solver`] (`memo`). Beside it stands Karpenter's own way
//! ([`karpenter`]), and what any fleet costs at least ([`bound`](mod@bound)).

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

/// Works out the fleet that should exist. Whoever plans again and again keeps a [`Solver`].
#[must_use]
pub fn solve(snapshot: &Snapshot, policy: &Policy) -> Solution {
    Solver::default().solve(snapshot, policy)
}
