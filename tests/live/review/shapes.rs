//! New nodes of worlds that hold to soft preferences, and of several shapes in one pool: what was approved is made, all of it.

use serde_json::Value;

use super::{CREATE, Stage, done};

const AZURE: &str = include_str!("../../../examples/demo/azure.yaml");
const CLUSTER: &str = include_str!("../../../examples/demo/cluster.yaml");
const SPREAD: &str = "        - {maxSkew: 1, topologyKey: topology.kubernetes.io/zone, whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}\n";
const FAMILY: &str = "        - {key: karpenter.azure.com/sku-family, operator: In, values: [D]}\n";

fn pending(state: &Value) -> usize {
    let pods = state["pods"].as_array().expect("a list").iter();
    pods.filter(|pod| pod["phase"] == "Pending").count()
}

/// Proposes, merges and applies new nodes until no pod waits, once.
async fn made_as_approved(cluster: &str) -> String {
    let stage = Stage::of(&format!("{AZURE}\n---\n{cluster}")).await;
    let folder = stage.propose(&["--class", "create"]).await;
    stage.forge.merge(CREATE);
    let applied = stage.apply().await;
    done(&applied);
    assert!(!format!("{applied:?}").contains("no longer"), "{applied:?}");
    stage.program.wait_for(|state| pending(state) == 0).await;
    let page = stage.forge.read(&format!("{folder}/PLAN.md"));
    let (vms, claims) = stage.machines().await;
    assert!(vms > 0 && vms == claims, "{applied:?}");
    page
}

#[tokio::test]
async fn a_preference_that_is_given_up_keeps_no_approved_node_from_being_made() {
    assert!(CLUSTER.contains(SPREAD));
    made_as_approved(CLUSTER).await;
}

#[tokio::test]
async fn nodes_of_several_shapes_in_one_pool_are_all_made() {
    assert!(CLUSTER.contains(FAMILY));
    let of_four = "        - {key: karpenter.azure.com/sku-cpu, operator: In, values: [\"4\"]}\n";
    let cluster = CLUSTER
        .replace(SPREAD, "")
        .replace("      topologySpreadConstraints:\n", "")
        .replace(FAMILY, &format!("{FAMILY}{of_four}"));
    let page = made_as_approved(&cluster).await;
    assert!(page.contains("D4") && page.contains("DS"), "{page}");
}
