//! Requirements as JSON: a NodeClaim's list of `key`, `operator`, `values` and `minValues`.
//!
//! One label may need several entries, such as `NotIn` together with `Gte`. Reading intersects the entries of a label,
//! so values survive a round trip.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{LabelKey, Operator, Requirement, Requirements};

/// One entry of a NodeClaim's `spec.requirements`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RequirementEntry {
    /// The label.
    pub key: LabelKey,
    /// `In`, `NotIn`, `Exists`, `DoesNotExist`, `Gte` or `Lte`.
    pub operator: Arc<str>,
    /// The values, sorted; none with `Exists` and `DoesNotExist`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<Arc<str>>,
    /// How many distinct values the sizes to launch must offer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_values: Option<u32>,
}

impl Requirements {
    /// Returns the requirements as the list that a NodeClaim holds, by label.
    #[must_use]
    pub fn entries(&self) -> Vec<RequirementEntry> {
        self.iter().flat_map(|(key, requirement)| entries_of(key, requirement)).collect()
    }
}

fn entries_of(key: &LabelKey, requirement: &Requirement) -> Vec<RequirementEntry> {
    let entry = |operator: Operator, values: Vec<Arc<str>>| RequirementEntry {
        key: key.clone(),
        operator: Arc::from(operator.as_str()),
        values,
        min_values: None,
    };
    let number = |bound: i64| vec![Arc::from(bound.to_string())];
    let mut entries = Vec::new();
    if requirement.is_none() {
        entries.push(entry(Operator::DoesNotExist, Vec::new()));
    } else if let Some(listed) = requirement.listed() {
        entries.push(entry(Operator::In, listed.iter().cloned().collect()));
    } else if let Some(refused) = requirement.refused().filter(|refused| !refused.is_empty()) {
        entries.push(entry(Operator::NotIn, refused.iter().cloned().collect()));
    }
    let (at_least, at_most) = requirement.bounds();
    entries.extend(at_least.map(|bound| entry(Operator::Gte, number(bound))));
    entries.extend(at_most.map(|bound| entry(Operator::Lte, number(bound))));
    if entries.is_empty() {
        entries.push(entry(Operator::Exists, Vec::new()));
    }
    if let Some(first) = entries.first_mut() {
        first.min_values = requirement.min_values();
    }
    entries
}

impl Serialize for Requirements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.entries().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Requirements {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut requirements = Self::none();
        for entry in Vec::<RequirementEntry>::deserialize(deserializer)? {
            let RequirementEntry { key, operator, values, min_values } = entry;
            let operator = Operator::parse(&operator)
                .ok_or_else(|| de::Error::custom(format!("`{operator}` is no operator")))?;
            requirements.add(key, Requirement::new(operator, values).with_min_values(min_values));
        }
        Ok(requirements)
    }
}

#[cfg(feature = "schema")]
impl schemars::JsonSchema for Requirements {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Requirements".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<RequirementEntry>::json_schema(generator)
    }
}

#[cfg(test)]
mod tests {
    use super::{Operator, Requirement, Requirements};

    #[test]
    fn requirements_are_read_as_they_were_written() {
        let of = |operator, values: &[&str]| Requirement::new(operator, values.iter().copied());
        let bounded = of(Operator::Gt, &["2"]).intersection(&of(Operator::NotIn, &["4"]));
        let requirements = Requirements::none()
            .with("a", of(Operator::In, &["y", "x"]).with_min_values(Some(2)))
            .with("b", bounded.intersection(&of(Operator::Lt, &["9"])))
            .with("c", Requirement::any())
            .with("d", Requirement::none())
            .with("e", of(Operator::NotIn, &["z"]));
        let text = serde_json::to_string(&requirements).expect("has a form");
        let read: Requirements = serde_json::from_str(&text).expect("is what was written");
        assert_eq!(read, requirements);
        assert!(
            text.starts_with(r#"[{"key":"a","operator":"In","values":["x","y"],"minValues":2},"#),
            "{text}"
        );
    }
}
