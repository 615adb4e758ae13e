//! A node joins by what a plan says, and by what is found again when it is carried out.

use nodeform::bootstrap::BootstrapToken;
use nodeform::launch::ready;
use nodeform::manifests::Source;
use nodeform::offline::{self, Laid};
use nodeform::plan::{self, Plan};
use nodeform::render::requests::{Attempt, Start, billing, claim, nic, vm};
use serde_json::Value;

use crate::program::Program;

const WORLD: &str = include_str!("world.yaml");

/// The plan of a cluster, and the world as it is seen once more.
async fn planned(program: &Program) -> (Plan, offline::World) {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).display().to_string();
    let ran = program.nodeform(&["plan", "--live", "--out", &path("plan.json")], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let ran = program.nodeform(&["snapshot", "--live", "--out", &path("now.json")], &[]).await;
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = |name: &str| std::fs::read_to_string(path(name)).expect("it was saved");
    let plan = plan::read(&text("plan.json")).expect("it is a plan");
    let laid = Some(Laid { snapshot: Source::new("now.json", text("now.json")), ..Laid::default() });
    let now =
        offline::world(offline::Request { laid, ..offline::Request::default() }).expect("it can be read");
    (plan, now)
}

#[tokio::test]
async fn a_node_joins_by_nothing_but_what_a_plan_says() {
    let record = tempfile::NamedTempFile::new().expect("a file");
    let program =
        Program::of(WORLD, &["--speed", "120", "--record", &record.path().display().to_string()]).await;
    let (plan, now) = planned(&program).await;
    let (change, create, _) = plan.spec.creates().next().expect("a node is made");
    let id = plan.id();
    let attempt = Attempt { spec: &plan.spec, plan: &id, change, choice: 0, number: 1 };
    let ready =
        ready((&now.snapshot, &now.policy), &plan.spec, (&create.spec, 0)).expect("nothing has changed");
    let bytes: Vec<u8> = (0..64_u8).map(|byte| byte.wrapping_mul(91)).collect();
    let token = BootstrapToken::from_random(&bytes).expect("enough bytes");
    let secret = token.object(&std::collections::BTreeMap::new(), jiff::Timestamp::now());
    let secret: Value = serde_json::from_str(secret.reveal().reveal()).expect("JSON");
    let (status, answer) = program.kube("POST", "/api/v1/namespaces/kube-system/secrets", &secret).await;
    assert_eq!(status, 201, "{answer}");
    let claim = claim(&plan.spec, change, &id).expect("it can be built");
    let (status, answer) = program.kube("POST", "/apis/karpenter.sh/v1/nodeclaims", &claim).await;
    assert_eq!(status, 201, "{answer}");

    let start = Start::of(&ready, &token);
    let requests = [nic(&attempt), vm(&attempt, &start), billing(&attempt)];
    for request in requests {
        let request = request.expect("it can be built");
        let body = request.body.as_ref().expect("a body").reveal();
        let body: Value = serde_json::from_str(body.reveal()).expect("JSON");
        let target = request.target();
        let (status, answer) = program.arm("PUT", &target, Some(&body)).await;
        assert!(matches!(status, 200 | 201), "{target}: {answer}");
        program.settled(&target).await;
    }
    let name = &*create.vm;
    let state = program
        .wait_for(|state| {
            let nodes = state["nodes"].as_array();
            let node = nodes.and_then(|nodes| nodes.iter().find(|node| node["name"] == name));
            node.is_some_and(|node| node["ready"] == "True" && node["providerID"].is_string())
        })
        .await;
    assert_eq!(state["notJoined"], serde_json::json!([]));
    let (_, node) = program.kube("GET", &format!("/api/v1/nodes/{name}"), &Value::Null).await;
    let choice = &plan.spec.execution.as_ref().expect("it is live").choices(&create.spec)[0].choice;
    let labels = &node["metadata"]["labels"];
    assert_eq!(labels["node.kubernetes.io/instance-type"], choice.size.as_str(), "{node:#}");
    assert_eq!(labels["topology.kubernetes.io/zone"], choice.zone.as_str(), "{node:#}");
    assert_eq!(labels["karpenter.sh/nodepool"], "general-purpose");
    assert!(node["spec"]["taints"].to_string().contains("karpenter.sh/unregistered"), "{node:#}");
    let pods = plan.spec.execution.as_ref().and_then(|execution| execution.machines.values().next());
    let pods = pods.expect("a machine").kubelet.max_pods;
    assert_eq!(node["status"]["capacity"]["pods"], pods.to_string());
    crate::specifications::judge(record.path());
}
