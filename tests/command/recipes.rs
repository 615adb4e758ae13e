//! The recipes for pipelines do what they say: their scripts run against a forge on loopback that keeps
//! comments as the real ones do.
#![expect(clippy::disallowed_methods, reason = "tests read files and start programs")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response, Server};

/// A forge that knows pull request 7 and its comments.
struct Forge {
    server: Arc<Server>,
    thread: Option<std::thread::JoinHandle<()>>,
    state: Arc<Mutex<State>>,
}

/// What the forge holds, and what it was asked.
#[derive(Default)]
struct State {
    comments: Vec<(u64, String)>,
    requests: Vec<String>,
    is_closed: bool,
}

/// Whose paths and bodies are spoken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Dialect {
    GitHub,
    GitLab,
    Azure,
}

impl Dialect {
    /// Path of the comments of pull request 7, and of one comment up to its id.
    fn paths(self) -> (&'static str, &'static str) {
        match self {
            Self::GitHub => ("/repos/acme/shop/issues/7/comments", "/repos/acme/shop/issues/comments/"),
            Self::GitLab => ("/projects/42/merge_requests/7/notes", "/projects/42/merge_requests/7/notes/"),
            Self::Azure => (
                "/acme%20shop/_apis/git/repositories/r1/pullRequests/7/threads",
                "/acme%20shop/_apis/git/repositories/r1/pullRequests/7/threads/",
            ),
        }
    }

    fn environment(self, address: &str) -> Vec<(&'static str, String)> {
        let pairs: &[(&str, &str)] = match self {
            Self::GitHub => &[
                ("GITHUB_ACTIONS", "true"),
                ("GITHUB_API_URL", address),
                ("GITHUB_REPOSITORY", "acme/shop"),
                ("GITHUB_REF", "refs/pull/7/merge"),
                ("GITHUB_TOKEN", "sesame"),
            ],
            Self::GitLab => &[
                ("GITLAB_CI", "true"),
                ("CI_API_V4_URL", address),
                ("CI_PROJECT_ID", "42"),
                ("CI_MERGE_REQUEST_IID", "7"),
                ("NODEFORM_GITLAB_TOKEN", "sesame"),
            ],
            Self::Azure => &[
                ("TF_BUILD", "True"),
                ("SYSTEM_COLLECTIONURI", address),
                ("SYSTEM_TEAMPROJECT", "acme shop"),
                ("BUILD_REPOSITORY_ID", "r1"),
                ("SYSTEM_PULLREQUEST_PULLREQUESTID", "7"),
                ("SYSTEM_ACCESSTOKEN", "sesame"),
            ],
        };
        let slash = if self == Self::Azure { "/" } else { "" };
        let with_slash =
            |value: &str| if value == address { format!("{value}{slash}") } else { value.to_owned() };
        pairs.iter().map(|(name, value)| (*name, with_slash(value))).collect()
    }
}

impl State {
    /// Answers as the forge does: status and body.
    fn answer(&mut self, dialect: Dialect, (method, url): (&Method, &str), body: &Value) -> (u16, Value) {
        let (list, one) = dialect.paths();
        let path = url.split('?').next().unwrap_or(url);
        let text = match dialect {
            Dialect::GitHub | Dialect::GitLab => &body["body"],
            Dialect::Azure if *method == Method::Post => &body["comments"][0]["content"],
            Dialect::Azure => &body["content"],
        };
        let text = text.as_str().unwrap_or_default().to_owned();
        let changed = path.strip_prefix(one).and_then(|id| id.split('/').next()?.parse::<u64>().ok());
        match (method, path == list, changed) {
            (Method::Get, true, _) => (200, self.page(dialect, url)),
            (Method::Post, true, _) => {
                let id = 100 + self.comments.len() as u64;
                self.comments.push((id, text));
                (201, json!({"id": id}))
            }
            (Method::Patch | Method::Put, _, Some(id)) => {
                let Some(comment) = self.comments.iter_mut().find(|(known, _)| *known == id) else {
                    return (404, json!({"message": "Not Found"}));
                };
                comment.1 = text;
                (200, json!({"id": id}))
            }
            (_, _, _) => (404, json!({"message": "Not Found"})),
        }
    }

