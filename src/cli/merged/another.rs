//! Another run of the same pipeline: this one waits for what the other applies, and ends well where the other did.
//!
//! Decides nothing about a plan: the Lease and the ledger say who applies it.

use std::time::Duration;

use super::super::apply;
use super::super::exit::{Exit, Failure};
use super::Merged;
use crate::api::node_plan::Phase;
use crate::apply::recorded;
use crate::review::proposal::FolderName;

/// How often it is looked whether the other run has ended, of the cloud's clock.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// For how long the other run may hold the Lease before it has written down what it applies, of the cloud's clock.
const WRITTEN_DOWN: Duration = Duration::from_secs(15);

/// What another run has to do with a plan.
pub(super) enum Another {
    /// It has applied it, and the plan ended so.
    Ended(Phase),
    /// It is applying it.
    Applies,
    /// Nothing that is known.
    Nothing,
}

/// Waits for another run, within bounds.
pub(super) struct Waiting<'m> {
    merged: &'m Merged<'m>,
    name: &'m FolderName,
    /// For how long it has waited, of the cloud's clock.
    waited: Duration,
    is_told: bool,
}

impl<'m> Waiting<'m> {
    pub(super) fn of(merged: &'m Merged<'m>, name: &'m FolderName) -> Self {
        Self { merged, name, waited: Duration::ZERO, is_told: false }
    }

    /// Returns whether the plan is to be tried again, since another run that applied it has let the Lease go or may do so
    /// soon; else what that run has to do with it.
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
        // Made inside of the runtime, which a timer needs.
        self.merged.connected.wait_for(async move { tokio::time::sleep(pause).await });
        Ok(None)
    }

    fn another(&self) -> Result<Another, Failure> {
        let Merged { connected, .. } = self.merged;
        let ledger = connected.wait_for(recorded(&connected.cluster));
        let ledger = ledger.map_err(|fault| apply::not_begun(&fault))?;
        Ok(match ledger.of_id(&self.name.id) {
            // That it has expired this run has found too.
            Some(known) if known.phase() == Phase::Expired => Another::Nothing,
            Some(known) if known.is_spent() => Another::Ended(known.phase()),
            Some(known) if !known.is_automatic => Another::Applies,
            Some(_) | None => Another::Nothing,
        })
    }
}
