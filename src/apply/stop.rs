//! How far a rollout is to be stopped: said by whoever hears Ctrl-C or looks at a branch, heeded before each start.

use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

/// How far a rollout is to be stopped; shared with whoever hears Ctrl-C, and who looks at the branch of a merged plan.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Signals>);

#[derive(Debug, Default)]
struct Signals {
    asked: AtomicU8,
    withdrawn: OnceLock<Arc<str>>,
    is_held: AtomicBool,
}

impl Stop {
    /// Asks once more: first nothing new begins, then nothing at all.
    pub fn ask(&self) {
        self.0.asked.fetch_add(1, Ordering::SeqCst);
    }

    /// Says that the plan was withdrawn, and why: no further change starts, removals are rolled back while their VMs exist, and
    /// the plan is spent. The first reason counts.
    pub fn withdraw(&self, because: &str) {
        let _ = self.0.withdrawn.set(because.into());
    }

    /// Says whether nothing new is to begin for now.
    pub fn hold(&self, is_held: bool) {
        self.0.is_held.store(is_held, Ordering::SeqCst);
    }

    /// Returns whether nothing new is to begin any more.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.0.asked.load(Ordering::SeqCst) > 0 || self.is_withdrawn()
    }

    /// Returns whether the plan was withdrawn.
    #[must_use]
    pub fn is_withdrawn(&self) -> bool {
        self.withdrawn().is_some()
    }

    /// Returns why the plan was withdrawn, where it was.
    #[must_use]
    pub fn withdrawn(&self) -> Option<&Arc<str>> {
        self.0.withdrawn.get()
    }

    /// Returns whether nothing new is to begin now.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.0.is_held.load(Ordering::SeqCst) || self.is_asked()
    }

    /// Returns whether all is to end at once.
    #[must_use]
    pub fn is_at_once(&self) -> bool {
        self.0.asked.load(Ordering::SeqCst) > 1
    }
}
