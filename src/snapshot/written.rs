//! Serializes an object: keys sorted, numbers with their original digits.

use serde::ser::{Error as _, SerializeMap as _};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::manifests::tree::{Entry, Tree, Value};

/// A tree to serialize as JSON.
#[derive(Debug)]
pub(super) struct WrittenObject<'a>(pub(super) &'a Tree);

impl Serialize for WrittenObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0.value {
            Value::Null => serializer.serialize_unit(),
            Value::Bool(value) => serializer.serialize_bool(value.is_true()),
            Value::Integer(number) => serializer.serialize_i64(*number),
            // Values without a JSON number (`.inf`) are not valid amounts either: written as text, they are rejected.
            Value::Decimal(digits) => match serde_json::from_str::<&RawValue>(digits) {
                Ok(number) => number.serialize(serializer),
                Err(_) => serializer.serialize_str(digits),
            },
            Value::Text(text) => serializer.serialize_str(text),
            Value::List(items) => serializer.collect_seq(items.iter().map(WrittenObject)),
            Value::Map(entries) => {
                let mut sorted: Vec<&Entry> = entries.iter().collect();
                sorted.sort_by(|one, other| one.key.cmp(&other.key));
                let mut map = serializer.serialize_map(Some(sorted.len()))?;
                for Entry { key, value, line: _ } in sorted {
                    map.serialize_entry(&**key, &WrittenObject(value)).map_err(S::Error::custom)?;
                }
                map.end()
            }
        }
    }
}
