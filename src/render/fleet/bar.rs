//! Bar: the requested part of an amount, before and after.
//!
//! Each part has its own glyph, so a bar reads the same without colour.

use crate::render::line::{Line, Style};

/// Requested before and after.
pub const BOTH: char = '█';
/// Requested only before: removed.
pub const BEFORE: char = '▒';
/// Requested only after: added.
pub const AFTER: char = '▓';
/// Free.
pub const FREE: char = '░';

/// A requested amount and its total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// Requested before.
    pub before: i64,
    /// Requested after.
    pub after: i64,
    /// The total.
    pub of: i64,
}

impl Share {
    /// Returns the current requests and their total, without a change.
    #[must_use]
    pub const fn unchanged(requested: i64, of: i64) -> Self {
        Self { before: requested, after: requested, of }
    }
}

/// Returns a bar of this many columns.
#[must_use]
pub fn bar(share: Share, columns: usize) -> String {
    parts(share, columns).into_iter().map(|(glyph, count)| glyph.to_string().repeat(count)).collect()
}

/// Adds a bar to a line: removed and added parts in their colours, the free part dim.
#[must_use]
pub fn with_bar(line: Line, share: Share, columns: usize) -> Line {
    parts(share, columns).into_iter().filter(|(_, count)| *count > 0).fold(line, |line, (glyph, count)| {
        let style = match glyph {
            BEFORE => Style::Remove,
            AFTER => Style::Add,
            FREE => Style::Dim,
            _ => Style::Plain,
        };
        line.with(style, glyph.to_string().repeat(count))
    })
}

fn parts(Share { before, after, of }: Share, columns: usize) -> [(char, usize); 4] {
    let both = cells(before.min(after), of, columns);
    let most = cells(before.max(after), of, columns).max(both);
    // A change must be visible.
    let most = if before != after && most == both { (most + 1).min(columns) } else { most };
    let both = if before != after && most == both { both.saturating_sub(1) } else { both };
    let (leaves, comes) = if before > after { (most - both, 0) } else { (0, most - both) };
    [(BOTH, both), (BEFORE, leaves), (AFTER, comes), (FREE, columns - most)]
}

/// Returns the columns for an amount: none only for 0, all only if nothing is left.
fn cells(amount: i64, of: i64, columns: usize) -> usize {
    if amount <= 0 || columns == 0 {
        return 0;
    }
    if amount >= of {
        return columns;
    }
    let rounded = (i128::from(amount) * columns as i128 * 2 + i128::from(of)) / (i128::from(of) * 2);
    let rounded = usize::try_from(rounded).unwrap_or(columns);
    rounded.clamp(1, columns.saturating_sub(1).max(1))
}

/// Returns the rounded percentage of the total; 100 only if nothing is left, `?` if the total is unknown.
#[must_use]
pub fn percent(amount: i64, of: i64) -> String {
    if of <= 0 {
        return "?".to_owned();
    }
    let rounded = (i128::from(amount.max(0)) * 200 + i128::from(of)) / (i128::from(of) * 2);
    let shown = match amount {
        ..=0 => 0,
        amount if amount < of => rounded.clamp(1, 99),
        _ => rounded,
    };
    format!("{shown}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before: i64, after: i64) -> String {
        bar(Share { before, after, of: 100 }, 10)
    }

    #[test]
    fn a_bar_is_full_only_where_nothing_is_left_and_empty_only_where_nothing_is_requested() {
        let now = |amount| bar(Share::unchanged(amount, 100), 10);
        assert_eq!(
            [now(0), now(1), now(50), now(99), now(100), now(130)].join("\n"),
            "░░░░░░░░░░\n█░░░░░░░░░\n█████░░░░░\n█████████░\n██████████\n██████████"
        );
        assert_eq!(
            (percent(1, 1000), percent(999, 1000), percent(1300, 1000)),
            ("1%".into(), "99%".into(), "130%".into())
        );
        assert_eq!((percent(0, 10), percent(0, 0)), ("0%".to_owned(), "?".to_owned()));
    }

    #[test]
    fn what_leaves_and_what_comes_is_told_apart_and_never_lost_in_rounding() {
        assert_eq!(
            [change(80, 30), change(30, 80), change(50, 51), change(99, 100), change(100, 99), change(0, 1)]
                .join("\n"),
            "███▒▒▒▒▒░░\n███▓▓▓▓▓░░\n█████▓░░░░\n█████████▓\n█████████▒\n▓░░░░░░░░░"
        );
    }

    #[test]
    fn a_bar_has_the_columns_that_it_is_given() {
        for columns in 0..30 {
            for (before, after) in [(0, 0), (1, 0), (0, 100), (100, 100), (55, 56), (7, 200)] {
                let bar = bar(Share { before, after, of: 100 }, columns);
                assert_eq!(bar.chars().count(), columns, "{before} {after} of 100 in {columns}");
            }
        }
    }
}
