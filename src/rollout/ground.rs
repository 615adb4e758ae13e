//! What each decision of a rollout is made from: the approved plan, the world as it was seen, and what is known beside.

use std::sync::Arc;

use super::action::{Action, Attempt, Effect, Object, ObjectPatch, ObjectRef};
use super::memory::Memory;
use super::outcome::Standing;
use crate::model::{ClaimName, NodeName, label};
use crate::plan::{ChangeId, Create, Execution, PlanSpec};
use crate::review::{ApprovedPlan, Brakes};
use crate::world::seen::{SeenClaim, SeenNode, Whole};
use serde_json::{Value, json};

/// What decisions are made from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground<'a> {
    /// The plan.
    pub(super) plan: &'a ApprovedPlan,
    /// The world.
    pub(super) world: Whole<'a>,
    /// What the process knows beside.
    pub(super) memory: &'a Memory,
}

impl<'a> Ground<'a> {
    pub(super) const fn spec(&self) -> &'a PlanSpec {
        self.plan.spec()
    }

    pub(super) const fn execution(&self) -> &'a Execution {
        self.plan.execution()
    }

    /// What keeps changes that have not begun: as it is now, or where nobody has looked since, as it was approved.
    pub(super) fn brakes(&self) -> &'a Brakes {
        self.memory.brakes.as_ref().unwrap_or_else(|| self.plan.brakes())
    }

    /// The id of a VM of this name in the group of the nodes.
    pub(super) fn vm_id(&self, name: &str) -> String {
        self.execution().cluster.resource("Microsoft.Compute/virtualMachines", name)
    }

    /// The id of a network interface of this name in the group of the nodes.
    pub(super) fn interface_id(&self, name: &str) -> String {
        self.execution().cluster.resource("Microsoft.Network/networkInterfaces", name)
    }
}

/// The name of the VM of an attempt: that of the plan at the first, with `-2`, `-3` and so on afterwards.
#[must_use]
pub fn vm_name(create: &Create, attempt: u32) -> Arc<str> {
    match attempt {
        0 | 1 => create.vm.clone(),
        number => format!("{}-{number}", create.vm).into(),
    }
}

/// Makes the attempt of a create.
pub(super) fn attempt(create: &Create, claim: &SeenClaim, number: u32, choice: usize) -> Attempt {
    Attempt {
        claim: create.claim.clone(),
        claim_uid: claim.uid.clone(),
        number,
        choice,
        name: vm_name(create, number),
    }
}

/// Has one side effect next.
pub(super) fn act(change: &ChangeId, effect: Effect) -> Standing {
    Standing::Acts(vec![Action { change: change.clone(), effect }])
}

/// Changes fields of a NodeClaim.
pub(super) fn patch_claim(
    (name, claim): (&ClaimName, &SeenClaim),
    what: &'static str,
    is_status: bool,
    body: Value,
) -> Effect {
    patch(Object::Claim(name.clone()), &claim.version, (what, is_status), body)
}

/// Changes fields of a Node.
pub(super) fn patch_node((name, node): (&NodeName, &SeenNode), what: &'static str, body: Value) -> Effect {
    patch(Object::Node(name.clone()), &node.version, (what, false), body)
}

fn patch(object: Object, version: &str, (what, is_status): (&'static str, bool), mut body: Value) -> Effect {
    if body.get("metadata").is_none() {
        body["metadata"] = json!({});
    }
    body["metadata"]["resourceVersion"] = json!(version);
    Effect::Patch(ObjectPatch { object, is_status, what, body })
}

/// Deletes a NodeClaim: first the object, then its finalizer.
pub(super) fn let_claim_go(change: &ChangeId, name: &ClaimName, claim: &SeenClaim) -> Standing {
    match claim.deleting_since {
        None => {
            let object = ObjectRef { object: Object::Claim(name.clone()), uid: claim.uid.clone() };
            act(change, Effect::DeleteObject(object))
        }
        Some(_) if has_finalizer(&claim.finalizers) => {
            let body = json!({"metadata": {"finalizers": without_finalizer(&claim.finalizers)}});
            act(change, patch_claim((name, claim), "release", false, body))
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
            let body = json!({"metadata": {"finalizers": without_finalizer(&node.finalizers)}});
            act(change, patch_node((name, node), "release", body))
        }
        true => Standing::waits(format!("node `{name}` to be gone")),
    }
}

fn has_finalizer(finalizers: &[Arc<str>]) -> bool {
    finalizers.iter().any(|finalizer| &**finalizer == label::FINALIZER)
}

fn without_finalizer(finalizers: &[Arc<str>]) -> Vec<&str> {
    finalizers
        .iter()
        .map(|finalizer| &**finalizer)
        .filter(|finalizer| *finalizer != label::FINALIZER)
        .collect()
}
