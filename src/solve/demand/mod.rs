//! Pods to place, grouped by shape: what the scheduler reads of them, with a list of names.
//!
//! Pods that cannot be planned yet are set aside here with the reason; they are never planned wrongly. This module
//! never looks at what could hold the pods.

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

/// Requirements of a pod, or of a DaemonSet's pod, on its node.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ask {
    /// Amount of each resource.
    pub requests: Resources,
    /// Alternative label requirements, one of which must hold; an empty list can never be met. Their order has no
    /// meaning: terms are chosen by cost.
    pub alternatives: Vec<Requirements>,
    /// Its tolerations.
    pub stance: Stance,
    /// Host ports that it uses.
    pub host_ports: BTreeSet<HostPort>,
    /// Its roles in rules between pods on one node.
    pub company: Vec<HostRole>,
    /// Volumes that are attached for it.
    pub volumes: Mounts,
}

impl Ask {
    /// Returns the requirements of a pod with this spec, apart from its volumes and rules between pods.
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

    /// Returns the same without spread over nodes, which depends on all nodes.
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
    /// Requirements of each.
    pub ask: Ask,
    /// Roles of each in rules between pods whose domains are larger than a node.
    pub roles: Vec<Role>,
    /// The pods, sorted.
    pub pods: Vec<PodKey>,
}

impl Shape {
    /// Returns whether these pods, or others because of them, depend on where other pods already are.
    #[must_use]
    pub fn is_tied(&self) -> bool {
        !self.roles.is_empty() || self.ask.company.iter().any(|role| role.rule == HostRule::Beside)
    }
}

/// Pods with contradictory requirements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Barred {
    /// Their priority.
    pub priority: i32,
    /// The pods, sorted.
    pub pods: Vec<PodKey>,
    /// The reason.
    pub miss: Miss,
}

/// All pods that need a node.
#[derive(Clone, Debug, Default)]
pub struct Demand {
    /// The pods to place; higher priorities first, then by content.
    pub shapes: Vec<Shape>,
    /// Pods that fit on no possible node.
    pub barred: Vec<Barred>,
    /// Pods that are held back, by what they wait for.
    pub held: Vec<Held>,
    /// Shapes of pods that are held back by a rule that is not supported yet: they may need nodes that look unused.
    pub held_shapes: Vec<Shape>,
    /// Soft rules that are ignored.
    pub passed_over: BTreeMap<SchedulingRule, usize>,
    /// How many of the pods to place have no requests.
    pub without_requests: usize,
    /// Warnings of pods on nodes that are not in the input.
    pub warnings: Vec<Warning>,
}

impl Demand {
    /// Groups pending pods, and pods on nodes that are being deleted.
    #[must_use]
    pub fn of(snapshot: &Snapshot, topology: &Topology) -> Self {
        let leaving: Vec<bool> = snapshot.nodes.iter().map(|node| node.is_deleting).collect();
        Roster::among((snapshot, |_| true), topology, |node| leaving[node]).demand(|node| leaving[node])
    }

    /// Groups these pods, wherever they are.
    pub(super) fn of_these(
        snapshot: &Snapshot,
        topology: &Topology,
        is_asked: impl Fn(&Pod) -> bool,
    ) -> Self {
        Roster::among((snapshot, is_asked), topology, |_| true).demand(|_| true)
    }

    /// Counts missing requests and ignored soft rules of pods with a spec.
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

/// Held pods while they are collected: by what they wait for, the reason, and the states of their volumes.
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

/// Returns whether a pod needs to be placed: it is pending, or its node is being deleted. A DaemonSet pod is deleted
/// with its node; a terminating pod returns only if it belongs to a StatefulSet, under the same name.
#[must_use]
pub fn needs_place(pod: &Pod, leaving: &BTreeSet<&NodeName>) -> bool {
    match needs_place_without(pod) {
        Without::Anything => true,
        Without::Node(node) => leaving.contains(node),
        Without::Nothing => false,
    }
}

/// What must be deleted for a pod to need a place.
enum Without<'p> {
    /// Nothing: it is pending already.
    Anything,
    /// Its node.
    Node(&'p NodeName),
    /// It never needs a place.
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

/// Returns the label keys that pods, their volumes and DaemonSets ask about.
pub(super) fn keys_asked_for(snapshot: &Snapshot) -> BTreeSet<LabelKey> {
    let pods = snapshot.pods.iter().map(|pod| &pod.spec);
    let specs = pods.chain(snapshot.daemons.iter().map(|daemon| &daemon.spec));
    // Pods of a workload share one spec: each is read once.
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

/// Returns the label keys that pods with these specs ask about.
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
