//! The rules of the CustomResourceDefinitions that a schema can only say in CEL, one file per kind.
//!
//! They judge alike with the CEL text beside the types, and say more. An evaluation that an API server breaks off,
//! and so refuses the object, is a fault here as well. Must never add a rule: what Karpenter checks at run time is in
//! [`runtime`](super::runtime).

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

/// What the rules find wrong with an object that has its defaults.
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

/// What the rules find wrong with a change from one valid object to another: fields that must stay as they are.
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
