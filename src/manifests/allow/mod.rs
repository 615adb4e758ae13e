//! Decides which fields of an object are kept: only those that planning needs.
//!
//! Every object is cut by the entry for its kind in the `table` as soon as it is parsed, before anything but its field
//! names ([`fields`](super::fields)) is read. Fields without an entry (values of environment variables, commands, data,
//! most annotations) reach no memory, plan, snapshot or message. A newly read field needs an entry there, or it is
//! never seen.

pub mod pod_fields;
mod table;

use super::refusals;
use super::tree::{Tree, Value};

pub use table::{ANY_WORKLOAD, Scope, rule_of, scope_of};

/// Which parts of a value are kept.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// All of it.
    Whole,
    /// A scalar; of a map or a list, only its type.
    Scalar,
    /// These fields of a map, each by its own rule.
    Fields(&'static [(&'static str, Self)]),
    /// These fields of a pod's `spec`, each by its own rule; of other fields, only the presence of those whose names
    /// are probably misspellings.
    PodSpec(&'static [(&'static str, Self)]),
    /// Entries of a map with these keys, or with these prefixes if they end in `/`.
    Keys(&'static [&'static str]),
    /// Every item of a list, by this rule.
    Each(&'static Self),
    /// All of a map, except that these fields follow their own rules.
    But(&'static [(&'static str, Self)]),
    /// The part of a text that reports a refusal by Azure; all other words are removed.
    Refusal,
    /// Its presence.
    Presence,
    /// Nothing.
    Nothing,
}

impl Rule {
    /// Removes everything that the rule does not keep. Lines and list positions stay; a scalar in place of a map or a
    /// list stays for the reader to check.
    pub fn cut(self, tree: &mut Tree) {
        match self {
            Self::Whole => {}
            Self::Presence | Self::Nothing => tree.value = Value::Null,
            Self::Refusal => {
                Self::Scalar.cut(tree);
                if let Some(text) = tree.as_text() {
                    tree.value = Value::Text(refusals::part(text).into());
                }
            }
            Self::Scalar => match &mut tree.value {
                Value::Map(entries) => entries.clear(),
                Value::List(items) => items.clear(),
                Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) | Value::Text(_) => {}
            },
            Self::Each(rule) => match &mut tree.value {
                Value::List(items) => items.iter_mut().for_each(|item| rule.cut(item)),
                Value::Map(entries) => entries.clear(),
                Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) | Value::Text(_) => {}
            },
            Self::Fields(rules) => fields(tree, |key| rule_for(rules, key).unwrap_or(Self::Nothing)),
            Self::PodSpec(rules) => fields(tree, |key| match rule_for(rules, key) {
                Some(rule) => rule,
                None if pod_fields::meant(key).is_some() => Self::Presence,
                None => Self::Nothing,
            }),
            Self::But(rules) => fields(tree, |key| rule_for(rules, key).unwrap_or(Self::Whole)),
            Self::Keys(keys) => fields(tree, |key| {
                let is_kept = |kept: &&str| *kept == key || (kept.ends_with('/') && key.starts_with(kept));
                if keys.iter().any(is_kept) { Self::Scalar } else { Self::Nothing }
            }),
        }
    }
}

fn rule_for(rules: &[(&str, Rule)], key: &str) -> Option<Rule> {
    rules.iter().find(|(known, _)| *known == key).map(|(_, rule)| *rule)
}

fn fields(tree: &mut Tree, rule: impl Fn(&str) -> Rule) {
    match &mut tree.value {
        Value::Map(entries) => entries.retain_mut(|entry| {
            let rule = rule(&entry.key);
            rule.cut(&mut entry.value);
            !matches!(rule, Rule::Nothing)
        }),
        Value::List(items) => items.clear(),
        Value::Null | Value::Bool(_) | Value::Integer(_) | Value::Decimal(_) | Value::Text(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::rule_of;
    use crate::manifests::kind::READ_KINDS;

    #[test]
    fn every_kind_that_is_read_has_a_line() {
        for (group, kind) in READ_KINDS {
            assert!(
                rule_of(group, kind).is_some(),
                "{group}/{kind} has no line in the table of what is kept"
            );
        }
    }
}
