//! Search for the preferences to honor: all if the budget allows, otherwise the heaviest first until it is used up.
//!
//! Each attempt plans the whole fleet; the number of attempts is limited, never their time. Removals are searched in
//! full without preferences, with all of them, and for the final choice; other attempts reuse the removals of the first
//! two. The returned fleet was planned exactly as it is, and leaves no more pods unplaced than a fleet without
//! preferences.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::{ExtraCost, Form, LabelKey, PodKey, PodSpec, Preference, label};
use crate::policy::Policy;
use crate::snapshot::Snapshot;
use crate::solve::memo::Memos;
use crate::solve::report::plain;
use crate::solve::shrink::trial::is_worse;
use crate::solve::solution::{GivenUpBecause, Solution};
use crate::solve::steps;

use super::choice::{Choice, FULL, Item, Level};
use super::fitting;
use super::said::{self, Outcome};
use super::wishes::Wishes;

/// Minimum and maximum number of fleets that are planned.
const TRIES: (usize, usize) = (6, 16);

/// Number of pods that all attempts together may plan: more pods mean fewer attempts.
const PLANNED_MAX: usize = 40_000;

/// Maximum number of times that preferences are weakened because pods are unplaced.
const ROUNDS_MAX: usize = 5;

/// Maximum number of weakened preferences that are restored.
const REGAINED_MAX: usize = 4;

/// Tolerance beyond the budget for preferences of running pods, so a fleet that was just planned is kept: a percentage
/// of the fleet's cost, or this amount if that is more (as for any other move).
const SETTLED_PERCENT: i128 = 2;
const SETTLED_LEAST: i128 = 5_000;

/// Computes the fleet that should exist, meeting as many preferences as the budget allows.
pub(in crate::solve) fn solve(snapshot: &Snapshot, policy: &Policy, memos: &Memos) -> Solution {
    let hoped = Wishes::of(snapshot, policy, &BTreeSet::new());
    if hoped.contents.is_empty() {
        return steps::solve(snapshot, policy, memos);
    }
    // Plans with all preferences in parallel: pods with preferences are rarely unplaced without them.
    let (base, all) = rayon::join(
        || steps::solve(snapshot, policy, memos),
        || (!hoped.is_empty()).then(|| All::of((snapshot, policy, memos), &hoped)),
    );
    let left_over: BTreeSet<&PodKey> =
        base.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods).collect();
    let is_as_hoped = !hoped.keys().any(|pod| left_over.contains(pod));
    let (wishes, all) = match is_as_hoped {
        true => (hoped, all),
        false => (Wishes::of(snapshot, policy, &left_over), None),
    };
    let outcome = match wishes.is_empty() {
        true => Outcome { solution: base.clone(), ..Outcome::default() },
        false => {
            let all = all.unwrap_or_else(|| All::of((snapshot, policy, memos), &wishes));
            let All { items, choice, copy, solution } = all;
            let search = Search::of((copy, policy, memos), &wishes, (&base, &solution));
            search.run((items, choice), solution.clone())
        }
    };
    let preferences = said::preferences((&wishes, policy.fleet.extra_cost), &base, &outcome);
    let Outcome { mut solution, .. } = outcome;
    let contents = wishes.contents.iter().map(|content| content.pods.iter().map(|pod| pod.key).collect());
    solution.report.unplaced = plain::told(solution.report.unplaced, &base.report.unplaced, contents);
    solution.report.preferences = Some(preferences);
    solution
}

/// The fleet with all preferences.
struct All {
    items: Vec<Item>,
    choice: Choice,
    /// The snapshot with the pod specs that were planned.
    copy: Snapshot,
    solution: Solution,
}

impl All {
    fn of((snapshot, policy, memos): (&Snapshot, &Policy, &Memos), wishes: &Wishes<'_>) -> Self {
        let items = wishes.items();
        let choice = Choice::full(&items);
        let mut copy = snapshot.clone();
        wishes.apply(&choice, &mut copy);
        let solution = steps::solve(&copy, policy, memos);
        Self { items, choice, copy, solution }
    }
}

/// A fleet that was planned with some preferences.
struct Trial {
    solution: Solution,
    /// Whether it leaves no more pods unplaced than without preferences, and has no more nodes without a known price.
    places: bool,
    /// Whether it leaves fewer pods unplaced, so the budget does not apply.
    places_more: bool,
    /// Its cost beyond that of the fleet without preferences.
    extra: i128,
}

