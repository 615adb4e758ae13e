//! What only a second plan can tell, and what only waits.

use serde_json::{Value, json};

use super::slots::SLOTS;
use super::{Stage, done};

const MOVE_PODS: &str = "nodeform/demo/move-pods";
const EMPTY: &str = "nodeform/demo/remove-empty";
const FLEETS: &str = "/apis/nodeform.dev/v1alpha1/nodefleets";

/// How many lines of what was printed end so.
fn lines(printed: &str, with: &str) -> usize {
    printed.lines().filter(|line| line.contains(with)).count()
}

#[tokio::test]
async fn of_five_approved_removals_one_waits_for_a_pod_that_came_and_one_new_node_is_no_longer_needed() {
    let stage = Stage::of_slots().await;
    stage.fill().await;
    // The pod of slot a may go to the node that stays, which is full for now.
    stage.start_pod("filler", "1500m", &["k"]).await;
    stage.runs(7).await;
    for slot in SLOTS {
        let slots = if slot == "a" { vec!["a", "k"] } else { vec![slot] };
        stage.start_pod(&format!("small-{slot}"), "500m", &slots).await;
    }
    stage.runs(12).await;
    stage.end_pod("filler").await;
    for slot in SLOTS {
        stage.end_pod(&format!("big-{slot}")).await;
    }
    stage.runs(6).await;
    let folder = stage.propose(&["--class", "move-pods"]).await;
    stage.forge.merge(MOVE_PODS);
    let page = stage.forge.read(&format!("{folder}/PLAN.md"));
    assert!(page.contains("5 of 7 nodes are deleted, 4 are created"), "{page}");

    // Then a pod comes that nobody reviewed, and one goes for which a new node was approved.
    stage.start_pod("extra", "5", &["a"]).await;
    stage.end_pod("small-b").await;
    stage.runs(6).await;
    let applied = stage.apply().await;
    assert_eq!(applied.code, Some(5), "{applied:?}");
    let printed = &applied.printed;
    let table = printed.rsplit_once("\n\n").expect("a table").0.rsplit_once("\n\n").expect("a table").1;
    assert_eq!(lines(table, ": done"), 7, "{table}");
    let came = ": waits: pod `default/extra-";
    let waiting: Vec<&str> = table.lines().filter(|line| line.contains(came)).collect();
    assert!(waiting.len() == 1 && waiting[0].starts_with("- node `"), "{table}");
    assert!(waiting[0].ends_with("(1 replica) came after the review"), "{table}");
    let needless: Vec<&str> = table.lines().filter(|line| line.contains(": no longer needed: ")).collect();
    assert!(needless.len() == 1 && needless[0].starts_with("+ node `"), "{table}");
    stage.runs(6).await;
    assert_eq!(stage.machines().await, (5, 5));
    assert_eq!(stage.ledger().await.0, "Applying");

    // Once that pod is gone, what was approved goes on.
    stage.end_pod("extra").await;
    stage.runs(5).await;
    done(&stage.apply().await);
    stage.runs(5).await;
    assert_eq!(stage.machines().await, (4, 4));
    let (phase, counts) = stage.ledger().await;
    assert_eq!(phase, "Done");
    let wanted = json!({
        "done": 8, "alreadySo": 0, "waiting": 0, "noLongerNeeded": 1, "struck": 0, "noLongerHolds": 0,
        "failed": 0,
    });
    assert_eq!(counts, wanted);
    let status = stage.program.nodeform(&["status"], &[]).await;
    done(&status);
    assert!(status.printed.contains(&format!("\n  {} (", needless[0])), "{}", status.printed);
}

