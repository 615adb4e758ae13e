//! Report of preferences: their cost, and which are given up and why.
//!
//! Never decides anything. A preference that was not made required counts as given up even if its pod happens to be
//! placed as it prefers.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ExtraCost, Form, MicroUsdPerHour, PodKey, Preference};
use crate::solve::solution::{GivenUp, GivenUpBecause, Preferences, Solution};

use super::choice::{Choice, Item};
use super::firm::Taken;
use super::wishes::{Wisher, Wishes};

/// The chosen preferences and the resulting fleet.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) choice: Choice,
    pub(super) solution: Solution,
    /// Why preferences are not honored in full.
    pub(super) reasons: BTreeMap<Item, GivenUpBecause>,
    /// The cost of the fleet that honors all preferences that can be honored.
    pub(super) all: Option<MicroUsdPerHour>,
    /// Whether more pods are placed than without preferences, so the fleet without them is not comparable.
    pub(super) places_more: bool,
}

/// Reports the outcome for the preferences of placed pods.
pub(super) fn preferences(
    (wishes, limit): (&Wishes<'_>, ExtraCost),
    base: &Solution,
    Outcome { choice, solution, reasons, all, places_more }: &Outcome,
) -> Preferences {
    let target = &solution.target;
    let kept = target.kept.iter().flat_map(|kept| &kept.pods);
    let placed: BTreeSet<&PodKey> = kept.chain(target.new.iter().flat_map(|node| &node.pods)).collect();
    let with = solution.report.cost_after.effective;
    let without = if *places_more { with } else { base.report.cost_after.effective };
    let mut said = Preferences { asked: 0, met: 0, limit, without, with, all: *all, given_up: Vec::new() };
    let mut given_up: BTreeMap<GivenUp, Vec<PodKey>> = BTreeMap::new();
    for (number, content) in wishes.contents.iter().enumerate() {
        let mut made: BTreeMap<Vec<Taken>, Vec<Taken>> = BTreeMap::new();
        let words: Vec<String> = content
            .weights
            .iter()
            .map(|(preference, _)| content.spec.preference_in_words(*preference, &wishes.taints))
            .collect();
        for (rank, wisher) in content.pods.iter().enumerate().filter(|(_, pod)| placed.contains(pod.key)) {
            let asked = choice.of(number, rank, wisher);
            let firm = |asked: &Vec<Taken>| content.firm(asked).taken;
            let taken = made.entry(asked.clone()).or_insert_with_key(firm);
            for ((preference, weight), what) in content.weights.iter().zip(&words) {
                let weight_of_one = usize::try_from(*weight).unwrap_or(0);
                said.asked += weight_of_one;
                let form = form_of(taken, *preference);
                if form == Some(Form::Whole) {
                    said.met += weight_of_one;
                    continue;
                }
                let item = Item { content: number, preference: *preference };
                let is_contradicted = form.is_none() && form_of(&asked, *preference).is_some();
                let because = match is_contradicted {
                    true => GivenUpBecause::Contradicts,
                    false => reason(wisher, item, reasons),
                };
                let (what, pods) = (what.clone(), Vec::new());
                let entry =
                    GivenUp { what, weight: *weight, preference: *preference, instead: form, because, pods };
                given_up.entry(entry).or_default().push(wisher.key.clone());
            }
        }
    }
    said.given_up = listed(given_up);
    said
}

/// Returns why a preference of a pod is not honored in full.
fn reason(wisher: &Wisher<'_>, item: Item, reasons: &BTreeMap<Item, GivenUpBecause>) -> GivenUpBecause {
    match form_of(&wisher.open, item.preference) {
        Some(Form::Whole) => reasons.get(&item).copied().unwrap_or(GivenUpBecause::NotPossible),
        Some(Form::Evenly) | None if wisher.runs => GivenUpBecause::NotMetToday,
        Some(Form::Evenly) | None => GivenUpBecause::NotPossible,
    }
}

fn form_of(taken: &[Taken], preference: Preference) -> Option<Form> {
    taken.iter().find(|(there, _)| *there == preference).map(|(_, form)| *form)
}

/// Lists the given-up preferences, the heaviest first.
fn listed(given_up: BTreeMap<GivenUp, Vec<PodKey>>) -> Vec<GivenUp> {
    let mut listed: Vec<GivenUp> = given_up
        .into_iter()
        .map(|(entry, mut pods)| {
            pods.sort();
            GivenUp { pods, ..entry }
        })
        .collect();
    listed.sort_by(|one, other| {
        (other.weight, &one.what, &one.pods).cmp(&(one.weight, &other.what, &other.pods))
    });
    listed
}
