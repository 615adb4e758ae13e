//! Pull requests of a forge: opened, kept up to date, closed, and read with their reviews.
//!
//! ```text
//!  Settings ─▶ connect ─▶ Forge ─▶ upkeep (look, then write what differs) ─▶ gitea · github · gitlab · azure_devops
//!                                                                                └─▶ transport ─▶ (the forge)
//! ```
//!
//! Every operation looks before it writes, so that it may be repeated after a crash. Every request has an end in time, size and
//! number; a redirect is never followed, since the token would go along. Must never merge, approve, or push; nor log.

mod alike;
mod answer;
mod api;
mod azure_devops;
mod comment;
mod fault;
mod gitea;
mod github;
mod gitlab;
mod history;
mod kind;
pub mod limits;
mod pages;
mod place;
mod pull_request;
mod refusal;
mod review;
mod settings;
mod status;
mod transport;
mod upkeep;
mod user;

use std::fmt;

use async_trait::async_trait;
use jiff::Timestamp;

pub use comment::{Marker, StickyComment};
pub use fault::{FaultKind, ForgeFault, Words};
pub use kind::{ForgeKind, TextLimits};
pub use pull_request::{Branches, CommitId, Opened, PullRequest, PullRequestState, Sought, Text, Written};
pub use review::{Review, Standing, Verdict};
pub use settings::{Credential, Issued, Settings, connect, git_token};
pub use status::{Status, StatusState};
pub use user::{Permission, User};

/// A repository on a forge, and the pull requests in it.
///
/// Each method fails with a [`ForgeFault`], which says what happened, to which object, and what to do next.
#[async_trait]
pub trait Forge: fmt::Debug + Send + Sync {
    /// Returns how long texts may be. A longer title, description or comment is refused before anything is sent.
    fn limits(&self) -> TextLimits;

    /// Returns who the token is: the user that nodeform acts as. It is asked once.
    async fn user(&self) -> Result<User, ForgeFault>;

    /// Finds a pull request from one branch to another: the first that is open, or the newest that ended. Those of forks are left
    /// out, since anybody chooses the names of their branches. Azure DevOps cuts descriptions here and in lists.
    async fn find(&self, branches: &Branches, sought: Sought) -> Result<Option<PullRequest>, ForgeFault>;

    /// Opens a pull request, unless one of these branches is open: then it returns that one, with the text that it has. Opened by
    /// two programs at the same time, one stays open.
    async fn open(&self, branches: &Branches, text: &Text) -> Result<Opened, ForgeFault>;

    /// Writes the title and the description, each only where it differs.
    async fn update(&self, number: u64, text: &Text) -> Result<Written, ForgeFault>;

    /// Closes an open pull request after a comment that says why, and returns how it stands. One that has ended stays as it is.
    async fn close(&self, number: u64, why: &StickyComment) -> Result<PullRequestState, ForgeFault>;

    /// Reads one pull request.
    async fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeFault>;

    /// Lists pull requests whose source branch begins with a prefix, the newest first: open ones, and those that ended since a
    /// time. Those of forks are left out.
    async fn list(&self, prefix: &str, since: Timestamp) -> Result<Vec<PullRequest>, ForgeFault>;

    /// Lists the latest decision of each person, by name, and whether it is about the head of now.
    async fn reviews(&self, number: u64) -> Result<Vec<Review>, ForgeFault>;

    /// Reads what a user may do in the repository.
    async fn permission(&self, user: &User) -> Result<Permission, ForgeFault>;

    /// Writes our one comment with this marker, if it differs. Comments of others are never touched, whatever they hold.
    async fn comment(&self, number: u64, comment: &StickyComment) -> Result<Written, ForgeFault>;

    /// Sets a status of a commit, if it differs.
    async fn set_status(&self, commit: &CommitId, status: &Status) -> Result<Written, ForgeFault>;
}
