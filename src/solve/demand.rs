//! The pods to place, grouped by shape: what the scheduler reads of them, with a list of names.
//!
//! Pods that cannot be planned yet are set aside here with the reason; they are never planned wrongly.
//! This module never looks at what could hold the pods.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::storage::Storage;
use crate::model::{
    HostPort, NodeName, Pod, PodKey, PodPlace, PodSpec, Requirements, Resources, SchedulingRule, Toleration,
};
use crate::snapshot::Snapshot;

use super::fit::claims::{self, ClaimState};
use super::fit::{gates, not_yet};
use super::solution::{Held, Warning};

/// What a pod, or a daemonset's pod, asks of its node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ask {
    /// How much of each resource.
    pub requests: Resources,
    /// What its labels must be: one of these must hold. Empty can never be met. The order says nothing:
    /// terms are chosen by cost.
    pub alternatives: Vec<Requirements>,
    /// Which taints it stands.
    pub tolerations: Vec<Toleration>,
    /// Which ports of the node it takes.
    pub host_ports: BTreeSet<HostPort>,
}

impl Ask {
    /// Returns what a pod of this content asks for.
    #[must_use]
    pub fn of(spec: &PodSpec) -> Self {
        Self {
            requests: spec.requests.clone(),
            alternatives: alternatives(spec),
            tolerations: spec.tolerations.clone(),
            host_ports: spec.host_ports.clone(),
        }
    }
}

/// Returns the node selector joined with each term of the required node affinity. A term that contradicts
/// the selector can never hold and is left out: as an intersection it would read like "no such label".
fn alternatives(spec: &PodSpec) -> Vec<Requirements> {
    let Some(terms) = &spec.node_affinity.required else { return vec![spec.node_selector.clone()] };
    let joined: BTreeSet<Requirements> = terms
        .iter()
        .filter(|term| term.intersects(&spec.node_selector).is_ok())
        .map(|term| {
            let mut both = spec.node_selector.clone();
            both.add_all(term);
            both
        })
        .collect();
    joined.into_iter().collect()
}

/// Pods with the same priority and the same [`Ask`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Their priority.
    pub priority: i32,
    /// What each asks for.
    pub ask: Ask,
    /// The pods, sorted.
    pub pods: Vec<PodKey>,
}

/// Everything that waits for a node.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    /// The pods to place; higher priorities first, then by content.
    pub shapes: Vec<Shape>,
    /// The pods that are held back, by what they wait for.
    pub held: Vec<Held>,
    /// The shapes of pods that are held back by a rule that is not there yet: they may need what looks
    /// unused.
    pub held_shapes: Vec<Shape>,
    /// Rules that are wished for and passed over.
    pub passed_over: BTreeMap<SchedulingRule, usize>,
    /// How many of the pods to place say nothing of what they need.
    pub without_requests: usize,
    /// Pods that stand on nodes which are not in the input.
    pub warnings: Vec<Warning>,
}

impl Demand {
    /// Groups what waits, and what stands on nodes that are being deleted.
    #[must_use]
    pub fn of(snapshot: &Snapshot) -> Self {
        let repelling = not_yet::Repelling::of(snapshot);
        let mut demand = Self::default();
        let mut held = HeldPods::default();
        let mut shapes = Groups::default();
        let mut held_shapes = Groups::default();
        for (spec, pods) in by_content(snapshot) {
            let waits = gates::why(spec).or_else(|| not_yet::why(spec));
            for pod in pods {
                let repelled = || repelling.why(pod);
                match waits.clone().or_else(repelled) {
                    Some(wait) => {
                        if wait.rule.is_some() {
                            held_shapes.add(spec, &pod.key);
                        }
                        held.add(wait, pod, &snapshot.storage);
                    }
                    None => {
                        shapes.add(spec, &pod.key);
                        demand.without_requests += usize::from(spec.is_without_requests);
                        for rule in not_yet::wished_for(spec) {
                            *demand.passed_over.entry(rule).or_default() += 1;
                        }
                    }
                }
            }
        }
        demand.held = held.listed();
        demand.shapes = shapes.shapes();
        demand.held_shapes = held_shapes.shapes();
        demand
    }

    /// Returns how many pods are to be placed.
    #[must_use]
    pub fn pods(&self) -> usize {
        self.shapes.iter().map(|shape| shape.pods.len()).sum()
    }
}

