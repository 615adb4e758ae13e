//! The HTTP client of every forge: limited in time and size, without redirects, and the only place that sees the token.
//!
//! Must never follow a redirect (the token would be sent along), use plain HTTP except to this machine, log, or put a
//! token or the query of an address into an error.

use std::time::Duration;

use futures_util::StreamExt as _;
use jiff::Timestamp;
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use serde_json::Value;
use url::Url;

use super::answer::{About, Answer};
use super::fault::{FaultKind, ForgeFault, one_line};
use super::limits;
use super::refusal::Refusal;
use crate::azure::{cause, is_loopback};
use crate::clock::Clock;
use crate::model::{SENSITIVE, Secret};

/// An authorization header, and the secrets that no error may contain.
#[derive(Clone, Debug)]
pub(super) struct Authorization {
    header: HeaderValue,
    secrets: Vec<Secret>,
}

impl Authorization {
    /// Returns the header `Authorization: SCHEME TOKEN`; `None` if the token has characters that a header cannot hold.
    pub(super) fn of(scheme: &str, token: &Secret) -> Option<Self> {
        Self::new(format!("{scheme} {}", token.reveal()), vec![token.clone()])
    }

    /// Returns the header with a token as the password, without a user.
    pub(super) fn basic(token: &Secret) -> Option<Self> {
        let pair = data_encoding::BASE64.encode(format!(":{}", token.reveal()).as_bytes());
        Self::new(format!("Basic {pair}"), vec![token.clone(), Secret::new(pair)])
    }

    fn new(header: String, secrets: Vec<Secret>) -> Option<Self> {
        let is_empty = secrets.iter().any(|secret| secret.reveal().trim().is_empty());
        let mut header = HeaderValue::from_str(&header).ok().filter(|_| !is_empty)?;
        header.set_sensitive(true);
        Some(Self { header, secrets })
    }

    /// Removes the token from a text, in case a server repeats it.
    fn scrubbed(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret.reveal(), SENSITIVE))
    }
}

/// A request with its purpose.
#[derive(Clone, Debug)]
pub(super) struct Call {
    method: reqwest::Method,
    url: Url,
    body: Option<Value>,
    /// Its purpose, for errors: "read pull request 7 of `org/plans`".
    deed: String,
    /// Its authorization, by default the transport's.
    authorization: Option<Authorization>,
}

impl Call {
    /// Sets its authorization.
    pub(super) fn authorized(mut self, authorization: Authorization) -> Self {
        self.authorization = Some(authorization);
        self
    }

    /// Adds a query parameter.
    pub(super) fn query(mut self, name: &str, value: &str) -> Self {
        self.url.query_pairs_mut().append_pair(name, value);
        self
    }

    /// Removes the token from a text, in case a server repeats it.
    fn scrubbed(&self, text: &str) -> String {
        self.authorization.as_ref().map_or_else(|| text.to_owned(), |known| known.scrubbed(text))
    }

    /// Adds a body.
    pub(super) fn body(mut self, body: Value) -> Self {
        self.body = Some(body);
        self
    }
}

/// Client of a forge's API.
#[derive(Clone, Debug)]
pub(super) struct Transport {
    client: reqwest::Client,
    base: Url,
    /// Default authorization of requests.
    authorization: Option<Authorization>,
    accept: &'static str,
    time_limit: Duration,
    clock: Clock,
}

/// Settings of a transport.
#[derive(Debug)]
pub(super) struct Endpoint {
    /// The address of the API, HTTPS or on loopback.
    pub(super) base: Url,
    pub(super) authorization: Option<Authorization>,
    /// The media type of its answers.
    pub(super) accept: &'static str,
    /// The version of GitHub's API.
    pub(super) github_version: Option<&'static str>,
    pub(super) time_limit: Duration,
    pub(super) clock: Clock,
}

impl Transport {
    /// Creates a client; nothing is sent.
    ///
    /// # Errors
    /// The address is neither HTTPS nor on this machine, or TLS cannot be set up.
    pub(super) fn new(endpoint: Endpoint) -> Result<Self, FaultKind> {
        let Endpoint { base, authorization, accept, github_version, time_limit, clock } = endpoint;
        let is_loopback = is_loopback(&base);
        if base.scheme() != "https" && !is_loopback {
            let because = "plain HTTP would show the token to everybody on the way".to_owned();
            return Err(FaultKind::Settings { because });
        }
        // `reqwest` uses the process-wide provider and panics without one. An existing one is just as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut builder = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("nodeform/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(limits::CONNECT_TIMEOUT.min(time_limit))
            .timeout(time_limit);
        if let Some(version) = github_version {
            let name = HeaderName::from_static("x-github-api-version");
            builder =
                builder.default_headers([(name, HeaderValue::from_static(version))].into_iter().collect());
        }
        if is_loopback {
            builder = builder.no_proxy();
        }
        let client =
            builder.build().map_err(|error| FaultKind::Settings { because: cause::innermost(&error) })?;
        Ok(Self { client, base, authorization, accept, time_limit, clock })
    }

    /// Prepares a read of the object at these path segments.
    pub(super) fn get(&self, path: &[&str], deed: String) -> Result<Call, ForgeFault> {
        self.call(reqwest::Method::GET, path, deed)
    }

