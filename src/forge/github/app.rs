//! A GitHub App: exchanges a signed claim of its identity for a token that is valid for an hour and one repository.
//!
//! Must never keep a token beyond its expiry, request more permissions than it needs, or show the key.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use jiff::{SignedDuration, Timestamp};
use rustls::SignatureScheme;
use rustls::pki_types::PrivateKeyDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::sign::SigningKey;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::{Mutex, OnceCell};

use crate::forge::alike;
use crate::forge::answer::time;
use crate::forge::fault::{FaultKind, ForgeFault};
use crate::forge::settings::{Credential, Issued};
use crate::forge::transport::{Authorization, Transport};
use crate::forge::user::User;
use crate::model::Secret;

/// How far in the past a claim starts: GitHub recommends a minute for clock differences.
const CLAIM_BEFORE: SignedDuration = SignedDuration::from_secs(60);
/// How long a claim is valid from now on; including the time before, GitHub accepts at most ten minutes.
const CLAIM_AFTER: SignedDuration = SignedDuration::from_mins(5);
/// How long before it expires a token is no longer used: longer than an exchange takes.
const TOKEN_REST: Duration = Duration::from_secs(300);

/// An App with its key.
pub(super) struct App {
    id: String,
    key: Arc<dyn SigningKey>,
    /// Its installation, once it was read.
    installation: OnceCell<Installation>,
    /// The current token. Concurrent callers wait for it instead of requesting another.
    held: Mutex<Option<Held>>,
}

/// Shows neither the key nor the token.
impl fmt::Debug for App {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("App").field("id", &self.id).finish_non_exhaustive()
    }
}

/// A token as a header, with its expiry.
#[derive(Clone, Debug)]
struct Held {
    authorization: Authorization,
    until: Timestamp,
}

/// An installation of the App.
#[derive(Clone, Debug)]
struct Installation {
    id: u64,
    /// The name of the account that the App acts as.
    login: String,
}

#[derive(Deserialize)]
struct InstallationWire {
    id: Option<u64>,
    app_slug: Option<String>,
}

#[derive(Deserialize)]
struct TokenWire {
    token: Option<String>,
    expires_at: Option<String>,
}

