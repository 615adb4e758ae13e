//! Converts GitLab's JSON, in which any field may be missing.

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::forge::answer::{About, page, time};
use crate::forge::comment::Comment;
use crate::forge::fault::{FaultKind, ForgeFault};
use crate::forge::history::{Pushed, head_at};
use crate::forge::pull_request::{CommitId, PullRequest, PullRequestState, Text};
use crate::forge::review::{Review, Standing, Verdict};
use crate::forge::status::{Status, StatusState};
use crate::forge::user::{Permission, User, name};

/// GitLab's note on a merge request when someone approves it.
const APPROVED: &str = "approved this merge request";
/// Lowest role that may push: Developer.
const DEVELOPER: u64 = 30;
/// Lowest role that may read the code: Guest may in public projects.
const GUEST: u64 = 10;

/// An account.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Account {
    id: Option<u64>,
    username: Option<String>,
}

impl Account {
    pub(super) fn user(self) -> Option<User> {
        Some(User::new(&self.id?.to_string(), &self.username?))
    }
}

/// A merge request.
#[derive(Debug, Deserialize)]
pub(super) struct MergeRequest {
    iid: Option<u64>,
    state: Option<String>,
    title: Option<String>,
    description: Option<String>,
    web_url: Option<String>,
    author: Option<Account>,
    source_branch: Option<String>,
    target_branch: Option<String>,
    source_project_id: Option<u64>,
    target_project_id: Option<u64>,
    sha: Option<String>,
    merge_user: Option<Account>,
    merged_by: Option<Account>,
    merge_commit_sha: Option<String>,
    squash_commit_sha: Option<String>,
    merged_at: Option<String>,
    closed_at: Option<String>,
    updated_at: Option<String>,
}

impl MergeRequest {
    /// Returns whether the source branch is in another project.
    pub(super) fn is_from_fork(&self) -> bool {
        self.source_project_id.is_none() || self.source_project_id != self.target_project_id
    }

    pub(super) fn updated_at(&self) -> Option<Timestamp> {
        time(self.updated_at.as_deref())
    }

    /// Returns whether it is merged or closed.
    pub(super) fn is_ended(&self) -> bool {
        matches!(self.state.as_deref(), Some("merged" | "closed"))
    }

    pub(super) fn read(self, about: &About) -> Result<PullRequest, ForgeFault> {
        let is_from_fork = self.is_from_fork();
        let state = match self.state.as_deref() {
            // It is locked while it is being merged.
            Some("opened" | "locked") => PullRequestState::Open,
            Some("closed") => PullRequestState::Closed { at: time(self.closed_at.as_deref()) },
            Some("merged") => PullRequestState::Merged {
                // Without a merge commit, the target branch was fast-forwarded to the head.
                commit: [&self.merge_commit_sha, &self.squash_commit_sha, &self.sha]
                    .into_iter()
                    .find_map(|sha| CommitId::parse(sha.as_deref()?)),
                by: self.merge_user.or(self.merged_by).and_then(Account::user),
                at: time(self.merged_at.as_deref()),
            },
            _ => return Err(about.fault(FaultKind::Misses { field: "state" })),
        };
        Ok(PullRequest {
            number: about.required(self.iid, "iid")?,
            state,
            text: Text {
                title: about.required(self.title, "title")?,
                body: self.description.unwrap_or_default(),
            },
            source: name(&about.required(self.source_branch, "source_branch")?),
            target: name(&about.required(self.target_branch, "target_branch")?),
            head: about.commit(self.sha.as_deref(), "sha")?,
            author: self.author.and_then(Account::user),
            url: page(self.web_url),
            is_from_fork,
        })
    }
}

/// The approvals.
#[derive(Debug, Deserialize)]
pub(super) struct Approvals {
    pub(super) approved_by: Option<Vec<Approval>>,
}

/// A current approval: withdrawn ones are not listed.
#[derive(Debug, Deserialize)]
pub(super) struct Approval {
    user: Option<Account>,
    approved_at: Option<String>,
}

impl Approval {
    pub(super) const fn has_time(&self) -> bool {
        self.approved_at.is_some()
    }

