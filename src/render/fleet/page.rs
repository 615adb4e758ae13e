//! The view as a page of a given size, or as plain text of any length.

use jiff::Timestamp;

use super::cursor::{Cursor, Mode, Window};
use super::table::Layout;
use super::world::Fleet;
use super::{detail, fit, head};
use crate::render::line::{Line, Span, Style};
use crate::render::wrap::wrapped;

/// Maximum number of warning lines on a page.
const NOTES_MAX: usize = 3;

/// Time at which the view is shown.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment<'a> {
    /// The current time, if known.
    pub now: Option<Timestamp>,
    /// Why the last refresh failed, if it did.
    pub fault: Option<&'a str>,
}

impl Moment<'_> {
    /// Returns the time since something.
    pub(super) fn age(self, since: Option<Timestamp>) -> Option<String> {
        detail::ago(self, since)
    }
}

/// Size of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Columns per line.
    pub columns: usize,
    /// Number of lines.
    pub lines: usize,
}

/// Returns the whole fleet as lines of at most this many columns.
#[must_use]
pub fn fleet_text(fleet: &Fleet, columns: usize) -> Vec<Line> {
    let moment = Moment { now: fleet.at, fault: None };
    let mut lines = vec![head::totals(fleet, columns)];
    lines.extend(head::below(fleet, moment).iter().flat_map(|line| wrapped(line, columns)));
    if fleet.rows.is_empty() {
        return lines;
    }
    let rows: Vec<_> = fleet.rows.iter().collect();
    let layout = Layout::of(&rows, columns, moment.now);
    lines.extend([Line::blank(), layout.titles()]);
    lines.extend(rows.into_iter().map(|row| layout.row(row, false)));
    lines.into_iter().map(trimmed).collect()
}

/// Returns the visible page and its number of rows.
#[must_use]
pub fn fleet_page(fleet: &Fleet, cursor: &mut Cursor, size: Size, moment: Moment<'_>) -> (Vec<Line>, usize) {
    let mut lines = vec![head::totals(fleet, size.columns)];
    let below = head::below(fleet, moment);
    let hidden = below.len().saturating_sub(NOTES_MAX);
    lines.extend(below.into_iter().take(NOTES_MAX));
    if hidden > 0 {
        lines.push(Line::new(Style::Warning, format!("and {hidden} more: `nodeform top --once`")));
    }
    lines.push(Line::blank());
    // A page too short for its head keeps the last line, which says how to quit.
    lines.truncate(size.lines.saturating_sub(1));
    let height = size.lines.saturating_sub(lines.len() + 1);
    let (body, foot, rows) = match cursor.mode {
        Mode::Explain(first) => explained(fleet, cursor, (first, height), moment),
        Mode::Rows | Mode::Filter => rows(fleet, cursor, (size, height), moment),
    };
    lines.extend(body);
    lines.resize(size.lines.saturating_sub(1), Line::blank());
    lines.push(foot);
    (lines.into_iter().map(|line| cut(line, size.columns)).collect(), rows)
}

type Body = (Vec<Line>, Line, usize);

fn rows(fleet: &Fleet, cursor: &mut Cursor, (size, height): (Size, usize), moment: Moment<'_>) -> Body {
    let height = height.saturating_sub(1);
    let layout = {
        let all: Vec<_> = fleet.rows.iter().collect();
        Layout::of(&all, size.columns, moment.now)
    };
    let Window { rows, first, chosen } = cursor.window(fleet, height);
    let mut lines = vec![layout.titles()];
    let shown = rows.iter().enumerate().skip(first).take(height);
    lines.extend(shown.map(|(place, row)| layout.row(row, chosen == Some(place))));
    if rows.is_empty() {
        let why = match (fleet.rows.is_empty(), fleet.at) {
            (true, None) => "  nothing was read yet",
            (true, Some(_)) => "  the cluster has no nodes",
            (false, _) => "  no node matches the filter; Esc clears it",
        };
        lines.push(Line::new(Style::Dim, why));
    }
    let count = match rows.len() == fleet.rows.len() {
        true => format!("{} rows", rows.len()),
        false => format!("{} of {} rows", rows.len(), fleet.rows.len()),
    };
    let filter = fit::harmless(&cursor.filter);
    let foot = match cursor.mode {
        Mode::Filter => {
            Line::new(Style::Bold, format!("/{filter}_")).with(Style::Dim, "  Enter keeps, Esc clears")
        }
        Mode::Rows | Mode::Explain(_) => {
            let filter =
                if filter.is_empty() { "/ filter".to_owned() } else { format!("/ filter: {filter}") };
            let text = format!("q quit  {filter}  s sort: {}  Enter explain  {count}", cursor.sort.word());
            let seen = moment.age(fleet.at).map(|age| format!("  seen {age} ago")).unwrap_or_default();
            Line::new(Style::Dim, text + &seen)
        }
    };
    (lines, foot, height)
}

fn explained(
    fleet: &Fleet,
    cursor: &mut Cursor,
    (first, height): (usize, usize),
    moment: Moment<'_>,
) -> Body {
    let lines = match cursor.explained(fleet) {
        Some(row) => detail::detail(row, moment),
        None => {
            let name = fit::harmless(cursor.chosen().unwrap_or_default());
            vec![Line::new(Style::Warning, format!("node {name} is gone"))]
        }
    };
    let first = first.min(lines.len().saturating_sub(height));
    cursor.mode = Mode::Explain(first);
    let foot = Line::new(Style::Dim, "Esc back  ↑↓ scroll  Ctrl-C quit");
    (lines.into_iter().skip(first).collect(), foot, height)
}

/// Returns a line of at most this many columns.
fn cut(line: Line, columns: usize) -> Line {
    let mut left = columns;
    let mut spans: Vec<Span> = Vec::new();
    for Span { style, text } in line.spans {
        let text = fit::start(&text, left);
        left -= fit::width(&text);
        spans.push(Span { style, text: text.into() });
    }
    Line { spans }
}

/// Returns a line without trailing spaces.
fn trimmed(mut line: Line) -> Line {
    while let Some(last) = line.spans.last_mut() {
        let kept = last.text.trim_end().len();
        last.text.to_mut().truncate(kept);
        if kept > 0 {
            break;
        }
        line.spans.pop();
    }
    line
}
