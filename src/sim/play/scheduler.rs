//! A scheduler: binds each pending pod to the first node, by name, that it fits.
//!
//! It supports resources, node selectors, required node affinity, taints, required pod anti-affinity, spreads with
//! `DoNotSchedule`, and nominated nodes, whose capacity is reserved against pods of equal or lower priority. It
//! supports neither pod affinity nor volumes.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::Scene;
use super::index::{Index, NodeView};
use super::pod::{Amounts, requests, tolerates};
use super::topology::{self, Topology};
use crate::sim::agenda::second;
use crate::sim::cluster::{Labels, Name, PODS, assign, set_condition};
use crate::sim::json::{list, members, text, text_or_empty};

/// Binds the pods that fit, and sets the reason on the others.
///
/// Pods of one shape fit the same nodes. A shape that fits nowhere can only fit nodes that have changed since, so many
/// pending pods are cheap.
pub(crate) fn schedule(index: &mut Index, scene: &mut Scene<'_>) {
    let touched = std::mem::take(&mut index.touched);
    let mut shapes: BTreeSet<u64> = index
        .waiting
        .keys()
        .filter(|shape| !touched.is_empty() || !index.parked.contains(shape) || has_untold(index, **shape))
        .copied()
        .collect();
    let mut bound: BTreeSet<Name> = BTreeSet::new();
    while let Some((shape, name)) = next(index, &shapes, &bound) {
        let wanted = index.pods.get(&name).map(|pod| pod.requests.clone()).unwrap_or_default();
        let pod = scene.store.get(PODS, &name).cloned();
        let node = pod.as_ref().and_then(|pod| {
            let topology = Topology::of(index, pod, &name);
            let candidate = Candidate { pod, name: &name, wanted: &wanted, topology: &topology };
            if index.parked.contains(&shape) {
                place(index, candidate, touched.iter())
            } else {
                place(index, candidate, index.nodes.keys())
            }
        });
        match (node, pod) {
            (Some(node), _) => {
                // The index sees the binding with the next change; until then the resources are reserved here.
                super::pod::add(index.used.entry(node.clone()).or_default(), &wanted);
                index.provisional.push((node.clone(), wanted));
                index.keep_promise(&name);
                index.bound.insert(name.clone(), node.clone());
                assign(scene.store, &name, &node, scene.now);
                bound.insert(name);
            }
            (None, Some(pod)) => {
                shapes.remove(&shape);
                // A topology constraint can become satisfiable without a change of the node itself.
                if !topology::is_bound(&pod) && index.apart.is_empty() {
                    index.parked.insert(shape);
                }
                say_unschedulable(index, scene, (shape, &bound), &pod);
            }
            (None, None) => {
                bound.insert(name);
            }
        }
    }
}

/// Returns the next pod: the one with the highest priority, then by name.
fn next(index: &Index, shapes: &BTreeSet<u64>, bound: &BTreeSet<Name>) -> Option<(u64, Name)> {
    let first = |shape: &u64| index.waiting.get(shape)?.iter().find(|(_, name)| !bound.contains(name));
    let (shape, (_, name)) =
        shapes.iter().filter_map(|shape| Some((shape, first(shape)?))).min_by_key(|(_, pod)| *pod)?;
    Some((*shape, name.clone()))
}

fn has_untold(index: &Index, shape: u64) -> bool {
    index.waiting.get(&shape).is_some_and(|pods| pods.iter().any(|(_, name)| !index.told.contains(name)))
}

/// Returns a hash of everything that decides where a pod fits.
pub(crate) fn shape(pod: &Value) -> u64 {
    let affinity = crate::sim::json::at(
        pod,
        "/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution",
    );
    let parts = [
        crate::sim::json::at(pod, "/spec/nodeSelector"),
        affinity,
        crate::sim::json::at(pod, "/spec/tolerations"),
        crate::sim::json::at(pod, "/status/nominatedNodeName"),
        crate::sim::json::at(pod, "/spec/affinity/podAntiAffinity"),
        crate::sim::json::at(pod, "/spec/topologySpreadConstraints"),
        // Other pods' anti-affinity selects by these.
        crate::sim::json::at(pod, "/metadata/namespace"),
        crate::sim::json::at(pod, "/metadata/labels"),
    ];
    let text = format!("{parts:?} {:?}", requests(pod));
    crate::sim::draw::Draw::new(0).number(&text)
}

/// Returns whether this scheduler is responsible for a pod.
pub(crate) fn is_ours(pod: &Value) -> bool {
    list(pod, "/spec/schedulingGates").is_empty()
        && text(pod, "/spec/schedulerName").is_none_or(|name| name == "default-scheduler")
}

/// A pod to be scheduled.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    pod: &'a Value,
    name: &'a Name,
    wanted: &'a Amounts,
    topology: &'a Topology,
}

