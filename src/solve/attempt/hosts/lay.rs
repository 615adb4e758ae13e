//! Layout of pods over hosts, one by one: each goes to the host with the fewest pods of its spread, as kube-scheduler
//! binds them.
//!
//! A pod may join a host if the host's count with it exceeds the minimum of all counted hosts by at most `maxSkew`. New
//! hosts hold any number of pods: their size is chosen later.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{PodKey, Requirements, SpreadHosts};
use crate::solve::demand::{Ask, Demand, Shape};
use crate::solve::existing::{self, Standing};
use crate::solve::topology::census::Census;
use crate::solve::topology::group::{GroupKind, Spread};
use crate::solve::topology::{Role, Topology};

use super::Even;
use super::crew::{Crew, Team};

/// A new host.
#[derive(Clone, Debug)]
pub(in crate::solve::attempt) struct Host {
    /// Requirements of its labels.
    pub(super) alternatives: Vec<Requirements>,
    /// Index of its place in its crew.
    place: usize,
    /// Its pods, with the indices of their shapes.
    pub(super) pods: Vec<(usize, PodKey)>,
    /// Number of pods of each spread.
    pub(super) counts: BTreeMap<usize, usize>,
}

/// Layout of a crew.
pub(super) struct Laid<'a> {
    /// Existing nodes, with the pods placed there.
    pub(super) nodes: Vec<Standing<'a>>,
    /// The new hosts.
    pub(super) hosts: Vec<Host>,
    /// Number of unplaced pods of each shape.
    pub(super) left: Vec<usize>,
}

impl Laid<'_> {
    /// Returns whether all pods of a crew are placed, and on as many hosts as the fleet requests if hosts are created
    /// or running pods have to move.
    pub(super) fn is_whole(&self, crew: &Crew<'_>, makes: bool, asked: SpreadHosts) -> bool {
        let is_placed = crew.shapes().all(|shape| self.left[shape] == 0);
        let is_wide = |team: &Team<'_>| !(makes || team.moves) || self.is_wide(team, asked);
        is_placed && crew.teams.iter().all(is_wide)
    }

    fn is_wide(&self, team: &Team<'_>, asked: SpreadHosts) -> bool {
        let there = self.nodes.iter().zip(&team.sees).filter(|(_, sees)| **sees);
        let there = there.map(|(standing, _)| standing.site.company.there(team.group).counted);
        let new = self.hosts.iter().filter_map(|host| host.counts.get(&team.group).copied());
        let counts: Vec<usize> = there.chain(new).filter(|count| *count > 0).collect();
        let pods: usize = counts.iter().sum();
        let most = pods.div_ceil(team.spread.max_skew.max(1));
        let least = match asked {
            SpreadHosts::Each => most,
            SpreadHosts::AtLeast(hosts) => most.min(usize::try_from(hosts).unwrap_or(usize::MAX)),
        };
        counts.len() >= least
    }
}

/// Lays out a crew over existing nodes and this many new hosts of each place.
pub(super) fn laid<'a>((crew, demand): (&Crew<'_>, &Demand), there: &Even<'a>, new: &[usize]) -> Laid<'a> {
    let host = |place: usize| Host {
        alternatives: crew.places[place].clone(),
        place,
        pods: Vec::new(),
        counts: BTreeMap::new(),
    };
    let hosts = new.iter().enumerate().flat_map(|(place, count)| std::iter::repeat_n(place, *count));
    let hosts = hosts.map(host).collect();
    let mut laid = Laid { nodes: there.nodes.clone(), hosts, left: there.left.clone() };
    for team in &crew.teams {
        Turn::of(&laid, (crew, team), demand).lay(&mut laid, (team, demand));
    }
    for standing in &mut laid.nodes {
        standing.sort_placed();
    }
    laid
}

/// A host that takes pods: how many of the spread it has, whether it is new, whether it could be removed, and its
/// number; new hosts are numbered after the nodes.
type Open = (usize, bool, bool, usize);

/// The hosts of one spread.
struct Turn<'t> {
    topology: &'t Topology,
    /// Counts of pods in larger domains.
    census: Census,
    /// Larger domains that pods of each shape are pinned to, with their roles in the rules.
    wide: Vec<Vec<(Role, Arc<str>)>>,
    /// Number of hosts by number of pods.
    levels: BTreeMap<usize, usize>,
    /// Number of hosts.
    count: usize,
    /// Hosts that each shape may join.
    open: Vec<BTreeSet<Open>>,
    /// Requirements of each shape, apart from the spread.
    asks: Vec<Ask>,
}

