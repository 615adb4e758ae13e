//! State that is equal in every pass: the sizes of each class, and cached results about them and about labels.
//!
//! Caching only saves work: it never changes a result.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::market::Market;

use super::Settings;
use super::amounts::Columns;
use super::meeting::{Asked, Meetings};
use super::reserved::Reservations;
use super::shelf::Stock;
use super::template::{self, Shelves, Template};
use super::topology::Universe;

/// State that is equal in every pass over snapshots that differ only in pods and nodes.
pub(super) struct Store<'m> {
    /// Any of those snapshots: only its catalogue and its DaemonSets are used.
    pub(super) snapshot: &'m Snapshot,
    /// The pools.
    pub(super) policy: &'m Policy,
    /// Offerings that may be bought.
    pub(super) market: &'m Market,
    /// The sizes of each class.
    pub(super) shelves: Shelves<'m>,
    /// Cached results.
    pub(super) memory: RefCell<Memory<'m>>,
    /// Reserved capacity.
    pub(super) reservations: Reservations,
}

/// Cached results about labels and sizes.
pub(super) struct Memory<'m> {
    /// Label requirements, as numbers.
    pub(super) meetings: Meetings<'m>,
    stocks: BTreeMap<(usize, Asked), Rc<Stock>>,
    drawn: BTreeMap<Columns, Rc<Drawn<'m>>>,
}

/// Nodes that pools can create, as long as limits allow.
pub(super) struct Drawn<'m> {
    /// Templates of pools before anything is taken off their limits.
    pub(super) templates: Vec<Template<'m>>,
    /// Label values that these nodes can have.
    pub(super) universe: Universe<'m>,
}

impl<'m> Store<'m> {
    pub(super) fn of(
        (snapshot, policy, market): (&'m Snapshot, &'m Policy, &'m Market),
        settings: Settings,
    ) -> Self {
        let shelves = Shelves::of(market, settings.overlays);
        let reservations = Reservations::of(shelves.all.iter().flat_map(|shelf| shelf.kinds.iter().copied()));
        let memory = Memory {
            meetings: Meetings::new(&snapshot.catalog),
            stocks: BTreeMap::new(),
            drawn: BTreeMap::new(),
        };
        Self { snapshot, policy, market, shelves, memory: RefCell::new(memory), reservations }
    }
}

impl<'m> Memory<'m> {
    /// Returns the sizes of a shelf that satisfy requirements.
    pub(super) fn stock(&mut self, store: &Store<'m>, shelf: usize, asked: Asked) -> Rc<Stock> {
        let wanted = self.meetings.get(asked);
        let found = || store.shelves.all[shelf].stock(wanted, &store.snapshot.catalog);
        let stock = self.stocks.entry((shelf, asked)).or_insert_with(|| Rc::new(found()));
        Rc::clone(stock)
    }

    /// Returns the nodes that pools can create, if these resources are counted.
    pub(super) fn drawn(&mut self, store: &Store<'m>, columns: &Columns) -> Rc<Drawn<'m>> {
        if let Some(drawn) = self.drawn.get(columns) {
            return Rc::clone(drawn);
        }
        let templates = template::templates(store, self, columns);
        let universe = Universe::of(&templates, &store.shelves, &self.meetings);
        let drawn = Rc::new(Drawn { templates, universe });
        self.drawn.insert(columns.clone(), Rc::clone(&drawn));
        drawn
    }
}
