//! Finds the places where pods of a shape could be, by the labels that groups use: zones, capacity types and the like.
//!
//! Returns what exists and the price of the cheapest node there; never chooses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::catalog::NO_ZONE;
use crate::model::{HostPort, LabelKey, Requirement, Requirements, Resources, Stance, label};
use crate::solve::demand::Shape;
use crate::solve::existing::{self, Standing};
use crate::solve::fit::{labels, taints};
use crate::solve::intern::Bits;
use crate::solve::memo::Memo;
use crate::solve::supply::reach::Reach;
use crate::solve::supply::{PoolSupply, Supply};

/// One value, or none, for each of the labels in use.
pub type Values = Vec<Option<Arc<str>>>;

/// A place, identified by its labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// [`THERE`] for existing nodes; else by the weight of the pools that have a size for the pod there, the heaviest
    /// first.
    pub tier: usize,
    /// Whether it is outside zones while others are in one: such places are used last.
    pub is_last: bool,
    /// Price of the cheapest new node there that holds one of the pods; zero for existing nodes.
    pub price: i64,
    /// Number of such pods that existing nodes there would hold without other new pods; `None` for new nodes.
    pub room: Option<usize>,
    /// The values.
    pub values: Values,
}

/// The tier of existing nodes: they are filled before any is bought.
pub const THERE: usize = 0;

/// Returns the tier of new nodes of pools of this weight, given its index among the weights.
#[must_use]
pub const fn tier_of_new(weight: usize) -> usize {
    weight + 1
}

/// How to treat new nodes outside zones if others could be in zones; without such others, they are used as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outside {
    /// They are excluded for pods that are spread over zones or have zonal volumes.
    Never,
    /// They are used last: pods only have to be apart.
    Last,
    /// They are a domain like any other if there are fewer zones than this required number.
    From(usize),
}

impl Outside {
    fn apply(self, zone: usize, found: &mut Found) {
        let is_outside = |cell: &Cell| cell.values[zone].as_deref() == Some(NO_ZONE);
        let zones: BTreeSet<_> =
            found.values().filter(|cell| !is_outside(cell)).map(|cell| &cell.values[zone]).collect();
        let zones = zones.len();
        match self {
            _ if zones == 0 => {}
            Self::Last => found.values_mut().for_each(|cell| cell.is_last = is_outside(cell)),
            Self::From(least) if zones < least => {}
            Self::From(_) | Self::Never => found.retain(|_, cell| !is_outside(cell)),
        }
    }
}

/// Finds places.
pub struct Places<'w> {
    supply: &'w Supply<'w>,
    nodes: &'w [Standing<'w>],
    memo: &'w Memo,
    pools: BTreeMap<(usize, Vec<LabelKey>), Ways>,
    /// The reach of each set of node terms, pool by pool.
    reached: BTreeMap<&'w Vec<Requirements>, Vec<Vec<Reached<'w>>>>,
    /// The values of existing nodes.
    there: BTreeMap<Vec<LabelKey>, There>,
    /// The nodes that node terms and taints allow, regardless of capacity.
    open: BTreeMap<(&'w Vec<Requirements>, &'w Stance), Vec<usize>>,
}

/// Cells by their values and tier.
pub(in crate::solve) type Found = BTreeMap<(Values, usize), Cell>;

/// Everything that decides where a new node for a pod may be: the labels in use, and the pod's requirements.
pub(in crate::solve) type Asked = (Vec<LabelKey>, Resources, Vec<Requirements>, Stance, BTreeSet<HostPort>);

/// An alternative of node terms, and its reach in a pool.
struct Reached<'w> {
    alternative: &'w Requirements,
    reach: Reach,
    /// The sizes that it would have to name but does not.
    unnamed: Bits,
}

/// The distinct values of nodes, and the index of each node's values.
#[derive(Default)]
struct There {
    values: Vec<Values>,
    of_node: Vec<usize>,
}

/// The ways to buy a node of a pool, the cheapest first, and their distinct labels.
#[derive(Default)]
struct Ways {
    /// The current or possible values of each label; `None` if the label is absent.
    labels: Vec<Vec<Option<Requirement>>>,
    entries: Vec<Entry>,
}

/// A way to buy a node of a pool.
struct Entry {
    kind: usize,
    usable: usize,
    price: i64,
    /// The index of its labels in [`Ways::labels`].
    labels: usize,
}

