//! Maintains what no running plan covers: NodeClaims whose plan has ended, and VMs without a NodeClaim.
//!
//! `rollout::life` determines which actions are due. Must never read the world itself: it shares reads with the plans
//! in progress.

use std::collections::BTreeSet;
use std::sync::Arc;

use tokio::sync::Notify;
use tokio::task::JoinSet;

use super::carrying::{AFTER_PANIC, Attempted, caught};
use super::hand::Hand;
use crate::model::ClaimName;
use crate::plan::ChangeId;
use crate::plan::execution::ClusterIdentity;
use crate::rollout::life::{self, Due, Keeping};
use crate::rollout::{Event, Memory, Performed};
use crate::world::Seen;

/// Claims and changes of the plans in progress, which are skipped here.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// The claims.
    pub claims: BTreeSet<ClaimName>,
    /// The changes.
    pub changes: BTreeSet<ChangeId>,
}

/// Maintains what no running plan covers.
pub struct Keeper {
    hand: Arc<Hand>,
    cluster: Arc<ClusterIdentity>,
    memory: Memory,
    running: JoinSet<Attempted>,
    ended: Arc<Notify>,
}

impl Keeper {
    /// Returns a keeper for the claims of a cluster; `ended` is notified when an action has ended.
    #[must_use]
    pub fn new(hand: Hand, cluster: Arc<ClusterIdentity>, clock_speed: u32, ended: Arc<Notify>) -> Self {
        let memory = Memory { clock_speed, ..Memory::default() };
        Self { hand: Arc::new(hand), cluster, memory, running: JoinSet::new(), ended }
    }

    /// Takes in actions that have ended, and starts those that are due; returns what waits. If `is_held`, no action
    /// starts.
    pub fn step(&mut self, seen: &Seen, kept: &Kept, is_held: bool, tell: &mut impl FnMut(Event)) -> Due {
        let keeping = Keeping { cluster: &self.cluster, carried: &kept.claims, changes: &kept.changes };
        life::look(&mut self.memory, seen, keeping);
        let mut due = life::due(seen, &self.memory, keeping);
        if is_held {
            due.actions.clear();
        }
        for action in due.actions.drain(..) {
            tell(Event::Began(action.clone()));
            self.memory.begins(&action);
            let (hand, ended) = (Arc::clone(&self.hand), Arc::clone(&self.ended));
            self.running.spawn(async move {
                let performed = caught(hand.perform(&action.effect)).await;
                ended.notify_one();
                Attempted { action, performed }
            });
        }
        due
    }

    /// Takes in all actions that have ended, before the next read.
    pub fn take_in_ended(&mut self, tell: &mut impl FnMut(Event)) {
        while let Some(ended) = self.running.try_join_next() {
            // A task is neither cancelled nor does it panic: `caught` catches that.
            if let Ok(Attempted { action, performed }) = ended {
                let performed = performed.unwrap_or_else(|panicked| {
                    tell(Event::Panicked { action: action.clone(), because: panicked.clone() });
                    Performed::later(AFTER_PANIC, panicked)
                });
                let event = self.memory.take_in(action, performed, self.hand.now());
                tell(event);
            }
        }
    }

    /// Returns whether no action is running.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// Returns the failed actions that are retried: the change, the failure, and the time of the next attempt.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}