fn place<'a>(
    index: &Index,
    candidate: Candidate<'_>,
    mut nodes: impl Iterator<Item = &'a String>,
) -> Option<String> {
    let fits =
        |name: &String| index.nodes.get(name).is_some_and(|view| is_feasible(index, candidate, (name, view)));
    let nominated =
        text(candidate.pod, "/status/nominatedNodeName").map(str::to_owned).filter(|name| fits(name));
    nominated.or_else(|| nodes.find(|name| fits(name)).cloned())
}

fn is_feasible(index: &Index, candidate: Candidate<'_>, (name, view): (&str, &NodeView)) -> bool {
    let pod = candidate.pod;
    has_room(index, candidate, (name, view))
        && selects(pod, name, view)
        && admits(pod, view)
        && candidate.topology.admits(view)
}

fn has_room(index: &Index, candidate: Candidate<'_>, (name, view): (&str, &NodeView)) -> bool {
    let mut taken = index.used.get(name).cloned().unwrap_or_default();
    let priority = index.pods.get(candidate.name).map_or(0, |pod| pod.priority);
    for (_, pod) in index.promised_before(name, priority).filter(|(other, _)| *other != candidate.name) {
        // A nomination that the node cannot satisfy reserves nothing.
        if fit(&taken, &pod.requests, view) {
            super::pod::add(&mut taken, &pod.requests);
        }
    }
    fit(&taken, candidate.wanted, view)
}

fn fit(taken: &Amounts, wanted: &Amounts, view: &NodeView) -> bool {
    wanted.iter().all(|(resource, amount)| {
        let taken = taken.get(resource).copied().unwrap_or(0);
        let all = view.allocatable.get(resource).copied().unwrap_or(0);
        *amount == 0 || taken.saturating_add(*amount) <= all
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

/// Returns whether a pod's node selector and required node affinity match a node.
pub(crate) fn selects(pod: &Value, name: &str, view: &NodeView) -> bool {
    let label = |key: &str| view.labels.get(key).map(String::as_str);
    let by_selector = members(pod, "/spec/nodeSelector")
        .all(|(key, value)| label(key).is_some() && label(key) == value.as_str());
    let required = pod.pointer("/spec/affinity/nodeAffinity/requiredDuringSchedulingIgnoredDuringExecution");
    let by_affinity = required.is_none_or(|required| {
        list(required, "/nodeSelectorTerms").iter().any(|term| {
            let expressions = list(term, "/matchExpressions");
            let fields = list(term, "/matchFields");
            // A term without requirements matches nothing.
            (!expressions.is_empty() || !fields.is_empty())
                && Labels::of_requirements(expressions).admit(label)
                && Labels::of_requirements(fields).admit(|key| (key == "metadata.name").then_some(name))
        })
    });
    by_selector && by_affinity
}

/// Sets the reason on every pending pod of a shape, once.
fn say_unschedulable(
    index: &mut Index,
    scene: &mut Scene<'_>,
    (shape, bound): (u64, &BTreeSet<Name>),
    pod: &Value,
) {
    let untold: Vec<Name> = index
        .waiting
        .get(&shape)
        .into_iter()
        .flatten()
        .map(|(_, name)| name)
        .filter(|name| !index.told.contains(name) && !bound.contains(name))
        .cloned()
        .collect();
    if untold.is_empty() {
        return;
    }
    let message = why_unschedulable(index, pod);
    let now = scene.now;
    for name in untold {
        scene.store.modify(PODS, &name, |pod| {
            set_condition(
                pod,
                json!({
                    "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message,
                    "lastTransitionTime": second(now),
                }),
            );
        });
        index.told.insert(name);
    }
}

fn why_unschedulable(index: &Index, pod: &Value) -> String {
    let wanted = requests(pod);
    let name = Name::of(pod);
    let topology = Topology::of(index, pod, &name);
    let candidate = Candidate { pod, name: &name, wanted: &wanted, topology: &topology };
    let count = |holds: &dyn Fn(&str, &NodeView) -> bool| {
        index.nodes.iter().filter(|(name, view)| holds(name, view)).count()
    };
    let reasons: Vec<String> = [
        (count(&|name, view| !selects(pod, name, view)), "node(s) didn't match Pod's node affinity/selector"),
        (count(&|_, view| !admits(pod, view)), "node(s) had untolerated taint(s)"),
        (count(&|name, view| !has_room(index, candidate, (name, view))), "Insufficient resources"),
        (
            count(&|_, view| !topology.admits(view)),
            "node(s) didn't match pod anti-affinity rules or pod topology spread constraints",
        ),
    ]
    .into_iter()
    .filter(|(nodes, _)| *nodes > 0)
    .map(|(nodes, why)| format!("{nodes} {why}"))
    .collect();
    format!("0/{} nodes are available: {}.", index.nodes.len(), reasons.join(", "))
}
