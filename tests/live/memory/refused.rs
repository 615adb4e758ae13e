//! What Azure refuses: it stands in the status of the NodeFleet, and what else there is is taken meanwhile.

use serde_json::{Value, json};

use super::{CLASS, FLEET, POOLS, Story, WORLD};

#[tokio::test(start_paused = true)]
async fn sizes_whose_vms_never_join_are_explained_and_others_are_taken_meanwhile() {
    let mut story = Story::of("auto", 0).await;
    story.fault(&json!({"kind": "NeverJoins", "times": 2}));
    story.scale(5);
    let said = "did not join within 15 minutes and was removed";
    story.wait(|| story.fleet()["status"]["holds"].to_string().contains(said)).await;
    story.runs(5).await;
    let state = story.state();
    assert_eq!(state["virtualMachines"].as_array().map(Vec::len), Some(1), "{state}");
    assert_eq!(story.claims().len(), 1, "{}", story.said());
    let silent = story.said().matches(said).count();
    assert_eq!(silent, 2, "{}", story.said());
    story.terminated().await;
    story.judged();
}

#[tokio::test(start_paused = true)]
async fn creates_that_azure_refuses_stand_in_the_status_with_its_code_until_they_succeed() {
    let mut story = Story::of("auto", 0).await;
    story.fault(&json!({"kind": "ZoneFull"}));
    let only = |key: &str, value: &str| json!({"key": key, "operator": "In", "values": [value]});
    let requirements = [
        only("node.kubernetes.io/instance-type", "Standard_D8ls_v5"),
        only("topology.kubernetes.io/zone", "westeurope-1"),
        only("karpenter.sh/capacity-type", "on-demand"),
    ];
    let patch = json!({"spec": {"template": {"spec": {"requirements": requirements}}}});
    let patched = story.patch(&format!("{POOLS}/general-purpose"), &patch);
    assert_eq!(patched.0, 200, "{}", patched.1);
    story.scale(5);
    story.wait(|| story.fleet()["status"]["holds"].to_string().contains("next attempt for pool")).await;
    let status = story.fleet()["status"].clone();
    assert_eq!(status["holds"][0]["class"], "create", "{status}");
    assert!(status["holds"][0]["because"].to_string().contains("AllocationFailed"), "{status}");
    assert!(status["holds"][0]["until"].is_string(), "{status}");
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn what_azure_refuses_is_not_asked_for_again_while_the_pool_has_other_offerings() {
    let world = crate::program::without_usages(WORLD)
        .replacen("  location: westeurope\n", "  location: westeurope\n  quotas: {lowPriorityCores: 0}\n", 1)
        .replace("values: [on-demand]", "values: [spot, on-demand]");
    let mut story = Story::of_world(&world, "auto").await;
    story.runs(5).await;
    let is_refused = |exchange: &&Value| exchange.to_string().contains("LowPriorityCores");
    let refused = story.recorded().iter().filter(is_refused).count();
    assert_eq!(refused, 1, "all spot is left alone once Azure has refused one");
    let claims = story.claims();
    let bought = |claim: &Value| claim["metadata"]["labels"]["karpenter.sh/capacity-type"].clone();
    assert!(claims.iter().all(|claim| bought(claim) == "on-demand"), "{claims:?}");
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn tags_that_nobody_may_write_are_a_hold_and_nodes_go_all_the_same() {
    let allowed = nodeform::sim::SimulatedAzure::default().permissions;
    let allowed = allowed.iter().filter(|action| **action != "Microsoft.Resources/tags/write");
    let allowed = json!(allowed.collect::<Vec<_>>());
    let world = WORLD.replacen(
        "  location: westeurope\n",
        &format!("  location: westeurope\n  permissions: {allowed}\n"),
        1,
    );
    let mut story = Story::of_world(&world, "auto").await;
    story.runs(5).await;
    assert_eq!(story.patch(CLASS, &json!({"spec": {"tags": {"stage": "live"}}})).0, 200);
    let holds = |story: &Story| story.fleet()["status"]["holds"].to_string();
    story.wait(|| holds(&story).contains("Microsoft.Resources/tags/write")).await;
    assert!(holds(&story).contains(r#""class":"update""#), "{}", holds(&story));
    story.scale(0);
    story.is_empty().await;
    assert!(!story.recorded().iter().any(|exchange| exchange["method"] == "PATCH"), "nobody asks in vain");
    let plans = story.listed("/apis/nodeform.dev/v1alpha1/nodeplans");
    let plans = plans.iter().filter(|plan| plan["status"]["phase"].is_string());
    assert_eq!(plans.count(), 2, "what comes and what goes");
    story.terminated().await;
}

#[tokio::test(start_paused = true)]
async fn a_node_whose_vm_cannot_be_deleted_is_a_hold_and_goes_once_it_can() {
    let mut story = Story::of("auto", 5).await;
    story.runs(5).await;
    story.rests().await;
    story.fault(
        &json!({"kind": "Refused", "times": 12, "when": {"method": "DELETE", "resource": "virtualMachines"}}),
    );
    story.scale(0);
    let held = |story: &Story| story.fleet()["status"]["holds"].to_string();
    story.wait(|| held(&story).contains("removing this node failed")).await;
    story.is_empty().await;
    story.terminated().await;
    story.judged();
}

#[tokio::test(start_paused = true)]
async fn a_size_whose_vm_never_joined_is_left_alone_by_a_controller_that_starts_anew() {
    let mut story = Story::of("auto", 0).await;
    story.fault(&json!({"kind": "NeverJoins", "times": 1}));
    story.scale(5);
    story.runs(5).await;
    let held = |story: &Story| {
        let holds = story.fleet()["status"]["holds"].clone();
        let holds = holds.as_array().into_iter().flatten();
        holds.filter(|hold| hold["because"].to_string().contains("did not join")).cloned().collect::<Vec<_>>()
    };
    let before = held(&story);
    assert_eq!(before.len(), 1, "{}", story.said());
    story.terminated().await;
    // Its plan has ended and its NodeClaim has another VM: only the ledger says it.
    story.patch(&format!("{FLEET}/status"), &json!({"status": {"holds": []}}));
    story.starts();
    story.wait(|| !held(&story).is_empty()).await;
    let after = held(&story);
    assert_eq!(after[0]["node"], before[0]["node"]);
    story.terminated().await;
    story.judged();
}
