//! Final placement: pods with identical specs, counted by node, and nodes by domain.
//!
//! The rules between pods read this. Nothing is checked here, and pods are never compared pairwise: selectors match
//! groups of pods with the same spec and namespace.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::case::{Case, taints_of};
use super::labels::{Domain, Labels};
use crate::model::{
    LabelKey, LabelSelector, Namespace, NamespaceLabels, Node, NodeName, Pod, PodAffinityTerm, PodKey,
    PodSpec, Strength, Taint, label,
};
use crate::snapshot::Daemon;

/// The label with its name that every namespace has.
const NAME_OF_NAMESPACE: &str = "kubernetes.io/metadata.name";

/// All pods by group and node.
#[derive(Default)]
pub(super) struct Crowd<'a> {
    /// The nodes of the final fleet, and nodes being deleted that still carry pods.
    pub(super) places: Vec<Place>,
    /// Groups of identical pods.
    pub(super) groups: Vec<Group<'a>>,
    /// The namespaces of all groups.
    namespaces: BTreeSet<&'a Namespace>,
    /// The domains of all places, for every topology key of a required rule.
    topologies: BTreeMap<&'a LabelKey, Topology>,
    /// The groups that have a label, by key and value.
    by_label: BTreeMap<(&'a LabelKey, &'a str), Vec<usize>>,
}

/// A node that carries pods or may carry some.
pub(super) struct Place {
    /// Name of the node in findings.
    pub(super) title: String,
    pub(super) labels: Labels,
    /// Labels of the substitutes that may be launched instead.
    others: Rc<[Labels]>,
    pub(super) taints: Vec<Taint>,
    /// Whether it is part of the final fleet.
    pub(super) stays: bool,
}

impl Place {
    /// Returns an existing node that is kept, unchanged.
    pub(super) fn of_node(node: &Node, title: &str) -> Self {
        let (labels, taints) = (Labels::of_node(node), taints_of(node));
        Self { title: title.to_owned(), labels, others: Rc::from([]), taints, stays: true }
    }
}

/// Pods with the same spec in one namespace.
pub(super) struct Group<'a> {
    pub(super) spec: &'a PodSpec,
    pub(super) namespace: &'a Namespace,
    /// The group's pods by place.
    pub(super) at: BTreeMap<usize, Present<'a>>,
    /// Whether the plan places any of them.
    pub(super) is_placed: bool,
}

/// The pods of a group on one place.
#[derive(Default)]
pub(super) struct Present<'a> {
    /// Running pods, including those being deleted.
    pub(super) running: Vec<&'a Pod>,
    /// Pods that the plan places there.
    pub(super) placed: Vec<&'a Pod>,
    /// The daemonset that will put such a pod there.
    pub(super) coming: Option<&'a Daemon>,
}

/// Domain of a place in the topology of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spot {
    /// The domain with this number.
    In(usize),
    /// An undetermined domain.
    Open,
    /// No domain.
    Nowhere,
}

/// The domains of a label.
#[derive(Default)]
pub(super) struct Topology {
    spots: Vec<Spot>,
    /// Other domains that substitutes of a place would be in, by place.
    others: BTreeMap<usize, BTreeSet<usize>>,
    titles: Vec<String>,
}

impl Topology {
    /// Returns the domain of a place, or why it has none.
    pub(super) fn spot(&self, place: usize) -> Spot {
        self.spots.get(place).copied().unwrap_or(Spot::Nowhere)
    }

    /// Returns the domain of a place, if it is determined.
    pub(super) fn domain(&self, place: usize) -> Option<usize> {
        match self.spot(place) {
            Spot::In(domain) => Some(domain),
            Spot::Open | Spot::Nowhere => None,
        }
    }

    /// Returns every domain that a place may end up in.
    pub(super) fn all(&self, place: usize) -> BTreeSet<usize> {
        let others = self.others.get(&place).into_iter().flatten().copied();
        others.chain(self.domain(place)).collect()
    }

    /// Returns the name of a domain in findings.
    pub(super) fn title(&self, domain: usize) -> &str {
        self.titles.get(domain).map_or("nowhere", String::as_str)
    }

    /// Returns the number of domains.
    pub(super) const fn len(&self) -> usize {
        self.titles.len()
    }

