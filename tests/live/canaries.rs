//! Twelve secrets, planted wherever nodeform looks or is told something, appear in nothing that it says, saves or writes.

use std::path::Path;

use serde_json::{Value, json};

use crate::program::Program;

const WORLD: &str = include_str!("world.yaml");

/// What people put where it does not belong, and what does belong there.
const PLANTED: [&str; 7] = [
    "canary-of-an-env",
    "canary-of-an-argument",
    "canary-of-an-annotation",
    "canary-of-a-secret",
    "canary-of-a-config-map",
    "canary-of-the-git-token",
    "canary-of-the-certificate",
];

fn world() -> String {
    let container = "containers: [{name: inflate,";
    assert!(WORLD.contains(container));
    let with = "containers: [{name: inflate, args: [--password=canary-of-an-argument], env: [{name: PASSWORD, value: canary-of-an-env}],";
    let deployment = "metadata: {name: inflate, namespace: default}";
    assert!(WORLD.contains(deployment));
    let annotated = "metadata: {name: inflate, namespace: default, annotations: {kubectl.kubernetes.io/last-applied-configuration: canary-of-an-annotation}}";
    let encode = |text: &str| data_encoding::BASE64.encode(text.as_bytes());
    format!(
        "{}\n---\napiVersion: v1\nkind: Secret\nmetadata: {{name: app, namespace: default}}\ndata: {{password: {}}}\n---\n\
         apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: app, namespace: default}}\ndata: {{it: canary-of-a-config-map}}\n",
        WORLD.replacen(container, with, 1).replacen(deployment, annotated, 1),
        encode("canary-of-a-secret"),
    )
}

/// All that is in the files of a folder.
fn files(folder: &Path, all: &mut String) {
    for entry in std::fs::read_dir(folder).expect("it is there") {
        let path = entry.expect("it can be listed").path();
        if path.is_dir() {
            files(&path, all);
        } else {
            all.push_str(&String::from_utf8_lossy(&std::fs::read(&path).expect("it can be read")));
        }
    }
}

/// The objects that nodeform writes.
async fn objects(program: &Program) -> String {
    let mut all = String::new();
    for path in [
        "/apis/karpenter.sh/v1/nodeclaims",
        "/api/v1/nodes",
        "/apis/nodeform.dev/v1alpha1/nodeplans",
        "/apis/nodeform.dev/v1alpha1/nodeplanchunks",
        "/apis/nodeform.dev/v1alpha1/nodefleets",
        "/apis/coordination.k8s.io/v1/leases",
    ] {
        all.push_str(&program.kube("GET", path, &Value::Null).await.1.to_string());
    }
    all
}

#[tokio::test]
async fn secrets_appear_in_nothing_that_is_said_saved_or_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let program = Program::of(&world(), &["--speed", "30", "--record", &path("record.jsonl")]).await;
    let env = [
        ("NODEFORM_LOG", "trace"),
        ("NODEFORM_GIT_TOKEN", "canary-of-the-git-token"),
        ("AZURE_CLIENT_CERTIFICATE_PASSWORD", "canary-of-the-certificate"),
    ];
    let mut all = String::new();
    for arguments in [
        vec!["snapshot", "--live", "--out", &path("snapshot.json")],
        vec!["plan", "--live", "--out", &path("plan.json")],
        vec!["show", &path("plan.json"), "--requests"],
        vec!["show", &path("plan.json"), "-o", "json"],
        vec!["explain", "--live", "pod/default/none"],
    ] {
        let ran = program.nodeform(&arguments, &env).await;
        all.extend([ran.printed, ran.said]);
    }
    let mut applying =
        program.started(&["apply", &path("plan.json"), "-o", "jsonl"], Path::new(&path("said")));
    let mut tokens: Vec<String> = Vec::new();
    while applying.try_wait().expect("it can be asked").is_none() {
        let (_, secrets) = program.kube("GET", "/api/v1/namespaces/kube-system/secrets", &Value::Null).await;
        let found = secrets["items"].as_array().into_iter().flatten();
        let found = found.filter_map(|secret| secret["data"]["token-secret"].as_str());
        tokens.extend(found.map(|secret| {
            String::from_utf8(data_encoding::BASE64.decode(secret.as_bytes()).expect("base64")).expect("text")
        }));
        all.push_str(&objects(&program).await);
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    tokens.dedup();
    assert!(!tokens.is_empty(), "the bootstrap token was seen while it was there");
    for arguments in [vec!["status"], vec!["apply", "--auto-approve"], vec!["apply", &path("plan.json")]] {
        let ran = program.nodeform(&arguments, &env).await;
        all.extend([ran.printed, ran.said]);
    }
    all.push_str(&objects(&program).await);
    files(folder.path(), &mut all);
    let encoded = data_encoding::BASE64.encode(b"canary-of-a-secret");
    let mut canaries: Vec<String> = PLANTED.iter().map(|canary| (*canary).to_owned()).collect();
    canaries.extend(program.credentials());
    canaries.extend(tokens);
    canaries.push(encoded);
    assert!(canaries.len() >= 12, "{}", canaries.len());
    for canary in &canaries {
        assert!(canary.len() > 7, "`{canary}` is told from other text");
        let at = all.find(canary.as_str());
        let context = at.map(|at| json!(all.get(at.saturating_sub(200)..at)));
        assert!(at.is_none(), "a secret appears after {context:?}");
    }
}
