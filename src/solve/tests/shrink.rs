//! Empty nodes are removed; nodes that are not known to be empty, or not managed, are kept.

use std::collections::BTreeSet;

use super::world::{PodWith, World, node, on, pod, pool};
use crate::model::{
    Budget, BudgetNodes, Disruption, DisruptionReason, Freeze, Node, NodeStage, Pod, Pool, SchedulingRule,
    Strength,
};

fn world(empty: Node) -> World {
    World::of(vec![pool("default")])
        .nodes([empty, node("used", "Standard_D4s_v5")])
        .pods([on("used", pod("old").cpu("3900m"))])
}

#[test]
fn a_node_with_nothing_but_daemonsets_goes() {
    let agent = Pod { is_daemon: true, ..on("n1", pod("agent")) };
    assert_eq!(world(node("n1", "Standard_D4s_v5")).pods([agent]).text(), "- n1: Empty\n");
}

#[test]
fn a_node_that_gets_a_waiting_pod_stays() {
    assert_eq!(world(node("n1", "Standard_D4s_v5")).pods([pod("new")]).text(), "= n1: new\n");
}

#[test]
fn nodes_that_may_not_go_stay_with_the_reason() {
    let base = || node("n1", "Standard_D4s_v5");
    let cases = [
        (Node { pool: None, ..base() }, "not managed by a NodePool; never removed"),
        (Node { pool: Some("gone".into()), ..base() }, "its pool `gone` is not in the input"),
        (Node { is_do_not_disrupt: true, ..base() }, "it has `karpenter.sh/do-not-disrupt`"),
        (Node { stage: NodeStage::Registered, ..base() }, "it is not initialized yet"),
    ];
    for (node, reason) in cases {
        let text = world(node).text();
        assert!(text.starts_with(&format!("~ n1: {reason}")), "{text}");
    }
}

#[test]
fn a_pool_that_never_consolidates_keeps_its_nodes() {
    let disruption = Disruption { consolidate_after: None, ..Disruption::default() };
    let never = Pool { disruption, ..pool("default") };
    let mut world = world(node("n1", "Standard_D4s_v5"));
    world.policy.pools.insert("default".into(), never);
    assert_eq!(world.text(), "~ n1: pool `default` says `consolidateAfter: Never`\n");
}

#[test]
fn a_pool_that_waits_after_changes_keeps_nodes_that_are_not_known_to_be_quiet() {
    let time = |text: &str| text.parse().expect("is a time");
    let shown = |empty: Node, at: Option<&str>| {
        let consolidate_after = Some(jiff::SignedDuration::from_mins(5));
        let waits =
            Pool { disruption: Disruption { consolidate_after, ..Disruption::default() }, ..pool("default") };
        let mut world = world(empty);
        world.policy.pools.insert("default".into(), waits);
        world.snapshot.at = at.map(time);
        world.text()
    };
    let base = || node("n1", "Standard_D4s_v5");
    let quiet = || Node { quiet_since: Some(time("2026-11-21T09:00:00Z")), ..base() };
    let asked = "~ n1: pool `default` waits 5m after the last change of pods";
    assert!(shown(quiet(), None).starts_with(&format!("{asked}, and without a time (`--at`)")));
    assert!(
        shown(base(), Some("2026-11-21T09:30:00Z"))
            .starts_with(&format!("{asked}, and without its NodeClaim"))
    );
    assert!(shown(quiet(), Some("2026-11-21T09:04:59Z")).starts_with(&format!("{asked}, which was at")));
    assert_eq!(shown(quiet(), Some("2026-11-21T09:05:00Z")), "- n1: Empty\n");
    assert_eq!(shown(Node { is_consolidatable: true, ..base() }, None), "- n1: Empty\n");
}

#[test]
fn without_any_bound_pod_nothing_is_known_to_be_empty() {
    let text = World::of(vec![pool("default")]).nodes([node("n1", "Standard_D4s_v5")]).text();
    assert!(
        text.starts_with("~ n1: cannot tell which nodes are empty: the input has no running pods"),
        "{text}"
    );
}

#[test]
fn a_node_that_a_held_pod_may_need_stays() {
    let held = pod("db-0").spec(|spec| {
        spec.other_rules.insert(SchedulingRule::Volumes, Strength::Required);
    });
    let text = world(node("n1", "Standard_D4s_v5")).pods([held]).text();
    assert_eq!(text, "! db-0: volumes\n~ n1: pod `default/db-0` is not planned yet and may need it\n");
}

#[test]
fn a_node_being_deleted_is_neither_kept_nor_removed() {
    let leaving = Node { is_deleting: true, ..node("n1", "Standard_D4s_v5") };
    let solution = world(leaving).solve();
    assert_eq!(solution.target.kept.len(), 1);
    assert!(solution.target.removed.is_empty() && solution.report.staying.is_empty());
}

/// Returns a pool that allows underutilized nodes to be removed, and this many empty ones.
fn keeping_empty(nodes: u32) -> Pool {
    let only_empty = BTreeSet::from([DisruptionReason::Empty]);
    let budget = Budget { reasons: Some(only_empty), nodes: BudgetNodes::Count(nodes), window: None };
    let disruption = Disruption { budgets: vec![budget], ..Disruption::default() };
    Pool { disruption, ..pool("default") }
}

#[test]
fn a_pod_that_waits_comes_to_an_empty_node_that_no_budget_lets_go() {
    let world = |pool| World::of(vec![pool]).nodes([node("n1", "Standard_D8s_v5")]).pods([pod("new")]);
    assert_eq!(world(keeping_empty(0)).text(), "= n1: new\n");
    let may_go = world(keeping_empty(1)).pods([on("n2", pod("old"))]).nodes([node("n2", "Standard_D2s_v5")]);
    assert_eq!(may_go.text(), "= n2: new\n- n1: Empty\n");
}

#[test]
fn a_pod_that_waits_comes_to_an_empty_node_whose_turn_to_go_has_not_come() {
    let leaving = Node { is_deleting: true, ..node("n2", "Standard_D2s_v5") };
    let world =
        World::of(vec![keeping_empty(1)]).nodes([node("n1", "Standard_D8s_v5"), leaving]).pods([pod("new")]);
    assert_eq!(world.text(), "= n1: new\n");
}

#[test]
fn what_moves_comes_to_an_empty_node_that_a_freeze_keeps() {
    let mut world = World::of(vec![Pool { disruption: Disruption::default(), ..pool("default") }])
        .nodes([node("n1", "Standard_D8s_v5"), node("n2", "Standard_D8s_v5"), node("n3", "Standard_D8s_v5")])
        .pods([on("n1", pod("one")), on("n2", pod("two"))]);
    let reasons = Some(BTreeSet::from([DisruptionReason::Empty]));
    let freeze = Freeze { name: "calm".into(), window: None, pools: None, reasons };
    world.policy.fleet.holds.freezes.push(freeze);
    assert_eq!(world.text(), "= n3: one two\n- n1: Underutilized\n- n2: Underutilized\n");
}
