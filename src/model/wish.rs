//! Changes to nodes that the user requests although nothing in the cluster requires them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::{Drift, NodeName};

/// What is asked of a plan, as Terraform has it. Such a plan is carried out like any other.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Wishes {
    /// Nodes that are replaced though they are as they should be (`--replace`).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub replace: BTreeSet<NodeName>,
    /// Nodes that are no longer managed and go on running (`--forget`).
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub forget: BTreeSet<NodeName>,
    /// Whether all that is managed goes and nothing is made (`--destroy`), as far as the plan's targets go.
    #[serde(default, skip_serializing_if = "super::written::is_default")]
    pub destroy: bool,
    /// Nodes that somebody deletes (`kubectl delete node`, `kubectl delete nodeclaim`), and that go for that alone.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub deleted: BTreeSet<NodeName>,
}

impl Wishes {
    /// Returns whether nothing is asked.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// Returns whether nodes are to go and nothing else is to happen.
    #[must_use]
    pub fn only_removes(&self) -> bool {
        self.destroy || !self.deleted.is_empty()
    }
}

/// What the drift of a node is called that the user asks to be replaced: no other node has it.
const ASKED: &str = "nodeform.dev/asked";

impl Drift {
    /// Returns the drift of a node that the user asks to be replaced.
    #[must_use]
    pub fn asked() -> Self {
        Self { reason: Arc::from(ASKED), since: None }
    }

    /// Returns whether the user asks for the node to be replaced.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        &*self.reason == ASKED
    }
}
