//! Nodes that exist or are on their way.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;

use super::{ClaimName, ClassName, LabelKey, NodeName, PoolName, Resources, Taint};

/// How far a node has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NodeStage {
    /// A NodeClaim without a node yet: on its way.
    Launching,
    /// The node has joined and is not initialized: startup and ephemeral taints still count as leaving.
    Registered,
    /// The node carries pods; all its taints count.
    Initialized,
}

/// A node that exists or is on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The node's name; of a claim without a node, the claim's name.
    pub name: NodeName,
    /// Its NodeClaim, where one is known.
    pub claim: Option<ClaimName>,
    /// Its NodePool, from the label; `None` is a node that Karpenter does not manage.
    pub pool: Option<PoolName>,
    /// Its AKSNodeClass, from the claim or the label.
    pub class: Option<ClassName>,
    /// `providerID`, as it stands in the object.
    pub provider_id: Option<Arc<str>>,
    /// How far it has come.
    pub stage: NodeStage,
    /// Its labels, with normalised keys.
    pub labels: BTreeMap<LabelKey, Arc<str>>,
    /// Its taints; of a node that is not initialized, without startup and ephemeral ones.
    pub taints: Vec<Taint>,
    /// What it has in all.
    pub capacity: Resources,
    /// What pods may use.
    pub allocatable: Resources,
    /// Whether it is cordoned.
    pub is_unschedulable: bool,
    /// Whether it asks not to be disrupted.
    pub is_do_not_disrupt: bool,
    /// Whether it, or its claim, is being deleted.
    pub is_deleting: bool,
    /// When it was made.
    pub created: Option<Timestamp>,
}
