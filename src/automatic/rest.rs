//! Skips planning while the world equals that of the last plan, and that plan had no changes.
//!
//! Never skips a plan that could differ from the last; in case of doubt it replans.

use jiff::{SignedDuration, Timestamp};

use super::Definition;
use crate::model::PodPlace;
use crate::offline::World;
use crate::plan::Plan;
use crate::policy::Policy;

/// Maximum time without a plan. Any change triggers one immediately; this covers unforeseen cases.
pub(super) const REST_MAX: SignedDuration = SignedDuration::from_mins(30);

/// The same maximum while some pods cannot be placed by any plan.
pub(super) const REST_WAITING_MAX: SignedDuration = SignedDuration::from_mins(1);

/// The input of a round's plan: the observed world and the current policy.
#[derive(Clone, Debug)]
pub struct Rested {
    /// The world.
    pub world: World,
    /// The policy of the first plan, without recently failed configurations.
    pub policy: Policy,
    /// State of the NodeClaim CRD.
    pub definition: Definition,
}

/// The last plan's input, if the plan had no changes.
#[derive(Clone, Debug)]
pub struct Rest {
    rested: Rested,
    at: Timestamp,
    lasts: SignedDuration,
}

impl Rest {
    /// Returns the rest after a round with these plans; `None` if one of them has changes.
    #[must_use]
    pub fn after(rested: Rested, plans: &[&Plan], clock_speed: u32) -> Option<Self> {
        let has_changes = plans.iter().any(|plan| !plan.spec.changes.is_empty());
        let at = rested.world.snapshot.at.filter(|_| !has_changes)?;
        let waits = rested.world.snapshot.pods.iter().any(|pod| pod.place == PodPlace::Waiting);
        let lasts = if waits { REST_WAITING_MAX } else { REST_MAX };
        let speed = i32::try_from(clock_speed.max(1)).unwrap_or(i32::MAX);
        Some(Self { rested, at, lasts: lasts / speed })
    }

    /// Returns whether the current input would give the same plan as the last.
    #[must_use]
    pub fn lasts(&self, world: &World, policy: &Policy, definition: &Definition) -> bool {
        let is_short =
            |at: Timestamp| (SignedDuration::ZERO..self.lasts).contains(&at.duration_since(self.at));
        world.snapshot.at.is_some_and(is_short)
            && self.rested.definition == *definition
            && self.rested.policy == *policy
            && world.is_planned_as(&self.rested.world)
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::{Rest, Rested};
    use crate::automatic::Definition;
    use crate::launch::tests::world::{FACTS, OBJECTS, world_of};
    use crate::offline::{self, World};
    use crate::policy::Policy;

    fn later(world: &World, by: SignedDuration) -> World {
        let mut later = world.clone();
        later.snapshot.at = later.snapshot.at.map(|at| at + by);
        later
    }

    fn rested(world: &World) -> Rested {
        Rested { world: world.clone(), policy: world.policy.clone(), definition: Definition::There }
    }

    #[test]
    fn nothing_is_planned_while_a_world_without_changes_stays_the_same_for_half_an_hour_at_most() {
        let mut world = world_of(OBJECTS, FACTS);
        world.snapshot.pods.clear();
        let planned = offline::plan(&world).expect("the judge accepts it");
        let rest = Rest::after(rested(&world), &[planned.plan.plan()], 1).expect("there is nothing to do");
        let lasts = |seconds: i64| {
            let later = later(&world, SignedDuration::from_secs(seconds));
            rest.lasts(&later, &world.policy, &Definition::There)
        };
        assert_eq!([0, 10, 1_799, 1_800, -1].map(lasts), [true, true, true, false, false]);
        assert!(!rest.lasts(&world, &world.policy, &Definition::Going));
        assert!(!rest.lasts(&world, &Policy::default(), &Definition::There), "something else may be tried");
    }

    #[test]
    fn after_a_plan_with_changes_the_next_round_plans() {
        let world = world_of(OBJECTS, FACTS);
        let planned = offline::plan(&world).expect("the judge accepts it");
        assert!(!planned.plan.plan().spec.changes.is_empty());
        assert!(Rest::after(rested(&world), &[planned.plan.plan()], 1).is_none());
    }
}
