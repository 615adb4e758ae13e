//! Settings of a forge's client: repository and credential.

use std::time::Duration;

use jiff::Timestamp;

use super::azure_devops::AzureDevOps;
use super::fault::{FaultKind, ForgeFault};
use super::gitea::Gitea;
use super::github::{self, GitHub};
use super::gitlab::GitLab;
use super::kind::ForgeKind;
use super::place::Place;
use super::transport::{Authorization, Endpoint, Transport};
use super::upkeep::Upkeep;
use super::{Forge, limits};
use crate::clock::Clock;
use crate::git::remote::Address;
use crate::model::Secret;

/// Settings of a forge's client.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The kind of forge; [`ForgeKind::of_host`] knows public ones.
    pub kind: ForgeKind,
    /// The repository, by the address that Git uses.
    pub address: Address,
    /// The credential.
    pub credential: Credential,
    /// The clock, for waits that the forge requests.
    pub clock: Clock,
    /// Timeout for an exchange, capped at the default; `None` for the default: [`limits::EXCHANGE_TIMEOUT`], longer for
    /// Azure DevOps.
    pub time_limit: Option<Duration>,
}

/// A credential. It neither prints nor serializes.
#[derive(Clone, Debug)]
pub enum Credential {
    /// A personal, project or group access token, sent in the forge's scheme.
    Token(Secret),
    /// An OAuth token, such as one of Entra ID for Azure DevOps. It expires: connect again with the next one.
    Bearer(Secret),
    /// A GitHub App, which gets tokens for this repository only that are valid for an hour.
    App {
        /// Its client id, or its number.
        id: String,
        /// Its private key, in PEM.
        key: Secret,
    },
}

/// An issued token with its expiry.
#[derive(Clone, Debug)]
pub struct Issued {
    /// The token.
    pub token: Secret,
    /// When it expires.
    pub until: Timestamp,
}

/// Gets a token with which Git can fetch from and push to the repository, by the key of a GitHub App; `None` if the
/// credential is itself a token.
///
/// # Errors
/// The settings are not those of a GitHub repository, or GitHub issues no token.
pub async fn git_token(settings: &Settings) -> Result<Option<Issued>, ForgeFault> {
    match (&settings.credential, settings.kind) {
        (Credential::App { .. }, ForgeKind::GitHub) => {
            let place = Place::of(&settings.address).map_err(|because| FaultKind::Settings { because });
            let place = place.map_err(|kind| unusable(settings, kind))?;
            github::git_token(settings, &place).await.map(Some)
        }
        (Credential::App { .. }, kind @ (ForgeKind::Gitea | ForgeKind::GitLab | ForgeKind::AzureDevOps)) => {
            Err(unusable(settings, FaultKind::Settings { because: no_apps(kind) }))
        }
        (Credential::Token(_) | Credential::Bearer(_), _) => Ok(None),
    }
}

fn no_apps(kind: ForgeKind) -> String {
    format!("{kind} has no Apps: only GitHub has")
}

/// Returns a fault about a repository that cannot be used.
pub(super) fn unusable(settings: &Settings, kind: FaultKind) -> ForgeFault {
    ForgeFault {
        deed: format!("use {} as a repository of {}", settings.address, settings.kind),
        host: url::Url::parse(settings.address.as_str())
            .ok()
            .and_then(|url| url.host_str().map(str::to_owned))
            .unwrap_or_default(),
        kind,
    }
}

/// Creates a client of a repository. Nothing is sent.
///
/// # Errors
/// The address does not belong to such a forge, the token cannot be sent, or TLS cannot be set up.
pub fn connect(settings: &Settings) -> Result<Box<dyn Forge>, ForgeFault> {
    connected(settings).map_err(|kind| unusable(settings, kind))
}

fn connected(settings: &Settings) -> Result<Box<dyn Forge>, FaultKind> {
    let place = Place::of(&settings.address).map_err(|because| FaultKind::Settings { because })?;
    Ok(match settings.kind {
        ForgeKind::Gitea => Box::new(Upkeep::new(Gitea::repository(settings, &place)?)),
        ForgeKind::GitHub => Box::new(Upkeep::new(GitHub::repository(settings, &place)?)),
        ForgeKind::GitLab => Box::new(Upkeep::new(GitLab::new(settings, &place)?)),
        ForgeKind::AzureDevOps => Box::new(Upkeep::new(AzureDevOps::new(settings, &place)?)),
    })
}

impl Settings {
    /// Creates the transport of an API below a path of the host.
    pub(super) fn transport(&self, place: &Place, dialect: &Dialect) -> Result<Transport, FaultKind> {
        let authorization = match (&self.credential, dialect.scheme) {
            (Credential::Token(token), Scheme::Basic) => Some(Authorization::basic(token)),
            (Credential::Token(token), Scheme::Named(scheme)) => Some(Authorization::of(scheme, token)),
            (Credential::Bearer(token), _) => Some(Authorization::of("Bearer", token)),
            (Credential::App { .. }, _) if self.kind == ForgeKind::GitHub => None,
            (Credential::App { .. }, _) => {
                return Err(FaultKind::Settings { because: no_apps(self.kind) });
            }
        };
        let because = || "the token is empty, or has letters that a token does not have".to_owned();
        let valid =
            |known: Option<Authorization>| known.ok_or_else(|| FaultKind::Settings { because: because() });
        let authorization = authorization.map(valid).transpose()?;
        let mut base = place.origin.clone();
        base.set_path(dialect.path);
        let most = dialect.time_limit;
        let time_limit = self.time_limit.map_or(most, |limit| limit.min(most));
        Transport::new(Endpoint {
            base,
            authorization,
            accept: dialect.accept,
            github_version: dialect.github_version,
            time_limit,
            clock: self.clock,
        })
    }
}

/// Protocol details of a forge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dialect {
    /// The path of the API.
    pub(super) path: &'static str,
    /// The authorization scheme for an access token.
    pub(super) scheme: Scheme,
    /// The media type of answers.
    pub(super) accept: &'static str,
    /// Timeout for an exchange.
    pub(super) time_limit: Duration,
    /// The version of GitHub's API. Without it, GitHub chooses one, which may change.
    pub(super) github_version: Option<&'static str>,
}

impl Dialect {
    /// Returns an API at a path, with JSON and the usual limits.
    pub(super) const fn at(path: &'static str, scheme: Scheme) -> Self {
        let (accept, time_limit) = ("application/json", limits::EXCHANGE_TIMEOUT);
        Self { path, scheme, accept, time_limit, github_version: None }
    }
}

/// Authorization scheme for an access token.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scheme {
    /// As a password.
    Basic,
    /// After this word.
    Named(&'static str),
}
