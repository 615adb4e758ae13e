//! NodeOverlays: what a new node costs and has by them.

use nodeform::check::{Finding, Rule, check};
use nodeform::model::{
    CapacityType, MicroUsdPerHour, Overlay, OverlayName, Price, PriceChange, Requirement, Requirements,
    ResourceName, Resources, label,
};
use nodeform::plan::Plan;
use nodeform::solve::NewNode;

use crate::support::build::World;
use crate::support::by_hand::{ByHand, by_hand};
use crate::support::{pod, pool, world};

/// A size without a disk to pay.
const NEW: (&str, &str, CapacityType) = ("Standard_D2ds_v5", "1", CapacityType::OnDemand);

fn overlay(name: &str, weight: u32, price: Option<i64>) -> Overlay {
    Overlay {
        name: OverlayName::new(name),
        weight,
        requirements: Requirements::none().with(label::NODE_POOL, Requirement::one("default")),
        price: price.map(|price| PriceChange::To(MicroUsdPerHour(price))),
        capacity: Resources::none(),
    }
}

fn with(mut world: World, overlays: &[Overlay]) -> World {
    for overlay in overlays {
        world.policy.overlays.insert(overlay.name.clone(), overlay.clone());
    }
    world.pool(pool("default"))
}

fn at(mut plan: ByHand, price: i64) -> ByHand {
    let price = Price::Listed(MicroUsdPerHour(price));
    plan.change(|node: &mut NewNode| (node.list_price, node.effective_price) = (price, price));
    plan
}

fn found((world, plan): &(World, Plan)) -> Vec<Finding> {
    check(&world.snapshot, &world.policy, plan)
}

fn rules(case: &(World, Plan)) -> Vec<Rule> {
    found(case).into_iter().map(|finding| finding.rule).collect()
}

/// What is found in a plan of one node at a price, as it is and as it travels.
fn judged(overlays: &[Overlay], price: i64) -> Vec<Rule> {
    let world = with(world().pod(pod("web")), overlays);
    let case = at(by_hand(world).making("default", NEW, &["web"]), price).unjudged();
    let there = rules(&case);
    let (snapshot, policy) = (case.1.snapshot(), case.1.policy());
    let again: Vec<Rule> =
        check(&snapshot, &policy, &case.1).into_iter().map(|finding| finding.rule).collect();
    assert_eq!(there, again, "{:#?}", found(&case));
    there
}

#[test]
fn a_new_node_costs_what_the_overlay_says() {
    assert_eq!(judged(&[overlay("a", 1, Some(40_000))], 40_000), []);
    assert!(judged(&[overlay("a", 1, Some(40_000))], 41_000).contains(&Rule::Price));
    assert!(judged(&[], 40_000).contains(&Rule::Price));
}

#[test]
fn the_heaviest_counts_and_of_equal_ones_the_last_by_name() {
    let [light, heavy] = [overlay("a", 1, Some(40_000)), overlay("b", 2, Some(50_000))];
    assert_eq!(judged(&[light.clone(), heavy.clone()], 50_000), []);
    assert!(judged(&[light.clone(), heavy], 40_000).contains(&Rule::Price));
    let equal = overlay("b", 1, Some(50_000));
    assert_eq!(judged(&[light.clone(), equal.clone()], 50_000), []);
    assert!(judged(&[light, equal], 40_000).contains(&Rule::Price));
}

#[test]
fn a_resource_is_there_where_an_overlay_that_counts_gives_it() {
    let dongle = || ResourceName::parse("example.com/dongle");
    let giving = |name, weight, price, count| {
        let overlay = overlay(name, weight, price);
        Overlay { capacity: Resources::none().with(dongle(), count), ..overlay }
    };
    let judged = |overlays: &[Overlay]| {
        let web = pod("web").specified(|spec| spec.requests.set(dongle(), 2));
        let case = by_hand(with(world().pod(web), overlays)).making("default", NEW, &["web"]).unjudged();
        rules(&case).contains(&Rule::Capacity)
    };
    assert!(!judged(&[giving("a", 1, None, 2)]));
    assert!(judged(&[giving("a", 1, None, 1)]));
    assert!(judged(&[]));
    // The heavier one says 1; and one that contradicts another is void, its resources too.
    assert!(judged(&[giving("a", 1, None, 2), giving("b", 2, None, 1)]));
    assert!(judged(&[giving("a", 1, Some(96_000), 2), overlay("b", 1, Some(96_000))]));
}
