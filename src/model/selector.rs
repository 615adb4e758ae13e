//! Label selectors of workloads, spread constraints and pod affinity.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{LabelKey, Requirement, Requirements};

/// A selector of labels. Without any requirement it selects everything; an absent selector, which selects
/// nothing, is `None` where it is held.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct LabelSelector(pub Requirements);

impl LabelSelector {
    /// Returns whether these labels are selected. `NotIn` selects an absent label too.
    #[must_use]
    pub fn selects(&self, labels: &BTreeMap<LabelKey, Arc<str>>) -> bool {
        self.0.iter().all(|(key, wanted): (&LabelKey, &Requirement)| match labels.get(key) {
            Some(value) => wanted.accepts(value),
            None => wanted.accepts_absence(),
        })
    }
}