    fn of(places: &[Place], key: &LabelKey) -> Self {
        let mut topology = Self::default();
        let mut numbers: BTreeMap<&str, usize> = BTreeMap::new();
        for place in places {
            let next = topology.titles.len();
            let spot = match place.labels.domain(key) {
                Domain::Value(value) => Spot::In(*numbers.entry(value).or_insert(next)),
                Domain::Own => Spot::In(next),
                Domain::Open => Spot::Open,
                Domain::Absent => Spot::Nowhere,
            };
            if spot == Spot::In(next) {
                topology.titles.push(title(key, place.labels.domain(key), &place.title));
            }
            topology.spots.push(spot);
        }
        for (number, place) in places.iter().enumerate() {
            for domain in place.others.iter().map(|labels| labels.domain(key)) {
                let Domain::Value(value) = domain else { continue };
                let next = topology.titles.len();
                let other = *numbers.entry(value).or_insert(next);
                if other == next {
                    topology.titles.push(title(key, domain, &place.title));
                }
                topology.others.entry(number).or_default().insert(other);
            }
        }
        topology
    }
}

fn title(key: &LabelKey, domain: Domain<'_>, place: &str) -> String {
    match (domain, key.as_str()) {
        (Domain::Value(value), label::ZONE) => format!("zone `{value}`"),
        (Domain::Value(value), label::CAPACITY_TYPE) => format!("capacity type `{value}`"),
        (Domain::Value(value), label::HOSTNAME) => format!("node `{value}`"),
        (Domain::Value(value), _) => format!("`{key}` `{value}`"),
        (Domain::Own | Domain::Open | Domain::Absent, _) => place.to_owned(),
    }
}

impl<'a> Crowd<'a> {
    /// Gathers all pods. Pods leave a node being removed if the plan places them elsewhere or reports them as not
    /// placed; the others stay as long as they can.
    pub(super) fn of(case: &Case<'a>) -> Self {
        let mut crowd = Self::default();
        let mut numbers: BTreeMap<&NodeName, usize> = BTreeMap::new();
        for node in case.nodes.values() {
            numbers.insert(&node.name, crowd.places.len());
            crowd.places.push(Place {
                title: format!("node `{}`", node.name),
                labels: Labels::of_node(node),
                others: Rc::from([]),
                taints: taints_of(node),
                stays: case.stays(node),
            });
        }
        let leaves = leavers(case);
        let mut gathering = Gathering::default();
        for (node, pods) in &case.running {
            let Some(place) = numbers.get(node).copied() else { continue };
            let is_going = !crowd.places[place].stays;
            for pod in pods.iter().filter(|pod| !is_going || !leaves.contains(&pod.key)) {
                let present = gathering.present(&pod.spec, &pod.key.namespace, place);
                present.running.push(pod);
            }
        }
        for site in &case.sites {
            let known = site.node.and_then(|node| numbers.get(node).copied());
            let place = known.unwrap_or(crowd.places.len());
            if place == crowd.places.len() {
                let (title, labels) = (site.title.clone(), site.labels.clone());
                let (others, taints) = (Rc::clone(&site.others), site.taints.clone());
                crowd.places.push(Place { title, labels, others, taints, stays: true });
            }
            // Placeholder pods are never bound.
            for pod in site.pods.iter().filter(|pod| !pod.key.is_placeholder()) {
                gathering.place(pod, place);
            }
            for daemon in &site.daemons {
                gathering.present(&daemon.spec, &daemon.namespace, place).coming = Some(*daemon);
            }
        }
        crowd.groups = gathering.groups;
        crowd.index();
        crowd
    }

    fn index(&mut self) {
        let mut keys = BTreeSet::new();
        for (number, group) in self.groups.iter().enumerate() {
            keys.extend(topology_keys(group.spec));
            self.namespaces.insert(group.namespace);
            for (key, value) in &group.spec.labels {
                self.by_label.entry((key, value)).or_default().push(number);
            }
        }
        self.topologies = keys.into_iter().map(|key| (key, Topology::of(&self.places, key))).collect();
    }

    /// Returns the topology of a label; empty if no group has a required rule with this key.
    pub(super) fn topology(&self, key: &LabelKey) -> &Topology {
        const NONE: &Topology = &Topology { spots: Vec::new(), others: BTreeMap::new(), titles: Vec::new() };
        self.topologies.get(key).unwrap_or(NONE)
    }

