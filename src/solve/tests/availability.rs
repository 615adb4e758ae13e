//! Choice of offerings if availability is preferred: refused or scarce ones count as more expensive, but cost no more.

use super::world::{PodWith, World, node, on, pod, pool, text};
use crate::model::{
    CapacityType, Disruption, MicroUsd, MicroUsdPerHour, Node, Operator, Pool, Prefer, Price, Refusal,
    RefusedBecause, RefusedPlace, Requirement, Requirements, SkuName, Zone, label,
};
use crate::solve::bound::bound;
use crate::solve::explain::NotChosen;
use crate::solve::{explain::PoolUse, explain_size};

/// Returns a refusal that ends at 10:00.
fn refusal(size: Option<&str>, place: RefusedPlace) -> Refusal {
    Refusal {
        size: size.map(SkuName::new),
        place,
        capacity_type: None,
        because: RefusedBecause::AllocationFailure,
        said: None,
        until: "2026-11-21T10:00:00Z".parse().expect("a time"),
    }
}

fn zone(name: &str) -> RefusedPlace {
    RefusedPlace::Zone(Zone::new(name))
}

/// Returns a world at 09:30 that prefers availability.
fn world(pools: Vec<Pool>, refusals: Vec<Refusal>) -> World {
    let mut world = World::of(pools);
    world.snapshot.at = Some("2026-11-21T09:30:00Z".parse().expect("a time"));
    world.snapshot.refusals = refusals;
    world.policy.fleet.prefer = Prefer::Availability;
    world
}

fn by_price(mut world: World) -> World {
    world.policy.fleet.prefer = Prefer::Price;
    world
}

const F4: &str = "+ default Standard_F4s_v2 eastus-1 on-demand 169000: a\n";
const D4: &str = "+ default Standard_D4s_v5 eastus-1 on-demand 192000: a\n";

#[test]
fn a_refused_size_is_avoided_and_its_successor_costs_what_it_costs() {
    let refused = refusal(Some("Standard_F4s_v2"), RefusedPlace::Everywhere);
    let world = world(vec![pool("default")], vec![refused]).pods([pod("a").cpu("3")]);
    let solution = world.solve();
    assert_eq!(text(&solution), D4);
    assert_eq!(solution.report.cost_after.effective, MicroUsdPerHour(192_000));
    assert_eq!(solution.target.new[0].list_price, Price::Listed(MicroUsdPerHour(192_000)));
    let others = &solution.target.new[0].substitutes;
    assert!(others.iter().all(|other| other.size.as_str() != "Standard_F4s_v2"), "{others:?}");
    let warning = &solution.report.warnings[0];
    assert_eq!(
        format!("{}: {}", warning.object, warning.what),
        "size `Standard_F4s_v2`: counts with larger ones of its series as 200 % dearer until 2026-11-21T10:00:00Z: it \
         was refused (AllocationFailure)"
    );
    let least = bound(&world.snapshot, &world.policy, &solution).expect("prices are known");
    assert!(least.least <= MicroUsdPerHour(169_000), "{least:?}");
    assert_eq!(by_price(world).text(), F4);
}

#[test]
fn a_refusal_of_one_zone_leaves_the_others() {
    let refused = refusal(Some("Standard_F4s_v2"), zone("eastus-1"));
    let world = world(vec![pool("default")], vec![refused]).pods([pod("a").cpu("3")]);
    let solution = world.solve();
    assert_eq!(text(&solution), "+ default Standard_F4s_v2 eastus-2 on-demand 169000: a\n");
    let is_refused = |zone: &Zone| zone.as_str() == "eastus-1";
    let others = &solution.target.new[0].substitutes;
    assert!(!others.iter().any(|other| is_refused(&other.zone) && other.size.as_str() == "Standard_F4s_v2"));
}

#[test]
fn what_is_refused_everywhere_is_bought_where_nothing_else_holds_the_pod() {
    let pool = pool("default").requires(label::INSTANCE_TYPE, Requirement::one("Standard_F4s_v2"));
    let world = world(vec![pool], vec![refusal(None, RefusedPlace::Everywhere)]).pods([pod("a").cpu("3")]);
    assert_eq!(world.text(), F4);
}

#[test]
fn a_refusal_that_is_over_counts_no_more_and_without_a_time_none_does() {
    let refused = refusal(Some("Standard_F4s_v2"), RefusedPlace::Everywhere);
    let mut world = world(vec![pool("default")], vec![refused]).pods([pod("a").cpu("3")]);
    world.snapshot.at = Some("2026-11-21T10:00:00Z".parse().expect("a time"));
    assert_eq!(world.text(), F4);
    assert_eq!(world.solve().report.warnings, []);
    world.snapshot.at = None;
    assert_eq!(world.text(), F4);
    let undecided = world.solve().report.undecided;
    assert!(undecided.contains("which of Azure's refusals still count"), "{undecided:?}");
}

#[test]
fn larger_sizes_of_the_series_count_as_refused_too() {
    let refused = refusal(Some("Standard_F4s_v2"), RefusedPlace::Everywhere);
    let world = world(vec![pool("default")], vec![refused]).pods([pod("a").cpu("7")]).types(|types| {
        for kind in types.iter_mut().filter(|kind| kind.name.as_str().ends_with("s_v2")) {
            kind.requirements.add(label::SKU_SERIES.into(), Requirement::one("Fs_v2"));
        }
    });
    assert_eq!(world.text(), "+ default Standard_D8s_v5 eastus-1 on-demand 384000: a\n");
}

