//! Parts of a page with a size limit: the least important is shortened first. This file never reads a plan.

use super::UNITS_MAX;
use crate::render::escape::units;
use crate::render::words::grouped;

/// Importance of a part; the first ones are dropped first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Rank {
    Read,
    Warnings,
    NotDone,
    Change,
    Kept,
    Create,
    Money,
    Pending,
    Destroy,
    Missing,
}

/// Number of items that a part keeps until all less important parts are dropped.
const KEPT: usize = 2;

/// A heading and items below it, the most important first.
#[derive(Debug)]
pub(super) struct Part {
    title: &'static str,
    rank: Rank,
    /// Header of the table with the items as rows; `None` for a list.
    table: Option<&'static str>,
    items: Vec<String>,
    /// Original number of items.
    total: usize,
    /// Count in the heading.
    counted: Option<usize>,
}

impl Part {
    pub(super) fn new(title: &'static str, rank: Rank, mut items: Vec<String>) -> Self {
        let total = items.len();
        // A part never exceeds a whole page.
        let mut used = 0;
        let fitting = items.iter().take_while(|item| {
            used += units(item);
            used <= UNITS_MAX
        });
        let fitting = fitting.count();
        items.truncate(fitting);
        Self { title, rank, table: None, items, total, counted: None }
    }

    /// Adds a count to the heading.
    pub(super) const fn counting(mut self, counted: usize) -> Self {
        self.counted = Some(counted);
        self
    }

    /// Shows the items as rows of a table.
    pub(super) const fn in_table(mut self, head: &'static str) -> Self {
        self.table = Some(head);
        self
    }

    /// Shows at most this many items.
    pub(super) fn at_most(mut self, items: usize) -> Self {
        self.items.truncate(items);
        self
    }

    fn write(&self, text: &mut String) {
        let Self { title, rank: _, table, items, total: _, counted } = self;
        if items.is_empty() {
            return;
        }
        if !title.is_empty() {
            let counted = counted.map_or(String::new(), |counted| format!(" ({})", number(counted)));
            text.push_str(&format!("### {title}{counted}\n\n"));
        }
        if let Some(head) = table {
            text.push_str(&format!("{head}\n"));
        }
        let bullet = if table.is_some() { "" } else { "- " };
        for item in items {
            text.push_str(&format!("{bullet}{item}\n"));
        }
        text.push('\n');
    }

    /// Describes how much of it is left out.
    fn left_out(&self) -> Option<String> {
        let hidden = self.total - self.items.len();
        let title = if self.title.is_empty() { "cost" } else { self.title };
        (hidden > 0).then(|| format!("{} of {} under “{title}”", number(hidden), number(self.total)))
    }
}

fn number(number: usize) -> String {
    grouped(u64::try_from(number).unwrap_or(u64::MAX))
}

/// Drops the last item of the least important part that has more than the items to keep, or else of the least important
/// part. Returns whether there was one.
pub(super) fn drop_least(parts: &mut [Part]) -> bool {
    let least = |parts: &mut [Part], kept: usize| {
        let droppable = parts.iter_mut().filter(|part| part.items.len() > kept);
        droppable.min_by_key(|part| part.rank).and_then(|part| part.items.pop()).is_some()
    };
    least(parts, KEPT) || least(parts, 0)
}

/// Writes the page; `more` is how to see everything.
pub(super) fn written(head: &[String], parts: &[Part], more: &str) -> String {
    let mut text = head.iter().map(|line| format!("{line}\n\n")).collect::<String>();
    parts.iter().for_each(|part| part.write(&mut text));
    let left_out: Vec<String> = parts.iter().filter_map(Part::left_out).collect();
    if left_out.is_empty() {
        text.push_str(&format!("Every node and pod: {more}\n"));
    } else {
        text.push_str(&format!("**Left out here:** {}. Everything: {more}\n", left_out.join(", ")));
    }
    text
}
