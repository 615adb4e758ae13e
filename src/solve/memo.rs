//! What was worked out once about what can be bought: it is the same whatever nodes go.
//!
//! A memo changes how long planning takes and nothing else: everything in it follows from the supply that it stands
//! beside, and from what it is looked up by.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::pack::stock::{Made, Stock};
use super::topology::domains::{Asked, Found};

/// How many sets of columns are kept: trials differ in little.
const STOCKS_MAX: usize = 8;

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
        held(&self.cells).insert(asked, found.clone());
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
