//! Market: the instance types that each AKSNodeClass may use.
//!
//! Built from a catalogue, or by hand from a list of instance types. Never decides what to buy.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::Offered;
use crate::model::{
    CapacityType, ClassName, InstanceType, LabelKey, NetworkSetup, Node, Pool, Price, Quota, SkuName, label,
};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::caution::Caution;
use super::fit::slots::SizeSlots;
use super::ledger::Limiting;
use super::overlay::Overlaid;
use super::{demand, learnt, price};

/// AKS network setup that is assumed if the fleet does not name one.
const NETWORK_DEFAULT: NetworkSetup = NetworkSetup::AzureOverlay { is_cilium: false };

/// Instance types that AKSNodeClasses and pools are offered, prices of the nodes in the cluster, and the labels of
/// which a new node may get any value. Comparison follows the order of the fields: short ones that are likely to differ
/// come first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Market {
    /// Premiums on prices when new nodes are chosen.
    pub caution: Caution,
    /// Quotas of the subscription.
    pub quota: Option<Arc<Quota>>,
    /// VM prices of the sizes that nodes have today, whether offered to a class or not.
    pub today: BTreeMap<(SkuName, CapacityType), Price>,
    /// Assumed OS disk prices of those sizes, for nodes of an unknown class.
    pub disks: BTreeMap<SkuName, Price>,
    /// Number of volumes that nodes of each size can attach.
    pub slots: SizeSlots,
    /// Labels that pods, DaemonSets or pools mention.
    pub spoken_of: BTreeSet<LabelKey>,
    /// Those of them that a pod may require without its pool naming them.
    pub well_known: BTreeSet<LabelKey>,
    /// Instance types that classes and pools are offered.
    pub offers: Offers,
}

/// Instance types that classes and pools are offered, regardless of pods.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offers {
    /// Instance types that each class may use, and those that it may not.
    pub by_class: BTreeMap<ClassName, Arc<Offered>>,
    /// The same after the changes of NodeOverlays.
    pub overlaid: Overlaid,
}

/// Returns the AKS labels that every node carries regardless of its pool, such as Cilium's.
fn carried(offered: &BTreeMap<ClassName, Arc<Offered>>) -> BTreeSet<LabelKey> {
    let mut first = offered.values().filter_map(|offered| offered.types.first());
    let named = |kind: &InstanceType| {
        let keys = kind.requirements.iter().map(|(key, _)| key);
        keys.filter(|key| label::ADMITTED_AZURE.contains(&key.as_str())).cloned().collect()
    };
    first.next().map(named).unwrap_or_default()
}

impl Market {
    /// Queries the snapshot's catalogue for every class that a pool or a node uses, and for every size that a node has.
    #[must_use]
    pub fn of(snapshot: &Snapshot, policy: &Policy) -> Self {
        let offers = Offers::of(snapshot, policy);
        let catalog = &snapshot.catalog;
        let caution = Caution::of(snapshot, policy, &offers.by_class);
        let bought = snapshot.nodes_today().filter_map(price::bought_as).collect::<BTreeSet<_>>();
        let disks = bought.iter().map(|(size, _)| (size.clone(), catalog.assumed_os_disk(size))).collect();
        let today = bought.into_iter().map(|(size, capacity_type)| {
            let price = catalog.price(&size, capacity_type);
            ((size, capacity_type), price)
        });
        let mut keys = demand::keys_asked_for(snapshot);
        for pool in policy.pools.values() {
            keys.extend(pool.node_requirements().iter().map(|(key, _)| key.clone()));
        }
        let carried = carried(&offers.by_class);
        let may_be_asked = |key: &&LabelKey| catalog.is_well_known(key) || carried.contains(*key);
        let well_known = keys.iter().filter(may_be_asked).cloned().collect();
        Self {
            caution,
            quota: snapshot.quota.clone(),
            today: today.collect(),
            disks,
            slots: SizeSlots::of(snapshot),
            spoken_of: keys,
            well_known,
            offers,
        }
    }

    /// Returns the sources of limits: this policy, and the quotas.
    #[must_use]
    pub const fn limiting<'l>(&'l self, policy: &'l Policy) -> Limiting<'l> {
        Limiting { policy, quota: self.quota.as_ref() }
    }

    /// Returns the instance types that a pool is offered; `None` if its class is not in the input.
    #[must_use]
    pub fn offered_to(&self, pool: &Pool) -> Option<&Offered> {
        self.offers.to(pool)
    }

    /// Returns the instance type of this size, as offered to the node's own pool and class.
    #[must_use]
    pub fn find_own(&self, size: &SkuName, node: &Node) -> Option<&InstanceType> {
        self.own(node)?.types.iter().find(|kind| kind.name == *size)
    }

    /// Returns the instance type of this name, as offered to the node's own pool and class, else to the first class by
    /// name that has it.
    #[must_use]
    pub fn find(&self, size: &SkuName, node: &Node) -> Option<&InstanceType> {
        let own = self.own(node).into_iter();
        let mut all =
            own.chain(self.offers.by_class.values().map(Arc::as_ref)).flat_map(|offered| &offered.types);
        all.find(|kind| kind.name == *size)
    }

    fn own(&self, node: &Node) -> Option<&Offered> {
        let class = node.class.as_ref()?;
        let pool = node.pool.as_ref().map(|pool| (pool.clone(), class.clone()));
        let Offers { by_class, overlaid } = &self.offers;
        pool.and_then(|pool| overlaid.by_pool.get(&pool)).or_else(|| by_class.get(class).map(Arc::as_ref))
    }
}

impl Offers {
    /// Queries the snapshot's catalogue for every class that a pool or a node uses.
    #[must_use]
    pub fn of(snapshot: &Snapshot, policy: &Policy) -> Self {
        let network = policy.fleet.network.unwrap_or(NETWORK_DEFAULT);
        let catalog = &snapshot.catalog;
        let of_pools = policy.pools.values().map(|pool| &pool.class);
        let of_nodes = snapshot.nodes_today().filter_map(|node| node.class.as_ref());
        let used: BTreeSet<&ClassName> = of_pools.chain(of_nodes).collect();
        let classes = policy.classes.iter().filter(|(name, _)| used.contains(name));
        let mut by_class: BTreeMap<ClassName, Arc<Offered>> =
            classes.map(|(name, class)| (name.clone(), catalog.offered(class, network))).collect();
        learnt::ephemeral_storage(&mut by_class, snapshot.nodes_today());
        let overlaid = Overlaid::of(policy, &by_class);
        Self { by_class, overlaid }
    }

    /// Returns the instance types that a pool is offered; `None` if its class is not in the input.
    #[must_use]
    pub fn to(&self, pool: &Pool) -> Option<&Offered> {
        let own = (pool.name.clone(), pool.class.clone());
        self.overlaid.by_pool.get(&own).or_else(|| self.by_class.get(&pool.class).map(Arc::as_ref))
    }
}
