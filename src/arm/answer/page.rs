//! One page of a list.
//! Must never take a page without `value` for an empty one.

use serde::Deserialize;
use serde_json::Value;

use super::reading::Answer;

/// One page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The items of this page, as they came.
    pub items: Vec<Value>,
    /// Where the next page is; none: this was the last.
    pub next_link: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Wire {
    value: Vec<Value>,
    #[serde(default)]
    next_link: Option<String>,
}

impl Answer for Page {
    const WHAT: &'static str = "page of a list";
    type Wire = Wire;

    fn of(wire: Wire) -> Result<Self, String> {
        let next_link = wire.next_link.filter(|link| !link.is_empty());
        Ok(Self { items: wire.value, next_link })
    }
}
