//! The HTTP client of Azure's pipeline: one connection pool, rustls with ring, no redirects.
//!
//! Must never follow a redirect (the token would be sent along), use plain HTTP except to this machine and its metadata
//! service, or put an address with its query into an error.

pub(crate) mod cause;
mod fault;

use std::sync::Arc;

use async_trait::async_trait;
use azure_core::http::headers::{HeaderName, HeaderValue, Headers};
use azure_core::http::{AsyncRawResponse, Body, HttpClient, Method, Request, Url};
use futures_util::StreamExt;

pub use fault::{TransportFault, Unreachable};

use super::cloud::is_loopback;
use super::{Cloud, limits, scrub};
use crate::arm::fault::ErrorBody;

/// Sends requests over pooled connections.
#[derive(Debug)]
pub(super) struct Client {
    /// For Azure; may go through a proxy (`HTTPS_PROXY`) unless the cloud is on this machine.
    outside: reqwest::Client,
    /// For this machine and its metadata service; never through a proxy.
    inside: reqwest::Client,
}

impl Client {
    /// Creates the clients of a cloud.
    ///
    /// # Errors
    /// If the cloud's certificate is invalid.
    pub(super) fn new(cloud: &Cloud) -> Result<Arc<Self>, TransportFault> {
        // `reqwest` uses the process-wide provider and panics without one. An existing one is just as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut inside = builder().no_proxy();
        if let (Some(pem), true) = (&cloud.root_certificate, cloud.is_loopback()) {
            let root = reqwest::Certificate::from_pem(pem.as_bytes());
            inside = inside.tls_certs_only([root.map_err(|_| TransportFault::BadCertificate)?]);
        }
        let build =
            |builder: reqwest::ClientBuilder| builder.build().map_err(|_| TransportFault::BadCertificate);
        Ok(Arc::new(Self { outside: build(builder())?, inside: build(inside)? }))
    }

    fn client_of(&self, url: &Url) -> Result<&reqwest::Client, TransportFault> {
        match url.scheme() {
            "https" if is_loopback(url) => Ok(&self.inside),
            "https" => Ok(&self.outside),
            // Managed identities: the machine's metadata service supports HTTP only.
            "http" if is_loopback(url) || is_link_local(url) => Ok(&self.inside),
            _ => Err(TransportFault::PlainHttp { host: host(url) }),
        }
    }

    async fn send(&self, request: &Request) -> Result<AsyncRawResponse, TransportFault> {
        let url = request.url();
        let client = self.client_of(url)?;
        let mut outgoing = client.request(method(request.method())?, url.clone());
        for (name, value) in request.headers().iter() {
            outgoing = outgoing.header(name.as_str(), value.as_str());
        }
        if let Body::Bytes(bytes) = request.body() {
            outgoing = outgoing.body(bytes.clone());
        }
        let host = host(url);
        let answer = outgoing.send().await.map_err(|error| fault::of(&host, &error))?;
        let status = answer.status().as_u16();
        let headers = headers(answer.headers());
        let mut body = body(answer, &host).await?;
        if is_for_a_token(url) && looks_like_html(&body) {
            return Err(TransportFault::NoIdentityService { host, status });
        }
        if let (400 | 401, Some(why)) = (status, sign_in_refused(request, &body)) {
            return Err(TransportFault::SignInRefused { why });
        }
        if status >= 400 {
            body = scrub::without_credentials(body, request);
        }
        Ok(AsyncRawResponse::from_bytes(status.into(), headers, body))
    }
}

#[async_trait]
impl HttpClient for Client {
    async fn execute_request(&self, request: &Request) -> azure_core::Result<AsyncRawResponse> {
        self.send(request).await.map_err(TransportFault::into_core)
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .connect_timeout(limits::CONNECT_TIMEOUT)
        .read_timeout(limits::READ_TIMEOUT)
        .timeout(limits::EXCHANGE_TIMEOUT)
}

/// Reads a body up to its limit, so that a small compressed one cannot exhaust memory.
async fn body(answer: reqwest::Response, host: &str) -> Result<Vec<u8>, TransportFault> {
    let mut bytes = Vec::new();
    let mut stream = answer.bytes_stream();
    while let Some(chunk) = stream.next().await {
        let chunk = chunk.map_err(|error| fault::of(host, &error))?;
        if bytes.len() + chunk.len() > limits::ANSWER_BYTES_MAX {
            return Err(TransportFault::TooLarge { host: host.to_owned() });
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

fn headers(map: &reqwest::header::HeaderMap) -> Headers {
    let mut headers = Headers::new();
    for (name, value) in map {
        // Headers that are not text are not needed.
        if let Ok(value) = value.to_str() {
            headers.insert(HeaderName::from(name.as_str().to_owned()), HeaderValue::from(value.to_owned()));
        }
    }
    headers
}

fn method(method: Method) -> Result<reqwest::Method, TransportFault> {
    reqwest::Method::from_bytes(method.as_ref().as_bytes())
        .map_err(|_| TransportFault::BadRequest("unknown method".to_owned()))
}

pub(super) fn looks_like_html(body: &[u8]) -> bool {
    body.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'<')
}

/// Returns Entra ID's error message. Azure's library cannot parse it: it borrows a string that always contains an
/// escape.
fn sign_in_refused(request: &Request, body: &[u8]) -> Option<String> {
    if !is_for_a_token(request.url()) {
        return None;
    }
    let clean = scrub::without_credentials(body.to_vec(), request);
    let error = ErrorBody::of(&serde_json::from_slice(&clean).ok()?)?;
    let words = error.message.split(" Trace ID:").next().unwrap_or_default();
    Some(if words.is_empty() { error.code } else { words.to_owned() })
}

fn is_for_a_token(url: &Url) -> bool {
    url.path().ends_with("/oauth2/v2.0/token")
}

fn host(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

fn is_link_local(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Ipv4(address)) => address.is_link_local(),
        Some(url::Host::Ipv6(_) | url::Host::Domain(_)) | None => false,
    }
}
