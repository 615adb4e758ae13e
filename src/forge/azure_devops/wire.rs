//! Converts Azure DevOps' JSON, in which any field may be missing.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::HEADS;
use crate::forge::answer::{About, time};
use crate::forge::comment::Comment;
use crate::forge::fault::{FaultKind, ForgeFault};
use crate::forge::history::Pushed;
use crate::forge::pull_request::{CommitId, PullRequest, PullRequestState, Text};
use crate::forge::status::{Status, StatusState};
use crate::forge::user::{User, name};

/// An identity.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Identity {
    id: Option<String>,
    unique_name: Option<String>,
    display_name: Option<String>,
}

impl Identity {
    pub(super) fn user(self) -> Option<User> {
        Some(User::new(&self.id?, &self.unique_name.or(self.display_name)?))
    }
}

/// The signed-in user.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Connection {
    authenticated_user: Option<SignedIn>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct SignedIn {
    id: Option<String>,
    provider_display_name: Option<String>,
    properties: Option<BTreeMap<String, Value>>,
}

impl Connection {
    /// Returns the user; the account's name is a property that services lack.
    pub(super) fn user(self) -> Option<User> {
        let SignedIn { id, provider_display_name, properties } = self.authenticated_user?;
        let account = properties.as_ref().and_then(|properties| text_of(properties.get("Account")?));
        Some(User::new(&id?, account.or(provider_display_name.as_deref())?))
    }
}

/// Returns the text of a property, which is wrapped with its type.
fn text_of(property: &Value) -> Option<&str> {
    property.get("$value")?.as_str()
}

#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommitRef {
    commit_id: Option<String>,
}

impl CommitRef {
    fn id(&self) -> Option<CommitId> {
        CommitId::parse(self.commit_id.as_deref()?)
    }
}

/// A pull request. Lists truncate its description.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Pull {
    pull_request_id: Option<u64>,
    status: Option<String>,
    title: Option<String>,
    description: Option<String>,
    source_ref_name: Option<String>,
    target_ref_name: Option<String>,
    created_by: Option<Identity>,
    closed_by: Option<Identity>,
    closed_date: Option<String>,
    fork_source: Option<Value>,
    last_merge_commit: Option<CommitRef>,
    last_merge_source_commit: Option<CommitRef>,
}

impl Pull {
    /// Returns whether it is completed or abandoned.
    pub(super) fn is_ended(&self) -> bool {
        matches!(self.status.as_deref(), Some("completed" | "abandoned"))
    }

    /// Returns whether the source branch is in another repository.
    pub(super) fn is_from_fork(&self) -> bool {
        self.fork_source.as_ref().is_some_and(|source| !source.is_null())
    }

    /// Converts it; `page` returns the address of its web page.
    pub(super) fn read(
        self,
        about: &About,
        page: impl Fn(u64) -> Option<String>,
    ) -> Result<PullRequest, ForgeFault> {
        let is_from_fork = self.is_from_fork();
        let at = time(self.closed_date.as_deref());
        let state = match self.status.as_deref() {
            Some("active") => PullRequestState::Open,
            Some("abandoned") => PullRequestState::Closed { at },
            Some("completed") => PullRequestState::Merged {
                commit: self.last_merge_commit.as_ref().and_then(CommitRef::id),
                by: self.closed_by.and_then(Identity::user),
                at,
            },
            _ => return Err(about.fault(FaultKind::Misses { field: "status" })),
        };
        let number = about.required(self.pull_request_id, "pullRequestId")?;
        let branch = |name: Option<String>| name.and_then(|name| Some(name.strip_prefix(HEADS)?.to_owned()));
        Ok(PullRequest {
            number,
            state,
            text: Text {
                title: about.required(self.title, "title")?,
                body: self.description.unwrap_or_default(),
            },
            source: name(&about.required(branch(self.source_ref_name), "sourceRefName")?),
            target: name(&about.required(branch(self.target_ref_name), "targetRefName")?),
            head: about.required(
                self.last_merge_source_commit.as_ref().and_then(CommitRef::id),
                "lastMergeSourceCommit.commitId",
            )?,
            author: self.created_by.and_then(Identity::user),
            url: page(number),
            is_from_fork,
        })
    }
}

