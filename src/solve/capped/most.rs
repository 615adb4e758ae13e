//! Upper bound on the number of pods of a kind that nodes can hold within limits, however all are packed.
//!
//! No node holds more pods per unit of a limit than the best one does, so the limit times that ratio bounds the pods on
//! all nodes that it counts, existing and new. The bound is never too low: rules between pods, and other uses of
//! capacity, only reduce the number. Prices matter only for the cost limit; places and other pods are ignored.

use std::collections::BTreeMap;

use crate::model::{MicroUsdPerHour, Namespace, Node, PodSpec, PoolName, Requirements, Resources, Stance};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::demand::Ask;
use crate::solve::existing;
use crate::solve::fit::company::{Company, HostRule};
use crate::solve::fit::limits::{Counter, Ledger};
use crate::solve::fit::taints;
use crate::solve::ledger::{self, Limiting};
use crate::solve::price::Uncommitted;
use crate::solve::shrink::trial::Scene;
use crate::solve::supply::{Kind, PoolSupply};
use crate::solve::topology::Topology;

/// Limits, and what they count.
pub(super) struct Most<'a> {
    topology: &'a Topology,
    pools: &'a [PoolSupply<'a>],
    nodes: &'a [Node],
    /// All limits, with nothing used.
    limits: Ledger,
    /// Nodes that pods with these node terms and tolerations may join, once computed.
    open: BTreeMap<(Vec<Requirements>, Stance), Vec<&'a Node>>,
}

/// Something that holds pods: how many, and how much it uses of a limit, `None` if unknown.
struct Holder {
    pods: usize,
    charge: Option<i64>,
}

/// A size that pods may run on: how many it holds, and its lowest price.
struct Way<'a> {
    kind: &'a Kind<'a>,
    pods: usize,
    price: Option<MicroUsdPerHour>,
}

impl<'a> Most<'a> {
    pub(super) fn of(scene: &Scene<'a>, snapshot: &'a Snapshot) -> Self {
        let Scene { policy, topology, supply, .. } = *scene;
        let (pools, nodes) = (&*supply.pools, &*snapshot.nodes);
        Self { topology, pools, nodes, limits: limits(policy), open: BTreeMap::new() }
    }

    /// Returns how many pods of a kind may fit; from `enough` on the exact number does not matter.
    pub(super) fn up_to(&mut self, spec: &PodSpec, namespace: &Namespace, enough: usize) -> usize {
        let mut ask = Ask::of(spec);
        // Pods that must be next to others, or are spread, may share a node with any number of them.
        ask.company = self.topology.on_hosts(self.topology.roles_of(spec, namespace));
        ask.company.retain(|role| role.rule == HostRule::Apart);
        let mut by_pool: Vec<(&PoolSupply<'a>, Vec<Way<'a>>)> = Vec::new();
        for pool in self.pools {
            let ways = ways(pool, &ask);
            if !ways.is_empty() && !self.limits.limits(&pool.pool.name) {
                return usize::MAX;
            }
            by_pool.push((pool, ways));
        }
        let new_alone = self.held(&by_pool, &[]);
        if new_alone >= enough {
            return new_alone;
        }
        let terms = (ask.alternatives.clone(), ask.stance.clone());
        let nodes = self.nodes;
        let open = self.open.entry(terms).or_insert_with_key(|(alternatives, stance)| {
            let mut open: Vec<&Node> = Vec::new();
            open.extend(nodes.iter().filter(|node| existing::is_open(node, (alternatives, stance))));
            open
        });
        let there: Vec<(&Node, usize)> =
            open.iter().map(|node| (*node, on_empty(&node.allocatable, &ask))).collect();
        self.held(&by_pool, &there)
    }

    /// Returns how many pods these sizes and existing nodes hold within all limits.
    fn held(&self, by_pool: &[(&PoolSupply<'a>, Vec<Way<'a>>)], there: &[(&Node, usize)]) -> usize {
        let is_of = |node: &Node, pool: &PoolName| node.pool.as_ref() == Some(pool);
        let is_of_any = |node: &Node| by_pool.iter().any(|(pool, _)| is_of(node, &pool.pool.name));
        let outside = there.iter().filter(|(node, _)| !is_of_any(node)).map(|(_, pods)| *pods);
        let mut sum = outside.fold(0, usize::saturating_add);
        for (pool, ways) in by_pool {
            let name = &pool.pool.name;
            let own: Vec<(&Node, usize)> =
                there.iter().filter(|(node, _)| is_of(node, name)).copied().collect();
            let of_pool = self.least(|counter| is_of_pool(counter, name), (ways.iter(), &own));
            sum = sum.saturating_add(match ways.is_empty() {
                true => own.iter().map(|(_, pods)| *pods).fold(0, usize::saturating_add),
                false => of_pool,
            });
        }
        let all = || by_pool.iter().flat_map(|(_, ways)| ways);
        sum.min(self.least(is_of_fleet, (all(), there)))
    }

    /// Returns how many pods they hold within the tightest of some limits.
    fn least<'w>(
        &self,
        is_asked: impl Fn(&Counter) -> bool,
        (ways, there): (impl Iterator<Item = &'w Way<'w>> + Clone, &[(&Node, usize)]),
    ) -> usize {
        let asked = self.limits.iter().filter(|(_, counter, _)| is_asked(counter));
        let of_counter = |(_, counter, limit): (usize, &Counter, i64)| {
            let there =
                there.iter().map(|(node, pods)| Holder { pods: *pods, charge: of_node(counter, node) });
            let new = ways.clone().map(|way| Holder { pods: way.pods, charge: Some(of_size(counter, way)) });
            within(limit, there, new)
        };
        asked.map(of_counter).min().unwrap_or(usize::MAX)
    }
}

