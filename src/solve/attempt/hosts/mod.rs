//! Pods that are spread over hosts, laid out as kube-scheduler counts them: each to the host with the fewest of them.
//!
//! The number of new hosts is decided first; then every pod goes to a node that is there, or to one of those hosts. What
//! comes to a new host is packed as one (`joined`), so that no host has fewer of them than the others may be ahead of. Where
//! a host counts that none of them can ever come to, each new node gets no more than `maxSkew`: that is a rule of
//! [`crate::solve::fit`], and nothing is laid out here. Nodes are never opened here.

mod crew;
mod joined;
mod lay;

use crate::model::{PodKey, SpreadHosts};
use crate::solve::demand::{Demand, Shape};
use crate::solve::existing::{self, Standing};
use crate::solve::topology::domains::{Outside, Places, THERE};

use super::Ground;
pub(super) use crew::{Crew, crews};
pub(super) use joined::{joined, parted};
pub(super) use lay::Host;
use lay::Laid;

/// How many more hosts of a place than are there are looked at one by one; of more, ever fewer numbers are.
const ONE_BY_ONE: usize = 8;

/// The most numbers of hosts whose price is looked at.
const PRICED_MAX: usize = 12;

/// How many new hosts a crew gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum New {
    /// As many as are cheapest, and at least so many.
    AtLeast(usize),
    /// As many as are cheapest of no more than these, which limits leave: fewer than the fleet asks for, if need be.
    AtMost(usize),
    /// None: whom the nodes that are there do not take is left over.
    None,
}

impl New {
    /// Returns whether so many are tried.
    const fn holds(self, count: usize) -> bool {
        match self {
            Self::AtLeast(least) => count >= least,
            Self::AtMost(most) => count <= most,
            Self::None => count == 0,
        }
    }

    /// Returns over how many hosts a workload is spread: never against a limit.
    fn spread_hosts(self, asked: SpreadHosts) -> SpreadHosts {
        match (self, asked) {
            (Self::AtMost(most), SpreadHosts::AtLeast(hosts)) => {
                SpreadHosts::AtLeast(hosts.min(u32::try_from(most).unwrap_or(u32::MAX)))
            }
            (Self::AtLeast(_) | Self::AtMost(_) | Self::None, asked) => asked,
        }
    }
}

/// Everybody who goes to nodes that are there, and those who are spread over hosts on new ones.
pub(super) struct Even<'a> {
    /// The nodes, filled.
    pub(super) nodes: Vec<Standing<'a>>,
    /// How many pods of each shape are left to be packed.
    pub(super) left: Vec<usize>,
    /// What comes to each new host.
    pub(super) hosts: Vec<Host>,
    /// How many pods of each shape are left over.
    pub(super) unplaced: Vec<usize>,
}

/// Lays out these crews, and fills nodes with all others; nothing where no number of new hosts would do.
pub(super) fn even<'a>(
    ground: &Ground<'a>,
    demand: &Demand,
    crews: &[Crew<'_>],
    new: New,
) -> Option<Even<'a>> {
    let nodes = ground.nodes.to_vec();
    let left: Vec<usize> = demand.shapes.iter().map(|shape| shape.pods.len()).collect();
    let mut even = Even { nodes, unplaced: vec![0; left.len()], left, hosts: Vec::new() };
    let is_in = |place: usize| crews.iter().any(|crew| crew.shapes().any(|shape| shape == place));
    let mut is_filled: Vec<bool> = (0..demand.shapes.len()).map(is_in).collect();
    for crew in crews {
        even.fill(demand, &mut is_filled, |shape| shape.priority > crew.priority);
        let laid = match new {
            New::AtLeast(_) | New::AtMost(_) => cheapest(ground, demand, (crew, new), &even)?,
            New::None => lay::laid((crew, demand), &even, &vec![0; crew.places.len()]),
        };
        for shape in crew.shapes() {
            even.unplaced[shape] = laid.left[shape];
            even.left[shape] = 0;
        }
        even.nodes = laid.nodes;
        even.hosts.extend(laid.hosts.into_iter().filter(|host| !host.pods.is_empty()));
    }
    even.fill(demand, &mut is_filled, |_| true);
    Some(even)
}

