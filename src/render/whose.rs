//! What becomes of each change of a plan by a NodeFleet, as a section below the plan.

use super::line::{Line, Style};
use super::words::{count, some};
use crate::model::{Fleet, Mode};
use crate::review::whose::{Fated, Whose, grouped};

/// How many names of a group are told.
const NAMES_MAX: usize = 5;

/// Returns the section: a line for each group of changes of which the same becomes.
#[must_use]
pub fn whose_lines(fated: Vec<Fated>, fleet: &Fleet) -> Vec<Line> {
    let name = fleet.name.as_ref().map_or_else(String::new, |name| format!(" `{name}`"));
    let head = format!("By NodeFleet{name} in mode `{}`:", fleet.mode.as_str());
    let mut lines = vec![Line::blank(), Line::new(Style::Bold, head)];
    let groups = grouped(fated);
    if groups.is_empty() {
        lines.push(Line::new(Style::Plain, "  nothing changes"));
    }
    for ((whose, class, pool), names) in groups {
        let pool = pool.map_or_else(String::new, |pool| format!(" of pool `{pool}`"));
        let becomes = match whose {
            Whose::Shown => "is shown, and nothing is done".to_owned(),
            Whose::Nobodys => "happens by itself".to_owned(),
            Whose::Reviewed => match fleet.mode {
                Mode::Review => "is proposed as a pull request, and happens once it is merged".to_owned(),
                Mode::Observe | Mode::Auto => {
                    "waits for a review: for a merge where the NodeFleet names a repository, else for `nodeform approve`"
                        .to_owned()
                }
            },
            Whose::Held(because) => format!("is held: {because}"),
        };
        let of = count(names.len(), "change");
        let told = some(&names, NAMES_MAX);
        lines.push(Line::new(Style::Plain, format!("  `{class}`{pool} {becomes}: {of}, {told}")));
    }
    lines
}
