//! `karpenter.sh/v1` NodeClaim: one requested node.
//!
//! Must match Karpenter's CRD field for field.

use serde::{Deserialize, Serialize};

use super::meta::ObjectMeta;
use super::template::{NodeClassRef, Requirement, Taint};
use super::text::{DurationText, ResourceMap};

/// One node that was asked for, and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeClaim {
    /// `karpenter.sh/v1`.
    pub api_version: String,
    /// `NodeClaim`.
    pub kind: String,
    /// Name, labels and annotations of the claim.
    pub metadata: ObjectMeta,
    /// What was asked for.
    pub spec: NodeClaimSpec,
    /// What was last seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<NodeClaimStatus>,
}

/// What was asked for; never changes once written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [{"message": "spec is immutable", "rule": "self == oldSelf"}]))
)]
#[serde(rename_all = "camelCase")]
pub struct NodeClaimSpec {
    /// The node class that says how the VM is made.
    pub node_class_ref: NodeClassRef,
    /// What the labels of the node must be.
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 100, "x-kubernetes-list-type" = "atomic", "x-kubernetes-validations" = super::rule::requirements())))]
    pub requirements: Vec<Requirement>,
    /// What the pods that it was made for need, with the daemons of every node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resources: Option<ClaimResources>,
    /// Taints that the node keeps.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-kubernetes-list-type" = "atomic")))]
    pub taints: Option<Vec<Taint>>,
    /// Taints that the node starts with and that something else removes soon; pods need not tolerate them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-kubernetes-list-type" = "atomic")))]
    pub startup_taints: Option<Vec<Taint>>,
    /// How old the node may become before it is replaced, or `Never`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("default" = "720h", "pattern" = super::pattern::DURATION_OR_NEVER))
    )]
    pub expire_after: Option<DurationText>,
    /// How long the node may drain before its pods are deleted by force. Absent: as long as it takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = super::pattern::DURATION)))]
    pub termination_grace_period: Option<DurationText>,
}

/// The least that the node must have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ClaimResources {
    /// Amounts by name of resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<ResourceMap>,
}

/// What became of a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeClaimStatus {
    /// Name of the node, once it has registered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_name: Option<String>,
    /// Identity of the VM: `azure://` and its ARM id.
    #[serde(skip_serializing_if = "Option::is_none", rename = "providerID")]
    pub provider_id: Option<String>,
    /// Identity of the image that the VM was made from.
    #[serde(skip_serializing_if = "Option::is_none", rename = "imageID")]
    pub image_id: Option<String>,
    /// What the VM was expected to have when it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub capacity: Option<ResourceMap>,
    /// What pods were expected to get of it when it was made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allocatable: Option<ResourceMap>,
    /// When a pod was last bound to the node, ended or began to end, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub last_pod_event_time: Option<String>,
    /// `Launched`, `Registered`, `Initialized`, `Ready`, `Consolidatable`, `Drifted` and others.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("x-kubernetes-list-map-keys" = ["type"], "x-kubernetes-list-type" = "map"))
    )]
    pub conditions: Option<Vec<ClaimCondition>>,
}

/// One fact about a claim: as a [`Condition`](super::meta::Condition), but reason and message may be missing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(description = "One fact about a claim; reason and message may be missing.")
)]
#[serde(rename_all = "camelCase")]
pub struct ClaimCondition {
    /// What the condition is about, in CamelCase, for example `Ready`.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 316, "pattern" = super::pattern::CONDITION_TYPE)))]
    pub type_: String,
    /// Whether it holds: `True`, `False` or `Unknown`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["True", "False", "Unknown"])))]
    pub status: String,
    /// Why it last changed, as one CamelCase word for programs; may be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("maxLength" = 1024, "pattern" = super::pattern::CLAIM_CONDITION_REASON))
    )]
    pub reason: Option<String>,
    /// Why it last changed, for people; may be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 32768)))]
    pub message: Option<String>,
    /// When `status` last changed, in RFC 3339.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub last_transition_time: String,
    /// The `metadata.generation` that was looked at; older than the object's own means out of date.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub observed_generation: Option<i64>,
}
