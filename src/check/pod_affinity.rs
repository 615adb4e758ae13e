//! Required pod affinity with kube-scheduler's semantics: a pod counts if it matches all terms of the other, and each
//! term needs such a pod in its own domain.
//!
//! A finding says that no binding order satisfies the affinity of the placed pods. Other rules are ignored, and running
//! pods are never reported.

use std::collections::{BTreeMap, BTreeSet};

use super::case::Case;
use super::crowd::{Crowd, Present};
use super::finding::{Finding, Rule};
use super::labels::pod_meets;
use super::nearness::{Batch, Mark, Seen, left};
use crate::model::{LabelKey, LabelSelector, Namespace, Pod, PodAffinityTerm};

/// Pods with the same terms in the same namespace.
struct Class<'a> {
    terms: &'a [PodAffinityTerm],
    /// Topology keys of the terms.
    keys: Vec<&'a LabelKey>,
    /// Groups that match all terms, sorted.
    met_by: Vec<usize>,
}

/// Returns the pods that are placed away from pods that they require.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let (crowd, (classes, class_of)) = (&case.crowd, classes(case));
    if classes.is_empty() {
        return Vec::new();
    }
    let gathered = Gathered::of(crowd, &classes, &class_of);
    let mut found = gathered.nowhere.clone();
    for number in left(&gathered.batches, &gathered.seen) {
        let batch = &gathered.batches[number];
        let Some(class) = batch.class else { continue };
        let why = lonely(crowd, &classes[class], &batch.needs);
        let pods = gathered.pods[number].iter();
        found.extend(
            pods.map(|pod| Finding::new(Rule::PodAffinity, format!("pod `{}`", pod.key), why.clone())),
        );
    }
    found
}

/// Returns the classes of placed pods, and the class of each group that has one.
fn classes<'a>(case: &Case<'a>) -> (Vec<Class<'a>>, BTreeMap<usize, usize>) {
    let mut numbers: BTreeMap<(&[PodAffinityTerm], &Namespace), usize> = BTreeMap::new();
    let mut classes: Vec<Class<'_>> = Vec::new();
    let mut class_of: BTreeMap<usize, usize> = BTreeMap::new();
    for (number, group) in case.crowd.groups.iter().enumerate() {
        let terms = group.spec.affinity.as_slice();
        if !group.is_placed || terms.is_empty() {
            continue;
        }
        let class = *numbers.entry((terms, group.namespace)).or_insert_with(|| {
            classes.push(Class::of(case, terms, group.namespace));
            classes.len() - 1
        });
        class_of.insert(number, class);
    }
    (classes, class_of)
}

/// Returns the topology keys by which placed pods require others, with the groups that they require.
pub(super) fn needed<'a>(case: &Case<'a>) -> Vec<(&'a LabelKey, Vec<usize>)> {
    let (classes, _) = classes(case);
    let pairs = classes
        .into_iter()
        .flat_map(|Class { keys, met_by, terms: _ }| keys.into_iter().map(move |key| (key, met_by.clone())));
    pairs.collect()
}

impl<'a> Class<'a> {
    fn of(case: &Case<'a>, terms: &'a [PodAffinityTerm], namespace: &'a Namespace) -> Self {
        let met = |term: &PodAffinityTerm| {
            let namespaces = case.crowd.reach(namespace, term, &case.snapshot.namespaces);
            case.crowd.selected(term.selector.as_ref(), &namespaces)
        };
        let mut all = terms.iter().map(met);
        let mut met_by = all.next().unwrap_or_default();
        for others in all {
            met_by.retain(|number| others.binary_search(number).is_ok());
        }
        let mut keys: Vec<&LabelKey> = terms.iter().map(|term| &term.topology_key).collect();
        keys.sort();
        keys.dedup();
        Self { terms, keys, met_by }
    }

    /// Returns the domains of pods on this place.
    fn marks(&self, crowd: &Crowd<'_>, place: usize) -> Vec<Mark> {
        let domains = self.keys.iter().enumerate().filter_map(|(number, key)| {
            let domain = crowd.topology(key).domain(place)?;
            Some((number, domain))
        });
        domains.collect()
    }
}

