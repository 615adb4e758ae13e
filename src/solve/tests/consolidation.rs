//! Nodes with pods are removed if that saves enough, and kept if anything asks for that.

use super::world::{PodWith, World, node, on, pod, pool};
use crate::model::disruption_budget::{BudgetCounts, DisruptionBudget, PodBound, PodShare, UnhealthyPods};
use crate::model::{
    Budget, BudgetNodes, ConsolidationPolicy, Disruption, LabelSelector, MicroUsdPerHour, Node, NodeStage,
    OsDisk, Pod, Pool, Price, SchedulingRule, Strength,
};

const SMALL: &str = "Standard_D2s_v5";
const MIDDLE: &str = "Standard_D4s_v5";
const LARGE: &str = "Standard_D8s_v5";

fn open(name: &str) -> Pool {
    Pool { disruption: Disruption::default(), ..pool(name) }
}

fn with(policy: ConsolidationPolicy) -> Pool {
    Pool { disruption: Disruption { policy, ..Disruption::default() }, ..pool("default") }
}

/// Returns two nodes, each of which could take the other's pod.
fn halves(pool: Pool) -> World {
    World::of(vec![pool])
        .nodes([node("n1", MIDDLE), node("n2", MIDDLE)])
        .pods([on("n1", pod("one").cpu("2").memory("7Gi")), on("n2", pod("two").cpu("1800m").memory("7Gi"))])
}

#[test]
fn pods_of_two_nodes_that_fit_on_one_share_it() {
    let text = halves(open("default")).text();
    assert!(
        text == "= n1: two\n- n2: Underutilized\n" || text == "= n2: one\n- n1: Underutilized\n",
        "{text}"
    );
}

#[test]
fn an_empty_node_that_a_held_pod_may_need_stays() {
    let held = pod("db-0").spec(|spec| {
        spec.other_rules.insert(SchedulingRule::Volumes, Strength::Required);
    });
    let agent = Pod { is_daemon: true, ..on("n1", pod("agent").cpu("100m")) };
    let world = World::of(vec![open("default")]).nodes([node("n1", MIDDLE)]).pods([agent, held]);
    assert_eq!(
        world.text(),
        "! db-0: volumes\n~ n1: pod `default/db-0` is not planned yet and may need it\n"
    );
}

#[test]
fn what_carries_nothing_goes_for_being_empty_beside_what_is_moved() {
    let agent = Pod { is_daemon: true, ..on("n2", pod("agent").cpu("100m")) };
    let world = World::of(vec![open("default")]).nodes([node("n1", LARGE), node("n2", SMALL)]).pods([
        on("n1", pod("one").cpu("3")),
        agent,
        pod("two").cpu("3"),
    ]);
    assert!(world.text().contains("- n2: Empty\n"), "{}", world.text());
}

#[test]
fn a_node_that_is_too_large_is_replaced_and_what_that_saves_is_counted() {
    let world =
        World::of(vec![open("default")]).nodes([node("n1", LARGE)]).pods([on("n1", pod("one").cpu("1"))]);
    assert_eq!(
        world.text(),
        "+ default Standard_D2s_v5 eastus-1 on-demand 96000: one\n- n1: Underutilized\n"
    );
    let report = world.solve().report;
    assert_eq!((report.cost_before.effective.0, report.cost_after.effective.0), (384_000, 96_000));
}

#[test]
fn many_nodes_become_as_few_as_their_pods_need() {
    let mut world = World::of(vec![open("default")]);
    for number in 0..10 {
        let name = format!("n{number}");
        world = world
            .nodes([node(&name, MIDDLE)])
            .pods([on(&name, pod(&format!("p{number}")).cpu("750m").memory("2800Mi"))]);
    }
    // 7.5 cores and 27 GiB: two nodes of 3.9 and 15 hold five pods each.
    let report = world.solve().report;
    assert_eq!(report.cost_before.effective, MicroUsdPerHour(10 * 192_000));
    assert_eq!(report.cost_after.effective, MicroUsdPerHour(2 * 192_000));
}

