//! Explanations of pods, nodes, pools and sizes: values for `nodeform explain`, rule by rule.
//!
//! Everything is computed again from the same values by the same rules; nothing here decides.

pub mod named;
pub mod node;
pub mod pod;
pub mod pool;
pub mod size;

pub use named::{Meant, is_kind, is_workload_kind, pods_meant};
pub use node::{NodeExplanation, explain_node};
pub use pod::{PodExplanation, PodOutcome, explain_pod, pod_outcome};
pub use pool::{PoolExplanation, explain_pool};
pub use size::{NotChosen, PoolUse, SizeExplanation, explain_size};

use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::fit::limits::Ledger;
use super::ledger;
use super::market::Market;
use super::price::{self, PriceBook, Uncommitted};
use super::solution::Solution;
use super::supply::Supply;

/// Returns the limits that the solution leaves.
fn ledger_after(
    (snapshot, policy): (&Snapshot, &Policy),
    market: &Market,
    supply: &Supply<'_>,
    solution: &Solution,
) -> Ledger {
    let book = PriceBook::new(&policy.fleet.prices);
    let mut ledger = ledger::opened(
        market.limiting(policy),
        &snapshot.nodes,
        &Uncommitted::all(&book),
        price::cost(&snapshot.nodes, market, &book).effective,
    );
    for node in &solution.target.new {
        let found = supply.pools.iter().find(|pool| pool.pool.name == node.pool).and_then(|pool| {
            let kind = pool.kinds.iter().find(|kind| kind.kind.name == node.size)?;
            Some(ledger::charges(&ledger, pool.pool, node.vm(kind.kind)))
        });
        ledger.take(&found.unwrap_or_default(), 1);
    }
    ledger
}