/// Pods to bind, and the matches before any is bound.
struct Gathered<'a> {
    batches: Vec<Batch>,
    /// The pods of each batch; empty for daemonset pods.
    pods: Vec<Vec<&'a Pod>>,
    seen: Seen,
    /// Pods on nodes without a domain, which cannot be bound there in any order.
    nowhere: Vec<Finding>,
}

impl<'a> Gathered<'a> {
    fn of(crowd: &Crowd<'a>, classes: &[Class<'a>], class_of: &BTreeMap<usize, usize>) -> Self {
        let mut meets: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (number, class) in classes.iter().enumerate() {
            for group in &class.met_by {
                meets.entry(*group).or_default().push(number);
            }
        }
        let involved: BTreeSet<usize> = meets.keys().chain(class_of.keys()).copied().collect();
        let seen = vec![BTreeSet::new(); classes.len()];
        let mut gathered = Self { batches: Vec::new(), pods: Vec::new(), seen, nowhere: Vec::new() };
        for group in involved {
            let meets = meets.get(&group).map_or(&[][..], Vec::as_slice);
            for (place, present) in &crowd.groups[group].at {
                let shows: Vec<(usize, Mark)> = meets
                    .iter()
                    .flat_map(|class| {
                        classes[*class].marks(crowd, *place).into_iter().map(|mark| (*class, mark))
                    })
                    .collect();
                if !present.running.is_empty() {
                    for (class, mark) in &shows {
                        gathered.seen[*class].insert(*mark);
                    }
                }
                if comes(crowd, *place, present) {
                    gathered.batches.push(Batch { shows: shows.clone(), ..Batch::default() });
                    gathered.pods.push(Vec::new());
                }
                let own = class_of.get(&group).copied();
                let can_be_first = own.is_some_and(|own| meets.contains(&own));
                gathered.add(crowd, (own, classes), (*place, present), (shows, can_be_first));
            }
        }
        gathered
    }

    /// Adds the pods that the plan places there.
    fn add(
        &mut self,
        crowd: &Crowd<'a>,
        (own, classes): (Option<usize>, &[Class<'a>]),
        (place, present): (usize, &Present<'a>),
        (shows, can_be_first): (Vec<(usize, Mark)>, bool),
    ) {
        if present.placed.is_empty() {
            return;
        }
        let class = own.map(|own| &classes[own]);
        let needs = class.map_or(Vec::new(), |class| class.marks(crowd, place));
        if let Some(class) = class
            && needs.len() < class.keys.len()
        {
            let missing =
                class.keys.iter().enumerate().find(|(number, _)| !needs.iter().any(|it| it.0 == *number));
            let title = &crowd.places[place].title;
            let why = missing.map_or_else(String::new, |(_, key)| {
                format!(
                    "must be near others by `{key}`, and {title} has no such label, or has it not settled"
                )
            });
            let lost =
                |pod: &&Pod| Finding::new(Rule::PodAffinity, format!("pod `{}`", pod.key), why.clone());
            self.nowhere.extend(present.placed.iter().map(lost));
            return;
        }
        self.batches.push(Batch { class: own, needs, shows, can_be_first });
        self.pods.push(present.placed.clone());
    }
}

/// Returns whether a daemonset is certain to put such a pod there.
fn comes(crowd: &Crowd<'_>, place: usize, present: &Present<'_>) -> bool {
    let labels = &crowd.places[place].labels;
    present.coming.is_some_and(|daemon| !daemon.is_assumed && pod_meets(&daemon.spec, labels).is_ok())
}

fn lonely(crowd: &Crowd<'_>, class: &Class<'_>, needs: &[Mark]) -> String {
    let domains: Vec<&str> =
        needs.iter().map(|(key, domain)| crowd.topology(class.keys[*key]).title(*domain)).collect();
    let terms: Vec<String> = class.terms.iter().map(|term| said(term.selector.as_ref())).collect();
    format!(
        "is placed in {}, and must be near pods with {}: none of them is there or can be before it",
        domains.join(" and "),
        terms.join(" and ")
    )
}

fn said(selector: Option<&LabelSelector>) -> String {
    let Some(selector) = selector else { return "no labels at all".to_owned() };
    let each: Vec<String> = selector.0.iter().map(|(key, wanted)| format!("`{key}` {wanted}")).collect();
    if each.is_empty() { "any labels".to_owned() } else { each.join(" and ") }
}
