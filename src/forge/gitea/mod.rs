//! Gitea and Forgejo, by their REST API (`/api/v1`), which matches GitHub's except for what is here.
//!
//! They list all comments in one answer, and cannot filter pull requests by branch, so the list is searched. They
//! report permissions only to administrators of the repository; to others they list possible assignees: users with
//! write permission, and in organizations also those who may read pull requests. Whether a review is official
//! distinguishes these.

mod wire;

use async_trait::async_trait;

use super::alike::{Account, Order, Own, Repository};
use super::api::Api as _;
use super::fault::{FaultKind, ForgeFault};
use super::kind::{self, TextLimits};
use super::pages::{Paging, Start};
use super::place::Place;
use super::pull_request::{Branches, PullRequest, Sought};
use super::review::Review;
use super::settings::{Dialect, Scheme, Settings};
use super::transport::Call;
use super::user::{Permission, User};

const DIALECT: Dialect = Dialect::at("/api/v1", Scheme::Named("token"));

/// Particulars of Gitea.
#[derive(Debug)]
pub(super) struct Gitea;

impl Gitea {
    /// Creates a client of a repository; nothing is sent.
    pub(super) fn repository(settings: &Settings, place: &Place) -> Result<Repository<Self>, FaultKind> {
        let names = place.owner_and_repository().map_err(|because| FaultKind::Settings { because })?;
        Ok(Repository::new(settings.transport(place, &DIALECT)?, names, Self))
    }
}

#[async_trait]
impl Own for Gitea {
    const LIMITS: TextLimits = kind::GITEA;
    const PAGING: Paging = Paging { size: "limit", start: Start::Page("page"), within: None };
    const COMMENT_PAGING: Option<Paging> = None;

    type Side = wire::Side;
    type Decision = wire::Decision;

    fn is_merged(flag: Option<bool>, _at: Option<&str>) -> Option<bool> {
        flag
    }

    fn review(decision: wire::Decision) -> Option<Review> {
        decision.read()
    }

    fn ordered(list: Call, order: Order) -> Call {
        match order {
            // This is the default order.
            Order::Opened => list,
            Order::Touched => list.query("sort", "recentupdate"),
        }
    }

    async fn permission(repository: &Repository<Self>, user: &User) -> Result<Permission, ForgeFault> {
        let known: Vec<Account> = repository.about(user, &["assignees"]).await?.read()?;
        let is_there = known.into_iter().filter_map(Account::user).any(|known| known.id == user.id);
        Ok(if is_there { Permission::Write } else { Permission::None })
    }

    async fn of_branches(
        repository: &Repository<Self>,
        branches: &Branches,
        sought: Sought,
    ) -> Result<Vec<PullRequest>, ForgeFault> {
        match sought {
            Sought::Open => repository.open_ones().await,
            Sought::Ended => {
                let call = repository.pulls("closed", Order::Opened)?;
                repository.until(call, |pull| wire::is_of(pull, branches)).await
            }
        }
    }
}
