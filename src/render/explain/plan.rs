//! Explanations of a pod or a node from a plan: where it runs, whether and why it moves, where to, and what that saves.
//!
//! Read from the plan alone, so a saved plan answers like a fresh one. Explaining which rules excluded other places
//! requires the input.

use crate::model::{NodeName, PodKey, PodPlace};
use crate::plan::{Change, Reason};
use crate::render::line::{Line, Style};
use crate::render::money;
use crate::render::page::pending::{held, unplaced};
use crate::render::page::preemptions;
use crate::render::page::removals::facts;
use crate::render::page::shape::{existing, group_price, size_of, zone_name};
use crate::render::view::{Group, NewNodeView, PlanView};
use crate::render::words::{count, some};

/// Maximum number of a node's pods listed by name.
const NAMES_IN_LINE: usize = 5;

/// Describes where a running pod is, whether it moves and why, and what that saves; empty if it does not run.
#[must_use]
pub fn running(view: &PlanView<'_>, pod: &PodKey) -> Vec<Line> {
    let Some(PodPlace::Bound(node)) = view.group(pod).map(|group| &group.place) else {
        return Vec::new();
    };
    let plain = |text: String| Line::new(Style::Plain, text);
    let mut lines = vec![plain(format!("  on {}, {}", existing(view, node), facts(view, node)))];
    match removal(view, node) {
        Some(reason) => {
            lines.push(plain(format!("  moves, because its node is deleted: {reason}")));
            let report = &view.plan.evidence.report;
            let change = money::change(report.cost_before, report.cost_after, 0);
            lines.push(plain(format!("  with the whole plan: {}", lower_first(&change))));
        }
        None => {
            lines.extend(stays(view, node).map(|because| plain(format!("  its node is kept: {because}"))));
        }
    }
    lines
}

/// Explains a pod from the plan alone.
#[must_use]
pub fn pod(view: &PlanView<'_>, pod: &PodKey) -> Vec<Line> {
    let mut lines = vec![Line::new(Style::Bold, format!("pod `{pod}` {}", place(view, pod)))];
    lines.extend(running(view, pod));
    lines.extend(preempted(view, pod));
    lines
}

/// Describes the node that a pod not running yet is assigned to, by preemption or by kube-scheduler's nomination.
#[must_use]
pub fn comes(view: &PlanView<'_>, pod: &PodKey) -> Option<Line> {
    let node = preemptions::comes_to(view, pod)?;
    Some(Line::new(Style::Bold, format!("pod `{pod}` is placed on existing node `{node}`")))
}

/// Describes which pods a pod preempts, or which one preempts it.
#[must_use]
pub fn preempted(view: &PlanView<'_>, pod: &PodKey) -> Vec<Line> {
    preemptions::of_pod(view, pod)
}

/// Describes in one line where a pod is after the plan.
#[must_use]
pub fn place(view: &PlanView<'_>, pod: &PodKey) -> String {
    let verb = if view.is_moving(pod) { "moves to" } else { "is placed on" };
    if let Some(node) = view.new_nodes().find(|node| node.placement.pods.contains(pod)) {
        return format!("{verb} a new node: {}", described(view, &node));
    }
    let kept = view.plan.evidence.kept.iter().find(|(_, pods)| pods.contains(pod));
    if let Some((node, _)) = kept {
        return format!("{verb} an existing node: {}", existing(view, node));
    }
    let report = &view.plan.evidence.report;
    let left = report.unplaced.iter().find(|group| group.pods.contains(pod)).map(unplaced);
    let left = left.or_else(|| report.held.iter().find(|group| group.pods.contains(pod)).map(held));
    match (left, view.group(pod).map(|group| &group.place)) {
        (Some(because), _) => format!("stays Pending: {because}"),
        (None, Some(PodPlace::Bound(node))) if preemptions::comes_to(view, pod).is_some() => {
            format!("is placed on existing node `{node}`")
        }
        (None, Some(PodPlace::Bound(node))) => format!("stays on node `{node}`"),
        (None, Some(PodPlace::Waiting)) => "is not planned: it is about to go".to_owned(),
        (None, None) => "is not in the plan".to_owned(),
    }
}

