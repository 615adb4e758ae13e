//! An in-memory world: requests of the kube and Azure clients reach it without a connection, in the time of tokio's
//! clock, which tests can pause and advance.
//!
//! ```text
//!  kube::Client ──▶ Line ─┬─▶ World
//!  azure_core ────▶       └─ (late, cut, silent)
//! ```
//!
//! Must never answer anything itself, nor keep state that a connection could not keep.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::Path;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use azure_core::http::headers::{HeaderName, HeaderValue, Headers};
use azure_core::http::{AsyncRawResponse, Body as CoreBody, HttpClient, Request as CoreRequest};
use jiff::Timestamp;
use tower_service::Service;

use super::host::{Host, Recorder, locked};
use super::serve::{self, Lost};
use crate::azure::{Azure, Cloud, Settings, SetupFault, SignIn, TransportFault, limits};
use crate::clock::Clock;
use crate::cluster::{Cluster, ClusterFailure};
use crate::model::Secret;
use crate::sim::{Request, Response, World};

/// The CA of the in-memory API server, which has no TLS: kubelets there accept any.
const CA: &str = "bm9uZQ==";

/// A world that runs in tokio's time.
#[derive(Clone, Debug)]
pub struct InMemory(Arc<Host>);

/// How a request is delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Applied immediately, and answered after this time.
    Answered(Duration),
    /// Applied, but the connection is cut instead of answered.
    Cut,
    /// Applied, but never answered.
    Unanswered,
    /// Never arrives, without an error.
    Swallowed,
    /// Answered immediately from a cache: with the newest answer of at least this age, or the oldest one.
    Remembered(Duration),
}

/// An answer and its time.
type Remembered = (tokio::time::Instant, Response);

/// Chooses the delivery of each request, in the order of sending.
type Deliver = Box<dyn FnMut(&Request) -> Delivery + Send>;

/// The reason for a missing answer.
type Refused = Box<dyn std::error::Error + Send + Sync>;

/// A process's connection to a world. Clones share it.
#[derive(Clone)]
pub struct Line {
    host: Arc<Host>,
    deliver: Arc<Mutex<Deliver>>,
    /// Cached answers to reads, by request target.
    answers: Arc<Mutex<BTreeMap<String, VecDeque<Remembered>>>>,
}

impl InMemory {
    /// Runs a world from this time on; `record` is the file to which exchanges with Azure are appended.
    ///
    /// # Errors
    /// The file cannot be created.
    pub fn of(world: World, now: Timestamp, record: Option<&Path>) -> anyhow::Result<Self> {
        let recorder = record.map(Recorder::create).transpose()?;
        let host = Arc::new(Host::new(world, Clock::beginning_at(now), recorder));
        tokio::spawn(serve::tick(Arc::clone(&host)));
        Ok(Self(host))
    }

    /// Returns the clock of the world.
    #[must_use]
    pub fn clock(&self) -> Clock {
        self.0.clock
    }

    /// Immediately answers a request from outside nodeform's processes.
    #[must_use]
    pub fn request(&self, request: &Request) -> Response {
        self.0.request(request)
    }

    /// Reads the world after processing due events.
    pub fn seen<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        self.0.advance();
        self.0.seen(look)
    }

    /// Returns a connection to the world that delivers requests as the function says.
    #[must_use]
    pub fn line(&self, deliver: impl FnMut(&Request) -> Delivery + Send + 'static) -> Line {
        Line {
            host: Arc::clone(&self.0),
            deliver: Arc::new(Mutex::new(Box::new(deliver))),
            answers: Arc::default(),
        }
    }
}

impl Line {
    /// Replaces the delivery of further requests.
    pub fn deliver(&self, deliver: impl FnMut(&Request) -> Delivery + Send + 'static) {
        *locked(&self.deliver) = Box::new(deliver);
    }

    /// Reads the world.
    pub(super) fn world<T>(&self, look: impl FnOnce(&World) -> T) -> T {
        self.host.seen(look)
    }

