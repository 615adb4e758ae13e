//! A forge by script on loopback, and a recorder before a real one: every request is remembered and judged.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::Response;
use nodeform::clock::Clock;
use nodeform::forge::{Credential, Forge, ForgeFault, ForgeKind, Settings, connect};
use nodeform::git::remote::Address;
use nodeform::model::Secret;
use serde_json::Value;
use tokio::sync::oneshot;

use super::judge::{self, Asked};
use super::specification::Specification;

pub(crate) const TOKEN: &str = "canary-forge-token";

/// What is answered.
#[derive(Clone, Debug)]
pub(crate) enum Reply {
    /// JSON, which is judged where there is a description.
    Json(u16, Value),
    /// Anything else; the client's request is judged, and this is not.
    Raw { status: u16, headers: Vec<(&'static str, String)>, body: String },
    /// A body that does not end.
    Endless,
    /// No answer at all.
    Never,
    /// The connection ends within the body.
    Broken,
}

impl Reply {
    pub(crate) fn raw(status: u16, body: &str) -> Self {
        Self::Raw { status, headers: Vec::new(), body: body.to_owned() }
    }

    pub(crate) fn with(self, name: &'static str, value: &str) -> Self {
        let (status, mut headers, body) = match self {
            Self::Json(status, body) => (status, Vec::new(), body.to_string()),
            Self::Raw { status, headers, body } => (status, headers, body),
            Self::Endless | Self::Never | Self::Broken => panic!("it has no headers"),
        };
        headers.push((name, value.to_owned()));
        Self::Raw { status, headers, body }
    }
}

/// Where answers come from.
enum Source {
    /// The next one of a list; the last one again and again.
    List(Mutex<VecDeque<Reply>>),
    /// Another server.
    Forward(String, reqwest::Client),
}

struct Shared {
    source: Source,
    specification: Option<Specification>,
    seen: Mutex<Vec<Asked>>,
    faults: Mutex<Vec<String>>,
    /// What the API answers instead of the server.
    refuses: Mutex<Option<Reply>>,
    /// Whether nothing is answered at all.
    is_silent: AtomicBool,
    /// Who waits for the next write, whose answer is lost.
    loses: Mutex<Option<oneshot::Sender<String>>>,
}

/// A server that runs until the test ends.
pub(crate) struct Fake {
    shared: Arc<Shared>,
    host: String,
}

impl Fake {
    /// Answers with these, one after the other, and then with the last one.
    pub(crate) fn answering(specification: Option<Specification>, replies: Vec<Reply>) -> Self {
        Self::start(specification, Source::List(Mutex::new(replies.into())))
    }

    /// Passes everything on to a server, and judges what is asked.
    pub(crate) fn before(url: &str, specification: Option<Specification>) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        Self::start(specification, Source::Forward(url.to_owned(), client))
    }

    fn start(specification: Option<Specification>, source: Source) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("it can be set");
        let host = listener.local_addr().expect("an address").to_string();
        let shared = Arc::new(Shared {
            source,
            specification,
            seen: Mutex::default(),
            faults: Mutex::default(),
            refuses: Mutex::default(),
            is_silent: AtomicBool::default(),
            loses: Mutex::default(),
        });
        let app = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { shared, host }
    }

    /// The host and port.
    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    /// A client of a repository on this server.
    pub(crate) fn client(&self, kind: ForgeKind, path: &str) -> Box<dyn Forge> {
        self.client_of(kind, path, TOKEN)
    }

    /// A client with another token.
    pub(crate) fn client_of(&self, kind: ForgeKind, path: &str, token: &str) -> Box<dyn Forge> {
        let credential = Credential::Token(Secret::new(token.to_owned()));
        connect(&self.settings(kind, path, credential)).expect("the settings are valid")
    }

    pub(crate) fn settings(&self, kind: ForgeKind, path: &str, credential: Credential) -> Settings {
        settings(&format!("http://{}/{path}", self.host), kind, credential)
    }

    /// The requests so far, as lines. Panics where one of them, or an answer, is not as described.
    pub(crate) fn transcript(&self) -> String {
        assert_eq!(self.faults(), [""; 0]);
        let seen = self.shared.seen.lock().expect("it is not poisoned");
        seen.iter().map(|asked| asked.shown() + "\n").collect()
    }

    /// Has the API answer this, or pass on again what it is asked; Git is served all the time.
    pub(crate) fn refuses(&self, reply: Option<Reply>) {
        *self.shared.refuses.lock().expect("it is not poisoned") = reply;
    }

    /// Answers nothing, to nobody, or passes on again what is asked.
    pub(crate) fn is_silent(&self, is_silent: bool) {
        self.shared.is_silent.store(is_silent, Ordering::Relaxed);
    }

    /// Lets the next write through and loses its answer; says once it is done what was written.
    pub(crate) fn loses_next_write(&self) -> oneshot::Receiver<String> {
        let (done, is_done) = oneshot::channel();
        *self.shared.loses.lock().expect("it is not poisoned") = Some(done);
        is_done
    }

