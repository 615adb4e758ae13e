//! What the user asks for: NodePools, AKSNodeClasses and the NodeFleet, parsed.
//!
//! Wire types end here: a [`Policy`] that exists is valid. Every refusal has a field path and a hint, and
//! all faults of an input come at once. This module never reads files and never decides about nodes.

use std::collections::BTreeMap;

use crate::model::{ClassName, Fleet, NodeClass, Pool, PoolName};

/// Everything that the user asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Policy {
    /// NodePools by name.
    pub pools: BTreeMap<PoolName, Pool>,
    /// AKSNodeClasses by name.
    pub classes: BTreeMap<ClassName, NodeClass>,
    /// The NodeFleet, or its defaults.
    pub fleet: Fleet,
}
