//! What the plans in flight have begun beside one of them: what a look does not show yet, and the new nodes that take the
//! pods of others.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use super::flights::Flight;
use crate::model::PoolName;
use crate::review::ApprovedPlan;
use crate::rollout::{self, Action, Effect};
use crate::world::Seen;

/// What was seen, and what comes by the others, for the plan at a place.
pub(super) struct Beside<'s> {
    pub(super) seen: Cow<'s, Seen>,
    /// How many nodes come that take the pods of others, none of which goes yet: by pool.
    pub(super) coming: BTreeMap<PoolName, usize>,
}

/// Returns what there is beside the plan at a place.
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

/// What a plan has begun and is not known to be there.
fn begun(flight: &Flight) -> impl Iterator<Item = (&ApprovedPlan, &Action)> {
    let plan: &ApprovedPlan = Arc::as_ref(&flight.carrying.plan);
    let is_under_way = |action: &&Action| flight.carrying.memory.in_flight.contains(&action.key());
    flight.begins.iter().filter(is_under_way).map(move |action| (plan, action))
}

/// The pool of the node whose pods a new node takes that is being made.
fn served(plan: &ApprovedPlan, action: &Action) -> Option<PoolName> {
    let is_create = matches!(action.effect, Effect::CreateClaim(_));
    let removal = plan.serves(&action.change).first().filter(|_| is_create)?;
    plan.spec().changes.get(removal)?.change.delete()?.target.pool.clone()
}

/// How many nodes of a plan come that take the pods of others: where these are dropped before they begin, none do.
fn of_one(flight: &Flight, seen: &Seen) -> BTreeMap<PoolName, usize> {
    let Flight { carrying, is_superseded, .. } = flight;
    match *is_superseded && carrying.memory.finishing.is_empty() {
        true => BTreeMap::new(),
        false => rollout::coming(&carrying.plan, seen, &carrying.memory),
    }
}
