//! Why a change of an approved plan is not begun.

use std::sync::Arc;

/// Why a change of an approved plan is not begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// A reviewer struck it; why, where no line of its own was struck.
    Struck(Option<Arc<str>>),
    /// It was taken out of the plan, or another change failed that it needs.
    Withheld(Arc<str>),
    /// Nothing asks for it any more.
    NoLongerNeeded(Arc<str>),
    /// What it was approved on is not so any more.
    NoLongerHolds(Arc<str>),
    /// It may be begun later, while the plan is good: a freeze, a budget, a PodDisruptionBudget or a pod that nobody
    /// reviewed keeps it.
    Waits(Arc<str>),
}