/// Pods that are held back while they are gathered: by what they wait for, why, and how their volumes are.
#[derive(Default)]
struct HeldPods(BTreeMap<(String, String, Vec<ClaimState>), HeldGroup>);

#[derive(Default)]
struct HeldGroup {
    pods: Vec<PodKey>,
    claims: BTreeMap<ClaimState, Vec<Arc<str>>>,
}

impl HeldPods {
    fn add(&mut self, wait: not_yet::Wait, pod: &Pod, storage: &Storage) {
        let claims = if wait.rule.is_some() { claims::of(pod, storage) } else { Vec::new() };
        let mut states: Vec<ClaimState> = claims.iter().map(|(_, state)| state.clone()).collect();
        states.sort();
        states.dedup();
        let group = self.0.entry((wait.waits_for, wait.because, states)).or_default();
        group.pods.push(pod.key.clone());
        for (name, state) in claims {
            group.claims.entry(state).or_default().push(name);
        }
    }

    fn listed(self) -> Vec<Held> {
        let held = |((waits_for, because, _), mut group): (_, HeldGroup)| {
            group.pods.sort();
            for names in group.claims.values_mut() {
                names.sort();
                names.dedup();
            }
            let because = match group.claims.is_empty() {
                true => because,
                false => format!("{because}; {}", claims::said(&group.claims)),
            };
            Held { pods: group.pods, waits_for, because }
        };
        self.0.into_iter().map(held).collect()
    }
}

/// Returns whether a pod needs a place: it waits, or its node is being deleted. What runs for a daemonset
/// leaves with its node; what is being deleted comes back only from a StatefulSet, under the same name.
#[must_use]
pub fn needs_place(pod: &Pod, leaving: &BTreeSet<&NodeName>) -> bool {
    if pod.is_daemon {
        return false;
    }
    match &pod.place {
        PodPlace::Waiting => !pod.is_terminating,
        PodPlace::Bound(node) => {
            let comes_back = !pod.is_terminating
                || pod.workload.as_ref().is_some_and(|owner| &*owner.kind == "StatefulSet");
            comes_back && leaving.contains(node)
        }
    }
}

/// Returns the pods that need a place by what the scheduler reads of them.
fn by_content(snapshot: &Snapshot) -> BTreeMap<&PodSpec, Vec<&Pod>> {
    let leaving: BTreeSet<&NodeName> =
        snapshot.nodes.iter().filter(|node| node.is_deleting).map(|node| &node.name).collect();
    let mut groups: BTreeMap<&PodSpec, Vec<&Pod>> = BTreeMap::new();
    for pod in snapshot.pods.iter().filter(|pod| needs_place(pod, &leaving)) {
        groups.entry(&pod.spec).or_default().push(pod);
    }
    groups
}

/// Shapes while they are gathered, the higher priority first.
#[derive(Default)]
struct Groups(BTreeMap<(std::cmp::Reverse<i32>, Ask), Vec<PodKey>>);

impl Groups {
    fn add(&mut self, spec: &PodSpec, pod: &PodKey) {
        let key = (std::cmp::Reverse(spec.priority), Ask::of(spec));
        self.0.entry(key).or_default().push(pod.clone());
    }

    fn shapes(self) -> Vec<Shape> {
        let to_shape = |((std::cmp::Reverse(priority), ask), mut pods): ((_, Ask), Vec<PodKey>)| {
            pods.sort();
            Shape { priority, ask, pods }
        };
        self.0.into_iter().map(to_shape).collect()
    }
}

/// Returns the labels' keys that anybody asks about, as far as pods and daemonsets go.
pub(super) fn keys_asked_for(snapshot: &Snapshot) -> BTreeSet<crate::model::LabelKey> {
    let specs: BTreeSet<&Arc<PodSpec>> =
        snapshot.pods.iter().map(|pod| &pod.spec).chain(snapshot.daemons.iter().map(|d| &d.spec)).collect();
    let mut keys = BTreeSet::new();
    for spec in specs {
        let terms = spec.node_affinity.required.iter().flatten();
        for requirements in terms.chain([&spec.node_selector]) {
            keys.extend(requirements.iter().map(|(key, _)| key.clone()));
        }
    }
    keys
}
