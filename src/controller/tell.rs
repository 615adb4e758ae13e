//! Events of plans, as logs and metrics.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::metrics::Metrics;
use crate::automatic::{Tried, fights};
use crate::model::ChangeClass;
use crate::plan::{Change, ChangeId};
use crate::review::ApprovedPlan;
use crate::rollout::journal::NOT_JOINED;
use crate::rollout::{Effect, Event, MARK_REMOVAL, Outcome};

/// Reports the events of one plan.
#[derive(Clone)]
pub(super) struct Teller {
    pub(super) plan: Arc<ApprovedPlan>,
    pub(super) metrics: Arc<Metrics>,
    /// Descriptions of its changes.
    pub(super) described: Arc<BTreeMap<ChangeId, String>>,
}

/// Outcome of a change that is retried if it fails.
pub(super) struct Ended {
    pub(super) tried: Tried,
    pub(super) node: Arc<str>,
    /// The failure, with Azure's code; `None` if it succeeded.
    pub(super) failed: Option<Arc<str>>,
    /// The labels and tags that were set.
    pub(super) keys: BTreeSet<Arc<str>>,
}

impl Teller {
    /// Reports an event; returns the outcome of a change that has ended and is retried if it failed.
    pub(super) fn tell(&self, event: &Event) -> Option<Ended> {
        let plan = self.plan.id();
        match event {
            Event::Began(action) => tracing::debug!(plan, change = %action.change, "{}", action.effect),
            Event::Did(action) => {
                if let Effect::CreateClaim(claim) = &action.effect {
                    let what = self.described(&action.change);
                    tracing::info!(plan, %claim, "created nodeclaim: {what}");
                    self.metrics.claim_created();
                } else if is_mark(&action.effect) {
                    let (object, what) = (self.object(&action.change), self.described(&action.change));
                    tracing::info!(plan, change = %action.change, "{object} goes: {what}");
                }
            }
            Event::TriesAgain { action, because, is_new: false } => {
                tracing::debug!(plan, change = %action.change, "{}: {because}", action.effect);
            }
            // Waiting for budgets is normal.
            Event::TriesAgain { action, because, .. } if matches!(action.effect, Effect::Evict(_)) => {
                tracing::debug!(plan, change = %action.change, "{}: {because}", action.effect);
            }
            Event::TriesAgain { action, because, is_new: true } => {
                tracing::warn!(
                    plan,
                    change = %action.change,
                    "{}, {}: {because}; retrying",
                    self.object(&action.change),
                    action.effect
                );
            }
            Event::Failed { action, because } => {
                tracing::warn!(plan, change = %action.change, "{} failed: {because}", action.effect);
            }
            Event::Panicked { action, because } => {
                self.metrics.panicked();
                tracing::error!(
                    plan,
                    change = %action.change,
                    hint = "report it with this line; the change is retried",
                    "{}, {}: {because}",
                    self.object(&action.change),
                    action.effect
                );
            }
            Event::Waits { change, wait } => {
                tracing::debug!(plan, %change, "{} waits for {}", self.object(change), wait.what);
            }
            Event::Settled { change, outcome } => return self.settled(change, outcome),
            Event::Blind { because } => {
                tracing::warn!(plan, "paused: cannot read {because}");
            }
        }
        None
    }

    fn settled(&self, change: &ChangeId, outcome: &Outcome) -> Option<Ended> {
        let planned = &self.plan.spec().changes.get(change)?.change;
        if matches!(outcome, Outcome::Withheld { .. }) {
            tracing::debug!(plan = self.plan.id(), %change, "{}: {outcome}", self.object(change));
        } else {
            let what = self.described(change);
            tracing::info!(plan = self.plan.id(), %change, what, "{}: {outcome}", self.object(change));
        }
        self.metrics.change(class(planned).as_str(), outcome.word());
        if matches!(planned, Change::Delete(_)) && *outcome == Outcome::Done {
            self.metrics.claim_terminated();
        }
        let (tried, node) = self.tried(change)?;
        let failed = match outcome {
            Outcome::Done | Outcome::AlreadySo => None,
            // Handled by size and image.
            Outcome::Failed { code, .. } if &**code == NOT_JOINED => return None,
            Outcome::Failed { code, because } if because.contains(&**code) => Some(because.clone()),
            Outcome::Failed { code, because } => Some(format!("{code}: {because}").into()),
            Outcome::NoLongerNeeded { .. }
            | Outcome::Struck { .. }
            | Outcome::NoLongerHolds { .. }
            | Outcome::Withheld { .. } => return None,
        };
        let keys = match planned {
            Change::Update(update) => fights::keys(update),
            Change::Create(_)
            | Change::Delete(_)
            | Change::Adopt(_)
            | Change::Forget(_)
            | Change::NoOp(_) => BTreeSet::new(),
        };
        Some(Ended { tried, node, failed, keys })
    }

    /// Returns what a change tries, and the name of its node.
    pub(super) fn tried(&self, change: &ChangeId) -> Option<(Tried, Arc<str>)> {
        Some(match &self.plan.spec().changes.get(change)?.change {
            Change::Create(create) => {
                let pool = self.plan.spec().claims.get(&create.spec)?.pool.clone();
                (Tried::ToMake(pool), create.vm.clone())
            }
            Change::Update(update) => {
                let node = &update.target.node;
                (Tried::ToUpdate(node.clone()), node.as_str().into())
            }
            Change::Delete(delete) => {
                let (node, class) = (delete.target.node.clone(), ChangeClass::of(delete.reason));
                let name = node.as_str().into();
                (Tried::ToRemove { node, class }, name)
            }
            Change::Adopt(_) | Change::Forget(_) | Change::NoOp(_) => return None,
        })
    }

    fn described(&self, change: &ChangeId) -> &str {
        self.described.get(change).map_or("its plan was read back without its reasons", String::as_str)
    }

    fn object(&self, change: &ChangeId) -> String {
        match self.plan.spec().changes.get(change).map(|planned| &planned.change) {
            Some(Change::Create(create)) => format!("+ node `{}`", create.vm),
            Some(Change::Delete(delete)) => format!("- node `{}`", delete.target.node),
            Some(Change::Update(update)) => format!("~ node `{}`", update.target.node),
            Some(_) | None => format!("~ change `{change}`"),
        }
    }
}

/// Reports an event of the keeper.
pub(super) fn kept(event: &Event) {
    match event {
        Event::Did(action) => tracing::info!(of = %action.change, "{}", action.effect),
        Event::TriesAgain { action, because, is_new: true } => {
            tracing::warn!(of = %action.change, "{}: {because}; retrying", action.effect);
        }
        Event::Failed { action, because } => {
            tracing::warn!(of = %action.change, "{} failed: {because}", action.effect);
        }
        Event::Panicked { action, because } => {
            tracing::error!(of = %action.change, hint = "report it with this line", "{}: {because}", action.effect);
        }
        Event::Began(_)
        | Event::TriesAgain { .. }
        | Event::Waits { .. }
        | Event::Settled { .. }
        | Event::Blind { .. } => {}
    }
}

/// Returns whether an effect starts a removal.
fn is_mark(effect: &Effect) -> bool {
    matches!(effect, Effect::Patch(patch) if patch.what == MARK_REMOVAL)
}

fn class(change: &Change) -> ChangeClass {
    match change {
        Change::Create(_) => ChangeClass::Create,
        Change::Delete(delete) => ChangeClass::of(delete.reason),
        Change::Update(_) | Change::NoOp(_) => ChangeClass::Update,
        Change::Adopt(_) => ChangeClass::Adopt,
        Change::Forget(_) => ChangeClass::Forget,
    }
}
