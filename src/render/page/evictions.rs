//! Disruption by applying the plan: running pods on removed nodes, and the number of waves.

use std::collections::BTreeSet;

use super::{preemptions, question};
use crate::model::{NodeName, PodKey};
use crate::plan::{Step, Wave};
use crate::render::line::{Line, Style};
use crate::render::view::PlanView;

use super::removals::{Removed, removed};
use super::workloads::Pods;

/// Describes which running pods are evicted, if any.
pub(crate) fn evictions(view: &PlanView<'_>) -> Option<Line> {
    // A pod nominated to the node does not run yet.
    let is_there = |pod: &&PodKey| preemptions::comes_to(view, pod).is_none();
    let running = |node: &NodeName| view.running_on(node).filter(is_there).collect::<Vec<_>>();
    let mut pods = Vec::new();
    let mut busy = BTreeSet::new();
    for Removed { node, id, .. } in removed(view) {
        let here = running(node);
        busy.extend((!here.is_empty()).then_some(id));
        pods.extend(here);
    }
    let pods = Pods::of(view, pods);
    // A wave that only removes empty nodes evicts nothing.
    let evicts =
        |wave: &&Wave| wave.steps.get(&Step::Drain).is_some_and(|ids| ids.iter().any(|id| busy.contains(id)));
    let drains = view.plan.spec.waves.iter().filter(evicts).count();
    let waves = if drains > 1 { format!(" in {drains} waves") } else { String::new() };
    let verb = if question::is_what_if(view.plan) { "Would evict" } else { "Evicts" };
    (pods.len() > 0).then(|| Line::new(Style::Bold, format!("{verb} {}{waves}.", pods.named("running"))))
}
