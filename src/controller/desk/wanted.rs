//! What is to become of NodePlans that wait for approvals, written one after the other.
//!
//! Must never take an old proposal away before the new one is there.

use std::sync::Arc;

use jiff::Timestamp;

use crate::apply::{propose, settle};
use crate::cluster::Writer;
use crate::ledger::Fate;
use crate::plan::Plan;

/// What is to become of a NodePlan.
pub(in crate::controller) enum Wanted {
    /// It waits for an approval.
    Proposed(Arc<Plan>),
    /// It is taken back, and why.
    Withdrawn { name: String, because: String },
    /// Nobody approved it in time.
    Expired { name: String },
}

/// Writes it; returns why it was not written to the end.
pub(in crate::controller) async fn write(
    writer: &Writer,
    wanted: Vec<Wanted>,
    at: Timestamp,
) -> Option<String> {
    for wanted in wanted {
        let written = match &wanted {
            Wanted::Proposed(plan) => propose(writer, plan, at).await,
            Wanted::Withdrawn { name, because } => settle(writer, name, &Fate::Withdrawn(because), at).await,
            Wanted::Expired { name } => settle(writer, name, &Fate::Expired, at).await,
        };
        if let Err(fault) = written {
            return Some(format!("could not record what waits for approvals: {fault}; {}", fault.hint()));
        }
    }
    None
}
