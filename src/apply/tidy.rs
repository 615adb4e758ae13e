//! Garbage collection of the ledger: NodePlans that are no longer needed, and NodePlanChunks whose NodePlan was never
//! written.
//!
//! `ledger` determines which. Must never delete one while a list of them is incomplete.

use jiff::Timestamp;

use super::book::{NotBegun, recorded};
use crate::cluster::{Preconditions, Writer};
use crate::ledger::{self, CHUNKS, Orphan};

/// Deletes the NodePlans that are superfluous at a time, and NodePlanChunks without one.
///
/// # Errors
/// The API server refuses, or does not answer: the remaining ones are deleted later.
pub async fn tidy(writer: &Writer, at: Timestamp) -> Result<(), NotBegun> {
    let ledger = recorded(writer.cluster()).await?;
    for path in ledger::superfluous(&ledger, at) {
        writer.delete(&path, &Preconditions::default(), None).await?;
    }
    let chunks = writer.cluster().list(CHUNKS, &ledger::chunks_of_none(&ledger)).await?.items();
    if chunks.is_empty() {
        return Ok(());
    }
    // Chunks that were being written before have their NodePlan by now.
    let ledger = recorded(writer.cluster()).await?;
    for Orphan { path, uid } in ledger::orphans(&ledger, &chunks, at) {
        let this = Preconditions { uid: Some(uid), ..Preconditions::default() };
        writer.delete(&path, &this, None).await?;
    }
    Ok(())
}