#[test]
fn what_saves_too_little_is_left_alone() {
    let of_price = |price: i64| {
        let world = World::of(vec![open("default")]).nodes([node("n1", SMALL)]).pods([on("n1", pod("one"))]);
        let world = world.types(|types| {
            let mut other = types.iter().find(|kind| kind.name.as_str() == SMALL).expect("is there").clone();
            other.name = "Standard_D2as_v5".into();
            for offering in &mut other.offerings {
                offering.price = Price::Listed(MicroUsdPerHour(price));
            }
            other.requirements = other
                .requirements
                .clone()
                .with(crate::model::label::INSTANCE_TYPE, crate::model::Requirement::one("Standard_D2as_v5"));
            types.push(other);
        });
        world.solve().target.removed.len()
    };
    // The minimum saving is half a cent an hour.
    assert_eq!((of_price(91_000), of_price(90_999)), (0, 1));
}

#[test]
fn a_pool_that_lets_only_empty_nodes_go_keeps_its_pods_where_they_are() {
    assert_eq!(halves(with(ConsolidationPolicy::WhenEmpty)).text(), "");
}

#[test]
fn a_budget_of_no_nodes_keeps_every_node() {
    let mut pool = open("default");
    pool.disruption.budgets = vec![Budget { reasons: None, nodes: BudgetNodes::Count(0), window: None }];
    assert_eq!(halves(pool).text(), "");
}

#[test]
fn whoever_asks_not_to_be_disrupted_stays() {
    let shy = |pod: Pod| Pod { is_do_not_disrupt: true, ..pod };
    let world = World::of(vec![open("default")])
        .nodes([node("n1", LARGE), Node { is_do_not_disrupt: true, ..node("n2", LARGE) }])
        .pods([on("n1", shy(pod("one")).cpu("4")), on("n2", pod("two").cpu("4"))]);
    assert_eq!(world.text(), "");
}

pub(super) fn budget(name: &str, allowed: u32) -> DisruptionBudget {
    DisruptionBudget {
        namespace: "default".into(),
        name: name.into(),
        selector: Some(LabelSelector::default()),
        bound: None,
        unhealthy: UnhealthyPods::IfHealthyBudget,
        counts: Some(BudgetCounts {
            disruptions_allowed: allowed,
            current_healthy: 1,
            desired_healthy: 1,
            expected_pods: 1,
        }),
    }
}

#[test]
fn pods_that_their_budgets_keep_keep_their_node() {
    let removed = |budgets: Vec<DisruptionBudget>, is_unready: bool| {
        let mut one = on("n1", pod("one").cpu("1"));
        one.state.is_unready = is_unready;
        let mut world = World::of(vec![open("default")]).nodes([node("n1", LARGE)]).pods([one]);
        world.snapshot.budgets = budgets;
        world.solve().target.removed.len()
    };
    assert_eq!(removed(vec![budget("one", 1)], false), 1);
    assert_eq!(removed(vec![budget("one", 0)], false), 0);
    assert_eq!(
        removed(vec![budget("one", 1), budget("two", 1)], false),
        0,
        "no pod of two budgets is evicted"
    );
    let lenient = DisruptionBudget { unhealthy: UnhealthyPods::AlwaysAllow, ..budget("one", 0) };
    assert_eq!(removed(vec![lenient.clone()], true), 1, "it is not healthy anyway");
    assert_eq!(removed(vec![lenient], false), 0);
    let of_manifest = |bound| DisruptionBudget { bound: Some(bound), counts: None, ..budget("one", 1) };
    assert_eq!(removed(vec![of_manifest(PodBound::MaxUnavailable(PodShare::Percent(1)))], false), 1);
    let all_stay = of_manifest(PodBound::MinAvailable(PodShare::Count(1)));
    assert_eq!(removed(vec![all_stay], false), 0, "the one pod that runs must run");
}

#[test]
fn running_pods_do_not_move_to_a_node_that_has_not_come_up() {
    let coming = Node { stage: NodeStage::Launching, ..node("n2", LARGE) };
    let world = World::of(vec![open("default")])
        .nodes([node("n1", SMALL), coming])
        .pods([on("n1", pod("one").cpu("1")), pod("new").cpu("5")]);
    assert_eq!(world.text(), "= n2: new\n");
}

#[test]
fn a_replacement_stays_within_the_limits_while_both_are_there() {
    let limited = Pool { nodes_max: Some(1), ..open("default") };
    let world = World::of(vec![limited]).nodes([node("n1", LARGE)]).pods([on("n1", pod("one").cpu("1"))]);
    assert_eq!(world.text(), "");
}

