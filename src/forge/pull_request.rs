//! The common model of a pull request; GitLab calls it a merge request.

use std::fmt;

use jiff::Timestamp;

use super::user::User;
use crate::git::remote::Branch;

/// A commit id: 40 or 64 hexadecimal digits, in lowercase.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CommitId(String);

impl CommitId {
    /// Parses an id; `None` for anything else, including abbreviations.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit());
        (is_hex && matches!(text.len(), 40 | 64)).then(|| Self(text.to_ascii_lowercase()))
    }

    /// Returns the digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// Source and target branch, both of the same repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branches {
    /// The branch with the change.
    pub source: Branch,
    /// The branch that it is merged into.
    pub target: Branch,
}

/// The texts of a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The title, in one line.
    pub title: String,
    /// The description, in Markdown.
    pub body: String,
}

/// A pull request as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// The number within the repository.
    pub number: u64,
    /// Whether it is open, or how it ended.
    pub state: PullRequestState,
    /// The title and the description, which anyone with permission may have written: do not display them unchanged.
    pub text: Text,
    /// The name of the source branch.
    pub source: String,
    /// The name of the target branch.
    pub target: String,
    /// The newest commit of the source branch.
    pub head: CommitId,
    /// Its author; `None` once the account is deleted.
    pub author: Option<User>,
    /// Its web page, if the forge provides a valid address.
    pub url: Option<String>,
    /// Whether the source branch is in another repository, where anyone can choose its name.
    pub is_from_fork: bool,
}

impl PullRequest {
    /// Returns whether it is open.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        matches!(self.state, PullRequestState::Open)
    }
}

/// Whether a pull request is open, or how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PullRequestState {
    /// It can be merged or closed.
    Open,
    /// It was merged into the target branch.
    Merged {
        /// The commit of the target branch with the change.
        commit: Option<CommitId>,
        /// The user who merged it; `None` in lists of GitHub and for a deleted account.
        by: Option<User>,
        /// Time of the merge.
        at: Option<Timestamp>,
    },
    /// It was closed without merging.
    Closed {
        /// Time of closing.
        at: Option<Timestamp>,
    },
}

impl PullRequestState {
    /// Returns when it ended; `None` while it is open, or if the forge does not report it.
    #[must_use]
    pub const fn ended_at(&self) -> Option<Timestamp> {
        match self {
            Self::Open => None,
            Self::Merged { at, .. } | Self::Closed { at } => *at,
        }
    }
}

/// Which pull requests to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sought {
    /// Open ones.
    Open,
    /// Merged and closed ones.
    Ended,
}

/// Result of [`super::Forge::open`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opened {
    /// It was opened now.
    New(PullRequest),
    /// It was already open. Its text is unchanged.
    Found(PullRequest),
}

impl Opened {
    /// Returns the pull request.
    #[must_use]
    pub fn into_pull_request(self) -> PullRequest {
        match self {
            Self::New(pull_request) | Self::Found(pull_request) => pull_request,
        }
    }
}

/// Whether anything had to be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// It differed, and was written.
    Written,
    /// It was already the same.
    Unchanged,
}
