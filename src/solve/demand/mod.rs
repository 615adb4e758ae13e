//! The pods to place, grouped by shape: what the scheduler reads of them, with a list of names.
//!
//! Pods that cannot be planned yet are set aside here with the reason; they are never planned wrongly.
//! This module never looks at what could hold the pods.

mod roster;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::storage::Storage;
use crate::model::{
    HostPort, LabelKey, NodeName, Pod, PodKey, PodPlace, PodSpec, Requirements, Resources, SchedulingRule,
    Stance,
};
use crate::snapshot::Snapshot;

use super::fit::claims::{self, ClaimState};
use super::fit::company::{HostRole, HostRule};
use super::fit::mounts::Mounts;
use super::fit::{Miss, not_yet};
use super::solution::{Held, Warning};
use super::topology::{Role, Topology};
pub(super) use roster::Roster;

/// What a pod, or a daemonset's pod, asks of its node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ask {
    /// How much of each resource.
    pub requests: Resources,
    /// What its labels must be: one of these must hold. Empty can never be met. The order says nothing:
    /// terms are chosen by cost.
    pub alternatives: Vec<Requirements>,
    /// Which taints it stands.
    pub stance: Stance,
    /// Which ports of the node it takes.
    pub host_ports: BTreeSet<HostPort>,
    /// The parts that it plays in rules between pods on one node.
    pub company: Vec<HostRole>,
    /// The volumes that are attached for it.
    pub volumes: Mounts,
}

impl Ask {
    /// Returns what a pod of this content asks for, apart from its volumes and rules between pods.
    #[must_use]
    pub fn of(spec: &PodSpec) -> Self {
        Self {
            requests: spec.requests.clone(),
            alternatives: alternatives(spec),
            stance: spec.stance(),
            host_ports: spec.host_ports.clone(),
            company: Vec::new(),
            volumes: Mounts::default(),
        }
    }

    /// Returns the same, however pods are spread over nodes: that takes all nodes to say.
    #[must_use]
    pub fn unspread(&self) -> Self {
        let mut unspread = self.clone();
        unspread.company.retain(|role| !role.spreads());
        unspread
    }
}

/// Returns the node selector joined with each term of the required node affinity. A term that contradicts
/// the selector can never hold and is left out: as an intersection it would read like "no such label".
pub(super) fn alternatives(spec: &PodSpec) -> Vec<Requirements> {
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

/// Pods with the same priority, the same [`Ask`] and the same roles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Their priority.
    pub priority: i32,
    /// What each asks for.
    pub ask: Ask,
    /// The parts that each plays in rules between pods whose domains are larger than a node.
    pub roles: Vec<Role>,
    /// The pods, sorted.
    pub pods: Vec<PodKey>,
}

impl Shape {
    /// Returns whether it matters to these pods, or to others for them, who is where already.
    #[must_use]
    pub fn is_tied(&self) -> bool {
        !self.roles.is_empty() || self.ask.company.iter().any(|role| role.rule == HostRule::Beside)
    }
}

/// Pods that contradict themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barred {
    /// Their priority.
    pub priority: i32,
    /// The pods, sorted.
    pub pods: Vec<PodKey>,
    /// Why.
    pub miss: Miss,
}

/// Everything that waits for a node.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    /// The pods to place; higher priorities first, then by content.
    pub shapes: Vec<Shape>,
    /// The pods that could stand nowhere, whatever there was.
    pub barred: Vec<Barred>,
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
    pub fn of(snapshot: &Snapshot, topology: &Topology) -> Self {
        let leaving: Vec<bool> = snapshot.nodes.iter().map(|node| node.is_deleting).collect();
        Roster::among((snapshot, |_| true), topology, |node| leaving[node]).demand(|node| leaving[node])
    }

    /// Groups these, wherever they are.
    pub(super) fn of_these(
        snapshot: &Snapshot,
        topology: &Topology,
        is_asked: impl Fn(&Pod) -> bool,
    ) -> Self {
        Roster::among((snapshot, is_asked), topology, |_| true).demand(|_| true)
    }

    /// Notes what pods of a content leave out, and wish for in vain.
    fn note(&mut self, spec: &PodSpec, pods: impl Fn() -> usize) {
        self.without_requests += if spec.is_without_requests { pods() } else { 0 };
        for rule in not_yet::wished_for(spec) {
            *self.passed_over.entry(rule).or_default() += pods();
        }
    }

    /// Returns the shape of one of the pods to place.
    #[must_use]
    pub fn shape_of(&self, pod: &PodKey) -> Option<&Shape> {
        self.shapes.iter().find(|shape| shape.pods.binary_search(pod).is_ok())
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
    match needs_place_without(pod) {
        Without::Anything => true,
        Without::Node(node) => leaving.contains(node),
        Without::Nothing => false,
    }
}

/// What must go for a pod to need a place.
enum Without<'p> {
    /// It waits already.
    Anything,
    /// Its node.
    Node(&'p NodeName),
    /// Nothing makes it need one.
    Nothing,
}

fn needs_place_without(pod: &Pod) -> Without<'_> {
    if pod.is_daemon {
        return Without::Nothing;
    }
    let is_of_set = || pod.workload.as_ref().is_some_and(|owner| &*owner.kind == "StatefulSet");
    match &pod.place {
        PodPlace::Waiting if !pod.is_terminating => Without::Anything,
        PodPlace::Bound(node) if !pod.is_terminating || is_of_set() => Without::Node(node),
        PodPlace::Waiting | PodPlace::Bound(_) => Without::Nothing,
    }
}

/// Returns the labels' keys that anybody asks about, as far as pods, their volumes and daemonsets go.
pub(super) fn keys_asked_for(snapshot: &Snapshot) -> BTreeSet<LabelKey> {
    let pods = snapshot.pods.iter().map(|pod| &pod.spec);
    let specs = pods.chain(snapshot.daemons.iter().map(|daemon| &daemon.spec));
    // Pods of a workload share one value: each is read once.
    let by_address: BTreeMap<usize, &PodSpec> =
        specs.map(|spec| (Arc::as_ptr(spec).addr(), &**spec)).collect();
    let mut keys = keys_of(by_address.into_values());
    let Storage { volumes, classes, .. } = &snapshot.storage;
    let of_volumes = volumes.iter().filter_map(|volume| volume.node_affinity.as_ref());
    let of_classes = classes.iter().filter_map(|class| class.topologies.as_ref());
    for requirements in of_volumes.chain(of_classes).flatten() {
        keys.extend(requirements.iter().map(|(key, _)| key.clone()));
    }
    keys
}

/// Returns the labels' keys that pods of these contents ask about.
pub(super) fn keys_of<'s>(specs: impl Iterator<Item = &'s PodSpec>) -> BTreeSet<LabelKey> {
    let mut keys = BTreeSet::new();
    for spec in specs {
        let terms = spec.node_affinity.required.iter().flatten();
        for requirements in terms.chain([&spec.node_selector]) {
            keys.extend(requirements.iter().map(|(key, _)| key.clone()));
        }
        keys.extend(spec.spread.iter().map(|constraint| constraint.topology_key.clone()));
        let terms = spec.affinity.iter().chain(&spec.anti_affinity);
        keys.extend(terms.map(|term| term.topology_key.clone()));
        if !spec.volumes.is_empty() {
            keys.insert(LabelKey::new(crate::model::label::ZONE));
        }
    }
    keys
}
