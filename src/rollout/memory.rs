//! What the process that rolls out knows beside the world: what it is doing, and what went wrong.
//!
//! It only spares repetition and makes errors heard. A process that starts anew with nothing here comes to the same end,
//! since all that decides stands in objects.

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

/// The wait after the first failure, of the cloud's clock; doubled after each further one.
const BACK_OFF_FIRST: SignedDuration = SignedDuration::from_secs(5);

/// The longest wait after a failure.
const BACK_OFF_LONGEST: SignedDuration = SignedDuration::from_mins(5);

/// How long a VM may be going before it is told to go once more: Azure now and then forgets an operation.
const GOING: SignedDuration = SignedDuration::from_mins(15);

/// How often an eviction was refused, every five seconds, until a PodDisruptionBudget counts as one that lets nothing go:
/// five minutes, in which an evicted pod is up again elsewhere.
const REFUSED_LONG: u32 = 60;

/// What the process knows beside the world.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    /// What is being done.
    pub in_flight: BTreeSet<ActionKey>,
    /// What is not to be tried again before a time.
    pub not_before: BTreeMap<ActionKey, Timestamp>,
    /// What this process has done that no list shows.
    pub done: BTreeSet<ActionKey>,
    /// What has failed and is tried again.
    pub tries: BTreeMap<ActionKey, Tries>,
    /// What failed and is not tried again as it was.
    pub failed: BTreeMap<ActionKey, Failed>,
    /// What Azure refused to sell.
    pub refusals: Vec<Refusal>,
    /// What became of changes, as the ledger has it.
    pub recorded: BTreeMap<ChangeId, Outcome>,
    /// The bootstrap tokens that this process has made.
    pub tokens: Tokens,
    /// When it was confirmed that objects are gone that no list shows.
    pub confirmed: BTreeMap<Absent, Timestamp>,
    /// Since when claims whose Node had joined have none.
    pub nodeless: BTreeMap<ClaimName, Timestamp>,
    /// Since when VMs of ours have no NodeClaim, by id in lower case, in lists that were whole all the while.
    pub orphans: BTreeMap<Arc<str>, Timestamp>,
    /// Since when VMs are seen as going, or were told to go, by id in lower case.
    pub going: BTreeMap<Arc<str>, Timestamp>,
    /// Whether nothing new is to begin.
    pub is_stopping: bool,
    /// Whether removals that have begun are taken back, as far as their VMs are still there.
    pub is_taking_back: bool,
    /// The removals that begin all the same: half of them is done.
    pub finishing: BTreeSet<ChangeId>,
    /// What keeps changes that have not begun, as it was read last; `None`: as it was when the plan was approved.
    pub brakes: Option<Brakes>,
    /// How many nodes of other plans come that take the pods of others, none of which goes yet: by pool.
    pub coming_elsewhere: BTreeMap<PoolName, usize>,
    /// The nodes with pods that went of late, by whatever plan.
    pub losses: BTreeSet<Loss>,
    /// By what every wait is divided, at least 1: that of a simulated cloud.
    pub clock_speed: u32,
}

/// An action that has failed and is tried again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tries {
    /// How often.
    pub times: u32,
    /// What happened last, for people.
    pub because: Arc<str>,
    /// The code of who refused it last.
    pub code: Option<Arc<str>>,
    /// Whether it was refused or not answered, unlike what only takes its time.
    pub is_refused: bool,
    /// Since when that is what happens.
    pub since: Timestamp,
}

/// What became of an attempt that is repeated.
struct Attempt<'a> {
    because: &'a str,
    code: Option<Arc<str>>,
    is_refused: bool,
}

/// Why an action is not tried again as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failed {
    /// Azure's code, or the API server's reason.
    pub code: Arc<str>,
    /// What happened, for people.
    pub because: Arc<str>,
    /// What Azure refuses, in a few words, where its code is one of those that we know.
    pub what: Option<Arc<str>>,
    /// What follows for the change.
    pub then: Then,
}

/// What follows for a change from a failed action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Then {
    /// Another choice may do.
    NextChoice,
    /// Nothing of it can be done.
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
    /// Notes which nodes and VMs go, and what is there again, before it is asked what is next.
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

    /// Returns whether a VM has been going for so long that it is told to go once more.
    #[must_use]
    pub fn lingers(&self, vm: &str, now: Timestamp) -> bool {
        let since = self.going.get(vm.to_ascii_lowercase().as_str());
        since.is_some_and(|since| now.duration_since(*since) >= self.wait(GOING))
    }

    /// Notes that an action begins.
    pub fn begins(&mut self, action: &Action) {
        self.in_flight.insert(action.key());
        if matches!(action.effect, Effect::CreateVm(_)) {
            self.tokens.give(&action.change);
        }
    }

    /// Takes in what became of an action at a time, and returns what is told of it.
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
                    // People read it.
                    Refusal { until: until.round(jiff::Unit::Second).unwrap_or(until), ..*refusal }
                }));
                self.fail(action, failed)
            }
        }
    }

    /// Notes that an action failed; returns whether it did so for the first time in these words, and how often it did.
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

    /// Notes what was done and no list shows.
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

    /// Returns a wait of the cloud's clock as it is here.
    #[must_use]
    pub fn wait(&self, wait: SignedDuration) -> SignedDuration {
        let speed = i64::from(self.clock_speed.max(1));
        SignedDuration::from_millis((wait.as_millis() / i128::from(speed)).try_into().unwrap_or(i64::MAX))
    }

    /// Returns what fails of a change and is tried again, the last of it, with the time of the next try.
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

    /// Returns whether Azure refused this choice a short while ago.
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

/// How long an action rests that has failed so often.
fn back_off(times: u32) -> SignedDuration {
    let doubled = 2_i32.saturating_pow(times.saturating_sub(1).min(16));
    BACK_OFF_FIRST.saturating_mul(doubled).min(BACK_OFF_LONGEST)
}
