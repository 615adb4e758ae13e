//! Fleet that replaces nodes being deleted: one pass through the steps, and its cost.
//!
//! Never chooses anything beyond what each step chooses.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{LabelKey, MicroUsdPerHour, Node, NodeName, label};
use crate::snapshot::Snapshot;

use super::attempt::{self, Approach, Attempt, Ground};
use super::demand::Demand;
use super::existing::{self, Standing};
use super::fit::limits::{Counter, Ledger};
use super::headroom::{self, layout::Layout};
use super::market::Market;
use super::pack::Effort;
use super::pack::finish::{Finished, ZoneCounts};
use super::price::{self, PriceBook, Quote, Uncommitted};
use super::report::evicted_again::Places;
use super::report::nearest::World;
use super::report::{self, warnings};
use super::rival;
use super::shrink::Shrunk;
use super::shrink::trial::Scene;
use super::solution::{Cost, Kept, NewNode, Removal, Report, Solution, Target};

/// Plans the fleet that replaces nodes being deleted.
pub(super) fn without(scene: &Scene<'_>, snapshot: &Snapshot) -> Solution {
    approached(scene, snapshot, None).0
}

/// Plans the same with this approach only, or with the best one; returns the approach used.
pub(super) fn approached(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    approach: Option<Approach>,
) -> (Solution, Approach) {
    let (demand, nodes) = &read(scene, snapshot);
    let plain = scene.ground(snapshot, (demand, nodes), Effort::Plan);
    let ground = match approach {
        Some(approach) => Ground { approach, looks_further: false, ..plain },
        None => plain,
    };
    let attempt = rival::or(&ground, attempt::best(&ground));
    let approach = attempt.approach;
    (told(scene, &ground, attempt), approach)
}

/// Reads the pending pods and the existing nodes.
pub(super) fn read<'s>(scene: &Scene<'_>, snapshot: &'s Snapshot) -> (Demand, Vec<Standing<'s>>) {
    let Scene { topology, daemons, .. } = *scene;
    rayon::join(|| Demand::of(snapshot, topology), || existing::standing(snapshot, daemons, topology))
}