struct Search<'a> {
    policy: &'a Policy,
    memos: &'a Memos,
    wishes: &'a Wishes<'a>,
    base: &'a Solution,
    /// The fleet with all preferences.
    full: &'a Solution,
    priorities: BTreeMap<PodKey, i32>,
    /// The snapshot with the pod specs that were planned last.
    copy: Snapshot,
    /// Maximum extra cost of preferences; `None` if unlimited.
    allowed: Option<i128>,
    tries: usize,
    reasons: BTreeMap<Item, GivenUpBecause>,
    /// The preferences that no node can meet.
    vain: BTreeSet<Item>,
}

impl<'a> Search<'a> {
    fn of(
        (copy, policy, memos): (Snapshot, &'a Policy, &'a Memos),
        wishes: &'a Wishes<'a>,
        (base, full): (&'a Solution, &'a Solution),
    ) -> Self {
        let cost = i128::from(base.report.cost_after.effective.0);
        Self {
            policy,
            memos,
            wishes,
            base,
            full,
            priorities: copy.pods.iter().map(|pod| (pod.key.clone(), pod.spec.priority)).collect(),
            copy,
            allowed: match policy.fleet.extra_cost {
                ExtraCost::Percent(percent) => Some(cost.max(0) * i128::from(percent) / 100),
                ExtraCost::Unlimited => None,
            },
            tries: (PLANNED_MAX / wishes.pods().max(1)).clamp(TRIES.0, TRIES.1),
            reasons: BTreeMap::new(),
            vain: BTreeSet::new(),
        }
    }

    /// Starts from the fleet with all preferences.
    fn run(mut self, (mut items, mut choice): (Vec<Item>, Choice), solution: Solution) -> Outcome {
        let mut trial = self.judged(solution);
        let mut weakened: Vec<Item> = Vec::new();
        for _ in 0..ROUNDS_MAX {
            if trial.places || !self.weaken(&mut choice, &trial, &mut weakened) {
                break;
            }
            trial = self.attempt(&choice);
        }
        let all = trial.places.then_some(trial.solution.report.cost_after.effective);
        let found = if self.is_good(&trial) {
            self.regained((choice, trial.solution), &weakened)
        } else {
            self.keep_what_runs();
            items.retain(|item| choice.level(*item).is_some());
            // Form `Evenly` does not give pods what they prefer, so preferences that can be met come first.
            items.sort_by_key(|item| choice.level(*item).is_some_and(|level| level.form == Form::Evenly));
            self.fitted(&items, &choice, &trial)
        };
        let (choice, solution) = self.looked_around(found);
        let places_more = is_worse(&self.unplaced(self.base), &self.unplaced(&solution));
        Outcome { choice, solution, reasons: self.reasons, all, places_more }
    }

    /// Plans with these preferences, taking removals from the fleet without or with all preferences, or none: a full
    /// search of removals would be repeated for each attempt.
    fn attempt(&mut self, choice: &Choice) -> Trial {
        self.wishes.apply(choice, &mut self.copy);
        let solution = steps::near(&self.copy, self.policy, self.memos, &[self.base, self.full]);
        self.judged(solution)
    }

    /// Searches removals in full for the final preferences, if they were only guessed.
    fn looked_around(&mut self, (choice, solution): (Choice, Solution)) -> (Choice, Solution) {
        if solution == *self.base || solution == *self.full {
            return (choice, solution);
        }
        self.wishes.apply(&choice, &mut self.copy);
        let around = steps::solve(&self.copy, self.policy, self.memos);
        let trial = self.judged(around);
        let cost = |solution: &Solution| solution.report.cost_after.effective;
        let is_no_worse = !is_worse(&self.unplaced(&trial.solution), &self.unplaced(&solution));
        if self.is_good(&trial) && is_no_worse && cost(&trial.solution) <= cost(&solution) {
            return (choice, trial.solution);
        }
        (choice, solution)
    }

    fn judged(&mut self, solution: Solution) -> Trial {
        self.tries = self.tries.saturating_sub(1);
        let (cost, base) = (solution.report.cost_after, self.base.report.cost_after);
        let is_known = cost.unpriced_nodes <= base.unpriced_nodes;
        let (left, left_without) = (self.unplaced(&solution), self.unplaced(self.base));
        let places = is_known && !is_worse(&left, &left_without);
        let places_more = places && is_worse(&left_without, &left);
        let extra = i128::from(cost.effective.0) - i128::from(base.effective.0);
        Trial { solution, places, places_more, extra }
    }

    /// Counts the unplaced pods by priority.
    fn unplaced(&self, solution: &Solution) -> BTreeMap<i32, usize> {
        let mut counts = BTreeMap::new();
        for pod in solution.report.unplaced.iter().flat_map(|unplaced| &unplaced.pods) {
            *counts.entry(self.priorities.get(pod).copied().unwrap_or(0)).or_default() += 1;
        }
        counts
    }

    fn is_good(&self, trial: &Trial) -> bool {
        trial.places && (trial.places_more || self.allowed.is_none_or(|allowed| trial.extra <= allowed))
    }

