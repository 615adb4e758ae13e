//! What can be bought, as the solver reads it: the instance types of each AKSNodeClass.
//!
//! Made from a catalogue, or by hand from a list of instance types. It never says what should be bought.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Offered;
use crate::model::{CapacityType, ClassName, InstanceType, LabelKey, NetworkSetup, Price, SkuName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::{demand, price};

/// The network set-up of AKS that is planned with where the fleet does not name one.
const NETWORK_DEFAULT: NetworkSetup = NetworkSetup::AzureOverlay { is_cilium: false };

/// The instance types of each AKSNodeClass, what else stands in the cluster, and the labels that a new node
/// may get any value of.
#[derive(Clone, Debug, Default)]
pub struct Market {
    /// What each class may use, and what it may not.
    pub offered: BTreeMap<ClassName, Offered>,
    /// What VMs of the sizes cost that nodes have today, offered to anybody or not.
    pub today: BTreeMap<(SkuName, CapacityType), Price>,
    /// What the OS disks of those sizes are taken to cost where a node's class is not known.
    pub disks: BTreeMap<SkuName, Price>,
    /// The labels that pods, daemonsets or pools speak of.
    pub spoken_of: BTreeSet<LabelKey>,
    /// Those of them that a pod may ask for without its pool naming them.
    pub well_known: BTreeSet<LabelKey>,
}

impl Market {
    /// Asks the snapshot's catalogue for every class that a pool or a node uses, and for every size that a node has.
    #[must_use]
    pub fn of(snapshot: &Snapshot, policy: &Policy) -> Self {
        let network = policy.fleet.network.unwrap_or(NETWORK_DEFAULT);
        let catalog = &snapshot.catalog;
        let of_pools = policy.pools.values().map(|pool| &pool.class);
        let of_nodes = snapshot.nodes_today().filter_map(|node| node.class.as_ref());
        let used: BTreeSet<&ClassName> = of_pools.chain(of_nodes).collect();
        let classes = policy.classes.iter().filter(|(name, _)| used.contains(name));
        let offered = classes.map(|(name, class)| (name.clone(), catalog.offered(class, network))).collect();
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
        let well_known = keys.iter().filter(|key| catalog.is_well_known(key)).cloned().collect();
        Self { offered, today: today.collect(), disks, spoken_of: keys, well_known }
    }

    /// Returns the instance type of this name that the class is offered.
    #[must_use]
    pub fn find_own(&self, size: &SkuName, class: &ClassName) -> Option<&InstanceType> {
        self.offered.get(class)?.types.iter().find(|kind| kind.name == *size)
    }

    /// Returns the instance type of this name, of the class where one is given and has it, else of the
    /// first class by name that does.
    #[must_use]
    pub fn find(&self, size: &SkuName, class: Option<&ClassName>) -> Option<&InstanceType> {
        let own = class.and_then(|class| self.offered.get(class));
        let mut all = own.into_iter().chain(self.offered.values()).flat_map(|offered| &offered.types);
        all.find(|kind| kind.name == *size)
    }
}
