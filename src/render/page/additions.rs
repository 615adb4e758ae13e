//! New nodes by group, each with its purpose, and pods placed on existing nodes.

use crate::model::{NodeName, PodKey};
use crate::plan::Reason;
use crate::render::line::{Line, Style};
use crate::render::view::{Group, GroupKey, PlanView};
use crate::render::words::{count, some, verb};

use super::shape::{group_price, size_of_group, zone_name};
use super::workloads::Pods;

/// Maximum number of nodes in a line; the rest is counted.
const NAMES_IN_LINE: usize = 3;

/// Returns a line for each group of new nodes, then one for pods placed on existing nodes.
pub(crate) fn additions(view: &PlanView<'_>) -> Vec<Line> {
    let groups = view.groups();
    let made = groups.iter().map(|(key, group)| created(view, key, group));
    made.chain(kept(view)).collect()
}

fn created(view: &PlanView<'_>, key: &GroupKey<'_>, group: &Group<'_>) -> Line {
    let GroupKey { pool, size, zone, capacity_type } = key;
    let text = format!(
        "{} in `{pool}`: {size}, {}, {capacity_type}: {}, {}, for {}",
        count(group.nodes.len(), "node"),
        zone_name(zone.as_str()),
        size_of_group(view, group),
        group_price(group),
        purpose(view, group),
    );
    Line::new(Style::Add, "  + ").with(Style::Plain, text)
}

/// Describes the purpose of a group of nodes: pending pods, moving pods, headroom, or a fixed number of nodes.
pub(crate) fn purpose(view: &PlanView<'_>, group: &Group<'_>) -> String {
    let mut reasons = group.nodes.iter().filter_map(|node| view.plan.evidence.reasons.get(node.id));
    let pods = group.nodes.iter().flat_map(|node| &node.placement.pods);
    let mut parts = sorted(view, pods);
    if group.headroom > 0 {
        parts.push(format!("headroom for {} (CapacityBuffers)", count(group.headroom, "pod")));
    }
    match reasons.find(|reason| matches!(reason, Reason::Replicas { .. })) {
        Some(Reason::Replicas { pool, nodes }) => {
            let asked = format!("`replicas` {nodes} of pool `{pool}`");
            if parts.is_empty() { asked } else { format!("{asked} ({})", parts.join(", ")) }
        }
        Some(_) | None if parts.is_empty() => "no pods".to_owned(),
        Some(_) | None => parts.join(", "),
    }
}

/// Describes which pods are pending and which run on a removed node.
fn sorted<'a>(view: &PlanView<'a>, pods: impl IntoIterator<Item = &'a PodKey>) -> Vec<String> {
    let (moving, waiting): (Vec<&PodKey>, Vec<&PodKey>) =
        pods.into_iter().partition(|pod| view.is_moving(pod));
    Pods::both(&Pods::of(view, waiting), &Pods::of(view, moving))
}

/// Describes which pods are placed on existing nodes.
pub(crate) fn kept(view: &PlanView<'_>) -> Option<Line> {
    let kept = view.plan.evidence.kept.iter();
    let kept: Vec<(&NodeName, &Vec<PodKey>)> =
        kept.filter(|(_, pods)| pods.iter().any(|pod| !pod.is_placeholder())).collect();
    let nodes: Vec<&NodeName> = kept.iter().map(|(node, _)| *node).collect();
    let parts = sorted(view, kept.into_iter().flat_map(|(_, pods)| pods));
    let stay = verb(nodes.len(), "an existing node", "existing nodes");
    let text = format!("{} to {stay}: {}", parts.join(", "), some(&nodes, NAMES_IN_LINE));
    (!nodes.is_empty()).then(|| Line::new(Style::Dim, "  = ").with(Style::Plain, text))
}
