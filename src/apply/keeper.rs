//! Looks after what no plan carries: has done what is due of NodeClaims whose plan has ended, and of VMs without one.
//!
//! What is due is `rollout::life`'s to say. Must never look itself: it shares a look with the plans in flight.

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

/// What the plans in flight carry: nothing of it is looked after here.
#[derive(Clone, Debug, Default)]
pub struct Kept {
    /// The claims.
    pub claims: BTreeSet<ClaimName>,
    /// The changes.
    pub changes: BTreeSet<ChangeId>,
}

/// Looks after what no plan carries.
pub struct Keeper {
    hand: Arc<Hand>,
    cluster: Arc<ClusterIdentity>,
    memory: Memory,
    running: JoinSet<Attempted>,
    ended: Arc<Notify>,
}

impl Keeper {
    /// Looks after the claims of a cluster; `ended` is told when something has ended.
    #[must_use]
    pub fn new(hand: Hand, cluster: Arc<ClusterIdentity>, clock_speed: u32, ended: Arc<Notify>) -> Self {
        let memory = Memory { clock_speed, ..Memory::default() };
        Self { hand: Arc::new(hand), cluster, memory, running: JoinSet::new(), ended }
    }

    /// Takes in what has ended, asks what is due, and has it begun; returns what waits. Where `is_held`, nothing new begins.
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

    /// Takes in all that has ended, before the next look.
    pub fn take_in_ended(&mut self, tell: &mut impl FnMut(Event)) {
        while let Some(ended) = self.running.try_join_next() {
            // A task is neither cancelled nor does it panic: `caught` sees to that.
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

    /// Returns whether anything is being done.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.running.is_empty()
    }

    /// What fails and is tried again: the change, what happened, and when it is tried again.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }
}
