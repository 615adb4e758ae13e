//! A node as a box: as wide as its vCPUs, with a slice per pod as wide as its share of the scarcer resource.
//!
//! Widths are whole half pixels of an unscaled box. Must never show more than the node has: slices are cut at its end.

use std::fmt::Write as _;

use maud::{Markup, html};

use super::fleet::{Fleet, Node, Side};
use super::pods::Amounts;

/// Half pixels per vCPU.
const UNITS_PER_VCPU: i64 = 26;

/// Slices under one and a half pixels are merged.
const SLICE_MIN: i64 = 3;

/// Half pixels between slices.
const GAP: i64 = 2;

/// Width, in vCPUs, of a node whose vCPUs are unknown.
pub(super) const VCPUS_UNKNOWN: u32 = 2;

/// Content of a slice, in the order within the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Daemons,
    Pod,
    Moving,
    Headroom,
}

impl Kind {
    const fn class(self) -> &'static str {
        match self {
            Self::Daemons => "d",
            Self::Pod => "p",
            Self::Moving => "m",
            Self::Headroom => "h",
        }
    }
}

/// Content of the box for one or several nodes.
#[derive(Debug, Default)]
pub(super) struct Load {
    pub(super) vcpus: u32,
    allocatable: Amounts,
    requested: Amounts,
    slices: Vec<(Kind, Amounts)>,
    /// Number of pods, without those of DaemonSets and headroom.
    pub(super) pods: usize,
    /// Whether the plan does not say which pods are on a node.
    pub(super) is_unknown: bool,
}

impl Load {
    /// Returns the content of a node; `side` is one of its two sides.
    pub(super) fn of(fleet: &Fleet<'_>, node: &Node<'_>, side: &Side) -> Self {
        let vcpus = node.vcpus.unwrap_or(VCPUS_UNKNOWN);
        let mut load = Self { vcpus, allocatable: node.allocatable, ..Self::default() };
        let Side::Holds(held, others) = side else {
            load.is_unknown = true;
            return load;
        };
        load.add(Kind::Daemons, *others);
        for pod in held.iter().map(|place| &fleet.pods[*place]) {
            let kind = match (pod.is_daemon, pod.is_headroom, pod.moves()) {
                (true, _, _) => Kind::Daemons,
                (false, true, _) => Kind::Headroom,
                (false, false, true) => Kind::Moving,
                (false, false, false) => Kind::Pod,
            };
            load.pods += usize::from(matches!(kind, Kind::Pod | Kind::Moving));
            load.add(kind, pod.requests);
        }
        load
    }

    /// Returns the content of several nodes, drawn as one of them.
    pub(super) fn of_several(loads: Vec<Self>) -> Self {
        let mut all = Self::default();
        for load in loads {
            all.vcpus = load.vcpus;
            all.pods += load.pods;
            all.is_unknown |= load.is_unknown;
            all.allocatable = all.allocatable.plus(load.allocatable);
            for (kind, requests) in load.slices {
                all.requested = all.requested.plus(requests);
                // Pods of many nodes are too many to distinguish.
                match all.slices.iter_mut().find(|(known, _)| *known == kind) {
                    Some((_, sum)) => *sum = sum.plus(requests),
                    None => all.slices.push((kind, requests)),
                }
            }
        }
        all
    }

    /// Returns pods without a node, in a box of at most this many vCPUs.
    pub(super) fn of_pending(fleet: &Fleet<'_>, pods: &[usize], vcpus_max: u32) -> Self {
        let mut load = Self { pods: pods.len(), ..Self::default() };
        for pod in pods.iter().map(|place| &fleet.pods[*place]) {
            load.add(if pod.moves() { Kind::Moving } else { Kind::Pod }, pod.requests);
        }
        let cores = u32::try_from((load.requested.cpu + 999) / 1000).unwrap_or(u32::MAX);
        load.vcpus = cores.clamp(1, vcpus_max);
        load.allocatable = load.requested;
        load
    }

    fn add(&mut self, kind: Kind, requests: Amounts) {
        self.requested = self.requested.plus(requests);
        // All daemons are one slice.
        match self.slices.first_mut() {
            Some((Kind::Daemons, daemons)) if kind == Kind::Daemons => *daemons = daemons.plus(requests),
            Some(_) if kind == Kind::Daemons => self.slices.insert(0, (kind, requests)),
            Some(_) | None => self.slices.push((kind, requests)),
        }
    }

