//! Write permission, checked before each attempt of each write, after every wait.
//!
//! A write waits for budgets, for `Retry-After` and for tokens: its permission may be lost by then. This file knows no
//! Lease.

use std::fmt;
use std::sync::Arc;

/// Determines whether a write may be sent, or why not. Clones share the check.
#[derive(Clone)]
pub struct Permit(Arc<dyn Fn() -> Result<(), String> + Send + Sync>);

impl Permit {
    /// Returns a permit that calls this check before each attempt.
    pub fn new(may_write: impl Fn() -> Result<(), String> + Send + Sync + 'static) -> Self {
        Self(Arc::new(may_write))
    }

    /// Checks whether a write may be sent now.
    ///
    /// # Errors
    /// The reason why not.
    pub fn check(&self) -> Result<(), String> {
        (self.0)()
    }
}

impl Default for Permit {
    /// Allows every write: for commands without a Lease.
    fn default() -> Self {
        Self::new(|| Ok(()))
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Permit")
    }
}

/// A write that is not permitted now, as an error of the pipeline.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{why}")]
pub(super) struct NotPermitted {
    /// The reason.
    pub(super) why: String,
}

impl NotPermitted {
    pub(super) fn into_core(self) -> azure_core::Error {
        azure_core::Error::new(azure_core::error::ErrorKind::Other, self)
    }

    pub(super) fn in_error(error: &azure_core::Error) -> Option<&Self> {
        error.get_ref()?.downcast_ref()
    }
}
