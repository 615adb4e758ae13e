//! Every kind that a plan reads, refused by the API server: the kind is named, with the cause and the next step, and no
//! node goes. What a plan cannot do without ends it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use nodeform::manifests::listed::{ListedKind, NEEDED_KINDS, SNAPSHOT_KINDS};
use serde_json::{Value, json};

use crate::azure::server::{Reply, Server, scratch};
use crate::program::{Program, Ran};

const WORLD: &str = include_str!("world.yaml");
const INFLATE: &str = "/apis/apps/v1/namespaces/default/deployments/inflate";
const NODE_PLANS: &str = "/apis/nodeform.dev/v1alpha1/nodeplans";

/// An API server that answers as the simulated one did once, and refuses what it is told to. It serves every kind.
struct Refusing {
    server: Server,
    refused: Arc<Mutex<Vec<String>>>,
    kubeconfig: String,
    /// Where each kind is listed.
    paths: BTreeMap<&'static str, String>,
}

impl Refusing {
    async fn of(program: &Program) -> Self {
        let get = async |path: &str| program.kube("GET", path, &Value::Null).await;
        let mut groups = get("/apis").await.1;
        let mut answers = BTreeMap::from([("/api/v1".to_owned(), get("/api/v1").await.1)]);
        let mut paths = BTreeMap::new();
        for ListedKind { word, resource } in SNAPSHOT_KINDS {
            let (name, group) = resource.split_once('.').unwrap_or((resource, ""));
            let base = base(&mut groups, group);
            if !answers.contains_key(&base) {
                let (status, known) = get(&base).await;
                let none = json!({"kind": "APIResourceList", "resources": []});
                answers.insert(base.clone(), if status == 200 { known } else { none });
            }
            let resources = answers.get_mut(&base).and_then(|known| known["resources"].as_array_mut());
            let resources = resources.expect("a list of resources");
            if !resources.iter().any(|known| known["name"] == name) {
                resources.push(json!({"name": name, "verbs": ["get", "list"]}));
            }
            let path = format!("{base}/{name}");
            let (status, listed) = get(&path).await;
            let none = json!({"apiVersion": "v1", "kind": "List", "items": []});
            answers.insert(path.clone(), if status == 200 { listed } else { none });
            paths.insert(word, path);
        }
        answers.insert(NODE_PLANS.to_owned(), get(NODE_PLANS).await.1);
        answers.insert("/apis".to_owned(), groups);
        let refused: Arc<Mutex<Vec<String>>> = Arc::default();
        let told = Arc::clone(&refused);
        let server = Server::start(move |seen, _| {
            if told.lock().expect("nobody panics").contains(&seen.path) {
                let message = format!("{} is forbidden: User \"ci\" cannot list resource", seen.path);
                let status = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
                    "message": message, "reason": "Forbidden", "code": 403});
                return Reply::json(403, status);
            }
            let missing = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure",
                "message": "not found", "reason": "NotFound", "code": 404});
            answers.get(&seen.path).map_or_else(
                || Reply::json(404, missing),
                |known| Reply::json(200, known.clone()).with("content-type", "application/json"),
            )
        });
        let kubeconfig = kubeconfig(&server);
        Self { server, refused, kubeconfig, paths }
    }

    /// Plans while these paths are refused.
    async fn plan(&self, program: &Program, paths: &[String]) -> Ran {
        *self.refused.lock().expect("nobody panics") = paths.to_vec();
        program.nodeform(&["plan", "--live"], &[("KUBECONFIG", &self.kubeconfig)]).await
    }
}

/// The path of a group's resources; a group that is not served is added.
fn base(groups: &mut Value, group: &str) -> String {
    if group.is_empty() {
        return "/api/v1".to_owned();
    }
    let known = groups["groups"].as_array_mut().expect("a list of groups");
    let found = known.iter().find(|known| known["name"] == group);
    let version = found.map(|found| {
        let preferred = found["preferredVersion"]["groupVersion"].as_str();
        preferred.or(found["versions"][0]["groupVersion"].as_str()).expect("a version").to_owned()
    });
    let version = version.unwrap_or_else(|| {
        let version = json!({"groupVersion": format!("{group}/v1"), "version": "v1"});
        known.push(json!({"name": group, "versions": [version], "preferredVersion": version}));
        format!("{group}/v1")
    });
    format!("/apis/{version}")
}

fn kubeconfig(server: &Server) -> String {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "x",
        "clusters": [{"name": "x", "cluster": {"server": server.url(), "certificate-authority": server.ca}}],
        "users": [{"name": "x", "user": {"token": "some"}}],
        "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
    });
    let file = scratch("kubeconfig.json");
    std::fs::write(&file, config.to_string()).expect("it can be written");
    file.display().to_string()
}

