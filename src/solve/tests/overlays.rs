//! NodeOverlays: prices and capacity of sizes in a pool, and overlays that contradict each other.

use super::world::{PodWith, World, amount, node, on, pod, pool};
use crate::model::{Overlay, PriceChange, Requirement, Requirements, Resources, label};
use crate::solve::Warning;

fn overlay(name: &str, weight: u32, key: &str, value: &str) -> Overlay {
    Overlay {
        name: name.into(),
        weight,
        requirements: Requirements::none().with(key, Requirement::one(value)),
        price: None,
        capacity: Resources::none(),
    }
}

impl Overlay {
    fn costs(mut self, price: &str) -> Self {
        let is_change = price.starts_with(['+', '-']);
        let parse = if is_change { PriceChange::parse_adjustment } else { PriceChange::parse_price };
        self.price = Some(parse(price).expect("is a price"));
        self
    }

    fn has(mut self, name: &str, count: &str) -> Self {
        let (name, amount) = amount(name, count);
        self.capacity.set(name, amount);
        self
    }
}

impl World {
    fn overlays(mut self, overlays: impl IntoIterator<Item = Overlay>) -> Self {
        self.policy.overlays.extend(overlays.into_iter().map(|overlay| (overlay.name.clone(), overlay)));
        self
    }

    fn warned(&self) -> Vec<String> {
        let warnings = self.solve().report.warnings.into_iter();
        warnings.map(|Warning { object, what, .. }| format!("{object} {what}")).collect()
    }
}

fn small() -> World {
    World::of(vec![pool("default")]).pods([pod("a")])
}

#[test]
fn a_price_of_an_overlay_decides() {
    assert_eq!(small().text(), "+ default Standard_D2s_v5 eastus-1 on-demand 96000: a\n");
    let dear = small().overlays([overlay("o", 1, label::INSTANCE_TYPE, "Standard_D2s_v5").costs("+100%")]);
    assert_eq!(dear.text(), "+ default Standard_F4s_v2 eastus-1 on-demand 169000: a\n");
    let free = small().overlays([overlay("o", 1, label::SKU_FAMILY, "E").costs("-1")]);
    assert_eq!(free.text(), "+ default Standard_E4s_v5 eastus-1 on-demand 0: a\n");
    let in_a_zone = small().overlays([overlay("o", 1, label::ZONE, "eastus-3").costs("-50%")]);
    assert_eq!(in_a_zone.text(), "+ default Standard_D2s_v5 eastus-3 on-demand 48000: a\n");
}

#[test]
fn an_overlay_is_for_the_pools_that_it_names() {
    let of_pool = |name: &str| overlay("o", 1, label::NODE_POOL, name).costs("0.5");
    assert!(small().overlays([of_pool("default")]).text().contains(" 500000: a\n"));
    let other = small().overlays([of_pool("other")]);
    assert!(other.text().contains(" 96000: a\n"));
    assert_eq!(
        other.warned(),
        ["NodeOverlay `o` has no effect: no size of any NodePool is what it asks for"]
    );
}

#[test]
fn the_heaviest_price_alone_counts() {
    let half = || overlay("half", 1, label::NODE_POOL, "default").costs("-50%");
    let more = |weight| overlay("more", weight, label::NODE_POOL, "default").costs("+0.004");
    assert!(small().overlays([half(), more(2)]).text().contains(" 100000: a\n"));
    // Of two with equal weight, the last by name takes precedence, and the other has no effect.
    let both = small().overlays([half(), more(1)]);
    assert!(both.text().contains(" 100000: a\n"));
    let said = "NodeOverlay `half` has no effect: `more` has the same weight and also says what some of its \
                sizes cost";
    assert_eq!(both.warned(), [said]);
}

#[test]
fn a_rejected_overlay_counts_nowhere() {
    let wide = overlay("a", 1, label::NODE_POOL, "default").costs("-50%").has("example.com/dongle", "1");
    let narrow = overlay("b", 1, label::SKU_FAMILY, "E").costs("-1%");
    let world = World::of(vec![pool("default")]).pods([pod("a").asks("example.com/dongle", "1")]);
    assert!(world.clone().overlays([wide.clone()]).text().contains(" 48000: a\n"));
    assert!(world.overlays([wide, narrow]).text().starts_with("? a: "));
}

#[test]
fn resources_are_merged_and_the_heavier_counts() {
    let first = overlay("first", 2, label::SKU_FAMILY, "D").has("example.com/dongle", "2");
    let second = overlay("second", 1, label::SKU_FAMILY, "D")
        .has("example.com/dongle", "4")
        .has("example.com/key", "1");
    let asks = |dongles: &str| {
        let pod = pod("a").asks("example.com/dongle", dongles).asks("example.com/key", "1");
        World::of(vec![pool("default")]).pods([pod]).overlays([first.clone(), second.clone()]).text()
    };
    assert_eq!(asks("2"), "+ default Standard_D2s_v5 eastus-1 on-demand 96000: a\n");
    assert!(asks("3").starts_with("? a: "));
}

#[test]
fn nodes_that_run_cost_what_the_overlay_of_their_pool_says() {
    let world =
        World::of(vec![pool("default")]).nodes([node("n1", "Standard_D2s_v5")]).pods([on("n1", pod("a"))]);
    let report = world.overlays([overlay("o", 1, label::NODE_POOL, "default").costs("0.05")]).solve().report;
    assert_eq!((report.cost_before.effective.0, report.cost_after.effective.0), (50_000, 50_000));
}
