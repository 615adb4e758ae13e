//! The victims of a pod on a node: as few as possible, of the lowest priorities, those without a PodDisruptionBudget first.
//!
//! The fewest are found by two orders, not by trying all sets.

use std::cmp::Reverse;

use crate::model::eviction::Evictions;
use crate::model::{Pod, Resources};
use crate::solve::demand::Ask;
use crate::solve::fit::{Site, ports};

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
pub(super) fn victims<'a>(
    (bare, ask): (&Site<'_>, &Ask),
    lower: &[&'a Pod],
    evictions: &Evictions<'_>,
) -> Victims<'a> {
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
        let pods = least((bare, ask), order);
        Victims { guarded: pods.iter().filter(|pod| is_guarded(pod)).count(), pods }
    });
    if other.weight() < one.weight() { other } else { one }
}

/// Returns the first of these without whom there is room; none of them could stay.
fn least<'a>((bare, ask): (&Site<'_>, &Ask), order: Vec<&'a Pod>) -> Vec<&'a Pod> {
    let mut staying: Vec<&Pod> = Vec::new();
    let mut going: Vec<&Pod> = Vec::new();
    // Who would be the last to go is the first to stay.
    for pod in order.into_iter().rev() {
        staying.push(pod);
        if !has_room((bare, ask), &staying) {
            staying.pop();
            going.push(pod);
        }
    }
    going
}

/// Returns whether there is room for what is asked beside these.
fn has_room((bare, ask): (&Site<'_>, &Ask), beside: &[&Pod]) -> bool {
    let mut used = Resources::none();
    beside.iter().for_each(|pod| used.add(&pod.spec.requests));
    let taken = || beside.iter().flat_map(|pod| &pod.spec.host_ports).cloned().collect();
    ask.requests.fit_in(&bare.room.minus(&used))
        && (ask.host_ports.is_empty() || ports::why(&ask.host_ports, &taken()).is_ok())
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
