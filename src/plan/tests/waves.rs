//! Order of changes, and how many run at the same time.

use std::sync::Arc;

use super::world::{example, example_plan, node, planned, pod, policy, pool, snapshot, solution, web_budget};
use crate::model::{
    Budget, BudgetNodes, Claimed, DisruptionReason, Drift, MicroUsdPerHour, Node, NodeName, Pod, PodPlace,
    Trouble,
};
use crate::plan::{ChangeId, HeldChange, Precondition, Step, Wave};
use crate::solve::{Kept, Removal};

fn budget(nodes: BudgetNodes) -> Budget {
    Budget { reasons: None, nodes, window: None }
}

/// Plans the removal of this many of twenty nodes under these budgets; returns the waves' sizes.
fn removals(budgets: Vec<Budget>, count: usize) -> (Vec<usize>, Vec<HeldChange>) {
    let mut owner = pool("general");
    owner.disruption.budgets = budgets;
    let names: Vec<String> = (0..20).map(|place| format!("node-{place:02}")).collect();
    let nodes = names.iter().map(|name| node(name, "general")).collect();
    let gone: Vec<&str> = names.iter().take(count).map(String::as_str).collect();
    let plan = planned(&snapshot(nodes, Vec::new()), &policy([owner]), &solution(Vec::new(), &gone));
    let sizes = plan.spec.waves.iter().map(|wave| wave.steps[&Step::Delete].len());
    (sizes.collect(), plan.evidence.held)
}

#[test]
fn creates_come_before_drains_before_deletes_and_removals_have_their_conditions() {
    let plan = example_plan();
    let steps: Vec<&Step> = plan.spec.waves.iter().flat_map(|wave| wave.steps.keys()).collect();
    assert_eq!(steps, [&Step::Adopt, &Step::Create, &Step::Drain, &Step::Delete]);
    let (id, _) = plan.spec.deletes().next().expect("a node goes");
    let conditions = &plan.spec.changes[id].preconditions;
    assert!(conditions.contains(&Precondition::NodeEmpty { node: NodeName::new("empty-1") }));
    assert!(conditions.iter().any(|condition| matches!(condition, Precondition::SameNode { .. })));
}

#[test]
fn percentages_round_up_and_are_taken_of_what_is_left() {
    assert_eq!(removals(vec![budget(BudgetNodes::Percent(10))], 7).0, [2, 2, 2, 1]);
    assert_eq!(removals(vec![budget(BudgetNodes::Percent(15))], 20).0, [3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 1]);
}

#[test]
fn the_smallest_budget_that_holds_counts() {
    let empty_only =
        Budget { reasons: Some([DisruptionReason::Empty].into()), ..budget(BudgetNodes::Count(1)) };
    assert_eq!(removals(vec![budget(BudgetNodes::Percent(50)), empty_only.clone()], 3).0, [1, 1, 1]);
    let drifted = Budget { reasons: Some([DisruptionReason::Drifted].into()), ..empty_only };
    assert_eq!(removals(vec![drifted], 3).0, [3]);
    assert_eq!(removals(Vec::new(), 20).0, [20]);
}

#[test]
fn a_budget_of_nothing_holds_removals_back_and_their_cost_stays() {
    let (waves, held) = removals(vec![budget(BudgetNodes::Count(0))], 2);
    assert_eq!(waves, [0; 0]);
    assert_eq!(held[1].node.as_str(), "node-01");
    assert_eq!(held[1].because, "a disruption budget lets no node go for reason Empty");
    let (snapshot, mut policy, solution) = example();
    let owner = policy.pools.values_mut().next().expect("there is a pool");
    owner.disruption.budgets = vec![budget(BudgetNodes::Count(0))];
    let plan = planned(&snapshot, &policy, &solution);
    assert_eq!(plan.spec.deletes().count(), 0);
    assert_eq!(plan.evidence.report.cost_after.effective, MicroUsdPerHour(1_000_000));
}

