//! What a fleet's freezes and holds keep back: what would be done next, once the plan is carried out, if they were not.
//!
//! Planned in the world after the plan, so that planning again lists the same. Nothing of it becomes a change.

use crate::model::{DisruptionReason, Holds};
use crate::plan::Plan;
use crate::plan::held::add_waiting;
use crate::policy::Policy;

use super::{World, solved};

/// Adds to a plan what waits; without a hold that is in force nothing is worked out.
pub(super) fn listed(world: &World, mut plan: Plan) -> Plan {
    let World { snapshot, policy, .. } = world;
    if !is_held(world) {
        return plan;
    }
    let mut free: Policy = policy.clone();
    free.fleet.holds = Holds::default();
    let then = crate::sim::after(snapshot, &plan);
    let (next, _) = solved(&World { snapshot: then, policy: free, ..world.clone() });
    add_waiting(&mut plan, policy, &next);
    plan
}

fn is_held(World { snapshot, policy, .. }: &World) -> bool {
    use DisruptionReason::{Drifted, Empty, Expired, Underutilized, Unhealthy};
    let holds = &policy.fleet.holds;
    let reasons = [Empty, Underutilized, Drifted, Expired, Unhealthy];
    let is_held = |pool| reasons.iter().any(|reason| holds.on_removal(pool, *reason, snapshot.at).is_some());
    !holds.is_none() && policy.pools.keys().any(is_held)
}
