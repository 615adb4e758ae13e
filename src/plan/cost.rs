//! What the fleet costs when the plan's waves are done: what budgets hold back is still paid for.
//!
//! The solution counts every removal as done. Where all of them are held their price is exact; where some
//! are, they share in what the removals save by their list prices. This module never prices a new node.

use super::evidence::HeldRemoval;
use super::propose::{Ground, Types};
use crate::model::{CapacityType, LabelKey, MicroUsdPerHour, Node, NodeName, OsDisk, Price, SkuName, label};
use crate::solve::{Cost, Solution};

/// Returns the cost after the plan's waves.
pub(super) fn after(ground: Ground<'_>, solution: &Solution, held: &[HeldRemoval]) -> Cost {
    let (before, after) = (solution.report.cost_before, solution.report.cost_after);
    if held.is_empty() {
        return after;
    }
    let made = new_cost(solution);
    let saved_list = before.list + made.list - after.list;
    let saved = before.effective + made.effective - after.effective;
    let mut types = Types::of(ground);
    let mut priced = |names: &mut dyn Iterator<Item = &NodeName>| {
        let prices: Vec<Option<MicroUsdPerHour>> =
            names.map(|name| list_price(ground, &mut types, name)).collect();
        let sum: MicroUsdPerHour = prices.iter().flatten().copied().sum();
        (sum, prices.iter().filter(|price| price.is_none()).count())
    };
    let (of_held, unpriced) = priced(&mut held.iter().map(|held| &held.node));
    let (of_all, _) = priced(&mut solution.target.removed.iter().map(|removal| &removal.node));
    let is_all = held.len() == solution.target.removed.len();
    let share = |saved: MicroUsdPerHour| match (is_all, of_all.0) {
        (true, _) => saved,
        (false, 0) => MicroUsdPerHour(0),
        (false, all) => {
            let share = i128::from(saved.0) * i128::from(of_held.0) / i128::from(all);
            MicroUsdPerHour(i64::try_from(share).unwrap_or(i64::MAX))
        }
    };
    Cost {
        list: after.list + share(saved_list),
        effective: after.effective + share(saved),
        unpriced_nodes: after.unpriced_nodes + unpriced,
        is_estimate: after.is_estimate || before.is_estimate || (!is_all && saved != saved_list),
    }
}

fn new_cost(solution: &Solution) -> Cost {
    let sum = |price: fn(&crate::solve::NewNode) -> Price| {
        solution.target.new.iter().filter_map(|node| price(node).known()).sum()
    };
    Cost { list: sum(|node| node.list_price), effective: sum(|node| node.effective_price), ..Cost::default() }
}

/// Returns what a node that exists costs by the list, by its labels.
fn list_price(ground: Ground<'_>, types: &mut Types<'_>, name: &NodeName) -> Option<MicroUsdPerHour> {
    let nodes = &ground.snapshot.nodes;
    let node: &Node = nodes.get(nodes.binary_search_by(|node| node.name.cmp(name)).ok()?)?;
    let value = |key: &str| node.labels.get(&LabelKey::new(key)).map(|value| &**value);
    let pool = node.pool.as_ref().and_then(|pool| ground.policy.pools.get(pool));
    let class = node.class.as_ref().or(pool.map(|pool| &pool.class))?;
    let kind = types.offered(class).get(&SkuName::new(value(label::INSTANCE_TYPE)?))?;
    let bought = value(label::CAPACITY_TYPE).map_or(Some(CapacityType::OnDemand), CapacityType::parse)?;
    // Prices are the same in all zones of a region.
    let offering = kind.offerings.iter().find(|offering| offering.capacity_type == bought)?;
    let disk = match kind.os_disk {
        OsDisk::Ephemeral => Price::Listed(MicroUsdPerHour(0)),
        OsDisk::Managed(price) => price,
    };
    offering.price.plus(disk).known()
}