#[test]
fn without_a_time_a_window_counts_as_open_and_is_reported() {
    let (mut snapshot, mut policy, solution) = example();
    let owner = policy.pools.values_mut().next().expect("there is a pool");
    let window = Some((Arc::from("0 9 * * *"), jiff::SignedDuration::from_hours(8)));
    owner.disruption.budgets = vec![Budget { window, ..budget(BudgetNodes::Count(0)) }];
    let offline = planned(&snapshot, &policy, &solution);
    assert_eq!((offline.spec.deletes().count(), offline.evidence.report.undecided.len()), (0, 1));
    snapshot.at = Some("2026-11-20T20:00:00Z".parse().expect("is a time"));
    let evening = planned(&snapshot, &policy, &solution);
    assert_eq!((evening.spec.deletes().count(), evening.evidence.report.undecided.len()), (1, 0));
}

#[test]
fn nodes_that_leave_already_use_up_the_budget_of_the_first_wave() {
    let mut nodes: Vec<Node> = (0..4).map(|place| node(&format!("node-{place}"), "general")).collect();
    nodes[3].is_deleting = true;
    let waves_under = |budget_nodes| {
        let mut owner = pool("general");
        owner.disruption.budgets = vec![budget(budget_nodes)];
        let solution = solution(Vec::new(), &["node-0", "node-1", "node-2"]);
        let plan = planned(&snapshot(nodes.clone(), Vec::new()), &policy([owner]), &solution);
        let waves = plan.spec.waves.iter().map(|wave| wave.steps[&Step::Delete].len());
        (waves.collect::<Vec<_>>(), plan.evidence.held.into_iter().map(|held| held.because).next())
    };
    assert_eq!(waves_under(BudgetNodes::Count(2)), (vec![1, 2], None));
    let because = "1 of its pool on the way out already: budgets allow no more concurrent removals";
    assert_eq!(waves_under(BudgetNodes::Percent(10)), (Vec::new(), Some(because.to_owned())));
}

/// Plans the removal of the given nodes in a pool of `count`, the first `down` of which are not ready. Returns the
/// nodes of each wave, and why the first held one is kept.
fn beside_down(
    down: usize,
    (count, gone): (usize, &[&str]),
    budget_nodes: BudgetNodes,
) -> (Vec<Vec<String>>, Option<String>) {
    let mut nodes: Vec<Node> = (0..count).map(|place| node(&format!("node-{place}"), "general")).collect();
    for node in nodes.iter_mut().take(down) {
        node.troubles = vec![Trouble { kind: "Ready".into(), status: "False".into(), since: None }];
    }
    let mut owner = pool("general");
    owner.disruption.budgets = vec![budget(budget_nodes)];
    let plan = planned(&snapshot(nodes, Vec::new()), &policy([owner]), &solution(Vec::new(), gone));
    let names = |wave: &Wave| {
        let changes = wave.steps[&Step::Delete].iter().filter_map(|id| plan.spec.changes.get(id));
        changes.filter_map(|planned| Some(planned.change.target()?.node.to_string())).collect()
    };
    let waves = plan.spec.waves.iter().map(names).collect();
    (waves, plan.evidence.held.into_iter().map(|held| held.because).next())
}

#[test]
fn nodes_that_are_not_ready_use_up_the_budget_of_every_wave() {
    let well: &[&str] = &["node-1", "node-2"];
    let said =
        Some("`node-0` of its pool is not ready: budgets allow no more concurrent removals".to_owned());
    assert_eq!(beside_down(1, (4, well), BudgetNodes::Count(1)), (Vec::new(), said));
    let one_by_one = [["node-1".to_owned()].to_vec(), ["node-2".to_owned()].to_vec()].to_vec();
    assert_eq!(beside_down(1, (4, well), BudgetNodes::Count(2)), (one_by_one, None));
    let (waves, said) = beside_down(2, (4, &["node-3"]), BudgetNodes::Count(2));
    let two = "2 of its pool are not ready, among them `node-0`: budgets allow no more concurrent removals";
    assert_eq!((waves.len(), said.as_deref()), (0, Some(two)));
}

#[test]
fn a_node_that_is_not_ready_and_goes_itself_is_counted_once() {
    let both: &[&str] = &["node-0", "node-1"];
    let one_by_one = [["node-0".to_owned()].to_vec(), ["node-1".to_owned()].to_vec()].to_vec();
    assert_eq!(beside_down(1, (4, both), BudgetNodes::Count(1)), (one_by_one, None));
    let (waves, said) = beside_down(2, (4, &["node-0"]), BudgetNodes::Count(1));
    let other = "`node-1` of its pool is not ready: budgets allow no more concurrent removals";
    assert_eq!((waves.len(), said.as_deref()), (0, Some(other)));
}

