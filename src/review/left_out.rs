//! Why a change of an approved plan is not started.

use std::sync::Arc;

/// Why a change of an approved plan is not started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// A reviewer struck it, with a reason if its own line was not struck.
    Struck(Option<Arc<str>>),
    /// It was withheld, or a change that it needs failed.
    Withheld(Arc<str>),
    /// It is no longer needed.
    NoLongerNeeded(Arc<str>),
    /// The facts on which it was approved have changed.
    NoLongerHolds(Arc<str>),
    /// It may start later while the plan is valid: a freeze, a budget, a PodDisruptionBudget or a pod that came after
    /// the review blocks it.
    Waits(Arc<str>),
}
