//! Topology: spread constraints, pod affinity and anti-affinity, and the anti-affinity of other pods.
//!
//! A group is created when a pod first needs it, and counts the pods that run then; pods of the queue are counted when
//! they are placed. Groups of required anti-affinity keep other pods away (inverse groups). Never places a pod.

pub(super) mod group;
mod universe;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use crate::model::{
    LabelKey, LabelSelector, Namespace, NamespaceLabels, PodAffinityTerm, PodSpec, Requirement, Requirements,
    SpreadConstraint, Taint, Toleration, label,
};

use super::store::Drawn;
use super::wish::Wish;
use group::{Demand, Filter, Group, Identity, Places};
pub(super) use universe::Universe;

/// A node as topology counts it: its labels and taints.
#[derive(Clone, Debug)]
pub(super) struct Ground<'a> {
    /// Its labels, its own name included.
    pub(super) labels: Requirements,
    /// Its taints.
    pub(super) taints: Vec<Taint>,
    /// Whether its labels are domains: not if it is being launched or deleted.
    pub(super) is_domain: bool,
    /// Running pods that count: their namespaces and specs.
    pub(super) pods: Vec<(&'a Namespace, &'a PodSpec)>,
}

/// A possible place of a pod.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site<'r> {
    /// Its labels, or the values that they may have.
    pub(super) labels: &'r Requirements,
    /// Domain of its own name, if that is not among the labels.
    pub(super) host: Option<&'r Requirement>,
    /// Its taints.
    pub(super) taints: &'r [Taint],
}

impl Site<'_> {
    fn label(&self, key: &LabelKey) -> Option<&Requirement> {
        match (self.host, key.as_str()) {
            (Some(host), label::HOSTNAME) => Some(host),
            (Some(_) | None, key) => self.labels.get(key),
        }
    }
}

/// Groups of a pod's content at one step.
#[derive(Clone, Debug, Default)]
pub(super) struct Owned {
    /// Its own constraints.
    groups: Vec<usize>,
    /// Its required anti-affinity, from the view of other pods.
    inverse: Vec<usize>,
}

/// Properties of a pod that matter to topology.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subject<'r> {
    /// Index of its content.
    pub(super) class: usize,
    /// Its namespace.
    pub(super) namespace: &'r Namespace,
    /// Its spec, as the scheduler reads it.
    pub(super) spec: &'r PodSpec,
    /// Its own groups.
    pub(super) owned: &'r Owned,
}

/// All groups of a pass.
pub(super) struct Topology<'a> {
    drawn: Rc<Drawn<'a>>,
    nodes: Vec<Ground<'a>>,
    namespaces: &'a NamespaceLabels,
    groups: Groups,
    inverse: Groups,
}

#[derive(Default)]
struct Groups {
    all: Vec<Group>,
    numbers: BTreeMap<Identity, usize>,
    /// For each group, whether pods of a content count.
    selected: Vec<BTreeMap<usize, bool>>,
}

impl Groups {
    fn add(&mut self, group: Group) -> usize {
        self.numbers.insert(group.identity.clone(), self.all.len());
        self.all.push(group);
        self.selected.push(BTreeMap::new());
        self.all.len() - 1
    }

    fn selects(&mut self, number: usize, subject: Subject<'_>) -> bool {
        let Subject { class, namespace, spec, owned: _ } = subject;
        let group = &self.all[number];
        *self.selected[number].entry(class).or_insert_with(|| group.selects(namespace, &spec.labels))
    }
}

impl<'a> Topology<'a> {
    /// Reads the nodes; required anti-affinity of running pods keeps others away from the start.
    pub(super) fn of(drawn: Rc<Drawn<'a>>, nodes: Vec<Ground<'a>>, namespaces: &'a NamespaceLabels) -> Self {
        let mut topology =
            Self { drawn, nodes, namespaces, groups: Groups::default(), inverse: Groups::default() };
        let mut there: Vec<(Identity, &[Toleration], Arc<str>)> = Vec::new();
        for node in &topology.nodes {
            for (namespace, spec) in &node.pods {
                for term in &spec.anti_affinity {
                    let domain = node.labels.get(term.topology_key.as_str()).and_then(Requirement::single);
                    let identity = topology.of_term(Demand::AntiAffinity, namespace, term);
                    there.extend(domain.map(|domain| (identity, &*spec.tolerations, Arc::clone(domain))));
                }
            }
        }
        for (identity, tolerations, domain) in there {
            let number = topology.inverse(identity, tolerations);
            topology.inverse.all[number].record(&domain);
        }
        topology
    }

