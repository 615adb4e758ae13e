//! Applies an approved plan: computes the next actions and the standing of each change.
//!
//! ```text
//!  ApprovedPlan ┐                                  ┌─ Act: side effects, each one write
//!  Seen ────────┼─▶ next() ─ per change: Standing ─┼─ Wait: for what, until when
//!  Memory ──────┘                                  └─ Settled: what became of it
//! ```
//!
//! The next steps are a function of the plan, the world and the time: the journal is stored in objects, so a new
//! process resumes. Decides when to act, never what to do. Never uses reasons or evidence, and never deletes because of
//! missing data.

pub mod action;
mod conditions;
mod consequence;
mod counted;
mod create;
mod ended;
pub mod event;
mod evicted;
mod ground;
mod join;
pub mod journal;
mod laid;
mod losses;
pub mod memory;
pub mod outcome;
mod own;
mod pace;
mod performed;
mod remove;
mod silent;
mod tokens;
mod told;
mod update;

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

pub use action::{
    Action, ActionKey, Attempt, Effect, InterfaceRef, Object, ObjectPatch, ObjectRef, PodRef, TagRef, VmRef,
};
pub use consequence::consequence;
pub use ended::Ended;
pub use event::{Event, News};
pub use evicted::{Evicted, evicted};
pub use ground::vm_name;
pub use laid::laid;
pub use losses::Loss;
pub use memory::{Failed, Memory, Then, Tries};
pub use outcome::{Outcome, Standing, Wait, WaitsOn};
pub use own::absent::{Absent, too_many_missing};
pub use own::{foreign, life};
pub use pace::coming;
pub use performed::{After, Performed};
pub use remove::MARK as MARK_REMOVAL;

pub use silent::{Silent, silent};
pub use tokens::{TOKEN_USE, Tokens};
pub use told::{Told, told};
pub use update::is_set;

use crate::plan::{Change, ChangeId, Execution, mark};
use crate::review::{ApprovedPlan, LeftOut};
use crate::world::Seen;
use crate::world::seen::SeenClaim;
use ground::Ground;
use pace::{Begin, Pace};

/// Maximum duration of one Azure operation, in Azure's clock; afterwards its state is read from the world.
pub const OPERATION_WAIT: SignedDuration = SignedDuration::from_mins(30);

/// The next steps of a rollout.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Next {
    /// Actions that may start now, in the order of the plan.
    pub actions: Vec<Action>,
    /// The standing of each change.
    pub standings: BTreeMap<ChangeId, Standing>,
    /// Time of the next look at the world, even if nothing happens.
    pub wake: Option<Timestamp>,
    /// Whether a part of the world could not be read, so nothing can be decided.
    pub blind: bool,
}

impl Next {
    /// Returns whether every change is settled.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        !self.blind && self.standings.values().all(|standing| standing.outcome().is_some())
    }

    /// Returns whether all remaining changes wait for something outside nodeform's control: a freeze, a budget, or
    /// PodDisruptionBudgets that have refused evictions for long.
    #[must_use]
    pub fn only_waits(&self, memory: &Memory) -> bool {
        let waits = |standing: &Standing| match standing {
            Standing::Settled(_) => true,
            Standing::Waits(wait) => matches!(wait.on, WaitsOn::Change | WaitsOn::Brake),
            Standing::Acts(actions) => actions.iter().all(|action| memory.is_refused_for_long(action)),
        };
        !self.blind && self.standings.values().all(waits)
    }
}

