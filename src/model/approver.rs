//! Somebody whose approval of a plan counted, and what it rests on.

use std::fmt;

/// Somebody whose approval counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Approver {
    /// Who, as the forge or the cluster names them.
    pub by: String,
    /// What says so: the pull request with the commit that was approved, or the NodePlanApproval.
    pub record: String,
}

impl fmt::Display for Approver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.by, self.record)
    }
}
