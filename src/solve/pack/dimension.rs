//! Dimensions of a node's capacity: resources, and volumes of drivers with a limit per node.
//!
//! Only converts amounts to numbers. Never decides whether a pod may run on a node.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::ResourceName;
use crate::solve::daemons::Overhead;
use crate::solve::demand::{Ask, Shape};
use crate::solve::fit::mounts::Mounted;
use crate::solve::supply::{Kind, Supply};

/// Amount of one volume: large enough that the free capacity of a node can be weighed in parts of one.
const VOLUME: i64 = 1 << 20;

/// Number of volumes of a node whose size has no known limit: more than the pods of one node use.
const UNLIMITED: usize = 1 << 12;

/// A dimension of a node's capacity.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::solve) enum Dimension {
    /// A resource.
    Resource(ResourceName),
    /// The volumes of a driver.
    Volumes(Arc<str>),
}

/// Returns every requested resource, pods, and the drivers of requested volumes that have a limit on nodes of some
/// size.
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

/// Volumes that pods may share on a node, with the index of their dimension.
pub(super) type Shared = BTreeSet<(usize, Mounted)>;

/// Returns the needs of a pod if none of its volumes are attached yet, one amount per dimension.
pub(super) fn needed_alone(ask: &Ask, dimensions: &[Dimension]) -> Vec<i64> {
    let mut needed = needed(ask, dimensions);
    add(&mut needed, &shared(ask, dimensions));
    needed
}

/// Adds the amounts of attaching volumes.
pub(super) fn add<'s>(needed: &mut [i64], shared: impl IntoIterator<Item = &'s (usize, Mounted)>) {
    for (place, _) in shared {
        needed[*place] = needed[*place].saturating_add(VOLUME);
    }
}

/// Returns the volumes of a pod that may be attached already, if they are counted.
pub(super) fn shared(ask: &Ask, dimensions: &[Dimension]) -> Shared {
    let place = |driver: &Arc<str>| {
        let is_it = |dimension: &Dimension| matches!(dimension, Dimension::Volumes(own) if own == driver);
        dimensions.iter().position(is_it)
    };
    let of_volume = |(driver, volume): &(Arc<str>, Mounted)| Some((place(driver)?, volume.clone()));
    ask.volumes.shared.iter().filter_map(of_volume).collect()
}

/// Returns the needs of a pod without volumes that may be attached already, one amount per dimension.
pub(super) fn needed(ask: &Ask, dimensions: &[Dimension]) -> Vec<i64> {
    let amount = |dimension: &Dimension| match dimension {
        Dimension::Resource(name) => ask.requests.get(name),
        Dimension::Volumes(driver) => volumes(ask.volumes.own.get(driver).copied().unwrap_or(0)),
    };
    dimensions.iter().map(amount).collect()
}

/// Returns the capacity of a node for pods, beside these DaemonSets, one amount per dimension.
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
