//! The world goes on between review and merge: what no longer holds says what differs, what a label changes burns nothing, and
//! what waits by now is said.

use serde_json::json;

use super::{Stage, done};

const EMPTY: &str = "nodeform/demo/remove-empty";
const POOL: &str = "/apis/karpenter.sh/v1/nodepools/general-purpose";

#[tokio::test]
async fn a_pod_that_came_keeps_its_node_a_new_label_keeps_none_and_pods_that_wait_by_now_are_said() {
    let stage = Stage::of_slots().await;
    stage.fill_of(&["a", "b"]).await;
    stage.end_pod("big-a").await;
    stage.end_pod("big-b").await;
    stage.runs(1).await;
    stage.propose(&["--class", "remove-empty"]).await;
    stage.forge.squash(EMPTY);

    stage.start_pod("late", "500m", &["a"]).await;
    stage.runs(2).await;
    stage.start_pod("waiting", "6", &["e"]).await;
    let label = json!({"spec": {"template": {"metadata": {"labels": {"team": "another"}}}}});
    assert_eq!(stage.program.patch(POOL, &label).await.0, 200);
    let applied = stage.apply().await;
    let told = format!("{}{}", applied.printed, applied.said);
    assert_eq!(told.matches(": done\n").count(), 1, "{applied:?}");
    assert!(told.contains(": no longer holds: pod `default/late-"), "{applied:?}");
    assert!(told.contains("is on it now; it was approved as empty"), "{applied:?}");
    assert!(told.contains("is spent, and 1 change of it"), "{applied:?}");
    assert!(told.contains("nodeform propose --live --class remove-empty"), "{applied:?}");
    assert!(told.contains("Pending"), "{applied:?}");
    assert_eq!(stage.machines().await, (2, 2), "{applied:?}");
    let again = stage.apply().await;
    done(&again);
    assert_eq!(stage.machines().await, (2, 2), "{again:?}");
}