/// Explains a node from the plan alone: an existing one by its name, a new one by the name of its VM or NodeClaim.
/// `None` if the plan has none of this name.
#[must_use]
pub fn node(view: &PlanView<'_>, name: &str) -> Option<Vec<Line>> {
    let plain = |text: String| Line::new(Style::Plain, text);
    let is_meant = |node: &NewNodeView<'_>| node.create.claim.as_str() == name || &*node.create.vm == name;
    if let Some(new) = view.new_nodes().find(is_meant) {
        let pods = &new.placement.pods;
        let mut lines = created(view, &new, name);
        lines.push(plain(format!("  holds {}: {}", count(pods.len(), "pod"), some(pods, NAMES_IN_LINE))));
        return Some(lines);
    }
    let name = NodeName::new(name);
    view.node(&name)?;
    let runs: Vec<&PodKey> = view.running_on(&name).collect();
    let receives = view.plan.evidence.kept.get(&name).map_or(&[][..], Vec::as_slice);
    let mut lines = exists(view, &name);
    lines.push(plain(format!("  runs: {}", named(&runs))));
    lines.push(plain(format!("  receives: {}", named(receives))));
    Some(lines)
}

/// Describes a new node, called by this name, and why it is created.
pub(crate) fn created(view: &PlanView<'_>, new: &NewNodeView<'_>, name: &str) -> Vec<Line> {
    let title = Line::new(Style::Bold, format!("node `{name}` is new: {}", described(view, new)));
    let because = view.plan.evidence.reasons.get(new.id).map(ToString::to_string);
    let because = because.map(|because| Line::new(Style::Plain, format!("  because {because}")));
    std::iter::once(title).chain(because).collect()
}

/// Describes an existing node: whether it is deleted or kept and why, what it is, and its price.
pub(crate) fn exists(view: &PlanView<'_>, name: &NodeName) -> Vec<Line> {
    let fate = match (removal(view, name), stays(view, name)) {
        (Some(reason), _) => format!("is deleted: {reason}"),
        (None, Some(because)) => format!("is kept: {because}"),
        (None, None) => "stays".to_owned(),
    };
    vec![
        Line::new(Style::Bold, format!("node `{name}` {fate}")),
        Line::new(Style::Plain, format!("  {}, {}", existing(view, name), facts(view, name))),
    ]
}

fn named<T: ToString>(pods: &[T]) -> String {
    if pods.is_empty() { "none".to_owned() } else { some(pods, NAMES_IN_LINE) }
}

/// Returns why a node is deleted; `None` if it is kept.
pub(crate) fn removal(view: &PlanView<'_>, node: &NodeName) -> Option<String> {
    let mut deletes = view.plan.spec.changes.iter().filter(|(_, planned)| match &planned.change {
        Change::Delete(delete) => delete.target.node == *node,
        Change::Create(_) | Change::Update(_) | Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => {
            false
        }
    });
    let (id, _) = deletes.next()?;
    let reason = view.plan.evidence.reasons.get(id).map(Reason::to_string);
    Some(reason.unwrap_or_else(|| "no reason is written".to_owned()))
}

/// Returns why a node that could be deleted is kept, if the plan says so.
pub(crate) fn stays(view: &PlanView<'_>, node: &NodeName) -> Option<String> {
    let evidence = &view.plan.evidence;
    let held = evidence.held.iter().find(|held| held.node == *node).map(|held| held.because.clone());
    let mut staying = evidence.report.staying.iter();
    held.or_else(|| staying.find(|(staying, _)| staying == node).map(|(_, because)| because.clone()))
}

fn described(view: &PlanView<'_>, node: &NewNodeView<'_>) -> String {
    let primary = &node.claim.primary;
    let mut group = Group::default();
    group.add(*node);
    format!(
        "`{}` of pool `{}`, {}, {}: {}, {}",
        primary.size,
        node.claim.pool,
        zone_name(primary.zone.as_str()),
        primary.capacity_type,
        size_of(view, node),
        group_price(&group),
    )
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_lowercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::{node, pod};
    use crate::model::PodKey;
    use crate::plan::tests::world as sample;
    use crate::render::{PlanView, plain_text};

    #[test]
    fn a_plan_says_where_a_pod_goes_and_what_is_new_or_goes() {
        let plan = sample::example_plan();
        let view = PlanView::new(&plan, None);
        let text = plain_text(&pod(&view, &PodKey::new("default", "web-1")));
        assert!(
            text.starts_with("pod `default/web-1` is placed on a new node: `Standard_D4s_v5` of pool"),
            "{text}"
        );
        let text = plain_text(&node(&view, "empty-1").expect("it is there"));
        assert!(text.starts_with("node `empty-1` is deleted: empty"), "{text}");
        assert!(node(&view, "nobody").is_none());
    }
}
