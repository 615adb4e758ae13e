//! Cost of the fleet after the plan's waves: held and omitted removals are still paid for.
//!
//! The solution's cost is that of the target fleet. This module never prices a new node: its maximum price is the
//! claim's.

use std::collections::{BTreeMap, BTreeSet};

use super::change::{Change, ChangeId};
use super::claim::Shelf;
use super::evidence::Placement;
use super::propose::{Ground, Proposal, Types};
use crate::model::{CapacityType, Node, NodeName, Price, SkuName};
use crate::solve::price::{PriceBook, Quote, Uncommitted, quote_nodes, sum};
use crate::solve::{Cost, Market};

use super::Plan;

/// Returns the maximum cost of the fleet after the plan: each new node at the price of its claim's most expensive
/// choice. `None` if a new node has no known price, or if no choice costs more than the first one.
#[must_use]
pub fn at_most(plan: &Plan) -> Option<Cost> {
    let mut cost = plan.evidence.report.cost_after;
    let planned = cost.effective;
    for (id, _, claim) in plan.spec.creates() {
        let placement = plan.evidence.placements.get(id)?;
        cost.effective += claim.price_max? - placement.effective_price.known()?;
        cost.is_estimate |= placement.is_price_max_estimate;
    }
    (cost.effective > planned).then_some(cost)
}

/// Hourly effective prices of existing nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Rates {
    /// Today: all nodes, including those assumed absent.
    pub(super) today: BTreeMap<NodeName, Price>,
    /// After the plan: nodes that stay.
    pub(super) staying: BTreeMap<NodeName, Price>,
}

/// Returns the hourly effective price of each existing node, if it can be quoted.
#[must_use]
pub fn of_nodes(plan: &Plan) -> BTreeMap<NodeName, Price> {
    let (snapshot, policy) = (plan.snapshot_without_pods(), plan.policy());
    let (market, book) = (Market::of(&snapshot, &policy), PriceBook::new(&policy.fleet.prices));
    let mut nodes: Vec<&Node> = snapshot.nodes.iter().collect();
    nodes.sort_by(|one, other| one.name.cmp(&other.name));
    let (quotes, _) = quote_nodes(nodes.iter().copied(), &market, &book);
    let known = nodes.into_iter().zip(quotes);
    known.filter_map(|(node, quote)| Some((node.name.clone(), quote?.effective))).collect()
}

/// Returns today's hourly effective price of each node, including those assumed absent.
#[must_use]
pub fn of_nodes_today(plan: &Plan) -> BTreeMap<NodeName, Price> {
    rates(plan).today
}

/// Returns the prices of nodes today and after the plan, each fleet with the commitments that it uses.
pub(super) fn rates(plan: &Plan) -> Rates {
    let world = &plan.evidence.world;
    if world.nodes.is_empty() && world.absent.is_empty() {
        return Rates::default();
    }
    let (snapshot, policy) = (plan.snapshot_without_pods(), plan.policy());
    let (market, book) = (Market::of(&snapshot, &policy), PriceBook::new(&policy.fleet.prices));
    let quoted = |nodes: Vec<&Node>| -> BTreeMap<NodeName, Price> {
        let (quotes, _) = quote_nodes(nodes.iter().copied(), &market, &book);
        let price = |quote: Option<Quote>| quote.map_or(Price::Unknown, |quote| quote.effective);
        nodes.into_iter().zip(quotes).map(|(node, quote)| (node.name.clone(), price(quote))).collect()
    };
    let gone: BTreeSet<&NodeName> = plan.spec.deletes().map(|(_, delete)| &delete.target.node).collect();
    let stays = |node: &Node| !node.is_deleting && !gone.contains(&node.name);
    // In the order of their names, in which they use commitments.
    let mut staying: Vec<&Node> = snapshot.nodes.iter().filter(|node| stays(node)).collect();
    staying.sort_by(|one, other| one.name.cmp(&other.name));
    let today = quoted(snapshot.nodes_today().collect());
    let staying = match book.commitments().is_empty() {
        // Without commitments each node's price is today's.
        true => staying.into_iter().filter_map(|node| today.get_key_value(&node.name)).map(of_both).collect(),
        false => quoted(staying),
    };
    Rates { today, staying }
}

fn of_both((node, price): (&NodeName, &Price)) -> (NodeName, Price) {
    (node.clone(), *price)
}

/// Returns the cost of the fleet after these changes, except those that are held.
pub(super) fn after(ground: Ground<'_>, proposal: &Proposal, held: &BTreeSet<ChangeId>) -> Cost {
    let Ground { snapshot, policy, .. } = ground;
    let (market, book) = (Market::of(snapshot, policy), PriceBook::new(&policy.fleet.prices));
    let gone: BTreeSet<&NodeName> = proposal
        .changes
        .iter()
        .filter(|(id, _)| !held.contains(id))
        .filter_map(|(_, planned)| planned.change.delete().map(|delete| &delete.target.node))
        .collect();
    let mut stay: Vec<&Node> =
        snapshot.nodes.iter().filter(|node| !node.is_deleting && !gone.contains(&node.name)).collect();
    stay.sort_by(|one, other| one.name.cmp(&other.name));
    let (mut quotes, mut left) = quote_nodes(stay, &market, &book);
    let mut types = Types::of(ground);
    for (id, placement) in &proposal.placements {
        if held.contains(id) {
            continue;
        }
        let change = proposal.changes.get(id).map(|planned| &planned.change);
        if let Some(Change::Create(create)) = change
            && let Some(claim) = proposal.claims.get(&create.spec)
            && let Some(pool) = policy.pools.get(&claim.pool)
        {
            let shelf = Shelf { offered: types.offered(pool), book: &book };
            if claim.primary.capacity_type == CapacityType::OnDemand {
                use_commitment(&mut left, shelf, (&claim.primary.size, placement));
            }
        }
        quotes.push(Some(Quote { list: placement.list_price, effective: placement.effective_price }));
    }
    sum(quotes, &left, &book)
}

/// Marks the commitment at whose price a new node was quoted as used.
fn use_commitment(left: &mut Uncommitted, shelf: Shelf<'_>, (size, placement): (&SkuName, &Placement)) {
    let Some(kind) = shelf.offered.get(size) else { return };
    let beside = shelf.book.beside_vm(kind);
    let quoted = |price| Price::Listed(price).plus(beside) == placement.effective_price;
    let commitments = shelf.book.commitments().iter().zip(&mut left.0);
    let mut paying = commitments
        .filter(|(commitment, left)| commitment.size == *size && **left > 0 && quoted(commitment.price));
    if let Some((_, left)) = paying.next() {
        *left -= 1;
    }
}
