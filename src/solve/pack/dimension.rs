//! What packing counts of a node: resources, and the volumes of drivers that attach only so many.
//!
//! Only how amounts become numbers; whether a pod may stand somewhere is not decided here.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::ResourceName;
use crate::solve::daemons::Overhead;
use crate::solve::demand::{Ask, Shape};
use crate::solve::fit::mounts::Mounted;
use crate::solve::supply::{Kind, Supply};

/// What one volume counts as: enough that what is left of a node can be weighed in parts of one.
const VOLUME: i64 = 1 << 20;

/// How many volumes a node takes of whose size nobody has said it: more than the pods of one node use.
const UNLIMITED: usize = 1 << 12;

/// What is counted of a node.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solve) enum Dimension {
    /// A resource.
    Resource(ResourceName),
    /// The volumes of a driver.
    Volumes(Arc<str>),
}

/// Returns every resource that anything asks for, pods, and the drivers of volumes that are asked for and of which nodes of
/// some size take only so many.
pub(super) fn all(shapes: &[(usize, &Shape, usize)], supply: &Supply<'_>) -> Vec<Dimension> {
    let mut names = BTreeSet::from([ResourceName::Pods]);
    let asked = shapes.iter().map(|(_, shape, _)| &shape.ask.requests);
    let daemons =
        supply.pools.iter().flat_map(|pool| pool.overheads.iter().map(|overhead| &overhead.requests));
    for requests in asked.chain(daemons) {
        names.extend(requests.iter().filter(|(_, amount)| *amount > 0).map(|(name, _)| name.clone()));
    }
    let kinds = || supply.pools.iter().flat_map(|pool| &pool.kinds);
    let drivers: BTreeSet<_> = shapes.iter().flat_map(|(_, shape, _)| shape.ask.volumes.drivers()).collect();
    let limited = drivers.into_iter().filter(|driver| kinds().any(|kind| kind.slots.contains_key(*driver)));
    let volumes = limited.map(|driver| Dimension::Volumes(Arc::clone(driver)));
    names.into_iter().map(Dimension::Resource).chain(volumes).collect()
}

/// The volumes that pods may find on a node, with the place of what they are counted by.
pub(super) type Shared = BTreeSet<(usize, Mounted)>;

/// Returns what a pod needs that finds none of its volumes there, one amount a dimension.
pub(super) fn needed_alone(ask: &Ask, dimensions: &[Dimension]) -> Vec<i64> {
    let mut needed = needed(ask, dimensions);
    add(&mut needed, &shared(ask, dimensions));
    needed
}

/// Adds what it takes to attach volumes.
pub(super) fn add<'s>(needed: &mut [i64], shared: impl IntoIterator<Item = &'s (usize, Mounted)>) {
    for (place, _) in shared {
        needed[*place] = needed[*place].saturating_add(VOLUME);
    }
}

/// Returns the volumes that a pod may find on a node, as far as they are counted.
pub(super) fn shared(ask: &Ask, dimensions: &[Dimension]) -> Shared {
    let place = |driver: &Arc<str>| {
        let is_it = |dimension: &Dimension| matches!(dimension, Dimension::Volumes(own) if own == driver);
        dimensions.iter().position(is_it)
    };
    let of_volume = |(driver, volume): &(Arc<str>, Mounted)| Some((place(driver)?, volume.clone()));
    ask.volumes.shared.iter().filter_map(of_volume).collect()
}

/// Returns what a pod needs beside the volumes that it may find there, one amount a dimension.
pub(super) fn needed(ask: &Ask, dimensions: &[Dimension]) -> Vec<i64> {
    let amount = |dimension: &Dimension| match dimension {
        Dimension::Resource(name) => ask.requests.get(name),
        Dimension::Volumes(driver) => volumes(ask.volumes.own.get(driver).copied().unwrap_or(0)),
    };
    dimensions.iter().map(amount).collect()
}

/// Returns what pods may use of a node beside these daemonsets, one amount a dimension.
pub(super) fn offered(kind: &Kind<'_>, overhead: &Overhead, dimensions: &[Dimension]) -> Vec<i64> {
    let room = kind.kind.allocatable.minus(&overhead.requests);
    let amount = |dimension: &Dimension| match dimension {
        Dimension::Resource(name) => room.get(name),
        Dimension::Volumes(driver) => volumes(kind.slots.get(driver).copied().unwrap_or(UNLIMITED)),
    };
    dimensions.iter().map(amount).collect()
}

fn volumes(count: usize) -> i64 {
    VOLUME.saturating_mul(i64::try_from(count.min(UNLIMITED)).unwrap_or(i64::MAX))
}
