//! The side effects of a rollout, each a single write.
//!
//! An action is complete: performing it takes no decisions. Two looks at the same world give actions with the same
//! keys, so an action in progress is not started again.

pub mod patch;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::outcome::Outcome;
use super::own::absent::Absent;
use crate::model::{ClaimName, NodeName, PodKey};
use crate::plan::ChangeId;

/// A side effect and its change.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// The change.
    pub change: ChangeId,
    /// The side effect.
    pub effect: Effect,
}

/// A side effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Creates the NodeClaim of a create.
    CreateClaim(ClaimName),
    /// Creates the bootstrap token of this rollout.
    CreateToken,
    /// Deletes the bootstrap token with this number, which no VM needs any more.
    DeleteToken(u32),
    /// Creates the network interface of an attempt.
    PutInterface(Attempt),
    /// Creates the VM of an attempt unless one of its name exists.
    CreateVm(Attempt),
    /// Adds the billing extension to the VM of an attempt.
    PutExtension(Attempt),
    /// Deletes a VM if it is still this one and belongs to this cluster.
    DeleteVm(VmRef),
    /// Deletes a network interface if it belongs to this cluster.
    DeleteInterface(InterfaceRef),
    /// Confirms that an unlisted object is gone.
    Confirm(Absent),
    /// Sets tags of a resource; keeps others.
    Tag(TagRef),
    /// Patches an object if its tested fields are unchanged.
    Patch(ObjectPatch),
    /// Nominates a node for a pending pod.
    Nominate(PodRef),
    /// Evicts a pod.
    Evict(PodRef),
    /// Deletes a pod with the node's remaining grace period, regardless of PodDisruptionBudgets.
    DeletePod(PodRef),
    /// Deletes an object if it is still this one.
    DeleteObject(ObjectRef),
    /// Records the outcome of the change.
    Record(Outcome),
}

/// An attempt to create a create's VM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The NodeClaim.
    pub claim: ClaimName,
    /// Its UID.
    pub claim_uid: Arc<str>,
    /// Number of the attempt, from 1.
    pub number: u32,
    /// Index of the choice.
    pub choice: usize,
    /// Name of the VM, its network interface and its disk.
    pub name: Arc<str>,
}

/// A specific VM, not just any of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmRef {
    /// Its id.
    pub id: Arc<str>,
    /// Azure's unique VM id; `None` if not assigned yet.
    pub vm_id: Option<Arc<str>>,
    /// The change that it must have been created for, if it belongs to a create.
    pub made_for: Option<ChangeId>,
    /// Its node, if it must be drained: its pods are checked once more.
    pub drained: Option<NodeName>,
}

/// A specific network interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceRef {
    /// Its id.
    pub id: Arc<str>,
    /// The change that it must have been created for, if it belongs to a create.
    pub made_for: Option<ChangeId>,
}

/// Tags to set on an Azure resource.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagRef {
    /// Its id.
    pub id: Arc<str>,
    /// The tags, by name.
    pub tags: BTreeMap<Arc<str>, Arc<str>>,
    /// Whether the resource may be missing; then nothing is done.
    pub may_be_missing: bool,
}

/// An object that a rollout writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// A NodeClaim.
    Claim(ClaimName),
    /// A Node.
    Node(NodeName),
}

/// A specific object, not just any of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRef {
    /// The object.
    pub object: Object,
    /// Its UID.
    pub uid: Arc<str>,
}

/// A patch of an object that applies only if its tested fields are unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectPatch {
    /// The object.
    pub object: Object,
    /// Whether it patches the `status`.
    pub is_status: bool,
    /// Its purpose in a few words.
    pub what: &'static str,
    /// The patch.
    pub operations: patch::Operations,
}

/// A specific pod, not just any of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRef {
    /// Its namespace and name.
    pub key: PodKey,
    /// Its UID.
    pub uid: Arc<str>,
    /// Its node; for a pending pod, the nominated node.
    pub node: NodeName,
    /// Remaining grace period in seconds; `None` means the pod's own.
    pub grace_seconds: Option<i64>,
}

impl PodRef {
    /// Returns the status patch that nominates the node if it is still the same pod.
    #[must_use]
    pub fn nomination(&self) -> Value {
        json!({"metadata": {"uid": self.uid}, "status": {"nominatedNodeName": self.node.as_str()}})
    }
}

