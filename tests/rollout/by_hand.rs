//! Nodes that somebody deletes: each is drained and removed by a plan like all others, or waits and says for what.

use std::sync::Arc;

use nodeform::automatic::Definition;
use nodeform::model::{Mode, Trouble, Wishes};
use nodeform::offline::{self, World};
use nodeform::review::CheckedPlan;
use serde_json::{Value, json};

use crate::scenarios::{Story, made};
use crate::stage::{Ready, Stage};

const CLAIMS: &str = "/apis/karpenter.sh/v1/nodeclaims";
const FLEET: &str =
    "apiVersion: nodeform.dev/v1alpha1\nkind: NodeFleet\nmetadata: {name: demo}\nspec: {mode: auto}\n";
const WORLD: &str = include_str!("../live/world.yaml");

fn claim(stage: &mut Stage) -> Value {
    stage.kube("GET", CLAIMS, &Value::Null)["items"][0].clone()
}

fn delete_node(stage: &mut Stage) {
    made(stage);
    let name = claim(stage)["status"]["nodeName"].as_str().unwrap().to_owned();
    stage.kube("DELETE", &format!("/api/v1/nodes/{name}"), &json!({}));
}

fn delete_claim(stage: &mut Stage) {
    made(stage);
    let name = claim(stage)["metadata"]["name"].as_str().unwrap().to_owned();
    stage.kube("DELETE", &format!("{CLAIMS}/{name}"), &json!({}));
}

fn planned(stage: &mut Stage) -> Option<Ready> {
    let by_hand = stage.by_hand(&Definition::There, Mode::Auto);
    assert_eq!(by_hand.waits, []);
    Stage::approved(&by_hand.world.expect("a node goes"))
}

fn goes_without_a_trace(delete: fn(&mut Stage)) {
    let (applied, left) = Story::of("", delete).planned(planned).holds();
    assert_eq!(applied.words(), ["done"]);
    for list in ["vms", "nics", "disks", "claims"] {
        assert_eq!(left[list], json!([]), "{left}");
    }
    assert_eq!((left["nodes"].as_array().unwrap().len(), &left["running"]), (1, &json!(0)), "{left}");
}

#[test]
fn a_node_that_somebody_deletes_is_drained_and_its_vm_goes() {
    goes_without_a_trace(delete_node);
}

#[test]
fn a_node_claim_that_somebody_deletes_takes_its_node_and_its_vm_along() {
    goes_without_a_trace(delete_claim);
}

/// A NodeClaim as a plan left it that was never launched.
fn delete_unlaunched(stage: &mut Stage) {
    made(stage);
    let mut claim = claim(stage);
    let metadata = claim["metadata"].as_object_mut().unwrap();
    metadata.retain(|key, _| ["labels", "annotations", "finalizers"].contains(&key.as_str()));
    metadata.insert("name".to_owned(), json!("general-purpose-aaaaaaaaaa"));
    claim.as_object_mut().unwrap().remove("status");
    stage.kube("POST", CLAIMS, &claim);
    stage.kube("DELETE", &format!("{CLAIMS}/general-purpose-aaaaaaaaaa"), &json!({}));
}

#[test]
fn a_node_claim_without_a_vm_is_let_go_and_nothing_else_is_touched() {
    let mut stage = Stage::of(WORLD, 7);
    delete_unlaunched(&mut stage);
    let ready = planned(&mut stage).expect("it goes");
    let applied = stage.apply(&ready, crate::stage::Trouble::default());
    assert_eq!(applied.words(), ["done"]);
    let left = stage.left();
    assert_eq!((left["vms"].as_array().unwrap().len(), &left["running"]), (1, &json!(5)), "{left}");
    assert_eq!(left["claims"].as_array().unwrap().len(), 1, "{left}");
}

/// Why the one node that is deleted waits.
fn because(stage: &mut Stage, definition: &Definition, mode: Mode) -> String {
    let by_hand = stage.by_hand(definition, mode);
    assert!(by_hand.world.is_none(), "it waits");
    let [waits] = by_hand.waits.as_slice() else { panic!("{:?}", by_hand.waits) };
    waits.because.clone()
}

