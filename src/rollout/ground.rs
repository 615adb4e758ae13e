//! The inputs of every rollout decision: the approved plan, the observed world, and the process's memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::action::patch::Operations;
use super::action::{Action, Attempt, Effect, Object, ObjectPatch, ObjectRef};
use super::memory::Memory;
use super::outcome::Standing;
use crate::model::{ClaimName, NodeName, label};
use crate::plan::{ChangeId, Create, Execution, PlanSpec};
use crate::review::{ApprovedPlan, Brakes};
use crate::world::seen::{SeenClaim, SeenNode, Whole};
use serde_json::{Value, json};

/// The inputs of a decision.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground<'a> {
    /// The plan.
    pub(super) plan: &'a ApprovedPlan,
    /// The world.
    pub(super) world: Whole<'a>,
    /// The process's own knowledge.
    pub(super) memory: &'a Memory,
}

impl<'a> Ground<'a> {
    pub(super) const fn spec(&self) -> &'a PlanSpec {
        self.plan.spec()
    }

    pub(super) const fn execution(&self) -> &'a Execution {
        self.plan.execution()
    }

    /// Returns the brakes on changes that have not started: the current ones, or if not read since, those at approval.
    pub(super) fn brakes(&self) -> &'a Brakes {
        self.memory.brakes.as_ref().unwrap_or_else(|| self.plan.brakes())
    }

    /// Returns the id of a VM with this name in the node resource group.
    pub(super) fn vm_id(&self, name: &str) -> String {
        self.execution().cluster.resource("Microsoft.Compute/virtualMachines", name)
    }

    /// Returns the id of a network interface with this name in the node resource group.
    pub(super) fn interface_id(&self, name: &str) -> String {
        self.execution().cluster.resource("Microsoft.Network/networkInterfaces", name)
    }
}

/// Returns the name of an attempt's VM: the plan's for the first one, with `-2`, `-3` and so on appended for later
/// ones.
#[must_use]
pub fn vm_name(create: &Create, attempt: u32) -> Arc<str> {
    match attempt {
        0 | 1 => create.vm.clone(),
        number => format!("{}-{number}", create.vm).into(),
    }
}

/// Builds an attempt of a create.
pub(super) fn attempt(create: &Create, claim: &SeenClaim, number: u32, choice: usize) -> Attempt {
    Attempt {
        claim: create.claim.clone(),
        claim_uid: claim.uid.clone(),
        number,
        choice,
        name: vm_name(create, number),
    }
}

/// Returns a standing with a single side effect.
pub(super) fn act(change: &ChangeId, effect: Effect) -> Standing {
    Standing::Acts(vec![Action { change: change.clone(), effect }])
}

/// Patches fields of a NodeClaim.
pub(super) fn patch_claim(name: &ClaimName, what: &'static str, operations: Operations) -> Effect {
    Effect::Patch(ObjectPatch { object: Object::Claim(name.clone()), is_status: false, what, operations })
}

/// Sets fields of a NodeClaim's status; `null` leaves a field unchanged. The conditions are replaced as a whole, so the
/// patch tests that the others are as they were seen.
pub(super) fn patch_status(
    (name, claim): (&ClaimName, &SeenClaim),
    what: &'static str,
    fields: &[(&str, Value)],
) -> Effect {
    let operations = Operations::of(&claim.uid);
    let has_conditions = !claim.conditions.is_empty();
    let has_status = has_conditions || claim.provider_id.is_some() || claim.node.is_some();
    let fields = fields.iter().filter(|(_, value)| !value.is_null());
    let operations = match has_status {
        true => {
            let operations = match has_conditions {
                true => operations.resting_on("/status/conditions", &json!(claim.conditions)),
                false => operations,
            };
            fields.fold(operations, |patch, (field, value)| patch.with(&format!("/status/{field}"), value))
        }
        false => {
            let status: BTreeMap<&str, &Value> = fields.map(|(field, value)| (*field, value)).collect();
            operations.with("/status", &json!(status))
        }
    };
    Effect::Patch(ObjectPatch { object: Object::Claim(name.clone()), is_status: true, what, operations })
}

/// Patches fields of a Node.
pub(super) fn patch_node(name: &NodeName, what: &'static str, operations: Operations) -> Effect {
    Effect::Patch(ObjectPatch { object: Object::Node(name.clone()), is_status: false, what, operations })
}

/// Returns the keys of a Node's taints in order.
pub(super) fn taint_keys(node: &SeenNode) -> Vec<&str> {
    node.taints.iter().map(|taint| &*taint.key).collect()
}

/// Deletes a NodeClaim: first the object, then its finalizer.
pub(super) fn let_claim_go(change: &ChangeId, name: &ClaimName, claim: &SeenClaim) -> Standing {
    match claim.deleting_since {
        None => {
            let object = ObjectRef { object: Object::Claim(name.clone()), uid: claim.uid.clone() };
            act(change, Effect::DeleteObject(object))
        }
        Some(_) if has_finalizer(&claim.finalizers) => {
            act(change, patch_claim(name, "release", released(&claim.uid, &claim.finalizers)))
        }
        Some(_) => Standing::waits(format!("NodeClaim `{name}` to be gone")),
    }
}

/// Deletes a Node: first the object, then its finalizer.
pub(super) fn let_node_go(change: &ChangeId, name: &NodeName, node: &SeenNode) -> Standing {
    match node.is_deleting {
        false => {
            let object = ObjectRef { object: Object::Node(name.clone()), uid: node.uid.clone() };
            act(change, Effect::DeleteObject(object))
        }
        true if has_finalizer(&node.finalizers) => {
            act(change, patch_node(name, "release", released(&node.uid, &node.finalizers)))
        }
        true => Standing::waits(format!("node `{name}` to be gone")),
    }
}

fn has_finalizer(finalizers: &[Arc<str>]) -> bool {
    finalizers.iter().any(|finalizer| &**finalizer == label::FINALIZER)
}

fn released(uid: &str, finalizers: &[Arc<str>]) -> Operations {
    Operations::of(uid).without_finalizer(finalizers, label::FINALIZER)
}
