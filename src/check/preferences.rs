//! Soft preferences: those that the plan claims to meet are met, and cost no more than the limit.
//!
//! A preference that is not listed as given up is checked as if the pod required it: the other rules see a copy of the
//! snapshot with that requirement. The cost of a fleet without preferences is taken from the plan; this module only
//! checks that the plan's statements about it agree.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::finding::{Finding, Rule};
use super::price::show_rate;
use crate::model::{
    ExtraCost, Form, Pod, PodKey, PodPlace, PodSpec, Preference, Requirements, SoftTaints, SpreadConstraint,
    Strength,
};
use crate::plan::{Plan, Preferences};
use crate::policy::Policy;
use crate::snapshot::Snapshot;

/// Extra cost that preferences of running pods may have on top, so that the fleet does not oscillate: percent of the
/// fleet's cost, or this amount if that is more.
const SETTLED_PERCENT: i128 = 2;
const SETTLED_LEAST: i128 = 5_000;

/// Preferences that are listed as given up, by pod.
type Listed<'p> = BTreeMap<&'p PodKey, Instead>;

/// Preferences that are given up, each with the weaker form that is met instead.
type Instead = BTreeMap<Preference, Option<Form>>;

/// Returns a copy of the snapshot in which placed pods require the preferences that the plan meets; `None` if the plan
/// does not weigh preferences.
pub(super) fn held_to(snapshot: &Snapshot, policy: &Policy, plan: &Plan) -> Option<Snapshot> {
    let listed = listed(plan.evidence.report.preferences.as_ref()?);
    let placed = placed(plan);
    let taints = discouraging(snapshot, policy);
    let mut copy = snapshot.clone();
    let nothing = Instead::new();
    let mut made: BTreeMap<(usize, &Instead), Arc<PodSpec>> = BTreeMap::new();
    for (own, pod) in snapshot.pods.iter().zip(&mut copy.pods) {
        if !own.spec.has_preferences(&taints) || !placed.contains(&own.key) {
            continue;
        }
        let given_up = listed.get(&own.key).unwrap_or(&nothing);
        let spec = made
            .entry((Arc::as_ptr(&own.spec).addr(), given_up))
            .or_insert_with(|| Arc::new(requiring(&own.spec, given_up, &taints)));
        pod.spec = Arc::clone(spec);
    }
    Some(copy)
}

/// Returns wrong statements of the plan about preferences.
pub(super) fn findings(snapshot: &Snapshot, policy: &Policy, plan: &Plan) -> Vec<Finding> {
    let report = &plan.evidence.report;
    let Some(said) = &report.preferences else { return Vec::new() };
    let taints = discouraging(snapshot, policy);
    let mut faults = budget((snapshot, &taints), policy, said);
    let pods: BTreeMap<&PodKey, &Pod> = snapshot.pods.iter().map(|pod| (&pod.key, pod)).collect();
    faults.extend(unknown(&pods, &taints, said));
    // Changes that are omitted or held are in the sums and not in the plan.
    let is_whole = plan.spec.targets.is_empty() && plan.evidence.held.is_empty();
    if is_whole {
        let now = report.cost_after.effective;
        if said.with != now {
            let (said, now) = (show_rate(said.with), show_rate(now));
            faults.push(format!("says that the fleet costs {said} with preferences, and {now} in all"));
        }
        faults.extend(sums((&placed(plan), &taints), &pods, said));
    }
    faults.into_iter().map(|why| Finding::new(Rule::Preferences, "plan", why)).collect()
}

fn budget((snapshot, taints): (&Snapshot, &SoftTaints), policy: &Policy, said: &Preferences) -> Vec<String> {
    let mut faults = Vec::new();
    if said.limit != policy.fleet.extra_cost {
        faults.push("states another limit of what preferences may cost than the fleet".to_owned());
    }
    let ExtraCost::Percent(percent) = policy.fleet.extra_cost else { return faults };
    let (without, with) = (i128::from(said.without.0), i128::from(said.with.0));
    let runs = |pod: &Pod| matches!(pod.place, PodPlace::Bound(_)) && pod.spec.has_preferences(taints);
    let settled = match snapshot.pods.iter().any(runs) {
        true => (without * SETTLED_PERCENT / 100).max(SETTLED_LEAST),
        false => 0,
    };
    if with - without > without * i128::from(percent) / 100 + settled {
        let more = show_rate(said.with - said.without);
        faults.push(format!(
            "spends {more} on preferences, more than {percent} % of {}",
            show_rate(said.without)
        ));
    }
    faults
}

