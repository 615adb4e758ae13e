//! Preemption: a pending pod that replaces pods of lower priority.
//!
//! Never decides who preempts whom; that is computed elsewhere.

use super::{NodeName, PodKey};

/// A pending pod that takes the place of pods of a lower priority on an existing node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Preemption {
    /// The pod that waited, and has a place now.
    pub pod: PodKey,
    /// Where.
    pub node: NodeName,
    /// The pods that ran there and wait now, sorted.
    pub victims: Vec<PodKey>,
}
