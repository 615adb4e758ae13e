//! Joins the fleet for running pods and the pods placed into it afterwards into one change to the current world.
//!
//! New nodes for running pods get pending pods as well; only substitutes that hold all of them are kept. If something
//! does not hold for the whole, there is no result: nothing is repaired.

use std::collections::{BTreeMap, BTreeSet};

use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

use crate::model::{MicroUsdPerHour, NodeName, PodKey};
use crate::snapshot::Snapshot;
use crate::solve::came_off;
use crate::solve::demand::Demand;
use crate::solve::ledger;
use crate::solve::price;
use crate::solve::shrink::fuller;
use crate::solve::shrink::imagined;
use crate::solve::shrink::trial::Scene;
use crate::solve::solution::{Kept, NewNode, Removal, Report, Solution, Target};

use super::busy;

/// Maximum cost of new nodes for pending pods, as one of this many parts of the cost of removed nodes: above that, some
/// of those might have been kept for the pods.
const BOUGHT_MAX: i64 = 8;

/// Returns both as one solution; `demand` is the demand of the second, `before` the world with only the running pods.
/// `None` if all must be planned together.
pub(super) fn joined(
    scene: &Scene<'_>,
    demand: &Demand,
    (before, first): (&Snapshot, &Solution),
    mut second: Solution,
) -> Option<Solution> {
    let names: BTreeMap<NodeName, usize> =
        (0..first.target.new.len()).map(|number| (imagined::name(number), number)).collect();
    if second.target.removed.iter().any(|removal| names.contains_key(&removal.node)) {
        return None;
    }
    let (made, there): (Vec<Kept>, Vec<Kept>) =
        std::mem::take(&mut second.target.kept).into_iter().partition(|kept| names.contains_key(&kept.node));
    let mut more: Vec<&[PodKey]> = vec![&[]; first.target.new.len()];
    for kept in &made {
        more[names[&kept.node]] = &kept.pods;
    }
    let (new, suits) = rayon::join(
        || fuller(scene, demand, (&first.target.new, &more)),
        || suits(scene, (before, first), &second),
    );
    let mut new = new.filter(|_| suits)?;
    new.extend(second.target.new);
    let mut removed: Vec<Removal> = busy(&first.target).cloned().collect();
    removed.extend(second.target.removed);
    removed.sort_by(|one, other| one.node.cmp(&other.node));
    let kept = kept(&first.target.kept, there);
    let is_made = |node: &NodeName| names.contains_key(node);
    let report = report(&first.report, second.report, is_made);
    Some(Solution { target: Target { kept, new, removed }, report })
}

/// Returns whether pending pods may be planned after the running ones: no removed node might have been kept for them,
/// and none of them is unplaced because of it.
fn suits(scene: &Scene<'_>, (before, first): (&Snapshot, &Solution), second: &Solution) -> bool {
    let Report { unplaced, held, .. } = &first.report;
    if !unplaced.is_empty() || !held.is_empty() {
        return false;
    }
    if ledger::has_limits(scene.market.limiting(scene.policy))
        && (second.report.left_over() > 0 || scene.supply.tiers() > 1)
    {
        return false;
    }
    let gone: BTreeSet<&NodeName> = busy(&first.target).map(|removal| &removal.node).collect();
    let nodes = before.nodes.iter().filter(|node| gone.contains(&node.name));
    let saved = price::cost(nodes, scene.market, scene.book).effective;
    let bought: Option<MicroUsdPerHour> =
        second.target.new.iter().map(|node| node.effective_price.known()).sum();
    gone.is_empty() || bought.is_some_and(|bought| bought.0.saturating_mul(BOUGHT_MAX) <= saved.0)
}

/// Returns the kept nodes with the pods of both.
fn kept(first: &[Kept], mut second: Vec<Kept>) -> Vec<Kept> {
    let before: BTreeMap<&NodeName, &Vec<PodKey>> =
        first.iter().map(|kept| (&kept.node, &kept.pods)).collect();
    for kept in &mut second {
        let pods = before.get(&kept.node).filter(|pods| !pods.is_empty());
        if let Some(pods) = pods {
            kept.pods.extend(pods.iter().cloned());
            kept.pods.sort();
        }
    }
    second
}

fn report(first: &Report, mut second: Report, is_made: impl Fn(&NodeName) -> bool) -> Report {
    second.staying.retain(|(node, _)| !is_made(node));
    second.cost_before = first.cost_before;
    second.undecided = first.undecided.clone();
    second.without_requests += first.without_requests;
    for (rule, pods) in &first.passed_over {
        *second.passed_over.entry(*rule).or_default() += pods;
    }
    second.warnings.extend(first.warnings.iter().cloned());
    second.warnings.sort();
    second.warnings.dedup();
    second
}

/// Returns new nodes with additional pods; `None` if one does not hold them with its size.
fn fuller(
    scene: &Scene<'_>,
    demand: &Demand,
    (new, more): (&[NewNode], &[&[PodKey]]),
) -> Option<Vec<NewNode>> {
    let numbers = came_off::all_numbers(demand);
    let with_more = |(node, pods): (&NewNode, &&[PodKey])| {
        let mut node = node.clone();
        if pods.is_empty() {
            return Some(node);
        }
        let coming = came_off::counted(demand, &numbers, pods);
        if !fuller::holds(scene, &node, &node.size, &coming) {
            return None;
        }
        fuller::add(scene, &mut node, &coming);
        node.pods.extend(pods.iter().cloned());
        node.pods.sort();
        let has_choice = node.variety.among.iter().all(|other| node.substitutes.contains(other));
        has_choice.then_some(node)
    };
    new.par_iter().zip(more).map(with_more).collect()
}