#[test]
fn what_no_wave_can_take_any_more_is_for_a_later_plan() {
    // A fifth of six nodes is two, of five it is one: the node that is not ready.
    let (waves, said) = beside_down(1, (6, &["node-1", "node-2"]), BudgetNodes::Percent(20));
    assert_eq!(waves, [["node-1".to_owned()]]);
    let because = "`node-0` of its pool is not ready: budgets allow no more concurrent removals";
    assert_eq!(said.as_deref(), Some(because));
}

/// Plans the removal of drifted nodes, one per pool, each with this many pods of a PodDisruptionBudget that allows
/// `most` disruptions; returns the nodes of each wave. If the first is already being deleted, only the others are
/// planned.
fn drained(pods_of: &[(&str, usize)], most: u32, is_leaving: bool) -> Vec<Vec<String>> {
    let drift = Some(Drift { reason: "ImageDrift".into(), since: None });
    let (mut nodes, mut pods) = (Vec::new(), Vec::new());
    let mut solution = solution(Vec::new(), &[]);
    for (place, (name, count)) in pods_of.iter().enumerate() {
        let is_deleting = is_leaving && place == 0;
        let claimed = Claimed { drift: drift.clone(), ..Claimed::default() };
        let spare = node(&format!("spare-of-{name}"), &format!("pool-of-{name}"));
        nodes.push(Node { is_deleting, claimed, ..node(name, &format!("pool-of-{name}")) });
        let bound = PodPlace::Bound(NodeName::new(name));
        let on = |number| Pod { place: bound.clone(), ..pod(&format!("web-{name}-{number}")) };
        let here: Vec<Pod> = (0..*count).map(on).collect();
        let moved = here.iter().map(|pod| pod.key.clone()).collect();
        solution.target.kept.push(Kept { node: spare.name.clone(), pods: moved });
        if !is_deleting {
            let what = Some("its NodeClaim says so".into());
            let reason = DisruptionReason::Drifted;
            solution.target.removed.push(Removal { node: NodeName::new(name), reason, what });
        }
        nodes.push(spare);
        pods.extend(here);
    }
    let pools = pods_of.iter().map(|(name, _)| pool(&format!("pool-of-{name}")));
    let mut snapshot = snapshot(nodes, pods);
    snapshot.budgets = vec![web_budget(most)];
    let plan = planned(&snapshot, &policy(pools), &solution);
    let name = |id: &ChangeId| plan.spec.changes[id].change.target().expect("it goes").node.to_string();
    let names = |wave: &Wave| {
        let mut names: Vec<String> = wave.steps[&Step::Drain].iter().map(name).collect();
        names.sort();
        names
    };
    plan.spec.waves.iter().map(names).collect()
}

#[test]
fn drains_of_one_wave_do_not_overrun_a_budget_of_pods_together() {
    let one_each = [("a", 1), ("b", 1), ("c", 1)];
    assert_eq!(drained(&one_each, 1, false), [["a"], ["b"], ["c"]]);
    assert_eq!(drained(&one_each, 2, false), [vec!["a", "b"], vec!["c"]]);
    assert_eq!(drained(&one_each, 3, false), [["a", "b", "c"]]);
}

#[test]
fn a_node_with_more_pods_of_a_budget_than_may_go_is_drained_by_itself() {
    assert_eq!(drained(&[("a", 1), ("b", 2), ("c", 0)], 1, false), [vec!["a", "c"], vec!["b"]]);
}

#[test]
fn nodes_that_leave_already_use_up_budgets_of_pods_in_the_first_wave() {
    let waves = drained(&[("a", 1), ("b", 1), ("c", 1), ("d", 1)], 2, true);
    assert_eq!(waves, [vec!["b"], vec!["c", "d"]]);
}

#[test]
fn a_plan_of_nothing_is_empty() {
    let (snapshot, policy, _) = example();
    let mut settled = snapshot;
    settled.nodes.remove(0);
    settled.pods.clear();
    let plan = planned(&settled, &policy, &solution(Vec::new(), &[]));
    assert!(plan.is_empty() && plan.spec.changes.is_empty());
    assert_eq!(plan.evidence.unchanged[0].nodes, 2);
}