    /// Prepares a request to create something.
    pub(super) fn post(&self, path: &[&str], deed: String) -> Result<Call, ForgeFault> {
        self.call(reqwest::Method::POST, path, deed)
    }

    /// Prepares a request to change something.
    pub(super) fn patch(&self, path: &[&str], deed: String) -> Result<Call, ForgeFault> {
        self.call(reqwest::Method::PATCH, path, deed)
    }

    /// Prepares a request to change something, for forges that use PUT.
    pub(super) fn put(&self, path: &[&str], deed: String) -> Result<Call, ForgeFault> {
        self.call(reqwest::Method::PUT, path, deed)
    }

    fn call(&self, method: reqwest::Method, path: &[&str], deed: String) -> Result<Call, ForgeFault> {
        // Libraries drop such segments, so the address would be that of another object.
        if let Some(segment) = path.iter().find(|segment| matches!(**segment, "" | "." | "..")) {
            let because = format!("`{segment}` is no name");
            return Err(self.fault(deed, FaultKind::Settings { because }));
        }
        let mut url = self.base.clone();
        match url.path_segments_mut() {
            Ok(mut segments) => {
                segments.pop_if_empty().extend(path);
            }
            Err(()) => {
                let because = "the address has no path".to_owned();
                return Err(self.fault(deed, FaultKind::Settings { because }));
            }
        }
        Ok(Call { method, url, body: None, deed, authorization: self.authorization.clone() })
    }

    /// Sends a request and reads the answer. An interrupted read is retried once.
    ///
    /// # Errors
    /// No answer within the limits, or an unsuccessful one.
    pub(super) async fn send(&self, call: &Call) -> Result<Answer, ForgeFault> {
        let is_read = call.method == reqwest::Method::GET;
        match self.send_once(call).await {
            Err(fault) if is_read && is_passing(&fault.kind) => {
                tokio::time::sleep(limits::READ_RETRY_PAUSE).await;
                self.send_once(call).await
            }
            result => result,
        }
    }

    async fn send_once(&self, call: &Call) -> Result<Answer, ForgeFault> {
        let Call { method, url, body, deed, authorization } = call;
        let fault = |kind| self.fault(deed.clone(), kind);
        let mut request = self.client.request(method.clone(), url.clone()).header(ACCEPT, self.accept);
        if let Some(authorization) = authorization {
            request = request.header(AUTHORIZATION, authorization.header.clone());
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(|error| fault(self.kind_of(call, &error)))?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        let bytes = self.bytes(call, response).await.map_err(fault)?;
        self.judged(call, Received { status, headers, bytes }).map_err(fault)
    }

    /// Reads a body up to its limit, so that a small compressed one cannot exhaust memory.
    async fn bytes(&self, call: &Call, response: reqwest::Response) -> Result<Vec<u8>, FaultKind> {
        let mut bytes = Vec::new();
        let mut stream = response.bytes_stream();
        while let Some(chunk) = stream.next().await {
            let chunk = chunk.map_err(|error| self.kind_of(call, &error))?;
            if bytes.len() + chunk.len() > limits::ANSWER_BYTES_MAX {
                return Err(FaultKind::TooMuch);
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(bytes)
    }

    fn judged(&self, call: &Call, received: Received) -> Result<Answer, FaultKind> {
        let Received { status, headers, bytes } = received;
        if (200..300).contains(&status) {
            let about = About { deed: call.deed.clone(), host: self.host(), status };
            return Ok(Answer::new(about, &headers, bytes));
        }
        let refusal = Refusal { status, headers: &headers, now: self.clock.now() };
        Err(refusal.kind(|| call.scrubbed(&String::from_utf8_lossy(&bytes))))
    }

    fn kind_of(&self, call: &Call, error: &reqwest::Error) -> FaultKind {
        let because = one_line(&call.scrubbed(&cause::innermost(error)));
        if let Some(because) = cause::tls(error) {
            return FaultKind::Certificate { because: one_line(&because) };
        }
        match (error.is_connect(), error.is_timeout()) {
            (true, true) => FaultKind::Unreachable { because: "nothing answers in time".to_owned() },
            (true, false) => FaultKind::Unreachable { because },
            (false, true) => FaultKind::Slow { seconds: self.time_limit.as_secs() },
            (false, false) => FaultKind::Lost { because },
        }
    }

    /// Returns the address of a web page on the host.
    pub(super) fn page(&self, path: &[&str]) -> Option<String> {
        let mut url = self.base.clone();
        url.path_segments_mut().ok()?.clear().extend(path);
        Some(url.into())
    }

    /// Returns the current time.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns an error of this forge.
    pub(super) fn fault(&self, deed: String, kind: FaultKind) -> ForgeFault {
        ForgeFault { deed, host: self.host(), kind }
    }

    fn host(&self) -> String {
        let host = self.base.host_str().unwrap_or_default();
        self.base.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
    }
}

/// A received response.
struct Received {
    status: u16,
    headers: HeaderMap,
    bytes: Vec<u8>,
}

/// Returns whether an immediate retry may succeed.
const fn is_passing(kind: &FaultKind) -> bool {
    matches!(kind, FaultKind::Lost { .. } | FaultKind::Broken { status: 502..=504, .. })
}
