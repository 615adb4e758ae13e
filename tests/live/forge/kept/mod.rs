//! A forge that keeps what is done: pull requests with reviews, comments and statuses, and Git beside its API. Each request and each
//! answer is judged by the forge's own description. For stories with the real program.

mod azure_devops;
mod github;
mod gitlab;

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::Response;
use jiff::Timestamp;
use serde_json::Value;

use super::fake::{Reply, response};
use super::judge::{self, Asked};
use super::specification::Specification;
use crate::review::forge::Forge as Git;

pub(crate) use azure_devops::AzureDevOps;
pub(crate) use github::GitHub;
pub(crate) use gitlab::GitLab;

/// Who has an account: the program first. Carol may only read.
const PEOPLE: [&str; 4] = ["nodeform", "amy", "bob", "carol"];
const READER: u64 = 4;

/// How a forge is spoken to.
pub(crate) trait Dialect: Send + Sync + 'static {
    /// The word of a NodeFleet.
    fn word(&self) -> &'static str;
    /// The path of the repository, as Git has it.
    fn path(&self) -> &'static str;
    /// What requests and answers are judged by.
    fn specification(&self) -> &Specification;
    /// Answers a request, and keeps what it asks for.
    fn answer(&self, kept: &mut Repository, asked: &Asked) -> Reply;
}

/// A person, or the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Account(u64);

impl Account {
    pub(crate) fn of(name: &str) -> Self {
        let place = PEOPLE.iter().position(|known| *known == name).expect("an account");
        Self(place as u64 + 1)
    }

    fn by_id(id: &str) -> Option<Self> {
        id.parse().ok().filter(|id| (1..=PEOPLE.len() as u64).contains(id)).map(Self)
    }

    fn name(self) -> &'static str {
        PEOPLE[usize::try_from(self.0).expect("small") - 1]
    }

    fn may_write(self) -> bool {
        self.0 != READER
    }
}

const PROGRAM: Account = Account(1);

/// An approval, of the head of its time.
#[derive(Clone, Debug)]
struct Approval {
    by: Account,
    at: String,
    commit: String,
}

#[derive(Clone, Debug)]
struct Note {
    id: u64,
    by: Account,
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Ending {
    Open,
    Closed,
    Merged { commit: String, by: Account },
}

/// A pull request.
#[derive(Clone, Debug)]
struct Pull {
    number: u64,
    source: String,
    target: String,
    title: String,
    body: String,
    ending: Ending,
    /// When it was opened, closed, merged, or written to last.
    touched: String,
    /// What was pushed, each with its time.
    heads: Vec<(String, String)>,
    approvals: Vec<Approval>,
    notes: Vec<Note>,
}

impl Pull {
    fn head(&self) -> &str {
        &self.heads.last().expect("it has a commit").1
    }

    fn is_open(&self) -> bool {
        self.ending == Ending::Open
    }
}

/// What a forge keeps of one repository.
pub(crate) struct Repository {
    served: PathBuf,
    pulls: Vec<Pull>,
    /// The statuses, as they were sent, by commit, the newest last.
    statuses: Vec<(String, Value)>,
    ids: u64,
}

impl Repository {
    fn id(&mut self) -> u64 {
        self.ids += 1;
        self.ids
    }

    fn pull(&mut self, number: u64) -> &mut Pull {
        self.pulls.iter_mut().find(|pull| pull.number == number).expect("there is such a pull request")
    }

    fn open(&mut self, [source, target]: [&str; 2], [title, body]: [&str; 2]) -> Option<&Pull> {
        let is_same = |pull: &Pull| pull.is_open() && pull.source == source && pull.target == target;
        if self.pulls.iter().any(is_same) {
            return None;
        }
        let number = self.pulls.len() as u64 + 1;
        let pull = Pull {
            number,
            source: source.to_owned(),
            target: target.to_owned(),
            title: title.to_owned(),
            body: body.to_owned(),
            ending: Ending::Open,
            touched: now(),
            heads: Vec::new(),
            approvals: Vec::new(),
            notes: Vec::new(),
        };
        self.pulls.push(pull);
        self.look();
        self.pulls.last()
    }

    fn say(&mut self, number: u64, text: &str) -> Note {
        let note = Note { id: self.id(), by: PROGRAM, text: text.to_owned() };
        self.pull(number).notes.push(note.clone());
        note
    }

    fn note(&mut self, id: u64) -> &mut Note {
        let mut notes = self.pulls.iter_mut().flat_map(|pull| &mut pull.notes);
        notes.find(|note| note.id == id).expect("there is such a comment")
    }

    /// The newest status of each name of a commit, as it was sent.
    fn statuses_of(&self, commit: &str, name: impl Fn(&Value) -> Value) -> Vec<Value> {
        let mut newest: Vec<Value> = Vec::new();
        for (_, status) in self.statuses.iter().rev().filter(|(of, _)| of == commit) {
            if !newest.iter().any(|known| name(known) == name(status)) {
                newest.push(status.clone());
            }
        }
        newest
    }

