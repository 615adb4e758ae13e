//! Node prices: list prices, effective prices, and unknown prices.

use super::world::{PodWith, World, node, on, pod, pool};
use crate::model::{
    Commitment, Discount, Disruption, Drift, MicroUsdPerHour, Node, OsDisk, Pod, Pool, Price, Requirement,
    label,
};
use crate::solve::bound::bound;

fn micro(amount: i64) -> Price {
    Price::Listed(MicroUsdPerHour(amount))
}

#[test]
fn discounts_decide_and_the_list_price_is_kept() {
    let mut world = World::of(vec![pool("default")]).pods([pod("a").cpu("3")]);
    world.policy.fleet.prices.discounts = vec![Discount { family: "d".into(), percent: 50 }];
    let solution = world.solve();
    let node = &solution.target.new[0];
    assert_eq!(node.size.as_str(), "Standard_D4s_v5");
    assert_eq!((node.list_price, node.effective_price), (micro(192_000), micro(96_000)));
    assert_eq!(solution.report.cost_after.list, MicroUsdPerHour(192_000));
    assert_eq!(solution.report.cost_after.effective, MicroUsdPerHour(96_000));
}

#[test]
fn what_stands_beside_the_vm_makes_fewer_nodes_cheaper() {
    let pods = || (0..2).map(|number| pod(&format!("web-{number}")).cpu("1800m"));
    let mut world =
        World::of(vec![pool("default").requires(label::SKU_FAMILY, Requirement::one("D"))]).pods(pods());
    world.policy.fleet.prices.cost_per_node = MicroUsdPerHour(50_000);
    assert_eq!(world.text(), "+ default Standard_D4s_v5 eastus-1 on-demand 242000: web-0 web-1\n");
}

#[test]
fn a_managed_disk_is_part_of_both_prices() {
    let world = World::of(vec![pool("default")]).pods([pod("a")]).types(|types| {
        for kind in types {
            kind.os_disk = OsDisk::Managed(micro(27_000));
        }
    });
    let node = &world.solve().target.new[0];
    assert_eq!((node.list_price, node.effective_price), (micro(123_000), micro(123_000)));
}

#[test]
fn a_commitment_is_used_up_first_and_paid_either_way() {
    let commitment =
        |count| Commitment { size: "Standard_E4s_v5".into(), count, price: MicroUsdPerHour(120_000) };
    let mut world = World::of(vec![pool("default")]).pods([pod("a").cpu("3"), pod("b").cpu("3")]);
    world.policy.fleet.prices.commitments = vec![commitment(1)];
    let solution = world.solve();
    assert_eq!(
        super::world::text(&solution),
        "+ default Standard_E4s_v5 eastus-1 on-demand 120000: a\n\
         + default Standard_F4s_v2 eastus-2 on-demand 169000: b\n"
    );
    assert_eq!(solution.report.cost_before.effective, MicroUsdPerHour(120_000));
    assert_eq!(solution.report.cost_after.effective, MicroUsdPerHour(289_000));
    let mut idle =
        World::of(vec![pool("default")]).nodes([node("n1", "Standard_E4s_v5")]).pods([on("n1", pod("a"))]);
    idle.policy.fleet.prices.commitments = vec![commitment(3)];
    assert_eq!(idle.solve().report.cost_after.effective, MicroUsdPerHour(360_000));
}

#[test]
fn a_size_without_a_price_is_tried_only_when_nothing_priced_fits() {
    let unpriced = |name: &'static str| {
        move |types: &mut Vec<crate::model::InstanceType>| {
            for offering in
                types.iter_mut().filter(|kind| kind.name.as_str() == name).flat_map(|k| &mut k.offerings)
            {
                offering.price = Price::Unknown;
            }
        }
    };
    let world = World::of(vec![pool("default")]).types(unpriced("Standard_D2s_v5"));
    assert_eq!(
        world.clone().pods([pod("a")]).text(),
        "+ default Standard_F4s_v2 eastus-1 on-demand 169000: a\n"
    );
    let world = world.types(unpriced("Standard_D16s_v5")).pods([pod("a"), pod("big").cpu("15")]);
    let solution = world.solve();
    assert_eq!(
        super::world::text(&solution),
        "+ default Standard_D16s_v5 eastus-1 on-demand unknown: a big\n"
    );
    assert_eq!(solution.report.cost_after.unpriced_nodes, 1);
    assert_eq!(solution.report.cost_after.effective, MicroUsdPerHour(0));
}

/// Sizes that hold two of the pods have no price, so they must never look like a saving.
#[test]
fn a_fleet_of_unknown_price_is_not_taken_for_one_that_costs_nothing() {
    let world = World::of(vec![pool("default")])
        .pods([pod("a").cpu("3"), pod("b").cpu("3"), pod("c").cpu("3")])
        .types(|types| {
            let large = types.iter_mut().filter(|kind| kind.name.as_str().contains('8'));
            large.flat_map(|kind| &mut kind.offerings).for_each(|way| way.price = Price::Unknown);
        });
    let solution = world.solve();
    assert_eq!(solution.report.cost_after.unpriced_nodes, 0, "{}", super::world::text(&solution));
}