    fn page(&self, dialect: Dialect, url: &str) -> Value {
        let number = |name: &str| {
            let value = url.split(['?', '&']).find_map(|part| part.strip_prefix(name)?.strip_prefix('='));
            value.and_then(|value| value.parse::<usize>().ok())
        };
        match dialect {
            Dialect::GitHub | Dialect::GitLab => {
                let (size, page) = (number("per_page").unwrap_or(30), number("page").unwrap_or(1));
                let shown = self.comments.iter().skip(size * (page - 1)).take(size);
                shown.map(|(id, text)| json!({"id": id, "body": text})).collect()
            }
            Dialect::Azure => {
                let thread = |(id, text): &(u64, String)| json!({"id": id, "isDeleted": false, "comments": [{"id": 1, "content": text}]});
                json!({"value": self.comments.iter().map(thread).collect::<Vec<_>>()})
            }
        }
    }
}

impl Forge {
    fn start(dialect: Dialect) -> Self {
        let server = Arc::new(Server::http("127.0.0.1:0").expect("loopback has a free port"));
        let state = Arc::new(Mutex::new(State::default()));
        let (listening, kept) = (Arc::clone(&server), Arc::clone(&state));
        let thread = std::thread::spawn(move || {
            for request in listening.incoming_requests() {
                respond(request, dialect, &kept);
            }
        });
        Self { server, thread: Some(thread), state }
    }

    fn address(&self) -> String {
        format!("http://{}", self.server.server_addr())
    }

    fn comments(&self) -> Vec<String> {
        let state = self.state.lock().expect("nobody panicked");
        state.comments.iter().map(|(_, text)| text.clone()).collect()
    }
}

impl Drop for Forge {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            thread.join().expect("the forge answers all");
        }
    }
}

fn respond(mut request: Request, dialect: Dialect, state: &Mutex<State>) {
    let mut body = String::new();
    request.as_reader().read_to_string(&mut body).expect("the body is text");
    let body = serde_json::from_str(&body).unwrap_or(Value::Null);
    let is_known = request.headers().iter().any(|header| header.value.as_str().ends_with("sesame"));
    let mut state = state.lock().expect("nobody panicked");
    state.requests.push(format!("{} {}", request.method(), request.url()));
    let (status, answer) = match (is_known, state.is_closed) {
        (true, false) => state.answer(dialect, (&request.method().clone(), request.url()), &body),
        (_, _) => (403, json!({"message": "Resource not accessible by integration"})),
    };
    let kind = Header::from_bytes("Content-Type", "application/json").expect("is a header");
    let response = Response::from_string(answer.to_string()).with_status_code(status).with_header(kind);
    request.respond(response).expect("the script listens");
}

/// Returns whether the programs that the script needs are here; without them, says what is left out.
#[expect(clippy::print_stderr, reason = "what is skipped must be seen")]
fn has_tools() -> bool {
    let missing: Vec<&str> = ["bash", "curl", "git", "jq"]
        .into_iter()
        .filter(|tool| Command::new(tool).arg("--version").output().is_err())
        .collect();
    assert!(
        missing.is_empty() || std::env::var_os("NODEFORM_REQUIRE_TOOLS").is_none(),
        "missing: {missing:?}"
    );
    if !missing.is_empty() {
        eprintln!("skipped: 1 test of a recipe for pipelines needs {}", missing.join(" and "));
    }
    missing.is_empty()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("recipes").join(name);
    std::fs::create_dir_all(&folder).expect("the target folder takes folders");
    folder
}

/// Runs the script with this text as a job of the forge would.
fn comment(forge: &Forge, dialect: Dialect, text: &str) -> Output {
    let folder = folder(&forge.address().replace(['/', ':'], "-"));
    std::fs::write(folder.join("plan.md"), text).expect("the target folder takes files");
    let path = std::env::var("PATH").expect("there is a path");
    Command::new("sh")
        .arg(root().join("examples/ci/comment.sh"))
        .arg("plan.md")
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .envs(dialect.environment(&forge.address()))
        .output()
        .expect("there is a shell")
}

