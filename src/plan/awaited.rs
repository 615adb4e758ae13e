//! Nodes that have joined but are not initialized and that pods wait for: the pods and what the node lacks.
//!
//! Another node would lack the same, so none is created for these pods. Nothing is decided here.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use super::Plan;
use crate::model::{Lack, Node, NodeName, NodeStage, PodKey, PodPlace};
use crate::solve::Warning;

/// Usual maximum time until a node is Ready and registered.
const STARTS: SignedDuration = SignedDuration::from_mins(15);

/// A node that pods wait for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Awaited<'p> {
    /// The node, with what it lacks.
    pub node: &'p Node,
    /// The pods, sorted.
    pub pods: Vec<PodKey>,
}

/// Returns the nodes that have joined and lack something that pods of the plan wait for, by name.
#[must_use]
pub fn awaited(plan: &Plan) -> Vec<Awaited<'_>> {
    let world = &plan.evidence.world;
    let mut coming: BTreeMap<&NodeName, Vec<PodKey>> = BTreeMap::new();
    for (node, pods) in &plan.evidence.kept {
        coming.entry(node).or_default().extend(pods.iter().filter(|pod| !pod.is_placeholder()).cloned());
    }
    for group in &world.pods {
        // In a plan a nominated pod is placed on its node.
        let meant = group.state.nominated.as_ref();
        if let Some(node) = meant.filter(|node| group.place == PodPlace::Bound((*node).clone())) {
            let key = |name: &std::sync::Arc<str>| PodKey {
                namespace: group.namespace.clone(),
                name: name.clone(),
            };
            coming.entry(node).or_default().extend(group.names.iter().map(key));
        }
    }
    let is_lacking = |node: &&Node| node.stage == NodeStage::Registered && !node.claimed.lacks.is_empty();
    let awaited = world.nodes.iter().filter(is_lacking).filter_map(|node| {
        let mut pods = coming.remove(&node.name)?;
        pods.sort();
        pods.dedup();
        (!pods.is_empty()).then_some(Awaited { node, pods })
    });
    awaited.collect()
}

impl Awaited<'_> {
    /// Returns whether a node exceeds the usual start time, with a clock that runs this many times as fast.
    #[must_use]
    pub fn is_late(&self, at: Timestamp, clock_speed: i32) -> bool {
        let age = self.node.created.map(|created| at.duration_since(created));
        age.is_some_and(|age| age >= STARTS / clock_speed.max(1))
    }

    /// Returns what its pods wait for.
    #[must_use]
    pub fn because(&self) -> String {
        let Node { name, claimed, .. } = self.node;
        let lacks: Vec<String> = claimed.lacks.iter().map(ToString::to_string).collect();
        format!("node `{name}` has joined and is not initialized: {}", lacks.join(", "))
    }

    /// Returns what to check.
    #[must_use]
    pub fn hint(&self) -> String {
        let name = &self.node.name;
        let resource = self.node.claimed.lacks.iter().find_map(|lack| match lack {
            Lack::Resource(resource) => Some(resource),
            Lack::Registration | Lack::Ready | Lack::Taint(_) => None,
        });
        match resource {
            Some(resource) => format!(
                "check that what registers `{resource}`, such as its device plugin, runs there: \
                 `kubectl get pods -A --field-selector spec.nodeName={name}`"
            ),
            None => format!("`kubectl describe node {name}` says what keeps it"),
        }
    }

    /// Returns a warning for the plan, unless the node is within the time that every node takes.
    #[must_use]
    pub fn warning(&self, at: Option<Timestamp>) -> Option<Warning> {
        let is_passing = self.node.claimed.lacks.iter().all(Lack::is_passing);
        let is_late = at.is_some_and(|at| self.is_late(at, 1));
        let first = self.pods.first()?;
        let pods = match self.pods.len() {
            1 => format!("pod `{first}` waits"),
            count => format!("{count} pods wait, such as `{first}`"),
        };
        (!is_passing || is_late).then(|| Warning {
            object: format!("node `{}`", self.node.name),
            what: format!("{pods}: {}", self.because()),
            hint: Some(self.hint()),
        })
    }
}
