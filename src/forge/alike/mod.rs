//! What GitHub has and Gitea after it: the requests, and their JSON. What is of one of them alone is [`Own`].
//!
//! Must not tell the two apart: what differs is asked of [`Own`].

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

/// What one of the forges has of its own.
#[async_trait]
pub(super) trait Own: fmt::Debug + Send + Sync + Sized {
    /// How long texts may be.
    const LIMITS: TextLimits;
    /// How lists are taken apart.
    const PAGING: Paging;
    /// How the list of comments is taken apart; `None` where one answer has them all.
    const COMMENT_PAGING: Option<Paging>;

    /// One side of a pull request.
    type Side: Side;
    /// A review.
    type Decision: DeserializeOwned + Send;

    /// Returns whether a pull request that has ended is merged, by its flag and its time; `None` where that cannot be known.
    fn is_merged(flag: Option<bool>, at: Option<&str>) -> Option<bool>;

    /// Reads a review; `None` where it decides nothing, or is by an account that is deleted.
    fn review(decision: Self::Decision) -> Option<Review>;

    /// Asks for a list of pull requests in an order.
    fn ordered(list: Call, order: Order) -> Call;

    /// Lists pull requests of these branches, among others: all that are open, or at least the newest that ended.
    async fn of_branches(
        repository: &Repository<Self>,
        branches: &Branches,
        sought: Sought,
    ) -> Result<Vec<PullRequest>, ForgeFault>;

    /// Reads what a user may do in the repository.
    async fn permission(repository: &Repository<Self>, user: &User) -> Result<Permission, ForgeFault>;

    /// Returns what proves who we are in `OWNER/REPOSITORY`; `None` where the transport has it.
    async fn authorization(
        &self,
        _transport: &Transport,
        _repository: [&str; 2],
    ) -> Result<Option<Authorization>, ForgeFault> {
        Ok(None)
    }

    /// Returns the user that we act as in `OWNER/REPOSITORY`; `None` where it is whose token the transport has.
    async fn user(&self, _transport: &Transport, _repository: [&str; 2]) -> Result<Option<User>, ForgeFault> {
        Ok(None)
    }
}

/// Which pull requests come first in a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// Those that were opened last.
    Opened,
    /// Those that were touched last.
    Touched,
}
