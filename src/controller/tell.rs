//! What happens to plans, as logs and metrics.

use std::sync::Arc;

use super::metrics::Metrics;
use crate::model::{ChangeClass, PoolName};
use crate::plan::{Change, ChangeId};
use crate::review::ApprovedPlan;
use crate::rollout::journal::NOT_JOINED;
use crate::rollout::{Effect, Event, Outcome};

/// Tells what happens to one plan.
#[derive(Clone)]
pub(super) struct Teller {
    pub(super) plan: Arc<ApprovedPlan>,
    pub(super) metrics: Arc<Metrics>,
}

/// How a create ended, for who tries again.
pub(super) struct Made {
    pub(super) pool: PoolName,
    pub(super) vm: Arc<str>,
    /// What happened, with Azure's code; nothing where it came.
    pub(super) failed: Option<Arc<str>>,
}

impl Teller {
    /// Tells an event; returns how a create ended, where it did.
    pub(super) fn tell(&self, event: &Event) -> Option<Made> {
        let plan = self.plan.id();
        match event {
            Event::Began(action) => tracing::debug!(plan, change = %action.change, "{}", action.effect),
            Event::Did(action) => {
                if let Effect::CreateClaim(claim) = &action.effect {
                    tracing::info!(plan, %claim, "created nodeclaim");
                    self.metrics.claim_created();
                }
            }
            Event::TriesAgain { action, because } => {
                tracing::debug!(plan, change = %action.change, "{}: {because}", action.effect);
            }
            Event::Failed { action, because } => {
                tracing::warn!(plan, change = %action.change, "{} failed: {because}", action.effect);
            }
            Event::Waits { change, wait } => {
                tracing::debug!(plan, %change, "{} waits for {}", self.object(change), wait.what);
            }
            Event::Settled { change, outcome } => return self.settled(change, outcome),
            Event::Blind { because } => {
                tracing::warn!(plan, "nothing is done until this can be read: {because}");
            }
        }
        None
    }

    fn settled(&self, change: &ChangeId, outcome: &Outcome) -> Option<Made> {
        let planned = &self.plan.spec().changes.get(change)?.change;
        if matches!(outcome, Outcome::Withheld { .. }) {
            tracing::debug!(plan = self.plan.id(), %change, "{}: {outcome}", self.object(change));
        } else {
            tracing::info!(plan = self.plan.id(), %change, "{}: {outcome}", self.object(change));
        }
        self.metrics.change(class(planned).as_str(), outcome.word());
        match planned {
            Change::Delete(_) if *outcome == Outcome::Done => {
                self.metrics.claim_terminated();
                None
            }
            Change::Create(create) => {
                let pool = self.plan.spec().claims.get(&create.spec)?.pool.clone();
                let vm: Arc<str> = create.vm.to_string().into();
                match outcome {
                    Outcome::Done | Outcome::AlreadySo => Some(Made { pool, vm, failed: None }),
                    // That is heeded by size and image.
                    Outcome::Failed { code, .. } if &**code == NOT_JOINED => None,
                    Outcome::Failed { code, because } => {
                        let what = if because.contains(&**code) {
                            because.clone()
                        } else {
                            format!("{code}: {because}").into()
                        };
                        Some(Made { pool, vm, failed: Some(what) })
                    }
                    Outcome::NoLongerNeeded { .. }
                    | Outcome::Struck { .. }
                    | Outcome::NoLongerHolds { .. }
                    | Outcome::Withheld { .. } => None,
                }
            }
            Change::Delete(_)
            | Change::Update(_)
            | Change::Adopt(_)
            | Change::Forget(_)
            | Change::NoOp(_) => None,
        }
    }

    fn object(&self, change: &ChangeId) -> String {
        match self.plan.spec().changes.get(change).map(|planned| &planned.change) {
            Some(Change::Create(create)) => format!("+ node `{}`", create.vm),
            Some(Change::Delete(delete)) => format!("- node `{}`", delete.target.node),
            Some(_) | None => format!("~ change `{change}`"),
        }
    }
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
