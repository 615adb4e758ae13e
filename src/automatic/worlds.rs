//! The two worlds of a round: one without removals, for pending pods, and one without the pods that cannot be placed,
//! for everything else.
//!
//! This way no drain delays a pod, and no unplaceable pod prevents consolidation.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::back_off::{BackOff, Made, NeverJoined};
use crate::model::{ChangeClass, LabelKey, Operator, PodKey, PodPlace, Requirement, Reviewed, label};
use crate::offline::World;
use crate::plan::Plan;

/// Returns the world of automatic changes: those that require review are held back.
#[must_use]
pub fn by_itself(mut world: World) -> World {
    let fleet = &mut world.policy.fleet;
    fleet.holds.reviewed = fleet.reviewed.clone();
    world
}

/// Returns the world of reviewed changes: everything that is due.
#[must_use]
pub fn to_be_reviewed(world: &World) -> World {
    let mut reviewed = world.clone();
    reviewed.policy.fleet.holds.reviewed = Reviewed::default();
    reviewed
}

/// Returns the world in which nodes may be created and nothing else may happen. Excludes a pool's sizes whose VMs
/// recently never joined, if they would get the same image again.
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

/// Returns the world without the pending pods that the plan of [`creates_alone`] does not place on an existing or
/// starting node.
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

/// Returns whether VMs of a pool would get this image again: images that no class names are always the newest.
fn has_image(world: &World, made: &Made) -> bool {
    let is_named = !made.image.to_ascii_lowercase().starts_with("/communitygalleries/");
    let facts = world.snapshot.azure.as_ref();
    is_named
        || facts.is_none_or(|facts| {
            facts.images.is_empty() || facts.images.values().any(|image| *image == made.image)
        })
}