/// An iteration: a push.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Iteration {
    created_date: Option<String>,
    source_ref_commit: Option<CommitRef>,
}

impl Iteration {
    pub(super) fn read(self) -> Option<Pushed> {
        Some(Pushed { at: time(self.created_date.as_deref())?, commit: self.source_ref_commit?.id()? })
    }
}

/// A thread of comments, or a message of the system.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Thread {
    id: Option<u64>,
    published_date: Option<String>,
    is_deleted: Option<bool>,
    comments: Option<Vec<Remark>>,
    properties: Option<BTreeMap<String, Value>>,
    identities: Option<BTreeMap<String, Identity>>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Remark {
    id: Option<u64>,
    author: Option<Identity>,
    content: Option<String>,
    comment_type: Option<String>,
    is_deleted: Option<bool>,
}

impl Thread {
    pub(super) fn property(&self, property: &str) -> Option<&str> {
        text_of(self.properties.as_ref()?.get(property)?)
    }

    /// Returns the id of an identity by its key in this thread.
    pub(super) fn identity(&self, key: &str) -> Option<&str> {
        self.identities.as_ref()?.get(key)?.id.as_deref()
    }

    /// Returns whether the system wrote it on behalf of this user.
    pub(super) fn is_of_the_system_for(&self, id: &str) -> bool {
        let first = self.comments.as_ref().and_then(|comments| comments.first());
        first.is_some_and(|first| {
            let author = first.author.as_ref().and_then(|author| author.id.as_deref());
            first.comment_type.as_deref() == Some("system") && author == Some(id)
        })
    }

    pub(super) fn published_at(&self) -> Option<Timestamp> {
        time(self.published_date.as_deref())
    }

    /// Returns the first comment, unless it is deleted.
    pub(super) fn first(self) -> Option<Comment> {
        let thread = self.id.filter(|_| self.is_deleted != Some(true))?;
        let first = self.comments?.into_iter().next().filter(|first| first.is_deleted != Some(true))?;
        let author = first.author.and_then(|author| author.id);
        Some(Comment {
            id: format!("{thread}/{}", first.id?),
            author,
            text: first.content.unwrap_or_default(),
        })
    }
}

/// Splits the id from [`Thread::first`] into thread and comment.
pub(super) fn ids(comment: &str) -> [&str; 2] {
    let (thread, comment) = comment.split_once('/').unwrap_or((comment, ""));
    [thread, comment]
}

/// A status.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Mark {
    state: Option<String>,
    description: Option<String>,
    target_url: Option<String>,
    context: Option<Context>,
}

#[derive(Debug, Deserialize)]
struct Context {
    genre: Option<String>,
    name: Option<String>,
}

impl Mark {
    /// Returns the status; `None` if it has a state that we never set.
    pub(super) fn read(self) -> Option<Status> {
        let state = match self.state.as_deref()? {
            "pending" => StatusState::Pending,
            "succeeded" => StatusState::Success,
            "failed" => StatusState::Failure,
            "error" => StatusState::Error,
            _ => return None,
        };
        let Context { genre, name } = self.context?;
        let genre = genre.filter(|genre| !genre.is_empty());
        let context =
            genre.map_or_else(|| name.clone(), |genre| Some(format!("{genre}/{}", name.as_ref()?)))?;
        let url = self.target_url.filter(|url| !url.is_empty());
        Some(Status { context, state, description: self.description.unwrap_or_default(), url })
    }
}

/// Returns the JSON of a status to send.
pub(super) fn mark(status: &Status) -> Value {
    let Status { context, state, description, url } = status;
    let state = match state {
        StatusState::Pending => "pending",
        StatusState::Success => "succeeded",
        StatusState::Failure => "failed",
        StatusState::Error => "error",
    };
    let context = match context.rsplit_once('/') {
        Some((genre, name)) => json!({"genre": genre, "name": name}),
        None => json!({"name": context}),
    };
    let mut mark = json!({"state": state, "description": description, "context": context});
    if let Some(url) = url {
        mark["targetUrl"] = url.as_str().into();
    }
    mark
}
