//! A real Gitea, which `tests/e2e/forge/build` builds of Go modules once: one for all tests of this program's run.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use data_encoding::BASE64;
use serde_json::{Value, json};

/// What builds it, and prints the folder that holds it.
const BUILD: &str = "tests/e2e/forge/build";
const ADMINISTRATOR: &str = "forge";
const PASSWORD: &str = "canary-forge-password";
/// How often a start is looked at, ten times a second: it takes one second on a machine with nothing else to do.
const LOOKS_MAX: u32 = 600;

/// A Gitea that ends with this value.
pub(crate) struct Gitea {
    server: Child,
    folder: tempfile::TempDir,
    program: PathBuf,
    pub(crate) url: String,
    client: reqwest::Client,
}

impl Gitea {
    /// Starts one; without it, says loudly what is left out. `NODEFORM_REQUIRE_CONTROL_PLANE` insists on it.
    pub(crate) async fn start() -> Option<Self> {
        match tokio::task::spawn_blocking(built).await.expect("it ends") {
            Ok(built) => Some(Self::of(&built).await),
            Err(why) => {
                let missing = format!("LEFT OUT: every test against a real forge: {why}");
                assert!(std::env::var_os("NODEFORM_REQUIRE_CONTROL_PLANE").is_none(), "{missing}");
                // Written to the stream itself: what a test that passes prints is not shown.
                let _ = writeln!(std::io::stderr(), "{missing}");
                None
            }
        }
    }

