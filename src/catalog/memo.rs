//! Caches the instance types offered to each AKSNodeClass, because one plan requests the same class a dozen times.
//!
//! Only a cache: it is not part of the catalogue's content, and every change to a catalogue starts with an empty one.

use std::sync::{Arc, Mutex, PoisonError};

use super::Offered;
use crate::model::{NetworkSetup, NodeClass};

/// Maximum number of cached results. Clusters have few classes; the oldest result is evicted first.
const KEPT_MAX: usize = 16;

/// Cached results, shared by copies of one catalogue.
#[derive(Clone, Debug, Default)]
pub(super) struct Memo(Arc<Mutex<Vec<One>>>);

/// Types offered to one class in one network.
#[derive(Debug)]
struct One {
    class: NodeClass,
    network: NetworkSetup,
    offered: Arc<Offered>,
}

/// The cache does not affect whether two catalogues are equal.
impl PartialEq for Memo {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Memo {}

impl Memo {
    /// Returns the cached result for this class, computing it if it is missing.
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
