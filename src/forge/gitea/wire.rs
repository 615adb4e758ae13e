//! Converts Gitea's JSON, in which any field may be missing.

use serde::Deserialize;

use super::Gitea;
use crate::forge::alike::{self, Account, Pull};
use crate::forge::answer::time;
use crate::forge::pull_request::{Branches, CommitId};
use crate::forge::review::{Review, Standing, Verdict};

/// The head or base of a pull request. `ref` refers to the pull request itself once the branch is deleted; `label`
/// keeps its name.
#[derive(Debug, Deserialize)]
pub(in crate::forge) struct Side {
    label: Option<String>,
    sha: Option<String>,
    repo_id: Option<i64>,
}

impl alike::Side for Side {
    const BRANCH_FIELDS: [&'static str; 2] = ["head.label", "base.label"];

    fn branch(&self) -> Option<&str> {
        self.label.as_deref()
    }

    fn commit(&self) -> Option<&str> {
        self.sha.as_deref()
    }

    fn is_beside(&self, other: &Self) -> bool {
        self.repo_id.is_some() && self.repo_id == other.repo_id
    }
}

/// Returns whether a pull request is from one branch to another, both of the repository.
pub(super) fn is_of(pull: &Pull<Gitea>, branches: &Branches) -> bool {
    let Some([head, base]) = pull.sides() else { return false };
    let is = |side: &Side, name: &str| side.label.as_deref() == Some(name);
    let Branches { source, target } = branches;
    is(head, source.as_str()) && is(base, target.as_str()) && head.repo_id == base.repo_id
}

/// A review.
#[derive(Debug, Deserialize)]
pub(in crate::forge) struct Decision {
    user: Option<Account>,
    state: Option<String>,
    commit_id: Option<String>,
    submitted_at: Option<String>,
    dismissed: Option<bool>,
    stale: Option<bool>,
    official: Option<bool>,
}

impl Decision {
    /// Returns the decision; `None` if the review has none, or its account is deleted.
    pub(super) fn read(self) -> Option<Review> {
        let verdict = match self.state.as_deref()? {
            "APPROVED" => Verdict::Approved,
            "REQUEST_CHANGES" => Verdict::ChangesRequested,
            _ => return None,
        };
        // A missing flag counts against the approval.
        let standing = match (self.dismissed, self.official, self.stale) {
            (Some(false), Some(true), Some(false)) => Standing::Current,
            (Some(false), Some(true), _) => Standing::Stale,
            (Some(false), Some(false) | None, _) => Standing::Unofficial,
            (Some(true) | None, ..) => Standing::Dismissed,
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