    async fn of(built: &Path) -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let folder = tempfile::tempdir().expect("a folder");
        let free = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = free.local_addr().expect("an address").port();
        drop(free);
        let settings = settings(folder.path(), built, port);
        std::fs::write(folder.path().join("app.ini"), settings).expect("it is written");
        let program = built.join("gitea");
        run(&program, folder.path(), &["migrate"]);
        let user = ["admin", "user", "create", "--username", ADMINISTRATOR, "--password", PASSWORD];
        let rest = ["--email", "forge@test.invalid", "--admin", "--must-change-password=false"];
        run(&program, folder.path(), &[&user[..], &rest].concat());
        let log = std::fs::File::create(folder.path().join("log")).expect("it is created");
        let server = command(&program, folder.path(), &["web"])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .expect("it starts");
        let client = reqwest::Client::builder().no_proxy().build().expect("a client");
        let mut gitea = Self { server, folder, program, url: format!("http://127.0.0.1:{port}"), client };
        gitea.wait().await;
        gitea
    }

    async fn wait(&mut self) {
        for _ in 0..LOOKS_MAX {
            let answer = self.client.get(format!("{}/api/v1/version", self.url)).send().await;
            if answer.is_ok_and(|answer| answer.status().is_success()) {
                return;
            }
            let log = std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(self.server.try_wait().expect("it can be asked").is_none(), "Gitea ended: {log}");
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("Gitea does not answer");
    }

    /// Asks its API as a user, and returns what it answers.
    pub(crate) async fn ask(&self, user: &str, request: &str, body: Value) -> Value {
        let (method, path) = request.split_once(' ').expect("a method and a path");
        let method = method.parse().expect("a method");
        let pair = BASE64.encode(format!("{user}:{PASSWORD}").as_bytes());
        let request = self.client.request(method, format!("{}/api/v1{path}", self.url));
        let request = request.header("authorization", format!("Basic {pair}")).json(&body);
        let answer = request.send().await.expect("Gitea answers");
        let status = answer.status();
        let text = answer.text().await.expect("a text");
        assert!(status.is_success(), "{path}: {status} {text}");
        serde_json::from_str(&text).unwrap_or(Value::Null)
    }

    /// Creates a user who may read, write or administer the repository; `none` has no part in it.
    pub(crate) async fn add_user(&self, name: &str, permission: &str) {
        let email = format!("{name}@test.invalid");
        let user =
            json!({"username": name, "email": email, "password": PASSWORD, "must_change_password": false});
        self.ask(ADMINISTRATOR, "POST /admin/users", user).await;
        if permission != "none" {
            let path = format!("PUT /repos/{ADMINISTRATOR}/plans/collaborators/{name}");
            self.ask(ADMINISTRATOR, &path, json!({"permission": permission})).await;
        }
    }

    /// A token of a user with these scopes.
    pub(crate) fn token(&self, user: &str, scopes: &str) -> String {
        let name = ["admin", "user", "generate-access-token", "--username", user, "--token-name", "test"];
        let said =
            run(&self.program, self.folder.path(), &[&name[..], &["--scopes", scopes, "--raw"]].concat());
        said.lines().last().expect("a token").trim().to_owned()
    }

    /// Creates the repository `forge/plans`, with one file.
    pub(crate) async fn create_repository(&self) {
        let body = json!({"name": "plans", "auto_init": true, "default_branch": "main", "private": true});
        self.ask(ADMINISTRATOR, "POST /user/repos", body).await;
    }

    /// Adds a file by a commit on a branch, which is created from `main` where it does not exist; returns the commit.
    pub(crate) async fn commit(&self, branch: &str, file: &str) -> String {
        let branches = self
            .ask(ADMINISTRATOR, &format!("GET /repos/{ADMINISTRATOR}/plans/branches?limit=50"), json!({}))
            .await;
        let is_there = branches.as_array().expect("a list").iter().any(|known| known["name"] == branch);
        let mut body = json!({"content": BASE64.encode(file.as_bytes()), "message": file, "branch": branch});
        if !is_there {
            body["branch"] = json!("main");
            body["new_branch"] = json!(branch);
        }
        let path = format!("POST /repos/{ADMINISTRATOR}/plans/contents/{file}");
        let made = self.ask(ADMINISTRATOR, &path, body).await;
        made["commit"]["sha"].as_str().expect("a commit").to_owned()
    }

    /// Writes a review.
    pub(crate) async fn review(&self, user: &str, number: u64, event: &str) -> Value {
        let path = format!("POST /repos/{ADMINISTRATOR}/plans/pulls/{number}/reviews");
        self.ask(user, &path, json!({"event": event, "body": "seen"})).await
    }

    /// Merges as one commit.
    pub(crate) async fn squash(&self, number: u64) {
        self.merge(number, "squash").await;
    }

    /// Merges in a style, once Gitea has looked for conflicts, which takes it some seconds.
    pub(crate) async fn merge(&self, number: u64, style: &str) {
        self.merge_as(ADMINISTRATOR, number, style).await;
    }

    /// The same as a user.
    pub(crate) async fn merge_as(&self, user: &str, number: u64, style: &str) {
        self.merge_in("plans", user, (number, style)).await;
    }

    /// The same in a repository.
    pub(crate) async fn merge_in(&self, repository: &str, user: &str, (number, style): (u64, &str)) {
        let url = format!("{}/api/v1/repos/{ADMINISTRATOR}/{repository}/pulls/{number}/merge", self.url);
        let pair = BASE64.encode(format!("{user}:{PASSWORD}").as_bytes());
        for _ in 0..LOOKS_MAX {
            let request = self.client.post(&url).header("authorization", format!("Basic {pair}"));
            let answer = request.json(&json!({"Do": style})).send().await.expect("Gitea answers");
            if answer.status().is_success() {
                return;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("{number} is not merged");
    }
}

impl Drop for Gitea {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn built() -> Result<PathBuf, String> {
    let go = Command::new("go").arg("version").stdout(Stdio::null()).status();
    go.map_err(|error| format!("there is no `go`: {error}"))?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(BUILD);
    let output = Command::new("bash").arg(script).stderr(Stdio::inherit()).output();
    let output = output.map_err(|error| format!("`{BUILD}` does not start: {error}"))?;
    if !output.status.success() {
        return Err(format!("`{BUILD}` fails"));
    }
    let path = String::from_utf8(output.stdout).map_err(|error| format!("`{BUILD}`: {error}"))?;
    Ok(PathBuf::from(path.trim_end()))
}

fn command(program: &Path, folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command
        .arg("--config")
        .arg(folder.join("app.ini"))
        .args(arguments)
        .env("HOME", folder)
        .stdin(Stdio::null());
    command
}

fn run(program: &Path, folder: &Path, arguments: &[&str]) -> String {
    let output = command(program, folder, arguments).output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// It listens on loopback alone, sends nothing, and runs as whoever runs the tests, who is often root in a container.
fn settings(folder: &Path, built: &Path, port: u16) -> String {
    let (folder, program) = (folder.display(), built.display());
    format!(
        "RUN_MODE = prod\nWORK_PATH = {folder}\nI_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true\n\
         [server]\nHTTP_ADDR = 127.0.0.1\nHTTP_PORT = {port}\nROOT_URL = http://127.0.0.1:{port}/\n\
         STATIC_ROOT_PATH = {program}/static\nOFFLINE_MODE = true\nDISABLE_SSH = true\n\
         [database]\nDB_TYPE = sqlite3\nPATH = {folder}/gitea.db\nSQLITE_JOURNAL_MODE = WAL\n\
         [repository]\nROOT = {folder}/repositories\nDEFAULT_BRANCH = main\n\
         [git]\nHOME_PATH = {folder}/home\n\
         [security]\nINSTALL_LOCK = true\nSECRET_KEY = {SECRET_KEY}\n\
         [service]\nDISABLE_REGISTRATION = true\n[log]\nMODE = console\nLEVEL = Warn\n[log.console]\nSTDERR = true\n\
         [oauth2]\nENABLED = false\n[actions]\nENABLED = false\n[cron]\nENABLED = false\n"
    )
}

/// It protects what nobody keeps.
const SECRET_KEY: &str = "a key of a forge that lives for one test";