#[test]
fn a_deleted_node_waits_in_observe_and_suspend_and_says_what_to_do() {
    let mut stage = Stage::of(&format!("{WORLD}\n---\n{FLEET}"), 7);
    delete_node(&mut stage);
    let said = because(&mut stage, &Definition::There, Mode::Observe);
    assert!(said.starts_with("mode `observe`: the node is not deleted"), "{said}");
    assert!(
        said.contains(r#"`kubectl patch nodefleet demo --type merge -p '{"spec":{"mode":"auto"}}'`"#),
        "{said}"
    );
    let fleet = "/apis/nodeform.dev/v1alpha1/nodefleets/demo";
    stage.kube("PATCH", fleet, &json!({"spec": {"suspend": true}}));
    let said = because(&mut stage, &Definition::There, Mode::Auto);
    assert!(said.starts_with("suspended: the node is not deleted"), "{said}");
}

#[test]
fn a_claim_that_goes_with_its_pool_or_its_kind_keeps_its_vm() {
    let mut stage = Stage::of(WORLD, 7);
    delete_claim(&mut stage);
    let said = because(&mut stage, &Definition::Going, Mode::Auto);
    assert!(said.contains("is being deleted, which deletes no VM"), "{said}");
    let said = because(&mut stage, &Definition::Unknown("HTTP 403".to_owned()), Mode::Auto);
    assert!(said.contains("could not be read, and then no VM goes: HTTP 403"), "{said}");
    stage.kube("DELETE", "/apis/karpenter.sh/v1/nodepools/general-purpose", &json!({}));
    let said = because(&mut stage, &Definition::There, Mode::Auto);
    assert!(said.starts_with("its NodePool `general-purpose` is missing or invalid: re-apply it"), "{said}");
}

#[test]
fn the_judge_refuses_to_remove_as_deleted_what_nobody_deletes_or_nodeform_did_not_make() {
    let mut stage = Stage::of(WORLD, 7);
    delete_node(&mut stage);
    let asked = stage.by_hand(&Definition::There, Mode::Auto).world.expect("it goes");
    let refused = |change: fn(&mut World)| {
        let mut world = asked.clone();
        change(&mut world);
        let refused = offline::plan(&world).expect_err("the judge refuses it");
        refused.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let said =
        refused(|world| world.snapshot.nodes.iter_mut().for_each(|node| node.claimed.is_deleted = false));
    assert!(said.contains("is removed as deleted, and nobody deletes it"), "{said}");
    let said = refused(|world| {
        let facts = Arc::make_mut(world.snapshot.azure.as_mut().unwrap());
        facts.vms.iter_mut().flatten().for_each(|vm| vm.tags.clear());
    });
    assert!(said.contains("is removed as deleted, and nodeform did not make it"), "{said}");
    let said = refused(|world| world.policy.pools.values_mut().for_each(|pool| pool.is_deleting = true));
    assert!(said.contains("its pool is being deleted, which removes no VM"), "{said}");
}

#[test]
fn the_judge_refuses_to_tidy_up_a_node_whose_vm_is_there_or_may_be() {
    let mut stage = Stage::of(WORLD, 7);
    delete_node(&mut stage);
    let seen = stage.observed(Wishes::default());
    let with = |vms: bool, change: fn(&mut World)| {
        let mut world = seen.clone();
        let facts = Arc::make_mut(world.snapshot.azure.as_mut().unwrap());
        facts.vms.iter_mut().flatten().for_each(|vm| vm.name = format!("not-{}", vm.name).into());
        if !vms {
            facts.vms = Some(Vec::new());
        }
        for node in world.snapshot.nodes.iter_mut().filter(|node| node.claimed.is_deleted) {
            let (kind, status) = ("Ready".into(), "Unknown".into());
            node.troubles.push(Trouble { kind, status, since: None });
        }
        change(&mut world);
        world
    };
    let plan = offline::plan(&with(false, |_| {})).expect("the judge accepts it").plan.plan().clone();
    assert_eq!(plan.spec.deletes().count(), 1);
    let refused = |world: &World| {
        let refused = CheckedPlan::judged(&world.snapshot, &world.policy, plan.clone());
        let refused = refused.expect_err("the judge refuses it");
        refused.findings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
    };
    let said = refused(&with(true, |_| {}));
    assert!(said.contains("is tidied up, but its VM is there"), "{said}");
    let said = refused(&with(false, |world| {
        Arc::make_mut(world.snapshot.azure.as_mut().unwrap()).vms = None;
    }));
    assert!(said.contains("is tidied up, and which VMs there are is not known"), "{said}");
    let said = refused(&with(false, |world| {
        world.snapshot.nodes.iter_mut().for_each(|node| node.troubles.clear());
    }));
    assert!(said.contains("is tidied up as without a VM, but is Ready"), "{said}");
    let said = refused(&with(false, |world| {
        world.snapshot.nodes.iter_mut().for_each(|node| node.claimed.is_own = false);
    }));
    assert!(said.contains("is no node of nodeform that somebody deletes"), "{said}");
}
