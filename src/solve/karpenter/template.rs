//! Templates of a pool's new nodes: labels, usable sizes, requests of DaemonSets on each of these, and remaining
//! limits.
//!
//! Pools are tried by weight, equal ones by name in reverse. Never looks at pending pods.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use crate::model::{ClassName, HostPort, Pool, ResourceName, Resources, taint};
use crate::solve::intern::{Bits, Interner};
use crate::solve::market::Market;
use crate::solve::overlay::PoolClass;
use crate::solve::supply::{self, named};

use super::OverlayGate;
use super::amounts::{self, Amounts, Columns};
use super::meeting::Asked;
use super::refusal::Exceeded;
use super::shelf::Shelf;
use super::store::{Memory, Store};

/// Template of a pool's new nodes.
#[derive(Clone)]
pub(super) struct Template<'a> {
    /// The pool.
    pub(super) pool: &'a Pool,
    /// Index of its shelf.
    pub(super) shelf: usize,
    /// Requirements of its nodes before any pod joins.
    pub(super) base: Asked,
    /// Sizes that it may use.
    pub(super) kinds: Bits,
    /// The burstable and HPC ones among them.
    pub(super) to_name: Bits,
    /// Capacity of each size for pods, beside its DaemonSets.
    pub(super) rooms: Rc<[Amounts]>,
    /// Index of the DaemonSet group of each size.
    pub(super) group_of: Rc<[usize]>,
    /// DaemonSet groups, by index.
    pub(super) groups: Rc<[Group]>,
    /// Remaining limits; a resource that is not listed is not limited.
    pub(super) left: Resources,
    /// Number of nodes that may be added before the pass creates any.
    pub(super) nodes_left: Option<i64>,
}

/// The DaemonSets of some sizes.
pub(super) struct Group {
    /// Their requests.
    pub(super) requests: Amounts,
    /// Their ports.
    pub(super) ports: BTreeSet<HostPort>,
}

/// Returns whether some pool has a `PreferNoSchedule` taint.
pub(super) fn has_soft_taints(templates: &[Template<'_>]) -> bool {
    templates.iter().flat_map(|template| &template.pool.taints).any(|taint| !taint.repels())
}

/// The shelves of all classes, and the owner of each.
pub(super) struct Shelves<'a> {
    pub(super) all: Vec<Shelf<'a>>,
    by_class: BTreeMap<&'a ClassName, usize>,
    /// Shelves of pools that have NodeOverlays.
    by_pool: BTreeMap<&'a PoolClass, usize>,
}

impl<'a> Shelves<'a> {
    pub(super) fn of(market: &'a Market, gate: OverlayGate) -> Self {
        let by_class = market.offers.by_class.keys().zip(0..).collect();
        let mut all: Vec<Shelf<'_>> =
            market.offers.by_class.values().map(|offered| Shelf::of(&offered.types)).collect();
        let mut by_pool = BTreeMap::new();
        match gate {
            OverlayGate::Closed => {}
            OverlayGate::Open => {
                for (pool, offered) in &market.offers.overlaid.by_pool {
                    by_pool.insert(pool, all.len());
                    all.push(Shelf::of(&offered.types));
                }
            }
        }
        Self { all, by_class, by_pool }
    }

    /// Returns the index of a pool's shelf.
    pub(super) fn of_pool(&self, pool: &Pool) -> Option<usize> {
        let own = (pool.name.clone(), pool.class.clone());
        self.by_pool.get(&own).or_else(|| self.by_class.get(&pool.class)).copied()
    }
}

/// Returns the templates of all pools that can create nodes, in the order in which they are tried, as if the pools had
/// no nodes yet.
pub(super) fn templates<'m>(
    store: &Store<'m>,
    memory: &mut Memory<'m>,
    columns: &Columns,
) -> Vec<Template<'m>> {
    let mut pools: Vec<&Pool> = store.policy.pools.values().rev().collect();
    pools.sort_by_key(|pool| std::cmp::Reverse(pool.weight));
    pools.retain(|pool| supply::refusal(store.policy, pool, store.market).is_ok());
    let mut made = Vec::new();
    for pool in pools {
        let Some(number) = store.shelves.of_pool(pool) else { continue };
        let shelf = &store.shelves.all[number];
        let base = memory.meetings.number(&pool.node_requirements());
        let kinds = memory.stock(store, number, base).sold.clone();
        let mut to_name = kinds.clone();
        kinds.iter().filter(|place| !named::needs_name(shelf.kinds[*place])).for_each(|place| {
            to_name.remove(place);
        });
        let has_variety = super::variety::lacking(memory.meetings.get(base), shelf, &kinds).is_empty();
        if kinds.is_empty() || !has_variety {
            continue;
        }
        let Daemons { group_of, groups } = daemons(store, memory, (pool, number, base), &kinds, columns);
        let rooms = shelf.kinds.iter().zip(&group_of).map(|(kind, group)| {
            let room = columns.row(&kind.allocatable);
            amounts::minus(&room, &groups[*group].requests)
        });
        made.push(Template {
            pool,
            shelf: number,
            base,
            to_name,
            rooms: rooms.collect(),
            group_of: group_of.into(),
            groups: groups.into(),
            left: pool.limits.clone(),
            nodes_left: pool.nodes_max.map(|most| i64::try_from(most).unwrap_or(i64::MAX)),
            kinds,
        });
    }
    made
}

/// The DaemonSets of the sizes of a pool.
struct Daemons {
    group_of: Vec<usize>,
    groups: Vec<Group>,
}

