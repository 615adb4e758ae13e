//! Rules that are read and not planned with yet: a pod that requires one is held back by the rule's name,
//! one that only wishes for it is planned without.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{
    LabelKey, Namespace, Pod, PodAffinityTerm, PodKey, PodPlace, PodSpec, SchedulingRule, Strength,
};
use crate::snapshot::Snapshot;

/// Why a pod is held back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The rule that is not there yet; `None` for what the user lifts himself.
    pub rule: Option<SchedulingRule>,
    /// What is waited for.
    pub waits_for: String,
    /// Why that holds the pod back.
    pub because: String,
}

/// Returns the required rule, by name the first, that is not planned with yet.
#[must_use]
pub fn why(spec: &PodSpec) -> Option<Wait> {
    let required = |(rule, strength): &(SchedulingRule, Strength)| match strength {
        Strength::Required => Some(*rule),
        Strength::Preferred => None,
    };
    let rules: Vec<SchedulingRule> = spec.rules().into_iter().filter_map(|used| required(&used)).collect();
    let first = *rules.first()?;
    let names: Vec<&str> = rules.iter().map(|rule| rule.as_str()).collect();
    Some(Wait {
        rule: Some(first),
        waits_for: names.join(", "),
        because: "required by the pods and not planned with yet; a plan without it could be wrong".to_owned(),
    })
}

/// Returns the rules that the pod only wishes for.
pub fn wished_for(spec: &PodSpec) -> impl Iterator<Item = SchedulingRule> {
    spec.rules().into_iter().filter(|(_, strength)| *strength == Strength::Preferred).map(|(rule, _)| rule)
}

/// Required anti-affinity of what runs, which keeps other pods away from its domain.
#[derive(Debug)]
pub struct Repelling<'a> {
    terms: BTreeMap<(&'a PodAffinityTerm, &'a Namespace), String>,
}

impl<'a> Repelling<'a> {
    /// Gathers the terms of pods that run and of daemonsets, which will.
    #[must_use]
    pub fn of(snapshot: &'a Snapshot) -> Self {
        let mut terms: BTreeMap<(&PodAffinityTerm, &Namespace), String> = BTreeMap::new();
        // Of those who say the same the first by name is named, whatever the order of the input.
        let mut add = |term: &'a PodAffinityTerm, namespace: &'a Namespace, owner: String| {
            let first = terms.entry((term, namespace)).or_insert_with(|| owner.clone());
            if owner < *first {
                *first = owner;
            }
        };
        for pod in &snapshot.pods {
            if matches!(pod.place, PodPlace::Bound(_)) {
                for term in &pod.spec.anti_affinity {
                    add(term, &pod.key.namespace, format!("pod `{}`", pod.key));
                }
            }
        }
        for daemon in &snapshot.daemons {
            for term in &daemon.spec.anti_affinity {
                let owner = format!("daemonset `{}/{}`", daemon.namespace, daemon.name);
                add(term, &daemon.namespace, owner);
            }
        }
        Self { terms }
    }

    /// Returns why a waiting pod is held back by something that runs.
    #[must_use]
    pub fn why(&self, pod: &Pod) -> Option<Wait> {
        let ((term, _), owner) =
            self.terms.iter().find(|((term, own), _)| meant(term, own, &pod.key, &pod.spec))?;
        let rule = SchedulingRule::PodAntiAffinity;
        Some(Wait {
            rule: Some(rule),
            waits_for: rule.as_str().to_owned(),
            because: format!(
                "{owner} runs and refuses such pods in its `{}`; that is not planned with yet",
                term.topology_key
            ),
        })
    }
}

/// Returns whether the term means this pod. A namespace selector that reads more than a namespace's name may
/// mean any namespace, since namespaces' labels are not part of what was seen.
fn meant(term: &PodAffinityTerm, own: &Namespace, key: &PodKey, spec: &PodSpec) -> bool {
    let selects_pod = term.selector.as_ref().is_some_and(|selector| selector.selects(&spec.labels));
    let by_name = if term.namespaces.is_empty() && term.namespace_selector.is_none() {
        key.namespace == *own
    } else {
        term.namespaces.contains(&key.namespace)
    };
    let by_label = term.namespace_selector.as_ref().is_some_and(|selector| {
        let name_key = LabelKey::new("kubernetes.io/metadata.name");
        let reads_more = selector.0.iter().any(|(key, _)| *key != name_key);
        let labels = [(name_key, Arc::from(key.namespace.as_str()))].into_iter().collect();
        reads_more || selector.selects(&labels)
    });
    selects_pod && (by_name || by_label)
}
