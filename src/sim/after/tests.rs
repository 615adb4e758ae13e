//! Results of applying plans.

use super::after;
use crate::model::{NodeStage, PodPlace};
use crate::plan::tests::world as sample;
use crate::plan::{
    Change, Delete, ExistingNode, Forget, OldNew, Plan, PlannedChange, Step, Update, read, write,
};

#[test]
fn after_the_plan_nodes_carry_their_pods_and_daemons() {
    let (snapshot, policy, solution) = sample::example();
    let world = after(&snapshot, &sample::planned(&snapshot, &policy, &solution));
    let nodes: Vec<&str> = world.nodes.iter().map(|node| node.name.as_str()).collect();
    assert_eq!(
        nodes,
        ["aks-general-6a32amb4as", "aks-general-m3zqdmw3s3", "aks-general-zzz", "kept-1"],
        "made, adopted and kept, by name; the empty one is gone"
    );
    let made = &world.nodes[0];
    assert_eq!(made.stage, NodeStage::Initialized);
    assert_eq!(made.labels["karpenter.azure.com/sku-cpu"].as_ref(), "4");
    assert_eq!(made.taints.len(), 1, "startup taints are gone");
    assert_eq!(world.nodes[2].claim.as_ref().map(ToString::to_string).as_deref(), Some("general-zzz"));
    let bound: Vec<String> = world
        .pods
        .iter()
        .filter(|pod| matches!(&pod.place, PodPlace::Bound(node) if *node == made.name))
        .map(|pod| pod.key.to_string())
        .collect();
    assert_eq!(bound, ["default/web-1", "default/web-2", "kube-system/agent-aks-general-6a32amb4as"]);
}

/// Returns a checked plan whose changes are replaced by one with these steps, read back from its file. The checker
/// would reject it: no plan contains such changes yet, but their effect must be known before one does.
fn plan_of(change: Change, steps: &[Step]) -> Plan {
    let mut plan = sample::example_plan();
    let id = crate::plan::ChangeId("abcdefghij".into());
    plan.spec.changes = [(id.clone(), PlannedChange { change, preconditions: Vec::new() })].into();
    let steps = steps.iter().map(|step| (*step, vec![id.clone()])).collect();
    plan.spec.waves = vec![crate::plan::Wave { steps }];
    read(&write(&plan)).expect("the file is as it was written")
}

fn target(name: &str) -> ExistingNode {
    let node = sample::node(name, "general");
    ExistingNode { node: node.name, claim: node.claim, pool: node.pool, provider_id: node.provider_id }
}

#[test]
fn updates_and_forgetting_change_the_node_in_place() {
    let (snapshot, ..) = sample::example();
    let change = |new: Option<&str>| OldNew { old: None, new: new.map(Into::into) };
    let update = Update {
        target: target("kept-1"),
        labels: [("tier".into(), change(Some("gold"))), ("karpenter.sh/capacity-type".into(), change(None))]
            .into(),
        annotations: [("karpenter.sh/do-not-disrupt".into(), change(Some("true")))].into(),
        tags: std::collections::BTreeMap::new(),
    };
    let updated = after(&snapshot, &plan_of(Change::Update(update), &[Step::Update]));
    let kept = updated.nodes.iter().find(|node| node.name.as_str() == "kept-1").expect("it stays");
    assert_eq!((kept.labels["tier"].as_ref(), kept.is_do_not_disrupt), ("gold", true));
    assert!(!kept.labels.contains_key("karpenter.sh/capacity-type"));
    let forget = Change::Forget(Forget { target: target("kept-1") });
    let forgotten = after(&snapshot, &plan_of(forget, &[Step::Forget]));
    let kept = forgotten.nodes.iter().find(|node| node.name.as_str() == "kept-1").expect("it stays");
    assert_eq!((&kept.claim, &kept.pool), (&None, &None));
}

#[test]
fn pods_of_a_deleted_node_wait_and_its_daemons_go() {
    let (mut snapshot, ..) = sample::example();
    let mut runs = sample::pod("runs");
    runs.place = PodPlace::Bound("kept-1".into());
    let mut daemon = runs.clone();
    daemon.key.name = "daemon".into();
    daemon.is_daemon = true;
    snapshot.pods.extend([runs, daemon]);
    let delete = Delete { target: target("kept-1"), reason: crate::model::DisruptionReason::Underutilized };
    let world = after(&snapshot, &plan_of(Change::Delete(delete), &[Step::Drain, Step::Delete]));
    let places: Vec<_> =
        world.pods.iter().filter(|pod| &*pod.key.name >= "d" && &*pod.key.name < "s").collect();
    assert_eq!(places.len(), 1);
    assert_eq!((&*places[0].key.name, &places[0].place), ("runs", &PodPlace::Waiting));
}