    /// Creates the groups of a pod's content at this step.
    pub(super) fn own(&mut self, namespace: &Namespace, spec: &PodSpec, wish: &Wish) -> Owned {
        let mut owned = Owned::default();
        for constraint in &wish.spread {
            let identity = of_constraint(namespace, constraint, spec, wish);
            let honored = constraint.honors_node_taints.then_some(&*wish.tolerations);
            owned.groups.push(self.group(identity, constraint.min_domains, honored));
        }
        for term in wish.affinity(spec) {
            let identity = self.of_term(Demand::Affinity, namespace, term);
            owned.groups.push(self.group(identity, None, Some(&wish.tolerations)));
        }
        for term in wish.anti_affinity(spec) {
            let identity = self.of_term(Demand::AntiAffinity, namespace, term);
            owned.groups.push(self.group(identity, None, Some(&wish.tolerations)));
        }
        for term in &spec.anti_affinity {
            let identity = self.of_term(Demand::AntiAffinity, namespace, term);
            owned.inverse.push(self.inverse(identity, &wish.tolerations));
        }
        for groups in [&mut owned.groups, &mut owned.inverse] {
            groups.sort_unstable();
            groups.dedup();
        }
        owned
    }

    fn of_term(&self, demand: Demand, own: &Namespace, term: &PodAffinityTerm) -> Identity {
        let PodAffinityTerm { topology_key, selector, namespaces, namespace_selector } = term;
        let mut meant = namespaces.clone();
        match namespace_selector {
            None if namespaces.is_empty() => meant.extend([own.clone()]),
            None => {}
            Some(by_label) => {
                let labelled = self.namespaces.iter().filter(|(_, labels)| by_label.selects(labels));
                meant.extend(labelled.map(|(name, _)| name.clone()));
            }
        }
        Identity {
            demand,
            key: topology_key.clone(),
            namespaces: meant,
            selector: selector.clone(),
            filter: Filter::default(),
        }
    }

    /// Returns the number of a group; a new one counts running pods. Its domains are those of existing nodes and those
    /// of possible new nodes whose taints the first pod tolerates, if taints matter; affinity always respects taints.
    fn group(
        &mut self,
        identity: Identity,
        min_domains: Option<u32>,
        tolerations: Option<&[Toleration]>,
    ) -> usize {
        if let Some(known) = self.groups.numbers.get(&identity) {
            return *known;
        }
        let key = identity.key.clone();
        let domains = self.drawn.universe.domains(&key, tolerations);
        let counting: Vec<&Ground<'_>> =
            self.nodes.iter().filter(|node| identity.filter.admits(&node.labels, &node.taints)).collect();
        let domain = |node: &Ground<'_>| node.labels.get(key.as_str()).and_then(Requirement::single).cloned();
        let there = counting.iter().filter(|node| node.is_domain).filter_map(|node| domain(node));
        let mut group = Group::new(identity, min_domains, domains).with_nodes(there);
        for node in counting {
            let Some(domain) = domain(node) else { continue };
            for (namespace, spec) in &node.pods {
                if group.selects(namespace, &spec.labels) {
                    group.record(&domain);
                }
            }
        }
        self.groups.add(group)
    }

    fn inverse(&mut self, identity: Identity, tolerations: &[Toleration]) -> usize {
        match self.inverse.numbers.get(&identity) {
            Some(known) => *known,
            None => {
                let domains = self.drawn.universe.domains(&identity.key, Some(tolerations));
                self.inverse.add(Group::new(identity, None, domains))
            }
        }
    }

    /// Returns whether the placement of a pod depends on other pods at all.
    pub(super) fn matters(&mut self, subject: Subject<'_>) -> bool {
        !subject.owned.groups.is_empty()
            || (0..self.inverse.all.len()).any(|number| self.inverse.selects(number, subject))
    }

