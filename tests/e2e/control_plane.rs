//! A control plane of its own for a test: etcd, the API server and the scheduler, on loopback only; as a whole one also the
//! controller manager, roles, service accounts and an audit log.
//!
//! The programs end with this value, also when the test panics; and when the test is killed, since their standard
//! input ends then.

use std::fs::{self, File};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::http::Api;

/// How often a start is tried: a port that was free may be taken a moment later.
const ATTEMPTS_MAX: usize = 3;

/// The longest that a start may take; on two idle cores it is three seconds.
const START_WAIT_MAX: Duration = Duration::from_secs(180);

const SERVER: &str = "kube-apiserver";
const SCHEDULER: &str = "kube-scheduler";
const MANAGER: &str = "kube-controller-manager";

const AUDIT: &str = "audit.log";

const POLL: Duration = Duration::from_millis(50);

/// Whom the API server takes for an administrator. It listens on loopback, and ends with the test.
const TOKEN: &str = "test";

/// How much of a control plane there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parts {
    /// What binds pods; everybody may do everything, and what controllers would do, the test does.
    Scheduling,
    /// All of it: each program and each user may do what its roles allow, and every request is in the audit log.
    Whole,
}

/// Admission plugins that count on a controller which is not there: service accounts would have to be made, taints
/// and finalizers taken away; and priorities are given as numbers.
const WITHOUT_PLUGINS: &str = "ServiceAccount,TaintNodesByCondition,StorageObjectInUseProtection,Priority";

/// How often one was started: each start has a folder of its own.
static STARTS: AtomicUsize = AtomicUsize::new(0);

/// What runs.
pub(crate) struct ControlPlane {
    folder: PathBuf,
    programs: Vec<(&'static str, Child)>,
    api: Api,
    /// Where the API server answers.
    server: String,
    address: SocketAddr,
    program: PathBuf,
    parts: Parts,
    server_flags: Vec<String>,
}

impl ControlPlane {
    /// Starts one, and returns when the API server is ready.
    pub(crate) fn start(program: &Path, parts: Parts) -> Self {
        let mut faults = Vec::new();
        for _ in 0..ATTEMPTS_MAX {
            let start = STARTS.fetch_add(1, Ordering::Relaxed);
            let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"))
                .join(format!("control-plane-{}-{start}", std::process::id()));
            match Self::try_start(program, parts, folder) {
                Ok(started) => return started,
                Err(fault) => faults.push(fault),
            }
        }
        panic!("the control plane does not start:\n{}", faults.join("\n"))
    }

    /// Returns the way to the API server.
    pub(crate) fn api(&self) -> &Api {
        &self.api
    }

    /// Returns another way to the API server: one thread asks by one.
    pub(crate) fn another_api(&self) -> Api {
        Api::new(self.address)
    }

    /// Returns a kubeconfig of the administrator.
    pub(crate) fn kubeconfig(&self) -> String {
        self.kubeconfig_of(TOKEN)
    }

    /// Returns the audit log of a whole one.
    pub(crate) fn audit_log(&self) -> PathBuf {
        self.folder.join(AUDIT)
    }

    /// Ends the API server and what works with it, as if its machine had gone. What is stored stays.
    pub(crate) fn stop_server(&mut self) {
        let gone = |name: &str| [SERVER, SCHEDULER, MANAGER].contains(&name);
        for (_, child) in self.programs.iter_mut().filter(|(name, _)| gone(name)) {
            let _ = child.kill();
            let _ = child.wait();
        }
        self.programs.retain(|(name, _)| !gone(name));
    }

    /// Starts them again, and returns when the API server is ready.
    pub(crate) fn start_server(&mut self) {
        self.try_serve().expect("it is ready again");
    }

    /// Returns a kubeconfig of whoever has this token. It trusts the API server's own certificate, as one of a real cluster
    /// does.
    pub(crate) fn kubeconfig_of(&self, token: &str) -> String {
        self.kubeconfig_through(token, &self.server)
    }

    /// Returns where the API server answers.
    pub(crate) fn server(&self) -> SocketAddr {
        let address = self.server.strip_prefix("https://").expect("it speaks TLS");
        address.parse().expect("an address of loopback")
    }

