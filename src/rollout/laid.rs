//! What other plans have begun, laid over what was seen: a look shows what is written only once it is.
//!
//! So that plans that share a look never begin more together than budgets, drains and the breaker let go. Must never be
//! laid over what its own plan goes on from: that waits until the objects are there.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Next;
use super::action::patch::ANNOTATIONS;
use super::action::{Action, Effect, Object, ObjectPatch};
use super::journal::REMOVAL;
use super::outcome::Standing;
use crate::model::ClaimName;
use crate::plan::mark;
use crate::review::ApprovedPlan;
use crate::world::Whole;
use crate::world::seen::{Seen, SeenClaim};

impl Next {
    /// Returns the side effects by which changes begin: NodeClaims that are written, and marks of removals.
    #[must_use]
    pub fn begins(&self) -> Vec<Action> {
        let acts = self.standings.values().filter_map(|standing| match standing {
            Standing::Acts(actions) => Some(actions),
            Standing::Waits(_) | Standing::Settled(_) => None,
        });
        acts.flatten().filter(|action| begins(&action.effect)).cloned().collect()
    }
}

fn begins(effect: &Effect) -> bool {
    matches!(effect, Effect::CreateClaim(_)) || marked(effect).is_some()
}

/// The NodeClaim that is marked as going, and the mark.
fn marked(effect: &Effect) -> Option<(&ClaimName, &str)> {
    let Effect::Patch(ObjectPatch { object: Object::Claim(name), operations, .. }) = effect else {
        return None;
    };
    Some((name, operations.entry(ANNOTATIONS, REMOVAL)?))
}

/// Returns what was seen with what other plans have begun.
#[must_use]
pub fn laid<'s>(seen: &'s Seen, begun: &[(&ApprovedPlan, &Action)]) -> Cow<'s, Seen> {
    let Some(Whole { at, .. }) = seen.whole().filter(|_| !begun.is_empty()) else {
        return Cow::Borrowed(seen);
    };
    let mut laid = seen.clone();
    let claims = laid.claims.get_or_insert_default();
    for (plan, action) in begun {
        if let Effect::CreateClaim(name) = &action.effect {
            claims.entry(name.clone()).or_insert_with(|| coming(plan, action, at));
        }
        if let Some((name, mark)) = marked(&action.effect)
            && let Some(claim) = claims.get_mut(name)
        {
            claim.annotations.insert(REMOVAL.into(), mark.into());
        }
    }
    Cow::Owned(laid)
}

/// A NodeClaim that is being written.
fn coming(plan: &ApprovedPlan, action: &Action, at: jiff::Timestamp) -> SeenClaim {
    let mut creates = plan.spec().creates().filter(|(id, _, _)| **id == action.change);
    let item = (mark::ITEM.into(), action.change.0.clone());
    SeenClaim {
        uid: "".into(),
        version: "".into(),
        pool: creates.next().map(|(_, _, claim)| claim.pool.clone()),
        labels: BTreeMap::new(),
        annotations: BTreeMap::from([(mark::PLAN.into(), plan.id().into()), item]),
        finalizers: Vec::new(),
        taints: Vec::new(),
        startup_taints: Vec::new(),
        provider_id: None,
        node: None,
        conditions: Vec::new(),
        promised: BTreeMap::new(),
        created: Some(at),
        deleting_since: None,
    }
}
