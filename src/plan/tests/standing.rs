//! Status of changes after the world has changed.

use super::world::{example, node, pool, snapshot};
use crate::model::{ClaimName, DisruptionReason, NodeStage};
use crate::plan::change::{Change, Create, Delete, ExistingNode, OldNew, Update};
use crate::plan::{Status, status};
use crate::snapshot::Snapshot;

fn target(world: &Snapshot, name: &str) -> ExistingNode {
    let node = world.nodes.iter().find(|node| node.name.as_str() == name).expect("it is there");
    super::super::propose::existing(node)
}

fn delete(target: ExistingNode) -> Change {
    Change::Delete(Delete { target, reason: DisruptionReason::Empty })
}

#[test]
fn a_node_that_is_gone_is_done_and_one_of_its_name_on_another_vm_is_impossible() {
    let mut here = node("n1", "general");
    here.provider_id = Some("azure:///vm/n1".into());
    let world = snapshot(vec![here.clone()], Vec::new());
    let change = delete(target(&world, "n1"));
    assert_eq!(status(&change, &world), Status::Possible);
    assert_eq!(status(&change, &snapshot(Vec::new(), Vec::new())), Status::Done);
    here.provider_id = Some("azure:///vm/n1-again".into());
    let because = "node `n1` runs on another VM than the one that was approved";
    assert_eq!(
        status(&change, &snapshot(vec![here.clone()], Vec::new())),
        Status::Impossible(because.into())
    );
    here.provider_id = None;
    here.claim = Some("general-other".into());
    let because = "node `n1` has another NodeClaim than the one that was approved";
    assert_eq!(status(&change, &snapshot(vec![here], Vec::new())), Status::Impossible(because.into()));
}

#[test]
fn a_node_to_make_is_done_once_it_carries_pods() {
    let (mut world, ..) = example();
    let create = Create {
        claim: ClaimName::new("general-new"),
        vm: "aks-general-new".into(),
        spec: super::world::example_plan().spec.claims.keys().next().expect("one").clone(),
        requests: super::world::resources(1000, 1, 1),
    };
    let change = Change::Create(create);
    assert_eq!(status(&change, &world), Status::Possible);
    let mut made = node("aks-general-new", "general");
    made.claim = Some("general-new".into());
    for (stage, stands) in [
        (NodeStage::Launching, Status::Possible),
        (NodeStage::Registered, Status::Possible),
        (NodeStage::Initialized, Status::Done),
    ] {
        made.stage = stage;
        world.nodes.retain(|node| node.name != made.name);
        world.nodes.push(made.clone());
        assert_eq!(status(&change, &world), stands);
    }
}

#[test]
fn labels_that_are_there_are_done() {
    let mut here = node("n1", pool("general").name.as_str());
    let world = snapshot(vec![here.clone()], Vec::new());
    let new = OldNew { old: None, new: Some("web".into()) };
    let update = Update {
        target: target(&world, "n1"),
        labels: [("team".into(), new)].into(),
        annotations: std::collections::BTreeMap::new(),
        tags: std::collections::BTreeMap::new(),
    };
    let change = Change::Update(update);
    assert_eq!(status(&change, &world), Status::Possible);
    here.labels.insert("team".into(), "web".into());
    assert_eq!(status(&change, &snapshot(vec![here], Vec::new())), Status::Done);
    let gone = Status::Impossible("node `n1` is gone".into());
    assert_eq!(status(&change, &snapshot(Vec::new(), Vec::new())), gone);
}
