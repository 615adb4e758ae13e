//! Which fields of an object are kept: what planning needs, and nothing else.
//!
//! Every object is cut by its kind's line of the `table` as soon as it is parsed, before anything is read of
//! it but the names of its fields ([`fields`](super::fields)). What has no line there (values of environment variables, commands, data, most annotations) reaches no
//! memory, plan, snapshot or message. A field that is newly read needs its line there, or it is never seen.

pub mod pod_fields;
mod table;

use super::refusals;
use super::tree::{Tree, Value};

pub use table::{ANY_WORKLOAD, Scope, rule_of, scope_of};

/// What is kept of a value.
#[derive(Clone, Copy, Debug)]
pub enum Rule {
    /// All of it.
    Whole,
    /// A scalar; of a map or a list only that it is one.
    Scalar,
    /// These fields of a map, each by its rule.
    Fields(&'static [(&'static str, Self)]),
    /// These fields of a pod's `spec`, each by its rule; of others, if their names are likely meant to be one of these, only
    /// that they are there.
    PodSpec(&'static [(&'static str, Self)]),
    /// The entries of a map whose keys are these, or begin with those that end in `/`.
    Keys(&'static [&'static str]),
    /// Every item of a list by this rule.
    Each(&'static Self),
    /// All of a map, but these fields by their rules.
    But(&'static [(&'static str, Self)]),
    /// Of a text what it says of a refusal by Azure; all other words are taken away.
    Refusal,
    /// That it is there.
    Presence,
    /// Nothing.
    Nothing,
}

impl Rule {
    /// Takes away whatever the rule does not keep. Lines stay, and so do the places of items in their lists;
    /// a scalar where a map or a list should be stays for the reader to judge.
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
