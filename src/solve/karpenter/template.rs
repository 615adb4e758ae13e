//! What a pool's new nodes start as: labels, the sizes that it may use, what daemonsets take of each, and what
//! its limits leave.
//!
//! Pools are tried by weight, equal ones by name from the end. Nothing here knows of pods that wait.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ClassName, HostPort, Pool, ResourceName, Resources, taint};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::intern::{Bits, Interner};
use crate::solve::market::Market;
use crate::solve::overlay::PoolClass;
use crate::solve::supply::{self, named};

use super::OverlayGate;
use super::amounts::{self, Amounts, Columns};
use super::meeting::{Asked, Meetings};
use super::shelf::Shelf;

/// What a pool's new nodes start as.
pub(super) struct Template<'a> {
    /// The pool.
    pub(super) pool: &'a Pool,
    /// The number of its shelf.
    pub(super) shelf: usize,
    /// What its nodes are before anything is asked.
    pub(super) base: Asked,
    /// The sizes that it may use.
    pub(super) kinds: Bits,
    /// The burstable and HPC ones among them.
    pub(super) to_name: Bits,
    /// What pods may use of each size, beside its daemonsets.
    pub(super) rooms: Vec<Amounts>,
    /// The number of the daemonsets of each size.
    pub(super) group_of: Vec<usize>,
    /// What daemonsets take, by number.
    pub(super) groups: Vec<Group>,
    /// What is left of its limits; a resource that is not named is not limited.
    pub(super) left: Resources,
    /// How many more nodes it might have when the pass began.
    pub(super) nodes_left: Option<i64>,
}

/// What the daemonsets of some sizes take.
pub(super) struct Group {
    /// Their requests.
    pub(super) requests: Amounts,
    /// Their ports.
    pub(super) ports: BTreeSet<HostPort>,
}

/// Returns whether some pool has a taint that only discourages.
pub(super) fn has_soft_taints(templates: &[Template<'_>]) -> bool {
    templates.iter().flat_map(|template| &template.pool.taints).any(|taint| !taint.repels())
}

/// The shelves of all classes, and which is whose.
pub(super) struct Shelves<'a> {
    pub(super) all: Vec<Shelf<'a>>,
    by_class: BTreeMap<&'a ClassName, usize>,
    /// The shelves of pools that NodeOverlays are for.
    by_pool: BTreeMap<&'a PoolClass, usize>,
}

impl<'a> Shelves<'a> {
    pub(super) fn of(market: &'a Market, gate: OverlayGate) -> Self {
        let by_class = market.offered.keys().zip(0..).collect();
        let mut all: Vec<Shelf<'_>> =
            market.offered.values().map(|offered| Shelf::of(&offered.types)).collect();
        let mut by_pool = BTreeMap::new();
        match gate {
            OverlayGate::Closed => {}
            OverlayGate::Open => {
                for (pool, offered) in &market.overlaid.by_pool {
                    by_pool.insert(pool, all.len());
                    all.push(Shelf::of(&offered.types));
                }
            }
        }
        Self { all, by_class, by_pool }
    }

    /// Returns the number of a pool's shelf.
    pub(super) fn of_pool(&self, pool: &Pool) -> Option<usize> {
        let own = (pool.name.clone(), pool.class.clone());
        self.by_pool.get(&own).or_else(|| self.by_class.get(&pool.class)).copied()
    }
}