#[test]
fn what_runs_stays_though_its_size_was_refused() {
    let refused = refusal(Some("Standard_F4s_v2"), RefusedPlace::Everywhere);
    let world = world(vec![pool("default")], vec![refused])
        .nodes([node("n1", "Standard_F4s_v2")])
        .pods([on("n1", pod("a").cpu("2")), pod("b").cpu("1")]);
    assert_eq!(world.text(), "= n1: b\n");
}

#[test]
fn nothing_is_moved_to_what_was_refused_for_a_small_saving() {
    let moved = |refusals: Vec<Refusal>| {
        let quiet = "2026-11-20T09:30:00Z".parse().ok();
        world(vec![Pool { disruption: Disruption::default(), ..pool("default") }], refusals)
            .nodes([Node { quiet_since: quiet, ..node("n1", "Standard_E4s_v5") }])
            .pods([on("n1", pod("a").cpu("3"))])
            .types(|types| {
                types.retain(|kind| ["Standard_E4s_v5", "Standard_F4s_v2"].contains(&kind.name.as_str()));
            })
            .text()
    };
    assert_eq!(moved(Vec::new()), format!("{F4}- n1: Underutilized\n"));
    assert_eq!(moved(vec![refusal(Some("Standard_F4s_v2"), RefusedPlace::Everywhere)]), "");
}

/// Returns a pool that allows spot and on-demand.
fn both() -> Pool {
    let either = Requirement::new(Operator::In, ["on-demand", "spot"]);
    Pool { requirements: Requirements::none().with(label::CAPACITY_TYPE, either), ..pool("default") }
}

#[test]
fn spot_must_save_a_fifth() {
    let at = |spot: i64| {
        world(vec![both()], Vec::new()).pods([pod("a").cpu("3")]).types(|types| {
            types.retain(|kind| kind.name.as_str() == "Standard_D4s_v5");
            for offering in types.iter_mut().flat_map(|kind| &mut kind.offerings) {
                if offering.capacity_type == CapacityType::Spot {
                    offering.price = Price::Listed(MicroUsdPerHour(spot));
                }
            }
        })
    };
    assert_eq!(at(150_000).text(), "+ default Standard_D4s_v5 eastus-1 spot 150000: a\n");
    assert_eq!(at(155_000).text(), D4);
    assert_eq!(by_price(at(155_000)).text(), "+ default Standard_D4s_v5 eastus-1 spot 155000: a\n");
}

#[test]
fn on_demand_is_taken_where_all_of_spot_is_refused() {
    let spot = Refusal { capacity_type: Some(CapacityType::Spot), ..refusal(None, RefusedPlace::Everywhere) };
    let world = world(vec![both()], vec![spot]).pods([pod("a").cpu("3")]).types(|types| {
        types.retain(|kind| kind.name.as_str() == "Standard_D4s_v5");
        for offering in types.iter_mut().flat_map(|kind| &mut kind.offerings) {
            if offering.capacity_type == CapacityType::Spot {
                offering.price = Price::Listed(MicroUsdPerHour(67_200));
            }
        }
    });
    assert_eq!(world.text(), D4);
}

#[test]
fn a_size_of_few_zones_counts_as_dearer_for_each_that_lacks_it() {
    let at = |price: i64| {
        world(vec![pool("default")], Vec::new()).pods([pod("a").cpu("3")]).types(|types| {
            for kind in types.iter_mut().filter(|kind| kind.name.as_str() == "Standard_F4s_v2") {
                kind.offerings.retain(|offering| offering.zone.as_str() == "eastus-1");
                kind.offerings[0].price = Price::Listed(MicroUsdPerHour(price));
            }
        })
    };
    // Two of three zones lack it: 174 thousandths count as 191.4, 175 as 192.5.
    assert_eq!(at(174_000).text(), "+ default Standard_F4s_v2 eastus-1 on-demand 174000: a\n");
    assert_eq!(at(175_000).text(), D4);
    assert_eq!(by_price(at(175_000)).text(), "+ default Standard_F4s_v2 eastus-1 on-demand 175000: a\n");
}

#[test]
fn no_pod_goes_without_a_place_for_the_sake_of_availability() {
    let refused = refusal(Some("Standard_F4s_v2"), RefusedPlace::Everywhere);
    let mut world = world(vec![pool("default")], vec![refused]).pods([pod("a").cpu("3"), pod("b").cpu("3")]);
    // Enough for two F4s_v2, but not for one F4s_v2 and one D4s_v5.
    world.policy.fleet.limits.cost_per_month = Some(MicroUsd(340_000 * 730));
    let solution = world.solve();
    assert_eq!(solution.report.unplaced, []);
    assert_eq!(solution.report.cost_after.effective, MicroUsdPerHour(338_000));
}

#[test]
fn a_size_that_only_counts_as_dearer_is_explained_so() {
    let refused = refusal(Some("Standard_F4s_v2"), RefusedPlace::Everywhere);
    let world = world(vec![pool("default")], vec![refused]).pods([pod("a").cpu("3")]);
    let explained = explain_size(&world.snapshot, &world.policy, &world.solve(), &"Standard_F4s_v2".into());
    let (_, PoolUse::NotCheapest { because, .. }) = &explained.pools[0] else { panic!("{explained:?}") };
    assert_eq!(*because, NotChosen::CountsDearer { chosen: "Standard_D4s_v5".into() });
}

#[test]
fn a_pool_of_a_fixed_number_avoids_what_was_refused() {
    let fixed = Pool { replicas: Some(1), ..pool("default") };
    let world = world(vec![fixed], vec![refusal(Some("Standard_D2s_v5"), zone("eastus-1"))]);
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-2 on-demand 96000: \n");
    assert!(world.solve().report.warnings.iter().any(|warning| warning.what.contains("200 % dearer")));
}
