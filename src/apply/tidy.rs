//! What goes of the ledger: NodePlans that nobody asks for any more.
//!
//! Which those are is `ledger`'s to say. Must never delete one while a list of them is not whole.

use jiff::Timestamp;

use super::book::{NotBegun, recorded};
use crate::cluster::{Preconditions, Writer};
use crate::ledger;

/// Deletes the NodePlans that are superfluous at a time.
///
/// # Errors
/// The API server refuses, or does not answer: those that are left go another time.
pub async fn tidy(writer: &Writer, at: Timestamp) -> Result<(), NotBegun> {
    let ledger = recorded(writer.cluster()).await?;
    for path in ledger::superfluous(&ledger, at) {
        writer.delete(&path, &Preconditions::default(), None).await?;
    }
    Ok(())
}