/// Determines which DaemonSets run on which sizes of a pool. Startup taints keep no DaemonSet away.
fn daemons<'m>(
    store: &Store<'m>,
    memory: &mut Memory<'m>,
    (pool, shelf, base): (&Pool, usize, Asked),
    kinds: &Bits,
    columns: &Columns,
) -> Daemons {
    let size = store.shelves.all[shelf].kinds.len();
    let mut on: Vec<(usize, Bits)> = Vec::new();
    for (number, daemon) in store.snapshot.daemons.iter().enumerate() {
        if taint::first_untolerated(&pool.taints, &daemon.spec.tolerations).is_some() {
            continue;
        }
        let mut sizes = Bits::none(size);
        for wanted in super::nodes::daemon_terms(&daemon.spec) {
            let wanted = memory.meetings.number(&wanted);
            if let Some(joined) = memory.meetings.join(base, wanted) {
                sizes.add(&memory.stock(store, shelf, joined).agreeing);
            }
        }
        on.push((number, sizes));
    }
    let mut numbers: Interner<Vec<usize>> = Interner::new();
    // Sizes that the pool may not use have no group of their own.
    let mut group_of = vec![0; size];
    for place in kinds.iter() {
        let here: Vec<usize> =
            on.iter().filter(|(_, sizes)| sizes.has(place)).map(|(number, _)| *number).collect();
        group_of[place] = numbers.number(&here);
    }
    let groups = numbers.values().iter().map(|group| {
        let mut requests = columns.row(&Resources::none());
        let mut ports = BTreeSet::new();
        for number in group {
            let spec = &store.snapshot.daemons[*number].spec;
            requests = amounts::plus(&requests, &columns.row(&spec.requests));
            ports.extend(spec.host_ports.iter().cloned());
        }
        Group { requests, ports }
    });
    Daemons { group_of, groups: groups.collect() }
}

impl Template<'_> {
    /// Subtracts the capacity and the number of the pool's nodes from its limits.
    pub(super) fn take(&mut self, (used, nodes): &(Resources, i64)) {
        let left = self.pool.limits.iter().map(|(name, limit)| {
            let left = limit.saturating_sub(used.get(name));
            (name.clone(), left)
        });
        self.left = left.collect();
        self.nodes_left = self.nodes_left.map(|most| most - nodes);
    }

    /// Returns the sizes whose whole capacity is within the remaining limits.
    pub(super) fn within_limits(&self, shelf: &Shelf<'_>) -> Bits {
        let mut kinds = self.kinds.clone();
        for place in self.kinds.iter() {
            let capacity = &shelf.kinds[place].capacity;
            if self.left.iter().any(|(name, left)| capacity.get(name) > left) {
                kinds.remove(place);
            }
        }
        kinds
    }

    /// Returns each limit that leaves too little for all of these sizes; if there is none, each that leaves too little
    /// for some of them.
    pub(super) fn exceeded(&self, shelf: &Shelf<'_>, kinds: &Bits) -> Vec<Exceeded> {
        let takes = |name| kinds.iter().map(move |place| shelf.kinds[place].capacity.get(name));
        let limits = |is_for_all: bool| {
            let exceeded = self.left.iter().filter_map(move |(name, left)| {
                let (least, most) = (takes(name).min()?, takes(name).max()?);
                let least = (least > left).then_some(least);
                let is_meant = least.is_some() || !is_for_all && most > left;
                is_meant.then(|| Exceeded { name: name.clone(), left: left.max(0), least })
            });
            exceeded.collect::<Vec<_>>()
        };
        let for_all = limits(true);
        if for_all.is_empty() { limits(false) } else { for_all }
    }

    /// Subtracts the largest of the sizes that a new claim may become. The number of nodes is not counted down, as in
    /// Karpenter, so a pass may exceed it.
    pub(super) fn take_largest(&mut self, shelf: &Shelf<'_>, kinds: &Bits) {
        let names: Vec<ResourceName> = self.left.iter().map(|(name, _)| name.clone()).collect();
        for name in names {
            let largest = kinds.iter().map(|place| shelf.kinds[place].capacity.get(&name)).max().unwrap_or(0);
            let left = self.left.get(&name).saturating_sub(largest);
            self.left.set(name, left);
        }
    }

    /// Returns the maximum capacity for pods of these sizes, resource by resource.
    pub(super) fn most(&self, kinds: &Bits) -> Amounts {
        let mut most: Option<Amounts> = None;
        for place in kinds.iter() {
            match &mut most {
                Some(most) => amounts::raise(most, &self.rooms[place]),
                None => most = Some(self.rooms[place].clone()),
            }
        }
        most.unwrap_or_default()
    }

    /// Returns the minimum requests of DaemonSets on these sizes, as Karpenter counts them: groups of sizes with equal
    /// DaemonSets one after the other, with the minimum of each resource that the later group names, and zero for the
    /// others.
    pub(super) fn least_overhead(&self, kinds: &Bits) -> Amounts {
        let groups: BTreeSet<usize> = kinds.iter().map(|place| self.group_of[place]).collect();
        let none = vec![0; self.rooms.first().map_or(0, Vec::len)];
        let rows = groups.into_iter().map(|group| &self.groups[group].requests);
        rows.fold(none, |least, row| {
            let pairs = least.iter().zip(row);
            pairs.map(|(least, amount)| if *least == 0 { *amount } else { *least.min(amount) }).collect()
        })
    }
}
