//! Spread over nodes, checked once the nodes of all pods are known.
//!
//! While nodes are filled, the emptiest node counts as zero, and no counted pod exceeds the limit beside a pod that the
//! spread constrains ([`crate::solve::fit::company`]). For a whole fleet the minimum is known, and so are the pods that
//! come late: a pod that runs elsewhere and is only counted is evicted once the spread pods have their nodes. Beside a
//! running pod, it is checked as while nodes are filled; otherwise the next plan would bring together what this one
//! could not. Never places a pod.

use std::collections::BTreeMap;

use super::Topology;
use super::eligible::{self, Eligible, Seen};
use super::group::{GroupKind, Spread};
use super::settle::Place;
use crate::model::{PodKey, label};
use crate::solve::demand::Demand;
use crate::solve::fit::Miss;
use crate::solve::fit::company::HostRole;
use crate::solve::fit::spread::{self, Full};

/// Display name of the assumed system node.
const SYSTEM_NODE: &str = "the assumed system node";

/// Number of pods on a node that a group counts.
#[derive(Clone, Copy, Debug, Default)]
struct Count {
    /// Once the constrained and the pending pods have arrived.
    early: usize,
    /// Once all pods have arrived.
    late: usize,
}

/// Returns the newly placed pods that Kubernetes would not bind because of a spread over nodes, with the reason.
/// `moves` tells which pods run elsewhere, and `assumes` whether a system node is assumed.
#[must_use]
pub fn refused(
    (demand, topology): (&Demand, &Topology),
    places: &[Place<'_>],
    (moves, assumes): (impl Fn(&PodKey) -> bool, bool),
) -> BTreeMap<PodKey, Miss> {
    let mut refused = BTreeMap::new();
    let seen: Vec<Seen<'_>> = places.iter().map(|place| place.seen).collect();
    let eligible = Eligible::of(topology, &seen);
    for (number, group) in topology.groups.iter().enumerate() {
        let GroupKind::Spread(spread) = &group.kind else { continue };
        if !group.is_of_hosts() {
            continue;
        }
        let parts = |place: usize| parts(demand, number, &places[place]);
        let count = |place: usize| {
            let there = places[place].there.there(number).counted;
            let mut count = Count { early: there, late: there };
            for (pod, role) in parts(place) {
                count.late += role.counted;
                count.early += if moves(pod) && !role.is_bound { 0 } else { role.counted };
            }
            count
        };
        let counted: Vec<Option<Count>> =
            (0..places.len()).map(|place| eligible.sees(number, place).then(|| count(place))).collect();
        let counts_system = assumes && eligible::counts_system_node(spread);
        let assumed = counts_system.then(|| (0, Some(SYSTEM_NODE.to_owned())));
        let name = |place: usize| Some(format!("`{}`", places[place].seen.labels.get(label::HOSTNAME)?));
        let counts = counted.iter().enumerate();
        let counts = counts.filter_map(|(place, count)| Some((count.as_ref()?.early, name(place))));
        let early = Level::of(spread, counts.chain(assumed));
        for (place, count) in counted.iter().enumerate() {
            let count = count.unwrap_or_default();
            let stands = places[place].there.there(number).running > 0;
            for (pod, role) in parts(place) {
                let (here, level) = match moves(pod) && !role.is_bound {
                    true => (count.late, &Level::EMPTY),
                    false => (count.early, &early),
                };
                let is_asked = role.is_bound || stands && moves(pod);
                if is_asked && here > spread.max_skew.saturating_add(level.least) {
                    refused.insert(pod.clone(), level.miss(spread, here));
                }
            }
        }
    }
    refused
}

/// Returns the newly placed pods of a place that have a role in a group.
fn parts<'p>(
    demand: &'p Demand,
    group: usize,
    place: &'p Place<'_>,
) -> impl Iterator<Item = (&'p PodKey, &'p HostRole)> {
    place.pods.iter().zip(place.shapes).filter_map(move |(pod, shape)| {
        Some((pod, demand.shapes[*shape].ask.company.iter().find(|role| role.group == group)?))
    })
}

/// The minimum pod count of all nodes.
struct Level {
    least: usize,
    /// The emptiest node, if known.
    emptiest: Option<String>,
    /// The existing and the required number of nodes, if there are too few for the minimum to count.
    lacking: Option<(usize, usize)>,
}

impl Level {
    /// The level that applies while nodes are filled.
    const EMPTY: Self = Self { least: 0, emptiest: None, lacking: None };

    /// Computes the level of nodes, given their counts and their names, if any.
    fn of(spread: &Spread, counts: impl Iterator<Item = (usize, Option<String>)> + Clone) -> Self {
        let there = counts.clone().count();
        let lacking = spread.min_domains.filter(|asked| there < *asked).map(|asked| (there, asked));
        let (least, emptiest) = match lacking {
            Some(_) => (0, None),
            None => counts.min_by_key(|(count, _)| *count).unwrap_or_default(),
        };
        Self { least, emptiest, lacking }
    }

    fn miss(&self, spread: &Spread, counted: usize) -> Miss {
        let Self { least, emptiest, lacking } = self;
        let (key, domain, emptiest) = (label::HOSTNAME, "the node", emptiest.as_deref());
        let full = Full { key, domain, counted, least: *least, emptiest, lacking: *lacking, own: 1 };
        spread::miss(full, spread.max_skew)
    }
}
