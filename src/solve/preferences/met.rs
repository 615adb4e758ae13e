//! Preferences of running pods that are met on their current nodes.
//!
//! Counts pods by domain once per rule, not pod against pod. Never decides anything.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{
    Form, LabelKey, Namespace, Node, NodeName, Pod, PodPlace, PodSpec, Preference, Requirements, SoftTaints,
    Stance, label,
};
use crate::snapshot::Snapshot;
use crate::solve::fit::{Undefined, labels, taints};
use crate::solve::topology::Index;
use crate::solve::topology::group::{self, Group, GroupKind, Namespaces, Spread};

use super::firm::Taken;

/// Locations of the pods that preferences refer to.
pub(super) struct Met<'a> {
    nodes: BTreeMap<&'a NodeName, Standing<'a>>,
    /// The rule between pods that a preference of a spec and namespace amounts to, if it is one.
    rules: BTreeMap<(usize, &'a Namespace, Preference), usize>,
    groups: Vec<Group>,
    /// For each rule, the number of counted pods in each domain.
    counts: Vec<BTreeMap<Arc<str>, usize>>,
    /// For each rule that spreads pods, the pod count of the emptiest domain.
    least: Vec<usize>,
}

struct Standing<'a> {
    node: &'a Node,
    labels: Requirements,
}

impl Standing<'_> {
    /// Returns the node's domain of a label.
    fn domain(&self, key: &LabelKey) -> Option<Arc<str>> {
        let name = || (key.as_str() == label::HOSTNAME).then(|| Arc::from(self.node.name.as_str()));
        self.node.labels.get(key).cloned().or_else(name)
    }
}

impl<'a> Met<'a> {
    /// Counts pods for the preferences of these running pods.
    pub(super) fn of(snapshot: &'a Snapshot, running: &[&'a Pod], taints: &SoftTaints) -> Self {
        let standing = |node: &'a Node| {
            let labels = node.labels.iter().map(|(key, value)| (key.as_str(), &**value));
            (&node.name, Standing { node, labels: Requirements::of_labels(labels) })
        };
        let mut met = Self {
            nodes: if running.is_empty() {
                BTreeMap::new()
            } else {
                snapshot.nodes.iter().map(standing).collect()
            },
            rules: BTreeMap::new(),
            groups: Vec::new(),
            counts: Vec::new(),
            least: Vec::new(),
        };
        if !running.is_empty() {
            met.read(snapshot, running, taints);
            met.count(snapshot);
            met.least = (0..met.groups.len()).map(|rule| met.emptiest(rule)).collect();
        }
        met
    }

    /// Finds the rules between pods that the pods' preferences amount to.
    fn read(&mut self, snapshot: &'a Snapshot, running: &[&'a Pod], taints: &SoftTaints) {
        let names = snapshot.pods.iter().map(|pod| &pod.key.namespace).chain(snapshot.namespaces.keys());
        let namespaces = Namespaces { names: names.collect(), labels: &snapshot.namespaces };
        let mut owners: BTreeMap<Group, Vec<(usize, &Namespace, Preference)>> = BTreeMap::new();
        let mut seen: BTreeSet<(usize, &Namespace)> = BTreeSet::new();
        for pod in running {
            let (address, namespace) = (address(&pod.spec), &pod.key.namespace);
            if !seen.insert((address, namespace)) {
                continue;
            }
            for (preference, _) in pod.spec.preferences(taints) {
                if let Some(group) = rule(&pod.spec, namespace, preference, &namespaces) {
                    owners.entry(group).or_default().push((address, namespace, preference));
                }
            }
        }
        for (group, owners) in owners {
            let number = self.groups.len();
            self.rules.extend(owners.into_iter().map(|owner| (owner, number)));
            self.groups.push(group);
        }
    }

    fn count(&mut self, snapshot: &Snapshot) {
        self.counts = vec![BTreeMap::new(); self.groups.len()];
        let index = Index::of(&self.groups);
        let mut meant: BTreeMap<(usize, &Namespace), Vec<usize>> = BTreeMap::new();
        for pod in &snapshot.pods {
            let PodPlace::Bound(node) = &pod.place else { continue };
            let Some(standing) = self.nodes.get(node) else { continue };
            let rules = meant.entry((address(&pod.spec), &pod.key.namespace)).or_insert_with(|| {
                let may = index.candidates(&pod.spec).into_iter();
                may.filter(|rule| self.groups[*rule].means(&pod.spec, &pod.key.namespace)).collect()
            });
            for rule in rules.iter() {
                let group = &self.groups[*rule];
                let is_passed_over = pod.is_terminating && matches!(group.kind, GroupKind::Spread(_));
                if let Some(domain) = standing.domain(&group.key).filter(|_| !is_passed_over) {
                    *self.counts[*rule].entry(domain).or_default() += 1;
                }
            }
        }
    }

    /// Returns the pod count of a rule's emptiest domain.
    fn emptiest(&self, rule: usize) -> usize {
        let group = &self.groups[rule];
        let domains: BTreeSet<Arc<str>> = self
            .nodes
            .values()
            .filter(|standing| counts(&group.kind, standing))
            .filter_map(|standing| standing.domain(&group.key))
            .collect();
        let is_short = match &group.kind {
            GroupKind::Spread(Spread { min_domains: Some(least), .. }) => domains.len() < *least,
            GroupKind::Spread(_) | GroupKind::Affinity | GroupKind::AntiAffinity | GroupKind::Volume(_) => {
                false
            }
        };
        let counts = domains.iter().map(|domain| self.counts[rule].get(domain).copied().unwrap_or(0));
        if is_short { 0 } else { counts.min().unwrap_or(0) }
    }

    /// Returns the preferences that are met for a running pod, each in the strongest form that is met.
    pub(super) fn forms(&self, pod: &Pod, taints: &SoftTaints) -> Vec<Taken> {
        let PodPlace::Bound(node) = &pod.place else { return Vec::new() };
        let Some(standing) = self.nodes.get(node) else { return Vec::new() };
        let preferences = pod.spec.preferences(taints).into_iter();
        preferences.filter_map(|(it, _)| Some((it, self.form(pod, standing, it)?))).collect()
    }

    fn form(&self, pod: &Pod, standing: &Standing<'_>, preference: Preference) -> Option<Form> {
        if let Preference::NodeAffinity(place) = preference {
            let wanted = &pod.spec.node_affinity.preferred.get(place)?.term;
            let holds = labels::holds(wanted, &standing.labels, &Undefined::Absent);
            return holds.is_ok().then_some(Form::Whole);
        }
        if preference == Preference::SoftTaints {
            let stance = Stance { refuses_soft: true, ..pod.spec.stance() };
            return taints::are_stood(&standing.node.taints, &stance).then_some(Form::Whole);
        }
        let rule = *self.rules.get(&(address(&pod.spec), &pod.key.namespace, preference))?;
        let group = &self.groups[rule];
        let own = usize::from(group.means(&pod.spec, &pod.key.namespace));
        let Some(domain) = standing.domain(&group.key) else {
            return matches!(group.kind, GroupKind::AntiAffinity).then_some(Form::Whole);
        };
        let here = self.counts[rule].get(&domain).copied().unwrap_or(0);
        let ahead = here.saturating_sub(self.least[rule]);
        match &group.kind {
            GroupKind::Spread(spread) => (ahead <= spread.max_skew).then_some(Form::Whole),
            GroupKind::Affinity => {
                let all: usize = self.counts[rule].values().sum();
                (here > own || (own == 1 && all == 1)).then_some(Form::Whole)
            }
            GroupKind::AntiAffinity if here <= own => Some(Form::Whole),
            GroupKind::AntiAffinity => {
                let is_even = ahead <= 1 && pod.spec.apart_from_its_like(preference).is_some();
                is_even.then_some(Form::Evenly)
            }
            GroupKind::Volume(_) => None,
        }
    }
}

