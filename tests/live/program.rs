//! The running program, and a client that knows only what it announced.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use nodeform::clock::Clock;
use nodeform::cluster::{Cluster, Settings};
use nodeform::sim::{SimulatedAzure, Start, World};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// How long anything may take here, on a machine that is busy with other things: hours of the world's clock.
pub(crate) const PATIENCE: Duration = Duration::from_secs(240);

/// How many lines of what programs say are shown of a story that does not go on.
const LINES_SAID: usize = 60;

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";

/// Returns a world whose role may not read what the subscription uses of its quotas.
pub(crate) fn without_usages(documents: &str) -> String {
    let actions = "Microsoft.Resources/*, Microsoft.Authorization/*, Microsoft.ContainerService/*, \
                   Microsoft.Compute/virtualMachines/*, Microsoft.Compute/disks/*, \
                   Microsoft.Compute/locations/communityGalleries/*, Microsoft.Compute/locations/operations/*, \
                   Microsoft.Network/*, Microsoft.ManagedIdentity/*";
    let location = "  location: westeurope\n";
    documents.replacen(location, &format!("{location}  permissions: [{actions}]\n"), 1)
}

pub(crate) struct Program {
    child: Child,
    announcement: Value,
    address: String,
    client: reqwest::Client,
    cluster_token: String,
    azure_token: String,
    world: tempfile::TempDir,
    /// Where the programs write what they say.
    logs: std::sync::Mutex<Vec<PathBuf>>,
}

/// What a command came to.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    /// Its standard output.
    pub(crate) printed: String,
    /// Its standard error.
    pub(crate) said: String,
}

impl Program {
    pub(crate) async fn start(arguments: &[&str]) -> Self {
        let document =
            "apiVersion: nodeform.dev/v1alpha1\nkind: SimulatedAzure\nspec: {location: southcentralus}\n";
        Self::of(document, arguments).await
    }

    /// Starts it with the documents of a world.
    pub(crate) async fn of(documents: &str, arguments: &[&str]) -> Self {
        let world = tempfile::tempdir().expect("a folder");
        std::fs::write(world.path().join("world.yaml"), documents).expect("it can be written");
        let mut child = Command::new(env!("CARGO_BIN_EXE_nodeform-azure-sim"))
            .arg("--world")
            .arg(world.path())
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let line = lines.next_line().await.expect("it can be read").expect("the program announces itself");
        let announcement: Value = serde_json::from_str(&line).expect("JSON");
        let read =
            |path: &Value| std::fs::read_to_string(path.as_str().expect("a path")).expect("it is there");
        let environment: Value = serde_json::from_str(&read(&announcement["environmentFile"])).expect("JSON");
        let kubeconfig: Value = serde_json::from_str(&read(&announcement["kubeconfig"])).expect("JSON");
        let ca = read(&environment["caFile"]);
        let _ = rustls_provider();
        let client = reqwest::Client::builder()
            .tls_certs_only([reqwest::Certificate::from_pem(ca.as_bytes()).expect("a certificate")])
            .build()
            .expect("a client");
        let address =
            environment["resourceManagerEndpoint"].as_str().expect("a URL").trim_end_matches('/').to_owned();
        let cluster_token = kubeconfig["users"][0]["user"]["token"].as_str().expect("a token").to_owned();
        let (azure_token, logs) = (String::new(), std::sync::Mutex::default());
        let mut program =
            Self { child, announcement, address, client, cluster_token, azure_token, world, logs };
        program.azure_token = program.sign_in().await;
        program
    }

    async fn sign_in(&self) -> String {
        let env = |name: &str| self.announcement["env"][name].as_str().expect("a variable").to_owned();
        let url = format!("{}/{}/oauth2/v2.0/token", self.address, env("AZURE_TENANT_ID"));
        let form = format!(
            "grant_type=client_credentials&client_id={}&client_secret={}&scope=https%3A%2F%2Fmanagement.azure.com%2F.default",
            env("AZURE_CLIENT_ID"),
            env("AZURE_CLIENT_SECRET")
        );
        let answer = self.client.post(url).body(form).send().await.expect("it answers");
        let body: Value = answer.json().await.expect("JSON");
        body["access_token"].as_str().expect("a token").to_owned()
    }

    /// A world of the same settings, to take ids from.
    pub(crate) fn twin(&self) -> World {
        let settings = SimulatedAzure { location: "southcentralus".to_owned(), ..SimulatedAzure::default() };
        let mut world = World::new(Start { settings, ..Start::default() }).expect("the world is valid");
        world.advance(jiff::Timestamp::now());
        world
    }

    /// The certificate authority as a node's configuration states it.
    pub(crate) fn ca(&self) -> String {
        let path = self.environment_file().with_file_name("ca.pem");
        data_encoding::BASE64.encode(&std::fs::read(path).expect("it is there"))
    }

