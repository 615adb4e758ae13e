//! Where pods of a shape might stand, by the labels that groups ask about: zones, capacity types and the like.
//!
//! Says what there is and what the cheapest node there costs; it never chooses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{HostPort, LabelKey, Requirement, Requirements, Resources, Toleration, label};
use crate::solve::demand::Shape;
use crate::solve::existing::{self, Standing};
use crate::solve::fit::{labels, taints};
use crate::solve::supply::{PoolSupply, Supply, Usable};

/// Azure's "no zone".
const NO_ZONE: &str = "0";

/// One value, or none, of each label that is asked about.
pub type Values = Vec<Option<Arc<str>>>;

/// A place by its labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cell {
    /// [`THERE`] for nodes that exist; else by the weight of the pools that have a size for the pod there, the
    /// heaviest first.
    pub tier: usize,
    /// What the cheapest new node there costs that holds one of the pods; nothing for nodes that exist.
    pub price: i64,
    /// How many such pods nodes that exist would hold there, if nothing else came; `None` for new nodes.
    pub room: Option<usize>,
    /// The values.
    pub values: Values,
}

/// The tier of nodes that exist: they are filled before any is bought.
pub const THERE: usize = 0;

/// Returns the tier of new nodes of pools of this weight, by its place among the weights.
#[must_use]
pub const fn tier_of_new(weight: usize) -> usize {
    weight + 1
}

/// Looks up places.
pub struct Places<'w> {
    supply: &'w Supply<'w>,
    nodes: &'w [Standing<'w>],
    pools: BTreeMap<(usize, Vec<LabelKey>), Vec<Entry>>,
    /// The new places of pods that ask for the same.
    new: BTreeMap<(Vec<LabelKey>, Asked<'w>), Found>,
}

/// Cells by their values and tier.
type Found = BTreeMap<(Values, usize), Cell>;

/// What of a pod decides where a new node for it may be.
type Asked<'w> = (&'w Resources, &'w Vec<Requirements>, &'w Vec<Toleration>, &'w BTreeSet<HostPort>);

/// A way to have a node of a pool, with the places where it would be.
struct Entry {
    kind: usize,
    usable: usize,
    price: i64,
    /// What each label is or may become; `None` where it is not there.
    labels: Vec<Option<Requirement>>,
}

impl<'w> Places<'w> {
    /// Looks at what can be bought and what there is.
    #[must_use]
    pub const fn of(supply: &'w Supply<'w>, nodes: &'w [Standing<'w>]) -> Self {
        Self { supply, nodes, pools: BTreeMap::new(), new: BTreeMap::new() }
    }

    /// Returns every place where one pod of the shape fits, by weight and price: once for each weight.
    pub fn cells(&mut self, shape: &'w Shape, keys: &[LabelKey]) -> Vec<Cell> {
        let mut found = self.new_cells(shape, keys);
        for standing in self.nodes.iter().filter(|standing| !standing.node.is_deleting) {
            let room = room(standing, shape);
            if room > 0 {
                let values: Values = keys.iter().map(|key| standing.node.labels.get(key).cloned()).collect();
                let empty = || Cell { tier: THERE, price: 0, room: Some(0), values: values.clone() };
                let cell = found.entry((values.clone(), THERE)).or_insert_with(empty);
                cell.room = cell.room.map(|there| there.saturating_add(room));
            }
        }
        let zone = keys.iter().position(|key| key.as_str() == label::ZONE);
        let is_regional = |cell: &Cell| {
            zone.is_some_and(|place| cell.room.is_none() && cell.values[place].as_deref() == Some(NO_ZONE))
        };
        let has_zonal = found.values().any(|cell| cell.room.is_none() && !is_regional(cell));
        let mut cells: Vec<Cell> =
            found.into_values().filter(|cell| !has_zonal || !is_regional(cell)).collect();
        cells.sort();
        cells
    }

    fn new_cells(&mut self, shape: &'w Shape, keys: &[LabelKey]) -> Found {
        let ask = &shape.ask;
        let asked = (keys.to_vec(), (&ask.requests, &ask.alternatives, &ask.tolerations, &ask.host_ports));
        if let Some(found) = self.new.get(&asked) {
            return found.clone();
        }
        let mut found = BTreeMap::new();
        for number in 0..self.supply.pools.len() {
            self.of_pool(number, shape, keys, &mut found);
        }
        self.new.insert(asked, found.clone());
        found
    }

    fn of_pool(&mut self, number: usize, shape: &Shape, keys: &[LabelKey], found: &mut Found) {
        let pool = &self.supply.pools[number];
        let ask = &shape.ask;
        if taints::why(&pool.pool.taints, &ask.tolerations).is_err() {
            return;
        }
        let entries = self.pools.entry((number, keys.to_vec())).or_insert_with(|| entries(pool, keys));
        for alternative in &ask.alternatives {
            let Some(reach) = pool.reach(alternative) else { continue };
            let unnamed = pool.unnamed(alternative);
            for entry in entries.iter() {
                let usable = &pool.kinds[entry.kind].offerings[entry.usable];
                if !reach.kinds.has(entry.kind)
                    || unnamed.has(entry.kind)
                    || !reach.placements.has(usable.placement)
                {
                    continue;
                }
                let mut fits = None;
                for values in combined(&entry.labels, alternative, keys) {
                    let (tier, price) = (tier_of_new(pool.tier), entry.price);
                    let place = (values, tier);
                    let is_better = found.get(&place).is_none_or(|cell| price < cell.price);
                    if is_better && *fits.get_or_insert_with(|| holds(pool, (entry.kind, usable), shape)) {
                        let cell = Cell { tier, price, room: None, values: place.0.clone() };
                        found.insert(place, cell);
                    }
                }
            }
        }
    }
}

