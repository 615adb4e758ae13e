//! The cluster's network set-up: as the NodeFleet says, else AKS' default, and said so.

use crate::model::NetworkSetup;
use crate::policy::Policy;
use crate::snapshot::Assumption;

/// Returns the network set-up.
pub(super) fn network(policy: &Policy, assumptions: &mut Vec<Assumption>) -> NetworkSetup {
    policy.fleet.network.unwrap_or_else(|| {
        assumptions.push(Assumption {
            what: "Azure CNI overlay, at most 250 pods on a node".to_owned(),
            why: "AKS' default: `spec.cluster` of a NodeFleet".to_owned(),
        });
        NetworkSetup::AzureOverlay { is_cilium: false }
    })
}