    /// Returns the approval with its commit, from the notes and the versions of the merge request.
    pub(super) fn read(self, notes: &[Note], history: &[Pushed]) -> Option<Review> {
        let by = self.user?.user()?;
        let noted = || notes.iter().filter_map(|note| note.approved_at(&by)).max();
        let at = time(self.approved_at.as_deref()).or_else(noted);
        Some(Review {
            by,
            verdict: Verdict::Approved,
            commit: at.and_then(|at| head_at(history, at)).cloned(),
            at,
            standing: Standing::Current,
        })
    }
}

/// A reviewer.
#[derive(Debug, Deserialize)]
pub(super) struct Reviewer {
    user: Option<Account>,
    state: Option<String>,
}

impl Reviewer {
    /// Returns the request for changes, if it is one.
    pub(super) fn read(self) -> Option<Review> {
        let by = self.user?.user()?;
        let verdict = Verdict::ChangesRequested;
        let is_meant = self.state.as_deref() == Some("requested_changes");
        is_meant.then_some(Review { by, verdict, commit: None, at: None, standing: Standing::Current })
    }
}

/// A version: a push.
#[derive(Debug, Deserialize)]
pub(super) struct Version {
    head_commit_sha: Option<String>,
    created_at: Option<String>,
}

impl Version {
    pub(super) fn read(self) -> Option<Pushed> {
        let commit = CommitId::parse(&self.head_commit_sha?)?;
        Some(Pushed { at: time(self.created_at.as_deref())?, commit })
    }
}

/// A member of the project, or of a group with access to it.
#[derive(Debug, Deserialize)]
pub(super) struct Member {
    id: Option<u64>,
    access_level: Option<u64>,
    state: Option<String>,
}

impl Member {
    /// Returns the permission; none for a blocked member.
    pub(super) fn read(self, about: &About, meant: &User) -> Result<Permission, ForgeFault> {
        let id = about.required(self.id, "id")?.to_string();
        let is_meant = id == meant.id && self.state.is_none_or(|state| state == "active");
        Ok(match about.required(self.access_level, "access_level")? {
            _ if !is_meant => Permission::None,
            DEVELOPER.. => Permission::Write,
            GUEST.. => Permission::Read,
            _ => Permission::None,
        })
    }
}

/// A note: a comment, or a message of GitLab itself.
#[derive(Debug, Deserialize)]
pub(super) struct Note {
    id: Option<u64>,
    body: Option<String>,
    author: Option<Account>,
    system: Option<bool>,
    created_at: Option<String>,
}

impl Note {
    /// Returns when this user approved, if this is GitLab's note about it.
    fn approved_at(&self, user: &User) -> Option<Timestamp> {
        let is_said = self.system == Some(true) && self.body.as_deref() == Some(APPROVED);
        let is_theirs =
            self.author.clone().and_then(Account::user).is_some_and(|author| author.id == user.id);
        if is_said && is_theirs { time(self.created_at.as_deref()) } else { None }
    }

    pub(super) fn read(self, about: &About) -> Result<Comment, ForgeFault> {
        let id = about.required(self.id, "id")?.to_string();
        let author = self.author.and_then(Account::user).map(|user| user.id);
        Ok(Comment { id, author, text: self.body.unwrap_or_default() })
    }
}

/// A status.
#[derive(Debug, Deserialize)]
pub(super) struct Mark {
    name: Option<String>,
    status: Option<String>,
    description: Option<String>,
    target_url: Option<String>,
}

impl Mark {
    pub(super) fn is_of(&self, context: &str) -> bool {
        self.name.as_deref() == Some(context)
    }

    /// Returns the status; `None` if it has a state that we never set.
    pub(super) fn read(self) -> Option<Status> {
        let state = match self.status.as_deref()? {
            "pending" => StatusState::Pending,
            "success" => StatusState::Success,
            "failed" => StatusState::Failure,
            _ => return None,
        };
        let url = self.target_url.filter(|url| !url.is_empty());
        Some(Status { context: self.name?, state, description: self.description.unwrap_or_default(), url })
    }
}

/// Returns the JSON of a status to send.
pub(super) fn mark(status: &Status) -> Value {
    let Status { context, state, description, url } = status;
    let state = match state {
        StatusState::Pending => "pending",
        StatusState::Success => "success",
        StatusState::Failure | StatusState::Error => "failed",
    };
    let mut mark = json!({"name": context, "state": state, "description": description});
    if let Some(url) = url {
        mark["target_url"] = url.as_str().into();
    }
    mark
}
