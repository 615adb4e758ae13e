//! A topology group: counts pods by domain, and determines which domains another pod may join.
//!
//! If several domains are equally good, the first by name is taken; Karpenter takes any. Never looks at nodes.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::label;
use crate::model::{LabelKey, LabelSelector, Namespace, Requirement, Requirements, Taint, Toleration};
use crate::solve::karpenter::nodes::tolerates;

/// Constraint of a group on its pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solve::karpenter) enum Demand {
    /// No domain may exceed the emptiest by more than this.
    Spread(u32),
    /// Pods join domains with such pods.
    Affinity,
    /// Pods join domains without such pods.
    AntiAffinity,
}

/// Nodes that count for a spread constraint. Parts that are not applied still distinguish groups, as in Karpenter, so a
/// pod that gives up a preference may find a group that has counted no pod yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solve::karpenter) struct Filter {
    /// Alternative requirements on a node.
    pub(super) terms: Vec<Requirements>,
    /// Whether they are applied.
    pub(super) minds_labels: bool,
    /// Tolerations of a node's taints.
    pub(super) tolerations: Vec<Toleration>,
    /// Whether these are applied.
    pub(super) minds_taints: bool,
}

impl Filter {
    /// Returns whether a node counts. A label that the node does not name is absent, well known or not, as in
    /// Karpenter; that also applies to nodes that are yet to be created.
    pub(super) fn admits(&self, labels: &Requirements, taints: &[Taint]) -> bool {
        let Self { terms, minds_labels, tolerations, minds_taints } = self;
        let meets = |term: &Requirements| term.satisfied_by(labels, |_| false).is_ok();
        (!minds_labels || terms.iter().any(meets)) && (!minds_taints || tolerates(tolerations, taints))
    }
}

/// Identity of a group. `minDomains` is not part of it, as in Karpenter: the first pod decides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solve::karpenter) struct Identity {
    /// The constraint.
    pub(super) demand: Demand,
    /// The label whose values are the domains.
    pub(super) key: LabelKey,
    /// The namespaces whose pods count.
    pub(super) namespaces: BTreeSet<Namespace>,
    /// Pods in these namespaces that count; `None` counts none.
    pub(super) selector: Option<LabelSelector>,
    /// Nodes that count.
    pub(super) filter: Filter,
}

/// Pods that are counted by domain.
#[derive(Clone, Debug)]
pub(in crate::solve::karpenter) struct Group {
    /// Its identity.
    pub(super) identity: Identity,
    min_domains: Option<u32>,
    domains: BTreeMap<Arc<str>, u32>,
    /// Domains that only existing nodes are in: no new node ever is.
    of_nodes: BTreeSet<Arc<str>>,
    /// Domains with pods.
    filled: BTreeSet<Arc<str>>,
}

/// Values of a label that a place may have, and those that a pod accepts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places<'r> {
    /// Requirement of the pod; `None` accepts all.
    pub(super) pod: Option<&'r Requirement>,
    /// Requirement of the place; `None` allows all.
    pub(super) node: Option<&'r Requirement>,
}

impl Places<'_> {
    fn pod_accepts(&self, domain: &str) -> bool {
        self.pod.is_none_or(|pod| pod.accepts(domain))
    }

    fn node_accepts(&self, domain: &str) -> bool {
        self.node.is_none_or(|node| node.accepts(domain))
    }
}

impl Group {
    pub(super) fn new(identity: Identity, min_domains: Option<u32>, domains: BTreeSet<Arc<str>>) -> Self {
        let domains = domains.into_iter().map(|domain| (domain, 0)).collect();
        Self { identity, min_domains, domains, of_nodes: BTreeSet::new(), filled: BTreeSet::new() }
    }

    /// Adds the domains of existing nodes to those of possible new nodes.
    pub(super) fn with_nodes(mut self, domains: impl Iterator<Item = Arc<str>>) -> Self {
        for domain in domains {
            if let Entry::Vacant(entry) = self.domains.entry(domain) {
                self.of_nodes.insert(Arc::clone(entry.key()));
                entry.insert(0);
            }
        }
        self
    }

    /// Returns whether a pod with these labels counts, wherever it is.
    pub(super) fn selects(&self, namespace: &Namespace, labels: &BTreeMap<LabelKey, Arc<str>>) -> bool {
        let Identity { namespaces, selector, .. } = &self.identity;
        namespaces.contains(namespace) && selector.as_ref().is_some_and(|selector| selector.selects(labels))
    }

    /// Adds a domain.
    pub(super) fn register(&mut self, domain: &Arc<str>) {
        if !self.domains.contains_key(domain) {
            self.domains.insert(Arc::clone(domain), 0);
        }
    }

