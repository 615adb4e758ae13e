//! State changes of NodePlans that wait for approval, written one after the other.
//!
//! Must never withdraw an old proposal before the new one exists.

use std::sync::Arc;

use jiff::Timestamp;

use crate::apply::{propose, settle};
use crate::cluster::Writer;
use crate::ledger::Fate;
use crate::plan::Plan;

/// A state change of a NodePlan.
pub(in crate::controller) enum Wanted {
    /// It waits for approval.
    Proposed(Arc<Plan>),
    /// It is withdrawn, and why.
    Withdrawn { name: String, because: String },
    /// It was not approved in time.
    Expired { name: String },
}

/// Writes the changes; returns why they could not all be written.
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
