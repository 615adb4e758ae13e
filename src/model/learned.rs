//! What nodes that were made came to, as the NodeFleet remembers it: evidence that outlives the nodes.
//!
//! Values only: what follows from them is decided elsewhere.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::{ClassName, NodeName, PoolName, Purpose, Resources, SkuName, Taint};

/// What is remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// Nodes that ran none of the pods that they were made for, the oldest first.
    pub tried: Vec<Tried>,
    /// What nodes had that were alike, sorted.
    pub nodes: Vec<LearnedNode>,
}

/// A node that was made for pods and runs none of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// The node.
    pub node: NodeName,
    /// Of those pods that it was made for, which it does not run.
    pub pods: BTreeSet<Purpose>,
    /// Its NodePool.
    pub pool: PoolName,
    /// The hashes of NodePool and AKSNodeClass that it was made from, with a slash between.
    pub made_from: Arc<str>,
    /// When it joined.
    pub joined: Timestamp,
    /// Why they do not run there, as a clause.
    pub because: Arc<str>,
}

/// By what nodes are alike, as far as what they offer goes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Alike {
    /// Their NodePool.
    pub pool: PoolName,
    /// Their size.
    pub size: SkuName,
    /// Their image.
    pub image: Arc<str>,
    /// The most pods that their kubelets take.
    pub max_pods: i64,
}

/// What nodes that are alike really had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedNode {
    /// Which nodes.
    pub alike: Alike,
    /// The hash of their AKSNodeClass.
    pub class_hash: Arc<str>,
    /// The smallest amounts that pods could use of one; what a node offers none of is left out.
    pub allocatable: Resources,
    /// The taints that all of them had and nobody asked for, sorted.
    pub taints: Vec<Taint>,
    /// When a node was last seen that had no more.
    pub seen: Timestamp,
}

/// What nodes of a class and a size really offer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LearnedSize {
    /// The AKSNodeClass.
    pub class: ClassName,
    /// The size.
    pub size: SkuName,
    /// The most pods that their kubelets take.
    pub max_pods: i64,
    /// The smallest amounts that pods could use of one.
    pub allocatable: Resources,
}
