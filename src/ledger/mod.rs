//! The ledger: records plans with effects and their results as NodePlan objects, and their texts as NodePlanChunks.
//!
//! ```text
//!  Entry ─▶ write::objects ─▶ chunks, then the plan ─▶ (API server) ─▶ read ─▶ last plan, refusals, unfinished
//!  Progress ─▶ status::patch ─▶ (its status)                            ├─▶ text: from chunks, by digest
//!                                                       NodePlanApproval ─▶ decisions: who approves, who rejects
//! ```
//!
//! Objects in, objects out. Never sends anything, never holds a secret, never takes an incomplete plan for complete.

mod decisions;
mod fault;
mod keep;
mod proposal;
mod read;
mod status;
mod write;

pub use decisions::{Decisions, Rejection, decision, decisions};
pub use fault::LedgerFault;
pub use keep::{Orphan, orphans, superfluous};
pub use proposal::{Fate, Proposed, proposal_patch};
pub use read::{Ledger, PlanSummary, Recorded, file, read, text};
pub use status::{GivenUp, Lost, NeverJoined, Outcome, Progress, Refused, patch};
pub use write::{Changes, Entry, Written, chunk_names, name, objects};

/// API path of NodePlans.
pub const PLANS: &str = "/apis/nodeform.dev/v1alpha1/nodeplans";

/// API path of the chunks of their texts.
pub const CHUNKS: &str = "/apis/nodeform.dev/v1alpha1/nodeplanchunks";

/// Maximum number of plans whose chunks a query excludes: servers reject longer URLs.
const LEFT_OUT_MAX: usize = 400;

/// Returns the query that lists chunks of plans that are not in the ledger, and possibly some that are.
#[must_use]
pub fn chunks_of_none(ledger: &Ledger) -> String {
    let names = ledger.plans.iter().chain(&ledger.proposed).map(|plan| plan.name.as_str());
    let names: Vec<&str> = names.take(LEFT_OUT_MAX).collect();
    match names.is_empty() {
        true => "labelSelector=nodeform.dev%2Fplan".to_owned(),
        false => format!(
            "labelSelector=nodeform.dev%2Fplan%2Cnodeform.dev%2Fplan%20notin%20({})",
            names.join("%2C")
        ),
    }
}

/// API path of decisions about plans.
pub const APPROVALS: &str = "/apis/nodeform.dev/v1alpha1/nodeplanapprovals";

/// Returns the query for the chunks of a plan's text.
#[must_use]
pub fn chunks_of(name: &str) -> String {
    format!("labelSelector=nodeform.dev%2Fplan%3D{name}")
}
