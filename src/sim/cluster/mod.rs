//! The Kubernetes API: kube-apiserver's answers, for kinds of any group.

mod bind;
mod body;
mod delete;
mod discovery;
mod evict;
mod fields;
mod kinds;
mod openapi;
mod patch;
mod prepare;
mod read;
mod route;
mod scale;
mod selector;
mod status;
mod store;
mod table;
mod watch;
mod write;

use jiff::Timestamp;
use serde_json::{Value, json};

pub(crate) use bind::{assign, set_condition};
pub(crate) use kinds::{
    BUDGETS, DAEMON_SETS, DEPLOYMENTS, JOBS, KindId, NAMESPACES, NODES, PODS, REPLICA_SETS, SECRETS,
    STATEFUL_SETS, usual_definitions,
};
pub(crate) use prepare::{defaults, pod_defaults};
pub(crate) use selector::Labels;
pub(crate) use status::Refusal;
pub(crate) use store::{Grace, Name, Store};
pub use watch::{Watch, WatchEvents};

use super::http::{Answer, Request, Response};
use super::reader;
use super::sensitive::Sensitive;
use route::{Route, Target};

/// Path of SelfSubjectReview, where callers request their own identity.
const WHO: &str = "/apis/authentication.k8s.io/v1/selfsubjectreviews";

/// The cluster: its API server and objects.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    pub(crate) store: Store,
    /// The kubeconfig's token.
    token: Sensitive,
    /// The token of the read-only identity.
    pub(crate) reader_token: Sensitive,
    /// Refused writes of that identity.
    pub(crate) refused: Vec<String>,
    version: String,
}

impl Cluster {
    pub(crate) fn new(store: Store, token: Sensitive, version: String) -> Self {
        Self { store, token, reader_token: Sensitive::default(), refused: Vec::new(), version }
    }

    /// Answers a request.
    pub(crate) fn request(&mut self, now: Timestamp, request: &Request) -> Response {
        match self.answer(now, request) {
            Ok(response) => response,
            Err(refusal) => Response::Answer(refusal.answer()),
        }
    }

    fn answer(&mut self, now: Timestamp, request: &Request) -> Result<Response, Refusal> {
        let path = request.path();
        match path.trim_end_matches('/') {
            "/healthz" | "/livez" | "/readyz" => {
                let mut answer = Answer::empty(200).with("Content-Type", "text/plain; charset=utf-8");
                answer.body = b"ok".to_vec();
                return Ok(Response::Answer(answer));
            }
            "/version" => return Ok(ok(&self.version())),
            _ => {}
        }
        self.let_in(request)?;
        if let Some(found) = discovery::answer(&self.store.kinds, &path) {
            return Ok(ok(&found));
        }
        if let Some(found) = openapi::answer(&self.store.kinds, &path) {
            return Ok(ok(&found));
        }
        if request.method == "POST" && path == WHO {
            return Ok(Response::Answer(Answer::json(201, &Self::who(request))));
        }
        let route = Route::of(&self.store.kinds, &path)?;
        match (request.method.as_str(), &route.target) {
            ("GET", _) if is_watch(request) => {
                watch::begin(&self.store, &route, request).map(Response::Watch)
            }
            ("GET", Target::All) => read::list(&self.store, &route, request, now),
            ("GET", Target::One(_)) => read::get(&self.store, &route, request, now),
            ("POST", Target::All) => write::create(&mut self.store, &route, request, now),
            ("POST", Target::One(_)) => match route.subresource.as_deref() {
                Some("eviction") => evict::evict(&mut self.store, &route, request, now),
                Some("binding") => bind::bind(&mut self.store, &route, request, now),
                _ => Err(Refusal::method_not_allowed()),
            },
            ("PUT", Target::One(_)) => write::replace(&mut self.store, &route, request),
            ("PATCH", Target::One(_)) => write::patch(&mut self.store, &route, request, now),
            ("DELETE", Target::One(_)) => delete::one(&mut self.store, &route, request, now),
            ("DELETE", Target::All) => delete::all(&mut self.store, &route, request, now),
            _ => Err(Refusal::method_not_allowed()),
        }
    }

    /// Returns the caller's identity: the kubeconfig's user, or the impersonated user.
    fn who(request: &Request) -> Value {
        let name = request.head("impersonate-user").unwrap_or("kubernetes-admin");
        json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview", "metadata": {},
            "status": {"userInfo": {"username": name, "groups": ["system:authenticated"]}},
        })
    }

    /// Authenticates and authorizes the caller.
    fn let_in(&mut self, request: &Request) -> Result<(), Refusal> {
        match request.bearer() {
            Some(token) if token == self.token.reveal() => Ok(()),
            Some(token) if !token.is_empty() && token == self.reader_token.reveal() => {
                if reader::may_ask(request) {
                    return Ok(());
                }
                self.refused.push(reader::refused(request));
                Err(Refusal::forbidden())
            }
            Some(_) | None => Err(Refusal::unauthorized()),
        }
    }

    fn version(&self) -> Value {
        let mut parts = self.version.split('.');
        json!({
            "major": parts.next().unwrap_or_default(), "minor": parts.next().unwrap_or_default(),
            "gitVersion": format!("v{}", self.version), "gitCommit": "", "gitTreeState": "clean",
            "buildDate": "1970-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "linux/amd64",
        })
    }
}

fn is_watch(request: &Request) -> bool {
    matches!(request.query("watch").as_deref(), Some("true" | "1"))
}

/// Returns an answer with status 200 and this body.
pub(crate) fn ok(body: &Value) -> Response {
    Response::Answer(Answer::json(200, body))
}
