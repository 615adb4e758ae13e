//! GitHub and GitHub Enterprise Server, by their REST API.
//!
//! GitHub's public service has a separate API host; a server has the API below `/api/v3`.

mod app;
mod wire;

use async_trait::async_trait;

use super::alike::{Access, Order, Own, Pull, Repository};
use super::fault::{FaultKind, ForgeFault};
use super::kind::{self, TextLimits};
use super::pages::{Paging, Start};
use super::place::Place;
use super::pull_request::{Branches, PullRequest, Sought};
use super::review::Review;
use super::settings::{Dialect, Issued, Scheme, Settings, unusable};
use super::transport::{Authorization, Call, Transport};
use super::user::{Permission, User};
use app::App;

const SERVER: Dialect = Dialect {
    accept: "application/vnd.github+json",
    github_version: Some("2022-11-28"),
    ..Dialect::at("/api/v3", Scheme::Named("Bearer"))
};
const SERVICE: Dialect = Dialect { path: "", ..SERVER };

/// Particulars of GitHub.
#[derive(Debug)]
pub(super) struct GitHub {
    /// The App that gets tokens, if the credential is not a token.
    app: Option<App>,
}

impl GitHub {
    /// Creates a client of a repository; nothing is sent.
    pub(super) fn repository(settings: &Settings, place: &Place) -> Result<Repository<Self>, FaultKind> {
        let names = place.owner_and_repository().map_err(|because| FaultKind::Settings { because })?;
        let transport = transport(settings, place)?;
        let app = App::of(&settings.credential)?;
        Ok(Repository::new(transport, names, Self { app }))
    }
}

/// Creates the transport to the API of the host.
fn transport(settings: &Settings, place: &Place) -> Result<Transport, FaultKind> {
    match api_host(place.origin.host_str().unwrap_or_default()) {
        Some(host) => {
            let mut service = place.clone();
            let because = || FaultKind::Settings { because: format!("`{host}` is no host") };
            service.origin.set_host(Some(&host)).map_err(|_| because())?;
            settings.transport(&service, &SERVICE)
        }
        None => settings.transport(place, &SERVER),
    }
}

/// Gets a token for Git by the key of the App in the settings.
pub(super) async fn git_token(settings: &Settings, place: &Place) -> Result<Issued, ForgeFault> {
    let prepared = || {
        let names = place.owner_and_repository().map_err(|because| FaultKind::Settings { because })?;
        let because = || "it has no App".to_owned();
        let app = App::of(&settings.credential)?.ok_or_else(|| FaultKind::Settings { because: because() })?;
        Ok((transport(settings, place)?, names, app))
    };
    let (transport, [owner, name], app) = prepared().map_err(|kind| unusable(settings, kind))?;
    app.git_token(&transport, [&owner, &name]).await
}

/// Returns the separate API host of a host, if it has one.
fn api_host(host: &str) -> Option<String> {
    let is_service = host == "github.com" || host.ends_with(".ghe.com");
    is_service.then(|| format!("api.{host}"))
}

#[async_trait]
impl Own for GitHub {
    const LIMITS: TextLimits = kind::GITHUB;
    const PAGING: Paging = Paging { size: "per_page", start: Start::Page("page"), within: None };
    const COMMENT_PAGING: Option<Paging> = Some(Self::PAGING);

    type Side = wire::Side;
    type Decision = wire::Decision;

    fn is_merged(flag: Option<bool>, at: Option<&str>) -> Option<bool> {
        // Lists have only the time.
        Some(flag.unwrap_or(false) || at.is_some())
    }

    fn review(decision: wire::Decision) -> Option<Review> {
        decision.read()
    }

    fn ordered(list: Call, order: Order) -> Call {
        let sort = match order {
            Order::Opened => "created",
            Order::Touched => "updated",
        };
        list.query("sort", sort).query("direction", "desc")
    }

    async fn permission(repository: &Repository<Self>, user: &User) -> Result<Permission, ForgeFault> {
        match repository.about(user, &["collaborators", &user.login, "permission"]).await {
            Ok(answer) => answer.read::<Access>()?.read(answer.about(), user),
            Err(ForgeFault { kind: FaultKind::NotFound, .. }) => Ok(Permission::None),
            Err(fault) => Err(fault),
        }
    }

    async fn of_branches(
        repository: &Repository<Self>,
        branches: &Branches,
        sought: Sought,
    ) -> Result<Vec<PullRequest>, ForgeFault> {
        let state = match sought {
            Sought::Open => "open",
            Sought::Ended => "closed",
        };
        let head = format!("{}:{}", repository.owner(), branches.source.as_str());
        let call = repository.pulls(state, Order::Opened)?;
        let call = call.query("head", &head).query("base", branches.target.as_str());
        let is_last = |pull: &Pull<Self>| sought == Sought::Ended && !pull.is_from_fork();
        repository.until(call, is_last).await
    }

    async fn authorization(
        &self,
        transport: &Transport,
        repository: [&str; 2],
    ) -> Result<Option<Authorization>, ForgeFault> {
        let Some(app) = &self.app else { return Ok(None) };
        app.authorization(transport, repository).await.map(Some)
    }

    async fn user(&self, transport: &Transport, repository: [&str; 2]) -> Result<Option<User>, ForgeFault> {
        let Some(app) = &self.app else { return Ok(None) };
        app.user(transport, repository).await.map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_public_service_has_an_api_host_of_its_own() {
        assert_eq!(api_host("github.com").as_deref(), Some("api.github.com"));
        assert_eq!(api_host("acme.ghe.com").as_deref(), Some("api.acme.ghe.com"));
        for server in ["github.acme.example", "github.com.evil.example", "evilghe.com"] {
            assert_eq!(api_host(server), None, "{server}");
        }
    }
}