/// Plans the same for this demand and these nodes.
pub(super) fn of(
    scene: &Scene<'_>,
    snapshot: &Snapshot,
    (demand, nodes): (&Demand, &[Standing<'_>]),
) -> Solution {
    let ground = scene.ground(snapshot, (demand, nodes), Effort::Plan);
    let attempt = rival::or(&ground, attempt::best(&ground));
    told(scene, &ground, attempt)
}

/// Returns how many pods a fleet leaves unplaced, regardless of its cost.
pub(super) fn left_over(scene: &Scene<'_>, snapshot: &Snapshot) -> usize {
    let (demand, nodes) = &read(scene, snapshot);
    let ground = scene.ground(snapshot, (demand, nodes), Effort::Plan);
    let left = |attempt: &Attempt<'_>| attempt::unplaced(demand, attempt).values().sum::<usize>();
    let attempt = attempt::best(&ground);
    match left(&attempt) {
        0 => 0,
        _ => left(&rival::or(&ground, attempt)),
    }
}

/// Plans the same with pods placed as in a target of Karpenter's algorithm; `None` if rules refuse that.
pub(super) fn as_in(scene: &Scene<'_>, snapshot: &Snapshot, target: &Target) -> Option<Solution> {
    let (demand, nodes) = &read(scene, snapshot);
    let ground = scene.ground(snapshot, (demand, nodes), Effort::Plan);
    let attempt = rival::as_in(&ground, &attempt::best(&ground), target)?;
    Some(told(scene, &ground, attempt))
}

/// Returns the attempt as a solution with its report.
fn told(scene: &Scene<'_>, ground: &Ground<'_>, mut attempt: Attempt<'_>) -> Solution {
    let Scene { policy, market, book, supply, memo, .. } = *scene;
    let Ground { snapshot, demand, .. } = *ground;
    let layout = headroom::layout::lay(scene, (snapshot, ground.effort), &mut attempt);
    let Attempt { assigned, nodes, shrunk, costs, finished, .. } = attempt;
    let costs = costs.with_new(&finished.nodes, &finished.ledger, book);
    let ledger = &finished.ledger;
    let world = World { snapshot, demand: &assigned.demand, supply, nodes: &nodes, ledger };
    let demands = [demand, &scene.impossible.demand];
    let mut warnings = warnings::all(policy, (market, memo.known(market)), (&demands, supply));
    let pods = snapshot.pods.iter().chain(scene.impossible.among);
    warnings.extend(report::agent_labels::warnings((snapshot, pods), &demands, supply));
    warnings.extend(report::devices::warnings(snapshot, &demands, supply));
    warnings.extend(report::variety::warnings(policy, &finished.nodes));
    let places = Places { nodes: &nodes, new: &finished.nodes };
    warnings.extend(report::evicted_again::warnings(snapshot, policy, places));
    let of_pods = (&assigned.refused[..], &assigned.demand.barred[..]);
    let mut unplaced = report::nearest::unplaced(&world, &finished.unplaced, of_pods);
    let of_room = World { demand: scene.room, ..world };
    unplaced.extend(report::nearest::unplaced(&of_room, &layout.unplaced, (&[], &scene.room.barred)));
    unplaced.sort_by(|one, other| one.pods.cmp(&other.pods));
    let report = Report {
        unplaced,
        held: demand.held.clone(),
        passed_over: demand.passed_over.clone(),
        preferences: None,
        without_requests: demand.without_requests,
        warnings,
        staying: shrunk.staying,
        not_decided: Vec::new(),
        undecided: report::undecided::undecided(snapshot, policy),
        cost_before: costs.0,
        cost_after: costs.1,
        bound: None,
        headroom: None,
        slack: None,
        honoring: None,
    };
    let removed = shrunk.removed.into_iter().chain(shrunk.held).collect();
    Solution { target: target(&nodes, removed, (finished, layout)), report }
}

fn target(
    nodes: &[Standing<'_>],
    mut removed: Vec<Removal>,
    (finished, mut layout): (Finished, Layout),
) -> Target {
    removed.sort_by(|one, other| one.node.cmp(&other.node));
    let gone: BTreeSet<&NodeName> = removed.iter().map(|removal| &removal.node).collect();
    let stays = |standing: &&Standing<'_>| !standing.node.is_deleting && !gone.contains(&standing.node.name);
    let kept = nodes
        .iter()
        .filter(stays)
        .map(|Standing { node, placed, .. }| {
            let mut pods = placed.clone();
            pods.extend(layout.kept.remove(&node.name).into_iter().flatten());
            pods.sort();
            Kept { node: node.name.clone(), pods }
        })
        .collect();
    Target { kept, new: finished.nodes, removed }
}

/// Counts the nodes of each pool in each zone, without removed ones.
pub(super) fn zones(nodes: &[Standing<'_>], shrunk: &Shrunk) -> ZoneCounts {
    let gone: BTreeSet<&NodeName> = shrunk.removed.iter().map(|removal| &removal.node).collect();
    let mut zones: ZoneCounts = BTreeMap::new();
    for standing in nodes {
        let Node { name, pool, labels, is_deleting, .. } = standing.node;
        let zone = labels.get(&LabelKey::new(label::ZONE));
        if let (Some(pool), Some(zone)) = (pool, zone)
            && !is_deleting
            && !gone.contains(name)
        {
            *zones.entry((pool.clone(), (&**zone).into())).or_default() += 1;
        }
    }
    zones
}

/// Cost of the existing nodes: today, and of those that are kept.
pub(super) struct Costs {
    before: Cost,
    staying: Vec<Option<Quote>>,
    /// Commitments that kept nodes do not use.
    unused: Uncommitted,
    /// Those of them that new nodes may use: a removed node uses its commitment until it is gone, and a budget may keep
    /// it.
    pub(super) free: Uncommitted,
}

impl Costs {
    pub(super) fn of(snapshot: &Snapshot, shrunk: &Shrunk, market: &Market, book: &PriceBook<'_>) -> Self {
        let gone: BTreeSet<&NodeName> = shrunk.removed.iter().map(|removal| &removal.node).collect();
        let before = price::cost(snapshot.nodes_today(), market, book);
        let mut nodes: Vec<&Node> = snapshot.nodes.iter().filter(|node| !node.is_deleting).collect();
        nodes.sort_by(|one, other| one.name.cmp(&other.name));
        let (_, free) = price::quote_nodes(nodes.iter().copied(), market, book);
        let stays = nodes.into_iter().filter(|node| !gone.contains(&node.name));
        let (staying, unused) = price::quote_nodes(stays, market, book);
        Self { before, staying, unused, free }
    }

    /// Returns the cost of the kept nodes, as far as prices are known.
    pub(super) fn of_staying(&self) -> MicroUsdPerHour {
        self.staying.iter().flatten().filter_map(|quote| quote.effective.known()).sum()
    }

    /// Returns the total cost before and after, including new nodes; the ledger shows which commitments they left
    /// unused.
    pub(super) fn with_new(self, new: &[NewNode], ledger: &Ledger, book: &PriceBook<'_>) -> (Cost, Cost) {
        let mut unused = self.unused;
        for (_, counter, left) in ledger.iter() {
            if let Counter::Commitment(number) = counter {
                let left = u32::try_from(left).unwrap_or(0);
                unused.0[*number] -= self.free.0[*number].saturating_sub(left);
            }
        }
        let quote = |node: &NewNode| Some(Quote { list: node.list_price, effective: node.effective_price });
        let quotes = self.staying.into_iter().chain(new.iter().map(quote));
        (self.before, price::sum(quotes, &unused, book))
    }
}