/// A cluster with a node of nodeform's that nobody needs.
async fn emptied() -> Program {
    let program = Program::of(WORLD, &["--speed", "60"]).await;
    let ran = program.nodeform(&["apply", "--auto-approve"], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(program.patch(INFLATE, &json!({"spec": {"replicas": 0}})).await.0, 200);
    let is_inflate = |pod: &Value| pod["name"].as_str().is_some_and(|name| name.contains("inflate"));
    program.wait_for(|state| !state["pods"].as_array().is_some_and(|pods| pods.iter().any(is_inflate))).await;
    program
}

/// How many kinds are refused at once: that each of them alone keeps every node is shown where plans are made.
const AT_ONCE: usize = 3;

fn is_told(ran: &Ran, path: &str) {
    let cause = format!("`GET {path}`: the API server answers 403: {path} is forbidden");
    assert!(ran.said.contains(&cause), "{path}: {ran:?}");
    assert_eq!(ran.said.matches("\nhint: get a role that allows it").count(), 1, "{path}: {ran:?}");
}

#[tokio::test]
async fn kinds_that_may_not_be_listed_are_named_and_no_node_goes() {
    let program = emptied().await;
    let cluster = Refusing::of(&program).await;
    let free = cluster.plan(&program, &[]).await;
    assert!(free.printed.starts_with("Plan: 0 to add, 0 to change, 1 to destroy."), "{free:?}");
    assert!(!free.said.contains("could not be listed"), "{free:?}");
    let (needed, others): (Vec<&str>, Vec<&str>) =
        SNAPSHOT_KINDS.iter().map(|kind| kind.word).partition(|word| NEEDED_KINDS.contains(word));
    for word in needed {
        let ran = cluster.plan(&program, &[cluster.paths[word].clone()]).await;
        assert_eq!((ran.code, &*ran.printed), (Some(1), ""), "{word}: {ran:?}");
        is_told(&ran, &cluster.paths[word]);
    }
    for words in others.chunks(AT_ONCE) {
        let paths: Vec<String> = words.iter().map(|word| cluster.paths[word].clone()).collect();
        let ran = cluster.plan(&program, &paths).await;
        assert_eq!(ran.code, Some(0), "{words:?}: {ran:?}");
        for (word, path) in words.iter().zip(&paths) {
            is_told(&ran, path);
            assert!(ran.said.contains(&format!("warning: {word} could not be listed: ")), "{word}: {ran:?}");
        }
        let head = ran.printed.lines().next().unwrap_or_default();
        assert!(head.starts_with("No changes.") || head.ends_with(" 0 to destroy."), "{words:?}: {ran:?}");
        let page = ran.printed.split_whitespace().collect::<Vec<_>>().join(" ");
        // Without its NodePool a node stays before that is asked, and without the namespaces nothing can be carried out.
        let whys = [
            "what cannot be listed is unknown; no node is deleted until it can",
            "is not in the input, so that its rules are not known",
            "the UID of namespace `kube-system` is not known, by which the cluster is told from others",
        ];
        assert!(whys.iter().any(|why| page.contains(why)), "{words:?}: {ran:?}");
    }
    let ran = cluster.plan(&program, &[NODE_PLANS.to_owned()]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    is_told(&ran, NODE_PLANS);
    assert!(cluster.server.seen().iter().all(|seen| seen.method == "GET"), "nothing is written");
}

#[tokio::test]
async fn what_may_not_be_listed_is_unknown_in_the_view_of_nodes_and_never_empty() {
    let program = emptied().await;
    let cluster = Refusing::of(&program).await;
    let top = async |words: &[&str]| {
        let paths = words.iter().map(|word| match cluster.paths.get(word) {
            Some(path) => path.clone(),
            None => NODE_PLANS.to_owned(),
        });
        *cluster.refused.lock().expect("nobody panics") = paths.collect();
        program.nodeform(&["top", "--once"], &[("KUBECONFIG", &cluster.kubeconfig)]).await
    };
    let free = top(&[]).await;
    assert!(free.printed.contains("  0 Pending\n") && !free.printed.contains("cannot be listed"), "{free:?}");
    let pods = top(&["pods"]).await;
    assert_eq!(pods.code, Some(0), "{pods:?}");
    assert!(pods.printed.contains("? Pending") && pods.printed.contains("pods cannot be listed"), "{pods:?}");
    assert!(!pods.printed.contains('░') && !pods.printed.contains("0%"), "{pods:?}");
    for words in [["nodeclaims"], ["nodefleets"]] {
        let ran = top(&words).await;
        assert!(ran.printed.contains("Provisioner unknown"), "{words:?}: {ran:?}");
    }
    let plans = top(&["nodeplans"]).await;
    assert!(plans.printed.contains("nodeplans cannot be listed"), "{plans:?}");
    let nodes = top(&["nodes"]).await;
    assert_eq!((nodes.code, &*nodes.printed), (Some(1), ""), "{nodes:?}");
    assert!(nodes.said.contains("\nhint: "), "{nodes:?}");
    assert!(cluster.server.seen().iter().all(|seen| seen.method == "GET"), "nothing is written");
}
