//! State of the view: filter, sort order and selected row.
//!
//! Rows keep their place while the fleet changes: new ones are appended until the user sorts again.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use super::row::{Row, Use};
use super::table;
use super::world::Fleet;

/// A key that was pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// One row up.
    Up,
    /// One row down.
    Down,
    /// One page up.
    PageUp,
    /// One page down.
    PageDown,
    /// To the first row.
    Home,
    /// To the last row.
    End,
    /// Explain, or apply the filter.
    Enter,
    /// Back.
    Escape,
    /// Delete the last letter of the filter.
    Backspace,
    /// A letter.
    Letter(char),
    /// Ctrl+C.
    Interrupt,
}

/// Result of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The view continues.
    Stay,
    /// The view ends.
    Quit,
}

/// Mode of the view.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mode {
    /// The rows.
    #[default]
    Rows,
    /// The rows, while a filter is typed.
    Filter,
    /// Details of the selected node, from this line on.
    Explain(usize),
}

/// Sort order of the rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sort {
    /// By name.
    #[default]
    Name,
    /// By pool, then name.
    Pool,
    /// Planned or held nodes first.
    Planned,
    /// The fullest by CPU first.
    Cpu,
    /// The fullest by memory first.
    Memory,
    /// The most pods first.
    Pods,
    /// The most expensive first.
    Price,
    /// The youngest first.
    Age,
}

impl Sort {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Pool => "pool",
            Self::Planned => "planned",
            Self::Cpu => "CPU",
            Self::Memory => "memory",
            Self::Pods => "pods",
            Self::Price => "price",
            Self::Age => "age",
        }
    }

    const fn next(self) -> Self {
        match self {
            Self::Name => Self::Pool,
            Self::Pool => Self::Planned,
            Self::Planned => Self::Cpu,
            Self::Cpu => Self::Memory,
            Self::Memory => Self::Pods,
            Self::Pods => Self::Price,
            Self::Price => Self::Age,
            Self::Age => Self::Name,
        }
    }

    fn sorted(self, fleet: &Fleet) -> Vec<&Row> {
        let mut rows: Vec<&Row> = fleet.rows.iter().collect();
        // Rows of a fleet are sorted by name, and the sorts are stable.
        match self {
            Self::Name => {}
            Self::Pool => rows.sort_by_key(|row| (row.pool.is_none(), row.pool.clone())),
            Self::Planned => rows.sort_by_key(|row| (row.planned.is_empty(), row.held.is_empty())),
            Self::Cpu => rows.sort_by_key(|row| Reverse(share(row.cpu))),
            Self::Memory => rows.sort_by_key(|row| Reverse(share(row.memory))),
            Self::Pods => rows.sort_by_key(|row| Reverse(row.pods.requested)),
            Self::Price => rows.sort_by_key(|row| Reverse(row.price.known())),
            Self::Age => rows.sort_by_key(|row| Reverse(row.created)),
        }
        rows
    }
}

/// Returns the utilization of a node, in millionths; unknown values sort last.
fn share(Use { requested, of }: Use) -> Option<i128> {
    Some(i128::from(requested?) * 1_000_000 / i128::from(of?))
}

/// State of the view.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    pub(super) mode: Mode,
    pub(super) sort: Sort,
    pub(super) filter: String,
    /// Names of the rows in display order.
    order: Vec<String>,
    chosen: Option<String>,
    /// The first row on the screen.
    first: usize,
}

/// The rows on the screen.
pub(super) struct Window<'f> {
    /// All rows that pass the filter, in display order.
    pub(super) rows: Vec<&'f Row>,
    /// The first one on the screen.
    pub(super) first: usize,
    /// The selected one.
    pub(super) chosen: Option<usize>,
}

impl Cursor {
    /// Takes in a refreshed fleet: rows that still exist keep their places.
    pub fn settle(&mut self, fleet: &Fleet) {
        let there: BTreeSet<&str> = fleet.rows.iter().map(|row| row.name.as_str()).collect();
        self.order.retain(|name| there.contains(name.as_str()));
        let known: BTreeSet<String> = self.order.iter().cloned().collect();
        let new = self.sort.sorted(fleet).into_iter().filter(|row| !known.contains(&row.name));
        self.order.extend(new.map(|row| row.name.clone()));
    }

    /// Handles a key; `page` is the number of rows on the screen.
    pub fn press(&mut self, key: Key, fleet: &Fleet, page: usize) -> Step {
        match (key, self.mode) {
            (Key::Interrupt, _) | (Key::Letter('q'), Mode::Rows) => return Step::Quit,
            (key, Mode::Filter) => self.write(key),
            (Key::Escape | Key::Enter | Key::Backspace | Key::Letter('q'), Mode::Explain(_)) => {
                self.mode = Mode::Rows;
            }
            (key, Mode::Explain(first)) => {
                self.mode = Mode::Explain(moved(key, first, usize::MAX, page).unwrap_or(first));
            }
            (Key::Enter, Mode::Rows) => {
                self.choose(fleet);
                if self.chosen.is_some() {
                    self.mode = Mode::Explain(0);
                }
            }
            (Key::Letter('/'), Mode::Rows) => self.mode = Mode::Filter,
            (Key::Letter('s'), Mode::Rows) => {
                self.sort = self.sort.next();
                self.order.clear();
                self.settle(fleet);
            }
            (Key::Escape, Mode::Rows) => self.filter.clear(),
            (key, Mode::Rows) => self.go(key, fleet, page),
        }
        Step::Stay
    }

