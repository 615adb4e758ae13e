//! Credentials for the repository and its forge: a token, a GitHub App, or the Azure identity.
//!
//! Tokens that expire are kept until shortly before they do. Must never show a token or a key, nor write either to
//! disk.
#![expect(
    clippy::disallowed_methods,
    reason = "tokens and keys are read from their files each time, as they may be renewed"
)]

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::SignedDuration;

use super::fault::GitOpsFault;
use super::place::Place;
use crate::api::node_fleet::Forge as ForgeWord;
use crate::azure::Azure;
use crate::clock::Clock;
use crate::forge::{self, Credential, ForgeKind, Issued, Settings};
use crate::git::remote::Credentials;
use crate::model::secret::Secret;

/// Default user for a token, if `NODEFORM_GIT_USER` is not set.
pub const USER: &str = "nodeform";

/// User for the token of a GitHub App, as GitHub requires.
const APP_USER: &str = "x-access-token";

/// Scope of Azure DevOps in Entra ID.
const AZURE_DEVOPS: &str = "499b84ac-1321-427f-aa17-267ca6975798/.default";

/// How long before it expires a token is replaced: longer than a fetch and a push take.
const BEFORE_END: SignedDuration = SignedDuration::from_mins(5);

/// Timeout for getting a token.
const TOKEN_MAX: Duration = Duration::from_secs(60);

/// Maximum size of a token or key file.
const FILE_BYTES_MAX: u64 = 64 << 10;

/// Source of the token.
#[derive(Clone, Debug, Default)]
pub enum Token {
    /// None is set: an Azure DevOps repository is accessed as [`Access::identity`], any other anonymously.
    #[default]
    None,
    /// A fixed token.
    Said(Secret),
    /// A token file, which may be replaced.
    File(PathBuf),
    /// A GitHub App, which gets tokens that are valid for an hour.
    App {
        /// Its client id, or its number.
        id: String,
        /// The file of its private key, in PEM, which may be replaced.
        key: PathBuf,
    },
}

/// Access to repositories, and the folder of clones. Clones of this value share the issued token.
#[derive(Clone, Debug, Default)]
pub struct Access {
    /// The folder of the clones.
    pub cache: PathBuf,
    /// The user for the token.
    pub user: String,
    /// The source of the token.
    pub token: Token,
    /// The Azure identity, which Azure DevOps accepts too.
    pub identity: Option<Azure>,
    /// The last issued token.
    pub issued: Arc<Mutex<Option<Issued>>>,
}

impl Access {
    /// Gets a token if one is needed and the last one has expired or expires soon. Call it before each use.
    ///
    /// # Errors
    /// No token is issued, or the key cannot be read.
    pub async fn renew(
        &self,
        (place, forge): (&Place, Option<ForgeWord>),
        clock: Clock,
    ) -> Result<(), GitOpsFault> {
        let is_issued = match &self.token {
            Token::App { .. } => true,
            Token::None => self.identity.is_some() && forge == Some(ForgeWord::Azuredevops),
            Token::Said(_) | Token::File(_) => false,
        };
        let soon =
            clock.now().saturating_add(BEFORE_END).map_err(|error| GitOpsFault::of(error.to_string()))?;
        if !is_issued || self.held().is_some_and(|held| held.until > soon) {
            return Ok(());
        }
        let issued = tokio::time::timeout(TOKEN_MAX, self.issue(place, clock)).await;
        let slow =
            || GitOpsFault::of(format!("no token for {} within {} s", place.address, TOKEN_MAX.as_secs()));
        let issued = issued.unwrap_or_else(|_| Err(slow()))?;
        *self.issued.lock().unwrap_or_else(PoisonError::into_inner) = issued;
        Ok(())
    }

    async fn issue(&self, place: &Place, clock: Clock) -> Result<Option<Issued>, GitOpsFault> {
        if let Token::App { .. } = &self.token {
            let settings = Settings {
                kind: ForgeKind::GitHub,
                address: place.address.clone(),
                credential: self
                    .credential()?
                    .unwrap_or_else(|| Credential::Token(Secret::new(String::new()))),
                clock,
                time_limit: None,
            };
            return forge::git_token(&settings).await.map_err(GitOpsFault::from);
        }
        let Some(identity) = &self.identity else { return Ok(None) };
        let (token, until) = identity.token_for(AZURE_DEVOPS).await.map_err(|because| {
            GitOpsFault::of(format!("Entra ID issues no token for Azure DevOps: {because}"))
                .hint("add the identity to the Azure DevOps organization, or set NODEFORM_GIT_TOKEN")
        })?;
        Ok(Some(Issued { token, until }))
    }

    fn held(&self) -> Option<Issued> {
        self.issued.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the current token with its user; `None` for anonymous access.
    ///
    /// # Errors
    /// Its file cannot be read, no token was issued yet, or it has characters that a header cannot hold.
    pub fn credentials(&self) -> Result<Option<Credentials>, GitOpsFault> {
        let mut user = self.user.clone();
        let token = match &self.token {
            Token::None => match self.held() {
                Some(held) => held.token,
                None => return Ok(None),
            },
            Token::Said(token) => token.clone(),
            Token::File(file) => read(file, "Git token", "NODEFORM_GIT_TOKEN_FILE")?,
            Token::App { id, .. } => {
                user = APP_USER.to_owned();
                let none = || GitOpsFault::of(format!("GitHub App `{id}` has no token for Git"));
                self.held().ok_or_else(none)?.token
            }
        };
        let token = token.reveal().trim().to_owned();
        // Either would end the header and start another.
        if token.chars().chain(user.chars()).any(char::is_control) || user.contains(':') {
            return Err(GitOpsFault::of(
                "the Git token or its user has characters that a header cannot hold",
            )
            .hint("check NODEFORM_GIT_TOKEN, NODEFORM_GIT_TOKEN_FILE and NODEFORM_GIT_USER"));
        }
        Ok(Some(Credentials { user, token: Secret::new(token) }))
    }

    /// Returns the credential for the forge; `None` for anonymous access.
    ///
    /// # Errors
    /// As [`Access::credentials`]; or the key of the App cannot be read.
    pub(super) fn credential(&self) -> Result<Option<Credential>, GitOpsFault> {
        match &self.token {
            Token::App { id, key } => {
                let key = read(key, "private key of the GitHub App", "NODEFORM_GITHUB_APP_KEY_FILE")?;
                Ok(Some(Credential::App { id: id.clone(), key }))
            }
            Token::None => Ok(self.credentials()?.map(|known| Credential::Bearer(known.token))),
            Token::Said(_) | Token::File(_) => {
                Ok(self.credentials()?.map(|known| Credential::Token(known.token)))
            }
        }
    }
}

fn read(file: &Path, what: &str, variable: &str) -> Result<Secret, GitOpsFault> {
    use std::io::Read as _;
    let mut text = String::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(FILE_BYTES_MAX).read_to_string(&mut text));
    match read {
        Ok(_) => Ok(Secret::new(text)),
        Err(error) => {
            Err(GitOpsFault::of(format!("cannot read the {what} from `{}`: {error}", file.display()))
                .hint(format!("set {variable} to a file that holds nothing else")))
        }
    }
}
