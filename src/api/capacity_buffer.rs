//! `autoscaling.x-k8s.io/v1beta1` CapacityBuffer: headroom for future pods.
//!
//! Must match field for field the CRD that Karpenter and the Cluster Autoscaler share.

use serde::{Deserialize, Serialize};

use super::meta::{Condition, ObjectMeta};
use super::text::ResourceMap;

/// Room that is kept free for pods to come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CapacityBuffer {
    /// `autoscaling.x-k8s.io/v1beta1`, or the older `v1alpha1` with the same fields.
    pub api_version: String,
    /// `CapacityBuffer`.
    pub kind: String,
    /// Name and namespace of the buffer.
    pub metadata: ObjectMeta,
    /// What the user wants.
    pub spec: CapacityBufferSpec,
    /// What was last seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<CapacityBufferStatus>,
}

/// Which pods room is kept for, and for how many.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [
        {
            "message": "If podTemplateRef is set, replicas or limits must also be set",
            "rule": "!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)",
        },
        {
            "message": "You must define either PodTemplateRef or ScalableRef, but not both",
            "rule": "!(has(self.podTemplateRef) && has(self.scalableRef))",
        },
    ]))
)]
#[serde(rename_all = "camelCase")]
pub struct CapacityBufferSpec {
    /// How the room is kept: by placeholders for pods, with `buffer.x-k8s.io/active-capacity`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("default" = "buffer.x-k8s.io/active-capacity")))]
    pub provisioning_strategy: Option<String>,
    /// The PodTemplate that says what one pod needs. Not together with `scalableRef`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_template_ref: Option<PodTemplateRef>,
    /// The workload whose pods room is kept for. Not together with `podTemplateRef`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scalable_ref: Option<ScalableRef>,
    /// For how many pods.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub replicas: Option<i32>,
    /// For how many pods, as a share of the workload's; rounded up.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub percentage: Option<i32>,
    /// The most that the room may come to of each resource.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<ResourceMap>,
}

/// Names a PodTemplate of the buffer's namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PodTemplateRef {
    /// Name of the PodTemplate.
    #[cfg_attr(feature = "schema", schemars(extend("minLength" = 1)))]
    pub name: String,
}

/// Names a workload of the buffer's namespace.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScalableRef {
    /// API group of the workload; absent or empty for the core group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_group: Option<String>,
    /// Kind of the workload.
    #[cfg_attr(feature = "schema", schemars(extend("minLength" = 1)))]
    pub kind: String,
    /// Name of the workload.
    #[cfg_attr(feature = "schema", schemars(extend("minLength" = 1)))]
    pub name: String,
}

/// What was last seen of a buffer.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct CapacityBufferStatus {
    /// The PodTemplate that was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_template_ref: Option<PodTemplateRef>,
    /// The generation of the PodTemplate that was looked at.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pod_template_generation: Option<i64>,
    /// How many pods headroom is kept for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replicas: Option<i32>,
    /// How the headroom is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provisioning_strategy: Option<String>,
    /// `ReadyForProvisioning`, `Provisioning`, `LimitedByQuotas`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("x-kubernetes-list-map-keys" = ["type"], "x-kubernetes-list-type" = "map"))
    )]
    pub conditions: Option<Vec<Condition>>,
}
