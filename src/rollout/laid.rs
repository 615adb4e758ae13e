//! Overlays the changes that other plans have just started on the observed world, because a look only shows finished
//! writes.
//!
//! This way plans that share a look never start more together than budgets, drains and the circuit breaker allow. Never
//! overlaid for a plan's own progress: that waits until the objects exist.

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
    /// Returns the side effects that start changes: created NodeClaims and removal marks.
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

/// Returns the NodeClaim that is marked for removal, and the mark.
fn marked(effect: &Effect) -> Option<(&ClaimName, &str)> {
    let Effect::Patch(ObjectPatch { object: Object::Claim(name), operations, .. }) = effect else {
        return None;
    };
    Some((name, operations.entry(ANNOTATIONS, REMOVAL)?))
}

/// Returns the observed world with the changes that other plans have started.
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

/// Returns a NodeClaim that is being created.
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
