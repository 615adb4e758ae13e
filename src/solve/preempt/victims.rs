//! Victims of a preemptor on a node: as few as possible, of the lowest priorities, preferably without a
//! PodDisruptionBudget.
//!
//! The smallest set is approximated by two orders, not by trying all sets. The caller checks everything but capacity
//! and host ports.

use std::cmp::Reverse;

use crate::model::eviction::Evictions;
use crate::model::{Pod, Resources};
use crate::solve::demand::Ask;
use crate::solve::fit::{Site, ports};

/// A preemptor on a node without any of its potential victims.
pub(super) struct Wanted<'w> {
    /// The node's free capacity without them.
    pub(super) bare: &'w Site<'w>,
    /// The requests of the preemptor.
    pub(super) ask: &'w Ask,
    /// Whether volumes and rules between pods allow it on the node beside the given potential victims.
    pub(super) lets: &'w dyn Fn(&[&Pod]) -> bool,
}

/// The victims of a pod.
#[derive(Clone)]
pub(super) struct Victims<'a> {
    /// The pods.
    pub(super) pods: Vec<&'a Pod>,
    /// Number of victims covered by a PodDisruptionBudget.
    guarded: usize,
}

impl Victims<'_> {
    /// Returns a sort key that puts the preferable victims first.
    pub(super) fn weight(&self) -> (usize, usize, Vec<i32>) {
        let mut priorities: Vec<i32> = self.pods.iter().map(|pod| pod.spec.priority).collect();
        priorities.sort_unstable_by_key(|priority| Reverse(*priority));
        (self.guarded, self.pods.len(), priorities)
    }
}

/// Chooses the victims among `lower`; the preemptor fits if all of these are evicted.
pub(super) fn victims<'a>(wanted: &Wanted<'_>, lower: &[&'a Pod], evictions: &Evictions<'_>) -> Victims<'a> {
    let ask = wanted.ask;
    let is_guarded = |pod: &Pod| evictions.about(pod).next().is_some();
    let mut by_priority = lower.to_vec();
    by_priority.sort_by_cached_key(|pod| {
        (is_guarded(pod), pod.spec.priority, Reverse(share(pod, ask)), pod.key.clone())
    });
    let mut by_size = lower.to_vec();
    by_size.sort_by_cached_key(|pod| {
        (is_guarded(pod), Reverse(share(pod, ask)), pod.spec.priority, pod.key.clone())
    });
    let [one, other] = [by_priority, by_size].map(|order| {
        let pods = least(wanted, order);
        Victims { guarded: pods.iter().filter(|pod| is_guarded(pod)).count(), pods }
    });
    if other.weight() < one.weight() { other } else { one }
}

/// Returns victims that are sufficient, preferably the first in this order; none of them could be kept.
fn least<'a>(wanted: &Wanted<'_>, order: Vec<&'a Pod>) -> Vec<&'a Pod> {
    let mut staying: Vec<&Pod> = Vec::new();
    let mut going: Vec<&Pod> = Vec::new();
    // The last in the order are the first to be kept.
    for pod in order.into_iter().rev() {
        staying.push(pod);
        if !has_room(wanted, &staying) {
            staying.pop();
            going.push(pod);
        }
    }
    going
}

/// Returns whether the preemptor fits beside these pods.
fn has_room(Wanted { bare, ask, lets }: &Wanted<'_>, beside: &[&Pod]) -> bool {
    let mut used = Resources::none();
    beside.iter().for_each(|pod| used.add(&pod.spec.requests));
    let taken = || beside.iter().flat_map(|pod| &pod.spec.host_ports).cloned().collect();
    ask.requests.fit_in(&bare.room.minus(&used))
        && (ask.host_ports.is_empty() || ports::why(&ask.host_ports, &taken()).is_ok())
        && lets(beside)
}

/// Returns the largest share of the preemptor's requests that a pod's requests make up, in millionths.
fn share(pod: &Pod, ask: &Ask) -> i128 {
    let parts = ask
        .requests
        .iter()
        .filter(|(_, amount)| *amount > 0)
        .map(|(name, amount)| i128::from(pod.spec.requests.get(name)) * 1_000_000 / i128::from(amount));
    parts.max().unwrap_or(0)
}