fn comments_stick(dialect: Dialect) {
    let forge = Forge::start(dialect);
    // Another's comments, more than a page of them, that quote ours.
    let others: Vec<(u64, String)> =
        (0..130).map(|id| (id, format!("> [nodeform]: # (plan)\nreply {id}"))).collect();
    forge.state.lock().expect("nobody panicked").comments.clone_from(&others);
    for text in ["Plan: 2 to add\n\"quoted\" `$HOME` \\n @all\n", "No changes.\n"] {
        let output = comment(&forge, dialect, text);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let comments = forge.comments();
        assert_eq!(comments.len(), others.len() + 1);
        assert_eq!(
            comments.last().map(|last| last.trim_end()),
            Some(format!("[nodeform]: # (plan)\n\n{text}").trim_end())
        );
        assert!(comments.iter().zip(&others).all(|(comment, (_, other))| comment == other));
    }
    forge.state.lock().expect("nobody panicked").is_closed = true;
    let output = comment(&forge, dialect, "Plan: 1 to add\n");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && told.contains("Resource not accessible") && told.contains("hint:"),
        "{told}"
    );
    assert!(!told.contains("sesame"), "{told}");
}

#[test]
fn the_comment_is_written_once_and_then_rewritten_on_github() {
    if has_tools() {
        comments_stick(Dialect::GitHub);
    }
}

#[test]
fn the_comment_is_written_once_and_then_rewritten_on_gitlab() {
    if has_tools() {
        comments_stick(Dialect::GitLab);
    }
}

#[test]
fn the_comment_is_written_once_and_then_rewritten_on_azure_devops() {
    if has_tools() {
        comments_stick(Dialect::Azure);
    }
}

/// The commands of a recipe's job, in order; installing is left out, since the program is here.
fn commands(recipe: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("examples/ci").join(recipe)).expect("the recipe is there");
    let recipe: Value = serde_saphyr::from_str(&text).expect("the recipe is YAML");
    let texts = |steps: &Value, key: &str| -> Vec<String> {
        let of = |step: &Value| step.as_str().or(step[key].as_str()).map(str::to_owned);
        steps.as_array().into_iter().flatten().filter_map(of).collect()
    };
    let mut commands = texts(&recipe["jobs"]["plan"]["steps"], "run");
    commands.extend(texts(&recipe["steps"], "bash"));
    commands.extend(texts(&recipe["nodeform"]["script"], ""));
    commands.extend(texts(&recipe["nodeform"]["after_script"], ""));
    commands.retain(|command| !command.starts_with("cargo install"));
    assert_eq!(commands.len(), 3, "validate, plan and comment: {commands:?}");
    commands
}

fn shell(folder: &Path, command: &str, environment: &[(&str, String)]) -> Output {
    let program = Path::new(env!("CARGO_BIN_EXE_nodeform")).parent().expect("is in a folder");
    let path = format!("{}:{}", program.display(), std::env::var("PATH").expect("there is a path"));
    Command::new("bash")
        .args(["-e", "-c", command])
        .current_dir(folder)
        .env_clear()
        .env("PATH", path)
        .env("HOME", folder)
        .envs(environment.iter().map(|(name, value)| (*name, value)))
        .output()
        .expect("there is a shell")
}

/// A pull request against a fleet of more than $500 a month, and what the recipe says of it.
struct PullRequest {
    name: &'static str,
    /// What `sed` does to the Deployment of 20 replicas.
    edit: &'static str,
    /// The gates of the plan's command; as the recipe has them where nothing is said.
    gates: Option<&'static str>,
    /// The gate that stops it.
    stopped_by: Option<&'static str>,
    /// What the comment says.
    comment: &'static str,
}

