//! What carrying the plan out disrupts: the pods that run on nodes that go, and in how many waves.

use std::collections::BTreeSet;

use super::{preemptions, question};
use crate::model::{NodeName, PodKey};
use crate::plan::{Step, Wave};
use crate::render::line::{Line, Style};
use crate::render::view::PlanView;

use super::removals::{Removed, removed};
use super::workloads::Pods;

/// Says which running pods are evicted; nothing where none is.
pub(crate) fn evictions(view: &PlanView<'_>) -> Option<Line> {
    // Who is about to come to a node does not run yet.
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
    // A wave in which only empty nodes go evicts nobody.
    let evicts =
        |wave: &&Wave| wave.steps.get(&Step::Drain).is_some_and(|ids| ids.iter().any(|id| busy.contains(id)));
    let drains = view.plan.spec.waves.iter().filter(evicts).count();
    let waves = if drains > 1 { format!(" in {drains} waves") } else { String::new() };
    let verb = if question::is_what_if(view.plan) { "Would evict" } else { "Evicts" };
    (pods.len() > 0).then(|| Line::new(Style::Bold, format!("{verb} {}{waves}.", pods.named("running"))))
}
