//! Drifted, expired and unhealthy nodes are replaced, and kept if anything asks for that.

use super::world::{PodWith, World, node, on, pod, pool, text, toleration};
use crate::model::disruption_budget::{BudgetCounts, DisruptionBudget, UnhealthyPods};
use crate::model::{
    Budget, BudgetNodes, Claimed, ConsolidationPolicy, DisruptionReason, Drift, Effect, ExpireAfter,
    LabelKey, LabelSelector, Node, Pod, PodKey, Pool, Requirement, Stamp, Taint, Trouble,
};
use crate::solve::solution::{Report, Solution, Target, Unplaced};
use crate::solve::steps;

const SMALL: &str = "Standard_D2s_v5";
const MIDDLE: &str = "Standard_D4s_v5";

fn drifted(name: &str) -> Node {
    let drift = Some(Drift { reason: "ImageDrift".into(), since: None });
    Node { claimed: Claimed { drift, ..Claimed::default() }, ..node(name, SMALL) }
}

fn one(node: Node) -> World {
    World::of(vec![pool("default")]).nodes([node]).pods([on("n1", pod("one").cpu("1"))])
}

const REPLACED: &str = "+ default Standard_D2s_v5 eastus-1 on-demand 96000: one\n- n1: Drifted\n";

#[test]
fn a_node_whose_claim_says_that_it_drifted_is_replaced_though_nothing_else_goes() {
    let world = one(drifted("n1"));
    assert_eq!(world.text(), REPLACED);
    let removal = world.solve().target.removed.remove(0);
    assert_eq!(removal.what.as_deref(), Some("its NodeClaim says `ImageDrift`"));
    assert_eq!(one(node("n1", SMALL)).text(), "");
}

#[test]
fn pods_of_drifted_nodes_go_to_nodes_that_stay_first() {
    let mut world = one(drifted("n1"));
    world.snapshot.nodes.push(node("n2", MIDDLE));
    world.snapshot.pods.push(on("n2", pod("two")));
    assert_eq!(world.text(), "= n2: one\n- n1: Drifted\n");
    world.snapshot.nodes[1] = Node { claimed: drifted("n2").claimed, ..node("n2", MIDDLE) };
    assert_eq!(
        world.text(),
        "+ default Standard_D2s_v5 eastus-1 on-demand 96000: one two\n- n1: Drifted\n- n2: Drifted\n"
    );
}

#[test]
fn what_leaves_a_drifted_node_does_not_fill_a_dear_empty_node_that_may_go() {
    let world = |waiting: usize| {
        let pods = (0..waiting).map(|number| pod(&format!("w{number}")).cpu("1"));
        let mut world = one(drifted("n1")).nodes([node("n2", "Standard_D16s_v5")]).pods(pods);
        world.policy.pools.values_mut().for_each(|pool| {
            pool.disruption.policy = ConsolidationPolicy::WhenEmpty;
        });
        world.text()
    };
    assert_eq!(world(0), format!("{REPLACED}- n2: Empty\n"));
    // kube-scheduler would not wait for another node.
    assert_eq!(world(1), "= n2: one w0\n- n1: Drifted\n");
}

fn what(world: &World) -> Option<String> {
    let removed = world.solve().target.removed;
    removed.first().and_then(|removal| removal.what.as_deref().map(str::to_owned))
}

#[test]
fn hashes_of_the_class_are_compared_where_they_are_of_one_version() {
    let stamped = |hash: &str, version: &str| {
        let stamp = Stamp { hash: hash.into(), version: version.into() };
        let mut world = one(node("n1", SMALL));
        world.snapshot.nodes[0].claimed.class_stamp = Some(stamp);
        world
    };
    let said = Some("AKSNodeClass `default` changed since it was created".to_owned());
    assert_eq!(what(&stamped("1", "v3")), said);
    assert_eq!(what(&stamped("1", "v2")), None);
    let hash = stamped("1", "v3").policy.classes["default"].hash.clone();
    assert_eq!(what(&stamped(&hash, "v3")), None);
    let mut unread = stamped("1", "v3");
    unread.policy.classes.values_mut().for_each(|class| class.is_assumed = true);
    assert_eq!(what(&unread), None, "nobody knows what the class says");
}

