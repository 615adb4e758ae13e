//! Pods that stay Pending, by workload, each with the reason and what to change.

use crate::model::PodKey;
use crate::plan::Plan;
use crate::render::line::{Line, Style};
use crate::render::view::PlanView;
use crate::render::words::{count, some};
use crate::solve::{Held, Unplaced};

use super::workloads::Pods;

/// Returns a line for each reason, the one with the most pods first; `names` is how many pods are listed.
pub(crate) fn pending(view: &PlanView<'_>, names: Option<usize>) -> Vec<Line> {
    let report = &view.plan.evidence.report;
    let unplaced = report.unplaced.iter().map(|group| (&group.pods, unplaced(group)));
    let held = report.held.iter().map(|group| (&group.pods, held(group)));
    let mut lines: Vec<(&Vec<PodKey>, String)> = unplaced.chain(held).collect();
    lines.sort_by_key(|(pods, _)| std::cmp::Reverse(pods.len()));
    let line = |(pods, why): (&Vec<PodKey>, String)| {
        let who = who(view, pods);
        let listed = names.filter(|_| pods.len() > 1);
        let listed = listed.map_or(String::new(), |names| format!(" ({})", some(pods, names)));
        Line::new(Style::Warning, format!("  {who}{listed}: {why}"))
    };
    lines.into_iter().map(line).collect()
}

/// Returns the pods that stay Pending with the reason, that of the most pods first; without placeholders of
/// CapacityBuffers.
#[must_use]
pub fn without_node(plan: &Plan) -> Vec<(Vec<&PodKey>, String)> {
    let report = &plan.evidence.report;
    let unplaced = report.unplaced.iter().map(|group| (&group.pods, unplaced(group)));
    let held = report.held.iter().map(|group| (&group.pods, held(group)));
    let named = unplaced.chain(held).map(|(pods, why)| {
        let pods: Vec<&PodKey> = pods.iter().filter(|pod| !pod.is_placeholder()).collect();
        (pods, why)
    });
    let mut groups: Vec<(Vec<&PodKey>, String)> = named.filter(|(pods, _)| !pods.is_empty()).collect();
    groups.sort_by_key(|(pods, _)| std::cmp::Reverse(pods.len()));
    groups
}

fn who(view: &PlanView<'_>, pods: &[PodKey]) -> String {
    if pods.iter().all(PodKey::is_placeholder) {
        return format!("headroom for {}", count(pods.len(), "pod"));
    }
    Pods::of(view, pods).named("")
}

/// Explains why pods have no place; if the reason is a limit or a missing pool, it needs no more.
pub(crate) fn unplaced(group: &Unplaced) -> String {
    let Unplaced { rule, because, nearest, .. } = group;
    if says_all(rule) {
        return because.clone();
    }
    let nearest = nearest.as_ref().map_or(String::new(), |nearest| format!(" (nearest: {nearest})"));
    // For a resource the reason starts with its name.
    match because.starts_with(&format!("`{rule}` ")) {
        true => format!("{because}{nearest}"),
        false => format!("{rule}: {because}{nearest}"),
    }
}

/// Returns whether the reason of a rule is a whole sentence about an object, so the rule's name adds nothing.
pub(crate) fn says_all(rule: &str) -> bool {
    use crate::solve::fit::Rule;
    rule == Unplaced::GANG || [Rule::Limits, Rule::Offerings].iter().any(|whole| whole.to_string() == rule)
}

/// Explains why pods are held back.
pub(crate) fn held(group: &Held) -> String {
    let Held { waits_for, because, .. } = group;
    if [Held::DESTROY, Held::DELETE, Held::TRIED].contains(&waits_for.as_str()) {
        return because.clone();
    }
    format!("held back for {waits_for}: {because}")
}
