//! Explains why a node with pods is kept: what would happen if this node alone were removed too, once the plan is
//! applied.
//!
//! Runs for one node on request; never decides anything.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::model::{ConsolidationPolicy, MicroUsdPerHour, NodeName};
use crate::snapshot::Snapshot;
use crate::solve::demand::Roster;
use crate::solve::existing::{self, Standing};
use crate::solve::scheduler;

use super::balanced::Scales;
use super::candidate::{self, Candidate};
use super::empty;
use super::outcome::suits_scheduler;
use super::trial::{Scene, Stage, Trial, is_worse};

/// The reason why a node is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alone {
    /// It may not be removed.
    Kept(String),
    /// Not all of its pods would certainly be placed.
    PodsLeftOver,
    /// Pods elsewhere require some of its pods in their zone or another such domain.
    Needed,
    /// The cost of the fleet is unknown.
    Unpriced,
    /// The fleet would cost this much more per hour, possibly zero.
    Dearer(MicroUsdPerHour),
    /// The fleet would cost less per hour.
    Cheaper {
        /// The hourly saving.
        by: MicroUsdPerHour,
        /// What prevents it.
        but: InTheWay,
    },
}

/// What prevents a fleet that is cheaper without one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InTheWay {
    /// The hourly saving does not exceed this minimum for moving pods.
    TooLittle(MicroUsdPerHour),
    /// `consolidationPolicy: Balanced` requires a larger saving.
    Unbalanced,
    /// A pod would get a node of a lighter pool than it could have.
    LighterPool,
    /// Headroom for future pods would be lost.
    Headroom,
    /// kube-scheduler alone might not place all pods, which is not risked for less than this per hour.
    Scheduler(MicroUsdPerHour),
    /// Nothing about this node alone: preferences, or the order of changes.
    Other,
}

/// Returns what keeps a node in a world in which the plan is applied; `None` if the node does not exist.
pub(in crate::solve) fn alone(scene: &Scene<'_>, world: &Snapshot, name: &NodeName) -> Option<Alone> {
    let nodes = existing::standing(world, scene.daemons, scene.topology);
    let standing = nodes.iter().find(|standing| standing.node.name == *name)?;
    let may_go = candidate::candidates(scene.rules(), world, (std::slice::from_ref(standing), &[]));
    match may_go.first() {
        None => Some(Alone::Kept(why_may_not(scene, world, standing))),
        Some(candidate) => Some(without(scene, world, (&nodes, candidate))),
    }
}

/// Returns why a node with pods may not be removed.
fn why_may_not(scene: &Scene<'_>, world: &Snapshot, standing: &Standing<'_>) -> String {
    let has_claims = world.nodes.iter().any(|node| node.claim.is_some());
    let barred = || standing.bound.iter().find_map(|pod| scene.evictions.why_stays(pod));
    empty::unknown(standing.node, has_claims, true)
        .or_else(|| empty::why_stays(world, scene.policy, standing))
        .or_else(|| let_go_by_none(scene, standing))
        .or_else(|| {
            let is_stuck = scene.stuck.contains(&standing.node.name);
            is_stuck.then(|| "it is empty now, and nothing lets an empty node of its pool go".to_owned())
        })
        .or_else(barred)
        .unwrap_or_else(|| "what it costs is not known, so that nothing is known to be cheaper".to_owned())
}

/// Returns why its pool does not allow a node with pods to be removed.
fn let_go_by_none(scene: &Scene<'_>, standing: &Standing<'_>) -> Option<String> {
    let pool = scene.policy.pools.get(standing.node.pool.as_ref()?)?;
    if scene.lets_go.contains(&pool.name) {
        return None;
    }
    Some(match pool.disruption.policy {
        ConsolidationPolicy::WhenEmpty => {
            format!(
                "its pool `{}` lets nodes go that are empty, and no others (`consolidationPolicy`)",
                pool.name
            )
        }
        ConsolidationPolicy::WhenEmptyOrUnderutilized | ConsolidationPolicy::Balanced => {
            format!("no budget of its pool `{}` allows an underutilized node to be deleted now", pool.name)
        }
    })
}

/// Plans without the node, and returns what would be worse.
fn without(scene: &Scene<'_>, world: &Snapshot, (nodes, candidate): (&[Standing<'_>], &Candidate)) -> Alone {
    let roster = Arc::new(Roster::of(world, scene.topology));
    let mut stage = Stage::of(world, (nodes, &roster));
    let (none, alone) = (BTreeSet::new(), BTreeSet::from([candidate.node.clone()]));
    let (with, without) = (stage.trial(scene, &none), stage.trial(scene, &alone));
    if !without.stranded.is_empty() || is_worse(&without.unplaced, &with.unplaced) {
        return Alone::PodsLeftOver;
    }
    if !without.needed.is_empty() {
        return Alone::Needed;
    }
    if !with.is_priced || !without.is_priced {
        return Alone::Unpriced;
    }
    let by = with.cost - without.cost;
    if by.0 <= 0 {
        return Alone::Dearer(without.cost - with.cost);
    }
    Alone::Cheaper { by, but: in_the_way((scene, world), (&with, &without), (candidate, &alone)) }
}

/// Returns what prevents a cheaper fleet.
fn in_the_way(
    (scene, world): (&Scene<'_>, &Snapshot),
    (with, without): (&Trial, &Trial),
    (candidate, alone): (&Candidate, &BTreeSet<NodeName>),
) -> InTheWay {
    let saving = with.cost.0 - without.cost.0;
    let scales = Scales::of(world, scene.policy, scene.market);
    let risk = scheduler::worth(with.cost);
    let mut rooms = without.without_room.iter().zip(&with.without_room);
    let suits = |set: &BTreeSet<NodeName>, trial: &Trial| suits_scheduler((scene, world), set, trial);
    if saving <= candidate.threshold() {
        InTheWay::TooLittle(MicroUsdPerHour(candidate.threshold()))
    } else if without.overruled > with.overruled {
        InTheWay::LighterPool
    } else if rooms.any(|(now, before)| now > before) {
        InTheWay::Headroom
    } else if !scales.agree(alone, with.vms - without.vms) {
        InTheWay::Unbalanced
    } else if saving <= candidate.threshold() + risk.0
        && suits(&BTreeSet::new(), with)
        && !suits(alone, without)
    {
        InTheWay::Scheduler(risk)
    } else {
        InTheWay::Other
    }
}
