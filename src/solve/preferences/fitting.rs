//! Finds preferences that no existing or possible node can meet, so they are given up without an attempt.
//!
//! Checks only labels, taints and sizes; planning finds out what fits together.

use std::collections::BTreeSet;

use crate::model::{Form, Node, PodSpec, Preference, Requirements};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::daemons::Daemons;
use crate::solve::demand;
use crate::solve::fit::{Undefined, labels, taints};
use crate::solve::market::Market;
use crate::solve::price::PriceBook;
use crate::solve::supply::{PoolSupply, Supply};
use crate::solve::topology::Topology;

use super::choice::Item;
use super::wishes::Wishes;

/// Returns those of the preferences that no node can meet.
pub(super) fn vain(
    (snapshot, policy): (&Snapshot, &Policy),
    wishes: &Wishes<'_>,
    items: &[Item],
) -> BTreeSet<Item> {
    let of_nodes =
        |item: &&Item| matches!(item.preference, Preference::NodeAffinity(_) | Preference::SoftTaints);
    let asked: Vec<&Item> = items.iter().filter(of_nodes).collect();
    if asked.is_empty() {
        return BTreeSet::new();
    }
    let (market, book) = (Market::of(snapshot, policy), PriceBook::new(&policy.fleet.prices));
    let topology = Topology::of(snapshot);
    let daemons = Daemons::of(snapshot, &topology);
    let supply = Supply::of(policy, &market, &book, &daemons);
    let is_vain = |item: &&&Item| {
        let content = &wishes.contents[item.content];
        let firm = content.firm(&[(item.preference, Form::Whole)]);
        !is_to_be_had(&firm.spec, snapshot, &supply)
    };
    asked.iter().filter(is_vain).map(|item| **item).collect()
}

fn is_to_be_had(spec: &PodSpec, snapshot: &Snapshot, supply: &Supply<'_>) -> bool {
    let alternatives = demand::alternatives(spec);
    let stance = spec.stance();
    let there = |node: &Node| {
        let labels = node.labels.iter().map(|(key, value)| (key.as_str(), &**value));
        let labels = Requirements::of_labels(labels);
        !node.is_deleting
            && taints::why(&node.taints, &stance).is_ok()
            && labels::why(&alternatives, &labels, &Undefined::Absent).is_ok()
    };
    let may_be = |pool: &PoolSupply<'_>| {
        taints::why(&pool.pool.taints, &stance).is_ok()
            && alternatives.iter().any(|term| reaches(pool, term, spec))
    };
    snapshot.nodes.iter().any(there) || supply.pools.iter().any(may_be)
}

/// Returns whether a pool has a size that fits the pod and can satisfy a term.
fn reaches(pool: &PoolSupply<'_>, term: &Requirements, spec: &PodSpec) -> bool {
    let Some(reach) = pool.reach(term).filter(|reach| !reach.placements.is_empty()) else { return false };
    reach.kinds.iter().any(|kind| spec.requests.fit_in(&pool.kinds[kind].kind.allocatable))
}
