//! `karpenter.sh/v1alpha1` NodeOverlay: overrides prices of sizes and adds resources.
//!
//! Must match Karpenter's CRD field for field.

use serde::{Deserialize, Serialize};

use super::meta::{Condition, ObjectMeta};
use super::template::Operator;
use super::text::ResourceMap;

/// Other prices and further resources of the sizes that it matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NodeOverlay {
    /// `karpenter.sh/v1alpha1`.
    pub api_version: String,
    /// `NodeOverlay`.
    pub kind: String,
    /// Name, labels and annotations of the overlay.
    pub metadata: ObjectMeta,
    /// What the user wants.
    pub spec: NodeOverlaySpec,
    /// What was last seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<NodeOverlayStatus>,
}

/// Which sizes an overlay matches, and what is different about them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [
        {
            "message": "cannot set both 'price' and 'priceAdjustment'",
            "rule": "!has(self.price) || !has(self.priceAdjustment)",
        },
    ]))
)]
#[serde(rename_all = "camelCase")]
pub struct NodeOverlaySpec {
    /// What the labels of the nodes must be that it applies to: sizes, zones, the pool, and labels of the pool's
    /// template.
    #[cfg_attr(feature = "schema", schemars(extend("maxItems" = 100, "x-kubernetes-list-type" = "atomic", "x-kubernetes-validations" = super::rule::overlay_requirements())))]
    pub requirements: Vec<OverlayRequirement>,
    /// Price in dollars per hour, in place of the list's. Not together with `priceAdjustment`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = super::pattern::PRICE)))]
    pub price: Option<String>,
    /// What the price differs by: dollars per hour such as `-0.5`, or a percentage such as `+10%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("pattern" = super::pattern::PRICE_ADJUSTMENT)))]
    pub price_adjustment: Option<String>,
    /// Resources that nodes have beside the usual ones, such as those of a device plugin.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("x-kubernetes-validations" = [
            {
                "message": "invalid resource restricted",
                "rule": "self.all(x, !(x in ['cpu', 'memory', 'ephemeral-storage', 'pods']))",
            },
        ]))
    )]
    pub capacity: Option<ResourceMap>,
    /// Of several overlays for one size the one with the highest weight counts; none counts as 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 10000)))]
    pub weight: Option<i32>,
}

/// One condition on a node's label, as in a NodePool and without `minValues`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct OverlayRequirement {
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
    /// The values: at least one for `In` and `NotIn`, exactly one whole number of 0 or more for `Gt`, `Lt`, `Gte` and
    /// `Lte`, none for `Exists` and `DoesNotExist`.
    // As in NodePools, Karpenter's CRD puts length and pattern on the list itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("maxLength" = 63, "pattern" = super::pattern::LABEL_VALUE, "x-kubernetes-list-type" = "atomic"))
    )]
    pub values: Option<Vec<String>>,
}

/// What was last seen of an overlay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct NodeOverlayStatus {
    /// `Ready`, `ValidationSucceeded`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend("x-kubernetes-list-map-keys" = ["type"], "x-kubernetes-list-type" = "map"))
    )]
    pub conditions: Option<Vec<Condition>>,
}
