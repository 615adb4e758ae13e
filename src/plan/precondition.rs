//! Preconditions: what must still hold when a change starts, for machines.
//!
//! Apply checks a precondition against a fresh snapshot. It never explains; that is `reason`.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::{ClaimName, ClassName, Digest, NodeName, PoolName, Resources};

/// One thing that must still hold.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "holds", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Precondition {
    /// No NodeClaim and no node has this name, and no VM the name that follows from it.
    NameFree {
        /// The name.
        claim: ClaimName,
    },
    /// The NodePool exists, is not being deleted, and says what it said.
    PoolUnchanged {
        /// The pool.
        pool: PoolName,
        /// The digest of what it said.
        digest: Digest,
    },
    /// The AKSNodeClass exists and says what it said.
    ClassUnchanged {
        /// The class.
        class: ClassName,
        /// The digest of its spec.
        digest: Digest,
    },
    /// With this change the pool and the cluster stay within their limits.
    WithinLimits {
        /// The pool.
        pool: PoolName,
        /// The most nodes that it may have.
        #[serde(with = "crate::model::written::optional_natural")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<crate::model::written::Integer>"))]
        nodes_max: Option<u64>,
        /// The most that its nodes may have together.
        limits: Resources,
    },
    /// The node is the one that was seen: same `providerID`, same time of creation.
    SameNode {
        /// The node.
        node: NodeName,
        /// `providerID` as it was seen.
        provider_id: Option<Arc<str>>,
        /// When the node was made.
        #[serde(with = "crate::model::written::optional_text")]
        #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
        created: Option<Timestamp>,
    },
    /// The node carries no pods but those of DaemonSets and static ones.
    NodeEmpty {
        /// The node.
        node: NodeName,
    },
    /// Neither the node nor a pod on it has `karpenter.sh/do-not-disrupt`.
    NotProtected {
        /// The node.
        node: NodeName,
        /// Whether its pods are not asked, as they go within the node's grace period whatever they say.
        #[serde(default, skip_serializing_if = "crate::model::written::is_default")]
        node_only: bool,
    },
    /// The node has no NodeClaim.
    WithoutClaim {
        /// The node.
        node: NodeName,
    },
}