impl<'w> Places<'w> {
    /// Prepares a search over what can be bought and the existing nodes.
    #[must_use]
    pub(in crate::solve) const fn of(
        (supply, memo): (&'w Supply<'w>, &'w Memo),
        nodes: &'w [Standing<'w>],
    ) -> Self {
        Self {
            supply,
            nodes,
            memo,
            pools: BTreeMap::new(),
            reached: BTreeMap::new(),
            there: BTreeMap::new(),
            open: BTreeMap::new(),
        }
    }

    /// Returns every place where one pod of the shape fits, by weight and price: once per weight.
    pub fn cells(&mut self, shape: &'w Shape, keys: &[LabelKey], outside: Outside) -> Vec<Cell> {
        let mut found = self.new_cells(shape, keys);
        if let Some(zone) = keys.iter().position(|key| key.as_str() == label::ZONE) {
            outside.apply(zone, &mut found);
        }
        for cell in self.cells_there(shape, keys) {
            found.insert((cell.values.clone(), THERE), cell);
        }
        let mut cells: Vec<Cell> = found.into_values().collect();
        cells.sort();
        cells
    }

    /// Returns the places on existing nodes.
    fn cells_there(&mut self, shape: &'w Shape, keys: &[LabelKey]) -> Vec<Cell> {
        let Self { nodes, there, open, .. } = self;
        if !there.contains_key(keys) {
            there.insert(keys.to_vec(), There::of(nodes, keys));
        }
        let there = &there[keys];
        let terms = (&shape.ask.alternatives, &shape.ask.stance);
        let open = open.entry(terms).or_insert_with(|| existing::open_to(nodes, terms));
        let mut rooms = vec![0_usize; there.values.len()];
        // How many pods a spread over nodes allows on a node is known only with all nodes.
        let ask = shape.ask.unspread();
        for node in open.iter() {
            let sum = &mut rooms[there.of_node[*node]];
            *sum = sum.saturating_add(existing::most(&nodes[*node].site, &ask));
        }
        let cell = |(values, room): (&Values, usize)| Cell {
            tier: THERE,
            is_last: false,
            price: 0,
            room: Some(room),
            values: values.clone(),
        };
        there.values.iter().zip(rooms).filter(|(_, room)| *room > 0).map(cell).collect()
    }

    fn new_cells(&mut self, shape: &'w Shape, keys: &[LabelKey]) -> Found {
        let Self { supply, memo, pools, reached, .. } = self;
        let ask = &shape.ask;
        let (requests, alternatives) = (ask.requests.clone(), ask.alternatives.clone());
        let asked = (keys.to_vec(), requests, alternatives, ask.stance.clone(), ask.host_ports.clone());
        memo.cells(asked, || {
            let reached = reached.entry(&ask.alternatives).or_insert_with(|| {
                supply.pools.iter().map(|pool| Reached::all(pool, &ask.alternatives)).collect()
            });
            let mut found = BTreeMap::new();
            for (number, pool) in supply.pools.iter().enumerate() {
                if taints::why(&pool.pool.taints, &ask.stance).is_ok() && !reached[number].is_empty() {
                    let ways = pools.entry((number, keys.to_vec())).or_insert_with(|| Ways::of(pool, keys));
                    ways.find((pool, &reached[number]), shape, keys, &mut found);
                }
            }
            found
        })
    }
}

impl<'w> Reached<'w> {
    fn all(pool: &PoolSupply<'_>, alternatives: &'w [Requirements]) -> Vec<Self> {
        let reached = |alternative: &'w Requirements| {
            let reach = pool.reach(alternative)?;
            Some(Self { alternative, reach, unnamed: pool.unnamed(alternative) })
        };
        alternatives.iter().filter_map(reached).collect()
    }

    fn has(&self, pool: &PoolSupply<'_>, entry: &Entry) -> bool {
        let usable = &pool.kinds[entry.kind].offerings[entry.usable];
        self.reach.kinds.has(entry.kind)
            && !self.unnamed.has(entry.kind)
            && self.reach.placements.has(usable.placement)
    }
}