impl<'a> Even<'a> {
    /// Fills nodes where nobody is laid out over hosts.
    pub(super) fn without_crews(demand: &Demand, nodes: &[Standing<'a>]) -> Self {
        let mut nodes = nodes.to_vec();
        let left = existing::fill(demand, &mut nodes);
        Self { nodes, unplaced: vec![0; left.len()], left, hosts: Vec::new() }
    }

    /// Fills nodes with the pods of shapes that are meant and were not looked at yet.
    fn fill(&mut self, demand: &Demand, is_filled: &mut [bool], is_meant: impl Fn(&Shape) -> bool) {
        let mut meant = demand.clone();
        for (place, shape) in meant.shapes.iter_mut().enumerate() {
            if is_filled[place] || !is_meant(shape) {
                shape.pods.clear();
            } else {
                is_filled[place] = true;
            }
        }
        let left = existing::fill(&meant, &mut self.nodes);
        let filled = meant.shapes.iter().enumerate().filter(|(_, shape)| !shape.pods.is_empty());
        for (place, _) in filled {
            self.left[place] = left[place];
        }
    }
}

/// Names the pods that are left over, so many of each shape: the last by name.
pub(super) fn unplaced(demand: &Demand, counts: &[usize]) -> Vec<(usize, PodKey)> {
    let of_shape = |(place, count): (usize, &usize)| {
        let pods = &demand.shapes[place].pods;
        pods[pods.len() - count..].iter().map(|pod| (place, pod.clone())).collect::<Vec<_>>()
    };
    counts.iter().enumerate().flat_map(of_shape).collect()
}

/// Returns how a crew is laid out with the number of new hosts, of those that are asked for, that costs least; nothing where
/// none would do. Where all have a place on nodes that are there, no host is added.
fn cheapest<'a>(
    ground: &Ground<'a>,
    demand: &Demand,
    (crew, asked): (&Crew<'_>, New),
    there: &Even<'a>,
) -> Option<Laid<'a>> {
    let mut best: Option<(i64, Laid<'a>)> = None;
    let mut priced = 0;
    let spread_hosts = asked.spread_hosts(ground.policy.fleet.spread_hosts);
    for new in crew.numbers(ONE_BY_ONE) {
        let count: usize = new.iter().sum();
        if !asked.holds(count) || priced == PRICED_MAX {
            continue;
        }
        let laid = lay::laid((crew, demand), there, &new);
        if !laid.is_whole(crew, count > 0, spread_hosts) {
            continue;
        }
        if count == 0 {
            return Some(laid);
        }
        let Some(price) = price(ground, demand, &laid.hosts) else { continue };
        priced += 1;
        if best.as_ref().is_none_or(|(other, _)| price < *other) {
            best = Some((price, laid));
        }
    }
    best.map(|(_, laid)| laid)
}

/// Returns what nodes for these hosts cost at least, each by itself; nothing where no size holds one of them.
fn price(ground: &Ground<'_>, demand: &Demand, hosts: &[Host]) -> Option<i64> {
    let shapes: Vec<Shape> =
        hosts.iter().filter(|host| !host.pods.is_empty()).map(|host| joined::as_one(demand, host)).collect();
    let mut places = Places::of((ground.supply, ground.memo), &[]);
    let mut sum = 0_i64;
    for alike in shapes.chunk_by(|one, other| one.ask == other.ask) {
        let cells = places.cells(&alike[0], &[], Outside::Last);
        let new = cells.iter().filter(|cell| cell.tier != THERE);
        let (_, price) = new.map(|cell| (cell.tier, cell.price)).min()?;
        let count = i64::try_from(alike.len()).unwrap_or(i64::MAX);
        sum = sum.saturating_add(price.saturating_mul(count));
    }
    Some(sum)
}