impl<'t> Turn<'t> {
    fn of(laid: &Laid<'_>, (crew, team): (&Crew<'t>, &Team<'_>), demand: &Demand) -> Self {
        let (topology, nodes) = (crew.topology, &laid.nodes);
        let of_shape = |shape: &usize| wide(topology, &demand.shapes[*shape]);
        let wide: Vec<Vec<(Role, Arc<str>)>> = team.shapes.iter().map(of_shape).collect();
        let mut census = crew.census.clone();
        for (role, domain) in wide.iter().flatten() {
            census.open(role.group, domain);
        }
        let count = |node: usize| nodes[node].site.company.there(team.group).counted;
        let mut levels: BTreeMap<usize, usize> = BTreeMap::new();
        let counting = (0..nodes.len()).filter(|node| team.sees[*node]);
        counting.for_each(|node| *levels.entry(count(node)).or_default() += 1);
        if !laid.hosts.is_empty() {
            *levels.entry(0).or_default() += laid.hosts.len();
        }
        let open = team.shapes.iter().map(|shape| {
            let shape = &demand.shapes[*shape];
            let there = existing::open_to(nodes, (&shape.ask.alternatives, &shape.ask.stance));
            let there = there.into_iter().filter(|node| team.sees[*node]).map(|node| {
                let is_spare = nodes[node].is_empty() && nodes[node].placed.is_empty();
                (count(node), false, is_spare, node)
            });
            let new = laid.hosts.iter().enumerate().filter(|(_, host)| crew.may_be(shape, host.place));
            there.chain(new.map(|(number, _)| (0, true, false, nodes.len() + number))).collect()
        });
        let asks = team.shapes.iter().map(|shape| demand.shapes[*shape].ask.unspread()).collect();
        let (open, count) = (open.collect(), levels.values().sum());
        Self { topology, census, wide, count, levels, open, asks }
    }

    /// Returns the smallest number of pods on a host.
    fn least(&self, spread: &Spread) -> usize {
        if spread.min_domains.is_some_and(|least| self.count < least) {
            return 0;
        }
        self.levels.first_key_value().map_or(0, |(least, _)| *least)
    }

    /// Returns whether spreads over larger domains allow another pod of a shape now.
    fn is_open_to(&self, number: usize) -> bool {
        self.wide[number].iter().all(|(role, domain)| {
            let GroupKind::Spread(spread) = &self.topology.groups[role.group].kind else { return true };
            let most = self.census.least(role.group, spread).saturating_add(spread.max_skew);
            !role.is_bound || self.census.tally(role.group, domain).counted + role.counted <= most
        })
    }

    /// Places pods where they are allowed, until none is allowed anywhere.
    fn lay(&mut self, laid: &mut Laid<'_>, (team, demand): (&Team<'_>, &Demand)) {
        loop {
            let waiting = team.shapes.iter().enumerate().filter(|(_, shape)| laid.left[**shape] > 0);
            let waiting = waiting.filter(|(number, _)| self.is_open_to(*number));
            let next = waiting.filter_map(|(number, _)| Some((*self.open[number].first()?, number))).min();
            let Some((host, number)) = next else { return };
            if host.0 >= self.least(team.spread).saturating_add(team.spread.max_skew) {
                return;
            }
            if self.put(laid, (team, demand), (host, number)) {
                self.raise(host);
                for (role, domain) in &self.wide[number] {
                    self.census.add(*role, domain, 1);
                }
            } else {
                self.open[number].remove(&host);
            }
        }
    }

    /// Places a pod of a shape on a host; returns whether it fits.
    fn put(
        &self,
        laid: &mut Laid<'_>,
        (team, demand): (&Team<'_>, &Demand),
        (host, number): (Open, usize),
    ) -> bool {
        let place = team.shapes[number];
        let shape = &demand.shapes[place];
        let pod = &shape.pods[shape.pods.len() - laid.left[place]];
        let there = laid.nodes.len();
        if host.3 < there {
            let standing = &mut laid.nodes[host.3];
            if standing.site.put(&self.asks[number], 1).is_err() {
                return false;
            }
            standing.site.company.put(&shape.ask.company, 1);
            standing.placed.push(pod.clone());
            standing.shapes.push(place);
        } else {
            let host = &mut laid.hosts[host.3 - there];
            host.pods.push((place, pod.clone()));
            *host.counts.entry(team.group).or_default() += 1;
        }
        laid.left[place] -= 1;
        true
    }

    /// Counts one more pod on a host.
    fn raise(&mut self, host: Open) {
        let (count, is_new, is_spare, number) = host;
        for open in self.open.iter_mut().filter(|open| open.contains(&host)) {
            open.remove(&host);
            open.insert((count + 1, is_new, is_spare, number));
        }
        if let Some(hosts) = self.levels.get_mut(&count) {
            *hosts -= 1;
            if *hosts == 0 {
                self.levels.remove(&count);
            }
        }
        *self.levels.entry(count + 1).or_default() += 1;
    }
}

/// Returns the larger domains that pods of a shape are pinned to.
fn wide(topology: &Topology, shape: &Shape) -> Vec<(Role, Arc<str>)> {
    let domain = |role: &Role| {
        let key = topology.groups[role.group].key.as_str();
        let mut values = shape.ask.alternatives.iter().map(|term| term.get(key).and_then(|it| it.single()));
        let first = values.next()??;
        values.all(|value| value == Some(first)).then(|| (*role, first.clone()))
    };
    shape.roles.iter().filter_map(domain).collect()
}
