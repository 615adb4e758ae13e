//! Common parts of all kinds: metadata, and the conditions of the status.
//!
//! Must never interpret a label or an annotation: that is the task of `policy`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Standard metadata of a Kubernetes object, as far as nodeform reads it.
///
/// What is not listed here (managed fields, resource version …) is kept in `other`, so that writing the object again
/// loses nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectMeta {
    /// Name, unique among the objects of one kind (and namespace, where the kind has namespaces).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Namespace; absent for kinds of the whole cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Labels by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub labels: Option<BTreeMap<String, String>>,
    /// Annotations by key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<BTreeMap<String, String>>,
    /// When the API server created the object, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub creation_timestamp: Option<String>,
    /// When deletion was asked for, in RFC 3339; absent while nobody asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deletion_timestamp: Option<String>,
    /// Number of the version of `spec`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub generation: Option<i64>,
    /// Identity of the object in its cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uid: Option<String>,
    /// What must be done before the object may go.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finalizers: Option<Vec<String>>,
    /// Objects that this one belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner_references: Option<Vec<OwnerReference>>,
    /// Every other field, as it was written.
    #[serde(flatten)]
    pub other: BTreeMap<String, Value>,
}

/// One object that another one belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OwnerReference {
    /// Group and version of the owner.
    pub api_version: String,
    /// Kind of the owner.
    pub kind: String,
    /// Name of the owner.
    pub name: String,
    /// Identity of the owner.
    pub uid: String,
    /// Whether the owner is the one that manages the object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub controller: Option<bool>,
    /// Whether the owner must stay until this object has gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub block_owner_deletion: Option<bool>,
}

/// One fact about the state of an object, with the time at which it last changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// What the condition is about, in CamelCase, for example `Ready`.
    #[serde(rename = "type")]
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 316, "pattern" = super::pattern::CONDITION_TYPE)))]
    pub type_: String,
    /// Whether it holds: `True`, `False` or `Unknown`.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["True", "False", "Unknown"])))]
    pub status: String,
    /// Why it last changed, as one CamelCase word for programs.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minLength" = 1, "maxLength" = 1024, "pattern" = super::pattern::CONDITION_REASON))
    )]
    pub reason: String,
    /// Why it last changed, for people; may be empty.
    #[cfg_attr(feature = "schema", schemars(extend("maxLength" = 32768)))]
    pub message: String,
    /// When `status` last changed, in RFC 3339.
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub last_transition_time: String,
    /// The `metadata.generation` that was looked at; older than the object's own means out of date.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 0)))]
    pub observed_generation: Option<i64>,
}
