//! Choice of sizes by the price of the whole packing; zones.

use super::world::{PodWith, World, any_pool, node, on, pod, pool};
use crate::model::{CapacityType, Zone, label};
use crate::solve::Solution;

fn cost(solution: &Solution) -> i64 {
    solution.target.new.iter().filter_map(|node| node.effective_price.known()).map(|price| price.0).sum()
}

#[test]
fn many_equal_pods_get_the_cheapest_fleet_and_not_the_cheapest_first_node() {
    let pods = (0..5).map(|number| pod(&format!("inflate-{number}")).cpu("1"));
    assert_eq!(
        World::of(vec![pool("default")]).pods(pods).text(),
        "+ default Standard_F8s_v2 eastus-1 on-demand 338000: inflate-0 inflate-1 inflate-2 inflate-3 inflate-4\n"
    );
}

#[test]
fn pods_that_complement_each_other_share_nodes() {
    // Alone, the lean ones fill F sizes and the fat ones E sizes; together they fill D sizes.
    let lean = (0..20).map(|number| pod(&format!("lean-{number:02}")).cpu("3").memory("1Gi"));
    let fat = (0..20).map(|number| pod(&format!("fat-{number:02}")).cpu("800m").memory("13Gi"));
    let solution = World::of(vec![pool("default")]).pods(lean).pods(fat).solve();
    assert!(solution.report.unplaced.is_empty());
    assert!(cost(&solution) <= 20 * 192_000, "{}", cost(&solution));
}

#[test]
fn nodes_are_spread_over_zones_that_cost_the_same() {
    let pods = (0..6).map(|number| pod(&format!("web-{number}")).cpu("15"));
    let solution = World::of(vec![pool("default")]).pods(pods).solve();
    let mut zones: Vec<&str> = solution.target.new.iter().map(|node| node.zone.as_str()).collect();
    zones.sort_unstable();
    assert_eq!(zones, ["eastus-1", "eastus-1", "eastus-2", "eastus-2", "eastus-3", "eastus-3"]);
}

#[test]
fn nodes_that_are_there_count_for_the_spread() {
    let world = World::of(vec![pool("default")])
        .nodes([node("n1", "Standard_D2s_v5")])
        .pods([on("n1", pod("old").cpu("1800m")), pod("a").cpu("1")]);
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-2 on-demand 96000: a\n");
}

#[test]
fn a_place_without_a_zone_is_taken_only_where_there_is_no_other() {
    let regional = |types: &mut Vec<crate::model::InstanceType>| {
        for kind in types {
            let mut offering = kind.offerings[0].clone();
            offering.zone = Zone::new("0");
            offering.requirements.set(label::ZONE.into(), crate::model::Requirement::one("0"));
            if kind.name.as_str() == "Standard_D2s_v5" {
                kind.offerings.push(offering);
            } else {
                kind.offerings = vec![offering];
            }
            let zones = crate::model::Requirement::new(crate::model::Operator::In, ["0", "eastus-1"]);
            kind.requirements.set(label::ZONE.into(), zones);
        }
    };
    let world = World::of(vec![pool("default")]).types(regional);
    assert_eq!(
        world.clone().pods([pod("a")]).text(),
        "+ default Standard_D2s_v5 eastus-1 on-demand 96000: a\n"
    );
    assert_eq!(world.pods([pod("a").cpu("3")]).text(), "+ default Standard_F4s_v2 0 on-demand 169000: a\n");
}

#[test]
fn spot_is_bought_where_the_pool_and_the_pods_allow_it() {
    let open = any_pool("default").requires(label::ARCH, crate::model::Requirement::one("amd64"));
    let pods = [pod("a").cpu("1500m"), pod("b").cpu("1500m").selects(label::CAPACITY_TYPE, "on-demand")];
    assert_eq!(
        World::of(vec![open]).pods(pods).text(),
        "+ default Standard_D2s_v5 eastus-1 spot 20000: a\n\
         + default Standard_D2s_v5 eastus-2 on-demand 96000: b\n"
    );
}

#[test]
fn what_cannot_be_had_now_is_not_planned() {
    let world = World::of(vec![pool("default")]).pods([pod("a")]).types(|types| {
        for kind in types.iter_mut().filter(|kind| kind.name.as_str() == "Standard_D2s_v5") {
            for offering in &mut kind.offerings {
                offering.is_available = offering.zone.as_str() == "eastus-3";
            }
        }
    });
    assert_eq!(world.text(), "+ default Standard_D2s_v5 eastus-3 on-demand 96000: a\n");
}

#[test]
fn a_gpu_is_bought_only_for_who_asks_for_one() {
    let pods = [pod("model").cpu("3").asks("nvidia.com/gpu", "1"), pod("web").cpu("3")];
    assert_eq!(
        World::of(vec![pool("default")]).pods(pods).text(),
        "+ default Standard_F4s_v2 eastus-1 on-demand 169000: web\n\
         + default Standard_NC4as_T4_v3 eastus-2 on-demand 526000: model\n"
    );
}

#[test]
fn substitutes_hold_the_same_pods_and_the_cheapest_comes_first() {
    let solution = World::of(vec![pool("default")]).pods([pod("a").cpu("3").memory("10Gi")]).solve();
    let node = &solution.target.new[0];
    assert_eq!((node.size.as_str(), node.zone.as_str()), ("Standard_D4s_v5", "eastus-1"));
    let first: Vec<String> =
        node.substitutes.iter().take(3).map(|s| format!("{} {}", s.size, s.zone)).collect();
    assert_eq!(first, ["Standard_D4s_v5 eastus-2", "Standard_D4s_v5 eastus-3", "Standard_E4s_v5 eastus-1"]);
    let is_too_small = |name: &str| name.contains("D2s") || name.contains("F4s") || name.contains("B4ms");
    assert!(
        !node
            .substitutes
            .iter()
            .any(|s| is_too_small(s.size.as_str()) || s.capacity_type == CapacityType::Spot)
    );
}