/// Returns the next steps.
#[must_use]
pub fn next(plan: &ApprovedPlan, seen: &Seen, memory: &Memory) -> Next {
    let Some(world) = seen.whole() else {
        return Next { blind: true, ..Next::default() };
    };
    let ground = Ground { plan, world, memory };
    let missing = too_many_missing(seen);
    let begun = begun(plan.id(), seen);
    let mut next = Next::default();
    let mut is_open = true;
    let mut pace = Pace::of(ground);
    for wave in plan.waves() {
        for id in wave {
            let standing = heeding(ground, standing(ground, id, is_open, &mut pace, &next.standings));
            let standing = match (&missing, &standing) {
                (Some(what), Standing::Acts(_)) if !begun.contains(id) => Standing::waits(what.clone()),
                _ => standing,
            };
            next.standings.insert(id.clone(), standing);
        }
        // Changes held by a freeze or a budget belong to another time and block no later wave.
        let is_braked =
            |standing: &Standing| matches!(standing, Standing::Waits(Wait { on: WaitsOn::Brake, .. }));
        let is_over = |(id, standing): (&ChangeId, &Standing)| {
            standing.outcome().is_some() || is_braked(standing) || plan.left_out().contains_key(id)
        };
        is_open = next.standings.iter().all(is_over);
    }
    let is_free = |action: &Action| {
        let key = action.key();
        !memory.in_flight.contains(&key) && memory.not_before.get(&key).is_none_or(|time| *time <= seen.at)
    };
    for standing in next.standings.values() {
        match standing {
            Standing::Acts(actions) => {
                next.actions.extend(actions.iter().filter(|action| is_free(action)).cloned());
            }
            Standing::Waits(wait) => next.wake = next.wake.into_iter().chain(wait.until).min(),
            Standing::Settled(_) => {}
        }
    }
    let is_starting = |id: &ChangeId| {
        let is_open = next.standings.get(id).is_some_and(|standing| standing.outcome().is_none());
        is_open && !has_joined(ground, id)
    };
    let spent = memory.tokens.spent(is_starting).into_iter();
    let spent = spent.map(|(number, change)| Action { change, effect: Effect::DeleteToken(number) });
    next.actions.extend(spent.filter(is_free));
    once(&mut next.actions);
    next
}

/// Returns whether the node of a create has joined.
fn has_joined(ground: Ground<'_>, id: &ChangeId) -> bool {
    let create = ground.spec().changes.get(id).and_then(|planned| planned.change.create());
    let claim = create.and_then(|create| ground.world.claims.get(&create.claim));
    claim.is_some_and(|claim| claim.is(conditions::REGISTERED))
}

/// Removes actions with duplicate keys: all creates share one bootstrap token.
fn once(actions: &mut Vec<Action>) {
    let mut keys = BTreeSet::new();
    actions.retain(|action| keys.insert(action.key()));
}

/// Settles a change whose next action has failed. Exceptions: `create` has alternatives for failed VM attempts, and a
/// failed nomination does not stop a node.
fn heeding(ground: Ground<'_>, standing: Standing) -> Standing {
    let Standing::Acts(actions) = &standing else { return standing };
    let is_attempt = |action: &&Action| {
        matches!(
            action.effect,
            Effect::PutInterface(_) | Effect::CreateVm(_) | Effect::PutExtension(_) | Effect::Nominate(_)
        )
    };
    let failed = actions.iter().filter(|action| !is_attempt(action));
    match failed.filter_map(|action| ground.memory.failed.get(&action.key())).next() {
        Some(Failed { code, because, .. }) => {
            Standing::Settled(Outcome::Failed { code: code.clone(), because: because.clone() })
        }
        None => standing,
    }
}

