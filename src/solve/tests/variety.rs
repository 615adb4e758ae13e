//! `minValues`: a node is a choice among a required number of sizes, families or zones.

use super::world::{PodWith, World, any_pool, pod, pool};
use crate::model::{MinValuesPolicy, Operator, Pod, Pool, Requirement, label};
use crate::solve::NewNode;

fn choosing(key: &str, least: u32, sizes: &[&str]) -> Pool {
    pool("default")
        .requires(label::INSTANCE_TYPE, Requirement::new(Operator::In, sizes))
        .requires(key, Requirement::any().with_min_values(Some(least)))
}

fn pods(count: usize, cpu: &str) -> Vec<Pod> {
    (0..count).map(|number| pod(&format!("web-{number}")).cpu(cpu)).collect()
}

const PLAIN: [&str; 3] = ["Standard_D2s_v5", "Standard_D4s_v5", "Standard_D8s_v5"];

#[test]
fn nodes_are_filled_no_further_than_the_smallest_size_of_the_choice() {
    let world = |least| World::of(vec![choosing(label::INSTANCE_TYPE, least, &PLAIN)]).pods(pods(4, "900m"));
    assert_eq!(
        world(1).text(),
        "+ default Standard_D4s_v5 eastus-1 on-demand 192000: web-0 web-1 web-2 web-3\n"
    );
    assert_eq!(
        world(2).text(),
        "+ default Standard_D4s_v5 eastus-1 on-demand 192000: web-0 web-1 web-2 web-3\n"
    );
    assert_eq!(
        world(3).text(),
        "+ default Standard_D2s_v5 eastus-1 on-demand 96000: web-0 web-1\n\
         + default Standard_D2s_v5 eastus-2 on-demand 96000: web-2 web-3\n"
    );
}

#[test]
fn what_cannot_be_a_choice_is_not_made_and_says_so() {
    let world = World::of(vec![choosing(label::INSTANCE_TYPE, 3, &PLAIN)]).pods([pod("a").cpu("3")]);
    assert_eq!(
        world.text(),
        "? a: minValues: `minValues` of `node.kubernetes.io/instance-type` asks for 3 different values, and the \
         sizes that hold it have 2\n"
    );
}

#[test]
fn a_lighter_pool_takes_what_a_heavier_one_may_not_make() {
    let heavy = Pool { name: "heavy".into(), weight: 10, ..choosing(label::INSTANCE_TYPE, 3, &PLAIN) };
    let world = World::of(vec![heavy, pool("light")]).pods([pod("a").cpu("3"), pod("b").cpu("1800m")]);
    assert_eq!(
        world.text(),
        "+ heavy Standard_D2s_v5 eastus-1 on-demand 96000: b\n+ light Standard_F4s_v2 eastus-1 on-demand 169000: a\n"
    );
}

#[test]
fn where_the_fleet_puts_up_with_less_a_node_has_what_there_is() {
    let mut world = World::of(vec![choosing(label::INSTANCE_TYPE, 3, &PLAIN)]).pods([
        pod("a").cpu("3"),
        pod("b").cpu("7"),
        pod("c").cpu("1800m"),
        pod("d").cpu("1800m"),
    ]);
    world.policy.fleet.min_values_policy = MinValuesPolicy::BestEffort;
    assert_eq!(
        world.text(),
        "+ default Standard_D2s_v5 eastus-1 on-demand 96000: c\n\
         + default Standard_D2s_v5 eastus-2 on-demand 96000: d\n\
         + default Standard_D4s_v5 eastus-3 on-demand 192000: a\n\
         + default Standard_D8s_v5 eastus-1 on-demand 384000: b\n"
    );
    let warnings = world.solve().report.warnings;
    assert_eq!(
        warnings[0].what,
        "2 new nodes list fewer values of `node.kubernetes.io/instance-type` than `minValues` asks for: 1 of 3, \
         since `minValuesPolicy` is `BestEffort`"
    );
    let of_pod = |name: &str| {
        let solution = world.solve();
        let node = solution.target.new.iter().find(|node| &*node.pods[0].name == name).cloned();
        let node: NewNode = node.expect("every pod is placed");
        (node.variety.asked.values().copied().collect::<Vec<_>>(), node.variety.among.len())
    };
    assert_eq!((of_pod("b"), of_pod("a"), of_pod("c")), ((vec![1], 0), (vec![2], 1), (vec![3], 2)));
}

#[test]
fn families_zones_and_ways_to_buy_are_counted_too() {
    let families = World::of(vec![choosing(label::SKU_FAMILY, 2, &["Standard_D8s_v5", "Standard_F8s_v2"])])
        .pods(pods(2, "1").into_iter().map(|pod| pod.memory("10Gi")));
    // The size of family F has memory for only one of them.
    assert_eq!(families.solve().target.new.len(), 2);
    let zones = World::of(vec![choosing(label::ZONE, 3, &PLAIN)]).pods([pod("a")]);
    let node = &zones.solve().target.new[0];
    assert_eq!((node.size.as_str(), node.variety.among.len()), ("Standard_D2s_v5", 2));
    let pinned =
        World::of(vec![choosing(label::ZONE, 2, &PLAIN)]).pods([pod("a").selects(label::ZONE, "eastus-2")]);
    assert!(pinned.text().starts_with("? a: minValues: "), "{}", pinned.text());
    let bought =
        any_pool("default").requires(label::CAPACITY_TYPE, Requirement::any().with_min_values(Some(2)));
    let node = &World::of(vec![bought]).pods([pod("a")]).solve().target.new[0];
    assert_eq!(node.variety.among.len(), 1);
}