    /// The same by another way to it.
    pub(crate) fn kubeconfig_through(&self, token: &str, server: &str) -> String {
        let certificate =
            fs::read(self.folder.join("certificates/apiserver.crt")).expect("the API server made it");
        let ca = data_encoding::BASE64.encode(&certificate);
        let cluster = format!("{{server: '{server}', certificate-authority-data: {ca}}}");
        format!(
            "apiVersion: v1\nkind: Config\nclusters: [{{name: test, cluster: {cluster}}}]\n\
             users: [{{name: test, user: {{token: {token}}}}}]\n\
             contexts: [{{name: test, context: {{cluster: test, user: test}}}}]\ncurrent-context: test\n"
        )
    }

    fn try_start(program: &Path, parts: Parts, folder: PathBuf) -> Result<Self, String> {
        let [etcd, peer, server, proxy] = free_ports();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, proxy));
        let mut plane = Self {
            folder,
            programs: Vec::new(),
            api: Api::new(address),
            server: format!("https://127.0.0.1:{server}"),
            address,
            program: program.to_owned(),
            parts,
            server_flags: server_flags(etcd, server, parts),
        };
        plane.write_files();
        let mut key = plane.command("key", &["service-account.key".to_owned()]);
        assert!(key.status().is_ok_and(|status| status.success()), "a key can be made");
        plane.spawn("etcd", &etcd_flags(etcd, peer));
        plane.spawn("proxy", &[address.to_string(), plane.server.clone(), TOKEN.to_owned()]);
        plane.try_serve()?;
        Ok(plane)
    }

    fn try_serve(&mut self) -> Result<(), String> {
        self.spawn(SERVER, &self.server_flags.clone());
        self.wait_until_ready()?;
        self.spawn(SCHEDULER, &["--config=scheduler.yaml", "--secure-port=0"].map(str::to_owned));
        if self.parts == Parts::Whole {
            self.spawn(MANAGER, &manager_flags());
        }
        Ok(())
    }

    fn spawn(&mut self, name: &'static str, arguments: &[String]) {
        let child = self.command(name, arguments).spawn();
        self.programs.push((name, child.expect("the program was built for this machine")));
    }

    fn write_files(&self) {
        let _ = fs::remove_dir_all(&self.folder);
        fs::create_dir_all(&self.folder).expect("the folder can be made");
        let write = |name: &str, text: String| {
            fs::write(self.folder.join(name), text).expect("the file can be written");
        };
        write(
            "tokens.csv",
            format!(
                "{TOKEN},admin,1,\"system:masters\"\nscheduler,system:kube-scheduler,2\n\
                 manager,system:kube-controller-manager,3\n"
            ),
        );
        let cluster = format!("{{server: '{}', insecure-skip-tls-verify: true}}", self.server);
        for name in ["scheduler", "manager"] {
            let user = if self.parts == Parts::Whole { name } else { TOKEN };
            write(
                &format!("{name}.kubeconfig"),
                format!(
                    "apiVersion: v1\nkind: Config\nclusters: [{{name: test, cluster: {cluster}}}]\n\
                     users: [{{name: test, user: {{token: {user}}}}}]\n\
                     contexts: [{{name: test, context: {{cluster: test, user: test}}}}]\ncurrent-context: test\n"
                ),
            );
        }
        // What cannot be bound is tried again after one second instead of up to ten; nothing else is changed.
        write(
            "scheduler.yaml",
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n\
             clientConnection: {kubeconfig: scheduler.kubeconfig, qps: 1000, burst: 2000}\n\
             leaderElection: {leaderElect: false}\n\
             podInitialBackoffSeconds: 1\npodMaxBackoffSeconds: 1\n"
                .to_owned(),
        );
        write(
            "audit-policy.yaml",
            "apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived]\nrules: [{level: Metadata}]\n"
                .to_owned(),
        );
    }

    fn command(&self, name: &str, arguments: &[String]) -> Command {
        let log = File::options().create(true).append(true).open(self.folder.join(format!("{name}.log")));
        let log = log.expect("a log can be written");
        let mut command = Command::new(&self.program);
        command.arg(name).args(arguments).current_dir(&self.folder).stdin(Stdio::piped());
        command.stdout(log.try_clone().expect("a file has two handles")).stderr(log);
        command
    }

    fn wait_until_ready(&mut self) -> Result<(), String> {
        let start = Instant::now();
        while start.elapsed() < START_WAIT_MAX {
            for (name, child) in &mut self.programs {
                if !matches!(child.try_wait(), Ok(None)) {
                    let log = fs::read_to_string(self.folder.join(format!("{name}.log"))).unwrap_or_default();
                    let lines: Vec<&str> = log.lines().collect();
                    let last = lines[lines.len().saturating_sub(5)..].join("\n");
                    return Err(format!("{name} ended:\n{last}"));
                }
            }
            let ready = self.api.ask("GET", "/readyz", None);
            let namespace = self.api.ask("GET", "/api/v1/namespaces/default", None);
            if [ready, namespace].iter().all(|asked| asked.as_ref().is_ok_and(super::http::Answer::is_done)) {
                return Ok(());
            }
            thread::sleep(POLL);
        }
        Err(format!("the API server is not ready after {START_WAIT_MAX:?}: see {}", self.folder.display()))
    }
}

