//! What was worked out once about what can be bought: it is the same whatever nodes go.
//!
//! A memo changes how long planning takes and nothing else: everything in it follows from the supply that it stands
//! beside, and from what it is looked up by.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::pack::stock::{Made, Stock};
use super::topology::domains::{Asked, Found};

/// How many sets of columns are kept: trials differ in little.
const STOCKS_MAX: usize = 8;

/// What is remembered beside one supply.
#[derive(Default)]
pub(super) struct Memo {
    /// Where new nodes might stand, by what pods ask for.
    cells: RefCell<BTreeMap<Asked, Found>>,
    /// The columns of packing problems, by what they are made from; the one used last is the last.
    stocks: RefCell<Vec<(Made, Stock)>>,
}

impl Memo {
    /// Returns the places that were found for such pods before, or finds them.
    pub(super) fn cells(&self, asked: Asked, find: impl FnOnce() -> Found) -> Found {
        if let Some(found) = self.cells.borrow().get(&asked) {
            return found.clone();
        }
        let found = find();
        self.cells.borrow_mut().insert(asked, found.clone());
        found
    }

    /// Returns the columns that were made from the same before, or makes them.
    pub(super) fn stock(&self, made: Made, make: impl FnOnce() -> Stock) -> Stock {
        let known = self.stocks.borrow().iter().position(|(before, _)| *before == made);
        let stock = match known {
            Some(place) => self.stocks.borrow_mut().remove(place).1,
            None => make(),
        };
        let mut stocks = self.stocks.borrow_mut();
        stocks.push((made, stock.clone()));
        if stocks.len() > STOCKS_MAX {
            stocks.remove(0);
        }
        stock
    }
}