impl App {
    /// Creates an App from its credential; `None` for other credentials.
    ///
    /// # Errors
    /// Its key is not of GitHub's kind.
    pub(super) fn of(credential: &Credential) -> Result<Option<Self>, FaultKind> {
        let (id, key) = match credential {
            Credential::App { id, key } => (id.clone(), key),
            Credential::Token(_) | Credential::Bearer(_) => return Ok(None),
        };
        let refused =
            || FaultKind::Settings { because: "the key of the App is no RSA key in PEM".to_owned() };
        let key = PrivateKeyDer::from_pem_slice(key.reveal().as_bytes()).map_err(|_| refused())?;
        let key = rustls::crypto::ring::sign::any_supported_type(&key).map_err(|_| refused())?;
        key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]).ok_or_else(refused)?;
        Ok(Some(Self { id, key, installation: OnceCell::new(), held: Mutex::new(None) }))
    }

    /// Returns the current token as a header; gets a new one if it expires soon.
    pub(super) async fn authorization(
        &self,
        transport: &Transport,
        repository: [&str; 2],
    ) -> Result<Authorization, ForgeFault> {
        let mut held = self.held.lock().await;
        let rest = SignedDuration::try_from(TOKEN_REST).unwrap_or(SignedDuration::MAX);
        let is_good = |held: &&Held| transport.now().saturating_add(rest).is_ok_and(|then| then < held.until);
        if let Some(held) = held.as_ref().filter(is_good) {
            return Ok(held.authorization.clone());
        }
        let installation = self.installation(transport, repository).await?.id;
        let permissions = json!({"contents": "read", "pull_requests": "write", "statuses": "write"});
        let new = self.token(transport, (repository, installation), Some(permissions)).await?;
        let because = || "the token has letters that a header may not have".to_owned();
        let authorization = Authorization::of("Bearer", &new.token);
        let authorization = authorization.ok_or_else(|| {
            transport.fault("sign in".to_owned(), FaultKind::Settings { because: because() })
        })?;
        Ok(held.insert(Held { authorization, until: new.until }).authorization.clone())
    }

    /// Returns a token for Git, for this repository only, with the permissions that the App has there.
    pub(super) async fn git_token(
        &self,
        transport: &Transport,
        repository: [&str; 2],
    ) -> Result<Issued, ForgeFault> {
        let installation = self.installation(transport, repository).await?.id;
        self.token(transport, (repository, installation), None).await
    }

    /// Returns the user as which the App acts.
    pub(super) async fn user(
        &self,
        transport: &Transport,
        repository: [&str; 2],
    ) -> Result<User, ForgeFault> {
        Ok(alike::app(&self.installation(transport, repository).await?.login))
    }

    async fn installation(
        &self,
        transport: &Transport,
        repository: [&str; 2],
    ) -> Result<&Installation, ForgeFault> {
        let asked = || async {
            let [owner, name] = repository;
            let deed = format!("read where App `{}` is installed for `{owner}/{name}`", self.id);
            let call = transport.get(&["repos", owner, name, "installation"], deed.clone())?;
            let answer = transport.send(&call.authorized(self.claim(transport, deed)?)).await?;
            let read: InstallationWire = answer.read()?;
            let slug = answer.about().required(read.app_slug, "app_slug")?;
            let id = answer.about().required(read.id, "id")?;
            Ok(Installation { id, login: format!("{slug}{}", alike::APP_SUFFIX) })
        };
        self.installation.get_or_try_init(asked).await
    }

    async fn token(
        &self,
        transport: &Transport,
        (repository, installation): ([&str; 2], u64),
        permissions: Option<serde_json::Value>,
    ) -> Result<Issued, ForgeFault> {
        let [owner, name] = repository;
        let deed = format!("get a token of App `{}` for `{owner}/{name}`", self.id);
        let path = installation.to_string();
        let call = transport.post(&["app", "installations", &path, "access_tokens"], deed.clone())?;
        let mut body = json!({"repositories": [name]});
        if let Some(permissions) = permissions {
            body["permissions"] = permissions;
        }
        let answer = transport.send(&call.body(body).authorized(self.claim(transport, deed)?)).await?;
        let read: TokenWire = answer.read()?;
        let token = answer.about().required(read.token.filter(|token| !token.is_empty()), "token")?;
        let until = answer.about().required(time(read.expires_at.as_deref()), "expires_at")?;
        Ok(Issued { token: Secret::new(token), until })
    }

    /// Returns the claim of the App's identity: a JSON web token with RS256.
    fn claim(&self, transport: &Transport, deed: String) -> Result<Authorization, ForgeFault> {
        let now = transport.now();
        let second = |time: Result<Timestamp, jiff::Error>| time.unwrap_or(now).as_second();
        let claims = json!({
            "iat": second(now.checked_sub(CLAIM_BEFORE)), "exp": second(now.checked_add(CLAIM_AFTER)), "iss": self.id,
        });
        let encoded = |json: serde_json::Value| BASE64URL_NOPAD.encode(json.to_string().as_bytes());
        let text = format!("{}.{}", encoded(json!({"alg": "RS256", "typ": "JWT"})), encoded(claims));
        let signer = self.key.choose_scheme(&[SignatureScheme::RSA_PKCS1_SHA256]);
        let signature = signer.and_then(|signer| signer.sign(text.as_bytes()).ok());
        let claim = signature.map(|signature| format!("{text}.{}", BASE64URL_NOPAD.encode(&signature)));
        let claim = claim.and_then(|claim| Authorization::of("Bearer", &Secret::new(claim)));
        let because = || "the key of the App does not sign".to_owned();
        claim.ok_or_else(|| transport.fault(deed, FaultKind::Settings { because: because() }))
    }
}