#[tokio::test]
async fn a_freeze_holds_a_merged_plan_and_the_next_run_goes_on() {
    let stage = Stage::of_slots().await;
    stage.fill_of(&["a", "b"]).await;
    for slot in ["a", "b"] {
        stage.end_pod(&format!("big-{slot}")).await;
    }
    stage.runs(1).await;
    stage.propose(&["--class", "remove-empty"]).await;
    stage.forge.merge(EMPTY);
    let fleet = json!({
        "apiVersion": "nodeform.dev/v1alpha1", "kind": "NodeFleet", "metadata": {"name": "demo"},
        "spec": {"freeze": [{"name": "friday"}]},
    });
    let (status, answer) = stage.program.kube("POST", FLEETS, &fleet).await;
    assert_eq!(status, 201, "{answer}");
    for _ in 0..2 {
        let held = stage.apply().await;
        assert_eq!(held.code, Some(5), "{held:?}");
        assert_eq!(lines(&held.printed, ": waits: "), 2, "{held:?}");
        assert!(held.printed.contains("freeze `friday`"), "{held:?}");
        assert_eq!(stage.machines().await, (3, 3));
        assert_eq!(stage.ledger().await.0, "Applying", "it is in the ledger before anything is done");
    }
    let thawed =
        stage.program.patch(&format!("{FLEETS}/demo"), &json!({"spec": {"freeze": Value::Null}})).await;
    assert_eq!(thawed.0, 200, "{}", thawed.1);
    done(&stage.apply().await);
    assert_eq!(stage.machines().await, (1, 1));
    assert_eq!(stage.ledger().await.0, "Done");
}

#[tokio::test]
async fn a_budget_that_lets_no_pod_go_holds_a_removal_and_the_next_run_goes_on() {
    let stage = Stage::of_slots().await;
    stage.fill_of(&["a"]).await;
    stage.start_pod("filler", "1500m", &["k"]).await;
    stage.runs(3).await;
    stage.start_pod("small-a", "500m", &["a", "k"]).await;
    stage.runs(4).await;
    stage.end_pod("filler").await;
    stage.end_pod("big-a").await;
    stage.runs(2).await;
    stage.propose(&["--class", "move-pods"]).await;
    stage.forge.merge(MOVE_PODS);
    let budgets = "/apis/policy/v1/namespaces/default/poddisruptionbudgets";
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "small", "namespace": "default"},
        "spec": {"maxUnavailable": 0, "selector": {"matchLabels": {"app": "small-a"}}},
    });
    assert_eq!(stage.program.kube("POST", budgets, &budget).await.0, 201);
    let held = stage.apply().await;
    assert_eq!(held.code, Some(5), "{held:?}");
    assert_eq!(lines(&held.printed, ": waits: "), 1, "{held:?}");
    assert_eq!(stage.machines().await, (2, 2));
    let spec = json!({"spec": {"maxUnavailable": 1}});
    assert_eq!(stage.program.patch(&format!("{budgets}/small"), &spec).await.0, 200);
    done(&stage.apply().await);
    assert_eq!(stage.machines().await, (1, 1));
}

#[tokio::test]
async fn an_approved_removal_whose_vm_went_meanwhile_is_already_so() {
    let stage = Stage::of_slots().await;
    stage.fill_of(&["a"]).await;
    stage.end_pod("big-a").await;
    stage.runs(1).await;
    let folder = stage.propose(&["--class", "remove-empty"]).await;
    stage.forge.merge(EMPTY);
    let plan: Value = serde_json::from_str(&stage.forge.read(&format!("{folder}/plan.jsonc"))).expect("JSON");
    let nodes = plan["spec"]["execution"]["nodes"].as_object().expect("an object");
    let vm = nodes.values().next().expect("one")["vm"].as_str().expect("an id").to_owned();
    let (status, answer) = stage.program.arm("DELETE", &format!("{vm}?api-version=2024-07-01"), None).await;
    assert_eq!(status, 202, "{answer}");
    let leaves = |node: &Value| node["metadata"]["deletionTimestamp"] != Value::Null;
    stage
        .program
        .wait(async || {
            let (_, nodes) = stage.program.kube("GET", "/api/v1/nodes", &Value::Null).await;
            nodes["items"].as_array().is_some_and(|nodes| nodes.iter().any(leaves))
        })
        .await;
    let applied = stage.apply().await;
    done(&applied);
    assert_eq!(lines(&applied.printed, " already so"), 2, "{applied:?}");
    // What is left of it goes with the next plan.
    done(&stage.program.nodeform(&["apply", "--auto-approve"], &[]).await);
    assert_eq!(stage.machines().await, (1, 1));
}
