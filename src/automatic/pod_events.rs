//! Times of the last pod event of each node, from the difference of two readings: NodeClaim `status.lastPodEventTime`,
//! from which `consolidateAfter` is counted.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::model::{ClaimName, NodeName, PodKey, PodPlace};
use crate::snapshot::Snapshot;

/// Minimum interval between writes of one claim's time (Karpenter's own rule).
const AT_MOST: SignedDuration = SignedDuration::from_secs(10);

/// The pods of the last reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PodEvents {
    pods: Option<BTreeMap<ClaimName, BTreeSet<PodKey>>>,
    written: BTreeMap<ClaimName, Timestamp>,
}

impl PodEvents {
    /// Records a reading; returns the claims whose pods have changed and whose time must be written.
    pub fn note(&mut self, snapshot: &Snapshot, at: Timestamp) -> Vec<ClaimName> {
        let claims = snapshot.nodes.iter().filter_map(|node| Some((&node.name, node.claim.as_ref()?)));
        let claims: BTreeMap<&NodeName, &ClaimName> = claims.collect();
        let mut pods: BTreeMap<ClaimName, BTreeSet<PodKey>> =
            claims.values().map(|claim| ((*claim).clone(), BTreeSet::new())).collect();
        for pod in snapshot.pods.iter().filter(|pod| !pod.is_daemon) {
            let PodPlace::Bound(node) = &pod.place else { continue };
            if let Some(of_node) = claims.get(node).and_then(|claim| pods.get_mut(*claim)) {
                of_node.insert(pod.key.clone());
            }
        }
        self.changed(pods, at)
    }

    fn changed(&mut self, pods: BTreeMap<ClaimName, BTreeSet<PodKey>>, at: Timestamp) -> Vec<ClaimName> {
        self.written.retain(|claim, _| pods.contains_key(claim));
        let before = self.pods.take();
        let mut next = pods.clone();
        let mut changed = Vec::new();
        for (claim, pods) in pods {
            let Some(before) = before.as_ref().and_then(|before| before.get(&claim)) else { continue };
            if *before == pods {
                continue;
            }
            let is_early =
                self.written.get(&claim).is_some_and(|written| at.duration_since(*written) < AT_MOST);
            if is_early {
                // Written later, once the interval is over.
                next.insert(claim, before.clone());
            } else {
                self.written.insert(claim.clone(), at);
                changed.push(claim);
            }
        }
        self.pods = Some(next);
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reading(pods: &[&str]) -> BTreeMap<ClaimName, BTreeSet<PodKey>> {
        let keys = pods.iter().map(|name| PodKey::new("default", name)).collect();
        BTreeMap::from([(ClaimName::new("c"), keys)])
    }

    #[test]
    fn a_time_is_written_when_pods_differ_and_at_most_every_ten_seconds() {
        let mut events = PodEvents::default();
        let mut note = |pods: &[&str], seconds| {
            events.changed(reading(pods), Timestamp::from_second(seconds).unwrap()).len()
        };
        let found = [
            note(&["a"], 0),
            note(&["a"], 1),
            note(&["a", "b"], 2),
            note(&["a"], 5),
            note(&["a"], 12),
            note(&["a"], 13),
        ];
        assert_eq!(found, [0, 0, 1, 0, 1, 0], "the first reading tells nothing, a change is not forgotten");
    }
}
