//! Kubernetes' rules for one pod and one node, as its scheduler asks them at the moment when it binds the pod.

use std::collections::BTreeMap;
use std::sync::Arc;

use nodeform::model::storage::{PodVolume, VolumeClaimKey};
use nodeform::model::taint::first_untolerated;
use nodeform::model::{
    Effect, LabelKey, LabelSelector, Node, NodeName, Pod, PodAffinityTerm, PodSpec, Requirement,
    Requirements, Resources, SpreadConstraint, Strength, Taint, label,
};
use nodeform::snapshot::Snapshot;

/// A cluster while pods are bound.
pub(crate) struct Cluster<'a> {
    snapshot: &'a Snapshot,
    pub(crate) nodes: Vec<Place<'a>>,
}

/// A node, and who is on it.
pub(crate) struct Place<'a> {
    pub(crate) node: &'a Node,
    labels: Requirements,
    taints: Vec<Taint>,
    pub(crate) used: Resources,
    pub(crate) pods: Vec<&'a Pod>,
}

impl<'a> Cluster<'a> {
    /// Returns the nodes of a world without pods.
    pub(crate) fn of(snapshot: &'a Snapshot) -> Self {
        let place = |node: &'a Node| {
            let mut labels =
                Requirements::of_labels(node.labels.iter().map(|(key, value)| (key.as_str(), &**value)));
            if !node.labels.contains_key(label::HOSTNAME) {
                labels.add(LabelKey::new(label::HOSTNAME), Requirement::one(node.name.as_str()));
            }
            let cordon = Taint::new("node.kubernetes.io/unschedulable", "", Effect::NoSchedule);
            let cordon = node.is_unschedulable.then_some(cordon);
            let taints = node.taints.iter().cloned().chain(cordon).collect();
            Place { node, labels, taints, used: Resources::default(), pods: Vec::new() }
        };
        Self { snapshot, nodes: snapshot.nodes.iter().map(place).collect() }
    }

    /// Puts a pod on a node, whatever the rules say; nothing where there is no such node.
    pub(crate) fn bind(&mut self, pod: &'a Pod, node: &NodeName) {
        if let Some(place) = self.nodes.iter_mut().find(|place| place.node.name == *node) {
            place.used.add(&pod.spec.requests);
            place.pods.push(pod);
        }
    }

    /// Takes a pod off a node again.
    pub(crate) fn unbind(&mut self, pod: &Pod, node: &NodeName) {
        if let Some(place) = self.nodes.iter_mut().find(|place| place.node.name == *node) {
            place.pods.retain(|other| other.key != pod.key);
            place.used = place.used.minus(&pod.spec.requests);
        }
    }

    /// Returns whether the scheduler would let the pod go to this node now.
    pub(crate) fn takes(&self, pod: &Pod, place: &Place<'_>) -> bool {
        let ports = || place.pods.iter().flat_map(|other| &other.spec.host_ports);
        tolerates(&pod.spec, place)
            && selects(&pod.spec, place)
            && pod.spec.host_ports.iter().all(|port| !ports().any(|taken| taken.conflicts_with(port)))
            && pod.spec.requests.fit_in(&place.node.allocatable.minus(&place.used))
            && self.has_volumes(pod, place)
            && self.is_spread(pod, place)
            && self.keeps_apart(pod, place)
            && self.is_beside(pod, place)
    }

    fn has_volumes(&self, pod: &Pod, place: &Place<'_>) -> bool {
        pod.spec.volumes.iter().all(|volume| self.has_volume(pod, volume, place))
    }

    fn has_volume(&self, pod: &Pod, volume: &PodVolume, place: &Place<'_>) -> bool {
        let storage = &self.snapshot.storage;
        let Some(name) = volume.claim_of(&pod.key.name) else { return true };
        let claim = storage.claim(&VolumeClaimKey { namespace: pod.key.namespace.clone(), name });
        let bound = claim.and_then(|claim| claim.volume.as_deref()).and_then(|name| storage.volume(name));
        let class = match (claim, volume) {
            (Some(claim), _) => storage.class(&claim.class),
            (None, PodVolume::Ephemeral(own) | PodVolume::Template(own)) => storage.class(&own.class),
            (None, PodVolume::Claim(_) | PodVolume::Disk(_)) => None,
        };
        let wanted = match bound {
            Some(volume) => volume.node_affinity.as_ref(),
            None => class.and_then(|class| class.topologies.as_ref()),
        };
        wanted.is_none_or(|terms| terms.iter().any(|term| meets(term, &place.labels)))
    }

    fn is_spread(&self, pod: &Pod, place: &Place<'_>) -> bool {
        let required = || pod.spec.spread.iter().filter(|one| one.strength == Strength::Required);
        required().all(|constraint| {
            let keys = required().map(|one| &one.topology_key);
            self.holds(constraint, pod, (place, &keys.collect::<Vec<_>>()))
        })
    }

    fn holds(
        &self,
        constraint: &SpreadConstraint,
        pod: &Pod,
        (place, keys): (&Place<'_>, &[&LabelKey]),
    ) -> bool {
        let Some(own) = domain(place, &constraint.topology_key) else { return false };
        let selector = spread_selector(constraint, &pod.spec);
        let mut counts: BTreeMap<String, u32> = BTreeMap::new();
        for other in &self.nodes {
            let counts_here = keys.iter().all(|key| domain(other, key).is_some())
                && (!constraint.honors_node_affinity || selects(&pod.spec, other))
                && (!constraint.honors_node_taints || tolerates(&pod.spec, other));
            let Some(domain) = domain(other, &constraint.topology_key).filter(|_| counts_here) else {
                continue;
            };
            let counted = other.pods.iter().filter(|there| {
                there.key.namespace == pod.key.namespace
                    && !there.is_terminating
                    && selector.as_ref().is_some_and(|selector| selector.selects(&there.spec.labels))
            });
            *counts.entry(domain).or_default() += u32::try_from(counted.count()).expect("few pods");
        }
        let has_too_few = constraint.min_domains.is_some_and(|least| counts.len() < least as usize);
        let fewest = if has_too_few { 0 } else { counts.values().copied().min().unwrap_or(0) };
        let itself = u32::from(selector.is_some_and(|selector| selector.selects(&pod.spec.labels)));
        counts.get(&own).copied().unwrap_or(0) + itself <= fewest + constraint.max_skew
    }

    /// Nobody in the domain refuses the pod, and it refuses nobody there.
    fn keeps_apart(&self, pod: &Pod, place: &Place<'_>) -> bool {
        let is_same = |key: &LabelKey, other: &Place<'_>| {
            domain(place, key).is_some_and(|own| domain(other, key) == Some(own))
        };
        self.nodes.iter().all(|other| {
            other.pods.iter().all(|there| {
                let refuses = |one: &Pod, term: &PodAffinityTerm, two: &Pod| {
                    is_same(&term.topology_key, other) && self.means(one, term, two)
                };
                !pod.spec.anti_affinity.iter().any(|term| refuses(pod, term, there))
                    && !there.spec.anti_affinity.iter().any(|term| refuses(there, term, pod))
            })
        })
    }

    /// Somebody that the pod has to be with is in the domain, or it is the first of its own.
    fn is_beside(&self, pod: &Pod, place: &Place<'_>) -> bool {
        let terms = &pod.spec.affinity;
        let meant = |other: &Pod| terms.iter().all(|term| self.means(pod, term, other));
        if !terms.iter().all(|term| domain(place, &term.topology_key).is_some()) {
            return false;
        }
        let is_there = terms.iter().all(|term| {
            let own = domain(place, &term.topology_key);
            let same = self.nodes.iter().filter(|other| domain(other, &term.topology_key) == own);
            same.flat_map(|other| &other.pods).any(|other| meant(other))
        });
        // Kubernetes counts pods by the values of these labels, so that it does not see them on nodes without any.
        let is_somewhere =
            |other: &&Place<'_>| terms.iter().any(|term| domain(other, &term.topology_key).is_some());
        let mut seen = self.nodes.iter().filter(is_somewhere).flat_map(|other| &other.pods);
        let mut nobody = || !seen.any(|other| meant(other));
        is_there || (meant(pod) && nobody())
    }

    /// Returns whether a term of a pod means another pod.
    fn means(&self, pod: &Pod, term: &PodAffinityTerm, other: &Pod) -> bool {
        let namespace = &other.key.namespace;
        let is_own = term.namespaces.is_empty() && term.namespace_selector.is_none();
        let is_selected = term.namespace_selector.as_ref().is_some_and(|selector| {
            let mut labels = self.snapshot.namespaces.get(namespace).cloned().unwrap_or_default();
            labels.insert(LabelKey::new("kubernetes.io/metadata.name"), Arc::from(namespace.as_str()));
            selector.selects(&labels)
        });
        let is_named = term.namespaces.contains(namespace) || (is_own && pod.key.namespace == *namespace);
        (is_named || is_selected)
            && term.selector.as_ref().is_some_and(|selector| selector.selects(&other.spec.labels))
    }
}

fn spread_selector(constraint: &SpreadConstraint, spec: &PodSpec) -> Option<LabelSelector> {
    let mut selector = constraint.selector.clone()?;
    for key in &constraint.match_label_keys {
        if let Some(value) = spec.labels.get(key) {
            selector.0.add(key.clone(), Requirement::one(value));
        }
    }
    Some(selector)
}

fn tolerates(spec: &PodSpec, place: &Place<'_>) -> bool {
    first_untolerated(&place.taints, &spec.tolerations).is_none()
}

fn selects(spec: &PodSpec, place: &Place<'_>) -> bool {
    let terms = spec.node_affinity.required.as_ref();
    meets(&spec.node_selector, &place.labels)
        && terms.is_none_or(|terms| terms.iter().any(|term| meets(term, &place.labels)))
}

fn meets(wanted: &Requirements, labels: &Requirements) -> bool {
    wanted.satisfied_by(labels, |_| false).is_ok()
}

fn domain(place: &Place<'_>, key: &LabelKey) -> Option<String> {
    let named = place.node.labels.get(key).map(ToString::to_string);
    named.or_else(|| (key.as_str() == label::HOSTNAME).then(|| place.node.name.as_str().to_owned()))
}
