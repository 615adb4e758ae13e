//! Unplaced pods that fit existing or new nodes: kube-scheduler binds them, whatever Karpenter decides.
//!
//! Karpenter skips pods that kube-scheduler takes, creates nodes that limits then do not allow, and frees nodes while
//! other pods are pending. Pods whose placement depends on others, or that spread constraints of others count, stay
//! unplaced: the result would depend on the order. Pods that others keep away are placed only where none of these runs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{Node, NodeName, Operator, Pod, PodKey, PodPlace, Requirement, Requirements};
use crate::snapshot::Snapshot;
use crate::solve::daemons::Daemons;
use crate::solve::demand::{Demand, Shape};
use crate::solve::existing;
use crate::solve::shrink::imagined;
use crate::solve::solution::NewNode;
use crate::solve::topology::Topology;
use crate::solve::topology::group::GroupKind;

use super::desk;
use super::disruption::sequence;
use super::fleet::Trade;

/// A fleet with unplaced pods.
pub(super) struct Late<'l> {
    /// The unplaced pods.
    pub(super) left: &'l BTreeSet<PodKey>,
    /// Pods on existing nodes, with their nodes.
    pub(super) places: &'l mut BTreeMap<PodKey, NodeName>,
    /// The new nodes.
    pub(super) new: &'l mut Vec<NewNode>,
    /// Pods that the checker refuses on every node.
    pub(super) refused: &'l BTreeSet<PodKey>,
}

impl Late<'_> {
    /// Places unplaced pods, including those that the checker refuses on Karpenter's choice of node, and returns the
    /// placed ones. In `world`, removed nodes are being deleted.
    pub(super) fn place(
        self,
        world: &Snapshot,
        trade: Trade<'_>,
        (daemons, topology): (&Daemons<'_>, &Topology),
    ) -> BTreeSet<PodKey> {
        let is_free = |pod: &Pod| !desk::is_tied(pod) && pod.spec.volumes.is_empty();
        let is_meant =
            |pod: &Pod| self.left.contains(&pod.key) && is_free(pod) && !self.refused.contains(&pod.key);
        if !world.pods.iter().any(is_meant) {
            return BTreeSet::new();
        }
        let bought = (trade.policy, trade.supply);
        let joined = |(number, new)| imagined::joined(bought, imagined::name(number), new, world.at);
        let made: Vec<Node> = self.new.iter().enumerate().map(joined).collect();
        let settled = self.settled(world, &made);
        let mut nodes = existing::standing(&settled, daemons, topology);
        // The claim of a node with `minValues` lists offerings that hold its original pods.
        let is_choice = |node: &NodeName| {
            let new = made.iter().position(|made| made.name == *node).map(|number| &self.new[number]);
            new.is_some_and(|new| !new.variety.asked.is_empty())
        };
        nodes.retain(|standing| !is_choice(&standing.node.name));
        let mut demand = Demand::of_these(&settled, topology, is_meant);
        keep_apart(&mut demand.shapes, topology, [world, &settled]);
        // The counts of pods left are not needed: the nodes list the placed pods.
        let _ = existing::fill(&demand, &mut nodes);
        let late = nodes.into_iter().flat_map(|node| {
            let name = node.node.name.clone();
            node.placed.into_iter().map(move |pod| (pod, name.clone()))
        });
        let late: BTreeMap<PodKey, NodeName> = late.collect();
        let placed = late.keys().cloned().collect();
        let pods: BTreeMap<&PodKey, &Pod> = world.pods.iter().map(|pod| (&pod.key, pod)).collect();
        for (pod, node) in late {
            match made.iter().position(|made| made.name == node) {
                Some(number) => add(&mut self.new[number], pods[&pod]),
                None => drop(self.places.insert(pod, node)),
            }
        }
        placed
    }

    /// Returns the world with these nodes, and with pods bound to the nodes that they are placed on.
    fn settled(&self, world: &Snapshot, made: &[Node]) -> Snapshot {
        let on_new = made.iter().zip(&*self.new);
        let on_new = on_new.flat_map(|(node, new)| new.pods.iter().map(|pod| (pod, &node.name)));
        let places: BTreeMap<&PodKey, &NodeName> = self.places.iter().chain(on_new).collect();
        let mut settled = world.clone();
        settled.nodes.extend(made.iter().cloned());
        sequence::settle(&mut settled, &places);
        settled
    }
}

/// Drops the pods that spread constraints of placed pods count, and keeps the others out of the domains in which placed
/// pods keep them away, before and after the change. Rules within one node are checked when it is filled.
fn keep_apart(shapes: &mut Vec<Shape>, topology: &Topology, worlds: [&Snapshot; 2]) {
    let spread = spread_by(topology, worlds[1]);
    shapes.retain(|shape| !shape.roles.iter().any(|role| spread.contains(&role.group)));
    if shapes.iter().all(|shape| shape.roles.is_empty()) {
        return;
    }
    let kept_from = kept_from(topology, worlds);
    for Shape { roles, ask, .. } in shapes {
        let mut away = Requirements::none();
        for role in roles.iter().filter(|role| role.counted > 0) {
            if let Some(domains) = kept_from.get(&role.group) {
                away.add(topology.groups[role.group].key.clone(), Requirement::new(Operator::NotIn, domains));
            }
        }
        ask.alternatives.retain(|term| term.intersects(&away).is_ok());
        ask.alternatives.iter_mut().for_each(|term| term.add_all(&away));
    }
}

/// Returns the groups by which some placed pod is spread.
fn spread_by(topology: &Topology, world: &Snapshot) -> BTreeSet<usize> {
    let placed = world.pods.iter().filter(|pod| pod.place != PodPlace::Waiting);
    let roles = placed.flat_map(|pod| topology.roles(pod)).filter(|role| role.is_bound);
    let is_spread = |group: &usize| matches!(topology.groups[*group].kind, GroupKind::Spread(_));
    roles.map(|role| role.group).filter(is_spread).collect()
}

/// Returns the domains from which placed pods keep others away, by group.
fn kept_from(topology: &Topology, worlds: [&Snapshot; 2]) -> BTreeMap<usize, BTreeSet<Arc<str>>> {
    let mut kept_from: BTreeMap<usize, BTreeSet<Arc<str>>> = BTreeMap::new();
    for world in worlds {
        let nodes: BTreeMap<&NodeName, &Node> = world.nodes.iter().map(|node| (&node.name, node)).collect();
        for pod in &world.pods {
            let PodPlace::Bound(node) = &pod.place else { continue };
            let Some(node) = nodes.get(node) else { continue };
            for role in topology.roles(pod).iter().filter(|role| role.is_bound) {
                let group = &topology.groups[role.group];
                if matches!(group.kind, GroupKind::AntiAffinity) {
                    kept_from.entry(role.group).or_default().extend(node.labels.get(&group.key).cloned());
                }
            }
        }
    }
    kept_from
}

/// Adds a pod to a new node. The node's alternatives are dropped, because they were found without that pod.
fn add(new: &mut NewNode, pod: &Pod) {
    new.requests.add(&pod.spec.requests);
    new.pods.push(pod.key.clone());
    new.pods.sort();
    new.substitutes.clear();
    new.variety.among.clear();
}
