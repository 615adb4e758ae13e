//! What the user asks for: NodePools, AKSNodeClasses and the NodeFleet, parsed.
//!
//! Wire types end here: a [`Policy`] that exists is valid. Every refusal has a field path and a hint, and
//! all faults of an input come at once. This module never reads files and never decides about nodes.

pub mod fault;
mod fleet;
mod node_class;
mod parse;
mod pool;

use std::collections::BTreeMap;

use serde_json::Value;

pub use fault::{Fault, Segment};
pub use parse::{WireObject, parse};

use crate::api::Kind;
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

/// Reads a path as it is written in this module: fields with dots between, `[0]` for places of a list.
fn path(text: &str) -> Vec<Segment> {
    let mut path = Vec::new();
    for part in text.split('.') {
        let (field, index) = part.split_once('[').unwrap_or((part, ""));
        path.push(Segment::Key(field.to_owned()));
        path.extend(index.strip_suffix(']').and_then(|index| index.parse().ok()).map(Segment::Index));
    }
    path
}

/// stub
pub fn faults(_: Kind, _: &Value) -> Vec<Fault> {
    Vec::new()
}