    /// Returns the world's cluster.
    ///
    /// # Errors
    /// None are known.
    pub fn cluster(&self) -> Result<Cluster, ClusterFailure> {
        let (line, clock) = (self.clone(), self.host.clock);
        let connect = move || Ok(kube::Client::new(line.clone(), "default"));
        Cluster::reached_by(connect, "https://kubernetes.simulated", Some(CA.to_owned()), clock)
    }

    /// Returns Azure for the identity in the world's settings.
    ///
    /// # Errors
    /// A setting is invalid.
    pub fn azure(&self) -> Result<Azure, SetupFault> {
        let sign_in = self.host.seen(|world| SignIn::ClientSecret {
            tenant: world.settings().tenant.clone(),
            client: world.settings().client.clone(),
            secret: Secret::new(world.credentials().client_secret.reveal().to_owned()),
        });
        let cloud = Cloud { name: "SimulatedCloud".to_owned(), ..Cloud::public() };
        let settings = Settings { cloud, sign_in, holder: "in-memory".to_owned() };
        Azure::sent_by(settings, Arc::new(self.clone()))
    }

    /// Sends a request.
    async fn send(&self, request: &Request) -> Result<Response, Lost> {
        let delivery = locked(&self.deliver)(request);
        if delivery == Delivery::Swallowed {
            return std::future::pending().await;
        }
        let response = self.host.request(request);
        match delivery {
            Delivery::Remembered(age) => return Ok(self.remembered(request, response, age)),
            Delivery::Answered(after) => tokio::time::sleep(after).await,
            Delivery::Cut => return Err(Lost),
            Delivery::Unanswered | Delivery::Swallowed => std::future::pending().await,
        }
        Ok(serve::arrived(response).await)
    }
}

impl Line {
    /// Caches an answer, and returns the newest one of at least this age, or the oldest one.
    fn remembered(&self, request: &Request, response: Response, age: Duration) -> Response {
        let now = tokio::time::Instant::now();
        let mut answers = locked(&self.answers);
        let kept = answers.entry(request.target.clone()).or_default();
        kept.push_back((now, response.clone()));
        while kept.get(1).is_some_and(|(at, _)| *at + age <= now) {
            kept.pop_front();
        }
        kept.front().map_or(response, |(_, response)| response.clone())
    }
}

impl fmt::Debug for Line {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Line")
    }
}

impl Service<http::Request<kube::client::Body>> for Line {
    type Response = http::Response<serve::Body>;
    type Error = Refused;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Refused>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Refused>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<kube::client::Body>) -> Self::Future {
        let line = self.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = body.collect_bytes().await?.to_vec();
            let token = line.host.seen(|world| world.credentials().cluster_token.reveal().to_owned());
            let asked = serve::asked(&parts, body).header("authorization", &format!("Bearer {token}"));
            let response = line.send(&asked).await?;
            Ok(serve::told(line.host, response)?)
        })
    }
}

#[async_trait]
impl HttpClient for Line {
    async fn execute_request(&self, request: &CoreRequest) -> azure_core::Result<AsyncRawResponse> {
        let host = request.url().host_str().unwrap_or_default().to_owned();
        let mut asked =
            Request::new(request.method().as_ref(), &request.path_and_query()).header("host", &host);
        for (name, value) in request.headers().iter() {
            asked = asked.header(name.as_str(), value.as_str());
        }
        if let CoreBody::Bytes(bytes) = request.body() {
            asked.body = bytes.to_vec();
        }
        let why = match tokio::time::timeout(limits::READ_TIMEOUT, self.send(&asked)).await {
            Ok(Ok(Response::Answer(answer))) => {
                let mut headers = Headers::new();
                for (name, value) in answer.headers {
                    headers.insert(HeaderName::from(name.to_ascii_lowercase()), HeaderValue::from(value));
                }
                return Ok(AsyncRawResponse::from_bytes(answer.status.into(), headers, answer.body));
            }
            Ok(
                Ok(Response::Lost | Response::Silent | Response::Late(..) | Response::Watch(_)) | Err(Lost),
            ) => "the answer is lost",
            Err(_) => "no answer in time",
        };
        Err(TransportFault::Lost { host, why: why.to_owned() }.into_core())
    }
}
