//! Node state of the simulated scheduler: which nodes take a pod now, and which of those score best.
//!
//! The score favors the node with the most free capacity after adding the pod (`LeastAllocated`) and the most balanced
//! use (`BalancedAllocation`), and avoids `PreferNoSchedule` taints. Scores for pod preferences are left out: they only
//! choose among nodes that take a pod.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{Effect, ResourceName};
use crate::solve::demand::{Ask, Shape};
use crate::solve::existing::{self, Standing};
use crate::solve::fit::company::HostRole;
use crate::solve::intern::Bits;
use crate::solve::topology::census::Census;
use crate::solve::topology::eligible::{self, Eligible, Seen};
use crate::solve::topology::group::GroupKind;
use crate::solve::topology::{Role, Topology};

/// Tie-break among nodes with equal scores.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tie {
    /// The first by name.
    First,
    /// The last.
    Last,
}

/// Weight of `PreferNoSchedule` taints relative to free capacity, as in Kubernetes' default profile.
const SOFT_TAINTS_WEIGHT: i64 = 3;

/// Nodes with their pods, and the pods that are to be bound.
#[derive(Clone)]
pub(super) struct Floor<'f> {
    topology: &'f Topology,
    shapes: &'f [Shape],
    nodes: Vec<Standing<'f>>,
    /// The nodes that labels and taints allow for each shape.
    open: Arc<[Bits]>,
    eligible: Arc<Eligible>,
    census: Census,
    /// The requests of each shape without its spread over nodes.
    asks: Arc<[Ask]>,
    /// For each spread over nodes, the number of nodes by pod count.
    levels: BTreeMap<usize, BTreeMap<usize, usize>>,
}

