//! Concurrent runs of the same pipeline: waits for the plan that another run applies, and succeeds if that run did.
//!
//! Never decides about a plan: the Lease and the ledger show which run applies it.

use std::time::Duration;

use super::super::apply;
use super::super::exit::{Exit, Failure};
use super::Merged;
use crate::api::node_plan::Phase;
use crate::apply::recorded;
use crate::review::proposal::FolderName;

/// Interval at which the other run is checked, in the cloud's time.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// How long the other run may hold the Lease before it has recorded the plan that it applies, in the cloud's time.
const WRITTEN_DOWN: Duration = Duration::from_secs(15);

/// State of a plan in another run.
pub(super) enum Another {
    /// Applied by it, with this final phase.
    Ended(Phase),
    /// Being applied by it.
    Applies,
    /// Unknown.
    Nothing,
}

/// Waits for another run, within bounds.
pub(super) struct Waiting<'m> {
    merged: &'m Merged<'m>,
    name: &'m FolderName,
    /// Time waited so far, in the cloud's time.
    waited: Duration,
    is_told: bool,
}

impl<'m> Waiting<'m> {
    pub(super) fn of(merged: &'m Merged<'m>, name: &'m FolderName) -> Self {
        Self { merged, name, waited: Duration::ZERO, is_told: false }
    }

    /// Returns `None` if the plan should be retried, because another run has released the Lease or may do so soon;
    /// otherwise the plan's state in that run.
    ///
    /// # Errors
    /// The ledger cannot be read.
    pub(super) fn after(&mut self, failure: &Failure) -> Result<Option<Another>, Failure> {
        if failure.exit != Exit::Stale {
            return Ok(Some(Another::Nothing));
        }
        let another = self.another()?;
        let patience = match another {
            Another::Ended(_) => return Ok(Some(another)),
            Another::Applies => self.merged.arguments.drain_timeout,
            Another::Nothing => WRITTEN_DOWN,
        };
        if !failure.is_busy || self.waited >= patience {
            return Ok(Some(another));
        }
        if !self.is_told && matches!(another, Another::Applies) {
            self.is_told = true;
            self.merged.ui.aside(&format!("Another run is applying {}: waiting for it to end.\n", self.name));
        }
        self.waited += LOOK_AGAIN;
        let pause = LOOK_AGAIN / self.merged.connected.azure.cloud().clock_speed.max(1);
        // Created inside the runtime, which a timer requires.
        self.merged.connected.wait_for(async move { tokio::time::sleep(pause).await });
        Ok(None)
    }

    fn another(&self) -> Result<Another, Failure> {
        let Merged { connected, .. } = self.merged;
        let ledger = connected.wait_for(recorded(&connected.cluster));
        let ledger = ledger.map_err(|fault| apply::not_begun(&fault))?;
        Ok(match ledger.of_id(&self.name.id) {
            // This run has detected the expiry too.
            Some(known) if known.phase() == Phase::Expired => Another::Nothing,
            Some(known) if known.is_spent() => Another::Ended(known.phase()),
            Some(known) if !known.is_automatic => Another::Applies,
            Some(_) | None => Another::Nothing,
        })
    }
}
