//! How a NodeFleet handles each change of a plan, as a section below the plan.

use super::line::{Line, Style};
use super::words::some;
use crate::model::Fleet;
use crate::review::handling::{Handled, Handling, grouped};

/// Maximum number of names listed per group.
const NAMES_MAX: usize = 5;

/// Note if a change is reviewed.
const REVIEW: &str = "After a review: merge the pull request where the NodeFleet names a repository, else `nodeform approve ID`.";

/// Returns the section: one line per group of changes with the same handling.
#[must_use]
pub fn handling_lines(handled: Vec<Handled>, fleet: &Fleet) -> Vec<Line> {
    let mode = fleet.mode.as_str();
    let head = match &fleet.name {
        Some(name) => format!("By NodeFleet `{name}` (mode `{mode}`):"),
        None => format!("Without a NodeFleet (mode `{mode}`):"),
    };
    let mut lines = vec![Line::blank(), Line::new(Style::Bold, head)];
    let groups = grouped(handled);
    if groups.is_empty() {
        lines.push(Line::new(Style::Plain, "  nothing changes"));
    }
    let is_reviewed = groups.keys().any(|(handling, _, _)| *handling == Handling::Reviewed);
    for ((handling, class, pool), names) in groups {
        let pool = pool.map_or_else(String::new, |pool| format!(" in pool `{pool}`"));
        let (becomes, because) = match handling {
            Handling::Shown => ("shown, not applied", String::new()),
            Handling::Automatic => ("by itself", String::new()),
            Handling::Reviewed => ("after a review", String::new()),
            Handling::Held(because) => ("held", format!(" ({because})")),
        };
        let told = some(&names, NAMES_MAX);
        lines.push(Line::new(Style::Plain, format!("  {becomes}: `{class}`{pool}, {told}{because}")));
    }
    if is_reviewed {
        lines.push(Line::new(Style::Dim, format!("  {REVIEW}")));
    }
    lines
}
