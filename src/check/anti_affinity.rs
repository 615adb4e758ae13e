//! Required pod anti-affinity, seen from both sides: no placed pod shares a domain with one that it keeps
//! away, or that keeps it away.
//!
//! As in Kubernetes, what is being deleted counts while it runs, and a node without the label is nobody's
//! domain. Two pods that run already are never objected to.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::crowd::{Crowd, Present, Spot, Topology};
use super::finding::{Finding, Rule};
use crate::model::{LabelKey, Namespace, Pod, PodAffinityTerm};
use crate::snapshot::Daemon;

/// How many pods of a side are looked at in a domain: of two there is always one that is not the pod itself.
const LOOKED_AT: usize = 2;

/// Returns the domains that pods share which must not.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let crowd = &case.crowd;
    let mut found = Vec::new();
    for Repulsion { term, owners, kept_away } in repulsions(case) {
        found.extend(shared(crowd, term, &owners, &kept_away));
        found.extend(unsettled(crowd, term, &owners));
    }
    found
}

/// A term, who has it, and whom it is against: groups.
struct Repulsion<'a> {
    term: &'a PodAffinityTerm,
    owners: Vec<usize>,
    kept_away: Vec<usize>,
}

/// Returns the labels by which somebody keeps groups away, with these.
pub(super) fn kept_away<'a>(case: &Case<'a>) -> Vec<(&'a LabelKey, Vec<usize>)> {
    repulsions(case).into_iter().map(|it| (&it.term.topology_key, it.kept_away)).collect()
}

/// Returns the terms that are against anybody, where pods of a side are placed.
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

/// Somebody who stands in a domain.
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

/// Who stands in a domain on one side of a term.
#[derive(Default)]
struct Side<'a> {
    placed: Vec<&'a Pod>,
    running: Vec<&'a Pod>,
    coming: Vec<&'a Daemon>,
    count: usize,
}

impl<'a> Side<'a> {
    fn add(&mut self, present: &Present<'a>) {
        let room = |there: usize| LOOKED_AT.saturating_sub(there);
        self.placed.extend(present.placed.iter().copied().take(room(self.placed.len())));
        self.running.extend(present.running.iter().copied().take(room(self.running.len())));
        self.coming.extend(present.coming.into_iter().take(room(self.coming.len())));
        self.count += present.placed.len() + present.running.len();
    }

    fn of(crowd: &Crowd<'a>, groups: &[usize], topology: &Topology) -> BTreeMap<usize, Self> {
        let mut sides: BTreeMap<usize, Self> = BTreeMap::new();
        for (place, present) in groups.iter().flat_map(|number| &crowd.groups[*number].at) {
            if let Some(domain) = topology.domain(*place) {
                sides.entry(domain).or_default().add(present);
            }
        }
        sides
    }

    /// Returns a pod that is placed and another that it must not be with, and whether the rule is the placed
    /// one's. `self` has the rule.
    fn clashes(&self, kept_away: &Self) -> Option<(&'a Pod, Who<'a>, bool)> {
        let others = kept_away.placed.iter().chain(&kept_away.running).copied();
        for own in &self.placed {
            if let Some(other) = others.clone().find(|other| !std::ptr::eq(*own, *other)) {
                return Some((own, Who::Pod(other), true));
            }
        }
        let standing = self.running.iter().copied().map(Who::Pod);
        let owner = standing.chain(self.coming.iter().copied().map(Who::Daemon)).next()?;
        kept_away.placed.first().map(|placed| (*placed, owner, false))
    }
}

fn shared(crowd: &Crowd<'_>, term: &PodAffinityTerm, owners: &[usize], kept_away: &[usize]) -> Vec<Finding> {
    let topology = crowd.topology(&term.topology_key);
    let kept_away = Side::of(crowd, kept_away, topology);
    let mut found = Vec::new();
    for (domain, owners) in Side::of(crowd, owners, topology) {
        let Some(others) = kept_away.get(&domain) else { continue };
        let Some((pod, other, is_own)) = owners.clashes(others) else { continue };
        let (title, key) = (topology.title(domain), &term.topology_key);
        let (has, away) = (owners.count, others.count);
        let why = match is_own {
            true => format!(
                "is placed in {title} with {other}, from which its anti-affinity by `{key}` keeps it: {has} with \
                 the rule and {away} that it is against would be there"
            ),
            false => format!(
                "is placed in {title} with {other}, whose anti-affinity by `{key}` is against it: {has} with the \
                 rule and {away} that it is against would be there"
            ),
        };
        found.push(Finding::new(Rule::PodAntiAffinity, format!("pod `{}`", pod.key), why));
    }
    found
}

/// Pods on nodes of which nobody knows the domain: somebody that they keep away may be there.
fn unsettled(crowd: &Crowd<'_>, term: &PodAffinityTerm, owners: &[usize]) -> Vec<Finding> {
    let topology = crowd.topology(&term.topology_key);
    let mut places = BTreeSet::new();
    let mut found = Vec::new();
    for (place, present) in owners.iter().flat_map(|number| &crowd.groups[*number].at) {
        let Some(pod) = present.placed.first() else { continue };
        if topology.spot(*place) == Spot::Open && places.insert(*place) {
            let (key, title) = (&term.topology_key, &crowd.places[*place].title);
            let why = format!("keeps others away by `{key}`, and {title} has it not settled");
            found.push(Finding::new(Rule::PodAntiAffinity, format!("pod `{}`", pod.key), why));
        }
    }
    found
}
