//! Whether there is an order in which pods come near those that they must stand beside, once nodes are known.
//!
//! A pod comes where one that it means is already; where none is anywhere, one that means itself may begin. Nothing else
//! is asked here: whether there is room, or what other rules say.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::census::Census;
use super::group::GroupKind;
use super::settle::Place;
use super::{Role, Topology};

/// A newly placed pod, or several of a shape on one node: the node, who it is, and the part that it plays in groups.
pub(super) type Newcomer<'p, K> = (&'p Place<'p>, K, &'p [Role]);

/// Returns the pods that no order brings where they are placed.
pub(super) fn lost<'p, K: Ord + Copy>(
    topology: &'p Topology,
    running: &Census,
    pods: impl Iterator<Item = Newcomer<'p, K>>,
) -> BTreeSet<K> {
    let mut there = There { topology, running, domains: BTreeSet::new(), groups: BTreeSet::new() };
    let follows = |role: &Role| role.is_bound && there_is_order(topology, *role);
    let (mut waiting, free): (Vec<Newcomer<'p, K>>, Vec<Newcomer<'p, K>>) =
        pods.partition(|(_, _, roles)| roles.iter().any(follows));
    for pod in free {
        there.add(pod);
    }
    loop {
        let before = waiting.len();
        waiting.retain(|pod| {
            let comes = there.lets_come(*pod);
            if comes {
                there.add(*pod);
            }
            !comes
        });
        if waiting.len() == before {
            let Some(first) = waiting.iter().position(|pod| there.lets_begin(*pod)) else { break };
            there.add(waiting.remove(first));
        }
    }
    waiting.into_iter().map(|(_, pod, _)| pod).collect()
}

/// Whether a group is about who is there first: on single nodes that is a rule of the node.
fn there_is_order(topology: &Topology, role: Role) -> bool {
    let group = &topology.groups[role.group];
    matches!(group.kind, GroupKind::Affinity) && !group.is_of_hosts()
}

/// Who is there by now.
struct There<'p, 'c> {
    topology: &'p Topology,
    running: &'c Census,
    domains: BTreeSet<(usize, &'p Arc<str>)>,
    groups: BTreeSet<usize>,
}

impl<'p> There<'p, '_> {
    fn add<K>(&mut self, (place, _, roles): Newcomer<'p, K>) {
        for role in roles.iter().filter(|role| role.counted > 0 && there_is_order(self.topology, **role)) {
            if let Some(domain) = place.seen.labels.get(&self.topology.groups[role.group].key) {
                self.domains.insert((role.group, domain));
                self.groups.insert(role.group);
            }
        }
    }

    fn lets_come<K>(&self, (place, _, roles): Newcomer<'p, K>) -> bool {
        self.follows(roles).all(|role| self.is_led(place, *role))
    }

    /// Whether a pod may come that somebody of its own kind would follow.
    fn lets_begin<K>(&self, (place, _, roles): Newcomer<'p, K>) -> bool {
        let is_first = |role: &Role| {
            let is_anywhere = self.groups.contains(&role.group) || self.running.anywhere(role.group) > 0;
            let has_domain = place.seen.labels.contains_key(&self.topology.groups[role.group].key);
            role.counted > 0 && has_domain && !is_anywhere
        };
        self.follows(roles).all(|role| self.is_led(place, *role) || is_first(role))
    }

    fn follows<'r>(&self, roles: &'r [Role]) -> impl Iterator<Item = &'r Role> {
        let topology = self.topology;
        roles.iter().filter(move |role| role.is_bound && there_is_order(topology, **role))
    }

    fn is_led(&self, place: &'p Place<'p>, role: Role) -> bool {
        let domain = place.seen.labels.get(&self.topology.groups[role.group].key);
        domain.is_some_and(|domain| {
            self.domains.contains(&(role.group, domain)) || self.running.tally(role.group, domain).counted > 0
        })
    }
}
