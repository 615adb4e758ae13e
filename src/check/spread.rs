//! Required topology spread (`DoNotSchedule`), as kube-scheduler counts it on the final fleet.
//!
//! Each constraint is checked by itself: a finding says that no binding order of the placed pods satisfies it.
//! Constraints that only contradict each other are not detected here (zones and hosts together:
//! [`super::spread_together`]), and running pods are never reported.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::case::Case;
use super::crowd::{Crowd, Group, Place, Spot};
use super::finding::{Finding, Rule};
use super::labels::{Labels, pod_meets};
use super::spread_together;
use super::taints::repels;
use super::tally::{Count, Tally};
use crate::model::{
    LabelKey, LabelSelector, Namespace, Pod, PodSpec, Requirement, Requirements, SpreadConstraint, Strength,
    Taint, Toleration, label,
};
use crate::snapshot::{Snapshot, system_node};

/// A constraint with all properties of its pods that affect its counts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Rules<'a> {
    namespace: &'a Namespace,
    pub(super) constraint: &'a SpreadConstraint,
    /// The selector with its `matchLabelKeys`.
    selector: Option<LabelSelector>,
    /// Whether the selector matches the pods themselves.
    selects_own: bool,
    filter: Filter<'a>,
}

/// Which nodes count.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Filter<'a> {
    /// Labels that all counted nodes have.
    keys: Vec<&'a LabelKey>,
    /// Node selector and required node affinity of the pods, if honored.
    asked: Option<(&'a Requirements, Option<&'a [Requirements]>)>,
    /// Tolerations of the pods, if taints are honored.
    tolerated: Option<&'a [Toleration]>,
}

/// Returns the pods that exceed their constraint's skew in a domain, or are on nodes without a domain.
pub(super) fn findings(case: &Case<'_>) -> Vec<Finding> {
    let (crowd, rules) = (&case.crowd, rules(case));
    let mut found = Vec::new();
    let mut counting: BTreeMap<&Filter<'_>, Vec<bool>> = BTreeMap::new();
    let assumed = case.snapshot.assumes_system_node;
    let assumed = assumed.then(|| Place::of_node(&system_node::node(), system_node::NAME));
    for (rules, groups) in &rules {
        let counts = counting.entry(&rules.filter).or_insert_with(|| {
            crowd.places.iter().map(|place| rules.filter.counts(place, groups, crowd)).collect()
        });
        found.extend(nowhere(crowd, rules, groups));
        let sees = |place: &Place| rules.filter.counts(place, groups, crowd);
        let beside = rules.is_over_hosts() && assumed.as_ref().is_some_and(sees);
        found.extend(crowded(crowd, (rules, groups), (counts, beside)));
    }
    if found.is_empty() {
        found = spread_together::findings(case);
    }
    found
}

/// Returns the constraints of placed pods, each with its groups.
fn rules<'a>(case: &Case<'a>) -> BTreeMap<Rules<'a>, Vec<usize>> {
    let mut rules: BTreeMap<Rules<'_>, Vec<usize>> = BTreeMap::new();
    for (number, group) in case.crowd.groups.iter().enumerate().filter(|(_, group)| group.is_placed) {
        for constraint in required(group.spec) {
            rules.entry(Rules::of(group, constraint)).or_default().push(number);
        }
    }
    rules
}

pub(super) fn required(spec: &PodSpec) -> impl Iterator<Item = &SpreadConstraint> {
    spec.spread.iter().filter(|constraint| constraint.strength == Strength::Required)
}

impl<'a> Rules<'a> {
    pub(super) fn of(group: &Group<'a>, constraint: &'a SpreadConstraint) -> Self {
        let (spec, namespace) = (group.spec, group.namespace);
        let selector = constraint.selector.clone().map(|mut selector| {
            for key in &constraint.match_label_keys {
                if let Some(value) = spec.labels.get(key) {
                    selector.0.add(key.clone(), Requirement::one(value));
                }
            }
            selector
        });
        let selects_own = selector.as_ref().is_some_and(|selector| selector.selects(&spec.labels));
        let filter = Filter::of(spec, constraint);
        Self { namespace, constraint, selector, selects_own, filter }
    }

    /// Returns whether both rules count the same nodes.
    pub(super) fn counts_alike(&self, other: &Self) -> bool {
        self.filter == other.filter
    }