/// Returns every way in which a node can have these labels that a pod agrees with. Where any value would do, the
/// pod's own wish decides; without one the node has none, or one is made up where the pool wants the label.
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

/// Returns how many pods of a shape a node holds, if nothing else came.
fn room(standing: &Standing<'_>, shape: &Shape) -> usize {
    let Standing { site, .. } = standing;
    let ask = &shape.ask;
    if !ask.requests.fit_in(&site.room) || existing::why(standing, shape).is_err() {
        return 0;
    }
    let by_resource = ask
        .requests
        .iter()
        .filter(|(_, amount)| *amount > 0)
        .map(|(name, amount)| usize::try_from(site.room.get(name) / amount).unwrap_or(0));
    let by_volume = ask.volumes.iter().filter_map(|(driver, count)| Some(site.volumes.get(driver)? / count));
    let by_port = (!ask.host_ports.is_empty()).then_some(1);
    let others = by_volume.chain(by_port).chain([site.company.most(&ask.company)]);
    by_resource.chain(others).min().unwrap_or(usize::MAX)
}

fn holds(pool: &PoolSupply<'_>, (kind, usable): (usize, &Usable<'_>), shape: &Shape) -> bool {
    let overhead = &pool.overheads[usable.overhead];
    let ports = crate::solve::fit::ports::why(&shape.ask.host_ports, &overhead.ports);
    let room = pool.kinds[kind].kind.allocatable.minus(&overhead.requests);
    ports.is_ok() && shape.ask.requests.fit_in(&room)
}

/// Returns every way to have a node of a pool, the cheapest first.
fn entries(pool: &PoolSupply<'_>, keys: &[LabelKey]) -> Vec<Entry> {
    let mut entries = Vec::new();
    for (kind, there) in pool.kinds.iter().enumerate() {
        for (usable, offering) in there.offerings.iter().enumerate() {
            let price = offering.quote.effective.known().map_or(i64::MAX, |price| price.0);
            let labels = pool.site(there, offering).labels;
            let label = |key: &LabelKey| match labels.get(key.as_str()) {
                Some(there) => Some(there.clone()),
                None => pool.undefined().allows(key).then(Requirement::any),
            };
            let labels = keys.iter().map(label).collect();
            entries.push(Entry { kind, usable, price, labels });
        }
    }
    entries.sort_by_key(|entry| (entry.price, entry.kind, entry.usable));
    entries
}
