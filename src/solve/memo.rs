//! What was worked out once about what can be bought: it is the same whatever nodes go, and whatever pods come.
//!
//! A memo changes how long planning takes and nothing else: everything in it follows from the supply that it stands
//! beside, and from what it is looked up by. How much is kept is bounded.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::policy::Policy;
use crate::snapshot::Daemon;

use super::daemons::Daemons;
use super::demand::Ask;
use super::market::Market;
use super::pack::stock::{Made, Stock};
use super::topology::domains::{Asked, Found};

/// How many sets of columns are kept: trials differ in little.
const STOCKS_MAX: usize = 8;

/// How many different asks are remembered: more than a plan of a large cluster has.
const CELLS_MAX: usize = 20_000;

/// Beside how many supplies something is remembered: one plan may look at the world with room that is kept and without,
/// and with what counts beside prices and without.
const MEMOS_MAX: usize = 4;

/// What a supply is made from.
struct Source {
    policy: Policy,
    market: Market,
    daemons: Vec<(Daemon, Ask)>,
}

impl Source {
    fn is(&self, policy: &Policy, market: &Market, daemons: &Daemons<'_>) -> bool {
        let own = self.daemons.iter().map(|(daemon, ask)| (daemon, ask));
        self.policy == *policy && self.market == *market && own.eq(daemons.iter())
    }
}

/// What is remembered beside several supplies.
#[derive(Default)]
pub(super) struct Memos(Mutex<Vec<(Source, Arc<Memo>)>>);

impl Memos {
    /// Returns what is remembered beside the supply that is made from these; the one asked for last is the last.
    pub(super) fn beside(&self, policy: &Policy, market: &Market, daemons: &Daemons<'_>) -> Arc<Memo> {
        let mut memos = held(&self.0);
        let place = memos.iter().position(|(source, _)| source.is(policy, market, daemons));
        let found = place.map(|place| memos.remove(place));
        let found = found.unwrap_or_else(|| {
            let daemons = daemons.iter().map(|(daemon, ask)| (daemon.clone(), ask.clone())).collect();
            (Source { policy: policy.clone(), market: market.clone(), daemons }, Arc::default())
        });
        let memo = found.1.clone();
        memos.push(found);
        if memos.len() > MEMOS_MAX {
            memos.remove(0);
        }
        memo
    }
}

/// What is remembered beside one supply.
#[derive(Default)]
pub(super) struct Memo {
    /// Where new nodes might stand, by what pods ask for.
    cells: Mutex<BTreeMap<Asked, Found>>,
    /// The columns of packing problems, by what they are made from; the one used last is the last.
    stocks: Mutex<Vec<(Made, Stock)>>,
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
}

/// Returns what is remembered; whoever held it before left it whole, even where it came to grief elsewhere.
fn held<T>(remembered: &Mutex<T>) -> MutexGuard<'_, T> {
    remembered.lock().unwrap_or_else(PoisonError::into_inner)
}
