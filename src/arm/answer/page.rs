//! One page of a list.
//!
//! Must never treat a page without `value` as empty.

use serde::Deserialize;
use serde_json::Value;

use super::reading::Answer;

/// One page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The items of this page, unparsed.
    pub items: Vec<Value>,
    /// URL of the next page; `None`: this is the last one.
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
