//! What a NodeClaim says of its node that the node does not say itself, and what a node complains of.
//!
//! Values only: whether anything follows from them is decided elsewhere.

use std::collections::BTreeSet;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::ExpireAfter;

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
    /// At what age it is replaced; `None` where it does not say.
    #[serde(skip_serializing_if = "super::written::is_default")]
    pub expire_after: Option<ExpireAfter>,
    /// How long its node may drain at most; `None` is without end.
    #[serde(with = "super::written::optional_text", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub termination_grace_period: Option<SignedDuration>,
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
