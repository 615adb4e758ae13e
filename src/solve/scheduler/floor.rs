//! Nodes while the scheduler fills them: which take a pod now, and which of those it likes best.
//!
//! It likes what is emptiest with the pod (`LeastAllocated`) and most evenly full (`BalancedAllocation`), and avoids
//! taints that only ask to be avoided. What it adds for preferences of pods is left out: those only choose among nodes
//! that take a pod.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::model::{Effect, ResourceName};
use crate::solve::demand::Shape;
use crate::solve::existing::{self, Standing};
use crate::solve::intern::Bits;
use crate::solve::topology::census::Census;
use crate::solve::topology::eligible::{Eligible, Seen};
use crate::solve::topology::group::GroupKind;
use crate::solve::topology::{Role, Topology};

/// Which of equal nodes is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Tie {
    /// The first by name.
    First,
    /// The last.
    Last,
}

/// The weight of soft taints beside how empty a node is, as Kubernetes' default profile has it.
const SOFT_TAINTS_WEIGHT: i64 = 3;

/// Nodes, who is where, and the pods that are to be bound.
#[derive(Clone)]
pub(super) struct Floor<'f> {
    topology: &'f Topology,
    shapes: &'f [Shape],
    nodes: Vec<Standing<'f>>,
    /// The nodes that each shape may join as far as labels and taints go.
    open: Arc<[Bits]>,
    eligible: Arc<Eligible>,
    census: Census,
}

impl<'f> Floor<'f> {
    pub(super) fn of(topology: &'f Topology, nodes: Vec<Standing<'f>>, shapes: &'f [Shape]) -> Self {
        let census = Census::of(topology, &nodes);
        let seen: Vec<Seen<'_>> = nodes.iter().map(Standing::seen).collect();
        let eligible = Arc::new(Eligible::of(topology, &seen));
        let open = shapes.iter().map(|shape| {
            let mut open = Bits::none(nodes.len());
            let terms = (&shape.ask.alternatives, &shape.ask.stance);
            existing::open_to(&nodes, terms).into_iter().for_each(|node| open.insert(node));
            open
        });
        Self { topology, shapes, open: open.collect(), nodes, eligible, census }
    }

    /// Binds a pod of a shape to the node that the scheduler likes best; returns whether one takes it.
    pub(super) fn bind(&mut self, shape: usize, tie: Tie) -> bool {
        let taking = self.open[shape].iter().filter(|node| self.takes(shape, *node));
        let best = taking.max_by_key(|node| {
            let order = if tie == Tie::First { Reverse(*node) } else { Reverse(usize::MAX - *node) };
            (self.score(shape, *node), order)
        });
        let Some(node) = best else { return false };
        let Shape { ask, roles, .. } = &self.shapes[shape];
        if self.nodes[node].site.put(ask, 1).is_err() {
            return false;
        }
        for role in roles {
            if let Some(domain) = self.domain(*role, node).filter(|_| self.counts(*role, node)).cloned() {
                self.census.add(*role, &domain, 1);
            }
        }
        true
    }

    fn takes(&self, shape: usize, node: usize) -> bool {
        let Shape { ask, roles, .. } = &self.shapes[shape];
        !self.nodes[node].site.has_no_room(ask) && roles.iter().all(|role| self.lets(*role, node))
    }

    fn domain(&self, role: Role, node: usize) -> Option<&Arc<str>> {
        self.nodes[node].node.labels.get(&self.topology.groups[role.group].key)
    }

    /// Whether a pod on this node is counted where the group counts it at all.
    fn counts(&self, role: Role, node: usize) -> bool {
        let is_spread = matches!(self.topology.groups[role.group].kind, GroupKind::Spread(_));
        !is_spread || self.eligible.sees(role.group, node)
    }

    /// Whether a rule between pods lets a pod come to a node now.
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

    /// How much the scheduler likes a node for a pod.
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
