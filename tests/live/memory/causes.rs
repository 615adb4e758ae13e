//! The right cause: what keeps nodes and pods is said where people look, once, with who, what for and since when.

use std::time::Duration;

use serde_json::{Value, json};

use super::{CLAIMS, FLEET, POOLS, Story};

const MINUTE: Duration = Duration::from_secs(60);
const ATTACHMENTS: &str = "/apis/storage.k8s.io/v1/volumeattachments";
const FLEETS: &str = "/apis/nodeform.dev/v1alpha1/nodefleets";

fn status(story: &Story, field: &str) -> String {
    story.fleet()["status"][field].to_string()
}

/// The condition of this type: status and reason.
fn condition(story: &Story, kind: &str) -> (String, String) {
    let status = story.fleet()["status"].clone();
    let found = status["conditions"].as_array().into_iter().flatten().find(|found| found["type"] == kind);
    let text = |field: &str| found.and_then(|found| found[field].as_str()).unwrap_or_default().to_owned();
    (text("status"), text("reason"))
}

#[tokio::test(start_paused = true)]
async fn a_role_without_nodepools_is_named_with_the_rule_it_lacks_and_never_as_a_want_of_pools() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    story.fault(&json!({"kind": "Refused", "code": "Forbidden", "times": 600,
        "when": {"method": "GET", "resource": "nodepools"}}));
    story.scale(20);
    let said = "nodepools.karpenter.sh cannot be listed (`list`)";
    story.wait(|| status(&story, "stops").contains(said)).await;
    let stops = status(&story, "stops");
    assert!(stops.contains("resources: [nodepools], verbs: [list]"), "{stops}");
    story.wait(|| status(&story, "waiting").contains("could not be listed")).await;
    tokio::time::sleep(2 * MINUTE).await;
    let gauge = "nodeform_gaps{source=\"nodepools.karpenter.sh\"} 1";
    assert!(story.process().metrics.text().lines().any(|line| line == gauge));
    assert_eq!(condition(&story, "Stalled").0, "True");
    story.runs(20).await;
    story.wait(|| status(&story, "stops") == "[]").await;
    assert!(!story.process().metrics.text().contains("nodeform_gaps{"));
    let log = story.said();
    assert_eq!(log.matches(said).count(), 1, "{log}");
    for wrong in ["no NodePool", "is gone while"] {
        assert!(!log.contains(wrong), "{log}");
    }
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_role_without_pods_is_said_once_however_often_it_is_asked() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    story.fault(&json!({"kind": "Refused", "code": "Forbidden", "times": 300,
        "when": {"method": "GET", "resource": "pods"}}));
    story.wait(|| status(&story, "stops").contains("resources: [pods], verbs: [list]")).await;
    tokio::time::sleep(MINUTE).await;
    let log = story.said();
    assert_eq!(log.matches("pods cannot be listed: `GET").count(), 1, "{log}");
    assert_eq!(log.matches("pods cannot be listed (`list`)").count(), 1, "{log}");
    story.wait(|| status(&story, "stops") == "[]").await;
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn pods_that_a_node_keeps_waiting_are_told_with_what_it_lacks_and_the_fleet_is_not_settled() {
    let mut story = Story::of("auto", 0).await;
    story.wait(|| condition(&story, "Ready") == ("True".to_owned(), "Settled".to_owned())).await;
    let taint = json!({"key": "example.com/agent", "value": "true", "effect": "NoSchedule"});
    let spec = json!({"spec": {"template": {"spec": {"startupTaints": [taint]}}}});
    assert_eq!(story.patch(&format!("{POOLS}/general-purpose"), &spec).0, 200);
    story.scale(5);
    story.wait(|| status(&story, "waiting").contains("example.com/agent")).await;
    let waiting = story.fleet()["status"]["waiting"].clone();
    assert_eq!(waiting[0]["pods"], 5, "{waiting}");
    assert!(waiting[0]["since"].is_string(), "{waiting}");
    story.rests().await;
    assert_eq!(condition(&story, "Ready"), ("False".to_owned(), "PodsWait".to_owned()));
    let claim = story.claims().remove(0);
    let conditions = claim["status"]["conditions"].as_array().cloned().unwrap_or_default();
    let initialized = conditions.iter().find(|condition| condition["type"] == "Initialized");
    let message = initialized.map(|condition| condition["message"].to_string()).unwrap_or_default();
    assert!(message.contains("example.com/agent"), "{claim:#}");
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_drain_that_a_budget_keeps_names_pod_and_budget_and_since_when() {
    let (mut story, _) = super::lies::a_drain_that_waits().await;
    story.wait(|| status(&story, "holds").contains("PodDisruptionBudget `default/all` allows no more")).await;
    let holds = story.fleet()["status"]["holds"].clone();
    assert!(holds[0]["because"].to_string().contains("pod `default/inflate-"), "{holds}");
    assert!(holds[0]["since"].is_string(), "{holds}");
    assert_eq!(holds[0]["class"], "delete-pool", "{holds}");
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_removal_that_waits_for_a_volume_names_the_attachment() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    let node = story.claims()[0]["status"]["nodeName"].clone();
    let attachment = json!({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment",
        "metadata": {"name": "csi-left"},
        "spec": {"attacher": "disk.csi.azure.com", "nodeName": node, "source": {"persistentVolumeName": "pv-gone"}},
        "status": {"attached": true}});
    let made = story.kube("POST", ATTACHMENTS, &attachment);
    assert_eq!(made.0, 201, "{}", made.1);
    story.scale(0);
    story.wait(|| status(&story, "holds").contains("VolumeAttachment `csi-left`")).await;
    assert_eq!(story.kube("DELETE", &format!("{ATTACHMENTS}/csi-left"), &Value::Null).0, 200);
    story.is_empty().await;
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn while_azure_throttles_the_status_says_who_since_when_and_until_when() {
    let mut story = Story::of("auto", 0).await;
    story.wait(|| story.fleet()["status"]["plan"] != Value::Null).await;
    story.fault(&json!({"kind": "Throttled", "seconds": 300, "times": 12}));
    story.scale(5);
    story.wait(|| status(&story, "stops").contains(" throttles since ")).await;
    let stops = status(&story, "stops");
    assert!(stops.contains("next request at 2026-01-05T09:"), "{stops}");
    assert_eq!(condition(&story, "Ready"), ("False".to_owned(), "Stopped".to_owned()));
    story.wait(|| story.fleet()["status"]["waiting"][0]["pods"] == 5).await;
    story.runs(5).await;
    story.wait(|| status(&story, "stops") == "[]").await;
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn two_node_fleets_both_say_so_and_plans_are_still_shown() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    let second = json!({"apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "other"},
        "spec": {"mode": "auto"}});
    assert_eq!(story.kube("POST", FLEETS, &second).0, 201);
    let other = format!("{FLEETS}/other");
    let of = |path: &str| story.kube("GET", path, &Value::Null).1["status"].clone();
    for path in [FLEET, &other] {
        story.wait(|| of(path)["stops"].to_string().contains("several NodeFleets: `demo`, `other`")).await;
    }
    story.scale(20);
    for path in [FLEET, &other] {
        story.wait(|| of(path)["plan"]["add"].as_i64().is_some_and(|add| add > 0)).await;
    }
    assert_eq!(story.claims().len(), 1, "nothing is done: {}", story.said());
    assert_eq!(story.kube("DELETE", &other, &Value::Null).0, 200);
    story.runs(20).await;
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_pool_that_is_gone_while_it_has_nodes_is_a_stop_that_names_them() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    let name = story.claims()[0]["status"]["nodeName"].as_str().expect("a node").to_owned();
    let path = format!("{POOLS}/general-purpose");
    assert_eq!(story.kube("DELETE", &path, &Value::Null).0, 200);
    let said = format!("NodePool `general-purpose` is gone while node `{name}` has it");
    story.wait(|| status(&story, "stops").contains(&said)).await;
    assert_eq!(story.claims().len(), 1, "{}", story.said());
    let claim = story.claims()[0]["metadata"]["name"].as_str().expect("a name").to_owned();
    story.kube("DELETE", &format!("{CLAIMS}/{claim}"), &Value::Null);
    story.wait(|| status(&story, "stops") == "[]").await;
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn who_does_not_lead_writes_no_status_beside_who_does() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    let first = story.process.take();
    story.starts();
    for _ in 0..180 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let status = story.fleet()["status"].clone();
        assert_eq!((&status["mode"], &status["stops"]), (&json!("auto"), &json!([])), "{status}");
    }
    story.terminated().await;
    story.process = first;
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_fight_over_a_label_slows_down_and_names_who_fights() {
    let world = super::WORLD.replacen(
        "    spec:\n      requirements:",
        "    metadata: {labels: {team: web}}\n    spec:\n      requirements:",
        1,
    );
    let mut story = Story::of_world(&world, "auto").await;
    story.runs(5).await;
    story.rests().await;
    let node = format!("/api/v1/nodes/{}", story.claims()[0]["status"]["nodeName"].as_str().expect("a node"));
    let label =
        |story: &Story| story.kube("GET", &node, &Value::Null).1["metadata"]["labels"]["team"].clone();
    let mut answers = Vec::new();
    for _ in 0..4 {
        let set = story.patch(&node, &json!({"metadata": {"labels": {"team": "sea"}}}));
        assert_eq!((set.0, label(&story)), (200, json!("sea")), "{}", set.1);
        let began = tokio::time::Instant::now();
        story.wait(|| label(&story) == "web").await;
        answers.push(began.elapsed().as_secs() / 60);
        // The change is over, and the other sets the label back later.
        tokio::time::sleep(Duration::from_secs(30)).await;
        story.rests().await;
    }
    assert!(answers[2] >= 4 && answers[3] >= 25, "{answers:?}");
    story.wait(|| status(&story, "holds").contains("reset `team`")).await;
    story.terminated().await;
}
