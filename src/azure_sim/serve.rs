//! Connections, and the clock that wakes the world.
//!
//! Uses hyper without a framework: a lost answer must cut its connection, so a service must be able to fail.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

use super::host::Host;
use crate::sim::{Answer, Request, Response, Watch};

/// Maximum size of a request body: a Kubernetes object has at most 3 MiB.
const BODY_BYTES_MAX: usize = 8 << 20;
/// Default duration of a watch in seconds: the API server's minimum.
const WATCH_SECONDS: u64 = 1_800;
/// Maximum sleep of the clock if no event is scheduled.
const SLEEP_MAX: Duration = Duration::from_secs(3_600);
/// Timeout of a client's TLS handshake.
const HANDSHAKE_MAX: Duration = Duration::from_secs(10);

/// A connection that is cut instead of answered.
#[derive(Debug, thiserror::Error)]
#[error("the answer is lost")]
pub(super) struct Lost;

pub(super) type Body = BoxBody<Bytes, Infallible>;

/// Serves until it is stopped.
pub(crate) async fn run(listener: TcpListener, acceptor: TlsAcceptor, host: Arc<Host>) {
    let clock = tokio::spawn(tick(Arc::clone(&host)));
    let _stops_with_this = AbortOnDrop(clock);
    let mut connections = tokio::task::JoinSet::new();
    loop {
        // Finished connections are removed; running ones end with the set.
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) => {
                connections.spawn(connection(stream, acceptor.clone(), Arc::clone(&host)));
            }
            // Probably out of file descriptors: other connections will be closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    }
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Wakes the world when an event is due.
pub(super) async fn tick(host: Arc<Host>) {
    loop {
        let wait = match host.advance() {
            Some(next) => Duration::try_from(next.duration_since(host.clock.now())).unwrap_or_default(),
            None => SLEEP_MAX,
        };
        tokio::select! {
            () = tokio::time::sleep(wait.min(SLEEP_MAX)) => {}
            () = host.planned.notified() => {}
        }
    }
}

async fn connection(stream: TcpStream, acceptor: TlsAcceptor, host: Arc<Host>) {
    let _ = stream.set_nodelay(true);
    let Ok(Ok(stream)) = tokio::time::timeout(HANDSHAKE_MAX, acceptor.accept(stream)).await else { return };
    let service = service_fn(move |request| answer(Arc::clone(&host), request));
    // Errors of a connection are the client's concern.
    let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
}

async fn answer(host: Arc<Host>, request: hyper::Request<Incoming>) -> Result<hyper::Response<Body>, Lost> {
    let (parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, BODY_BYTES_MAX).collect().await else {
        return Ok(plain(413, "the body is too large or was cut"));
    };
    let request = asked(&parts, body.to_bytes().to_vec());
    let response = arrived(host.request(&request)).await;
    told(host, response)
}

/// Waits until a response arrives: a late one is delayed, a silent one never arrives.
pub(super) async fn arrived(response: Response) -> Response {
    match response {
        Response::Silent => std::future::pending().await,
        Response::Late(answer, by) => {
            tokio::time::sleep(by.unsigned_abs()).await;
            Response::Answer(answer)
        }
        response @ (Response::Answer(_) | Response::Lost | Response::Watch(_)) => response,
    }
}

/// Converts an HTTP request.
pub(super) fn asked(parts: &http::request::Parts, body: Vec<u8>) -> Request {
    let headers: BTreeMap<String, String> = parts
        .headers
        .iter()
        .filter_map(|(name, value)| Some((name.as_str().to_owned(), value.to_str().ok()?.to_owned())))
        .collect();
    let target = parts.uri.path_and_query().map_or("/", |target| target.as_str()).to_owned();
    Request { method: parts.method.as_str().to_owned(), target, headers, body }
}

/// Converts a response to HTTP.
pub(super) fn told(host: Arc<Host>, response: Response) -> Result<hyper::Response<Body>, Lost> {
    match response {
        Response::Answer(answer) | Response::Late(answer, _) => Ok(whole(answer)),
        Response::Lost | Response::Silent => Err(Lost),
        Response::Watch(watch) => Ok(stream(host, watch)),
    }
}

fn whole(answer: Answer) -> hyper::Response<Body> {
    let mut builder = hyper::Response::builder().status(answer.status);
    for (name, value) in &answer.headers {
        builder = builder.header(name, value);
    }
    builder
        .body(Full::new(Bytes::from(answer.body)).boxed())
        .unwrap_or_else(|_| plain(500, "the simulator made an answer that HTTP cannot carry"))
}

fn plain(status: u16, text: &'static str) -> hyper::Response<Body> {
    let mut response = hyper::Response::new(Full::new(Bytes::from_static(text.as_bytes())).boxed());
    *response.status_mut() =
        hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    response
}

/// Returns a watch's answer: one line per event, until the watch ends or the client disconnects.
fn stream(host: Arc<Host>, watch: Watch) -> hyper::Response<Body> {
    let (sender, body) = http_body_util::channel::Channel::<Bytes, Infallible>::new(8);
    tokio::spawn(follow(host, watch, sender));
    let mut response = hyper::Response::new(body.boxed());
    response
        .headers_mut()
        .insert("content-type", hyper::header::HeaderValue::from_static("application/json"));
    response
}

async fn follow(host: Arc<Host>, mut watch: Watch, mut sender: http_body_util::channel::Sender<Bytes>) {
    let end = tokio::time::sleep(Duration::from_secs(watch.timeout_seconds.unwrap_or(WATCH_SECONDS)));
    tokio::pin!(end);
    loop {
        // Registered before the events are read, so that no change is missed.
        let changed = host.changed.notified();
        tokio::pin!(changed);
        changed.as_mut().enable();
        let events = host.watch(&mut watch);
        if !events.lines.is_empty() && sender.send_data(Bytes::from(events.lines)).await.is_err() {
            return;
        }
        if events.is_over {
            return;
        }
        tokio::select! {
            () = changed => {}
            () = &mut end => return,
        }
    }
}