    /// Returns the groups of these namespaces that a selector matches; an absent selector matches nothing.
    pub(super) fn selected(
        &self,
        selector: Option<&LabelSelector>,
        namespaces: &BTreeSet<&Namespace>,
    ) -> Vec<usize> {
        let Some(selector) = selector else { return Vec::new() };
        let named = selector.0.iter().filter_map(|(key, wanted)| {
            let value = wanted.single()?;
            Some(self.by_label.get(&(key, &**value)).map_or(&[][..], Vec::as_slice))
        });
        let is_meant = |number: &usize| {
            let group = &self.groups[*number];
            namespaces.contains(group.namespace) && selector.selects(&group.spec.labels)
        };
        match named.min_by_key(|numbers| numbers.len()) {
            Some(numbers) => numbers.iter().copied().filter(is_meant).collect(),
            None => (0..self.groups.len()).filter(is_meant).collect(),
        }
    }

    /// Returns the namespaces that a term applies to, for a pod of namespace `own`.
    pub(super) fn reach(
        &self,
        own: &'a Namespace,
        term: &PodAffinityTerm,
        labels: &NamespaceLabels,
    ) -> BTreeSet<&'a Namespace> {
        if term.namespaces.is_empty() && term.namespace_selector.is_none() {
            return BTreeSet::from([own]);
        }
        let is_meant = |namespace: &&Namespace| {
            let by_label = |selector| selects_namespace(selector, namespace, labels);
            term.namespaces.contains(*namespace) || term.namespace_selector.as_ref().is_some_and(by_label)
        };
        self.namespaces.iter().copied().filter(is_meant).collect()
    }
}

/// Returns the pods that are not where they were in the final placement: placed or reported as not placed.
fn leavers<'a>(case: &Case<'a>) -> BTreeSet<&'a PodKey> {
    let evidence = &case.plan.evidence;
    let placed = evidence.placements.values().flat_map(|placement| &placement.pods);
    let unplaced = evidence.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods);
    let held = evidence.report.held.iter().flat_map(|held| &held.pods);
    placed.chain(evidence.kept.values().flatten()).chain(unplaced).chain(held).collect()
}

/// Returns the topology keys of a pod's required rules.
pub(super) fn topology_keys(spec: &PodSpec) -> impl Iterator<Item = &LabelKey> {
    let is_required = |strength| strength == Strength::Required;
    let spread = spec.spread.iter().filter(move |constraint| is_required(constraint.strength));
    let terms = spec.affinity.iter().chain(&spec.anti_affinity);
    spread.map(|constraint| &constraint.topology_key).chain(terms.map(|term| &term.topology_key))
}

fn selects_namespace(selector: &LabelSelector, namespace: &Namespace, labels: &NamespaceLabels) -> bool {
    let known = labels.get(namespace);
    selector.0.iter().all(|(key, wanted)| {
        let value = match known.and_then(|labels| labels.get(key)) {
            Some(value) => Some(&**value),
            None if key.as_str() == NAME_OF_NAMESPACE => Some(namespace.as_str()),
            None => None,
        };
        value.map_or_else(|| wanted.accepts_absence(), |value| wanted.accepts(value))
    })
}

/// Groups under construction. Specs are compared once per allocation: thousands of pods share one.
#[derive(Default)]
struct Gathering<'a> {
    groups: Vec<Group<'a>>,
    contents_at: BTreeMap<*const PodSpec, usize>,
    contents: BTreeMap<&'a PodSpec, usize>,
    numbers: BTreeMap<(usize, &'a Namespace), usize>,
}

impl<'a> Gathering<'a> {
    fn group(&mut self, spec: &'a PodSpec, namespace: &'a Namespace) -> usize {
        let contents = &mut self.contents;
        let content = *self.contents_at.entry(std::ptr::from_ref(spec)).or_insert_with(|| {
            let next = contents.len();
            *contents.entry(spec).or_insert(next)
        });
        let next = self.groups.len();
        let number = *self.numbers.entry((content, namespace)).or_insert(next);
        if number == next {
            self.groups.push(Group { spec, namespace, at: BTreeMap::new(), is_placed: false });
        }
        number
    }

    fn present(&mut self, spec: &'a PodSpec, namespace: &'a Namespace, place: usize) -> &mut Present<'a> {
        let group = self.group(spec, namespace);
        self.groups[group].at.entry(place).or_default()
    }

    fn place(&mut self, pod: &'a Pod, place: usize) {
        let group = self.group(&pod.spec, &pod.key.namespace);
        self.groups[group].is_placed = true;
        self.groups[group].at.entry(place).or_default().placed.push(pod);
    }
}
