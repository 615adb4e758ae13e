//! Planted bugs in what a live plan says of how it is carried out: the judge objects to each.

use nodeform::model::{MicroUsdPerHour, Wishes};
use nodeform::offline::{self, World};
use nodeform::plan::{ChangeId, Execution, Plan, Precondition};
use nodeform::review::CheckedPlan;
use serde_json::json;

use crate::stage::Stage;

const WORLD: &str = include_str!("../live/world.yaml");

/// A world with its plan.
struct Planned {
    world: World,
    plan: Plan,
}

impl Planned {
    fn of(stage: &mut Stage) -> Self {
        let world = stage.observed(Wishes::default());
        let plan = offline::plan(&world).unwrap().plan.plan().clone();
        Self { world, plan }
    }

    /// What the judge says of the plan with a bug planted.
    fn judged(&self, plant: impl FnOnce(&mut Plan)) -> String {
        let mut plan = self.plan.clone();
        plant(&mut plan);
        assert_ne!(plan, self.plan, "the bug is there");
        match CheckedPlan::judged(&self.world.snapshot, &self.world.policy, plan) {
            Ok(_) => "nothing".to_owned(),
            Err(refused) => refused.findings.iter().map(|finding| format!("{finding}\n")).collect(),
        }
    }

    fn objects(&self, expected: &str, plant: impl FnOnce(&mut Execution)) {
        let said = self.judged(|plan| plant(plan.spec.execution.as_mut().unwrap()));
        assert!(said.contains(expected), "{expected}\n{said}");
    }
}

/// Five pods wait for a node.
fn create() -> Planned {
    Planned::of(&mut Stage::of(WORLD, 0))
}

/// A node has become empty.
fn removal() -> Planned {
    let mut stage = Stage::of(WORLD, 0);
    let ready = stage.ready(Wishes::default()).unwrap();
    stage.apply(&ready, Default::default());
    let inflate = "/apis/apps/v1/namespaces/default/deployments/inflate";
    stage.kube("PATCH", inflate, &json!({"spec": {"replicas": 0}}));
    stage.pass(120);
    Planned::of(&mut stage)
}

#[test]
fn a_choice_out_of_turn_is_seen() {
    let planned = create();
    planned.objects("does not try its first choice first", |execution| {
        execution.launches.values_mut().for_each(|launch| launch.choices.reverse());
    });
    planned.objects("twice", |execution| {
        let launch = execution.launches.values_mut().next().unwrap();
        launch.choices.insert(1, launch.choices[0].clone());
    });
}

#[test]
fn a_choice_that_the_claim_does_not_admit_is_seen() {
    create().objects("which its claim does not admit", |execution| {
        let launch = execution.launches.values_mut().next().unwrap();
        let mut other = launch.choices[0].clone();
        other.choice.zone = "9".into();
        launch.choices.push(other);
    });
}

#[test]
fn a_price_above_what_a_choice_costs_is_seen() {
    create().objects("says another price", |execution| {
        let launch = execution.launches.values_mut().next().unwrap();
        launch.choices[0].price_max = Some(MicroUsdPerHour(99_000_000));
    });
}

#[test]
fn a_machine_that_is_missing_or_superfluous_is_seen() {
    let planned = create();
    planned.objects("has no machine for", |execution| execution.machines.clear());
    planned.objects("has a machine that nothing is made of", |execution| {
        execution.launches.values_mut().for_each(|launch| launch.choices.clear());
    });
}

#[test]
fn pods_that_are_nominated_elsewhere_are_seen() {
    create().objects("nominates other pods", |execution| {
        execution.nominations.values_mut().for_each(|pods| drop(pods.pop()));
    });
}

#[test]
fn limits_that_the_pool_does_not_have_are_seen() {
    let planned = create();
    let said = planned.judged(|plan| {
        for condition in plan.spec.changes.values_mut().flat_map(|planned| &mut planned.preconditions) {
            if let Precondition::WithinLimits { nodes_max, .. } = condition {
                *nodes_max = Some(1_000_000);
            }
        }
    });
    assert!(said.contains("is bound by limits that pool `general-purpose` does not have"), "{said}");
}

#[test]
fn a_removal_of_another_vm_is_seen() {
    removal().objects("is bound to another Node, NodeClaim or VM than was seen", |execution| {
        execution.nodes.values_mut().for_each(|node| node.vm_id = Some("another".into()));
    });
}

#[test]
fn a_removal_that_waits_for_the_wrong_nodes_or_drains_for_another_time_is_seen() {
    let planned = removal();
    planned.objects("does not wait for just those new nodes that take its pods", |execution| {
        execution.removals.values_mut().for_each(|removal| removal.after.push(ChangeId("abcdefghij".into())));
    });
    planned.objects("drains for another time", |execution| {
        execution.removals.values_mut().for_each(|removal| {
            removal.grace = Some(jiff::SignedDuration::from_secs(1));
        });
    });
    planned.objects("nothing says which VM it is", |execution| execution.nodes.clear());
}

#[test]
fn a_plan_that_never_expires_or_is_of_another_cluster_is_seen() {
    let planned = create();
    let said = planned.judged(|plan| plan.spec.expires_at = None);
    assert!(said.contains("and never expires"), "{said}");
    planned.objects("is applied to another cluster", |execution| {
        execution.cluster.uid = "another".into();
    });
}
