//! Shortfalls: domains that took fewer pods than assigned, because pods are assigned before it is known what fits
//! there.
//!
//! Computes caps for the next attempt; never assigns pods itself.

use std::collections::BTreeMap;

use crate::model::{PodKey, PoolName};

use super::came_off;
use super::existing::Standing;
use super::pack::finish::Finished;
use super::supply::Supply;
use super::topology::assign::{Assigned, Caps, Pin};
use super::topology::domains::{THERE, tier_of_new};

/// Difference between assigned and placed pods.
#[derive(Clone, Debug, Default)]
pub(super) struct Shortfalls {
    /// Places, by split shape and tier, that took fewer pods than assigned, with how many they took.
    short: Vec<(usize, usize, usize)>,
    /// How many fewer pods they took than assigned.
    pub(super) pods: usize,
    /// How many pods went to lighter pools although a heavier one might have taken them in another place.
    pub(super) lighter: usize,
}

impl Shortfalls {
    /// Compares assigned pods with placed pods.
    pub(super) fn of(
        supply: &Supply<'_>,
        assigned: &Assigned,
        nodes: &[Standing<'_>],
        finished: &Finished,
    ) -> Self {
        let mut shortfalls = Self::default();
        if assigned.origins.iter().all(|(_, pin)| pin.is_none()) {
            return shortfalls;
        }
        let placed = placed(supply, assigned, nodes, finished);
        for (shape, (_, pin)) in assigned.origins.iter().enumerate() {
            let Some(pin) = pin else { continue };
            let (mut given, mut before) = (0, 0);
            for (tier, count) in &pin.tiers {
                let so_far: usize = placed.range((shape, 0)..=(shape, *tier)).map(|(_, count)| count).sum();
                given += count;
                if so_far < given {
                    shortfalls.short.push((shape, *tier, so_far - before));
                    shortfalls.pods += given - so_far;
                    shortfalls.lighter += if *tier == THERE { 0 } else { given - so_far };
                }
                before = so_far;
            }
            let most = pin.tiers.iter().map(|(tier, _)| *tier).max().max(Some(pin.heaviest));
            let after = most.unwrap_or(usize::MAX).saturating_add(1);
            let beyond = placed.range((shape, after)..=(shape, usize::MAX));
            shortfalls.lighter += beyond.map(|(_, count)| count).sum::<usize>();
        }
        shortfalls
    }

    /// Caps every place at what it took, if it took less than assigned or only by using lighter pools; returns whether
    /// a cap changed.
    pub(super) fn tighten(&self, assigned: &Assigned, caps: &mut Caps) -> bool {
        let mut is_new = false;
        for (shape, tier, placed) in &self.short {
            if let (origin, Some(pin)) = &assigned.origins[*shape] {
                let before = caps.insert((*origin, pin.values.clone(), *tier), *placed);
                is_new |= before != Some(*placed);
            }
        }
        is_new
    }
}

/// Counts the placed pods of pinned shapes by tier.
fn placed(
    supply: &Supply<'_>,
    assigned: &Assigned,
    nodes: &[Standing<'_>],
    finished: &Finished,
) -> BTreeMap<(usize, usize), usize> {
    let pin = |shape: usize| -> Option<&Pin> { assigned.origins[shape].1.as_ref() };
    let tiers: BTreeMap<&PoolName, usize> =
        supply.pools.iter().map(|pool| (&pool.pool.name, tier_of_new(pool.tier))).collect();
    let mut placed: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for shape in nodes.iter().flat_map(|standing| &standing.shapes).filter(|shape| pin(**shape).is_some()) {
        *placed.entry((*shape, THERE)).or_default() += 1;
    }
    for (node, shapes) in finished.nodes.iter().zip(&finished.shapes) {
        for shape in shapes.pods.iter().filter(|shape| pin(**shape).is_some()) {
            // Pods that share a node opened for others use nothing of a lighter pool.
            let tier = if shapes.opened_for == *shape { tiers[&node.pool] } else { THERE };
            *placed.entry((*shape, tier)).or_default() += 1;
        }
    }
    // Pods that fit and were unplaced again say nothing about capacity.
    let came_off = assigned.refused.iter().filter(|refused| refused.was_placed);
    let came_off: Vec<&PodKey> = came_off.flat_map(|refused| &refused.pods).collect();
    if !came_off.is_empty() {
        let numbers = came_off::numbers(&assigned.demand, came_off.into_iter());
        for shape in numbers.into_values().filter(|shape| pin(*shape).is_some()) {
            *placed.entry((shape, THERE)).or_default() += 1;
        }
    }
    placed
}