/// Identifies an action while it is in progress and after it failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ActionKey(pub Arc<str>);

impl Action {
    /// Returns its key: actions with equal keys are the same.
    #[must_use]
    pub fn key(&self) -> ActionKey {
        let Self { change, effect } = self;
        let text = match effect {
            Effect::CreateToken => "create token".to_owned(),
            Effect::DeleteToken(number) => format!("delete token {number}"),
            Effect::Record(outcome) => format!("{change}: record {}", outcome.word()),
            Effect::CreateClaim(_)
            | Effect::PutInterface(_)
            | Effect::CreateVm(_)
            | Effect::PutExtension(_)
            | Effect::DeleteVm(_)
            | Effect::DeleteInterface(_)
            | Effect::Confirm(_)
            | Effect::Tag(_)
            | Effect::Patch(_)
            | Effect::Nominate(_)
            | Effect::Evict(_)
            | Effect::DeletePod(_)
            | Effect::DeleteObject(_) => format!("{change}: {effect}"),
        };
        ActionKey(text.into())
    }

    /// Returns whether it starts a change that a new plan must see: it creates a NodeClaim or patches one, such as with
    /// a removal mark.
    #[must_use]
    pub const fn begins_change(&self) -> bool {
        match &self.effect {
            Effect::CreateClaim(_) => true,
            Effect::Patch(patch) => matches!(patch.object, Object::Claim(_)) && !patch.is_status,
            Effect::CreateToken
            | Effect::DeleteToken(_)
            | Effect::PutInterface(_)
            | Effect::CreateVm(_)
            | Effect::PutExtension(_)
            | Effect::DeleteVm(_)
            | Effect::DeleteInterface(_)
            | Effect::Confirm(_)
            | Effect::Tag(_)
            | Effect::Nominate(_)
            | Effect::Evict(_)
            | Effect::DeletePod(_)
            | Effect::DeleteObject(_)
            | Effect::Record(_) => false,
        }
    }

    /// Returns whether it is sent to Azure.
    #[must_use]
    pub const fn is_of_azure(&self) -> bool {
        matches!(
            self.effect,
            Effect::PutInterface(_)
                | Effect::CreateVm(_)
                | Effect::PutExtension(_)
                | Effect::DeleteVm(_)
                | Effect::DeleteInterface(_)
                | Effect::Confirm(_)
                | Effect::Tag(_)
        )
    }
}

impl fmt::Display for Object {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Claim(name) => write!(formatter, "NodeClaim `{name}`"),
            Self::Node(name) => write!(formatter, "node `{name}`"),
        }
    }
}

fn last(id: &str) -> &str {
    id.rsplit('/').next().unwrap_or(id)
}

impl fmt::Display for Effect {
    /// Describes the side effect for a progress line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CreateClaim(claim) => write!(formatter, "create NodeClaim `{claim}`"),
            Self::CreateToken => formatter.write_str("create bootstrap token"),
            Self::DeleteToken(number) => write!(formatter, "delete bootstrap token {number}"),
            Self::PutInterface(attempt) => write!(formatter, "create NIC `{}`", attempt.name),
            Self::CreateVm(attempt) => write!(formatter, "create VM `{}`", attempt.name),
            Self::PutExtension(attempt) => {
                write!(formatter, "add billing extension to VM `{}`", attempt.name)
            }
            Self::DeleteVm(vm) => write!(formatter, "delete VM `{}`", last(&vm.id)),
            Self::DeleteInterface(nic) => write!(formatter, "delete NIC `{}`", last(&nic.id)),
            Self::Confirm(absent) => write!(formatter, "ask whether {absent} is gone"),
            Self::Tag(tag) => {
                let kind = tag.id.rsplit('/').nth(1).unwrap_or_default();
                write!(formatter, "set tags of `{kind}/{}`", last(&tag.id))
            }
            Self::Patch(patch) => write!(formatter, "{} {}", patch.what, patch.object),
            Self::Nominate(pod) => write!(formatter, "nominate node `{}` for pod `{}`", pod.node, pod.key),
            Self::Evict(pod) => write!(formatter, "evict pod `{}`", pod.key),
            Self::DeletePod(pod) => write!(formatter, "delete pod `{}`", pod.key),
            Self::DeleteObject(object) => write!(formatter, "delete {}", object.object),
            Self::Record(outcome) => write!(formatter, "record `{}`", outcome.word()),
        }
    }
}