    /// What is not as described.
    pub(crate) fn faults(&self) -> Vec<String> {
        self.shared.faults.lock().expect("it is not poisoned").clone()
    }

    pub(crate) fn seen(&self) -> Vec<Asked> {
        self.shared.seen.lock().expect("it is not poisoned").clone()
    }

    /// Forgets the requests so far, so that a transcript begins here.
    pub(crate) fn forget(&self) {
        self.shared.seen.lock().expect("it is not poisoned").clear();
    }
}

/// Settings at a time that stands.
pub(crate) fn settings(address: &str, kind: ForgeKind, credential: Credential) -> Settings {
    let now = "2026-11-29T12:00:00Z".parse().expect("a time");
    Settings {
        kind,
        address: Address::parse(address, true).expect("an address"),
        credential,
        clock: Clock::beginning_at(now),
        time_limit: None,
    }
}

/// An error as a reader sees it.
pub(crate) fn told<T: std::fmt::Debug>(result: Result<T, ForgeFault>) -> String {
    let fault = result.expect_err("it fails");
    format!("error: {fault}\nhint: {}", fault.hint())
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let query = url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes());
    let header =
        |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let asked = Asked {
        method: method.to_string(),
        path: uri.path().to_owned(),
        query: query.into_owned().collect(),
        authorization: header("authorization"),
        version: header("x-github-api-version"),
        body: String::from_utf8_lossy(&body).into_owned(),
    };
    shared.seen.lock().expect("it is not poisoned").push(asked.clone());
    let operation = shared.specification.as_ref().map(|known| judge::request(known, &asked));
    let mut faults: Vec<String> = operation.iter().filter_map(|judged| judged.clone().err()).collect();
    let reply = match &shared.source {
        Source::List(replies) => {
            let mut replies = replies.lock().expect("it is not poisoned");
            if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() }.expect("a reply")
        }
        Source::Forward(url, client) => {
            if shared.is_silent.load(Ordering::Relaxed) {
                return std::future::pending().await;
            }
            let refuses = shared.refuses.lock().expect("it is not poisoned").clone();
            if let Some(reply) = refuses.filter(|_| uri.path().starts_with("/api/")) {
                return response(reply).await;
            }
            // Git asks by POST what it fetches.
            let is_write = method != Method::GET && !uri.path().ends_with("git-upload-pack");
            let what = format!("{method} {}", uri.path());
            let request = client.request(method, format!("{url}{uri}"));
            let response = forwarded(&shared, faults, request, headers, body).await;
            let loses = shared.loses.lock().expect("it is not poisoned").take_if(|_| is_write);
            if let Some(done) = loses {
                let _ = done.send(what);
                return std::future::pending().await;
            }
            return response;
        }
    };
    if let (Some(known), Some(Ok(operation)), Reply::Json(status, body)) =
        (&shared.specification, &operation, &reply)
    {
        faults.extend(judge::answer(known, operation, *status, body).err());
    }
    shared.faults.lock().expect("it is not poisoned").extend(faults);
    response(reply).await
}

async fn forwarded(
    shared: &Shared,
    faults: Vec<String>,
    request: reqwest::RequestBuilder,
    mut headers: HeaderMap,
    body: Bytes,
) -> Response {
    shared.faults.lock().expect("it is not poisoned").extend(faults);
    headers.remove("host");
    let answer = request.headers(headers).body(body).send().await.expect("the forge answers");
    let mut response = Response::builder().status(answer.status());
    for name in ["content-type", "link", "location"] {
        if let Some(value) = answer.headers().get(name) {
            response = response.header(name, value);
        }
    }
    let bytes = answer.bytes().await.expect("a body");
    response.body(Body::from(bytes)).expect("a response")
}

pub(super) async fn response(reply: Reply) -> Response {
    let part = || Ok::<_, Infallible>(Bytes::from(vec![b' '; 1 << 16]));
    match reply {
        Reply::Json(status, body) => {
            let response = Response::builder().status(status).header("content-type", "application/json");
            response.body(Body::from(body.to_string())).expect("a response")
        }
        Reply::Raw { status, headers, body } => {
            let status = StatusCode::from_u16(status).expect("a status");
            let with = |response: axum::http::response::Builder, (name, value)| {
                response.header::<&str, String>(name, value)
            };
            let response = headers.into_iter().fold(Response::builder().status(status), with);
            response.body(Body::from(body)).expect("a response")
        }
        Reply::Endless => Response::new(Body::from_stream(futures_util::stream::repeat_with(part))),
        Reply::Never => std::future::pending().await,
        Reply::Broken => {
            let parts = vec![Ok(Bytes::from("[")), Err(std::io::Error::other("cut"))];
            Response::new(Body::from_stream(futures_util::stream::iter(parts)))
        }
    }
}
