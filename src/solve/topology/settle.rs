//! Final check of the target: the actual domain counts, once nodes are known.
//!
//! Pods may have found no capacity in their assigned domain, and nodes created for others may open a domain that makes
//! the rest uneven. Pods that Kubernetes would then not bind are unplaced; never adds a pod.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::census::Census;
use super::eligible::{Eligible, Seen};
use super::following::{self, Newcomer};
use super::group::{Group, GroupKind};
use super::{Role, Topology};
use crate::model::{PodKey, label};
use crate::solve::demand::{Demand, Shape};
use crate::solve::fit::company::{Company, Tally};
use crate::solve::fit::spread::{self, Full};
use crate::solve::fit::{Miss, affinity, anti_affinity, volumes};

/// A node of the target, as groups see it.
pub struct Place<'p> {
    /// The node as spreads see it; for a new node, with the labels that it certainly has.
    pub seen: Seen<'p>,
    /// The pods that are on it regardless of the plan.
    pub there: &'p Company,
    /// The newly placed pods.
    pub pods: &'p [PodKey],
    /// The indices of their shapes in the demand, in the same order.
    pub shapes: &'p [usize],
}

/// Returns the newly placed pods that must be unplaced, sorted. `running` counts running pods on kept nodes.
#[must_use]
pub fn refused(
    (demand, topology): (&Demand, &Topology),
    running: &Census,
    places: &[Place<'_>],
) -> BTreeMap<PodKey, Miss> {
    if !demand.shapes.iter().any(Shape::is_tied) {
        return BTreeMap::new();
    }
    let mut look = Look::of((demand, topology), running, places);
    // Pods of one shape in one place get the same result.
    if look.are_led() && look.groups.keys().all(|group| look.stands(*group).is_ok()) {
        return BTreeMap::new();
    }
    look.refused()
}

/// A place and a shape, by index.
type Grouped = (usize, usize);

struct Look<'l> {
    demand: &'l Demand,
    topology: &'l Topology,
    running: &'l Census,
    places: &'l [Place<'l>],
    eligible: Eligible,
    census: Census,
    /// Number of newly placed pods that a group counts in a domain without constraining them: they may come after those
    /// that it constrains.
    late: BTreeMap<(usize, &'l Arc<str>), usize>,
    /// Number of newly placed pods of a shape in a place, and the first of them.
    groups: BTreeMap<Grouped, (usize, &'l PodKey)>,
}

impl<'l> Look<'l> {
    fn of(
        (demand, topology): (&'l Demand, &'l Topology),
        running: &'l Census,
        places: &'l [Place<'l>],
    ) -> Self {
        let seen: Vec<Seen<'_>> = places.iter().map(|place| place.seen).collect();
        let eligible = Eligible::of(topology, &seen);
        let mut census = running.clone();
        census.open_all(topology, &eligible);
        let mut groups: BTreeMap<Grouped, (usize, &PodKey)> = BTreeMap::new();
        for (number, place) in places.iter().enumerate() {
            let tied = place.pods.iter().zip(place.shapes);
            for (pod, shape) in tied.filter(|(_, shape)| demand.shapes[**shape].is_tied()) {
                let (count, first) = groups.entry((number, *shape)).or_insert((0, pod));
                (*count, *first) = (*count + 1, pod.min(*first));
            }
        }
        let late = BTreeMap::new();
        let mut look = Self { demand, topology, running, places, eligible, census, late, groups };
        let groups: Vec<(Grouped, usize)> =
            look.groups.iter().map(|(group, (pods, _))| (*group, *pods)).collect();
        for ((place, shape), pods) in groups {
            for (role, domain) in look.counted(place, shape) {
                look.census.add(role, domain, pods);
                let is_spread = matches!(topology.groups[role.group].kind, GroupKind::Spread(_));
                if is_spread && !role.is_bound {
                    *look.late.entry((role.group, domain)).or_default() += role.counted * pods;
                }
            }
        }
        look
    }

    /// Returns the roles of pods of a shape in a place, with the domains that count them.
    fn counted(&self, place: usize, shape: usize) -> Vec<(Role, &'l Arc<str>)> {
        let (places, demand, topology) = (self.places, self.demand, self.topology);
        let counted = demand.shapes[shape].roles.iter().filter_map(|role| {
            let group = &topology.groups[role.group];
            let domain = places[place].seen.labels.get(&group.key)?;
            let is_seen = self.eligible.sees(role.group, place) && !group.is_of_hosts();
            is_seen.then_some((*role, domain))
        });
        counted.collect()
    }

    /// Returns whether some binding order satisfies the required affinity of all pods.
    fn are_led(&self) -> bool {
        if !self.topology.groups.iter().any(|group| matches!(group.kind, GroupKind::Affinity)) {
            return true;
        }
        let mut groups: Vec<(&PodKey, Grouped)> =
            self.groups.iter().map(|(group, (_, first))| (*first, *group)).collect();
        groups.sort_unstable();
        self.lost(groups.into_iter()).is_empty()
    }

    /// Returns the pods whose required affinity no binding order satisfies.
    fn lost<'k>(&self, pods: impl Iterator<Item = (&'k PodKey, Grouped)>) -> BTreeSet<&'k PodKey> {
        let (places, shapes) = (self.places, &self.demand.shapes);
        let newcomers = pods.map(|(key, (place, shape))| Newcomer { place, key, shape: &shapes[shape] });
        following::lost((self.topology, self.running), places, newcomers)
    }

    /// Unplaces pods, the last by name first, until the rest is valid.
    fn refused(&mut self) -> BTreeMap<PodKey, Miss> {
        let mut refused = BTreeMap::new();
        let mut stand: Vec<(&PodKey, Grouped)> = Vec::new();
        for (number, place) in self.places.iter().enumerate() {
            let tied = place.pods.iter().zip(place.shapes);
            let tied = tied.filter(|(_, shape)| self.groups.contains_key(&(number, **shape)));
            stand.extend(tied.map(|(pod, shape)| (pod, (number, *shape))));
        }
        stand.sort_by(|one, other| other.0.cmp(one.0));
        loop {
            let before = refused.len();
            let left = stand.iter().rev().filter(|(pod, _)| !refused.contains_key(*pod));
            let lost = self.lost(left.copied());
            for (pod, (place, shape)) in &stand {
                if refused.contains_key(*pod) {
                    continue;
                }
                let miss = match self.stands((*place, *shape)) {
                    Err(miss) => Some(miss),
                    Ok(()) => lost.contains(pod).then(|| self.unled(*shape)),
                };
                if let Some(miss) = miss {
                    for (role, domain) in self.counted(*place, *shape) {
                        self.census.take(role, domain);
                    }
                    refused.insert((*pod).clone(), miss);
                }
            }
            // Unplaced pods may have made others uneven.
            if refused.len() == before {
                return refused;
            }
        }
    }

    /// Explains why no binding order lets this pod reach its node.
    fn unled(&self, shape: usize) -> Miss {
        let bound = self.demand.shapes[shape].roles.iter().filter(|role| role.is_bound);
        let led = bound.filter(|role| matches!(self.topology.groups[role.group].kind, GroupKind::Affinity));
        match led.min_by_key(|role| role.group) {
            Some(role) => {
                let key = self.topology.groups[role.group].key.as_str();
                affinity::miss(key, self.census.anywhere(role.group))
            }
            None => affinity::miss(label::HOSTNAME, 0),
        }
    }

    /// Checks whether a pod of a shape may be in a place, as far as counts decide.
    fn stands(&self, (place, shape): Grouped) -> Result<(), Miss> {
        for role in &self.demand.shapes[shape].roles {
            let group: &Group = &self.topology.groups[role.group];
            let key = group.key.as_str();
            let label = self.places[place].seen.labels.get(&group.key);
            let domain = label.map_or("", |domain| &**domain);
            let there = self.census.tally(role.group, domain);
            match &group.kind {
                GroupKind::Spread(spread) if role.is_bound => {
                    let least = self.census.least(role.group, spread);
                    let late = label.and_then(|domain| self.late.get(&(role.group, domain)));
                    let counted = there.counted.saturating_sub(late.copied().unwrap_or(0));
                    if domain.is_empty() || counted.saturating_sub(least) > spread.max_skew {
                        let lacking = self.census.lacking(role.group, spread);
                        let emptiest = self.census.emptiest(role.group);
                        let emptiest = emptiest.as_deref();
                        let full = Full { key, domain, counted, least, emptiest, lacking, own: 1 };
                        return Err(spread::miss(full, spread.max_skew));
                    }
                }
                GroupKind::Affinity if role.is_bound && (domain.is_empty() || there.counted == 0) => {
                    return Err(affinity::miss(key, self.census.anywhere(role.group)));
                }
                GroupKind::AntiAffinity if label.is_some() => {
                    let others = Tally {
                        bound: there.bound.saturating_sub(usize::from(role.is_bound)),
                        counted: there.counted.saturating_sub(role.counted),
                        ..there
                    };
                    if anti_affinity::more(role.is_bound, role.counted > 0, others) == 0 {
                        return Err(anti_affinity::miss(key, domain, role.is_bound, others));
                    }
                }
                GroupKind::Volume(claim) if label.is_some() => {
                    if there.counted < self.census.anywhere(role.group) {
                        return Err(volumes::elsewhere(claim));
                    }
                }
                GroupKind::Spread(_)
                | GroupKind::Affinity
                | GroupKind::AntiAffinity
                | GroupKind::Volume(_) => {}
            }
        }
        Ok(())
    }
}
