//! The first lines: totals of the fleet, its provisioners, and what could not be read.

use super::bar::{Share, percent, with_bar};
use super::fit;
use super::page::Moment;
use super::row::{Row, Use};
use super::world::Fleet;
use crate::model::{MicroUsdPerHour, ResourceName};
use crate::render::line::{Line, Style};
use crate::render::money::{Sureness, per_hour, per_month};
use crate::render::words::{count, grouped};

/// Maximum width of a bar.
const BAR_MAX: usize = 30;
/// Minimum width of a bar, and the width below which words are left out for it.
const BAR_MIN: (usize, usize) = (3, 8);
/// Fills a bar whose value is unknown.
const UNKNOWN: char = '·';
/// Gap between the parts of the line.
const GAP: usize = 2;

/// Texts of the line in one of its forms.
struct Form {
    /// Text after each bar.
    shares: Vec<String>,
    /// Texts after the bars.
    behind: [String; 3],
    /// Minimum width of the bars in this form.
    bar_min: usize,
}

/// Totals of a fleet.
struct Totals {
    nodes: usize,
    cpu: Use,
    memory: Use,
    rate: MicroUsdPerHour,
    is_estimate: bool,
    unpriced: usize,
}

impl Totals {
    /// Sums a fleet. Planned nodes do not count; nodes without a Node cost money but hold no pods.
    fn of(fleet: &Fleet) -> Self {
        let there = || fleet.rows.iter().filter(|row| row.stage != super::Stage::Planned);
        let joined: Vec<&Row> = there().filter(|row| row.stage.has_node()).collect();
        let sum = |of: fn(&Row) -> Use| {
            let each = || joined.iter().map(|row| of(row));
            Use {
                requested: each().map(|one| one.requested).sum(),
                of: Some(each().filter_map(|one| one.of).sum::<i64>()).filter(|sum| *sum > 0),
            }
        };
        let known = || there().filter_map(|row| row.price.known());
        Self {
            nodes: joined.len(),
            cpu: sum(|row| row.cpu),
            memory: sum(|row| row.memory),
            rate: known().fold(MicroUsdPerHour::default(), |sum, price| sum + price),
            is_estimate: there().any(|row| row.price.is_estimate()),
            unpriced: there().count() - known().count(),
        }
    }
}

/// Returns the line with the fleet's totals, in this many columns.
pub(super) fn totals(fleet: &Fleet, columns: usize) -> Line {
    let totals = Totals::of(fleet);
    let sureness = Sureness::of(totals.is_estimate);
    let unpriced = match totals.unpriced {
        0 => String::new(),
        nodes => format!(" + {} of unknown price", count(nodes, "node")),
    };
    let pending = match fleet.pending {
        Some(pods) => format!("{} Pending", grouped(pods as u64)),
        None => "? Pending".to_owned(),
    };
    let uses = [("CPU", totals.cpu, ResourceName::Cpu), ("memory", totals.memory, ResourceName::Memory)];
    let before = count(totals.nodes, "node");
    // Uses the longest form in which the bars have their minimum width.
    let forms = [(true, true, BAR_MIN.1), (true, false, BAR_MIN.1), (false, false, BAR_MIN.0)];
    let texts = forms.map(|(says_of, says_unpriced, bar_min)| {
        let (short, long) = match (unpriced.is_empty(), says_unpriced) {
            (true, _) => ("", ""),
            (false, true) => ("", unpriced.as_str()),
            (false, false) => ("+?", "+?"),
        };
        let money = format!("{}/h{short}", per_hour(totals.rate, sureness));
        let month = format!("{}{long}", per_month(totals.rate, sureness));
        let shares: Vec<String> = uses.iter().map(|(_, used, name)| said(*used, name, says_of)).collect();
        Form { shares, behind: [money, month, pending.clone()], bar_min }
    });
    let taken = |form: &Form| {
        let words = uses.iter().zip(&form.shares);
        let words: usize =
            words.map(|((word, ..), said)| GAP + fit::width(word) + 2 + fit::width(said)).sum();
        fit::width(&before) + words + form.behind.iter().map(|text| GAP + fit::width(text)).sum::<usize>()
    };
    let fits = |form: &&Form| taken(form) + 2 * form.bar_min <= columns;
    let form = texts.iter().find(fits).unwrap_or(&texts[2]);
    let bar = (columns.saturating_sub(taken(form)) / 2).clamp(BAR_MIN.0, BAR_MAX);
    let mut line = Line::new(Style::Bold, before);
    for (said, (word, used, _)) in form.shares.iter().zip(&uses) {
        line = line.with(Style::Plain, format!("  {word} "));
        line = drawn(line, *used, bar).with(Style::Plain, format!(" {said}"));
    }
    let [money, month, pending] = &form.behind;
    line = line.with(Style::Plain, format!("  {money}  {month}  "));
    let waits = if fleet.pending == Some(0) { Style::Plain } else { Style::Warning };
    line.with(waits, pending.clone())
}

/// Adds a bar; if its value is unknown it is filled with [`UNKNOWN`].
pub(super) fn drawn(line: Line, used: Use, columns: usize) -> Line {
    match used {
        Use { requested: Some(requested), of: Some(of) } => {
            with_bar(line, Share::unchanged(requested, of), columns)
        }
        Use { requested: None, .. } | Use { of: None, .. } => {
            line.with(Style::Dim, UNKNOWN.to_string().repeat(columns))
        }
    }
}

/// Returns the requested percentage, and the total.
fn said(used: Use, name: &ResourceName, says_of: bool) -> String {
    let percent = share(used);
    match used.of.filter(|_| says_of) {
        Some(of) => format!("{percent} of {}", name.show(rounded(name, of))),
        None => percent,
    }
}

/// Rounds a total to whole CPUs or GiB.
fn rounded(name: &ResourceName, amount: i64) -> i64 {
    let unit = match name {
        ResourceName::Cpu => 1000,
        ResourceName::Memory => 1 << 30,
        ResourceName::EphemeralStorage | ResourceName::Pods | ResourceName::Other(_) => 1,
    };
    if amount < unit { amount } else { (amount + unit / 2) / unit * unit }
}

/// Returns the requested percentage; `?` if unknown.
pub(super) fn share(used: Use) -> String {
    match (used.requested, used.of) {
        (Some(requested), Some(of)) => percent(requested, of),
        (None, _) | (_, None) => "?".to_owned(),
    }
}

/// Returns the lines below: provisioners, time of the snapshot, and what could not be read.
pub(super) fn below(fleet: &Fleet, moment: Moment<'_>) -> Vec<Line> {
    let mut lines: Vec<Line> =
        fleet.provisioners.iter().map(|text| Line::new(Style::Dim, fit::harmless(text))).collect();
    if let Some(fault) = moment.fault {
        let age = moment.age(fleet.at).map(|age| format!(" of {age} ago")).unwrap_or_default();
        let text = match fleet.at {
            Some(_) => format!("not refreshed: {fault}; this is the view{age}"),
            None => format!("nothing was read yet: {fault}"),
        };
        lines.push(Line::new(Style::Warning, fit::harmless(&text)));
    }
    lines.extend(fleet.notes.iter().map(|note| Line::new(Style::Warning, fit::harmless(note))));
    lines
}
