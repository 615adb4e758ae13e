//! What the pods of a node are worth: what they would cost if everything that may go were packed anew.
//!
//! A guess by which sets of nodes are tried, never a reason for a removal by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{NodeName, Pod, PodKey, PodPlace, PodSpec, Resources};
use crate::snapshot::Snapshot;

use super::trial::Trial;

/// Parts into which shares are divided, so that integers suffice.
const SCALE: i128 = 1 << 20;

/// Returns what the pods of each node are worth by the hour, in millionths of a dollar: each new node's price is
/// shared out among its pods by what they take of it, and pods of one content are worth the same; what found a free
/// place costs nothing.
pub(super) fn by_node(snapshot: &Snapshot, anew: &Trial) -> BTreeMap<NodeName, i128> {
    let pods: BTreeMap<&PodKey, &Pod> = snapshot.pods.iter().map(|pod| (&pod.key, pod)).collect();
    let mut sums: BTreeMap<&Arc<PodSpec>, (i128, i128)> = BTreeMap::new();
    for node in &anew.new {
        let price = i128::from(node.effective_price.known().map_or(0, |price| price.0));
        let here: Vec<&Pod> = node.pods.iter().filter_map(|key| pods.get(key).copied()).collect();
        let shares: Vec<i128> = here.iter().map(|pod| share(&pod.spec.requests, &node.allocatable)).collect();
        let whole = shares.iter().sum::<i128>().max(1);
        for (pod, share) in here.iter().zip(shares) {
            let sum = sums.entry(&pod.spec).or_default();
            *sum = (sum.0 + price * SCALE * share / whole, sum.1 + 1);
        }
    }
    for pod in anew.placed.values().flatten().filter_map(|key| pods.get(key)) {
        sums.entry(&pod.spec).or_default().1 += 1;
    }
    let mut worth = BTreeMap::new();
    for pod in snapshot.pods.iter().filter(|pod| !pod.is_daemon) {
        if let PodPlace::Bound(node) = &pod.place {
            let (sum, count) = sums.get(&pod.spec).copied().unwrap_or_default();
            *worth.entry(node.clone()).or_default() += sum / count.max(1);
        }
    }
    worth.values_mut().for_each(|worth| *worth /= SCALE);
    worth
}

/// Returns how much of a node a pod takes, summed over what it asks for.
fn share(asked: &Resources, room: &Resources) -> i128 {
    let parts = asked.iter().filter(|(name, _)| room.get(name) > 0);
    let parts = parts.map(|(name, amount)| i128::from(amount) * SCALE / i128::from(room.get(name)));
    parts.sum::<i128>().max(1)
}
