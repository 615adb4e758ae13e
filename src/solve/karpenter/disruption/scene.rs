//! What all methods look things up in: the world, what pools may buy, and what runs on each node.
//!
//! Nothing is decided here.

use std::collections::BTreeMap;

use crate::model::{InstanceType, Node, NodeName, Pod, PodPlace, Pool};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::karpenter::guard::Guards;
use crate::solve::karpenter::meeting::Meetings;
use crate::solve::karpenter::shelf::Shelf;
use crate::solve::karpenter::template::Shelves;
use crate::solve::karpenter::{Refused, ReservedMode, Settings};
use crate::solve::market::Market;

/// What all methods look things up in.
pub(super) struct Scene<'a> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) policy: &'a Policy,
    pub(super) market: &'a Market,
    pub(super) settings: Settings,
    pub(super) refused: &'a Refused,
    pub(super) meetings: Meetings<'a>,
    pub(super) guards: Guards<'a>,
    shelves: Shelves<'a>,
    running: BTreeMap<&'a NodeName, Vec<&'a Pod>>,
}

impl<'a> Scene<'a> {
    pub(super) fn of(
        (snapshot, policy, market): (&'a Snapshot, &'a Policy, &'a Market),
        settings: Settings,
        refused: &'a Refused,
    ) -> Self {
        // Where reserved capacity is held by others, disruption does without.
        let settings = Settings { reserved: ReservedMode::Fallback, ..settings };
        let mut running: BTreeMap<&NodeName, Vec<&Pod>> = BTreeMap::new();
        for pod in &snapshot.pods {
            if let PodPlace::Bound(node) = &pod.place {
                running.entry(node).or_default().push(pod);
            }
        }
        Self {
            snapshot,
            policy,
            market,
            settings,
            refused,
            meetings: Meetings::new(&snapshot.catalog),
            guards: Guards::of(snapshot),
            shelves: Shelves::of(market, settings.overlays),
            running,
        }
    }

    /// Returns what a pool may buy; `None` where its class is not known.
    pub(super) fn shelf(&self, pool: &Pool) -> Option<&Shelf<'a>> {
        self.shelves.of_pool(pool).map(|number| &self.shelves.all[number])
    }

    /// Returns a size that a pool may buy, by its name.
    pub(super) fn kind(&self, pool: &Pool, size: &str) -> Option<&'a InstanceType> {
        self.shelf(pool)?.kinds.iter().find(|kind| kind.name.as_str() == size).copied()
    }

    /// Returns the pool that a node says it is of.
    pub(super) fn pool(&self, node: &Node) -> Option<&'a Pool> {
        self.policy.pools.get(node.pool.as_ref()?)
    }

    /// Returns the pods that run on a node.
    pub(super) fn running(&self, node: &Node) -> &[&'a Pod] {
        self.running.get(&node.name).map_or(&[], Vec::as_slice)
    }
}
