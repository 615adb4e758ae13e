//! Inputs of all methods: the snapshot, the offerings of pools, and the running pods of each node.
//!
//! Never decides anything.

use std::collections::BTreeMap;

use crate::model::{InstanceType, Node, NodeName, Pod, PodPlace, Pool};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::karpenter::guard::Guards;
use crate::solve::karpenter::shelf::Shelf;
use crate::solve::karpenter::store::Store;
use crate::solve::karpenter::{Refused, ReservedMode, Settings};

/// Inputs of all methods.
pub(super) struct Scene<'a, 'm> {
    pub(super) snapshot: &'a Snapshot,
    pub(super) policy: &'m Policy,
    pub(super) store: &'a Store<'m>,
    pub(super) settings: Settings,
    pub(super) refused: &'a Refused,
    pub(super) guards: Guards<'a>,
    running: BTreeMap<&'a NodeName, Vec<&'a Pod>>,
}

impl<'a, 'm> Scene<'a, 'm> {
    pub(super) fn of(
        (snapshot, store): (&'a Snapshot, &'a Store<'m>),
        settings: Settings,
        refused: &'a Refused,
    ) -> Self {
        // If other claims hold reserved capacity, disruption does without it.
        let settings = Settings { reserved: ReservedMode::Fallback, ..settings };
        let mut running: BTreeMap<&NodeName, Vec<&Pod>> = BTreeMap::new();
        for pod in &snapshot.pods {
            if let PodPlace::Bound(node) = &pod.place {
                running.entry(node).or_default().push(pod);
            }
        }
        Self {
            snapshot,
            policy: store.policy,
            store,
            settings,
            refused,
            guards: Guards::of(snapshot),
            running,
        }
    }

    /// Returns the sizes that a pool may buy; `None` if its class is unknown.
    pub(super) fn shelf(&self, pool: &Pool) -> Option<&'a Shelf<'m>> {
        self.store.shelves.of_pool(pool).map(|number| &self.store.shelves.all[number])
    }

    /// Returns a size that a pool may buy, by its name.
    pub(super) fn kind(&self, pool: &Pool, size: &str) -> Option<&'m InstanceType> {
        let shelf = self.shelf(pool)?;
        shelf.place(size).map(|place| shelf.kinds[place])
    }

    /// Returns the pool that a node names.
    pub(super) fn pool(&self, node: &Node) -> Option<&'m Pool> {
        self.policy.pools.get(node.pool.as_ref()?)
    }

    /// Returns the pods that run on a node.
    pub(super) fn running(&self, node: &Node) -> &[&'a Pod] {
        self.running.get(&node.name).map_or(&[], Vec::as_slice)
    }
}
