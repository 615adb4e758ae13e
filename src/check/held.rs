//! Pods that must wait: gated ones, and those with a required rule that is not planned with yet.

use std::collections::BTreeMap;

use super::case::Case;
use super::finding::{Finding, Rule};
use crate::model::{LabelKey, Pod, PodAffinityTerm, PodPlace, PodSpec, SchedulingRule, Strength};

/// Returns the pods that are placed although they must wait.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let repelled = RepelledByRunning::of(case);
    let mut found = Vec::new();
    let mut known: BTreeMap<&PodSpec, Option<String>> = BTreeMap::new();
    for pod in case.placed_pods() {
        let why = known.entry(&pod.spec).or_insert_with(|| must_wait(&pod.spec)).clone();
        if let Some(why) = why.or_else(|| repelled.repels(pod)) {
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

/// Returns the first rule that the pod requires and that plans do not know yet.
fn unplanned_rule(spec: &PodSpec) -> Option<SchedulingRule> {
    let others = spec.other_rules.iter().filter(|(_, strength)| **strength == Strength::Required);
    let spread = spec.spread.iter().any(|constraint| constraint.strength == Strength::Required);
    others
        .map(|(rule, _)| *rule)
        .chain(spread.then_some(SchedulingRule::TopologySpread))
        .chain((!spec.affinity.is_empty()).then_some(SchedulingRule::PodAffinity))
        .chain((!spec.anti_affinity.is_empty()).then_some(SchedulingRule::PodAntiAffinity))
        .min()
}

/// The required anti-affinity of pods that run: it keeps new pods away as well.
struct RepelledByRunning<'a> {
    terms: Vec<(&'a Pod, &'a PodAffinityTerm)>,
}

impl<'a> RepelledByRunning<'a> {
    fn of(case: &Case<'a>) -> Self {
        let running = case.snapshot.pods.iter().filter(|pod| matches!(pod.place, PodPlace::Bound(_)));
        let terms = running.flat_map(|pod| pod.spec.anti_affinity.iter().map(move |term| (pod, term)));
        Self { terms: terms.collect() }
    }

    fn repels(&self, pod: &Pod) -> Option<String> {
        let (other, _) = self.terms.iter().find(|(other, term)| selects(other, term, pod))?;
        Some(format!(
            "is placed although the anti-affinity of pod `{}`, which runs, is against it",
            other.key
        ))
    }
}

/// Returns whether a term of a pod means another pod. Of namespaces only the name is known, which Kubernetes
/// also writes as a label; a selector of their other labels may mean each of them.
fn selects(owner: &Pod, term: &PodAffinityTerm, other: &Pod) -> bool {
    let namespace = &other.key.namespace;
    let is_own = term.namespaces.is_empty() && term.namespace_selector.is_none();
    let is_by_label = term.namespace_selector.as_ref().is_some_and(|selector| {
        let of_name = |key: &LabelKey| key.as_str() == "kubernetes.io/metadata.name";
        selector.0.iter().all(|(key, wanted)| !of_name(key) || wanted.accepts(namespace.as_str()))
    });
    let in_namespace =
        is_by_label || term.namespaces.contains(namespace) || (is_own && owner.key.namespace == *namespace);
    in_namespace && term.selector.as_ref().is_some_and(|selector| selector.selects(&other.spec.labels))
}
