//! Checks whether some binding order satisfies required pod affinity, once nodes are known.
//!
//! A pod can be bound where a pod that it requires already is; if there is none anywhere, a self-matching pod may be
//! the first. Never checks capacity or other rules.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Topology;
use super::census::Census;
use super::group::GroupKind;
use super::settle::Place;
use crate::solve::demand::Shape;
use crate::solve::fit::company::HostRule;

/// A newly placed pod, or several of a shape on one node.
pub(super) struct Newcomer<'p, K> {
    /// The index of the place.
    pub(super) place: usize,
    /// The pod's key.
    pub(super) key: K,
    /// The pod's shape.
    pub(super) shape: &'p Shape,
}

/// Returns the pods that no binding order lets reach their places.
pub(super) fn lost<'p, K: Ord + Copy>(
    (topology, running): (&Topology, &Census),
    places: &'p [Place<'p>],
    pods: impl Iterator<Item = Newcomer<'p, K>>,
) -> BTreeSet<K> {
    let coming = pods.map(|pod| Coming { key: pod.key, parts: parts(topology, places, &pod) });
    let (mut waiting, free): (Vec<Coming<'p, K>>, Vec<Coming<'p, K>>) =
        coming.partition(|pod| pod.parts.iter().any(|part| part.is_bound));
    let mut there = There { running, places, at: BTreeSet::new(), groups: BTreeSet::new() };
    free.iter().for_each(|pod| there.add(pod));
    loop {
        let before = waiting.len();
        waiting.retain(|pod| {
            let comes = there.lets_come(pod);
            if comes {
                there.add(pod);
            }
            !comes
        });
        if waiting.len() == before {
            let Some(first) = waiting.iter().position(|pod| there.lets_begin(pod)) else { break };
            there.add(&waiting.remove(first));
        }
    }
    waiting.into_iter().map(|pod| pod.key).collect()
}

/// A newcomer with its roles in affinity groups.
struct Coming<'p, K> {
    key: K,
    parts: Vec<Part<'p>>,
}

/// The role of a newcomer in a group.
#[derive(Clone, Copy)]
struct Part<'p> {
    group: usize,
    is_bound: bool,
    is_counted: bool,
    /// Its domain; `None` if the place has no such label.
    at: Option<Domain<'p>>,
}

/// The domain in which a group sees a newcomer.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Domain<'p> {
    /// The place with this index.
    Host(usize),
    /// The domain of a label.
    Of(&'p Arc<str>),
}

fn parts<'p, K>(topology: &Topology, places: &[Place<'p>], pod: &Newcomer<'p, K>) -> Vec<Part<'p>> {
    let Newcomer { place, shape, .. } = *pod;
    let roles = shape.roles.iter().filter_map(|role| {
        let group = &topology.groups[role.group];
        let at = places[place].seen.labels.get(&group.key).map(Domain::Of);
        let (group_is_asked, is_counted) = (matches!(group.kind, GroupKind::Affinity), role.counted > 0);
        let part = Part { group: role.group, is_bound: role.is_bound, is_counted, at };
        (group_is_asked && !group.is_of_hosts()).then_some(part)
    });
    let company = shape.ask.company.iter().filter(|role| role.rule == HostRule::Beside);
    let company = company.map(|role| Part {
        group: role.group,
        is_bound: role.is_bound,
        is_counted: role.counted > 0,
        at: Some(Domain::Host(place)),
    });
    roles.chain(company).collect()
}

/// The pods bound so far.
struct There<'p, 'c> {
    running: &'c Census,
    places: &'p [Place<'p>],
    at: BTreeSet<(usize, Domain<'p>)>,
    groups: BTreeSet<usize>,
}

impl<'p> There<'p, '_> {
    fn add<K>(&mut self, pod: &Coming<'p, K>) {
        let counted = pod.parts.iter().filter(|part| part.is_counted);
        for (group, at) in counted.filter_map(|part| Some((part.group, part.at?))) {
            self.at.insert((group, at));
            self.groups.insert(group);
        }
    }

    fn lets_come<K>(&self, pod: &Coming<'p, K>) -> bool {
        pod.parts.iter().all(|part| !part.is_bound || self.is_led(part))
    }

    /// Returns whether a self-matching pod may be the first: none of its rules has a matching pod anywhere.
    fn lets_begin<K>(&self, pod: &Coming<'p, K>) -> bool {
        let is_first = |part: &Part<'_>| part.is_counted && part.at.is_some() && !self.is_anywhere(part);
        pod.parts.iter().all(|part| !part.is_bound || is_first(part))
    }

    fn is_anywhere(&self, part: &Part<'_>) -> bool {
        let runs = || match part.at {
            Some(Domain::Host(_)) => {
                self.places.iter().any(|place| place.there.there(part.group).counted > 0)
            }
            Some(Domain::Of(_)) | None => self.running.anywhere(part.group) > 0,
        };
        self.groups.contains(&part.group) || runs()
    }

    fn is_led(&self, part: &Part<'p>) -> bool {
        let Some(at) = part.at else { return false };
        let runs = || match at {
            Domain::Host(place) => self.places[place].there.there(part.group).counted > 0,
            Domain::Of(domain) => self.running.tally(part.group, domain).counted > 0,
        };
        self.at.contains(&(part.group, at)) || runs()
    }
}
