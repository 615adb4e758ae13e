//! What a controller does of itself: nodes come and go, in mode `auto`.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CLAIMS, CLASS, FLEET, POOLS, Story, WORLD, names};

const PLANS: &str = "/apis/nodeform.dev/v1alpha1/nodeplans";

/// Has a NodeClaim and its node look as a removal leaves them whose process died right after the taint. Its plan is one that
/// the cluster has no NodePlan of.
fn begin_removal(story: &Story, claim: &Value) {
    let name = claim["metadata"]["name"].as_str().expect("a name");
    let mark = json!({"nodeform.dev/removal": "gonegonego/abcdefghij/2026-01-01T00:00:00Z"});
    let wrote = story.patch(&format!("{CLAIMS}/{name}"), &json!({"metadata": {"annotations": mark}}));
    assert_eq!(wrote.0, 200, "{}", wrote.1);
    let labels = json!({"node.kubernetes.io/exclude-from-external-load-balancers": "karpenter"});
    let taints = json!([{"key": "karpenter.sh/disrupted", "effect": "NoSchedule"}]);
    let patch = json!({"metadata": {"labels": labels}, "spec": {"taints": taints}});
    let wrote = story.patch(&format!("/api/v1/nodes/aks-{name}"), &patch);
    assert_eq!(wrote.0, 200, "{}", wrote.1);
}

#[tokio::test(start_paused = true)]
async fn pods_get_nodes_and_empty_nodes_go_without_a_command() {
    let mut story = Story::of("auto", 0).await;
    story.wait(|| story.fleet()["status"]["plan"] != Value::Null).await;
    story.scale(5);
    story.runs(5).await;
    assert_eq!(story.claims().len(), 1, "{}", story.said());
    let pods = story.listed("/api/v1/namespaces/default/pods");
    let told = pods.iter().filter(|pod| pod["status"]["nominatedNodeName"].is_string());
    assert!(told.clone().count() > 0, "they were told their node before it took any: {pods:?}");
    told.for_each(|pod| assert_eq!(pod["status"]["nominatedNodeName"], pod["spec"]["nodeName"], "{pod}"));
    story.scale(0);
    story.is_empty().await;
    story.rests().await;
    story.terminated().await;
    let leases = story.listed("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases");
    let holders: Vec<&Value> = leases.iter().map(|lease| &lease["spec"]["holderIdentity"]).collect();
    assert_eq!(holders, [""], "{leases:?}");
    let (_, secrets) = story.kube("GET", "/api/v1/namespaces/kube-system/secrets", &Value::Null);
    assert!(!secrets.to_string().contains("bootstrap-token-"), "{secrets}");
    let plans = story.listed(PLANS);
    let phases: Vec<&Value> = plans.iter().map(|plan| &plan["status"]["phase"]).collect();
    assert_eq!(phases, ["Done", "Done"], "{plans:?}");
    story.judged();
}

#[tokio::test(start_paused = true)]
async fn nothing_is_planned_while_nothing_changes_and_a_new_pod_is_planned_at_once() {
    let story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    // The nodes are quiet by then, and nobody wonders any longer whether one is needed.
    tokio::time::sleep(Duration::from_secs(600)).await;
    let before = story.plans();
    tokio::time::sleep(Duration::from_secs(180)).await;
    let planned = story.plans() - before;
    assert_eq!(planned, 0, "plans in 3 minutes; {}", story.said());
    story.scale(60);
    story.runs(60).await;
    assert!(story.plans() > before);
}

#[tokio::test(start_paused = true)]
async fn a_removal_whose_plan_is_gone_counts_for_nothing_and_its_node_takes_pods_again() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    story.killed();
    let claim = story.claims().remove(0);
    begin_removal(&story, &claim);
    story.starts();
    let none = [Value::Null, Value::Null, json!([])];
    story.wait(|| story.begun_removal(&claim) == none).await;
    assert_eq!(names(&story.claims()), names(&[claim]), "{}", story.said());
    story.scale(0);
    story.is_empty().await;
    story.terminated().await;
    story.judged();
}

#[tokio::test(start_paused = true)]
async fn a_removal_whose_plan_is_deleted_meanwhile_is_finished_and_the_plan_written_down_again() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    story.scale(0);
    let mark =
        |claim: &Value| claim["metadata"]["annotations"]["nodeform.dev/removal"].as_str().map(str::to_owned);
    story.wait(|| story.claims().iter().any(|claim| mark(claim).is_some())).await;
    let mark = story.claims().first().and_then(mark).expect("it goes");
    let plan = mark.split('/').next().expect("a plan");
    for object in story.listed(PLANS) {
        let name = object["metadata"]["name"].as_str().expect("a name");
        story.kube("DELETE", &format!("{PLANS}/{name}"), &Value::Null);
    }
    story.is_empty().await;
    story.rests().await;
    let (_, known) = story.kube("GET", &format!("{PLANS}/{plan}"), &Value::Null);
    assert_eq!(known["status"]["phase"], "Done", "{known}\n{}", story.said());
    story.terminated().await;
    story.judged();
}

