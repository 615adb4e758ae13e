//! Crews: pods laid out over hosts together because their spreads count the same nodes, so every new host counts for
//! all.
//!
//! Excludes pods that other rules tie to their node as well, and spreads that count a host on which none of their pods
//! can run. Never places pods.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{PodKey, PodPlace, Requirements, Stance};
use crate::solve::demand::{Demand, Shape};
use crate::solve::existing::{self, Standing};
use crate::solve::topology::Topology;
use crate::solve::topology::census::Census;
use crate::solve::topology::eligible::{self, Eligible, Seen};
use crate::solve::topology::group::{GroupKind, Spread};

use super::super::Ground;

/// Pods that share their new hosts.
pub(in crate::solve::attempt) struct Crew<'c> {
    /// The rules between pods.
    pub(super) topology: &'c Topology,
    /// Counts of pods in larger domains.
    pub(super) census: &'c Census,
    /// Their priority.
    pub(super) priority: i32,
    /// Pods of each spread.
    pub(super) teams: Vec<Team<'c>>,
    /// Label requirements of new hosts: each of them gets equally many hosts.
    pub(super) places: Vec<Vec<Requirements>>,
    /// Number of existing nodes for each of them.
    there: Vec<usize>,
    /// Whether shapes that are not pinned to a place may be on any of the hosts.
    pub(super) has_pins: bool,
}

/// The pods of one spread.
pub(super) struct Team<'c> {
    /// The spread, by its index in the topology.
    pub(super) group: usize,
    /// Its constraint.
    pub(super) spread: &'c Spread,
    /// Indices of their shapes.
    pub(super) shapes: Vec<usize>,
    /// Nodes that it counts, by index.
    pub(super) sees: Vec<bool>,
    /// Whether some of them run and have to move.
    pub(super) moves: bool,
    /// Number of pods.
    pods: usize,
}

impl Crew<'_> {
    /// Returns the indices of all shapes.
    pub(super) fn shapes(&self) -> impl Iterator<Item = usize> {
        self.teams.iter().flat_map(|team| team.shapes.iter().copied())
    }

    /// Returns whether pods of a shape may run on a new host of a place.
    pub(super) fn may_be(&self, shape: &Shape, place: usize) -> bool {
        shape.ask.alternatives == self.places[place] || self.has_pins && shape.roles.is_empty()
    }

    /// Returns the numbers of new hosts of each place to try: those that make all places equal, starting from the
    /// existing nodes; the first `one_by_one` totals have steps of one.
    pub(super) fn numbers(&self, one_by_one: usize) -> Vec<Vec<usize>> {
        let (fewest, most) =
            (self.there.iter().min().copied().unwrap_or(0), self.there.iter().max().copied().unwrap_or(0));
        let mut totals: Vec<usize> = vec![fewest];
        let mut more = 0;
        // No spread needs more hosts than pods.
        while more <= self.pods_max() {
            totals.push(most + more);
            more += if more < one_by_one { 1 } else { more / 4 };
        }
        let numbers = totals
            .into_iter()
            .map(|total| self.there.iter().map(|there| total.saturating_sub(*there)).collect::<Vec<usize>>());
        let mut numbers: Vec<Vec<usize>> = numbers.collect();
        numbers.dedup();
        numbers
    }

    fn pods_max(&self) -> usize {
        self.teams.iter().map(|team| team.pods).max().unwrap_or(0)
    }
}

/// Finds the crews, those of the highest priority first.
pub(in crate::solve::attempt) fn crews<'c>(
    ground: &Ground<'c>,
    census: &'c Census,
    demand: &Demand,
) -> Vec<Crew<'c>> {
    if !ground.topology.spreads_over_hosts() {
        return Vec::new();
    }
    let bound = bound(ground, demand);
    if bound.is_empty() {
        return Vec::new();
    }
    let seen: Vec<Seen<'_>> = ground.nodes.iter().map(Standing::seen).collect();
    let eligible = Eligible::of(ground.topology, &seen);
    let runs = ground.snapshot.pods.iter().filter(|pod| pod.place != PodPlace::Waiting);
    let runs: BTreeSet<&PodKey> = runs.map(|pod| &pod.key).collect();
    let mut teams: BTreeMap<Key<'_>, Vec<Team<'c>>> = BTreeMap::new();
    for (group, shapes) in bound {
        let GroupKind::Spread(spread) = &ground.topology.groups[group].kind else { continue };
        let counts = |place: usize| eligible.sees(group, place) && !ground.nodes[place].node.is_deleting;
        let sees: Vec<bool> = (0..ground.nodes.len()).map(counts).collect();
        let first = &demand.shapes[shapes[0]];
        let pods = || shapes.iter().flat_map(|shape| &demand.shapes[*shape].pods);
        let moves = pods().any(|pod| runs.contains(pod));
        let pods = pods().count();
        let key = Key(Reverse(first.priority), &first.ask.stance, &spread.alternatives);
        let team = Team { group, spread, shapes, sees, moves, pods };
        if !is_stuck(ground, demand, &team) {
            teams.entry(key).or_default().push(team);
        }
    }
    let rules = (ground.topology, census);
    let crews = teams.into_iter().map(|(key, teams)| crew((ground, demand), rules, (key.0.0, teams)));
    crews.collect()
}

