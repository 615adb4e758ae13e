//! Effects of the other plans in progress on one of them: actions that a read does not show yet, and new nodes for the
//! pods of nodes that are being replaced.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::flights::Flight;
use crate::model::PoolName;
use crate::review::ApprovedPlan;
use crate::rollout::{self, Action, Effect};
use crate::world::Seen;

/// The world and the coming nodes of the other plans, as seen by one plan.
pub(super) struct Beside<'s> {
    pub(super) seen: Cow<'s, Seen>,
    /// Number of coming replacement nodes whose removals have not started, by pool.
    pub(super) coming: BTreeMap<PoolName, usize>,
}

/// Returns the effects of the other plans on the plan at this index.
pub(super) fn beside<'s>(flights: &[Flight], at: usize, seen: &'s Seen) -> Beside<'s> {
    let others = || flights.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, flight)| flight);
    let begun: Vec<(&ApprovedPlan, &Action)> = others().flat_map(begun).collect();
    let mut coming = BTreeMap::new();
    for (pool, many) in others().flat_map(|flight| of_one(flight, seen)) {
        *coming.entry(pool).or_default() += many;
    }
    for (plan, action) in &begun {
        if let Some(pool) = served(plan, action) {
            *coming.entry(pool).or_default() += 1;
        }
    }
    Beside { seen: rollout::laid(seen, &begun), coming }
}

/// Returns actions that a plan has started and that may not show yet.
fn begun(flight: &Flight) -> impl Iterator<Item = (&ApprovedPlan, &Action)> {
    let plan: &ApprovedPlan = Arc::as_ref(&flight.carrying.plan);
    let is_under_way = |action: &&Action| flight.carrying.memory.in_flight.contains(&action.key());
    flight.begins.iter().filter(is_under_way).map(move |action| (plan, action))
}

/// Returns the pool of the node that a new node replaces, for the creation of its claim.
fn served(plan: &ApprovedPlan, action: &Action) -> Option<PoolName> {
    let is_create = matches!(action.effect, Effect::CreateClaim(_));
    let removal = plan.serves(&action.change).first().filter(|_| is_create)?;
    plan.spec().changes.get(removal)?.change.delete()?.target.pool.clone()
}

/// Returns the number of coming replacement nodes of a plan; none if they are dropped before they start.
fn of_one(flight: &Flight, seen: &Seen) -> BTreeMap<PoolName, usize> {
    let Flight { carrying, is_superseded, .. } = flight;
    match *is_superseded && carrying.memory.finishing.is_empty() {
        true => BTreeMap::new(),
        false => rollout::coming(&carrying.plan, seen, &carrying.memory),
    }
}
