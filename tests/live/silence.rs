//! Connections that go silent: nothing is closed, nothing answers any more. And how a controller looks from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use nodeform::clock::Clock;
use nodeform::cluster::lease::{Settings as Holder, Terms, acquire};
use nodeform::cluster::{Cluster, ClusterFailureKind, Settings};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::Child;

use crate::program::Program;

const WORLD: &str = include_str!("world.yaml");
const FLEET: &str = "/apis/nodeform.dev/v1alpha1/nodefleets/demo";

/// A relay in front of an API server. The connections that it has can be made silent: they stay open, and nothing goes along
/// them any more. Later ones work.
struct Relay {
    port: u16,
    opened: Arc<AtomicUsize>,
    /// Connections below this number are silent.
    silent: Arc<AtomicUsize>,
}

impl Relay {
    async fn of(port: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
        let relay = Self {
            port: listener.local_addr().expect("an address").port(),
            opened: Arc::default(),
            silent: Arc::default(),
        };
        let (opened, silent) = (Arc::clone(&relay.opened), Arc::clone(&relay.silent));
        tokio::spawn(async move {
            while let Ok((near, _)) = listener.accept().await {
                let number = opened.fetch_add(1, Ordering::SeqCst);
                let Ok(far) = TcpStream::connect(("127.0.0.1", port)).await else { continue };
                let ((near_in, near_out), (far_in, far_out)) = (near.into_split(), far.into_split());
                tokio::spawn(pass(near_in, far_out, (number, Arc::clone(&silent))));
                tokio::spawn(pass(far_in, near_out, (number, Arc::clone(&silent))));
            }
        });
        relay
    }

    /// Makes all connections silent that there are.
    fn silence(&self) {
        self.silent.store(self.opened.load(Ordering::SeqCst), Ordering::SeqCst);
    }

    /// The kubeconfig of a program, through this relay.
    fn kubeconfig(&self, program: &Program, folder: &std::path::Path) -> std::path::PathBuf {
        let text = std::fs::read_to_string(program.kubeconfig()).expect("it can be read");
        let port = port_of(&text);
        let path = folder.join("relayed.kubeconfig");
        std::fs::write(&path, text.replace(&format!(":{port}"), &format!(":{}", self.port)))
            .expect("written");
        path
    }
}

async fn pass(
    mut from: tokio::net::tcp::OwnedReadHalf,
    mut to: tokio::net::tcp::OwnedWriteHalf,
    (number, silent): (usize, Arc<AtomicUsize>),
) {
    let mut buffer = vec![0; 16 << 10];
    while let Ok(length) = from.read(&mut buffer).await {
        if number < silent.load(Ordering::SeqCst) {
            // Kept open, both ends.
            std::future::pending::<()>().await;
        }
        if length == 0 || to.write_all(&buffer[..length]).await.is_err() {
            return;
        }
    }
}

/// The port of the server in a kubeconfig.
fn port_of(kubeconfig: &str) -> u16 {
    let (_, behind) = kubeconfig.split_once("https://127.0.0.1:").expect("a server of this machine");
    let port: String = behind.chars().take_while(char::is_ascii_digit).collect();
    port.parse().expect("a port")
}

async fn relayed(program: &Program) -> Relay {
    let text = std::fs::read_to_string(program.kubeconfig()).expect("it can be read");
    Relay::of(port_of(&text)).await
}

#[tokio::test]
async fn a_connection_that_goes_silent_is_given_up_and_not_used_again() {
    let program = Program::start(&[]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let relay = relayed(&program).await;
    let kubeconfig = Some(relay.kubeconfig(&program, folder.path()));
    let cluster = Cluster::of(&Settings { context: None, kubeconfig }, Clock::of_this_machine())
        .await
        .expect("it can be used");
    let nodes = || cluster.list("/api/v1/nodes", "");
    nodes().await.expect("the relay passes it on");
    relay.silence();
    let terms = Terms {
        lease: Duration::from_secs(2),
        renew_deadline: Duration::from_millis(1_500),
        retry: Duration::from_millis(50),
    };
    let settings =
        Holder { identity: "me".to_owned(), namespace: "kube-system".to_owned(), terms, reports: false };
    // The first request of the Lease is lost on the silent connection; the next one goes along a new one.
    let held = acquire(&cluster, &settings, |_| {}).await.expect("the server works");
    assert!(held.gate().is_open());
    nodes().await.expect("other requests do not take the silent connection either");
    held.release().await.expect("it is let go");
}

#[tokio::test]
async fn a_server_that_fails_is_asked_again_a_few_times_and_no_more() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let busy = axum::Router::new().fallback(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        async { (axum::http::StatusCode::SERVICE_UNAVAILABLE, [("retry-after", "0")], "busy") }
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("loopback has a free port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move { axum::serve(listener, busy).await });
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("kubeconfig");
    let kubeconfig = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": format!("http://127.0.0.1:{port}")}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        "users": [{"name": "a", "user": {}}],
    });
    std::fs::write(&path, kubeconfig.to_string()).expect("written");
    let settings = Settings { context: None, kubeconfig: Some(path) };
    let cluster = Cluster::of(&settings, Clock::of_this_machine()).await.expect("it can be used");
    let failure = cluster.list("/api/v1/nodes", "").await.expect_err("it is busy");
    assert_eq!(failure.kind, ClusterFailureKind::Other, "{failure}");
    assert!(failure.what.contains("503"), "{failure}");
    assert_eq!(asked.load(Ordering::SeqCst), 3);
}

