//! A topology group: pods that are counted by domain, and which domains another pod may join.
//!
//! Where several domains would do equally well the first by name is taken; Karpenter takes any. Nothing here
//! knows what nodes there are.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::label;
use crate::model::{LabelKey, LabelSelector, Namespace, Requirement, Requirements, Taint, Toleration};
use crate::solve::karpenter::nodes::tolerates;

/// What a group demands of its pods.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solve::karpenter) enum Demand {
    /// No domain may be ahead of the emptiest by more than this.
    Spread(u32),
    /// Pods go where such pods are.
    Affinity,
    /// Pods go where no such pods are.
    AntiAffinity,
}

/// Which nodes count as places of a spread constraint. What is not minded still tells groups apart: so Karpenter has
/// it, and a pod that gives up a preference may find a group in which nobody was counted yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solve::karpenter) struct Filter {
    /// What a node must be: one of these.
    pub(super) terms: Vec<Requirements>,
    /// Whether that is minded.
    pub(super) minds_labels: bool,
    /// What is tolerated of a node's taints.
    pub(super) tolerations: Vec<Toleration>,
    /// Whether they are minded.
    pub(super) minds_taints: bool,
}

impl Filter {
    /// Returns whether a node counts. A label that the node does not name is not there, well known or not: so
    /// Karpenter has it, for nodes that are still to be made too.
    pub(super) fn admits(&self, labels: &Requirements, taints: &[Taint]) -> bool {
        let Self { terms, minds_labels, tolerations, minds_taints } = self;
        let meets = |term: &Requirements| term.satisfied_by(labels, |_| false).is_ok();
        (!minds_labels || terms.iter().any(meets)) && (!minds_taints || tolerates(tolerations, taints))
    }
}

/// What makes two groups one. `minDomains` is not among it: so Karpenter has it, and the first pod decides.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solve::karpenter) struct Identity {
    /// What is demanded.
    pub(super) demand: Demand,
    /// The label whose values are the domains.
    pub(super) key: LabelKey,
    /// The namespaces whose pods count.
    pub(super) namespaces: BTreeSet<Namespace>,
    /// Which of their pods count; `None` counts none.
    pub(super) selector: Option<LabelSelector>,
    /// Which nodes count.
    pub(super) filter: Filter,
}

/// Pods that are counted by domain.
#[derive(Clone, Debug)]
pub(in crate::solve::karpenter) struct Group {
    /// What makes it this one.
    pub(super) identity: Identity,
    min_domains: Option<u32>,
    domains: BTreeMap<Arc<str>, u32>,
    /// The domains that only nodes which exist are in: no new node ever is.
    of_nodes: BTreeSet<Arc<str>>,
    /// The domains with pods.
    filled: BTreeSet<Arc<str>>,
}

/// What is known of a label of a place and of what a pod wants there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places<'r> {
    /// What the pod requires; `None` accepts all.
    pub(super) pod: Option<&'r Requirement>,
    /// What the place may be; `None` may be anything.
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

    /// Makes the domains of nodes that exist known, beside those that new nodes may be in.
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

    /// Makes a domain known.
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

    /// Returns what the label of the place must become for the pod to join; nothing where it may not.
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

    /// Returns the known domains that the place may be, with their counts. Each host is a domain, known or not.
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
        // Karpenter takes any of several: one where a new node can be.
        let first = valid.min_by_key(|(count, domain)| (*count, self.of_nodes.contains(*domain), *domain));
        first.map_or_else(Requirement::none, |(_, domain)| Requirement::one(domain))
    }

    /// Returns the lowest count over the domains that the pod may use. A new host can always be had, so the
    /// emptiest host has none.
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
        // The first of its kind may go anywhere.
        let is_first = is_self && filled.clone().next().is_none();
        let any = || self.within(places).find(|(domain, _)| places.pod_accepts(domain));
        is_first.then(any).flatten().map_or_else(Requirement::none, |(domain, _)| Requirement::one(domain))
    }

    /// Writes what is counted where, for people. Hosts are not named: one that is still to be made has only a name that is
    /// made up.
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
