//! Reports which claims restrict pods to zones, because the pods themselves do not show it.
//!
//! Never decides anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::PodKey;
use crate::snapshot::Snapshot;
use crate::solve::fit::claims::{self, ClaimState};
use crate::solve::fit::{Miss, Rule};

/// Extends a zone miss with the claims of these pods and the zones that they are bound in.
#[must_use]
pub fn told(snapshot: &Snapshot, pods: &[PodKey], miss: Miss) -> Miss {
    match miss.rule {
        Rule::Zone | Rule::Volumes => {
            let bound = bound(snapshot, pods);
            if bound.is_empty() {
                return miss;
            }
            Miss { because: format!("{}; so volumes ask: {}", miss.because, claims::said(&bound)), ..miss }
        }
        Rule::Taints
        | Rule::NodeAffinity
        | Rule::PoolRequirements
        | Rule::CapacityType
        | Rule::NamedFamily
        | Rule::HostPorts
        | Rule::Resource(_)
        | Rule::TopologySpread
        | Rule::PodAffinity
        | Rule::PodAntiAffinity
        | Rule::MinValues
        | Rule::Limits
        | Rule::Offerings => miss,
    }
}

/// Returns the claims of these pods that are bound to zonal volumes, grouped by these zones.
fn bound(snapshot: &Snapshot, pods: &[PodKey]) -> BTreeMap<ClaimState, Vec<Arc<str>>> {
    let mut bound: BTreeMap<ClaimState, Vec<Arc<str>>> = BTreeMap::new();
    let known = |key: &PodKey| snapshot.pods.binary_search_by(|pod| pod.key.cmp(key)).ok();
    for pod in pods.iter().filter_map(known).map(|place| &snapshot.pods[place]) {
        for (name, state) in claims::of(pod, &snapshot.storage) {
            if matches!(&state, ClaimState::Bound(zones) if !zones.is_empty()) {
                bound.entry(state).or_default().push(name);
            }
        }
    }
    for names in bound.values_mut() {
        names.sort();
        names.dedup();
    }
    bound
}