    /// Returns the values that the labels of a place must be narrowed to for a pod to join. `strict` has the pod's
    /// required labels.
    ///
    /// # Errors
    /// The number of the group that leaves the pod no domain, for [`Topology::said`].
    pub(super) fn narrowed(
        &mut self,
        subject: Subject<'_>,
        strict: &Requirements,
        site: Site<'_>,
    ) -> Result<Vec<(LabelKey, Requirement)>, Constraint> {
        let mut narrowed = Vec::new();
        let mut next = |group: &Group, is_self: bool| {
            let key = &group.identity.key;
            let places = Places { pod: strict.get(key.as_str()), node: site.label(key) };
            let next = group.next(is_self, places);
            if next.is_none() {
                return false;
            }
            if key.as_str() != label::HOSTNAME {
                narrowed.push((key.clone(), next));
            }
            true
        };
        for number in &subject.owned.groups {
            let is_self = self.groups.selects(*number, subject);
            if !next(&self.groups.all[*number], is_self) {
                return Err(Constraint { number: *number, is_inverse: false });
            }
        }
        for number in 0..self.inverse.all.len() {
            if self.inverse.selects(number, subject) && !next(&self.inverse.all[number], true) {
                return Err(Constraint { number, is_inverse: true });
            }
        }
        Ok(narrowed)
    }

    /// Counts a placed pod. Its domain is known if the label has one value left; anti-affinity blocks every domain that
    /// is still possible.
    pub(super) fn record(&mut self, subject: Subject<'_>, site: Site<'_>) {
        for number in 0..self.groups.all.len() {
            let filter = &self.groups.all[number].identity.filter;
            if filter.admits(site.labels, site.taints) && self.groups.selects(number, subject) {
                let group = &mut self.groups.all[number];
                let listed = site.label(&group.identity.key).and_then(Requirement::listed);
                match (group.identity.demand, listed) {
                    (_, None) => {}
                    (Demand::AntiAffinity, Some(listed)) => {
                        listed.iter().for_each(|domain| group.record(domain));
                    }
                    (Demand::Spread(_) | Demand::Affinity, Some(listed)) => {
                        if let (1, Some(domain)) = (listed.len(), listed.first()) {
                            group.record(domain);
                        }
                    }
                }
            }
        }
        for number in &subject.owned.inverse {
            let group = &mut self.inverse.all[*number];
            let listed = site.label(&group.identity.key).and_then(Requirement::listed);
            listed.into_iter().flatten().for_each(|domain| group.record(domain));
        }
    }

    /// Adds the host of a new claim as a domain.
    pub(super) fn register_host(&mut self, host: &Arc<str>) {
        for groups in [&mut self.groups, &mut self.inverse] {
            let of_hosts =
                groups.all.iter_mut().filter(|group| group.identity.key.as_str() == label::HOSTNAME);
            of_hosts.for_each(|group| group.register(host));
        }
    }

    /// Returns the constraint that leaves a pod no domain, as text.
    pub(super) fn said(&self, constraint: Constraint) -> String {
        let Constraint { number, is_inverse } = constraint;
        if is_inverse {
            format!("{} for another pod", self.inverse.all[number].said())
        } else {
            self.groups.all[number].said()
        }
    }
}

/// A constraint that leaves no domain, by the number of its group.
#[derive(Clone, Copy, Debug)]
pub(super) struct Constraint {
    number: usize,
    is_inverse: bool,
}

fn of_constraint(
    namespace: &Namespace,
    constraint: &SpreadConstraint,
    spec: &PodSpec,
    wish: &Wish,
) -> Identity {
    let selector = constraint.selector.as_ref().map(|LabelSelector(selector)| {
        let mut selector = selector.clone();
        for key in &constraint.match_label_keys {
            if let Some(value) = spec.labels.get(key) {
                selector.add(key.clone(), Requirement::one(value));
            }
        }
        LabelSelector(selector)
    });
    Identity {
        demand: Demand::Spread(constraint.max_skew),
        key: constraint.topology_key.clone(),
        namespaces: BTreeSet::from([namespace.clone()]),
        selector,
        filter: Filter {
            terms: wish.alternatives(spec),
            minds_labels: constraint.honors_node_affinity,
            tolerations: wish.tolerations.clone(),
            minds_taints: constraint.honors_node_taints,
        },
    }
}
