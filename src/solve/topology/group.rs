//! Topology groups: a rule between pods, the label whose values are its domains, and the pods that it counts.
//!
//! Equal rules of different pods form one group, so a workload with a thousand replicas has one. Never knows where pods
//! are.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::storage::{BindingMode, PodVolume, Storage, VolumeClaimKey};
use crate::model::{
    LabelKey, LabelSelector, Namespace, NamespaceLabels, Pod, PodAffinityTerm, PodSpec, Requirement,
    Requirements, SpreadConstraint, Stance, Strength, label,
};
use crate::solve::demand;
use crate::solve::fit::claims;

/// The label that every namespace has, even if it was not read.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// A rule between pods.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Group {
    /// The label whose values are the domains.
    pub key: LabelKey,
    /// The rule.
    pub kind: GroupKind,
    /// Selectors of the counted pods, all of which must match: Kubernetes checks all affinity terms of a pod together,
    /// so one pod has to match them all.
    pub meant: Vec<Meant>,
}

/// The kind of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupKind {
    /// `topologySpreadConstraints`.
    Spread(Spread),
    /// `podAffinity`: beside a matching pod.
    Affinity,
    /// `podAntiAffinity`: not beside a matching pod.
    AntiAffinity,
    /// A claim without a volume that several pods use: the first of them decides its location.
    Volume(VolumeClaimKey),
}

/// A topology spread constraint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spread {
    /// Maximum lead of the fullest domain over the emptiest.
    pub max_skew: usize,
    /// With fewer domains than this, the minimum counts as zero.
    pub min_domains: Option<usize>,
    /// The node terms that a node must meet to count; `None` if the pod's node affinity is ignored.
    pub alternatives: Option<Vec<Requirements>>,
    /// The pod's tolerations, which decide whether a node counts; `None` if taints are ignored.
    pub tolerations: Option<Stance>,
    /// The labels that a node must have to count: the topology keys of all required constraints of the pod.
    pub keys: BTreeSet<LabelKey>,
}

/// A selection of pods by label and namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Meant {
    /// Their labels; `None` matches no pod.
    pub selector: Option<LabelSelector>,
    /// Their namespaces, by name.
    pub namespaces: BTreeSet<Namespace>,
}

impl Meant {
    /// Returns whether a pod with this spec in this namespace matches.
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

    /// Returns whether a pod with this spec in this namespace is counted.
    #[must_use]
    pub fn means(&self, spec: &PodSpec, namespace: &Namespace) -> bool {
        if let GroupKind::Volume(VolumeClaimKey { namespace: own, name }) = &self.kind {
            return own == namespace && spec.volumes.contains(&PodVolume::Claim(name.clone()));
        }
        !self.meant.is_empty() && self.meant.iter().all(|meant| meant.means(spec, namespace))
    }
}

/// Namespaces and their labels, as namespace selectors read them.
#[derive(Clone, Debug)]
pub struct Namespaces<'a> {
    /// All namespaces with pods.
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

/// Returns the claims without a volume that several of these pods use, and whose volume is created where the first of
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

/// Returns the groups of claims that pods with this spec share with others.
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

/// Returns the groups that constrain pods with this spec. Running pods are constrained only by anti-affinity.
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
    // Kubernetes counts no pods for an empty selector.
    selector = selector.filter(|selector| !selector.0.is_empty());
    let kind = Spread {
        max_skew: count(constraint.max_skew),
        min_domains: constraint.min_domains.map(count),
        alternatives: constraint.honors_node_affinity.then(|| demand::alternatives(spec)),
        tolerations: constraint.honors_node_taints.then(|| Stance {
            tolerations: spec.tolerations.clone(),
            // `PreferNoSchedule` taints do not affect counting.
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