#[test]
fn a_node_that_its_pool_would_not_make_any_more_is_replaced() {
    let of = |change: fn(&mut Pool)| {
        let mut world = one(node("n1", SMALL));
        world.snapshot.pods[0] = on("n1", pod("one").tolerates(toleration("new", None, None)));
        world.policy.pools.values_mut().for_each(change);
        what(&world)
    };
    assert_eq!(
        of(|pool| pool
            .requirements
            .add(LabelKey::new("node.kubernetes.io/instance-type"), Requirement::one(MIDDLE))),
        Some(format!("its pool no longer accepts label `node.kubernetes.io/instance-type: {SMALL}`"))
    );
    assert_eq!(
        of(|pool| pool.requirements.add(LabelKey::new("team"), Requirement::one("red"))),
        Some("it has no label `team`, which its pool asks for".to_owned())
    );
    assert_eq!(
        of(|pool| pool.requirements.add(LabelKey::new("karpenter.azure.com/sku-cpu"), Requirement::one("2"))),
        None,
        "nobody looked for that label"
    );
    assert_eq!(
        of(|pool| {
            let any = Requirement::new(crate::model::Operator::Exists, [""; 0]);
            pool.requirements.add(LabelKey::new("team"), any);
        }),
        None,
        "no pod asked for a value of it, so that new nodes have none either"
    );
    assert_eq!(
        of(|pool| drop(pool.labels.insert(LabelKey::new("team"), "red".into()))),
        Some("its pool has label `team: red` and it does not".to_owned())
    );
    assert_eq!(
        of(|pool| pool.taints.push(Taint::new("new", "", Effect::NoSchedule))),
        Some("its pool has taint `new:NoSchedule` and it does not".to_owned())
    );
    assert_eq!(of(|pool| pool.startup_taints.push(Taint::new("new", "", Effect::NoSchedule))), None);
}

#[test]
fn what_a_node_has_beyond_its_template_is_no_drift() {
    let mut world = one(node("n1", SMALL));
    world.snapshot.nodes[0].labels.insert(LabelKey::new("team"), "red".into());
    world.snapshot.nodes[0].taints.push(Taint::new("mine", "", Effect::NoSchedule));
    assert_eq!(what(&world), None);
    world.policy.pools.clear();
    assert_eq!(what(&world), None);
}

#[test]
fn a_node_is_not_drifted_for_what_any_other_of_its_pool_would_have_too() {
    let mut world = one(node("n1", SMALL));
    world.snapshot.nodes[0].labels.insert(LabelKey::new("team"), "blue".into());
    for pool in world.policy.pools.values_mut() {
        pool.labels.insert(LabelKey::new("team"), "blue".into());
        pool.requirements.add(LabelKey::new("team"), Requirement::one("red"));
    }
    assert_eq!(what(&world), None);
}

fn staying(world: &World) -> String {
    let solution = world.solve();
    assert!(solution.target.removed.is_empty(), "{}", text(&solution));
    solution.report.staying.iter().map(|(node, why)| format!("{node}: {why}\n")).collect()
}

#[test]
fn a_limit_that_lets_no_replacement_be_made_is_named() {
    let mut world = one(drifted("n1"));
    world.policy.pools.values_mut().for_each(|pool| pool.nodes_max = Some(1));
    let stays = "it has drifted: its NodeClaim says `ImageDrift`; but its pods have no sure place elsewhere";
    assert_eq!(staying(&world), format!("n1: {stays}: NodePool default is at its node limit (1 of 1)\n"));
    world = one(drifted("n1"));
    world.policy.fleet.limits.cpu_milli = Some(3_000);
    assert_eq!(
        staying(&world),
        format!("n1: {stays}: the NodeFleet uses 2 of its CPU limit 3, a node takes 2\n")
    );
    // Regardless of the limit, no node that the pool could create would hold the pod.
    world.snapshot.pods[0] = on("n1", pod("one").cpu("1").selects("team", "red"));
    assert_eq!(staying(&world), format!("n1: {stays}\n"));
}

