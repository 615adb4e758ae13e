//! Faults of the GitOps workflow, with the next step.

use std::fmt;

use jiff::Timestamp;

use crate::forge::ForgeFault;
use crate::git::remote::RemoteFault;

/// Reason why a step of the workflow failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitOpsFault {
    /// What happened, one entry for each fault.
    pub faults: Vec<String>,
    /// What to do next.
    pub hints: Vec<String>,
    /// Whether the plan or the branch is not in the required state; otherwise, the machine or a server refused.
    pub is_stale: bool,
    /// Until when a forge asked for no further requests.
    pub until: Option<Timestamp>,
}

impl GitOpsFault {
    /// Returns one fault.
    #[must_use]
    pub fn of(what: impl Into<String>) -> Self {
        Self { faults: vec![what.into()], ..Self::default() }
    }

    /// Returns one fault of a plan or a branch that is not in the required state.
    #[must_use]
    pub fn stale(what: impl Into<String>) -> Self {
        Self { is_stale: true, ..Self::of(what) }
    }

    /// Returns the faults with the next steps, in one line.
    #[must_use]
    pub fn told(&self) -> String {
        let told: Vec<&str> = self.faults.iter().chain(&self.hints).map(String::as_str).collect();
        told.join("; ")
    }

    /// Adds the next step.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a fault with its next step.
    #[must_use]
    pub fn and(mut self, what: &str, hint: Option<&str>) -> Self {
        self.faults.push(what.to_owned());
        let hint = hint.map(str::to_owned).filter(|hint| !self.hints.contains(hint));
        self.hints.extend(hint);
        self
    }
}

impl From<ForgeFault> for GitOpsFault {
    fn from(fault: ForgeFault) -> Self {
        let until = fault.wait_until();
        Self { until, ..Self::default().and(&fault.to_string(), Some(fault.hint())) }
    }
}

impl From<RemoteFault> for GitOpsFault {
    fn from(fault: RemoteFault) -> Self {
        Self::default().and(&fault.to_string(), fault.hint())
    }
}

impl fmt::Display for GitOpsFault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.faults.join("; "))
    }
}
