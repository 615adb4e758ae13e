//! Topology spread over hosts, as kube-scheduler counts it: each pod goes to the host with the fewest of them.
//!
//! The number of new hosts is decided first; then every pod goes to an existing node or to one of those hosts. The pods
//! of a new host are packed as one (`joined`), so that no host has fewer of them than the skew allows. If a host counts
//! that none of the pods can ever run on, each new node gets at most `maxSkew` of them: that is a rule of
//! [`crate::solve::fit`], and nothing is laid out here. Never opens nodes.

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

/// Number of additional hosts of a place up to which every number is tried; beyond it, the steps grow.
const ONE_BY_ONE: usize = 8;

/// Maximum number of host counts whose price is computed.
const PRICED_MAX: usize = 12;

/// Number of new hosts that a crew gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum New {
    /// The cheapest number, but at least this many.
    AtLeast(usize),
    /// The cheapest number, but at most this many, which limits allow: fewer than the fleet requests if needed.
    AtMost(usize),
    /// None: pods that do not fit on existing nodes are unplaced.
    None,
}

impl New {
    /// Returns whether this number is tried.
    const fn holds(self, count: usize) -> bool {
        match self {
            Self::AtLeast(least) => count >= least,
            Self::AtMost(most) => count <= most,
            Self::None => count == 0,
        }
    }

    /// Returns the number of hosts that a workload is spread over, which never exceeds a limit.
    fn spread_hosts(self, asked: SpreadHosts) -> SpreadHosts {
        match (self, asked) {
            (Self::AtMost(most), SpreadHosts::AtLeast(hosts)) => {
                SpreadHosts::AtLeast(hosts.min(u32::try_from(most).unwrap_or(u32::MAX)))
            }
            (Self::AtLeast(_) | Self::AtMost(_) | Self::None, asked) => asked,
        }
    }
}

/// Pods placed on existing nodes, and pods spread over new hosts.
pub(super) struct Even<'a> {
    /// Existing nodes, filled.
    pub(super) nodes: Vec<Standing<'a>>,
    /// Number of pods of each shape that are left to be packed.
    pub(super) left: Vec<usize>,
    /// New hosts with their pods.
    pub(super) hosts: Vec<Host>,
    /// Number of unplaced pods of each shape.
    pub(super) unplaced: Vec<usize>,
}

/// Lays out these crews, and fills nodes with all other pods; `None` if no number of new hosts works.
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
    /// Fills nodes if no pods are laid out over hosts.
    pub(super) fn without_crews(demand: &Demand, nodes: &[Standing<'a>]) -> Self {
        let mut nodes = nodes.to_vec();
        let left = existing::fill(demand, &mut nodes);
        Self { nodes, unplaced: vec![0; left.len()], left, hosts: Vec::new() }
    }

    /// Fills nodes with the pods of matching shapes that were not filled before.
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

/// Returns the unplaced pods, this many of each shape: the last by name.
pub(super) fn unplaced(demand: &Demand, counts: &[usize]) -> Vec<(usize, PodKey)> {
    let of_shape = |(place, count): (usize, &usize)| {
        let pods = &demand.shapes[place].pods;
        pods[pods.len() - count..].iter().map(|pod| (place, pod.clone())).collect::<Vec<_>>()
    };
    counts.iter().enumerate().flat_map(of_shape).collect()
}

/// Returns the layout of a crew with the cheapest of the requested numbers of new hosts; `None` if none works. If all
/// pods fit on existing nodes, no host is added.
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

/// Returns the minimum price of nodes for these hosts, each priced separately; `None` if no size holds one of them.
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