impl There {
    fn of(nodes: &[Standing<'_>], keys: &[LabelKey]) -> Self {
        let mut there = Self::default();
        let mut numbers: BTreeMap<Values, usize> = BTreeMap::new();
        for standing in nodes {
            let values: Values = keys.iter().map(|key| standing.node.labels.get(key).cloned()).collect();
            let next = numbers.len();
            let number = *numbers.entry(values).or_insert(next);
            there.of_node.push(number);
        }
        let mut listed: Vec<(usize, Values)> =
            numbers.into_iter().map(|(values, number)| (number, values)).collect();
        listed.sort_unstable();
        there.values = listed.into_iter().map(|(_, values)| values).collect();
        there
    }
}

impl Ways {
    fn of(pool: &PoolSupply<'_>, keys: &[LabelKey]) -> Self {
        let mut ways = Self::default();
        let mut numbers: BTreeMap<Vec<Option<Requirement>>, usize> = BTreeMap::new();
        for (kind, there) in pool.kinds.iter().enumerate() {
            for (usable, offering) in there.offerings.iter().enumerate() {
                let price = offering.choice_price().map_or(i64::MAX, |price| price.0);
                let label = |key: &LabelKey| match pool.label(there, offering, key) {
                    Some(there) => Some(there),
                    None => pool.undefined().allows(key).then(Requirement::any),
                };
                let next = numbers.len();
                let labels = *numbers.entry(keys.iter().map(label).collect()).or_insert(next);
                ways.entries.push(Entry { kind, usable, price, labels });
            }
        }
        let mut listed: Vec<_> = numbers.into_iter().map(|(labels, number)| (number, labels)).collect();
        listed.sort_unstable();
        ways.labels = listed.into_iter().map(|(_, labels)| labels).collect();
        ways.entries.sort_by_key(|entry| (entry.price, entry.kind, entry.usable));
        ways
    }

    /// Finds the cheapest way that holds a pod for each distinct set of labels.
    fn find(
        &self,
        (pool, reached): (&PoolSupply<'_>, &[Reached<'_>]),
        shape: &Shape,
        keys: &[LabelKey],
        found: &mut Found,
    ) {
        for reached in reached {
            let mut cheapest: Vec<Option<i64>> = vec![None; self.labels.len()];
            let mut open = self.labels.len();
            for entry in &self.entries {
                if open == 0 {
                    break;
                }
                if cheapest[entry.labels].is_none() && reached.has(pool, entry) && holds(pool, entry, shape) {
                    cheapest[entry.labels] = Some(entry.price);
                    open -= 1;
                }
            }
            let tier = tier_of_new(pool.tier);
            for (labels, price) in self.labels.iter().zip(cheapest) {
                let Some(price) = price else { continue };
                for values in combined(labels, reached.alternative, keys) {
                    let place = (values, tier);
                    if found.get(&place).is_none_or(|cell| price < cell.price) {
                        let values = place.0.clone();
                        let cell = Cell { tier, is_last: false, price, room: None, values };
                        found.insert(place, cell);
                    }
                }
            }
        }
    }
}

/// Returns every combination of values that a node with these labels can have and a pod accepts. If any value would do,
/// the pod's own requirement decides; without one the node has none, or a value is made up if the pool requires the
/// label.
fn combined(labels: &[Option<Requirement>], alternative: &Requirements, keys: &[LabelKey]) -> Vec<Values> {
    let mut ways: Vec<Values> = vec![Vec::new()];
    for (key, there) in keys.iter().zip(labels) {
        let both = match (there, alternative.get(key.as_str())) {
            (Some(there), Some(wanted)) => Some(there.intersection(wanted)),
            (None, Some(wanted)) if !wanted.accepts_absence() => return Vec::new(),
            (None, _) => None,
            (Some(there), None) => Some(there.clone()),
        };
        let values = match &both {
            None => vec![None],
            Some(both) if both.accepts_absence() => vec![None],
            Some(both) => match both.listed() {
                Some(values) => values.iter().cloned().map(Some).collect(),
                None => labels::some_value(both).map(Some).into_iter().collect(),
            },
        };
        ways = ways
            .into_iter()
            .flat_map(|way| {
                let longer = |value: &Option<Arc<str>>| [&way[..], std::slice::from_ref(value)].concat();
                values.iter().map(longer).collect::<Vec<_>>()
            })
            .collect();
    }
    ways
}

fn holds(pool: &PoolSupply<'_>, entry: &Entry, shape: &Shape) -> bool {
    let kind = &pool.kinds[entry.kind];
    let overhead = &pool.overheads[kind.offerings[entry.usable].overhead];
    let ports = crate::solve::fit::ports::why(&shape.ask.host_ports, &overhead.ports);
    ports.is_ok() && shape.ask.requests.fit_in(&kind.kind.allocatable.minus(&overhead.requests))
}
