//! The two ports: metrics, and the probes of the kubelet.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpListener;
use tokio::time::Instant;

use super::metrics::Metrics;

/// What is served. Prometheus refuses metrics that do not say so.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// How many connections a port serves at once; whoever comes then waits.
const CONNECTIONS_MAX: usize = 64;

/// How long a connection may take to send a request's head.
const HEAD_MAX: Duration = Duration::from_secs(10);

/// How long a connection may last: probes and scrapes take less.
const CONNECTION_MAX: Duration = Duration::from_secs(120);

/// How long the loop may take to come round: every request in it has a deadline below that.
const ROUND_MAX: Duration = Duration::from_secs(60);

/// What the probes ask.
#[derive(Debug)]
pub struct Health {
    start: Instant,
    /// When the loop made progress last: milliseconds since `start`.
    progressed: AtomicU64,
    is_served: AtomicBool,
}

impl Default for Health {
    fn default() -> Self {
        Self { start: Instant::now(), progressed: AtomicU64::new(0), is_served: AtomicBool::new(false) }
    }
}

impl Health {
    /// Notes that the loop came round, or that a step of it has ended.
    pub fn progressed(&self) {
        let since = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.progressed.store(since, Ordering::SeqCst);
    }

    /// Notes that the API server has answered and serves the kinds.
    pub fn is_served(&self) {
        self.is_served.store(true, Ordering::SeqCst);
    }

    /// Returns for how long nothing has gone on, where that is too long.
    #[must_use]
    pub fn stuck(&self) -> Option<Duration> {
        let progressed = Duration::from_millis(self.progressed.load(Ordering::SeqCst));
        let since = self.start.elapsed().saturating_sub(progressed);
        (since >= ROUND_MAX).then_some(since)
    }

    /// Returns whether it can work, leader or standby: the API server has answered, and serves the kinds.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.is_served.load(Ordering::SeqCst)
    }

    fn alive(&self) -> (u16, String) {
        match self.stuck() {
            None => (200, "ok\n".to_owned()),
            Some(since) => (503, format!("no progress for {} s\n", since.as_secs())),
        }
    }

    fn ready(&self) -> (u16, String) {
        match self.is_ready() {
            true => (200, "ok\n".to_owned()),
            false => (
                503,
                "waiting for the API server to answer and to serve NodePools and NodeClaims\n".to_owned(),
            ),
        }
    }
}

/// Serves `/metrics` until it is dropped.
pub async fn serve_metrics(listener: TcpListener, metrics: Arc<Metrics>) {
    serve(listener, move |path| (path == "/metrics").then(|| (200, metrics.text()))).await;
}

/// Serves `/healthz` and `/readyz` until it is dropped.
pub async fn serve_health(listener: TcpListener, health: Arc<Health>) {
    serve(listener, move |path| match path {
        "/healthz" => Some(health.alive()),
        "/readyz" => Some(health.ready()),
        _ => None,
    })
    .await;
}

async fn serve<F>(listener: TcpListener, answer: F)
where
    F: Fn(&str) -> Option<(u16, String)> + Send + Sync + 'static,
{
    let answer = Arc::new(answer);
    let mut connections = tokio::task::JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= CONNECTIONS_MAX {
            connections.join_next().await;
            continue;
        }
        let Ok((stream, _)) = listener.accept().await else {
            // Out of file descriptors, most likely: others will be closed.
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            continue;
        };
        let answer = Arc::clone(&answer);
        let service = service_fn(move |request: hyper::Request<Incoming>| {
            let (status, text) =
                answer(request.uri().path()).unwrap_or_else(|| (404, "there is nothing here\n".to_owned()));
            let mut response = hyper::Response::new(Full::new(Bytes::from(text)));
            response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(TEXT));
            *response.status_mut() =
                hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
            async move { Ok::<_, Infallible>(response) }
        });
        connections.spawn(async move {
            let io = TokioIo::new(stream);
            let mut builder = hyper::server::conn::http1::Builder::new();
            builder.timer(TokioTimer::new()).header_read_timeout(HEAD_MAX);
            // Whatever ends a connection, its client knows best.
            let _ = tokio::time::timeout(CONNECTION_MAX, builder.serve_connection(io, service)).await;
        });
    }
}
