//! Makes some preferences of a pod spec required.
//!
//! Never decides which preferences are honored. Heavier ones come first, and one that contradicts a requirement made so
//! far stays soft.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use crate::model::{
    Form, LabelKey, PodAffinityTerm, PodSpec, Preference, Requirement, Requirements, SpreadConstraint,
    Strength,
};

/// A preference, and the form in which it is to be met.
pub(super) type Taken = (Preference, Form);

/// A pod spec with preferences made required.
pub(super) struct Firm {
    /// The spec that the scheduler would read.
    pub(super) spec: PodSpec,
    /// The preferences that are now required.
    pub(super) taken: Vec<Taken>,
}

/// Makes these preferences of a spec required; `alike` is the number of pods with this spec.
pub(super) fn firm((spec, weights): (&PodSpec, &[(Preference, u32)]), taken: &[Taken], alike: usize) -> Firm {
    let weight =
        |preference: Preference| weights.iter().find(|(there, _)| *there == preference).map(|it| it.1);
    let mut order: Vec<Taken> = taken.to_vec();
    order.sort_by_key(|(preference, _)| (Reverse(weight(*preference)), *preference));
    let mut draft = Draft { spec: spec.clone(), alike, spread_over: BTreeSet::new() };
    let mut kept: Vec<Taken> = order.into_iter().filter(|taken| draft.takes(spec, *taken)).collect();
    kept.sort();
    let mut firm = draft.spec;
    let is_taken = |preference: Preference| kept.iter().any(|(there, _)| *there == preference);
    without(&mut firm.node_affinity.preferred, |place| is_taken(Preference::NodeAffinity(place)));
    without(&mut firm.preferred_affinity, |place| is_taken(Preference::PodAffinity(place)));
    without(&mut firm.preferred_anti_affinity, |place| is_taken(Preference::PodAntiAffinity(place)));
    Firm { spec: firm, taken: kept }
}

/// Removes the items at these indices from a list.
fn without<T>(list: &mut Vec<T>, is_out: impl Fn(usize) -> bool) {
    let mut place = 0;
    list.retain(|_| {
        place += 1;
        !is_out(place - 1)
    });
}

struct Draft {
    spec: PodSpec,
    alike: usize,
    /// Topology keys over which honored preferences spread more pods than one domain may hold.
    spread_over: BTreeSet<LabelKey>,
}

impl Draft {
    /// Makes a preference required unless it contradicts a requirement made so far.
    fn takes(&mut self, own: &PodSpec, (preference, form): Taken) -> bool {
        match preference {
            Preference::NodeAffinity(place) => {
                own.node_affinity.preferred.get(place).is_some_and(|preferred| self.narrows(&preferred.term))
            }
            Preference::SoftTaints => {
                self.spec.refuses_soft_taints = true;
                true
            }
            Preference::Spread(place) => own.spread.get(place).is_some_and(|constraint| {
                self.spreads(own, &constraint.topology_key, constraint.max_skew) && {
                    self.spec.spread[place].strength = Strength::Required;
                    true
                }
            }),
            Preference::PodAffinity(place) => {
                let term = own.preferred_affinity.get(place).map(|preferred| preferred.term.clone());
                self.spec.affinity.extend(term);
                true
            }
            Preference::PodAntiAffinity(place) => match (form, own.apart_from_its_like(preference)) {
                (Form::Evenly, Some(term)) => {
                    self.spreads(own, &term.topology_key, 1) && {
                        self.spec.spread.push(evenly(term));
                        true
                    }
                }
                (Form::Evenly, None) => false,
                (Form::Whole, _) => {
                    let term = own.preferred_anti_affinity.get(place).map(|preferred| preferred.term.clone());
                    self.spec.anti_affinity.extend(term);
                    true
                }
            },
        }
    }

    /// Joins a preferred term with every required one.
    fn narrows(&mut self, wanted: &Requirements) -> bool {
        // Spread counts only the domains that a pod selects: selecting fewer would make the rule meaningless.
        if wanted.iter().any(|(key, _)| self.spread_over.contains(key)) {
            return false;
        }
        let selector = &self.spec.node_selector;
        let joined = |term: &Requirements| {
            term.intersects(wanted).ok()?;
            let mut both = term.clone();
            both.add_all(wanted);
            both.intersects(selector).is_ok().then_some(both)
        };
        let joined: Vec<Requirements> = match &self.spec.node_affinity.required {
            Some(terms) => terms.iter().filter_map(joined).collect(),
            None => joined(&Requirements::none()).into_iter().collect(),
        };
        if joined.is_empty() {
            return false;
        }
        if !wanted.is_empty() {
            self.spec.node_affinity.required = Some(joined);
        }
        true
    }

    /// Records that pods are spread over a label, unless a heavier preference has put them all into one domain.
    fn spreads(&mut self, own: &PodSpec, key: &LabelKey, most: u32) -> bool {
        if self.alike <= usize::try_from(most).unwrap_or(usize::MAX) {
            return true;
        }
        if is_pinned(&self.spec, key) && !is_pinned(own, key) {
            return false;
        }
        self.spread_over.insert(key.clone());
        true
    }
}

/// Returns whether all nodes that a pod selects have the same value of a label.
fn is_pinned(spec: &PodSpec, key: &LabelKey) -> bool {
    let single = |terms: &Requirements| terms.get(key.as_str()).and_then(Requirement::single).is_some();
    let terms = spec.node_affinity.required.as_ref();
    single(&spec.node_selector) || terms.is_some_and(|terms| !terms.is_empty() && terms.iter().all(single))
}

/// Returns the constraint that evenly spreads pods that prefer to be apart.
fn evenly(term: &PodAffinityTerm) -> SpreadConstraint {
    SpreadConstraint {
        topology_key: term.topology_key.clone(),
        max_skew: 1,
        strength: Strength::Required,
        selector: term.selector.clone(),
        min_domains: None,
        honors_node_affinity: true,
        honors_node_taints: true,
        match_label_keys: Vec::new(),
    }
}
