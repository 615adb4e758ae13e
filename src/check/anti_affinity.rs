//! Required pod anti-affinity in both directions: no placed pod shares a domain with a pod that it repels or that
//! repels it.
//!
//! As in Kubernetes, pods being deleted count while they run, and a node without the label is in no domain. A new node
//! counts in every domain in which its claim may launch it. Two running pods are never reported.

use std::collections::BTreeMap;

use super::case::Case;
use super::crowd::{Crowd, Spot, Topology};
use super::finding::{Finding, Rule};
use crate::model::{LabelKey, Namespace, Pod, PodAffinityTerm, PodKey};
use crate::snapshot::Daemon;

/// Returns the pods that share a domain with pods that they must not be with.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let crowd = &case.crowd;
    let mut found = Vec::new();
    for Repulsion { term, owners, kept_away } in repulsions(case) {
        found.extend(shared(crowd, term, &owners, &kept_away));
        found.extend(unsettled(crowd, term, &owners));
    }
    found
}

/// An anti-affinity term with the groups that have it and the groups that it repels.
struct Repulsion<'a> {
    term: &'a PodAffinityTerm,
    owners: Vec<usize>,
    kept_away: Vec<usize>,
}

/// Returns the topology keys of the anti-affinity terms, each with the groups that the term repels.
pub(super) fn kept_away<'a>(case: &Case<'a>) -> Vec<(&'a LabelKey, Vec<usize>)> {
    repulsions(case).into_iter().map(|it| (&it.term.topology_key, it.kept_away)).collect()
}

/// Returns the terms that repel at least one group, if pods of either side are placed.
fn repulsions<'a>(case: &Case<'a>) -> Vec<Repulsion<'a>> {
    let crowd = &case.crowd;
    let mut all: BTreeMap<(&PodAffinityTerm, &Namespace), Vec<usize>> = BTreeMap::new();
    for (number, group) in crowd.groups.iter().enumerate() {
        for term in &group.spec.anti_affinity {
            all.entry((term, group.namespace)).or_default().push(number);
        }
    }
    let repulsion = |((term, namespace), owners): ((&'a PodAffinityTerm, &'a Namespace), Vec<usize>)| {
        let namespaces = crowd.reach(namespace, term, &case.snapshot.namespaces);
        let kept_away = crowd.selected(term.selector.as_ref(), &namespaces);
        Repulsion { term, owners, kept_away }
    };
    let is_placed = |number: &usize| crowd.groups[*number].is_placed;
    let is_judged = |it: &Repulsion<'_>| {
        let any_placed = it.owners.iter().any(is_placed) || it.kept_away.iter().any(is_placed);
        any_placed && !it.kept_away.is_empty()
    };
    all.into_iter().map(repulsion).filter(is_judged).collect()
}

/// A pod in a domain, or one that a daemonset will put there.
#[derive(Clone, Copy)]
enum Who<'a> {
    Pod(&'a Pod),
    Daemon(&'a Daemon),
}

impl std::fmt::Display for Who<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pod(pod) => write!(formatter, "pod `{}`", pod.key),
            Self::Daemon(daemon) => {
                write!(formatter, "a pod of daemonset `{}/{}`", daemon.namespace, daemon.name)
            }
        }
    }
}

/// Pods in a domain on one side of a term.
#[derive(Default)]
struct Side<'a> {
    placed: BTreeMap<&'a PodKey, &'a Pod>,
    running: Vec<&'a Pod>,
    coming: Vec<&'a Daemon>,
}

impl<'a> Side<'a> {
    fn of(crowd: &Crowd<'a>, groups: &[usize], topology: &Topology) -> BTreeMap<usize, Self> {
        let mut sides: BTreeMap<usize, Self> = BTreeMap::new();
        for (place, present) in groups.iter().flat_map(|number| &crowd.groups[*number].at) {
            for domain in topology.all(*place) {
                let side = sides.entry(domain).or_default();
                side.placed.extend(present.placed.iter().map(|pod| (&pod.key, *pod)));
                side.running.extend(&present.running);
                side.coming.extend(present.coming);
            }
        }
        sides
    }

