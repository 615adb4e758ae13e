//! What is the same in every pass: the sizes of each class, and what was found out about them and about labels before.
//!
//! It only saves work: nothing comes out differently for what is remembered.

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

/// What is the same in every pass over worlds that differ in pods and nodes only.
pub(super) struct Store<'m> {
    /// Any of those worlds: its catalogue and its daemonsets count.
    pub(super) snapshot: &'m Snapshot,
    /// The pools.
    pub(super) policy: &'m Policy,
    /// What may be bought.
    pub(super) market: &'m Market,
    /// The sizes of each class.
    pub(super) shelves: Shelves<'m>,
    /// What was found out before.
    pub(super) memory: RefCell<Memory<'m>>,
    /// What is reserved.
    pub(super) reservations: Reservations,
}

/// What was found out about labels and sizes.
pub(super) struct Memory<'m> {
    /// What is asked of labels, as numbers.
    pub(super) meetings: Meetings<'m>,
    stocks: BTreeMap<(usize, Asked), Rc<Stock>>,
    drawn: BTreeMap<Columns, Rc<Drawn<'m>>>,
}

/// What pools can make, as long as limits leave room.
pub(super) struct Drawn<'m> {
    /// The templates of pools of which nothing is taken yet.
    pub(super) templates: Vec<Template<'m>>,
    /// The values of labels that they can have.
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
    /// Returns the sizes of a shelf that can be what is asked for.
    pub(super) fn stock(&mut self, store: &Store<'m>, shelf: usize, asked: Asked) -> Rc<Stock> {
        let wanted = self.meetings.get(asked);
        let found = || store.shelves.all[shelf].stock(wanted, &store.snapshot.catalog);
        let stock = self.stocks.entry((shelf, asked)).or_insert_with(|| Rc::new(found()));
        Rc::clone(stock)
    }

    /// Returns what pools can make, where these resources are counted.
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
