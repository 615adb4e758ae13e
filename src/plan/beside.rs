//! Effects of other plans, proposed or merged, on nodes that a plan counts on: for people, outside the digest.

use serde::{Deserialize, Serialize};

use crate::model::NodeName;

/// What another plan does to a node that this one counts on: its pods go there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Beside {
    /// The node.
    pub node: NodeName,
    /// The other plan, by its folder: `2026-11/remove-empty-k3v9q2m7xa`.
    pub plan: String,
    /// Whether it is merged and waits to be applied; else it is proposed.
    pub is_merged: bool,
    /// What it does to the node.
    pub does: OtherEffect,
}

/// What a plan does to a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum OtherEffect {
    /// It deletes it.
    Deletes,
    /// It sends pods there, which need room too.
    Fills {
        /// How many.
        pods: usize,
    },
}
