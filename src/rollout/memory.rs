//! What the rollout process knows beyond the world: its running actions and its errors.
//!
//! Only avoids repetition and reports errors. A new process with empty memory reaches the same result, because
//! everything that decides is stored in objects.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use super::action::{Action, ActionKey, Effect};
use super::event::Event;
use super::losses::{self, Loss};
use super::outcome::Outcome;
use super::own::absent::{Absent, HOLDS};
use super::performed::{After, Performed};
use super::tokens::Tokens;
use crate::model::{CapacityType, ClaimName, PoolName, Refusal, RefusedPlace};
use crate::plan::{ChangeId, Choice};
use crate::review::Brakes;
use crate::world::seen::{Provisioning, Seen};

/// Wait after the first failure, in the cloud's clock; doubled after each further one.
const BACK_OFF_FIRST: SignedDuration = SignedDuration::from_secs(5);

/// Maximum wait after a failure.
const BACK_OFF_LONGEST: SignedDuration = SignedDuration::from_mins(5);

/// How long a VM may be in deletion before it is deleted again: Azure occasionally loses an operation.
const GOING: SignedDuration = SignedDuration::from_mins(15);

/// Number of refusals of an eviction, one every five seconds, after which a PodDisruptionBudget counts as blocking:
/// five minutes, enough for an evicted pod to be ready elsewhere.
const REFUSED_LONG: u32 = 60;

/// What the process knows beyond the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// Actions in progress.
    pub in_flight: BTreeSet<ActionKey>,
    /// Actions that are backing off, with the time of the next attempt.
    pub not_before: BTreeMap<ActionKey, Timestamp>,
    /// Completed actions of this process that no list shows.
    pub done: BTreeSet<ActionKey>,
    /// Failed actions that are retried.
    pub tries: BTreeMap<ActionKey, Tries>,
    /// Failed actions that are not retried unchanged.
    pub failed: BTreeMap<ActionKey, Failed>,
    /// Azure's refusals.
    pub refusals: Vec<Refusal>,
    /// Outcomes of changes, as recorded in the ledger.
    pub recorded: BTreeMap<ChangeId, Outcome>,
    /// The bootstrap tokens that this process created.
    pub tokens: Tokens,
    /// Times when unlisted objects were confirmed to be gone.
    pub confirmed: BTreeMap<Absent, Timestamp>,
    /// Claims whose Node had joined and is gone, with the time when it was first missing.
    pub nodeless: BTreeMap<ClaimName, Timestamp>,
    /// The cluster's VMs without a NodeClaim in consecutive complete lists, by id in lower case, with the time since
    /// when.
    pub orphans: BTreeMap<Arc<str>, Timestamp>,
    /// VMs in deletion, by id in lower case, with the start time or that of the last delete request.
    pub going: BTreeMap<Arc<str>, Timestamp>,
    /// Whether no new change is started.
    pub is_stopping: bool,
    /// Whether started removals are rolled back if their VMs still exist.
    pub is_taking_back: bool,
    /// Removals that are started nevertheless because half of the replacement is done.
    pub finishing: BTreeSet<ChangeId>,
    /// The brakes on changes that have not started, as last read; `None` means those at the plan's approval.
    pub brakes: Option<Brakes>,
    /// Number of new nodes of other plans whose pods come from nodes none of which is being removed yet, by pool.
    pub coming_elsewhere: BTreeMap<PoolName, usize>,
    /// Recently removed nodes with pods, of all plans.
    pub losses: BTreeSet<Loss>,
    /// Divisor of every wait, at least 1: the speed of a simulated cloud.
    pub clock_speed: u32,
}

/// A failed action that is retried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tries {
    /// Number of failures.
    pub times: u32,
    /// The last reason, for users.
    pub because: Arc<str>,
    /// Code of the last refusal.
    pub code: Option<Arc<str>>,
    /// Whether it was refused or got no response, as opposed to only taking time.
    pub is_refused: bool,
    /// Time since which the reason has been the same.
    pub since: Timestamp,
}

/// The result of a repeated attempt.
struct Attempt<'a> {
    because: &'a str,
    code: Option<Arc<str>>,
    is_refused: bool,
}

