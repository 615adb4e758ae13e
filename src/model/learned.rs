//! What nodes that were made came to, as the NodeFleet remembers it: evidence that outlives the nodes.
//!
//! Values only: what follows from them is decided elsewhere.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::Timestamp;

use super::{NodeName, PoolName, Purpose};

/// What is remembered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// Nodes that ran none of the pods that they were made for, the oldest first.
    pub tried: Vec<Tried>,
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
