//! GitHub's JSON, of which anything may be missing, to values.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::forge::answer::{About, page, time};
use crate::forge::comment::Comment;
use crate::forge::fault::{FaultKind, ForgeFault};
use crate::forge::pull_request::{CommitId, PullRequest, PullRequestState, Text};
use crate::forge::review::{Review, Standing, Verdict};
use crate::forge::status::{Status, StatusState};
use crate::forge::user::{Permission, User, name};

/// How names of Apps end, and no other.
pub(super) const APP_SUFFIX: &str = "[bot]";

/// An account; null once it is deleted.
#[derive(Debug, Deserialize)]
pub(super) struct Account {
    id: Option<u64>,
    login: Option<String>,
}

impl Account {
    /// The user. An App does not know the number of its own account, only its name, which no person can have.
    pub(super) fn user(self) -> Option<User> {
        let (id, login) = (self.id?, self.login?);
        let is_app = login.ends_with(APP_SUFFIX);
        Some(if is_app { app(&login) } else { User::new(&id.to_string(), &login) })
    }
}

/// The user that an App acts as, by the name of its account.
pub(super) fn app(login: &str) -> User {
    User::new(login, login)
}

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

/// What a user may do: roles of their own are told as the nearest of these.
#[derive(Debug, Deserialize)]
pub(super) struct Access {
    permission: Option<String>,
    user: Option<Account>,
}

impl Access {
    /// Returns the permission, if it is of the account that was meant: names pass to others.
    pub(super) fn read(self, about: &About, meant: &User) -> Result<Permission, ForgeFault> {
        let permission = about.required(self.permission, "permission")?;
        let is_meant = self.user.and_then(Account::user).is_some_and(|user| user.id == meant.id);
        Ok(match &*permission {
            _ if !is_meant => Permission::None,
            "admin" | "write" => Permission::Write,
            "read" => Permission::Read,
            "none" => Permission::None,
            _ => Permission::Unknown,
        })
    }
}

/// A comment.
#[derive(Debug, Deserialize)]
pub(super) struct Remark {
    id: Option<u64>,
    body: Option<String>,
    user: Option<Account>,
}

impl Remark {
    pub(super) fn read(self, about: &About) -> Result<Comment, ForgeFault> {
        let id = about.required(self.id, "id")?.to_string();
        let author = self.user.and_then(Account::user).map(|user| user.id);
        Ok(Comment { id, author, text: self.body.unwrap_or_default() })
    }
}

/// A status.
#[derive(Debug, Deserialize)]
pub(super) struct Mark {
    context: Option<String>,
    state: Option<String>,
    description: Option<String>,
    target_url: Option<String>,
}

impl Mark {
    pub(super) fn is_of(&self, context: &str) -> bool {
        self.context.as_deref() == Some(context)
    }

    /// The status; none where it is of a state that we never set.
    pub(super) fn read(self) -> Option<Status> {
        let state = match self.state.as_deref()? {
            "pending" => StatusState::Pending,
            "success" => StatusState::Success,
            "failure" => StatusState::Failure,
            "error" => StatusState::Error,
            _ => return None,
        };
        let url = self.target_url.filter(|url| !url.is_empty());
        Some(Status { context: self.context?, state, description: self.description.unwrap_or_default(), url })
    }
}

/// A status as it is sent.
pub(super) fn mark(status: &Status) -> Value {
    let Status { context, state, description, url } = status;
    let state = match state {
        StatusState::Pending => "pending",
        StatusState::Success => "success",
        StatusState::Failure => "failure",
        StatusState::Error => "error",
    };
    json!({"context": context, "state": state, "description": description, "target_url": url})
}
