//! What an AKSNodeClass was offered is kept: one plan asks for the same class a dozen times.
//!
//! A memo alone: it is no part of what a catalogue says, and whoever changes a catalogue starts with an empty one.

use std::sync::{Arc, Mutex, PoisonError};

use super::Offered;
use crate::model::{NetworkSetup, NodeClass};

/// The most answers that are kept; clusters have few classes, and the oldest goes first.
const KEPT_MAX: usize = 16;

/// What classes were offered, shared by copies of one catalogue.
#[derive(Clone, Debug, Default)]
pub(super) struct Memo(Arc<Mutex<Vec<One>>>);

/// What one class was offered in one network.
#[derive(Debug)]
struct One {
    class: NodeClass,
    network: NetworkSetup,
    offered: Arc<Offered>,
}

/// Two catalogues that say the same are equal, whatever was asked of them.
impl PartialEq for Memo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Memo {}

impl Memo {
    /// Returns what was made for this class, making it where it was not.
    pub(super) fn of(
        &self,
        class: &NodeClass,
        network: NetworkSetup,
        make: impl FnOnce() -> Offered,
    ) -> Arc<Offered> {
        let kept = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept()
            .iter()
            .find(|one| one.network == network && one.class == *class)
            .map(|one| one.offered.clone());
        if let Some(offered) = found {
            return offered;
        }
        let offered = Arc::new(make());
        let mut kept = kept();
        if kept.len() >= KEPT_MAX {
            kept.remove(0);
        }
        kept.push(One { class: class.clone(), network, offered: Arc::clone(&offered) });
        offered
    }
}