    fn placed(&self) -> impl Iterator<Item = &'a Pod> + Clone {
        self.placed.values().copied()
    }
}

/// The conflicting pod, and whether the rule is the placed pod's own.
type Other<'a> = (Who<'a>, bool);

/// Returns the placed pods that cannot be in a domain, each with a conflicting pod: all that conflict with pods already
/// there, and as few of the others as possible.
fn clashing<'a>(owners: &Side<'a>, kept_away: &Side<'a>) -> Vec<(&'a Pod, Other<'a>)> {
    let mut clashing: BTreeMap<&PodKey, (&Pod, Other<'_>)> = BTreeMap::new();
    if let Some(other) = kept_away.running.first() {
        clashing.extend(owners.placed().map(|pod| (&pod.key, (pod, (Who::Pod(other), true)))));
    }
    let daemon = owners.coming.first().map(|daemon| Who::Daemon(daemon));
    if let Some(owner) = owners.running.first().map(|pod| Who::Pod(pod)).or(daemon) {
        clashing.extend(kept_away.placed().map(|pod| (&pod.key, (pod, (owner, false)))));
    }
    let is_left = |pod: &&Pod| !clashing.contains_key(&pod.key);
    let has: Vec<&Pod> = owners.placed().filter(is_left).collect();
    let away: Vec<&Pod> = kept_away.placed().filter(is_left).collect();
    let another = |pod: &Pod, of: &[&'a Pod]| of.iter().copied().find(|other| other.key != pod.key);
    let is_own = has.len() <= away.len();
    let (fewer, others) = if is_own { (&has, &away) } else { (&away, &has) };
    let mut found = Vec::new();
    // A pod on both sides may stay if it is alone.
    let all: BTreeMap<&PodKey, &Pod> = has.iter().chain(&away).map(|pod| (&pod.key, *pod)).collect();
    let stays = has.iter().copied().find(|pod| kept_away.placed.contains_key(&pod.key));
    if let Some(stays) = stays.filter(|_| all.len() <= fewer.len()) {
        let goes = all.into_values().filter(|pod| pod.key != stays.key);
        found.extend(goes.map(|pod| (pod, (Who::Pod(stays), owners.placed.contains_key(&pod.key)))));
    } else {
        let pairs = fewer.iter().filter_map(|pod| Some((*pod, (Who::Pod(another(pod, others)?), is_own))));
        found.extend(pairs);
    }
    clashing.into_values().chain(found).collect()
}

fn shared(crowd: &Crowd<'_>, term: &PodAffinityTerm, owners: &[usize], kept_away: &[usize]) -> Vec<Finding> {
    let topology = crowd.topology(&term.topology_key);
    let kept_away = Side::of(crowd, kept_away, topology);
    let mut found = Vec::new();
    for (domain, owners) in Side::of(crowd, owners, topology) {
        let Some(others) = kept_away.get(&domain) else { continue };
        let (title, key) = (topology.title(domain), &term.topology_key);
        for (pod, (other, is_own)) in clashing(&owners, others) {
            let why = match is_own {
                true => {
                    format!("shares {title} with {other}, from which its anti-affinity by `{key}` keeps it")
                }
                false => format!("shares {title} with {other}, whose anti-affinity by `{key}` is against it"),
            };
            found.push(Finding::new(Rule::PodAntiAffinity, format!("pod `{}`", pod.key), why));
        }
    }
    found
}

/// Reports pods on nodes whose domain is unknown: a pod that they repel may be there.
fn unsettled(crowd: &Crowd<'_>, term: &PodAffinityTerm, owners: &[usize]) -> Vec<Finding> {
    let topology = crowd.topology(&term.topology_key);
    let mut found = Vec::new();
    for (place, present) in owners.iter().flat_map(|number| &crowd.groups[*number].at) {
        if topology.spot(*place) != Spot::Open {
            continue;
        }
        let (key, title) = (&term.topology_key, &crowd.places[*place].title);
        for pod in &present.placed {
            let why = format!("keeps others away by `{key}`, and {title} has it not settled");
            found.push(Finding::new(Rule::PodAntiAffinity, format!("pod `{}`", pod.key), why));
        }
    }
    found
}