/// Returns how many pods these hold within a limit: existing nodes hold what they do, even beyond the limit.
fn within(
    limit: i64,
    there: impl Iterator<Item = Holder> + Clone,
    new: impl Iterator<Item = Holder>,
) -> usize {
    let used = there.clone().filter_map(|holder| holder.charge).fold(0, i64::saturating_add);
    let amount = i128::from(limit.max(used).max(0));
    let uncounted = there.clone().filter(|holder| holder.charge.is_none()).map(|holder| holder.pods);
    let uncounted = uncounted.fold(0, usize::saturating_add);
    let most = |holder: Holder| match (holder.charge, holder.pods) {
        (None, _) | (_, 0) => 0,
        (Some(..=0), _) => usize::MAX,
        (Some(charge), pods) => {
            let pods = i128::try_from(pods).unwrap_or(i128::MAX);
            let held = amount.saturating_mul(pods) / i128::from(charge);
            usize::try_from(held).unwrap_or(usize::MAX)
        }
    };
    there.chain(new).map(most).max().unwrap_or(0).saturating_add(uncounted)
}

/// Returns whether some pool creates nodes for such pods, and no limit counts any of those.
pub(in crate::solve) fn is_unlimited(scene: &Scene<'_>, ask: &Ask) -> bool {
    let limits = limits(scene.policy);
    let mut pools = scene.supply.pools.iter().filter(|pool| !ways(pool, ask).is_empty()).peekable();
    pools.peek().is_some() && pools.all(|pool| !limits.limits(&pool.pool.name))
}

/// Returns all limits of the user, with nothing used. Quotas are left out, which never makes a bound too low.
fn limits(policy: &Policy) -> Ledger {
    ledger::opened(Limiting { policy, quota: None }, [], &Uncommitted(Vec::new()), MicroUsdPerHour(0))
}

/// Returns the sizes of a pool that hold such a pod alone.
fn ways<'a>(pool: &'a PoolSupply<'a>, ask: &Ask) -> Vec<Way<'a>> {
    let mut found: BTreeMap<usize, Way<'a>> = BTreeMap::new();
    if !taints::are_stood(&pool.pool.taints, &ask.stance) {
        return Vec::new();
    }
    for alternative in &ask.alternatives {
        let Some(mut reach) = pool.reach(alternative) else { continue };
        pool.unnamed(alternative).iter().for_each(|kind| reach.kinds.remove(kind));
        for place in reach.kinds.iter() {
            let kind = &pool.kinds[place];
            let usable = kind.offerings.iter().filter(|usable| reach.placements.has(usable.placement));
            // Offerings of a size mostly have the same DaemonSets.
            let mut last: Option<(usize, usize)> = None;
            for usable in usable {
                let overhead = usable.overhead;
                let pods = match last {
                    Some((same, pods)) if same == overhead => pods,
                    Some(_) | None => {
                        on_empty(&kind.kind.allocatable.minus(&pool.overheads[overhead].requests), ask)
                    }
                };
                last = Some((overhead, pods));
                let price = usable.quote.effective.known();
                let way = found.entry(place).or_insert(Way { kind, pods, price });
                way.pods = way.pods.max(pods);
                way.price = [way.price, price].into_iter().flatten().min();
            }
        }
    }
    found.into_values().filter(|way| way.pods > 0).collect()
}

/// Returns how many such pods fit into this capacity with nothing else.
fn on_empty(room: &Resources, ask: &Ask) -> usize {
    let asked = ask.requests.iter().filter(|(_, amount)| *amount > 0);
    let by_resource =
        asked.map(|(name, amount)| usize::try_from((room.get(name) / amount).max(0)).unwrap_or(usize::MAX));
    let by_port = (!ask.host_ports.is_empty()).then_some(1);
    let by_company = Company::default().most(&ask.company);
    by_resource.chain(by_port).chain([by_company]).min().unwrap_or(usize::MAX)
}

fn is_of_pool(counter: &Counter, pool: &PoolName) -> bool {
    match counter {
        Counter::PoolResource(own, _) | Counter::PoolNodes(own) => own == pool,
        Counter::FleetResource(_)
        | Counter::FleetNodes
        | Counter::FleetCost
        | Counter::Commitment(_)
        | Counter::Quota(_) => false,
    }
}

const fn is_of_fleet(counter: &Counter) -> bool {
    match counter {
        Counter::FleetResource(_) | Counter::FleetNodes | Counter::FleetCost => true,
        Counter::PoolResource(..) | Counter::PoolNodes(_) | Counter::Commitment(_) | Counter::Quota(_) => {
            false
        }
    }
}

/// Returns how much an existing node uses of a limit that counts it; `None` if that depends on its price.
fn of_node(counter: &Counter, node: &Node) -> Option<i64> {
    match counter {
        Counter::PoolResource(_, name) | Counter::FleetResource(name) => Some(node.capacity.get(name)),
        Counter::PoolNodes(_) | Counter::FleetNodes => Some(1),
        Counter::FleetCost | Counter::Commitment(_) | Counter::Quota(_) => None,
    }
}

/// Returns the minimum that a new node uses of a limit that counts it. A size without a known price exceeds the cost
/// limit.
fn of_size(counter: &Counter, way: &Way<'_>) -> i64 {
    match counter {
        Counter::PoolResource(_, name) | Counter::FleetResource(name) => way.kind.kind.capacity.get(name),
        Counter::PoolNodes(_) | Counter::FleetNodes => 1,
        Counter::FleetCost => way.price.map_or(i64::MAX, |price| price.0),
        Counter::Commitment(_) | Counter::Quota(_) => 0,
    }
}
