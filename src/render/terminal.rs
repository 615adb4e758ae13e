//! A plan for a tired reviewer: changes and Pending pods, cost, possible errors in it, what is deleted, created and
//! waiting, and finally the assumptions.
//!
//! Words and symbols are Terraform's; costs are phrased like Infracost's. Removals come first and by name; new nodes
//! are grouped. By default it fits on a screen of 40 lines.

use super::line::{Line, Style};
use super::page::additions::additions;
use super::page::assumptions::{assumed_daemons, assumptions, doubts};
use super::page::cost::cost;
use super::page::evictions::evictions;
use super::page::headline::headline;
use super::page::not_done::not_done;
use super::page::pending::pending;
use super::page::preemptions::preemptions;
use super::page::removals::{in_place, removals};
use super::page::{question, refused, strategies, whole};
use super::section::{Room, Section, fit};
use super::view::PlanView;
use super::wrap::wrapped;
use crate::snapshot::Gap;

/// Level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// At most [`LINES_MAX`] lines.
    Brief,
    /// Every node with its pods.
    All,
}

/// Maximum number of lines of a brief plan: one screen.
pub const LINES_MAX: usize = 40;

/// Maximum number of names in a line; the rest is counted.
const NAMES_IN_LINE: usize = 3;

/// Returns the plan as lines.
#[must_use]
pub fn plan_text(view: &PlanView<'_>, detail: Detail) -> Vec<Line> {
    let mut head: Vec<Line> = refused::line(view.plan).into_iter().collect();
    head.extend(question::head(view.plan));
    head.extend(cost(view));
    // Programs search for the first line, so it is not wrapped.
    let mut lines = vec![headline(view)];
    lines.extend(head.iter().flat_map(|line| wrapped(line, view.columns)));
    lines.extend(question::bill(view));
    lines.extend(strategies::table(view));
    let mut sections = vec![Section { items: doubts(view, gaps_of(detail)), most: 7, ..Section::default() }];
    sections.extend(match detail {
        Detail::Brief => changes(view),
        Detail::All => {
            vec![Section { items: whole::changes(view), foot: evictions(view), ..Section::default() }]
        }
    });
    sections.extend(rest(view, detail));
    let room = match detail {
        // The last two lines say how to see the rest.
        Detail::Brief => LINES_MAX.saturating_sub(lines.len() + 2),
        Detail::All => {
            sections.iter_mut().for_each(|section| section.most = usize::MAX);
            usize::MAX
        }
    };
    let leaves_out = fit(sections, Room { lines: room, columns: view.columns }, &mut lines);
    if detail == Detail::Brief && (leaves_out || !view.plan.is_empty()) {
        lines.push(Line::blank());
        lines.push(Line::new(Style::Dim, more(view)));
    }
    lines
}

/// Returns how a gap is shortened.
pub(super) fn gaps_of(detail: Detail) -> fn(&Gap) -> Gap {
    match detail {
        Detail::Brief => Gap::brief,
        Detail::All => Gap::clone,
    }
}

/// Lists deleted nodes with the disruption, and new nodes.
fn changes(view: &PlanView<'_>) -> Vec<Section> {
    let removed = Section { items: removals(view), most: 12, foot: evictions(view), ..Section::default() };
    let changed = Section { items: in_place(view), most: 4, ..Section::default() };
    let made = Section { items: additions(view), most: 10, ..Section::default() };
    vec![removed, changed, made]
}

/// Lists Pending pods, other omissions, warnings, and what the plan was made from.
fn rest(view: &PlanView<'_>, detail: Detail) -> Vec<Section> {
    let (names, of_nodes) = match detail {
        Detail::Brief => (None, NAMES_IN_LINE),
        Detail::All => (Some(usize::MAX), usize::MAX),
    };
    let mut assumed = assumptions(view);
    assumed.extend(assumed_daemons(view).filter(|_| detail == Detail::All));
    vec![
        Section { items: preemptions(view), most: 4, ..Section::default() },
        Section::titled("Stays Pending:", pending(view, names), 6),
        Section::titled("Not done:", not_done(view, of_nodes), 5),
        Section::titled("Warnings:", warnings(view), 4),
        Section { items: assumed, most: 7, ..Section::default() },
    ]
}

pub(super) fn warnings(view: &PlanView<'_>) -> Vec<Line> {
    let warnings = view.plan.evidence.report.warnings.iter();
    warnings
        .map(|warning| {
            let hint = warning.hint.as_ref().map_or(String::new(), |hint| format!("; hint: {hint}"));
            Line::new(Style::Warning, format!("  {}: {}{hint}", warning.object, warning.what))
        })
        .collect()
}

fn more(view: &PlanView<'_>) -> String {
    match view.file {
        Some(file) => format!("more: `nodeform show {file} --all`"),
        None => "more: `nodeform plan … --out plan.json`, then `nodeform show plan.json --all`".to_owned(),
    }
}
