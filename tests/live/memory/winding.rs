//! What becomes of what has begun once nobody wants it any more: mode `observe`, no NodeFleet, a process that ends meanwhile.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CLAIMS, FLEET, Story, WORLD, names};

const MINUTE: Duration = Duration::from_secs(60);

const BUDGET: &str = "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: inflate, namespace: default}\n\
    spec: {minAvailable: 2, selector: {matchLabels: {app: inflate}}}\n";

/// Two nodes with a pod each, which a budget holds where they are; returns the claim whose node somebody has deleted, which
/// waits for its pod to go.
async fn held() -> (Story, Value) {
    let world =
        WORLD.replace("replicas: 5", "replicas: 2").replace(r#"{cpu: "1"}"#, r#"{cpu: "3"}"#).replace(
            "values: [D]\n",
            "values: [D]\n        - {key: karpenter.azure.com/sku-cpu, operator: In, values: [\"4\"]}\n",
        );
    let story = Story::of_world(&(world + BUDGET), "auto").await;
    story.runs(2).await;
    story.rests().await;
    let claim = story.claims().remove(0);
    let path = format!("{CLAIMS}/{}", names(&story.claims()).remove(0));
    assert_eq!(story.kube("DELETE", &path, &Value::Null).0, 200);
    let tainted = |claim: &Value| story.begun_removal(claim)[2] != json!([]);
    story.wait(|| tainted(&claim)).await;
    (story, claim)
}

fn nothing() -> [Value; 3] {
    [Value::Null, Value::Null, json!([])]
}

/// The resource versions of all that nodeform writes but the NodeFleet and Leases.
fn written(story: &Story) -> Vec<Value> {
    let kinds = [CLAIMS, "/api/v1/nodes", "/apis/nodeform.dev/v1alpha1/nodeplans"];
    let objects = kinds.into_iter().flat_map(|kind| story.listed(kind));
    objects
        .map(|object| json!([object["metadata"]["name"], object["metadata"]["annotations"], object["spec"]]))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_removal_that_is_under_way_when_the_mode_becomes_observe_is_taken_back_and_waits_in_holds() {
    let (mut story, claim) = held().await;
    story.patch(FLEET, &json!({"spec": {"mode": "observe"}}));
    tokio::time::sleep(MINUTE).await;
    assert_eq!(story.begun_removal(&claim), nothing(), "{}", story.said());
    // The node that was to take its pod is finished.
    tokio::time::sleep(9 * MINUTE).await;
    let status = story.fleet()["status"].clone();
    assert_eq!((&status["mode"], &status["inFlight"]), (&json!("observe"), &json!([])), "{status:#}");
    let hold = &status["holds"][0];
    assert_eq!(hold["node"], claim["status"]["nodeName"], "{status:#}");
    let because = hold["because"].as_str().expect("a reason");
    assert!(because.contains("kubectl patch nodefleet demo"), "{because}");
    let before = written(&story);
    tokio::time::sleep(6 * MINUTE).await;
    assert_eq!(written(&story), before, "nothing is done in mode observe: {}", story.said());
    // Wanted again, it goes once it can.
    story.patch(FLEET, &json!({"spec": {"mode": "auto"}}));
    story.wait(|| story.begun_removal(&claim) != nothing()).await;
    story.kube("DELETE", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/inflate", &Value::Null);
    let name = names(&[claim]).remove(0);
    story.wait(|| !names(&story.claims()).contains(&name)).await;
    story.runs(2).await;
    story.terminated().await;
    story.judged();
}

#[tokio::test(start_paused = true)]
async fn without_a_node_fleet_a_removal_that_is_under_way_is_taken_back() {
    let (mut story, claim) = held().await;
    assert_eq!(story.kube("DELETE", FLEET, &Value::Null).0, 200);
    tokio::time::sleep(MINUTE).await;
    assert_eq!(story.begun_removal(&claim), nothing(), "{}", story.said());
    assert!(names(&story.claims()).contains(&names(&[claim])[0]));
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_removal_whose_process_ended_before_the_mode_became_observe_is_taken_back_by_the_next_one() {
    let (mut story, claim) = held().await;
    story.killed();
    story.patch(FLEET, &json!({"spec": {"mode": "observe"}}));
    tokio::time::sleep(MINUTE).await;
    assert_ne!(story.begun_removal(&claim), nothing());
    story.starts();
    tokio::time::sleep(3 * MINUTE).await;
    assert_eq!(story.begun_removal(&claim), nothing(), "{}", story.said());
    assert!(names(&story.claims()).contains(&names(&[claim])[0]));
    let said = "mode `observe`: the node is not deleted";
    story.wait(|| story.fleet()["status"]["holds"].to_string().contains(said)).await;
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_being_made_when_the_mode_becomes_observe_is_finished_and_no_other_begins() {
    let mut story = Story::of("auto", 5).await;
    story.wait(|| story.vms().len() == 1).await;
    story.patch(FLEET, &json!({"spec": {"mode": "observe"}}));
    story.scale(60);
    story.wait(|| story.fleet()["status"]["mode"] == "observe").await;
    tokio::time::sleep(10 * MINUTE).await;
    let claims = story.claims();
    assert_eq!((claims.len(), story.vms().len()), (1, 1), "{}", story.said());
    let conditions = claims[0]["status"]["conditions"].as_array().expect("some");
    let is_initialized =
        |condition: &Value| condition["type"] == "Initialized" && condition["status"] == "True";
    assert!(conditions.iter().any(is_initialized), "{:#}", claims[0]);
    let before = written(&story);
    tokio::time::sleep(6 * MINUTE).await;
    assert_eq!(written(&story), before, "nothing is done in mode observe: {}", story.said());
    story.terminated().await;
    story.judged();
}

#[tokio::test(start_paused = true)]
async fn a_removal_that_a_person_has_begun_by_apply_is_not_taken_up_in_mode_observe() {
    const PLANS: &str = "/apis/nodeform.dev/v1alpha1/nodeplans";
    let (mut story, claim) = held().await;
    story.killed();
    // As `nodeform apply` writes it, which was interrupted.
    for plan in names(&story.listed(PLANS)) {
        let by = json!({"metadata": {"annotations": {"nodeform.dev/carried-out-by": null}}});
        assert_eq!(story.patch(&format!("{PLANS}/{plan}"), &by).0, 200);
    }
    story.patch(FLEET, &json!({"spec": {"mode": "observe"}}));
    tokio::time::sleep(MINUTE).await;
    let before = (story.begun_removal(&claim), written(&story));
    story.starts();
    tokio::time::sleep(5 * MINUTE).await;
    assert_eq!((story.begun_removal(&claim), written(&story)), before, "{}", story.said());
    let status = story.fleet()["status"].clone();
    assert!(status["holds"].to_string().contains("removal by plan"), "{status:#}");
    // In mode `auto` it is gone on with, whoever began it.
    story.patch(FLEET, &json!({"spec": {"mode": "auto"}}));
    story.kube("DELETE", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/inflate", &Value::Null);
    let name = names(&[claim]).remove(0);
    story.wait(|| !names(&story.claims()).contains(&name)).await;
    story.terminated().await;
    story.judged();
}
