//! Names and claims of new nodes.

use super::world::{catalog, example, example_plan, keys, node, planned, pod, price, resources};
use crate::model::{ChangeClass, label};
use crate::plan::Change;
use crate::snapshot::Snapshot;
use crate::solve::Solution;

#[test]
fn an_adoption_waits_while_it_is_on_hold_and_is_listed() {
    let (snapshot, mut policy, solution) = example();
    policy.fleet.holds.classes = [ChangeClass::Adopt].into();
    let plan = planned(&snapshot, &policy, &solution);
    assert!(plan.spec.changes.values().all(|planned| !matches!(planned.change, Change::Adopt(_))));
    let held: Vec<(&str, ChangeClass)> =
        plan.evidence.held.iter().map(|held| (held.node.as_str(), held.class)).collect();
    assert_eq!(held, [("aks-general-zzz", ChangeClass::Adopt)]);
}

#[test]
fn names_follow_from_content_and_do_not_move() {
    let plan = example_plan();
    let claims: Vec<&str> = plan.spec.creates().map(|(_, create, _)| create.claim.as_str()).collect();
    assert_eq!(
        claims,
        example_plan().spec.creates().map(|(_, create, _)| create.claim.as_str()).collect::<Vec<_>>()
    );
    assert_eq!(claims, ["general-6a32amb4as", "general-m3zqdmw3s3"]);
    for (id, create, _) in plan.spec.creates() {
        assert_eq!(create.claim.as_str(), format!("general-{id}"));
        assert_eq!(&*create.vm, format!("aks-general-{id}"));
    }
}

#[test]
fn names_of_nodes_that_exist_are_not_given_again() {
    let first = example_plan();
    let (mut snapshot, policy, solution) = example();
    let taken: Vec<String> = first.spec.creates().map(|(_, create, _)| create.vm.to_string()).collect();
    snapshot.nodes.extend(taken.iter().map(|name| node(name, "general")));
    let second = planned(&snapshot, &policy, &solution);
    assert_eq!(second.spec.creates().count(), 2);
    assert!(second.spec.creates().all(|(_, create, _)| !taken.contains(&create.vm.to_string())));
}

#[test]
fn more_pods_on_a_node_do_not_rename_it() {
    let (mut snapshot, policy, mut solution) = example();
    let before = planned(&snapshot, &policy, &solution);
    snapshot.pods.push(pod("web-9"));
    solution.target.new[0].pods = keys(&["web-1", "web-2", "web-9"]);
    solution.target.new[0].requests = resources(3100, 3, 4);
    let after = planned(&snapshot, &policy, &solution);
    assert_eq!(before.spec.changes.keys().collect::<Vec<_>>(), after.spec.changes.keys().collect::<Vec<_>>());
}

#[test]
fn a_claim_lists_its_substitutes_where_every_combination_holds_the_pods() {
    let (mut snapshot, policy, mut solution) = example();
    let listed = |snapshot: &Snapshot, solution: &Solution| {
        let plan = planned(snapshot, &policy, solution);
        let (_, _, claim) = plan.spec.creates().next().expect("a node is made");
        let values = |key: &str| claim.requirements.get(key).map(ToString::to_string).unwrap_or_default();
        format!("{} {} {:?}", values(label::INSTANCE_TYPE), values(label::ZONE), claim.price_max)
    };
    assert_eq!(
        listed(&snapshot, &solution),
        "In [Standard_D4s_v5, Standard_D8s_v5] In [eastus-1, eastus-2] Some(MicroUsdPerHour(400000))"
    );
    for node in &mut solution.target.new {
        // The larger size would fit them only in the first zone, so it cannot be listed together with the second.
        node.substitutes.pop();
    }
    assert_eq!(
        listed(&snapshot, &solution),
        "In [Standard_D4s_v5] In [eastus-1, eastus-2] Some(MicroUsdPerHour(200000))"
    );
    // More than three times the price is no substitute.
    snapshot.catalog = catalog(price(200_000), price(601_000));
    for node in &mut solution.target.new {
        node.substitutes.retain(|other| other.size.as_str() == "Standard_D8s_v5");
        node.substitutes.iter_mut().for_each(|other| other.effective_price = price(601_000));
    }
    assert_eq!(
        listed(&snapshot, &solution),
        "In [Standard_D4s_v5] In [eastus-1] Some(MicroUsdPerHour(200000))"
    );
}

#[test]
fn a_claim_carries_what_the_pool_says_and_what_is_settled() {
    let plan = example_plan();
    let (_, create, claim) = plan.spec.creates().next().expect("a node is made");
    let labels: Vec<String> = claim.labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    assert_eq!(
        labels,
        [
            "karpenter.azure.com/aksnodeclass=default",
            "karpenter.sh/capacity-type=on-demand",
            "karpenter.sh/nodepool=general",
            "kubernetes.io/arch=amd64",
            "team=web"
        ]
    );
    assert_eq!(claim.requirements.get(label::REGISTERED), None);
    assert_eq!(create.requests, resources(2100, 2, 3));
    assert_eq!(claim.taints.len() + claim.startup_taints.len(), 2);
}

#[test]
fn a_node_without_a_claim_is_adopted_only_where_others_have_one() {
    let (snapshot, policy, solution) = example();
    let adopts = |snapshot: &Snapshot| {
        let plan = planned(snapshot, &policy, &solution);
        plan.spec.changes.values().find_map(|planned| match &planned.change {
            Change::Adopt(adopt) => Some(adopt.claim.to_string()),
            Change::Create(_)
            | Change::Delete(_)
            | Change::Update(_)
            | Change::Forget(_)
            | Change::NoOp(_) => None,
        })
    };
    assert_eq!(adopts(&snapshot).as_deref(), Some("general-zzz"));
    let mut without_claims = snapshot;
    without_claims.nodes.iter_mut().for_each(|node| node.claim = None);
    assert_eq!(adopts(&without_claims), None);
}
