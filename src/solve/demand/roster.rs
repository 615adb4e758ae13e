//! All pods that may need a place, read once: which ones do follows from the nodes that are deleted.
//!
//! Never places pods, and knows of nodes only whether they are deleted.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::storage::Storage;
use crate::model::{NodeName, Pod, PodKey, PodSpec};
use crate::snapshot::Snapshot;
use crate::solve::fit::mounts::Shared;
use crate::solve::fit::turns::Turns;
use crate::solve::fit::volumes::{self, VolumeAsk};
use crate::solve::fit::{Miss, gates, not_yet};
use crate::solve::topology::{Role, Topology};

use super::{Ask, Barred, Demand, HeldPods, Shape, Without, needs_place_without};

/// A pod, and the index in the snapshot of the node whose deletion makes it need a place; `None` if it is pending.
type Seated<'s> = (&'s Pod, Option<usize>);

/// Pods that may need a place, by their requirements.
pub(in crate::solve) struct Roster<'s> {
    storage: &'s Storage,
    contents: Vec<Content<'s>>,
    shapes: Vec<Unfilled<'s>>,
    held_shapes: Vec<Unfilled<'s>>,
}

/// Pods with one spec that have the same outcome.
struct Content<'s> {
    spec: &'s PodSpec,
    fate: Fate,
    pods: Vec<Seated<'s>>,
}

enum Fate {
    Held(not_yet::Wait),
    Barred(Miss),
    /// They have a shape.
    Placed,
}

/// A shape, and its possible pods, sorted.
struct Unfilled<'s> {
    shape: Shape,
    pods: Vec<Seated<'s>>,
}

impl Unfilled<'_> {
    /// Returns the shape with those of its pods that need a place; `None` if there are none.
    fn filled(&self, leaves: &impl Fn(usize) -> bool) -> Option<Shape> {
        let pods: Vec<PodKey> = keys(&self.pods, leaves);
        (!pods.is_empty()).then(|| {
            let Shape { priority, ask, roles, pods: _ } = &self.shape;
            Shape { priority: *priority, ask: ask.clone(), roles: roles.clone(), pods }
        })
    }
}

impl<'s> Roster<'s> {
    /// Reads all pods that need a place for any set of deleted nodes of the snapshot.
    pub(in crate::solve) fn of(snapshot: &'s Snapshot, topology: &Topology) -> Self {
        Self::among((snapshot, |_| true), topology, |_| true)
    }