/// Returns the templates of all pools that nodes may be made of, in the order in which they are tried.
/// `taken` is what the nodes of each pool have, and how many they are.
pub(super) fn templates<'a>(
    (snapshot, policy, market): (&Snapshot, &'a Policy, &Market),
    shelves: &mut Shelves<'a>,
    meetings: &mut Meetings<'_>,
    columns: &Columns,
    taken: &BTreeMap<&str, (Resources, i64)>,
) -> Vec<Template<'a>> {
    let mut pools: Vec<&Pool> = policy.pools.values().rev().collect();
    pools.sort_by_key(|pool| std::cmp::Reverse(pool.weight));
    pools.retain(|pool| supply::refusal(pool, market).is_ok());
    let mut made = Vec::new();
    for pool in pools {
        let Some(shelf) = shelves.of_pool(pool) else { continue };
        let base = meetings.number(&pool.node_requirements());
        let kinds = shelves.all[shelf].stock(base, meetings).sold.clone();
        let (used, nodes) = taken.get(pool.name.as_str()).cloned().unwrap_or_default();
        let mut to_name = kinds.clone();
        kinds.iter().filter(|place| !named::needs_name(shelves.all[shelf].kinds[*place])).for_each(|place| {
            to_name.remove(place);
        });
        let left = pool.limits.iter().map(|(name, limit)| {
            let left = limit.saturating_sub(used.get(name));
            (name.clone(), left)
        });
        let nodes_left = pool.nodes_max.map(|most| i64::try_from(most).unwrap_or(i64::MAX) - nodes);
        let mut template = Template {
            pool,
            shelf,
            base,
            kinds,
            to_name,
            rooms: Vec::new(),
            group_of: Vec::new(),
            groups: Vec::new(),
            left: left.collect(),
            nodes_left,
        };
        if !template.kinds.is_empty() && template.has_variety(&shelves.all[shelf], meetings) {
            template.add_daemons(snapshot, &mut shelves.all[shelf], meetings, columns);
            made.push(template);
        }
    }
    made
}

impl Template<'_> {
    fn has_variety(&self, shelf: &Shelf<'_>, meetings: &Meetings<'_>) -> bool {
        super::variety::lacking(meetings.get(self.base), shelf, &self.kinds).is_empty()
    }

    /// Finds out which daemonsets come with which sizes. Startup taints keep no daemonset away.
    fn add_daemons(
        &mut self,
        snapshot: &Snapshot,
        shelf: &mut Shelf<'_>,
        meetings: &mut Meetings<'_>,
        columns: &Columns,
    ) {
        let mut on: Vec<(usize, Bits)> = Vec::new();
        for (number, daemon) in snapshot.daemons.iter().enumerate() {
            if taint::first_untolerated(&self.pool.taints, &daemon.spec.tolerations).is_some() {
                continue;
            }
            let mut sizes = Bits::none(shelf.kinds.len());
            for wanted in super::nodes::daemon_terms(&daemon.spec) {
                let wanted = meetings.number(&wanted);
                if let Some(joined) = meetings.join(self.base, wanted) {
                    sizes.add(&shelf.stock(joined, meetings).agreeing);
                }
            }
            on.push((number, sizes));
        }
        let mut groups: Interner<Vec<usize>> = Interner::new();
        // What the pool may not use is in no group of its own.
        self.group_of = vec![0; shelf.kinds.len()];
        for place in self.kinds.iter() {
            let here: Vec<usize> =
                on.iter().filter(|(_, sizes)| sizes.has(place)).map(|(number, _)| *number).collect();
            self.group_of[place] = groups.number(&here);
        }
        for group in groups.values() {
            let mut requests = columns.row(&Resources::none());
            let mut ports = BTreeSet::new();
            for number in group {
                let spec = &snapshot.daemons[*number].spec;
                requests = amounts::plus(&requests, &columns.row(&spec.requests));
                ports.extend(spec.host_ports.iter().cloned());
            }
            self.groups.push(Group { requests, ports });
        }
        for (kind, group) in shelf.kinds.iter().zip(&self.group_of) {
            let room = columns.row(&kind.allocatable);
            self.rooms.push(amounts::minus(&room, &self.groups[*group].requests));
        }
    }

    /// Returns the sizes whose whole capacity is within what limits leave.
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

    /// Takes the largest of the sizes that a new claim may become. The number of nodes is not counted down: so
    /// Karpenter has it, and a pass may go beyond it.
    pub(super) fn take_largest(&mut self, shelf: &Shelf<'_>, kinds: &Bits) {
        let names: Vec<ResourceName> = self.left.iter().map(|(name, _)| name.clone()).collect();
        for name in names {
            let largest = kinds.iter().map(|place| shelf.kinds[place].capacity.get(&name)).max().unwrap_or(0);
            let left = self.left.get(&name).saturating_sub(largest);
            self.left.set(name, left);
        }
    }

    /// Returns the most that any of these sizes leaves to pods, resource by resource.
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

    /// Returns what daemonsets take at least of these sizes, as Karpenter counts it: sizes of equal daemonsets one
    /// after the other, the less of each resource that the later names, and nothing of those that it does not.
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
