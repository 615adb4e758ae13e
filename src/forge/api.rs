//! What the client of one forge sends and reads. The rules that are alike for all forges stand in `upkeep`.

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

/// What is to change of a pull request; what is `None` stays.
#[derive(Clone, Copy, Debug)]
pub(super) enum Change<'a> {
    /// Its texts.
    Text { title: Option<&'a str>, body: Option<&'a str> },
    /// It is closed without its change.
    Close,
}

impl Change<'_> {
    /// The word for errors.
    pub(super) const fn verb(&self) -> &'static str {
        match self {
            Self::Text { .. } => "edit",
            Self::Close => "close",
        }
    }

    /// An object of the texts that are to change, by the forge's names of the title and the description.
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

/// The requests of one forge. Each method sends as few as it needs, and none twice.
#[async_trait]
pub(super) trait Api: fmt::Debug + Send + Sync {
    /// Returns how long texts may be.
    fn limits(&self) -> TextLimits;

    /// Makes an error about something that was not sent.
    fn fault(&self, deed: String, kind: FaultKind) -> ForgeFault;

    /// Reads who the token is.
    async fn user(&self) -> Result<User, ForgeFault>;

    /// Reads one pull request.
    async fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeFault>;

    /// Lists pull requests of these branches, among others: all that are open, or at least the newest that ended.
    async fn of_branches(&self, branches: &Branches, sought: Sought) -> Result<Vec<PullRequest>, ForgeFault>;

    /// Lists all open pull requests.
    async fn open_ones(&self) -> Result<Vec<PullRequest>, ForgeFault>;

    /// Lists those that ended since this time; earlier ones may be among them.
    async fn ended_since(&self, since: Timestamp) -> Result<Vec<PullRequest>, ForgeFault>;

    /// Opens a pull request. Of branches with an open one it fails as a conflict, or as an invalid request.
    async fn create(&self, branches: &Branches, text: &Text) -> Result<PullRequest, ForgeFault>;

    /// Changes a pull request.
    async fn change(&self, number: u64, change: Change<'_>) -> Result<(), ForgeFault>;

    /// Lists decisions of people, in the order of time; earlier ones of the same person may be among them.
    async fn reviews(&self, number: u64) -> Result<Vec<Review>, ForgeFault>;

    /// Reads what a user may do.
    async fn permission(&self, user: &User) -> Result<Permission, ForgeFault>;

    /// Lists the comments of a pull request, the oldest first.
    async fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeFault>;

    /// Adds a comment.
    async fn create_comment(&self, number: u64, text: &str) -> Result<(), ForgeFault>;

    /// Changes a comment of the pull request.
    async fn edit_comment(&self, number: u64, comment: &str, text: &str) -> Result<(), ForgeFault>;

    /// Returns a status as the forge would give it back.
    fn as_kept(&self, status: &Status) -> Status {
        status.fitted(self.limits().status_description)
    }

    /// Reads the newest status of this name.
    async fn status(&self, commit: &CommitId, context: &str) -> Result<Option<Status>, ForgeFault>;

    /// Adds a status.
    async fn create_status(&self, commit: &CommitId, status: &Status) -> Result<(), ForgeFault>;
}