    /// Returns whether a place counts for pods of a group with these rules.
    pub(super) fn sees(&self, place: &Place, group: usize, crowd: &Crowd<'_>) -> bool {
        self.filter.counts(place, &[group], crowd)
    }

    /// Returns whether every node is its own domain.
    fn is_over_hosts(&self) -> bool {
        self.constraint.topology_key.as_str() == label::HOSTNAME
    }

    /// Returns the groups that are counted. A selector that matches everything counts no pods in Kubernetes.
    pub(super) fn counted(&self, crowd: &Crowd<'_>) -> Vec<usize> {
        match &self.selector {
            Some(selector) if !selector.0.is_empty() => {
                crowd.selected(Some(selector), &[self.namespace].into())
            }
            Some(_) | None => Vec::new(),
        }
    }
}

impl<'a> Filter<'a> {
    pub(super) fn of(spec: &'a PodSpec, constraint: &SpreadConstraint) -> Self {
        let mut keys: Vec<&LabelKey> = required(spec).map(|constraint| &constraint.topology_key).collect();
        keys.sort();
        keys.dedup();
        let asked = (&spec.node_selector, spec.node_affinity.required.as_deref());
        Self {
            keys,
            asked: constraint.honors_node_affinity.then_some(asked),
            tolerated: constraint.honors_node_taints.then_some(&*spec.tolerations),
        }
    }

    /// Returns whether a node counts. The groups' specs are equal in all fields that the filter reads.
    fn counts(&self, place: &Place, groups: &[usize], crowd: &Crowd<'_>) -> bool {
        let spec = groups.first().map(|number| crowd.groups[*number].spec);
        place.stays && spec.is_none_or(|spec| self.lets_count(spec, &place.labels, &place.taints))
    }

    /// Returns whether a node with these labels and taints counts for pods of this spec.
    pub(super) fn lets_count(&self, spec: &PodSpec, labels: &Labels, taints: &[Taint]) -> bool {
        let has = |key: &&LabelKey| labels.domain(key) != super::labels::Domain::Absent;
        self.keys.iter().all(has)
            && (self.asked.is_none() || pod_meets(spec, &labels.in_the_end()).is_ok())
            && self.tolerated.is_none_or(|tolerated| !taints.iter().any(|taint| repels(taint, tolerated)))
    }

    /// Returns the node labels that it reads, including the topology keys.
    pub(super) fn read_keys(&self) -> impl Iterator<Item = &'a LabelKey> {
        let of_terms = self.asked.map(|(selector, terms)| {
            let all = std::iter::once(selector).chain(terms.into_iter().flatten());
            all.flat_map(|term| term.iter().map(|(key, _)| key))
        });
        self.keys.clone().into_iter().chain(of_terms.into_iter().flatten())
    }
}

/// A topology key over which pods are spread, and which nodes count.
pub(super) type Counting<'a> = (&'a LabelKey, Filter<'a>);

/// Returns the required spreads of a snapshot's pods that are not being deleted, each with the first such pod.
pub(super) fn counting(snapshot: &Snapshot) -> BTreeMap<Counting<'_>, &Pod> {
    let mut all: BTreeMap<Counting<'_>, &Pod> = BTreeMap::new();
    let mut seen = BTreeSet::new();
    for pod in &snapshot.pods {
        let counts_nobody = pod.is_terminating || pod.is_daemon || pod.key.is_placeholder();
        // Pods of one allocation share a spec.
        if counts_nobody || pod.spec.spread.is_empty() || !seen.insert(Arc::as_ptr(&pod.spec)) {
            continue;
        }
        for constraint in required(&pod.spec) {
            let counting = (&constraint.topology_key, Filter::of(&pod.spec, constraint));
            all.entry(counting).or_insert(pod);
        }
    }
    all
}

/// Reports pods on nodes without the label, or with an unknown value.
fn nowhere(crowd: &Crowd<'_>, rules: &Rules<'_>, groups: &[usize]) -> Vec<Finding> {
    let key = &rules.constraint.topology_key;
    let topology = crowd.topology(key);
    let mut found = Vec::new();
    for (place, present) in groups.iter().flat_map(|number| &crowd.groups[*number].at) {
        let title = &crowd.places[*place].title;
        let why = match topology.spot(*place) {
            Spot::In(_) => continue,
            Spot::Open => format!("must be spread over `{key}`, and {title} has it not settled"),
            Spot::Nowhere => format!("must be spread over `{key}`, and {title} has no such label"),
        };
        for pod in &present.placed {
            found.push(Finding::new(Rule::Spread, format!("pod `{}`", pod.key), why.clone()));
        }
    }
    found
}