#[tokio::test(start_paused = true)]
async fn nodes_of_a_pool_that_is_deleted_stay_and_are_its_own_again_when_it_is_back() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    let path = format!("{POOLS}/general-purpose");
    let (_, mut pool) = story.kube("GET", &path, &Value::Null);
    assert_eq!(story.kube("DELETE", &path, &Value::Null).0, 200);
    story.scale(0);
    story.runs(0).await;
    let rounds = story.said().matches("applying the plan").count();
    assert_ne!(rounds, 0, "the pool's own node was created: {}", story.said());
    // Ten rounds and more.
    tokio::time::sleep(std::time::Duration::from_secs(160)).await;
    assert_eq!(story.claims().len(), 1, "{}", story.said());
    assert_eq!(story.said().matches("applying the plan").count(), rounds, "{}", story.said());
    for field in ["resourceVersion", "uid", "creationTimestamp", "generation"] {
        pool["metadata"].as_object_mut().expect("an object").remove(field);
    }
    assert_eq!(story.kube("POST", POOLS, &pool).0, 201);
    story.is_empty().await;
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_somebody_deletes_is_drained_and_removed_and_its_pods_get_another() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    let before = names(&story.claims());
    let node = story.claims()[0]["status"]["nodeName"].as_str().expect("it has one").to_owned();
    let path = format!("/api/v1/nodes/{node}");
    assert_eq!(story.kube("DELETE", &path, &Value::Null).0, 200);
    story
        .wait(|| {
            let claims = names(&story.claims());
            claims.len() == 1 && claims != before
        })
        .await;
    story.runs(5).await;
    assert_eq!(story.kube("GET", &path, &Value::Null).0, 404);
    story.rests().await;
    let plans = story.listed(PLANS);
    let classes: Vec<&Value> =
        plans.iter().filter_map(|plan| plan["spec"]["changes"]["byClass"].get("delete-pool")).collect();
    assert_eq!(classes, [&json!(1)], "the ledger has it: {plans:?}");
    story.terminated().await;
    story.judged();
}

#[tokio::test(start_paused = true)]
async fn a_node_claim_that_somebody_deletes_waits_in_observe_and_goes_in_auto() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.patch(FLEET, &json!({"spec": {"mode": "observe"}}));
    story.wait(|| story.fleet()["status"]["mode"] == "observe").await;
    story.scale(0);
    story.runs(0).await;
    let name = names(&story.claims()).remove(0);
    story.kube("DELETE", &format!("{CLAIMS}/{name}"), &Value::Null);
    let said = "mode `observe`: the node is not deleted";
    story.wait(|| story.fleet()["status"]["holds"].to_string().contains(said)).await;
    assert_eq!(story.claims().len(), 1, "{}", story.said());
    story.patch(FLEET, &json!({"spec": {"mode": "auto"}}));
    story.is_empty().await;
    story.wait(|| story.fleet()["status"]["holds"] == json!([])).await;
    story.terminated().await;
    story.judged();
}

#[tokio::test(start_paused = true)]
async fn pods_that_fit_nowhere_stand_in_the_status_with_the_reason_while_all_else_goes_on() {
    let giant = "---\napiVersion: v1\nkind: Pod\nmetadata: {name: giant, namespace: default}\nspec: {containers: [{name: c, \
                 image: i, resources: {requests: {memory: 900Ti}}}]}\n";
    let mut story = Story::with(giant, "auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    story.wait(|| story.fleet()["status"]["waiting"][0]["pods"] == 1).await;
    let status = story.fleet()["status"].clone();
    assert_eq!(status["waiting"][0]["example"], "default/giant", "{status}");
    assert!(status["waiting"][0]["because"].to_string().contains("memory"), "{status}");
    assert_eq!(status["plan"]["pending"], 1, "{status}");
    assert_eq!(story.said().matches("pods are Pending: ").count(), 1, "{}", story.said());
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn tags_and_labels_that_differ_come_back_in_place_without_a_command() {
    let world = WORLD.replacen(
        "    spec:\n      requirements:",
        "    metadata: {labels: {team: web}}\n    spec:\n      requirements:",
        1,
    );
    let mut story = Story::of_world(&world, "auto").await;
    story.runs(5).await;
    story.wait(|| story.claims()[0]["status"]["nodeName"].is_string()).await;
    let before = story.claims();
    let node = format!("/api/v1/nodes/{}", before[0]["status"]["nodeName"].as_str().expect("a node"));
    assert_eq!(story.kube("GET", &node, &Value::Null).1["metadata"]["labels"]["team"], "web");
    let (tags, lost) =
        (json!({"spec": {"tags": {"stage": "live"}}}), json!({"metadata": {"labels": {"team": null}}}));
    assert_eq!(story.patch(CLASS, &tags).0, 200);
    assert_eq!(story.patch(&node, &lost).0, 200);

    story
        .wait(|| {
            let label = story.kube("GET", &node, &Value::Null).1["metadata"]["labels"]["team"].clone();
            label == "web" && story.state()["virtualMachines"][0]["tags"]["stage"] == "live"
        })
        .await;
    assert_eq!(names(&story.claims()), names(&before), "no node is replaced");
    story.terminated().await;
    story.judged();
}

#[tokio::test(start_paused = true)]
async fn a_faulty_pool_beside_a_good_one_is_said_and_stops_nothing_else() {
    let faulty = "---\napiVersion: karpenter.sh/v1\nkind: NodePool\nmetadata: {name: faulty}\nspec: {template: {spec: {\
                  requirements: [{key: kubernetes.io/arch, operator: Sometimes, values: [amd64]}], \
                  nodeClassRef: {group: karpenter.azure.com, kind: AKSNodeClass, name: default}}}}\n";
    let mut story = Story::with(faulty, "auto", 5).await;
    story.runs(5).await;
    let said = "NodePool/faulty: `spec.template.spec.requirements[0].operator`";
    story.wait(|| story.fleet()["status"]["stops"].to_string().contains(said)).await;
    let path = format!("{POOLS}/faulty");
    assert_eq!(story.kube("DELETE", &path, &Value::Null).0, 200);
    story.wait(|| story.fleet()["status"]["stops"] == json!([])).await;
    story.terminated().await;
}
