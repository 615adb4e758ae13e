//! What the caller may do, as Azure lists it.
//! Must never be cached beyond one command: roles change.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::reading::Answer;

/// What one role lets the caller do.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Permission {
    /// Actions that it grants, with `*`.
    #[serde(default)]
    pub actions: Vec<String>,
    /// Actions that it excepts.
    #[serde(default)]
    pub not_actions: Vec<String>,
    /// Fields that are not named here.
    #[serde(flatten)]
    pub rest: BTreeMap<String, Value>,
}

impl Answer for Permission {
    const WHAT: &'static str = "permission";
    type Wire = Self;

    fn of(wire: Self) -> Result<Self, String> {
        Ok(wire)
    }
}