#[test]
fn budgets_for_drift_keep_drifted_nodes() {
    let budget =
        |reason| Budget { reasons: Some([reason].into()), nodes: BudgetNodes::Count(0), window: None };
    let mut world = one(drifted("n1"));
    let mut with = |reason| {
        world.policy.pools.values_mut().for_each(|pool| pool.disruption.budgets = vec![budget(reason)]);
        world.clone()
    };
    assert_eq!(with(DisruptionReason::Underutilized).text(), REPLACED);
    assert_eq!(
        staying(&with(DisruptionReason::Drifted)),
        "n1: it has drifted: its NodeClaim says `ImageDrift`; but a disruption budget lets no node go \
         for reason Drifted\n"
    );
}

fn guarded(bounded: bool, change: fn(&mut World)) -> World {
    let mut world = one(drifted("n1"));
    if bounded {
        world.snapshot.nodes[0].claimed.termination_grace_period = Some(jiff::SignedDuration::from_hours(1));
    }
    change(&mut world);
    world
}

fn shy(world: &mut World) {
    world.snapshot.pods[0] = Pod { is_do_not_disrupt: true, ..world.snapshot.pods[0].clone() };
}

fn budgeted(world: &mut World) {
    world.snapshot.budgets = vec![DisruptionBudget {
        namespace: "default".into(),
        name: "all".into(),
        selector: Some(LabelSelector::default()),
        bound: None,
        unhealthy: UnhealthyPods::IfHealthyBudget,
        counts: Some(BudgetCounts {
            disruptions_allowed: 0,
            current_healthy: 1,
            desired_healthy: 1,
            expected_pods: 1,
        }),
    }];
}

#[test]
fn pods_keep_their_drifted_node_unless_it_drains_only_for_so_long() {
    for change in [shy, budgeted] {
        assert!(staying(&guarded(false, change)).contains("its pod `default/one`"));
        assert_eq!(guarded(true, change).text(), REPLACED);
    }
    let asks = guarded(true, |world| world.snapshot.nodes[0].is_do_not_disrupt = true);
    assert!(staying(&asks).contains("it has `karpenter.sh/do-not-disrupt`"));
}

#[test]
fn a_drifted_node_stays_where_its_pods_have_no_other_place() {
    let mut world = one(drifted("n1"));
    world.policy.pools.values_mut().for_each(|pool| pool.nodes_max = Some(1));
    assert!(staying(&world).contains("; but its pods have no sure place elsewhere"));
    // The limit allows one more node beside the two existing ones: one of the two can be removed, then the other.
    world.policy.pools.values_mut().for_each(|pool| pool.nodes_max = Some(3));
    world.snapshot.nodes.push(drifted("n2"));
    world.snapshot.pods.push(on("n2", pod("two").cpu("1500m")));
    assert_eq!(world.solve().target.removed.len(), 2, "{}", world.text());
}

#[test]
fn a_waiting_pod_keeps_the_place_that_a_replacement_would_take() {
    let mut world = one(drifted("n1"));
    world.policy.pools.values_mut().for_each(|pool| pool.nodes_max = Some(2));
    world.snapshot.nodes[0].is_unschedulable = true;
    world.snapshot.pods.push(pod("big").cpu("15"));
    assert!(world.text().contains(": big\n~ n1: it has drifted"), "{}", world.text());
}

const NOON: &str = "2026-11-21T12:00:00Z";

fn time(text: &str) -> Option<jiff::Timestamp> {
    Some(text.parse().expect("is a time"))
}