/// Why an action is not retried unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Azure's code, or the API server's reason.
    pub code: Arc<str>,
    /// The reason, for users.
    pub because: Arc<str>,
    /// Short description of Azure's refusal, if its code is known.
    pub what: Option<Arc<str>>,
    /// The consequence for the change.
    pub then: Then,
}

/// The consequence of a failed action for its change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Try another choice.
    NextChoice,
    /// Give up the change.
    GiveUp,
}

impl Default for Memory {
    fn default() -> Self {
        Self {
            in_flight: BTreeSet::new(),
            not_before: BTreeMap::new(),
            done: BTreeSet::new(),
            tries: BTreeMap::new(),
            failed: BTreeMap::new(),
            refusals: Vec::new(),
            recorded: BTreeMap::new(),
            tokens: Tokens::default(),
            confirmed: BTreeMap::new(),
            nodeless: BTreeMap::new(),
            orphans: BTreeMap::new(),
            going: BTreeMap::new(),
            is_stopping: false,
            is_taking_back: false,
            finishing: BTreeSet::new(),
            brakes: None,
            coming_elsewhere: BTreeMap::new(),
            losses: BTreeSet::new(),
            clock_speed: 1,
        }
    }
}

impl Memory {
    /// Records nodes and VMs in deletion, and objects that exist again. Call before computing the next step.
    pub fn look(&mut self, seen: &Seen) {
        let (window, at) = (losses::window(self), seen.at);
        self.losses.extend(seen.claims.iter().flat_map(Loss::of));
        let is_taken_back = |loss: &Loss| seen.claims.iter().any(|claims| loss.is_taken_back(claims));
        self.losses.retain(|loss| at.duration_since(loss.at) < window && !is_taken_back(loss));
        let holds = self.wait(HOLDS);
        self.confirmed.retain(|absent, at| !absent.is_seen(seen) && seen.at.duration_since(*at) <= holds);
        let Some(vms) = &seen.vms else { return };
        let goes = |id: &Arc<str>| vms.get(id).is_some_and(|vm| vm.state == Provisioning::Deleting);
        self.going.retain(|id, _| goes(id));
        for id in vms.keys().filter(|id| goes(id)) {
            self.going.entry(Arc::clone(id)).or_insert(seen.at);
        }
    }

    /// Returns whether a VM has been in deletion for so long that it is deleted again.
    #[must_use]
    pub fn lingers(&self, vm: &str, now: Timestamp) -> bool {
        let since = self.going.get(vm.to_ascii_lowercase().as_str());
        since.is_some_and(|since| now.duration_since(*since) >= self.wait(GOING))
    }

    /// Records that an action starts.
    pub fn begins(&mut self, action: &Action) {
        self.in_flight.insert(action.key());
        if matches!(action.effect, Effect::CreateVm(_)) {
            self.tokens.give(&action.change);
        }
    }

    /// Records the result of an action, and returns the event to report.
    pub fn take_in(&mut self, action: Action, performed: Performed, now: Timestamp) -> Event {
        let key = action.key();
        self.in_flight.remove(&key);
        if let Effect::DeleteVm(vm) = &action.effect
            && let Some(since) = self.going.get_mut(vm.id.to_ascii_lowercase().as_str())
        {
            *since = now;
        }
        match performed {
            Performed::Done => {
                self.tries.remove(&key);
                self.note(&action, now);
                Event::Did(action)
            }
            Performed::Again { after, because, code } => {
                let (is_new, times) = match after {
                    After::Look => (false, 0),
                    After::Time(_) => {
                        self.tried(&key, Attempt { because: &because, code, is_refused: false }, now)
                    }
                    After::BackOff => {
                        self.tried(&key, Attempt { because: &because, code, is_refused: true }, now)
                    }
                };
                let wait = match after {
                    After::Look => None,
                    After::Time(wait) => Some(wait),
                    After::BackOff => Some(back_off(times)),
                };
                if let Some(wait) = wait {
                    let until = now.saturating_add(self.wait(wait)).unwrap_or(Timestamp::MAX);
                    self.not_before.insert(key, until);
                }
                Event::TriesAgain { action, because, is_new }
            }
            Performed::Failed { failed, refusal } => {
                self.refusals.extend(refusal.map(|refusal| {
                    let wait = self.wait(refusal.until.duration_since(now));
                    let until = now.saturating_add(wait).unwrap_or(Timestamp::MAX);
                    // Rounded for readability.
                    Refusal { until: until.round(jiff::Unit::Second).unwrap_or(until), ..*refusal }
                }));
                self.fail(action, failed)
            }
        }
    }

