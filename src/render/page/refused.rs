//! Objections of the plan's own check: the input is not at fault, so the page reports them first, and calmly.

use crate::model::PodKey;
use crate::plan::Plan;
use crate::render::line::{Line, Style};
use crate::render::words::{count, some, verb};
use crate::solve::{Held, Warning};

/// How to report it: the file contains the planner's input, and no names.
const REPORT: &str =
    "to report it, send `report.json` of `nodeform snapshot … --names hash --out report.json`";

/// Maximum number of pods listed.
const NAMES_MAX: usize = 3;

/// Reports the pods that the check holds back, or that the plan is the next best one; usually `None`.
pub(crate) fn line(plan: &Plan) -> Option<Line> {
    let report = &plan.evidence.report;
    let by_check = report.held.iter().filter(|held| held.is_by_check());
    let pods: Vec<&PodKey> = by_check.flat_map(|held| &held.pods).collect();
    let nodes = report.staying.iter().filter(|(_, because)| because.starts_with(Held::CHECK)).count();
    let held = (!pods.is_empty())
        .then(|| format!("{} held back: {}", count(pods.len(), "pod"), some(&pods, NAMES_MAX)));
    let stay = (nodes > 0)
        .then(|| format!("{} {} that could go", count(nodes, "node"), verb(nodes, "stays", "stay")));
    let parts: Vec<String> = held.into_iter().chain(stay).collect();
    let what = match parts.is_empty() {
        false => format!("{} ({} objects, see `Not done:`)", parts.join("; "), Held::CHECK),
        true => {
            let next_best = report.warnings.iter().find(|warning| warning.object == Warning::PLAN)?;
            format!("{} {}", Warning::PLAN_FIRST, next_best.what)
        }
    };
    Some(Line::new(Style::Warning, format!("{what}; {REPORT}")))
}

#[cfg(test)]
mod tests {
    use super::line;
    use crate::model::PodKey;
    use crate::plan::tests::world::example_plan;
    use crate::solve::{Held, Warning};

    #[test]
    fn what_the_check_refused_is_said_with_how_to_report_it_and_else_nothing() {
        let mut plan = example_plan();
        assert_eq!(line(&plan), None);
        plan.evidence.report.held.push(Held {
            pods: vec![PodKey::new("shop", "web-1"), PodKey::new("shop", "web-2")],
            waits_for: Held::CHECK.to_owned(),
            because: "capacity: too much".to_owned(),
        });
        let text = line(&plan).expect("something is said").text();
        assert_eq!(
            text,
            "2 pods held back: `shop/web-1`, `shop/web-2` (the plan's own check objects, see `Not done:`); to report it, send `report.json` of `nodeform snapshot … --names hash --out report.json`"
        );
        plan.evidence.report.held.clear();
        let what = "is the next best: nothing moves".to_owned();
        plan.evidence.report.warnings.push(Warning { object: Warning::PLAN.to_owned(), what, hint: None });
        let text = line(&plan).expect("something is said").text();
        assert!(text.starts_with("This plan is the next best: nothing moves; to report it, send"), "{text}");
    }
}
