//! Converts GitHub's JSON, in which any field may be missing.

use serde::Deserialize;

use crate::forge::alike::{self, Account};
use crate::forge::answer::time;
use crate::forge::pull_request::CommitId;
use crate::forge::review::{Review, Standing, Verdict};

/// The head or base of a pull request. The repository is null once it is deleted, which is only possible for a fork.
#[derive(Debug, Deserialize)]
pub(in crate::forge) struct Side {
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

impl alike::Side for Side {
    const BRANCH_FIELDS: [&'static str; 2] = ["head.ref", "base.ref"];

    fn branch(&self) -> Option<&str> {
        self.branch.as_deref()
    }

    fn commit(&self) -> Option<&str> {
        self.sha.as_deref()
    }

    fn is_beside(&self, other: &Self) -> bool {
        self.repository().is_some() && self.repository() == other.repository()
    }
}

/// A review.
#[derive(Debug, Deserialize)]
pub(in crate::forge) struct Decision {
    user: Option<Account>,
    state: Option<String>,
    commit_id: Option<String>,
    submitted_at: Option<String>,
}

impl Decision {
    /// Returns the decision; `None` if the review has none, or its account is deleted. GitHub does not report the
    /// decision of a dismissed review: it is returned as an approval that does not count.
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