impl<'f> Floor<'f> {
    /// Reads the nodes; `assumes` tells whether a system node is assumed.
    pub(super) fn of(
        topology: &'f Topology,
        (nodes, assumes): (Vec<Standing<'f>>, bool),
        shapes: &'f [Shape],
    ) -> Self {
        let census = Census::of(topology, &nodes);
        let seen: Vec<Seen<'_>> = nodes.iter().map(Standing::seen).collect();
        let eligible = Arc::new(Eligible::of(topology, &seen));
        let open = shapes.iter().map(|shape| {
            let mut open = Bits::none(nodes.len());
            let terms = (&shape.ask.alternatives, &shape.ask.stance);
            existing::open_to(&nodes, terms).into_iter().for_each(|node| open.insert(node));
            open
        });
        let open = open.collect();
        let asks = shapes.iter().map(|shape| shape.ask.unspread()).collect();
        let levels = levels((topology, &eligible), (&nodes, assumes));
        Self { topology, shapes, open, nodes, eligible, census, asks, levels }
    }

    /// Binds a pod of a shape to the node with the best score; returns whether a node takes it.
    pub(super) fn bind(&mut self, shape: usize, tie: Tie) -> bool {
        let taking = self.open[shape].iter().filter(|node| self.takes(shape, *node));
        let best = taking.max_by_key(|node| {
            let order = if tie == Tie::First { Reverse(*node) } else { Reverse(usize::MAX - *node) };
            (self.score(shape, *node), order)
        });
        let Some(node) = best else { return false };
        let Shape { ask, roles, .. } = &self.shapes[shape];
        if self.nodes[node].site.put(&self.asks[shape], 1).is_err() {
            return false;
        }
        self.spread(ask, node);
        for role in roles {
            if let Some(domain) = self.domain(*role, node).filter(|_| self.counts(*role, node)).cloned() {
                self.census.add(*role, &domain, 1);
            }
        }
        true
    }

    fn takes(&self, shape: usize, node: usize) -> bool {
        let Shape { ask, roles, .. } = &self.shapes[shape];
        !self.nodes[node].site.has_no_room(&self.asks[shape])
            && roles.iter().all(|role| self.lets(*role, node))
            && ask.company.iter().filter(|role| role.spreads()).all(|role| self.evens(role, node))
    }

    /// Returns whether a spread over nodes allows a pod on a node now.
    fn evens(&self, role: &HostRole, node: usize) -> bool {
        let GroupKind::Spread(spread) = &self.topology.groups[role.group].kind else { return true };
        if !role.is_bound {
            return true;
        }
        let nodes = self.levels.get(&role.group);
        let count: usize = nodes.into_iter().flat_map(BTreeMap::values).sum();
        let is_short = spread.min_domains.is_some_and(|least| count < least);
        let least = nodes.and_then(BTreeMap::first_key_value).filter(|_| !is_short).map_or(0, |it| *it.0);
        let is_seen = self.eligible.sees(role.group, node);
        let there = if is_seen { self.nodes[node].site.company.there(role.group).counted } else { 0 };
        there + role.counted <= least.saturating_add(spread.max_skew)
    }

    /// Adds a pod on a node to the counts of spreads over nodes.
    fn spread(&mut self, ask: &Ask, node: usize) {
        for role in ask.company.iter().filter(|role| role.spreads()) {
            let company = &mut self.nodes[node].site.company;
            let before = company.there(role.group).counted;
            company.put(std::slice::from_ref(role), 1);
            let after = company.there(role.group).counted;
            if self.eligible.sees(role.group, node)
                && let Some(levels) = self.levels.get_mut(&role.group)
            {
                if let Some(nodes) = levels.get_mut(&before) {
                    *nodes -= 1;
                    if *nodes == 0 {
                        levels.remove(&before);
                    }
                }
                *levels.entry(after).or_default() += 1;
            }
        }
    }

    fn domain(&self, role: Role, node: usize) -> Option<&Arc<str>> {
        self.nodes[node].node.labels.get(&self.topology.groups[role.group].key)
    }

    /// Returns whether the group counts pods on this node.
    fn counts(&self, role: Role, node: usize) -> bool {
        let is_spread = matches!(self.topology.groups[role.group].kind, GroupKind::Spread(_));
        !is_spread || self.eligible.sees(role.group, node)
    }

    /// Returns whether a rule between pods allows a pod on a node now.
    fn lets(&self, role: Role, node: usize) -> bool {
        let kind = &self.topology.groups[role.group].kind;
        let Some(domain) = self.domain(role, node) else {
            return !role.is_bound || matches!(kind, GroupKind::AntiAffinity);
        };
        let there = self.census.tally(role.group, domain);
        match kind {
            GroupKind::Spread(spread) => {
                let least = self.census.least(role.group, spread);
                !role.is_bound || there.counted + role.counted <= least + spread.max_skew
            }
            GroupKind::Affinity | GroupKind::Volume(_) => {
                let is_first = role.counted > 0 && self.census.anywhere(role.group) == 0;
                !role.is_bound || there.counted > 0 || is_first
            }
            GroupKind::AntiAffinity => {
                (!role.is_bound || there.counted == 0) && (role.counted == 0 || there.bound == 0)
            }
        }
    }

    /// Returns the scheduler's score of a node for a pod.
    fn score(&self, shape: usize, node: usize) -> i64 {
        let Standing { node, site, .. } = &self.nodes[node];
        let ask = &self.shapes[shape].ask;
        let free = |name: &ResourceName| {
            let all = node.allocatable.get(name);
            let left = site.room.get(name) - ask.requests.get(name);
            if all > 0 { i64::try_from(i128::from(left) * 100 / i128::from(all)).unwrap_or(0) } else { 0 }
        };
        let [cpu, memory] = [ResourceName::Cpu, ResourceName::Memory].map(|name| free(&name));
        let least = i64::midpoint(cpu, memory);
        let balance = 100 - (cpu - memory).abs() / 2;
        let is_soft = |taint: &crate::model::Taint| {
            taint.effect == Effect::PreferNoSchedule
                && !ask.stance.tolerations.iter().any(|toleration| toleration.tolerates(taint))
        };
        let avoided = if site.taints.iter().any(is_soft) { 0 } else { 100 };
        least + balance + SOFT_TAINTS_WEIGHT * avoided
    }
}

/// Counts, for every spread over nodes, the nodes by pod count.
fn levels(
    (topology, eligible): (&Topology, &Eligible),
    (nodes, assumes): (&[Standing<'_>], bool),
) -> BTreeMap<usize, BTreeMap<usize, usize>> {
    let mut all = BTreeMap::new();
    for (group, there) in topology.groups.iter().enumerate().filter(|(_, group)| group.is_of_hosts()) {
        let GroupKind::Spread(spread) = &there.kind else { continue };
        let seen = nodes.iter().enumerate().filter(|(node, _)| eligible.sees(group, *node));
        let counts = seen.map(|(_, standing)| standing.site.company.there(group).counted);
        let mut levels: BTreeMap<usize, usize> = BTreeMap::new();
        counts.for_each(|count| *levels.entry(count).or_default() += 1);
        if assumes && eligible::counts_system_node(spread) {
            *levels.entry(0).or_default() += 1;
        }
        all.insert(group, levels);
    }
    all
}
