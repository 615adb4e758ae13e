//! Rules between pods in preemption: whether spread, affinity and anti-affinity allow a pod on a node once others are
//! evicted from it.
//!
//! Like kube-scheduler, counts only bound pods. Never chooses victims.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::model::{Node, NodeName, NodeStage, Pod, PodKey, PodPlace, Requirements, Taint, label};
use crate::snapshot::Snapshot;
use crate::solve::existing;
use crate::solve::topology::eligible::{Seen, counts};
use crate::solve::topology::group::{Group, GroupKind, Spread};
use crate::solve::topology::{Role, Topology};

/// The nodes of the cluster with the pods bound to them so far.
pub(super) struct Crowd<'a> {
    topology: &'a Topology,
    places: Vec<Place<'a>>,
    numbers: BTreeMap<&'a NodeName, usize>,
}

struct Place<'a> {
    node: &'a Node,
    labels: Requirements,
    taints: Cow<'a, [Taint]>,
    pods: Vec<&'a Pod>,
}

/// Pod counts of one domain, as one group sees them.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    /// Pods that the group constrains.
    bound: usize,
    /// Pods that the group counts.
    counted: usize,
    /// Of those, pods that a spread counts: they are not being deleted, and their node counts.
    spread: usize,
}

/// One group's view of the cluster.
pub(super) struct View<'a> {
    role: Role,
    group: &'a Group,
    tallies: BTreeMap<Arc<str>, Tally>,
    /// The domains that a spread counts.
    domains: BTreeSet<Arc<str>>,
    /// Whether a spread counts each place, by index.
    counting: Vec<bool>,
}

impl<'a> Crowd<'a> {
    /// Reads the bound pods; a VM that has not come up is no node yet.
    pub(super) fn of(snapshot: &'a Snapshot, topology: &'a Topology) -> Self {
        let mut crowd = Self { topology, places: Vec::new(), numbers: BTreeMap::new() };
        if topology.is_empty() {
            return crowd;
        }
        for node in snapshot.nodes.iter().filter(|node| node.stage != NodeStage::Launching) {
            let (labels, taints) = (existing::labels_of(node), existing::taints(node));
            crowd.numbers.insert(&node.name, crowd.places.len());
            crowd.places.push(Place { node, labels, taints, pods: Vec::new() });
        }
        for pod in &snapshot.pods {
            if let PodPlace::Bound(node) = &pod.place
                && let Some(place) = crowd.numbers.get(node)
            {
                crowd.places[*place].pods.push(pod);
            }
        }
        crowd
    }

    /// Moves a pod to a node and removes its victims from it.
    pub(super) fn change(&mut self, node: &NodeName, gone: &BTreeSet<&PodKey>, came: &'a Pod) {
        if let Some(place) = self.numbers.get(node) {
            let pods = &mut self.places[*place].pods;
            pods.retain(|pod| !gone.contains(&pod.key));
            pods.push(came);
        }
    }

    /// Returns the view of each group in which a pod has one of these roles.
    pub(super) fn views(&self, roles: &[Role]) -> Vec<View<'a>> {
        roles.iter().map(|role| self.view(*role)).collect()
    }

    fn view(&self, role: Role) -> View<'a> {
        let group = &self.topology.groups[role.group];
        let mut view = View {
            role,
            group,
            tallies: BTreeMap::new(),
            domains: BTreeSet::new(),
            counting: vec![false; self.places.len()],
        };
        for (number, place) in self.places.iter().enumerate() {
            let Some(domain) = domain(group, place.node) else { continue };
            if let GroupKind::Spread(spread) = &group.kind {
                let seen = Seen { labels: &place.node.labels, site: &place.labels, taints: &place.taints };
                view.counting[number] = counts(&seen, spread);
            }
            let tally = self.tally(&view, number, &place.pods);
            let all = view.tallies.entry(Arc::clone(&domain)).or_default();
            all.bound += tally.bound;
            all.counted += tally.counted;
            all.spread += tally.spread;
            if view.counting[number] {
                view.domains.insert(domain);
            }
        }
        view
    }

    /// Counts pods on a place.
    fn tally(&self, view: &View<'_>, place: usize, pods: &[&Pod]) -> Tally {
        let mut tally = Tally::default();
        for pod in pods {
            for role in self.topology.roles(pod).iter().filter(|role| role.group == view.role.group) {
                tally.bound += usize::from(role.is_bound);
                tally.counted += role.counted;
                let is_spread = view.counting[place] && !pod.is_terminating;
                tally.spread += if is_spread { role.counted } else { 0 };
            }
        }
        tally
    }

    /// Returns whether all these groups allow a pod on a node once the `gone` pods have left it.
    pub(super) fn lets(&self, views: &[View<'_>], node: &NodeName, gone: &[&Pod]) -> bool {
        let Some(place) = self.numbers.get(node) else { return views.is_empty() };
        views.iter().all(|view| {
            let gone = self.tally(view, *place, gone);
            view.lets(domain(view.group, self.places[*place].node).as_ref(), gone)
        })
    }
}

impl View<'_> {
    /// Returns whether a pod may be placed in a domain; `None` stands for a node outside all domains.
    fn lets(&self, domain: Option<&Arc<str>>, gone: Tally) -> bool {
        let Role { is_bound, counted, .. } = self.role;
        let Some(domain) = domain else {
            return !is_bound || matches!(self.group.kind, GroupKind::AntiAffinity);
        };
        let all = self.tallies.get(domain).copied().unwrap_or_default();
        let here = Tally {
            bound: all.bound.saturating_sub(gone.bound),
            counted: all.counted.saturating_sub(gone.counted),
            spread: all.spread.saturating_sub(gone.spread),
        };
        match &self.group.kind {
            GroupKind::AntiAffinity => !(is_bound && here.counted > 0 || counted > 0 && here.bound > 0),
            GroupKind::Affinity => {
                let everywhere: usize = self.tallies.values().map(|tally| tally.counted).sum();
                let is_first = || counted > 0 && everywhere == gone.counted;
                !is_bound || here.counted > 0 || is_first()
            }
            GroupKind::Spread(spread) => !is_bound || self.is_level(spread, domain, here.spread),
            // The location of the volume is not known yet.
            GroupKind::Volume(_) => false,
        }
    }

    /// Returns whether a domain with this many pods may take this one as well.
    fn is_level(&self, spread: &Spread, domain: &Arc<str>, here: usize) -> bool {
        let of_domain = |other: &Arc<str>| match other == domain {
            true => here,
            false => self.tallies.get(other).map_or(0, |tally| tally.spread),
        };
        let is_lacking = spread.min_domains.is_some_and(|least| self.domains.len() < least);
        let least = if is_lacking { None } else { self.domains.iter().map(of_domain).min() };
        here + self.role.counted <= spread.max_skew.saturating_add(least.unwrap_or(0))
    }
}

/// Returns the domain of a node; its name stands in for a missing hostname label.
fn domain(group: &Group, node: &Node) -> Option<Arc<str>> {
    let named = || (group.key.as_str() == label::HOSTNAME).then(|| Arc::from(node.name.as_str()));
    node.labels.get(&group.key).cloned().or_else(named)
}
