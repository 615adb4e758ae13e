//! Changes of a plan: a closed set, each change complete in itself.
//!
//! A change says what is to be done, never why (that is `reason`) and never when (that is `order`). Applying it
//! requires no further lookup.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

use crate::model::{
    CapacityType, ClaimName, ClassName, DisruptionReason, ExpireAfter, LabelKey, MicroUsdPerHour, NodeName,
    PoolName, Requirements, Resources, SkuName, Taint, Zone,
};

/// The name of a change inside a plan: ten characters of lower-case base32. A create's is the item that its
/// NodeClaim and VM are named after.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ChangeId(pub Arc<str>);

impl fmt::Display for ChangeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(&self.0)
    }
}

impl fmt::Debug for ChangeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", &*self.0)
    }
}

/// The name of a [`ClaimSpec`] inside a plan: ten characters of its digest.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ClaimSpecId(pub Arc<str>);

/// One thing that a plan does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Change {
    /// Makes a node.
    Create(Create),
    /// Drains a node and deletes its NodeClaim and VM.
    Delete(Delete),
    /// Changes labels, annotations and tags of a node in place.
    Update(Update),
    /// Gives a node that has none a NodeClaim.
    Adopt(Adopt),
    /// Stops managing a node and leaves it running.
    Forget(Forget),
    /// Leaves nodes as they are.
    NoOp(NoOp),
}

/// What a NodeClaim asks for, but for the sum of its pods' requests: equal for equal nodes, and held once
/// in a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClaimSpec {
    /// The NodePool.
    pub pool: PoolName,
    /// The AKSNodeClass.
    pub class: ClassName,
    /// What is tried first; the others that may serve are among the requirements.
    pub primary: Choice,
    /// What the NodeClaim lists: one value where there is one choice, all of them where substitutes serve.
    pub requirements: Requirements,
    /// The most that a node of any listed choice costs the user by the hour; `None` where a price is unknown.
    pub price_max: Option<MicroUsdPerHour>,
    /// Labels of claim and node.
    pub labels: BTreeMap<LabelKey, Arc<str>>,
    /// Annotations of the claim.
    pub annotations: BTreeMap<Arc<str>, Arc<str>>,
    /// Taints that the node keeps.
    pub taints: Vec<Taint>,
    /// Taints that the node loses while starting.
    pub startup_taints: Vec<Taint>,
    /// When the node is replaced for its age.
    pub expire_after: ExpireAfter,
    /// How long the node may drain at most.
    #[serde(with = "crate::model::written::optional_text")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub termination_grace_period: Option<SignedDuration>,
}

/// A size, where and how it is bought.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Choice {
    /// The size.
    pub size: SkuName,
    /// The zone; `0` is Azure's "no zone".
    pub zone: Zone,
    /// How it is bought.
    pub capacity_type: CapacityType,
}

/// Makes one node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Create {
    /// The NodeClaim's name; the node is known by it until it has joined.
    pub claim: ClaimName,
    /// The VM's name at the first attempt.
    pub vm: Arc<str>,
    /// What the NodeClaim asks for: a key of [`PlanSpec::claims`](super::PlanSpec::claims).
    pub spec: ClaimSpecId,
    /// What the node's pods and daemonsets ask for together.
    pub requests: Resources,
}

/// A node that exists, held fast by more than its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ExistingNode {
    /// The node's name.
    pub node: NodeName,
    /// Its NodeClaim, where one is known.
    pub claim: Option<ClaimName>,
    /// Its NodePool, where it has one.
    pub pool: Option<PoolName>,
    /// `providerID`: the VM.
    pub provider_id: Option<Arc<str>>,
}

/// Drains a node and deletes its NodeClaim and VM.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Delete {
    /// The node.
    pub target: ExistingNode,
    /// What is asked of budgets.
    pub reason: DisruptionReason,
}

/// A value before and after; `None` is absent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OldNew {
    /// Before.
    pub old: Option<Arc<str>>,
    /// After.
    pub new: Option<Arc<str>>,
}

/// Changes a node in place, without disrupting its pods.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Update {
    /// The node.
    pub target: ExistingNode,
    /// Labels of the Node.
    pub labels: BTreeMap<LabelKey, OldNew>,
    /// Annotations of the claim.
    pub annotations: BTreeMap<Arc<str>, OldNew>,
    /// Tags of the VM.
    pub tags: BTreeMap<Arc<str>, OldNew>,
}

impl Update {
    /// Returns the labels that the Node gets.
    #[must_use]
    pub fn new_labels(&self) -> BTreeMap<&str, &Arc<str>> {
        self.labels.iter().filter_map(|(key, label)| Some((key.as_str(), label.new.as_ref()?))).collect()
    }

    /// Returns the tags that the VM and what belongs to it get.
    #[must_use]
    pub fn new_tags(&self) -> BTreeMap<Arc<str>, Arc<str>> {
        self.tags.iter().filter_map(|(name, tag)| Some((name.clone(), tag.new.clone()?))).collect()
    }
}

/// Gives a node that has none a NodeClaim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Adopt {
    /// The node; its claim is absent.
    pub target: ExistingNode,
    /// The NodeClaim's name.
    pub claim: ClaimName,
    /// The NodePool.
    pub pool: PoolName,
    /// The AKSNodeClass, from the node's label or the pool.
    pub class: ClassName,
    /// What the node is: its labels as the NodeClaim lists them.
    pub requirements: Requirements,
}

/// Stops managing a node and leaves it running.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Forget {
    /// The node.
    pub target: ExistingNode,
}

/// Leaves nodes of a pool as they are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NoOp {
    /// The pool; `None` is nodes that Karpenter does not manage.
    pub pool: Option<PoolName>,
    /// How many.
    pub nodes: usize,
}

impl Change {
    /// Returns the node that the change makes, if it makes one.
    #[must_use]
    pub const fn create(&self) -> Option<&Create> {
        match self {
            Self::Create(create) => Some(create),
            Self::Delete(_) | Self::Update(_) | Self::Adopt(_) | Self::Forget(_) | Self::NoOp(_) => None,
        }
    }

    /// Returns the removal that the change is, if it is one.
    #[must_use]
    pub const fn delete(&self) -> Option<&Delete> {
        match self {
            Self::Delete(delete) => Some(delete),
            Self::Create(_) | Self::Update(_) | Self::Adopt(_) | Self::Forget(_) | Self::NoOp(_) => None,
        }
    }

    /// Returns the existing node that the change touches, if it touches one.
    #[must_use]
    pub const fn target(&self) -> Option<&ExistingNode> {
        match self {
            Self::Delete(Delete { target, .. })
            | Self::Update(Update { target, .. })
            | Self::Adopt(Adopt { target, .. })
            | Self::Forget(Forget { target }) => Some(target),
            Self::Create(_) | Self::NoOp(_) => None,
        }
    }
}
