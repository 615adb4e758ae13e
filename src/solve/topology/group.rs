//! Topology groups: a rule between pods, the label whose values are its domains, and the pods that are meant.
//!
//! Equal rules of different pods are one group, so that a workload with a thousand replicas has one. What stands
//! where is not known here.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::storage::{BindingMode, PodVolume, Storage, VolumeClaimKey};
use crate::model::{
    LabelKey, LabelSelector, Namespace, NamespaceLabels, Pod, PodAffinityTerm, PodSpec, Requirement,
    Requirements, SpreadConstraint, Stance, Strength, label,
};
use crate::solve::demand;
use crate::solve::fit::claims;

/// The label that every namespace has, whether or not it was read.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// A rule between pods.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// The label whose values are the domains.
    pub key: LabelKey,
    /// What must hold.
    pub kind: GroupKind,
    /// The pods that are counted: each of these must mean a pod. Kubernetes asks all affinity terms of a pod
    /// together, so that one pod has to meet them all.
    pub meant: Vec<Meant>,
}

/// What a group asks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupKind {
    /// `topologySpreadConstraints`.
    Spread(Spread),
    /// `podAffinity`: beside a pod that is meant.
    Affinity,
    /// `podAntiAffinity`: not beside one.
    AntiAffinity,
    /// A claim without a volume that several pods use: the first of them decides where it is.
    Volume(VolumeClaimKey),
}

/// How pods are to be spread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spread {
    /// How far the fullest domain may be ahead of the emptiest.
    pub max_skew: usize,
    /// With fewer domains, the emptiest counts as empty.
    pub min_domains: Option<usize>,
    /// What a node's labels must be to count; `None` where the pod's own affinity is not asked.
    pub alternatives: Option<Vec<Requirements>>,
    /// How the pod stands to a node's taints; `None` where taints are not asked.
    pub tolerations: Option<Stance>,
    /// The labels that a node must have to count: those of all the pod's required constraints.
    pub keys: BTreeSet<LabelKey>,
}

/// Pods, by label and namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meant {
    /// Their labels; `None` means no pod.
    pub selector: Option<LabelSelector>,
    /// Their namespaces, by name.
    pub namespaces: BTreeSet<Namespace>,
}

impl Meant {
    /// Returns whether a pod of this content in this namespace is meant.
    #[must_use]
    pub fn means(&self, spec: &PodSpec, namespace: &Namespace) -> bool {
        self.namespaces.contains(namespace)
            && self.selector.as_ref().is_some_and(|selector| selector.selects(&spec.labels))
    }
}

impl Group {
    /// Returns whether every node is a domain of its own.
    #[must_use]
    pub fn is_of_hosts(&self) -> bool {
        self.key.as_str() == label::HOSTNAME
    }

    /// Returns whether a pod of this content is counted.
    #[must_use]
    pub fn means(&self, spec: &PodSpec, namespace: &Namespace) -> bool {
        if let GroupKind::Volume(VolumeClaimKey { namespace: own, name }) = &self.kind {
            return own == namespace && spec.volumes.contains(&PodVolume::Claim(name.clone()));
        }
        !self.meant.is_empty() && self.meant.iter().all(|meant| meant.means(spec, namespace))
    }
}

/// Namespaces and their labels, as selectors of namespaces read them.
#[derive(Clone, Debug)]
pub struct Namespaces<'a> {
    /// Every namespace that pods are in.
    pub names: BTreeSet<&'a Namespace>,
    /// The labels of those that were read.
    pub labels: &'a NamespaceLabels,
}

impl Namespaces<'_> {
    fn selected(&self, selector: &LabelSelector) -> BTreeSet<Namespace> {
        let is_selected = |namespace: &&&Namespace| {
            let mut labels = self.labels.get(**namespace).cloned().unwrap_or_default();
            labels.insert(LabelKey::new(NAMESPACE_NAME), namespace.as_str().into());
            selector.selects(&labels)
        };
        self.names.iter().filter(is_selected).map(|namespace| (*namespace).clone()).collect()
    }
}