    /// Weakens the preferences of specs with unplaced pods; returns whether there was anything to weaken.
    fn weaken(&mut self, choice: &mut Choice, trial: &Trial, weakened: &mut Vec<Item>) -> bool {
        let before: BTreeSet<&PodKey> = self.base.report.unplaced.iter().flat_map(|it| &it.pods).collect();
        let left: BTreeSet<&PodKey> = trial.solution.report.unplaced.iter().flat_map(|it| &it.pods).collect();
        let mut stuck: Vec<Item> = Vec::new();
        for (number, content) in self.wishes.contents.iter().enumerate() {
            if content.pods.iter().any(|pod| left.contains(pod.key) && !before.contains(pod.key)) {
                let items = content.weights.iter();
                let items = items.map(|(preference, _)| Item { content: number, preference: *preference });
                stuck.extend(items.filter(|item| choice.level(*item).is_some()));
            }
        }
        // The copy is the world that was planned: only there are labels distinguished that only preferences mention.
        let vain = fitting::vain((&self.copy, self.policy), self.wishes, &stuck);
        self.vain.extend(&vain);
        let mut changed = false;
        for items in stuck.chunk_by(|one, other| one.content == other.content) {
            let vain: Vec<Item> = items.iter().filter(|item| vain.contains(item)).copied().collect();
            let next = if vain.is_empty() { self.most_binding(choice, items) } else { vain };
            for item in next {
                changed = true;
                let level = self.weaker(choice, item);
                choice.set(item, level);
                if level.is_none() {
                    self.reasons.insert(item, GivenUpBecause::NotPossible);
                    weakened.push(item);
                }
            }
        }
        changed
    }

    /// Returns the preference of a spec that most likely keeps pods from being placed. Host anti-affinity is never it,
    /// because it only takes more nodes.
    fn most_binding(&self, choice: &Choice, items: &[Item]) -> Vec<Item> {
        let rank = |item: &Item| {
            let content = &self.wishes.contents[item.content];
            let weight = content.weights.iter().find(|it| it.0 == item.preference).map_or(0, |it| it.1);
            let rank = match item.preference {
                Preference::PodAntiAffinity(_) if is_of_hosts(content.spec, item.preference) => return None,
                Preference::PodAntiAffinity(_)
                    if choice.level(*item).is_some_and(|it| it.form == Form::Whole) =>
                {
                    0
                }
                Preference::PodAffinity(_) => 1,
                Preference::PodAntiAffinity(_) => 2,
                Preference::Spread(_) => 3,
                Preference::NodeAffinity(_) => 4,
                Preference::SoftTaints => 5,
            };
            Some((rank, weight, *item))
        };
        items.iter().filter_map(rank).min().map(|(_, _, item)| item).into_iter().collect()
    }

    /// Returns the next weaker form of a preference.
    fn weaker(&self, choice: &Choice, item: Item) -> Option<Level> {
        let level = choice.level(item)?;
        let can_be_even =
            self.wishes.contents[item.content].spec.apart_from_its_like(item.preference).is_some();
        (level.form == Form::Whole && can_be_even).then_some(Level { form: Form::Evenly, ..level })
    }

    /// Restores preferences that were weakened unnecessarily, the heaviest first.
    fn regained(&mut self, mut best: (Choice, Solution), weakened: &[Item]) -> (Choice, Solution) {
        let mut again: Vec<Item> = weakened.to_vec();
        let weight = |item: &Item| {
            let weights = &self.wishes.contents[item.content].weights;
            weights.iter().find(|it| it.0 == item.preference).map_or(0, |it| it.1)
        };
        again.sort_by_key(|item| (std::cmp::Reverse(weight(item)), *item));
        // Giving up the last one is what let the pods be placed.
        let last = weakened.last().copied();
        again.retain(|item| Some(*item) != last && !self.vain.contains(item));
        for item in again.into_iter().take(REGAINED_MAX) {
            if self.tries == 0 {
                break;
            }
            let can_be_even = self.wishes.contents[item.content].spec.apart_from_its_like(item.preference);
            let form = if can_be_even.is_some() { Form::Evenly } else { Form::Whole };
            let mut next = best.0.clone();
            next.set(item, Some(Level { form, ..FULL }));
            let trial = self.attempt(&next);
            if self.is_good(&trial) {
                self.reasons.remove(&item);
                best = (next, trial.solution);
            }
        }
        best
    }

