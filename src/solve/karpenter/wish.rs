//! Requirements of a pod while it is tried: preferences count as required, and are given up step by step if nothing
//! holds the pod.
//!
//! The order of the steps is Karpenter's: alternatives of the node affinity, pod affinity, pod anti-affinity, preferred
//! node affinity, `ScheduleAnyway` spread constraints, `PreferNoSchedule` taints. Never looks at nodes or pools.

use std::cmp::Reverse;

use crate::model::{
    Effect, PodAffinityTerm, PodSpec, Preferred, Requirements, SpreadConstraint, Strength, Toleration,
};

use super::Preferences;

/// Requirements of a pod at one step.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    /// Remaining terms of the required node affinity; only the first is used.
    terms: Vec<Requirements>,
    /// Remaining preferred node affinity, the heaviest first; only the first is used.
    preferred: Vec<Preferred<Requirements>>,
    /// Remaining preferred pod affinity, the heaviest first.
    preferred_affinity: Vec<Preferred<PodAffinityTerm>>,
    /// Remaining preferred pod anti-affinity, the heaviest first.
    preferred_anti_affinity: Vec<Preferred<PodAffinityTerm>>,
    /// Remaining spread constraints.
    pub(super) spread: Vec<SpreadConstraint>,
    /// Tolerations of the pod.
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
    /// Returns the requirements of the first step.
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

    /// Returns the requirements after one more is given up; `None` if nothing is left to give up. `has_soft_taints`
    /// tells whether some pool has a `PreferNoSchedule` taint.
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

    /// Returns the requirements on the node's labels, without preferences.
    pub(super) fn strict(&self, spec: &PodSpec) -> Requirements {
        let mut wanted = spec.node_selector.clone();
        if let Some(term) = self.terms.first() {
            wanted.add_all(term);
        }
        wanted
    }

    /// Returns the requirements on the node's labels, including the heaviest preference.
    pub(super) fn wanted(&self, spec: &PodSpec) -> Requirements {
        let mut wanted = self.strict(spec);
        if let Some(preferred) = self.preferred.first() {
            wanted.add_all(&preferred.term);
        }
        wanted
    }

    /// Returns the node selector combined with each remaining term of the required node affinity.
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

/// Toleration of every `PreferNoSchedule` taint.
const SOFT: Toleration =
    Toleration { key: None, value: None, effect: Some(Effect::PreferNoSchedule), seconds: None };
