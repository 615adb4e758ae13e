//! A pod as it is tried: what it requires, with what it prefers taken for required, and how that is given up
//! step by step when nothing holds it.
//!
//! The order of the steps is Karpenter's: alternatives of the node affinity, pod affinity, pod anti-affinity,
//! preferred node affinity, spreading that may be passed over, taints that only discourage. Nothing here knows
//! what there is.

use std::cmp::Reverse;

use crate::model::{
    Effect, PodAffinityTerm, PodSpec, Preferred, Requirements, SpreadConstraint, Strength, Toleration,
};

use super::Preferences;

/// What is asked for a pod at one step.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    /// Terms of the required node affinity that are left; only the first is looked at.
    terms: Vec<Requirements>,
    /// Preferred node affinity that is left, the heaviest first; only the first is looked at.
    preferred: Vec<Preferred<Requirements>>,
    /// Preferred pod affinity that is left, the heaviest first.
    preferred_affinity: Vec<Preferred<PodAffinityTerm>>,
    /// Preferred pod anti-affinity that is left, the heaviest first.
    preferred_anti_affinity: Vec<Preferred<PodAffinityTerm>>,
    /// Spread constraints that are left.
    pub(super) spread: Vec<SpreadConstraint>,
    /// What is tolerated.
    pub(super) tolerations: Vec<Toleration>,
}

fn heaviest_first<T: Clone>(terms: &[Preferred<T>], preferences: Preferences) -> Vec<Preferred<T>> {
    let mut sorted = match preferences {
        Preferences::Respect => terms.to_vec(),
        Preferences::Ignore => Vec::new(),
    };
    sorted.sort_by_key(|term| Reverse(term.weight));
    sorted
}

impl Wish {
    /// Returns what is asked for at first.
    pub(super) fn of(spec: &PodSpec, preferences: Preferences) -> Self {
        let is_kept = |constraint: &&SpreadConstraint| match preferences {
            Preferences::Respect => true,
            Preferences::Ignore => constraint.strength == Strength::Required,
        };
        Self {
            terms: spec.node_affinity.required.clone().unwrap_or_default(),
            preferred: heaviest_first(&spec.node_affinity.preferred, preferences),
            preferred_affinity: heaviest_first(&spec.preferred_affinity, preferences),
            preferred_anti_affinity: heaviest_first(&spec.preferred_anti_affinity, preferences),
            spread: spec.spread.iter().filter(is_kept).cloned().collect(),
            tolerations: spec.tolerations.clone(),
        }
    }

    /// Returns what is asked for after one more thing is given up; `None` when nothing is left to give up.
    /// `has_soft_taints` says whether some pool has a taint that only discourages.
    pub(super) fn relaxed(&self, has_soft_taints: bool) -> Option<Self> {
        let mut next = self.clone();
        if next.terms.len() > 1 {
            next.terms.remove(0);
        } else if !next.preferred_affinity.is_empty() {
            next.preferred_affinity.remove(0);
        } else if !next.preferred_anti_affinity.is_empty() {
            next.preferred_anti_affinity.remove(0);
        } else if !next.preferred.is_empty() {
            next.preferred.remove(0);
        } else if let Some(place) = next.spread.iter().position(|one| one.strength == Strength::Preferred) {
            next.spread.swap_remove(place);
        } else if has_soft_taints && !next.tolerates_soft_taints() {
            next.tolerations.push(SOFT);
        } else {
            return None;
        }
        Some(next)
    }

    fn tolerates_soft_taints(&self) -> bool {
        self.tolerations.contains(&SOFT)
    }

    /// Returns what the node's labels must be without what is only preferred.
    pub(super) fn strict(&self, spec: &PodSpec) -> Requirements {
        let mut wanted = spec.node_selector.clone();
        if let Some(term) = self.terms.first() {
            wanted.add_all(term);
        }
        wanted
    }

    /// Returns what the node's labels must be, the heaviest preference included.
    pub(super) fn wanted(&self, spec: &PodSpec) -> Requirements {
        let mut wanted = self.strict(spec);
        if let Some(preferred) = self.preferred.first() {
            wanted.add_all(&preferred.term);
        }
        wanted
    }

    /// Returns what the node selector and each term of the required node affinity that is left come to.
    pub(super) fn alternatives(&self, spec: &PodSpec) -> Vec<Requirements> {
        if self.terms.is_empty() {
            return vec![spec.node_selector.clone()];
        }
        let joined = |term: &Requirements| {
            let mut both = spec.node_selector.clone();
            both.add_all(term);
            both
        };
        self.terms.iter().map(joined).collect()
    }

    /// Returns the terms of pod affinity, required and preferred.
    pub(super) fn affinity<'w>(&'w self, spec: &'w PodSpec) -> impl Iterator<Item = &'w PodAffinityTerm> {
        spec.affinity.iter().chain(self.preferred_affinity.iter().map(|preferred| &preferred.term))
    }

    /// Returns the terms of pod anti-affinity, required and preferred.
    pub(super) fn anti_affinity<'w>(
        &'w self,
        spec: &'w PodSpec,
    ) -> impl Iterator<Item = &'w PodAffinityTerm> {
        spec.anti_affinity.iter().chain(self.preferred_anti_affinity.iter().map(|preferred| &preferred.term))
    }
}

/// What tolerates every taint that only discourages.
const SOFT: Toleration =
    Toleration { key: None, value: None, effect: Some(Effect::PreferNoSchedule), seconds: None };
