//! Converts the JSON of a pull request, in which any field may be missing.

use std::fmt;

use jiff::Timestamp;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::Own;
use super::wire::Account;
use crate::forge::answer::{About, page, time};
use crate::forge::fault::{FaultKind, ForgeFault};
use crate::forge::pull_request::{CommitId, PullRequest, PullRequestState, Text};
use crate::forge::user::name;

/// A pull request, complete or from a list: GitHub's lists have neither `merged` nor `merged_by`.
#[derive(Debug, Deserialize)]
#[serde(bound = "")]
pub(in crate::forge) struct Pull<O: Own> {
    number: Option<u64>,
    state: Option<String>,
    title: Option<String>,
    body: Option<String>,
    html_url: Option<String>,
    user: Option<Account>,
    head: Option<O::Side>,
    base: Option<O::Side>,
    merged: Option<bool>,
    merged_at: Option<String>,
    merged_by: Option<Account>,
    merge_commit_sha: Option<String>,
    closed_at: Option<String>,
    updated_at: Option<String>,
}

/// The head or base of a pull request.
pub(in crate::forge) trait Side: fmt::Debug + DeserializeOwned + Send {
    /// The fields with the branch names of head and base, for errors.
    const BRANCH_FIELDS: [&'static str; 2];

    /// Returns the name of the branch.
    fn branch(&self) -> Option<&str>;

    /// Returns the newest commit of the branch.
    fn commit(&self) -> Option<&str>;

    /// Returns whether both are known to be in the same repository.
    fn is_beside(&self, other: &Self) -> bool;
}

impl<O: Own> Pull<O> {
    /// Returns when it was last updated.
    pub(super) fn updated_at(&self) -> Option<Timestamp> {
        time(self.updated_at.as_deref())
    }

    /// Returns the head and the base.
    pub(in crate::forge) fn sides(&self) -> Option<[&O::Side; 2]> {
        Some([self.head.as_ref()?, self.base.as_ref()?])
    }

    /// Returns whether the source branch is in another or an unknown repository.
    pub(in crate::forge) fn is_from_fork(&self) -> bool {
        !self.sides().is_some_and(|[head, base]| head.is_beside(base))
    }

    /// Converts it.
    ///
    /// # Errors
    /// A required field is missing.
    pub(super) fn read(self, about: &About) -> Result<PullRequest, ForgeFault> {
        let is_from_fork = self.is_from_fork();
        let closed_at = time(self.closed_at.as_deref());
        let is_merged = O::is_merged(self.merged, self.merged_at.as_deref());
        let state = match (self.state.as_deref(), is_merged) {
            (Some("open"), _) => PullRequestState::Open,
            (Some("closed"), Some(true)) => PullRequestState::Merged {
                commit: self.merge_commit_sha.as_deref().and_then(CommitId::parse),
                by: self.merged_by.and_then(Account::user),
                at: time(self.merged_at.as_deref()).or(closed_at),
            },
            (Some("closed"), Some(false)) => PullRequestState::Closed { at: closed_at },
            _ => return Err(about.fault(FaultKind::Misses { field: "state" })),
        };
        let head = about.required(self.head, "head")?;
        let base = about.required(self.base, "base")?;
        let [source_field, target_field] = O::Side::BRANCH_FIELDS;
        Ok(PullRequest {
            number: about.required(self.number, "number")?,
            state,
            text: Text { title: about.required(self.title, "title")?, body: self.body.unwrap_or_default() },
            source: name(about.required(head.branch(), source_field)?),
            target: name(about.required(base.branch(), target_field)?),
            head: about.commit(head.commit(), "head.sha")?,
            author: self.user.and_then(Account::user),
            url: page(self.html_url),
            is_from_fork,
        })
    }
}
