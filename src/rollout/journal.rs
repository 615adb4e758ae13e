//! The progress of a change, stored on its NodeClaim: a new process resumes the rollout from it.
//!
//! Anyone can edit the annotations: unreadable content is treated as the beginning, which is safe because names and
//! `If-None-Match` prevent a VM from being created twice.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::plan::ChangeId;
use crate::world::seen::SeenClaim;

/// Annotation with the progress of a launch.
pub const LAUNCH: &str = "nodeform.dev/launch";

/// Annotation with the plan that removes the node, and since when.
pub const REMOVAL: &str = crate::model::label::REMOVAL;

/// Code if a VM did not join in time.
pub const NOT_JOINED: &str = "NotJoined";

/// The progress of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Launching {
    /// Number of the current attempt, from 1; each has its own VM name.
    pub attempt: u32,
    /// Index of the current choice; the number of choices means that none is left.
    pub choice: usize,
    /// Whether this attempt's VM has the billing extension, or adding it was refused until given up.
    #[serde(default)]
    pub billed: bool,
    /// Why earlier choices were given up, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<GivenUp>,
}

/// Why a choice was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenUp {
    /// The choice.
    pub choice: usize,
    /// Azure's code, or nodeform's.
    pub code: Arc<str>,
    /// Short description of Azure's refusal: a code alone may be ambiguous.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<Arc<str>>,
}

impl fmt::Display for GivenUp {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.what {
            Some(what) => write!(formatter, "{what} ({})", self.code),
            None => formatter.write_str(&self.code),
        }
    }
}

impl Default for Launching {
    fn default() -> Self {
        Self { attempt: 1, choice: 0, billed: false, failed: Vec::new() }
    }
}

impl Launching {
    /// Reads it from a claim.
    #[must_use]
    pub fn of(claim: &SeenClaim) -> Self {
        let text = claim.annotations.get(LAUNCH);
        text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// Returns the annotation's text.
    #[must_use]
    pub fn text(&self) -> String {
        // It only contains numbers, booleans and strings, so serialization does not fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the next attempt with another choice, after one that failed with a code and an optional description.
    #[must_use]
    pub fn after(&self, (code, what): (&str, Option<&str>), choice: usize) -> Self {
        let mut failed = self.failed.clone();
        failed.push(GivenUp { choice: self.choice, code: code.into(), what: what.map(Into::into) });
        Self { attempt: self.attempt + 1, choice, billed: false, failed }
    }

    /// Returns the choices whose VMs started but did not join, each with its attempt number.
    pub fn silent(&self) -> impl Iterator<Item = (u32, usize)> {
        let attempts = (1..).zip(&self.failed);
        attempts
            .filter(|(_, given_up)| &*given_up.code == NOT_JOINED)
            .map(|(attempt, given_up)| (attempt, given_up.choice))
    }
}

/// The change that removes a node, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removing {
    /// The plan's id.
    pub plan: Arc<str>,
    /// The change.
    pub change: ChangeId,
    /// Start of the removal.
    pub since: Timestamp,
    /// Whether it had no workload pods at that time. A mark without this information counts as non-empty.
    pub is_empty: bool,
}

/// Suffix of an empty node's mark.
const EMPTY: &str = "empty";

impl Removing {
    /// Reads it from a claim.
    #[must_use]
    pub fn of(claim: &SeenClaim) -> Option<Self> {
        let mut parts = claim.annotations.get(REMOVAL)?.split('/');
        let (plan, change, since) = (parts.next()?, parts.next()?, parts.next()?);
        let is_empty = parts.next() == Some(EMPTY);
        Some(Self {
            plan: plan.into(),
            change: ChangeId(change.into()),
            since: since.parse().ok()?,
            is_empty,
        })
    }
}

impl fmt::Display for Removing {
    /// Writes the annotation's format: `PLAN/CHANGE/TIME`, with `/empty` appended for an empty node.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{}", self.plan, self.change, self.since)?;
        if self.is_empty { write!(formatter, "/{EMPTY}") } else { Ok(()) }
    }
}