    /// Records a failure; returns whether the reason is new, and the number of failures.
    fn tried(&mut self, key: &ActionKey, attempt: Attempt<'_>, now: Timestamp) -> (bool, u32) {
        let Attempt { because, code, is_refused } = attempt;
        let tries = self.tries.entry(key.clone());
        let tries = tries.or_insert_with(|| Tries {
            times: 0,
            because: "".into(),
            code: None,
            is_refused,
            since: now,
        });
        tries.times = tries.times.saturating_add(1);
        (tries.code, tries.is_refused) = (code, is_refused);
        let is_new = *tries.because != *because;
        if is_new {
            (tries.because, tries.since) = (because.into(), now);
        }
        (is_new, tries.times)
    }

    /// Records a completed action that no list shows.
    fn note(&mut self, action: &Action, now: Timestamp) {
        match &action.effect {
            Effect::Confirm(absent) => {
                self.confirmed.insert(absent.clone(), now);
            }
            Effect::CreateToken => self.tokens.made(now),
            Effect::DeleteToken(number) => self.tokens.gone(*number),
            Effect::Record(outcome) => {
                self.recorded.insert(action.change.clone(), outcome.clone());
            }
            Effect::PutExtension(_) | Effect::Tag(_) | Effect::Nominate(_) => {
                self.done.insert(action.key());
            }
            Effect::CreateClaim(_)
            | Effect::PutInterface(_)
            | Effect::CreateVm(_)
            | Effect::DeleteVm(_)
            | Effect::DeleteInterface(_)
            | Effect::Patch(_)
            | Effect::Evict(_)
            | Effect::DeletePod(_)
            | Effect::DeleteObject(_) => {}
        }
    }

    fn fail(&mut self, action: Action, failed: Failed) -> Event {
        let because = failed.because.to_string();
        self.failed.insert(action.key(), failed);
        Event::Failed { action, because }
    }

    /// Converts a wait from the cloud's clock to local time.
    #[must_use]
    pub fn wait(&self, wait: SignedDuration) -> SignedDuration {
        let speed = i64::from(self.clock_speed.max(1));
        SignedDuration::from_millis((wait.as_millis() / i128::from(speed)).try_into().unwrap_or(i64::MAX))
    }

    /// Returns a change's most recent failure that is retried, with the time of the next attempt.
    #[must_use]
    pub fn trouble(&self, change: &ChangeId) -> Option<(&Tries, Option<Timestamp>)> {
        let prefix = format!("{change}: ");
        let tried = self.tries.iter().filter(|(key, tries)| tries.is_refused && key.0.starts_with(&prefix));
        let (key, tries) = tried.max_by_key(|(_, tries)| tries.since)?;
        Some((tries, self.not_before.get(key).copied()))
    }

    /// Returns whether an action is an eviction that PodDisruptionBudgets have refused for long.
    #[must_use]
    pub fn is_refused_for_long(&self, action: &Action) -> bool {
        let times = self.tries.get(&action.key()).map_or(0, |tries| tries.times);
        matches!(action.effect, Effect::Evict(_)) && times >= REFUSED_LONG
    }

    /// Returns whether a refusal of this choice by Azure is still active.
    #[must_use]
    pub fn is_refused(&self, choice: &Choice, now: Timestamp) -> bool {
        self.refusals.iter().any(|refusal| {
            let is_there = match &refusal.place {
                RefusedPlace::Everywhere => true,
                RefusedPlace::EveryZone => choice.zone.as_str() != "0",
                RefusedPlace::Zone(zone) => *zone == choice.zone,
            };
            refusal.until > now
                && is_there
                && refusal.size.as_ref().is_none_or(|size| *size == choice.size)
                && refusal.capacity_type.is_none_or(|bought: CapacityType| bought == choice.capacity_type)
        })
    }
}

/// Returns the wait after this many failures.
fn back_off(times: u32) -> SignedDuration {
    let doubled = 2_i32.saturating_pow(times.saturating_sub(1).min(16));
    BACK_OFF_FIRST.saturating_mul(doubled).min(BACK_OFF_LONGEST)
}