/// Returns the claims without a volume that several of these pods use and whose volume is made where the first of
/// them runs.
#[must_use]
pub fn shared_claims<'p>(pods: impl Iterator<Item = &'p Pod>, storage: &Storage) -> BTreeSet<VolumeClaimKey> {
    let mut users: BTreeMap<VolumeClaimKey, usize> = BTreeMap::new();
    for pod in pods {
        for volume in &pod.spec.volumes {
            if let PodVolume::Claim(name) = volume {
                let key = VolumeClaimKey { namespace: pod.key.namespace.clone(), name: name.clone() };
                *users.entry(key).or_default() += 1;
            }
        }
    }
    let is_open = |key: &VolumeClaimKey| {
        let claim = storage.claim(key).filter(|claim| claim.volume.is_none());
        let class = claim.and_then(|claim| storage.class(&claim.class));
        class.is_some_and(|class| {
            class.binding == BindingMode::WaitForFirstConsumer && !claims::is_reached_everywhere(class)
        })
    };
    users.into_iter().filter(|(key, users)| *users > 1 && is_open(key)).map(|(key, _)| key).collect()
}

/// Returns the groups of claims that pods of this content share with others.
pub fn of_claims<'s>(
    spec: &'s PodSpec,
    namespace: &'s Namespace,
    shared: &'s BTreeSet<VolumeClaimKey>,
) -> impl Iterator<Item = Group> + 's {
    let own = shared.iter().filter(move |key| {
        key.namespace == *namespace && spec.volumes.contains(&PodVolume::Claim(key.name.clone()))
    });
    own.map(|key| Group {
        key: LabelKey::new(label::ZONE),
        kind: GroupKind::Volume(key.clone()),
        meant: Vec::new(),
    })
}

/// Returns the groups that pods of this content are bound by. Of what runs only anti-affinity still binds.
#[must_use]
pub fn groups_of(
    spec: &PodSpec,
    namespace: &Namespace,
    namespaces: &Namespaces<'_>,
    runs: bool,
) -> Vec<Group> {
    let meant = |term: &PodAffinityTerm| meant(term, namespace, namespaces);
    let apart = spec.anti_affinity.iter().map(|term| Group {
        key: term.topology_key.clone(),
        kind: GroupKind::AntiAffinity,
        meant: vec![meant(term)],
    });
    let mut groups: Vec<Group> = apart.collect();
    if runs {
        return groups;
    }
    let mut all: Vec<Meant> = spec.affinity.iter().map(meant).collect();
    all.sort();
    all.dedup();
    groups.extend(spec.affinity.iter().map(|term| Group {
        key: term.topology_key.clone(),
        kind: GroupKind::Affinity,
        meant: all.clone(),
    }));
    let required = || spec.spread.iter().filter(|constraint| constraint.strength == Strength::Required);
    let keys: BTreeSet<LabelKey> = required().map(|constraint| constraint.topology_key.clone()).collect();
    groups.extend(required().map(|constraint| spread(constraint, (spec, namespace), &keys)));
    groups
}

pub(in crate::solve) fn spread(
    constraint: &SpreadConstraint,
    (spec, namespace): (&PodSpec, &Namespace),
    keys: &BTreeSet<LabelKey>,
) -> Group {
    let mut selector = constraint.selector.clone();
    if let Some(selector) = &mut selector {
        for key in &constraint.match_label_keys {
            if let Some(value) = spec.labels.get(key) {
                selector.0.add(key.clone(), Requirement::one(value));
            }
        }
    }
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    // Kubernetes counts nobody by a selector that asks for nothing.
    selector = selector.filter(|selector| !selector.0.is_empty());
    let kind = Spread {
        max_skew: count(constraint.max_skew),
        min_domains: constraint.min_domains.map(count),
        alternatives: constraint.honors_node_affinity.then(|| demand::alternatives(spec)),
        tolerations: constraint.honors_node_taints.then(|| Stance {
            tolerations: spec.tolerations.clone(),
            // Where pods are counted, taints that only discourage are none.
            refuses_soft: false,
        }),
        keys: keys.clone(),
    };
    Group {
        key: constraint.topology_key.clone(),
        kind: GroupKind::Spread(kind),
        meant: vec![Meant { selector, namespaces: BTreeSet::from([namespace.clone()]) }],
    }
}

pub(in crate::solve) fn meant(term: &PodAffinityTerm, own: &Namespace, namespaces: &Namespaces<'_>) -> Meant {
    let mut meant = term.namespaces.clone();
    match &term.namespace_selector {
        Some(selector) => meant.extend(namespaces.selected(selector)),
        None if meant.is_empty() => {
            meant.insert(own.clone());
        }
        None => {}
    }
    Meant { selector: term.selector.clone(), namespaces: meant }
}