    /// Notes what was pushed to the branches of open pull requests.
    fn look(&mut self) {
        for pull in self.pulls.iter_mut().filter(|pull| pull.is_open()) {
            let name = format!("refs/heads/{}", pull.source);
            let arguments = ["rev-parse", "--verify", "--quiet", &name];
            let ran = Command::new("git").arg("--git-dir").arg(&self.served).args(arguments).output();
            let commit = String::from_utf8(ran.expect("git starts").stdout).expect("UTF-8").trim().to_owned();
            if !commit.is_empty() && pull.heads.last().is_none_or(|(_, known)| *known != commit) {
                pull.heads.push((now(), commit));
            }
        }
    }
}

/// The time, to the millisecond, never twice the same.
fn now() -> String {
    static LAST: Mutex<i64> = Mutex::new(0);
    let mut last = LAST.lock().expect("it is not poisoned");
    *last = Timestamp::now().as_millisecond().max(*last + 1);
    format!("{:.3}", Timestamp::from_millisecond(*last).expect("a time"))
}

struct Shared {
    dialect: Box<dyn Dialect>,
    repository: Mutex<Repository>,
    faults: Mutex<Vec<String>>,
    git: String,
    client: reqwest::Client,
}

/// The forge.
pub(crate) struct Kept {
    shared: Arc<Shared>,
    /// The address of the repository.
    pub(crate) url: String,
}

impl Kept {
    /// Serves the repository of a Git server as a forge does.
    pub(crate) fn before(git: &Git, dialect: impl Dialect) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("it can be set");
        let url = format!("http://{}/{}", listener.local_addr().expect("an address"), dialect.path());
        let repository =
            Repository { served: git.served(), pulls: Vec::new(), statuses: Vec::new(), ids: 100 };
        let shared = Arc::new(Shared {
            dialect: Box::new(dialect),
            repository: Mutex::new(repository),
            faults: Mutex::default(),
            git: git.url(),
            client: reqwest::Client::builder().no_proxy().build().expect("a client"),
        });
        let app = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let app = app.layer(axum::extract::DefaultBodyLimit::disable());
        let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { shared, url }
    }

    fn repository<T>(&self, of: impl FnOnce(&mut Repository) -> T) -> T {
        of(&mut self.shared.repository.lock().expect("it is not poisoned"))
    }

    /// Has somebody approve what the branch has now.
    pub(crate) fn approve(&self, number: u64, who: &str) {
        self.repository(|kept| {
            kept.look();
            let pull = kept.pull(number);
            let commit = pull.head().to_owned();
            pull.approvals.push(Approval { by: Account::of(who), at: now(), commit });
        });
    }

    /// Notes what was pushed.
    pub(crate) fn look(&self) {
        self.repository(Repository::look);
    }

    /// Has somebody have merged it by a commit.
    pub(crate) fn merged(&self, number: u64, commit: &str, who: &str) {
        self.ends(number, Ending::Merged { commit: commit.to_owned(), by: Account::of(who) });
    }

    /// Has somebody close it.
    pub(crate) fn close(&self, number: u64) {
        self.ends(number, Ending::Closed);
    }

    fn ends(&self, number: u64, ending: Ending) {
        self.repository(|kept| {
            let pull = kept.pull(number);
            (pull.ending, pull.touched) = (ending, now());
        });
    }

    /// How many pull requests there are.
    pub(crate) fn pulls(&self) -> usize {
        self.repository(|kept| kept.pulls.len())
    }

    /// The newest commit of one.
    pub(crate) fn head(&self, number: u64) -> String {
        self.repository(|kept| kept.pull(number).head().to_owned())
    }

    /// What is said under one.
    pub(crate) fn comments(&self, number: u64) -> Vec<String> {
        self.repository(|kept| kept.pull(number).notes.iter().map(|note| note.text.clone()).collect())
    }

    /// What stands beside a commit.
    pub(crate) fn statuses(&self, commit: &str) -> String {
        self.repository(|kept| {
            let of = kept.statuses.iter().filter(|(of, _)| of == commit);
            of.map(|(_, status)| status.to_string()).collect()
        })
    }

    /// Expects each request and each answer to be as described.
    pub(crate) fn is_as_described(&self) {
        let faults = self.shared.faults.lock().expect("it is not poisoned").clone();
        assert_eq!(faults, [""; 0]);
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let git = uri.to_string();
    if let Some(rest) = git.strip_prefix(&format!("/{}", shared.dialect.path())) {
        return forwarded(&shared, (method, rest), headers, body).await;
    }
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
    let known = shared.dialect.specification();
    let operation = judge::request(known, &asked);
    let reply = {
        let mut kept = shared.repository.lock().expect("it is not poisoned");
        kept.look();
        shared.dialect.answer(&mut kept, &asked)
    };
    let fault = match (&operation, &reply) {
        (Err(fault), _) => Some(fault.clone()),
        (Ok(operation), Reply::Json(status, body)) => judge::answer(known, operation, *status, body).err(),
        (Ok(_), _) => None,
    };
    shared.faults.lock().expect("it is not poisoned").extend(fault);
    response(reply).await
}

/// Passes on what Git asks.
async fn forwarded(
    shared: &Shared,
    (method, rest): (Method, &str),
    mut headers: HeaderMap,
    body: Bytes,
) -> Response {
    headers.remove("host");
    let request = shared.client.request(method, format!("{}{rest}", shared.git)).headers(headers).body(body);
    let answer = request.send().await.expect("the Git server answers");
    let mut response = Response::builder().status(answer.status());
    for name in ["content-type", "www-authenticate"] {
        if let Some(value) = answer.headers().get(name) {
            response = response.header(name, value);
        }
    }
    response.body(Body::from(answer.bytes().await.expect("a body"))).expect("a response")
}

/// A field of the body of a request.
fn field<'a>(body: &'a Value, name: &str) -> &'a str {
    body[name].as_str().unwrap_or_default()
}

/// The value of a query.
fn query<'a>(asked: &'a Asked, name: &str) -> Option<&'a str> {
    asked.query.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
}

/// What a request sends.
fn sent(asked: &Asked) -> Value {
    serde_json::from_str(&asked.body).unwrap_or(Value::Null)
}
