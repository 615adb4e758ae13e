//! A Git server on loopback (`git http-backend`), and a reviewer beside it who merges with the real `git`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum_server::tls_rustls::RustlsConfig;

pub(crate) const TOKEN: &str = "canary-git-token";
const USER: &str = "nodeform";

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) path: String,
    pub(crate) authorization: Option<String>,
}

#[derive(Clone, Debug)]
struct Served {
    root: PathBuf,
    asked: Arc<Mutex<Vec<Asked>>>,
    /// Whether what is pushed is taken and never answered.
    is_mute: Arc<AtomicBool>,
}

/// The server, its repository `nodes`, and the reviewer's clone of it.
pub(crate) struct Forge {
    folder: tempfile::TempDir,
    address: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    is_mute: Arc<AtomicBool>,
}

impl Forge {
    pub(crate) async fn start() -> Self {
        Self::serving(None)
    }

    /// A server by TLS, with a certificate of its own.
    pub(crate) async fn with_tls() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let names = vec!["127.0.0.1".to_owned()];
        let certified = rcgen::generate_simple_self_signed(names).expect("a certificate");
        Self::serving(Some(&certified))
    }

    /// The certificate that whoever speaks to it has to trust.
    pub(crate) fn ca(&self) -> PathBuf {
        self.folder.path().join("ca.pem")
    }

    fn serving(certified: Option<&rcgen::CertifiedKey<rcgen::KeyPair>>) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let is_mute = Arc::new(AtomicBool::new(false));
        let root = folder.path().join("served");
        let served = Served { root, asked: Arc::clone(&asked), is_mute: Arc::clone(&is_mute) };
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("it can be set");
        let scheme = if certified.is_some() { "https" } else { "http" };
        let address = format!("{scheme}://{}", listener.local_addr().expect("an address"));
        let router = Router::new().fallback(answer).with_state(served);
        let router = router.layer(axum::extract::DefaultBodyLimit::disable());
        match certified {
            Some(certified) => {
                let config = RustlsConfig::from_config(Arc::new(tls(certified)));
                let server = axum_server::from_tcp_rustls(listener, config).expect("a server");
                tokio::spawn(server.serve(router.into_make_service()));
                std::fs::write(folder.path().join("ca.pem"), certified.cert.pem()).expect("it is written");
            }
            None => {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                tokio::spawn(async move { axum::serve(listener, router).await });
            }
        }
        let forge = Self { folder, address, asked, is_mute };
        let root = forge.folder.path();
        std::fs::create_dir_all(root.join("served")).expect("it can be made");
        git(root, &["init", "--quiet", "--bare", "--initial-branch=main", "served/nodes.git"]);
        git(root, &["clone", "--quiet", "served/nodes.git", "reviewer"]);
        git(&forge.clone(), &["checkout", "--quiet", "-b", "main"]);
        forge.write("README.md", "Our nodes\n");
        forge.commit("first");
        forge
    }

    pub(crate) fn url(&self) -> String {
        format!("{}/nodes.git", self.address)
    }

    /// The server without the repository.
    pub(crate) fn host(&self) -> &str {
        &self.address
    }

    /// Has the server say these words to whoever pushes, and in the next line an address of its own.
    pub(crate) fn says(&self, words: &str, path: &str) {
        use std::os::unix::fs::PermissionsExt as _;
        let hook = self.folder.path().join("served/nodes.git/hooks/post-receive");
        let script = format!("#!/bin/sh\ncat <<'END'\n{words}\n     {}{path}\nEND\n", self.address);
        std::fs::create_dir_all(hook.parent().expect("a folder")).expect("it can be made");
        std::fs::write(&hook, script).expect("it can be written");
        std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).expect("it can be set");
    }

    /// An address that leads to another server.
    pub(crate) fn url_that_leads_to(&self, other: &Self) -> String {
        format!("{}/leads/{}/nodes.git", self.address, other.address.trim_start_matches("http://"))
    }

    /// An address at which the server answers anything with this status and an HTML page.
    pub(crate) fn url_that_answers(&self, status: u16) -> String {
        format!("{}/answers/{status}/nodes.git", self.address)
    }

    /// An address at which the server has the repository, and sends a pack that does not end.
    pub(crate) fn url_without_end(&self) -> String {
        format!("{}/endless/nodes.git", self.address)
    }

    /// The repository as the server has it.
    pub(crate) fn served(&self) -> PathBuf {
        self.folder.path().join("served/nodes.git")
    }

    pub(crate) fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("it is not poisoned").clone()
    }

    fn clone(&self) -> PathBuf {
        self.folder.path().join("reviewer")
    }

    /// Runs git in the reviewer's clone.
    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.clone(), arguments)
    }

    /// Runs a shell's script in the reviewer's clone.
    pub(crate) fn script(&self, script: &str) {
        let mut command = Command::new("sh");
        command.args(["-ec", script]).current_dir(self.clone()).stdin(Stdio::null());
        let identity = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
        command.envs(identity.map(|name| (name, "r@example.com"))).env("GIT_CONFIG_GLOBAL", "/dev/null");
        let ran = command.output().expect("a shell");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.clone().join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("it can be made");
        std::fs::write(path, text).expect("it can be written");
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.clone().join(path)).expect("it is there")
    }

    /// The reviewer's files.
    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.clone().join(path)
    }

    /// Commits everything of the reviewer's clone to `main`.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&["commit", "--quiet", "--message", message]);
        self.git(&["push", "--quiet", "origin", "main"]);
    }

    /// The only branch of a class, as it is on the server: `nodeform/demo/create` stands for
    /// `nodeform/demo/create-k3v9q2m7xa`.
    pub(crate) fn proposed(&self, class: &str) -> String {
        self.git(&["fetch", "--quiet", "--prune", "origin"]);
        let own = format!("refs/remotes/origin/{class}");
        let refs = self.git(&["for-each-ref", "--format=%(refname)", &own, &format!("{own}-*")]);
        let refs: Vec<&str> = refs.lines().collect();
        let [branch] = *refs.as_slice() else { panic!("branches of {class}: {refs:?}") };
        branch.trim_start_matches("refs/remotes/origin/").to_owned()
    }

    /// Merges a branch by moving `main` to it.
    pub(crate) fn forward(&self, branch: &str) {
        let branch = self.proposed(branch);
        self.git(&["merge", "--quiet", "--ff-only", &format!("origin/{branch}")]);
        self.git(&["push", "--quiet", "origin", "main"]);
    }

    /// Merges a branch by a merge commit.
    pub(crate) fn merge(&self, branch: &str) {
        let branch = self.proposed(branch);
        self.git(&["merge", "--quiet", "--no-ff", "--no-edit", &format!("origin/{branch}")]);
        self.git(&["push", "--quiet", "origin", "main"]);
    }

    /// Merges a branch as one new commit.
    pub(crate) fn squash(&self, branch: &str) {
        let branch = self.proposed(branch);
        self.git(&["merge", "--quiet", "--squash", &format!("origin/{branch}")]);
        self.commit("Squashed");
    }

    /// Has what is pushed be taken and never answered, or answered again.
    pub(crate) fn mute(&self, is_mute: bool) {
        self.is_mute.store(is_mute, Ordering::SeqCst);
    }

    /// Merges a branch by putting its commits on top of `main`.
    pub(crate) fn rebase(&self, branch: &str) {
        let branch = self.proposed(branch);
        self.git(&["checkout", "--quiet", "-B", "rebased", &format!("origin/{branch}")]);
        self.git(&["rebase", "--quiet", "main"]);
        self.git(&["checkout", "--quiet", "main"]);
        self.git(&["merge", "--quiet", "--ff-only", "rebased"]);
        self.git(&["push", "--quiet", "origin", "main"]);
    }

    /// The branches of the server, each with its commit.
    pub(crate) fn branches(&self) -> String {
        git(
            &self.folder.path().join("served/nodes.git"),
            &["for-each-ref", "--format=%(refname:short) %(objectname)"],
        )
    }
}