/// Reports pods beyond the skew. `beside` says whether the assumed system node counts too, which has none of them.
fn crowded(
    crowd: &Crowd<'_>,
    (rules, groups): (&Rules<'_>, &[usize]),
    (counts, beside): (&[bool], bool),
) -> Vec<Finding> {
    let key = &rules.constraint.topology_key;
    let topology = crowd.topology(key);
    let mut tally = tally(crowd, rules, groups, counts);
    if beside {
        tally.domains.push(Count { is_counted: true, ..Count::default() });
    }
    let title = |domain: usize| match domain < topology.len() {
        true => topology.title(domain),
        false => system_node::NAME,
    };
    let left = tally.clone().bind();
    let least = tally.least(Count::in_the_end);
    let mut found = Vec::new();
    for (domain, left) in left {
        let Some(here) = tally.domains.get(domain) else { continue };
        let measured = match least {
            Some((emptiest, fewest)) if !tally.has_too_few_domains() => {
                let more = here.in_the_end().saturating_sub(fewest);
                format!("{more} more than {}", title(emptiest))
            }
            Some(_) | None => {
                let domains = tally.domains.iter().filter(|count| count.is_counted).count();
                format!("and there are {domains} of {} domains of `{key}`", tally.domains_min)
            }
        };
        let why = format!(
            "{} would have {} of the pods it must be spread with{}, {measured}; maxSkew is {}",
            topology.title(domain),
            here.in_the_end(),
            if tally.selects_own { "" } else { ", which it is not itself" },
            tally.max_skew,
        );
        let placed = placed_in(crowd, groups, |place| topology.domain(place) == Some(domain));
        // It does not matter which pods are reported, only how many.
        for pod in placed.iter().take(left) {
            found.push(Finding::new(Rule::Spread, format!("pod `{}`", pod.key), why.clone()));
        }
    }
    found
}

/// Counts running pods and pods to be bound, by domain.
fn tally(crowd: &Crowd<'_>, rules: &Rules<'_>, groups: &[usize], counts: &[bool]) -> Tally {
    let topology = crowd.topology(&rules.constraint.topology_key);
    let number = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let mut tally = Tally {
        max_skew: number(rules.constraint.max_skew),
        domains_min: number(rules.constraint.min_domains.unwrap_or(1)),
        selects_own: rules.selects_own,
        domains: vec![Count::default(); topology.len()],
    };
    let counts = |place: usize| counts.get(place).copied().unwrap_or(false);
    for domain in
        (0..crowd.places.len()).filter(|place| counts(*place)).filter_map(|place| topology.domain(place))
    {
        tally.domains[domain].is_counted = true;
    }
    let counted = rules.counted(crowd);
    let is_counted = |group: &usize| counted.binary_search(group).is_ok();
    let is_own = |group: &usize| groups.binary_search(group).is_ok();
    let uncounted = groups.iter().filter(|group| !is_counted(group));
    for group in counted.iter().chain(uncounted) {
        for (place, present) in &crowd.groups[*group].at {
            let Some(domain) = topology.domain(*place) else { continue };
            let count = &mut tally.domains[domain];
            let placed = present.placed.len();
            let adds = is_counted(group) && counts(*place);
            if adds {
                count.bound += present.running.iter().filter(|pod| !pod.is_terminating).count();
            }
            match (is_own(group), adds) {
                (true, true) => count.own += placed,
                (true, false) => count.uncounted += placed,
                (false, true) => count.others += placed,
                (false, false) => {}
            }
        }
    }
    tally
}

/// Returns the pods of these groups that the plan places on matching places, by name.
pub(super) fn placed_in<'a>(
    crowd: &Crowd<'a>,
    groups: &[usize],
    is_meant: impl Fn(usize) -> bool,
) -> Vec<&'a Pod> {
    let all = groups.iter().flat_map(|number| &crowd.groups[*number].at);
    let present = all.filter(|(place, _)| is_meant(**place));
    let mut placed: Vec<&Pod> = present.flat_map(|(_, present)| present.placed.iter().copied()).collect();
    placed.sort_by_key(|pod| &pod.key);
    placed
}
