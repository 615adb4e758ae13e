//! Rules that are read but not supported yet: a pod that requires one is held back with the rule's name, and one that
//! only prefers it is planned without it.

use std::collections::BTreeSet;

use crate::model::{PodSpec, SchedulingRule, Strength};

/// Why a pod is held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The rule that is not supported yet; `None` for causes that users remove themselves.
    pub rule: Option<SchedulingRule>,
    /// What the pod waits for.
    pub waits_for: String,
    /// Why that holds the pod back.
    pub because: String,
}

/// Returns the first required rule, by name, that is not supported yet.
#[must_use]
pub fn why(spec: &PodSpec) -> Option<Wait> {
    let others = spec
        .other_rules
        .iter()
        .filter(|(rule, strength)| **strength == Strength::Required && !is_planned(**rule, spec));
    let rules: BTreeSet<SchedulingRule> = others.map(|(rule, _)| *rule).collect();
    let first = *rules.first()?;
    let names: Vec<&str> = rules.iter().map(|rule| rule.as_str()).collect();
    Some(Wait {
        rule: Some(first),
        waits_for: names.join(", "),
        because: "required by the pods and not planned with yet; a plan without it could be wrong".to_owned(),
    })
}

/// Returns whether a rule is supported: volumes are if they were read, and a node's name is requested as its label.
fn is_planned(rule: SchedulingRule, spec: &PodSpec) -> bool {
    rule == SchedulingRule::MatchFields || (rule == SchedulingRule::Volumes && !spec.volumes.is_empty())
}

/// Returns the rules that the pod only prefers and that are not supported at all.
pub fn wished_for(spec: &PodSpec) -> impl Iterator<Item = SchedulingRule> {
    let wished = spec.other_rules.iter().filter(|(_, strength)| **strength == Strength::Preferred);
    wished.map(|(rule, _)| *rule).filter(|rule| !is_planned(*rule, spec))
}
