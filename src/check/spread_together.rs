//! Required spread of the same pods over both zones and hosts: whether some binding order satisfies both.
//!
//! The placed pods are bound one by one on their nodes, each time on the allowed host with the fewest pods. Within a
//! zone this order leaves the most options; for other zones a bound pod can only raise the minimum. Pods that are
//! counted together with placed pods of other groups are left to the individual rules.

use std::collections::BTreeMap;

use super::case::Case;
use super::crowd::{Crowd, Place};
use super::finding::{Finding, Rule};
use super::spread::{Rules, placed_in, required};
use crate::model::{Pod, label};
use crate::snapshot::system_node;

/// Returns the pods that no binding order allows, among those spread over zones and hosts.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let crowd = &case.crowd;
    let assumed = case.snapshot.assumes_system_node;
    let assumed = assumed.then(|| Place::of_node(&system_node::node(), system_node::NAME));
    let mut found = Vec::new();
    for number in 0..crowd.groups.len() {
        let Some(both) = Both::of(crowd, number, assumed.as_ref()) else { continue };
        let key = |key: &str| format!("`{key}`");
        let why = format!(
            "no order lets it be bound with spread over {} and {} both kept",
            key(label::ZONE),
            key(label::HOSTNAME)
        );
        for (place, left) in both.left() {
            let placed: Vec<&Pod> = placed_in(crowd, &[number], |there| there == place);
            let left = placed.into_iter().rev().take(left);
            found.extend(
                left.map(|pod| Finding::new(Rule::Spread, format!("pod `{}`", pod.key), why.clone())),
            );
        }
    }
    found
}

/// Counts of one constraint while pods are bound.
struct Counts {
    max_skew: usize,
    domains_min: usize,
    /// The domain of each place.
    of_place: Vec<Option<usize>>,
    /// Number of pods in each domain; `None` if none of its nodes counts.
    domains: Vec<Option<usize>>,
}

impl Counts {
    fn lets(&self, place: usize) -> bool {
        let counted = self.domains.iter().flatten();
        let is_short = counted.clone().count() < self.domains_min;
        let least = if is_short { 0 } else { counted.min().copied().unwrap_or(0) };
        self.here(place).is_some_and(|here| here < least.saturating_add(self.max_skew))
    }

    fn here(&self, place: usize) -> Option<usize> {
        self.domains[self.of_place[place]?]
    }

    fn bind(&mut self, place: usize) {
        if let Some(count) = self.of_place[place].and_then(|domain| self.domains[domain].as_mut()) {
            *count += 1;
        }
    }
}

/// Pods that are spread over zones and hosts.
struct Both {
    hosts: Counts,
    zones: Counts,
    /// Number of pods to bind at each place.
    waiting: BTreeMap<usize, usize>,
}

impl Both {
    /// Reads a group of pods; `None` if it is not of this kind.
    fn of(crowd: &Crowd<'_>, number: usize, assumed: Option<&Place>) -> Option<Self> {
        let group = &crowd.groups[number];
        let constraints: Vec<_> = required(group.spec).collect();
        let [one, other] = constraints[..] else { return None };
        let (zones, hosts) = match (one.topology_key.as_str(), other.topology_key.as_str()) {
            (label::ZONE, label::HOSTNAME) => (one, other),
            (label::HOSTNAME, label::ZONE) => (other, one),
            _ => return None,
        };
        let (zones, hosts) = (Rules::of(group, zones), Rules::of(group, hosts));
        let is_alone = |rules: &Rules<'_>| {
            let counted = rules.counted(crowd);
            let others = counted.iter().filter(|other| **other != number);
            let mut others = others.flat_map(|other| crowd.groups[*other].at.values());
            counted.contains(&number) && others.all(|present| present.placed.is_empty())
        };
        let is_meant = group.is_placed && zones.counts_alike(&hosts) && is_alone(&zones) && is_alone(&hosts);
        let waiting: BTreeMap<usize, usize> = group
            .at
            .iter()
            .filter(|(_, present)| !present.placed.is_empty())
            .map(|(place, present)| (*place, present.placed.len()))
            .collect();
        let both = is_meant.then(|| Self {
            hosts: counts(crowd, (&hosts, number), assumed),
            zones: counts(crowd, (&zones, number), None),
            waiting,
        })?;
        let is_seen = |place: &usize| both.hosts.here(*place).is_some() && both.zones.here(*place).is_some();
        both.waiting.keys().all(is_seen).then_some(both)
    }

    /// Binds all pods that may be bound; returns the places with pods that are left, and how many.
    fn left(mut self) -> Vec<(usize, usize)> {
        loop {
            let waiting = self.waiting.iter().filter(|(_, count)| **count > 0).map(|(place, _)| *place);
            let next = waiting
                .filter(|place| self.hosts.lets(*place) && self.zones.lets(*place))
                .min_by_key(|place| (self.hosts.here(*place), *place));
            let Some(place) = next else { break };
            self.hosts.bind(place);
            self.zones.bind(place);
            self.waiting.entry(place).and_modify(|count| *count -= 1);
        }
        self.waiting.into_iter().filter(|(_, count)| *count > 0).collect()
    }
}

/// Counts running pods by domain of a constraint.
fn counts(crowd: &Crowd<'_>, (rules, number): (&Rules<'_>, usize), assumed: Option<&Place>) -> Counts {
    let amount = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let topology = crowd.topology(&rules.constraint.topology_key);
    let mut domains: Vec<Option<usize>> = vec![None; topology.len()];
    let sees = |place: &Place| rules.sees(place, number, crowd);
    let seen: Vec<bool> = crowd.places.iter().map(sees).collect();
    for domain in (0..seen.len()).filter(|place| seen[*place]).filter_map(|place| topology.domain(place)) {
        domains[domain].get_or_insert(0);
    }
    for group in rules.counted(crowd) {
        for (place, present) in crowd.groups[group].at.iter().filter(|(place, _)| seen[**place]) {
            let running = present.running.iter().filter(|pod| !pod.is_terminating).count();
            if let Some(count) = topology.domain(*place).and_then(|domain| domains[domain].as_mut()) {
                *count += running;
            }
        }
    }
    let of_place = |place: usize| topology.domain(place).filter(|_| seen[place]);
    domains.extend(assumed.filter(|place| sees(place)).map(|_| Some(0)));
    Counts {
        max_skew: amount(rules.constraint.max_skew),
        domains_min: amount(rules.constraint.min_domains.unwrap_or(1)),
        of_place: (0..seen.len()).map(of_place).collect(),
        domains,
    }
}
