//! Preemption: a pending pod that takes the place of pods of a lower priority.
//!
//! Who preempts whom is worked out elsewhere; nothing is decided here.

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
