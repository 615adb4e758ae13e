//! A person whose approval of a plan counted, and the record of that approval.

use std::fmt;

/// A person whose approval counted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Approver {
    /// Name of the person in the forge or the cluster.
    pub by: String,
    /// Record of the approval: the pull request with the approved commit, or the NodePlanApproval.
    pub record: String,
}

impl fmt::Display for Approver {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.by, self.record)
    }
}
