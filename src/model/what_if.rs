//! What-if plans: their hypothetical assumptions, and the targets that a plan is restricted to.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use super::{Node, NodeName, PoolName, Resources, Wishes, Zone};

/// What is supposed that is not so. A plan with any of it answers a question; it is never carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct WhatIf {
    /// As if nodes were not there: those that this label selector means, as kubectl writes it; empty for all
    /// but those of system agent pools.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub from_scratch: Option<Arc<str>>,
    /// As if these zones had failed: their nodes are not there, and nothing can be bought in them.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub without_zones: BTreeSet<Zone>,
}

impl WhatIf {
    /// Returns whether nothing is supposed.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// A node that exists and is supposed not to.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AbsentNode {
    /// The node.
    pub node: Node,
    /// What its pods ask for today, those of daemonsets and static ones included.
    pub requested: Resources,
}

/// What is supposed, the nodes that are therefore left out, and what is asked for beside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Supposed {
    /// What is supposed.
    pub what_if: WhatIf,
    /// The nodes, by name.
    pub absent: Vec<AbsentNode>,
    /// What the user asks to be done with single nodes.
    pub wishes: Wishes,
}

/// What a plan is narrowed to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A NodePool: its nodes that come, change or go.
    NodePool(PoolName),
    /// A node by its name; a new one by the name of its NodeClaim or VM.
    Node(NodeName),
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NodePool(name) => write!(formatter, "nodepool/{name}"),
            Self::Node(name) => write!(formatter, "node/{name}"),
        }
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('/').filter(|(_, name)| !name.is_empty()) {
            Some(("nodepool" | "nodepools" | "pool", name)) => Ok(Self::NodePool(PoolName::new(name))),
            Some(("node" | "nodes", name)) => Ok(Self::Node(NodeName::new(name))),
            Some(_) | None => Err(format!("`{text}` is neither `nodepool/NAME` nor `node/NAME`")),
        }
    }
}

impl serde::Serialize for Target {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        super::written::text::serialize(self, serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Target {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        super::written::text::deserialize(deserializer)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Target {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Target".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "string", "description": "`nodepool/NAME` or `node/NAME`."})
    }
}
