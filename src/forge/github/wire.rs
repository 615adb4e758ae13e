//! GitHub's JSON, of which anything may be missing, to values.

use jiff::Timestamp;
use serde::Deserialize;

use crate::forge::alike::Account;
use crate::forge::answer::{About, page, time};
use crate::forge::fault::{FaultKind, ForgeFault};
use crate::forge::pull_request::{CommitId, PullRequest, PullRequestState, Text};
use crate::forge::review::{Review, Standing, Verdict};
use crate::forge::user::name;

/// A pull request, whole or as a list has it: there `merged` and `merged_by` are missing.
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

/// One side of a pull request. The repository is null once it is deleted, which only a fork can be.
#[derive(Debug, Deserialize)]
struct Side {
    #[serde(rename = "ref")]
    branch: Option<String>,
    sha: Option<String>,
    repo: Option<Repository>,
}

#[derive(Debug, Deserialize)]
struct Repository {
    id: Option<u64>,
}

impl Side {
    fn repository(&self) -> Option<u64> {
        self.repo.as_ref()?.id
    }
}

impl Pull {
    pub(super) fn updated_at(&self) -> Option<Timestamp> {
        time(self.updated_at.as_deref())
    }

    /// Returns whether the source branch lies in another repository, or nobody knows where.
    pub(super) fn is_from_fork(&self) -> bool {
        let repository = |side: &Option<Side>| side.as_ref().and_then(Side::repository);
        let head = repository(&self.head);
        head.is_none() || head != repository(&self.base)
    }

    pub(super) fn read(self, about: &About) -> Result<PullRequest, ForgeFault> {
        let is_from_fork = self.is_from_fork();
        // Lists have the time alone.
        let is_merged = self.merged.unwrap_or(false) || self.merged_at.is_some();
        let closed_at = time(self.closed_at.as_deref());
        let state = match self.state.as_deref() {
            Some("open") => PullRequestState::Open,
            Some("closed") if is_merged => PullRequestState::Merged {
                commit: self.merge_commit_sha.as_deref().and_then(CommitId::parse),
                by: self.merged_by.and_then(Account::user),
                at: time(self.merged_at.as_deref()).or(closed_at),
            },
            Some("closed") => PullRequestState::Closed { at: closed_at },
            _ => return Err(about.fault(FaultKind::Misses { field: "state" })),
        };
        let head = about.required(self.head, "head")?;
        let base = about.required(self.base, "base")?;
        Ok(PullRequest {
            number: about.required(self.number, "number")?,
            state,
            text: Text { title: about.required(self.title, "title")?, body: self.body.unwrap_or_default() },
            source: name(&about.required(head.branch, "head.ref")?),
            target: name(&about.required(base.branch, "base.ref")?),
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
}

impl Decision {
    /// The decision; none where the review decides nothing, or by an account that is deleted. Of a dismissed review GitHub no
    /// longer says what it decided: it is told as an approval that does not count.
    pub(super) fn read(self) -> Option<Review> {
        let (verdict, standing) = match self.state.as_deref()? {
            "APPROVED" => (Verdict::Approved, Standing::Current),
            "CHANGES_REQUESTED" => (Verdict::ChangesRequested, Standing::Current),
            "DISMISSED" => (Verdict::Approved, Standing::Dismissed),
            _ => return None,
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
