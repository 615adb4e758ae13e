//! Headroom of CapacityBuffers: where it is and what it costs, never at the expense of pods.
//!
//! Placeholder pods are never bound, so each plan places them again, in every fleet that it considers: after the pods,
//! on the capacity that they leave free (`layout`). Only for the rest are nodes created, or larger nodes for both
//! (`shared`). Nodes that hold headroom are not empty, and none is removed to save cost if less headroom would fit
//! without it; nothing else depends on headroom. The layout is stored nowhere: a plan that would only lay it out
//! differently does nothing. Strategies that know only pods get the headroom as pods on existing nodes ([`laid`]).

pub mod laid;
pub(super) mod layout;
mod shared;

use std::borrow::Cow;

use crate::model::{MicroUsdPerHour, PodKey};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

use super::demand::Demand;
use super::memo::Memos;
use super::preferences;
use super::replicas;
use super::solution::{Headroom, Solution};
use super::topology::Topology;

pub(super) use shared::shared;

/// Computes the fleet that should exist, including the headroom of buffers and its cost.
pub(super) fn solve(snapshot: &Snapshot, policy: &Policy, memos: &Memos) -> Solution {
    let fleet = |world: &Snapshot| {
        replicas::with_replacements(world, policy, |world| preferences::solve(world, policy, memos))
    };
    match without_room(snapshot) {
        Cow::Borrowed(_) => fleet(snapshot),
        Cow::Owned(bare) => {
            let (with, without) = rayon::join(|| fleet(snapshot), || fleet(&bare));
            said(with, &without)
        }
    }
}

/// Returns a snapshot without the placeholders of buffers.
pub(super) fn without_room(snapshot: &Snapshot) -> Cow<'_, Snapshot> {
    if !snapshot.pods.iter().any(|pod| pod.key.is_placeholder()) {
        return Cow::Borrowed(snapshot);
    }
    let pods = snapshot.pods.iter().filter(|pod| !pod.key.is_placeholder());
    Cow::Owned(snapshot.with_pods(pods.cloned().collect()))
}

/// Returns the headroom that buffers request. Rules between pods ignore it.
pub(super) fn asked(snapshot: &Snapshot) -> Demand {
    if !snapshot.pods.iter().any(|pod| pod.key.is_placeholder()) {
        return Demand::default();
    }
    let room = snapshot.pods.iter().filter(|pod| pod.key.is_placeholder());
    Demand::of(&snapshot.with_pods(room.cloned().collect()), &Topology::default())
}

/// Reports how much headroom a fleet has, and how much more it costs than a fleet without.
fn said(mut with: Solution, without: &Solution) -> Solution {
    let new = with.target.new.iter().flat_map(|node| &node.pods);
    let kept = with.target.kept.iter().flat_map(|kept| &kept.pods);
    let pods = new.chain(kept).filter(|key| PodKey::is_placeholder(key)).count();
    let (dearer, bare) = (with.report.cost_after, without.report.cost_after);
    with.report.headroom = (pods > 0).then(|| Headroom {
        pods,
        cost: MicroUsdPerHour((dearer.effective.0 - bare.effective.0).max(0)),
        is_estimate: dearer.is_estimate || bare.is_estimate,
    });
    with
}
