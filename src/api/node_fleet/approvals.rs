//! The number of people who must approve a plan, and whose approvals count.
//!
//! Must never be read from a pull request: its author must not choose the approvers.

use serde::{Deserialize, Serialize};

use crate::model::ChangeClass;

/// How many people must have approved plans of these classes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schema",
    schemars(extend("x-kubernetes-validations" = [
        {
            "message": "'by' must name at least 'count' accounts",
            "rule": "!has(self.by) || size(self.by) >= self.count",
        },
    ]))
)]
#[serde(rename_all = "camelCase")]
pub struct Approvals {
    /// The classes of changes that it is about.
    #[cfg_attr(
        feature = "schema",
        schemars(extend("minItems" = 1, "maxItems" = 8, "x-kubernetes-list-type" = "set"))
    )]
    pub classes: Vec<ChangeClass>,
    /// How many people. Whoever opened the pull request does not count, nor does nodeform's own account.
    #[cfg_attr(feature = "schema", schemars(extend("minimum" = 1, "maximum" = 10)))]
    pub count: u32,
    /// The accounts whose approval counts, by the names that the forge has for them. Absent: everybody who may write to the
    /// repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "schema",
        schemars(extend(
            "items" = {"type": "string", "minLength": 1, "maxLength": 255},
            "minItems" = 1,
            "maxItems" = 100,
            "x-kubernetes-list-type" = "set"
        ))
    )]
    pub by: Option<Vec<String>>,
}
