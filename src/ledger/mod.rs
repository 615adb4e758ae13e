//! The ledger: which plans with effects there were, and what has become of them, as NodePlan objects, and their
//! texts as NodePlanChunks.
//!
//! ```text
//!  Entry ─▶ write::objects ─▶ chunks, then the plan ─▶ (API server) ─▶ read ─▶ last plan, refusals, unfinished
//!  Progress ─▶ status::patch ─▶ (its status)                            └─▶ text: from chunks, by digest
//! ```
//!
//! Objects in, objects out: nothing is sent. Must never hold a secret, nor take a plan for whole that is not.

mod fault;
mod keep;
mod read;
mod status;
mod write;

pub use fault::LedgerFault;
pub use keep::superfluous;
pub use read::{Ledger, PlanSummary, Recorded, read, text};
pub use status::{GivenUp, Lost, NeverJoined, Outcome, Progress, Refused, patch};
pub use write::{Changes, Entry, Written, chunk_names, name, objects};

/// Where plans are.
pub const PLANS: &str = "/apis/nodeform.dev/v1alpha1/nodeplans";

/// Where the chunks of their texts are.
pub const CHUNKS: &str = "/apis/nodeform.dev/v1alpha1/nodeplanchunks";

/// Returns what selects the chunks of a plan's text.
#[must_use]
pub fn chunks_of(name: &str) -> String {
    format!("labelSelector=nodeform.dev%2Fplan%3D{name}")
}
