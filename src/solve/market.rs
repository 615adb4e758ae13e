//! What can be bought, as the solver reads it: the instance types of each AKSNodeClass.
//!
//! Made from a catalogue, or by hand from a list of instance types. It never says what should be bought.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::Offered;
use crate::model::{ClassName, InstanceType, LabelKey, NetworkSetup, SkuName};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::demand;

/// The network set-up of AKS that is planned with where the fleet does not name one.
const NETWORK_DEFAULT: NetworkSetup = NetworkSetup::AzureOverlay { is_cilium: false };

/// The instance types of each AKSNodeClass, and the labels that a new node may get any value of.
#[derive(Clone, Debug, Default)]
pub struct Market {
    /// What each class may use, and what it may not.
    pub offered: BTreeMap<ClassName, Offered>,
    /// Those labels, of which pods or pools speak, that a pod may ask for without its pool naming them.
    pub well_known: BTreeSet<LabelKey>,
}

impl Market {
    /// Asks the snapshot's catalogue for every class that a pool uses.
    #[must_use]
    pub fn of(snapshot: &Snapshot, policy: &Policy) -> Self {
        let network = policy.fleet.network.unwrap_or(NETWORK_DEFAULT);
        let used: BTreeSet<&ClassName> = policy.pools.values().map(|pool| &pool.class).collect();
        let classes = policy.classes.iter().filter(|(name, _)| used.contains(name));
        let offered =
            classes.map(|(name, class)| (name.clone(), snapshot.catalog.offered(class, network))).collect();
        let mut keys = demand::keys_asked_for(snapshot);
        for pool in policy.pools.values() {
            keys.extend(pool.requirements.iter().map(|(key, _)| key.clone()));
        }
        let well_known = keys.into_iter().filter(|key| snapshot.catalog.is_well_known(key)).collect();
        Self { offered, well_known }
    }

    /// Returns the instance type of this name, of the class where one is given and has it, else of the
    /// first class by name that does: prices are the same in all of them.
    #[must_use]
    pub fn find(&self, size: &SkuName, class: Option<&ClassName>) -> Option<&InstanceType> {
        let of = |offered: &'_ Offered| -> Option<usize> {
            offered.types.iter().position(|kind| kind.name == *size)
        };
        let own = class.and_then(|class| self.offered.get(class));
        own.into_iter()
            .chain(self.offered.values())
            .find_map(|offered| of(offered).map(|place| &offered.types[place]))
    }
}
