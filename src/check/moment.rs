//! Rules between pods at one moment: the placement at which a pod preempts, and whether spread, affinity and
//! anti-affinity allow the pod there.
//!
//! Only bound pods count, including those of daemonsets.

use std::sync::Arc;

use super::case::{Case, taints_of};
use super::labels::{Domain, Labels};
use super::spread::{self, Filter};
use crate::model::{
    LabelKey, LabelSelector, Namespace, Node, NodeName, NodeStage, Pod, PodAffinityTerm, Requirement,
    SpreadConstraint, Taint,
};

/// The nodes of the cluster at a moment.
pub(super) struct Moment<'a> {
    case: &'a Case<'a>,
    places: Vec<Place<'a>>,
}

struct Place<'a> {
    name: &'a NodeName,
    labels: Labels,
    taints: Vec<Taint>,
    pods: Vec<&'a Pod>,
}

impl<'a> Moment<'a> {
    /// Reads the nodes with their pods at that moment. Machines that have not come up are not nodes yet.
    pub(super) fn of(case: &'a Case<'a>, pods: impl Fn(&NodeName) -> Vec<&'a Pod>) -> Self {
        let nodes = case.nodes.values().filter(|node| node.stage != NodeStage::Launching);
        let place = |node: &&'a Node| Place {
            name: &node.name,
            labels: Labels::of_node(node),
            taints: taints_of(node),
            pods: pods(&node.name),
        };
        Self { case, places: nodes.map(place).collect() }
    }

    /// Returns the same moment with other pods on one node.
    pub(super) fn with(mut self, node: &NodeName, pods: Vec<&'a Pod>) -> Self {
        self.places
            .iter_mut()
            .filter(|place| place.name == node)
            .for_each(|place| place.pods.clone_from(&pods));
        self
    }

    /// Returns the rules that keep a pod from a node: its own, and those of pods already bound.
    pub(super) fn keeps_off(&self, pod: &Pod, node: &NodeName) -> Vec<String> {
        let Some(here) = self.places.iter().find(|place| place.name == node) else {
            return vec![format!("cannot be told from others on `{node}`, which is no node yet")];
        };
        let apart = pod.spec.anti_affinity.iter().filter(|term| {
            let is_meant = |other: &&Pod| self.means(term, pod, other);
            self.beside(&term.topology_key, here).any(|place| place.pods.iter().any(&is_meant))
        });
        let mut missed: Vec<String> = apart
            .map(|term| format!("keeps away from a pod beside `{node}` by `{}`", term.topology_key))
            .collect();
        missed.extend(
            self.places.iter().flat_map(|place| place.pods.iter().map(move |it| (place, it))).filter_map(
                |(place, other)| {
                    let against = |term: &&PodAffinityTerm| {
                        self.means(term, other, pod) && is_one_domain(&term.topology_key, place, here)
                    };
                    let term = other.spec.anti_affinity.iter().find(against)?;
                    Some(format!(
                        "is kept away from `{node}` by pod `{}` (`{}`)",
                        other.key, term.topology_key
                    ))
                },
            ),
        );
        missed.extend(self.is_lonely(pod, here));
        let uneven = spread::required(&pod.spec).filter(|constraint| self.is_uneven(pod, constraint, here));
        missed.extend(
            uneven.map(|constraint| format!("is not spread by `{}` on `{node}`", constraint.topology_key)),
        );
        missed
    }

    /// Returns the affinity term that the pod misses on this node.
    fn is_lonely(&self, pod: &Pod, here: &Place<'_>) -> Option<String> {
        let terms = &pod.spec.affinity;
        let meets = |other: &Pod| terms.iter().all(|term| self.means(term, pod, other));
        let has = |place: &Place<'_>| place.pods.iter().any(|other| meets(other));
        let lacking = terms.iter().find(|term| !self.beside(&term.topology_key, here).any(has))?;
        let is_in_one = terms.iter().all(|term| domain(&term.topology_key, here).is_some());
        let is_first = is_in_one && meets(pod) && !self.places.iter().any(has);
        let why = || format!("has nobody beside it on `{}` by `{}`", here.name, lacking.topology_key);
        (!is_first).then(why)
    }

    /// Returns whether a spread constraint keeps a pod from a node.
    fn is_uneven(&self, pod: &Pod, constraint: &SpreadConstraint, here: &Place<'_>) -> bool {
        let filter = Filter::of(&pod.spec, constraint);
        let selector = selector(pod, constraint);
        let is_counted = |other: &&&Pod| {
            other.key.namespace == pod.key.namespace
                && !other.is_terminating
                && selector.as_ref().is_some_and(|selector| selector.selects(&other.spec.labels))
        };
        let counting =
            || self.places.iter().filter(|place| filter.lets_count(&pod.spec, &place.labels, &place.taints));
        let key = &constraint.topology_key;
        let count = |domain: &str| -> usize {
            let own = counting().filter(|place| self::domain(key, place) == Some(domain));
            own.map(|place| place.pods.iter().filter(is_counted).count()).sum()
        };
        let Some(own) = domain(key, here) else { return true };
        let mut domains: Vec<&str> = counting().filter_map(|place| domain(key, place)).collect();
        domains.sort_unstable();
        domains.dedup();
        let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let is_lacking = constraint.min_domains.is_some_and(|least| domains.len() < number(least));
        let least = if is_lacking { None } else { domains.iter().map(|domain| count(domain)).min() };
        let itself = usize::from(is_counted(&&pod));
        count(own) + itself > number(constraint.max_skew).saturating_add(least.unwrap_or(0))
    }

    /// Returns the nodes of the same domain.
    fn beside<'s>(&'s self, key: &'s LabelKey, here: &'s Place<'a>) -> impl Iterator<Item = &'s Place<'a>> {
        self.places.iter().filter(move |place| is_one_domain(key, place, here))
    }

    /// Returns whether a term of one pod matches another pod.
    fn means(&self, term: &PodAffinityTerm, owner: &Pod, other: &Pod) -> bool {
        let namespace = &other.key.namespace;
        let is_own = term.namespaces.is_empty() && term.namespace_selector.is_none();
        let is_there = match is_own {
            true => *namespace == owner.key.namespace,
            false => {
                term.namespaces.contains(namespace)
                    || term.namespace_selector.as_ref().is_some_and(|it| self.selects(it, namespace))
            }
        };
        is_there && term.selector.as_ref().is_some_and(|selector| selector.selects(&other.spec.labels))
    }

    fn selects(&self, selector: &LabelSelector, namespace: &Namespace) -> bool {
        let mut labels = self.case.snapshot.namespaces.get(namespace).cloned().unwrap_or_default();
        labels.insert(LabelKey::new("kubernetes.io/metadata.name"), Arc::from(namespace.as_str()));
        selector.selects(&labels)
    }
}

/// Returns a constraint's selector with its `matchLabelKeys`. A selector that matches everything counts no pods.
fn selector(pod: &Pod, constraint: &SpreadConstraint) -> Option<LabelSelector> {
    let mut selector = constraint.selector.clone()?;
    for key in &constraint.match_label_keys {
        if let Some(value) = pod.spec.labels.get(key) {
            selector.0.add(key.clone(), Requirement::one(value));
        }
    }
    (!selector.0.is_empty()).then_some(selector)
}

fn domain<'p>(key: &LabelKey, place: &'p Place<'_>) -> Option<&'p str> {
    match place.labels.domain(key) {
        Domain::Value(value) => Some(value),
        Domain::Own | Domain::Open | Domain::Absent => None,
    }
}

fn is_one_domain(key: &LabelKey, one: &Place<'_>, other: &Place<'_>) -> bool {
    domain(key, one).is_some_and(|domain| Some(domain) == self::domain(key, other))
}
