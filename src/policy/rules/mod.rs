//! Rules of the CustomResourceDefinitions that a schema can only express in CEL, one file per kind.
//!
//! They give the same result as the CEL text beside the types, with better messages. An evaluation that an API server
//! aborts, so that it rejects the object, is a fault here as well. Must never add a rule: Karpenter's run-time checks
//! are in [`runtime`](super::runtime).

mod aks_node_class;
mod capacity_buffer;
mod local_dns;
mod node_claim;
mod node_fleet;
mod node_overlay;
mod node_plan;
mod node_pool;
mod requirements;
mod sysctls;

use serde_json::Value;

use super::fault::Fault;
use super::place::Place;
use crate::api::Kind;

/// Returns the rule violations of an object with its defaults.
#[must_use]
pub fn faults(kind: Kind, object: &Value) -> Vec<Fault> {
    let object = Place::root(object);
    let mut faults = match kind {
        Kind::AksNodeClass => aks_node_class::faults(&object),
        Kind::CapacityBuffer => capacity_buffer::faults(&object),
        Kind::NodeClaim => node_claim::faults(&object),
        Kind::NodeFleet => node_fleet::faults(&object),
        Kind::NodeOverlay => node_overlay::faults(&object),
        Kind::NodePlan | Kind::NodePlanApproval | Kind::NodePlanChunk => Vec::new(),
        Kind::NodePool => node_pool::faults(&object),
    };
    faults.sort();
    faults
}

/// Returns the rule violations of a change from one valid object to another: changes of immutable fields.
#[must_use]
pub fn faults_of_change(kind: Kind, old: &Value, new: &Value) -> Vec<Fault> {
    let (old, new) = (Place::root(old), Place::root(new));
    match kind {
        Kind::NodeClaim => node_claim::faults_of_change(&old, &new),
        Kind::NodePlan | Kind::NodePlanChunk => node_plan::faults_of_change(&old, &new),
        Kind::NodePlanApproval => node_plan::faults_of_decision(&old, &new),
        Kind::NodePool => node_pool::faults_of_change(&old, &new),
        Kind::AksNodeClass | Kind::CapacityBuffer | Kind::NodeFleet | Kind::NodeOverlay => Vec::new(),
    }
}