const PULL_REQUESTS: [PullRequest; 4] = [
    PullRequest {
        name: "image",
        edit: "s/image: .*/image: registry.example.com\\/pause:3.10/",
        gates: None,
        stopped_by: None,
        comment: "Monthly cost will stay at",
    },
    PullRequest {
        name: "saving",
        edit: "s/replicas: 20/replicas: 10/",
        gates: None,
        stopped_by: None,
        comment: "Monthly cost will decrease by",
    },
    PullRequest {
        name: "rise",
        edit: "s/replicas: 20/replicas: 80/",
        gates: None,
        stopped_by: Some("--max-monthly-increase $500"),
        comment: "Monthly cost will increase by",
    },
    PullRequest {
        name: "delete",
        edit: "s/replicas: 20/replicas: 10/",
        gates: Some("--fail-on unplaced,delete"),
        stopped_by: Some("--fail-on delete"),
        comment: "Monthly cost will decrease by",
    },
];

/// A clone of a repository with a pull request, as a runner checks it out.
fn checkout(name: &str, edit: &str) -> PathBuf {
    let folder = folder(name);
    std::fs::remove_dir_all(&folder).expect("is ours");
    let there = folder.join("clusters/prod");
    std::fs::create_dir_all(&there).expect("the target folder takes folders");
    std::fs::create_dir_all(folder.join(".ci")).expect("the target folder takes folders");
    let copy = |from: &str, to: PathBuf| {
        std::fs::copy(root().join(from), to).expect("can be copied");
    };
    copy("examples/ci/comment.sh", folder.join(".ci/comment.sh"));
    for file in ["nodepool.yaml", "inflate.yaml"] {
        copy(&format!("examples/quickstart/{file}"), there.join(file));
    }
    let script = format!(
        "sed -i 's/replicas: 5/replicas: 20/' clusters/prod/inflate.yaml
         git init -q -b main . && git config user.name A && git config user.email a@example.com
         git add . && git commit -qm base && git update-ref refs/remotes/origin/main HEAD
         git checkout -q -b change && sed -i '{edit}' clusters/prod/inflate.yaml
         git commit -qam change"
    );
    let output = shell(&folder, &script, &[]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder
}

fn the_recipe_works(recipe: &str, dialect: Dialect) {
    for PullRequest { name, edit, gates, stopped_by, comment } in PULL_REQUESTS {
        let mut commands = commands(recipe);
        if let Some(gates) = gates {
            let written = commands[1].replace("--fail-on unplaced", gates);
            assert_ne!(commands[1], written, "the recipe has the gate");
            commands[1] = written;
        }
        let forge = Forge::start(dialect);
        let folder = checkout(&format!("{recipe}-{name}"), edit);
        let head = shell(&folder, "git rev-parse origin/main", &[]).stdout;
        let mut environment = dialect.environment(&forge.address());
        environment.extend([
            ("MANIFESTS", "clusters/prod".to_owned()),
            ("BASE", "origin/main".to_owned()),
            ("SYSTEM_PULLREQUEST_TARGETBRANCH", "refs/heads/main".to_owned()),
            ("CI_MERGE_REQUEST_DIFF_BASE_SHA", String::from_utf8(head).expect("is text").trim().to_owned()),
        ]);
        let mut ends = Vec::new();
        for command in &commands {
            let output = shell(&folder, command, &environment);
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            let is_stopped = stopped_by.is_some_and(|gate| told.contains(&format!("error: gate `{gate}`:")));
            assert!(output.status.success() || is_stopped, "{name}: {command}\n{told}");
            ends.push(output.status.code().unwrap_or(-1));
        }
        // The gate ends the plan's step with 4; the comment is written all the same.
        assert_eq!(ends, [0, if stopped_by.is_some() { 4 } else { 0 }, 0], "{name}");
        let comments = forge.comments();
        let [written] = comments.as_slice() else { panic!("{comments:?}") };
        assert!(written.contains(comment), "{name}: {written}");
    }
}

#[test]
fn the_recipe_of_github_validates_plans_and_comments() {
    if has_tools() {
        the_recipe_works("github.yml", Dialect::GitHub);
    }
}

#[test]
fn the_recipe_of_azure_pipelines_validates_plans_and_comments() {
    if has_tools() {
        the_recipe_works("azure-pipelines.yml", Dialect::Azure);
    }
}

#[test]
fn the_recipe_of_gitlab_validates_plans_and_comments() {
    if has_tools() {
        the_recipe_works("gitlab.yml", Dialect::GitLab);
    }
}
