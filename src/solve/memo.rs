//! Memoization: the supply, what follows from it regardless of nodes and pods, and the consolidated running cluster
//! while other pods are pending.
//!
//! A memo changes only how long planning takes: each entry follows from its key. The memory is bounded.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use self_cell::self_cell;

use crate::policy::Policy;
use crate::snapshot::Daemon;

use super::apart::{Kept, Parting};
use super::daemons::Daemons;
use super::demand::Ask;
use super::market::Market;
use super::pack::choosing::{Roll, Roster};
use super::pack::dimension::Dimension;
use super::pack::stock::{Made, Stock};
use super::pack::substitutes::Rooms;
use super::price::PriceBook;
use super::report::warnings::Known;
use super::supply::Supply;
use super::topology::domains::{Asked, Found};

/// Number of column sets that are kept: trials differ little.
const STOCKS_MAX: usize = 8;

/// Number of rosters that are kept.
const ROSTERS_MAX: usize = 32;

/// Number of distinct asks that are kept: more than a plan of a large cluster has.
const CELLS_MAX: usize = 20_000;

/// Number of supplies with a memo: one plan may solve the world with and without headroom, with and without price
/// premiums, and without holds or budgets.
const MEMOS_MAX: usize = 6;

/// Number of worlds whose consolidated running cluster is kept: each uses as much memory as the world.
const RUNNING_MAX: usize = 2;

/// Inputs of a supply.
struct Source {
    policy: Policy,
    market: Market,
    daemons: Vec<(Daemon, Ask)>,
}

impl Source {
    fn is(&self, policy: &Policy, market: &Market, daemons: &Daemons<'_>) -> bool {
        self.policy == *policy && self.market == *market && self.has(daemons)
    }

    fn has(&self, daemons: &Daemons<'_>) -> bool {
        self.daemons.iter().map(|(daemon, ask)| (daemon, ask)).eq(daemons.iter())
    }
}

self_cell!(
    /// A supply with its inputs.
    struct MadeFrom {
        owner: Source,
        #[covariant]
        dependent: Supply,
    }
);

/// A supply and its memo.
pub(super) struct Supplied {
    made: MadeFrom,
    memo: Memo,
}

impl Supplied {
    /// Returns the supply.
    pub(super) fn supply(&self) -> &Supply<'_> {
        self.made.borrow_dependent()
    }

    /// Returns the memo.
    pub(super) const fn memo(&self) -> &Memo {
        &self.memo
    }

    /// Returns whether this supply was built from these inputs.
    pub(super) fn is(&self, policy: &Policy, market: &Market, daemons: &Daemons<'_>) -> bool {
        self.made.borrow_owner().is(policy, market, daemons)
    }

    /// Returns whether this supply was built with these DaemonSets.
    pub(super) fn has(&self, daemons: &Daemons<'_>) -> bool {
        self.made.borrow_owner().has(daemons)
    }

    /// Returns the market that the supply was built from.
    pub(super) fn market(&self) -> &Market {
        &self.made.borrow_owner().market
    }
}

/// Memos for later plans.
#[derive(Default)]
pub(super) struct Memos {
    /// Which clusters are planned in two parts.
    pub(super) parting: Parting,
    supplies: Mutex<Vec<Arc<Supplied>>>,
    running: Mutex<Vec<Arc<Kept>>>,
}

impl Memos {
    /// Returns empty memos.
    pub(super) fn parting(parting: Parting) -> Self {
        Self { parting, ..Self::default() }
    }

    /// Returns the cached supply for these inputs with its memo, or builds it.
    pub(super) fn beside(&self, policy: &Policy, market: &Market, daemons: &Daemons<'_>) -> Arc<Supplied> {
        let find = || found(&self.supplies, |kept| kept.is(policy, market, daemons));
        find().unwrap_or_else(|| {
            let own = daemons.iter().map(|(daemon, ask)| (daemon.clone(), ask.clone())).collect();
            let source = Source { policy: policy.clone(), market: market.clone(), daemons: own };
            let book = &PriceBook::new(&policy.fleet.prices);
            let made =
                MadeFrom::new(source, |source| Supply::of(&source.policy, &source.market, book, daemons));
            // Another thread may have built the same in the meantime.
            find().unwrap_or_else(|| {
                kept(&self.supplies, MEMOS_MAX, Arc::new(Supplied { made, memo: Memo::default() }))
            })
        })
    }

    /// Returns the cached plan of the running pods for the same inputs, or computes it.
    pub(super) fn running(&self, is_same: impl Fn(&Kept) -> bool, find: impl FnOnce() -> Kept) -> Arc<Kept> {
        found(&self.running, is_same).unwrap_or_else(|| kept(&self.running, RUNNING_MAX, Arc::new(find())))
    }
}