fn tls(certified: &rcgen::CertifiedKey<rcgen::KeyPair>) -> rustls::ServerConfig {
    let key = rustls::pki_types::PrivateKeyDer::try_from(certified.signing_key.serialize_der());
    rustls::ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], key.expect("a key"))
        .expect("they belong together")
}

fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command.current_dir(folder).args(["-c", "user.name=Reviewer", "-c", "user.email=reviewer@example.org"]);
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.args(arguments).stdin(Stdio::null()).output().expect("git starts");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "git {arguments:?}: {said}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

async fn answer(
    State(served): State<Served>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let authorization = header("authorization");
    let asked = Asked { path: uri.path().to_owned(), authorization: authorization.clone() };
    served.asked.lock().expect("it is not poisoned").push(asked);
    if let Some(other) = uri.path().strip_prefix("/leads/") {
        let query = uri.query().unwrap_or_default();
        return (StatusCode::FOUND, [("location", format!("http://{other}?{query}"))]).into_response();
    }
    if let Some(rest) = uri.path().strip_prefix("/answers/") {
        let status = rest.split('/').next().and_then(|status| status.parse().ok()).expect("a status");
        let page =
            "<!DOCTYPE html><html><title>Sign in</title><body><form action=/login></form></body></html>";
        let status = StatusCode::from_u16(status).expect("a status");
        return (status, [("content-type", "text/html")], page).into_response();
    }
    let is_endless = uri.path().starts_with("/endless/");
    if is_endless && body.windows(13).any(|found| found == b"command=fetch") {
        return endless();
    }
    let pair = data_encoding::BASE64.encode(format!("{USER}:{TOKEN}").as_bytes());
    if authorization != Some(format!("Basic {pair}")) {
        let realm = [("www-authenticate", "Basic realm=\"forge\"")];
        return (StatusCode::UNAUTHORIZED, realm, "who are you?").into_response();
    }
    let variables = vec![
        ("GIT_PROJECT_ROOT", served.root.display().to_string()),
        ("GIT_HTTP_EXPORT_ALL", "1".to_owned()),
        ("REMOTE_USER", USER.to_owned()),
        ("REQUEST_METHOD", method.to_string()),
        ("PATH_INFO", uri.path().trim_start_matches("/endless").to_owned()),
        ("QUERY_STRING", uri.query().unwrap_or_default().to_owned()),
        ("CONTENT_TYPE", header("content-type").unwrap_or_default()),
        ("CONTENT_LENGTH", body.len().to_string()),
        ("HTTP_CONTENT_ENCODING", header("content-encoding").unwrap_or_default()),
        ("GIT_PROTOCOL", header("git-protocol").unwrap_or_default()),
    ];
    let is_push = method == Method::POST && uri.path().ends_with("/git-receive-pack");
    let ran = tokio::task::spawn_blocking(move || backend(&variables, &body)).await;
    if is_push && served.is_mute.load(Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
    ran.expect("the backend ran")
}

/// A pack of one object that is said to be large and does not end.
fn endless() -> Response {
    let packet = |bytes: &[u8]| [format!("{:04x}", bytes.len() + 4).as_bytes(), bytes].concat();
    // Object kind 3, a blob, of 2^46 bytes and more; then a stream of stored blocks.
    let head =
        [b"\x01PACK\0\0\0\x02\0\0\0\x01".as_slice(), b"\xbf\xff\xff\xff\xff\xff\xff\x1f\x78\x01"].concat();
    let mut noise = 0x9e37_79b9_u32;
    let block: Vec<u8> = (0..60_000)
        .map(|_| {
            noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            noise.to_be_bytes()[0]
        })
        .collect();
    let block = [b"\x01\0\x60\xea\x9f\x15".as_slice(), &block].concat();
    let (start, again) = ([packet(b"packfile\n"), packet(&head)].concat(), Bytes::from(packet(&block)));
    let body = futures_util::stream::once(async { Ok::<_, std::convert::Infallible>(Bytes::from(start)) });
    let body =
        futures_util::StreamExt::chain(body, futures_util::stream::repeat_with(move || Ok(again.clone())));
    let kind = [("content-type", "application/x-git-upload-pack-result")];
    (kind, axum::body::Body::from_stream(body)).into_response()
}

/// Asks Git's own server, as CGI.
fn backend(variables: &[(&str, String)], body: &[u8]) -> Response {
    let mut command = Command::new("git");
    command.arg("http-backend").envs(variables.iter().map(|(name, value)| (name, value)));
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::inherit());
    let mut child = command.spawn().expect("git starts");
    let mut input = child.stdin.take().expect("it is piped");
    let body = body.to_vec();
    let writing = std::thread::spawn(move || input.write_all(&body));
    let output = child.wait_with_output().expect("it ends").stdout;
    let _ = writing.join();
    let end = output.windows(4).position(|window| window == b"\r\n\r\n").expect("headers");
    let head = String::from_utf8_lossy(&output[..end]).into_owned();
    let mut response = Response::builder();
    for line in head.lines() {
        let (name, value) = line.split_once(": ").expect("a header");
        response = match name {
            "Status" => response.status(value[..3].parse::<u16>().expect("a status")),
            _ => response.header(name, value),
        };
    }
    response.body(output[end + 4..].to_vec().into()).expect("a response")
}