/// Returns entries that are listed as given up and are no preference of their pods.
fn unknown(pods: &BTreeMap<&PodKey, &Pod>, taints: &SoftTaints, said: &Preferences) -> Vec<String> {
    let mut faults = Vec::new();
    for entry in &said.given_up {
        let fits = |key: &&PodKey| {
            pods.get(*key).is_some_and(|pod| {
                let is_even = entry.instead != Some(Form::Evenly);
                pod.spec.preferences(taints).contains(&(entry.preference, entry.weight))
                    && (is_even || pod.spec.apart_from_its_like(entry.preference).is_some())
            })
        };
        if let Some(pod) = entry.pods.iter().find(|key| !fits(key)) {
            faults
                .push(format!("says that pod `{pod}` gives up {}, which it does not prefer so", entry.what));
        }
    }
    faults
}

/// Compares the stated weights with those of the placed pods.
fn sums(
    (placed, taints): (&BTreeSet<&PodKey>, &SoftTaints),
    pods: &BTreeMap<&PodKey, &Pod>,
    said: &Preferences,
) -> Vec<String> {
    let listed = listed(said);
    let (mut asked, mut met) = (0, 0);
    for pod in placed.iter().filter_map(|key| pods.get(*key)) {
        for (preference, weight) in pod.spec.preferences(taints) {
            let weight = usize::try_from(weight).unwrap_or(0);
            asked += weight;
            let is_listed = listed.get(&pod.key).is_some_and(|listed| listed.contains_key(&preference));
            met += if is_listed { 0 } else { weight };
        }
    }
    let mut faults = Vec::new();
    for (what, there, right) in [("asked for", said.asked, asked), ("held to", said.met, met)] {
        if there != right {
            faults.push(format!("says that preferences of weight {there} are {what}, it is {right}"));
        }
    }
    faults
}

/// Returns the `PreferNoSchedule` taints of pools and existing nodes.
fn discouraging(snapshot: &Snapshot, policy: &Policy) -> SoftTaints {
    let pools = policy.pools.values().flat_map(|pool| &pool.taints);
    SoftTaints::of(pools.chain(snapshot.nodes.iter().flat_map(|node| &node.taints)))
}

fn listed(said: &Preferences) -> Listed<'_> {
    let mut listed: Listed<'_> = BTreeMap::new();
    for entry in &said.given_up {
        for pod in &entry.pods {
            listed.entry(pod).or_default().insert(entry.preference, entry.instead);
        }
    }
    listed
}

fn placed(plan: &Plan) -> BTreeSet<&PodKey> {
    let new = plan.evidence.placements.values().flat_map(|placement| &placement.pods);
    new.chain(plan.evidence.kept.values().flatten()).collect()
}

/// Returns a spec that requires each preference that is not given up, and the weaker form of those that have one.
fn requiring(own: &PodSpec, given_up: &Instead, taints: &SoftTaints) -> PodSpec {
    let mut spec = own.clone();
    for (preference, _) in own.preferences(taints) {
        let form = match given_up.get(&preference) {
            None => Form::Whole,
            Some(Some(form)) => *form,
            Some(None) => continue,
        };
        match (preference, form) {
            (Preference::NodeAffinity(place), _) => {
                let wanted = &own.node_affinity.preferred[place].term;
                let terms = spec.node_affinity.required.take().unwrap_or_else(|| vec![Requirements::none()]);
                spec.node_affinity.required = Some(both(&terms, wanted));
            }
            (Preference::SoftTaints, _) => spec.refuses_soft_taints = true,
            (Preference::Spread(place), _) => spec.spread[place].strength = Strength::Required,
            (Preference::PodAffinity(place), _) => {
                spec.affinity.push(own.preferred_affinity[place].term.clone());
            }
            (Preference::PodAntiAffinity(place), Form::Whole) => {
                spec.anti_affinity.push(own.preferred_anti_affinity[place].term.clone());
            }
            (Preference::PodAntiAffinity(place), Form::Evenly) => {
                let term = &own.preferred_anti_affinity[place].term;
                spec.spread.push(SpreadConstraint {
                    topology_key: term.topology_key.clone(),
                    max_skew: 1,
                    strength: Strength::Required,
                    selector: term.selector.clone(),
                    min_domains: None,
                    honors_node_affinity: true,
                    honors_node_taints: true,
                    match_label_keys: Vec::new(),
                });
            }
        }
    }
    spec
}

/// Combines each term with the wanted requirements; terms that contradict them are dropped.
fn both(terms: &[Requirements], wanted: &Requirements) -> Vec<Requirements> {
    let can_hold = terms.iter().filter(|term| wanted.intersects(term).is_ok());
    can_hold
        .map(|term| {
            let mut both = term.clone();
            both.add_all(wanted);
            both
        })
        .collect()
}
