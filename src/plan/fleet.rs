//! Totals of a fleet: nodes, their resources and requests.
//!
//! Read from a plan alone. Nothing is decided here.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::Plan;
use crate::model::{NodeName, PodKey, PodPlace, ResourceName, Resources};

/// What a fleet is in sums.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct FleetSum {
    /// How many nodes it has.
    pub nodes: usize,
    /// What they have in all.
    pub capacity: Resources,
    /// What pods and daemonsets may use of it.
    pub allocatable: Resources,
    /// What pods and daemonsets ask for.
    pub requested: Resources,
}

impl FleetSum {
    /// Sums up what is there, nodes that are supposed not to be there among it.
    #[must_use]
    pub fn today(plan: &Plan) -> Self {
        let world = &plan.evidence.world;
        let mut fleet = Self::default();
        for absent in &world.absent {
            fleet.add(&absent.node.capacity, &absent.node.allocatable, &absent.requested);
        }
        for node in &world.nodes {
            fleet.add(&node.capacity, &node.allocatable, &Resources::none());
        }
        let there = world.nodes.iter().map(|node| &node.name).collect();
        fleet.requested.add(&running(plan, &there));
        fleet
    }

    /// Sums up what there is when a plan is done.
    #[must_use]
    pub fn planned(plan: &Plan) -> Self {
        let (world, evidence) = (&plan.evidence.world, &plan.evidence);
        let gone: BTreeSet<&NodeName> = plan.spec.deletes().map(|(_, delete)| &delete.target.node).collect();
        let mut fleet = Self::default();
        let mut stay = BTreeSet::new();
        for node in world.nodes.iter().filter(|node| !node.is_deleting && !gone.contains(&node.name)) {
            fleet.add(&node.capacity, &node.allocatable, &Resources::none());
            stay.insert(&node.name);
        }
        fleet.requested.add(&running(plan, &stay));
        let placed: BTreeSet<&PodKey> = evidence.kept.values().flatten().collect();
        for group in &world.pods {
            let Some(spec) = world.pod_specs.get(group.spec) else { continue };
            for name in &group.names {
                let key = PodKey { namespace: group.namespace.clone(), name: name.clone() };
                if placed.contains(&key) {
                    fleet.requested.add(&spec.requests);
                }
            }
        }
        for (id, create, _) in plan.spec.creates() {
            let shape =
                evidence.placements.get(id).and_then(|placement| evidence.shapes.get(placement.shape));
            if let Some(shape) = shape {
                fleet.add(&shape.capacity, &shape.allocatable, &create.requests);
            }
        }
        fleet
    }

    /// Returns what is asked for of what pods may use, in hundredths.
    #[must_use]
    pub fn used(&self, name: &ResourceName) -> Option<i64> {
        let all = i128::from(self.allocatable.get(name));
        let asked = i128::from(self.requested.get(name));
        if all <= 0 {
            return None;
        }
        i64::try_from((asked * 100 + all / 2) / all).ok()
    }

    fn add(&mut self, capacity: &Resources, allocatable: &Resources, requested: &Resources) {
        self.nodes += 1;
        self.capacity.add(capacity);
        self.allocatable.add(allocatable);
        self.requested.add(requested);
    }
}

/// Returns what the pods ask for that run on these nodes.
fn running(plan: &Plan, nodes: &BTreeSet<&NodeName>) -> Resources {
    let world = &plan.evidence.world;
    let mut sum = Resources::none();
    for group in &world.pods {
        let PodPlace::Bound(node) = &group.place else { continue };
        let Some(spec) = world.pod_specs.get(group.spec) else { continue };
        if nodes.contains(node) {
            for _ in &group.names {
                sum.add(&spec.requests);
            }
        }
    }
    sum
}
