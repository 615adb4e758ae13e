//! Static pools: which nodes are created and removed for `replicas`, and how pods use them.

use super::world::{PodWith, World, ZONES, daemon, node, on, pod, pool, text};
use crate::model::{Disruption, Drift, LabelKey, Node, NodeName, Pool, PoolName, Requirement};
use crate::snapshot::Daemon;
use crate::solve::Solution;
use crate::solve::karpenter::{self, Refused, Settings};

fn fixed(nodes: u64) -> Pool {
    Pool { replicas: Some(nodes), ..pool("fixed") }
}

fn there(name: &str, size: &str) -> Node {
    Node { pool: Some(PoolName::new("fixed")), ..node(name, size) }
}

fn as_karpenter(world: &World) -> Solution {
    karpenter::solve(&world.snapshot, &world.policy, Settings::default(), &Refused::default())
}

#[test]
fn a_pool_gets_the_nodes_that_it_asks_for_whatever_pods_need() {
    let world = World::of(vec![fixed(4)]);
    let nodes = "+ fixed Standard_D2s_v5 eastus-1 on-demand 96000: \n\
                 + fixed Standard_D2s_v5 eastus-1 on-demand 96000: \n\
                 + fixed Standard_D2s_v5 eastus-2 on-demand 96000: \n\
                 + fixed Standard_D2s_v5 eastus-3 on-demand 96000: \n";
    assert_eq!(world.text(), nodes);
    assert_eq!(world.solve().report.cost_after.effective.0, 4 * 96_000);
    assert!(world.solve().target.new.iter().all(|node| node.opened_for.is_none()));
}

#[test]
fn pods_use_that_room_before_anything_is_bought() {
    let pods = (0..6).map(|number| pod(&format!("{number}")).cpu("500m"));
    let world = World::of(vec![fixed(1), pool("other")]).pods(pods);
    let solution = world.solve();
    let held: Vec<(&str, usize)> =
        solution.target.new.iter().map(|node| (node.pool.as_str(), node.pods.len())).collect();
    assert_eq!(held, [("fixed", 3), ("other", 3)], "{}", text(&solution));
    let own = &solution.target.new[0];
    assert_eq!(own.requests.get(&crate::model::ResourceName::Cpu), 1500);
    assert!(own.substitutes.iter().all(|other| other.zone == own.zone));
}

#[test]
fn daemons_that_may_come_to_a_node_of_it_keep_their_ports_there() {
    let agent = pod("agent").port(9100).spec(|spec| {
        spec.node_selector.add(LabelKey::new("kubernetes.azure.com/mode"), Requirement::one("system"));
    });
    let daemon = Daemon { spec: agent.spec, ..daemon("agent") };
    let world = World::of(vec![fixed(1)]).daemons([daemon]).pods([pod("web").port(9100), pod("api")]);
    let solution = world.solve();
    let placed: Vec<&str> =
        solution.target.new.iter().flat_map(|node| &node.pods).map(|key| &*key.name).collect();
    assert_eq!(placed, ["api"], "{}", text(&solution));
}

#[test]
fn pods_open_no_more_nodes_of_it() {
    let solution = World::of(vec![fixed(1)]).pods([pod("large").cpu("7")]).solve();
    assert_eq!(solution.target.new.len(), 1);
    assert_eq!(solution.report.unplaced.len(), 1, "{}", text(&solution));
}

#[test]
fn of_too_many_nodes_the_emptiest_goes_and_its_pods_go_elsewhere() {
    let nodes = ["a", "b", "c"].map(|name| there(name, "Standard_D4s_v5"));
    let pods =
        [on("a", pod("1")), on("a", pod("2")), on("b", pod("3")), on("c", pod("4")), on("c", pod("5"))];
    let world = World::of(vec![fixed(2)]).nodes(nodes).pods(pods);
    assert_eq!(world.text(), "= a: 3\n- b: Excess\n");
    let karpenter = as_karpenter(&world);
    assert_eq!(text(&karpenter), "= a: 3\n- b: Excess\n");
}

#[test]
fn a_node_that_asks_to_stay_is_not_the_one_that_goes() {
    let mut shy = there("a", "Standard_D4s_v5");
    shy.is_do_not_disrupt = true;
    let nodes = || [shy.clone(), there("b", "Standard_D4s_v5")];
    let of = |replicas| World::of(vec![fixed(replicas)]).nodes(nodes()).pods([on("b", pod("1"))]);
    assert_eq!(of(1).text(), "= a: 1\n- b: Excess\n");
    assert_eq!(
        of(0).text(),
        "= a: 1\n- b: Excess\n~ a: it is one too many: pool `fixed` asks for 0 nodes (`replicas`); but it has `karpenter.sh/do-not-disrupt`\n"
    );
}

