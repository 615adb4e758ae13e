//! Tags of Azure resources: precedence as in Karpenter, and Azure's limits.
//!
//! Must never let a user's tag replace one with which nodeform or Karpenter identifies its resources.

use std::collections::BTreeMap;

/// Maximum number of tags of a resource.
const COUNT_MAX: usize = 50;
/// Maximum length of a tag's name, in characters.
const NAME_MAX: usize = 512;
/// Maximum length of a tag's value, in characters.
const VALUE_MAX: usize = 256;

/// Tags in Azure's form: no `/` in names, which are unique ignoring case.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tags(BTreeMap<String, String>);

/// Tags that Azure would reject.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TagsFault {
    /// There are too many.
    #[error("{0} tags, more than the {COUNT_MAX} that an Azure resource can have")]
    TooMany(usize),
    /// A name is too long or has a character that Azure rejects.
    #[error("tag `{0}`: a name has at most {NAME_MAX} characters, none of < > % & \\ ?")]
    BadName(String),
    /// A value is too long.
    #[error("tag `{0}`: its value has more than {VALUE_MAX} characters")]
    LongValue(String),
}

impl Tags {
    /// Merges layers of tags; later layers override earlier ones. A `/` in a name first becomes `_`, so that no
    /// spelling of a user's tag hides a later one; names that differ only in case are the same tag.
    ///
    /// # Errors
    /// Everything that Azure would reject.
    pub fn layered(layers: &[&BTreeMap<String, String>]) -> Result<Self, Vec<TagsFault>> {
        let mut by_lower_case: BTreeMap<String, Tag> = BTreeMap::new();
        for (name, value) in layers.iter().flat_map(|layer| layer.iter()) {
            let name = name.replace('/', "_");
            by_lower_case.insert(name.to_ascii_lowercase(), Tag { name, value: value.clone() });
        }
        let faults = faults(by_lower_case.values());
        if faults.is_empty() {
            Ok(Self(by_lower_case.into_values().map(|tag| (tag.name, tag.value)).collect()))
        } else {
            Err(faults)
        }
    }

    /// Returns the tags by name.
    #[must_use]
    pub const fn as_map(&self) -> &BTreeMap<String, String> {
        &self.0
    }

    /// Returns the value of a tag; names are case-insensitive.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(key, _)| key.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    /// Wraps tags as received in an answer.
    #[must_use]
    pub const fn of_answer(tags: BTreeMap<String, String>) -> Self {
        Self(tags)
    }
}

struct Tag {
    name: String,
    value: String,
}

fn faults<'a>(tags: impl ExactSizeIterator<Item = &'a Tag>) -> Vec<TagsFault> {
    let mut faults = Vec::new();
    if tags.len() > COUNT_MAX {
        faults.push(TagsFault::TooMany(tags.len()));
    }
    for Tag { name, value } in tags {
        let bad = |c: char| matches!(c, '<' | '>' | '%' | '&' | '\\' | '?') || c.is_control();
        if name.is_empty() || name.chars().count() > NAME_MAX || name.contains(bad) {
            faults.push(TagsFault::BadName(name.clone()));
        }
        if value.chars().count() > VALUE_MAX {
            faults.push(TagsFault::LongValue(name.clone()));
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(tags: &[(&str, &str)]) -> BTreeMap<String, String> {
        tags.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn later_layers_win_in_any_spelling() {
        let class = map(&[("Karpenter.sh/nodepool", "mine"), ("team/name", "a")]);
        let own = map(&[("karpenter.sh_nodepool", "apps")]);
        let tags = Tags::layered(&[&class, &own]).unwrap();
        assert_eq!(tags.as_map(), &map(&[("karpenter.sh_nodepool", "apps"), ("team_name", "a")]));
        assert_eq!(tags.get("KARPENTER.SH_NODEPOOL"), Some("apps"));
    }

    #[test]
    fn all_that_azure_refuses_is_said_at_once() {
        let mut many: BTreeMap<String, String> = (0..51).map(|n| (format!("t{n}"), String::new())).collect();
        many.insert("a<b".to_owned(), "v".repeat(257));
        let faults = Tags::layered(&[&many]).unwrap_err();
        assert_eq!(
            faults,
            [
                TagsFault::TooMany(52),
                TagsFault::BadName("a<b".to_owned()),
                TagsFault::LongValue("a<b".to_owned())
            ]
        );
    }
}
