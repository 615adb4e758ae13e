//! Why a node that carries pods stays: what would come of it if it alone went too, once all that is planned is done.
//!
//! Asked for one node when somebody wants to know; nothing is decided here.

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

/// What keeps a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alone {
    /// It may not be taken away.
    Kept(String),
    /// Not all of its pods would have a sure place.
    PodsLeftOver,
    /// Pods elsewhere have to stand beside some of its pods, in its zone or another such domain.
    Needed,
    /// What the fleet would cost is not known.
    Unpriced,
    /// The fleet would cost so much more by the hour, or as much.
    Dearer(MicroUsdPerHour),
    /// The fleet would cost so much less by the hour.
    Cheaper {
        /// By so much.
        by: MicroUsdPerHour,
        /// What is in the way.
        but: InTheWay,
    },
}

/// What is in the way of a fleet that is cheaper without one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InTheWay {
    /// Pods are moved for no less than this by the hour.
    TooLittle(MicroUsdPerHour),
    /// `consolidationPolicy: Balanced` asks for more.
    Unbalanced,
    /// A pod would go to a lighter pool than it could have.
    LighterPool,
    /// Room that is kept for pods to come would be lost.
    Headroom,
    /// The scheduler alone might find no place for all pods, which is not risked for less than this by the hour.
    Scheduler(MicroUsdPerHour),
    /// Nothing by this alone: preferences, or the way there.
    Other,
}

/// Returns what keeps a node in a world in which all that is planned is done; nothing where it is not there.
pub(in crate::solve) fn alone(scene: &Scene<'_>, world: &Snapshot, name: &NodeName) -> Option<Alone> {
    let nodes = existing::standing(world, scene.daemons, scene.topology);
    let standing = nodes.iter().find(|standing| standing.node.name == *name)?;
    let may_go = candidate::candidates(scene.rules(), world, (std::slice::from_ref(standing), &[]));
    match may_go.first() {
        None => Some(Alone::Kept(why_may_not(scene, world, standing))),
        Some(candidate) => Some(without(scene, world, (&nodes, candidate))),
    }
}

/// Returns why a node may not be taken away while it carries pods.
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

/// Returns why its pool does not let a node go that carries pods.
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

/// Plans without the node, and says what is worse then.
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

/// Returns what says no to a fleet that is cheaper.
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
