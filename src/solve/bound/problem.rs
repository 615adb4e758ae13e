//! The bound's problem in numbers: pods with equal needs, and the nodes that could hold them.
//!
//! Never stricter than Kubernetes: no node that could hold a pod is left out.

use crate::solve::intern::Bits;

/// Origin of a bin's nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// Can be bought without limit.
    Offered,
    /// Can be bought as often as this commitment has VMs that kept nodes leave unused.
    Committed(usize),
    /// Exists or is being created, this many times.
    There(i64),
}

/// A kind of node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bin {
    /// Capacity for pods, one amount per dimension.
    pub(super) room: Vec<i64>,
    /// Cost of one more node, in millionths of a dollar per hour; zero if it is paid in any case.
    pub(super) price: i64,
    /// Origin of the nodes.
    pub(super) source: Source,
}

/// Pods that are identical for the bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    /// Needs of each pod, one amount per dimension.
    pub(super) need: Vec<i64>,
    /// Number of pods.
    pub(super) count: i64,
    /// Maximum number of them that Kubernetes allows on one node.
    pub(super) most: i64,
    /// Bins that may hold them.
    pub(super) bins: Bits,
}

/// The pods to place, and the nodes that could hold them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Problem {
    /// The pods.
    pub(super) classes: Vec<Class>,
    /// The nodes.
    pub(super) bins: Vec<Bin>,
    /// Number of VMs of each commitment that kept nodes leave unused.
    pub(super) uncommitted: Vec<i64>,
    /// Cost that is paid in any case.
    pub(super) fixed: i64,
}

impl Class {
    /// Returns how many pods of the class a bin holds.
    pub(super) fn most_in(&self, place: usize, bin: &Bin) -> i64 {
        if !self.bins.has(place) {
            return 0;
        }
        let parts = self.need.iter().zip(&bin.room).filter(|(need, _)| **need > 0);
        let fits = parts.map(|(need, room)| (*room).max(0) / need).min().unwrap_or(i64::MAX);
        fits.min(self.most).min(self.count)
    }
}

impl Problem {
    /// Drops the pods that do not affect the cost (no offering holds them, or a free one does), and the nodes that hold
    /// none of the others.
    pub(super) fn without_the_rest(mut self) -> Self {
        let offered = |bin: &Bin| bin.source == Source::Offered;
        let bins = &self.bins;
        self.classes.retain(|class| {
            let holding = || {
                bins.iter().enumerate().filter(|(place, bin)| offered(bin) && class.most_in(*place, bin) > 0)
            };
            class.count > 0 && holding().next().is_some() && holding().all(|(_, bin)| bin.price > 0)
        });
        let is_used =
            |place: usize| self.classes.iter().any(|class| class.most_in(place, &self.bins[place]) > 0);
        let kept: Vec<usize> = (0..self.bins.len()).filter(|place| is_used(*place)).collect();
        for class in &mut self.classes {
            let mut bins = Bits::none(kept.len());
            let places = kept.iter().enumerate().filter(|(_, place)| class.bins.has(**place));
            places.for_each(|(number, _)| bins.insert(number));
            class.bins = bins;
        }
        self.bins = kept.into_iter().map(|place| self.bins[place].clone()).collect();
        self
    }
}