/// Returns a node of this age in hours, in a pool whose nodes expire after a day.
fn aged(hours: i64) -> World {
    let mut world = one(node("n1", SMALL));
    world.snapshot.at = time(NOON);
    let age = jiff::SignedDuration::from_hours(hours);
    world.snapshot.nodes[0].created = world.snapshot.at.and_then(|at| at.checked_sub(age).ok());
    let day = ExpireAfter::Age(jiff::SignedDuration::from_hours(24));
    world.policy.pools.values_mut().for_each(|pool| pool.expire_after = day);
    world
}

#[test]
fn a_node_that_is_too_old_is_replaced_where_there_is_a_time() {
    let replaced = REPLACED.replace("Drifted", "Expired");
    assert_eq!(aged(25).text(), replaced);
    assert_eq!(aged(23).text(), "");
    assert_eq!(aged(24).text(), replaced, "Karpenter lets a node go at the very moment");
    assert_eq!(what(&aged(25)).as_deref(), Some("created at 2026-11-20T11:00:00Z, `expireAfter` is 24h"));
    let mut timeless = aged(25);
    timeless.snapshot.at = None;
    assert_eq!(timeless.text(), "");
    assert!(timeless.solve().report.undecided.contains("`expireAfter` of pool `default`"));
    let mut own = aged(25);
    own.snapshot.nodes[0].claimed.expire_after = Some(ExpireAfter::Never);
    assert_eq!(own.text(), "", "the claim's own word counts");
}

#[test]
fn budgets_keep_no_node_that_is_too_old_and_pods_do() {
    let mut world = aged(25);
    let none = Budget { reasons: None, nodes: BudgetNodes::Count(0), window: None };
    world.policy.pools.values_mut().for_each(|pool| pool.disruption.budgets = vec![none.clone()]);
    assert_eq!(world.text(), REPLACED.replace("Drifted", "Expired"));
    // A node that has also drifted is removed as expired, because the budget applies only to drift.
    world.snapshot.nodes[0].claimed.drift = drifted("n1").claimed.drift;
    assert_eq!(world.text(), REPLACED.replace("Drifted", "Expired"));
    world.snapshot.nodes[0].claimed.drift = None;
    shy(&mut world);
    assert!(staying(&world).contains("its pod `default/one` has `karpenter.sh/do-not-disrupt`"));
}

/// Returns `of` nodes, the first `sick` of which have this condition since that time.
fn troubled(sick: usize, of: usize, (kind, status, since): (&str, &str, &str)) -> World {
    let mut world = World::of(vec![pool("default")]);
    for number in 0..of {
        let name = format!("n{number}");
        world = world.nodes([node(&name, SMALL)]).pods([on(&name, pod(&format!("p{number}")).cpu("1500m"))]);
    }
    for node in world.snapshot.nodes.iter_mut().take(sick) {
        let trouble = Trouble { kind: kind.into(), status: status.into(), since: time(since) };
        node.troubles = vec![trouble];
    }
    world.snapshot.at = time(NOON);
    world
}

#[test]
fn a_node_that_is_not_heard_of_is_neither_empty_nor_underutilized() {
    let quiet = |node: &str, (kind, status): (&str, &str)| {
        let mut world = troubled(1, 2, (kind, status, "2026-11-21T11:59:00Z"));
        world.snapshot.pods.retain(|pod| pod.place != on(node, pod.clone()).place);
        world
    };
    let unreachable = quiet("n0", ("Ready", "Unknown"));
    let why =
        "it is unreachable: `Ready` is `Unknown` since 2026-11-21T11:59:00Z, so what runs there is not known";
    assert_eq!(staying(&unreachable), format!("n0: {why}\n"));
    assert_eq!(quiet("n0", ("DiskPressure", "True")).text(), "- n0: Empty\n");
    let mut tainted = quiet("n0", ("DiskPressure", "True"));
    let taint = Taint::new("node.kubernetes.io/unreachable", "", Effect::NoExecute);
    tainted.snapshot.nodes[0].taints.push(taint);
    let why = "it is unreachable: it has taint `node.kubernetes.io/unreachable:NoExecute`, so what runs there is not known";
    assert_eq!(staying(&tainted), format!("n0: {why}\n"));
}

