//! Pods per zone, for pods that gather where nodes are needed anyway.
//!
//! If limits leave few nodes, every additional zone costs one. Never assigns pods.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::model::{Requirements, label};
use crate::solve::demand::Shape;

/// The pods of each zone.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    zones: BTreeMap<Arc<str>, usize>,
}

impl Gathered {
    /// Counts the pods that can be in only one zone, whatever is assigned.
    pub(super) fn of<'s>(shapes: impl Iterator<Item = &'s Shape>) -> Self {
        let mut gathered = Self::default();
        for shape in shapes {
            if let Some(zone) = only_zone(&shape.ask.alternatives) {
                gathered.add(Some(&zone), shape.pods.len());
            }
        }
        gathered
    }

    /// Counts pods in a zone; does nothing without a zone.
    pub(super) fn add(&mut self, zone: Option<&Arc<str>>, pods: usize) {
        if let Some(zone) = zone {
            *self.zones.entry(zone.clone()).or_default() += pods;
        }
    }

    /// Returns the number of pods in a zone; zero without a zone.
    pub(super) fn count(&self, zone: Option<&Arc<str>>) -> usize {
        zone.and_then(|zone| self.zones.get(zone)).copied().unwrap_or_default()
    }
}

/// Returns the only zone that all these alternatives require, if there is one.
fn only_zone(alternatives: &[Requirements]) -> Option<Arc<str>> {
    let mut zones = alternatives.iter().map(|term| term.get(label::ZONE).and_then(|zone| zone.single()));
    let first = zones.next()??;
    zones.all(|zone| zone == Some(first)).then(|| first.clone())
}
