//! The first line: how many nodes are created, changed and deleted, and how many pods stay Pending.

use super::question;
use crate::plan::Counts;
use crate::plan::Plan;
use crate::plan::summary::{pending, pending_before};
use crate::render::line::{Line, Style};
use crate::render::view::PlanView;
use crate::render::words::{count, grouped, verb};

/// Returns the first line of a plan's page.
pub(crate) fn headline(view: &PlanView<'_>) -> Line {
    // A what-if plan must not be mistaken for a plan, not even by a program that searches for the word.
    let is_what_if = question::is_what_if(view.plan);
    let Some(changes) = changes(view.counts()) else {
        return Line::new(Style::Bold, without_changes(view.plan, is_what_if));
    };
    let what = if is_what_if { "What if" } else { "Plan" };
    Line::new(Style::Bold, format!("{what}: {changes}.{}", left_pending(pending(view.plan).len())))
}

/// Describes in Terraform's words how many nodes change, if any.
fn changes(counts: Counts) -> Option<String> {
    let Counts { import, add, change, destroy, forget } = counts;
    if counts == Counts::default() {
        return None;
    }
    let part = |number: usize, what: &str| (number > 0).then(|| format!("{number} to {what}"));
    let parts = part(import, "import")
        .into_iter()
        .chain([format!("{add} to add"), format!("{change} to change"), format!("{destroy} to destroy")])
        .chain(part(forget, "forget"));
    Some(parts.collect::<Vec<_>>().join(", "))
}

/// Returns the second sentence of a headline; empty if no pod stays Pending.
pub(crate) fn left_pending(pods: usize) -> String {
    match pods {
        0 => String::new(),
        pods => format!(" {} {} Pending.", count(pods, "pod"), verb(pods, "stays", "stay")),
    }
}

fn without_changes(plan: &Plan, is_what_if: bool) -> String {
    let left = pending(plan).len();
    let text = match left {
        0 => "No changes.".to_owned(),
        left => {
            let all = pending_before(plan).max(left);
            let number = grouped(u64::try_from(left).unwrap_or(u64::MAX));
            let stay = verb(left, "stays", "stay");
            format!("No node changes possible: {number} of {} {stay} Pending.", count(all, "pod"))
        }
    };
    if is_what_if { format!("What if: {}{}", text[..1].to_lowercase(), &text[1..]) } else { text }
}

#[cfg(test)]
mod tests {
    use super::headline;
    use crate::plan::tests::world as sample;
    use crate::render::PlanView;

    #[test]
    fn pods_that_stay_pending_are_said_first_and_never_beside_no_changes() {
        let mut plan = sample::example_plan();
        let first = |plan: &crate::plan::Plan| headline(&PlanView::new(plan, None)).text();
        assert_eq!(first(&plan), "Plan: 1 to import, 2 to add, 0 to change, 1 to destroy.");
        plan.evidence.report.unplaced.push(sample::unplaced(&["huge-1", "huge-2"]));
        let expected = "Plan: 1 to import, 2 to add, 0 to change, 1 to destroy. 2 pods stay Pending.";
        assert_eq!(first(&plan), expected);
        plan.spec.changes.clear();
        // Four more pods are pending in this world.
        assert_eq!(first(&plan), "No node changes possible: 2 of 4 pods stay Pending.");
        plan.evidence.report.unplaced.clear();
        assert_eq!(first(&plan), "No changes.");
    }
}
