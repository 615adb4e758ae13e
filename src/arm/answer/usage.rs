//! Quota usage of a subscription.
//!
//! Must never guess a limit: a quota that is not listed is unknown.

use serde::Deserialize;

use super::reading::Answer;

/// Usage of one quota in one location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Usage {
    /// The quota: `cores`, `lowPriorityCores`, or a family such as `standardDSv5Family`. Its casing differs from that
    /// in the SKU list.
    pub name: String,
    /// The current usage.
    pub current: i64,
    /// The limit; negative: unlimited.
    pub limit: i64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wire {
    name: WireName,
    current_value: i64,
    limit: i64,
}

#[derive(Deserialize)]
struct WireName {
    value: String,
}

impl Answer for Usage {
    const WHAT: &'static str = "usage of a quota";
    type Wire = Wire;

    fn of(wire: Wire) -> Result<Self, String> {
        let Wire { name, current_value, limit } = wire;
        Ok(Self { name: name.value, current: current_value, limit })
    }
}
