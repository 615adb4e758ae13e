//! A scheduler like Kubernetes': pods one after the other, each to the node that is emptiest with it (LeastAllocated).
//!
//! Of what the real one adds up beside that (balance, images, preferences), nothing is here: those only choose
//! among nodes that take a pod.

use std::cmp::Reverse;

use nodeform::model::{NodeName, Pod, ResourceName, Resources};

use super::rules::{Cluster, Place};

/// The order in which pods are tried.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Order {
    /// By priority, and then as they came, which is by name here.
    Queue,
    /// From the last to the first.
    Reversed,
    /// By cores, then by memory.
    LargestFirst,
}

/// All of them.
pub(crate) const ORDERS: [Order; 3] = [Order::Queue, Order::Reversed, Order::LargestFirst];

/// Whether the scheduler is told the node of each pod (`status.nominatedNodeName`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Guidance {
    /// It is.
    Nominated,
    /// It is not.
    Alone,
}

/// Puts pods into the order in which they are tried.
pub(crate) fn sort(pods: &mut [(&Pod, &NodeName)], order: Order) {
    let queued = |pod: &Pod| (Reverse(pod.spec.priority), pod.key.clone());
    pods.sort_by_key(|(pod, _)| queued(pod));
    match order {
        Order::Queue => {}
        Order::Reversed => pods.reverse(),
        Order::LargestFirst => pods.sort_by_key(|(pod, _)| {
            Reverse([ResourceName::Cpu, ResourceName::Memory].map(|name| pod.spec.requests.get(&name)))
        }),
    }
}

/// Binds pods until none can be bound any more, and returns those that are left, each with its planned node.
pub(crate) fn stranded<'a>(
    cluster: &mut Cluster<'a>,
    mut queue: Vec<(&'a Pod, &'a NodeName)>,
    guidance: Guidance,
) -> Vec<(&'a Pod, &'a NodeName)> {
    loop {
        let before = queue.len();
        let mut left = Vec::new();
        for index in 0..queue.len() {
            let (pod, node) = queue[index];
            // Who is still to come, and is not less important, has its room kept.
            let waiting = left.iter().chain(&queue[index + 1..]).copied();
            let kept: Vec<_> =
                waiting.filter(|(other, _)| other.spec.priority >= pod.spec.priority).collect();
            let place = match guidance {
                Guidance::Alone => best(cluster, pod, None),
                Guidance::Nominated => with_room_kept(cluster, (pod, node), &kept),
            };
            match place {
                Some(place) => cluster.bind(pod, &place),
                None => left.push((pod, node)),
            }
        }
        if left.is_empty() || left.len() == before {
            return left;
        }
        queue = left;
    }
}

/// The nominated node where it takes the pod, else the best; each with and without those that are nominated there.
fn with_room_kept<'a>(
    cluster: &mut Cluster<'a>,
    (pod, node): (&'a Pod, &NodeName),
    kept: &[(&'a Pod, &'a NodeName)],
) -> Option<NodeName> {
    let names: Vec<NodeName> = cluster.nodes.iter().map(|place| place.node.name.clone()).collect();
    let mut open = Vec::new();
    for name in names {
        let here: Vec<&Pod> = kept.iter().filter(|(_, node)| **node == name).map(|(pod, _)| *pod).collect();
        let takes = |cluster: &Cluster<'_>| {
            cluster
                .nodes
                .iter()
                .find(|place| place.node.name == name)
                .is_some_and(|place| cluster.takes(pod, place))
        };
        if !takes(cluster) {
            continue;
        }
        here.iter().for_each(|other| cluster.bind(other, &name));
        let is_open = takes(cluster);
        here.iter().for_each(|other| cluster.unbind(other, &name));
        if is_open {
            open.push(name);
        }
    }
    if open.contains(node) { Some(node.clone()) } else { best(cluster, pod, Some(&open)) }
}

/// Returns the node that takes the pod and is emptiest with it; of equal ones the first by name.
fn best(cluster: &Cluster<'_>, pod: &Pod, among: Option<&[NodeName]>) -> Option<NodeName> {
    let open = cluster.nodes.iter().filter(|place| match among {
        Some(names) => names.contains(&place.node.name),
        None => cluster.takes(pod, place),
    });
    let best = open.min_by_key(|place| (Reverse(free(place, &pod.spec.requests)), &place.node.name));
    best.map(|place| place.node.name.clone())
}

/// Returns how much of a node is left with a pod: the mean of cores and memory, in parts of a thousand.
fn free(place: &Place<'_>, requests: &Resources) -> i64 {
    let share = |name: &ResourceName| {
        let all = place.node.allocatable.get(name);
        let left = all - place.used.get(name) - requests.get(name);
        if all > 0 { i64::try_from(i128::from(left) * 1000 / i128::from(all)).unwrap_or(0) } else { 0 }
    };
    (share(&ResourceName::Cpu) + share(&ResourceName::Memory)) / 2
}
