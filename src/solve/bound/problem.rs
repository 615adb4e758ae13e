//! What the bound is about, in numbers: pods of equal needs, and the nodes that could hold them.
//!
//! Everything here is at least as generous as Kubernetes: a pod that could stand somewhere is never left out.

use crate::solve::intern::Bits;

/// What a node is to the bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Source {
    /// It can be bought, as often as anybody likes.
    Offered,
    /// It can be bought as often as this commitment has VMs that no node uses which must stay.
    Committed(usize),
    /// It exists, or is on its way, so many times.
    There(i64),
}

/// A kind of node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Bin {
    /// What pods may use of it, one amount a dimension.
    pub(super) room: Vec<i64>,
    /// What one more costs, in millionths of a dollar an hour: nothing where it is paid in any case.
    pub(super) price: i64,
    /// Where it comes from.
    pub(super) source: Source,
}

/// Pods that are alike for the bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Class {
    /// What each needs, one amount a dimension.
    pub(super) need: Vec<i64>,
    /// How many there are.
    pub(super) count: i64,
    /// How many of them Kubernetes lets stand on one node.
    pub(super) most: i64,
    /// The bins that may hold them.
    pub(super) bins: Bits,
}

/// What is to be placed, and where it could be.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Problem {
    /// The pods.
    pub(super) classes: Vec<Class>,
    /// The nodes.
    pub(super) bins: Vec<Bin>,
    /// How many VMs of each commitment no node uses that must stay.
    pub(super) uncommitted: Vec<i64>,
    /// What is paid in any case.
    pub(super) fixed: i64,
}

impl Class {
    /// Returns how many of the class a bin holds.
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
    /// Leaves out the pods that say nothing about the cost (no offering holds them, or one that costs nothing does),
    /// and the nodes that hold none of the rest.
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
