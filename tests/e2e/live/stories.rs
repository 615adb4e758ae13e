//! Stories that go on beside each other under one controller, each with a namespace and a pool of its own.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::bed::{Eyes, FLEETS, NODES, POOLS, name};
use super::workload::{Workload, one_of, pool};

/// Tells one story from its beginning to its end, at which its pods are gone.
type Story = fn(Eyes);

/// All of them, by the names of their pools.
pub(super) const ALL: [(&str, Story); 4] = [
    ("consolidation", a_budget_holds_a_drain_and_lets_go),
    ("deleted-node", a_deleted_node_is_drained_and_its_pods_get_another),
    ("zone-full", another_zone_is_taken_where_the_first_is_full),
    ("deleted-pool", nodes_of_a_deleted_pool_stay_until_it_is_back),
];

/// Three pods of a core fill one of these nodes.
const SMALL: &str = "Standard_D4s_v5";

fn sizes(sizes: &[&str]) -> [Value; 1] {
    [one_of("node.kubernetes.io/instance-type", sizes)]
}

fn a_budget_holds_a_drain_and_lets_go(eyes: Eyes) {
    let work = Workload::new(eyes, "consolidation", &sizes(&[SMALL]));
    work.scaled(6);
    work.has_nodes(2);
    let budget = two_must_run(&work);
    keep_one_pod_a_node(&work);
    work.scaled(2);
    allows_nothing(&work, &budget);
    let says = |fleet: &Value| fleet["status"]["holds"].to_string().contains("consolidation/all-of-them");
    work.eyes.wait("the NodeFleet says what holds", || work.eyes.items(FLEETS).iter().any(says));
    work.has_nodes(2);
    work.eyes.api.merge(&budget, &json!({"spec": {"minAvailable": 1}}));
    work.eyes.wait("one node holds both", || work.claims().len() == 1);
    work.runs(2);
    work.scaled(0);
}

/// Makes a PodDisruptionBudget that lets two pods run at least; returns its path.
fn two_must_run(work: &Workload) -> String {
    let list = format!("/apis/policy/v1/namespaces/{}/poddisruptionbudgets", work.name);
    let budget = json!({
        "apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "all-of-them"},
        "spec": {"minAvailable": 2, "selector": {"matchLabels": {"app": work.name}}},
    });
    work.eyes.make(&list, &budget);
    format!("{list}/all-of-them")
}

/// Waits until the disruption controller lets no pod go.
fn allows_nothing(work: &Workload, budget: &str) {
    let healthy = |status: &Value| status["currentHealthy"] == 2 && status["disruptionsAllowed"] == 0;
    work.eyes.wait("the budget allows nothing", || healthy(&work.eyes.api.get(budget)["status"]));
}

/// Has the ReplicaSet keep one pod on each node when there are to be fewer.
fn keep_one_pod_a_node(work: &Workload) {
    let mut kept = BTreeSet::new();
    for pod in work.pods() {
        if kept.insert(pod["spec"]["nodeName"].to_string()) {
            let cost =
                json!({"metadata": {"annotations": {"controller.kubernetes.io/pod-deletion-cost": "100"}}});
            work.eyes.api.merge(&format!("/api/v1/namespaces/{}/pods/{}", work.name, name(&pod)), &cost);
        }
    }
}

fn a_deleted_node_is_drained_and_its_pods_get_another(eyes: Eyes) {
    let work = Workload::new(eyes, "deleted-node", &sizes(&[SMALL]));
    work.scaled(2);
    work.has_nodes(1);
    let budget = two_must_run(&work);
    allows_nothing(&work, &budget);
    let node = work.nodes().remove(0);
    let answer = work.eyes.api.ask("DELETE", &format!("{NODES}/{node}"), None).expect("it answers");
    assert!(answer.is_done(), "{}", answer.why());
    work.eyes.after_rounds(3);
    let stays = work.eyes.api.get(&format!("{NODES}/{node}"));
    assert!(stays["metadata"]["deletionTimestamp"].is_string(), "the budget holds it: {stays}");
    work.runs(2);
    work.eyes.api.merge(&budget, &json!({"spec": {"minAvailable": 1}}));
    work.eyes.wait("another node took its place", || {
        let nodes = work.nodes();
        nodes.len() == 1 && nodes[0] != node && work.claims().len() == 1
    });
    work.runs(2);
    work.scaled(0);
}

fn another_zone_is_taken_where_the_first_is_full(eyes: Eyes) {
    let zones = ["westeurope-1", "westeurope-2"];
    let requirements = [
        one_of("node.kubernetes.io/instance-type", &["Standard_E4s_v5"]),
        one_of("topology.kubernetes.io/zone", &zones),
    ];
    let faults = json!({"faults": [{"kind": "ZoneFull", "when": {"pool": "zone-full", "zone": "1"}}]});
    eyes.own("sim/faults", Some(&faults));
    let work = Workload::new(eyes, "zone-full", &requirements);
    work.scaled(2);
    work.has_nodes(1);
    work.scaled(0);
}

fn nodes_of_a_deleted_pool_stay_until_it_is_back(eyes: Eyes) {
    let work = Workload::new(eyes, "deleted-pool", &sizes(&[SMALL]));
    work.scaled(2);
    work.has_nodes(1);
    let answer = work.eyes.api.ask("DELETE", &format!("{POOLS}/deleted-pool"), None).expect("it answers");
    assert!(answer.is_done(), "{}", answer.why());
    work.scaled(0);
    work.eyes.after_rounds(4);
    work.has_nodes(1);
    work.eyes.make(POOLS, &pool("deleted-pool", &sizes(&[SMALL])));
    work.eyes.wait("its node is its own again, and goes", || work.claims().is_empty());
}
