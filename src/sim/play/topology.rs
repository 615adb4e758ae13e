//! Constraints between pods: required pod anti-affinity, in both directions, and spreads with `DoNotSchedule`.
//!
//! Supports no pod affinity and no preferences. A namespace selector always means all namespaces.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::index::{Index, NodeView, PodView};
use super::scheduler::selects;
use crate::sim::cluster::{Labels, Name};
use crate::sim::json::{list, number, text, text_or_empty};

const APART: &str = "/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution";
const SPREADS: &str = "/spec/topologySpreadConstraints";

/// A required pod anti-affinity term.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Apart {
    selector: Labels,
    /// The topology key.
    key: String,
    /// `None` means all namespaces.
    namespaces: Option<BTreeSet<String>>,
}

impl Apart {
    /// Reads the terms of a pod.
    pub(crate) fn of(pod: &Value) -> Vec<Self> {
        let own = text_or_empty(pod, "/metadata/namespace");
        let terms = list(pod, APART).iter().filter_map(|term| {
            let named: BTreeSet<String> =
                list(term, "/namespaces").iter().filter_map(Value::as_str).map(str::to_owned).collect();
            let namespaces = match (term.get("namespaceSelector"), named.is_empty()) {
                (Some(_), _) => None,
                (None, true) => Some(BTreeSet::from([own.to_owned()])),
                (None, false) => Some(named),
            };
            let selector = selector(pod, term)?;
            Some(Self { selector, key: text(term, "/topologyKey")?.to_owned(), namespaces })
        });
        terms.collect()
    }

    fn means(&self, name: &Name, labels: &BTreeMap<String, String>) -> bool {
        let is_there = self.namespaces.as_ref().is_none_or(|all| all.contains(&name.namespace));
        is_there && self.selector.admit(|key| labels.get(key).map(String::as_str))
    }
}

/// Returns whether a pod's placement depends on other pods.
pub(crate) fn is_bound(pod: &Value) -> bool {
    !list(pod, APART).is_empty() || !list(pod, SPREADS).is_empty()
}

/// Returns the selector of a term or constraint, with the pod's own values of `matchLabelKeys`; without a selector,
/// nothing matches.
fn selector(pod: &Value, term: &Value) -> Option<Labels> {
    let mut selector = term.get("labelSelector")?.clone();
    for key in list(term, "/matchLabelKeys").iter().filter_map(Value::as_str) {
        if let Some(value) = pod.pointer("/metadata/labels").and_then(|labels| labels.get(key)) {
            selector["matchLabels"][key] = value.clone();
        }
    }
    Some(Labels::of_object(&selector))
}

/// Topology domains that a pod may not use, given the placement of the other pods.
#[derive(Debug, Default)]
pub(crate) struct Topology {
    /// Node labels with the values that anti-affinity excludes.
    taken: BTreeSet<(String, String)>,
    spreads: Vec<Spread>,
}

#[derive(Debug)]
struct Spread {
    key: String,
    skew_max: i64,
    /// Matching pods in each domain.
    counts: BTreeMap<String, i64>,
    /// The minimum of these counts.
    fewest: i64,
    /// 1 if the pod matches its own selector.
    own: i64,
}

impl Topology {
    pub(crate) fn of(index: &Index, pod: &Value, name: &Name) -> Self {
        let labels = super::index::labels(pod);
        let mut taken = BTreeSet::new();
        let place = |key: &str, node: &str| {
            let value = index.nodes.get(node)?.labels.get(key)?;
            Some((key.to_owned(), value.clone()))
        };
        let own = Apart::of(pod);
        if !own.is_empty() {
            for (other, view, node) in index.placed().filter(|(other, _, _)| *other != name) {
                let terms = own.iter().filter(|term| term.means(other, &view.labels));
                taken.extend(terms.filter_map(|term| place(&term.key, node)));
            }
        }
        for (_, view, node) in index.placed_apart().filter(|(other, _, _)| *other != name) {
            let terms = view.apart.iter().filter(|term| term.means(name, &labels));
            taken.extend(terms.filter_map(|term| place(&term.key, node)));
        }
        let constraints = list(pod, SPREADS).iter();
        let must = constraints.filter(|it| text_or_empty(it, "/whenUnsatisfiable") == "DoNotSchedule");
        let spreads = must.filter_map(|constraint| Spread::of(index, (pod, name), constraint)).collect();
        Self { taken, spreads }
    }

    /// Returns whether a node's domain is allowed.
    pub(crate) fn admits(&self, view: &NodeView) -> bool {
        let is_taken = |(key, value): &(String, String)| view.labels.get(key) == Some(value);
        !self.taken.iter().any(is_taken) && self.spreads.iter().all(|spread| spread.admits(view))
    }
}

impl Spread {
    fn of(index: &Index, (pod, name): (&Value, &Name), constraint: &Value) -> Option<Self> {
        let key = text(constraint, "/topologyKey")?;
        let selector = selector(pod, constraint)?;
        let counts_it =
            |labels: &BTreeMap<String, String>| selector.admit(|key| labels.get(key).map(String::as_str));
        let eligible = index.nodes.iter().filter(|(node, view)| selects(pod, node, view));
        let mut counts: BTreeMap<String, i64> =
            eligible.filter_map(|(_, view)| Some((view.labels.get(key)?.clone(), 0))).collect();
        let others = index.placed().filter(|(other, view, _)| {
            other.namespace == name.namespace && !view.is_terminating && counts_it(&view.labels)
        });
        for (_, _, node) in others {
            let place = index.nodes.get(node).filter(|view| selects(pod, node, view));
            if let Some(count) = place.and_then(|view| counts.get_mut(view.labels.get(key)?)) {
                *count += 1;
            }
        }
        let domains_min = number(constraint, "/minDomains").unwrap_or(1);
        let has_few = i64::try_from(counts.len()).is_ok_and(|domains| domains < domains_min);
        let fewest = if has_few { 0 } else { counts.values().copied().min().unwrap_or(0) };
        let own = i64::from(counts_it(&super::index::labels(pod)));
        let skew_max = number(constraint, "/maxSkew").unwrap_or(1);
        Some(Self { key: key.to_owned(), skew_max, counts, fewest, own })
    }

    fn admits(&self, view: &NodeView) -> bool {
        let count = view.labels.get(&self.key).and_then(|value| self.counts.get(value));
        count.is_some_and(|count| count + self.own - self.fewest <= self.skew_max)
    }
}

impl Index {
    /// Returns the pods with a node, including new bindings, and their nodes.
    fn placed(&self) -> impl Iterator<Item = (&Name, &PodView, &String)> {
        self.pods.iter().filter(|(_, pod)| !pod.has_ended).filter_map(|(name, pod)| {
            let node = pod.node.as_ref().or_else(|| self.bound.get(name))?;
            Some((name, pod, node))
        })
    }

    /// Returns those of them with required anti-affinity.
    fn placed_apart(&self) -> impl Iterator<Item = (&Name, &PodView, &String)> {
        let pods = self.apart.iter().filter_map(|name| self.pods.get_key_value(name));
        pods.filter(|(_, pod)| !pod.has_ended).filter_map(|(name, pod)| {
            let node = pod.node.as_ref().or_else(|| self.bound.get(name))?;
            Some((name, pod, node))
        })
    }
}
