//! The two worlds of a round: one in which nothing may go, for pods that wait, and one without the pods that wait in vain,
//! for all else.
//!
//! So that no drain delays a pod, and no pod that fits nowhere keeps a fleet from being tidied.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::back_off::{BackOff, Made, NeverJoined};
use crate::model::{ChangeClass, LabelKey, Operator, PodKey, PodPlace, Requirement, Reviewed, label};
use crate::offline::World;
use crate::plan::Plan;

/// Returns the world of what happens by itself: what people review first is kept back.
#[must_use]
pub fn by_itself(mut world: World) -> World {
    let fleet = &mut world.policy.fleet;
    fleet.holds.reviewed = fleet.reviewed.clone();
    world
}

/// Returns the world of what people review: all that is due.
#[must_use]
pub fn to_be_reviewed(world: &World) -> World {
    let mut reviewed = world.clone();
    reviewed.policy.fleet.holds.reviewed = Reviewed::default();
    reviewed
}

/// Returns the world in which nodes may be made and nothing else may happen; none of a pool's sizes whose VMs never
/// joined a short while ago with the image that they would have again.
#[must_use]
pub fn creates_alone(world: &World, back_off: &BackOff, at: Timestamp) -> World {
    let mut alone = world.clone();
    for NeverJoined { made, .. } in back_off.silent(at).filter(|silent| has_image(world, &silent.made)) {
        if let Some(pool) = alone.policy.pools.get_mut(&made.pool) {
            let others = Requirement::new(Operator::NotIn, [made.size.as_str()]);
            pool.requirements.add(LabelKey::new(label::INSTANCE_TYPE), others);
        }
    }
    let others = ChangeClass::ALL.into_iter().filter(|class| *class != ChangeClass::Create);
    alone.policy.fleet.holds = alone.policy.fleet.holds.of_creates(others);
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

/// Whether VMs of a pool would have this image again: of those that classes do not name themselves, the newest is taken.
fn has_image(world: &World, made: &Made) -> bool {
    let is_named = !made.image.to_ascii_lowercase().starts_with("/communitygalleries/");
    let facts = world.snapshot.azure.as_ref();
    is_named
        || facts.is_none_or(|facts| {
            facts.images.is_empty() || facts.images.values().any(|image| *image == made.image)
        })
}
