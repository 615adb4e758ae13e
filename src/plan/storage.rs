//! Storage in a plan: the claims of its pods and everything behind them.
//!
//! Nothing is decided here. Storage that no pod uses is omitted to keep the plan small.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::Pod;
use crate::model::storage::{AskedClass, PodVolume, Storage, Volume, VolumeClaim, VolumeClaimKey};

/// Returns whether there is no storage.
pub(super) fn is_empty(storage: &Storage) -> bool {
    *storage == Storage::default()
}

/// Returns the storage that pods use; empty if no pod has volumes.
pub(super) fn of_pods(storage: &Storage, pods: &[Pod]) -> Storage {
    let with_volumes = || pods.iter().filter(|pod| !pod.spec.volumes.is_empty());
    let keys: BTreeSet<VolumeClaimKey> = with_volumes()
        .flat_map(|pod| {
            let names = pod.spec.volumes.iter().filter_map(|volume| volume.claim_of(&pod.key.name));
            names.map(|name| VolumeClaimKey { namespace: pod.key.namespace.clone(), name })
        })
        .collect();
    if with_volumes().next().is_none() {
        return Storage::default();
    }
    let claims: Vec<VolumeClaim> =
        storage.claims.iter().filter(|claim| keys.contains(&claim.key)).cloned().collect();
    let named: BTreeSet<&Arc<str>> = claims.iter().filter_map(|claim| claim.volume.as_ref()).collect();
    let without = claims.iter().filter(|claim| claim.volume.is_none());
    let may_be_taken: BTreeSet<&Arc<str>> =
        without.flat_map(|claim| storage.available_for_claim(claim)).map(|volume| &volume.name).collect();
    let is_used = |volume: &&Volume| named.contains(&volume.name) || may_be_taken.contains(&volume.name);
    let volumes: Vec<Volume> = storage.volumes.iter().filter(is_used).cloned().collect();
    let of_claims = claims.iter().map(|claim| &claim.class);
    let own = with_volumes().flat_map(|pod| pod.spec.volumes.iter().filter_map(own_class));
    let asked: BTreeSet<&AskedClass> = of_claims.chain(own).collect();
    let of_volumes = volumes.iter().filter_map(|volume| volume.class.clone()).map(AskedClass::Named);
    let of_volumes: BTreeSet<AskedClass> = of_volumes.collect();
    let used: BTreeSet<&Arc<str>> = asked
        .into_iter()
        .chain(&of_volumes)
        .filter_map(|asked| storage.class(asked))
        .map(|class| &class.name)
        .collect();
    let classes = storage.classes.iter().filter(|class| used.contains(&class.name)).cloned().collect();
    // Volume limits and attachments matter on every node.
    let (drivers, attachments) = (storage.drivers.clone(), storage.attachments.clone());
    Storage { claims, volumes, classes, drivers, attachments }
}

fn own_class(volume: &PodVolume) -> Option<&AskedClass> {
    match volume {
        PodVolume::Ephemeral(own) | PodVolume::Template(own) => Some(&own.class),
        PodVolume::Claim(_) | PodVolume::Disk(_) => None,
    }
}
