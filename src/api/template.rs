//! Parts that a NodePool's template and a NodeClaim share: requirements, taints, and the reference to a node class.
//!
//! Must never validate a value: the schema and `policy` do.

use serde::{Deserialize, Serialize};

/// One condition on a node's label: a key, an operator and values.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Requirement {
    /// The label's key.
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "maxLength" = 316,
            "pattern" = super::pattern::QUALIFIED_NAME,
            "x-kubernetes-validations" = super::rule::requirement_key()
        ))
    )]
    pub key: String,
    /// How the label's value relates to `values`.
    pub operator: Operator,
    /// The values: at least one for `In`, exactly one whole number of 0 or more for `Gt`, `Lt`, `Gte` and `Lte`, none
    /// for `Exists` and `DoesNotExist`.
    // Karpenter's CRD puts the length and the pattern of a value on the list itself, where they have no effect; they
    // are repeated here so that both CRDs are equal.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("maxLength" = 63, "pattern" = super::pattern::LABEL_VALUE, "x-kubernetes-list-type" = "atomic"))
    )]
    pub values: Option<Vec<String>>,
    /// How many different values the sizes that are asked for must have at least. Alpha in Karpenter.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 50, "format" = null)))]
    pub min_values: Option<i32>,
}

/// How a label's value relates to the values of a requirement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Operator {
    /// It is one of them.
    In,
    /// It is none of them.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is not there.
    DoesNotExist,
    /// It is a number above the value.
    Gt,
    /// It is a number below the value.
    Lt,
    /// It is a number not below the value.
    Gte,
    /// It is a number not above the value.
    Lte,
}

/// A mark on a node that keeps away pods which do not tolerate it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    /// The taint's key.
    #[cfg_attr(feature = "schema", schemars(extend("minLength" = 1, "pattern" = super::pattern::QUALIFIED_NAME)))]
    pub key: String,
    /// The taint's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = super::pattern::QUALIFIED_NAME)))]
    pub value: Option<String>,
    /// What happens to pods that do not tolerate the taint.
    pub effect: TaintEffect,
    /// When the taint was added, in RFC 3339.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("format" = "date-time")))]
    pub time_added: Option<String>,
}

/// What a taint does to pods that do not tolerate it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum TaintEffect {
    /// New pods stay away.
    NoSchedule,
    /// New pods stay away while there is room elsewhere.
    PreferNoSchedule,
    /// New pods stay away and running ones are evicted.
    NoExecute,
}

/// Names the node class that says how the VMs are made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeClassRef {
    /// API group of the node class, without a version: `karpenter.azure.com`.
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "pattern" = super::pattern::GROUP,
            "x-kubernetes-validations" = [{"message": "group may not be empty", "rule": "self != ''"}]
        ))
    )]
    pub group: String,
    /// Kind of the node class: `AKSNodeClass`.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("x-kubernetes-validations" = [{"message": "kind may not be empty", "rule": "self != ''"}]))
    )]
    pub kind: String,
    /// Name of the node class.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("x-kubernetes-validations" = [{"message": "name may not be empty", "rule": "self != ''"}]))
    )]
    pub name: String,
}