    /// Reads those of these pods that need a place if at most these nodes are deleted, by index in the snapshot.
    pub(super) fn among(
        (snapshot, is_asked): (&'s Snapshot, impl Fn(&Pod) -> bool),
        topology: &Topology,
        may_leave: impl Fn(usize) -> bool,
    ) -> Self {
        let storage = &snapshot.storage;
        let users = &(Shared::of(snapshot), Turns::of(&snapshot.pods, storage));
        let mut roster = Self { storage, contents: Vec::new(), shapes: Vec::new(), held_shapes: Vec::new() };
        let (mut shapes, mut held) = (Groups::default(), Groups::default());
        for (spec, pods) in by_content((snapshot, is_asked), may_leave) {
            for (ask, pods) in asks(spec, pods, (storage, users)) {
                let fate = match (ask, gates::why(spec).or_else(|| not_yet::why(spec))) {
                    (Err(wait), None) | (_, Some(wait)) => {
                        if wait.rule.is_some() {
                            held.add(spec, &Ask::of(spec), &pods, topology);
                        }
                        Fate::Held(wait)
                    }
                    (Ok(Ok(ask)), None) => {
                        shapes.add(spec, &ask, &pods, topology);
                        Fate::Placed
                    }
                    (Ok(Err(miss)), None) => Fate::Barred(miss),
                };
                roster.contents.push(Content { spec, fate, pods });
            }
        }
        roster.shapes = shapes.listed();
        roster.held_shapes = held.listed();
        roster
    }

    /// Returns the pods held back by a rule that is not supported yet that need a place if these nodes are deleted.
    pub(in crate::solve) fn held_shapes(&self, leaves: impl Fn(usize) -> bool) -> Vec<Shape> {
        filled(&self.held_shapes, &leaves)
    }

    /// Returns the demand if these nodes are deleted, by index in the snapshot.
    pub(in crate::solve) fn demand(&self, leaves: impl Fn(usize) -> bool) -> Demand {
        let mut demand = Demand::default();
        let mut held = HeldPods::default();
        for Content { spec, fate, pods } in &self.contents {
            let asking = || pods.iter().filter(|seated| is_asking(seated, &leaves));
            match fate {
                Fate::Held(wait) => asking().for_each(|(pod, _)| held.add(wait.clone(), pod, self.storage)),
                Fate::Placed => demand.note(spec, || asking().count()),
                Fate::Barred(miss) => {
                    demand.note(spec, || asking().count());
                    let mut pods = keys(pods, &leaves);
                    pods.sort();
                    if !pods.is_empty() {
                        demand.barred.push(Barred { priority: spec.priority, pods, miss: miss.clone() });
                    }
                }
            }
        }
        demand.passed_over.retain(|_, pods| *pods > 0);
        demand.held = held.listed();
        demand.shapes = filled(&self.shapes, &leaves);
        demand.held_shapes = filled(&self.held_shapes, &leaves);
        demand
    }
}

fn filled(unfilled: &[Unfilled<'_>], leaves: &impl Fn(usize) -> bool) -> Vec<Shape> {
    unfilled.iter().filter_map(|unfilled| unfilled.filled(leaves)).collect()
}

fn is_asking((_, home): &Seated<'_>, leaves: &impl Fn(usize) -> bool) -> bool {
    home.is_none_or(leaves)
}

fn keys(pods: &[Seated<'_>], leaves: &impl Fn(usize) -> bool) -> Vec<PodKey> {
    pods.iter().filter(|seated| is_asking(seated, leaves)).map(|(pod, _)| pod.key.clone()).collect()
}

/// Requirements of pods with one spec, including their volumes: a wait, a contradiction, or an [`Ask`].
type Asked = Result<Result<Ask, Miss>, not_yet::Wait>;

/// Groups the pods with one spec by their requirements: volumes may be in different zones.
fn asks<'p>(
    spec: &PodSpec,
    pods: Vec<Seated<'p>>,
    (storage, (shared, turns)): (&Storage, &(Shared, Turns<'_>)),
) -> Vec<(Asked, Vec<Seated<'p>>)> {
    let ask = Ask::of(spec);
    if spec.volumes.is_empty() {
        return vec![(Ok(Ok(ask)), pods)];
    }
    let mut groups: BTreeMap<Result<VolumeAsk, String>, (Asked, Vec<Seated<'_>>)> = BTreeMap::new();
    for (pod, home) in pods {
        let volumes = turns.why(pod).and_then(|()| volumes::asked(pod, storage, shared));
        let asked = || match volumes.clone() {
            Err(wait) => Err(wait),
            Ok(volumes) => Ok(volumes::joined(&ask.alternatives, &volumes).map(|alternatives| Ask {
                alternatives,
                volumes: volumes.mounts,
                ..ask.clone()
            })),
        };
        groups
            .entry(volumes.clone().map_err(|wait| wait.because))
            .or_insert_with(|| (asked(), Vec::new()))
            .1
            .push((pod, home));
    }
    groups.into_values().collect()
}

/// Groups the pods that may need a place by spec.
fn by_content(
    (snapshot, is_asked): (&Snapshot, impl Fn(&Pod) -> bool),
    may_leave: impl Fn(usize) -> bool,
) -> BTreeMap<&PodSpec, Vec<Seated<'_>>> {
    let leaving: BTreeMap<&NodeName, usize> = snapshot
        .nodes
        .iter()
        .enumerate()
        .filter(|(place, _)| may_leave(*place))
        .map(|(place, node)| (&node.name, place))
        .collect();
    let home = |pod| match needs_place_without(pod) {
        Without::Anything => Some(None),
        Without::Node(node) => leaving.get(node).copied().map(Some),
        Without::Nothing => None,
    };
    // Pods of a workload share one spec, so few specs are compared in full.
    let mut by_address: BTreeMap<usize, Vec<Seated<'_>>> = BTreeMap::new();
    let asked = snapshot.pods.iter().filter(|pod| is_asked(pod));
    for (pod, home) in asked.filter_map(|pod| Some((pod, home(pod)?))) {
        by_address.entry(Arc::as_ptr(&pod.spec).addr()).or_default().push((pod, home));
    }
    let mut groups: BTreeMap<&PodSpec, Vec<Seated<'_>>> = BTreeMap::new();
    for pods in by_address.into_values() {
        groups.entry(&pods[0].0.spec).or_default().extend(pods);
    }
    groups
}

/// Shapes while they are collected, the higher priority first.
#[derive(Default)]
struct Groups<'s>(BTreeMap<(Reverse<i32>, Ask, Vec<Role>), Vec<Seated<'s>>>);

impl<'s> Groups<'s> {
    /// Adds pods with one spec.
    fn add(&mut self, spec: &PodSpec, ask: &Ask, pods: &[Seated<'s>], topology: &Topology) {
        let mut by_roles: BTreeMap<(&[Role], bool), Vec<Seated<'s>>> = BTreeMap::new();
        for seated in pods {
            by_roles.entry((topology.roles(seated.0), seated.1.is_none())).or_default().push(*seated);
        }
        for ((roles, waits), pods) in by_roles {
            let ask = Ask { company: topology.on_hosts_of(roles, waits), ..ask.clone() };
            let key = (Reverse(spec.priority), ask, topology.in_domains(roles));
            self.0.entry(key).or_default().extend(pods);
        }
    }

    fn listed(self) -> Vec<Unfilled<'s>> {
        let listed = |((Reverse(priority), ask, roles), mut pods): ((_, Ask, _), Vec<Seated<'s>>)| {
            pods.sort_by_key(|(pod, _)| &pod.key);
            Unfilled { shape: Shape { priority, ask, roles, pods: Vec::new() }, pods }
        };
        self.0.into_iter().map(listed).collect()
    }
}
