//! Gitea's JSON, of which anything may be missing, to values.

use jiff::Timestamp;
use serde::Deserialize;

use crate::forge::alike::Account;
use crate::forge::answer::{About, page, time};
use crate::forge::fault::{FaultKind, ForgeFault};
use crate::forge::pull_request::{CommitId, PullRequest, PullRequestState, Text};
use crate::forge::review::{Review, Standing, Verdict};
use crate::forge::user::name;

/// A pull request.
#[derive(Debug, Deserialize)]
pub(super) struct Pull {
    number: Option<u64>,
    state: Option<String>,
    title: Option<String>,
    body: Option<String>,
    html_url: Option<String>,
    user: Option<Account>,
    head: Option<Side>,
    base: Option<Side>,
    merged: Option<bool>,
    merged_at: Option<String>,
    merged_by: Option<Account>,
    merge_commit_sha: Option<String>,
    closed_at: Option<String>,
    updated_at: Option<String>,
}

/// One side of a pull request. `ref` leads to the pull request itself once the branch is gone; `label` keeps its name.
#[derive(Debug, Deserialize)]
struct Side {
    label: Option<String>,
    sha: Option<String>,
    repo_id: Option<i64>,
}

impl Pull {
    /// Returns whether the source branch lies in another repository.
    pub(super) fn is_from_fork(&self) -> bool {
        let repository = |side: &Option<Side>| side.as_ref().and_then(|side| side.repo_id);
        let head = repository(&self.head);
        head.is_none() || head != repository(&self.base)
    }

    pub(super) fn updated_at(&self) -> Option<Timestamp> {
        time(self.updated_at.as_deref())
    }

    /// Returns whether it leads from one branch to another, both of the repository.
    pub(super) fn is_of(&self, source: &str, target: &str) -> bool {
        let (Some(head), Some(base)) = (&self.head, &self.base) else { return false };
        let is = |side: &Side, name: &str| side.label.as_deref() == Some(name);
        is(head, source) && is(base, target) && head.repo_id == base.repo_id
    }

    pub(super) fn read(self, about: &About) -> Result<PullRequest, ForgeFault> {
        let is_from_fork = self.is_from_fork();
        let at = time(self.closed_at.as_deref());
        let state = match (self.state.as_deref(), self.merged) {
            (Some("open"), _) => PullRequestState::Open,
            (Some("closed"), Some(true)) => PullRequestState::Merged {
                commit: self.merge_commit_sha.as_deref().and_then(CommitId::parse),
                by: self.merged_by.and_then(Account::user),
                at: time(self.merged_at.as_deref()).or(at),
            },
            (Some("closed"), Some(false)) => PullRequestState::Closed { at },
            _ => return Err(about.fault(FaultKind::Misses { field: "state" })),
        };
        let head = about.required(self.head, "head")?;
        let base = about.required(self.base, "base")?;
        Ok(PullRequest {
            number: about.required(self.number, "number")?,
            state,
            text: Text { title: about.required(self.title, "title")?, body: self.body.unwrap_or_default() },
            source: name(&about.required(head.label, "head.label")?),
            target: name(&about.required(base.label, "base.label")?),
            head: about.commit(head.sha.as_deref(), "head.sha")?,
            author: self.user.and_then(Account::user),
            url: page(self.html_url),
            is_from_fork,
        })
    }
}

/// A review.
#[derive(Debug, Deserialize)]
pub(super) struct Decision {
    user: Option<Account>,
    state: Option<String>,
    commit_id: Option<String>,
    submitted_at: Option<String>,
    dismissed: Option<bool>,
    stale: Option<bool>,
}

impl Decision {
    /// The decision; none where the review decides nothing, or by an account that is deleted.
    pub(super) fn read(self) -> Option<Review> {
        let verdict = match self.state.as_deref()? {
            "APPROVED" => Verdict::Approved,
            "REQUEST_CHANGES" => Verdict::ChangesRequested,
            _ => return None,
        };
        // A flag that is missing speaks against the approval.
        let standing = match (self.dismissed, self.stale) {
            (Some(false), Some(false)) => Standing::Current,
            (Some(false), _) => Standing::Stale,
            (Some(true) | None, _) => Standing::Dismissed,
        };
        Some(Review {
            by: self.user?.user()?,
            verdict,
            commit: self.commit_id.as_deref().and_then(CommitId::parse),
            at: time(self.submitted_at.as_deref()),
            standing,
        })
    }
}