impl Drop for ControlPlane {
    fn drop(&mut self) {
        for (_, child) in self.programs.iter_mut().rev() {
            let _ = child.kill();
            let _ = child.wait();
        }
        // Logs are kept for whoever has to find out; what etcd holds is large and says no more.
        let gone = if thread::panicking() { self.folder.join("etcd") } else { self.folder.clone() };
        let _ = fs::remove_dir_all(gone);
    }
}

/// Returns ports that nobody listens on, all different.
fn free_ports<const COUNT: usize>() -> [u16; COUNT] {
    let listeners =
        [(); COUNT].map(|()| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("loopback has a free port"));
    listeners.map(|listener| listener.local_addr().expect("it listens").port())
}

fn etcd_flags(port: u16, peer: u16) -> Vec<String> {
    let url = format!("http://127.0.0.1:{port}");
    let mut flags = ["--data-dir=etcd", "--unsafe-no-fsync", "--log-level=warn"].map(str::to_owned).to_vec();
    flags.push(format!("--listen-client-urls={url}"));
    flags.push(format!("--advertise-client-urls={url}"));
    flags.push(format!("--listen-peer-urls=http://127.0.0.1:{peer}"));
    flags
}

fn server_flags(etcd: u16, port: u16, parts: Parts) -> Vec<String> {
    let mut flags = [
        "--bind-address=127.0.0.1",
        "--cert-dir=certificates",
        "--token-auth-file=tokens.csv",
        "--anonymous-auth=false",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-account-key-file=service-account.key",
        "--service-account-signing-key-file=service-account.key",
        "--service-cluster-ip-range=10.96.0.0/16",
        // A loopback address is no endpoint of a Service.
        "--endpoint-reconciler-type=none",
        "--allow-privileged",
        "--profiling=false",
    ]
    .map(str::to_owned)
    .to_vec();
    flags.push(format!("--etcd-servers=http://127.0.0.1:{etcd}"));
    flags.push(format!("--secure-port={port}"));
    match parts {
        Parts::Scheduling => {
            flags.push("--authorization-mode=AlwaysAllow".to_owned());
            flags.push(format!("--disable-admission-plugins={WITHOUT_PLUGINS}"));
        }
        Parts::Whole => {
            flags.push("--authorization-mode=Node,RBAC".to_owned());
            flags.push("--audit-policy-file=audit-policy.yaml".to_owned());
            flags.push(format!("--audit-log-path={AUDIT}"));
        }
    }
    flags
}

fn manager_flags() -> Vec<String> {
    [
        "--kubeconfig=manager.kubeconfig",
        "--service-account-private-key-file=service-account.key",
        "--root-ca-file=certificates/apiserver.crt",
        "--use-service-account-credentials",
        "--leader-elect=false",
        "--secure-port=0",
        "--kube-api-qps=1000",
        "--kube-api-burst=2000",
    ]
    .map(str::to_owned)
    .to_vec()
}
