//! The pods to schedule, in the order of the queue, and those that Karpenter skips.
//!
//! The order is by requested CPU, then memory, then age and identity; priority is ignored. The input has no ages, so
//! names decide. Never checks whether a pod fits.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::model::{
    LabelKey, Namespace, NodeName, Pod, PodKey, PodPlace, PodSpec, Requirements, ResourceName,
    SchedulingRule, label,
};
use crate::snapshot::Snapshot;
use crate::solve::demand::needs_place;

use super::leaving::Leaving;
use super::volumes::{self, Mount, Volumes};
use super::{Ignored, guard};

/// A pod in the queue.
#[derive(Clone, Debug)]
pub(super) struct Waiting<'a> {
    /// The pod.
    pub(super) pod: &'a Pod,
    /// Index of its content.
    pub(super) class: usize,
    /// Volumes that it attaches, by driver.
    pub(super) mounts: Vec<Mount>,
}

/// Content of pods that differ only in their names and in the volumes that they attach.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Class<'a> {
    /// Their namespace.
    pub(super) namespace: &'a Namespace,
    /// Their spec, as the scheduler reads it.
    pub(super) spec: &'a PodSpec,
    /// Alternative node requirements of their volumes.
    pub(super) volumes: Vec<Requirements>,
    /// Whether they need not move: nodes that wait for `consolidateAfter` do not take them.
    pub(super) is_chosen: bool,
}

/// The pods of a pass.
#[derive(Clone, Debug, Default)]
pub(super) struct Roll<'a> {
    /// Pods to place, in order.
    pub(super) waiting: Vec<Waiting<'a>>,
    /// Their contents, by index.
    pub(super) classes: Vec<Class<'a>>,
    /// Skipped pods.
    pub(super) ignored: Vec<Ignored>,
    /// Pods that must leave their node but that a budget keeps there, permanently as far as it says.
    pub(super) stuck: Vec<&'a PodKey>,
}

impl<'a> Roll<'a> {
    /// Reads the pods that need a node and have none yet. `done` selects those that are already placed or must not be
    /// placed.
    pub(super) fn of(snapshot: &'a Snapshot, going: Leaving<'_>, done: impl Fn(&PodKey) -> bool) -> Self {
        let leaving: BTreeSet<&NodeName> =
            snapshot.nodes.iter().filter(|node| going.has(node)).map(|node| &node.name).collect();
        let mut roll = Self::default();
        let mut numbers: BTreeMap<Class<'a>, usize> = BTreeMap::new();
        for pod in &snapshot.pods {
            if done(&pod.key) || !pod.spec.gates.is_empty() || !needs_place(pod, &leaving) {
                continue;
            }
            let is_chosen = match &pod.place {
                PodPlace::Waiting => false,
                PodPlace::Bound(_) if pod.is_protected(snapshot.at) && !pod.is_terminating => continue,
                PodPlace::Bound(_) if guard::is_stuck(pod, snapshot) => {
                    roll.stuck.push(&pod.key);
                    continue;
                }
                PodPlace::Bound(node) => going.is_chosen(node),
            };
            match read(pod, snapshot) {
                Err(because) => roll.ignored.push(Ignored { pod: pod.key.clone(), because }),
                Ok(Volumes { alternatives, mounts }) => {
                    let (namespace, spec) = (&pod.key.namespace, &*pod.spec);
                    let class = Class { namespace, spec, volumes: alternatives, is_chosen };
                    let classes = &mut roll.classes;
                    let class = *numbers.entry(class).or_insert_with_key(|class| {
                        classes.push(class.clone());
                        classes.len() - 1
                    });
                    roll.waiting.push(Waiting { pod, class, mounts });
                }
            }
        }
        roll.ignored.sort();
        roll.waiting.sort_by_cached_key(|waiting| {
            let requests = &waiting.pod.spec.requests;
            let of = |name| Reverse(requests.get(&name));
            (of(ResourceName::Cpu), of(ResourceName::Memory), waiting.pod.key.clone())
        });
        roll
    }
}

/// Reads the requirements of a pod beyond its content.
///
/// # Errors
/// The reason why it is skipped.
fn read(pod: &Pod, snapshot: &Snapshot) -> Result<Volumes, String> {
    let spec = &pod.spec;
    if spec.other_rules.contains_key(&SchedulingRule::MatchFields) {
        return Err("it uses `matchFields`, which Karpenter does not read".to_owned());
    }
    if spec.other_rules.contains_key(&SchedulingRule::ResourceClaims) {
        return Err("it uses `resourceClaims`, which Karpenter does not plan with by default".to_owned());
    }
    let required = spec.node_affinity.required.iter().flatten();
    let preferred = spec.node_affinity.preferred.iter().map(|preferred| &preferred.term);
    for terms in std::iter::once(&spec.node_selector).chain(required).chain(preferred) {
        if let Some(key) = terms.iter().map(|(key, _)| key).find(|key| is_restricted(key)) {
            return Err(format!("it asks for label `{key}`, which Karpenter does not let pods ask for"));
        }
    }
    let strict = std::iter::once(&spec.node_selector).chain(spec.node_affinity.required.iter().flatten());
    let opts_out = |terms: &Requirements| terms.get(label::NODE_POOL).is_some_and(|pool| pool.is_none());
    if strict.into_iter().any(opts_out) {
        return Err(format!("it excludes Karpenter's nodes: `{}` DoesNotExist", label::NODE_POOL));
    }
    volumes::of(pod, &snapshot.storage)
}

/// Returns whether a pod that asks for this label is skipped.
fn is_restricted(key: &LabelKey) -> bool {
    const DOMAIN: &str = "karpenter.sh";
    const ASKABLE: [&str; 4] =
        [label::NODE_POOL, label::CAPACITY_TYPE, label::REGISTERED, label::INITIALIZED];
    let key = key.as_str();
    let domain = key.split_once('/').map_or("", |(domain, _)| domain);
    let is_own = domain == DOMAIN || domain.strip_suffix(DOMAIN).is_some_and(|rest| rest.ends_with('.'));
    key == label::HOSTNAME || (is_own && !ASKABLE.contains(&key))
}
