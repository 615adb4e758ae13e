//! `minValues`: what a claim must be a choice among.

use nodeform::check::{Finding, Rule, check};
use nodeform::model::{LabelKey, MinValuesPolicy, Operator, Requirement, label};
use nodeform::plan::Plan;
use nodeform::solve::solve;

use crate::support::build::World;
use crate::support::judged::{assert_right, plan_of};
use crate::support::{pod, pool, world};

/// A pool of which every node is a choice among three sizes, and a pod.
fn choosing(policy: MinValuesPolicy, cpu: &str) -> (World, Plan) {
    let sizes = ["Standard_D2s_v5", "Standard_D4s_v5", "Standard_D8s_v5"];
    let varied = pool("default")
        .requiring(label::INSTANCE_TYPE, Operator::In, &sizes)
        .min_values(label::INSTANCE_TYPE, 3);
    let world = world().pool(varied).pod(pod("web").cpu(cpu)).fleet(|fleet| fleet.min_values_policy = policy);
    let solution = solve(&world.snapshot, &world.policy);
    let plan = plan_of(&world, &solution);
    assert_right(&world, &plan);
    (world, plan)
}

fn said((world, plan): &(World, Plan)) -> Vec<String> {
    let found: Vec<Finding> = check(&world.snapshot, &world.policy, plan);
    found.into_iter().filter(|it| it.rule == Rule::MinValues).map(|it| it.message).collect()
}

/// Lists only these sizes, and asks for so many.
fn listing(plan: &mut Plan, sizes: &[&str], least: Option<u32>) {
    for claim in plan.spec.claims.values_mut() {
        let sizes = Requirement::new(Operator::In, sizes).with_min_values(least);
        claim.requirements.set(LabelKey::new(label::INSTANCE_TYPE), sizes);
    }
}

#[test]
fn a_claim_that_lists_too_few_sizes_is_seen() {
    let mut case = choosing(MinValuesPolicy::Strict, "1");
    assert_eq!(said(&case), [""; 0]);
    listing(&mut case.1, &["Standard_D2s_v5", "Standard_D4s_v5"], Some(3));
    assert_eq!(
        said(&case),
        ["`minValues` of `node.kubernetes.io/instance-type` asks for 3 values, and its claim lists 2"]
    );
}

#[test]
fn a_size_that_is_too_dear_for_the_claim_is_no_choice() {
    let mut case = choosing(MinValuesPolicy::Strict, "1");
    for claim in case.1.spec.claims.values_mut() {
        claim.price_max = Some(nodeform::model::MicroUsdPerHour(150_000));
    }
    assert_eq!(
        said(&case),
        ["`minValues` of `node.kubernetes.io/instance-type` asks for 3 values, and its claim lists 2"]
    );
}

#[test]
fn a_claim_that_asks_for_less_than_its_pool_is_seen() {
    let mut case = choosing(MinValuesPolicy::Strict, "1");
    listing(&mut case.1, &["Standard_D2s_v5", "Standard_D4s_v5"], Some(2));
    assert_eq!(
        said(&case),
        ["its pool asks for 3 values of `node.kubernetes.io/instance-type`, and its claim for 2"]
    );
}

#[test]
fn a_fleet_puts_up_with_less_only_where_there_is_no_more() {
    let mut small = choosing(MinValuesPolicy::BestEffort, "1");
    listing(&mut small.1, &["Standard_D2s_v5", "Standard_D4s_v5"], Some(2));
    assert_eq!(
        said(&small),
        [
            "its claim asks for 2 values of `node.kubernetes.io/instance-type`, and pod `default/web` alone could have 3"
        ]
    );
    // Two sizes hold it: the plan asks for those, and the judge agrees.
    let large = choosing(MinValuesPolicy::BestEffort, "3");
    let claim = large.1.spec.claims.values().next().expect("a node is made");
    let asked = claim.requirements.get(label::INSTANCE_TYPE).expect("sizes are listed");
    assert_eq!(asked.min_values(), Some(2));
}
