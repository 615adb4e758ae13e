//! Parts of a page that must not grow beyond so many characters: the least important gives way first.
//! This file never reads a plan.

use super::UNITS_MAX;
use crate::render::escape::units;
use crate::render::words::grouped;

/// How important a part is; the first are given up first.
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

/// How many items a part keeps until every less important one has been given up.
const KEPT: usize = 2;

/// A heading and items below it, the most important first.
#[derive(Debug)]
pub(super) struct Part {
    title: &'static str,
    rank: Rank,
    /// The head of the table that the items are rows of; else they are a list.
    table: Option<&'static str>,
    items: Vec<String>,
    /// How many items there were.
    total: usize,
    /// What the heading counts.
    counted: Option<usize>,
}

impl Part {
    pub(super) fn new(title: &'static str, rank: Rank, mut items: Vec<String>) -> Self {
        let total = items.len();
        // More than a whole page is never shown of a part.
        let mut used = 0;
        let fitting = items.iter().take_while(|item| {
            used += units(item);
            used <= UNITS_MAX
        });
        let fitting = fitting.count();
        items.truncate(fitting);
        Self { title, rank, table: None, items, total, counted: None }
    }

    /// Has the heading say how many there are.
    pub(super) const fn counting(mut self, counted: usize) -> Self {
        self.counted = Some(counted);
        self
    }

    /// Shows the items as rows of a table.
    pub(super) const fn in_table(mut self, head: &'static str) -> Self {
        self.table = Some(head);
        self
    }

    /// Shows so many items at most.
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

    /// Says how much of it is not shown.
    fn left_out(&self) -> Option<String> {
        let hidden = self.total - self.items.len();
        let title = if self.title.is_empty() { "cost" } else { self.title };
        (hidden > 0).then(|| format!("{} of {} under “{title}”", number(hidden), number(self.total)))
    }
}

fn number(number: usize) -> String {
    grouped(u64::try_from(number).unwrap_or(u64::MAX))
}

/// Drops the last item of the least important part that has more than it keeps, and where there is none, of the
/// least important part. Returns whether there was one.
pub(super) fn drop_least(parts: &mut [Part]) -> bool {
    let least = |parts: &mut [Part], kept: usize| {
        let droppable = parts.iter_mut().filter(|part| part.items.len() > kept);
        droppable.min_by_key(|part| part.rank).and_then(|part| part.items.pop()).is_some()
    };
    least(parts, KEPT) || least(parts, 0)
}

/// Writes the page; `more` says how to see everything.
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
