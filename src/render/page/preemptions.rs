//! Preemptions before any node is created: the preempting pod, and its victims, which need another node.

use std::collections::BTreeMap;

use crate::model::{NodeName, PodKey, PodPlace, Preemption};
use crate::render::line::{Line, Style};
use crate::render::view::PlanView;
use crate::render::words::{count, some};

/// Maximum number of pods listed; the rest is counted.
const NAMES_IN_LINE: usize = 3;

/// Returns a line for each node with preempted pods.
pub(crate) fn preemptions(view: &PlanView<'_>) -> Vec<Line> {
    let mut by_node: BTreeMap<&NodeName, (Vec<&PodKey>, Vec<&PodKey>)> = BTreeMap::new();
    for Preemption { pod, node, victims } in &view.plan.evidence.world.preemptions {
        let (pods, gone) = by_node.entry(node).or_default();
        pods.push(pod);
        gone.extend(victims);
    }
    let line = |(node, (pods, gone)): (&NodeName, (Vec<&PodKey>, Vec<&PodKey>))| {
        let (gone_count, gone) = (count(gone.len(), "pod"), some(&gone, NAMES_IN_LINE));
        let pods = some(&pods, NAMES_IN_LINE);
        let text =
            format!("  Preempts {gone_count} on node `{node}`: {gone}, of a lower priority than {pods}");
        Line::new(Style::Plain, text)
    };
    by_node.into_iter().map(line).collect()
}

/// Describes which pods a pod preempts, which one preempts it, or the node that it is nominated to.
pub(crate) fn of_pod(view: &PlanView<'_>, pod: &PodKey) -> Vec<Line> {
    let preemptions = view.plan.evidence.world.preemptions.iter();
    let said = |preemption: &Preemption| {
        let Preemption { pod: own, node, victims } = preemption;
        if own == pod {
            let gone = some(victims, NAMES_IN_LINE);
            return Some(format!(
                "  preempts {gone} on node `{node}`: it fits no node, and its priority is higher"
            ));
        }
        let is_victim = victims.contains(pod);
        is_victim.then(|| format!("  gives way to `{own}` on node `{node}`, whose priority is higher"))
    };
    let preempts = view.plan.evidence.world.preemptions.iter().any(|preemption| preemption.pod == *pod);
    let promised = promised(view, pod)
        .filter(|_| !preempts)
        .map(|node| match view.group(pod).is_some_and(|group| group.state.is_meant) {
            true => format!("  nodeform created node `{node}` for it, and tells kube-scheduler (`status.nominatedNodeName`)"),
            false => format!("  kube-scheduler has promised it node `{node}` (`status.nominatedNodeName`)"),
        });
    preemptions.filter_map(said).chain(promised).map(|text| Line::new(Style::Plain, text)).collect()
}

/// Returns the node that a pod is about to run on, by preemption or nomination.
pub(crate) fn comes_to<'a>(view: &'a PlanView<'_>, pod: &PodKey) -> Option<&'a NodeName> {
    let mut preemptions = view.plan.evidence.world.preemptions.iter();
    let preempting = preemptions.find(|preemption| preemption.pod == *pod);
    preempting.map(|preemption| &preemption.node).or_else(|| promised(view, pod))
}

fn promised<'a>(view: &'a PlanView<'_>, pod: &PodKey) -> Option<&'a NodeName> {
    let group = view.group(pod)?;
    group.state.nominated.as_ref().filter(|node| group.place == PodPlace::Bound((*node).clone()))
}
