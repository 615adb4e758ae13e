//! Who preempts whom is what the judge finds right, in worlds of nodes that are full of pods of low priorities.

use std::cell::Cell;
use std::sync::Arc;

use nodeform::check::{Rule, check};
use nodeform::model::{Pod, PodPlace};
use nodeform::solve::{Solution, preempted};
use proptest::prelude::{ProptestConfig, prop_assert};
use proptest::test_runner::TestRunner;

use crate::config;
use crate::support::build::World;
use crate::support::judged::{plan_of, try_planned};
use crate::support::random::worlds;

/// The least worlds of a run in which somebody preempts.
const PREEMPTING_MIN: usize = 20;

fn runs(pod: &Pod) -> bool {
    pod.place != PodPlace::Waiting && !pod.is_daemon
}

/// The world after everybody who waits has preempted whom it can of the pods that run.
fn after(mut world: World) -> World {
    for (number, pod) in world.snapshot.pods.iter_mut().filter(|pod| runs(pod)).enumerate() {
        let lower = -10 * i32::try_from(1 + number % 3).unwrap_or(1);
        Arc::make_mut(&mut pod.spec).priority = lower;
    }
    World { snapshot: preempted(world.snapshot), policy: world.policy }
}

#[test]
fn the_judge_agrees_with_who_preempts_whom() {
    let preempting = Cell::new(0);
    // Nothing is solved here, so that many more worlds can be looked at.
    let config = config();
    let mut runner = TestRunner::new(ProptestConfig { cases: config.cases * 32, ..config });
    let outcome = runner.run(&worlds(), |world| {
        let world = after(world);
        preempting.set(preempting.get() + usize::from(!world.snapshot.preemptions.is_empty()));
        // What the rest of the plan does says nothing of who preempts.
        let plan = plan_of(&world, &Solution::default());
        let found: Vec<String> = check(&world.snapshot, &world.policy, &plan)
            .into_iter()
            .filter(|finding| finding.rule == Rule::Preemption)
            .map(|finding| finding.to_string())
            .collect();
        prop_assert!(found.is_empty(), "{found:#?}");
        Ok(())
    });
    outcome.unwrap_or_else(|why| panic!("{why}"));
    assert!(preempting.get() >= PREEMPTING_MIN, "{} worlds show anything", preempting.get());
}

#[test]
fn every_pod_of_a_lower_priority_has_a_place_or_a_reason() {
    let mut runner = TestRunner::new(config());
    let outcome = runner.run(&worlds(), |world| {
        let planned = try_planned(&after(world));
        prop_assert!(planned.is_ok(), "{}", planned.err().unwrap_or_default());
        Ok(())
    });
    outcome.unwrap_or_else(|why| panic!("{why}"));
}
