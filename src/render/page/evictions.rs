//! What carrying the plan out disrupts: the pods that run on nodes that go, and in how many waves.

use super::{preemptions, question};
use crate::model::PodKey;
use crate::plan::Step;
use crate::render::line::{Line, Style};
use crate::render::view::PlanView;

use super::removals::removed;
use super::workloads::Pods;

/// Says which running pods are evicted; nothing where none is.
pub(crate) fn evictions(view: &PlanView<'_>) -> Option<Line> {
    let removed = removed(view);
    // Who is about to come to a node does not run yet.
    let is_there = |pod: &&PodKey| preemptions::comes_to(view, pod).is_none();
    let running = removed.iter().flat_map(|removed| view.running_on(removed.node)).filter(is_there);
    let pods = Pods::of(view, running.collect::<Vec<_>>());
    let drains = view.plan.spec.waves.iter().filter(|wave| wave.steps.contains_key(&Step::Drain)).count();
    let waves = if drains > 1 { format!(" in {drains} waves") } else { String::new() };
    let verb = if question::is_what_if(view.plan) { "Would evict" } else { "Evicts" };
    (pods.len() > 0).then(|| Line::new(Style::Bold, format!("{verb} {}{waves}.", pods.named("running"))))
}