#[test]
fn a_node_that_is_unhealthy_for_too_long_is_replaced_whatever_its_pods_ask() {
    let unready = |since| ("Ready", "Unknown", since);
    let mut world = troubled(1, 1, unready("2026-11-21T11:50:00Z"));
    shy(&mut world);
    budgeted(&mut world);
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-1 on-demand 96000: p0\n- n0: Unhealthy\n");
    assert_eq!(what(&world).as_deref(), Some("`Ready` is `Unknown` since 2026-11-21T11:50:00Z"));
    world.snapshot.at = None;
    assert_eq!(world.text(), "", "nobody knows for how long");
    assert_eq!(troubled(1, 1, unready("2026-11-21T11:50:01Z")).text(), "");
    assert_eq!(troubled(1, 1, ("DiskPressure", "True", "2026-11-21T01:00:00Z")).text(), "");
    let scheduled = ("PreemptionScheduled", "True", NOON);
    assert_eq!(troubled(1, 1, scheduled).solve().target.removed.len(), 1, "Azure takes it at once");
}

#[test]
fn what_drifts_stays_while_another_node_of_its_pool_is_not_ready() {
    let mut world = troubled(1, 2, ("Ready", "False", "2026-11-21T11:59:00Z"));
    world.policy.pools.values_mut().for_each(|pool| {
        let one = Budget { reasons: None, nodes: BudgetNodes::Count(1), window: None };
        pool.disruption.budgets = vec![one];
    });
    let mut other = world.clone();
    world.snapshot.nodes[1].claimed.drift = drifted("n1").claimed.drift;
    let said = staying(&world);
    assert!(
        said.contains("but `n0` of its pool is not ready: budgets allow no more concurrent removals"),
        "{said}"
    );
    assert_eq!(world.solve().target.removed, []);
    // A node that is already down takes nothing more from budgets.
    other.snapshot.nodes[0].claimed.drift = drifted("n0").claimed.drift;
    assert_eq!(other.text(), "+ default Standard_D2s_v5 eastus-2 on-demand 96000: p0\n- n0: Drifted\n");
}

#[test]
fn where_more_than_a_fifth_is_unhealthy_no_node_is_repaired() {
    let unready = ("Ready", "False", "2026-11-21T11:00:00Z");
    assert_eq!(troubled(2, 10, unready).solve().target.removed.len(), 2);
    let many = staying(&troubled(3, 10, unready));
    assert!(many.contains("3 of the 10 nodes of pool `default` are unhealthy"), "{many}");
}

#[test]
fn a_fleet_that_leaves_one_of_high_priority_over_is_no_better_than_one_that_leaves_two_of_low() {
    let world = World::of(vec![pool("default")]).pods([pod("high").priority(10), pod("a"), pod("b")]);
    let leaving = |pods: &[usize]| {
        let pods: Vec<PodKey> = pods.iter().map(|place| world.snapshot.pods[*place].key.clone()).collect();
        let mut solution = Solution { target: Target::default(), report: Report::default() };
        let because = String::new();
        solution.report.unplaced.push(Unplaced {
            pods,
            rule: because.clone(),
            because,
            nearest: None,
            details: Vec::new(),
        });
        solution
    };
    let place = |name: &str| world.snapshot.pods.iter().position(|pod| &*pod.key.name == name);
    let [high, a, b] = ["high", "a", "b"].map(|name| place(name).expect("is there"));
    let (one_high, two_low) = (leaving(&[high]), leaving(&[a, b]));
    assert!(steps::is_better(&world.snapshot, &two_low, &one_high));
    assert!(!steps::is_better(&world.snapshot, &one_high, &two_low));
    assert!(!steps::is_better(&world.snapshot, &one_high, &one_high));
}
