//! The last observed state of an AKSNodeClass.
//!
//! Must only be read: no plan may depend on an outdated status without saying so.

use serde::{Deserialize, Serialize};

use crate::api::meta::Condition;

/// What was last seen of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct AksNodeClassStatus {
    /// Images that nodes can be made from; earlier ones first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub images: Option<Vec<NodeImage>>,
    /// Version of Kubernetes that nodes are made for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kubernetes_version: Option<String>,
    /// Whether nodes answer DNS themselves.
    #[serde(skip_serializing_if = "Option::is_none", rename = "localDNSState")]
    pub local_dns_state: Option<LocalDnsState>,
    /// `Ready`, `ImagesReady`, `KubernetesVersionReady`, `SubnetsReady`, `ValidationSucceeded`, `LocalDNSReady`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<Vec<Condition>>,
}

/// One image that nodes can be made from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeImage {
    /// ARM id of the image.
    pub id: String,
    /// What the labels of a node must be for this image.
    pub requirements: Vec<ImageRequirement>,
}

/// One condition on a node's label, as Kubernetes has it in node affinity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ImageRequirement {
    /// The label's key.
    pub key: String,
    /// How the label's value relates to `values`.
    pub operator: String,
    /// The values.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("x-kubernetes-list-type" = "atomic")))]
    pub values: Option<Vec<String>>,
}

/// Whether nodes answer DNS themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum LocalDnsState {
    /// They do.
    Enabled,
    /// They do not.
    Disabled,
}
