//! Label requirements as numbers: whether they agree, and their combination, computed once.
//!
//! Never looks at pods or nodes.

use std::collections::BTreeMap;

use crate::catalog::Catalog;
use crate::model::{LabelKey, Requirement, Requirements};
use crate::solve::intern::Interner;

/// The number of a set of requirements.
pub(super) type Asked = usize;

/// Sets of requirements by number, with cached results for pairs of them.
pub(super) struct Meetings<'a> {
    catalog: &'a Catalog,
    sets: Interner<Requirements>,
    joined: BTreeMap<(Asked, Asked), Option<Asked>>,
    held: BTreeMap<(Asked, Asked), bool>,
}

impl<'a> Meetings<'a> {
    pub(super) const fn new(catalog: &'a Catalog) -> Self {
        Self { catalog, sets: Interner::new(), joined: BTreeMap::new(), held: BTreeMap::new() }
    }

    /// Returns the number of a set.
    pub(super) fn number(&mut self, requirements: &Requirements) -> Asked {
        self.sets.number(requirements)
    }

    /// Returns the set of this number.
    pub(super) fn get(&self, number: Asked) -> &Requirements {
        &self.sets.values()[number]
    }

    /// Returns the requirements of a node that does not exist yet after others are added; `None` if they contradict. A
    /// label that the node does not name may still get any value if it is well known.
    pub(super) fn join(&mut self, node: Asked, wanted: Asked) -> Option<Asked> {
        if let Some(known) = self.joined.get(&(node, wanted)) {
            return *known;
        }
        let (there, more) = (self.get(node), self.get(wanted));
        let agree = more.satisfied_by(there, |key| self.catalog.is_well_known(key)).is_ok();
        let joined = agree.then(|| {
            let mut both = there.clone();
            both.add_all(more);
            both
        });
        let joined = joined.map(|both| self.sets.number(&both));
        self.joined.insert((node, wanted), joined);
        joined
    }

    /// Returns whether an existing node satisfies requirements: a label that it does not have is absent.
    pub(super) fn holds(&mut self, node: Asked, wanted: Asked) -> bool {
        if let Some(known) = self.held.get(&(node, wanted)) {
            return *known;
        }
        let holds = self.get(wanted).satisfied_by(self.get(node), |_| false).is_ok();
        self.held.insert((node, wanted), holds);
        holds
    }

    /// Returns the requirements of a node that does not exist yet after these labels are narrowed; `None` if one of
    /// them has no value left.
    pub(super) fn narrow(&mut self, node: Asked, narrowed: &[(LabelKey, Requirement)]) -> Option<Asked> {
        let there = self.get(node);
        let changes = |(key, wanted): &&(LabelKey, Requirement)| there.get(key.as_str()) != Some(wanted);
        if !narrowed.iter().any(|pair| changes(&pair)) {
            return Some(node);
        }
        let mut wanted = Requirements::none();
        for (key, requirement) in narrowed {
            wanted.add(key.clone(), requirement.clone());
        }
        if wanted.iter().any(|(_, requirement)| requirement.is_none()) {
            return None;
        }
        let wanted = self.number(&wanted);
        self.join(node, wanted)
    }
}
