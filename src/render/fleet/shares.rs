//! Current requests of pods by node.

use std::collections::BTreeMap;

use super::row::{PodRow, Use};
use crate::model::{Node, NodeName, Pod, PodPlace, ResourceName, Resources};
use crate::snapshot::Snapshot;

/// Returns the pods of each node, in the snapshot's order.
pub(super) fn by_node(snapshot: &Snapshot) -> BTreeMap<&NodeName, Vec<&Pod>> {
    let mut by_node: BTreeMap<&NodeName, Vec<&Pod>> = BTreeMap::new();
    for pod in &snapshot.pods {
        if let PodPlace::Bound(node) = &pod.place {
            by_node.entry(node).or_default().push(pod);
        }
    }
    by_node
}

/// Returns the pods as rows, the largest first.
pub(super) fn pod_rows(pods: &[&Pod], at: Option<jiff::Timestamp>) -> Vec<PodRow> {
    let mut rows: Vec<PodRow> = pods
        .iter()
        .map(|pod| PodRow {
            key: pod.key.to_string(),
            cpu: pod.spec.requests.get(&ResourceName::Cpu),
            memory: pod.spec.requests.get(&ResourceName::Memory),
            is_daemon: pod.is_daemon,
            is_protected: pod.is_protected(at),
        })
        .collect();
    rows.sort_by(|one, other| (other.cpu, other.memory, &one.key).cmp(&(one.cpu, one.memory, &other.key)));
    rows
}

/// Returns the requests on a node; unknown if pods could not be read.
pub(super) fn uses(node: &Node, pods: Option<&[&Pod]>) -> [Use; 3] {
    let requested =
        pods.map(|pods| pods.iter().fold(Resources::none(), |sum, pod| sum.plus(&pod.spec.requests)));
    [ResourceName::Cpu, ResourceName::Memory, ResourceName::Pods].map(|name| {
        let of = node.allocatable.get(&name);
        let requested = match (&name, pods) {
            // A pod counts as one, whatever it requests.
            (ResourceName::Pods, Some(pods)) => i64::try_from(pods.len()).ok(),
            _ => requested.as_ref().map(|sum| sum.get(&name)),
        };
        Use { requested, of: (of > 0).then_some(of) }
    })
}