    fn write(&mut self, key: Key) {
        match key {
            Key::Letter(letter) => self.filter.push(letter),
            Key::Backspace => {
                self.filter.pop();
            }
            Key::Enter => self.mode = Mode::Rows,
            Key::Escape => {
                self.filter.clear();
                self.mode = Mode::Rows;
            }
            Key::Up | Key::Down | Key::PageUp | Key::PageDown | Key::Home | Key::End | Key::Interrupt => {}
        }
    }

    fn go(&mut self, key: Key, fleet: &Fleet, page: usize) {
        let key = match key {
            Key::Letter('k') => Key::Up,
            Key::Letter('j') => Key::Down,
            Key::Letter('g') => Key::Home,
            Key::Letter('G') => Key::End,
            Key::Letter(_)
            | Key::Up
            | Key::Down
            | Key::PageUp
            | Key::PageDown
            | Key::Home
            | Key::End
            | Key::Enter
            | Key::Escape
            | Key::Backspace
            | Key::Interrupt => key,
        };
        let rows = self.rows(fleet);
        let Some(last) = rows.len().checked_sub(1) else { return };
        let at = self.place(&rows).unwrap_or(0);
        let to = moved(key, at, last, page);
        let to = to.map(|to| rows[to.min(last)].name.clone());
        self.chosen = to.or(self.chosen.take());
    }

    /// Selects the first row if no visible one is selected.
    fn choose(&mut self, fleet: &Fleet) {
        let rows = self.rows(fleet);
        let at = self.place(&rows).unwrap_or(0);
        self.chosen = rows.get(at).map(|row| row.name.clone());
    }

    fn place(&self, rows: &[&Row]) -> Option<usize> {
        let chosen = self.chosen.as_ref()?;
        rows.iter().position(|row| row.name == *chosen)
    }

    /// Returns the node that is explained; `None` once it is gone.
    pub(super) fn explained<'f>(&self, fleet: &'f Fleet) -> Option<&'f Row> {
        let chosen = self.chosen.as_ref()?;
        fleet.rows.iter().find(|row| row.name == *chosen)
    }

    /// Returns the name of the selected node.
    pub(super) fn chosen(&self) -> Option<&str> {
        self.chosen.as_deref()
    }

    /// Returns the rows for a screen of this height, scrolled so that the selected one is visible.
    pub(super) fn window<'f>(&mut self, fleet: &'f Fleet, height: usize) -> Window<'f> {
        let rows = self.rows(fleet);
        let chosen = self.place(&rows).or((!rows.is_empty()).then_some(0));
        let at = chosen.unwrap_or(0);
        self.first = self.first.min(rows.len().saturating_sub(height)).min(at);
        if at >= self.first + height {
            self.first = at + 1 - height.min(at + 1);
        }
        Window { rows, first: self.first, chosen }
    }

    /// Returns the rows that pass the filter, in display order.
    fn rows<'f>(&self, fleet: &'f Fleet) -> Vec<&'f Row> {
        let by_name: BTreeMap<&str, &Row> = fleet.rows.iter().map(|row| (row.name.as_str(), row)).collect();
        let words: Vec<String> = self.filter.split_whitespace().map(str::to_lowercase).collect();
        let rows = self.order.iter().filter_map(|name| by_name.get(name.as_str()).copied());
        rows.filter(|row| words.is_empty() || is_meant(row, &words)).collect()
    }
}

/// Returns whether a row contains all these words.
fn is_meant(row: &Row, words: &[String]) -> bool {
    let fields = [&row.pool, &row.size, &row.zone].into_iter().flatten().map(String::as_str);
    let own = [row.name.as_str(), row.stage.word(), row.bought.map_or("", |bought| bought.as_str())];
    let fate = table::fate(row);
    let text = fields.chain(own).chain([fate.as_str()]).collect::<Vec<_>>().join("\n").to_lowercase();
    words.iter().all(|word| text.contains(word.as_str()))
}

/// Returns the index that a key moves to; `None` if it does not move.
fn moved(key: Key, at: usize, last: usize, page: usize) -> Option<usize> {
    Some(match key {
        Key::Up => at.saturating_sub(1),
        Key::Down => at.saturating_add(1).min(last),
        Key::PageUp => at.saturating_sub(page.max(1)),
        Key::PageDown => at.saturating_add(page.max(1)).min(last),
        Key::Home => 0,
        Key::End => last,
        Key::Enter | Key::Escape | Key::Backspace | Key::Letter(_) | Key::Interrupt => return None,
    })
}
