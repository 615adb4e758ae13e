//! Pods that must wait: gated ones, and those with a required rule that is not planned with yet.

use std::collections::BTreeMap;

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{PodSpec, SchedulingRule, Strength};

/// Returns the pods that are placed although they must wait.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut known: BTreeMap<&PodSpec, Option<String>> = BTreeMap::new();
    for pod in case.placed_pods() {
        let why = known.entry(&pod.spec).or_insert_with(|| must_wait(&pod.spec)).clone();
        if let Some(why) = why {
            found.push(Finding::new(Rule::HeldBack, format!("pod `{}`", pod.key), why));
        }
    }
    found
}

fn must_wait(spec: &PodSpec) -> Option<String> {
    if let Some(gate) = spec.gates.first() {
        return Some(format!("is placed although its scheduling gate `{gate}` holds it back"));
    }
    unplanned_rule(spec)
        .map(|rule| format!("is placed although it requires `{}`, which is not planned with", rule.as_str()))
}

/// Returns the first rule that the pod requires and that plans do not know yet: volumes where nobody says which.
fn unplanned_rule(spec: &PodSpec) -> Option<SchedulingRule> {
    let is_known = |rule: &SchedulingRule| *rule == SchedulingRule::Volumes && !spec.volumes.is_empty();
    let others = spec.other_rules.iter().filter(|(_, strength)| **strength == Strength::Required);
    others.map(|(rule, _)| *rule).find(|rule| !is_known(rule))
}
