//! Stop signals of a rollout: set by Ctrl-C or when a plan leaves its branch, checked before each start.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

/// Stop signals of a rollout, shared with the Ctrl-C handler and the watch on the branch of a merged plan.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Signals>);

#[derive(Debug, Default)]
struct Signals {
    asked: AtomicU8,
    withdrawn: OnceLock<Arc<str>>,
    is_held: AtomicBool,
}

impl Stop {
    /// Requests a stop: after the first request no new changes start, after the second the rollout ends immediately.
    pub fn ask(&self) {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
    }

    /// Withdraws the plan, with a reason: no further change starts, removals are rolled back while their VMs exist, and
    /// the plan is spent. The first reason counts.
    pub fn withdraw(&self, because: &str) {
        let _ = self.0.withdrawn.set(because.into());
    }

    /// Sets whether no new changes start for now.
    pub fn hold(&self, is_held: bool) {
        self.0.is_held.store(is_held, Ordering::SeqCst);
    }

    /// Returns whether a stop was requested: no new changes start any more.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.asked.load(Ordering::SeqCst) > 0 || self.is_withdrawn()
    }

    /// Returns whether the plan was withdrawn.
    #[must_use]
    pub fn is_withdrawn(&self) -> bool {
        self.withdrawn().is_some()
    }

    /// Returns why the plan was withdrawn, if it was.
    #[must_use]
    pub fn withdrawn(&self) -> Option<&Arc<str>> {
        self.0.withdrawn.get()
    }

    /// Returns whether no new changes start now.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.0.is_held.load(Ordering::SeqCst) || self.is_asked()
    }

    /// Returns whether the rollout must end immediately.
    #[must_use]
    pub fn is_at_once(&self) -> bool {
        self.0.asked.load(Ordering::SeqCst) > 1
    }
}
