//! The two ports: metrics, and the probes of the kubelet.

use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use super::metrics::Metrics;

/// What is served. Prometheus refuses metrics that do not say so.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// What the probes ask.
#[derive(Debug, Default)]
pub struct Health {
    has_read: AtomicBool,
    is_leading: AtomicBool,
}

impl Health {
    /// Notes that the API server has answered.
    pub fn has_read(&self) {
        self.has_read.store(true, Ordering::SeqCst);
    }

    /// Notes whether the Lease is held.
    pub fn is_leading(&self, is_leading: bool) {
        self.is_leading.store(is_leading, Ordering::SeqCst);
    }

    /// Returns whether it works: a standby is ready as soon as the API server has answered.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.has_read.load(Ordering::SeqCst)
    }
}

/// Serves `/metrics` until it is dropped.
pub async fn serve_metrics(listener: TcpListener, metrics: Arc<Metrics>) {
    serve(listener, move |path| (path == "/metrics").then(|| (200, metrics.text()))).await;
}

/// Serves `/healthz` and `/readyz` until it is dropped.
pub async fn serve_health(listener: TcpListener, health: Arc<Health>) {
    serve(listener, move |path| match path {
        "/healthz" => Some((200, "ok\n".to_owned())),
        "/readyz" if health.is_ready() => Some((200, "ok\n".to_owned())),
        "/readyz" => Some((503, "the API server has not answered yet\n".to_owned())),
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
            // Whatever ends a connection, its client knows best.
            let _ = hyper::server::conn::http1::Builder::new().serve_connection(io, service).await;
        });
    }
}
