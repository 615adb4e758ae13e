//! A plan whose folder leaves the branch: before it begins, and while it is carried out. What comes back is spent.

use serde_json::json;

use super::Stage;
use super::slots::SLOTS;

const EMPTY: &str = "nodeform/demo/remove-empty";

/// A fleet of four nodes of which three are empty, and a merged plan that removes those.
async fn emptied() -> Stage {
    let stage = Stage::of_slots().await;
    stage.fill_of(&SLOTS[..3]).await;
    for slot in &SLOTS[..3] {
        stage.end_pod(&format!("big-{slot}")).await;
    }
    stage.runs(1).await;
    stage.propose(&["--class", "remove-empty"]).await;
    stage.forge.squash(EMPTY);
    stage
}

/// Takes back the last commit of the branch.
fn revert(stage: &Stage) {
    stage.forge.git(&["revert", "--no-edit", "HEAD"]);
    stage.forge.git(&["push", "--quiet", "origin", "main"]);
}

/// The plan's folder came back, and nothing is done of it.
async fn is_spent(stage: &Stage) {
    let before = stage.machines().await;
    revert(stage);
    let spent = stage.apply().await;
    assert_eq!(spent.code, Some(3), "{spent:?}");
    assert!(
        spent.said.contains("it was withdrawn before") && spent.said.contains("it cannot be applied"),
        "{spent:?}"
    );
    assert_eq!(stage.machines().await, before);
}

#[tokio::test]
async fn a_plan_that_waits_and_leaves_the_branch_is_withdrawn_and_spent() {
    let stage = emptied().await;
    let fleet = json!({
        "apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "demo"},
        "spec": {"freeze": [{"name": "friday"}]},
    });
    assert_eq!(stage.program.kube("POST", "/apis/nodeform.dev/v1alpha1/nodefleets", &fleet).await.0, 201);
    assert_eq!(stage.apply().await.code, Some(5));
    revert(&stage);
    let withdrawn = stage.apply().await;
    assert_eq!(withdrawn.code, Some(5), "{withdrawn:?}");
    assert!(withdrawn.said.contains("is no longer on the branch: withdrawn"), "{withdrawn:?}");
    assert_eq!(stage.ledger().await.0, "Withdrawn");
    assert_eq!(stage.machines().await, (4, 4));
    is_spent(&stage).await;
}

#[tokio::test]
async fn reverted_while_it_is_carried_out_nothing_new_begins_and_what_has_begun_is_finished() {
    let stage = emptied().await;
    let applying = stage.run(&["apply", "--merged", "--parallelism", "1"]);
    let reverting = async {
        stage.program.wait(async || stage.machines().await.0 < 4).await;
        revert(&stage);
    };
    let (applied, ()) = tokio::join!(applying, reverting);
    assert_eq!(applied.code, Some(5), "{applied:?}");
    assert!(
        applied.said.contains("no new changes start, and removals are rolled back while their VMs exist"),
        "{applied:?}"
    );
    let (vms, claims) = stage.machines().await;
    assert!(vms == claims && (2..4).contains(&vms), "{vms} VMs, {claims} claims: {applied:?}");
    let (phase, counts) = stage.ledger().await;
    assert_eq!((phase.as_str(), &counts["done"]), ("Withdrawn", &json!(4 - vms)), "{counts}");
    assert_eq!(counts["noLongerHolds"], json!(vms - 1), "{counts}");
    is_spent(&stage).await;
}
