//! What the fleet costs when the plan's waves are done: what budgets hold back is still paid for.
//!
//! The solution counts every removal as done; what is held is added at the same prices. This module never
//! prices a new node.

use std::collections::BTreeSet;

use super::evidence::HeldChange;
use super::propose::Ground;
use crate::model::{Node, NodeName};
use crate::solve::price::{PriceBook, quote_nodes, sum};
use crate::solve::{Cost, Market, Solution};

/// Returns the cost after the plan's waves.
pub(super) fn after(ground: Ground<'_>, solution: &Solution, held: &[HeldChange]) -> Cost {
    let after = solution.report.cost_after;
    if held.is_empty() {
        return after;
    }
    let Ground { snapshot, policy, .. } = ground;
    let market = Market::of(snapshot, policy);
    let book = PriceBook::new(&policy.fleet.prices);
    let removed: BTreeSet<&NodeName> = solution.target.removed.iter().map(|removal| &removal.node).collect();
    let held: BTreeSet<&NodeName> = held.iter().map(|held| &held.node).collect();
    let staying = |node: &&Node| !node.is_deleting && !removed.contains(&node.name);
    let of = |nodes: Vec<&Node>| {
        let (quotes, unused) = quote_nodes(nodes, &market, &book);
        sum(quotes, &unused, &book)
    };
    let without = of(snapshot.nodes.iter().filter(staying).collect());
    let with = of(snapshot.nodes.iter().filter(|node| staying(node) || held.contains(&node.name)).collect());
    Cost {
        list: after.list + (with.list - without.list),
        effective: after.effective + (with.effective - without.effective),
        unpriced_nodes: after.unpriced_nodes + (with.unpriced_nodes - without.unpriced_nodes),
        is_estimate: after.is_estimate || with.is_estimate,
    }
}