/// Returns a cached entry, and moves it to the end as the most recently used one.
fn found<T>(all: &Mutex<Vec<Arc<T>>>, is_it: impl Fn(&T) -> bool) -> Option<Arc<T>> {
    // Compares outside the lock, so that other threads need not wait.
    let before = held(all).clone();
    let found = before.into_iter().find(|one| is_it(one))?;
    let mut all = held(all);
    if let Some(place) = all.iter().position(|one| Arc::ptr_eq(one, &found)) {
        all[place..].rotate_left(1);
    }
    Some(found)
}

/// Adds an entry, and keeps at most `most` of the latest.
fn kept<T>(all: &Mutex<Vec<Arc<T>>>, most: usize, one: Arc<T>) -> Arc<T> {
    let mut all = held(all);
    all.push(one.clone());
    if all.len() > most {
        all.remove(0);
    }
    one
}

/// Memo of one supply.
#[derive(Default)]
pub(super) struct Memo {
    /// Possible places of new nodes, by the requirements of pods.
    cells: Mutex<BTreeMap<Asked, Found>>,
    /// Whether a new node of any size holds such a pod.
    takes: Mutex<BTreeMap<Ask, bool>>,
    /// Columns of packing problems, by their inputs; the most recently used is last.
    stocks: Mutex<Vec<(Made, Stock)>>,
    /// Free capacity of new nodes of every offering, in the dimensions of the last lookup.
    rooms: Mutex<Option<(Vec<Dimension>, Arc<Rooms>)>>,
    /// Offerings for pools with `minValues`, and those that were chosen.
    rosters: Mutex<BTreeMap<Roll, Arc<Roster>>>,
    /// Label values of the region.
    known: OnceLock<Known>,
}

impl Memo {
    /// Returns the cached places for such pods, or finds them.
    pub(super) fn cells(&self, asked: Asked, find: impl FnOnce() -> Found) -> Found {
        if let Some(found) = held(&self.cells).get(&asked) {
            return found.clone();
        }
        let found = find();
        let mut cells = held(&self.cells);
        if cells.len() >= CELLS_MAX {
            cells.clear();
        }
        cells.insert(asked, found.clone());
        found
    }

    /// Returns the cached answer whether a new node holds such a pod, or computes it.
    pub(super) fn is_held(&self, ask: &Ask, find: impl FnOnce() -> bool) -> bool {
        if let Some(known) = held(&self.takes).get(ask) {
            return *known;
        }
        let found = find();
        let mut all = held(&self.takes);
        if all.len() >= CELLS_MAX {
            all.clear();
        }
        all.insert(ask.clone(), found);
        found
    }

    /// Returns the cached columns for these inputs, or builds them.
    pub(super) fn stock(&self, made: Made, make: impl FnOnce() -> Stock) -> Stock {
        let known = {
            let mut stocks = held(&self.stocks);
            let place = stocks.iter().position(|(before, _)| *before == made);
            place.map(|place| {
                let known = stocks.remove(place);
                let stock = known.1.clone();
                stocks.push(known);
                stock
            })
        };
        known.unwrap_or_else(|| {
            let stock = make();
            let mut stocks = held(&self.stocks);
            stocks.push((made, stock.clone()));
            if stocks.len() > STOCKS_MAX {
                stocks.remove(0);
            }
            stock
        })
    }

    /// Returns the cached offerings for a pool with `minValues`, or lists them.
    pub(super) fn roster(&self, roll: Roll, list: impl FnOnce() -> Roster) -> Arc<Roster> {
        if let Some(known) = held(&self.rosters).get(&roll) {
            return known.clone();
        }
        let roster = Arc::new(list());
        let mut rosters = held(&self.rosters);
        if rosters.len() >= ROSTERS_MAX {
            rosters.clear();
        }
        rosters.entry(roll).or_insert(roster).clone()
    }

    /// Returns the label values of this market, which must be the supply's own.
    pub(super) fn known(&self, market: &Market) -> &Known {
        self.known.get_or_init(|| Known::of(market))
    }

    /// Returns the cached free capacity in these dimensions, or computes it.
    pub(super) fn rooms(&self, dimensions: &[Dimension], find: impl FnOnce() -> Rooms) -> Arc<Rooms> {
        let known = held(&self.rooms).clone();
        let known = known.filter(|(before, _)| *before == dimensions).map(|(_, rooms)| rooms);
        known.unwrap_or_else(|| {
            let rooms = Arc::new(find());
            *held(&self.rooms) = Some((dimensions.to_vec(), rooms.clone()));
            rooms
        })
    }
}

/// Locks a memo. Entries are inserted whole, so a poisoned lock is safe to reuse.
pub(super) fn held<T>(remembered: &Mutex<T>) -> MutexGuard<'_, T> {
    remembered.lock().unwrap_or_else(PoisonError::into_inner)
}
