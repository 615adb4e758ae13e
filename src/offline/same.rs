//! Whether a newly observed world gives the same plan as before: nothing has changed, and no time-dependent rule
//! either.
//!
//! Never treats two worlds with different plans as equal: everything that a plan reads is compared here.

use std::sync::Arc;

use super::World;
use super::learned::Evidence;
use crate::model::LearnedNode;
use crate::solve::Moment;

impl World {
    /// Returns whether both worlds give the same plan although they were observed at different times.
    #[must_use]
    pub fn is_planned_as(&self, other: &Self) -> bool {
        let Self {
            snapshot,
            policy,
            targets,
            strategy,
            proves_bound,
            valid_for,
            // Fields that are only counted, or derived from compared objects.
            objects: _,
            strays: _,
            remarks,
            faulty,
            abandoned,
            evidence,
            unscaled: _,
        } = self;
        let mut earlier = other.snapshot.clone();
        earlier.at = snapshot.at;
        let moment = |world: &Self| Moment::of(&world.snapshot, policy, world.snapshot.at);
        earlier == *snapshot
            && *policy == other.policy
            && (targets, strategy, proves_bound, valid_for)
                == (&other.targets, &other.strategy, &other.proves_bound, &other.valid_for)
            && (remarks, faulty, abandoned) == (&other.remarks, &other.faulty, &other.abandoned)
            && says_the_same(evidence, &other.evidence)
            && moment(self) == moment(other)
    }
}

/// Compares observations except for the time when a node with no more resources was last seen.
fn says_the_same(one: &Arc<Evidence>, other: &Arc<Evidence>) -> bool {
    let are_alike = |one: &LearnedNode, other: &LearnedNode| {
        let LearnedNode { alike, class_hash, allocatable, taints, seen: _ } = one;
        (alike, class_hash, allocatable, taints)
            == (&other.alike, &other.class_hash, &other.allocatable, &other.taints)
    };
    let nodes = one.nodes.iter().zip(&other.nodes);
    one.tries == other.tries
        && one.nodes.len() == other.nodes.len()
        && nodes.into_iter().all(|(one, other)| are_alike(one, other))
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use crate::launch::tests::world::{FACTS, OBJECTS, moving, world_of};
    use crate::model::ExpireAfter;
    use crate::offline::World;

    fn later(world: &World, by: SignedDuration) -> World {
        let mut later = world.clone();
        later.snapshot.at = later.snapshot.at.map(|at: Timestamp| at + by);
        later
    }

    #[test]
    fn a_world_that_is_only_older_is_planned_as_before_and_one_with_another_pod_is_not() {
        let world = world_of(OBJECTS, FACTS);
        assert!(later(&world, SignedDuration::from_secs(30)).is_planned_as(&world));
        let mut other = later(&world, SignedDuration::from_secs(30));
        other.snapshot.pods.pop().expect("there is a pod");
        assert!(!other.is_planned_as(&world));
        let mut other = world.clone();
        other.policy.pools.values_mut().for_each(|pool| pool.nodes_max = Some(1));
        assert!(!other.is_planned_as(&world));
    }

    #[test]
    fn a_world_whose_node_has_grown_too_old_in_between_is_planned_anew() {
        let mut world = world_of(&moving(), FACTS);
        for pool in world.policy.pools.values_mut() {
            pool.expire_after = ExpireAfter::Age(SignedDuration::from_hours(1));
        }
        let (at, nodes) = (world.snapshot.at, &mut world.snapshot.nodes);
        assert!(!nodes.is_empty());
        for node in nodes {
            node.created = at;
            node.claimed.expire_after = None;
        }
        assert!(later(&world, SignedDuration::from_secs(30)).is_planned_as(&world));
        assert!(!later(&world, SignedDuration::from_hours(2)).is_planned_as(&world));
    }
}
