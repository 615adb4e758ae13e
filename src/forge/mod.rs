//! Client for pull requests of a forge: opens, updates and closes them, and reads their reviews.
//!
//! ```text
//!  Settings ─▶ connect ─▶ Forge ─▶ upkeep (look, then write what differs) ─▶ gitea · github · gitlab · azure_devops
//!                                                                                └─▶ transport ─▶ (the forge)
//! ```
//!
//! Every operation reads before it writes, so it can be repeated after a crash. Every request is limited in time, size and
//! number; a redirect is never followed, because the token would be sent along. Must never merge, approve, push, or log.

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
    /// Returns the maximum lengths of texts. A longer title, description or comment is rejected before anything is
    /// sent.
    fn limits(&self) -> TextLimits;

    /// Returns the token's user, as which nodeform acts. It is read once.
    async fn user(&self) -> Result<User, ForgeFault>;

    /// Finds a pull request from one branch to another: the first open one, or the newest ended one. Those from forks
    /// are left out, because anyone can choose the names of their branches. Azure DevOps truncates descriptions here
    /// and in lists.
    async fn find(&self, branches: &Branches, sought: Sought) -> Result<Option<PullRequest>, ForgeFault>;

    /// Opens a pull request, unless one of these branches is open: then it returns that one, with its existing text. If
    /// two programs open one at the same time, one stays open.
    async fn open(&self, branches: &Branches, text: &Text) -> Result<Opened, ForgeFault>;

    /// Updates the title and the description, each only if it differs.
    async fn update(&self, number: u64, text: &Text) -> Result<Written, ForgeFault>;

    /// Comments on an open pull request with the reason, closes it, and returns its state. One that has ended is left
    /// unchanged.
    async fn close(&self, number: u64, why: &StickyComment) -> Result<PullRequestState, ForgeFault>;

    /// Reads one pull request.
    async fn pull_request(&self, number: u64) -> Result<PullRequest, ForgeFault>;

    /// Lists pull requests whose source branch starts with a prefix, newest first: open ones, and those that ended
    /// since a time. Those from forks are left out.
    async fn list(&self, prefix: &str, since: Timestamp) -> Result<Vec<PullRequest>, ForgeFault>;

    /// Lists the latest decision of each person, by name, and whether it applies to the current head.
    async fn reviews(&self, number: u64) -> Result<Vec<Review>, ForgeFault>;

    /// Reads a user's permission in the repository.
    async fn permission(&self, user: &User) -> Result<Permission, ForgeFault>;

    /// Writes our single comment with this marker, if it differs. Comments by others are never changed, whatever they
    /// contain.
    async fn comment(&self, number: u64, comment: &StickyComment) -> Result<Written, ForgeFault>;

    /// Sets a status of a commit, if it differs.
    async fn set_status(&self, commit: &CommitId, status: &Status) -> Result<Written, ForgeFault>;
}
