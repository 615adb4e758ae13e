//! Observed results of created nodes, stored in the NodeFleet: evidence that outlives the nodes.
//!
//! Values only; never draws conclusions from them.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::{ClassName, NodeName, PoolName, Purpose, Resources, SkuName, Taint};

/// All stored observations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// Nodes that ran none of the pods that they were created for, oldest first.
    pub tried: Vec<Tried>,
    /// Observed properties of groups of similar nodes, sorted.
    pub nodes: Vec<LearnedNode>,
}

/// A node that was created for pods but runs none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The node.
    pub node: NodeName,
    /// The purposes that it was created for and whose pods it does not run.
    pub pods: BTreeSet<Purpose>,
    /// Its NodePool.
    pub pool: PoolName,
    /// The hashes of the NodePool and AKSNodeClass that it was created from, separated by a slash.
    pub made_from: Arc<str>,
    /// When it joined.
    pub joined: Timestamp,
    /// Why the pods do not run there, as a clause.
    pub because: Arc<str>,
}

/// Key of a group of nodes that offer the same resources.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alike {
    /// Their NodePool.
    pub pool: PoolName,
    /// Their size.
    pub size: SkuName,
    /// Their image.
    pub image: Arc<str>,
    /// Maximum number of pods of their kubelets.
    pub max_pods: i64,
}

/// Observed properties of a group of similar nodes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedNode {
    /// The group.
    pub alike: Alike,
    /// The hash of their AKSNodeClass.
    pub class_hash: Arc<str>,
    /// The smallest observed allocatable amounts; resources that a node does not offer are omitted.
    pub allocatable: Resources,
    /// Taints that all of them had without being configured, sorted.
    pub taints: Vec<Taint>,
    /// When a node with no more than these amounts was last seen.
    pub seen: Timestamp,
}

/// Observed capacity of nodes of a class and a size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedSize {
    /// The AKSNodeClass.
    pub class: ClassName,
    /// The size.
    pub size: SkuName,
    /// Maximum number of pods of their kubelets.
    pub max_pods: i64,
    /// The smallest observed allocatable amounts.
    pub allocatable: Resources,
}