fn standing<'a>(
    ground: Ground<'a>,
    id: &'a ChangeId,
    is_open: bool,
    pace: &mut Pace<'a>,
    so_far: &BTreeMap<ChangeId, Standing>,
) -> Standing {
    let Some(planned) = ground.spec().changes.get(id) else {
        return Standing::Settled(Outcome::no_longer_holds("it is not in the plan"));
    };
    if let Some(left_out) = ground.plan.left_out().get(id) {
        return not_begun(ground, id, &planned.change, left_out);
    }
    match &planned.change {
        Change::Create(create) => {
            let has_begun =
                ground.world.claims.contains_key(&create.claim) || ground.memory.recorded.contains_key(id);
            let may_begin = if has_begun { Begin::Now } else { pace.may_create(id, create, is_open) };
            begun_or(may_begin, || create::create(ground, id, create))
        }
        Change::Delete(delete) => match pace.may_delete(id, delete, is_open, so_far) {
            Begin::Now => {
                let standing = remove::remove(ground, id, delete, &Ok(pace.is_empty(delete)));
                if standing.outcome().is_none() {
                    pace.begins(delete);
                }
                standing
            }
            Begin::Later(wait) => remove::remove(ground, id, delete, &Err(wait)),
            Begin::Ends(outcome) => Standing::Settled(outcome),
        },
        Change::NoOp(_) => Standing::Settled(Outcome::AlreadySo),
        Change::Update(change) => {
            let may_begin = pace.may_update(id, change.target.pool.as_ref(), is_open);
            begun_or(may_begin, || update::update(ground, id, change))
        }
        Change::Adopt(_) | Change::Forget(_) => {
            let because = "this version neither adopts nor forgets nodes";
            Standing::Settled(Outcome::Withheld { because: because.into() })
        }
    }
}

/// Returns the standing of a change that may start now, later, or never.
fn begun_or(may_begin: Begin, begun: impl FnOnce() -> Standing) -> Standing {
    match may_begin {
        Begin::Now => begun(),
        Begin::Later(wait) => Standing::Waits(wait),
        Begin::Ends(outcome) => Standing::Settled(outcome),
    }
}

/// Returns the standing of a change that is left out. An earlier outcome, or one that is already the case, takes
/// precedence.
fn not_begun(ground: Ground<'_>, id: &ChangeId, change: &Change, left_out: &LeftOut) -> Standing {
    if let Some(outcome) = ground.memory.recorded.get(id) {
        return Standing::Settled(outcome.clone());
    }
    match left_out {
        LeftOut::NoLongerHolds(_) | LeftOut::Waits(_)
            if change.delete().is_some_and(|delete| remove::has_no_vm(ground, id, delete)) =>
        {
            Standing::Settled(Outcome::AlreadySo)
        }
        LeftOut::Waits(because) => Standing::Waits(Wait::held(&**because)),
        LeftOut::Struck(_)
        | LeftOut::Withheld(_)
        | LeftOut::NoLongerNeeded(_)
        | LeftOut::NoLongerHolds(_) => {
            Standing::Settled(Outcome::of_left_out(left_out).unwrap_or(Outcome::AlreadySo))
        }
    }
}

/// Returns the started changes of a plan: creates with a NodeClaim, removals with a mark.
#[must_use]
pub fn begun(plan_id: &str, seen: &Seen) -> BTreeSet<ChangeId> {
    let claims = seen.claims.iter().flat_map(BTreeMap::values);
    let of_claim = |claim: &SeenClaim| {
        let is_of_plan = claim.annotations.get(mark::PLAN).is_some_and(|plan| **plan == *plan_id);
        let create = claim.annotations.get(mark::ITEM).filter(|_| is_of_plan);
        let removal = journal::Removing::of(claim).filter(|removing| *removing.plan == *plan_id);
        create.map(|item| ChangeId(item.clone())).into_iter().chain(removal.map(|removing| removing.change))
    };
    claims.flat_map(of_claim).collect()
}

/// Returns the removals of a plan that have not started although a node that takes their pods has: half of a
/// replacement is done.
#[must_use]
pub fn half_begun(execution: &Execution, begun: &BTreeSet<ChangeId>) -> BTreeSet<ChangeId> {
    let is_half = |after: &[ChangeId]| after.iter().any(|create| begun.contains(create));
    let removals = execution.removals.iter().filter(|(id, _)| !begun.contains(*id));
    removals.filter(|(_, removal)| is_half(&removal.after)).map(|(id, _)| id.clone()).collect()
}