    /// Raises the budget to the cost of the running pods' preferences alone, if that is only slightly more.
    fn keep_what_runs(&mut self) {
        let runs = |pod: &super::wishes::Wisher<'_>| pod.runs && !pod.open.is_empty();
        let Some(allowed) = self.allowed else { return };
        if !self.wishes.contents.iter().any(|content| content.pods.iter().any(runs)) {
            return;
        }
        let mut choice = Choice::default();
        for item in self.wishes.items() {
            let running = self.wishes.contents[item.content].pods.iter().filter(|pod| pod.runs).count();
            choice.set(item, Some(Level { pods: running, ..FULL }));
        }
        let trial = self.attempt(&choice);
        let cost = i128::from(self.base.report.cost_after.effective.0);
        let settled = (cost * SETTLED_PERCENT / 100).max(SETTLED_LEAST);
        if trial.places && trial.extra > allowed && trial.extra <= allowed + settled {
            self.allowed = Some(trial.extra);
        }
    }

    /// Honors preferences in order as far as possible, then whatever of the rest still fits.
    fn fitted(&mut self, items: &[Item], levels: &Choice, all: &Trial) -> (Choice, Solution) {
        let mut best = (Choice::default(), self.base.clone());
        let mut rest = items;
        let mut is_all = true;
        while let Some(last) = rest.len().checked_sub(1) {
            let because = if all.places { GivenUpBecause::TooDear } else { GivenUpBecause::NotPossible };
            if self.tries == 0 {
                self.reasons.extend(rest.iter().map(|item| (*item, because)));
                break;
            }
            // On the first pass, all together are already known to be too much.
            if !is_all && let Some(whole) = self.better(&best.0.with(rest, levels)) {
                best = whole;
                break;
            }
            is_all = false;
            let (mut fits, mut fails) = (0, last + 1);
            let mut found = None;
            while fails - fits > 1 && self.tries > 0 {
                let middle = fits.midpoint(fails);
                match self.better(&best.0.with(&rest[..middle], levels)) {
                    Some(better) => (fits, found) = (middle, Some(better)),
                    None => fails = middle,
                }
            }
            best = found.unwrap_or(best);
            let item = rest[fits];
            self.reasons.insert(item, because);
            best = self.partly(best, (item, levels));
            rest = &rest[fits + 1..];
        }
        best
    }

    /// Plans with these preferences; returns `None` if that is too expensive or leaves more pods unplaced.
    fn better(&mut self, choice: &Choice) -> Option<(Choice, Solution)> {
        let trial = self.attempt(choice);
        self.is_good(&trial).then(|| (choice.clone(), trial.solution))
    }

    /// Honors a preference that is too much as a whole in its weaker form, or for some of its pods.
    fn partly(
        &mut self,
        mut best: (Choice, Solution),
        (item, levels): (Item, &Choice),
    ) -> (Choice, Solution) {
        let content = &self.wishes.contents[item.content];
        if let Some(weaker) = self.weaker(levels, item) {
            let mut choice = best.0.clone();
            choice.set(item, Some(weaker));
            return if self.tries > 0 { self.better(&choice).unwrap_or(best) } else { best };
        }
        let is_of_nodes = matches!(item.preference, Preference::NodeAffinity(_) | Preference::SoftTaints);
        if !is_of_nodes && !is_of_hosts(content.spec, item.preference) {
            return best;
        }
        let (mut fits, mut fails) = (0, content.pods.len());
        let cost = |solution: &Solution| i128::from(solution.report.cost_after.effective.0);
        let base = cost(self.base);
        let mut least = cost(&best.1) - base;
        let mut most: Option<i128> = None;
        while fails - fits > 1 && self.tries > 0 {
            let middle = guess((fits, fails), (least, most), self.allowed);
            let mut choice = best.0.clone();
            choice.set(item, Some(Level { form: Form::Whole, pods: middle }));
            let trial = self.attempt(&choice);
            if self.is_good(&trial) {
                (fits, least) = (middle, trial.extra);
                best = (choice, trial.solution);
            } else {
                fails = middle;
                most = trial.places.then_some(trial.extra);
            }
        }
        best
    }
}

/// Returns how many pods to try next, by linear interpolation between the known costs up to the budget.
fn guess((fits, fails): (usize, usize), (least, most): (i128, Option<i128>), allowed: Option<i128>) -> usize {
    let middle = fits.midpoint(fails);
    let (Some(most), Some(allowed)) = (most, allowed) else { return middle };
    let (span, room) = (most - least, allowed - least);
    if span <= 0 || room < 0 {
        return middle;
    }
    let between = i128::try_from(fails - fits).unwrap_or(i128::MAX);
    let step = usize::try_from(between.saturating_mul(room) / span).unwrap_or(0);
    (fits + step).clamp(fits + 1, fails - 1)
}

/// Returns whether a preference's topology key is the hostname.
fn is_of_hosts(spec: &PodSpec, preference: Preference) -> bool {
    spec.preference_key(preference).map(LabelKey::as_str) == Some(label::HOSTNAME)
}
