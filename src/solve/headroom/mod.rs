//! Room that CapacityBuffers keep: where it is, what it costs, and that no pod goes without for its sake.
//!
//! Nobody comes to stand in the room. So every plan lays it out anew, in every fleet that it looks at: after the pods, on
//! what they leave (`layout`), and only for the rest nodes are made, or larger ones for both (`shared`). Nodes that keep room are not empty, and none goes to
//! save something where less room would be kept without it; nothing else depends on room. What was laid out where is
//! nowhere written down: a plan that would only lay it out otherwise does nothing. Strategies that know only pods get the
//! room as pods that stand on what is there ([`laid`]).

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

/// Works out the fleet that should exist, with the room that buffers keep and what it costs.
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

/// Returns the room that buffers ask for. It is nobody to rules between pods.
pub(super) fn asked(snapshot: &Snapshot) -> Demand {
    if !snapshot.pods.iter().any(|pod| pod.key.is_placeholder()) {
        return Demand::default();
    }
    let room = snapshot.pods.iter().filter(|pod| pod.key.is_placeholder());
    Demand::of(&snapshot.with_pods(room.cloned().collect()), &Topology::default())
}

/// Says how much room a fleet keeps, and how much dearer it is than one without.
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
