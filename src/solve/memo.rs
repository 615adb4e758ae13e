//! What was worked out once: what can be bought, what follows from that whatever nodes go and whatever pods come, and what
//! running pods come to while others wait.
//!
//! A memo changes how long planning takes and nothing else: everything in it follows from what it is looked up by. How
//! much is kept is bounded.

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

/// How many sets of columns are kept: trials differ in little.
const STOCKS_MAX: usize = 8;

/// How many rosters are kept.
const ROSTERS_MAX: usize = 32;

/// How many different asks are remembered: more than a plan of a large cluster has.
const CELLS_MAX: usize = 20_000;

/// Beside how many supplies something is remembered: one plan may look at the world with room that is kept and without,
/// with what counts beside prices and without, and as it would be without holds or budgets.
const MEMOS_MAX: usize = 6;

/// For how many worlds it is remembered what running pods come to: each takes as much memory as the world.
const RUNNING_MAX: usize = 2;

/// What a supply is made from.
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
    /// A supply, with what it is made from.
    struct MadeFrom {
        owner: Source,
        #[covariant]
        dependent: Supply,
    }
);

/// A supply, and what is remembered beside it.
pub(super) struct Supplied {
    made: MadeFrom,
    memo: Memo,
}

impl Supplied {
    /// Returns what can be bought.
    pub(super) fn supply(&self) -> &Supply<'_> {
        self.made.borrow_dependent()
    }

    /// Returns what is remembered beside it.
    pub(super) const fn memo(&self) -> &Memo {
        &self.memo
    }

    /// Returns whether this is the supply that is made from these.
    pub(super) fn is(&self, policy: &Policy, market: &Market, daemons: &Daemons<'_>) -> bool {
        self.made.borrow_owner().is(policy, market, daemons)
    }

    /// Returns whether it is made with these daemonsets.
    pub(super) fn has(&self, daemons: &Daemons<'_>) -> bool {
        self.made.borrow_owner().has(daemons)
    }

    /// Returns the market that the supply is made from.
    pub(super) fn market(&self) -> &Market {
        &self.made.borrow_owner().market
    }
}

/// What is remembered for the plans to come.
#[derive(Default)]
pub(super) struct Memos {
    /// Which clusters are planned in two parts.
    pub(super) parting: Parting,
    supplies: Mutex<Vec<Arc<Supplied>>>,
    running: Mutex<Vec<Arc<Kept>>>,
}

impl Memos {
    /// Remembers nothing yet.
    pub(super) fn parting(parting: Parting) -> Self {
        Self { parting, ..Self::default() }
    }

    /// Returns the supply that is made from these, and what is remembered beside it.
    pub(super) fn beside(&self, policy: &Policy, market: &Market, daemons: &Daemons<'_>) -> Arc<Supplied> {
        let find = || found(&self.supplies, |kept| kept.is(policy, market, daemons));
        find().unwrap_or_else(|| {
            let own = daemons.iter().map(|(daemon, ask)| (daemon.clone(), ask.clone())).collect();
            let source = Source { policy: policy.clone(), market: market.clone(), daemons: own };
            let book = &PriceBook::new(&policy.fleet.prices);
            let made =
                MadeFrom::new(source, |source| Supply::of(&source.policy, &source.market, book, daemons));
            // Another thread may have made the same meanwhile.
            find().unwrap_or_else(|| {
                kept(&self.supplies, MEMOS_MAX, Arc::new(Supplied { made, memo: Memo::default() }))
            })
        })
    }

    /// Returns what running pods come to that was found for the same before, or finds it.
    pub(super) fn running(&self, is_same: impl Fn(&Kept) -> bool, find: impl FnOnce() -> Kept) -> Arc<Kept> {
        found(&self.running, is_same).unwrap_or_else(|| kept(&self.running, RUNNING_MAX, Arc::new(find())))
    }
}

/// Returns one of those that are kept; it is the last from now on.
fn found<T>(all: &Mutex<Vec<Arc<T>>>, is_it: impl Fn(&T) -> bool) -> Option<Arc<T>> {
    // Nothing is asked while others wait for what is kept.
    let before = held(all).clone();
    let found = before.into_iter().find(|one| is_it(one))?;
    let mut all = held(all);
    if let Some(place) = all.iter().position(|one| Arc::ptr_eq(one, &found)) {
        all[place..].rotate_left(1);
    }
    Some(found)
}

/// Keeps one, and no more than so many of the last.
fn kept<T>(all: &Mutex<Vec<Arc<T>>>, most: usize, one: Arc<T>) -> Arc<T> {
    let mut all = held(all);
    all.push(one.clone());
    if all.len() > most {
        all.remove(0);
    }
    one
}

/// What is remembered beside one supply.
#[derive(Default)]
pub(super) struct Memo {
    /// Where new nodes might stand, by what pods ask for.
    cells: Mutex<BTreeMap<Asked, Found>>,
    /// Whether a new node of any size holds what is asked for.
    takes: Mutex<BTreeMap<Ask, bool>>,
    /// The columns of packing problems, by what they are made from; the one used last is the last.
    stocks: Mutex<Vec<(Made, Stock)>>,
    /// What nodes of every offering have room for, in the dimensions that were asked for last.
    rooms: Mutex<Option<(Vec<Dimension>, Arc<Rooms>)>>,
    /// The ways to have nodes of pools that ask for a variety, and what was chosen among them.
    rosters: Mutex<BTreeMap<Roll, Arc<Roster>>>,
    /// The values that labels of the region have.
    known: OnceLock<Known>,
}

impl Memo {
    /// Returns the places that were found for such pods before, or finds them.
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

    /// Returns whether it was found before that a new node holds this, or finds out.
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

    /// Returns the columns that were made from the same before, or makes them.
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

    /// Returns the ways to have nodes of a pool that were listed before, or lists them.
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

    /// Returns the values that labels have on this market, which is the supply's own.
    pub(super) fn known(&self, market: &Market) -> &Known {
        self.known.get_or_init(|| Known::of(market))
    }

    /// Returns what nodes have room for that was found in these dimensions before, or finds it.
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

/// Returns what is remembered; whoever held it before left it whole, even where it came to grief elsewhere.
pub(super) fn held<T>(remembered: &Mutex<T>) -> MutexGuard<'_, T> {
    remembered.lock().unwrap_or_else(PoisonError::into_inner)
}