#[test]
fn a_balanced_pool_moves_pods_only_for_savings_that_are_worth_it() {
    // Ten pods move from a node of $0.384 to one of $0.338: an eighth is saved, and all pods are disrupted.
    let world = |policy| {
        let pods = (0..10).map(|number| on("n1", pod(&format!("p{number}")).cpu("700m").memory("1Gi")));
        World::of(vec![with(policy)]).nodes([node("n1", LARGE)]).pods(pods).solve().target.removed.len()
    };
    assert_eq!(world(ConsolidationPolicy::WhenEmptyOrUnderutilized), 1);
    assert_eq!(world(ConsolidationPolicy::Balanced), 0);
}

#[test]
fn what_a_balanced_pool_saves_is_measured_by_vms_without_their_disks() {
    // Half of the VM's price is saved, but less than half of VM and disk together.
    let world = World::of(vec![with(ConsolidationPolicy::Balanced)])
        .nodes([node("n1", LARGE)])
        .pods([on("n1", pod("one").cpu("3").memory("10Gi"))])
        .types(|types| {
            for kind in types {
                kind.os_disk = OsDisk::Managed(Price::Listed(MicroUsdPerHour(27_000)));
            }
        });
    assert_eq!(
        world.text(),
        "+ default Standard_D4s_v5 eastus-1 on-demand 219000: one\n- n1: Underutilized\n"
    );
}

#[test]
fn what_a_balanced_pool_gives_up_for_being_empty_does_not_weigh_against_what_is_moved() {
    let removed = |empty: usize| {
        let mut world = World::of(vec![with(ConsolidationPolicy::Balanced)])
            .nodes([node("n1", LARGE)])
            .pods([on("n1", pod("one").cpu("1"))]);
        for number in 0..empty {
            world = world.nodes([node(&format!("empty{number}"), LARGE)]);
        }
        world.solve().target.removed.len()
    };
    assert_eq!((removed(0), removed(9)), (1, 10));
}

/// Returns two nodes that hold all pods in only one way, a third node, and `full` further nodes that are full.
fn tight(full: usize) -> World {
    let mut world = World::of(vec![open("default")])
        .nodes([node("n1", MIDDLE), node("n2", LARGE), node("n3", SMALL)])
        .pods([
            on("n1", pod("a").cpu("900m")),
            on("n2", pod("big").cpu("2900m")),
            on("n3", pod("b").cpu("900m")),
        ]);
    for number in 0..full {
        let name = format!("full{number}");
        let pod = Pod { is_do_not_disrupt: true, ..on(&name, pod(&name).cpu("7800m")) };
        world = world.nodes([node(&name, LARGE)]).pods([pod]);
    }
    world
}

#[test]
fn a_node_goes_though_the_scheduler_alone_might_strand_a_pod_where_that_saves_more_than_a_tenth() {
    let goes = |full: usize| {
        let removed = tight(full).solve().target.removed;
        removed.iter().any(|removal| removal.node.as_str() == "n2")
    };
    // $0.384 of $0.672, and of $5.28.
    assert_eq!((goes(0), goes(12)), (true, false));
}

#[test]
fn every_choice_among_a_few_nodes_is_looked_at() {
    // Only the more expensive node may be removed: the pods of both others fit on the cheap one only together with
    // those that stay there.
    let world = World::of(vec![Pool { nodes_max: Some(2), ..open("default") }])
        .nodes([node("n1", MIDDLE), node("n2", LARGE)])
        .pods([on("n1", pod("a").cpu("2")), on("n2", pod("b").cpu("1500m"))]);
    assert_eq!(world.text(), "= n1: b\n- n2: Underutilized\n");
}

/// Its budget keeps the empty node whatever else is removed: its cost is no reason to leave it empty.
#[test]
fn pods_move_to_an_empty_node_that_a_budget_keeps() {
    let mut held = open("held");
    held.disruption.budgets = vec![Budget { reasons: None, nodes: BudgetNodes::Count(0), window: None }];
    let world = World::of(vec![open("default"), held])
        .nodes([Node { pool: Some("held".into()), ..node("empty", LARGE) }, node("n1", MIDDLE)])
        .pods([on("n1", pod("one").cpu("300m"))]);
    assert_eq!(world.text(), "= empty: one\n- n1: Underutilized\n");
}
