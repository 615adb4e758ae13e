//! Plans that are to take everything away: what goes, what stays and why, and what becomes of the pods. Every plan is
//! judged, read back from its file, and leaves nothing to destroy.

use crate::support::build::World;
use crate::support::{node, pod, pool, world};
use nodeform::check::{Rule, check};
use nodeform::model::disruption_budget::{DisruptionBudget, PodBound, PodShare, UnhealthyPods};
use nodeform::model::{
    Budget, BudgetNodes, ChangeClass, DisruptionReason, Freeze, LabelSelector, NodeName, NodeStage, PoolName,
    Target, Wishes,
};
use nodeform::plan::{Plan, Step, file};
use nodeform::render::{Detail, PlanView, plain_text, plan_text};
use nodeform::sim;
use nodeform::snapshot::wish;

/// Two pools with a full node each, an empty one on its way, and a small node that is nobody's.
fn two_pools() -> World {
    world()
        .pool(pool("left"))
        .pool(pool("right").never_consolidating())
        .node(node("a").of_pool("left"))
        .node(node("b").of_pool("right"))
        .node(node("c").of_pool("right").stage(NodeStage::Registered))
        .node(node("system").foreign().size("Standard_D2s_v5"))
        .pod(pod("one").cpu("3").on("a"))
        .pod(pod("two").cpu("3").on("b"))
        .pod(pod("more").cpu("500m"))
}

fn destroying(World { snapshot, policy }: World) -> World {
    let wishes = Wishes { destroy: true, ..Wishes::default() };
    World { snapshot: wish(snapshot, &wishes).expect("all can be asked to go"), policy }
}

fn planned(world: &World, targets: &[Target]) -> Plan {
    let plan = crate::support::judged::planned_for(world, targets);
    let read = file::read(&file::write(&plan)).expect("a plan file can be read");
    assert_eq!(check(&read.snapshot(), &read.policy(), &read), [], "the file alone is enough for the judge");
    assert_eq!(text(&read), text(&plan));
    let after = World { snapshot: sim::after(&world.snapshot, &plan), policy: world.policy.clone() };
    let again = crate::support::judged::planned_for(&destroying(after), targets);
    assert!(again.spec.changes.is_empty(), "nothing is left to destroy:\n{}", text(&again));
    plan
}

fn text(plan: &Plan) -> String {
    plain_text(&plan_text(&PlanView::new(plan, None), Detail::All))
}

fn destroyed(plan: &Plan) -> Vec<&str> {
    let mut nodes: Vec<&str> = plan.spec.deletes().map(|(_, delete)| delete.target.node.as_str()).collect();
    nodes.sort_unstable();
    nodes
}

/// The pods that the plan says have no node any more.
fn left(plan: &Plan) -> Vec<String> {
    let held = plan.evidence.report.held.iter().filter(|held| held.waits_for == "`--destroy`");
    held.flat_map(|held| &held.pods).map(ToString::to_string).collect()
}

#[test]
fn every_node_of_every_pool_goes_and_none_is_made() {
    let plan = planned(&destroying(two_pools()), &[]);
    let shown = text(&plan);
    assert!(shown.starts_with("Plan: 0 to add, 0 to change, 3 to destroy."), "{shown}");
    assert!(shown.contains("because requested by `--destroy`"), "{shown}");
    assert_eq!(destroyed(&plan), ["a", "b", "c"]);
    assert!(plan.spec.deletes().all(|(_, delete)| delete.reason == DisruptionReason::Destroyed));
    let moved: Vec<&str> = plan.evidence.kept.keys().map(NodeName::as_str).collect();
    assert_eq!(moved, ["system"], "what fits on an existing node goes there: {shown}");
    assert_eq!(left(&plan).len(), 2, "{shown}");
}

#[test]
fn a_plan_that_was_not_asked_to_destroys_nothing_so() {
    let plan = planned(&destroying(two_pools()), &[]);
    let mut unasked = plan.clone();
    unasked.spec.wishes.destroy = false;
    let found = check(&two_pools().snapshot, &two_pools().policy, &unasked);
    assert!(found.iter().any(|finding| finding.rule == Rule::Removal), "{found:#?}");
    let mut silent = plan.clone();
    let first = silent.spec.changes.keys().next().cloned().expect("there are changes");
    silent.spec.changes.remove(&first);
    silent.evidence.reasons.remove(&first);
    let world = destroying(two_pools());
    let found = check(&world.snapshot, &world.policy, &silent);
    assert!(found.iter().any(|finding| finding.rule == Rule::Supposed), "{found:#?}");
}