#[test]
fn nodes_of_today_are_priced_by_their_labels() {
    let mut spot = node("n2", "Standard_D8s_v5");
    spot.labels.insert(label::CAPACITY_TYPE.into(), "spot".into());
    let mut foreign = Node { pool: None, class: None, ..node("n3", "Standard_D4s_v5") };
    foreign.labels.remove(label::CAPACITY_TYPE);
    let mut odd = node("n4", "Standard_D4s_v5");
    odd.labels.remove(label::INSTANCE_TYPE);
    let pods = ["n1", "n2", "n3", "n4"].map(|name| on(name, pod(&format!("on-{name}"))));
    let world = World::of(vec![pool("default")])
        .nodes([node("n1", "Standard_D2s_v5"), spot, foreign, odd])
        .pods(pods);
    let cost = world.solve().report.cost_before;
    assert_eq!(cost.effective, MicroUsdPerHour(96_000 + 80_000 + 192_000));
    assert_eq!((cost.unpriced_nodes, cost.is_estimate), (1, true));
}

#[test]
fn a_bound_on_nodes_of_estimated_price_is_an_estimate() {
    let bounded = |is_estimate: bool, may_go: bool| {
        let disruption = if may_go { Disruption::default() } else { pool("default").disruption };
        let world = World::of(vec![Pool { disruption, ..pool("default") }])
            .nodes([node("n1", "Standard_D2s_v5")])
            .pods([on("n1", pod("a").cpu("1500m"))])
            .types(|types| {
                for offering in types.iter_mut().flat_map(|kind| &mut kind.offerings) {
                    if let (true, Price::Listed(amount)) = (is_estimate, offering.price) {
                        offering.price = Price::Estimated(amount);
                    }
                }
            });
        bound(&world.snapshot, &world.policy, &world.solve()).map(|bound| (bound.least.0, bound.is_estimate))
    };
    for may_go in [false, true] {
        assert_eq!(bounded(false, may_go), Some((96_000, false)));
        assert_eq!(bounded(true, may_go), Some((96_000, true)));
    }
}

#[test]
fn a_commitment_stays_unused_where_one_larger_node_is_cheaper() {
    let commitment = Commitment { size: "Standard_D2s_v5".into(), count: 1, price: MicroUsdPerHour(60_000) };
    let pods = (0..15).map(|number| pod(&format!("web-{number}")).cpu("1"));
    let mut world = World::of(vec![pool("default")]).pods(pods);
    world.policy.fleet.prices.cost_per_node = MicroUsdPerHour(500_000);
    world.policy.fleet.prices.commitments = vec![commitment];
    let sizes: Vec<_> = world.solve().target.new.into_iter().map(|node| node.size).collect();
    assert_eq!(sizes, ["Standard_D16s_v5".into()]);
}

#[test]
fn a_disk_of_an_unknown_class_is_assumed_and_never_nothing() {
    let eastus = crate::model::Region::new("eastus");
    let mut world = World::of(vec![pool("default")]);
    world.snapshot.catalog = crate::catalog::Catalog::embedded(&eastus).expect("the default has eastus");
    let disk = world.snapshot.catalog.os_disk_price(128).known().expect("the default has disks").0;
    // According to its own class, the disk is ephemeral and costs nothing.
    let mut known = node("n1", "Standard_D8s_v5");
    known.labels.insert(label::INSTANCE_TYPE.into(), "Standard_D8ds_v5".into());
    let foreign = Node { pool: None, class: None, ..known.clone() };
    let orphan = Node { class: Some("absent".into()), ..known.clone() };
    let cost = |world: &World, node: &Node| world.clone().nodes([node.clone()]).solve().report.cost_before;
    let vm = cost(&world, &known).effective.0;
    let mut bare = world.clone();
    bare.policy.classes.clear();
    for (world, node) in [(&world, &foreign), (&world, &orphan), (&bare, &foreign), (&bare, &known)] {
        let cost = cost(world, node);
        assert_eq!((cost.effective.0, cost.is_estimate, cost.unpriced_nodes), (vm + disk, true, 0));
    }
}

#[test]
fn a_commitment_of_a_node_that_goes_is_not_free_yet() {
    let mut going = node("n1", "Standard_D2s_v5");
    going.is_unschedulable = true;
    let agent = Pod { is_daemon: true, ..on("n1", pod("agent")) };
    let mut world = World::of(vec![pool("default")]).nodes([going]).pods([agent, pod("web")]);
    let commitment = Commitment { size: "Standard_D2s_v5".into(), count: 1, price: MicroUsdPerHour(60_000) };
    world.policy.fleet.prices.commitments = vec![commitment];
    // A budget may keep the node; it uses the commitment until it is deleted.
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-1 on-demand 96000: web\n- n1: Empty\n");
    let solution = world.solve();
    assert_eq!(solution.report.cost_before.effective, MicroUsdPerHour(60_000));
    assert_eq!(solution.report.cost_after.effective, MicroUsdPerHour(60_000 + 96_000));
}

#[test]
fn a_node_without_a_price_that_takes_no_more_pods_still_holds_its_own_in_the_bound() {
    let mut world = World::of(vec![pool("default")])
        .nodes([node("n1", "Standard_D2s_v5")])
        .pods([on("n1", pod("one").cpu("1"))]);
    world.snapshot.nodes[0].is_unschedulable = true;
    world.snapshot.nodes[0].labels.insert(label::INSTANCE_TYPE.into(), "Standard_X1_unheard_of".into());
    let drift = Some(Drift { reason: "ImageDrift".into(), since: None });
    world.snapshot.nodes[0].claimed.drift = drift;
    let solution = world.solve();
    assert_eq!(solution.target.removed.len(), 1, "it is replaced");
    // Another fleet keeps it at an unknown price, which counts as zero.
    let bound = bound(&world.snapshot, &world.policy, &solution).expect("the new node has a price");
    assert_eq!(bound.least, MicroUsdPerHour(0));
}
