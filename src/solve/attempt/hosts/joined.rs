//! Pods of one new host, packed as one pod and separated again when nodes are named.
//!
//! The joined pod has the name of its first pod in the meantime. Never places pods.

use std::borrow::Cow;

use crate::model::{PodKey, Resources};
use crate::solve::demand::{Ask, Demand, Shape};
use crate::solve::fit::company::{HostRole, HostRule};
use crate::solve::fit::mounts::Mounts;
use crate::solve::pack::finish::{Finished, Shapes};
use crate::solve::solution::NewNode;

use super::lay::Host;

/// Returns the pods of a host as one shape, of which no second pod fits on the same host.
pub(super) fn as_one(demand: &Demand, host: &Host) -> Shape {
    let shapes = || host.pods.iter().map(|(shape, _)| &demand.shapes[*shape]);
    let mut requests = Resources::none();
    shapes().for_each(|shape| requests.add(&shape.ask.requests));
    let role = |(group, count): (&usize, &usize)| HostRole {
        group: *group,
        rule: HostRule::AtMost(*count),
        is_bound: true,
        counted: *count,
        is_free: false,
    };
    let ask = Ask {
        requests,
        alternatives: host.alternatives.clone(),
        stance: shapes().next().map(|shape| shape.ask.stance.clone()).unwrap_or_default(),
        host_ports: Default::default(),
        company: host.counts.iter().map(role).collect(),
        volumes: Mounts::default(),
    };
    let priority = shapes().map(|shape| shape.priority).max().unwrap_or(0);
    let pods = host.pods.iter().take(1).map(|(_, pod)| pod.clone()).collect();
    Shape { priority, ask, roles: Vec::new(), pods }
}

/// Returns the demand with the joined pods of each host after its own shapes, and how many pods of each shape are left
/// to pack.
pub(in crate::solve::attempt) fn joined<'d>(
    demand: &'d Demand,
    mut left: Vec<usize>,
    hosts: &[Host],
) -> (Cow<'d, Demand>, Vec<usize>) {
    if hosts.is_empty() {
        return (Cow::Borrowed(demand), left);
    }
    let shapes: Vec<Shape> = hosts.iter().map(|host| as_one(demand, host)).collect();
    left.extend(shapes.iter().map(|shape| shape.pods.len()));
    let mut demand = demand.clone();
    demand.shapes.extend(shapes);
    (Cow::Owned(demand), left)
}

/// Separates joined pods again: the shapes from index `first` on.
pub(in crate::solve::attempt) fn parted(first: usize, hosts: &[Host], finished: &mut Finished) {
    if hosts.is_empty() {
        return;
    }
    for (node, shapes) in finished.nodes.iter_mut().zip(&mut finished.shapes) {
        part(first, hosts, (node, shapes));
    }
    let unplaced = std::mem::take(&mut finished.unplaced);
    finished.unplaced = apart(first, hosts, unplaced.into_iter()).collect();
}

fn part(first: usize, hosts: &[Host], (node, shapes): (&mut NewNode, &mut Shapes)) {
    if shapes.pods.iter().all(|shape| *shape < first) {
        return;
    }
    let pods = std::mem::take(&mut shapes.pods).into_iter().zip(std::mem::take(&mut node.pods));
    let mut pods: Vec<(usize, PodKey)> = apart(first, hosts, pods).collect();
    pods.sort_by(|(_, one), (_, other)| one.cmp(other));
    (shapes.pods, node.pods) = pods.into_iter().unzip();
    if let Some((shape, _)) = shapes.opened_for.checked_sub(first).and_then(|host| hosts[host].pods.first()) {
        shapes.opened_for = *shape;
    }
}

fn apart(
    first: usize,
    hosts: &[Host],
    pods: impl Iterator<Item = (usize, PodKey)>,
) -> impl Iterator<Item = (usize, PodKey)> {
    pods.flat_map(move |(shape, pod)| match shape.checked_sub(first) {
        Some(host) => hosts[host].pods.clone(),
        None => vec![(shape, pod)],
    })
}
