//! How far a change has come, as it stands on its NodeClaim: what a rollout that starts anew goes on from.
//!
//! The annotations are text of others' reach: what is not readable is taken for the beginning, which is safe, since
//! names and `If-None-Match` keep a VM from being made twice.

use std::fmt;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::plan::ChangeId;
use crate::world::seen::SeenClaim;

/// The annotation that says how far a launch has come.
pub const LAUNCH: &str = "nodeform.dev/launch";

/// The annotation that says which plan removes the node, and since when.
pub const REMOVAL: &str = crate::model::label::REMOVAL;

/// Our code where a VM did not join in time.
pub const NOT_JOINED: &str = "NotJoined";

/// How far a launch has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Launching {
    /// Which VM is tried, from 1: each has a name of its own.
    pub attempt: u32,
    /// Which choice is tried; as many as there are means that none is left.
    pub choice: usize,
    /// Whether the extension for billing was put on the VM of this attempt, or was refused for as long as it is tried.
    #[serde(default)]
    pub billed: bool,
    /// Why the choices before were given up, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<GivenUp>,
}

/// Why a choice was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GivenUp {
    /// The choice.
    pub choice: usize,
    /// Azure's code, or ours.
    pub code: Arc<str>,
    /// What Azure refused, in a few words: a code alone may say one thing of many.
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
        // Numbers and texts: it always has a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the next attempt of another choice, after one that failed with a code, in these words where there are any.
    #[must_use]
    pub fn after(&self, (code, what): (&str, Option<&str>), choice: usize) -> Self {
        let mut failed = self.failed.clone();
        failed.push(GivenUp { choice: self.choice, code: code.into(), what: what.map(Into::into) });
        Self { attempt: self.attempt + 1, choice, billed: false, failed }
    }

    /// Returns the choices whose VMs came and did not join, each with the number of its attempt.
    pub fn silent(&self) -> impl Iterator<Item = (u32, usize)> {
        let attempts = (1..).zip(&self.failed);
        attempts
            .filter(|(_, given_up)| &*given_up.code == NOT_JOINED)
            .map(|(attempt, given_up)| (attempt, given_up.choice))
    }
}

/// Which change removes a node, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removing {
    /// The plan's id.
    pub plan: Arc<str>,
    /// The change.
    pub change: ChangeId,
    /// Since when.
    pub since: Timestamp,
    /// Whether it carried no pods of workloads by then. A mark that does not say counts as one of a node that did.
    pub is_empty: bool,
}

/// What the mark of an empty node ends in.
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
    /// Writes it as the annotation has it: `PLAN/CHANGE/TIME`, and `/empty` where it is.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}/{}", self.plan, self.change, self.since)?;
        if self.is_empty { write!(formatter, "/{EMPTY}") } else { Ok(()) }
    }
}