    async fn send(
        &self,
        method: &str,
        target: &str,
        token: &str,
        body: Option<(&str, &Value)>,
    ) -> reqwest::Result<(u16, Value)> {
        let method: reqwest::Method = method.parse().expect("a method");
        let mut request = self.client.request(method, format!("{}{target}", self.address)).bearer_auth(token);
        if let Some((kind, body)) = body.filter(|(_, body)| !body.is_null()) {
            request = request.header("content-type", kind).body(body.to_string());
        }
        let answer = request.send().await?;
        let status = answer.status().as_u16();
        let text = answer.text().await?;
        Ok((status, serde_json::from_str(&text).unwrap_or(Value::Null)))
    }

    pub(crate) async fn try_arm(
        &self,
        method: &str,
        target: &str,
        body: Option<&Value>,
    ) -> reqwest::Result<(u16, Value)> {
        self.send(method, target, &self.azure_token, body.map(|body| ("application/json", body))).await
    }

    pub(crate) async fn arm(&self, method: &str, target: &str, body: Option<&Value>) -> (u16, Value) {
        self.try_arm(method, target, body).await.expect("it answers")
    }

    pub(crate) async fn kube(&self, method: &str, target: &str, body: &Value) -> (u16, Value) {
        self.send(method, target, &self.cluster_token, Some(("application/json", body)))
            .await
            .expect("it answers")
    }

    pub(crate) async fn patch(&self, target: &str, body: &Value) -> (u16, Value) {
        let body = Some(("application/merge-patch+json", body));
        self.send("PATCH", target, &self.cluster_token, body).await.expect("it answers")
    }

