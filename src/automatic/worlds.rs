//! The two worlds of a round: one in which nothing may go, for pods that wait, and one without the pods that wait in vain,
//! for all else.
//!
//! So that no drain delays a pod, and no pod that fits nowhere keeps a fleet from being tidied.

use std::collections::BTreeSet;

use crate::model::{ChangeClass, Holds, PodKey, PodPlace};
use crate::offline::World;
use crate::plan::Plan;

/// Returns the world in which nodes may be made and nothing else may happen.
#[must_use]
pub fn creates_alone(world: &World) -> World {
    let mut alone = world.clone();
    let others = ChangeClass::ALL.into_iter().filter(|class| *class != ChangeClass::Create);
    alone.policy.fleet.holds = Holds { classes: others.collect(), ..Holds::default() };
    alone
}

/// Returns the world without the pods that have no place on a node that is there or comes, by the plan of
/// [`creates_alone`].
#[must_use]
pub fn without_waiting(world: &World, creates: &Plan) -> World {
    let placed: BTreeSet<&PodKey> = creates.evidence.kept.values().flatten().collect();
    let mut rest = world.clone();
    rest.snapshot.pods.retain(|pod| {
        let waits_in_vain = pod.place == PodPlace::Waiting && !placed.contains(&pod.key);
        !waits_in_vain || pod.key.is_placeholder()
    });
    rest
}
