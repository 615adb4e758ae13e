//! Requests and JSON that GitHub and Gitea, which follows it, have in common. Differences are in [`Own`].
//!
//! Must never distinguish the two itself: [`Own`] does.

mod pull;
mod repository;
mod wire;

use std::fmt;

use async_trait::async_trait;
use serde::de::DeserializeOwned;

use super::fault::ForgeFault;
use super::kind::TextLimits;
use super::pages::Paging;
use super::pull_request::{Branches, PullRequest, Sought};
use super::review::Review;
use super::transport::{Authorization, Call, Transport};
use super::user::{Permission, User};

pub(super) use pull::{Pull, Side};
pub(super) use repository::Repository;
pub(super) use wire::{APP_SUFFIX, Access, Account, app};

/// Particulars of one of the forges.
#[async_trait]
pub(super) trait Own: fmt::Debug + Send + Sync + Sized {
    /// Maximum lengths of texts.
    const LIMITS: TextLimits;
    /// Paging of lists.
    const PAGING: Paging;
    /// Paging of the list of comments; `None` if one answer has them all.
    const COMMENT_PAGING: Option<Paging>;

    /// The head or base of a pull request.
    type Side: Side;
    /// A review.
    type Decision: DeserializeOwned + Send;

    /// Returns whether an ended pull request is merged, by its flag and its time; `None` if that is unknown.
    fn is_merged(flag: Option<bool>, at: Option<&str>) -> Option<bool>;

    /// Converts a review; `None` if it has no decision, or its account is deleted.
    fn review(decision: Self::Decision) -> Option<Review>;

    /// Sets the order of a list of pull requests.
    fn ordered(list: Call, order: Order) -> Call;

    /// Lists pull requests of these branches, possibly with others: all open ones, or at least the newest ended one.
    async fn of_branches(
        repository: &Repository<Self>,
        branches: &Branches,
        sought: Sought,
    ) -> Result<Vec<PullRequest>, ForgeFault>;

    /// Reads a user's permission in the repository.
    async fn permission(repository: &Repository<Self>, user: &User) -> Result<Permission, ForgeFault>;

    /// Returns the authorization for `OWNER/REPOSITORY`; `None` if the transport has it.
    async fn authorization(
        &self,
        _transport: &Transport,
        _repository: [&str; 2],
    ) -> Result<Option<Authorization>, ForgeFault> {
        Ok(None)
    }

    /// Returns the user as which we act in `OWNER/REPOSITORY`; `None` for the user of the transport's token.
    async fn user(&self, _transport: &Transport, _repository: [&str; 2]) -> Result<Option<User>, ForgeFault> {
        Ok(None)
    }
}

/// Order of a list of pull requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Last opened first.
    Opened,
    /// Last updated first.
    Touched,
}
