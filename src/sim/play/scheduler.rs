//! A scheduler: each waiting pod goes to the first node, by name, that it fits.
//!
//! It knows resources, node selectors, required node affinity, taints, and nominated nodes. It knows no affinity
//! between pods, no spread and no volumes.

use std::sync::Arc;

use serde_json::{Value, json};

use super::Scene;
use super::index::{Index, NodeView};
use super::pod::{Amounts, requests, tolerates};
use crate::sim::agenda::second;
use crate::sim::cluster::{Labels, Name, PODS, assign, set_condition};
use crate::sim::json::{list, members, number, text, text_or_empty};

/// Binds the pods that fit, and says of the others why they wait.
pub(crate) fn schedule(index: &mut Index, scene: &mut Scene<'_>) {
    let touched = std::mem::take(&mut index.touched);
    let mut waiting: Vec<(i64, Name, Arc<Value>)> = index
        .waiting
        .iter()
        .filter(|name| !touched.is_empty() || !index.parked.contains(name))
        .filter_map(|name| scene.store.get(PODS, name).map(|pod| (name.clone(), Arc::clone(pod))))
        .filter(|(_, pod)| is_ours(pod))
        .map(|(name, pod)| (-number(&pod, "/spec/priority").unwrap_or(0), name, pod))
        .collect();
    waiting.sort_by(|left, right| (left.0, &left.1).cmp(&(right.0, &right.1)));
    for (_, name, pod) in waiting {
        let wanted = requests(&pod);
        // A pod that fits none of the nodes as they were can only fit one that is another now.
        let is_parked = index.parked.contains(&name);
        let node = if is_parked {
            place(index, &pod, &wanted, touched.iter())
        } else {
            place(index, &pod, &wanted, index.nodes.keys())
        };
        match node {
            Some(node) => {
                // The index learns of the binding with the next change; until then the room is taken here.
                super::pod::add(index.used.entry(node.clone()).or_default(), &wanted);
                index.provisional.push((node.clone(), wanted));
                assign(scene.store, &name, &node, scene.now);
            }
            None if is_parked => {}
            None => {
                say_unschedulable(index, scene, &name, &pod);
                index.parked.insert(name);
            }
        }
    }
}

fn is_ours(pod: &Value) -> bool {
    list(pod, "/spec/schedulingGates").is_empty()
        && text(pod, "/spec/schedulerName").is_none_or(|name| name == "default-scheduler")
}

fn place<'a>(
    index: &Index,
    pod: &Value,
    wanted: &Amounts,
    mut nodes: impl Iterator<Item = &'a String>,
) -> Option<String> {
    let fits = |name: &String| {
        index.nodes.get(name).is_some_and(|view| is_feasible(index, pod, wanted, (name, view)))
    };
    let nominated = text(pod, "/status/nominatedNodeName").map(str::to_owned).filter(|name| fits(name));
    nominated.or_else(|| nodes.find(|name| fits(name)).cloned())
}

fn is_feasible(index: &Index, pod: &Value, wanted: &Amounts, (name, view): (&str, &NodeView)) -> bool {
    has_room(index, wanted, (name, view)) && selects(pod, name, view) && admits(pod, view)
}

fn has_room(index: &Index, wanted: &Amounts, (name, view): (&str, &NodeView)) -> bool {
    let used = index.used.get(name);
    wanted.iter().all(|(resource, amount)| {
        let taken = used.and_then(|used| used.get(resource)).copied().unwrap_or(0);
        let all = view.allocatable.get(resource).copied().unwrap_or(0);
        *amount == 0 || taken + amount <= all
    })
}

fn admits(pod: &Value, view: &NodeView) -> bool {
    let tolerations = list(pod, "/spec/tolerations");
    let cordon = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
    let repels = |taint: &Value| {
        matches!(text_or_empty(taint, "/effect"), "NoSchedule" | "NoExecute")
            && !tolerates(tolerations, taint)
    };
    let is_cordoned = view.is_unschedulable && repels(&cordon);
    !is_cordoned && !view.taints.iter().any(repels)
}

/// Whether a pod's node selector and required node affinity admit a node.
pub(crate) fn selects(pod: &Value, name: &str, view: &NodeView) -> bool {
    let label = |key: &str| view.labels.get(key).map(String::as_str);
    let by_selector = members(pod, "/spec/nodeSelector")
        .all(|(key, value)| label(key).is_some() && label(key) == value.as_str());
    let required = pod.pointer("/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution");
    let by_affinity = required.is_none_or(|required| {
        list(required, "/nodeSelectorTerms").iter().any(|term| {
            let expressions = list(term, "/matchExpressions");
            let fields = list(term, "/matchFields");
            // A term without any requirement selects nothing.
            (!expressions.is_empty() || !fields.is_empty())
                && Labels::of_requirements(expressions).admit(label)
                && Labels::of_requirements(fields).admit(|key| (key == "metadata.name").then_some(name))
        })
    });
    by_selector && by_affinity
}

fn say_unschedulable(index: &Index, scene: &mut Scene<'_>, name: &Name, pod: &Value) {
    let wanted = requests(pod);
    let count = |holds: &dyn Fn(&str, &NodeView) -> bool| {
        index.nodes.iter().filter(|(name, view)| holds(name, view)).count()
    };
    let full = count(&|name, view| !has_room(index, &wanted, (name, view)));
    let other = count(&|name, view| !selects(pod, name, view));
    let tainted = count(&|_, view| !admits(pod, view));
    let mut reasons = Vec::new();
    for (nodes, why) in [
        (other, "node(s) didn't match Pod's node affinity/selector"),
        (tainted, "node(s) had untolerated taint(s)"),
        (full, "Insufficient resources"),
    ] {
        if nodes > 0 {
            reasons.push(format!("{nodes} {why}"));
        }
    }
    let message = format!("0/{} nodes are available: {}.", index.nodes.len(), reasons.join(", "));
    let now = scene.now;
    scene.store.modify(PODS, name, |pod| {
        set_condition(
            pod,
            json!({
                "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
                "lastTransitionTime": second(now),
            }),
        );
    });
}
