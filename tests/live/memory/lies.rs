//! Lists that lack what is there: nothing is made twice, and nothing is deleted undrained.

use std::time::Duration;

use nodeform::azure_sim::Delivery;
use serde_json::{Value, json};

use super::{PROMPT, Story, running};

const BUDGET: &str = "\n---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: all, namespace: default}\n\
    spec: {minAvailable: 5, selector: {matchLabels: {app: inflate}}}\n";

/// A node whose pods a PodDisruptionBudget keeps, and which somebody deletes.
pub(super) async fn a_drain_that_waits() -> (Story, String) {
    let story = Story::with(BUDGET, "auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    let (claim, vm) = (story.claims().remove(0), story.vms().remove(0));
    let path = format!("{}/{}", super::CLAIMS, claim["metadata"]["name"].as_str().expect("a name"));
    story.kube("DELETE", &path, &json!(null));
    let goes = |claim: &Value| claim["metadata"]["annotations"].to_string().contains("nodeform.dev/removal");
    story.wait(|| story.claims().iter().any(goes)).await;
    (story, vm)
}

#[tokio::test(start_paused = true)]
async fn lists_that_come_back_empty_delete_no_node_whose_pods_must_stay() {
    for lists in [&["virtualMachines", "networkInterfaces"][..], &["nodes", "pods"]] {
        let (mut story, vm) = a_drain_that_waits().await;
        for resource in lists {
            story.fault(&json!({"kind": "ListIncomplete", "times": 30, "when": {"resource": resource}}));
        }
        tokio::time::sleep(Duration::from_secs(600)).await;
        let state = story.state();
        assert_eq!(running(&state), 5, "{lists:?}: {}", story.said());
        assert!(story.vms().contains(&vm), "{lists:?}: {}", story.said());
        // Once the budget lets them, its pods go and the node with them.
        story.kube("DELETE", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/all", &json!(null));
        story.scale(0);
        story.is_empty().await;
        story.terminated().await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_lacks_vms_that_are_being_made_makes_no_other_ones() {
    let mut story = Story::of("auto", 0).await;
    story.scale(20);
    story.wait(|| !story.vms().is_empty()).await;
    story.fault(&json!({"kind": "ListIncomplete", "times": 20, "when": {"resource": "virtualMachines"}}));
    story.runs(20).await;
    story.rests().await;
    assert_eq!(story.vms().len(), story.claims().len(), "{}", story.said());
    assert_eq!(made(&story), story.vms().len(), "each was made once");
    story.terminated().await;
}

/// How many VMs Azure was asked for and made.
fn made(story: &Story) -> usize {
    let puts = story.recorded().into_iter().filter(|exchange| {
        let path = exchange["path"].as_str().unwrap_or_default();
        exchange["method"] == "PUT" && path.contains("/virtualMachines/") && !path.contains("/extensions/")
    });
    puts.filter(|exchange| exchange["status"] == 201).count()
}

#[tokio::test(start_paused = true)]
async fn lists_of_the_api_server_that_are_a_minute_old_make_no_node_twice_and_end_no_pod() {
    let mut story = Story::of("auto", 0).await;
    story.rests().await;
    let lists = ["/api/v1/nodes?limit", "/api/v1/pods?limit", "/apis/karpenter.sh/v1/nodeclaims?limit"];
    story.process().line.deliver(move |request| {
        match lists.iter().any(|list| request.target.starts_with(list)) {
            true => Delivery::Remembered(Duration::from_secs(60)),
            false => PROMPT,
        }
    });
    story.scale(20);
    story.runs(20).await;
    tokio::time::sleep(Duration::from_secs(600)).await;
    assert_eq!(running(&story.state()), 20, "{}", story.said());
    assert_eq!(made(&story), story.vms().len(), "each was made once: {}", story.said());
    story.scale(0);
    story.is_empty().await;
    story.terminated().await;
}