/// Priority, tolerations, and the node label requirements of spreads.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Key<'k>(Reverse<i32>, &'k Stance, &'k Option<Vec<Requirements>>);

fn crew<'c>(
    (ground, demand): (&Ground<'_>, &Demand),
    (topology, census): (&'c Topology, &'c Census),
    (priority, teams): (i32, Vec<Team<'c>>),
) -> Crew<'c> {
    let shapes = || teams.iter().flat_map(|team| &team.shapes).map(|shape| &demand.shapes[*shape]);
    let has_pins = shapes().any(|shape| !shape.roles.is_empty());
    let placing = shapes().filter(|shape| !has_pins || !shape.roles.is_empty());
    let stance = shapes().next().map(|shape| shape.ask.stance.clone()).unwrap_or_default();
    let places: BTreeSet<Vec<Requirements>> = placing.map(|shape| shape.ask.alternatives.clone()).collect();
    let places: Vec<Vec<Requirements>> = places.into_iter().collect();
    let sees = |node: usize| teams.iter().any(|team| team.sees[node]);
    let there = |place: &Vec<Requirements>| {
        let open = existing::open_to(ground.nodes, (place, &stance));
        open.into_iter().filter(|node| sees(*node)).count()
    };
    let there = places.iter().map(there).collect();
    Crew { topology, census, priority, teams, places, there, has_pins }
}

/// Returns the shapes that each spread over hosts binds, if nothing else ties their pods to their node.
fn bound(ground: &Ground<'_>, demand: &Demand) -> BTreeMap<usize, Vec<usize>> {
    let mut bound: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut others: BTreeSet<usize> = BTreeSet::new();
    for (place, shape) in demand.shapes.iter().enumerate().filter(|(_, shape)| !shape.pods.is_empty()) {
        for role in shape.ask.company.iter().filter(|role| role.spreads()) {
            if role.is_bound && is_plain(shape) {
                bound.entry(role.group).or_default().push(place);
            } else {
                others.insert(role.group);
            }
        }
    }
    let comes_with_nodes = |group: usize| {
        let mut overheads = ground.supply.pools.iter().flat_map(|pool| &pool.overheads);
        overheads.any(|overhead| overhead.company.there(group).counted > 0)
    };
    let are_alike = |shapes: &[usize]| {
        let key = |shape: &usize| (demand.shapes[*shape].priority, &demand.shapes[*shape].ask.stance);
        shapes.iter().all(|shape| key(shape) == key(&shapes[0]))
    };
    let counts_system_node = |group: usize| match &ground.topology.groups[group].kind {
        GroupKind::Spread(spread) => {
            ground.snapshot.assumes_system_node && eligible::counts_system_node(spread)
        }
        GroupKind::Affinity | GroupKind::AntiAffinity | GroupKind::Volume(_) => false,
    };
    bound.retain(|group, shapes| {
        !others.contains(group)
            && are_alike(shapes)
            && !comes_with_nodes(*group)
            && !counts_system_node(*group)
    });
    bound
}

/// Returns whether one spread over hosts is the only rule that ties pods to their node.
fn is_plain(shape: &Shape) -> bool {
    let ask = &shape.ask;
    let is_one = ask.company.iter().all(|role| role.counted == 1);
    ask.company.len() == 1 && is_one && ask.host_ports.is_empty() && ask.volumes.is_empty()
}

/// Returns whether the spread counts a node that has none of its pods and that none of them can join.
fn is_stuck(ground: &Ground<'_>, demand: &Demand, team: &Team<'_>) -> bool {
    let mut takes = vec![false; ground.nodes.len()];
    for shape in team.shapes.iter().map(|shape| &demand.shapes[*shape]) {
        let ask = shape.ask.unspread();
        for node in existing::open_to(ground.nodes, (&ask.alternatives, &ask.stance)) {
            takes[node] = takes[node] || existing::most(&ground.nodes[node].site, &ask) > 0;
        }
    }
    let is_empty = |node: usize| ground.nodes[node].site.company.there(team.group).counted == 0;
    (0..ground.nodes.len()).any(|node| team.sees[node] && is_empty(node) && !takes[node])
}