#[test]
fn a_plan_that_destroys_and_makes_nodes_is_seen() {
    let making = crate::support::judged::planned(&two_pools().pod(pod("much").cpu("3")));
    assert!(making.spec.creates().count() > 0, "{}", text(&making));
    let world = destroying(two_pools().pod(pod("much").cpu("3")));
    let mut lying = making;
    lying.spec.wishes.destroy = true;
    let found = check(&world.snapshot, &world.policy, &lying);
    assert!(found.iter().any(|finding| finding.rule == Rule::Supposed), "{found:#?}");
}

#[test]
fn disruption_budgets_and_static_pools_keep_nothing_but_freezes_and_holds_do() {
    let mut world = destroying(two_pools());
    for pool in world.policy.pools.values_mut() {
        pool.disruption.budgets = vec![Budget { reasons: None, nodes: BudgetNodes::Count(0), window: None }];
        pool.replicas = Some(2);
    }
    assert_eq!(destroyed(&planned(&world, &[])), ["a", "b", "c"]);
    world.policy.fleet.holds.classes = [ChangeClass::DeletePool].into();
    let plan = planned(&world, &[]);
    assert_eq!((destroyed(&plan), left(&plan).len()), (vec![], 0), "{}", text(&plan));
    let because = &plan.evidence.held[0].because;
    assert_eq!(because, "`approve` of the NodeFleet has `delete-pool: hold`");
    let freeze = Freeze {
        name: "winter".into(),
        window: None,
        pools: Some([PoolName::new("left")].into()),
        reasons: None,
    };
    world.policy.fleet.holds.classes.clear();
    world.policy.fleet.holds.freezes.push(freeze);
    let plan = planned(&world, &[]);
    assert_eq!(destroyed(&plan), ["b", "c"]);
    assert!(text(&plan).contains("freeze `winter` of the NodeFleet"), "{}", text(&plan));
}

#[test]
fn what_asks_not_to_be_disrupted_stays_with_the_reason() {
    let mut world = two_pools();
    world
        .snapshot
        .nodes
        .iter_mut()
        .find(|node| node.name.as_str() == "a")
        .expect("is there")
        .is_do_not_disrupt = true;
    world.snapshot.pods.iter_mut().find(|pod| &*pod.key.name == "two").expect("is there").is_do_not_disrupt =
        true;
    let plan = planned(&destroying(world), &[]);
    assert_eq!(destroyed(&plan), ["c"], "{}", text(&plan));
    assert!(
        text(&plan).contains("its pod `default/two` has `karpenter.sh/do-not-disrupt`"),
        "{}",
        text(&plan)
    );
}

#[test]
fn drains_are_paced_by_the_budgets_of_the_pods() {
    let mut world = two_pools();
    world.snapshot.budgets.push(DisruptionBudget {
        namespace: "default".into(),
        name: "one-by-one".into(),
        selector: Some(LabelSelector::default()),
        bound: Some(PodBound::MaxUnavailable(PodShare::Count(2))),
        unhealthy: UnhealthyPods::IfHealthyBudget,
        counts: None,
    });
    let plan = planned(&destroying(world), &[]);
    let drained: Vec<usize> =
        plan.spec.waves.iter().map(|wave| wave.steps.get(&Step::Drain).map_or(0, Vec::len)).collect();
    assert_eq!(drained, [2, 1], "{}", text(&plan));
}

#[test]
fn targets_narrow_what_is_destroyed() {
    let plan = planned(&destroying(two_pools()), &[Target::NodePool(PoolName::new("left"))]);
    assert_eq!(destroyed(&plan), ["a"]);
    let plan = planned(&destroying(two_pools()), &[Target::Node(NodeName::new("c"))]);
    assert_eq!(destroyed(&plan), ["c"]);
}
