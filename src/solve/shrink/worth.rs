//! Estimates the value of a node's pods: their cost if all removable nodes were repacked.
//!
//! Only guides which sets of nodes are tried; never a reason for a removal by itself.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{NodeName, Pod, PodKey, PodPlace, PodSpec, Resources};
use crate::snapshot::Snapshot;

use super::trial::Trial;

/// Fixed-point scale of shares, so that integers suffice.
const SCALE: i128 = 1 << 20;

/// Returns the hourly value of each node's pods, in millionths of a dollar. Each new node's price is divided among its
/// pods by their share of its capacity, and pods with the same spec have the same value; pods placed in free capacity
/// cost nothing.
pub(super) fn by_node(snapshot: &Snapshot, anew: &Trial) -> BTreeMap<NodeName, i128> {
    let contents = Contents::of(snapshot);
    let mut sums: Vec<(i128, i128)> = vec![(0, 0); contents.specs.len()];
    for node in &anew.new {
        let price = i128::from(node.effective_price.known().map_or(0, |price| (price + node.premium).0));
        let here: Vec<usize> = node.pods.iter().filter_map(|key| contents.of_pod(key)).collect();
        let requests = here.iter().map(|content| &contents.specs[*content].requests);
        let shares: Vec<i128> = requests.map(|requests| share(requests, &node.allocatable)).collect();
        let whole = shares.iter().sum::<i128>().max(1);
        for (content, share) in here.into_iter().zip(shares) {
            let sum = &mut sums[content];
            *sum = (sum.0 + price * SCALE * share / whole, sum.1 + 1);
        }
    }
    for content in anew.placed.values().flatten().filter_map(|key| contents.of_pod(key)) {
        sums[content].1 += 1;
    }
    let mut worth = BTreeMap::new();
    for (pod, content) in &contents.pods {
        if let PodPlace::Bound(node) = &pod.place
            && !pod.is_daemon
        {
            let (sum, count) = sums[*content];
            *worth.entry(node.clone()).or_default() += sum / count.max(1);
        }
    }
    worth.values_mut().for_each(|worth| *worth /= SCALE);
    worth
}

/// The pods of a snapshot, by name, each with the index of its spec.
struct Contents<'s> {
    pods: Vec<(&'s Pod, usize)>,
    specs: Vec<&'s PodSpec>,
}

impl<'s> Contents<'s> {
    fn of(snapshot: &'s Snapshot) -> Self {
        let mut specs: Vec<&PodSpec> = Vec::new();
        let mut numbers: BTreeMap<&PodSpec, usize> = BTreeMap::new();
        // Pods of a workload share one allocation, so few specs are compared in full.
        let mut by_address: BTreeMap<usize, usize> = BTreeMap::new();
        let number = |pod: &'s Pod| {
            let content = by_address.entry(Arc::as_ptr(&pod.spec).addr()).or_insert_with(|| {
                *numbers.entry(&pod.spec).or_insert_with(|| {
                    specs.push(&pod.spec);
                    specs.len() - 1
                })
            });
            (pod, *content)
        };
        let mut pods: Vec<(&Pod, usize)> = snapshot.pods.iter().map(number).collect();
        pods.sort_by(|(one, _), (other, _)| one.key.cmp(&other.key));
        Self { pods, specs }
    }

    fn of_pod(&self, key: &PodKey) -> Option<usize> {
        let place = self.pods.binary_search_by(|(pod, _)| pod.key.cmp(key)).ok()?;
        Some(self.pods[place].1)
    }
}

/// Returns the share of a node that a pod takes, summed over its requested resources.
fn share(asked: &Resources, room: &Resources) -> i128 {
    let parts = asked.iter().filter(|(name, _)| room.get(name) > 0);
    let parts = parts.map(|(name, amount)| i128::from(amount) * SCALE / i128::from(room.get(name)));
    parts.sum::<i128>().max(1)
}