/// A controller whose requests go through a relay, with a port for its probes.
struct Controller {
    child: Child,
    health: u16,
    log: std::path::PathBuf,
}

impl Controller {
    fn start(program: &Program, relay: &Relay, folder: &std::path::Path, name: &str) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        let health = listener.local_addr().expect("an address").port();
        drop(listener);
        let kubeconfig = relay.kubeconfig(program, folder).display().to_string();
        let port = health.to_string();
        let arguments =
            ["controller", "--metrics-port", "0", "--health-probe-port", &port, "--kubeconfig", &kubeconfig];
        let log = folder.join(name);
        // Replicas of one Deployment share the Pods' name up to its last part.
        let pod = format!("nodeform-5d9-{name}");
        let variables = [("NODEFORM_POD", pod.as_str()), ("NODEFORM_POD_UID", name)];
        let child = program.started_with(&arguments, &variables, &log);
        Self { child, health, log }
    }

    async fn probe(&self, path: &str) -> Option<(u16, String)> {
        let answer = reqwest::get(format!("http://127.0.0.1:{}{path}", self.health)).await.ok()?;
        Some((answer.status().as_u16(), answer.text().await.ok()?))
    }

    async fn is_ready(&self) -> bool {
        self.probe("/readyz").await.is_some_and(|(status, _)| status == 200)
    }

    async fn terminated(&mut self) -> Duration {
        let id = self.child.id().expect("it runs").to_string();
        let started = Instant::now();
        let killed = std::process::Command::new("kill").args(["-TERM", &id]).status();
        assert!(killed.expect("kill runs").success());
        let ended = tokio::time::timeout(Duration::from_secs(30), self.child.wait()).await;
        assert!(ended.expect("it ends").expect("it ran").success(), "{}", self.said());
        started.elapsed()
    }

    fn said(&self) -> String {
        std::fs::read_to_string(&self.log).unwrap_or_default()
    }
}

async fn holder(program: &Program) -> Value {
    const LEASE: &str =
        "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/karpenter-leader-election";
    program.kube("GET", LEASE, &Value::Null).await.1["spec"]["holderIdentity"].clone()
}

fn world() -> String {
    format!(
        "{WORLD}---\napiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {{name: demo}}\nspec: {{mode: auto}}\n"
    )
}

#[tokio::test]
async fn leader_and_standby_are_ready_and_the_standby_takes_over_when_the_leader_ends() {
    let _ = rustls_provider();
    let program = Program::of(&world().replace("replicas: 5", "replicas: 0"), &["--speed", "20"]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let relay = relayed(&program).await;
    let mut first = Controller::start(&program, &relay, folder.path(), "first");
    program.wait(async || first.is_ready().await).await;
    program
        .wait(async || program.kube("GET", FLEET, &Value::Null).await.1["status"]["plan"] != Value::Null)
        .await;
    let mut second = Controller::start(&program, &relay, folder.path(), "second");
    program.wait(async || second.is_ready().await).await;
    assert_eq!(second.probe("/healthz").await.map(|(status, _)| status), Some(200));
    let leads = holder(&program).await;
    assert!(leads.as_str().is_some_and(|holder| holder.contains("first")), "{leads}");
    let took = first.terminated().await;
    assert!(took < Duration::from_secs(5), "{took:?}");
    program
        .wait(async || holder(&program).await.as_str().is_some_and(|holder| holder.contains("second")))
        .await;
    second.terminated().await;
}

#[tokio::test]
async fn a_controller_whose_connections_go_silent_leads_again_and_ends_in_time() {
    let _ = rustls_provider();
    let program = Program::of(&world().replace("replicas: 5", "replicas: 0"), &["--speed", "20"]).await;
    let folder = tempfile::tempdir().expect("a folder");
    let relay = relayed(&program).await;
    let mut controller = Controller::start(&program, &relay, folder.path(), "only");
    program
        .wait(async || program.kube("GET", FLEET, &Value::Null).await.1["status"]["plan"] != Value::Null)
        .await;
    relay.silence();
    let deployment = "/apis/apps/v1/namespaces/default/deployments/inflate";
    let answer = program.patch(deployment, &json!({"spec": {"replicas": 5}})).await;
    assert_eq!(answer.0, 200, "{}", answer.1);
    program
        .wait_for(|state| {
            let pods = state["pods"].as_array().expect("a list").iter();
            pods.filter(|pod| pod["phase"] == "Running").count() >= 5
        })
        .await;
    assert!(controller.said().contains("no answer from the API server"), "{}", controller.said());
    relay.silence();
    let took = controller.terminated().await;
    assert!(took < Duration::from_secs(5), "{took:?}");
}

fn rustls_provider() -> Result<(), Arc<tokio_rustls::rustls::crypto::CryptoProvider>> {
    tokio_rustls::rustls::crypto::ring::default_provider().install_default()
}
