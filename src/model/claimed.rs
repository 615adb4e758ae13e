//! Facts about a node that only its NodeClaim records, and the node's unhealthy conditions.
//!
//! Values only; never draws conclusions from them.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::{ExpireAfter, Purpose};

/// What a NodeClaim says of its node beyond what the node says itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
pub struct Claimed {
    /// The sizes that it may become, where it is not launched yet; none where its label says which.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub sizes: BTreeSet<Arc<str>>,
    /// That it drifted (condition `Drifted`), where it says so.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub drift: Option<Drift>,
    /// The template of its NodePool as it was made from (`karpenter.sh/nodepool-hash`).
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub pool_stamp: Option<Stamp>,
    /// The AKSNodeClass as it was made from (`karpenter.azure.com/aksnodeclass-hash`).
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub class_stamp: Option<Stamp>,
    /// The hash of what its NodePool asked of nodes when nodeform made it.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub requirements_hash: Option<Arc<str>>,
    /// The image that its VM was made from (`status.imageID`).
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub image: Option<Arc<str>>,
    /// At what age it is replaced; `None` where it does not say.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub expire_after: Option<ExpireAfter>,
    /// How long its node may drain at most; `None` is without end.
    #[serde(with = "super::written::optional_text", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub termination_grace_period: Option<SignedDuration>,
    /// For which pods nodeform made the claim; none where nobody wrote that down.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub made_for: BTreeSet<Purpose>,
    /// What its Node, which has joined, lacks until it is initialized.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub lacks: Vec<Lack>,
    /// Whether its Node had joined and is gone: it holds no pods, whatever the claim promises.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub is_lost: bool,
    /// Since when it is gone for good; none where its kubelet may still make it again.
    #[serde(with = "super::written::optional_text", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub lost_since: Option<Timestamp>,
    /// Whether nodeform made the claim.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub is_own: bool,
    /// Whether the claim or its Node is being deleted, by whomever.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub is_deleted: bool,
    /// The plan that has begun to remove the node, by its id.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub begun_by: Option<Arc<str>>,
}

impl Claimed {
    /// Returns whether somebody deletes the claim or its Node, and no plan has begun to remove it.
    #[must_use]
    pub const fn is_deleted_by_hand(&self) -> bool {
        self.is_deleted && self.begun_by.is_none()
    }
}

/// What a node that has joined lacks until it is initialized.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub enum Lack {
    /// It has not been given the labels and taints of its claim.
    Registration,
    /// Its kubelet does not say that it is Ready.
    Ready,
    /// A startup taint of its claim, or one that Kubernetes puts on nodes that start, is still there.
    Taint(Arc<str>),
    /// It offers nothing of a resource that its claim asks for.
    Resource(Arc<str>),
}

impl Lack {
    /// Returns whether every node lacks it for a while.
    #[must_use]
    pub const fn is_passing(&self) -> bool {
        matches!(self, Self::Registration | Self::Ready)
    }
}

impl fmt::Display for Lack {
    /// Writes it as a clause.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Registration => formatter.write_str("it is not registered"),
            Self::Ready => formatter.write_str("it is not Ready"),
            Self::Taint(taint) => write!(formatter, "it still has taint `{taint}`"),
            Self::Resource(name) => write!(formatter, "`{name}` is not registered"),
        }
    }
}

/// That a node differs from what its pool or class asks for.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Drift {
    /// In what, as Karpenter writes it, such as `NodePoolDrifted`; empty where it does not say.
    pub reason: Arc<str>,
    /// Since when it says so.
    #[serde(with = "super::written::optional_text", default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub since: Option<Timestamp>,
}

/// The hash of what something was made from; two of different versions say nothing about each other.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Stamp {
    /// The hash.
    pub hash: Arc<str>,
    /// The version of the way in which it is reckoned.
    pub version: Arc<str>,
}

/// A condition of a node that is not as it is on a healthy one: `Ready` that is not true, or any other that is
/// not false.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Trouble {
    /// The type of the condition, such as `Ready` or `DiskPressure`.
    pub kind: Arc<str>,
    /// Its status: `True`, `False` or `Unknown`.
    pub status: Arc<str>,
    /// Since when.
    #[serde(with = "super::written::optional_text", default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub since: Option<Timestamp>,
}
