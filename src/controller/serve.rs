//! The two HTTP ports: metrics, and the kubelet's probes.

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

/// Content type. Prometheus refuses metrics without it.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Maximum number of concurrent connections of a port; further ones wait.
const CONNECTIONS_MAX: usize = 64;

/// Timeout for the head of a request.
const HEAD_MAX: Duration = Duration::from_secs(10);

/// Maximum duration of a connection: probes and scrapes take less.
const CONNECTION_MAX: Duration = Duration::from_secs(120);

/// Maximum time without progress of the loop: every request in it has a shorter deadline.
const ROUND_MAX: Duration = Duration::from_secs(60);

/// State for the probes.
#[derive(Debug)]
pub struct Health {
    start: Instant,
    /// Time of the loop's last progress: milliseconds since `start`.
    progressed: AtomicU64,
    is_served: AtomicBool,
}

impl Default for Health {
    fn default() -> Self {
        Self { start: Instant::now(), progressed: AtomicU64::new(0), is_served: AtomicBool::new(false) }
    }
}

impl Health {
    /// Records that the loop or a step of it has completed.
    pub fn progressed(&self) {
        let since = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.progressed.store(since, Ordering::SeqCst);
    }

    /// Records that the API server has answered and serves the required kinds.
    pub fn is_served(&self) {
        self.is_served.store(true, Ordering::SeqCst);
    }

    /// Returns the time without progress, if it is too long.
    #[must_use]
    pub fn stuck(&self) -> Option<Duration> {
        let progressed = Duration::from_millis(self.progressed.load(Ordering::SeqCst));
        let since = self.start.elapsed().saturating_sub(progressed);
        (since >= ROUND_MAX).then_some(since)
    }

    /// Returns whether it is ready, as leader or standby: the API server has answered, and serves the required kinds.
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

/// Serves `/metrics` until the future is dropped.
pub async fn serve_metrics(listener: TcpListener, metrics: Arc<Metrics>) {
    serve(listener, move |path| (path == "/metrics").then(|| (200, metrics.text()))).await;
}

/// Serves `/healthz` and `/readyz` until the future is dropped.
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
            // Most likely out of file descriptors: other connections will be closed.
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
            // The client sees why its connection ends.
            let _ = tokio::time::timeout(CONNECTION_MAX, builder.serve_connection(io, service)).await;
        });
    }
}
