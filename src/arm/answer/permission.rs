//! The caller's permissions, as Azure lists them.
//!
//! Must never be cached beyond one command: roles change.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::reading::Answer;

/// Permissions granted by one role.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Permission {
    /// Granted actions, with `*` as wildcard.
    #[serde(default)]
    pub actions: Vec<String>,
    /// Excluded actions.
    #[serde(default)]
    pub not_actions: Vec<String>,
    /// All other fields.
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