fn address(spec: &PodSpec) -> usize {
    (&raw const *spec).addr()
}

/// Returns the rule between pods that a preference amounts to.
fn rule(
    spec: &PodSpec,
    namespace: &Namespace,
    preference: Preference,
    namespaces: &Namespaces<'_>,
) -> Option<Group> {
    let (kind, term) = match preference {
        Preference::NodeAffinity(_) | Preference::SoftTaints => return None,
        Preference::Spread(place) => {
            let constraint = spec.spread.get(place)?;
            let keys = BTreeSet::from([constraint.topology_key.clone()]);
            return Some(group::spread(constraint, (spec, namespace), &keys));
        }
        Preference::PodAffinity(place) => (GroupKind::Affinity, &spec.preferred_affinity.get(place)?.term),
        Preference::PodAntiAffinity(place) => {
            (GroupKind::AntiAffinity, &spec.preferred_anti_affinity.get(place)?.term)
        }
    };
    let meant = vec![group::meant(term, namespace, namespaces)];
    Some(Group { key: term.topology_key.clone(), kind, meant })
}

/// Returns whether a rule counts a node as a domain for its pods.
fn counts(kind: &GroupKind, standing: &Standing<'_>) -> bool {
    let GroupKind::Spread(spread) = kind else { return !standing.node.is_deleting };
    let holds = |terms: &Vec<Requirements>| labels::why(terms, &standing.labels, &Undefined::Absent).is_ok();
    let stands = |stance| taints::are_stood(&standing.node.taints, stance);
    !standing.node.is_deleting
        && spread.alternatives.as_ref().is_none_or(holds)
        && spread.tolerations.as_ref().is_none_or(stands)
}
