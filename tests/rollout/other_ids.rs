//! Plans whose ids of a node are not those of the node: nothing goes undrained, and nothing of somebody else goes.

use std::collections::BTreeSet;
use std::sync::Arc;

use nodeform::launch::Materials;
use nodeform::model::Wishes;
use nodeform::offline::{self, World};
use nodeform::plan::execution::NodeIdentity;
use nodeform::review::{CheckedPlan, Now, Terms, approve};

use crate::stage::{End, Ready, Stage};

const WORLD: &str = include_str!("../live/world.yaml");

/// A world whose node is to be replaced, with its pods on it.
fn stage() -> Stage {
    let mut stage = Stage::of(WORLD, 0);
    let ready = stage.ready(Wishes::default()).unwrap();
    stage.apply(&ready, Default::default());
    stage.pass(600);
    stage
}

/// The plan by which all nodes go, where somebody wrote other ids into it.
fn forged(stage: &mut Stage, forge: fn(&mut NodeIdentity)) -> Ready {
    let world: World = stage.observed(Wishes { destroy: true, ..Wishes::default() });
    let mut plan = offline::plan(&world).unwrap().plan.plan().clone();
    let execution = plan.spec.execution.as_mut().unwrap();
    assert!(!execution.nodes.is_empty(), "a node goes");
    execution.nodes.values_mut().for_each(forge);
    // As a saved plan is judged: by what it says that it was made of.
    let (snapshot, policy) = (plan.snapshot(), plan.policy());
    let judged = CheckedPlan::judged(&snapshot, &policy, plan);
    let checked = judged.unwrap_or_else(|refused| panic!("{:?}", refused.findings));
    let begun = BTreeSet::new();
    let now = Now { snapshot: &world.snapshot, policy: &world.policy, begun: &begun };
    let plan = approve(checked, now, Terms::default()).unwrap();
    let materials = Materials::of((&world.snapshot, &world.policy), plan.spec());
    Ready { plan: Arc::new(plan), materials }
}

/// What somebody makes of the ids of a node.
type Edit = fn(&mut NodeIdentity);

#[test]
fn a_node_whose_vm_the_plan_names_otherwise_keeps_its_pods_its_claim_and_its_vm() {
    let cases: [(&str, Edit); 3] = [
        ("another path", |node| {
            node.vm = node.vm.as_ref().map(|vm| format!("{vm}-nowhere").into());
            node.interfaces.clear();
        }),
        ("no VM", |node| (node.vm, node.vm_id) = (None, None)),
        ("no Node and no VM", |node| (node.vm, node.vm_id, node.node_uid) = (None, None, None)),
    ];
    for (what, forge) in cases {
        let mut stage = stage();
        let before = stage.left();
        let ready = forged(&mut stage, forge);
        let End::Finished(outcomes) = stage.apply(&ready, Default::default()).end else {
            panic!("{what}: it ends");
        };
        assert!(outcomes.values().all(|outcome| outcome.contains("no longer holds")), "{what}: {outcomes:?}");
        assert_eq!(stage.left(), before, "{what}");
    }
}

#[test]
fn whose_ids_are_the_nodes_own_goes() {
    let mut stage = stage();
    let ready = forged(&mut stage, |_| ());
    stage.apply(&ready, Default::default());
    let left = stage.left();
    for list in ["vms", "nics", "disks", "claims"] {
        assert_eq!(left[list], serde_json::json!([]), "{list}: {left}");
    }
}
