//! Values that are written as text and must be preserved exactly.
//!
//! Must never normalize: `720h` stays `720h`, the number `4` stays a number. `policy` interprets them.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A duration as the user wrote it, such as `720h`, `1h30m`, or `Never` where a field allows that word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct DurationText(pub String);

impl DurationText {
    /// The duration in nanoseconds; `None` for `Never`, for text that is no duration, and for one above 2^63.
    ///
    /// Reads what Go's `time.ParseDuration` reads, in whole numbers: decimal numbers with `ns`, `us`, `ms`, `s`, `m`, `h`.
    pub fn nanoseconds(&self) -> Option<i64> {
        let mut rest = self.0.as_str();
        if rest == "0" {
            return Some(0);
        }
        let mut total: i64 = 0;
        while !rest.is_empty() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            let count: i64 = rest[..digits].parse().ok()?;
            let unit_end =
                rest[digits..].find(|c: char| c.is_ascii_digit()).map_or(rest.len(), |at| digits + at);
            total = total.checked_add(count.checked_mul(unit_nanoseconds(&rest[digits..unit_end])?)?)?;
            rest = &rest[unit_end..];
        }
        (!self.0.is_empty()).then_some(total)
    }
}

fn unit_nanoseconds(unit: &str) -> Option<i64> {
    match unit {
        "ns" => Some(1),
        "us" | "µs" => Some(1_000),
        "ms" => Some(1_000_000),
        "s" => Some(1_000_000_000),
        "m" => Some(60_000_000_000),
        "h" => Some(3_600_000_000_000),
        _ => None,
    }
}

impl fmt::Display for DurationText {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// An amount as the user wrote it: a whole number, or text such as `500m` or `16Gi`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Quantity {
    /// Written as a number: `4`.
    Number(i64),
    /// Written as text: `"4"`, `500m`, `16Gi`.
    Text(String),
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Text(text) => formatter.write_str(text),
        }
    }
}

/// Amounts by name of resource: `cpu`, `memory`, `nodes`, `nvidia.com/gpu` …
pub type ResourceMap = BTreeMap<String, Quantity>;

/// A whole number, or one word in its place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NumberOrWord {
    /// A whole number.
    Number(i64),
    /// A word that the field allows instead, for example `unlimited`.
    Word(String),
}

#[cfg(feature = "schema")]
mod schema {
    use std::borrow::Cow;

    use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

    use super::{NumberOrWord, Quantity};
    use crate::api::pattern;

    impl JsonSchema for Quantity {
        fn schema_name() -> Cow<'static, str> {
            "Quantity".into()
        }

        fn inline_schema() -> bool {
            true
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "pattern": pattern::QUANTITY,
                "x-kubernetes-int-or-string": true,
            })
        }
    }

    impl JsonSchema for NumberOrWord {
        fn schema_name() -> Cow<'static, str> {
            "NumberOrWord".into()
        }

        fn inline_schema() -> bool {
            true
        }

        fn json_schema(_: &mut SchemaGenerator) -> Schema {
            json_schema!({
                "anyOf": [{"type": "integer"}, {"type": "string"}],
                "x-kubernetes-int-or-string": true,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DurationText, Quantity};

    #[test]
    fn a_duration_is_read_as_go_reads_it() {
        let read = |text: &str| DurationText(text.to_owned()).nanoseconds();
        assert_eq!(read("100ms"), Some(100_000_000));
        assert_eq!(read("1h30m5s"), Some(5_405_000_000_000));
        assert_eq!(read("0"), Some(0));
        for wrong in ["", "Never", "h", "5", "5d", "9999999999999h", "-5s"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_amount_keeps_its_spelling() {
        for text in ["4", "\"4\"", "\"500m\"", "\"1e3\""] {
            let amount: Quantity = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&amount).unwrap(), text);
        }
    }
}