    /// Has a NodeClaim and its node look as a removal leaves them whose process died right after the taint. Its plan is one
    /// that the cluster has no NodePlan of.
    pub(crate) async fn begin_removal(&self, claim: &Value) {
        let name = claim["metadata"]["name"].as_str().expect("a name");
        let mark = json!({"nodeform.dev/removal": "gonegonego/abcdefghij/2026-01-01T00:00:00Z"});
        let (claim_path, node_path) = (format!("{CLAIMS}/{name}"), format!("/api/v1/nodes/aks-{name}"));
        let (status, answer) = self.patch(&claim_path, &json!({"metadata": {"annotations": mark}})).await;
        assert_eq!(status, 200, "{answer}");
        let labels = json!({"node.kubernetes.io/exclude-from-external-load-balancers": "karpenter"});
        let taints = json!([{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]);
        let patch = json!({"metadata": {"labels": labels}, "spec": {"taints": taints}});
        let (status, answer) = self.patch(&node_path, &patch).await;
        assert_eq!(status, 200, "{answer}");
    }

    /// What is left of that: mark, label and taints.
    pub(crate) async fn begun_removal(&self, claim: &Value) -> [Value; 3] {
        let name = claim["metadata"]["name"].as_str().expect("a name");
        let (_, claim) = self.kube("GET", &format!("{CLAIMS}/{name}"), &Value::Null).await;
        let (_, node) = self.kube("GET", &format!("/api/v1/nodes/aks-{name}"), &Value::Null).await;
        let labels = &node["metadata"]["labels"];
        let taints = node["spec"]["taints"].as_array().cloned().unwrap_or_default();
        [
            claim["metadata"]["annotations"]["nodeform.dev/removal"].clone(),
            labels["node.kubernetes.io/exclude-from-external-load-balancers"].clone(),
            taints.into_iter().filter(|taint| taint["key"] == "karpenter.sh/disrupted").collect(),
        ]
    }

    pub(crate) async fn own(&self, method: &str, target: &str, body: &Value) -> (u16, Value) {
        self.send(method, target, "", Some(("application/json", body))).await.expect("it answers")
    }

    /// All that a stream brings until it ends.
    pub(crate) async fn stream(&self, target: &str) -> String {
        let request = self.client.get(format!("{}{target}", self.address)).bearer_auth(&self.cluster_token);
        request.send().await.expect("it answers").text().await.expect("it ends")
    }

    pub(crate) async fn put_and_wait(&self, target: &str, body: &Value) {
        let mut body = body.clone();
        self.insist_on_ca(&mut body);
        let (status, answer) = self.arm("PUT", target, Some(&body)).await;
        assert!(matches!(status, 200 | 201), "{answer}");
        self.wait(async || {
            self.arm("GET", target, None).await.1["properties"]["provisioningState"] == "Succeeded"
        })
        .await;
    }

    /// Kubelets insist on the authority of the API server, which only the running program has.
    fn insist_on_ca(&self, body: &mut Value) {
        let Some(data) = body.pointer_mut("/properties/osProfile/customData") else { return };
        let world = self.twin();
        let mut config = crate::sim::bodies::node_config(&world);
        config["kubernetesCaCert"] = json!(self.ca());
        *data = json!(crate::sim::bodies::custom_data(&config));
    }

    /// Waits until a resource is made.
    pub(crate) async fn settled(&self, target: &str) {
        self.wait(async || {
            self.arm("GET", target, None).await.1["properties"]["provisioningState"] == "Succeeded"
        })
        .await;
    }

    pub(crate) async fn wait_for(&self, holds: impl Fn(&Value) -> bool) -> Value {
        self.wait(async || holds(&self.own("GET", "/sim/state", &Value::Null).await.1)).await;
        self.own("GET", "/sim/state", &Value::Null).await.1
    }

    pub(crate) async fn wait(&self, holds: impl AsyncFn() -> bool) {
        let waited = tokio::time::timeout(PATIENCE, async {
            while !holds().await {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        });
        if waited.await.is_err() {
            let state = self.own("GET", "/sim/state", &Value::Null).await.1;
            panic!("never came: {state:#}\n{}", self.last_said());
        }
    }

    /// The last lines that the programs said which were left running.
    fn last_said(&self) -> String {
        let read = |log: &PathBuf| std::fs::read_to_string(log).unwrap_or_default();
        let all: Vec<String> = self.logs.lock().expect("no panic").iter().map(read).collect();
        let all = all.concat();
        let lines: Vec<&str> = all.lines().collect();
        lines[lines.len().saturating_sub(LINES_SAID)..].join("\n")
    }

    pub(crate) fn environment_file(&self) -> PathBuf {
        PathBuf::from(self.announcement["environmentFile"].as_str().expect("a path"))
    }

    pub(crate) fn kubeconfig(&self) -> PathBuf {
        PathBuf::from(self.announcement["kubeconfig"].as_str().expect("a path"))
    }

    /// The cluster, by the kubeconfig that was announced.
    pub(crate) async fn cluster(&self) -> Cluster {
        let settings = Settings { context: None, kubeconfig: Some(self.kubeconfig()) };
        Cluster::of(&settings, Clock::of_this_machine()).await.expect("the kubeconfig can be used")
    }

    /// What must appear in no recording.
    pub(crate) fn secrets(&self) -> Vec<String> {
        let client = self.announcement["env"]["AZURE_CLIENT_SECRET"].as_str().expect("a secret").to_owned();
        vec![
            client,
            self.azure_token.clone(),
            self.cluster_token.clone(),
            "0123456789abcdef".to_owned(),
            "customData".to_owned(),
        ]
    }

    /// What lets somebody in: the client secret, the token of the kubeconfig, and the head that access tokens share.
    pub(crate) fn credentials(&self) -> Vec<String> {
        let client = self.announcement["env"]["AZURE_CLIENT_SECRET"].as_str().expect("a secret").to_owned();
        let head = self.azure_token.split('.').next().expect("a JWT has three parts").to_owned();
        vec![client, self.cluster_token.clone(), head]
    }

    /// The variables that were announced.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        let announced = self.announcement["env"].as_object().expect("variables");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        announced.iter().map(|(name, value)| (name.clone(), text(value))).collect()
    }

    /// The variables on top by which somebody only reads.
    pub(crate) fn reader(&self) -> Vec<(String, String)> {
        let announced = self.announcement["reader"].as_object().expect("variables");
        let text = |value: &Value| value.as_str().expect("text").to_owned();
        announced.iter().map(|(name, value)| (name.clone(), text(value))).collect()
    }

    /// Runs nodeform with the variables that were announced, and others on top.
    pub(crate) async fn nodeform(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Ran {
        let announced = self.announcement["env"].as_object().expect("variables");
        let announced = announced.iter().map(|(name, value)| (name.as_str(), value.as_str().expect("text")));
        let output = Command::new(env!("CARGO_BIN_EXE_nodeform"))
            .args(arguments)
            .env_clear()
            .envs(announced)
            // Plans that it saves by itself belong to the world.
            .env("XDG_STATE_HOME", self.world.path())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .output()
            .await
            .expect("the program starts");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
        Ran { code: output.status.code(), printed: text(output.stdout), said: text(output.stderr) }
    }

    /// Starts nodeform and leaves it running; its standard error goes to a file.
    pub(crate) fn started(&self, arguments: &[&str], said: &std::path::Path) -> Child {
        self.started_with(arguments, &[], said)
    }

    /// The same with other variables on top.
    pub(crate) fn started_with(
        &self,
        arguments: &[&str],
        variables: &[(&str, &str)],
        said: &std::path::Path,
    ) -> Child {
        let mut logs = self.logs.lock().expect("no panic");
        if !logs.iter().any(|known| known == said) {
            logs.push(said.to_owned());
        }
        let announced = self.announcement["env"].as_object().expect("variables");
        let announced = announced.iter().map(|(name, value)| (name.as_str(), value.as_str().expect("text")));
        Command::new(env!("CARGO_BIN_EXE_nodeform"))
            .args(arguments)
            .env_clear()
            .envs(announced)
            .env("XDG_STATE_HOME", self.world.path())
            .envs(variables.iter().copied())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::OpenOptions::new().create(true).append(true).open(said).expect("a file"))
            .kill_on_drop(true)
            .spawn()
            .expect("the program starts")
    }

    pub(crate) async fn end(&mut self) -> std::process::ExitStatus {
        drop(self.child.stdin.take());
        tokio::time::timeout(PATIENCE, self.child.wait()).await.expect("it ends").expect("it ran")
    }
}

fn rustls_provider() -> Result<(), std::sync::Arc<tokio_rustls::rustls::crypto::CryptoProvider>> {
    tokio_rustls::rustls::crypto::ring::default_provider().install_default()
}
