//! JSON representations of values that the derived form cannot express: wide integers, times, keys.
//!
//! JSON numbers are exact only up to 2^53 − 1 (RFC 8785 writes them as doubles), so larger integers are written as
//! strings. Both forms are read.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The largest integer that every reader of JSON keeps exactly: 2^53 − 1.
pub const EXACT_MAX: i64 = (1 << 53) - 1;

/// An integer as it stands in JSON: a number, or text beyond ±[`EXACT_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Integer(pub i64);

impl Serialize for Integer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if (-EXACT_MAX..=EXACT_MAX).contains(&self.0) {
            serializer.serialize_i64(self.0)
        } else {
            serializer.collect_str(&self.0)
        }
    }
}

struct IntegerVisitor;

impl de::Visitor<'_> for IntegerVisitor {
    type Value = Integer;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an integer, as text beyond 2^53-1")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Integer, E> {
        Ok(Integer(value))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Integer, E> {
        i64::try_from(value).map(Integer).map_err(E::custom)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Integer, E> {
        text.parse().map(Integer).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Integer {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(IntegerVisitor)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Integer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Integer".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "An integer; written as text beyond 2^53-1.",
            "anyOf": [{"type": "integer"}, {"type": "string", "pattern": "^-?[0-9]+$"}]
        })
    }
}

/// For `#[serde(with)]`: an `i64` in the form of [`Integer`].
pub(crate) mod integer {
    use super::{Deserialize, Deserializer, Integer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &i64, serializer: S) -> Result<S::Ok, S::Error> {
        Integer(*value).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i64, D::Error> {
        Integer::deserialize(deserializer).map(|integer| integer.0)
    }
}

/// For `#[serde(with)]`: an `i64` in the form of [`Integer`], or null.
pub(crate) mod optional_integer {
    use super::{Deserialize, Deserializer, Integer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(value: &Option<i64>, serializer: S) -> Result<S::Ok, S::Error> {
        value.map(Integer).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
        Ok(Option::<Integer>::deserialize(deserializer)?.map(|integer| integer.0))
    }
}

/// For `#[serde(with)]`: a `u64`, or null; text beyond [`EXACT_MAX`].
pub(crate) mod optional_natural {
    use super::{Deserialize, Deserializer, EXACT_MAX, Serializer, de};

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Written {
        Number(u64),
        Text(String),
    }

    pub(crate) fn serialize<S: Serializer>(value: &Option<u64>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            None => serializer.serialize_none(),
            Some(value) if *value <= EXACT_MAX.unsigned_abs() => serializer.serialize_u64(*value),
            Some(value) => serializer.collect_str(value),
        }
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
        match Option::<Written>::deserialize(deserializer)? {
            None => Ok(None),
            Some(Written::Number(value)) => Ok(Some(value)),
            Some(Written::Text(text)) => text.parse().map(Some).map_err(de::Error::custom),
        }
    }
}

/// For `#[serde(with)]`: a value in its own text form, such as a time or a duration.
pub(crate) mod text {
    use super::{Deserialize, Deserializer, Serializer, de, fmt};

    pub(crate) fn serialize<T: fmt::Display, S: Serializer>(
        value: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: std::str::FromStr,
        T::Err: fmt::Display,
        D: Deserializer<'de>,
    {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

/// For `#[serde(with)]`: a value in its own text form, or null.
pub(crate) mod optional_text {
    use super::{Deserialize, Deserializer, Serializer, de, fmt};

    pub(crate) fn serialize<T: fmt::Display, S: Serializer>(
        value: &Option<T>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(value),
            None => serializer.serialize_none(),
        }
    }

    pub(crate) fn deserialize<'de, T, D>(deserializer: D) -> Result<Option<T>, D::Error>
    where
        T: std::str::FromStr,
        T::Err: fmt::Display,
        D: Deserializer<'de>,
    {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
    }
}

/// Whether a value is what its absence means: such a field is not written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
