//! Cached draft plans of each class, valid while replanning would give the same result.
//!
//! An idle fleet is checked twice a minute, and a class is only planned if something has changed. Never proposes a
//! draft: proposals are planned from the current world.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::rest::{REST_MAX, REST_WAITING_MAX};
use crate::model::{ChangeClass, PodPlace};
use crate::offline::World;
use crate::plan::Plan;

/// The last draft of each class.
#[derive(Clone, Debug, Default)]
pub struct Drafts {
    made_of: Option<Arc<MadeOf>>,
    plans: BTreeMap<ChangeClass, Arc<Plan>>,
}

#[derive(Debug)]
struct MadeOf {
    world: World,
    /// Folders of the merged or proposed plans that may still start.
    others: Vec<String>,
    at: Timestamp,
    lasts: SignedDuration,
}

impl Drafts {
    /// Updates the world; discards the drafts if replanning could now give another result.
    pub fn see(&mut self, world: &World, others: Vec<String>, clock_speed: u32) {
        let Some(at) = world.snapshot.at else { return *self = Self::default() };
        let lasts = self.made_of.as_ref().is_some_and(|made_of| {
            (SignedDuration::ZERO..made_of.lasts).contains(&at.duration_since(made_of.at))
                && made_of.others == others
                && world.is_planned_as(&made_of.world)
        });
        if lasts {
            return;
        }
        let waits = world.snapshot.pods.iter().any(|pod| pod.place == PodPlace::Waiting);
        let lasts = if waits { REST_WAITING_MAX } else { REST_MAX };
        let lasts = lasts / i32::try_from(clock_speed.max(1)).unwrap_or(i32::MAX);
        let made_of = MadeOf { world: world.clone(), others, at, lasts };
        *self = Self { made_of: Some(Arc::new(made_of)), plans: BTreeMap::new() };
    }

    /// Returns the draft of a class.
    #[must_use]
    pub fn of(&self, class: ChangeClass) -> Option<Arc<Plan>> {
        self.plans.get(&class).cloned()
    }

    /// Stores the draft of a class.
    pub fn keep(&mut self, class: ChangeClass, plan: Arc<Plan>) {
        self.plans.insert(class, plan);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::launch::tests::world::{FACTS, moving, world_of};
    use crate::offline;

    const CLASS: ChangeClass = ChangeClass::MovePods;

    fn seen() -> World {
        world_of(&moving(), FACTS)
    }

    fn later(world: &World, seconds: i64) -> World {
        let mut later = world.clone();
        later.snapshot.at = later.snapshot.at.map(|at| at + SignedDuration::from_secs(seconds));
        later
    }

    fn drafts(world: &World) -> Drafts {
        let mut drafts = Drafts::default();
        drafts.see(world, Vec::new(), 1);
        drafts.keep(CLASS, Arc::new(offline::plan(world).expect("the judge accepts it").plan.plan().clone()));
        drafts
    }

    #[test]
    fn a_draft_lasts_for_half_an_hour_while_nothing_changes() {
        let mut world = seen();
        world.snapshot.pods.retain(|pod| pod.place != PodPlace::Waiting);
        let lasts = |seconds: i64| {
            let mut drafts = drafts(&world);
            drafts.see(&later(&world, seconds), Vec::new(), 1);
            drafts.of(CLASS).is_some()
        };
        assert_eq!([0, 30, 1_799, 1_800, -1].map(lasts), [true, true, true, false, false]);
    }

    #[test]
    fn a_draft_goes_once_a_pod_a_pool_or_another_plan_is_not_as_it_was() {
        let world = seen();
        let sees = |world: &World, others: &[&str]| {
            let mut drafts = drafts(&seen());
            drafts.see(world, others.iter().map(|&name| name.to_owned()).collect(), 1);
            drafts.of(CLASS).is_some()
        };
        assert!(sees(&world, &[]));
        assert!(!sees(&world, &["2026-11/replace-k3v2q2m7xa"]));
        let mut without = world.clone();
        without.snapshot.pods.pop().expect("a pod");
        assert!(!sees(&without, &[]));
        let mut held = world;
        held.policy.fleet.holds.classes.insert(ChangeClass::Create);
        assert!(!sees(&held, &[]));
    }
}
