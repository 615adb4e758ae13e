//! The side effects that a rollout has, each one a single write.
//!
//! An action is complete: whoever performs it decides nothing. Two looks at the same world ask for actions with the
//! same keys, so that what is being done is not begun again.

pub mod patch;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use serde_json::{Value, json};

use super::outcome::Outcome;
use super::own::absent::Absent;
use crate::model::{ClaimName, NodeName, PodKey};
use crate::plan::ChangeId;

/// One side effect, and the change that it is for.
#[derive(Clone, Debug, PartialEq)]
pub struct Action {
    /// The change.
    pub change: ChangeId,
    /// What is done.
    pub effect: Effect,
}

/// What is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Writes the NodeClaim of a create.
    CreateClaim(ClaimName),
    /// Writes the bootstrap token of this rollout.
    CreateToken,
    /// Delete the bootstrap token of this number, which no VM needs any more.
    DeleteToken(u32),
    /// Writes the network interface of an attempt.
    PutInterface(Attempt),
    /// Makes the VM of an attempt, if there is none of its name.
    CreateVm(Attempt),
    /// Puts the extension for billing on the VM of an attempt.
    PutExtension(Attempt),
    /// Deletes a VM, if it is still this one, and this cluster's.
    DeleteVm(VmRef),
    /// Deletes a network interface, if it is this cluster's.
    DeleteInterface(InterfaceRef),
    /// Asks whether an object is gone that no list shows.
    Confirm(Absent),
    /// Sets tags of a resource; others stay.
    Tag(TagRef),
    /// Changes fields of an object, if what that rests on is as it was seen.
    Patch(ObjectPatch),
    /// Says on a pod that waits which node it is meant to go to.
    Nominate(PodRef),
    /// Evicts a pod.
    Evict(PodRef),
    /// Deletes a pod with the grace that is left to its node, whatever PodDisruptionBudgets say.
    DeletePod(PodRef),
    /// Deletes an object, if it is still this one.
    DeleteObject(ObjectRef),
    /// Writes down what became of the change.
    Record(Outcome),
}

/// An attempt at a create's VM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The NodeClaim.
    pub claim: ClaimName,
    /// Its UID.
    pub claim_uid: Arc<str>,
    /// Which attempt it is, from 1.
    pub number: u32,
    /// Which choice is tried.
    pub choice: usize,
    /// The name of the VM, its network interface and its disk.
    pub name: Arc<str>,
}

/// A VM that is meant, and no other of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VmRef {
    /// Its id.
    pub id: Arc<str>,
    /// What no other VM ever has; `None` where Azure has not given it yet.
    pub vm_id: Option<Arc<str>>,
    /// The change that it must have been made for, where it is one of a create.
    pub made_for: Option<ChangeId>,
    /// Its node, where that must have been drained: its pods are looked at once more.
    pub drained: Option<NodeName>,
}

/// A network interface that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InterfaceRef {
    /// Its id.
    pub id: Arc<str>,
    /// The change that it must have been made for, where it is one of a create.
    pub made_for: Option<ChangeId>,
}

/// Tags that a resource of Azure gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagRef {
    /// Its id.
    pub id: Arc<str>,
    /// The tags, by name.
    pub tags: BTreeMap<Arc<str>, Arc<str>>,
    /// Whether the resource need not be there: then there is nothing to do.
    pub may_be_missing: bool,
}

/// A kind of object that a rollout writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Object {
    /// A NodeClaim.
    Claim(ClaimName),
    /// A Node.
    Node(NodeName),
}

/// An object that is meant, and no other of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectRef {
    /// The object.
    pub object: Object,
    /// Its UID.
    pub uid: Arc<str>,
}

/// Fields of an object that change, where what that rests on is as it was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectPatch {
    /// The object.
    pub object: Object,
    /// Whether its `status` is meant.
    pub is_status: bool,
    /// What it is for, in three words.
    pub what: &'static str,
    /// The patch.
    pub operations: patch::Operations,
}

/// A pod that is meant, and no other of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PodRef {
    /// Its namespace and name.
    pub key: PodKey,
    /// Its UID.
    pub uid: Arc<str>,
    /// Its node; of one that waits, the node that it is meant to go to.
    pub node: NodeName,
    /// The seconds that are left to it; `None`: its own grace.
    pub grace_seconds: Option<i64>,
}

impl PodRef {
    /// Returns the patch of its status that says which node it is meant to go to, if it is still this pod.
    #[must_use]
    pub fn nomination(&self) -> Value {
        json!({"metadata": {"uid": self.uid}, "status": {"nominatedNodeName": self.node.as_str()}})
    }
}

/// By what an action is known while it is being done, and after it failed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ActionKey(pub Arc<str>);

impl Action {
    /// Returns its key: two actions of one key are one.
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

    /// Returns whether a change begins by it, as whoever plans anew sees it: a NodeClaim comes, or is marked as going.
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
    /// Says what is done, for a line of progress.
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