#[test]
fn what_a_pool_asks_for_is_never_consolidated() {
    let (mut own, mut other) = (fixed(2), pool("default"));
    (own.disruption, other.disruption) = (Disruption::default(), Disruption::default());
    let nodes = [
        there("fixed-1", "Standard_D8s_v5"),
        there("fixed-2", "Standard_D8s_v5"),
        node("other", "Standard_D8s_v5"),
    ];
    let pods = [on("fixed-1", pod("a")), on("other", pod("b"))];
    let world = World::of(vec![own, other]).nodes(nodes).pods(pods);
    let solution = world.solve();
    let removed: Vec<&NodeName> = solution.target.removed.iter().map(|removal| &removal.node).collect();
    assert_eq!(removed, [&NodeName::new("other")], "{}", text(&solution));
}

#[test]
fn a_drifted_node_goes_for_another_that_is_made() {
    let drifted = |limit: Option<u64>| {
        let mut old = there("old", "Standard_D4s_v5");
        old.claimed.drift = Some(Drift { reason: "NodeClassDrift".into(), since: None });
        let own = Pool { nodes_max: limit, ..fixed(2) };
        World::of(vec![own])
            .nodes([old, there("young", "Standard_D4s_v5")])
            .pods([on("old", pod("1").cpu("1500m")), on("young", pod("2").cpu("3"))])
    };
    assert_eq!(drifted(None).text(), "+ fixed Standard_D2s_v5 eastus-2 on-demand 96000: 1\n- old: Drifted\n");
    assert_eq!(
        drifted(Some(2)).text(),
        "~ old: it has drifted: its NodeClaim says `NodeClassDrift`; but nothing can be created in its place, and its pool \
         asks for all its nodes (`replicas`)\n"
    );
}

#[test]
fn of_too_many_full_nodes_one_is_said_to_stay_whatever_else_it_is_due_for() {
    let full = |drifted: &[&str]| {
        let nodes = ["a", "b", "c"].map(|name| {
            let mut node = there(name, "Standard_D2s_v5");
            let drift = Drift { reason: "ImageDrift".into(), since: None };
            node.claimed.drift = drifted.contains(&name).then_some(drift);
            node
        });
        let pods = ["a", "b", "c"].map(|name| on(name, pod(&format!("on-{name}")).cpu("1800m")));
        World::of(vec![fixed(2)]).nodes(nodes).pods(pods).text()
    };
    let too_many = "pool `fixed` asks for 2 nodes (`replicas`)";
    let stays = "its pods have no sure place elsewhere";
    assert_eq!(full(&[]), format!("~ a: it is one too many: {too_many}; but {stays}\n"));
    let drifted = "it has drifted: its NodeClaim says `ImageDrift`";
    assert_eq!(full(&["b"]), format!("~ b: {drifted}, and it is one too many: {too_many}; but {stays}\n"));
    let no_room = "nothing can be created in its place, and its pool asks for all its nodes (`replicas`)";
    assert_eq!(
        full(&["a", "b"]),
        format!(
            "~ a: {drifted}, and it is one too many: {too_many}; but {stays}\n~ b: {drifted}; but {no_room}\n"
        )
    );
}

#[test]
fn what_cannot_be_made_is_said() {
    let own = Pool { nodes_max: Some(1), ..fixed(3) };
    let world = World::of(vec![own]);
    assert_eq!(world.solve().target.new.len(), 1);
    let said = world.warnings();
    let expected = "pool `fixed`: asks for 3 nodes (`replicas`), and 2 of them cannot be made";
    assert!(said.iter().any(|said| said.starts_with(expected)), "{said:?}");
}

#[test]
fn karpenter_s_fleet_has_the_same_nodes() {
    let world = World::of(vec![fixed(2), pool("other")]).pods([pod("a"), pod("b").cpu("3")]);
    let (own, karpenter) = (world.solve(), as_karpenter(&world));
    let of_fixed = |solution: &Solution| -> Vec<String> {
        let fixed = solution.target.new.iter().filter(|node| node.opened_for.is_none());
        fixed.map(|node| format!("{} {} {}", node.pool, node.size, node.zone)).collect()
    };
    assert_eq!(of_fixed(&own), of_fixed(&karpenter));
    assert_eq!(of_fixed(&own).len(), 2);
}

#[test]
fn a_thousand_nodes_of_a_pool_are_spread_over_zones_and_keep_few_substitutes() {
    let solution = World::of(vec![fixed(1_000)]).solve();
    let new = &solution.target.new;
    let of_zone = |zone: &str| new.iter().filter(|node| node.zone.as_str() == zone).count();
    assert_eq!(ZONES.map(of_zone), [334, 333, 333]);
    assert!(new.iter().all(|node| (1..=60).contains(&node.substitutes.len())));
}

#[test]
fn a_node_that_is_to_be_made_for_the_number_is_told_by_its_pool() {
    let world = World::of(vec![fixed(2)]).pods([pod("large").cpu("3")]);
    let unplaced = &world.solve().report.unplaced[0];
    let because = "a new node of pool `fixed`: cpu: `cpu` 3 requested, 1900m left";
    assert_eq!(unplaced.details, [because]);
    // The message names the pool.
    assert_eq!(unplaced.nearest, None);
    assert!(unplaced.because.starts_with("pool `fixed` is static (`replicas: 2`), and none of its 2 nodes"));
}
