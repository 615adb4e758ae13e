//! Requests of one forge's client. The rules shared by all forges are in `upkeep`.

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;
use serde_json::Value;

use super::comment::Comment;
use super::fault::{FaultKind, ForgeFault};
use super::kind::TextLimits;
use super::pull_request::{Branches, CommitId, PullRequest, Sought, Text};
use super::review::Review;
use super::status::Status;
use super::user::{Permission, User};

/// Changes of a pull request; `None` leaves a text unchanged.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change<'a> {
    /// Changes its texts.
    Text { title: Option<&'a str>, body: Option<&'a str> },
    /// Closes it without merging.
    Close,
}

impl Change<'_> {
    /// Returns the verb for errors.
    pub(super) const fn verb(&self) -> &'static str {
        match self {
            Self::Text { .. } => "edit",
            Self::Close => "close",
        }
    }

    /// Returns an object with the changed texts, under the forge's names for title and description.
    pub(super) fn fields(&self, title_name: &str, body_name: &str) -> Value {
        let (title, body) = match *self {
            Self::Text { title, body } => (title, body),
            Self::Close => (None, None),
        };
        let named = [(title_name, title), (body_name, body)];
        let fields = named.into_iter().filter_map(|(name, text)| Some((name.to_owned(), Value::from(text?))));
        Value::Object(fields.collect())
    }
}

/// The requests of one forge. Each method sends as few requests as it needs, and never repeats one.
#[async_trait]
pub(super) trait Api: fmt::Debug + Send + Sync {
    /// Returns the maximum lengths of texts.
    fn limits(&self) -> TextLimits;

    /// Returns an error about a request that was not sent.
    fn fault(&self, deed: String, kind: FaultKind) -> ForgeFault;

    /// Reads the token's user.
    async fn user(&self) -> Result<User, ForgeFault>;

    /// Reads one pull request.
    async fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeFault>;

    /// Lists pull requests of these branches, possibly with others: all open ones, or at least the newest ended one.
    async fn of_branches(&self, branches: &Branches, sought: Sought) -> Result<Vec<PullRequest>, ForgeFault>;

    /// Lists all open pull requests.
    async fn open_ones(&self) -> Result<Vec<PullRequest>, ForgeFault>;

    /// Lists pull requests that ended since this time, possibly with earlier ones.
    async fn ended_since(&self, since: Timestamp) -> Result<Vec<PullRequest>, ForgeFault>;

    /// Opens a pull request. Fails as a conflict or an invalid request if one of these branches is open.
    async fn create(&self, branches: &Branches, text: &Text) -> Result<PullRequest, ForgeFault>;

    /// Changes a pull request.
    async fn change(&self, number: u64, change: Change<'_>) -> Result<(), ForgeFault>;

    /// Lists people's decisions in chronological order, possibly with earlier ones of the same person.
    async fn reviews(&self, number: u64) -> Result<Vec<Review>, ForgeFault>;

    /// Reads a user's permission.
    async fn permission(&self, user: &User) -> Result<Permission, ForgeFault>;

    /// Lists the comments of a pull request, oldest first.
    async fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeFault>;

    /// Adds a comment.
    async fn create_comment(&self, number: u64, text: &str) -> Result<(), ForgeFault>;

    /// Changes a comment of the pull request.
    async fn edit_comment(&self, number: u64, comment: &str, text: &str) -> Result<(), ForgeFault>;

    /// Returns a status as the forge would store it.
    fn as_kept(&self, status: &Status) -> Status {
        status.fitted(self.limits().status_description)
    }

    /// Reads the newest status of this name.
    async fn status(&self, commit: &CommitId, context: &str) -> Result<Option<Status>, ForgeFault>;

    /// Adds a status.
    async fn create_status(&self, commit: &CommitId, status: &Status) -> Result<(), ForgeFault>;
}