    /// Returns the requested percentage of the scarcer resource; `None` if unknown.
    pub(super) fn percent(&self) -> Option<i64> {
        let (part, whole) = self.scarcer(self.requested);
        let (part, whole) = (i128::from(part), i128::from(whole));
        if self.is_unknown || whole <= 0 {
            return None;
        }
        i64::try_from((part * 100 + whole / 2) / whole).ok()
    }

    /// Returns the amount and total of the scarcer resource of the node, CPU or memory.
    fn scarcer(&self, amounts: Amounts) -> (i64, i64) {
        let Self { allocatable: all, requested, .. } = self;
        let [cpu, memory] = [(requested.cpu, all.memory), (requested.memory, all.cpu)]
            .map(|(one, other)| i128::from(one) * i128::from(other));
        if memory > cpu { (amounts.memory, all.memory) } else { (amounts.cpu, all.cpu) }
    }

    /// Draws the box.
    pub(super) fn draw(&self) -> Markup {
        let width = i64::from(self.vcpus) * UNITS_PER_VCPU;
        let class = format!("w{}", self.vcpus);
        html! {
            svg class=(class) viewBox=(format!("0 0 {width} 2")) preserveAspectRatio="none" aria-hidden="true" {
                @for (kind, path) in self.paths(width) { path class=(kind.class()) d=(path) {} }
            }
        }
    }

    /// Returns a path per kind of slice: strokes from left to right, each as long as the slice is wide.
    fn paths(&self, width: i64) -> Vec<(Kind, String)> {
        let mut parts: Vec<(Kind, i64)> =
            self.slices.iter().map(|(kind, requests)| (*kind, self.scarcer(*requests).0)).collect();
        parts.sort_by_key(|(kind, part)| (*kind, std::cmp::Reverse(*part)));
        let whole = i128::from(self.scarcer(self.requested).1.max(1));
        let (mut sum, mut before) = (0, 0);
        // Uses shares of the cumulative sum, so that rounding errors of slices do not add up.
        let slices: Vec<(Kind, i64)> = parts
            .into_iter()
            .map(|(kind, part)| {
                sum += i128::from(part);
                let until = i64::try_from(sum * i128::from(width) / whole).unwrap_or(width);
                let share = until - before;
                before = until;
                (kind, share)
            })
            .collect();
        let mut paths: Vec<(Kind, String)> = Vec::new();
        let (mut at, mut end) = (0, 0);
        let mut small = 0;
        for (place, (kind, share)) in slices.iter().enumerate() {
            let is_last = slices.get(place + 1).is_none_or(|(next, _)| next != kind);
            small += share;
            // Slices too small to see are merged with the next of their kind.
            if small < SLICE_MIN && !(is_last && small > 0) {
                continue;
            }
            let start = at.min(width - SLICE_MIN);
            let shown = small.max(SLICE_MIN).min(width - start);
            at += small;
            small = 0;
            let length = if shown > SLICE_MIN + GAP { shown - GAP } else { shown - 1 };
            if paths.last().is_none_or(|(last, _)| last != kind) {
                paths.push((*kind, format!("M{start} 1h{length}")));
            } else if let Some((_, path)) = paths.last_mut() {
                // Writing to a string cannot fail.
                let _ = write!(path, "m{} 0h{length}", start - end);
            }
            end = start + length;
        }
        paths
    }
}

#[cfg(test)]
mod tests {
    use super::{Amounts, Kind, Load};

    const GIB: i64 = 1 << 30;

    fn load(pods: &[i64]) -> Load {
        let allocatable = Amounts { cpu: 4000, memory: 16 * GIB };
        let mut load = Load { vcpus: 4, allocatable, ..Load::default() };
        pods.iter().for_each(|cpu| load.add(Kind::Pod, Amounts { cpu: *cpu, memory: 0 }));
        load
    }

    fn path(load: &Load) -> String {
        load.paths(104).into_iter().map(|(kind, path)| format!("{kind:?} {path}\n")).collect()
    }

    #[test]
    fn the_widest_pod_comes_first_and_small_ones_share_a_slice() {
        assert_eq!(path(&load(&[1000, 2000])), "Pod M0 1h50m2 0h24\n");
        // Each of a hundred is a quarter of a pixel wide; together they fill half of the node.
        let many = load(&[20; 100]);
        assert_eq!((many.percent(), path(&many).matches('h').count()), (Some(50), 18));
    }

    #[test]
    fn many_nodes_are_drawn_as_full_as_they_are_together() {
        let several = Load::of_several((0..300).map(|_| load(&[20; 100])).collect());
        assert_eq!((several.percent(), path(&several)), (Some(50), "Pod M0 1h50\n".to_owned()));
    }
}
