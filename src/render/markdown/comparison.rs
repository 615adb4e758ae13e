//! Effect of a change of the input, for its pull request. The changed text is not here: the forge shows it.

use super::part::{Part, Rank};
use super::{items, more, page};
use crate::plan::comparison::Comparison;
use crate::render::comparison as lines;
use crate::render::escape::sentence;
use crate::render::page::question;
use crate::render::view::PlanView;
use crate::snapshot::Gap;

/// Maximum number of names in an item; the rest is counted.
const NAMES_IN_ITEM: usize = 3;

/// Maximum number of workloads, those with the largest difference in CPU first.
const WORKLOADS_MAX: usize = 10;

/// Returns the comparison as Markdown.
pub(super) fn markdown(comparison: &Comparison, view: &PlanView<'_>) -> String {
    let mut head = vec![format!("**{}**", lines::summary(comparison, view).text())];
    head.extend(items(question::head(view.plan)));
    head.push(sentence(&lines::cost(comparison).text()));
    head.push(sentence(&lines::sides(comparison)));
    if comparison.is_empty() {
        return page(&head, &mut [], &more(view));
    }
    head.push(sentence(&lines::plan_of(comparison, view)));
    let mut parts = vec![
        Part::new("Nodes, when each plan is done", Rank::Destroy, items(lines::nodes(comparison))),
        Part::new("No longer placed", Rank::Missing, items(lines::unplaced(comparison, NAMES_IN_ITEM))),
        Part::new("Pods", Rank::Create, items(lines::workloads(comparison))).at_most(WORKLOADS_MAX),
        Part::new("New warnings", Rank::NotDone, items(lines::warnings(comparison, Gap::brief))),
        Part::new("Solved", Rank::Warnings, items(lines::solved(comparison, NAMES_IN_ITEM))),
        Part::new("Files", Rank::Read, items(lines::files(comparison))),
    ];
    page(&head, &mut parts, &more(view))
}
