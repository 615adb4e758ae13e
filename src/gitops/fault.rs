//! Why a step of the way through Git is not taken, with what to do next.

use std::fmt;

use jiff::Timestamp;

use crate::forge::ForgeFault;
use crate::git::remote::RemoteFault;

/// Why a step is not taken.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitOpsFault {
    /// What happened, one entry for each fault.
    pub faults: Vec<String>,
    /// What to do next.
    pub hints: Vec<String>,
    /// Whether the plan or the branch is not what it has to be; else the machine or a server refused.
    pub is_stale: bool,
    /// Until when a forge asked not to be asked again.
    pub until: Option<Timestamp>,
}

impl GitOpsFault {
    /// One fault.
    #[must_use]
    pub fn of(what: impl Into<String>) -> Self {
        Self { faults: vec![what.into()], ..Self::default() }
    }

    /// One fault of a plan or a branch that is not what it has to be.
    #[must_use]
    pub fn stale(what: impl Into<String>) -> Self {
        Self { is_stale: true, ..Self::of(what) }
    }

    /// Says it in one line, with what to do next.
    #[must_use]
    pub fn told(&self) -> String {
        let told: Vec<&str> = self.faults.iter().chain(&self.hints).map(String::as_str).collect();
        told.join("; ")
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Adds a fault, and what to do about it.
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
