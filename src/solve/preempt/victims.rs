//! The victims of a pod on a node: as few as possible, of the lowest priorities, those without a PodDisruptionBudget first.
//!
//! The fewest are found by two orders, not by trying all sets. What else than room decides who has to go is asked of the
//! caller.

use std::cmp::Reverse;

use crate::model::eviction::Evictions;
use crate::model::{Pod, Resources};
use crate::solve::demand::Ask;
use crate::solve::fit::{Site, ports};

/// A pod on a node without all who could give way to it.
pub(super) struct Wanted<'w> {
    /// What is left of the node then.
    pub(super) bare: &'w Site<'w>,
    /// What the pod asks for.
    pub(super) ask: &'w Ask,
    /// Whether volumes and rules between pods let it be there beside these of them.
    pub(super) lets: &'w dyn Fn(&[&Pod]) -> bool,
}

/// The victims of a pod.
#[derive(Clone)]
pub(super) struct Victims<'a> {
    /// The pods.
    pub(super) pods: Vec<&'a Pod>,
    /// How many of them PodDisruptionBudgets are about.
    guarded: usize,
}

impl Victims<'_> {
    /// Returns what sorts those first that are to go rather.
    pub(super) fn weight(&self) -> (usize, usize, Vec<i32>) {
        let mut priorities: Vec<i32> = self.pods.iter().map(|pod| pod.spec.priority).collect();
        priorities.sort_unstable_by_key(|priority| Reverse(*priority));
        (self.guarded, self.pods.len(), priorities)
    }
}

/// Chooses the victims among these, without all of which there is room for what is asked.
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

/// Returns the first of these without whom there is room; none of them could stay.
fn least<'a>(wanted: &Wanted<'_>, order: Vec<&'a Pod>) -> Vec<&'a Pod> {
    let mut staying: Vec<&Pod> = Vec::new();
    let mut going: Vec<&Pod> = Vec::new();
    // Who would be the last to go is the first to stay.
    for pod in order.into_iter().rev() {
        staying.push(pod);
        if !has_room(wanted, &staying) {
            staying.pop();
            going.push(pod);
        }
    }
    going
}

/// Returns whether there is room for what is asked beside these.
fn has_room(Wanted { bare, ask, lets }: &Wanted<'_>, beside: &[&Pod]) -> bool {
    let mut used = Resources::none();
    beside.iter().for_each(|pod| used.add(&pod.spec.requests));
    let taken = || beside.iter().flat_map(|pod| &pod.spec.host_ports).cloned().collect();
    ask.requests.fit_in(&bare.room.minus(&used))
        && (ask.host_ports.is_empty() || ports::why(&ask.host_ports, &taken()).is_ok())
        && lets(beside)
}

/// Returns how much of what is asked for a pod has, in millionths of it.
fn share(pod: &Pod, ask: &Ask) -> i128 {
    let parts = ask
        .requests
        .iter()
        .filter(|(_, amount)| *amount > 0)
        .map(|(name, amount)| i128::from(pod.spec.requests.get(name)) * 1_000_000 / i128::from(amount));
    parts.max().unwrap_or(0)
}