    /// Counts a pod in a domain.
    pub(super) fn record(&mut self, domain: &Arc<str>) {
        *self.domains.entry(Arc::clone(domain)).or_default() += 1;
        self.filled.insert(Arc::clone(domain));
    }

    fn is_of_hosts(&self) -> bool {
        self.identity.key.as_str() == label::HOSTNAME
    }

    /// Returns the values that the label of the place must be narrowed to for the pod to join; none if it may not.
    pub(super) fn next(&self, is_self: bool, places: Places<'_>) -> Requirement {
        match self.identity.demand {
            Demand::Spread(max_skew) => self.next_of_spread(is_self, places, max_skew),
            Demand::Affinity => self.next_of_affinity(is_self, places),
            Demand::AntiAffinity => {
                let empty =
                    self.within(places).filter(|(domain, count)| *count == 0 && places.pod_accepts(domain));
                Requirement::new(crate::model::Operator::In, empty.map(|(domain, _)| Arc::clone(domain)))
            }
        }
    }

    /// Returns the known domains that the place may be in, with their counts. Every host is a domain, known or not.
    fn within<'g>(&'g self, places: Places<'g>) -> Box<dyn Iterator<Item = (&'g Arc<str>, u32)> + 'g> {
        let listed = places.node.and_then(Requirement::listed);
        match listed {
            Some(listed) => Box::new(listed.iter().filter_map(|domain| match self.domains.get(domain) {
                Some(count) => Some((domain, *count)),
                None => self.is_of_hosts().then_some((domain, 0)),
            })),
            None => {
                let known = self.domains.iter().map(|(domain, count)| (domain, *count));
                Box::new(known.filter(move |(domain, _)| places.node_accepts(domain)))
            }
        }
    }

    fn next_of_spread(&self, is_self: bool, places: Places<'_>, max_skew: u32) -> Requirement {
        let least = self.least(places);
        let with_pod = |count: u32| if is_self { count.saturating_add(1) } else { count };
        let valid = self
            .within(places)
            .map(|(domain, count)| (with_pod(count), domain))
            .filter(|(count, _)| i64::from(*count) - i64::from(least) <= i64::from(max_skew));
        // Karpenter takes any of several; here, a domain that a new node can be in is preferred.
        let first = valid.min_by_key(|(count, domain)| (*count, self.of_nodes.contains(*domain), *domain));
        first.map_or_else(Requirement::none, |(_, domain)| Requirement::one(domain))
    }

    /// Returns the lowest count among the domains that the pod may use. A new host is always possible, so the lowest
    /// count of hosts is 0.
    fn least(&self, places: Places<'_>) -> u32 {
        if self.is_of_hosts() {
            return 0;
        }
        let usable = self.domains.iter().filter(|(domain, _)| places.pod_accepts(domain));
        let counts: Vec<u32> = usable.map(|(_, count)| *count).collect();
        let number = u32::try_from(counts.len()).unwrap_or(u32::MAX);
        match self.min_domains {
            Some(wanted) if number < wanted => 0,
            Some(_) | None => counts.into_iter().min().unwrap_or(u32::MAX),
        }
    }

    fn next_of_affinity(&self, is_self: bool, places: Places<'_>) -> Requirement {
        let filled = self.filled.iter().filter(|domain| places.pod_accepts(domain));
        let here: Vec<&Arc<str>> = filled.clone().filter(|domain| places.node_accepts(domain)).collect();
        if !here.is_empty() {
            return Requirement::new(crate::model::Operator::In, here);
        }
        // The first pod of a group that counts itself may join any domain.
        let is_first = is_self && filled.clone().next().is_none();
        let any = || self.within(places).find(|(domain, _)| places.pod_accepts(domain));
        is_first.then(any).flatten().map_or_else(Requirement::none, |(domain, _)| Requirement::one(domain))
    }

    /// Returns the counts by domain as text. Hosts are not listed, because a node that is yet to be created only has a
    /// generated name.
    pub(super) fn said(&self) -> String {
        const SHOWN_MAX: usize = 5;
        let what = match self.identity.demand {
            Demand::Spread(_) => "topology spread",
            Demand::Affinity => "pod affinity",
            Demand::AntiAffinity => "pod anti-affinity",
        };
        let key = &self.identity.key;
        if self.is_of_hosts() {
            return format!("{what} over `{key}` leaves no node");
        }
        if self.domains.is_empty() {
            return format!(
                "{what} over `{key}` leaves no domain: no node has that label, and none can be created with it"
            );
        }
        let counts = self.domains.iter().take(SHOWN_MAX);
        let mut shown: Vec<String> = counts.map(|(domain, count)| format!("{domain}: {count}")).collect();
        if self.domains.len() > SHOWN_MAX {
            shown.push("…".to_owned());
        }
        format!("{what} over `{key}` leaves no domain ({})", shown.join(", "))
    }
}
